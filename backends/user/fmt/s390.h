/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * s390: tables of 256 entries, of which an empty one is not zero. Young, dirty and write are
 * software's; the hardware sees an old entry as invalid and a clean or read-only one as protected.
 *
 * Bits: arch/s390/include/asm/pgtable.h.
 */
#ifndef PTB_FMT_H
#define PTB_FMT_H

#include "word64.h"

#include "../attr.h"
#include <ptebatch/defs.h>

#define FMT_NAME s390
#define PTB_PAGE_SHIFT 12
#define PTB_PMD_SHIFT 20
#define FMT_PUD_SHIFT 31
#define FMT_VA_BITS 42
#define FMT_CONT 1
#define FMT_NONE S390_INVALID
/* User and kernel have address spaces of their own: no entry says whose it is. */
#define FMT_ATTRS ((A_COMMON & ~A_KERNEL) | A_SOFT_DIRTY)

typedef struct {
	struct fmt_word w;
} ptb_pte_t;

#define S390_PRESENT 0x001ULL
#define S390_SOFT_DIRTY 0x002ULL
#define S390_YOUNG 0x004ULL
#define S390_DIRTY 0x008ULL
#define S390_READ 0x010ULL
#define S390_WRITE 0x020ULL
#define S390_SPECIAL 0x040ULL
#define S390_NOEXEC 0x100ULL
#define S390_PROTECT 0x200ULL
#define S390_INVALID 0x400ULL
#define S390_SWP_EXCLUSIVE 0x800ULL

static inline u64 s390_val(ptb_pte_t pte)
{
	return word_val(pte.w);
}

static inline ptb_pte_t s390_mk(u64 val)
{
	return (ptb_pte_t){ word_mk(val) };
}
#define fmt_val s390_val
#define fmt_mk s390_mk

static inline ptb_pte_t s390_set(ptb_pte_t pte, u64 bits)
{
	return s390_mk(s390_val(pte) | bits);
}

static inline ptb_pte_t s390_clear(ptb_pte_t pte, u64 bits)
{
	return s390_mk(s390_val(pte) & ~bits);
}

static inline ptb_pte_t s390_ptep_get(ptb_pte_t *ptep, const ptb_t flags)
{
	return (ptb_pte_t){ word_load(flags & PTB_LOCKLESS ? RAW_PTE_LOCKLESS : RAW_PTE,
				      &ptep->w) };
}
#define ptb_ptep_get s390_ptep_get

static inline unsigned long s390_pte_pfn(ptb_pte_t pte)
{
	return s390_val(pte) >> PTB_PAGE_SHIFT;
}
#define ptb_pte_pfn s390_pte_pfn

static inline ptb_pte_t s390_pte_advance(ptb_pte_t pte, unsigned int n)
{
	return s390_mk(s390_val(pte) + ((u64)n << PTB_PAGE_SHIFT));
}
#define ptb_pte_advance s390_pte_advance

static inline bool s390_pte_present(ptb_pte_t pte)
{
	return s390_val(pte) & S390_PRESENT;
}
#define ptb_pte_present s390_pte_present

static inline bool s390_pte_none(ptb_pte_t pte)
{
	return s390_val(pte) == S390_INVALID;
}
#define ptb_pte_none s390_pte_none

static inline bool s390_pte_write(ptb_pte_t pte)
{
	return s390_val(pte) & S390_WRITE;
}
#define ptb_pte_write s390_pte_write

static inline bool s390_pte_young(ptb_pte_t pte)
{
	return s390_val(pte) & S390_YOUNG;
}
#define ptb_pte_young s390_pte_young

static inline bool s390_pte_dirty(ptb_pte_t pte)
{
	return s390_val(pte) & S390_DIRTY;
}
#define ptb_pte_dirty s390_pte_dirty

static inline ptb_pte_t s390_pte_mkold(ptb_pte_t pte)
{
	return s390_set(s390_clear(pte, S390_YOUNG), S390_INVALID);
}
#define ptb_pte_mkold s390_pte_mkold

static inline ptb_pte_t s390_pte_mkclean(ptb_pte_t pte)
{
	return s390_set(s390_clear(pte, S390_DIRTY), S390_PROTECT);
}
#define ptb_pte_mkclean s390_pte_mkclean

static inline ptb_pte_t s390_pte_wrprotect(ptb_pte_t pte)
{
	return s390_set(s390_clear(pte, S390_WRITE), S390_PROTECT);
}
#define ptb_pte_wrprotect s390_pte_wrprotect

static inline ptb_pte_t s390_pte_clear_soft_dirty(ptb_pte_t pte)
{
	return s390_clear(pte, S390_SOFT_DIRTY);
}
#define ptb_pte_clear_soft_dirty s390_pte_clear_soft_dirty

static inline ptb_pte_t s390_pte_mkyoung(ptb_pte_t pte)
{
	pte = s390_set(pte, S390_YOUNG);
	return s390_val(pte) & S390_READ ? s390_clear(pte, S390_INVALID) : pte;
}
#define ptb_pte_mkyoung s390_pte_mkyoung

static inline ptb_pte_t s390_pte_mkdirty(ptb_pte_t pte)
{
	pte = s390_set(pte, S390_DIRTY | S390_SOFT_DIRTY);
	return s390_pte_write(pte) ? s390_clear(pte, S390_PROTECT) : pte;
}
#define ptb_pte_mkdirty s390_pte_mkdirty

static inline ptb_pte_t s390_pte_mkwrite(ptb_pte_t pte, struct vm_area_struct *vma)
{
	(void)vma;
	pte = s390_set(pte, S390_WRITE);
	return s390_pte_dirty(pte) ? s390_clear(pte, S390_PROTECT) : pte;
}
#define ptb_pte_mkwrite s390_pte_mkwrite

static inline bool s390_pte_protnone(ptb_pte_t pte)
{
	return s390_pte_present(pte) && !(s390_val(pte) & S390_READ);
}
#define ptb_pte_protnone s390_pte_protnone

/* The generic pte_access_permitted(): PROT_NONE passes, which is why it is asked apart. */
static inline bool s390_pte_permitted(ptb_pte_t pte, bool write)
{
	return s390_pte_present(pte) && (!write || s390_pte_write(pte));
}
#define ptb_pte_permitted s390_pte_permitted

static inline bool s390_pte_special(ptb_pte_t pte)
{
	return s390_val(pte) & S390_SPECIAL;
}
#define ptb_pte_special s390_pte_special

static inline bool s390_pte_devmap(ptb_pte_t pte)
{
	(void)pte;
	return false;
}
#define ptb_pte_devmap s390_pte_devmap

/* Swap: invalid and protected, type in bits 2..6, offset from bit 12 on */
static inline ptb_pte_t s390_swp_mk(unsigned int type, u64 offset, u32 attrs)
{
	u64 val = S390_INVALID | S390_PROTECT | (u64)type << 2 | offset << 12;

	val |= attrs & A_EXCLUSIVE ? S390_SWP_EXCLUSIVE : 0;
	val |= attrs & A_SOFT_DIRTY ? S390_SOFT_DIRTY : 0;
	return s390_mk(val);
}
#define fmt_swp_mk s390_swp_mk

static inline unsigned int s390_swp_type(ptb_pte_t pte)
{
	return s390_val(pte) >> 2 & 31;
}
#define fmt_swp_type s390_swp_type

static inline u64 s390_swp_offset(ptb_pte_t pte)
{
	return s390_val(pte) >> 12;
}
#define fmt_swp_offset s390_swp_offset

static inline ptb_pte_t s390_pte_swap_next(ptb_pte_t pte)
{
	return s390_mk(s390_val(pte) + (1ULL << 12));
}
#define ptb_pte_swap_next s390_pte_swap_next

static inline ptb_pte_t s390_pte_mk(unsigned long pfn, u32 attrs)
{
	ptb_pte_t pte = s390_mk((u64)pfn << PTB_PAGE_SHIFT | S390_PRESENT | S390_NOEXEC |
				S390_INVALID | S390_PROTECT);

	if (!(attrs & A_PROTNONE))
		pte = s390_set(pte, S390_READ);
	if (attrs & A_WRITE)
		pte = s390_set(pte, S390_WRITE);
	if (attrs & A_YOUNG)
		pte = s390_pte_mkyoung(pte);
	if (attrs & A_DIRTY)
		pte = s390_pte_mkdirty(pte);
	if (attrs & A_SPECIAL)
		pte = s390_set(pte, S390_SPECIAL);
	return attrs & A_SOFT_DIRTY ? s390_set(pte, S390_SOFT_DIRTY)
				    : s390_clear(pte, S390_SOFT_DIRTY);
}
#define fmt_pte_mk s390_pte_mk

#endif
