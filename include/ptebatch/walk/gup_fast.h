/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * gup_fast: take references to the pages of a range without any lock. docs/lockless.md has the
 * argument.
 *
 * The descent, IRQs off around it, and write_protect_seq are the caller's. What stands below is one
 * table of entries, or one leaf above it.
 */
#ifndef PTEBATCH_WALK_GUP_FAST_H
#define PTEBATCH_WALK_GUP_FAST_H

#include "dax.h"

/**
 * ptb_pte_protnone() - is the entry there but closed to everybody, as NUMA hinting leaves it
 * @pte: an entry
 *
 * Needed by: gup_fast. Mirrors: pte_protnone().
 */
static inline bool ptb_pte_protnone(ptb_pte_t pte);

/**
 * ptb_pte_permitted() - is the entry present and open to user access
 * @pte: an entry, of any kind
 * @write: for writing
 *
 * Needed by: gup_fast. Mirrors: pte_access_permitted().
 */
static inline bool ptb_pte_permitted(ptb_pte_t pte, bool write);

/**
 * ptb_pte_special() - must the struct page behind the entry, if any, be left alone
 * @pte: a present entry
 *
 * Needed by: gup_fast. Mirrors: pte_special().
 */
static inline bool ptb_pte_special(ptb_pte_t pte);

/**
 * ptb_pte_devmap() - does the entry map device memory whose pagemap must be held
 * @pte: a present entry
 *
 * Needed by: gup_fast. Mirrors: pte_devmap(); false from 6.17 on.
 */
static inline bool ptb_pte_devmap(ptb_pte_t pte);

/**
 * ptb_pte_plain() - is it permitted, and neither protnone nor special nor devmap
 * @pte: an entry, of any kind
 * @write: for writing
 *
 * Optional, where one comparison tells: what it says no to is asked each question by itself.
 *
 * Default: no. Needed by: gup_fast.
 */
static inline bool ptb_pte_plain(ptb_pte_t pte, bool write);

/**
 * ptb_line_prefetch() - begin to load the pages that PTB_LINE entries map
 * @ptep: the first of them, in a table
 * @write: as for ptb_pte_plain()
 *
 * Where the memory map is colder than any cache, the first access to a page is most of what it
 * costs. Only pages of entries that are plain may be asked for, and only where finding them is
 * arithmetic: nothing holds them, and nothing of them is read.
 *
 * Optional. Default: nothing. Needed by: gup_fast.
 */
static inline void ptb_line_prefetch(ptb_pte_t *ptep, bool write);

/**
 * ptb_pmd_unchanged() - does the entry above the table still stand
 * @pmdp: where it is
 * @pmd: what it was
 *
 * Needed by: gup_fast. Mirrors: pmd_val() of pmdp_get_lockless().
 */
static inline bool ptb_pmd_unchanged(ptb_pmd_t *pmdp, ptb_pmd_t pmd);

/**
 * ptb_leaf_unchanged() - does a leaf entry still stand
 * @leaf: a PMD or PUD leaf: its value, where it was read. The type ptb_leaf_t is the backend's
 *
 * Needed by: gup_fast. Mirrors: pmd_val() of pmdp_get_lockless(), or the PUD's.
 */
static inline bool ptb_leaf_unchanged(ptb_leaf_t leaf);

/**
 * ptb_leaf_permitted() - is the leaf open to user access
 * @leaf: present
 * @write: for writing
 *
 * Needed by: gup_fast. Mirrors: pmd_access_permitted(), pud_access_permitted().
 */
static inline bool ptb_leaf_permitted(ptb_leaf_t leaf, bool write);

/**
 * ptb_leaf_write() - may the leaf be written through
 * @leaf: present
 *
 * Needed by: gup_fast. Mirrors: pmd_write(), pud_write().
 */
static inline bool ptb_leaf_write(ptb_leaf_t leaf);

/**
 * ptb_leaf_special() - must the struct pages behind the leaf be left alone
 * @leaf: present
 *
 * Needed by: gup_fast. Mirrors: pmd_special(), pud_special().
 */
static inline bool ptb_leaf_special(ptb_leaf_t leaf);

/**
 * ptb_leaf_devmap() - does the leaf map device memory whose pagemap must be held
 * @leaf: present
 *
 * Needed by: gup_fast. Mirrors: pmd_devmap(), pud_devmap(); false from 6.17 on.
 */
static inline bool ptb_leaf_devmap(ptb_leaf_t leaf);

/**
 * ptb_leaf_pfn() - the frame that an address inside a leaf maps to
 * @leaf: present
 * @addr: inside it
 *
 * Needed by: gup_fast. Mirrors: pmd_pfn() plus the offset.
 */
static inline unsigned long ptb_leaf_pfn(ptb_leaf_t leaf, unsigned long addr);

/**
 * ptb_folio_allowed() - may GUP-fast hand out pages of this folio
 * @folio: held
 * @gup: FOLL_* word
 *
 * No secretmem, and no file that tracks writes for a writing longterm pin. Context: IRQs off, which
 * keeps the mapping from being freed. Needed by: gup_fast. Mirrors: gup_fast_folio_allowed().
 */
static inline bool ptb_folio_allowed(struct folio *folio, unsigned int gup);

/**
 * ptb_folio_peek_left() - how much of a folio seems to be left, before anything holds it
 * @folio: a folio that may be freed or split at any moment
 * @page: a page that it seems to have
 *
 * Asserts nothing, and may answer anything: it is for guessing, and for telling what is small in
 * the common case. Needed by: gup_fast. Mirrors: folio_nr_pages() less folio_page_idx(), raw.
 * Return: pages from @page on; 1 if the folio seems to be small.
 */
static inline unsigned long ptb_folio_peek_left(struct folio *folio, struct page *page);

/**
 * ptb_folio_make_accessible() - let devices at the folio's content
 * @folio: pinned
 *
 * Needed by: gup_fast, for FOLL_PIN. Mirrors: arch_make_folio_accessible().
 * Return: 0 or an error.
 */
static inline int ptb_folio_make_accessible(struct folio *folio);

/*
 * The zero page is always there: a pin of it neither counts nor needs a second look at the entry.
 * Apart from the others, so that they need not ask twice.
 */
static noinline unsigned int
ptb_gup_fast_zero(struct page *page, unsigned int gup, struct page **pages)
{
	struct folio *folio = ptb_page_folio(page);

	if (!ptb_folio_allowed(folio, gup) || !ptb_unshared(NULL, folio, page, 1, gup) ||
	    ptb_folio_make_accessible(folio))
		return 0;
	ptb_mark_referenced(folio);
	pages[0] = page;
	return 1;
}

static noinline void ptb_gup_fast_drop(struct folio *folio, unsigned int refs, unsigned int gup)
{
	ptb_drop(folio, refs, gup);
}

/*
 * The protocol, for the run that begins with @pte: @held pages of the folio of @page seem to follow
 * it; one if not @batch, a constant. Returns the pages taken.
 */
static __always_inline unsigned int
ptb_gup_fast_run(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep, ptb_pte_t pte, struct page *page,
		 struct folio *folio, unsigned int held, unsigned int gup, struct page **pages,
		 const bool batch)
{
	unsigned int nr = 1;

	/* Near overflow, where a batch is refused, a single reference may still fit. */
	while (unlikely(!ptb_try_get(page, &folio, held, gup))) {
		if (held == 1)
			return 0;
		held = 1;
	}
	/* What it seemed to be before it was held may have been wrong. */
	if (batch) {
		unsigned long left = ptb_folio_left(folio, page);

		if (unlikely(left < held)) {
			ptb_give_back(folio, held - left);
			held = left;
		}
	}
	while ((gup & FOLL_PIN) && unlikely(!ptb_refs_to_pins(folio, held, gup))) {
		ptb_give_back(folio, held == 1 ? 1 : held - 1);
		if (held == 1)
			return 0;
		held = 1;
	}

	/*
	 * Whoever clears the entry looks at the counts afterwards. Had it been cleared, or the
	 * table taken away by collapse, which clears the entry above first, before our reference
	 * could be seen, we see it here.
	 */
	if (unlikely(!ptb_pmd_unchanged(pmdp, pmd)) ||
	    unlikely(!ptb_pte_same(ptb_ptep_get(ptep, PTB_FOR_GUP_FAST), pte)))
		goto drop;
	/* Everything about the folio may be read now, nothing before. */
	if (unlikely(!ptb_folio_allowed(folio, gup)))
		goto drop;

	if (batch)
		nr = __ptb_scan(NULL, ptep, &pte, held, PTB_FOR_GUP_FAST, page, pages, true);
	else
		pages[0] = page;
	if (!ptb_pte_write(pte)) {
		nr = ptb_unshared(NULL, folio, page, nr, gup);
		if (!nr)
			goto drop;
	}

	if (gup & FOLL_PIN) {
		if (unlikely(ptb_folio_make_accessible(folio)))
			goto drop;
		ptb_folio_stat_pins(folio, nr);
	}
	if (batch && nr < held)
		ptb_gup_fast_drop(folio, held - nr, gup);
	ptb_mark_referenced(folio);
	return nr;
drop:
	ptb_gup_fast_drop(folio, held, gup);
	return 0;
}

/* Out of line, so that single pages keep their registers; in one piece, as is worth a fifth. */
static noinline __flatten unsigned int
ptb_gup_fast_batch(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep, ptb_pte_t pte,
		   struct page *page, struct folio *folio, unsigned int held, unsigned int gup,
		   struct page **pages)
{
	return ptb_gup_fast_run(pmd, pmdp, ptep, pte, page, folio, held, gup, pages, true);
}

/* May the entry be taken: 1, 0, or -ENODEV. Of a device, its pagemap is held then. */
static __always_inline int
ptb_gup_fast_may(ptb_pte_t pte, unsigned int gup, struct dev_pagemap **pgmap)
{
	/* Numa hinting, or the vma forbids access: which of the two only slow GUP can tell. */
	if (ptb_pte_protnone(pte))
		return 0;
	if (!ptb_pte_permitted(pte, gup & FOLL_WRITE))
		return 0;
	if (!ptb_pte_devmap(pte))
		return !ptb_pte_special(pte);

	if (unlikely(gup & FOLL_LONGTERM))
		return 0;
	*pgmap = ptb_pagemap_get(ptb_pte_pfn(pte), *pgmap);
	return *pgmap ? 1 : -ENODEV;
}

/*
 * The run that begins with the entry at @ptep: its pages, 0 if it cannot be taken, or -ENODEV if
 * its pagemap has gone.
 */
static __always_inline int ptb_gup_fast_entry(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep,
					      const bool one, unsigned int max_nr, unsigned int gup,
					      struct page **pages, struct dev_pagemap **pgmap)
{
	ptb_pte_t pte = ptb_ptep_get(ptep, PTB_FOR_GUP_FAST);
	struct folio *folio;
	struct page *page;
	unsigned long left;

	if (unlikely(!ptb_pte_plain(pte, gup & FOLL_WRITE))) {
		int ret = ptb_gup_fast_may(pte, gup, pgmap);

		if (ret <= 0)
			return ret;
	}

	page = ptb_pfn_page(ptb_pte_pfn(pte));
	folio = ptb_page_folio(page);
	if ((gup & FOLL_PIN) && unlikely(ptb_page_is_zero(page)))
		return ptb_gup_fast_zero(page, gup, pages);
	/* The guess is that all of the folio follows. */
	left = one ? 1 : ptb_folio_peek_left(folio, page);
	if (left > 1 && max_nr > 1)
		return ptb_gup_fast_batch(pmd, pmdp, ptep, pte, page, folio,
					  left < max_nr ? left : max_nr, gup, pages);
	return ptb_gup_fast_run(pmd, pmdp, ptep, pte, page, folio, 1, gup, pages, false);
}

/**
 * ptb_gup_fast_pte() - ptb_gup_fast_ptes() for one entry
 * @pmd: the entry above the table, as read on the way down
 * @pmdp: where it was read
 * @ptep: the entry
 * @gup: FOLL_* word
 * @pages: room for one
 *
 * Return: pages taken, 0 or 1.
 */
static __always_inline unsigned int ptb_gup_fast_pte(ptb_pmd_t pmd, ptb_pmd_t *pmdp,
						     ptb_pte_t *ptep, unsigned int gup,
						     struct page **pages)
{
	struct dev_pagemap *pgmap = NULL;
	int run = ptb_gup_fast_entry(pmd, pmdp, ptep, true, 1, gup, pages, &pgmap);

	ptb_pagemap_put(pgmap);
	return run > 0;
}

static __always_inline unsigned int ptb_gup_fast_table(ptb_pmd_t pmd, ptb_pmd_t *pmdp,
						       ptb_pte_t *ptep, unsigned int nr,
						       unsigned int gup, struct page **pages)
{
	struct page **const first = pages, **const end = pages + nr;
	struct dev_pagemap *pgmap = NULL;
	int run;

	do {
		run = ptb_gup_fast_entry(pmd, pmdp, ptep, false, end - pages, gup, pages, &pgmap);
		if (unlikely(run <= 0))
			break;
		ptep += run;
		pages += run;
		/* Single pages: what the next line of them maps will be needed soon. */
		if (run == 1 && ptb_line_begins(ptep) && end - pages >= 2 * PTB_LINE)
			ptb_line_prefetch(ptep + PTB_LINE, gup & FOLL_WRITE);
	} while (pages < end);

	if (unlikely(run < 0)) {
		ptb_dax_undo(first, pages - first, gup);
		return 0;
	}
	ptb_pagemap_put(pgmap);
	return pages - first;
}

/**
 * ptb_gup_fast_ptes() - take references to the pages that one table maps
 * @pmd: the entry above the table, as read on the way down
 * @pmdp: where it was read
 * @ptep: entry of the first page
 * @nr: entries asked for, none behind the table, at least 1
 * @gup: FOLL_* word
 * @pages: room for @nr
 *
 * Stops at the first entry it cannot take: what was taken before is kept. Only when the pagemap of
 * a device has gone, whatever this call took is given back.
 *
 * Context: IRQs off. Mirrors: gup_fast_pte_range().
 * Return: pages taken.
 */
static inline unsigned int ptb_gup_fast_ptes(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep,
					     unsigned int nr, unsigned int gup, struct page **pages)
{
	/* Get or pin is asked once, not four times a page. */
	if (gup & FOLL_PIN)
		return ptb_gup_fast_table(pmd, pmdp, ptep, nr, gup | FOLL_PIN, pages);
	return ptb_gup_fast_table(pmd, pmdp, ptep, nr, gup & ~FOLL_PIN, pages);
}

static __always_inline unsigned int ptb_gup_fast_dax_leaf(ptb_leaf_t leaf, unsigned long pfn,
							  unsigned int nr, unsigned int gup,
							  struct page **pages)
{
	if (unlikely(gup & FOLL_LONGTERM))
		return 0;
	if (!ptb_dax_leaf(pfn, nr, gup, pages))
		return 0;
	if (unlikely(!ptb_leaf_unchanged(leaf))) {
		ptb_dax_undo(pages, nr, gup);
		return 0;
	}
	return nr;
}

/**
 * ptb_gup_fast_leaf() - take references to pages that one PMD or PUD leaf maps
 * @leaf: present, not PROT_NONE
 * @addr: address of the first page
 * @nr: pages asked for, inside the leaf, at least 1
 * @gup: FOLL_* word
 * @pages: room for @nr; may be written even when nothing is taken
 *
 * Context: IRQs off. Mirrors: gup_fast_pmd_leaf(), gup_fast_pud_leaf().
 * Return: @nr, or 0 and nothing is held.
 */
static __always_inline unsigned int ptb_gup_fast_leaf(ptb_leaf_t leaf, unsigned long addr,
						      unsigned int nr, unsigned int gup,
						      struct page **pages)
{
	unsigned long pfn = ptb_leaf_pfn(leaf, addr);
	struct folio *folio;
	struct page *page;

	if (!ptb_leaf_permitted(leaf, gup & FOLL_WRITE) || ptb_leaf_special(leaf))
		return 0;
	if (ptb_leaf_devmap(leaf))
		return ptb_gup_fast_dax_leaf(leaf, pfn, nr, gup, pages);

	page = ptb_pfn_page(pfn);
	folio = ptb_grab_first(page, nr, gup);
	if (!folio)
		return 0;

	if (unlikely(!ptb_leaf_unchanged(leaf)) || unlikely(!ptb_folio_allowed(folio, gup)))
		goto drop;
	/* What one leaf maps is exclusive or shared as a whole: the head tells. */
	if (!ptb_leaf_write(leaf) && !ptb_unshared(NULL, folio, &folio->page, 1, gup))
		goto drop;

	ptb_mark_referenced(folio);
	ptb_fill(pages, page, nr);
	return nr;
drop:
	ptb_put(folio, nr, gup);
	return 0;
}

#endif
