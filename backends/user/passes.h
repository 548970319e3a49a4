/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Passes: a walker sent over everything in a window, and its result in one number. Who includes
 * this has defined step_ends(), called between two calls of a walker.
 */
#ifndef PTB_USER_PASSES_H
#define PTB_USER_PASSES_H

#include "window.h"

#include "ref/gup_fast.h"
#include "ref/mincore.h"
#include "ref/vfio.h"

#include <ptebatch/walk/gup_fast.h>
#include <ptebatch/walk/mincore.h>
#include <ptebatch/walk/vfio.h>

/* ---- what a pass leaves behind, to compare by ---- */

static u64 mix(u64 hash, u64 value)
{
	return (hash ^ value) * 0x100000001b3ULL + (hash >> 29);
}

static u64 hash_pages(const struct window *w)
{
	u64 hash = w->done;
	unsigned long i;

	for (i = 0; i < w->done; i++)
		hash = mix(hash, mem_pfn(w->pages[i]));
	return hash;
}

static u64 hash_vec(const struct window *w)
{
	u64 hash = w->done;
	unsigned long i;

	for (i = 0; i < w->done; i++)
		hash = mix(hash, w->vec[i]);
	return hash;
}

static u64 hash_runs(const struct window *w)
{
	u64 hash = w->done;
	unsigned long i;

	for (i = 0; i < w->done; i++)
		hash = mix(mix(hash, w->runs[i].pfn), w->runs[i].nr);
	return mix(hash, w->mm.locked_vm);
}

static u64 hash_counts(const struct window *w)
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

/* ---- the passes ---- */

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

static struct vfio_dma window_dma(struct window *w)
{
	/* The bus sees a range of its own, as a guest's memory would be. */
	return (struct vfio_dma){ .iova = 0, .vaddr = 0, .mm = &w->mm };
}

static __always_inline void
pass_vfio_pin(struct window *w,
	      long (*pin)(struct vfio_dma *dma, unsigned long vaddr, long npage,
			  unsigned long *pfn_base, unsigned long limit, struct vfio_batch *batch))
{
	struct vfio_dma dma = window_dma(w);
	struct vfio_batch batch = { .pages = batch_pages, .capacity = ARRAY_SIZE(batch_pages) };
	unsigned long i;

	for (i = 0; i < w->pinnable.nr; i++) {
		unsigned long addr = w->pinnable.v[i].addr;
		long left = w->pinnable.v[i].nr;

		while (left) {
			struct vfio_run *run = &w->runs[w->done];
			long got = pin(&dma, addr, left, &run->pfn, ULONG_MAX, &batch);

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

static const struct gup_walker batched_gup = { ptb_gup_fast_ptes, ptb_gup_fast_leaf };
static const struct gup_walker reference_gup = { ref_gup_fast_ptes, ref_gup_fast_leaf };

static void gup_get_ref(struct window *w)
{
	pass_gup(w, FOLL_GET, &reference_gup);
}

static void gup_get(struct window *w)
{
	pass_gup(w, FOLL_GET, &batched_gup);
}

static void gup_pin_ref(struct window *w)
{
	pass_gup(w, FOLL_PIN, &reference_gup);
}

static void gup_pin(struct window *w)
{
	pass_gup(w, FOLL_PIN, &batched_gup);
}

static void dax_get_ref(struct window *w)
{
	pass_dax(w, FOLL_GET, ref_dax_leaf);
}

static void dax_get(struct window *w)
{
	pass_dax(w, FOLL_GET, ptb_dax_leaf);
}

static void dax_pin_ref(struct window *w)
{
	pass_dax(w, FOLL_PIN, ref_dax_leaf);
}

static void dax_pin(struct window *w)
{
	pass_dax(w, FOLL_PIN, ptb_dax_leaf);
}

static void mincore_ref(struct window *w)
{
	pass_mincore(w, ref_mincore_ptes);
}

static void mincore_batched(struct window *w)
{
	pass_mincore(w, ptb_mincore_ptes);
}

static void vfio_pin_ref(struct window *w)
{
	pass_vfio_pin(w, ref_vfio_pin);
}

static void vfio_pin(struct window *w)
{
	pass_vfio_pin(w, ptb_vfio_pin);
}

static void vfio_unpin_ref(struct window *w)
{
	pass_vfio_unpin(w, ref_vfio_unpin);
}

static void vfio_unpin(struct window *w)
{
	pass_vfio_unpin(w, ptb_vfio_unpin);
}

static void put_got(struct window *w)
{
	user_unpin_pages(w->pages, w->done, FOLL_GET);
}

static void put_pinned(struct window *w)
{
	user_unpin_pages(w->pages, w->done, FOLL_PIN);
}

static void nothing(struct window *w)
{
	(void)w;
}

static const struct pass {
	const char *name;
	void (*before)(struct window *w);
	void (*walk[2])(struct window *w); /* per entry, batched */
	void (*after)(struct window *w);
	u64 (*hash)(const struct window *w);
} passes[ROW_NR] = {
	[ROW_GUP_GET] = { "gup_fast get", nothing, { gup_get_ref, gup_get }, put_got, hash_pages },
	[ROW_GUP_PIN] = { "gup_fast pin",
			  nothing,
			  { gup_pin_ref, gup_pin },
			  put_pinned,
			  hash_pages },
	[ROW_DAX_GET] = { "dax get", nothing, { dax_get_ref, dax_get }, put_got, hash_pages },
	[ROW_DAX_PIN] = { "dax pin", nothing, { dax_pin_ref, dax_pin }, put_pinned, hash_pages },
	[ROW_MINCORE] = { "mincore", nothing, { mincore_ref, mincore_batched }, nothing, hash_vec },
	[ROW_VFIO_PIN] = { "vfio pin",
			   nothing,
			   { vfio_pin_ref, vfio_pin },
			   vfio_unpin_ref,
			   hash_runs },
	[ROW_VFIO_UNPIN] = { "vfio unpin",
			     vfio_pin,
			     { vfio_unpin_ref, vfio_unpin },
			     nothing,
			     hash_runs },
};

#endif
