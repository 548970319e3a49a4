/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the x86 formats share. The including format has chosen its words, its SAVED_DIRTY,
 * SOFT_DIRTY, UFFD_WP, DEVMAP and SWP_EXCLUSIVE bits (0 where there is none), and its geometry.
 *
 * Bits: arch/x86/include/asm/pgtable_types.h. Inversion: pgtable-invert.h. Dirty and write:
 * pgtable.h.
 */
#ifndef PTB_FMT_X86_H
#define PTB_FMT_X86_H

#include "../attr.h"
#include <ptebatch/defs.h>

typedef struct {
	struct fmt_word w;
} ptb_pte_t;

#define X86_PRESENT BIT_ULL(0)
#define X86_RW BIT_ULL(1)
#define X86_USER BIT_ULL(2)
#define X86_ACCESSED BIT_ULL(5)
#define X86_DIRTY BIT_ULL(6)
#define X86_PROTNONE BIT_ULL(8) /* of a non-present entry; else global */
#define X86_SPECIAL BIT_ULL(9)
#define X86_NX BIT_ULL(63)

#define X86_PFN_MASK 0x000ffffffffff000ULL
#define X86_PAGE_SHIFT 12

/* pte_val() and __pte(), which a Xen PV guest has its own of. */
#ifndef x86_word_val
#define x86_word_val word_val
#define x86_word_mk word_mk
#endif

static inline u64 x86_val(ptb_pte_t pte)
{
	return x86_word_val(pte.w);
}

static inline ptb_pte_t x86_mk(u64 val)
{
	return (ptb_pte_t){ x86_word_mk(val) };
}
#define fmt_val x86_val
#define fmt_mk x86_mk

static inline ptb_pte_t x86_ptep_get(ptb_pte_t *ptep, const ptb_t flags)
{
	if (flags & PTB_LOCKLESS)
		return (ptb_pte_t){ word_load_lockless(RAW_PTE_LOCKLESS, &ptep->w) };
	return (ptb_pte_t){ word_load(RAW_PTE, &ptep->w) };
}
#define ptb_ptep_get x86_ptep_get

/* L1TF: the frame of an entry that is there but not present is stored inverted. None stays none. */
static inline bool x86_inverted(u64 val)
{
	return val && !(val & X86_PRESENT);
}

static inline unsigned long x86_pte_pfn(ptb_pte_t pte)
{
	u64 val = x86_val(pte);

	return ((x86_inverted(val) ? ~val : val) & X86_PFN_MASK) >> X86_PAGE_SHIFT;
}
#define ptb_pte_pfn x86_pte_pfn

static inline ptb_pte_t x86_pte_advance(ptb_pte_t pte, unsigned int n)
{
	u64 val = x86_val(pte), step = (u64)n << X86_PAGE_SHIFT;

	return x86_mk(x86_inverted(val) ? val - step : val + step);
}
#define ptb_pte_advance x86_pte_advance

static inline bool x86_pte_present(ptb_pte_t pte)
{
	return x86_val(pte) & (X86_PRESENT | X86_PROTNONE);
}
#define ptb_pte_present x86_pte_present

/*
 * Some CPUs set accessed and dirty in an entry they were not to use (the KNL erratum): such an
 * entry is still empty.
 */
static inline bool x86_pte_none(ptb_pte_t pte)
{
	return !(x86_val(pte) & ~(X86_ACCESSED | X86_DIRTY));
}
#define ptb_pte_none x86_pte_none

/* Dirty without the write bit is a shadow stack, which the CPU may write. */
static inline bool x86_pte_write(ptb_pte_t pte)
{
	u64 val = x86_val(pte);

	return (val & X86_RW) || (X86_SHSTK && (val & X86_DIRTY));
}
#define ptb_pte_write x86_pte_write

static inline bool x86_pte_young(ptb_pte_t pte)
{
	return x86_val(pte) & X86_ACCESSED;
}
#define ptb_pte_young x86_pte_young

static inline bool x86_pte_dirty(ptb_pte_t pte)
{
	return x86_val(pte) & (X86_DIRTY | X86_SAVED_DIRTY);
}
#define ptb_pte_dirty x86_pte_dirty

static inline ptb_pte_t x86_pte_mkold(ptb_pte_t pte)
{
	return x86_mk(x86_val(pte) & ~X86_ACCESSED);
}
#define ptb_pte_mkold x86_pte_mkold

static inline ptb_pte_t x86_pte_mkclean(ptb_pte_t pte)
{
	return x86_mk(x86_val(pte) & ~(X86_DIRTY | X86_SAVED_DIRTY));
}
#define ptb_pte_mkclean x86_pte_mkclean

/* Dirty must not stay beside a clear write bit: that would be a shadow stack. */
static inline u64 x86_save_dirty(u64 val)
{
	if ((val & (X86_RW | X86_DIRTY)) == X86_DIRTY)
		val = (val & ~X86_DIRTY) | X86_SAVED_DIRTY;
	return val;
}

static inline ptb_pte_t x86_pte_wrprotect(ptb_pte_t pte)
{
	u64 val = x86_val(pte) & ~X86_RW;

	if (val & X86_DIRTY)
		val = (val & ~X86_DIRTY) | X86_SAVED_DIRTY;
	return x86_mk(val);
}
#define ptb_pte_wrprotect x86_pte_wrprotect

static inline ptb_pte_t x86_pte_clear_soft_dirty(ptb_pte_t pte)
{
	return x86_mk(x86_val(pte) & ~X86_SOFT_DIRTY);
}
#define ptb_pte_clear_soft_dirty x86_pte_clear_soft_dirty

static inline ptb_pte_t x86_pte_mkyoung(ptb_pte_t pte)
{
	return x86_mk(x86_val(pte) | X86_ACCESSED);
}
#define ptb_pte_mkyoung x86_pte_mkyoung

static inline ptb_pte_t x86_pte_mkdirty(ptb_pte_t pte)
{
	return x86_mk(x86_save_dirty(x86_val(pte) | X86_DIRTY | X86_SOFT_DIRTY));
}
#define ptb_pte_mkdirty x86_pte_mkdirty

static inline ptb_pte_t x86_pte_mkwrite(ptb_pte_t pte, struct vm_area_struct *vma)
{
	u64 val = x86_val(pte) | X86_RW;

	if (X86_SHSTK && (vma->vm_flags & VM_SHADOW_STACK))
		return x86_mk((val & ~X86_RW) | X86_DIRTY);
	if (val & X86_SAVED_DIRTY)
		val = (val & ~X86_SAVED_DIRTY) | X86_DIRTY;
	return x86_mk(val);
}
#define ptb_pte_mkwrite x86_pte_mkwrite

static inline bool x86_pte_protnone(ptb_pte_t pte)
{
	return (x86_val(pte) & (X86_PROTNONE | X86_PRESENT)) == X86_PROTNONE;
}
#define ptb_pte_protnone x86_pte_protnone

static inline bool x86_pte_permitted(ptb_pte_t pte, bool write)
{
	u64 need = X86_PRESENT | X86_USER | (write ? X86_RW : 0);

	return (x86_val(pte) & need) == need;
}
#define ptb_pte_permitted x86_pte_permitted

static inline bool x86_pte_special(ptb_pte_t pte)
{
	return x86_val(pte) & X86_SPECIAL;
}
#define ptb_pte_special x86_pte_special

static inline bool x86_pte_devmap(ptb_pte_t pte)
{
	return x86_val(pte) & X86_DEVMAP;
}
#define ptb_pte_devmap x86_pte_devmap

/*
 * Swap: type in bits 59..63, offset inverted from bit 9 on; pgtable_64.h, and pgtable-3level.h for
 * two words.
 */
static inline ptb_pte_t x86_swp_mk(unsigned int type, u64 offset, u32 attrs)
{
	u64 val = (~offset << 14 >> 5) | (u64)type << 59;

	if (attrs & A_EXCLUSIVE)
		val |= X86_SWP_EXCLUSIVE;
	if (attrs & A_SOFT_DIRTY)
		val |= X86_SWP_SOFT_DIRTY;
	if (attrs & A_UFFD_WP)
		val |= X86_SWP_UFFD_WP;
	return x86_mk(val);
}
#define fmt_swp_mk x86_swp_mk

static inline unsigned int x86_swp_type(ptb_pte_t pte)
{
	return x86_val(pte) >> 59;
}
#define fmt_swp_type x86_swp_type

static inline u64 x86_swp_offset(ptb_pte_t pte)
{
	return ~x86_val(pte) << 5 >> 14;
}
#define fmt_swp_offset x86_swp_offset

static inline ptb_pte_t x86_pte_swap_next(ptb_pte_t pte)
{
	u64 low = x86_val(pte) & (BIT_ULL(9) - 1);

	return x86_mk(x86_val(x86_swp_mk(x86_swp_type(pte), x86_swp_offset(pte) + 1, 0)) | low);
}
#define ptb_pte_swap_next x86_pte_swap_next

static inline ptb_pte_t x86_pte_mk(unsigned long pfn, u32 attrs)
{
	u64 val = (u64)pfn << X86_PAGE_SHIFT | X86_NX;

	val |= attrs & A_PROTNONE ? X86_PROTNONE : X86_PRESENT;
	val |= attrs & (A_PROTNONE | A_KERNEL) ? 0 : X86_USER;
	val |= attrs & A_WRITE ? X86_RW : 0;
	val |= attrs & A_YOUNG ? X86_ACCESSED : 0;
	val |= attrs & A_DIRTY ? X86_DIRTY : 0;
	val |= attrs & A_SAVED_DIRTY ? X86_SAVED_DIRTY : 0;
	val |= attrs & A_SOFT_DIRTY ? X86_SOFT_DIRTY : 0;
	val |= attrs & A_UFFD_WP ? X86_UFFD_WP : 0;
	val |= attrs & A_SPECIAL ? X86_SPECIAL : 0;
	val |= attrs & A_DEVMAP ? X86_DEVMAP : 0;
	val = x86_save_dirty(val);
	if (attrs & A_SHSTK)
		val = (val & ~(X86_RW | X86_SAVED_DIRTY)) | X86_DIRTY;
	if (x86_inverted(val))
		val ^= X86_PFN_MASK;
	return x86_mk(val);
}
#define fmt_pte_mk x86_pte_mk

#endif
