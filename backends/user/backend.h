/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The userspace backend: the ops on fake memory, for the format named by PTB_FMT_HEADER. Entry ops
 * come from the format; what stands here is the same for all of them.
 */
#ifndef PTB_USER_BACKEND_H
#define PTB_USER_BACKEND_H

#define PTB_BACKEND user
#ifdef PTB_USER_HOOKS
#define PTB_WARN_ON(cond) user_warn_on(cond, #cond, __FILE__, __LINE__)
#else
#define PTB_WARN_ON(cond) ((void)sizeof(cond))
#endif

#include "mm.h"
#include PTB_FMT_HEADER

#include <ptebatch/defs.h>

#define FMT_PTES (1UL << (PTB_PMD_SHIFT - PTB_PAGE_SHIFT))
#define FMT_PMDS (1UL << (FMT_PUD_SHIFT - PTB_PMD_SHIFT))
/* Can a whole table's worth be mapped by one word. */
#ifdef FMT_NO_LEAVES
#define FMT_LEAVES false
#else
#define FMT_LEAVES true
#endif
/* An empty entry. */
#ifndef FMT_NONE
#define FMT_NONE 0ULL
#endif
/*
 * Addresses are as wide as this machine's. Where that is 32 bits, those of a wider format end below
 * the last 1 GiB, so that none wraps.
 */
#if FMT_PUD_SHIFT + 2 > __SIZEOF_LONG__ * 8
#error "a PUD of this format is too large for the addresses of this machine"
#endif
#ifndef FMT_VA_END
#define FMT_VA_END (FMT_VA_BITS < 8 * sizeof(long) ? 1UL << FMT_VA_BITS : 0xc0000000UL)
#endif

/*
 * A word above the tables: none, a table, a leaf, or something that is neither. The bits are ours,
 * no walker sees them.
 */
typedef struct {
	struct fmt_word w;
} ptb_pmd_t;

#define UPPER_TABLE BIT_ULL(0)
#define UPPER_LEAF BIT_ULL(1)
#define UPPER_MIGRATION BIT_ULL(2)
#define UPPER_ATTR_SHIFT 44
#define UPPER_PFN_SHIFT 4

typedef struct {
	ptb_pmd_t val;
	ptb_pmd_t *where;
	unsigned int shift;
} ptb_leaf_t;

typedef struct vpfn_tree ptb_vpfn_root_t;
typedef struct vfio_pfn ptb_vpfn_node_t;

static inline bool user_pte_same(ptb_pte_t a, ptb_pte_t b)
{
	return word_val(a.w) == word_val(b.w);
}
#define ptb_pte_same user_pte_same

/* ---- pages ---- */

static inline struct folio *user_page_folio(struct page *page)
{
	raw_hook(RAW_FOLIO, page);
	return mem_page_folio(page);
}
#define ptb_page_folio user_page_folio

static inline struct page *user_page_nth(struct page *page, unsigned long n)
{
	return mem_has_vmemmap() ? page + n : mem_page(mem_pfn(page) + n);
}
#define ptb_page_nth user_page_nth

static inline unsigned long user_page_pfn(const struct page *page)
{
	return mem_pfn(page);
}
#define ptb_page_pfn user_page_pfn

static inline struct page *user_pfn_page(unsigned long pfn)
{
	return mem_page(pfn);
}
#define ptb_pfn_page user_pfn_page

static inline unsigned long user_folio_nr_pages(struct folio *folio)
{
	raw_hook(RAW_READ, folio);
	return 1UL << mem_folio_order(folio);
}
#define ptb_folio_nr_pages user_folio_nr_pages

static inline bool user_page_same_section(const struct page *a, const struct page *b)
{
	return mem_has_vmemmap() || a->section == b->section;
}
#define ptb_page_same_section user_page_same_section

/* ---- references ---- */

static inline int user_folio_ref_count(struct folio *folio)
{
	return raw_read(&folio->page.refcount);
}
#define ptb_folio_ref_count user_folio_ref_count

static inline bool user_folio_try_ref(struct folio *folio, int refs)
{
	return raw_add_unless_zero(&folio->page.refcount, refs);
}
#define ptb_folio_try_ref user_folio_try_ref

static inline void user_folio_ref_add(struct folio *folio, int refs)
{
	raw_add(RAW_REF_ADD, &folio->page.refcount, refs);
}
#define ptb_folio_ref_add user_folio_ref_add

static inline void user_folio_put_refs(struct folio *folio, int refs)
{
	if (raw_sub_and_test(&folio->page.refcount, refs))
		mem.freed++;
}
#define ptb_folio_put_refs user_folio_put_refs

static inline void user_folio_pincount_add(struct folio *folio, int pins)
{
	raw_add(RAW_PINCOUNT, &folio->second.pincount, pins);
}
#define ptb_folio_pincount_add user_folio_pincount_add

/*
 * A word of 32 bits leaves no room for a pin count in the second page, so there it is in the third.
 */
static inline bool user_folio_has_pincount(struct folio *folio)
{
	raw_hook(RAW_READ, folio);
	return mem_folio_order(folio) > (sizeof(long) == 8 ? 0 : 1);
}
#define ptb_folio_has_pincount user_folio_has_pincount

static inline bool user_page_is_zero(const struct page *page)
{
	return mem_pfn(page) == mem.zero_pfn;
}
#define ptb_page_is_zero user_page_is_zero

static inline bool user_folio_longterm_pinnable(struct folio *folio)
{
	raw_hook(RAW_READ, folio);
	return !(READ_ONCE(folio->page.flags) & PG_unpinnable);
}
#define ptb_folio_longterm_pinnable user_folio_longterm_pinnable

static inline bool user_page_is_p2pdma(struct page *page)
{
	struct folio *folio = mem_page_folio(page);

	raw_hook(RAW_READ, folio);
	return folio->page.pgmap && folio->page.pgmap->p2pdma;
}
#define ptb_page_is_p2pdma user_page_is_p2pdma

static inline void user_folio_stat_pins(struct folio *folio, int pins)
{
	raw_hook(RAW_STAT, folio);
	if (pins > 0)
		mem.pins_acquired += pins;
	else
		mem.pins_released -= pins;
}
#define ptb_folio_stat_pins user_folio_stat_pins

static inline void user_mb_after_pin(void)
{
	raw_mb_after_atomic();
}
#define ptb_mb_after_pin user_mb_after_pin

static inline void user_rmb(void)
{
	raw_rmb();
}
#define ptb_rmb user_rmb

static inline bool user_folio_test_anon(struct folio *folio)
{
	raw_hook(RAW_READ, folio);
	return mem_folio_is_anon(folio);
}
#define ptb_folio_test_anon user_folio_test_anon

static inline bool user_folio_test_hugetlb(struct folio *folio)
{
	raw_hook(RAW_READ, folio);
	return READ_ONCE(folio->page.flags) & PG_hugetlb;
}
#define ptb_folio_test_hugetlb user_folio_test_hugetlb

static inline bool user_page_anon_exclusive(struct page *page)
{
	raw_hook(RAW_EXCLUSIVE, page);
	return READ_ONCE(page->flags) & PG_anon_exclusive;
}
#define ptb_page_anon_exclusive user_page_anon_exclusive

static inline bool user_vma_is_cow(struct vm_area_struct *vma)
{
	return (vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE;
}
#define ptb_vma_is_cow user_vma_is_cow

/* ---- vpfn ---- */

static inline struct vfio_pfn *user_vpfn_first(struct vpfn_tree *tree, u64 iova)
{
	struct vfio_pfn key = { .iova = iova };

	return RB_NFIND(vpfn_tree, tree, &key);
}
#define ptb_vpfn_first user_vpfn_first

static inline struct vfio_pfn *user_vpfn_next(struct vfio_pfn *vpfn)
{
	return RB_NEXT(vpfn_tree, NULL, vpfn);
}
#define ptb_vpfn_next user_vpfn_next

static inline u64 user_vpfn_iova(struct vfio_pfn *vpfn)
{
	return vpfn->iova;
}
#define ptb_vpfn_iova user_vpfn_iova

static inline u64 user_vpfn_rank(struct vpfn_tree *tree, u64 iova)
{
	const struct vfio_pfn *vpfn = RB_ROOT(tree);
	u64 nr = 0;

	while (vpfn) {
		if (iova < vpfn->iova) {
			vpfn = RB_LEFT(vpfn, node);
			continue;
		}
		nr += vpfn->nr - (RB_RIGHT(vpfn, node) ? RB_RIGHT(vpfn, node)->nr : 0);
		vpfn = RB_RIGHT(vpfn, node);
	}
	return nr;
}
/* The tree counts by 4K. As the kernel's tree has no counts, one format goes without, too. */
#if PTB_PAGE_SHIFT == 12 && !defined(FMT_PLAIN_VPFN_TREE)
#define ptb_vpfn_rank user_vpfn_rank
#endif

/* ---- gup_fast, dax ---- */

static inline struct dev_pagemap *user_pagemap_get(unsigned long pfn, struct dev_pagemap *pgmap)
{
	unsigned int i;

	if (pgmap && pfn - pgmap->pfn < pgmap->nr)
		return pgmap;
	if (pgmap)
		__atomic_fetch_sub(&pgmap->refs, 1, __ATOMIC_RELEASE);
	for (i = 0; i < mem.nr_pagemaps; i++) {
		pgmap = &mem.pagemaps[i];
		if (pfn - pgmap->pfn >= pgmap->nr)
			continue;
		raw_hook(RAW_READ, pgmap);
		if (READ_ONCE(pgmap->dying))
			return NULL;
		__atomic_fetch_add(&pgmap->refs, 1, __ATOMIC_ACQUIRE);
		return pgmap;
	}
	return NULL;
}
#define ptb_pagemap_get user_pagemap_get

static inline void user_pagemap_put(struct dev_pagemap *pgmap)
{
	if (pgmap)
		__atomic_fetch_sub(&pgmap->refs, 1, __ATOMIC_RELEASE);
}
#define ptb_pagemap_put user_pagemap_put

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

/* The rules of gup_fast_folio_allowed(). */
static inline bool user_folio_allowed(struct folio *folio, unsigned int gup)
{
	const unsigned int worst = FOLL_PIN | FOLL_LONGTERM | FOLL_WRITE;
	bool no_file = (gup & worst) == worst;
	bool maybe_secret = !mem_folio_order(folio);
	const struct address_space *mapping;

	raw_hook(RAW_READ, folio);
	if (!no_file && !maybe_secret)
		return true;
	if (READ_ONCE(folio->page.flags) & PG_hugetlb)
		return true;
	if (mem_folio_is_anon(folio))
		return true;
	mapping = (const struct address_space *)READ_ONCE(folio->page.mapping);
	if (!mapping)
		return false;
	if (mapping->kind == MAPPING_SECRETMEM)
		return false;
	return !no_file || mapping->kind == MAPPING_SHMEM;
}
#define ptb_folio_allowed user_folio_allowed

static inline int user_folio_make_accessible(struct folio *folio)
{
	raw_hook(RAW_READ, folio);
	return READ_ONCE(folio->page.flags) & PG_inaccessible ? -EIO : 0;
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

static inline void user_mincore_unmapped(unsigned long addr, unsigned long end,
					 struct vm_area_struct *vma, unsigned char *vec)
{
	unsigned long index = vma->vm_pgoff + ((addr - vma->vm_start) >> PTB_PAGE_SHIFT);
	const struct address_space *mapping = vma->mapping;

	for (; addr != end; addr += 1UL << PTB_PAGE_SHIFT, index++)
		*vec++ = mapping && index < mapping->nr && mapping->incore[index];
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
	       (READ_ONCE(mem_page_folio(mem_page(pfn))->page.flags) & PG_reserved);
}
#define ptb_vfio_reserved user_vfio_reserved

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

#include "engine.h"

#include <ptebatch/ptebatch.h>

#endif
