/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The pin engine of the fake VFIO: slow GUP's answer, page by page, on fake tables. What slow GUP
 * would fault in, copy or migrate first is an error here: the fake mm has no faults.
 */
#ifndef PTB_USER_ENGINE_H
#define PTB_USER_ENGINE_H

#include <ptebatch/ptebatch.h>

#include "table.h"

struct engine_entry {
	unsigned long pfn;
	unsigned long nr; /* pages to the end of what maps it */
	bool write, special, permitted;
};

static inline bool
engine_leaf(ptb_pmd_t val, unsigned int shift, unsigned long vaddr, struct engine_entry *e)
{
	ptb_leaf_t leaf = { .val = val, .shift = shift };

	if (!(upper_val(val) & UPPER_LEAF))
		return false;
	*e = (struct engine_entry){
		.pfn = ptb_leaf_pfn(leaf, vaddr),
		.nr = pages_to(vaddr, 0, shift),
		.write = ptb_leaf_write(leaf),
		.special = ptb_leaf_special(leaf),
		.permitted = ptb_leaf_permitted(leaf, false),
	};
	return true;
}

static inline bool engine_lookup(struct mm_struct *mm, unsigned long vaddr, struct engine_entry *e)
{
	ptb_pte_t pte;

	if (vaddr < mm->base || vaddr >= mm->end)
		return false;
	if (engine_leaf(*mm_pudp(mm, vaddr), FMT_PUD_SHIFT, vaddr, e) ||
	    engine_leaf(*mm_pmdp(mm, vaddr), PTB_PMD_SHIFT, vaddr, e))
		return true;
	if (upper_val(*mm_pudp(mm, vaddr)) & UPPER_MIGRATION ||
	    !(upper_val(*mm_pmdp(mm, vaddr)) & UPPER_TABLE))
		return false;
	pte = ptb_ptep_get(mm_ptep(mm, vaddr), PTB_FOR_LOOK);
	if (!ptb_pte_present(pte))
		return false;
	*e = (struct engine_entry){
		.pfn = ptb_pte_pfn(pte),
		.nr = 1,
		.write = ptb_pte_write(pte),
		.special = ptb_pte_special(pte),
		.permitted = ptb_pte_permitted(pte, false),
	};
	return true;
}

/*
 * The page that a longterm pin of this address gets, or NULL where slow GUP would have work to do
 * first.
 */
static inline struct page *engine_page(struct mm_struct *mm, unsigned long vaddr, bool write)
{
	struct engine_entry e;
	struct folio *folio;
	struct page *page;

	if (!engine_lookup(mm, vaddr, &e) || !e.permitted || e.special || (write && !e.write))
		return NULL;
	page = mem_page(e.pfn);
	folio = mem_page_folio(page);
	if (!ptb_folio_longterm_pinnable(folio))
		return NULL;
	/* The zero page is reserved and pinned all the same, as a pin of it counts nothing. */
	if (user_vfio_reserved(e.pfn) && !ptb_folio_is_zero(folio))
		return NULL;
	if (!e.write && mem_folio_is_anon(folio) && !ptb_unshared(NULL, folio, page, 1, FOLL_PIN))
		return NULL;
	return page;
}

static inline struct vm_area_struct *mm_find_vma(struct mm_struct *mm, unsigned long vaddr)
{
	unsigned int i;

	for (i = 0; i < mm->nr_vmas; i++)
		if (vaddr >= mm->vmas[i].vm_start && vaddr < mm->vmas[i].vm_end)
			return &mm->vmas[i];
	return NULL;
}

/*
 * Frames that have no page to pin: the true frame from the entry, and as many as the leaf maps from
 * there.
 */
static inline long
engine_frames(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage, unsigned long *pfn)
{
	struct vm_area_struct *vma = mm_find_vma(dma->mm, vaddr);
	struct engine_entry e;

	if (!vma || !(vma->vm_flags & VM_PFNMAP) || !engine_lookup(dma->mm, vaddr, &e))
		return -EFAULT;
	if ((dma->write && !e.write) || !user_vfio_reserved(e.pfn))
		return -EFAULT;
	*pfn = e.pfn;
	return e.nr < npage ? e.nr : npage;
}

static inline long user_vfio_get_pfns(struct vfio_dma *dma, unsigned long vaddr,
				      unsigned long npage, unsigned long *pfn,
				      struct vfio_batch *batch)
{
	unsigned long max =
		npage < (unsigned long)batch->capacity ? npage : (unsigned long)batch->capacity;
	unsigned long i;

	if (dma->engine)
		return dma->engine(dma, vaddr, npage, pfn, batch);

	for (i = 0; i < max; i++) {
		struct page *page = engine_page(dma->mm, vaddr + (i << PTB_PAGE_SHIFT), dma->write);

		if (!page || !ptb_grab_more(mem_page_folio(page), 1, FOLL_PIN))
			break;
		batch->pages[i] = page;
	}
	if (!i)
		return engine_frames(dma, vaddr, npage, pfn);
	batch->size = i;
	batch->offset = 0;
	*pfn = mem_pfn(batch->pages[0]);
	return i;
}
#define ptb_vfio_get_pfns user_vfio_get_pfns

static inline void
user_vfio_unpin_pfns(struct vfio_dma *dma, unsigned long pfn, unsigned long npage)
{
	unsigned long done, run;

	for (done = 0; done < npage; done += run) {
		struct folio *folio = mem_page_folio(mem_page(pfn + done));

		run = ptb_folio_end(folio) - (pfn + done);
		if (run > npage - done)
			run = npage - done;
		if (dma->write)
			raw_set_bits(&folio->page.flags, PG_dirty);
		ptb_put(folio, run, FOLL_PIN);
	}
}
#define ptb_vfio_unpin_pfns user_vfio_unpin_pfns

#endif
