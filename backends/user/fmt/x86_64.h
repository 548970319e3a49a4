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

/* Entries are words that count up with their frames: a line can be compared as words. */

static inline u64 x86_word(ptb_pte_t *ptep, unsigned int i, const ptb_t flags)
{
	return x86_val(x86_ptep_get(ptep + i, flags));
}

static inline bool
x86_line_same(ptb_pte_t *ptep, ptb_pte_t pte, unsigned long nr, const ptb_t flags)
{
	const u64 first = x86_val(pte), step = 1UL << X86_PAGE_SHIFT;
	u64 want = first + nr * step, loose = 0, differs = ~first & X86_PRESENT;

	/* x86_pte_wrprotect() moves dirty. */
	if ((flags & (PTB_RESPECT_WRITE | PTB_RESPECT_DIRTY)) == PTB_RESPECT_DIRTY)
		return false;

	if (!(flags & PTB_RESPECT_DIRTY))
		loose |= X86_DIRTY | X86_SAVED_DIRTY;
	if (!(flags & PTB_RESPECT_SOFT_DIRTY))
		loose |= X86_SOFT_DIRTY;
	if (!(flags & PTB_RESPECT_WRITE))
		loose |= X86_RW;
	if (!(flags & PTB_RESPECT_YOUNG))
		loose |= X86_ACCESSED;
	/* Dirty tells a shadow stack, which is writable, from a read-only entry. */
	if ((flags & PTB_RESPECT_WRITE) && !(first & X86_RW))
		loose &= ~X86_DIRTY;

	ptep += nr;
	differs |= x86_word(ptep, 0, flags) ^ want;
	differs |= x86_word(ptep, 1, flags) ^ (want + step);
	differs |= x86_word(ptep, 2, flags) ^ (want + 2 * step);
	differs |= x86_word(ptep, 3, flags) ^ (want + 3 * step);
	if (PTB_LINE == 8) {
		differs |= x86_word(ptep, 4, flags) ^ (want + 4 * step);
		differs |= x86_word(ptep, 5, flags) ^ (want + 5 * step);
		differs |= x86_word(ptep, 6, flags) ^ (want + 6 * step);
		differs |= x86_word(ptep, 7, flags) ^ (want + 7 * step);
	}
	return !(differs & ~loose);
}
#define ptb_line_same x86_line_same

static inline bool x86_pte_plain(ptb_pte_t pte, bool write)
{
	u64 need = X86_PRESENT | X86_USER | (write ? X86_RW : 0);

	return (x86_val(pte) & (need | X86_SPECIAL | X86_DEVMAP)) == need;
}
#define ptb_pte_plain x86_pte_plain

/* The map is to memory as a struct page is to a page: a shift less than by its number. */
static inline void x86_page_prefetch(u64 word)
{
	u64 offset = (word & X86_PFN_MASK) / ((1UL << X86_PAGE_SHIFT) / sizeof(struct page));
	const char *page = (const char *)mem_page(0) + offset;

	raw_hook(RAW_PREFETCH, page);
	__builtin_prefetch(page, 1);
}

/* All of them, or none: not to be asked one by one is what makes it worth its while. */
static noinline void x86_prefetch_pages(ptb_pte_t *ptep, u64 need)
{
	u64 all = ~0ULL, any = 0, word[PTB_LINE];
	unsigned int i;

#pragma GCC unroll 8
	for (i = 0; i < PTB_LINE; i++) {
		word[i] = READ_ONCE(ptep[i].w.val);
		all &= word[i];
		any |= word[i];
	}
	if ((all & need) != need || (any & (X86_SPECIAL | X86_DEVMAP)))
		return;
#pragma GCC unroll 8
	for (i = 0; i < PTB_LINE; i++)
		x86_page_prefetch(word[i]);
}

static inline void x86_line_prefetch(ptb_pte_t *ptep, bool write)
{
	if (mem_has_vmemmap())
		x86_prefetch_pages(ptep, X86_PRESENT | X86_USER | (write ? X86_RW : 0));
}
#define ptb_line_prefetch x86_line_prefetch

static inline u64 x86_half_all(ptb_pte_t *ptep)
{
	const ptb_t flags = PTB_FOR_LOOK;

	return x86_word(ptep, 0, flags) & x86_word(ptep, 1, flags) & x86_word(ptep, 2, flags) &
	       x86_word(ptep, 3, flags);
}

static inline bool x86_line_present(ptb_pte_t *ptep)
{
	if (!(x86_half_all(ptep) & X86_PRESENT))
		return false;
	return PTB_LINE == 4 || (x86_half_all(ptep + 4) & X86_PRESENT);
}
#define ptb_line_present x86_line_present

#endif
