/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The userspace backend: the ops on fake memory, for the format named by PTB_FMT_HEADER. Entry ops
 * come from the format; what stands here is the same for all of them.
 */
#ifndef PTB_USER_BACKEND_H
#define PTB_USER_BACKEND_H

#define PTB_BACKEND user
#if defined(PTB_USER_HOOKS) || defined(PTB_USER_EXPLORE)
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

#ifdef PTB_USER_THREADS
/* Who runs threads gives freed memory out again. */
void user_folio_freed(struct folio *folio);
#else
static inline void user_folio_freed(struct folio *folio)
{
	(void)folio;
	mem.freed++;
}
#endif

static inline void user_folio_put_refs(struct folio *folio, int refs)
{
	if (raw_sub_and_test(&folio->page.refcount, refs))
		user_folio_freed(folio);
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
	return !(raw_load_long(RAW_READ, &folio->page.flags) & PG_unpinnable);
}
#define ptb_folio_longterm_pinnable user_folio_longterm_pinnable

static inline bool user_page_is_p2pdma(struct page *page)
{
	struct folio *folio = mem_page_folio(page);
	const struct dev_pagemap *pgmap;

	raw_hook(RAW_READ, folio);
	pgmap = raw_more_ptr(&folio->page.pgmap);
	return pgmap && raw_more_bool(&pgmap->p2pdma);
}
#define ptb_page_is_p2pdma user_page_is_p2pdma

/* Each CPU has a line of its own for it; threads here share one. */
static inline void user_stat_add(u64 *stat, int n)
{
#ifdef PTB_USER_THREADS
	__atomic_fetch_add(stat, n, __ATOMIC_RELAXED);
#else
	*stat += n;
#endif
}

static inline void user_folio_stat_pins(struct folio *folio, int pins)
{
	raw_hook(RAW_STAT, folio);
	if (pins > 0)
		user_stat_add(&mem.pins_acquired, pins);
	else
		user_stat_add(&mem.pins_released, -pins);
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
	return raw_load_long(RAW_READ, &folio->page.flags) & PG_hugetlb;
}
#define ptb_folio_test_hugetlb user_folio_test_hugetlb

static inline bool user_page_anon_exclusive(struct page *page)
{
	return raw_load_long(RAW_EXCLUSIVE, &page->flags) & PG_anon_exclusive;
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

#include "walker_ops.h"

#include "engine.h"

#include <ptebatch/ptebatch.h>

#endif
