/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* x86-64: one word, soft-dirty, userfaultfd, device memory, shadow stacks. */
#ifndef PTB_FMT_H
#define PTB_FMT_H

#include "word64.h"

#define FMT_NAME x86_64
#define PTB_PAGE_SHIFT 12
#define PTB_PMD_SHIFT 21
#define FMT_PUD_SHIFT 30
#define FMT_VA_BITS 47
#define FMT_CONT 1
#define FMT_ATTRS (A_COMMON | A_SOFT_DIRTY | A_UFFD_WP | A_DEVMAP | A_SHSTK | A_SAVED_DIRTY)

#define X86_UFFD_WP BIT_ULL(10)
#define X86_SOFT_DIRTY BIT_ULL(11)
#define X86_DEVMAP BIT_ULL(57)
#define X86_SAVED_DIRTY BIT_ULL(58)
#define X86_SWP_SOFT_DIRTY BIT_ULL(1)
#define X86_SWP_UFFD_WP BIT_ULL(2)
#define X86_SWP_EXCLUSIVE BIT_ULL(3)
#define X86_SHSTK 1

#include "x86.h"

#endif
