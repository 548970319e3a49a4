/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * vfio: pin, account and unpin the memory of a DMA mapping by runs of contiguous frames.
 *
 * The backend gives the kernel's own structures, of which these members are used:
 *
 *	struct vfio_dma { iova, vaddr, lock_cap, pfn_list }
 *		pfn_list: ptb_vpfn_root_t, pages that others have pinned
 *
 *	struct vfio_batch { pages, size, offset }
 *		pinned but not yet handed out: pages[offset] to pages[offset + size - 1]
 *
 * Addresses in bytes, lengths in pages of PTB_PAGE_SHIFT.
 */
#ifndef PTEBATCH_WALK_VFIO_H
#define PTEBATCH_WALK_VFIO_H

#include "../contig.h"
#include "../vpfn.h"

struct vfio_dma;
struct vfio_batch;

/**
 * ptb_vfio_get_pfns() - the pin engine: pin pages, or look up frames that have none
 * @dma: the mapping
 * @vaddr: first address
 * @npage: pages wanted, at least 1
 * @pfn: first frame, on success
 * @batch: empty; what it can hold bounds the pages pinned
 *
 * Either pins pages into @batch, setting its size and offset; or finds at most @npage consecutive
 * frames without usable struct pages from *@pfn on, pins nothing and leaves the batch empty.
 *
 * Needed by: vfio. Context: may sleep. Mirrors: vaddr_get_pfns() of 6.18.
 * Return: frames, or an error. 0 is treated as -EFAULT.
 */
static inline long ptb_vfio_get_pfns(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
				     unsigned long *pfn, struct vfio_batch *batch);

/**
 * ptb_vfio_reserved() - is a frame without struct page, or reserved: neither charged nor unpinned
 * @pfn: a frame
 *
 * One answer for all frames of a folio. Needed by: vfio. Mirrors: is_invalid_reserved_pfn().
 */
static inline bool ptb_vfio_reserved(unsigned long pfn);

/**
 * ptb_vfio_page_reserved() - the same for a frame that has a struct page
 * @page: pinned
 *
 * Needed by: vfio. Mirrors: PageReserved().
 */
static inline bool ptb_vfio_page_reserved(struct page *page);

/**
 * ptb_vfio_unpin_pfns() - unpin a range of pinned frames, dirtying them if the device could write
 * @dma: the mapping
 * @pfn: first frame
 * @npage: frames, none reserved, of any folios
 *
 * Needed by: vfio. Context: may sleep. Mirrors: unpin_user_page_range_dirty_lock().
 */
static inline void
ptb_vfio_unpin_pfns(struct vfio_dma *dma, unsigned long pfn, unsigned long npage);

/**
 * ptb_vfio_locked() - pages the process has accounted
 * @dma: the mapping
 *
 * Needed by: vfio. Mirrors: current->mm->locked_vm.
 */
static inline u64 ptb_vfio_locked(struct vfio_dma *dma);

/**
 * ptb_vfio_lock_acct() - account pages
 * @dma: the mapping
 * @npage: pages to add, negative to take off, or 0
 * @async: the process may be another, or gone
 *
 * Needed by: vfio. Context: may sleep. Mirrors: vfio_lock_acct().
 * Return: 0 or an error, and then nothing is accounted.
 */
static inline int ptb_vfio_lock_acct(struct vfio_dma *dma, long npage, bool async);

/**
 * ptb_vfio_over_limit() - tell that RLIMIT_MEMLOCK was met
 * @limit: pages
 *
 * Needed by: vfio. Mirrors: the warning in vfio_pin_pages_remote().
 */
static inline void ptb_vfio_over_limit(unsigned long limit);

/**
 * ptb_vfio_by_page() - has the administrator asked for single pages
 *
 * Needed by: vfio. Mirrors: the module parameter disable_hugepages.
 */
static inline bool ptb_vfio_by_page(void);

/**
 * ptb_vfio_relax() - between two calls of the pin engine: let others run
 *
 * Needed by: vfio. Mirrors: cond_resched().
 */
static inline void ptb_vfio_relax(void);

/* Of what comes next: of @pfn alone if the batch is empty. */
static inline bool ptb_vfio_head_reserved(struct vfio_batch *batch, unsigned long pfn)
{
	return batch->size ? ptb_vfio_page_reserved(batch->pages[batch->offset])
			   : ptb_vfio_reserved(pfn);
}

/* Pages at the head of the batch whose frames follow each other, all of them reserved or none. */
static inline unsigned long
ptb_vfio_batch_run(struct vfio_batch *batch, unsigned long max, bool rsvd)
{
	struct page **pages = batch->pages + batch->offset;
	unsigned long n = batch->size, i;

	/*
	 * Not what the batch holds but what the caller asked for: it may ask for less than an
	 * earlier call pinned.
	 */
	if (n > max)
		n = max;
	n = ptb_contig_pages(pages, n);
	/* Of the first folio the caller knows. */
	for (i = 0; i < n; i += ptb_folio_left(ptb_page_folio(pages[i]), pages[i]))
		if (i && ptb_vfio_page_reserved(pages[i]) != rsvd)
			return i;
	return n;
}

/* Frames from @pfn on that are all reserved, or all not. Asked once per folio. */
static inline unsigned long ptb_vfio_same_kind(unsigned long pfn, unsigned long max, bool rsvd)
{
	unsigned long n = 0;

	if (max == 1)
		return 1;
	do {
		n = rsvd ? n + 1 : ptb_folio_end(ptb_page_folio(ptb_pfn_page(pfn + n))) - pfn;
	} while (n < max && ptb_vfio_reserved(pfn + n) == rsvd);
	return n < max ? n : max;
}

/**
 * ptb_vfio_batch_unpin() - give back what a batch still holds
 * @batch: left empty
 * @dma: the mapping
 *
 * Mirrors: vfio_batch_unpin().
 */
static inline void ptb_vfio_batch_unpin(struct vfio_batch *batch, struct vfio_dma *dma)
{
	while (batch->size) {
		struct page **pages = batch->pages + batch->offset;
		unsigned long run = ptb_contig_folio(pages, batch->size);

		if (!ptb_vfio_page_reserved(pages[0]))
			ptb_vfio_unpin_pfns(dma, ptb_page_pfn(pages[0]), run);
		batch->offset += run;
		batch->size -= run;
	}
}

/**
 * ptb_vfio_pin() - pin and account the contiguous frames at the head of a range
 * @dma: the mapping
 * @vaddr: first address
 * @npage: pages wanted, at least 1
 * @pfn_base: first frame, on success
 * @limit: RLIMIT_MEMLOCK in pages
 * @batch: pages left from the call before, for @vaddr on; what is left now is for the next
 *
 * Reserved frames are neither charged nor unpinned, pages that others have pinned are not charged
 * again; the rest is charged in one step, or nothing is.
 *
 * Context: process context, may sleep. Mirrors: vfio_pin_pages_remote().
 * Return: frames, 1 to
 * @npage; or an error, and then nothing is pinned, charged or left in @batch.
 */
static inline long ptb_vfio_pin(struct vfio_dma *dma, unsigned long vaddr, long npage,
				unsigned long *pfn_base, unsigned long limit,
				struct vfio_batch *batch)
{
	u64 iova = (u64)(vaddr - dma->vaddr) + dma->iova;
	long pinned = 0, acct = 0, ret;
	bool rsvd = false;

	while (pinned < npage) {
		unsigned long pfn, run;
		s64 charge;

		if (batch->size) {
			pfn = ptb_page_pfn(batch->pages[batch->offset]);
			run = 0;
		} else {
			ptb_vfio_relax();
			ret = ptb_vfio_get_pfns(dma,
						vaddr + ((unsigned long)pinned << PTB_PAGE_SHIFT),
						npage - pinned, &pfn, batch);
			if (ret <= 0) {
				ret = ret ? ret : -EFAULT;
				goto undo;
			}
			run = batch->size ? 0 : ret;
		}

		/*
		 * The IOMMU is told one range of frames, and undo must know which of them are
		 * pinned.
		 */
		if (!pinned) {
			*pfn_base = pfn;
			rsvd = ptb_vfio_head_reserved(batch, pfn);
		} else if (pfn != *pfn_base + pinned ||
			   ptb_vfio_head_reserved(batch, pfn) != rsvd) {
			break;
		}

		if (batch->size)
			run = ptb_vfio_batch_run(batch, npage - pinned, rsvd);
		if (!rsvd) {
			charge = ptb_vpfn_charge(&dma->pfn_list,
						 iova + ((u64)pinned << PTB_PAGE_SHIFT), run,
						 ptb_vfio_locked(dma) + acct, limit, dma->lock_cap);
			if (charge < 0) {
				ptb_vfio_over_limit(limit);
				ret = charge;
				goto undo;
			}
			acct += charge;
		}

		pinned += run;
		if (batch->size) {
			batch->offset += run;
			batch->size -= run;
		}
		if (!batch->size && unlikely(ptb_vfio_by_page()))
			break;
	}

	ret = ptb_vfio_lock_acct(dma, acct, false);
	if (!ret)
		return pinned;
undo:
	if (pinned && !rsvd)
		ptb_vfio_unpin_pfns(dma, *pfn_base, pinned);
	ptb_vfio_batch_unpin(batch, dma);
	return ret;
}

/**
 * ptb_vfio_unpin() - unpin a range of frames and take it off the account
 * @dma: the mapping
 * @iova: bus address of the first
 * @pfn: first frame
 * @npage: frames, of any folios, reserved ones among them
 * @do_accounting: take them off here; else the caller does, from the return value
 *
 * A page that somebody else has pinned as well stays on the account.
 *
 * Context: process context, may sleep. Mirrors: vfio_unpin_pages_remote().
 * Return: pages unpinned.
 */
static inline long
ptb_vfio_unpin(struct vfio_dma *dma, u64 iova, unsigned long pfn, long npage, bool do_accounting)
{
	long unlocked = 0, locked = 0, done, run;

	for (done = 0; done < npage; done += run) {
		bool rsvd = ptb_vfio_reserved(pfn + done);
		u64 first = iova + ((u64)done << PTB_PAGE_SHIFT);

		run = ptb_vfio_same_kind(pfn + done, npage - done, rsvd);
		if (rsvd)
			continue;
		ptb_vfio_unpin_pfns(dma, pfn + done, run);
		unlocked += run;
		locked += ptb_vpfn_count(&dma->pfn_list, first,
					 first + (((u64)run << PTB_PAGE_SHIFT) - 1));
	}

	if (do_accounting)
		ptb_vfio_lock_acct(dma, locked - unlocked, true);
	return unlocked;
}

#endif
