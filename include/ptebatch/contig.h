/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* contig: how many pages of an array follow each other in memory. */
#ifndef PTEBATCH_CONTIG_H
#define PTEBATCH_CONTIG_H

#include "ops.h"
#include "scan.h"

/* Does a page follow another, in memory and by its frame: the next section may be anywhere. */
static __always_inline bool ptb_page_follows(struct page *next, struct page *page)
{
	return next == page + 1 && ptb_page_same_section(page, next);
}

static __always_inline unsigned long ptb_page_differs(struct page *a, struct page *b)
{
	return (unsigned long)a ^ (unsigned long)b;
}

static __always_inline unsigned long ptb_contig_half(struct page **pages, struct page *page)
{
	return ptb_page_differs(pages[0], page) | ptb_page_differs(pages[1], page + 1) |
	       ptb_page_differs(pages[2], page + 2) | ptb_page_differs(pages[3], page + 3);
}

/* One question for all of a line, which must be @page and on, as each by itself is a branch. */
static __always_inline bool ptb_contig_line(struct page **pages, struct page *page)
{
	unsigned long differs = ptb_contig_half(pages, page);

	if (PTB_LINE == 8)
		differs |= ptb_contig_half(pages + 4, page + 4);
	return !differs;
}

/* Pages in whole lines that follow the first, itself among them: of its own section, at least 1. */
static __always_inline size_t ptb_contig_lines(struct page **pages, size_t n)
{
	size_t i = 0;

	while (i + PTB_LINE <= n && ptb_contig_line(pages + i, pages[0] + i) &&
	       ptb_page_same_section(pages[0], pages[i + PTB_LINE - 1]))
		i += PTB_LINE;
	return i ? i : 1;
}

/**
 * ptb_contig_pages() - length of a run of physically contiguous pages
 * @pages: pages, any kind, from any folios
 * @n: how many, at least 1
 *
 * A pointer one further is a frame one further only inside a memory section, so at a section's end
 * the run may stop early: who wants it whole compares frame numbers across calls.
 *
 * Mirrors: num_pages_contiguous().
 * Return: pages, 1 to @n.
 */
static __always_inline size_t ptb_contig_pages(struct page **pages, size_t n)
{
	size_t i;

	/* Single pages are many, and the neighbour tells. */
	if (n == 1 || !ptb_page_follows(pages[1], pages[0]))
		return 1;
	for (i = ptb_contig_lines(pages, n); i < n; i++)
		if (!ptb_page_follows(pages[i], pages[i - 1]))
			break;
	return i;
}

/**
 * ptb_contig_folio() - length of a run of contiguous pages of one folio
 * @pages: pages whose folios are held
 * @n: how many, at least 1
 *
 * The array may start anywhere in the folio, end before it does, skip or repeat pages. Crosses
 * sections.
 *
 * Return: pages, 1 to @n, not leaving the folio.
 */
static __always_inline size_t ptb_contig_folio(struct page **pages, size_t n)
{
	unsigned long left = ptb_folio_left(ptb_page_folio(pages[0]), pages[0]);
	size_t i;

	if (left < n)
		n = left;
	for (i = ptb_contig_lines(pages, n); i < n; i++)
		if (pages[i] != ptb_page_nth(pages[0], i))
			break;
	return i;
}

/**
 * ptb_contig_pfns() - length of a run of consecutive frame numbers
 * @pfns: frame numbers, with or without struct pages
 * @n: how many, at least 1
 *
 * Return: frames, 1 to @n.
 */
static __always_inline size_t ptb_contig_pfns(const unsigned long *pfns, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (pfns[i] != pfns[0] + i)
			break;
	return i;
}

#endif
