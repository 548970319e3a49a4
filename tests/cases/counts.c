// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases 32 to 43: references and pins, taken and given back exactly; what is written to pages[]. */
#include "case.h"

static struct page *pages[BED_PAGES];
static struct case_race race;

static void start_race(struct bed *bed)
{
	case_race_start(&race, bed);
}

/*
 * INT_MAX is 2147483647. Near it a batch is refused and single references go on while they fit, as
 * page by page. Also tried: one more and one fewer, pins by bias, leaves, a count gone negative, a
 * folio being freed.
 */
TEST(case_32_counter_near_overflow_refuses_what_does_not_fit)
{
	static const struct {
		const char *layout;
		unsigned int nr, gup;
		long want;
		int refs;
	} rows[] = {
		{ "o4@200 refs=2147483643: 0-7", 8, FOLL_GET, 4, INT_MAX },
		{ "o4@200 refs=2147483643: 0-7", 8, FOLL_PIN, 4, INT_MAX },
		{ "o4@200 refs=2147483639: 0-7", 8, FOLL_GET, 8, INT_MAX },
		{ "o4@200 refs=2147483640: 0-7", 8, FOLL_GET, 7, INT_MAX },
		{ "o4@200 refs=2147483646: 0-7", 8, FOLL_GET, 1, INT_MAX },
		{ "o4@200 refs=2147483647: 0-7", 8, FOLL_GET, 0, INT_MAX },
		{ "o4@200 refs=-5: 0-7", 8, FOLL_GET, 0, -5 },
		{ "o4@200 refs=0: 0-7", 8, FOLL_PIN, 0, 0 },
		{ "o0@100 refs=2147483647", 1, FOLL_GET, 0, INT_MAX },
		{ "o0@100 refs=2147482623", 1, FOLL_PIN, 1, INT_MAX },
		{ "o0@100 refs=2147482624", 1, FOLL_PIN, 0, INT_MAX - 1023 },
		{ "o0@100 refs=2147483646", 1, FOLL_PIN, 0, INT_MAX - 1 },
		{ "o$o@$0 refs=2147483615" LEAF, 32, FOLL_PIN, 32, INT_MAX },
		{ "o$o@$0 refs=2147483616 pmd", 32, FOLL_PIN, 0, INT_MAX - 31 },
		{ "o$o@$0 refs=2147483642 pmd", 32, FOLL_GET, 0, INT_MAX - 5 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;

		if (!bed_can(rows[i].layout))
			continue;
		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, NULL, 0, rows[i].nr, rows[i].gup),
			  rows[i].want, rows[i].layout);
		bed_need(&bed, rows[i].layout, NULL);
		user_unpin_pages(pages, bed_gup(&bed, 0, rows[i].nr, rows[i].gup, pages),
				 rows[i].gup);
		case_untouched(&bed, rows[i].layout);
		EXPECT(bed_gup(&bed, 0, rows[i].nr, rows[i].gup, pages) ==
			       (unsigned long)rows[i].want,
		       "%s: not the same a second time", rows[i].layout);
		EXPECT_EQ(bed_refs(bed.layout.folios[0].pfn), rows[i].refs, "references");
		bed_free(&bed);
	}
}

/* Also tried: the last grab that fits, a small folio's bias, a get. */
TEST(case_32_refused_grab_leaves_the_counter)
{
	static const struct {
		const char *layout;
		int refs;
		unsigned int gup;
		bool want;
	} rows[] = {
		{ "o4@200 refs=2147483644", 7, FOLL_GET, false },
		{ "o4@200 refs=2147483644", 7, FOLL_PIN, false },
		{ "o4@200 refs=2147483644", 3, FOLL_PIN, true },
		{ "o0@200 refs=2147467263", 16, FOLL_PIN, true },
		{ "o0@200 refs=2147467264", 16, FOLL_PIN, false },
		{ "o0@200 refs=2147467264", 16, FOLL_GET, true },
		{ "o0@200 refs=2147483647", 512, FOLL_PIN, false },
		{ "o4@200 refs=-1", 1, FOLL_GET, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;
		bool took;

		bed_need(&bed, rows[i].layout, NULL);
		took = ptb_grab_more(bed_folio(0x200), rows[i].refs, rows[i].gup);
		EXPECT(took == rows[i].want, "%s: %d more were %s", rows[i].layout, rows[i].refs,
		       took ? "taken" : "refused");
		if (took)
			ptb_put(bed_folio(0x200), rows[i].refs, rows[i].gup);
		case_untouched(&bed, rows[i].layout);
		bed_free(&bed);
	}
}

static void pte_gone(struct bed *bed)
{
	pte_set(bed_ptep(bed, 0), fmt_mk(FMT_NONE));
}

static void pmd_gone(struct bed *bed)
{
	word_set(&mm_pmdp(&bed->mm, bed_addr(bed, 0))->w, 0);
}

/*
 * Also tried: each reason to give up, after each kind of grab, on a folio with a bias and with a
 * pin count.
 */
TEST(case_35_giving_up_drops_what_was_taken)
{
	static const struct {
		const char *layout;
		unsigned int gup;
		enum raw_op before;
		void (*act)(struct bed *bed);
	} rows[] = {
		{ "o0@100", FOLL_PIN, RAW_PTE_LOCKLESS, pte_gone },
		{ "o0@100", FOLL_GET, RAW_PTE_LOCKLESS, pte_gone },
		{ "o0@100", FOLL_PIN, RAW_PMD, pmd_gone },
		{ "o4@200: 0-3", FOLL_PIN, RAW_PTE_LOCKLESS, pte_gone },
		{ "o4@200: 0-3", FOLL_GET, RAW_PMD, pmd_gone },
		{ "o1@100", FOLL_PIN, RAW_PTE_LOCKLESS, pte_gone },
		{ "o$o@$0" LEAF, FOLL_PIN, RAW_PMD, pmd_gone },
		{ "o$o@$0" LEAF, FOLL_GET, RAW_PMD, pmd_gone },
		{ "o0@100 ro shared", FOLL_PIN, RAW_NR, NULL },
		{ "o4@200 ro shared", FOLL_PIN, RAW_NR, NULL },
		{ "o$o@$0 ro shared" LEAF, FOLL_PIN, RAW_NR, NULL },
		{ "o0@100 inaccessible", FOLL_PIN, RAW_NR, NULL },
		{ "o4@200 inaccessible", FOLL_PIN, RAW_NR, NULL },
		{ "o0@100 cma", FOLL_PIN | FOLL_LONGTERM, RAW_NR, NULL },
		{ "o4@200 cma", FOLL_PIN | FOLL_LONGTERM, RAW_NR, NULL },
		{ "o$o@$0 cma" LEAF, FOLL_PIN | FOLL_LONGTERM, RAW_NR, NULL },
		{ "o0@100 truncated", FOLL_PIN, RAW_NR, NULL },
		{ "o0@100 truncated", FOLL_GET, RAW_NR, NULL },
		{ "o4@200 file", FOLL_PIN | FOLL_LONGTERM | FOLL_WRITE, RAW_NR, NULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;

		race = CASE_RACE(RAW_TRY_REF, rows[i].before, 1, -1, rows[i].act);
		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, rows[i].act ? start_race : NULL, 0, 4,
				       rows[i].gup),
			  0, rows[i].layout);
		bed_need(&bed, rows[i].layout, NULL);
		if (rows[i].act)
			start_race(&bed);
		bed_gup(&bed, 0, 4, rows[i].gup, pages);
		case_untouched(&bed, rows[i].layout);
		bed_free(&bed);
	}
}

/*
 * Also tried: a small folio, movable being the same bit here; a short pin and a get, which may stay
 * where they are.
 */
TEST(case_37_slow_path_may_pin_what_the_fast_one_leaves)
{
	static const struct {
		const char *layout;
		int nr, refs;
	} rows[] = {
		{ "o3@108 cma", 8, 1 + 8 },
		{ "o0@100 cma", 1, 1 + GUP_PIN_COUNTING_BIAS },
		{ "o3@108 hugetlb cma", 8, 1 + 8 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const unsigned int longterm = FOLL_PIN | FOLL_LONGTERM;
		unsigned long pfn;
		struct bed bed;

		bed_need(&bed, rows[i].layout, NULL);
		pfn = bed.layout.folios[0].pfn;
		EXPECT(ptb_grab_more(bed_folio(pfn), rows[i].nr, longterm), "%s: slow pin refused",
		       rows[i].layout);
		EXPECT_EQ(bed_refs(pfn), rows[i].refs, "references of the slow pin");
		EXPECT_EQ(bed_pins(pfn), rows[i].nr > 1 ? rows[i].nr : 0, "pins of the slow pin");
		ptb_put(bed_folio(pfn), rows[i].nr, longterm);
		EXPECT(!ptb_grab_first(mem_page(pfn), 1, longterm), "%s: fast pin given",
		       rows[i].layout);
		case_untouched(&bed, rows[i].layout);
		bed_free(&bed);

		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, NULL, 0, rows[i].nr, longterm), 0,
			  "pages pinned for long by GUP-fast");
		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, NULL, 0, rows[i].nr, FOLL_PIN),
			  rows[i].nr, "pages pinned by GUP-fast");
		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, NULL, 0, rows[i].nr,
				       FOLL_GET | FOLL_LONGTERM),
			  rows[i].nr, "pages got by GUP-fast");
	}
}

/*
 * Also tried: the leaf's first page, one behind what was taken, three compound pages, single pages;
 * a dying pagemap first and second; a grab refused by overflow, which goes on page by page while it
 * can.
 */
TEST(case_38_refused_device_page_undoes_the_leaf_and_no_more)
{
	static const struct {
		const char *layout;
		unsigned long pfn;
		unsigned int nr, want;
		int dying;
	} rows[] = {
		{ "o3@108 device refs=0", 0x108, 8, 0, -1 },
		{ "o3@108 device | o3@110 device refs=0", 0x108, 16, 0, -1 },
		{ "o3@108 device | o3@110 device refs=0", 0x10b, 13, 0, -1 },
		{ "o3@108 device | o3@110 device | o3@118 device", 0x10b, 18, 18, -1 },
		{ "o3@108 device | o3@110 device | o3@118 device refs=2147483647", 0x10b, 18, 0,
		  -1 },
		{ "o3@108 device | o3@110 device refs=2147483645", 0x108, 16, 0, -1 },
		{ "o3@108 device | o3@110 device refs=2147483639", 0x108, 16, 16, -1 },
		{ "o3@108 device", 0x108, 8, 0, 0 },
		{ "o3@108 device | o3@110 device", 0x108, 16, 0, 1 },
		{ "o3@108 device | o3@110 device p2pdma", 0x108, 16, 0, -1 },
		{ "o0@108 device | o0@109 device | o0@10a device refs=0", 0x108, 3, 0, -1 },
		{ "o0@108 device | o0@109 device | o0@10a device", 0x108, 3, 3, -1 },
	};
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (j = 0; j < ARRAY_SIZE(gups); j++) {
			struct page *before[5];
			unsigned int nr, k;
			struct bed bed;

			bed_need(&bed, rows[i].layout, NULL);
			if (rows[i].dying >= 0)
				mem.pagemaps[rows[i].dying].dying = true;
			for (k = 0; k < 5; k++)
				before[k] = pages[k] = mem_page(0x50 + k);
			nr = ptb_dax_leaf(rows[i].pfn, rows[i].nr, gups[j], pages + 5);
			EXPECT(nr == rows[i].want, "%s: %u pages, expected %u", rows[i].layout, nr,
			       rows[i].want);
			EXPECT(!memcmp(before, pages, sizeof(before)),
			       "%s: pages taken earlier were written over", rows[i].layout);
			for (k = 0; k < nr; k++)
				EXPECT(mem_pfn(pages[5 + k]) == rows[i].pfn + k,
				       "%s: page %u is 0x%lx", rows[i].layout, k,
				       mem_pfn(pages[5 + k]));
			ptb_dax_undo(pages + 5, nr, gups[j]);
			for (k = 0; k < bed.layout.nr_folios; k++)
				EXPECT(!(bed_folio(bed.layout.folios[k].pfn)->page.flags &
					 PG_referenced),
				       "%s: folio %u still marked referenced", rows[i].layout, k);
			case_untouched(&bed, rows[i].layout);
			bed_free(&bed);
		}
}

/*
 * The same from the top: what the table before the leaf gave stays. Also tried: the leaf that
 * changes behind the grab.
 */
TEST(case_38_pages_taken_before_the_refused_leaf_stay)
{
	static const char refused[] = "at $t-5 | o3@108: 0-4 | o$o@$0 device devmap refs=0" LEAF;
	static const char good[] = "at $t-5 | o3@108: 0-4 | o$o@$0 device devmap" LEAF;

	EXPECT_EQ(bed_gup_both(refused, NULL, NULL, FMT_PTES - 5, 25, FOLL_PIN), 5,
		  "pages before a refused leaf");
	EXPECT_EQ(bed_gup_both(good, NULL, NULL, FMT_PTES - 5, 25, FOLL_PIN), 25,
		  "pages and a leaf");
	EXPECT_EQ(bed_gup_both(good, NULL, NULL, FMT_PTES - 5, 25, FOLL_PIN | FOLL_LONGTERM), 5,
		  "pages before a leaf not for long");
}
