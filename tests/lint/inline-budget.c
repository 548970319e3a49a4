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

static inline u64 line_differs(const u64 *entries, u64 want, u64 first)
{
	u64 differs = ~first & X86_PRESENT;

	differs |= READ_ONCE(entries[0]) ^ want;
	differs |= READ_ONCE(entries[1]) ^ (want + 0x1000);
	differs |= READ_ONCE(entries[2]) ^ (want + 0x2000);
	differs |= READ_ONCE(entries[3]) ^ (want + 0x3000);
	differs |= READ_ONCE(entries[4]) ^ (want + 0x4000);
	differs |= READ_ONCE(entries[5]) ^ (want + 0x5000);
	differs |= READ_ONCE(entries[6]) ^ (want + 0x6000);
	differs |= READ_ONCE(entries[7]) ^ (want + 0x7000);
	return differs;
}

unsigned int by_hand(struct folio *folio, ptb_pte_t *ptep, ptb_pte_t *pte, unsigned int max_nr)
{
	const u64 *entries = &ptep->w.val;
	u64 first = pte->w.val, step = first && !(first & X86_PRESENT) ? -(1ULL << 12) : 1ULL << 12;
	u64 frame = (first & X86_PRESENT ? first : ~first) & X86_PFN_MASK;
	unsigned long end = mem_pfn(&folio->page) + (1UL << mem_folio_order(folio));
	unsigned long left = end - (frame >> 12);
	bool writable = (first & X86_RW) || (first & X86_DIRTY);
	u64 loose = first & X86_RW ? IGNORED : IGNORED & ~X86_DIRTY;
	u64 expected;
	unsigned int nr, lines;

	if (left < max_nr)
		max_nr = left;
	expected = first & ~IGNORED;
	for (nr = 1; nr < max_nr; nr++) {
		u64 val = READ_ONCE(entries[nr]);

		expected += step;
		if ((val & ~IGNORED) != expected)
			break;
		if (((val & X86_RW) || (val & X86_DIRTY)) != writable)
			break;
		if (nr > 1)
			continue;
		for (lines = 0; lines + 8 <= max_nr; lines += 8)
			if (line_differs(entries + lines, first + ((u64)lines << 12), first) &
			    ~loose)
				break;
		if (!lines)
			continue;
		expected += (lines - 2) * step;
		nr = lines - 1;
	}
	return nr;
}
