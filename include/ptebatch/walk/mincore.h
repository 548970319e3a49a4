/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* mincore: which pages of one table's range are in memory. */
#ifndef PTEBATCH_WALK_MINCORE_H
#define PTEBATCH_WALK_MINCORE_H

#include "../scan.h"

/**
 * ptb_pte_none_mostly() - is nothing mapped, markers included
 * @pte: an entry
 *
 * Needed by: mincore. Mirrors: pte_none_mostly().
 */
static inline bool ptb_pte_none_mostly(ptb_pte_t pte);

/**
 * ptb_pte_is_swap() - does the entry name a swap slot
 * @pte: an entry that is neither present nor none
 *
 * Migration, hwpoison, device and marker entries do not. Needed by: mincore. Mirrors:
 * !non_swap_entry().
 */
static inline bool ptb_pte_is_swap(ptb_pte_t pte);

/**
 * ptb_mincore_unmapped() - answer from the page cache
 * @addr: first address
 * @end: end of the range, all of it unmapped
 * @vma: the mapping
 * @vec: one byte a page: 1 if the cache holds it up to date, else 0
 *
 * Needed by: mincore. Context: the table lock. Mirrors: __mincore_unmapped_range().
 */
static inline void ptb_mincore_unmapped(unsigned long addr, unsigned long end,
					struct vm_area_struct *vma, unsigned char *vec);

/**
 * ptb_mincore_swap() - answer from the swap cache
 * @pte: a swap entry
 *
 * The lock keeps the device: swapoff has to take the entry out of the table first. Needed by:
 * mincore. Context: the table lock. Mirrors: mincore_page() on the entry's swap address space,
 * mincore_swap().
 * Return: 1 or 0.
 */
static inline unsigned char ptb_mincore_swap(ptb_pte_t pte);

/**
 * ptb_mincore_ptes() - fill the vector for what one table maps
 * @vma: the mapping
 * @ptep: entry of @addr, in a table that is locked
 * @addr: first address, page aligned
 * @nr: entries asked for, none behind the table, at least 1
 * @vec: room for @nr bytes, one a page: 1 in memory, 0 not
 *
 * Mirrors: mincore_pte_range() below its locks.
 */
static inline void ptb_mincore_ptes(struct vm_area_struct *vma, ptb_pte_t *ptep, unsigned long addr,
				    unsigned int nr, unsigned char *vec)
{
	const unsigned char *const end = vec + nr;

	for (; vec < end; ptep++, vec++, addr += 1UL << PTB_PAGE_SHIFT) {
		ptb_pte_t pte = ptb_ptep_get(ptep, PTB_FOR_LOOK);

		if (ptb_pte_none_mostly(pte)) {
			ptb_mincore_unmapped(addr, addr + (1UL << PTB_PAGE_SHIFT), vma, vec);
		} else if (ptb_pte_present(pte)) {
			unsigned int more;

			*vec = 1;
			if (!ptb_line_begins(ptep))
				continue;
			more = ptb_scan_whole(ptep, pte, end - vec) - 1;
			if (!more)
				continue;
			memset(vec + 1, 1, more);
			ptep += more;
			vec += more;
			addr += (unsigned long)more << PTB_PAGE_SHIFT;
		} else if (ptb_pte_is_swap(pte)) {
			*vec = ptb_mincore_swap(pte);
		} else {
			/* Migrating or poisoned: the page is there, only not to be had. */
			*vec = 1;
		}
	}
}

#endif
