// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The contender that Linux 6.12 is: a page at a time. */
#include "contender.h"

#include "../ref/gup_fast.h"
#include "../ref/mincore.h"
#include "../ref/vfio.h"

/* vfio_pin_pages_remote() asks each page for its frame. */
static size_t by_frame(struct page **pages, size_t n)
{
	unsigned long pfn = ptb_page_pfn(pages[0]);
	size_t i;

	for (i = 1; i < n; i++)
		if (ptb_page_pfn(pages[i]) != pfn + i)
			break;
	return i;
}

static unsigned int contig(struct page **pages, unsigned int nr, unsigned int *runs)
{
	return contig_array(pages, nr, runs, by_frame);
}

/* vfio_find_vpfn() for each page. */
static u64 vpfn(struct vfio_dma *dma, u64 first, u64 last)
{
	u64 iova, nr = 0;

	for (iova = first; iova < last; iova += FMT_PAGE_SIZE)
		nr += ref_vfio_charged(dma, iova);
	return nr;
}

const struct contender per_entry = {
	.name = "per_entry",
	.gup = { .ptes = ref_gup_fast_ptes },
	.mincore = ref_mincore_ptes,
	.contig = contig,
	.vfio_pin = ref_vfio_pin,
	.vpfn = vpfn,
};
