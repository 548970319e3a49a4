/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The reference walkers: what the kernel does today, one entry at a time, but for the limit of a
 * count, which is the library's rule and tested by numbers. They use entry, folio and count ops
 * only, never scan, grab, contig or vpfn, so that a fault there cannot hide here as well.
 */
#ifndef PTB_USER_REF_H
#define PTB_USER_REF_H

#include "../backend.h"

/*
 * 6.12 adds the bias unseen. The library looks first whether there is room, and so does what its
 * results are held against; what its time is held against must not.
 */
static inline bool ref_has_room_for_bias(struct folio *folio)
{
#ifdef PTB_USER_REF_TIMED
	(void)folio;
	return true;
#else
	return ptb_folio_ref_count(folio) <= INT_MAX - (GUP_PIN_COUNTING_BIAS - 1);
#endif
}

/* One reference or pin of a page, as try_grab_folio_fast() takes it. */
static inline struct folio *ref_grab(struct page *page, unsigned int gup)
{
	struct folio *folio;
	int count;

	if (!(gup & FOLL_PCI_P2PDMA) && ptb_page_is_p2pdma(page))
		return NULL;
	if ((gup & FOLL_PIN) && ptb_page_is_zero(page))
		return ptb_page_folio(page);
	do {
		folio = ptb_page_folio(page);
		count = ptb_folio_ref_count(folio);
		if (count < 0 || count == INT_MAX || !ptb_folio_try_ref(folio, 1))
			return NULL;
		if (ptb_page_folio(page) == folio)
			break;
		ptb_folio_put_refs(folio, 1);
	} while (1);
	if (!(gup & FOLL_PIN))
		return folio;

	if ((gup & FOLL_LONGTERM) && !ptb_folio_longterm_pinnable(folio)) {
		ptb_folio_put_refs(folio, 1);
		return NULL;
	}
	if (ptb_folio_has_pincount(folio)) {
		ptb_folio_pincount_add(folio, 1);
	} else if (ref_has_room_for_bias(folio)) {
		ptb_folio_ref_add(folio, GUP_PIN_COUNTING_BIAS - 1);
	} else {
		ptb_folio_put_refs(folio, 1);
		return NULL;
	}
	ptb_mb_after_pin();
	ptb_folio_stat_pins(folio, 1);
	return folio;
}

static inline void ref_put(struct folio *folio, unsigned int gup)
{
	int refs = 1;

	if (gup & FOLL_PIN) {
		if (ptb_page_is_zero(&folio->page))
			return;
		ptb_folio_stat_pins(folio, -1);
		if (ptb_folio_has_pincount(folio))
			ptb_folio_pincount_add(folio, -1);
		else
			refs = GUP_PIN_COUNTING_BIAS;
	}
	ptb_folio_put_refs(folio, refs);
}

static inline bool ref_must_unshare(struct folio *folio, struct page *page, unsigned int gup)
{
	if (!(gup & FOLL_PIN) || (gup & FOLL_WRITE))
		return false;
	if (!ptb_folio_test_anon(folio))
		return gup & FOLL_LONGTERM;
	ptb_rmb();
	return !ptb_page_anon_exclusive(ptb_folio_test_hugetlb(folio) ? &folio->page : page);
}

#endif
