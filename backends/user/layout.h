/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Page tables as text. Entries follow each other from the first slot of the first table on:
 *
 *	o2@100: 0-3 | none*2 | o4@200 cont ro: 0-7, 8-15 rw | swap 0:1a excl*4 | at 511 | o0@300
 *
 *	oN@PFN WORDS: PAGES
 *		pages of a folio of order N at frame PFN (hex); all of them if no PAGES are named.
 *		PAGES is a list of numbers and ranges, each with WORDS of its own.
 *		The same folio may come again.
 *
 *	none, marker, migration, hwpoison, device-private
 *
 *	swap TYPE:OFFSET WORDS
 *		OFFSET in hex; with *N the offsets count up
 *
 *	zero@PFN
 *		the zero page
 *
 *	frame@PFN WORDS
 *		a frame without a struct page to touch; with *N the frames count up
 *
 *	at N
 *		go on at slot N
 *
 *	*N	as often as that, behind any item without PAGES
 *
 * Words for a folio: anon (the default) file shmem secretmem hugetlb device truncated; cma reserved
 * inaccessible p2pdma; refs=N pins=N.
 *
 * Words for entries: rw (the default) ro dirty old soft-dirty uffd-wp special devmap protnone
 * kernel cont shstk saved-dirty shared (not exclusive); pmd, pud: one leaf of that level.
 */
#ifndef PTB_USER_LAYOUT_H
#define PTB_USER_LAYOUT_H

#include "page.h"

enum item_type {
	ITEM_PAGES,
	ITEM_FRAMES,
	ITEM_NONE,
	ITEM_SWAP,
	ITEM_OTHER, /* swap_type says which */
	ITEM_AT,
};

enum item_level { LEVEL_PTE, LEVEL_PMD, LEVEL_PUD };

struct layout_item {
	enum item_type type;
	enum item_level level;
	unsigned long pfn; /* first frame; swap: offset; at: slot */
	unsigned long nr;
	unsigned int swap_type;
	u32 attrs;
};

#define FOLIO_CMA BIT(0)
#define FOLIO_RESERVED BIT(1)
#define FOLIO_INACCESSIBLE BIT(2)
#define FOLIO_P2PDMA BIT(3)

struct layout_folio {
	unsigned long pfn;
	unsigned int order;
	enum folio_kind kind;
	unsigned int flags;
	int refs, pins;
};

#define LAYOUT_MAX 64

struct layout {
	struct layout_item items[LAYOUT_MAX];
	struct layout_folio folios[LAYOUT_MAX];
	unsigned int nr_items, nr_folios;
	unsigned long nr_slots; /* entries to the last one named */
	unsigned long max_pfn;
	u32 attrs; /* all that occur: what a format must have */
};

#define LAYOUT_ERR_MAX 128

/* Parse @text. On a mistake returns -1 with a line in @err that quotes the place. */
int layout_parse(const char *text, struct layout *l, char err[LAYOUT_ERR_MAX]);

#endif
