// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Cases 2 to 8: where a run must end, whatever the entries say: folio, table, vma, the caller's
 * limit.
 */
#include "case.h"

/*
 * Also tried: the vma ending with the table, one entry on, and in the next table; the other half of
 * a folio in two tables.
 */
TEST(case_02_run_ends_with_the_table_and_the_vma)
{
	static const struct {
		const char *name, *layout;
		unsigned long slot, vm_end;
		unsigned int want;
	} rows[] = {
		{ "first page in the last entry", "at $t-1 | o4@200: 0", FMT_PTES - 1, 2 * FMT_PTES,
		  1 },
		{ "rest of the folio in the next table", "at $t-1 | o4@200", FMT_PTES - 1,
		  2 * FMT_PTES, 1 },
		{ "the vma ends in the folio", "at $t-12 | o4@200: 0-11", FMT_PTES - 12,
		  FMT_PTES - 4, 8 },
		{ "the vma covers the table", "at $t-12 | o4@200: 0-11", FMT_PTES - 12,
		  2 * FMT_PTES, 12 },
		{ "the vma ends with the table", "at $t-12 | o4@200: 0-11", FMT_PTES - 12, FMT_PTES,
		  12 },
		{ "the vma ends one entry on", "at $t-12 | o4@200: 0-11", FMT_PTES - 12,
		  FMT_PTES - 11, 1 },
		{ "the vma ends before the table does", "at $t-12 | o4@200: 0-11", FMT_PTES - 12,
		  FMT_PTES - 1, 11 },
		{ "second half", "at $t-12 | o4@200", FMT_PTES, 2 * FMT_PTES, 4 },
		{ "the vma ends in the second half", "at $t-12 | o4@200", FMT_PTES, FMT_PTES + 2,
		  2 },
		{ "a folio as large as the table", "o$o@$0", 0, 2 * FMT_PTES, FMT_PTES },
		{ "it, moved by one page", "at 1 | o$o@$0", 1, 2 * FMT_PTES, FMT_PTES - 1 },
		{ "its last page", "at 1 | o$o@$0", FMT_PTES, 2 * FMT_PTES, 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct case_reads reads;
		unsigned int max, nr;
		struct bed bed;

		bed_need(&bed, rows[i].layout, NULL);
		max = ptb_max_nr(bed_addr(&bed, rows[i].slot), bed_addr(&bed, rows[i].vm_end));
		case_reads_start(&reads, bed_ptep(&bed, rows[i].slot));
		nr = case_scan(&bed, rows[i].slot, max, PTB_FOR_LOOK, NULL);
		case_reads_stop();
		EXPECT(nr == rows[i].want, "%s: run of %u, expected %u", rows[i].name, nr,
		       rows[i].want);
		EXPECT(reads.high < (long)max, "%s: entry %ld read, %u may be", rows[i].name,
		       reads.high, max);
		bed_free(&bed);
	}
}

/* Also tried: the top of the address space, whose end is 0. */
TEST(case_02_entries_left_are_counted_up_to_the_table)
{
	const unsigned long top = -FMT_PMD_SIZE;

	EXPECT_EQ(ptb_max_nr(top, 0), FMT_PTES, "entries of the last table of all");
	EXPECT_EQ(ptb_max_nr(-FMT_PAGE_SIZE, 0), 1, "entries left at the last page of all");
	EXPECT_EQ(ptb_max_nr(top, top + FMT_PAGE_SIZE), 1, "entries of a range of one page");
	EXPECT_EQ(ptb_max_nr(top - FMT_PAGE_SIZE, 0), 1, "entries left at the end of a table");
	EXPECT_EQ(ptb_max_nr(top - FMT_PAGE_SIZE, top), 1,
		  "entries left where range and table end");
}

/* Also tried: by GUP-fast, mincore and VFIO; a folio that hangs out of the range on both sides. */
TEST(case_02_walkers_cross_tables)
{
	static const char text[] = "at $t-12 | o4@200";
	struct vfio_case c = { .slot = FMT_PTES - 12, .nr = 16, .limit = 16, .write = true };
	unsigned char vec[BED_PAGES];

	EXPECT_EQ(bed_gup_both(text, NULL, NULL, FMT_PTES - 12, 16, FOLL_PIN), 16,
		  "pages over two tables");
	EXPECT_EQ(bed_gup_both(text, NULL, NULL, FMT_PTES - 7, 9, FOLL_GET), 9,
		  "pages inside the folio");
	EXPECT_EQ(bed_vfio_both(text, NULL, NULL, &c, NULL), 16, "pages mapped over two tables");
	bed_mincore_both(text, NULL, FMT_PTES - 22, 30, vec);
	EXPECT(!vec[9] && vec[10] == 1 && vec[25] == 1 && !vec[26], "mincore misplaced the folio");
}

/*
 * Reached through scanning forward from the window's start, which is all the library does: the end
 * needs no arithmetic of the caller. Also tried: from the fault, with and without a neighbour whose
 * frames go on, the vma ending first.
 */
TEST(case_04_window_ends_with_the_folio_when_the_vma_begins_inside_it)
{
	static const struct {
		const char *name, *layout;
		unsigned int slot, vm_end, want;
	} rows[] = {
		{ "whole window", "o4@200: 4-15 | o4@210: 0-15", 0, 28, 12 },
		{ "from the fault at page 6", "o4@200: 4-15 | o4@210: 0-15", 2, 28, 10 },
		{ "nothing behind", "o4@200: 4-15 | none*4", 0, 16, 12 },
		{ "the vma ends in the folio", "o4@200: 4-15 | o4@210: 0-15", 0, 9, 9 },
		{ "the vma begins at the last page", "o4@200: 15 | o4@210: 0-15", 0, 17, 1 },
		{ "the neighbour's window", "o4@200: 4-15 | o4@210: 0-15", 12, 28, 16 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;
		unsigned int nr;

		bed_need(&bed, rows[i].layout, NULL);
		nr = case_scan(&bed, rows[i].slot,
			       ptb_max_nr(bed_addr(&bed, rows[i].slot),
					  bed_addr(&bed, rows[i].vm_end)),
			       PTB_FOR_LOOK, NULL);
		EXPECT(nr == rows[i].want, "%s: window of %u entries, expected %u", rows[i].name,
		       nr, rows[i].want);
		bed_free(&bed);
	}
}

/*
 * Also tried: the window from its first entry in each table, from the fault, and set again from
 * there.
 */
TEST(case_05_window_stays_in_the_table_on_either_side)
{
	static const struct {
		const char *name, *layout;
		unsigned long slot;
		unsigned int want;
	} rows[] = {
		{ "first entry of the second table", "at $t-4 | o4@200", FMT_PTES, 12 },
		{ "fault at index 1, page 5", "at $t-4 | o4@200", FMT_PTES + 1, 11 },
		{ "first entry of the first table", "at $t-4 | o4@200", FMT_PTES - 4, 4 },
		{ "fault at the last index but one, page 2", "at $t-4 | o4@200", FMT_PTES - 2, 2 },
		{ "one page in the first table", "at $t-1 | o4@200", FMT_PTES - 1, 1 },
		{ "one page in the second table", "at $t-15 | o4@200", FMT_PTES, 1 },
	};
	unsigned int runs[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct case_reads reads;
		struct bed bed;
		unsigned int nr;

		bed_need(&bed, rows[i].layout, NULL);
		case_reads_start(&reads, bed_ptep(&bed, rows[i].slot));
		nr = case_scan(&bed, rows[i].slot,
			       ptb_max_nr(bed_addr(&bed, rows[i].slot), bed.mm.end), PTB_FOR_SET,
			       NULL);
		case_reads_stop();
		EXPECT(nr == rows[i].want, "%s: %u entries, expected %u", rows[i].name, nr,
		       rows[i].want);
		EXPECT(reads.low >= 0 && reads.high < (long)rows[i].want,
		       "%s: entries %ld to %ld were read", rows[i].name, reads.low, reads.high);
		EXPECT(case_set_again(&bed, rows[i].slot, rows[i].want, rows[i].slot, runs) == 1,
		       "%s: the window was not set again as one", rows[i].name);
		bed_free(&bed);
	}
}

/*
 * Also tried: every length around a block's end, starts inside a block, a hole before the last
 * blocks, a range over two tables.
 * Bytes behind the range are compared with the reference walker's, which does not touch them.
 */
TEST(case_07_mincore_ends_where_the_range_ends)
{
	static const char blocks[] = "o5@200" CONT " | o5@220" CONT;
	static const char hole[] = "o0@100 | none*31 | o5@220" CONT " | o5@240" CONT;
	static const char tables[] = "at $t-32 | o5@200" CONT " | o5@220" CONT;
	/* clang-format off */
	static const struct {
		const char *layout;
		unsigned int slot, nr;
	} rows[] = {
		{ blocks, 0, 50 }, { blocks, 0, 47 }, { blocks, 0, 48 }, { blocks, 0, 49 },
		{ blocks, 0, 1 },  { blocks, 0, 15 }, { blocks, 0, 16 }, { blocks, 0, 17 },
		{ blocks, 0, 64 }, { blocks, 3, 2 },  { blocks, 3, 13 }, { blocks, 3, 14 },
		{ blocks, 3, 47 }, { blocks, 15, 1 }, { blocks, 15, 18 }, { blocks, 14, 49 },
		{ blocks, 63, 1 }, { blocks, 31, 2 },
		{ hole, 0, 82 },   { hole, 0, 65 },   { hole, 1, 32 },   { hole, 10, 23 },
		{ tables, FMT_PTES - 32, 64 }, { tables, FMT_PTES - 12, 20 },
	};
	/* clang-format on */
	unsigned char vec[BED_PAGES];
	unsigned int j;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bed_mincore_both(rows[i].layout, NULL, rows[i].slot, rows[i].nr, vec);
		for (j = 0; j < rows[i].nr; j++) {
			unsigned int slot = rows[i].slot + j;
			bool in = rows[i].layout != hole || !slot || slot >= 32;

			EXPECT(vec[j] == in, "%u pages from %u: page %u reported %s memory",
			       rows[i].nr, rows[i].slot, j, vec[j] ? "in" : "not in");
		}
		for (; j < BED_PAGES; j++)
			EXPECT(vec[j] == 0xee, "%u pages from %u: wrote byte %u behind the vector",
			       rows[i].nr, rows[i].slot, j);
	}
}

/*
 * Also tried: the last entry of a block, a limit of 1, blocks of one folio and of two, and no block
 * at all.
 */
TEST(case_08_hint_ends_with_the_limit_and_the_folio)
{
	static const struct {
		const char *name, *layout;
		unsigned int slot, max, want;
		bool differs; /* an entry that differs ends it, and has to be read */
	} rows[] = {
		{ "limit inside the block", "o5@200 cont", 0, 5, 5, false },
		{ "misaligned, to the folio's end", "o5@200 cont | o5@220 cont", 3, 40, 29, false },
		{ "misaligned, two blocks", "o6@200 cont", 3, 40, 40, false },
		{ "misaligned, limit in the first block", "o6@200 cont", 3, 5, 5, false },
		{ "limit at the block's end", "o6@200 cont", 3, FMT_CONT - 3, FMT_CONT - 3, false },
		{ "limit behind it", "o6@200 cont", 3, FMT_CONT - 2, FMT_CONT - 2, false },
		{ "last entry of the block", "o6@200 cont", FMT_CONT - 1, 70, 65 - FMT_CONT,
		  false },
		{ "limit of one", "o6@200 cont", 0, 1, 1, false },
		{ "more than the folio has", "o6@200 cont", 0, 100, 64, false },
		{ "block before single entries", "o6@200: 0-31 cont, 32-63", 0, 64, 32, true },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct case_reads reads;
		struct bed bed;
		ptb_pte_t pte;
		unsigned int nr;

		bed_need(&bed, rows[i].layout, NULL);
		case_reads_start(&reads, bed_ptep(&bed, rows[i].slot));
		nr = case_scan(&bed, rows[i].slot, rows[i].max, PTB_FOR_LOOK, NULL);
		case_reads_stop();
		EXPECT(nr == rows[i].want, "%s: run of %u, expected %u", rows[i].name, nr,
		       rows[i].want);
		EXPECT(reads.high < (long)rows[i].want + rows[i].differs, "%s: entry %ld was read",
		       rows[i].name, reads.high);
		pte = ptb_ptep_get(bed_ptep(&bed, rows[i].slot), PTB_FOR_LOOK);
		nr = ptb_scan(bed_ptep(&bed, rows[i].slot), &pte, 0x240, rows[i].max, PTB_FOR_LOOK);
		EXPECT(nr <= rows[i].max, "%s: %u entries of %u, folios ignored", rows[i].name, nr,
		       rows[i].max);
		bed_free(&bed);
	}
}
