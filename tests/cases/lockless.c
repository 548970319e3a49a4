// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Cases 23 to 31: reading while others write. Each race is a script that acts before one exact
 * access.
 */
#include "case.h"

static struct page *pages[BED_PAGES];
static struct case_race race;

static void start_race(struct bed *bed)
{
	case_race_start(&race, bed);
}

/* Also tried: each named use of the scan, blocks, and the three walkers that read entries. */
TEST(case_23_accessor_follows_the_lock)
{
	static const char *const texts[] = { "o3@108", BLOCK, "o0@100 | o0@101" };
	unsigned char vec[32];
	struct bed bed;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		bed_need(&bed, texts[i], NULL);
		case_scan(&bed, 0, 8, PTB_FOR_GUP_FAST, NULL);
		case_scan(&bed, 0, 8, PTB_LOCKLESS, NULL);
		case_scan(&bed, 0, 8, PTB_LOCKLESS | PTB_RESPECT_DIRTY | PTB_MERGE_YOUNG_DIRTY,
			  NULL);
		bed_gup(&bed, 0, bed.layout.nr_slots, FOLL_PIN, pages);
		EXPECT(raw_hooks.count[RAW_PTE_LOCKLESS], "%s: nothing was read", texts[i]);
		EXPECT(!raw_hooks.count[RAW_PTE], "%s: %llu plain reads without the lock", texts[i],
		       (unsigned long long)raw_hooks.count[RAW_PTE]);
		bed_free(&bed);

		bed_need(&bed, texts[i], NULL);
		case_scan(&bed, 0, 8, PTB_FOR_LOOK, NULL);
		case_scan(&bed, 0, 8, PTB_FOR_SET, NULL);
		case_scan(&bed, 0, 8, PTB_FOR_GUP_LOCKED, NULL);
		user_mincore(&bed.mm, &bed.mm.vmas[0], bed_addr(&bed, 0), bed_addr(&bed, 16), vec,
			     ptb_mincore_ptes);
		EXPECT(raw_hooks.count[RAW_PTE], "%s: nothing was read", texts[i]);
		EXPECT(!raw_hooks.count[RAW_PTE_LOCKLESS], "%s: %llu lockless reads under the lock",
		       texts[i], (unsigned long long)raw_hooks.count[RAW_PTE_LOCKLESS]);
		bed_free(&bed);
	}
}

static bool entries_are_wider_than_a_word(struct bed *bed)
{
	u64 before = raw_hooks.count[RAW_PMD];

	upper_load(mm_pmdp(&bed->mm, bed_addr(bed, 0)));
	return raw_hooks.count[RAW_PMD] - before > 1;
}

static void leaf_becomes_another(struct bed *bed)
{
	word_set(&mm_pmdp(&bed->mm, bed_addr(bed, 0))->w,
		 word_val(mm_pmdp(&bed->mm, bed_addr(bed, FMT_PTES))->w));
}

/*
 * The low words hold the frame, the high ones the right to write: of the two leaves a hybrid would
 * be the read-only folio made writable. Also tried: the change before each read of its words.
 */
TEST(case_25_upper_entry_is_never_torn)
{
	static const char text[] = "o$o@$0 pmd ro | o$o@$2 pmd";
	unsigned int nth;
	struct bed bed;

	bed_need(&bed, text, NULL);
	if (!entries_are_wider_than_a_word(&bed)) {
		bed_free(&bed);
		SKIP("entries are one word");
	}
	bed_free(&bed);

	/* Three reads of the load above the leaf, then low, high and low again of the leaf. */
	for (nth = 4; nth <= 6; nth++) {
		unsigned long nr;

		bed_need(&bed, text, NULL);
		race = CASE_RACE(RAW_NR, RAW_PMD, nth, -1, leaf_becomes_another);
		start_race(&bed);
		nr = bed_gup(&bed, 0, 1, FOLL_GET | FOLL_WRITE, pages);
		EXPECT_EQ(nr, 1, "pages of the leaf that came meanwhile");
		EXPECT(!nr || mem_pfn(pages[0]) == BED_FRAME(2),
		       "change before read %u: page 0x%lx, which was never writable", nth,
		       mem_pfn(pages[0]));
		EXPECT_EQ(bed_refs(BED_FRAME(0)), 1, "references to the read-only folio");
		EXPECT_EQ(bed_refs(BED_FRAME(2)), 1 + (long)nr, "references to the writable folio");
		bed_free(&bed);
	}
}

static void entry_becomes_far(struct bed *bed)
{
	pte_set(bed_ptep(bed, 0), fmt_pte_mk(0x100200, A_WRITE | A_YOUNG));
}

/*
 * The entries differ in both words; 0x100100 would be the hybrid. Also tried: the change before
 * every read of the walk.
 */
TEST(case_25_entry_is_never_torn)
{
	static const char text[] = "o0@100 | o0@100100 | o0@100200";
	unsigned int nth;
	struct bed bed;

	bed_need(&bed, text, NULL);
	if (!entries_are_wider_than_a_word(&bed)) {
		bed_free(&bed);
		SKIP("entries are one word");
	}
	bed_free(&bed);

	for (nth = 1; nth <= 6; nth++) {
		unsigned long nr;

		bed_need(&bed, text, NULL);
		race = CASE_RACE(RAW_NR, RAW_PTE_LOCKLESS, nth, 0, entry_becomes_far);
		start_race(&bed);
		nr = bed_gup(&bed, 0, 1, FOLL_PIN, pages);
		EXPECT(race.happened, "read %u never came", nth);
		EXPECT_EQ(nr, nth <= 3 ? 1 : 0,
			  "pages: the new entry's, or none once the old was grabbed");
		EXPECT(!nr || mem_pfn(pages[0]) == 0x100200, "change before read %u: page 0x%lx",
		       nth, mem_pfn(pages[0]));
		EXPECT_EQ(bed_refs(0x100100), 1, "references to a frame no entry named");
		EXPECT_EQ(bed_refs(0x100), 1, "references to the old page");
		bed_free(&bed);
	}
}

static void pmd_cleared(struct bed *bed)
{
	word_set(&mm_pmdp(&bed->mm, bed_addr(bed, 0))->w, 0);
}

static void pmd_other_table(struct bed *bed)
{
	word_set(&mm_pmdp(&bed->mm, bed_addr(bed, 0))->w, UPPER_TABLE | 77ULL << UPPER_PFN_SHIFT);
}

static void pmd_collapsed(struct bed *bed)
{
	word_set(&mm_pmdp(&bed->mm, bed_addr(bed, 0))->w,
		 upper_leaf(BED_FRAME(0), A_WRITE | A_YOUNG));
}

static void pmd_migrating(struct bed *bed)
{
	word_set(&mm_pmdp(&bed->mm, bed_addr(bed, 0))->w, UPPER_MIGRATION);
}

static void pte_cleared(struct bed *bed)
{
	pte_set(bed_ptep(bed, 0), fmt_mk(FMT_NONE));
}

/*
 * Also tried: what may take the table's place, the entry alone, leaves, runs of several pages; to
 * get and to pin.
 */
TEST(case_26_table_taken_away_after_the_grab_is_noticed)
{
	static const struct {
		const char *name, *layout;
		enum raw_op before;
		void (*act)(struct bed *bed);
	} rows[] = {
		{ "other table", "o0@100", RAW_PMD, pmd_other_table },
		{ "table gone", "o0@100", RAW_PMD, pmd_cleared },
		{ "collapsed into a leaf", "o4@200", RAW_PMD, pmd_collapsed },
		{ "table gone under a large folio", BLOCK, RAW_PMD, pmd_cleared },
		{ "entry gone", "o0@100", RAW_PTE_LOCKLESS, pte_cleared },
		{ "entry of a large folio gone", "o4@200", RAW_PTE_LOCKLESS, pte_cleared },
		{ "leaf split", "o$o@$0" LEAF, RAW_PMD, pmd_other_table },
		{ "leaf migrating", "o$o@$0" LEAF, RAW_PMD, pmd_migrating },
		{ "leaf gone", "o$o@$0" LEAF, RAW_PMD, pmd_cleared },
	};
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN, FOLL_PIN | FOLL_LONGTERM };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (j = 0; j < ARRAY_SIZE(gups); j++) {
			struct bed bed;
			long nr;

			race = CASE_RACE(RAW_TRY_REF, rows[i].before, 1, -1, rows[i].act);
			nr = bed_gup_both(rows[i].layout, NULL, start_race, 0, 16, gups[j]);
			EXPECT(nr == 0, "%s: %ld pages reached through it", rows[i].name, nr);
			EXPECT(race.happened, "%s: never looked at again", rows[i].name);

			bed_need(&bed, rows[i].layout, NULL);
			start_race(&bed);
			bed_gup(&bed, 0, 16, gups[j], pages);
			case_untouched(&bed, rows[i].name);
			bed_free(&bed);
		}
}

static void pud_migrating(struct bed *bed)
{
	word_set(&mm_pudp(&bed->mm, bed_addr(bed, 0))->w, UPPER_MIGRATION);
}

/*
 * Also tried: gone altogether, the level above, a second table behind a good first one, VFIO's pin,
 * mincore.
 */
TEST(case_28_upper_entry_that_is_not_present_is_not_entered)
{
	static const struct {
		const char *name;
		void (*act)(struct bed *bed);
	} rows[] = {
		{ "migrating", pmd_migrating },
		{ "empty", pmd_cleared },
		{ "migrating one level up", pud_migrating },
	};
	struct vfio_case c = { .nr = 1, .limit = 1 };
	unsigned char vec[BED_PAGES];
	struct bed bed;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bed_need(&bed, "o0@100", NULL);
		rows[i].act(&bed);
		EXPECT(!bed_gup(&bed, 0, 1, FOLL_GET, pages), "%s: a page was taken", rows[i].name);
		EXPECT(!raw_hooks.count[RAW_PTE_LOCKLESS], "%s: the table was read", rows[i].name);
		case_untouched(&bed, rows[i].name);
		bed_free(&bed);
		EXPECT(!bed_gup_both("o$o@$0" LEAF, NULL, rows[i].act, 0, 20, FOLL_PIN),
		       "%s: a leaf was taken", rows[i].name);
		EXPECT(bed_vfio_both("o0@100", NULL, rows[i].act, &c, NULL) == -EFAULT,
		       "%s: mapped for a device", rows[i].name);
	}

	bed_mincore_both("o0@100 | o0@101", pmd_migrating, 0, 2, vec);
	EXPECT(vec[0] == 1 && vec[1] == 1 && vec[2] == 0xee,
	       "a huge page that migrates is in memory");
	bed_mincore_both("o0@100 | o0@101", pmd_cleared, 0, 2, vec);
	EXPECT(!vec[0] && !vec[1] && vec[2] == 0xee, "pages of no table are not in memory");
}

static void second_pmd_migrating(struct bed *bed)
{
	word_set(&mm_pmdp(&bed->mm, bed_addr(bed, FMT_PTES))->w, UPPER_MIGRATION);
}

TEST(case_28_walk_ends_before_an_upper_entry_that_is_not_present)
{
	EXPECT_EQ(bed_gup_both("at $t-4 | o3@108", NULL, second_pmd_migrating, FMT_PTES - 4, 8,
			       FOLL_PIN),
		  4, "pages before the entry that migrates");
}

static void fork_came_and_went(struct bed *bed)
{
	bed->mm.write_protect_seq += 2;
}

static void fork_is_on(struct bed *bed)
{
	bed->mm.write_protect_seq++;
}

/*
 * Also tried: fork at the first read, at the grab, running already, still running; blocks, small
 * pages, a leaf; a get.
 */
TEST(case_29_fork_meanwhile_undoes_every_pin)
{
	static const struct {
		const char *name, *layout;
		enum raw_op at;
		unsigned int nth, gup;
		void (*act)(struct bed *bed);
		long want;
	} rows[] = {
		{ "after 10 entries", "o4@200", RAW_PTE_LOCKLESS, 10, FOLL_PIN, fork_came_and_went,
		  0 },
		{ "still on", "o4@200", RAW_PTE_LOCKLESS, 10, FOLL_PIN, fork_is_on, 0 },
		{ "first entry", "o4@200", RAW_PTE_LOCKLESS, 1, FOLL_PIN, fork_came_and_went, 0 },
		{ "at the grab", BLOCK, RAW_TRY_REF, 1, FOLL_PIN, fork_came_and_went, 0 },
		{ "small pages", "o0@100 | o1@102 | o0@107", RAW_TRY_REF, 2, FOLL_PIN, fork_is_on,
		  0 },
		{ "leaf", "o$o@$0" LEAF, RAW_TRY_REF, 1, FOLL_PIN, fork_came_and_went, 0 },
		{ "on from the start", "o4@200", RAW_SEQ, 1, FOLL_PIN, fork_is_on, 0 },
		{ "a get", "o4@200", RAW_PTE_LOCKLESS, 10, FOLL_GET, fork_came_and_went, 16 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;
		long nr;

		race = CASE_RACE(RAW_NR, rows[i].at, rows[i].nth, -1, rows[i].act);
		nr = bed_gup_both(rows[i].layout, NULL, start_race, 0, 16, rows[i].gup);
		EXPECT(nr == rows[i].want, "%s: %ld pages kept", rows[i].name, nr);

		bed_need(&bed, rows[i].layout, NULL);
		start_race(&bed);
		user_unpin_pages(pages, bed_gup(&bed, 0, 16, rows[i].gup, pages), rows[i].gup);
		EXPECT(race.happened, "%s: it never did", rows[i].name);
		case_untouched(&bed, rows[i].name);
		bed_free(&bed);
	}
}

static void repainted(struct bed *bed)
{
	mm_set_run(&bed->mm, bed_addr(bed, 0), 0x400, BLOCK_PAGES,
		   A_WRITE | A_YOUNG | (FMT_CONT > 1 ? A_CONT : 0));
}

static void zapped(struct bed *bed)
{
	unsigned int i;

	for (i = 0; i < BLOCK_PAGES; i++)
		pte_set(bed_ptep(bed, i), fmt_mk(FMT_NONE));
}

static void tail_zapped(struct bed *bed)
{
	unsigned int i;

	for (i = 8; i < 16; i++)
		pte_set(bed_ptep(bed, i), fmt_mk(FMT_NONE));
}

/*
 * Also tried: the block zapped instead, a start inside it, single entries, to pin; see below for a
 * change further on.
 */
TEST(case_31_hint_read_before_the_reference_is_not_used)
{
	static const struct {
		const char *name, *layout;
		unsigned int slot, gup;
		void (*act)(struct bed *bed);
	} rows[] = {
		{ "repainted", BLOCK " | at 100 | o5@400", 0, FOLL_GET, repainted },
		{ "repainted, pin", BLOCK " | at 100 | o5@400", 0, FOLL_PIN, repainted },
		{ "repainted, from inside", BLOCK " | at 100 | o5@400", 5, FOLL_PIN, repainted },
		{ "single entries repainted", "o4@200 | at 100 | o4@400", 0, FOLL_PIN, repainted },
		{ "zapped", BLOCK, 0, FOLL_PIN, zapped },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;

		race = CASE_RACE(RAW_NR, RAW_TRY_REF, 1, -1, rows[i].act);
		EXPECT(!bed_gup_both(rows[i].layout, NULL, start_race, rows[i].slot, 8,
				     rows[i].gup),
		       "%s: pages of a stale folio", rows[i].name);

		bed_need(&bed, rows[i].layout, NULL);
		start_race(&bed);
		bed_gup(&bed, rows[i].slot, 8, rows[i].gup, pages);
		EXPECT(race.happened, "%s: it never was", rows[i].name);
		EXPECT(race.high == (long)rows[i].slot, "%s: entry %ld was read on the stale hint",
		       rows[i].name, race.high);
		case_untouched(&bed, rows[i].name);
		bed_free(&bed);
	}
}

/*
 * The batch has its reference when it reads on: what was changed by then is not in it, what comes
 * before is.
 */
TEST(case_31_run_ends_at_an_entry_changed_meanwhile)
{
	race = CASE_RACE(RAW_NR, RAW_PTE_LOCKLESS, 1, 8, tail_zapped);
	EXPECT_EQ(bed_gup_both("o4@200", NULL, start_race, 0, 16, FOLL_PIN), 8,
		  "pages before the entries that went");
}
