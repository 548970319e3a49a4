/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Entries under the table's lock. The hardware marks them without it, so each change is a
 * read-modify-write, as in the kernel.
 */
#ifndef TESTS_STRESS_ENTRY_H
#define TESTS_STRESS_ENTRY_H

#include "world.h"

static inline u64 *entry_words(ptb_pte_t *ptep)
{
	return (u64 *)ptep;
}

static inline ptb_pte_t entry(ptb_pte_t *ptep)
{
	return ptb_ptep_get(ptep, PTB_FOR_LOOK);
}

/* ptep_get_and_clear(): of two words the low one goes first, and holds what the hardware marks. */
static inline ptb_pte_t entry_clear(ptb_pte_t *ptep)
{
	u32 *words = (u32 *)ptep, low;

	if (!TWO_WORDS)
		return fmt_mk(__atomic_exchange_n(entry_words(ptep), FMT_NONE, __ATOMIC_SEQ_CST));
	low = __atomic_exchange_n(&words[0], 0, __ATOMIC_SEQ_CST);
	return fmt_mk(low | (u64)__atomic_exchange_n(&words[1], 0, __ATOMIC_SEQ_CST) << 32);
}

/* set_pte_at(), where nothing is */
static inline void entry_set(ptb_pte_t *ptep, ptb_pte_t pte)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	pte_set(ptep, pte);
}

typedef ptb_pte_t (*entry_change)(ptb_pte_t pte);

static inline bool entry_try(ptb_pte_t *ptep, ptb_pte_t old, ptb_pte_t new)
{
	u64 was = fmt_val(old);
	u32 low = was;

	/* What changes here is in the low word. */
	if (TWO_WORDS)
		return __atomic_compare_exchange_n((u32 *)ptep, &low, (u32)fmt_val(new), false,
						   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	return __atomic_compare_exchange_n(entry_words(ptep), &was, fmt_val(new), false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* ptep_set_wrprotect(), ptep_test_and_clear_young(), ... */
static inline void entry_modify(ptb_pte_t *ptep, entry_change change)
{
	ptb_pte_t old;

	do {
		old = entry(ptep);
		if (!ptb_pte_present(old))
			return;
	} while (!entry_try(ptep, old, change(old)));
}

/* ---- blocks ---- */

static inline u64 cont_bit(void)
{
	return fmt_val(fmt_pte_mk(0, A_CONT)) ^ fmt_val(fmt_pte_mk(0, 0));
}

static inline bool in_block(ptb_pte_t pte)
{
	return FMT_CONT > 1 && ptb_pte_present(pte) && (fmt_val(pte) & cont_bit());
}

static inline ptb_pte_t *block_of(ptb_pte_t *table, unsigned int i)
{
	return table + i - i % FMT_CONT;
}

/* contpte_convert(): all cleared in order, flushed, all set in order with what was marked. */
static void convert_block(ptb_pte_t *first, bool cont)
{
	ptb_pte_t old[FMT_CONT];
	bool young = false, dirty = false;
	unsigned int i;

	for (i = 0; i < FMT_CONT; i++) {
		old[i] = entry_clear(first + i);
		young |= ptb_pte_young(old[i]);
		dirty |= ptb_pte_dirty(old[i]);
	}
	flush_tlb();
	for (i = 0; i < FMT_CONT; i++) {
		u64 val = fmt_val(old[i]) & ~cont_bit();
		ptb_pte_t pte = fmt_mk(cont ? val | cont_bit() : val);

		if (young)
			pte = ptb_pte_mkyoung(pte);
		if (dirty)
			pte = ptb_pte_mkdirty(pte);
		entry_set(first + i, pte);
	}
}

/* Before one entry of a block is changed. */
static inline void unfold(ptb_pte_t *table, unsigned int i)
{
	if (in_block(entry(table + i)))
		convert_block(block_of(table, i), false);
}

/* Is it the whole of a block, aligned, of one folio, with the same rights. */
static bool may_fold(ptb_pte_t *first)
{
	ptb_pte_t pte = entry(first), expected;
	struct folio *folio;
	unsigned int i;

	if (FMT_CONT == 1 || !ptb_pte_present(pte) || in_block(pte) || ptb_pte_pfn(pte) % FMT_CONT)
		return false;
	folio = mem_page_folio(mem_page(ptb_pte_pfn(pte)));
	if (1UL << order_of(folio) < FMT_CONT)
		return false;
	for (i = 1; i < FMT_CONT; i++) {
		expected = ptb_pte_advance(pte, i);
		if (!ptb_pte_same(ptb_pte_mkold(ptb_pte_mkclean(entry(first + i))),
				  ptb_pte_mkold(ptb_pte_mkclean(expected))))
			return false;
	}
	return true;
}

static void fold(ptb_pte_t *table, unsigned int i)
{
	if (may_fold(block_of(table, i)))
		convert_block(block_of(table, i), true);
}

/*
 * A block that is cleared as a whole stays one until it is gone; else those at the ends are taken
 * apart first.
 */
static void unfold_ends(ptb_pte_t *table, unsigned int i, unsigned int nr)
{
	if (FMT_CONT == 1)
		return;
	if (i % FMT_CONT)
		unfold(table, i);
	if ((i + nr) % FMT_CONT)
		unfold(table, i + nr - 1);
}

#endif
