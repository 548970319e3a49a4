// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The contender that it is all about: the library as it is. */
#include "contender.h"

#include <ptebatch/walk/gup_fast.h>
#include <ptebatch/walk/mincore.h>
#include <ptebatch/walk/vfio.h>

static unsigned int
scan_one(struct folio *folio, ptb_pte_t *ptep, ptb_pte_t pte, unsigned int max_nr)
{
	return ptb_scan_folio(folio, NULL, ptep, &pte, max_nr, PTB_FOR_LOOK);
}

static unsigned int scan(ptb_pte_t *ptep, unsigned int nr, unsigned int *runs)
{
	return scan_table(ptep, nr, runs, scan_one);
}

static unsigned int contig(struct page **pages, unsigned int nr, unsigned int *runs)
{
	return contig_array(pages, nr, runs, ptb_contig_pages);
}

static u64 vpfn(struct vfio_dma *dma, u64 first, u64 last)
{
	return ptb_vpfn_count(&dma->pfn_list, first, last);
}

const struct contender ptebatch = {
	.name = "ptebatch",
	.gup = { .ptes = ptb_gup_fast_ptes },
	.mincore = ptb_mincore_ptes,
	.scan = scan,
	.contig = contig,
	.vfio_pin = ptb_vfio_pin,
	.vpfn = vpfn,
};
