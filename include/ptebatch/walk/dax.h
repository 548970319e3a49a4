/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * dax: GUP-fast on device memory, by folio.
 *
 * A device's pages live as long as its pagemap is held. A range may hold several compound pages, a
 * compound page may hang out of the range on either side, and a pagemap of 4K geometry has none at
 * all.
 */
#ifndef PTEBATCH_WALK_DAX_H
#define PTEBATCH_WALK_DAX_H

#include "../contig.h"
#include "../grab.h"

struct dev_pagemap;

/**
 * ptb_pagemap_get() - hold the pagemap of a frame
 * @pfn: a device's frame
 * @pgmap: pagemap held already, or NULL; given back if it does not cover @pfn
 *
 * Needed by: dax, gup_fast. Mirrors: get_dev_pagemap().
 * Return: the pagemap, or NULL if it is gone: then nothing is held.
 */
static inline struct dev_pagemap *ptb_pagemap_get(unsigned long pfn, struct dev_pagemap *pgmap);

/**
 * ptb_pagemap_put() - let go of a pagemap
 * @pgmap: held, or NULL
 *
 * Needed by: dax, gup_fast. Mirrors: put_dev_pagemap().
 */
static inline void ptb_pagemap_put(struct dev_pagemap *pgmap);

/**
 * ptb_folio_test_referenced() - does reclaim know already that the folio is in use
 * @folio: held
 *
 * Needed by: dax, gup_fast. Mirrors: folio_test_referenced().
 */
static inline bool ptb_folio_test_referenced(struct folio *folio);

/**
 * ptb_folio_set_referenced() - tell reclaim that the folio is in use
 * @folio: held
 *
 * Needed by: dax, gup_fast. Mirrors: folio_set_referenced().
 */
static inline void ptb_folio_set_referenced(struct folio *folio);

/**
 * ptb_folio_clear_referenced() - take that back
 * @folio: held
 *
 * Needed by: dax, gup_fast. Mirrors: folio_clear_referenced().
 */
static inline void ptb_folio_clear_referenced(struct folio *folio);

/* A folio in much use says so already, and many would write that cache line. */
static __always_inline void ptb_mark_referenced(struct folio *folio)
{
	if (!ptb_folio_test_referenced(folio))
		ptb_folio_set_referenced(folio);
}

/**
 * ptb_dax_undo() - give back pages that a walk has published
 * @pages: published by it
 * @nr: how many
 * @gup: FOLL_* word they were grabbed with
 *
 * Takes back the referenced mark with them. Mirrors: gup_fast_undo_dev_pagemap().
 */
static noinline void ptb_dax_undo(struct page **pages, unsigned int nr, unsigned int gup)
{
	unsigned int i, run;

	for (i = 0; i < nr; i += run) {
		struct folio *folio = ptb_page_folio(pages[i]);

		run = ptb_contig_folio(pages + i, nr - i);
		ptb_folio_clear_referenced(folio);
		ptb_put(folio, run, gup);
	}
}

/**
 * ptb_dax_leaf() - grab the pages that one leaf of device memory maps
 * @pfn: frame of the first page asked for, anywhere in the leaf
 * @nr: pages asked for, inside the leaf, at least 1
 * @gup: FOLL_* word
 * @pages: room for @nr
 *
 * The caller reads the leaf again afterwards and undoes with ptb_dax_undo() if it changed.
 *
 * Context: IRQs off. Mirrors: gup_fast_devmap_leaf().
 * Return: @nr, or 0 and nothing is held, marked or to be read.
 */
static inline unsigned int
ptb_dax_leaf(unsigned long pfn, unsigned int nr, unsigned int gup, struct page **pages)
{
	struct dev_pagemap *pgmap = NULL;
	unsigned int done = 0;

	while (done < nr) {
		struct page *page;
		struct folio *folio;
		unsigned long run;

		pgmap = ptb_pagemap_get(pfn, pgmap);
		if (unlikely(!pgmap))
			goto undo;

		page = ptb_pfn_page(pfn);
		/* To the end of this compound page: the range may go on into the next. */
		run = ptb_folio_left(ptb_page_folio(page), page);
		if (run > nr - done)
			run = nr - done;
		run = ptb_refs_that_fit(ptb_page_folio(page), run, gup);
		folio = ptb_grab_first(page, run, gup);
		if (unlikely(!folio))
			goto undo;

		ptb_mark_referenced(folio);
		ptb_fill(pages + done, page, run);
		done += run;
		pfn += run;
	}
	ptb_pagemap_put(pgmap);
	return done;
undo:
	ptb_dax_undo(pages, done, gup);
	ptb_pagemap_put(pgmap);
	return 0;
}

#endif
