/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A contender: how one way of walking does each unit of a walker. All on the same ops, so that what
 * differs is the way and nothing else. Each in a file of its own and called through a pointer, a
 * table at a time, as the kernel's walk calls them: none profits from being seen by another.
 */
#ifndef PTB_USER_BENCH_CONTENDER_H
#define PTB_USER_BENCH_CONTENDER_H

#define PTB_USER_REF_TIMED
#include "../descend.h"

/* What a contender has no way of its own for is NULL. */
struct contender {
	const char *name;
	struct gup_walker gup;
	mincore_walker mincore;
	/* Lengths of the runs that @nr entries, or pages, fall into; returns how many. */
	unsigned int (*scan)(ptb_pte_t *ptep, unsigned int nr, unsigned int *runs);
	unsigned int (*contig)(struct page **pages, unsigned int nr, unsigned int *runs);
	long (*vfio_pin)(struct vfio_dma *dma, unsigned long vaddr, long npage,
			 unsigned long *pfn_base, unsigned long limit, struct vfio_batch *batch);
	u64 (*vpfn)(struct vfio_dma *dma, u64 first, u64 last);
};

extern const struct contender per_entry, compare_each, seed_shape, ptebatch, limit;

/* A table by runs, as a walker does it that looks at what it scans: the folio, then the scan. */
static __always_inline unsigned int
scan_table(ptb_pte_t *ptep, unsigned int nr, unsigned int *runs,
	   unsigned int (*scan)(struct folio *folio, ptb_pte_t *ptep, ptb_pte_t pte,
				unsigned int max_nr))
{
	unsigned int done = 0, i = 0;

	while (done < nr) {
		ptb_pte_t pte = ptb_ptep_get(ptep + done, PTB_FOR_LOOK);
		struct folio *folio = ptb_page_folio(ptb_pfn_page(ptb_pte_pfn(pte)));

		runs[i] = scan(folio, ptep + done, pte, nr - done);
		done += runs[i++];
	}
	return i;
}

static __always_inline unsigned int contig_array(struct page **pages, unsigned int nr,
						 unsigned int *runs,
						 size_t (*contig)(struct page **pages, size_t n))
{
	unsigned int done = 0, i = 0;

	while (done < nr) {
		runs[i] = contig(pages + done, nr - done);
		done += runs[i++];
	}
	return i;
}

#endif
