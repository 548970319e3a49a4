/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What an entry can say, in words that no format owns: layouts and recordings speak these, each
 * format turns them into its own bits and says in FMT_ATTRS which of them it has.
 */
#ifndef PTB_USER_ATTR_H
#define PTB_USER_ATTR_H

#include "kernel.h"

#define A_WRITE BIT(0)
#define A_DIRTY BIT(1)
#define A_YOUNG BIT(2)
#define A_SOFT_DIRTY BIT(3)
#define A_UFFD_WP BIT(4)
#define A_SPECIAL BIT(5)
#define A_DEVMAP BIT(6)
#define A_PROTNONE BIT(7)
#define A_CONT BIT(8)	      /* the entry belongs to a block of FMT_CONT */
#define A_SHSTK BIT(9)	      /* x86: writable by the CPU's shadow stack alone */
#define A_SAVED_DIRTY BIT(10) /* x86: read-only, dirty kept in a software bit */
#define A_EXCLUSIVE BIT(11)   /* swap: the bit in the entry; present: the page's flag */
#define A_KERNEL BIT(12)      /* present, but not for user access */

/* What every format has. */
#define A_COMMON (A_WRITE | A_DIRTY | A_YOUNG | A_SPECIAL | A_PROTNONE | A_EXCLUSIVE | A_KERNEL)

/*
 * Swap types from here on are not swap; include/linux/swap.h, with migration, poison, device memory
 * and markers on.
 */
enum {
	SWP_MAX_FILES = 23,
	SWP_HWPOISON = SWP_MAX_FILES,
	SWP_MIGRATION_READ,
	SWP_MIGRATION_READ_EXCLUSIVE,
	SWP_MIGRATION_WRITE,
	SWP_DEVICE_WRITE,
	SWP_DEVICE_READ,
	SWP_DEVICE_EXCLUSIVE_WRITE,
	SWP_DEVICE_EXCLUSIVE_READ,
	SWP_PTE_MARKER,
};

#endif
