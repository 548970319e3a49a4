// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases 11 to 20: entries that map neighbouring pages, but not alike. */
#include "case.h"

static void
expect_runs(const char *name, const unsigned int *runs, unsigned int n, const char *want)
{
	char got[128] = "";
	unsigned int i, len = 0;

	for (i = 0; i < n && len < sizeof(got) - 8; i++)
		len += snprintf(got + len, sizeof(got) - len, "%s%u", i ? "," : "", runs[i]);
	EXPECT(!strcmp(got, want), "%s: runs of %s, expected %s", name, got, want);
}

/*
 * Also tried: one writable entry first, last, in the middle and alternating; the start at the
 * change; soft-dirty and userfaultfd's write protection, where the format has them; whole blocks.
 */
TEST(case_11_setting_a_run_again_changes_no_entry)
{
	static const struct {
		const char *layout;
		unsigned int slot, nr;
		const char *runs;
	} rows[] = {
		{ "o4@200: 0-7, 8-15 ro", 0, 16, "8,8" },
		{ "o4@200: 0-7, 8-15 ro", 8, 8, "8" },
		{ "o4@200: 0, 1-15 ro", 0, 16, "1,15" },
		{ "o4@200: 0-14, 15 ro", 0, 16, "15,1" },
		{ "o4@200: 0-14 ro, 15", 0, 16, "15,1" },
		{ "o4@200 ro: 0-6, 7 rw, 8-15", 0, 16, "7,1,8" },
		{ "o2@200: 0, 1 ro, 2, 3 ro", 0, 4, "1,1,1,1" },
		{ "o4@200", 0, 16, "16" },
		{ "o4@200 ro", 0, 16, "16" },
		{ "o5@200 cont ro | o5@220 cont", 0, 64, "32,32" },
		{ "o6@200 cont: 0-31 ro, 32-63", 0, 64, "32,32" },
		{ "o4@200 soft-dirty: 0-7, 8-15 ro", 0, 16, "8,8" },
		{ "o4@200: 0-7 soft-dirty, 8-15", 0, 16, "8,8" },
		{ "o4@200: 0-3, 4-7 uffd-wp ro, 8-15 ro", 0, 16, "4,4,8" },
		{ "o4@200: 0-3, 4-7 saved-dirty, 8-15 ro", 0, 16, "4,12" },
	};
	unsigned int runs[64], n, j;
	u64 before[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bool mixed_dirty = strstr(rows[i].layout, "saved-dirty");
		struct bed bed;

		if (!bed_can(rows[i].layout))
			continue;
		bed_need(&bed, rows[i].layout, NULL);
		for (j = 0; j < rows[i].nr; j++)
			before[j] = fmt_val(*bed_ptep(&bed, rows[i].slot + j));
		n = case_set_again(&bed, rows[i].slot, rows[i].nr, rows[i].slot, runs);
		expect_runs(rows[i].layout, runs, n, rows[i].runs);
		for (j = 0; j < rows[i].nr; j++) {
			ptb_pte_t now = *bed_ptep(&bed, rows[i].slot + j), was = fmt_mk(before[j]);

			EXPECT(ptb_pte_write(now) == ptb_pte_write(was),
			       "%s: entry %u is %s after it was set again", rows[i].layout, j,
			       ptb_pte_write(now) ? "writable" : "read-only");
			EXPECT(mixed_dirty || fmt_val(now) == before[j],
			       "%s: entry %u is 0x%llx after it was set again, was 0x%llx",
			       rows[i].layout, j, (unsigned long long)fmt_val(now),
			       (unsigned long long)before[j]);
			EXPECT(!ptb_pte_dirty(was) || ptb_pte_dirty(now),
			       "%s: entry %u lost its dirt", rows[i].layout, j);
		}
		bed_free(&bed);
	}
}

/* mremap in small. Also tried: writable last, and to where blocks would not line up. */
TEST(case_12_moving_a_run_keeps_each_write_bit)
{
	static const struct build_opts far = { .spare = 128 / FMT_PTES };
	static const struct {
		const char *layout;
		unsigned int nr, to;
		const char *runs;
	} rows[] = {
		{ "o2@100: 0, 1-3 ro", 4, 100, "1,3" },
		{ "o2@100: 0-2 ro, 3", 4, 100, "3,1" },
		{ "o2@100: 0, 1 ro, 2, 3 ro", 4, 101, "1,1,1,1" },
		{ "o4@200: 0-3, 4-15 ro", 16, 107, "4,12" },
		{ "o2@100", 4, FMT_PTES - 4, "4" },
	};
	unsigned int runs[64], n, j;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;

		bed_need(&bed, rows[i].layout, &far);
		n = case_set_again(&bed, 0, rows[i].nr, rows[i].to, runs);
		expect_runs(rows[i].layout, runs, n, rows[i].runs);
		for (j = 0; j < rows[i].nr; j++)
			EXPECT(ptb_pte_same(*bed_ptep(&bed, rows[i].to + j), *bed_ptep(&bed, j)),
			       "%s: entry %u was not moved as it was", rows[i].layout, j);
		bed_free(&bed);
	}
}

/*
 * Also tried: a start on either side of each change, and GUP-fast, which asks the same question
 * under its pin.
 */
TEST(case_13_exclusive_is_asked_from_the_first_page_of_the_run)
{
	static const char text[] = "o4@200 ro: 0-4, 5-7 shared, 8-10, 11-15 shared";
	static const struct {
		unsigned int page, nr, want;
	} rows[] = {
		{ 5, 6, 0 }, { 8, 3, 3 },  { 8, 8, 3 },	 { 0, 16, 5 }, { 4, 4, 1 },
		{ 7, 2, 0 }, { 10, 2, 1 }, { 11, 5, 0 }, { 0, 5, 5 },  { 1, 3, 3 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;
		unsigned int nr;

		bed_need(&bed, text, NULL);
		nr = ptb_unshared(NULL, bed_folio(0x200), mem_page(0x200 + rows[i].page),
				  rows[i].nr, FOLL_PIN);
		EXPECT(nr == rows[i].want, "%u of %u pages from page %u may stay, expected %u", nr,
		       rows[i].nr, rows[i].page, rows[i].want);
		bed_free(&bed);
		EXPECT_EQ(bed_gup_both(text, NULL, NULL, rows[i].page, rows[i].nr, FOLL_PIN),
			  rows[i].want, "pages pinned for reading");
	}
}

static void block_dirty_at_9(struct bed *bed)
{
	pte_set(bed_ptep(bed, 9), ptb_pte_mkdirty(*bed_ptep(bed, 9)));
}

/*
 * Also tried: dirty first, before the start, behind the run, and young alike; in one entry of a
 * block the CPU picked.
 */
TEST(case_14_dirt_of_later_entries_is_merged)
{
	static const struct {
		const char *layout;
		unsigned int slot, max, respect, merge;
		bool dirty, young;
	} rows[] = {
		{ "o2@100 old: 0-1, 2 dirty, 3", 0, 4, 2, 4, true, false },
		{ "o2@100 old: 0-1, 2 dirty, 3", 3, 1, 1, 1, false, false },
		{ "o2@100 old: 0-1, 2 dirty, 3", 2, 2, 1, 2, true, false },
		{ "o2@100 old: 0-1, 2 dirty, 3", 0, 2, 2, 2, false, false },
		{ "o2@100 old: 0 dirty, 1-3", 0, 4, 1, 4, true, false },
		{ "o2@100 old: 0-2, 3 dirty young", 0, 4, 3, 4, true, true },
		{ "o2@100 old: 0-2, 3 young", 0, 4, 4, 4, false, true },
		{ "o2@100 old | o2@104 dirty young", 0, 8, 4, 4, false, false },
		{ "o2@100 old: 0-2 | none | o0@200 dirty young", 0, 5, 3, 3, false, false },
		{ "o2@100 dirty", 0, 4, 4, 4, true, true },
	};
	struct bed bed;
	ptb_pte_t pte;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int nr;

		bed_need(&bed, rows[i].layout, NULL);
		nr = case_scan(&bed, rows[i].slot, rows[i].max, PTB_RESPECT_DIRTY, NULL);
		EXPECT(nr == rows[i].respect, "%s: %u entries equally dirty, expected %u",
		       rows[i].layout, nr, rows[i].respect);
		nr = case_scan(&bed, rows[i].slot, rows[i].max, PTB_MERGE_YOUNG_DIRTY, &pte);
		EXPECT(nr == rows[i].merge, "%s: %u entries, expected %u", rows[i].layout, nr,
		       rows[i].merge);
		EXPECT(ptb_pte_dirty(pte) == rows[i].dirty, "%s: dirt was %s", rows[i].layout,
		       rows[i].dirty ? "lost" : "invented");
		EXPECT(ptb_pte_young(pte) == rows[i].young, "%s: young was %s", rows[i].layout,
		       rows[i].young ? "lost" : "invented");
		bed_free(&bed);
	}

	bed_need(&bed, BLOCK, NULL);
	block_dirty_at_9(&bed);
	EXPECT_EQ(case_scan(&bed, 3, 13, PTB_MERGE_YOUNG_DIRTY, &pte), 13, "entries of the block");
	EXPECT(ptb_pte_dirty(pte), "the dirty bit in entry 9 of a block was lost");
	bed_free(&bed);
}

/*
 * The write bit, merged for users that grant it by run. Also tried: the writable entry first,
 * behind the run, and none.
 */
TEST(case_14_write_of_later_entries_is_merged)
{
	static const struct {
		const char *layout;
		unsigned int max;
		bool write;
	} rows[] = {
		{ "o2@100 ro: 0-1, 2 rw, 3", 4, true },
		{ "o2@100: 0, 1-3 ro", 4, true },
		{ "o2@100 ro: 0-2, 3 rw", 3, false },
		{ "o2@100 ro", 4, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;
		ptb_pte_t pte;

		bed_need(&bed, rows[i].layout, NULL);
		EXPECT(case_scan(&bed, 0, rows[i].max, PTB_MERGE_WRITE, &pte) == rows[i].max,
		       "%s: the run stopped at a write bit that is only merged", rows[i].layout);
		EXPECT(ptb_pte_write(pte) == rows[i].write, "%s: write was %s", rows[i].layout,
		       rows[i].write ? "lost" : "invented");
		bed_free(&bed);
	}
}

/* Also tried: soft-dirty last, and ignored by a user that only looks. */
TEST(case_15_soft_dirty_is_not_smeared)
{
	static const char second[] = "o4@200 soft-dirty: 0-4, 5 dirty, 6, 7 dirty, 8-15";
	unsigned int runs[16], n;
	struct bed bed;
	ptb_pte_t pte;

	bed_need(&bed, "o2@100: 0 soft-dirty, 1, 2-3 soft-dirty", NULL);
	n = case_set_again(&bed, 0, 4, 0, runs);
	expect_runs("soft-dirty 1,0,1,1", runs, n, "1,1,2");
	EXPECT_EQ(case_scan(&bed, 0, 4, PTB_FOR_LOOK, NULL), 4, "entries, looked at only");
	EXPECT_EQ(case_scan(&bed, 0, 4, PTB_FOR_GUP_FAST, NULL), 4, "entries, by GUP-fast");
	bed_free(&bed);

	bed_need(&bed, "o2@100: 0-2, 3 soft-dirty", NULL);
	n = case_set_again(&bed, 0, 4, 0, runs);
	expect_runs("soft-dirty 0,0,0,1", runs, n, "3,1");
	bed_free(&bed);

	bed_need(&bed, second, NULL);
	/* No words take a bit away again: page 7 alone is not soft-dirty, and not dirty either. */
	pte_set(bed_ptep(&bed, 7), fmt_pte_mk(0x207, A_WRITE | A_YOUNG));
	EXPECT_EQ(case_scan(&bed, 3, 13, PTB_RESPECT_SOFT_DIRTY | PTB_MERGE_YOUNG_DIRTY, &pte), 4,
		  "entries up to the one that is not soft-dirty");
	EXPECT(ptb_pte_dirty(pte), "the dirt of page 5 was lost");
	bed_free(&bed);
}

/* Who does not ask for soft-dirty gets what making the first entry dirty makes of it. */
TEST(case_15_merged_dirt_is_dirt_as_ever_where_soft_dirt_is_released)
{
	struct bed bed;
	ptb_pte_t pte;

	bed_need(&bed, "o2@100: 0-1, 2 dirty, 3", NULL);
	EXPECT_EQ(case_scan(&bed, 0, 4, PTB_MERGE_YOUNG_DIRTY, &pte), 4, "entries");
	EXPECT(ptb_pte_same(pte, ptb_pte_mkdirty(*bed_ptep(&bed, 0))),
	       "the first entry is not as if made dirty");
	bed_free(&bed);
}

/* Also tried: the dirty entry first, last and alone; read-only entries. */
TEST(case_15_merged_dirt_is_not_soft_dirt)
{
	static const char *const layouts[] = {
		"o2@100: 0-1, 2 dirty, 3",
		"o2@100: 0 dirty, 1-3",
		"o2@100 ro: 0-2, 3 dirty",
	};
	unsigned int runs[16], i, k;
	struct bed bed;

	for (i = 0; i < ARRAY_SIZE(layouts); i++) {
		bed_need(&bed, layouts[i], NULL);
		case_set_again(&bed, 0, 4, 0, runs);
		for (k = 0; k < 4; k++) {
			ptb_pte_t pte = *bed_ptep(&bed, k);

			EXPECT(ptb_pte_same(ptb_pte_clear_soft_dirty(pte), pte),
			       "%s: entry %u became soft-dirty", layouts[i], k);
		}
		bed_free(&bed);
	}
}

/*
 * The library knows no scan that ignores who owns a slot, so nothing is to be merged: all bits must
 * agree. Also tried: device, slot, soft-dirty and userfaultfd bits that differ, other kinds behind,
 * the limit, the end of the table.
 */
TEST(case_18_swap_run_ends_where_the_owner_changes)
{
	static const struct {
		const char *layout;
		unsigned int slot, max, want;
	} rows[] = {
		{ "swap 0:100 | swap 0:101 excl*3", 0, 4, 1 },
		{ "swap 0:100 | swap 0:101 excl*3", 1, 3, 3 },
		{ "swap 0:100 excl*3 | swap 0:103", 0, 4, 3 },
		{ "swap 0:100*4", 0, 4, 4 },
		{ "swap 0:100*4", 0, 3, 3 },
		{ "swap 0:fe*4", 0, 4, 4 },
		{ "swap 0:100*2 | swap 1:102*2", 0, 4, 2 },
		{ "swap 0:100*2 | swap 0:103*2", 0, 4, 2 },
		{ "swap 0:100*2 | swap 0:100*2", 0, 4, 2 },
		{ "swap 0:100*2 | none | swap 0:103", 0, 4, 2 },
		{ "swap 0:100*2 | marker | swap 0:103", 0, 4, 2 },
		{ "swap 0:100*2 | migration | swap 0:103", 0, 4, 2 },
		{ "swap 0:100*2 | o0@102", 0, 3, 2 },
		{ "swap 0:100*2 | swap 0:102 soft-dirty*2", 0, 4, 2 },
		{ "swap 0:100*2 | swap 0:102 uffd-wp*2", 0, 4, 2 },
		{ "at $t-3 | swap 0:100*3", FMT_PTES - 3, 3, 3 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct case_reads reads;
		ptb_pte_t *ptep;
		unsigned int nr;
		struct bed bed;

		if (!bed_can(rows[i].layout))
			continue;
		bed_need(&bed, rows[i].layout, NULL);
		ptep = bed_ptep(&bed, rows[i].slot);
		case_reads_start(&reads, ptep);
		nr = ptb_scan_swap(ptep, *ptep, rows[i].max);
		case_reads_stop();
		EXPECT(nr == rows[i].want, "%s: %u slots, expected %u", rows[i].layout, nr,
		       rows[i].want);
		EXPECT(reads.high < (long)rows[i].max, "%s: entry %ld was read", rows[i].layout,
		       reads.high);
		bed_free(&bed);
	}
}

/*
 * The nearest users are the scan and GUP-fast; neither asks a map count. Also tried: the small
 * folio twice on both sides of a part of a large one, parts of every size, one page of a large
 * folio mapped twice.
 */
TEST(case_20_part_of_a_folio_is_one_step_and_a_small_one_is_not_skipped)
{
	static const struct {
		const char *layout;
		unsigned int slot, nr, first, want;
	} rows[] = {
		{ "o0@100 | o0@100", 0, 2, 1, 2 },
		{ "o3@108: 2-7 | o0@100", 0, 7, 6, 7 },
		{ "o0@100 | o3@108: 2-7 | o0@100", 0, 8, 1, 8 },
		{ "o0@100 | o3@108: 2-7 | o0@100", 1, 7, 6, 7 },
		{ "o3@108: 7 | o0@110", 0, 2, 1, 2 },
		{ "o3@108: 0-3, 0-3", 0, 8, 4, 8 },
		{ "o3@108: 2, 2, 2", 0, 3, 1, 3 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;
		unsigned int nr;

		bed_need(&bed, rows[i].layout, NULL);
		nr = case_scan(&bed, rows[i].slot, rows[i].nr, PTB_FOR_LOOK, NULL);
		EXPECT(nr == rows[i].first, "%s: step of %u, expected %u", rows[i].layout, nr,
		       rows[i].first);
		bed_free(&bed);
		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, NULL, rows[i].slot, rows[i].nr,
				       FOLL_PIN),
			  rows[i].want, rows[i].layout);
	}
}
