// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The scan on inputs that have a name; scan_model.c has all the others. */
#include "bed.h"

#define TOP (~0UL)
#define PAGES(n) ((unsigned long)(n) << PTB_PAGE_SHIFT)
#define TABLE(n) ((unsigned long)(n) << PTB_PMD_SHIFT)

TEST(max_nr_ends_with_the_range_and_the_table)
{
	static const struct {
		const char *name;
		unsigned long addr, end;
		unsigned int want;
	} rows[] = {
		{ "one page", TABLE(3), TABLE(3) + PAGES(1), 1 },
		{ "the range ends first", TABLE(3) + PAGES(7), TABLE(3) + PAGES(20), 13 },
		{ "the range ends with the table", TABLE(3), TABLE(4), FMT_PTES },
		{ "the range ends one before", TABLE(3), TABLE(4) - PAGES(1), FMT_PTES - 1 },
		{ "the range ends one behind", TABLE(3), TABLE(4) + PAGES(1), FMT_PTES },
		{ "the table ends first", TABLE(3) + PAGES(20), TABLE(9), FMT_PTES - 20 },
		{ "last entry of a table", TABLE(4) - PAGES(1), TABLE(9), 1 },
		{ "last entry of both", TABLE(4) - PAGES(1), TABLE(4), 1 },
		{ "from 0 on", 0, TABLE(1), FMT_PTES },
		{ "from 0 to the top", 0, 0, FMT_PTES },
		{ "middle to the top", TABLE(3) + PAGES(1), 0, FMT_PTES - 1 },
		{ "last table to the top", TOP - TABLE(1) + 1, 0, FMT_PTES },
		{ "middle of the last table to the top", TOP - PAGES(10) + 1, 0, 10 },
		{ "last page to the top", TOP - PAGES(1) + 1, 0, 1 },
		{ "last table, but not to the top", TOP - TABLE(1) + 1, TOP - PAGES(1) + 1,
		  FMT_PTES - 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int got = ptb_max_nr(rows[i].addr, rows[i].end);

		EXPECT(got == rows[i].want, "%s: %u entries, expected %u", rows[i].name, got,
		       rows[i].want);
	}
}

/* Patches name the bits of both: those that mainline has are mainline's. */
TEST(flags_are_these_bits_and_uses_these_flags)
{
	static const struct {
		const char *name;
		ptb_t flags;
		unsigned int bits;
	} rows[] = {
		{ "PTB_RESPECT_DIRTY", PTB_RESPECT_DIRTY, 0x01 },
		{ "PTB_RESPECT_SOFT_DIRTY", PTB_RESPECT_SOFT_DIRTY, 0x02 },
		{ "PTB_RESPECT_WRITE", PTB_RESPECT_WRITE, 0x04 },
		{ "PTB_MERGE_WRITE", PTB_MERGE_WRITE, 0x08 },
		{ "PTB_MERGE_YOUNG_DIRTY", PTB_MERGE_YOUNG_DIRTY, 0x10 },
		{ "PTB_RESPECT_YOUNG", PTB_RESPECT_YOUNG, 0x20 },
		{ "PTB_LOCKLESS", PTB_LOCKLESS, 0x40 },
		{ "PTB_NO_HINT", PTB_NO_HINT, 0x80 },
		{ "PTB_YOUNG_DIRTY", PTB_YOUNG_DIRTY, 0x31 },
		{ "PTB_FOR_LOOK", PTB_FOR_LOOK, 0 },
		{ "PTB_FOR_SET", PTB_FOR_SET, 0x16 },
		{ "PTB_FOR_GUP_FAST", PTB_FOR_GUP_FAST, 0x44 },
		{ "PTB_FOR_GUP_LOCKED", PTB_FOR_GUP_LOCKED, 0x05 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT((__force unsigned int)rows[i].flags == rows[i].bits, "%s: %x, expected %x",
		       rows[i].name, (__force unsigned int)rows[i].flags, rows[i].bits);
}

/* A batch from a slot of a bed, as a walker would ask for it. */
static __always_inline unsigned int batch(struct bed *bed, unsigned long slot, unsigned int max_nr,
					  const ptb_t flags, ptb_pte_t *merged)
{
	ptb_pte_t *ptep = bed_ptep(bed, slot);

	*merged = ptb_ptep_get(ptep, flags);
	return ptb_scan_folio(bed_folio(ptb_pte_pfn(*merged)), &bed->mm.vmas[0], ptep, merged,
			      max_nr, flags);
}

/*
 * ro and rw, clean and dirty: what each use makes of it. A name in brackets needs what not every
 * format has.
 */
TEST(each_use_stops_where_it_must)
{
	static const struct {
		const char *layout;
		unsigned int start, max, look, set, gup_fast, gup_locked;
	} rows[] = {
		{ "o3@100", 0, 8, 8, 8, 8, 8 },
		{ "o3@100", 0, 1, 1, 1, 1, 1 },
		{ "o3@100", 3, 8, 5, 5, 5, 5 },
		{ "o3@100", 7, 8, 1, 1, 1, 1 },
		{ "o3@100", 2, 3, 3, 3, 3, 3 },
		/* the next folio's frames follow on, and its entries look alike */
		{ "o3@100 | o3@108", 0, 16, 8, 8, 8, 8 },
		{ "o3@100 | o3@108", 5, 11, 3, 3, 3, 3 },
		{ "o3@100: 4-7 | o3@108", 0, 12, 4, 4, 4, 4 },
		{ "o3@100: 0-3, 5-7", 0, 7, 4, 4, 4, 4 },
		{ "o3@100: 0-3, 3-7", 0, 8, 4, 4, 4, 4 },
		{ "o3@100: 3, 2, 1", 0, 3, 1, 1, 1, 1 },
		{ "o3@100: 0-3 | none | o3@100: 5-7", 0, 8, 4, 4, 4, 4 },
		{ "o3@100: 0-3 | swap 0:104*4", 0, 8, 4, 4, 4, 4 },
		{ "o3@100: 0-3 ro, 4-7", 0, 8, 8, 4, 4, 4 },
		{ "o3@100: 0-3, 4-7 ro", 0, 8, 8, 4, 4, 4 },
		{ "o3@100: 0-3 dirty, 4-7", 0, 8, 8, 8, 8, 4 },
		{ "o3@100: 0-3, 4-7 dirty", 0, 8, 8, 8, 8, 4 },
		{ "o3@100: 0-3 ro dirty, 4-7 ro", 0, 8, 8, 8, 8, 4 },
		{ "o3@100: 0-3 old, 4-7", 0, 8, 8, 8, 8, 8 },
		{ "o3@100: 0-3, 4-7 old", 0, 8, 8, 8, 8, 8 },
		{ "o3@100: 0-3, 4-7 special", 0, 8, 4, 4, 4, 4 },
		{ "o3@100: 0-3 ro, 4-7 protnone", 0, 8, 4, 4, 4, 4 },
		{ "o3@100: 0-7 protnone", 0, 8, 8, 8, 8, 8 },
		{ "o3@100: 0-3 protnone, 5-7 protnone", 0, 7, 4, 4, 4, 4 },
		{ "o3@100: 0-3 soft-dirty, 4-7", 0, 8, 8, 4, 8, 8 },
		{ "o3@100: 0-3, 4-7 soft-dirty", 0, 8, 8, 4, 8, 8 },
		{ "o3@100: 0-3, 4-7 uffd-wp", 0, 8, 4, 4, 4, 4 },
		{ "o3@100: 0-3, 4-7 devmap", 0, 8, 4, 4, 4, 4 },
		/*
		 * cleaned, a shadow stack entry equals a write-protected one: only pte_write()
		 * tells
		 */
		{ "o3@100: 0-3 shstk, 4-7 saved-dirty", 0, 8, 8, 4, 4, 4 },
		{ "o3@100: 0-3 saved-dirty, 4-7 shstk", 0, 8, 8, 4, 4, 4 },
		{ "o3@100: 0-3 shstk, 4-7 ro", 0, 8, 8, 4, 4, 4 },
		{ "o3@100: 0-3 shstk, 4-7 rw dirty", 0, 8, 8, 4, 4, 4 },
		/* a block's hint goes to its end, whatever may be touched */
		{ "o5@200 cont", 0, 32, 32, 32, 32, 32 },
		{ "o5@200 cont", 3, 29, 29, 29, 29, 29 },
		{ "o5@200 cont", 3, 5, 5, 5, 5, 5 },
		{ "o5@200 cont", 17, 1, 1, 1, 1, 1 },
		{ "o6@200: 0-31 cont, 32-63", 0, 64, 32, 32, 32, 32 },
		{ "o6@200: 0-31 cont, 32-63 cont dirty", 0, 64, 64, 64, 64, 32 },
		{ "o5@200 cont | o5@220 cont", 0, 64, 32, 32, 32, 32 },
		{ "o6@200: 0-31 cont ro, 32-63 cont", 4, 60, 60, 28, 28, 28 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int got, start = rows[i].start, max = rows[i].max;
		struct bed bed;
		ptb_pte_t pte;

		if (!bed_make(&bed, rows[i].layout, NULL))
			continue;
#define USE(use, flags)                                                               \
	do {                                                                          \
		got = batch(&bed, start, max, flags, &pte);                           \
		EXPECT(got == rows[i].use,                                            \
		       "%s from %u, at most %u, " #flags ": %u entries, expected %u", \
		       rows[i].layout, start, max, got, rows[i].use);                 \
	} while (0)
		USE(look, PTB_FOR_LOOK);
		USE(set, PTB_FOR_SET);
		USE(gup_fast, PTB_FOR_GUP_FAST);
		USE(gup_locked, PTB_FOR_GUP_LOCKED);
#undef USE
		bed_free(&bed);
	}
}

/* Young is like the rest once somebody respects it. */
TEST(young_stops_a_run_only_where_it_is_respected)
{
	struct bed bed;
	ptb_pte_t pte;

	bed_need(&bed, "o3@100: 0-3 old, 4-7", NULL);
	EXPECT_EQ(batch(&bed, 0, 8, PTB_RESPECT_YOUNG, &pte), 4, "run of old entries");
	EXPECT_EQ(batch(&bed, 4, 4, PTB_RESPECT_YOUNG, &pte), 4, "run of young entries");
	EXPECT_EQ(batch(&bed, 0, 8, PTB_RESPECT_WRITE, &pte), 8, "run of either");
	bed_free(&bed);
}

TEST(merged_bits_come_from_counted_entries_alone)
{
	static const struct {
		const char *name, *layout;
		unsigned int max, nr;
		bool young, dirty;
	} rows[] = {
		{ "none has them", "o2@100 old", 4, 4, false, false },
		{ "the first has them", "o2@100: 0 young dirty, 1-3 old", 4, 4, true, true },
		{ "the last has them", "o2@100: 0-2 old, 3 young dirty", 4, 4, true, true },
		{ "young here, dirty there", "o2@100: 0 old, 1 young, 2 old dirty, 3 old", 4, 4,
		  true, true },
		{ "behind the limit", "o2@100: 0-2 old, 3 young dirty", 3, 3, false, false },
		{ "behind the folio", "o2@100 old | o2@104 dirty", 8, 4, false, false },
		{ "in the entry that stops it", "o2@100: 0-1 old, 2-3 ro young dirty", 4, 2, false,
		  false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char name[64];
		struct bed bed;
		ptb_pte_t pte;

		/* Entries of a layout are young where nothing is said. */
		bed_need(&bed, rows[i].layout, NULL);
		snprintf(name, sizeof(name), "%s: entries", rows[i].name);
		EXPECT_EQ(batch(&bed, 0, rows[i].max, PTB_FOR_SET, &pte), rows[i].nr, name);
		EXPECT(ptb_pte_young(pte) == rows[i].young, "%s: young is %d", rows[i].name,
		       ptb_pte_young(pte));
		EXPECT(ptb_pte_dirty(pte) == rows[i].dirty, "%s: dirty is %d", rows[i].name,
		       ptb_pte_dirty(pte));
		EXPECT(ptb_pte_pfn(pte) == 0x100 && ptb_pte_write(pte),
		       "%s: merging changed the entry", rows[i].name);
		bed_free(&bed);
	}
}

TEST(write_is_merged_from_any_counted_entry)
{
	struct bed bed;
	ptb_pte_t pte;

	bed_need(&bed, "o2@100: 0-1 ro, 2 rw, 3 ro", NULL);
	EXPECT_EQ(batch(&bed, 0, 4, PTB_MERGE_WRITE, &pte), 4, "entries");
	EXPECT(ptb_pte_write(pte), "a writable entry was counted, the result is read-only");
	EXPECT_EQ(batch(&bed, 0, 2, PTB_MERGE_WRITE, &pte), 2, "entries");
	EXPECT(!ptb_pte_write(pte), "only read-only entries were counted, the result is writable");
	EXPECT_EQ(batch(&bed, 0, 4, PTB_FOR_LOOK, &pte), 4, "entries");
	EXPECT(!ptb_pte_write(pte), "nobody asked for write to be merged");
	bed_free(&bed);
}

/* A shadow stack entry is dirty by nature; to mark it dirty once more would write-protect it. */
TEST(merging_leaves_a_shadow_stack_writable)
{
	struct bed bed;
	ptb_pte_t pte;

	bed_need(&bed, "o2@100 shstk", NULL);
	EXPECT_EQ(batch(&bed, 0, 4, PTB_FOR_SET, &pte), 4, "entries");
	EXPECT(ptb_pte_write(pte), "set again from this, the shadow stack is read-only");
	EXPECT(ptb_pte_dirty(pte), "the shadow stack became clean");
	bed_free(&bed);
}

TEST(a_run_may_cross_folios_up_to_the_frame_named)
{
	static const struct {
		const char *layout;
		unsigned int start, max;
		unsigned long pfn_end;
		unsigned int want;
	} rows[] = {
		{ "o2@100 | o2@104 | o2@108", 0, 12, 0x10c, 12 },
		{ "o2@100 | o2@104 | o2@108", 0, 12, 0x109, 9 },
		{ "o2@100 | o2@104 | o2@108", 0, 12, ULONG_MAX, 12 },
		{ "o2@100 | o2@104 | o2@108", 2, 6, 0x10c, 6 },
		{ "o2@100 | o2@104 | o2@108", 0, 12, 0x101, 1 },
		{ "o2@100 | o2@104 file | o0@108 ro", 0, 9, 0x109, 9 },
		{ "o2@100 | o2@108 | o2@104", 0, 8, 0x10c, 4 },
		{ "o2@100 | none | o2@108 | o2@104", 0, 9, 0x10c, 4 },
		{ "frame@fee00*9", 1, 8, 0xfee09, 8 },
		{ "frame@fee00*4 | frame@fee05*4", 0, 8, 0xfee09, 4 },
		/* Stored inverted (L1TF), frames that go down count up. */
		{ "o0@110 protnone | o0@10f protnone | o0@10e protnone | "
		  "o0@10d protnone | o0@10c protnone | o0@10b protnone | "
		  "o0@10a protnone | o0@109 protnone | o0@108 protnone",
		  0, 9, ULONG_MAX, 1 },
		{ "o4@100 protnone", 0, 16, 0x110, 16 },
		{ "o5@200 cont | o5@220 cont", 0, 64, 0x240, 64 },
		{ "o5@200 cont | o5@220 cont", 5, 59, 0x222, 29 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ptb_pte_t *ptep, pte;
		unsigned int got;
		struct bed bed;

		if (!bed_make(&bed, rows[i].layout, NULL))
			continue;
		ptep = bed_ptep(&bed, rows[i].start);
		pte = ptb_ptep_get(ptep, PTB_FOR_LOOK);
		got = ptb_scan(ptep, &pte, rows[i].pfn_end, rows[i].max, PTB_FOR_LOOK);
		EXPECT(got == rows[i].want, "%s from %u, frames to 0x%lx: %u entries, expected %u",
		       rows[i].layout, rows[i].start, rows[i].pfn_end, got, rows[i].want);
		EXPECT_EQ(raw_hooks.count[RAW_PTE_LOCKLESS], 0, "lockless reads under the lock");
		got = ptb_scan(ptep, &pte, rows[i].pfn_end, rows[i].max, PTB_LOCKLESS);
		EXPECT(got == rows[i].want, "%s from %u, lockless: %u entries, expected %u",
		       rows[i].layout, rows[i].start, got, rows[i].want);
		EXPECT_EQ(raw_hooks.count[RAW_FOLIO], 0, "folios asked for by a scan of entries");
		bed_free(&bed);
	}
}

/* Against the end of a table, where reading on would fault, as well as before it. */
static void expect_class(const char *layout, unsigned int start, unsigned int max, char class,
			 unsigned int want)
{
	unsigned int got = 0;
	struct bed bed;
	ptb_pte_t *ptep;

	if (!bed_make(&bed, layout, NULL))
		return;
	ptep = bed_ptep(&bed, start);
	if (class == 'p')
		got = ptb_scan_present(ptep, ptb_ptep_get(ptep, PTB_FOR_LOOK), max);
	else if (class == 'n')
		got = ptb_scan_none(ptep, max);
	else
		got = ptb_scan_swap(ptep, ptb_ptep_get(ptep, PTB_FOR_LOOK), max);
	EXPECT(got == want, "%s from %u, at most %u: %u entries, expected %u", layout, start, max,
	       got, want);
	EXPECT_EQ(raw_hooks.count[RAW_PTE_LOCKLESS], 0, "lockless reads under the lock");
	bed_free(&bed);
}

TEST(runs_of_present_entries_take_whatever_is_mapped)
{
	expect_class("o0@100 | o0@200 ro | o0@150 protnone | none", 0, 4, 'p', 3);
	expect_class("o0@100 | o0@200 ro | o0@150 dirty | o0@160", 0, 3, 'p', 3);
	expect_class("o0@100 | swap 0:1 | o0@160", 0, 3, 'p', 1);
	expect_class("o0@100 | migration | o0@160", 0, 3, 'p', 1);
	expect_class("o0@100 | frame@fee00*3 | marker", 0, 5, 'p', 4);
	expect_class("at $t-2 | o0@100 | o0@300", FMT_PTES - 2, 2, 'p', 2);
	expect_class("at $t-1 | o0@100", FMT_PTES - 1, 1, 'p', 1);
	expect_class("o5@200 cont | o0@300 | none", 3, 40, 'p', 30);
	expect_class("o5@200 cont | o0@300 | none", 3, 4, 'p', 4);
	expect_class("o5@200 cont | o5@220 | none", 0, 65, 'p', 64);
}

TEST(runs_of_empty_entries_end_with_anything_else)
{
	expect_class("none*5 | o0@100", 0, 9, 'n', 5);
	expect_class("none*5 | o0@100", 0, 3, 'n', 3);
	expect_class("none*5 | marker", 1, 9, 'n', 4);
	expect_class("none*5 | swap 0:10", 4, 9, 'n', 1);
	expect_class("none*5 | hwpoison", 0, 6, 'n', 5);
	expect_class("at $t-12 | none*12", FMT_PTES - 12, 12, 'n', 12);
	expect_class("at $t-1 | none", FMT_PTES - 1, 1, 'n', 1);
}

TEST(runs_of_swap_entries_count_slots_and_keep_their_bits)
{
	expect_class("swap 0:10*8", 0, 8, 's', 8);
	expect_class("swap 0:10*8", 2, 3, 's', 3);
	expect_class("swap 0:10*4 | swap 1:14*4", 0, 8, 's', 4);
	expect_class("swap 0:10*4 | swap 0:15*3", 0, 7, 's', 4);
	expect_class("swap 0:10*4 | swap 0:13", 0, 5, 's', 4);
	expect_class("swap 0:10*4 | none*4", 0, 8, 's', 4);
	expect_class("swap 0:10*4 | o0@100", 0, 5, 's', 4);
	expect_class("swap 0:10 excl*4 | swap 0:14*4", 0, 8, 's', 4);
	expect_class("swap 0:10*4 | swap 0:14 excl*4", 0, 8, 's', 4);
	expect_class("swap 0:10 excl*4 | swap 0:14 excl*4", 0, 8, 's', 8);
	expect_class("swap 0:10 soft-dirty*4 | swap 0:14*4", 0, 8, 's', 4);
	expect_class("swap 0:10*4 | swap 0:14 uffd-wp*4", 0, 8, 's', 4);
	expect_class("swap 0:7fffe*4", 0, 4, 's', 4);
	expect_class("at $t-4 | swap 2:1*4", FMT_PTES - 4, 4, 's', 4);
}

/*
 * The block is broken on purpose: its hint is believed unless nobody may believe it, and what it
 * vouches for is not read.
 */
TEST(a_hint_is_believed_unless_told_not_to)
{
	struct bed bed;
	ptb_pte_t pte;

	if (FMT_CONT == 1)
		SKIP("no blocks in this format");
	bed_need(&bed, "o5@200 cont", NULL);
	pte_set(bed_ptep(&bed, 5), fmt_mk(FMT_NONE));
	memset(raw_hooks.count, 0, sizeof(raw_hooks.count));
	EXPECT_EQ(batch(&bed, 0, 32, PTB_FOR_LOOK, &pte), 32, "entries by their hint");
	EXPECT_EQ(raw_hooks.count[RAW_PTE], 32 / FMT_CONT, "reads, of the first of each block");
	EXPECT_EQ(batch(&bed, 0, 32, PTB_NO_HINT, &pte), 5, "entries, each looked at");
	EXPECT_EQ(batch(&bed, 6, 26, PTB_NO_HINT, &pte), 26, "entries, each looked at");
	bed_free(&bed);
}
