// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Cases 21, 90 and 91: bits with a meaning of their own: special, shadow stack, and exclusive where
 * only the head has it.
 */
#include "case.h"

/* Also tried: special first, device memory, frames without a page, a special leaf. */
TEST(case_21_special_entry_ends_the_run_and_is_not_taken)
{
	static const struct {
		const char *layout;
		unsigned int slot, nr;
		long want;
	} rows[] = {
		{ "o3@108: 0-3, 4-7 special", 4, 4, 0 },
		{ "o3@108: 0-3, 4-7 special", 0, 8, 4 },
		{ "o3@108: 0-3, 4-7 special", 3, 5, 1 },
		{ "o3@108: 0 special, 1-7", 0, 8, 0 },
		{ "o3@108: 0 special, 1-7", 1, 7, 7 },
		{ "o3@108: 0-3 | frame@900000*4", 0, 8, 4 },
		{ "o$o@$0 special pmd", 0, FMT_PTES, 0 },
		{ "o$o@$0 special pmd", 7, 1, 0 },
		{ "o3@108 device: 0-3 devmap, 4-7 special", 0, 8, 4 },
	};
	static struct page *pages[BED_PAGES];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;

		if (!bed_can(rows[i].layout))
			continue;
		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, NULL, rows[i].slot, rows[i].nr,
				       FOLL_GET),
			  rows[i].want, rows[i].layout);
		bed_need(&bed, rows[i].layout, NULL);
		user_unpin_pages(pages, bed_gup(&bed, rows[i].slot, rows[i].nr, FOLL_PIN, pages),
				 FOLL_PIN);
		case_untouched(&bed, rows[i].layout);
		bed_free(&bed);
	}
}

TEST(case_21_scan_tells_special_from_normal)
{
	struct bed bed;

	bed_need(&bed, "o3@108: 0-3, 4-7 special", NULL);
	EXPECT_EQ(case_scan(&bed, 0, 8, PTB_FOR_LOOK, NULL), 4, "entries before the special ones");
	EXPECT_EQ(case_scan(&bed, 4, 4, PTB_FOR_LOOK, NULL), 4, "special entries");
	bed_free(&bed);
}

/*
 * Also tried: the shadow stack behind, a plain read-only entry beside either, and dirty respected
 * as well.
 */
TEST(case_90_shadow_stack_is_not_a_saved_dirty_entry)
{
	static const struct {
		const char *layout;
		unsigned int slot, max, want;
	} rows[] = {
		{ "o2@100: 0 shstk, 1 saved-dirty", 0, 2, 1 },
		{ "o2@100: 0 shstk, 1 saved-dirty", 1, 1, 1 },
		{ "o2@100: 0 saved-dirty, 1 shstk", 0, 2, 1 },
		{ "o2@100: 0 shstk, 1 ro", 0, 2, 1 },
		{ "o2@100: 0 ro, 1 shstk", 0, 2, 1 },
		{ "o2@100: 0 saved-dirty, 1 ro, 2 shstk", 0, 3, 2 },
		{ "o2@100 shstk", 0, 4, 4 },
		{ "o2@100: 0 rw, 1 shstk", 0, 2, 1 },
		{ "o2@100: 0 rw dirty, 1 shstk", 0, 2, 1 },
	};
	unsigned int runs[4];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int nr, j;
		struct bed bed;
		bool write[4];

		bed_need(&bed, rows[i].layout, NULL);
		nr = case_scan(&bed, rows[i].slot, rows[i].max, PTB_RESPECT_WRITE, NULL);
		EXPECT(nr == rows[i].want, "%s: run of %u, expected %u", rows[i].layout, nr,
		       rows[i].want);
		nr = case_scan(&bed, rows[i].slot, rows[i].max, PTB_FOR_GUP_FAST, NULL);
		EXPECT(nr == rows[i].want, "%s: lockless run of %u, expected %u", rows[i].layout,
		       nr, rows[i].want);
		for (j = 0; j < rows[i].max; j++)
			write[j] = ptb_pte_write(*bed_ptep(&bed, rows[i].slot + j));
		case_set_again(&bed, rows[i].slot, rows[i].max, rows[i].slot, runs);
		for (j = 0; j < rows[i].max; j++)
			EXPECT(ptb_pte_write(*bed_ptep(&bed, rows[i].slot + j)) == write[j],
			       "%s: entry %u changed its right to be written", rows[i].layout, j);
		bed_free(&bed);
	}
}

/* Also tried: the question for a shared page behind a shadow stack one, asked by GUP-fast. */
TEST(case_90_gup_asks_to_unshare_behind_a_shadow_stack)
{
	EXPECT_EQ(bed_gup_both("o2@100: 0 shstk, 1 saved-dirty shared", NULL, NULL, 0, 2, FOLL_PIN),
		  1, "pages pinned for reading, the second shared");
	EXPECT_EQ(bed_gup_both("o2@100: 0 shstk, 1 saved-dirty", NULL, NULL, 0, 2, FOLL_PIN), 2,
		  "pages pinned for reading, both exclusive");
	EXPECT_EQ(bed_gup_both("o2@100: 0 shstk, 1 saved-dirty", NULL, NULL, 0, 2,
			       FOLL_PIN | FOLL_WRITE),
		  0, "pages pinned for writing");
}

/*
 * Also tried: a start inside the folio, single references, writing, a leaf, blocks, and two such
 * folios.
 */
TEST(case_91_hugetlb_is_exclusive_by_its_head)
{
	static const struct {
		const char *layout;
		unsigned int slot, nr, gup;
		long want;
	} rows[] = {
		{ "o5@200 hugetlb ro" CONT, 0, 32, FOLL_PIN, 32 },
		{ "o5@200 hugetlb ro shared" CONT, 0, 32, FOLL_PIN, 0 },
		{ "o4@200 hugetlb ro", 5, 11, FOLL_PIN, 11 },
		{ "o4@200 hugetlb ro shared", 5, 11, FOLL_PIN, 0 },
		{ "o4@200 hugetlb ro shared", 0, 16, FOLL_GET, 16 },
		{ "o4@200 hugetlb ro", 0, 16, FOLL_PIN | FOLL_WRITE, 0 },
		{ "o4@200 hugetlb ro", 0, 16, FOLL_PIN | FOLL_LONGTERM, 16 },
		{ "o$o@$0 hugetlb ro" LEAF, 3, 20, FOLL_PIN, 20 },
		{ "o$o@$0 hugetlb ro shared" LEAF, 3, 20, FOLL_PIN, 0 },
		{ "o4@200 hugetlb ro | o4@210 hugetlb ro shared", 0, 32, FOLL_PIN, 16 },
		{ "o4@200 hugetlb ro shared | o4@210 hugetlb ro", 16, 16, FOLL_PIN, 16 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, NULL, rows[i].slot, rows[i].nr,
				       rows[i].gup),
			  rows[i].want, rows[i].layout);
}
