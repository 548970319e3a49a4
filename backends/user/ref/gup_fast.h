/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * GUP-fast and device-dax, one page at a time: gup_fast_pte_range(), gup_fast_pmd_leaf(),
 * gup_fast_devmap_leaf().
 */
#ifndef PTB_USER_REF_GUP_FAST_H
#define PTB_USER_REF_GUP_FAST_H

#include "ref.h"

static inline void ref_undo(struct page **pages, unsigned int nr, unsigned int gup)
{
	while (nr) {
		struct folio *folio = ptb_page_folio(pages[--nr]);

		ptb_folio_clear_referenced(folio);
		ref_put(folio, gup);
	}
}

static inline bool
ref_may_keep(struct folio *folio, struct page *page, bool write, unsigned int gup)
{
	if (!ptb_folio_allowed(folio, gup))
		return false;
	if (!write && ref_must_unshare(folio, page, gup))
		return false;
	return !(gup & FOLL_PIN) || !ptb_folio_make_accessible(folio);
}

/* May the page of an entry be taken: 1, 0, or -ENODEV where its pagemap has gone. */
static inline int ref_may_take(ptb_pte_t pte, unsigned int gup, struct dev_pagemap **pgmap)
{
	if (ptb_pte_protnone(pte) || !ptb_pte_permitted(pte, gup & FOLL_WRITE))
		return 0;
	if (!ptb_pte_devmap(pte))
		return !ptb_pte_special(pte);
	if (gup & FOLL_LONGTERM)
		return 0;
	*pgmap = ptb_pagemap_get(ptb_pte_pfn(pte), *pgmap);
	return *pgmap ? 1 : -ENODEV;
}

static inline unsigned int ref_gup_fast_ptes(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep,
					     unsigned int nr, unsigned int gup, struct page **pages)
{
	struct dev_pagemap *pgmap = NULL;
	unsigned int i;

	for (i = 0; i < nr; i++, ptep++) {
		ptb_pte_t pte = ptb_ptep_get(ptep, PTB_FOR_GUP_FAST);
		int take = ref_may_take(pte, gup, &pgmap);
		struct folio *folio;
		struct page *page;

		if (take < 0) {
			ref_undo(pages, i, gup);
			i = 0;
		}
		if (take <= 0)
			break;

		page = ptb_pfn_page(ptb_pte_pfn(pte));
		folio = ref_grab(page, gup);
		if (!folio)
			break;
		if (!ptb_pmd_unchanged(pmdp, pmd) ||
		    !ptb_pte_same(ptb_ptep_get(ptep, PTB_FOR_GUP_FAST), pte) ||
		    !ref_may_keep(folio, page, ptb_pte_write(pte), gup)) {
			ref_put(folio, gup);
			break;
		}
		ptb_folio_set_referenced(folio);
		pages[i] = page;
	}
	ptb_pagemap_put(pgmap);
	return i;
}

static inline unsigned int
ref_dax_leaf(unsigned long pfn, unsigned int nr, unsigned int gup, struct page **pages)
{
	struct dev_pagemap *pgmap = NULL;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct page *page = ptb_pfn_page(pfn + i);
		struct folio *folio = NULL;

		pgmap = ptb_pagemap_get(pfn + i, pgmap);
		if (pgmap)
			folio = ref_grab(page, gup);
		if (!folio) {
			ref_undo(pages, i, gup);
			i = 0;
			break;
		}
		ptb_folio_set_referenced(folio);
		pages[i] = page;
	}
	ptb_pagemap_put(pgmap);
	return i;
}

static inline unsigned int ref_gup_fast_leaf(ptb_leaf_t leaf, unsigned long addr, unsigned int nr,
					     unsigned int gup, struct page **pages)
{
	unsigned long pfn = ptb_leaf_pfn(leaf, addr);
	unsigned int i;

	if (!ptb_leaf_permitted(leaf, gup & FOLL_WRITE) || ptb_leaf_special(leaf))
		return 0;
	if (ptb_leaf_devmap(leaf)) {
		if ((gup & FOLL_LONGTERM) || !ref_dax_leaf(pfn, nr, gup, pages))
			return 0;
		if (ptb_leaf_unchanged(leaf))
			return nr;
		ref_undo(pages, nr, gup);
		return 0;
	}

	for (i = 0; i < nr; i++) {
		struct page *page = ptb_pfn_page(pfn + i);
		struct folio *folio = ref_grab(page, gup);

		if (!folio)
			break;
		pages[i] = page;
		/* A leaf is exclusive or not as a whole, and its head says so. */
		if (!ptb_leaf_unchanged(leaf) || !ptb_folio_allowed(folio, gup) ||
		    (!ptb_leaf_write(leaf) && ref_must_unshare(folio, &folio->page, gup))) {
			ref_put(folio, gup);
			break;
		}
	}
	if (i == nr) {
		ptb_folio_set_referenced(ptb_page_folio(pages[0]));
		return nr;
	}
	while (i)
		ref_put(ptb_page_folio(pages[--i]), gup);
	return 0;
}

#endif
