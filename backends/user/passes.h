/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The passes of a replay: each walker of the library, and the one that goes page by page. */
#ifndef PTB_USER_PASSES_H
#define PTB_USER_PASSES_H

#include "pass.h"

#include "ref/gup_fast.h"
#include "ref/mincore.h"
#include "ref/vfio.h"

#include <ptebatch/walk/gup_fast.h>
#include <ptebatch/walk/mincore.h>
#include <ptebatch/walk/vfio.h>

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
	struct vfio_dma dma = window_dma(w);

	pass_vfio_pin(w, &dma, ref_vfio_pin);
}

static void vfio_pin(struct window *w)
{
	struct vfio_dma dma = window_dma(w);

	pass_vfio_pin(w, &dma, ptb_vfio_pin);
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
