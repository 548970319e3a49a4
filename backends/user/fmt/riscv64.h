/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * riscv64 with Sv48: frames from bit 10 on. An Svnapot entry writes its size into the low bits of
 * its frame number, and all entries of its block are the same word: nothing can be added to one.
 *
 * Bits: arch/riscv/include/asm/pgtable-bits.h, pgtable-64.h.
 */
#ifndef PTB_FMT_H
#define PTB_FMT_H

#include "word64.h"

#include "../attr.h"
#include <ptebatch/defs.h>

#define FMT_NAME riscv64
#define PTB_PAGE_SHIFT 12
#define PTB_PMD_SHIFT 21
#define FMT_PUD_SHIFT 30
#define FMT_VA_BITS 47
#define FMT_CONT 1
/* User tables hold user entries only: nothing says that one is the kernel's. */
#define FMT_ATTRS ((A_COMMON & ~A_KERNEL) | A_DEVMAP)

typedef struct {
	struct fmt_word w;
} ptb_pte_t;

#define RISCV_PRESENT BIT_ULL(0)
#define RISCV_READ BIT_ULL(1)
#define RISCV_WRITE BIT_ULL(2)
#define RISCV_USER BIT_ULL(4)
#define RISCV_PROT_NONE BIT_ULL(5) /* of a non-present entry; else global */
#define RISCV_ACCESSED BIT_ULL(6)
#define RISCV_DIRTY BIT_ULL(7)
#define RISCV_SPECIAL BIT_ULL(8)
#define RISCV_DEVMAP BIT_ULL(9)
#define RISCV_NAPOT BIT_ULL(63)
#define RISCV_SWP_EXCLUSIVE RISCV_ACCESSED

#define RISCV_PFN_SHIFT 10
#define RISCV_PFN_MASK 0x003ffffffffffc00ULL

static inline u64 riscv64_val(ptb_pte_t pte)
{
	return word_val(pte.w);
}

static inline ptb_pte_t riscv64_mk(u64 val)
{
	return (ptb_pte_t){ word_mk(val) };
}
#define fmt_val riscv64_val
#define fmt_mk riscv64_mk

static inline ptb_pte_t riscv64_ptep_get(ptb_pte_t *ptep, const ptb_t flags)
{
	return (ptb_pte_t){ word_load(flags & PTB_LOCKLESS ? RAW_PTE_LOCKLESS : RAW_PTE,
				      &ptep->w) };
}
#define ptb_ptep_get riscv64_ptep_get

/* The lowest set bit of a napot frame number is the size, not the frame. */
static inline unsigned long riscv64_pte_pfn(ptb_pte_t pte)
{
	u64 val = riscv64_val(pte), pfn = (val & RISCV_PFN_MASK) >> RISCV_PFN_SHIFT;

	return val & RISCV_NAPOT ? pfn & (pfn - 1) : pfn;
}
#define ptb_pte_pfn riscv64_pte_pfn

/*
 * A napot entry has no next one to be compared with: what is built here never equals one, so that
 * it is a run of its own.
 */
static inline ptb_pte_t riscv64_pte_advance(ptb_pte_t pte, unsigned int n)
{
	u64 pfn = riscv64_pte_pfn(pte) + n;
	u64 rest = riscv64_val(pte) & ~(RISCV_PFN_MASK | RISCV_NAPOT);

	return riscv64_mk(rest | (pfn << RISCV_PFN_SHIFT & RISCV_PFN_MASK));
}
#define ptb_pte_advance riscv64_pte_advance

static inline bool riscv64_pte_present(ptb_pte_t pte)
{
	return riscv64_val(pte) & (RISCV_PRESENT | RISCV_PROT_NONE);
}
#define ptb_pte_present riscv64_pte_present

static inline bool riscv64_pte_none(ptb_pte_t pte)
{
	return !riscv64_val(pte);
}
#define ptb_pte_none riscv64_pte_none

static inline bool riscv64_pte_write(ptb_pte_t pte)
{
	return riscv64_val(pte) & RISCV_WRITE;
}
#define ptb_pte_write riscv64_pte_write

static inline bool riscv64_pte_young(ptb_pte_t pte)
{
	return riscv64_val(pte) & RISCV_ACCESSED;
}
#define ptb_pte_young riscv64_pte_young

static inline bool riscv64_pte_dirty(ptb_pte_t pte)
{
	return riscv64_val(pte) & RISCV_DIRTY;
}
#define ptb_pte_dirty riscv64_pte_dirty

static inline ptb_pte_t riscv64_pte_mkold(ptb_pte_t pte)
{
	return riscv64_mk(riscv64_val(pte) & ~RISCV_ACCESSED);
}
#define ptb_pte_mkold riscv64_pte_mkold

static inline ptb_pte_t riscv64_pte_mkclean(ptb_pte_t pte)
{
	return riscv64_mk(riscv64_val(pte) & ~RISCV_DIRTY);
}
#define ptb_pte_mkclean riscv64_pte_mkclean

static inline ptb_pte_t riscv64_pte_wrprotect(ptb_pte_t pte)
{
	return riscv64_mk(riscv64_val(pte) & ~RISCV_WRITE);
}
#define ptb_pte_wrprotect riscv64_pte_wrprotect

static inline ptb_pte_t riscv64_pte_mkyoung(ptb_pte_t pte)
{
	return riscv64_mk(riscv64_val(pte) | RISCV_ACCESSED);
}
#define ptb_pte_mkyoung riscv64_pte_mkyoung

static inline ptb_pte_t riscv64_pte_mkdirty(ptb_pte_t pte)
{
	return riscv64_mk(riscv64_val(pte) | RISCV_DIRTY);
}
#define ptb_pte_mkdirty riscv64_pte_mkdirty

static inline ptb_pte_t riscv64_pte_mkwrite(ptb_pte_t pte, struct vm_area_struct *vma)
{
	(void)vma;
	return riscv64_mk(riscv64_val(pte) | RISCV_WRITE);
}
#define ptb_pte_mkwrite riscv64_pte_mkwrite

static inline bool riscv64_pte_protnone(ptb_pte_t pte)
{
	return (riscv64_val(pte) & (RISCV_PRESENT | RISCV_PROT_NONE)) == RISCV_PROT_NONE;
}
#define ptb_pte_protnone riscv64_pte_protnone

/* The generic pte_access_permitted(): PROT_NONE passes, which is why it is asked apart. */
static inline bool riscv64_pte_permitted(ptb_pte_t pte, bool write)
{
	return riscv64_pte_present(pte) && (!write || riscv64_pte_write(pte));
}
#define ptb_pte_permitted riscv64_pte_permitted

static inline bool riscv64_pte_special(ptb_pte_t pte)
{
	return riscv64_val(pte) & RISCV_SPECIAL;
}
#define ptb_pte_special riscv64_pte_special

static inline bool riscv64_pte_devmap(ptb_pte_t pte)
{
	return riscv64_val(pte) & RISCV_DEVMAP;
}
#define ptb_pte_devmap riscv64_pte_devmap

/* Swap: type in bits 7..11, offset from bit 12 on; bits 0 and 5 stay clear */
static inline ptb_pte_t riscv64_swp_mk(unsigned int type, u64 offset, u32 attrs)
{
	return riscv64_mk((u64)type << 7 | offset << 12 |
			  (attrs & A_EXCLUSIVE ? RISCV_SWP_EXCLUSIVE : 0));
}
#define fmt_swp_mk riscv64_swp_mk

static inline unsigned int riscv64_swp_type(ptb_pte_t pte)
{
	return riscv64_val(pte) >> 7 & 31;
}
#define fmt_swp_type riscv64_swp_type

static inline u64 riscv64_swp_offset(ptb_pte_t pte)
{
	return riscv64_val(pte) >> 12;
}
#define fmt_swp_offset riscv64_swp_offset

static inline ptb_pte_t riscv64_pte_swap_next(ptb_pte_t pte)
{
	return riscv64_mk(riscv64_val(pte) + (1ULL << 12));
}
#define ptb_pte_swap_next riscv64_pte_swap_next

static inline ptb_pte_t riscv64_pte_mk(unsigned long pfn, u32 attrs)
{
	u64 val = (u64)pfn << RISCV_PFN_SHIFT | RISCV_READ;

	val |= attrs & A_PROTNONE ? RISCV_PROT_NONE : RISCV_PRESENT;
	val |= attrs & A_PROTNONE ? 0 : RISCV_USER;
	val |= attrs & A_WRITE ? RISCV_WRITE : 0;
	val |= attrs & A_YOUNG ? RISCV_ACCESSED : 0;
	val |= attrs & A_DIRTY ? RISCV_DIRTY : 0;
	val |= attrs & A_SPECIAL ? RISCV_SPECIAL : 0;
	val |= attrs & A_DEVMAP ? RISCV_DEVMAP : 0;
	return riscv64_mk(val);
}
#define fmt_pte_mk riscv64_pte_mk

#endif
