/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What mainline does with a run, in the words of the ops: compare each entry, fill in each page. */
#ifndef PTB_USER_BENCH_EACH_H
#define PTB_USER_BENCH_EACH_H

#include "contender.h"

/* folio_pte_batch_flags(), but for merging: advance, read, compare. */
static __always_inline unsigned int each_scan(struct folio *folio, ptb_pte_t *ptep, ptb_pte_t pte,
					      unsigned int max_nr, const ptb_t flags)
{
	unsigned long left = ptb_folio_end(folio) - ptb_pte_pfn(pte);
	unsigned int nr = ptb_pte_hint(ptep, pte), step;
	ptb_pte_t expected = ptb_pte_key(ptb_pte_advance(pte, nr), flags);

	if (left < max_nr)
		max_nr = left;
	while (nr < max_nr) {
		pte = ptb_ptep_get(ptep + nr, flags);
		if (!ptb_pte_same(ptb_pte_key(pte, flags), expected))
			break;
		step = ptb_pte_hint(ptep + nr, pte);
		expected = ptb_pte_advance(expected, step);
		nr += step;
	}
	return nr < max_nr ? nr : max_nr;
}

static __always_inline void each_fill(struct page **pages, struct page *page, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		pages[i] = ptb_page_nth(page, i);
}

#endif
