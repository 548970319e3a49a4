// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases 45 to 49: whose pages may be had at all, and for what. */
#include "case.h"

static struct page *pages[BED_PAGES];

/*
 * The lru is no way to tell: the mapping is asked. Also tried: truncated files, pins and writes.
 */
TEST(case_45_secret_memory_is_not_taken)
{
	static const struct {
		const char *layout;
		long want;
	} rows[] = {
		{ "o0@108 secretmem", 0 },
		{ "o0@108", 1 },
		{ "o0@108 file", 1 },
		{ "o3@108 file", 8 },
		{ "o3@108", 8 },
		{ "o0@108 truncated", 0 },
		{ "o0@100 | o0@108 secretmem | o0@101", 1 },
	};
	static const unsigned int gups[] = { FOLL_GET, FOLL_GET | FOLL_WRITE, FOLL_PIN,
					     FOLL_PIN | FOLL_WRITE };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (j = 0; j < ARRAY_SIZE(gups); j++) {
			struct bed bed;

			EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, NULL, 0, 8, gups[j]),
				  rows[i].want, rows[i].layout);
			bed_need(&bed, rows[i].layout, NULL);
			user_unpin_pages(pages, bed_gup(&bed, 0, 8, gups[j], pages), gups[j]);
			case_untouched(&bed, rows[i].layout);
			bed_free(&bed);
		}
}

/*
 * Also tried, beyond the kinds named: read-only entries, shared ones, small folios, truncated,
 * inaccessible, PCI memory, also for those who ask for it.
 */
TEST(case_46_each_kind_is_given_for_what_it_may_be_used_for)
{
	static const unsigned int gups[] = {
		FOLL_GET,
		FOLL_GET | FOLL_WRITE,
		FOLL_PIN,
		FOLL_PIN | FOLL_WRITE,
		FOLL_PIN | FOLL_LONGTERM,
		FOLL_PIN | FOLL_LONGTERM | FOLL_WRITE,
	};
	static const struct {
		const char *layout;
		u8 want[ARRAY_SIZE(gups)];
	} rows[] = {
		/*
		 * get      pin   longterm, each to read and to write
		 */
		{ "o2@100 anon", { 4, 4, 4, 4, 4, 4 } },
		{ "o2@100 shmem", { 4, 4, 4, 4, 4, 4 } },
		{ "o2@100 file", { 4, 4, 4, 4, 4, 0 } },
		{ "o2@100 device devmap", { 4, 4, 4, 4, 0, 0 } },
		{ "o2@100 anon cma", { 4, 4, 4, 4, 0, 0 } },
		{ "o2@100 shmem cma", { 4, 4, 4, 4, 0, 0 } },
		{ "o2@100 hugetlb", { 4, 4, 4, 4, 4, 4 } },
		{ "o2@100 hugetlb cma", { 4, 4, 4, 4, 0, 0 } },
		{ "o0@100 secretmem", { 0, 0, 0, 0, 0, 0 } },
		{ "o0@100 anon", { 1, 1, 1, 1, 1, 1 } },
		{ "o0@100 shmem", { 1, 1, 1, 1, 1, 1 } },
		{ "o0@100 file", { 1, 1, 1, 1, 1, 0 } },
		{ "o0@100 truncated", { 0, 0, 0, 0, 0, 0 } },
		{ "o2@100 truncated", { 4, 4, 4, 4, 4, 0 } },
		{ "o2@100 inaccessible", { 4, 4, 0, 0, 0, 0 } },
		{ "o2@100 device devmap p2pdma", { 0, 0, 0, 0, 0, 0 } },
		{ "o2@100 anon ro", { 4, 0, 4, 0, 4, 0 } },
		{ "o2@100 anon ro shared", { 4, 0, 0, 0, 0, 0 } },
		{ "o2@100 file ro", { 4, 0, 4, 0, 0, 0 } },
		{ "o2@100 shmem ro", { 4, 0, 4, 0, 0, 0 } },
		{ "o2@100 protnone", { 0, 0, 0, 0, 0, 0 } },
		{ "o2@100 kernel", { 0, 0, 0, 0, 0, 0 } },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (j = 0; bed_can(rows[i].layout) && j < ARRAY_SIZE(gups); j++) {
			struct bed bed;
			long nr = bed_gup_both(rows[i].layout, NULL, NULL, 0, 4, gups[j]);

			EXPECT(nr == rows[i].want[j], "%s: %ld pages for %s%s, expected %u",
			       rows[i].layout, nr,
			       j < 2   ? "a get"
			       : j < 4 ? "a pin"
				       : "a longterm pin",
			       j & 1 ? " to write" : "", rows[i].want[j]);
			bed_need(&bed, rows[i].layout, NULL);
			user_unpin_pages(pages, bed_gup(&bed, 0, 4, gups[j], pages), gups[j]);
			case_untouched(&bed, rows[i].layout);
			bed_free(&bed);
		}
	if (bed_can("o2@100 device devmap"))
		EXPECT_EQ(bed_gup_both("o2@100 device devmap p2pdma", NULL, NULL, 0, 4,
				       FOLL_PIN | FOLL_PCI_P2PDMA),
			  4, "pages of PCI memory, asked for");
}

/* Also tried: one leaf, as a file and a device's memory. */
TEST(case_46_leaves_follow_the_same_table)
{
	const unsigned int longterm = FOLL_PIN | FOLL_LONGTERM;
	struct bed bed;
	static const struct {
		const char *layout;
		long pin, longterm, write;
	} rows[] = {
		{ "o$o@$0 pmd", 20, 20, 20 },
		{ "o$o@$0 shmem pmd", 20, 20, 20 },
		{ "o$o@$0 file pmd", 20, 20, 0 },
		{ "o$o@$0 cma pmd", 20, 0, 0 },
		{ "o$o@$0 hugetlb pmd", 20, 20, 20 },
		{ "o$o@$0 file ro pmd", 20, 0, 0 },
		{ "o$o@$0 ro pmd", 20, 20, 0 },
		{ "o$o@$0 device devmap pmd", 20, 0, 0 },
		{ "o$o@$0 device devmap p2pdma pmd", 0, 0, 0 },
		{ "o$o@$0 protnone pmd", 0, 0, 0 },
		{ "o$o@$0 kernel pmd", 0, 0, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = rows[i].layout;

		if (i && !bed_can(text))
			continue;
		bed_need(&bed, text, NULL);
		bed_free(&bed);
		EXPECT_EQ(bed_gup_both(text, NULL, NULL, 7, 20, FOLL_PIN), rows[i].pin, text);
		EXPECT_EQ(bed_gup_both(text, NULL, NULL, 7, 20, longterm), rows[i].longterm, text);
		EXPECT_EQ(bed_gup_both(text, NULL, NULL, 7, 20, longterm | FOLL_WRITE),
			  rows[i].write, text);
	}
}

/*
 * Also tried: sharing that begins with the first page and after a folio, KSM's kind of folio,
 * leaves; writable ones.
 */
TEST(case_48_read_only_entry_is_neither_written_nor_shared)
{
	static const struct {
		const char *layout;
		unsigned int gup;
		long want;
	} rows[] = {
		{ "o2@100 ro", FOLL_GET | FOLL_WRITE, 0 },
		{ "o2@100 ro", FOLL_PIN | FOLL_WRITE, 0 },
		{ "o2@100 ro dirty", FOLL_GET | FOLL_WRITE, 0 },
		{ "o2@100: 0-1, 2-3 ro", FOLL_PIN | FOLL_WRITE, 2 },
		{ "o2@100 ro shared", FOLL_PIN, 0 },
		{ "o0@100 ro shared", FOLL_PIN, 0 },
		{ "o2@100 ro: 0-1, 2 shared, 3", FOLL_PIN, 2 },
		{ "o2@100 ro: 0 shared, 1-3", FOLL_PIN, 0 },
		{ "o2@100 ro: 0-2, 3 shared", FOLL_PIN, 3 },
		{ "o2@100 ro shared", FOLL_GET, 4 },
		{ "o2@100 ro: 0-1, 2 shared, 3", FOLL_PIN | FOLL_LONGTERM, 2 },
		{ "o1@100 ro | o1@104 ro shared", FOLL_PIN, 2 },
		{ "o2@100: 0-1, 2-3 ro shared", FOLL_PIN, 2 },
		{ "o2@100 ro: 0-1, 2-3 rw", FOLL_PIN, 4 },
		{ "o$o@$0 ro shared" LEAF, FOLL_PIN, 0 },
		{ "o$o@$0 ro" LEAF, FOLL_PIN | FOLL_WRITE, 0 },
		{ "o$o@$0 ro" LEAF, FOLL_PIN, 4 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;

		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, NULL, 0, 4, rows[i].gup), rows[i].want,
			  rows[i].layout);
		bed_need(&bed, rows[i].layout, NULL);
		user_unpin_pages(pages, bed_gup(&bed, 0, 4, rows[i].gup, pages), rows[i].gup);
		case_untouched(&bed, rows[i].layout);
		bed_free(&bed);
	}
}

/*
 * GUP-fast leaves the zero page to slow GUP, which is VFIO's engine here. Also tried: both grabs
 * and the put alone, many at once, a get, which does count; a range that holds nothing else; the
 * zero page beside its frame's neighbour.
 */
TEST(case_49_zero_page_is_pinned_without_being_counted)
{
	static const struct {
		const char *layout;
		unsigned long nr;
	} rows[] = {
		{ "zero@50 | o0@100 | zero@50*2", 4 },
		{ "zero@50*8", 8 },
		{ "zero@50 | o0@51", 2 },
		{ "o0@4f | zero@50 | o0@51", 3 },
		{ "o1@4e | zero@50 | o0@51", 4 },
	};
	struct bed bed;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vfio_case c = { .nr = rows[i].nr, .limit = rows[i].nr };
		static struct outcome o;

		EXPECT_EQ(bed_vfio_both(rows[i].layout, NULL, NULL, &c, &o), rows[i].nr,
			  rows[i].layout);
		bed_need(&bed, rows[i].layout, NULL);
		vfio_map(&bed, &c, &batched_vfio, &o);
		case_untouched(&bed, rows[i].layout);
		bed_free(&bed);
	}
	EXPECT_EQ(bed_gup_both("zero@50 | o0@100", NULL, NULL, 0, 2, FOLL_PIN), 0,
		  "pages from a zero page on, by GUP-fast");

	bed_need(&bed, "zero@50 | o0@100 | zero@50*2", NULL);
	EXPECT(ptb_grab_first(mem_page(0x50), 1, FOLL_PIN) == bed_folio(0x50), "zero page refused");
	EXPECT(ptb_grab_more(bed_folio(0x50), 100000, FOLL_PIN), "zero page refused again");
	EXPECT_EQ(bed_refs(0x50), 1, "references to the pinned zero page");
	ptb_put(bed_folio(0x50), 100001, FOLL_PIN);
	case_untouched(&bed, "put of the zero page");
	EXPECT(ptb_grab_more(bed_folio(0x50), 3, FOLL_GET), "a get of the zero page refused");
	EXPECT_EQ(bed_refs(0x50), 4, "references to the zero page that was got");
	ptb_put(bed_folio(0x50), 3, FOLL_GET);
	for (i = 0; i < 4; i++)
		pages[i] = mem_page(i == 1 ? 0x100 : 0x50);
	for (i = 0; i < 4; i++)
		EXPECT(ptb_contig_pages(pages + i, 4 - i) == 1 &&
			       ptb_contig_folio(pages + i, 4 - i) == 1,
		       "page %zu joined to another", i);
	case_untouched(&bed, "get and put of the zero page");
	bed_free(&bed);
}
