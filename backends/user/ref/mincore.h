/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* mincore, one entry at a time: mincore_pte_range(). */
#ifndef PTB_USER_REF_MINCORE_H
#define PTB_USER_REF_MINCORE_H

#include "ref.h"

static inline void ref_mincore_ptes(struct vm_area_struct *vma, ptb_pte_t *ptep, unsigned long addr,
				    unsigned int nr, unsigned char *vec)
{
	unsigned int i;

	for (i = 0; i < nr; i++, ptep++, addr += 1UL << PTB_PAGE_SHIFT) {
		ptb_pte_t pte = ptb_ptep_get(ptep, PTB_FOR_LOOK);

		if (ptb_pte_none_mostly(pte))
			ptb_mincore_unmapped(addr, addr + (1UL << PTB_PAGE_SHIFT), vma, vec + i);
		else if (ptb_pte_present(pte))
			vec[i] = 1;
		else if (ptb_pte_is_swap(pte))
			vec[i] = ptb_mincore_swap(pte);
		else
			vec[i] = 1;
	}
}

#endif
