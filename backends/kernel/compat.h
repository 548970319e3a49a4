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

#include <linux/build_bug.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/version.h>

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
