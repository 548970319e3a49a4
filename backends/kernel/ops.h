/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ops by kernel name: each one line. include/ptebatch/ops.h has the contract.
 *
 * Inlined without asking gcc, which in a file as large as mm/gup.c leaves page_folio() out of line.
 *
 * Files in mm/ include "internal.h" before this. Outside mm/ there are no swap entries and no pins:
 * the ops for them are declared, nothing more.
 */
#ifndef PTEBATCH_KERNEL_OPS_H
#define PTEBATCH_KERNEL_OPS_H

#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/string.h>
#include <linux/vmstat.h>

#define PTB_BACKEND kernel
#define PTB_WARN_ON(cond) VM_WARN_ON_ONCE(cond)
#define PTB_PAGE_SHIFT PAGE_SHIFT
#define PTB_PMD_SHIFT PMD_SHIFT

typedef pte_t ptb_pte_t;
typedef pmd_t ptb_pmd_t;

#include <ptebatch/defs.h>

#include "compat.h"

/* ---- entries ---- */

static __always_inline pte_t kernel_ptep_get(pte_t *ptep, const ptb_t flags)
{
	return ptb_compat_ptep_get(ptep, flags & PTB_LOCKLESS, flags & PTB_YOUNG_DIRTY);
}
#define ptb_ptep_get kernel_ptep_get

/* Not pte_same(): arm leaves nG out, and ppc's hash MMU its own bits. */
static __always_inline bool kernel_pte_same(pte_t a, pte_t b)
{
	return pte_val(a) == pte_val(b);
}
#define ptb_pte_same kernel_pte_same

static __always_inline unsigned long kernel_pte_pfn(pte_t pte)
{
	return pte_pfn(pte);
}
#define ptb_pte_pfn kernel_pte_pfn

static __always_inline pte_t kernel_pte_advance(pte_t pte, unsigned int n)
{
	return pte_advance_pfn(pte, n);
}
#define ptb_pte_advance kernel_pte_advance

static __always_inline unsigned int kernel_pte_hint(pte_t *ptep, pte_t pte)
{
	return pte_batch_hint(ptep, pte);
}
#define ptb_pte_hint kernel_pte_hint

static __always_inline bool kernel_pte_present(pte_t pte)
{
	return pte_present(pte);
}
#define ptb_pte_present kernel_pte_present

static __always_inline bool kernel_pte_none(pte_t pte)
{
	return pte_none(pte);
}
#define ptb_pte_none kernel_pte_none

static __always_inline bool kernel_pte_write(pte_t pte)
{
	return pte_write(pte);
}
#define ptb_pte_write kernel_pte_write

static __always_inline bool kernel_pte_young(pte_t pte)
{
	return pte_young(pte);
}
#define ptb_pte_young kernel_pte_young

static __always_inline bool kernel_pte_dirty(pte_t pte)
{
	return pte_dirty(pte);
}
#define ptb_pte_dirty kernel_pte_dirty

static __always_inline pte_t kernel_pte_mkold(pte_t pte)
{
	return pte_mkold(pte);
}
#define ptb_pte_mkold kernel_pte_mkold

static __always_inline pte_t kernel_pte_mkclean(pte_t pte)
{
	return pte_mkclean(pte);
}
#define ptb_pte_mkclean kernel_pte_mkclean

static __always_inline pte_t kernel_pte_wrprotect(pte_t pte)
{
	return pte_wrprotect(pte);
}
#define ptb_pte_wrprotect kernel_pte_wrprotect

static __always_inline pte_t kernel_pte_clear_soft_dirty(pte_t pte)
{
	return pte_clear_soft_dirty(pte);
}
#define ptb_pte_clear_soft_dirty kernel_pte_clear_soft_dirty

static __always_inline pte_t kernel_pte_mkwrite(pte_t pte, struct vm_area_struct *vma)
{
	return pte_mkwrite(pte, vma);
}
#define ptb_pte_mkwrite kernel_pte_mkwrite

static __always_inline pte_t kernel_pte_mkyoung(pte_t pte)
{
	return pte_mkyoung(pte);
}
#define ptb_pte_mkyoung kernel_pte_mkyoung

static __always_inline pte_t kernel_pte_mkdirty(pte_t pte)
{
	return pte_mkdirty(pte);
}
#define ptb_pte_mkdirty kernel_pte_mkdirty

static __always_inline pte_t kernel_pte_swap_next(pte_t pte)
{
	return ptb_compat_next_swp_offset(pte);
}
#define ptb_pte_swap_next kernel_pte_swap_next

static __always_inline bool
kernel_line_same(pte_t *ptep, pte_t first, unsigned long nr, const ptb_t flags)
{
	return ptb_compat_line_same(ptep, first, nr, flags);
}
#define ptb_line_same kernel_line_same

static __always_inline bool kernel_line_present(pte_t *ptep)
{
	return ptb_compat_line_present(ptep);
}
#define ptb_line_present kernel_line_present

/* ---- pages and folios ---- */

static __always_inline struct folio *kernel_page_folio(struct page *page)
{
	return page_folio(page);
}
#define ptb_page_folio kernel_page_folio

static __always_inline struct page *kernel_page_nth(struct page *page, unsigned long n)
{
	return nth_page(page, n);
}
#define ptb_page_nth kernel_page_nth

static __always_inline unsigned long kernel_page_pfn(const struct page *page)
{
	return page_to_pfn(page);
}
#define ptb_page_pfn kernel_page_pfn

static __always_inline struct page *kernel_pfn_page(unsigned long pfn)
{
	return pfn_to_page(pfn);
}
#define ptb_pfn_page kernel_pfn_page

static __always_inline unsigned long kernel_folio_nr_pages(struct folio *folio)
{
	return folio_nr_pages(folio);
}
#define ptb_folio_nr_pages kernel_folio_nr_pages

/* ---- references ---- */

static __always_inline int kernel_folio_ref_count(struct folio *folio)
{
	return folio_ref_count(folio);
}
#define ptb_folio_ref_count kernel_folio_ref_count

static __always_inline bool kernel_folio_try_ref(struct folio *folio, int refs)
{
	return folio_ref_try_add(folio, refs);
}
#define ptb_folio_try_ref kernel_folio_try_ref

static __always_inline void kernel_folio_ref_add(struct folio *folio, int refs)
{
	folio_ref_add(folio, refs);
}
#define ptb_folio_ref_add kernel_folio_ref_add

static __always_inline void kernel_folio_put_refs(struct folio *folio, int refs)
{
	ptb_compat_folio_put_refs(folio, refs);
}
#define ptb_folio_put_refs kernel_folio_put_refs

static __always_inline void kernel_folio_pincount_add(struct folio *folio, int pins)
{
	atomic_add(pins, &folio->_pincount);
}
#define ptb_folio_pincount_add kernel_folio_pincount_add

static __always_inline bool kernel_folio_has_pincount(struct folio *folio)
{
	return folio_has_pincount(folio);
}
#define ptb_folio_has_pincount kernel_folio_has_pincount

static __always_inline bool kernel_page_is_zero(const struct page *page)
{
	return is_zero_page(page);
}
#define ptb_page_is_zero kernel_page_is_zero

static __always_inline bool kernel_folio_longterm_pinnable(struct folio *folio)
{
	return folio_is_longterm_pinnable(folio);
}
#define ptb_folio_longterm_pinnable kernel_folio_longterm_pinnable

static __always_inline bool kernel_page_is_p2pdma(struct page *page)
{
	return is_pci_p2pdma_page(page);
}
#define ptb_page_is_p2pdma kernel_page_is_p2pdma

static __always_inline void kernel_folio_stat_pins(struct folio *folio, int n)
{
	node_stat_mod_folio(folio, n < 0 ? NR_FOLL_PIN_RELEASED : NR_FOLL_PIN_ACQUIRED, abs(n));
}
#define ptb_folio_stat_pins kernel_folio_stat_pins

static __always_inline void kernel_mb_after_pin(void)
{
	smp_mb__after_atomic(); /* ptb_grab_first() says with what it pairs. */
}
#define ptb_mb_after_pin kernel_mb_after_pin

/* ---- may a read-only pin see later writes: unsharing ---- */

static __always_inline void kernel_rmb(void)
{
	smp_rmb(); /* ptb_unshared() says with what it pairs. */
}
#define ptb_rmb kernel_rmb

static __always_inline bool kernel_folio_test_anon(struct folio *folio)
{
	return folio_test_anon(folio);
}
#define ptb_folio_test_anon kernel_folio_test_anon

static __always_inline bool kernel_folio_test_hugetlb(struct folio *folio)
{
	return folio_test_hugetlb(folio);
}
#define ptb_folio_test_hugetlb kernel_folio_test_hugetlb

static __always_inline bool kernel_page_anon_exclusive(struct page *page)
{
	return PageAnonExclusive(page);
}
#define ptb_page_anon_exclusive kernel_page_anon_exclusive

static __always_inline bool kernel_vma_is_cow(struct vm_area_struct *vma)
{
	return is_cow_mapping(vma->vm_flags);
}
#define ptb_vma_is_cow kernel_vma_is_cow

/* ---- contiguity ---- */

static __always_inline bool kernel_page_same_section(const struct page *a, const struct page *b)
{
	return ptb_compat_page_section(a) == ptb_compat_page_section(b);
}
#define ptb_page_same_section kernel_page_same_section

#endif
