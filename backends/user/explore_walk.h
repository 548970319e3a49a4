/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The walkers as threads: the library's function in the middle, around it what the kernel has
 * around it: the way down, IRQs off, write_protect_seq, locks. To put another walker under the
 * explorer is to add a function here and its rows in explore_pairs.h.
 */
#ifndef PTB_EXPLORE_WALK_H
#define PTB_EXPLORE_WALK_H

#include "mutate_pins.h"

#include <ptebatch/walk/gup_fast.h>
#include <ptebatch/walk/mincore.h>
#include <ptebatch/walk/vfio.h>

/* What a walker returned is looked at in the end; whose it was then is noted here. */
static inline void walk_returned(struct ex_walk *walk)
{
	unsigned int i;

	for (i = 0; i < walk->got; i++) {
		const struct page *page = walk->pages[i];

		if (page < ex.map || page >= ex.map + EX_FRAMES) {
			sched_fail("page %u that was returned is no page", i);
			return;
		}
		walk->gen[i] = ex_frame(page)->gen;
	}
}

/* A system call that comes later sees what an earlier one has done. */
static inline void walk_begins(void)
{
	if (!ex.dated)
		return;
	sched_store(&ex.began, sizeof(ex.began), 1);
	sched_mb();
}

/* ---- GUP-fast ---- */

/* As the kernel calls it: one page by a function of its own. */
static unsigned int walk_ptes(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep, unsigned int nr,
			      unsigned int gup, struct page **pages)
{
	if (nr == 1)
		return ptb_gup_fast_pte(pmd, pmdp, ptep, gup, pages);
	return ptb_gup_fast_ptes(pmd, pmdp, ptep, nr, gup, pages);
}

static const struct gup_walker explore_gup = { walk_ptes, ptb_gup_fast_leaf };

static inline unsigned long walk_addr(void)
{
	return ex.addr + ex.first * FMT_PAGE_SIZE;
}

/* gup_fast_fallback() as far as its fast half goes */
static void walk_gup_fast(void *arg)
{
	struct ex_walk *walk = arg;
	unsigned long end = walk_addr() + walk->nr * FMT_PAGE_SIZE;
	unsigned int seq;

	walk_begins();
	seq = mm_read_seq(&ex.mm);
	if ((walk->gup & FOLL_PIN) && (seq & 1))
		return;
	sched_irqs_off();
	walk->got = user_gup_range(&ex.mm, walk_addr(), end, walk->gup, walk->pages, &explore_gup);
	sched_irqs_on();
	if ((walk->gup & FOLL_PIN) && mm_seq_changed(&ex.mm, seq)) {
		user_unpin_pages(walk->pages, walk->got, walk->gup);
		walk->got = 0;
	}
	walk_returned(walk);
}

/*
 * A walker of one's own, as short as one can be, and wrong: it believes the entry it has read
 * first. What it shows is what a violation looks like.
 */
static void walk_blind(void *arg)
{
	struct ex_walk *walk = arg;
	struct page *page;
	ptb_pte_t pte;

	walk_begins();
	sched_irqs_off();
	pte = ptb_ptep_get(ex_ptep(ex.first), PTB_FOR_GUP_FAST);
	if (ptb_pte_permitted(pte, walk->gup & FOLL_WRITE)) {
		page = ptb_pfn_page(ptb_pte_pfn(pte));
		walk->pages[0] = page;
		walk->got = ptb_grab_first(page, 1, walk->gup) != NULL;
	}
	sched_irqs_on();
	walk_returned(walk);
}

/* ---- mincore: mmap_read_lock(), pte_offset_map_lock() ---- */

static unsigned char walk_truth(unsigned int slot)
{
	ptb_pte_t pte = ex.cur[slot];

	if (ptb_pte_present(pte))
		return 1;
	if (ptb_pte_none(pte))
		return ex.vma.mapping && ex.incore[slot];
	if (fmt_swp_type(pte) < SWP_MAX_FILES)
		return 2; /* the cache knows, and takes no lock of ours */
	return 1;
}

/* Under the lock the table stands still, so all answers are true at one moment. */
static inline void walk_mincore_check(const struct ex_walk *walk)
{
	unsigned int i;

	for (i = 0; i < walk->nr; i++) {
		unsigned char truth = walk_truth(i);

		if (walk->vec[i] > 1)
			sched_fail("no answer for page %u", i);
		else if (truth < 2 && truth != walk->vec[i])
			sched_fail("page %u is said to be %sin memory", i,
				   walk->vec[i] ? "" : "not ");
	}
}

static void walk_mincore(void *arg)
{
	struct ex_walk *walk = arg;
	ptb_pmd_t pmd, again;

	memset(walk->vec, 0xee, sizeof(walk->vec));
	sched_lock(&ex.mmap);
	/* RCU keeps the table, whose lock is a part of it, until the lock is held. */
	pmd = upper_load(&ex.pmds[0]);
	if (upper_val(pmd) & UPPER_TABLE) {
		sched_lock(&ex.ptl);
		again = upper_load(&ex.pmds[0]);
		if (upper_val(again) == upper_val(pmd)) {
			ptb_mincore_ptes(&ex.vma, mm_ptep_of(&ex.mm, pmd, ex.addr), ex.addr,
					 walk->nr, walk->vec);
			walk_mincore_check(walk);
			walk->answered = true;
		}
		sched_unlock(&ex.ptl);
	}
	sched_unlock(&ex.mmap);
}

/* ---- VFIO ---- */

/* follow_page_pte(), a page at a time under the lock: slow GUP is the fake mm's, not under test */
static long walk_engine(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
			unsigned long *pfn, struct vfio_batch *batch)
{
	unsigned long i;

	for (i = 0; i < npage && i < (unsigned long)batch->capacity; i++) {
		unsigned int slot = (vaddr - ex.addr) / FMT_PAGE_SIZE + i;
		struct page *page = NULL;

		sched_lock(&ex.ptl);
		if (ptb_pte_present(ex.cur[slot]))
			page = engine_page(dma->mm, vaddr + i * FMT_PAGE_SIZE, dma->write);
		if (page)
			engine_pin(mem_page_folio(page), 1);
		sched_unlock(&ex.ptl);
		if (!page)
			break;
		batch->pages[i] = page;
	}
	if (!i)
		return -EFAULT;
	batch->size = i;
	batch->offset = 0;
	*pfn = mem_pfn(batch->pages[0]);
	return i;
}

static inline void vfio_setup(unsigned int gup)
{
	ex.dma = (struct vfio_dma){
		.iova = 0x100000,
		.vaddr = ex.addr,
		.write = gup & FOLL_WRITE,
		.mm = &ex.mm,
		.engine = walk_engine,
	};
	RB_INIT(&ex.dma.pfn_list);
}

/* vfio_pin_map_dma(): run after run, until all is mapped or one fails */
static void walk_vfio_pin(void *arg)
{
	struct ex_walk *walk = arg;
	struct page *pages[EX_SLOTS];
	struct vfio_batch batch = { .pages = pages, .capacity = EX_SLOTS };
	unsigned long pfn = 0, i;
	long got;

	walk_begins();
	sched_lock(&ex.mmap);
	sched_lock(&ex.iommu);
	while (walk->got < walk->nr) {
		got = ptb_vfio_pin(&ex.dma, ex.addr + walk->got * FMT_PAGE_SIZE,
				   walk->nr - walk->got, &pfn, EX_SLOTS + 1, &batch);
		if (got <= 0)
			break;
		for (i = 0; i < (unsigned long)got; i++)
			walk->pages[walk->got + i] = mem_page(pfn + i);
		walk->got += got;
	}
	ex.mapped = walk->got;
	for (i = 0; i < walk->got; i++)
		ex.charged += !ex.vpfn[i].iova;
	sched_unlock(&ex.iommu);
	sched_unlock(&ex.mmap);
	walk_returned(walk);
}

/* What vfio_pin_map_dma() left. */
static void setup_vfio_mapped(void)
{
	unsigned int i;

	setup_pinned();
	ex.mapped = true;
	for (i = 1; i < ex.nr; i++) {
		struct folio *folio = ex_page_folio(ex_page(EX_A, i));

		if (&folio->page != ex_page(EX_A, i))
			pins_add(folio, 1);
	}
	ex.charged = ex.mm.locked_vm = ex.dma.locked_vm = ex.nr;
}

/* vfio_unmap_unpin(): the frames that the IOMMU was told */
static void walk_vfio_unpin(void *arg)
{
	struct ex_walk *walk = arg;
	unsigned int i;

	sched_lock(&ex.iommu);
	for (i = 0; i < walk->nr; i++) {
		struct folio *folio = ex_page_folio(ex_page(EX_A, i));

		ex_frame(&folio->page)->refs -= ex_pin_refs(folio);
		ex_frame(&folio->page)->pins -= ex_order(folio) > 0;
		ex.charged -= !ex.vpfn[i].iova;
		ex.pins--;
	}
	ptb_vfio_unpin(&ex.dma, ex.dma.iova, ex_pfn(EX_A, 0), walk->nr, true);
	ex.mapped = false;
	walk->answered = true;
	sched_unlock(&ex.iommu);
}

#endif
