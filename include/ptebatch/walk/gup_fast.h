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
 * ptb_folio_make_accessible() - let devices at the folio's content
 * @folio: pinned
 *
 * Needed by: gup_fast, for FOLL_PIN. Mirrors: arch_make_folio_accessible().
 * Return: 0 or an error.
 */
static inline int ptb_folio_make_accessible(struct folio *folio);

/*
 * The rest of a run whose first page is held and whose first entry was found unchanged since.
 * Everything about the folio may be read now, nothing before. Returns the pages held; if none, the
 * head reference is still the caller's to drop.
 */
static __always_inline unsigned int ptb_gup_fast_batch(struct folio *folio, struct page *page,
						       ptb_pte_t *ptep, ptb_pte_t pte,
						       unsigned int max_nr, unsigned int gup)
{
	unsigned int nr = 1;

	if (unlikely(!ptb_folio_allowed(folio, gup)))
		return 0;

	if (max_nr > 1 && ptb_folio_nr_pages(folio) > 1)
		nr = ptb_scan_folio(folio, NULL, ptep, &pte, max_nr, PTB_FOR_GUP_FAST);

	if (!ptb_pte_write(pte)) {
		nr = ptb_unshared(NULL, folio, page, nr, gup);
		if (!nr)
			return 0;
	}

	if ((gup & FOLL_PIN) && unlikely(ptb_folio_make_accessible(folio)))
		return 0;

	/*
	 * Near overflow a batch is refused where single references may still fit: go on with the
	 * one we have.
	 */
	if (nr > 1 && unlikely(!ptb_grab_more(folio, nr - 1, gup)))
		nr = 1;
	return nr;
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
	struct dev_pagemap *pgmap = NULL;
	unsigned int done = 0, run;

	for (; done < nr; done += run) {
		ptb_pte_t pte = ptb_ptep_get(ptep + done, PTB_FOR_GUP_FAST);
		struct folio *folio;
		struct page *page;

		/*
		 * Numa hinting, or the vma forbids access: which of the two only slow GUP can tell.
		 */
		if (ptb_pte_protnone(pte))
			break;
		if (!ptb_pte_permitted(pte, gup & FOLL_WRITE))
			break;
		if (ptb_pte_devmap(pte)) {
			if (unlikely(gup & FOLL_LONGTERM))
				break;
			pgmap = ptb_pagemap_get(ptb_pte_pfn(pte), pgmap);
			if (unlikely(!pgmap)) {
				ptb_dax_undo(pages, done, gup);
				return 0;
			}
		} else if (ptb_pte_special(pte)) {
			break;
		}

		page = ptb_pfn_page(ptb_pte_pfn(pte));
		folio = ptb_grab_first(page, 1, gup);
		if (!folio)
			break;

		/*
		 * Whoever clears the entry looks at the counts afterwards. Had it been cleared, or
		 * the table taken away by collapse, which clears the entry above first, before our
		 * reference could be seen, we see it here.
		 */
		if (unlikely(!ptb_pmd_unchanged(pmdp, pmd)) ||
		    unlikely(!ptb_pte_same(ptb_ptep_get(ptep + done, PTB_FOR_GUP_FAST), pte)))
			run = 0;
		else
			run = ptb_gup_fast_batch(folio, page, ptep + done, pte, nr - done, gup);
		if (unlikely(!run)) {
			ptb_put(folio, 1, gup);
			break;
		}

		ptb_folio_set_referenced(folio);
		ptb_fill(pages + done, page, run);
	}
	ptb_pagemap_put(pgmap);
	return done;
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

	ptb_folio_set_referenced(folio);
	ptb_fill(pages, page, nr);
	return nr;
drop:
	ptb_put(folio, nr, gup);
	return 0;
}

#endif
