// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The contender that the library started from, a patch to GUP-fast: the first page is grabbed and
 * verified as ever, the rest scanned under that reference, then grabbed at once, then filled in.
 */
#include "each.h"

#include "../ref/gup_fast.h"

static inline unsigned int seed_run(struct folio *folio, ptb_pte_t *ptep, ptb_pte_t pte,
				    struct page *page, unsigned int max_nr, unsigned int gup)
{
	unsigned int nr = 1;

	if (max_nr > 1 && ptb_folio_nr_pages(folio) > 1)
		nr = each_scan(folio, ptep, pte, max_nr, PTB_FOR_GUP_FAST);
	if (!ptb_pte_write(pte))
		nr = ptb_unshared(NULL, folio, page, nr, gup);
	if (!nr || ((gup & FOLL_PIN) && ptb_folio_make_accessible(folio)))
		return 0;
	return nr == 1 || ptb_grab_more(folio, nr - 1, gup) ? nr : 1;
}

static inline unsigned int seed_entry(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep,
				      ptb_pte_t pte, unsigned int max_nr, unsigned int gup,
				      struct page **pages)
{
	struct page *page = ptb_pfn_page(ptb_pte_pfn(pte));
	struct folio *folio = ref_grab(page, gup);
	unsigned int nr = 0;

	if (!folio)
		return 0;
	if (ptb_pmd_unchanged(pmdp, pmd) &&
	    ptb_pte_same(ptb_ptep_get(ptep, PTB_FOR_GUP_FAST), pte) &&
	    ptb_folio_allowed(folio, gup))
		nr = seed_run(folio, ptep, pte, page, max_nr, gup);
	if (!nr) {
		ref_put(folio, gup);
		return 0;
	}
	ptb_folio_set_referenced(folio);
	each_fill(pages, page, nr);
	return nr;
}

static unsigned int seed_ptes(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep, unsigned int nr,
			      unsigned int gup, struct page **pages)
{
	struct dev_pagemap *pgmap = NULL;
	unsigned int done = 0, run;

	do {
		ptb_pte_t pte = ptb_ptep_get(ptep + done, PTB_FOR_GUP_FAST);
		int take = ref_may_take(pte, gup, &pgmap);

		if (take < 0) {
			ref_undo(pages, done, gup);
			done = 0;
		}
		if (take <= 0)
			break;
		run = seed_entry(pmd, pmdp, ptep + done, pte, nr - done, gup, pages + done);
		done += run;
	} while (run && done < nr);
	ptb_pagemap_put(pgmap);
	return done;
}

const struct contender seed_shape = {
	.name = "seed_shape",
	.gup = { .ptes = seed_ptes },
};
