/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only place with version tests, so that everything else reads as for one kernel: 6.12 with its
 * stable releases, and 6.18 on. What a kernel says by itself, in a macro or its configuration, is
 * asked first, the version last.
 *
 * The two parts at the end need statics of the file that mincore.h or vfio.h is included into.
 */
#ifndef PTEBATCH_KERNEL_COMPAT_H
#define PTEBATCH_KERNEL_COMPAT_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/version.h>

#include <ptebatch/defs.h>

#define PTB_COMPAT_BEFORE_6_18 (LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0))

/*
 * Young and dirty of an arm64 contpte block are in any of its entries. ptep_get() gathers them, at
 * 15 instructions a page; who does not want them reads the one entry.
 */
static __always_inline pte_t ptb_compat_ptep_get(pte_t *ptep, bool lockless, bool young_dirty)
{
#ifdef CONFIG_ARM64_CONTPTE
	if (!young_dirty)
		return __ptep_get(ptep);
#endif
	return lockless ? ptep_get_lockless(ptep) : ptep_get(ptep);
}

/*
 * A cache line of entries at once, where an entry is a word that holds the frame number as it is.
 * Not so for a Xen PV guest, whose frames are not the machine's, and for entries that are not
 * present to the CPU, whose frame is inverted (L1TF).
 */
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
static __always_inline pteval_t ptb_compat_word(pte_t *ptep, unsigned int i)
{
	/*
	 * Plain, as READ_ONCE() cannot be an operand of xor, and that is 14 instructions for 16
	 * pages. Each is used once, to be compared and forgotten: a change meanwhile is a
	 * difference or none, like one just after.
	 */
	return data_race(ptep[i].pte);
}

static __always_inline bool
ptb_compat_line_same(pte_t *ptep, pte_t first, unsigned long nr, const ptb_t flags)
{
	pteval_t want = first.pte + ((pteval_t)nr << PAGE_SHIFT), step = PAGE_SIZE;
	pteval_t loose = 0, differs = ~first.pte & _PAGE_PRESENT;

	/* pte_wrprotect() moves dirty. */
	if ((flags & (PTB_RESPECT_WRITE | PTB_RESPECT_DIRTY)) == PTB_RESPECT_DIRTY)
		return false;
	if (cpu_feature_enabled(X86_FEATURE_XENPV))
		return false;

	if (!(flags & PTB_RESPECT_DIRTY))
		loose |= _PAGE_DIRTY_BITS;
	if (!(flags & PTB_RESPECT_SOFT_DIRTY))
		loose |= _PAGE_SOFT_DIRTY;
	if (!(flags & PTB_RESPECT_WRITE))
		loose |= _PAGE_RW;
	if (!(flags & PTB_RESPECT_YOUNG))
		loose |= _PAGE_ACCESSED;
	/* Dirty tells a shadow stack, which is writable, from a read-only entry. */
	if (IS_ENABLED(CONFIG_X86_USER_SHADOW_STACK) && (flags & PTB_RESPECT_WRITE) &&
	    !(first.pte & _PAGE_RW))
		loose &= ~(pteval_t)_PAGE_DIRTY;

	ptep += nr;
	differs |= ptb_compat_word(ptep, 0) ^ want;
	differs |= ptb_compat_word(ptep, 1) ^ (want + step);
	differs |= ptb_compat_word(ptep, 2) ^ (want + 2 * step);
	differs |= ptb_compat_word(ptep, 3) ^ (want + 3 * step);
	differs |= ptb_compat_word(ptep, 4) ^ (want + 4 * step);
	differs |= ptb_compat_word(ptep, 5) ^ (want + 5 * step);
	differs |= ptb_compat_word(ptep, 6) ^ (want + 6 * step);
	differs |= ptb_compat_word(ptep, 7) ^ (want + 7 * step);
	return !(differs & ~loose);
}

static __always_inline bool ptb_compat_line_present(pte_t *ptep)
{
	return ptb_compat_word(ptep, 0) & ptb_compat_word(ptep, 1) & ptb_compat_word(ptep, 2) &
	       ptb_compat_word(ptep, 3) & ptb_compat_word(ptep, 4) & ptb_compat_word(ptep, 5) &
	       ptb_compat_word(ptep, 6) & ptb_compat_word(ptep, 7) & _PAGE_PRESENT;
}
#else
static __always_inline bool
ptb_compat_line_same(pte_t *ptep, pte_t first, unsigned long nr, const ptb_t flags)
{
	return false;
}

static __always_inline bool ptb_compat_line_present(pte_t *ptep)
{
	return false;
}
#endif

/* Without the assertions of folio_nr_pages(): nothing holds the folio. */
static __always_inline unsigned long
ptb_compat_folio_peek_left(struct folio *folio, struct page *page)
{
#if PTB_COMPAT_BEFORE_6_18
	const unsigned long *flags = &folio->flags;
#else
	const unsigned long *flags = &folio->flags.f;
#endif

	if (!test_bit(PG_head, flags))
		return 1;
	return (1UL << (READ_ONCE(folio->_flags_1) & 0xff)) - folio_page_idx(folio, page);
}

#ifdef __MM_INTERNAL_H

/* The kernel's own scanner, as greedy as PTB_FOR_LOOK: to be compared with. */
static __always_inline unsigned int ptb_compat_folio_pte_batch(struct folio *folio,
							       unsigned long addr, pte_t *ptep,
							       pte_t pte, unsigned int max_nr)
{
#if PTB_COMPAT_BEFORE_6_18
	return folio_pte_batch(folio, addr, ptep, pte, max_nr,
			       FPB_IGNORE_DIRTY | FPB_IGNORE_SOFT_DIRTY, NULL, NULL, NULL);
#else
	return folio_pte_batch(folio, ptep, pte, max_nr);
#endif
}

/*
 * The same with flags that the kernel's own knows. Before 6.16 it always ignores the write bit, and
 * tells instead of merging.
 */
static inline unsigned int
ptb_compat_folio_pte_batch_flags(struct folio *folio, struct vm_area_struct *vma, pte_t *ptep,
				 pte_t *ptentp, unsigned int max_nr, ptb_t flags)
{
#ifdef FPB_RESPECT_WRITE
	/* The rest are bits of ours alone. */
	return folio_pte_batch_flags(folio, vma, ptep, ptentp, max_nr,
				     (__force fpb_t)((__force unsigned int)flags & 0x1f));
#else
	bool writable, young, dirty;
	fpb_t fpb = 0;
	unsigned int nr;

	if (!(flags & PTB_RESPECT_DIRTY))
		fpb |= FPB_IGNORE_DIRTY;
	if (!(flags & PTB_RESPECT_SOFT_DIRTY))
		fpb |= FPB_IGNORE_SOFT_DIRTY;
	nr = folio_pte_batch(folio, 0, ptep, *ptentp, max_nr, fpb, &writable, &young, &dirty);
	if ((flags & PTB_MERGE_WRITE) && writable)
		*ptentp = pte_mkwrite(*ptentp, vma);
	if ((flags & PTB_MERGE_YOUNG_DIRTY) && young)
		*ptentp = pte_mkyoung(*ptentp);
	if ((flags & PTB_MERGE_YOUNG_DIRTY) && dirty)
		*ptentp = pte_mkdirty(*ptentp);
	return nr;
#endif
}

#endif

/* Swap entries are mm/'s own business: elsewhere the op is there to be declared, not to be used. */
#ifdef __MM_INTERNAL_H
#define ptb_compat_next_swp_offset(pte) pte_next_swp_offset(pte)
#else
static inline pte_t ptb_compat_next_swp_offset(pte_t pte)
{
	BUILD_BUG();
	return pte;
}
#endif

static inline unsigned long ptb_compat_page_section(const struct page *page)
{
#ifndef SECTION_IN_PAGE_FLAGS
	return 0;
#elif PTB_COMPAT_BEFORE_6_18
	return page_to_section(page);
#else
	return memdesc_section(page->flags);
#endif
}

#if PTB_COMPAT_BEFORE_6_18

/* For sparse: that pte_offset_map() takes what pte_unmap() drops it says by itself only later. */
#define ptb_compat_mapped() __acquire(RCU)

/* Came to 6.12 with a stable release, as a macro. */
#ifndef folio_has_pincount
#define folio_has_pincount(folio) folio_test_large(folio)
#endif

static inline struct dev_pagemap *
ptb_compat_pagemap_get(unsigned long pfn, struct dev_pagemap *pgmap)
{
	return get_dev_pagemap(pfn, pgmap);
}

/* A device page is free at one reference, not at none. */
static inline void ptb_compat_folio_put_refs(struct folio *folio, int refs)
{
	if (!put_devmap_managed_folio_refs(folio, refs))
		folio_put_refs(folio, refs);
}

#else

#define ptb_compat_mapped() \
	do {                \
	} while (0)

/* Pages of a device are like any others: no entry asks for its pagemap. */
#define pte_devmap(pte) ((void)(pte), false)
#define pmd_devmap(pmd) ((void)(pmd), false)
#define pud_devmap(pud) ((void)(pud), false)

static inline struct dev_pagemap *
ptb_compat_pagemap_get(unsigned long pfn, struct dev_pagemap *pgmap)
{
	put_dev_pagemap(pgmap);
	return get_dev_pagemap(pfn);
}

static inline void ptb_compat_folio_put_refs(struct folio *folio, int refs)
{
	folio_put_refs(folio, refs);
}

#endif

/* Where it has gone, the pages of a folio follow each other in memory. */
#ifndef nth_page
#define nth_page(page, n) ((page) + (n))
#endif

/* Entries that are no page of memory have another name. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
#include <linux/leafops.h>

static inline bool pte_none_mostly(pte_t pte)
{
	return pte_none(pte) || pte_is_marker(pte);
}

#define pte_to_swp_entry(pte) softleaf_from_pte(pte)
#define non_swap_entry(entry) (!softleaf_is_swap(entry))
#endif

#ifdef PTEBATCH_KERNEL_MINCORE_H

static inline unsigned char ptb_compat_mincore_swap(swp_entry_t entry)
{
#ifndef CONFIG_SWAP
	return WARN_ON(1);
#elif PTB_COMPAT_BEFORE_6_18
	return mincore_page(swap_address_space(entry), swap_cache_index(entry));
#else
	return mincore_swap(entry, false);
#endif
}

#endif

#ifdef PTEBATCH_KERNEL_VFIO_H

#if PTB_COMPAT_BEFORE_6_18
typedef long ptb_compat_npage_t;
#else
typedef unsigned long ptb_compat_npage_t;
#endif

static inline long ptb_compat_vaddr_get_pfns(struct vfio_dma *dma, unsigned long vaddr,
					     unsigned long npage, unsigned long *pfn,
					     struct vfio_batch *batch)
{
#if PTB_COMPAT_BEFORE_6_18
	long ret = vaddr_get_pfns(current->mm, vaddr, min_t(long, npage, batch->capacity),
				  dma->prot, pfn, batch->pages);

	/* A frame without usable page comes alone, leaves pages as it was and is reserved. */
	batch->size = ret == 1 && is_invalid_reserved_pfn(*pfn) ? 0 : max(ret, 0L);
	batch->offset = 0;
	return ret;
#else
	return vaddr_get_pfns(current->mm, vaddr, npage, dma->prot, pfn, batch);
#endif
}

#endif

#endif
