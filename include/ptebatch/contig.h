/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* contig: how many pages of an array follow each other in memory. */
#ifndef PTEBATCH_CONTIG_H
#define PTEBATCH_CONTIG_H

#include "ops.h"
#include "scan.h"

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

	for (i = 1; i < n; i++) {
		if (pages[i] != pages[i - 1] + 1)
			break;
		if (!ptb_page_same_section(pages[i - 1], pages[i]))
			break;
	}
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
	for (i = 1; i < n; i++)
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
