/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * x86-64 as a Xen PV guest: a table holds machine frames, and pte_val() and __pte() translate. A
 * frame that was given back to the hypervisor has no machine frame: building an entry for it gives
 * an empty one, and so may advancing an entry by one.
 *
 * Translation: pte_mfn_to_pfn(), pte_pfn_to_mfn() in arch/x86/xen/mmu_pv.c.
 */
#ifndef PTB_FMT_H
#define PTB_FMT_H

#include "word64.h"

#include "../page.h"

#define FMT_NAME xen_pv
#define PTB_PAGE_SHIFT 12
#define PTB_PMD_SHIFT 21
#define FMT_PUD_SHIFT 30
#define FMT_VA_BITS 47
#define FMT_CONT 1
#define FMT_NO_LEAVES
/* Soft-dirty is software's alone; shadow stacks and huge leaves a guest does not get. */
#define FMT_ATTRS (A_COMMON | A_SOFT_DIRTY | A_UFFD_WP | A_DEVMAP | A_SAVED_DIRTY)

#define X86_UFFD_WP BIT_ULL(10)
#define X86_SOFT_DIRTY BIT_ULL(11)
#define X86_DEVMAP BIT_ULL(57)
#define X86_SAVED_DIRTY BIT_ULL(58)
#define X86_SWP_SOFT_DIRTY BIT_ULL(1)
#define X86_SWP_UFFD_WP BIT_ULL(2)
#define X86_SWP_EXCLUSIVE BIT_ULL(3)
#define X86_SHSTK 0

#define XEN_FRAME_MASK 0x000ffffffffff000ULL
#define XEN_PRESENT BIT_ULL(0)

/* Guest and machine frames, one to one but for the order. */
#define XEN_SHUFFLE 0x2a5ULL

/*
 * Frames outside the guest's memory are devices', and the same for both. Inside, what was never
 * made a page is given back.
 */
static inline bool xen_has_machine_frame(u64 pfn)
{
	return !mem_pfn_valid(pfn) || mem_page(pfn)->flags & PG_made;
}

static inline u64 xen_shuffle(u64 frame)
{
	return mem_pfn_valid(frame ^ XEN_SHUFFLE) && mem_pfn_valid(frame) ? frame ^ XEN_SHUFFLE
									  : frame;
}

static inline u64 xen_pte_val(struct fmt_word w)
{
	u64 val = word_val(w);

	if (!(val & XEN_PRESENT))
		return val;
	return (val & ~XEN_FRAME_MASK) | xen_shuffle((val & XEN_FRAME_MASK) >> 12) << 12;
}
#define x86_word_val xen_pte_val

static inline struct fmt_word xen_make_pte(u64 val)
{
	u64 pfn = (val & XEN_FRAME_MASK) >> 12;

	if (!(val & XEN_PRESENT))
		return word_mk(val);
	if (!xen_has_machine_frame(pfn))
		return word_mk(0);
	return word_mk((val & ~XEN_FRAME_MASK) | xen_shuffle(pfn) << 12);
}
#define x86_word_mk xen_make_pte

#include "x86.h"

#endif
