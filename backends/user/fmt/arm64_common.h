/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the arm64 granules share. The including format has chosen geometry, FMT_CONT and how an
 * address sits in an entry.
 */
#ifndef PTB_FMT_ARM64_COMMON_H
#define PTB_FMT_ARM64_COMMON_H

#include "../attr.h"
#include <ptebatch/defs.h>

typedef struct {
	struct fmt_word w;
} ptb_pte_t;

#define ARM64_VALID BIT_ULL(0)
#define ARM64_TYPE_PAGE 3ULL
#define ARM64_USER BIT_ULL(6)
#define ARM64_RDONLY BIT_ULL(7)
#define ARM64_SHARED (3ULL << 8)
#define ARM64_AF BIT_ULL(10)
#define ARM64_NG BIT_ULL(11)
#define ARM64_WRITE BIT_ULL(51)
#define ARM64_CONT BIT_ULL(52)
#define ARM64_PXN BIT_ULL(53)
#define ARM64_UXN BIT_ULL(54)
#define ARM64_DIRTY BIT_ULL(55)
#define ARM64_SPECIAL BIT_ULL(56)
#define ARM64_DEVMAP BIT_ULL(57)
#define ARM64_UFFD_WP BIT_ULL(58)
#define ARM64_SWP_EXCLUSIVE BIT_ULL(2)
#define ARM64_SWP_UFFD_WP BIT_ULL(3)
/* Not valid for the hardware, but an entry all the same: only when VALID is clear. */
#define ARM64_PRESENT_INVALID ARM64_NG

static inline u64 arm64_val(ptb_pte_t pte)
{
	return word_val(pte.w);
}

static inline ptb_pte_t arm64_mk(u64 val)
{
	return (ptb_pte_t){ word_mk(val) };
}
#define fmt_val arm64_val
#define fmt_mk arm64_mk

static inline ptb_pte_t arm64_set(ptb_pte_t pte, u64 bits)
{
	return arm64_mk(arm64_val(pte) | bits);
}

static inline ptb_pte_t arm64_clear(ptb_pte_t pte, u64 bits)
{
	return arm64_mk(arm64_val(pte) & ~bits);
}

/* Where the granule is wide, the top of the address stands below the rest of it. */
static inline u64 arm64_addr(u64 val)
{
#ifdef ARM64_ADDR_HIGH
	return (val & ARM64_ADDR_LOW) | (val & ARM64_ADDR_HIGH) << ARM64_ADDR_HIGH_SHIFT;
#else
	return val & ARM64_ADDR_MASK;
#endif
}

static inline u64 arm64_addr_bits(u64 addr)
{
#ifdef ARM64_ADDR_HIGH
	return (addr | addr >> ARM64_ADDR_HIGH_SHIFT) & ARM64_ADDR_MASK;
#else
	return addr & ARM64_ADDR_MASK;
#endif
}

static inline unsigned long arm64_pte_pfn(ptb_pte_t pte)
{
	return arm64_addr(arm64_val(pte)) >> PTB_PAGE_SHIFT;
}
#define ptb_pte_pfn arm64_pte_pfn

/* Rebuilt, not added to: wider physical addresses have their top bits elsewhere in the entry. */
static inline ptb_pte_t arm64_pte_advance(ptb_pte_t pte, unsigned int n)
{
	u64 addr = ((u64)arm64_pte_pfn(pte) + n) << PTB_PAGE_SHIFT;

	return arm64_mk((arm64_val(pte) & ~ARM64_ADDR_MASK) | arm64_addr_bits(addr));
}
#define ptb_pte_advance arm64_pte_advance

static inline bool arm64_pte_present(ptb_pte_t pte)
{
	return arm64_val(pte) & (ARM64_VALID | ARM64_PRESENT_INVALID);
}
#define ptb_pte_present arm64_pte_present

static inline bool arm64_pte_none(ptb_pte_t pte)
{
	return !arm64_val(pte);
}
#define ptb_pte_none arm64_pte_none

static inline bool arm64_pte_write(ptb_pte_t pte)
{
	return arm64_val(pte) & ARM64_WRITE;
}
#define ptb_pte_write arm64_pte_write

static inline bool arm64_pte_young(ptb_pte_t pte)
{
	return arm64_val(pte) & ARM64_AF;
}
#define ptb_pte_young arm64_pte_young

/* The hardware marks a writable entry dirty by clearing RDONLY. */
static inline bool arm64_hw_dirty(ptb_pte_t pte)
{
	return (arm64_val(pte) & (ARM64_WRITE | ARM64_RDONLY)) == ARM64_WRITE;
}

static inline bool arm64_pte_dirty(ptb_pte_t pte)
{
	return (arm64_val(pte) & ARM64_DIRTY) || arm64_hw_dirty(pte);
}
#define ptb_pte_dirty arm64_pte_dirty

static inline ptb_pte_t arm64_pte_mkold(ptb_pte_t pte)
{
	return arm64_clear(pte, ARM64_AF);
}
#define ptb_pte_mkold arm64_pte_mkold

static inline ptb_pte_t arm64_pte_mkclean(ptb_pte_t pte)
{
	return arm64_set(arm64_clear(pte, ARM64_DIRTY), ARM64_RDONLY);
}
#define ptb_pte_mkclean arm64_pte_mkclean

static inline ptb_pte_t arm64_pte_wrprotect(ptb_pte_t pte)
{
	if (arm64_hw_dirty(pte))
		pte = arm64_set(pte, ARM64_DIRTY);
	return arm64_set(arm64_clear(pte, ARM64_WRITE), ARM64_RDONLY);
}
#define ptb_pte_wrprotect arm64_pte_wrprotect

static inline ptb_pte_t arm64_pte_mkyoung(ptb_pte_t pte)
{
	return arm64_set(pte, ARM64_AF);
}
#define ptb_pte_mkyoung arm64_pte_mkyoung

static inline ptb_pte_t arm64_pte_mkdirty(ptb_pte_t pte)
{
	pte = arm64_set(pte, ARM64_DIRTY);
	return arm64_pte_write(pte) ? arm64_clear(pte, ARM64_RDONLY) : pte;
}
#define ptb_pte_mkdirty arm64_pte_mkdirty

static inline ptb_pte_t arm64_pte_mkwrite(ptb_pte_t pte, struct vm_area_struct *vma)
{
	(void)vma;
	pte = arm64_set(pte, ARM64_WRITE);
	return arm64_val(pte) & ARM64_DIRTY ? arm64_clear(pte, ARM64_RDONLY) : pte;
}
#define ptb_pte_mkwrite arm64_pte_mkwrite

static inline bool arm64_valid_cont(ptb_pte_t pte)
{
	return (arm64_val(pte) & (ARM64_VALID | ARM64_CONT)) == (ARM64_VALID | ARM64_CONT);
}

static inline unsigned int arm64_block_index(const ptb_pte_t *ptep)
{
	return ((uintptr_t)ptep / sizeof(*ptep)) % FMT_CONT;
}

static inline unsigned int arm64_pte_hint(ptb_pte_t *ptep, ptb_pte_t pte)
{
	return arm64_valid_cont(pte) ? FMT_CONT - arm64_block_index(ptep) : 1;
}
#define ptb_pte_hint arm64_pte_hint

static inline ptb_pte_t arm64_load(ptb_pte_t *ptep, bool lockless)
{
	return (ptb_pte_t){ word_load(lockless ? RAW_PTE_LOCKLESS : RAW_PTE, &ptep->w) };
}

static inline ptb_pte_t arm64_gather(ptb_pte_t into, ptb_pte_t from)
{
	if (arm64_pte_dirty(from))
		into = arm64_pte_mkdirty(into);
	if (arm64_pte_young(from))
		into = arm64_pte_mkyoung(into);
	return into;
}

/* contpte_ptep_get(): the lock keeps the block as it is */
static inline ptb_pte_t arm64_block_get(ptb_pte_t *ptep, ptb_pte_t pte)
{
	ptb_pte_t *first = ptep - arm64_block_index(ptep);
	unsigned int i;

	for (i = 0; i < FMT_CONT; i++)
		pte = arm64_gather(pte, arm64_load(first + i, false));
	return pte;
}

static inline u64 arm64_prot(ptb_pte_t pte)
{
	return arm64_val(arm64_pte_mkold(arm64_pte_mkclean(pte))) & ~ARM64_ADDR_MASK;
}

/*
 * One attempt at contpte_ptep_get_lockless(): false if the block changed under the walk and is not
 * one block any more.
 */
static inline bool arm64_block_try_lockless(ptb_pte_t *ptep, ptb_pte_t *pte)
{
	unsigned int index = arm64_block_index(ptep), i;
	unsigned long pfn = arm64_pte_pfn(*pte) - index;
	u64 prot = arm64_prot(*pte);

	for (i = 0; i < FMT_CONT; i++) {
		ptb_pte_t other = arm64_load(ptep - index + i, true);

		if (!arm64_valid_cont(other) || arm64_pte_pfn(other) != pfn + i ||
		    arm64_prot(other) != prot)
			return false;
		*pte = arm64_gather(*pte, other);
	}
	return true;
}

static inline ptb_pte_t arm64_block_get_lockless(ptb_pte_t *ptep)
{
	ptb_pte_t pte;

	do {
		pte = arm64_load(ptep, true);
		if (!arm64_valid_cont(pte))
			return pte;
	} while (!arm64_block_try_lockless(ptep, &pte));
	return pte;
}

/* Young and dirty alone need the whole block; who asks for neither is served by one load. */
static inline ptb_pte_t arm64_ptep_get(ptb_pte_t *ptep, const ptb_t flags)
{
	bool lockless = flags & PTB_LOCKLESS;
	ptb_pte_t pte;

	if (!(flags & PTB_YOUNG_DIRTY))
		return arm64_load(ptep, lockless);
	if (lockless)
		return arm64_block_get_lockless(ptep);
	pte = arm64_load(ptep, false);
	return arm64_valid_cont(pte) ? arm64_block_get(ptep, pte) : pte;
}
#define ptb_ptep_get arm64_ptep_get

static inline bool arm64_pte_protnone(ptb_pte_t pte)
{
	u64 mask = ARM64_VALID | ARM64_PRESENT_INVALID | ARM64_USER | ARM64_UXN;

	return (arm64_val(pte) & mask) == (ARM64_PRESENT_INVALID | ARM64_UXN);
}
#define ptb_pte_protnone arm64_pte_protnone

static inline bool arm64_pte_permitted(ptb_pte_t pte, bool write)
{
	u64 need = ARM64_VALID | ARM64_USER | (write ? ARM64_WRITE : 0);

	return (arm64_val(pte) & need) == need;
}
#define ptb_pte_permitted arm64_pte_permitted

static inline bool arm64_pte_special(ptb_pte_t pte)
{
	return arm64_val(pte) & ARM64_SPECIAL;
}
#define ptb_pte_special arm64_pte_special

static inline bool arm64_pte_devmap(ptb_pte_t pte)
{
	return arm64_val(pte) & ARM64_DEVMAP;
}
#define ptb_pte_devmap arm64_pte_devmap

/* Swap: type in bits 6..10, offset from bit 12 on */
static inline ptb_pte_t arm64_swp_mk(unsigned int type, u64 offset, u32 attrs)
{
	u64 val = (u64)type << 6 | offset << 12;

	if (attrs & A_EXCLUSIVE)
		val |= ARM64_SWP_EXCLUSIVE;
	if (attrs & A_UFFD_WP)
		val |= ARM64_SWP_UFFD_WP;
	return arm64_mk(val);
}
#define fmt_swp_mk arm64_swp_mk

static inline unsigned int arm64_swp_type(ptb_pte_t pte)
{
	return arm64_val(pte) >> 6 & 31;
}
#define fmt_swp_type arm64_swp_type

static inline u64 arm64_swp_offset(ptb_pte_t pte)
{
	return arm64_val(pte) >> 12 & (BIT_ULL(50) - 1);
}
#define fmt_swp_offset arm64_swp_offset

static inline ptb_pte_t arm64_pte_swap_next(ptb_pte_t pte)
{
	u64 low = arm64_val(pte) & (BIT_ULL(12) - 1);

	return arm64_mk(low | (arm64_swp_offset(pte) + 1) << 12);
}
#define ptb_pte_swap_next arm64_pte_swap_next

static inline ptb_pte_t arm64_pte_mk(unsigned long pfn, u32 attrs)
{
	u64 addr = (u64)pfn << PTB_PAGE_SHIFT;
	u64 val = arm64_addr_bits(addr) | ARM64_TYPE_PAGE | ARM64_SHARED | ARM64_NG | ARM64_PXN |
		  ARM64_UXN | ARM64_RDONLY;
	ptb_pte_t pte;

	val |= attrs & A_KERNEL ? 0 : ARM64_USER;
	val |= attrs & A_WRITE ? ARM64_WRITE : 0;
	val |= attrs & A_YOUNG ? ARM64_AF : 0;
	val |= attrs & A_UFFD_WP ? ARM64_UFFD_WP : 0;
	val |= attrs & A_SPECIAL ? ARM64_SPECIAL : 0;
	val |= attrs & A_DEVMAP ? ARM64_DEVMAP : 0;
	val |= attrs & A_CONT ? ARM64_CONT : 0;
	pte = arm64_mk(val);
	if (attrs & A_DIRTY)
		pte = arm64_pte_mkdirty(pte);
	if (attrs & A_PROTNONE)
		pte = arm64_clear(pte, ARM64_VALID | ARM64_USER);
	return pte;
}
#define fmt_pte_mk arm64_pte_mk

#endif
