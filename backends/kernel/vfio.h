/* SPDX-License-Identifier: GPL-2.0-only */
/* Binds walk/vfio.h to drivers/vfio/vfio_iommu_type1.c, at whose end it is included. */
#ifndef PTEBATCH_KERNEL_VFIO_H
#define PTEBATCH_KERNEL_VFIO_H

#include "ab.h"
#include "vpfn.h"

static __always_inline long kernel_vfio_get_pfns(struct vfio_dma *dma, unsigned long vaddr,
						 unsigned long npage, unsigned long *pfn,
						 struct vfio_batch *batch)
{
	return ptb_compat_vaddr_get_pfns(dma, vaddr, npage, pfn, batch);
}
#define ptb_vfio_get_pfns kernel_vfio_get_pfns

static __always_inline bool kernel_vfio_reserved(unsigned long pfn)
{
	return is_invalid_reserved_pfn(pfn);
}
#define ptb_vfio_reserved kernel_vfio_reserved

static __always_inline bool kernel_vfio_page_reserved(struct page *page)
{
	return PageReserved(page);
}
#define ptb_vfio_page_reserved kernel_vfio_page_reserved

/* A range is dearer for one page. */
static inline void kernel_vfio_unpin(struct page *page, unsigned long npage, bool dirty)
{
	if (npage == 1)
		unpin_user_pages_dirty_lock(&page, 1, dirty);
	else
		unpin_user_page_range_dirty_lock(page, npage, dirty);
}

static __always_inline void
kernel_vfio_unpin_pfns(struct vfio_dma *dma, unsigned long pfn, unsigned long npage)
{
	kernel_vfio_unpin(pfn_to_page(pfn), npage, dma->prot & IOMMU_WRITE);
}
#define ptb_vfio_unpin_pfns kernel_vfio_unpin_pfns

static __always_inline u64 kernel_vfio_locked(struct vfio_dma *dma)
{
	return current->mm->locked_vm;
}
#define ptb_vfio_locked kernel_vfio_locked

static __always_inline int kernel_vfio_lock_acct(struct vfio_dma *dma, long npage, bool async)
{
	return vfio_lock_acct(dma, npage, async);
}
#define ptb_vfio_lock_acct kernel_vfio_lock_acct

static __always_inline void kernel_vfio_over_limit(unsigned long limit)
{
	pr_warn("%s: RLIMIT_MEMLOCK (%lu) exceeded\n", __func__, limit << PAGE_SHIFT);
}
#define ptb_vfio_over_limit kernel_vfio_over_limit

static __always_inline bool kernel_vfio_by_page(void)
{
	return disable_hugepages;
}
#define ptb_vfio_by_page kernel_vfio_by_page

static __always_inline void kernel_vfio_relax(void)
{
	cond_resched();
}
#define ptb_vfio_relax kernel_vfio_relax

#include <ptebatch/walk/vfio.h>

/* For vfio_pin_pages_remote(). */
static ptb_ab_ours long
ptb_kernel_vfio_pin_pages_remote(struct vfio_dma *dma, unsigned long vaddr,
				 ptb_compat_npage_t npage, unsigned long *pfn_base,
				 unsigned long limit, struct vfio_batch *batch)
{
	long ret;

	/* Only ever on behalf of a process, and its memory is what is pinned. */
	if (!current->mm)
		return -ENODEV;
	ret = ptb_vfio_pin(dma, vaddr, npage, pfn_base, limit, batch);

	if (!ptb_ab_counts())
		return ret;
	/* To return fewer is no bailing out: there the frames stop following each other. */
	if (ret > 0)
		ptb_ab_done_run(PTB_AB_VFIO, ret);
	else
		ptb_ab_done(PTB_AB_VFIO, 0, npage);
	return ret;
}

/* For vfio_unpin_pages_remote(). */
static ptb_ab_ours long
ptb_kernel_vfio_unpin_pages_remote(struct vfio_dma *dma, dma_addr_t iova, unsigned long pfn,
				   ptb_compat_npage_t npage, bool do_accounting)
{
	if (ptb_ab_counts())
		ptb_ab_done(PTB_AB_VFIO, npage, 0);
	return ptb_vfio_unpin(dma, iova, pfn, npage, do_accounting);
}

/* Stands at the calls of vfio_pin_pages_remote() while the walker is on. */
static ptb_ab_stand_in long
ptebatch_vfio_pin_pages_remote(struct vfio_dma *dma, unsigned long vaddr, ptb_compat_npage_t npage,
			       unsigned long *pfn_base, unsigned long limit,
			       struct vfio_batch *batch)
{
	if (ptb_ab_on(PTB_AB_VFIO))
		return ptb_kernel_vfio_pin_pages_remote(dma, vaddr, npage, pfn_base, limit, batch);
	return vfio_pin_pages_remote(dma, vaddr, npage, pfn_base, limit, batch);
}

/* Stands at the calls of vfio_unpin_pages_remote() while the walker is on. */
static ptb_ab_stand_in long
ptebatch_vfio_unpin_pages_remote(struct vfio_dma *dma, dma_addr_t iova, unsigned long pfn,
				 ptb_compat_npage_t npage, bool do_accounting)
{
	if (ptb_ab_on(PTB_AB_VFIO))
		return ptb_kernel_vfio_unpin_pages_remote(dma, iova, pfn, npage, do_accounting);
	return vfio_unpin_pages_remote(dma, iova, pfn, npage, do_accounting);
}

#endif
