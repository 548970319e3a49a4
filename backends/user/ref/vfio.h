/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* VFIO type1, one page at a time: vfio_pin_pages_remote(), vfio_unpin_pages_remote(). */
#ifndef PTB_USER_REF_VFIO_H
#define PTB_USER_REF_VFIO_H

#include "ref.h"

static inline bool ref_vfio_charged(struct vfio_dma *dma, u64 iova)
{
	struct vfio_pfn key = { .iova = iova };

	return RB_FIND(vpfn_tree, &dma->pfn_list, &key);
}

static inline void ref_vfio_put(struct vfio_dma *dma, unsigned long pfn)
{
	if (!ptb_vfio_reserved(pfn))
		ptb_vfio_unpin_pfns(dma, pfn, 1);
}

static inline void ref_vfio_batch_unpin(struct vfio_batch *batch, struct vfio_dma *dma)
{
	for (; batch->size; batch->offset++, batch->size--)
		ref_vfio_put(dma, ptb_page_pfn(batch->pages[batch->offset]));
}

static inline long ref_vfio_pin(struct vfio_dma *dma, unsigned long vaddr, long npage,
				unsigned long *pfn_base, unsigned long limit,
				struct vfio_batch *batch)
{
	u64 iova = (u64)(vaddr - dma->vaddr) + dma->iova;
	long pinned = 0, acct = 0, frames = 0, ret = 0;
	unsigned long pfn = 0;
	bool rsvd = false;

	for (; pinned < npage; pinned++, iova += 1UL << PTB_PAGE_SHIFT) {
		if (!batch->size && !frames) {
			if (pinned && ptb_vfio_by_page())
				break;
			ptb_vfio_relax();
			ret = ptb_vfio_get_pfns(dma,
						vaddr + ((unsigned long)pinned << PTB_PAGE_SHIFT),
						npage - pinned, &pfn, batch);
			if (ret <= 0) {
				ret = ret ? ret : -EFAULT;
				goto undo;
			}
			frames = batch->size ? 0 : ret;
		}
		if (batch->size)
			pfn = ptb_page_pfn(batch->pages[batch->offset]);
		if (!pinned) {
			*pfn_base = pfn;
			rsvd = ptb_vfio_reserved(pfn);
		}
		if (pfn != *pfn_base + pinned || rsvd != ptb_vfio_reserved(pfn))
			break;
		if (!rsvd && !ref_vfio_charged(dma, iova)) {
			if (!dma->lock_cap && ptb_vfio_locked(dma) + acct + 1 > limit) {
				ptb_vfio_over_limit(limit);
				ret = -ENOMEM;
				goto undo;
			}
			acct++;
		}
		if (batch->size) {
			batch->offset++;
			batch->size--;
		} else {
			frames--;
			pfn++;
		}
	}
	ret = ptb_vfio_lock_acct(dma, acct, false);
	if (!ret)
		return pinned;
undo:
	while (pinned && !rsvd)
		ref_vfio_put(dma, *pfn_base + --pinned);
	ref_vfio_batch_unpin(batch, dma);
	return ret;
}

static inline long
ref_vfio_unpin(struct vfio_dma *dma, u64 iova, unsigned long pfn, long npage, bool do_accounting)
{
	long unlocked = 0, locked = 0, i;

	for (i = 0; i < npage; i++, iova += 1UL << PTB_PAGE_SHIFT) {
		if (ptb_vfio_reserved(pfn + i))
			continue;
		ptb_vfio_unpin_pfns(dma, pfn + i, 1);
		unlocked++;
		if (ref_vfio_charged(dma, iova))
			locked++;
	}
	if (do_accounting)
		ptb_vfio_lock_acct(dma, locked - unlocked, true);
	return unlocked;
}

#endif
