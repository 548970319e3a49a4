// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The contender that compares each: mainline's scan, num_pages_contiguous() and vpfn_pages(). Its
 * GUP-fast is the library's, one read-modify-write a run, with mainline's scan put in.
 */
#include "each.h"

/* Stands in for the scan that fills in pages as it goes. Not inline, as it must not be unused. */
static unsigned int each_run(ptb_pte_t *ptep, ptb_pte_t pte, unsigned int max_nr, const ptb_t flags,
			     struct page *page, struct page **pages)
{
	unsigned int nr = each_scan(ptb_page_folio(page), ptep, pte, max_nr, flags);

	each_fill(pages, page, nr);
	return nr;
}
#define __ptb_scan(vma, ptep, ptentp, max_nr, flags, page, pages, fill) \
	each_run(ptep, *(ptentp), max_nr, flags, page, pages)

#include <ptebatch/walk/gup_fast.h>

static unsigned int
scan_one(struct folio *folio, ptb_pte_t *ptep, ptb_pte_t pte, unsigned int max_nr)
{
	return each_scan(folio, ptep, pte, max_nr, PTB_FOR_LOOK);
}

static unsigned int scan(ptb_pte_t *ptep, unsigned int nr, unsigned int *runs)
{
	return scan_table(ptep, nr, runs, scan_one);
}

static size_t by_pointer(struct page **pages, size_t n)
{
	struct page *page = pages[0];
	size_t i;

	for (i = 1; i < n; i++)
		if (pages[i] != ++page || !ptb_page_same_section(pages[0], page))
			break;
	return i;
}

static unsigned int contig(struct page **pages, unsigned int nr, unsigned int *runs)
{
	return contig_array(pages, nr, runs, by_pointer);
}

/* From node to node: the kernel's tree keeps no counts. */
static u64 vpfn(struct vfio_dma *dma, u64 first, u64 last)
{
	return ptb_vpfn_count_nodes(&dma->pfn_list, first, last);
}

const struct contender compare_each = {
	.name = "compare_each",
	.gup = { .ptes = ptb_gup_fast_ptes },
	.scan = scan,
	.contig = contig,
	.vpfn = vpfn,
};
