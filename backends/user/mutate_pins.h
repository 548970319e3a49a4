/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The other side: who holds pages besides the walker, devices that go away, and VFIO's other
 * callers.
 */
#ifndef PTB_MUTATE_PINS_H
#define PTB_MUTATE_PINS_H

#include "mutate_table.h"

/* ---- pins of somebody else: one on each folio, from the beginning ---- */

static inline void pins_add(struct folio *folio, int pins)
{
	folio->page.refcount += pins * ex_pin_refs(folio);
	ex_frame(&folio->page)->refs += pins * ex_pin_refs(folio);
	if (ex_order(folio)) {
		folio->second.pincount += pins;
		ex_frame(&folio->page)->pins += pins;
	}
}

static void setup_pinned(void)
{
	unsigned int i;

	for (i = 0; i < ex.nr; i++)
		if (!(ex_page(EX_A, i)->compound_head & 1))
			pins_add((struct folio *)ex_page(EX_A, i), 1);
}

/* unpin_user_pages(): pin count, then references */
static void mutate_unpin(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < ex.nr; i++) {
		struct folio *folio = (struct folio *)ex_page(EX_A, i);

		if (ex_page(EX_A, i)->compound_head & 1)
			continue;
		if (ex_order(folio) == 0) {
			mut_put(folio, GUP_PIN_COUNTING_BIAS);
			continue;
		}
		ex_frame(&folio->page)->pins--;
		raw_add(RAW_PINCOUNT, &folio->second.pincount, -1);
		mut_put(folio, 1);
	}
}

/* ---- memunmap_pages() ---- */

static bool pagemap_is_drained(void *arg)
{
	return READ_ONCE(((struct dev_pagemap *)arg)->refs) == 0;
}

/*
 * The device goes while it is still mapped, which is what holding the pagemap is for:
 * percpu_ref_kill(), whose switch to one counter takes a grace period, then the wait until nobody
 * holds it, then the struct pages go, unless somebody pinned them before: then who waits for that
 * is the driver.
 */
static void mutate_unplug(void *arg)
{
	struct dev_pagemap *pgmap = &mem.pagemaps[0];
	unsigned int i;

	(void)arg;
	sched_store(&pgmap->dying, sizeof(pgmap->dying), true);
	sched_wait_irqs();
	ex.pagemap_refs--;
	raw_add(RAW_REF_PUT, &pgmap->refs, -1);
	sched_yield_until(pagemap_is_drained, pgmap, &pgmap->refs);
	sched_mb();
	truncate_device();
	if (!ex_frame(ex_page(EX_A, 0))->unused)
		return;
	for (i = 0; i < ex.nr; i++)
		if (!(ex_page(EX_A, i)->compound_head & 1))
			mut_put((struct folio *)ex_page(EX_A, i), 1);
}

/* ---- VFIO: all of it holds the IOMMU's lock ---- */

static inline void vpfn_count_path(struct vfio_pfn *vpfn)
{
	for (; vpfn; vpfn = RB_PARENT(vpfn, node))
		vpfn_count(vpfn);
}

static inline u64 vfio_iova(unsigned int slot)
{
	return ex.dma.iova + ((u64)slot << PTB_PAGE_SHIFT);
}

static inline void vpfn_insert(unsigned int slot)
{
	struct vfio_pfn *vpfn = &ex.vpfn[slot];

	*vpfn = (struct vfio_pfn){ .iova = vfio_iova(slot) };
	RB_INSERT(vpfn_tree, &ex.dma.pfn_list, vpfn);
	vpfn_count_path(vpfn);
}

/*
 * vfio_iommu_type1_pin_pages(): a mediated device pins one page and is charged for it, unless it is
 * there already.
 */
static void mutate_external_pin(void *arg)
{
	struct folio *folio = (struct folio *)ex_page_folio(ex_page(EX_A, 1));

	(void)arg;
	sched_lock(&ex.iommu);
	mut_lock();
	if (mut_present(1)) {
		folio = mut_folio(1);
		ex_frame(&folio->page)->refs += ex_pin_refs(folio);
		ex_frame(&folio->page)->pins += ex_order(folio) > 0;
		ex.pins++;
		engine_pin(folio, 1);
	} else {
		folio = NULL;
	}
	mut_unlock();
	if (folio) {
		vpfn_insert(1);
		if (!ex.mapped) {
			ex.charged++;
			user_vfio_lock_acct(&ex.dma, 1, false);
		}
	}
	sched_unlock(&ex.iommu);
}

/* vfio_change_dma_owner(): the process execs, and what is pinned is charged to its new mm. */
static void mutate_exec(void *arg)
{
	u64 npage;

	(void)arg;
	sched_lock(&ex.iommu);
	npage = ex.dma.locked_vm;
	ex.new_mm.locked_vm += npage;
	ex.dma.mm->locked_vm -= npage;
	ex.dma.mm = &ex.new_mm;
	sched_unlock(&ex.iommu);
}

#endif
