/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The pin engine of the fake VFIO: slow GUP's answer, page by page, on fake tables. What slow GUP
 * would fault in, copy or migrate first is an error here: the fake mm has no faults.
 */
#ifndef PTB_USER_ENGINE_H
#define PTB_USER_ENGINE_H

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
		.pfn = user_leaf_pfn(leaf, vaddr),
		.nr = pages_to(vaddr, 0, shift),
		.write = user_leaf_write(leaf),
		.special = user_leaf_special(leaf),
		.permitted = user_leaf_permitted(leaf, false),
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

static inline struct vm_area_struct *mm_find_vma(struct mm_struct *mm, unsigned long vaddr)
{
	unsigned int lo = 0, hi = mm->nr_vmas;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (mm->vmas[mid].vm_end <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < mm->nr_vmas && mm->vmas[lo].vm_start <= vaddr ? &mm->vmas[lo] : NULL;
}

/* A reading pin of what its process may still get a copy of: slow GUP makes that copy first. */
static inline bool
engine_must_copy(struct vm_area_struct *vma, struct folio *folio, struct page *page)
{
	if (!mem_folio_is_anon(folio))
		return vma && user_vma_is_cow(vma);
	if (folio->page.flags & PG_hugetlb)
		page = &folio->page;
	return !(page->flags & PG_anon_exclusive);
}

/*
 * The page that a longterm pin of this address gets, or NULL where slow GUP would have work to do
 * first. The zero page is given out as kernels before 6.5 did: VFIO still has to balance that.
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
	if (user_page_is_zero(page))
		return page;
	if (user_vfio_reserved(e.pfn) || user_page_is_p2pdma(page) ||
	    !user_folio_longterm_pinnable(folio))
		return NULL;
	if (!e.write && engine_must_copy(mm_find_vma(mm, vaddr), folio, page))
		return NULL;
	return page;
}

/* A count that is wrong already, or would be. */
static inline bool engine_may_pin(struct folio *folio)
{
	int count = user_folio_ref_count(folio);

	return count > 0 && count <= INT_MAX - GUP_PIN_COUNTING_BIAS;
}

/* @pins more, or less, on a folio that is held. Not by the library: that is what is under test. */
static inline void engine_pin(struct folio *folio, int pins)
{
	int refs = pins;

	if (user_page_is_zero(&folio->page))
		return;
	user_folio_stat_pins(folio, pins);
	if (user_folio_has_pincount(folio))
		user_folio_pincount_add(folio, pins);
	else
		refs *= GUP_PIN_COUNTING_BIAS;
	if (refs > 0)
		user_folio_ref_add(folio, refs);
	else
		user_folio_put_refs(folio, -refs);
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

		if (!page || !engine_may_pin(mem_page_folio(page)))
			break;
		engine_pin(mem_page_folio(page), 1);
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

		run = mem_pfn(&folio->page) + (1UL << mem_folio_order(folio)) - (pfn + done);
		if (run > npage - done)
			run = npage - done;
		if (dma->write)
			raw_set_bits(&folio->page.flags, PG_dirty);
		engine_pin(folio, -(int)run);
	}
}
#define ptb_vfio_unpin_pfns user_vfio_unpin_pfns

#endif
