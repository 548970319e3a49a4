/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A pass: one walker sent over everything in a window, and its result in one number. Who includes
 * this has defined step_ends(), called between two calls of a walker.
 */
#ifndef PTB_USER_PASS_H
#define PTB_USER_PASS_H

#include "window.h"

/* ---- what a pass leaves behind, to compare by ---- */

static inline u64 mix(u64 hash, u64 value)
{
	return (hash ^ value) * 0x100000001b3ULL + (hash >> 29);
}

static inline u64 hash_pages(const struct window *w)
{
	u64 hash = w->done;
	unsigned long i;

	for (i = 0; i < w->done; i++)
		hash = mix(hash, mem_pfn(w->pages[i]));
	return hash;
}

static inline u64 hash_vec(const struct window *w)
{
	u64 hash = w->done;
	unsigned long i;

	for (i = 0; i < w->done; i++)
		hash = mix(hash, w->vec[i]);
	return hash;
}

static inline u64 hash_runs(const struct window *w)
{
	u64 hash = w->done;
	unsigned long i;

	for (i = 0; i < w->done; i++)
		hash = mix(mix(hash, w->runs[i].pfn), w->runs[i].nr);
	return mix(hash, w->mm.locked_vm);
}

static inline u64 hash_counts(const struct window *w)
{
	u64 hash = 0;
	unsigned long i;

	for (i = 0; i < w->nr_folios; i++) {
		const struct folio *folio = mem_page_folio(mem_page(w->folios[i]));

		hash = mix(hash, folio->page.refcount);
		hash = mix(hash, mem_folio_pincount(folio));
	}
	return mix(hash, mem.pins_acquired - mem.pins_released);
}

/* ---- a walker over a window ---- */

static __always_inline void
pass_gup(struct window *w, unsigned int gup, const struct gup_walker *walker)
{
	unsigned long i;

	for (i = 0; i < w->present.nr; i++) {
		unsigned long addr = w->present.v[i].addr, left = w->present.v[i].nr, got;

		while (left) {
			got = user_gup_fast(&w->mm, addr, left, gup, w->pages + w->done, walker);
			step_ends();
			w->done += got;
			/* What it stopped at is slow GUP's; go on behind it. */
			if (got < left)
				got++;
			addr += got << PTB_PAGE_SHIFT;
			left -= got;
		}
	}
}

static __always_inline void pass_dax(struct window *w, unsigned int gup,
				     unsigned int (*walker)(unsigned long pfn, unsigned int nr,
							    unsigned int gup, struct page **pages))
{
	unsigned long i;

	for (i = 0; i < w->frames.nr; i++) {
		w->done += walker(w->frames.v[i].addr, w->frames.v[i].nr, gup, w->pages + w->done);
		step_ends();
	}
}

static __always_inline void pass_mincore(struct window *w, mincore_walker walker)
{
	unsigned int i;

	for (i = 0; i < w->mm.nr_vmas; i++) {
		struct vm_area_struct *vma = &w->mm.vmas[i];

		if (vma->left_out)
			continue;
		user_mincore(&w->mm, vma, vma->vm_start, vma->vm_end, w->vec + w->done, walker);
		w->done += (vma->vm_end - vma->vm_start) >> PTB_PAGE_SHIFT;
		step_ends();
	}
}

static struct page *batch_pages[512];

static inline struct vfio_dma window_dma(struct window *w)
{
	/* The bus sees a range of its own, as a guest's memory would be. */
	return (struct vfio_dma){ .iova = 0, .vaddr = 0, .mm = &w->mm };
}

static __always_inline void
pass_vfio_pin(struct window *w, struct vfio_dma *dma,
	      long (*pin)(struct vfio_dma *dma, unsigned long vaddr, long npage,
			  unsigned long *pfn_base, unsigned long limit, struct vfio_batch *batch))
{
	struct vfio_batch batch = { .pages = batch_pages, .capacity = ARRAY_SIZE(batch_pages) };
	unsigned long i;

	for (i = 0; i < w->pinnable.nr; i++) {
		unsigned long addr = w->pinnable.v[i].addr;
		long left = w->pinnable.v[i].nr;

		while (left) {
			struct vfio_run *run = &w->runs[w->done];
			long got = pin(dma, addr, left, &run->pfn, ULONG_MAX, &batch);

			if (got <= 0)
				break;
			run->iova = addr;
			run->nr = got;
			w->done++;
			addr += (unsigned long)got << PTB_PAGE_SHIFT;
			left -= got;
		}
	}
}

static __always_inline void
pass_vfio_unpin(struct window *w, long (*unpin)(struct vfio_dma *dma, u64 iova, unsigned long pfn,
						long npage, bool do_accounting))
{
	struct vfio_dma dma = window_dma(w);
	unsigned long i;

	for (i = 0; i < w->done; i++)
		unpin(&dma, w->runs[i].iova, w->runs[i].pfn, w->runs[i].nr, true);
}

#endif
