/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ppc64 with the radix MMU and 64K pages: tables of 32 entries, big-endian words.
 *
 * Bits: arch/powerpc/include/asm/book3s/64/pgtable.h. Geometry: radix-64k.h.
 */
#ifndef PTB_FMT_H
#define PTB_FMT_H

#include "word64be.h"

#include "../attr.h"
#include <ptebatch/defs.h>

#define FMT_NAME ppc64
#define PTB_PAGE_SHIFT 16
#define PTB_PMD_SHIFT 21
#define FMT_PUD_SHIFT 30
#define FMT_VA_BITS 47
#define FMT_CONT 1
#define FMT_ATTRS (A_COMMON | A_SOFT_DIRTY | A_DEVMAP)

typedef struct {
	struct fmt_word w;
} ptb_pte_t;

#define PPC_EXEC 0x00001ULL
#define PPC_WRITE 0x00002ULL
#define PPC_READ 0x00004ULL
#define PPC_PRIVILEGED 0x00008ULL
#define PPC_SWP_EXCLUSIVE 0x00020ULL
#define PPC_DIRTY 0x00080ULL
#define PPC_ACCESSED 0x00100ULL
#define PPC_SOFT_DIRTY 0x00200ULL
#define PPC_SPECIAL 0x00400ULL
#define PPC_DEVMAP 0x00800ULL
#define PPC_INVALID BIT_ULL(61) /* of a non-present entry: it is being changed, and there */
#define PPC_PTE BIT_ULL(62)
#define PPC_PRESENT BIT_ULL(63)

#define PPC_RPN_MASK 0x001fffffffff0000ULL

static inline u64 ppc64_val(ptb_pte_t pte)
{
	return word_val(pte.w);
}

static inline ptb_pte_t ppc64_mk(u64 val)
{
	return (ptb_pte_t){ word_mk(val) };
}
#define fmt_val ppc64_val
#define fmt_mk ppc64_mk

static inline ptb_pte_t ppc64_ptep_get(ptb_pte_t *ptep, const ptb_t flags)
{
	return (ptb_pte_t){ word_load(flags & PTB_LOCKLESS ? RAW_PTE_LOCKLESS : RAW_PTE,
				      &ptep->w) };
}
#define ptb_ptep_get ppc64_ptep_get

static inline unsigned long ppc64_pte_pfn(ptb_pte_t pte)
{
	return (ppc64_val(pte) & PPC_RPN_MASK) >> PTB_PAGE_SHIFT;
}
#define ptb_pte_pfn ppc64_pte_pfn

static inline ptb_pte_t ppc64_pte_advance(ptb_pte_t pte, unsigned int n)
{
	return ppc64_mk(ppc64_val(pte) + ((u64)n << PTB_PAGE_SHIFT));
}
#define ptb_pte_advance ppc64_pte_advance

static inline bool ppc64_pte_present(ptb_pte_t pte)
{
	u64 val = ppc64_val(pte);

	return (val & PPC_PTE) && (val & (PPC_PRESENT | PPC_INVALID));
}
#define ptb_pte_present ppc64_pte_present

static inline bool ppc64_pte_none(ptb_pte_t pte)
{
	return !ppc64_val(pte);
}
#define ptb_pte_none ppc64_pte_none

static inline bool ppc64_pte_write(ptb_pte_t pte)
{
	return ppc64_val(pte) & PPC_WRITE;
}
#define ptb_pte_write ppc64_pte_write

static inline bool ppc64_pte_young(ptb_pte_t pte)
{
	return ppc64_val(pte) & PPC_ACCESSED;
}
#define ptb_pte_young ppc64_pte_young

static inline bool ppc64_pte_dirty(ptb_pte_t pte)
{
	return ppc64_val(pte) & PPC_DIRTY;
}
#define ptb_pte_dirty ppc64_pte_dirty

static inline ptb_pte_t ppc64_pte_mkold(ptb_pte_t pte)
{
	return ppc64_mk(ppc64_val(pte) & ~PPC_ACCESSED);
}
#define ptb_pte_mkold ppc64_pte_mkold

static inline ptb_pte_t ppc64_pte_mkclean(ptb_pte_t pte)
{
	return ppc64_mk(ppc64_val(pte) & ~PPC_DIRTY);
}
#define ptb_pte_mkclean ppc64_pte_mkclean

static inline ptb_pte_t ppc64_pte_wrprotect(ptb_pte_t pte)
{
	return ppc64_mk(ppc64_val(pte) & ~PPC_WRITE);
}
#define ptb_pte_wrprotect ppc64_pte_wrprotect

static inline ptb_pte_t ppc64_pte_clear_soft_dirty(ptb_pte_t pte)
{
	return ppc64_mk(ppc64_val(pte) & ~PPC_SOFT_DIRTY);
}
#define ptb_pte_clear_soft_dirty ppc64_pte_clear_soft_dirty

static inline ptb_pte_t ppc64_pte_mkyoung(ptb_pte_t pte)
{
	return ppc64_mk(ppc64_val(pte) | PPC_ACCESSED);
}
#define ptb_pte_mkyoung ppc64_pte_mkyoung

static inline ptb_pte_t ppc64_pte_mkdirty(ptb_pte_t pte)
{
	return ppc64_mk(ppc64_val(pte) | PPC_DIRTY | PPC_SOFT_DIRTY);
}
#define ptb_pte_mkdirty ppc64_pte_mkdirty

static inline ptb_pte_t ppc64_pte_mkwrite(ptb_pte_t pte, struct vm_area_struct *vma)
{
	(void)vma;
	return ppc64_mk(ppc64_val(pte) | PPC_READ | PPC_WRITE);
}
#define ptb_pte_mkwrite ppc64_pte_mkwrite

static inline bool ppc64_pte_protnone(ptb_pte_t pte)
{
	u64 mask = PPC_PRESENT | PPC_PTE | PPC_READ | PPC_WRITE | PPC_EXEC;

	return (ppc64_val(pte) & mask) == (PPC_PRESENT | PPC_PTE);
}
#define ptb_pte_protnone ppc64_pte_protnone

static inline bool ppc64_pte_permitted(ptb_pte_t pte, bool write)
{
	u64 need = PPC_READ | (write ? PPC_WRITE : 0);

	return ppc64_pte_present(pte) && (ppc64_val(pte) & (need | PPC_PRIVILEGED)) == need;
}
#define ptb_pte_permitted ppc64_pte_permitted

static inline bool ppc64_pte_special(ptb_pte_t pte)
{
	return ppc64_val(pte) & PPC_SPECIAL;
}
#define ptb_pte_special ppc64_pte_special

static inline bool ppc64_pte_devmap(ptb_pte_t pte)
{
	return (ppc64_val(pte) & (PPC_DEVMAP | PPC_PTE)) == (PPC_DEVMAP | PPC_PTE);
}
#define ptb_pte_devmap ppc64_pte_devmap

/* Swap: PTE set, type in bits 0..4, offset where the frame would be */
static inline ptb_pte_t ppc64_swp_mk(unsigned int type, u64 offset, u32 attrs)
{
	u64 val = PPC_PTE | type | (offset << PTB_PAGE_SHIFT & PPC_RPN_MASK);

	val |= attrs & A_EXCLUSIVE ? PPC_SWP_EXCLUSIVE : 0;
	val |= attrs & A_SOFT_DIRTY ? PPC_SOFT_DIRTY : 0;
	return ppc64_mk(val);
}
#define fmt_swp_mk ppc64_swp_mk

static inline unsigned int ppc64_swp_type(ptb_pte_t pte)
{
	return ppc64_val(pte) & 31;
}
#define fmt_swp_type ppc64_swp_type

static inline u64 ppc64_swp_offset(ptb_pte_t pte)
{
	return (ppc64_val(pte) & PPC_RPN_MASK) >> PTB_PAGE_SHIFT;
}
#define fmt_swp_offset ppc64_swp_offset

static inline ptb_pte_t ppc64_pte_swap_next(ptb_pte_t pte)
{
	return ppc64_mk(ppc64_val(pte) + (1ULL << PTB_PAGE_SHIFT));
}
#define ptb_pte_swap_next ppc64_pte_swap_next

static inline ptb_pte_t ppc64_pte_mk(unsigned long pfn, u32 attrs)
{
	u64 val = PPC_PRESENT | PPC_PTE | ((u64)pfn << PTB_PAGE_SHIFT & PPC_RPN_MASK);

	val |= attrs & A_PROTNONE ? PPC_PRIVILEGED : PPC_READ;
	val |= attrs & A_KERNEL ? PPC_PRIVILEGED : 0;
	val |= (attrs & A_WRITE) && !(attrs & A_PROTNONE) ? PPC_WRITE : 0;
	val |= attrs & A_YOUNG ? PPC_ACCESSED : 0;
	val |= attrs & A_DIRTY ? PPC_DIRTY : 0;
	val |= attrs & A_SOFT_DIRTY ? PPC_SOFT_DIRTY : 0;
	val |= attrs & A_SPECIAL ? PPC_SPECIAL : 0;
	val |= attrs & A_DEVMAP ? PPC_DEVMAP : 0;
	return ppc64_mk(val);
}
#define fmt_pte_mk ppc64_pte_mk

#endif
