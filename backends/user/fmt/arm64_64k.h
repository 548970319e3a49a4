/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * arm64 with the 64K granule and 52-bit physical addresses: tables of 8192 entries, blocks of 32,
 * and the top four bits of an address below the rest of it.
 */
#ifndef PTB_FMT_H
#define PTB_FMT_H

#include "word64.h"

#define FMT_NAME arm64_64k
#define PTB_PAGE_SHIFT 16
#define PTB_PMD_SHIFT 29
#define FMT_PUD_SHIFT 42
#define FMT_VA_BITS 48
#ifndef FMT_CONT /* fewer, to explore */
#define FMT_CONT 32
#endif
#define FMT_ATTRS (A_COMMON | A_UFFD_WP | A_DEVMAP | A_CONT)

#define ARM64_ADDR_LOW 0x0000ffffffff0000ULL
#define ARM64_ADDR_HIGH 0x000000000000f000ULL
#define ARM64_ADDR_MASK (ARM64_ADDR_LOW | ARM64_ADDR_HIGH)
#define ARM64_ADDR_HIGH_SHIFT 36

#include "arm64_common.h"

#endif
