/* SPDX-License-Identifier: GPL-2.0-only */
/* Binds walk/gup_fast.h to mm/gup.c, at whose end it is included. */
#ifndef PTEBATCH_KERNEL_GUP_H
#define PTEBATCH_KERNEL_GUP_H

#include "ab.h"
#include "dax.h"

/* A PMD or PUD leaf: pudp tells which, where it is made a constant, so that half an op folds. */
struct kernel_leaf {
	pmd_t *pmdp, pmd;
	pud_t *pudp, pud;
	unsigned long mask;
};

typedef struct kernel_leaf ptb_leaf_t;

static __always_inline bool kernel_pte_protnone(pte_t pte)
{
	return pte_protnone(pte);
}
#define ptb_pte_protnone kernel_pte_protnone

static __always_inline bool kernel_pte_permitted(pte_t pte, bool write)
{
	return pte_access_permitted(pte, write);
}
#define ptb_pte_permitted kernel_pte_permitted

static __always_inline bool kernel_pte_special(pte_t pte)
{
	return pte_special(pte);
}
#define ptb_pte_special kernel_pte_special

static __always_inline bool kernel_pte_devmap(pte_t pte)
{
	return pte_devmap(pte);
}
#define ptb_pte_devmap kernel_pte_devmap

static __always_inline bool kernel_pmd_unchanged(pmd_t *pmdp, pmd_t pmd)
{
	return pmd_val(pmdp_get_lockless(pmdp)) == pmd_val(pmd);
}
#define ptb_pmd_unchanged kernel_pmd_unchanged

static __always_inline bool kernel_pud_unchanged(pud_t *pudp, pud_t pud)
{
	return pud_val(pudp_get(pudp)) == pud_val(pud);
}

static __always_inline bool kernel_leaf_unchanged(ptb_leaf_t l)
{
	return l.pudp ? kernel_pud_unchanged(l.pudp, l.pud) : kernel_pmd_unchanged(l.pmdp, l.pmd);
}
#define ptb_leaf_unchanged kernel_leaf_unchanged

static __always_inline bool kernel_leaf_permitted(ptb_leaf_t l, bool write)
{
	return l.pudp ? pud_access_permitted(l.pud, write) : pmd_access_permitted(l.pmd, write);
}
#define ptb_leaf_permitted kernel_leaf_permitted

static __always_inline bool kernel_leaf_write(ptb_leaf_t l)
{
	return l.pudp ? pud_write(l.pud) : pmd_write(l.pmd);
}
#define ptb_leaf_write kernel_leaf_write

static __always_inline bool kernel_leaf_special(ptb_leaf_t l)
{
	return l.pudp ? pud_special(l.pud) : pmd_special(l.pmd);
}
#define ptb_leaf_special kernel_leaf_special

/* Those do not come here: see ptebatch_gup_fast_pmd_leaf(). */
static __always_inline bool kernel_leaf_devmap(ptb_leaf_t l)
{
	return false;
}
#define ptb_leaf_devmap kernel_leaf_devmap

static __always_inline unsigned long kernel_leaf_pfn(ptb_leaf_t l, unsigned long addr)
{
	return (l.pudp ? pud_pfn(l.pud) : pmd_pfn(l.pmd)) + ((addr & ~l.mask) >> PAGE_SHIFT);
}
#define ptb_leaf_pfn kernel_leaf_pfn

static __always_inline unsigned long kernel_folio_peek_left(struct folio *folio, struct page *page)
{
	return ptb_compat_folio_peek_left(folio, page);
}
#define ptb_folio_peek_left kernel_folio_peek_left

static __always_inline bool kernel_folio_allowed(struct folio *folio, unsigned int gup)
{
	return gup_fast_folio_allowed(folio, gup);
}
#define ptb_folio_allowed kernel_folio_allowed

static __always_inline int kernel_folio_make_accessible(struct folio *folio)
{
	return arch_make_folio_accessible(folio);
}
#define ptb_folio_make_accessible kernel_folio_make_accessible

#include <ptebatch/walk/gup_fast.h>

static __always_inline int kernel_gup_fast_ptes(pmd_t pmd, pmd_t *pmdp, unsigned long addr,
						const bool one, unsigned int want,
						unsigned int flags, struct page **pages, int *nr)
{
	unsigned int got;
	pte_t *ptep;

	/* Without the bit nobody can tell which entries have a page to hold. */
	if (!IS_ENABLED(CONFIG_ARCH_HAS_PTE_SPECIAL))
		return 0;

	ptep = pte_offset_map(&pmd, addr);
	if (!ptep)
		return 0;
	ptb_compat_mapped();
	pages += *nr;
	got = one ? ptb_gup_fast_pte(pmd, pmdp, ptep, flags, pages)
		  : ptb_gup_fast_ptes(pmd, pmdp, ptep, want, flags, pages);
	pte_unmap(ptep);
	return ptb_ab_pages(PTB_AB_GUP_FAST, want, got, pages, nr);
}

/* A function apart: what a loop keeps in registers costs 4 % where a single page is wanted. */
static noinline int kernel_gup_fast_one(pmd_t pmd, pmd_t *pmdp, unsigned long addr,
					unsigned int flags, struct page **pages, int *nr)
{
	return kernel_gup_fast_ptes(pmd, pmdp, addr, true, 1, flags, pages, nr);
}

static noinline __flatten int kernel_gup_fast_many(pmd_t pmd, pmd_t *pmdp, unsigned long addr,
						   unsigned long end, unsigned int flags,
						   struct page **pages, int *nr)
{
	return kernel_gup_fast_ptes(pmd, pmdp, addr, false, (end - addr) >> PAGE_SHIFT, flags,
				    pages, nr);
}

/* For gup_fast_pte_range(): 1 to go on behind the range, 0 to stop; *nr counts what is held. */
static __always_inline int ptb_kernel_gup_fast_pte_range(pmd_t pmd, pmd_t *pmdp, unsigned long addr,
							 unsigned long end, unsigned int flags,
							 struct page **pages, int *nr)
{
	if (end - addr == PAGE_SIZE)
		return kernel_gup_fast_one(pmd, pmdp, addr, flags, pages, nr);
	return kernel_gup_fast_many(pmd, pmdp, addr, end, flags, pages, nr);
}

/* For gup_fast_pmd_leaf(). */
static ptb_ab_ours int ptb_kernel_gup_fast_pmd_leaf(pmd_t orig, pmd_t *pmdp, unsigned long addr,
						    unsigned long end, unsigned int flags,
						    struct page **pages, int *nr)
{
	ptb_leaf_t leaf = { .pmdp = pmdp, .pmd = orig, .mask = PMD_MASK };
	unsigned int want = (end - addr) >> PAGE_SHIFT;
	unsigned int got;

	pages += *nr;
	got = ptb_gup_fast_leaf(leaf, addr, want, flags, pages);
	return ptb_ab_pages(PTB_AB_GUP_FAST, want, got, pages, nr);
}

/* For gup_fast_pud_leaf(). */
static ptb_ab_ours int ptb_kernel_gup_fast_pud_leaf(pud_t orig, pud_t *pudp, unsigned long addr,
						    unsigned long end, unsigned int flags,
						    struct page **pages, int *nr)
{
	ptb_leaf_t leaf = { .pudp = pudp, .pud = orig, .mask = PUD_MASK };
	unsigned int want = (end - addr) >> PAGE_SHIFT;
	unsigned int got;

	pages += *nr;
	got = ptb_gup_fast_leaf(leaf, addr, want, flags, pages);
	return ptb_ab_pages(PTB_AB_GUP_FAST, want, got, pages, nr);
}

/* Stands at the call of gup_fast_pte_range() while the walker is on. */
static ptb_ab_stand_in int ptebatch_gup_fast_pte_range(pmd_t pmd, pmd_t *pmdp, unsigned long addr,
						       unsigned long end, unsigned int flags,
						       struct page **pages, int *nr)
{
	if (ptb_ab_on(PTB_AB_GUP_FAST))
		return ptb_kernel_gup_fast_pte_range(pmd, pmdp, addr, end, flags, pages, nr);
	return gup_fast_pte_range(pmd, pmdp, addr, end, flags, pages, nr);
}

/* Stands at the call of gup_fast_pmd_leaf() while the walker is on. */
static ptb_ab_leaf_stand_in int
ptebatch_gup_fast_pmd_leaf(pmd_t orig, pmd_t *pmdp, unsigned long addr, unsigned long end,
			   unsigned int flags, struct page **pages, int *nr)
{
	/* A device's leaf is the dax walker's, and comes to it by way of the kernel's own. */
	if (ptb_ab_on(PTB_AB_GUP_FAST) && !pmd_devmap(orig))
		return ptb_kernel_gup_fast_pmd_leaf(orig, pmdp, addr, end, flags, pages, nr);
	return gup_fast_pmd_leaf(orig, pmdp, addr, end, flags, pages, nr);
}

/* Stands at the call of gup_fast_pud_leaf() while the walker is on. */
static ptb_ab_stand_in int ptebatch_gup_fast_pud_leaf(pud_t orig, pud_t *pudp, unsigned long addr,
						      unsigned long end, unsigned int flags,
						      struct page **pages, int *nr)
{
	/* A device's leaf is the dax walker's, and comes to it by way of the kernel's own. */
	if (ptb_ab_on(PTB_AB_GUP_FAST) && !pud_devmap(orig))
		return ptb_kernel_gup_fast_pud_leaf(orig, pudp, addr, end, flags, pages, nr);
	return gup_fast_pud_leaf(orig, pudp, addr, end, flags, pages, nr);
}

#endif
