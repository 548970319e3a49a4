// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What the generic scan costs over the loop somebody would write by hand for one format: the same
 * questions in the same order on plain words. inline-budget.sh counts the instructions of both.
 */
#include "backend.h"

unsigned int generic(struct folio *folio, ptb_pte_t *ptep, ptb_pte_t *pte, unsigned int max_nr);
unsigned int by_hand(struct folio *folio, ptb_pte_t *ptep, ptb_pte_t *pte, unsigned int max_nr);

unsigned int generic(struct folio *folio, ptb_pte_t *ptep, ptb_pte_t *pte, unsigned int max_nr)
{
	return ptb_scan_folio(folio, NULL, ptep, pte, max_nr, PTB_FOR_GUP_FAST);
}

#define IGNORED (X86_ACCESSED | X86_DIRTY | X86_SAVED_DIRTY | X86_SOFT_DIRTY)

unsigned int by_hand(struct folio *folio, ptb_pte_t *ptep, ptb_pte_t *pte, unsigned int max_nr)
{
	const u64 *entries = &ptep->w.val;
	u64 first = pte->w.val, step = first && !(first & X86_PRESENT) ? -(1ULL << 12) : 1ULL << 12;
	u64 frame = (first & X86_PRESENT ? first : ~first) & X86_PFN_MASK;
	unsigned long end = mem_pfn(&folio->page) + (1UL << mem_folio_order(folio));
	unsigned long left = end - (frame >> 12);
	bool writable = (first & X86_RW) || (first & X86_DIRTY);
	u64 expected = first & ~IGNORED;
	unsigned int nr;

	if (left < max_nr)
		max_nr = left;
	for (nr = 1; nr < max_nr; nr++) {
		u64 val = READ_ONCE(entries[nr]);

		expected += step;
		if ((val & ~IGNORED) != expected)
			break;
		if (((val & X86_RW) || (val & X86_DIRTY)) != writable)
			break;
	}
	return nr;
}
