// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What must hold between the ops of any format, for every combination of attributes it has. */
#include "bed.h"

/* From the first frame to 48 bits of address, on both sides of where a field or a word may end. */
static const u64 pfns[] = { 0x1,      0x10,	  0xfff,      0x3ffff,	  0xffffe,
			    0x100000, 0x7ffffff0, 0xfffffffc, 0xffffffff0 };

static const unsigned int steps[] = { 1, 2, 3, 5, 8 };

/*
 * Combinations that no kernel makes: a writable entry keeps its dirty bit in hardware, and writes
 * one way only.
 */
static bool sensible(u32 attrs)
{
	if (attrs & ~(u32)FMT_ATTRS || attrs & A_EXCLUSIVE)
		return false;
	if ((attrs & A_WRITE) && (attrs & (A_SHSTK | A_SAVED_DIRTY)))
		return false;
	return !(attrs & A_PROTNONE) || !(attrs & (A_WRITE | A_SHSTK));
}

static const char *failing(u32 attrs, unsigned long pfn, const char *what)
{
	static char text[160];

	snprintf(text, sizeof(text), "attributes 0x%x, frame 0x%lx: %s", attrs, pfn, what);
	return text;
}

/* Only failures are told to the runner: there are some million that are none. */
#define HOLDS(cond, what)                                               \
	do {                                                            \
		if (!(cond)) {                                          \
			EXPECT(false, "%s", failing(attrs, pfn, what)); \
			return false;                                   \
		}                                                       \
	} while (0)

typedef bool (*property)(ptb_pte_t pte, u32 attrs, unsigned long pfn);

static void for_all(property holds)
{
	u32 attrs;
	size_t i;

	for (attrs = 0; attrs < BIT(13); attrs++)
		for (i = 0; sensible(attrs) && i < ARRAY_SIZE(pfns); i++)
			/* With words of 32 bits, only frames that fit with all their steps. */
			if (pfns[i] <= ULONG_MAX - 16 &&
			    !holds(fmt_pte_mk(pfns[i], attrs), attrs, pfns[i]))
				return;
}

static bool made_as_asked(ptb_pte_t pte, u32 attrs, unsigned long pfn)
{
	bool write = attrs & (A_WRITE | A_SHSTK);
	/*
	 * Where no entry says whose it is, permission is present and write alone: PROT_NONE
	 * passes, and is asked apart.
	 */
	bool user = !(attrs & (A_KERNEL | A_PROTNONE)) || !(FMT_ATTRS & A_KERNEL);

	HOLDS(ptb_pte_present(pte), "not present");
	HOLDS(!ptb_pte_none(pte), "none");
	HOLDS(ptb_pte_pfn(pte) == pfn, "maps another frame");
	HOLDS(ptb_pte_write(pte) == write, "write is wrong");
	HOLDS(ptb_pte_young(pte) == !!(attrs & A_YOUNG), "young is wrong");
	HOLDS(ptb_pte_dirty(pte) == !!(attrs & (A_DIRTY | A_SAVED_DIRTY | A_SHSTK)),
	      "dirty is wrong");
	HOLDS(ptb_pte_protnone(pte) == !!(attrs & A_PROTNONE), "protnone is wrong");
	HOLDS(ptb_pte_permitted(pte, false) == user, "permission to read is wrong");
	HOLDS(ptb_pte_permitted(pte, true) == (user && (attrs & A_WRITE)),
	      "permission to write is wrong");
	HOLDS(ptb_pte_special(pte) == !!(attrs & A_SPECIAL), "special is wrong");
	HOLDS(ptb_pte_devmap(pte) == !!(attrs & A_DEVMAP), "devmap is wrong");
	HOLDS(ptb_pte_same(pte, pte), "differs from itself");
	return true;
}

TEST(an_entry_is_what_it_was_made)
{
	for_all(made_as_asked);
}

static bool advances(ptb_pte_t pte, u32 attrs, unsigned long pfn)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		ptb_pte_t on = ptb_pte_advance(pte, steps[i]);

		HOLDS(ptb_pte_pfn(on) == pfn + steps[i], "advance misses the frame");
		HOLDS(ptb_pte_same(on, fmt_pte_mk(pfn + steps[i], attrs)),
		      "advance changes more than the frame");
		HOLDS(!ptb_pte_same(on, pte), "advance stays");
		for (j = 0; j < ARRAY_SIZE(steps); j++)
			HOLDS(ptb_pte_same(ptb_pte_advance(on, steps[j]),
					   ptb_pte_advance(pte, steps[i] + steps[j])),
			      "two steps are not their sum");
	}
	return true;
}

TEST(advance_changes_the_frame_alone)
{
	for_all(advances);
}

static ptb_pte_t mask(unsigned int which, ptb_pte_t pte)
{
	switch (which) {
	case 0:
		return ptb_pte_mkclean(pte);
	case 1:
		return ptb_pte_clear_soft_dirty(pte);
	case 2:
		return ptb_pte_wrprotect(pte);
	default:
		return ptb_pte_mkold(pte);
	}
}

static bool masks(ptb_pte_t pte, u32 attrs, unsigned long pfn)
{
	unsigned int m, i;

	for (m = 0; m < 4; m++) {
		ptb_pte_t once = mask(m, pte);

		HOLDS(ptb_pte_same(mask(m, once), once), "a mask twice is not the mask");
		HOLDS(ptb_pte_pfn(once) == pfn, "a mask changes the frame");
		HOLDS(ptb_pte_present(once), "a mask takes presence away");
		for (i = 0; i < ARRAY_SIZE(steps); i++)
			HOLDS(ptb_pte_same(mask(m, ptb_pte_advance(pte, steps[i])),
					   ptb_pte_advance(once, steps[i])),
			      "a mask and advance do not commute");
	}
	HOLDS(!ptb_pte_dirty(ptb_pte_mkclean(pte)), "clean is dirty");
	HOLDS(!ptb_pte_write(ptb_pte_wrprotect(pte)), "write-protected is writable");
	HOLDS(!ptb_pte_young(ptb_pte_mkold(pte)), "old is young");
	HOLDS(ptb_pte_dirty(ptb_pte_wrprotect(pte)) == ptb_pte_dirty(pte),
	      "write-protecting loses dirty");
	HOLDS(ptb_pte_young(ptb_pte_mkclean(pte)) == ptb_pte_young(pte), "cleaning changes young");
	HOLDS(ptb_pte_dirty(ptb_pte_mkold(pte)) == ptb_pte_dirty(pte), "aging changes dirty");
	HOLDS(ptb_pte_write(ptb_pte_mkold(pte)) == ptb_pte_write(pte), "aging changes write");
	return true;
}

TEST(masks_are_idempotent_and_commute_with_advance)
{
	for_all(masks);
}

/* All four masks leave nothing by which entries of one run may differ. */
static bool released(ptb_pte_t pte, u32 attrs, unsigned long pfn)
{
	const u32 loose = A_WRITE | A_DIRTY | A_YOUNG | A_SOFT_DIRTY | A_SHSTK | A_SAVED_DIRTY;
	ptb_pte_t bare = fmt_pte_mk(pfn, attrs & ~loose);
	unsigned int m;

	for (m = 0; m < 4; m++) {
		pte = mask(m, pte);
		bare = mask(m, bare);
	}
	HOLDS(ptb_pte_same(pte, bare), "what is released still differs");
	HOLDS(attrs & loose || ptb_pte_same(bare, fmt_pte_mk(pfn, attrs)),
	      "masking changes an entry with nothing to mask");
	return true;
}

TEST(masks_together_release_young_dirty_soft_dirty_and_write)
{
	for_all(released);
}

static bool merges(ptb_pte_t pte, u32 attrs, unsigned long pfn)
{
	struct vm_area_struct vma = { .vm_flags = VM_WRITE | VM_MAYWRITE };
	ptb_pte_t young = ptb_pte_mkyoung(pte), dirty = ptb_pte_mkdirty(pte), write;

	vma.vm_flags |= attrs & A_SHSTK ? VM_SHADOW_STACK : 0;
	write = ptb_pte_mkwrite(pte, &vma);
	HOLDS(ptb_pte_young(young), "made young, it is old");
	HOLDS(ptb_pte_dirty(dirty), "made dirty, it is clean");
	HOLDS(ptb_pte_write(write), "made writable, it is not");
	HOLDS(ptb_pte_dirty(young) == ptb_pte_dirty(pte), "making young changes dirty");
	HOLDS(ptb_pte_write(young) == ptb_pte_write(pte), "making young changes write");
	HOLDS(ptb_pte_young(dirty) == ptb_pte_young(pte), "making dirty changes young");
	HOLDS(attrs & A_SHSTK || ptb_pte_write(dirty) == ptb_pte_write(pte),
	      "making dirty changes write");
	HOLDS(ptb_pte_dirty(write) == ptb_pte_dirty(pte), "making writable changes dirty");
	HOLDS(ptb_pte_young(write) == ptb_pte_young(pte), "making writable changes young");
	HOLDS(ptb_pte_pfn(young) == pfn && ptb_pte_pfn(dirty) == pfn && ptb_pte_pfn(write) == pfn,
	      "setting a bit changes the frame");
	HOLDS(ptb_pte_same(ptb_pte_mkyoung(young), young) &&
		      ptb_pte_same(ptb_pte_mkdirty(dirty), dirty) &&
		      ptb_pte_same(ptb_pte_mkwrite(write, &vma), write),
	      "setting a bit twice is not setting it");
	return true;
}

TEST(bits_that_are_merged_are_set_and_nothing_else)
{
	for_all(merges);
}

static bool hints(ptb_pte_t pte, u32 attrs, unsigned long pfn)
{
	static ptb_pte_t table[FMT_PTES] __attribute__((__aligned__(4096)));
	unsigned int i, hint;

	for (i = 0; i < 2 * FMT_CONT; i++) {
		hint = ptb_pte_hint(table + i, pte);
		HOLDS(hint >= 1, "hint of none");
		HOLDS(hint <= FMT_CONT - i % FMT_CONT, "hint leaves its block");
		HOLDS(attrs & A_CONT || hint == 1, "hint where there is no block");
	}
	return true;
}

TEST(hint_stays_in_its_block)
{
	for_all(hints);
}

/* Nobody writes: then how a table is read makes no difference, and reading twice makes none. */
static void expect_reads_agree(struct bed *bed, unsigned int slot)
{
	ptb_pte_t *ptep = bed_ptep(bed, slot);
	unsigned int flags;

	for (flags = 0; flags < BIT(8); flags++) {
		ptb_pte_t locked = ptb_ptep_get(ptep, (__force ptb_t)flags & ~PTB_LOCKLESS);
		ptb_pte_t lockless = ptb_ptep_get(ptep, (__force ptb_t)flags | PTB_LOCKLESS);

		if (!ptb_pte_same(locked, lockless))
			EXPECT(false, "slot %u, flags 0x%x: %llx under the lock, %llx without",
			       slot, flags, (unsigned long long)fmt_val(locked),
			       (unsigned long long)fmt_val(lockless));
		if (!ptb_pte_same(lockless,
				  ptb_ptep_get(ptep, (__force ptb_t)flags | PTB_LOCKLESS)))
			EXPECT(false, "slot %u, flags 0x%x: a second read differs", slot, flags);
	}
}

TEST(a_quiet_table_reads_the_same_with_and_without_the_lock)
{
	unsigned int slot = 0;
	struct bed bed;
	u32 attrs;

	bed_need(&bed, "none", NULL);
	for (attrs = 0; attrs < BIT(13); attrs++) {
		if (!sensible(attrs) || attrs & A_CONT)
			continue;
		pte_set(bed_ptep(&bed, slot), fmt_pte_mk(pfns[attrs % ARRAY_SIZE(pfns)], attrs));
		expect_reads_agree(&bed, slot);
		slot = (slot + 1) % FMT_PTES;
	}
	bed_free(&bed);
}

/*
 * Whichever entry of a block the hardware marked, a reader that asks sees the mark in all of them.
 */
TEST(a_block_gives_young_and_dirty_of_any_entry)
{
	unsigned int marked, i;
	struct bed bed;

	if (FMT_CONT == 1)
		SKIP("no blocks in this format");
	bed_need(&bed, "none", NULL);
	for (marked = 0; marked < FMT_CONT; marked++) {
		for (i = 0; i < FMT_CONT; i++)
			pte_set(bed_ptep(&bed, i),
				fmt_pte_mk(FMT_CONT + i,
					   A_CONT | A_WRITE |
						   (i == marked ? A_YOUNG | A_DIRTY : 0)));
		for (i = 0; i < FMT_CONT; i++) {
			ptb_pte_t pte = ptb_ptep_get(bed_ptep(&bed, i), PTB_FOR_SET);

			EXPECT(ptb_pte_young(pte) && ptb_pte_dirty(pte),
			       "entry %u does not tell of young and dirty in entry %u", i, marked);
			EXPECT(ptb_pte_pfn(pte) == FMT_CONT + i && ptb_pte_write(pte),
			       "gathering changed entry %u itself", i);
			expect_reads_agree(&bed, i);
		}
	}
	bed_free(&bed);
}

TEST(the_next_swap_entry_keeps_type_and_bits)
{
	static const u64 offsets[] = { 1, 0xfe, 0x1ff, 0x7fffff, 0xffffffff, 1ULL << 40 };
	const u32 has = FMT_ATTRS & (A_EXCLUSIVE | A_SOFT_DIRTY | A_UFFD_WP);
	unsigned int type;
	u32 attrs;
	size_t i;

	for (type = 0; type < SWP_MAX_FILES; type++)
		for (i = 0; i < ARRAY_SIZE(offsets); i++)
			for (attrs = 0; attrs <= has; attrs++) {
				ptb_pte_t pte, next;

				if (attrs & ~has)
					continue;
				pte = fmt_swp_mk(type, offsets[i], attrs);
				next = ptb_pte_swap_next(pte);
				if (!ptb_pte_same(next, fmt_swp_mk(type, offsets[i] + 1, attrs)))
					EXPECT(false, "swap %u:%llx, attributes 0x%x: next is %llx",
					       type, (unsigned long long)offsets[i], attrs,
					       (unsigned long long)fmt_val(next));
				if (ptb_pte_present(pte) || ptb_pte_none(pte) ||
				    !ptb_pte_is_swap(pte))
					EXPECT(false, "swap %u:%llx is taken for something else",
					       type, (unsigned long long)offsets[i]);
			}
}
