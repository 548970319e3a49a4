/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * 32-bit x86 with PAE: entries of two words. No soft-dirty, userfaultfd or device memory, which are
 * 64-bit only; saved-dirty is where x86-64 has uffd-wp. Shadow stacks are 64-bit only as well, so
 * the CPU never makes a dirty read-only entry here.
 */
#ifndef PTB_FMT_H
#define PTB_FMT_H

#include "word32x2.h"

#define FMT_NAME x86_pae
#define PTB_PAGE_SHIFT 12
#define PTB_PMD_SHIFT 21
#define FMT_PUD_SHIFT 30
#define FMT_VA_BITS 32
#define FMT_VA_END 0xc0000000UL /* the rest is the kernel's */
#define FMT_CONT 1
#define FMT_PLAIN_VPFN_TREE
#define FMT_ATTRS (A_COMMON | A_SAVED_DIRTY)

#define X86_UFFD_WP 0ULL
#define X86_SOFT_DIRTY 0ULL
#define X86_DEVMAP 0ULL
#define X86_SAVED_DIRTY BIT_ULL(10)
#define X86_SWP_SOFT_DIRTY 0ULL
#define X86_SWP_UFFD_WP 0ULL
#define X86_SWP_EXCLUSIVE BIT_ULL(7)
#define X86_SHSTK 0

#include "x86.h"

#endif
