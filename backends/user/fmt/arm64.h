/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * arm64 with the 4K granule and 48-bit addresses: blocks of 16 entries ("contpte") of which any may
 * hold the accessed and dirty bits of all.
 *
 * Bits: arch/arm64/include/asm/pgtable-hwdef.h, pgtable-prot.h. Blocks: arch/arm64/mm/contpte.c.
 */
#ifndef PTB_FMT_H
#define PTB_FMT_H

#include "word64.h"

#define FMT_NAME arm64
#define PTB_PAGE_SHIFT 12
#define PTB_PMD_SHIFT 21
#define FMT_PUD_SHIFT 30
#define FMT_VA_BITS 48
#ifndef FMT_CONT /* fewer, to explore */
#define FMT_CONT 16
#endif
#define FMT_ATTRS (A_COMMON | A_UFFD_WP | A_DEVMAP | A_CONT)

#define ARM64_ADDR_MASK 0x0000fffffffff000ULL

#include "arm64_common.h"

#endif
