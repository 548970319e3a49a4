/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The userspace backend: the ops that walkers declare for themselves. Part of backend.h. */
#ifndef PTB_USER_WALKER_OPS_H
#define PTB_USER_WALKER_OPS_H

#ifndef PTB_USER_BACKEND_H
#error "part of backend.h"
#endif

/* ---- gup_fast, dax ---- */

static inline struct dev_pagemap *user_pagemap_get(unsigned long pfn, struct dev_pagemap *pgmap)
{
	unsigned int i;

	if (pgmap && pfn - pgmap->pfn < pgmap->nr)
		return pgmap;
	if (pgmap)
		raw_more_put(&pgmap->refs);
	for (i = 0; i < mem.nr_pagemaps; i++) {
		pgmap = &mem.pagemaps[i];
		if (pfn - pgmap->pfn >= pgmap->nr)
			continue;
		raw_hook(RAW_READ, pgmap);
		if (raw_more_bool(&pgmap->dying))
			return NULL;
		raw_more_get(&pgmap->refs);
		return pgmap;
	}
	return NULL;
}
#define ptb_pagemap_get user_pagemap_get

static inline void user_pagemap_put(struct dev_pagemap *pgmap)
{
	if (pgmap)
		raw_more_put(&pgmap->refs);
}
#define ptb_pagemap_put user_pagemap_put

static inline bool user_folio_test_referenced(struct folio *folio)
{
	return raw_more_long(&folio->page.flags) & PG_referenced;
}
#define ptb_folio_test_referenced user_folio_test_referenced

static inline void user_folio_set_referenced(struct folio *folio)
{
	raw_set_bits(&folio->page.flags, PG_referenced);
}
#define ptb_folio_set_referenced user_folio_set_referenced

static inline void user_folio_clear_referenced(struct folio *folio)
{
	raw_clear_bits(&folio->page.flags, PG_referenced);
}
#define ptb_folio_clear_referenced user_folio_clear_referenced

static inline unsigned long user_folio_peek_left(struct folio *folio, struct page *page)
{
	unsigned int order;

	raw_hook(RAW_READ, folio);
	order = mem_folio_order(folio);
	return order ? (1UL << order) - (mem_pfn(page) - mem_pfn(&folio->page)) : 1;
}
#define ptb_folio_peek_left user_folio_peek_left

/* The rules of gup_fast_folio_allowed(). */
static inline bool user_folio_allowed(struct folio *folio, unsigned int gup)
{
	const unsigned int worst = FOLL_PIN | FOLL_LONGTERM | FOLL_WRITE;
	bool no_file = (gup & worst) == worst;
	bool maybe_secret = !mem.no_secretmem && !mem_folio_order(folio);
	const struct address_space *mapping;
	unsigned long word;

	raw_hook(RAW_READ, folio);
	if (!no_file && !maybe_secret)
		return true;
	if (raw_more_long(&folio->page.flags) & PG_hugetlb)
		return true;
	/* Once: it may change, and what it was a moment ago is still as good. */
	word = raw_more_long(&folio->page.mapping);
	if (word & MAPPING_ANON)
		return true;
	mapping = (const struct address_space *)word;
	if (!mapping)
		return false;
	if (mapping->kind == MAPPING_SECRETMEM)
		return false;
	return !no_file || mapping->kind == MAPPING_SHMEM;
}
#define ptb_folio_allowed user_folio_allowed

static inline int user_folio_make_accessible(struct folio *folio)
{
	return raw_load_long(RAW_READ, &folio->page.flags) & PG_inaccessible ? -EIO : 0;
}
#define ptb_folio_make_accessible user_folio_make_accessible

static inline u64 upper_val(ptb_pmd_t e)
{
	return word_val(e.w);
}

static inline ptb_pmd_t upper_load(ptb_pmd_t *p)
{
	return (ptb_pmd_t){ word_load_lockless(RAW_PMD, &p->w) };
}

static inline u64 upper_leaf(unsigned long pfn, u32 attrs)
{
	return UPPER_LEAF | (u64)pfn << UPPER_PFN_SHIFT | (u64)attrs << UPPER_ATTR_SHIFT;
}

static inline u32 upper_attrs(ptb_pmd_t e)
{
	return upper_val(e) >> UPPER_ATTR_SHIFT;
}

static inline bool user_pmd_unchanged(ptb_pmd_t *pmdp, ptb_pmd_t pmd)
{
	return upper_val(upper_load(pmdp)) == upper_val(pmd);
}
#define ptb_pmd_unchanged user_pmd_unchanged

static inline bool user_leaf_unchanged(ptb_leaf_t leaf)
{
	return user_pmd_unchanged(leaf.where, leaf.val);
}
#define ptb_leaf_unchanged user_leaf_unchanged

static inline bool user_leaf_permitted(ptb_leaf_t leaf, bool write)
{
	u32 attrs = upper_attrs(leaf.val);

	return !(attrs & (A_KERNEL | A_PROTNONE)) && (!write || (attrs & A_WRITE));
}
#define ptb_leaf_permitted user_leaf_permitted

static inline bool user_leaf_write(ptb_leaf_t leaf)
{
	return upper_attrs(leaf.val) & A_WRITE;
}
#define ptb_leaf_write user_leaf_write

static inline bool user_leaf_special(ptb_leaf_t leaf)
{
	return upper_attrs(leaf.val) & A_SPECIAL;
}
#define ptb_leaf_special user_leaf_special

static inline bool user_leaf_devmap(ptb_leaf_t leaf)
{
	return upper_attrs(leaf.val) & A_DEVMAP;
}
#define ptb_leaf_devmap user_leaf_devmap

static inline unsigned long user_leaf_pfn(ptb_leaf_t leaf, unsigned long addr)
{
	unsigned long pfn = (upper_val(leaf.val) >> UPPER_PFN_SHIFT) &
			    (BIT_ULL(UPPER_ATTR_SHIFT - UPPER_PFN_SHIFT) - 1);

	return pfn + ((addr & (BIT(leaf.shift) - 1)) >> PTB_PAGE_SHIFT);
}
#define ptb_leaf_pfn user_leaf_pfn

/* ---- mincore ---- */

static inline bool user_pte_marker(ptb_pte_t pte)
{
	return !ptb_pte_none(pte) && !ptb_pte_present(pte) && fmt_swp_type(pte) == SWP_PTE_MARKER;
}

static inline bool user_pte_none_mostly(ptb_pte_t pte)
{
	return ptb_pte_none(pte) || user_pte_marker(pte);
}
#define ptb_pte_none_mostly user_pte_none_mostly

static inline bool user_pte_is_swap(ptb_pte_t pte)
{
	return fmt_swp_type(pte) < SWP_MAX_FILES;
}
#define ptb_pte_is_swap user_pte_is_swap

static inline unsigned char user_in_cache(struct vm_area_struct *vma, unsigned long addr)
{
	const struct address_space *mapping = vma->mapping;
	unsigned long index;

	if (!mapping)
		return 0;
	index = vma->vm_pgoff + ((addr - vma->vm_start) >> PTB_PAGE_SHIFT);
	return index < mapping->nr && mapping->incore[index];
}

static inline void user_mincore_unmapped(unsigned long addr, unsigned long end,
					 struct vm_area_struct *vma, unsigned char *vec)
{
	for (; addr != end; addr += 1UL << PTB_PAGE_SHIFT)
		*vec++ = user_in_cache(vma, addr);
}
#define ptb_mincore_unmapped user_mincore_unmapped

static inline unsigned char user_mincore_swap(ptb_pte_t pte)
{
	struct swap_dev *dev = &mem.swap[fmt_swp_type(pte) % SWAP_DEVS];
	u64 offset = fmt_swp_offset(pte);
	unsigned char in;

	/* swapoff may have taken the device, and its cache with it */
	if (dev->gone)
		return 0;
	dev->gets++;
	dev->looked++;
	in = offset < dev->nr && dev->incache[offset];
	dev->puts++;
	return in;
}
#define ptb_mincore_swap user_mincore_swap

/* ---- vfio, but for the pin engine and its undoing: engine.h ---- */

static inline bool user_vfio_reserved(unsigned long pfn)
{
	return !mem_pfn_valid(pfn) ||
	       (raw_more_long(&mem_page_folio(mem_page(pfn))->page.flags) & PG_reserved);
}
#define ptb_vfio_reserved user_vfio_reserved

static inline bool user_vfio_page_reserved(struct page *page)
{
	return raw_more_long(&mem_page_folio(page)->page.flags) & PG_reserved;
}
#define ptb_vfio_page_reserved user_vfio_page_reserved

static inline u64 user_vfio_locked(struct vfio_dma *dma)
{
	return dma->mm->locked_vm;
}
#define ptb_vfio_locked user_vfio_locked

static inline int user_vfio_lock_acct(struct vfio_dma *dma, long npage, bool async)
{
	(void)async;
	if (!npage)
		return 0;
	if (dma->acct_error)
		return dma->acct_error;
	dma->mm->locked_vm += npage;
	dma->locked_vm += npage;
	return 0;
}
#define ptb_vfio_lock_acct user_vfio_lock_acct

static inline void user_vfio_over_limit(unsigned long limit)
{
	(void)limit;
	mem.warned++;
}
#define ptb_vfio_over_limit user_vfio_over_limit

static inline bool user_vfio_by_page(void)
{
	return mem.by_page;
}
#define ptb_vfio_by_page user_vfio_by_page

static inline void user_vfio_relax(void)
{
	mem.relaxed++;
}
#define ptb_vfio_relax user_vfio_relax

#endif
