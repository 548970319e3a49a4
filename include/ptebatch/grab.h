/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * grab: take and drop references or pins of a folio, all or nothing.
 *
 * A get is a reference. A pin is a reference plus the mark that device access may be going on:
 * counted in the folio's pin count if it has one, else as GUP_PIN_COUNTING_BIAS references. gup is
 * the FOLL_* word of the caller.
 */
#ifndef PTEBATCH_GRAB_H
#define PTEBATCH_GRAB_H

#include "ops.h"

/*
 * Is there room for @add more references. Asked before adding: the kernel only looks whether the
 * count is negative already, which a batch of pins could carry over the edge in one step
 * (CVE-2019-11487 took one page at a time).
 */
static __always_inline bool ptb_ref_has_room(struct folio *folio, int add)
{
	/* A negative count is a large number here. */
	return (unsigned int)ptb_folio_ref_count(folio) <= (unsigned int)(INT_MAX - add);
}

/* Near overflow, where a batch would be refused, a single reference may still fit. */
static __always_inline unsigned int
ptb_refs_that_fit(struct folio *folio, unsigned int refs, unsigned int gup)
{
	bool bias = (gup & FOLL_PIN) && !ptb_folio_has_pincount(folio);
	int cost = bias ? refs * GUP_PIN_COUNTING_BIAS : refs;

	return likely(ptb_ref_has_room(folio, cost)) ? refs : 1;
}

/* References that came too much, or to the wrong folio: seldom, so not in anybody's way. */
static noinline __maybe_unused void ptb_give_back(struct folio *folio, int refs)
{
	ptb_folio_put_refs(folio, refs);
}

/**
 * ptb_try_get() - references to the folio of a page that nothing holds yet
 * @page: read from an entry, which the caller reads again afterwards
 * @folio: that of @page, looked up just now; set to the one that is held
 * @refs: references, at least 1
 * @gup: FOLL_PCI_P2PDMA is heeded
 *
 * For who guesses how many, or pins: see ptb_refs_to_pins(). Context, ordering: as
 * ptb_grab_first(). Mirrors: try_get_folio().
 * Return: whether they were taken.
 */
static __always_inline bool
ptb_try_get(struct page *page, struct folio **folio, int refs, unsigned int gup)
{
	PTB_WARN_ON(!(gup & FOLL_GET) == !(gup & FOLL_PIN));

	if (unlikely(!(gup & FOLL_PCI_P2PDMA) && ptb_page_is_p2pdma(page)))
		return false;
	for (;;) {
		if (unlikely(!ptb_ref_has_room(*folio, refs)))
			return false;
		if (unlikely(!ptb_folio_try_ref(*folio, refs)))
			return false;
		/*
		 * Split between lookup and reference: what is held has nothing to do with the page
		 * any more.
		 */
		if (likely(ptb_page_folio(page) == *folio))
			return true;
		ptb_give_back(*folio, refs);
		*folio = ptb_page_folio(page);
	}
}

/**
 * ptb_refs_to_pins() - turn references just taken into pins
 * @folio: held by @refs references, so that its size is known; not the zero page
 * @refs: all of them in the folio
 * @gup: FOLL_LONGTERM is heeded
 *
 * The node's statistics are the caller's to tell, once it knows how many pins it keeps. Ordering:
 * full barrier on success.
 *
 * Return: whether they are pins now; if not, they are references still.
 */
static __always_inline bool ptb_refs_to_pins(struct folio *folio, int refs, unsigned int gup)
{
	int bias = refs * (GUP_PIN_COUNTING_BIAS - 1);

	if (unlikely((gup & FOLL_LONGTERM) && !ptb_folio_longterm_pinnable(folio)))
		return false;
	if (ptb_folio_has_pincount(folio)) {
		ptb_folio_pincount_add(folio, refs);
	} else {
		/* One more look at the count than 6.12 takes: it is what 2M pins of a page need. */
		if (unlikely(!ptb_ref_has_room(folio, bias)))
			return false;
		ptb_folio_ref_add(folio, bias);
	}
	/*
	 * Pairs with folio_try_share_anon_rmap_*(): there the entry is cleared, then pins are
	 * looked for; here the pin is taken, then the entry is looked at.
	 */
	ptb_mb_after_pin();
	return true;
}

/**
 * ptb_drop() - ptb_put() of what statistics were not told of
 * @folio: held by at least @refs of the same kind, not the zero page
 * @refs: pages to account
 * @gup: as when taken
 */
static __always_inline void ptb_drop(struct folio *folio, int refs, unsigned int gup)
{
	if (gup & FOLL_PIN) {
		if (ptb_folio_has_pincount(folio))
			ptb_folio_pincount_add(folio, -refs);
		else
			refs *= GUP_PIN_COUNTING_BIAS;
	}
	ptb_folio_put_refs(folio, refs);
}

/**
 * ptb_grab_first() - get or pin the folio of a page that nothing holds yet
 * @page: read from an entry, which the caller reads again afterwards
 * @refs: pages to account, at least 1, all of them in the folio once it is held
 * @gup: FOLL_GET or FOLL_PIN, with FOLL_LONGTERM and FOLL_PCI_P2PDMA heeded
 *
 * Context: IRQs off, so that the memory of @page cannot become anything but a page. Ordering: full
 * barrier on success; the entry is read again behind it. Mirrors: try_grab_folio_fast() of
 * GUP-fast.
 * Return: the folio, or NULL and nothing is held.
 */
static __always_inline struct folio *ptb_grab_first(struct page *page, int refs, unsigned int gup)
{
	struct folio *folio = ptb_page_folio(page);

	if ((gup & FOLL_PIN) && unlikely(ptb_page_is_zero(page)))
		return folio;
	if (unlikely(!ptb_try_get(page, &folio, refs, gup)))
		return NULL;
	if (!(gup & FOLL_PIN))
		return folio;
	if (unlikely(!ptb_refs_to_pins(folio, refs, gup))) {
		ptb_give_back(folio, refs);
		return NULL;
	}
	ptb_folio_stat_pins(folio, refs);
	return folio;
}

/**
 * ptb_grab_more() - get or pin again a folio that the caller holds
 * @folio: held
 * @refs: pages to account
 * @gup: FOLL_GET or FOLL_PIN
 *
 * Where the folio may live for long is not asked again: who holds it already has asked, or is slow
 * GUP and migrates it. Nor is whether it is memory of a PCI device, which try_grab_folio() asks.
 *
 * Mirrors: try_grab_folio().
 * Return: whether all were taken; if not, none was.
 */
static __always_inline bool ptb_grab_more(struct folio *folio, int refs, unsigned int gup)
{
	int add = refs;

	if (gup & FOLL_PIN) {
		if (unlikely(ptb_page_is_zero(&folio->page)))
			return true;
		if (!ptb_folio_has_pincount(folio))
			add *= GUP_PIN_COUNTING_BIAS;
	}
	if (unlikely(!ptb_ref_has_room(folio, add)))
		return false;
	ptb_folio_ref_add(folio, add);
	if (gup & FOLL_PIN) {
		if (ptb_folio_has_pincount(folio))
			ptb_folio_pincount_add(folio, refs);
		ptb_folio_stat_pins(folio, refs);
	}
	return true;
}

/**
 * ptb_put() - undo ptb_grab_first() and ptb_grab_more()
 * @folio: held by at least @refs of the same kind
 * @refs: pages to account
 * @gup: as when grabbed
 *
 * Mirrors: gup_put_folio().
 */
static __always_inline void ptb_put(struct folio *folio, int refs, unsigned int gup)
{
	if (gup & FOLL_PIN) {
		if (unlikely(ptb_page_is_zero(&folio->page)))
			return;
		ptb_folio_stat_pins(folio, -refs);
	}
	ptb_drop(folio, refs, gup);
}

/**
 * ptb_unshared() - leading pages of a run that a read-only pin may keep as they are
 * @vma: the mapping, or NULL where it is not known (GUP-fast)
 * @folio: pinned by the caller: from then on exclusive can be seen going away, never coming back
 * unnoticed
 * @page: first page of the run, in @folio
 * @nr: pages of the run, all mapped read-only
 * @gup: FOLL_* word
 *
 * A pin that only reads must still see what its process writes later, so an anonymous page that
 * others may own has to be copied first. That is known page by page, except that hugetlb keeps it
 * on the head for the whole folio.
 *
 * Ordering: the flags are read after the pin. Mirrors: gup_must_unshare().
 * Return: pages, 0 to @nr.
 */
static __always_inline unsigned int ptb_unshared(struct vm_area_struct *vma, struct folio *folio,
						 struct page *page, unsigned int nr,
						 unsigned int gup)
{
	unsigned int i;

	/* For writing the entry has to be writable, which says exclusive already. */
	if ((gup & (FOLL_WRITE | FOLL_PIN)) != FOLL_PIN)
		return nr;

	if (!ptb_folio_test_anon(folio)) {
		/* A short pin of a file page need not follow a later copy. */
		if (!(gup & FOLL_LONGTERM))
			return nr;
		return vma && !ptb_vma_is_cow(vma) ? nr : 0;
	}

	/*
	 * Pairs with the barrier in folio_try_share_anon_rmap_*(): pins are looked at there,
	 * exclusive here.
	 */
	ptb_rmb();

	if (ptb_folio_test_hugetlb(folio))
		return ptb_page_anon_exclusive(&folio->page) ? nr : 0;
	for (i = 0; i < nr; i++)
		if (!ptb_page_anon_exclusive(ptb_page_nth(page, i)))
			break;
	return i;
}

#endif
