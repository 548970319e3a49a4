/* SPDX-License-Identifier: GPL-2.0-only */
/* Binds walk/mincore.h to mm/mincore.c, at whose end it is included. */
#ifndef PTEBATCH_KERNEL_MINCORE_H
#define PTEBATCH_KERNEL_MINCORE_H

#include "ab.h"
#include "ops.h"

static __always_inline bool kernel_pte_none_mostly(pte_t pte)
{
	return pte_none_mostly(pte);
}
#define ptb_pte_none_mostly kernel_pte_none_mostly

static __always_inline bool kernel_pte_is_swap(pte_t pte)
{
	return !non_swap_entry(pte_to_swp_entry(pte));
}
#define ptb_pte_is_swap kernel_pte_is_swap

static __always_inline void kernel_mincore_unmapped(unsigned long addr, unsigned long end,
						    struct vm_area_struct *vma, unsigned char *vec)
{
	__mincore_unmapped_range(addr, end, vma, vec);
}
#define ptb_mincore_unmapped kernel_mincore_unmapped

static __always_inline unsigned char kernel_mincore_swap(pte_t pte)
{
	return ptb_compat_mincore_swap(pte_to_swp_entry(pte));
}
#define ptb_mincore_swap kernel_mincore_swap

#include <ptebatch/walk/mincore.h>

/* For mincore_pte_range(), as .pmd_entry of its walk. */
static ptb_ab_ours_in_walk int ptb_kernel_mincore_pte_range(pmd_t *pmd, unsigned long addr,
							    unsigned long end, struct mm_walk *walk)
{
	unsigned int nr = (end - addr) >> PAGE_SHIFT;
	unsigned char *vec = walk->private;
	spinlock_t *ptl;
	pte_t *ptep;

	ptl = pmd_trans_huge_lock(pmd, walk->vma);
	if (ptl) {
		/* For sparse, which cannot see that it is held now. */
		__acquire(ptl);
		memset(vec, 1, nr);
		spin_unlock(ptl);
	} else {
		ptep = pte_offset_map_lock(walk->mm, pmd, addr, &ptl);
		if (!ptep) {
			/* The table has gone: have the walk look again. */
			walk->action = ACTION_AGAIN;
			if (ptb_ab_counts())
				ptb_ab_done(PTB_AB_MINCORE, 0, nr);
			return 0;
		}
		ptb_compat_mapped();
		ptb_mincore_ptes(walk->vma, ptep, addr, nr, vec);
		pte_unmap_unlock(ptep, ptl);
	}

	walk->private = vec + nr;
	if (ptb_ab_counts())
		ptb_ab_done_bytes(PTB_AB_MINCORE, vec, nr);
	cond_resched();
	return 0;
}

/* Stands for mincore_pte_range() in mincore_walk_ops: called by pointer, so never inlined. */
static int __maybe_unused ptebatch_mincore_pte_range(pmd_t *pmd, unsigned long addr,
						     unsigned long end, struct mm_walk *walk)
{
	if (ptb_ab_on(PTB_AB_MINCORE))
		return ptb_kernel_mincore_pte_range(pmd, addr, end, walk);
	return mincore_pte_range(pmd, addr, end, walk);
}

#endif
