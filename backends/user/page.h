/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The fake memory: frames, their struct pages, folios, and what folios belong to. Same for every
 * entry format.
 *
 * A struct page is as big as the kernel's, and what the kernel keeps in a folio's second page is
 * kept there, so that cache lines count as they do in the kernel. Mapcounts, LRU lists and
 * everything else that no walker reads are not modelled.
 */
#ifndef PTB_USER_PAGE_H
#define PTB_USER_PAGE_H

#include "raw.h"

#define PG_referenced BIT(0)
#define PG_head BIT(1)
#define PG_anon_exclusive BIT(2)
#define PG_hugetlb BIT(3)
#define PG_reserved BIT(4)
#define PG_unpinnable BIT(5) /* CMA or movable zone: not for a longterm pin */
#define PG_dirty BIT(6)
#define PG_made BIT(8)	       /* somebody made a folio of this frame */
#define PG_inaccessible BIT(7) /* arch_make_folio_accessible() fails */

enum mapping_kind { MAPPING_FILE, MAPPING_SHMEM, MAPPING_SECRETMEM };

/* A file: what of it the page cache holds. */
struct address_space {
	enum mapping_kind kind;
	unsigned long nr; /* pages in incore */
	u8 *incore;	  /* one a page: 1 cached and up to date */
};

/* Low bit of page->mapping, as in the kernel: the rest is an anon_vma, which nobody looks at. */
#define MAPPING_ANON 1UL

struct dev_pagemap {
	unsigned long pfn, nr;
	int refs;
	bool dying;
	bool p2pdma;
};

struct page {
	unsigned long flags;
	unsigned long compound_head; /* tail: address of the head, plus 1 */
	/* Of a small folio, or of the first page of a large one. */
	unsigned long mapping;
	struct dev_pagemap *pgmap;
	/*
	 * Of the second page of a large one. Not in the place of the former: who peeks at a folio
	 * that is being freed may meet what was there, but no number that is none.
	 */
	unsigned int order;
	int pincount;
	int refcount;
	unsigned int section;
} __attribute__((__aligned__(64)));

struct folio {
	struct page page;
	struct page second; /* large folios only */
};

enum folio_kind {
	FOLIO_ANON,
	FOLIO_FILE,
	FOLIO_SHMEM,
	FOLIO_SECRETMEM,
	FOLIO_HUGETLB,
	FOLIO_DEVICE, /* belongs to a pagemap */
	FOLIO_ZERO,
	FOLIO_TRUNCATED, /* was a file's: no mapping any more */
	FOLIO_NR_KINDS,
};

#define SWAP_DEVS 4

/* A swap device and its swap cache. */
struct swap_dev {
	bool gone;
	unsigned long nr;
	u8 *incache;
	u64 gets, puts, looked;
};

struct user_mem {
	struct page *map;
	size_t map_bytes;
	unsigned long nr_pages;
	unsigned int section_shift;
	bool vmemmap;
	unsigned int *slot; /* section -> place of its piece of map */
	unsigned long zero_pfn;
	u64 pins_acquired, pins_released;
	u64 freed;
	u64 warned;	   /* what the kernel would print */
	u64 relaxed;	   /* cond_resched() of VFIO */
	bool by_page;	   /* VFIO's disable_hugepages */
	bool no_secretmem; /* a kernel built without */
	struct address_space file, shmem, secretmem;
	struct dev_pagemap pagemaps[4];
	unsigned int nr_pagemaps;
	struct swap_dev swap[SWAP_DEVS];
};

extern struct user_mem mem;

/**
 * struct mem_opts - a memory to be made
 * @nr_pages: frames 0 .. nr_pages - 1
 * @section_pages: frames a section, a power of two; 0: 32768
 * @no_vmemmap: each section's struct pages somewhere else: neighbours in one space are not
 * neighbours in the other
 * @slot: with @no_vmemmap, place of each section's struct pages; NULL: last section first
 */
struct mem_opts {
	unsigned long nr_pages;
	unsigned long section_pages;
	bool no_vmemmap;
	const unsigned int *slot;
};

void mem_init(const struct mem_opts *opts);
void mem_exit(void);

/* A folio with one reference, that of whoever keeps it. @pfn aligned to @order. */
struct folio *mem_folio(unsigned long pfn, unsigned int order, enum folio_kind kind);
struct dev_pagemap *mem_pagemap(unsigned long pfn, unsigned long nr);
/* Break a large folio into small ones, as a split would; the references stay on the first page. */
void mem_split(struct folio *folio);

/* A build that times things has the virtual memory map for a constant, as a kernel has. */
#ifdef PTB_USER_VMEMMAP
#define mem_has_vmemmap() true
#else
#define mem_has_vmemmap() (mem.vmemmap)
#endif

static inline bool mem_pfn_valid(unsigned long pfn)
{
	return pfn < mem.nr_pages;
}

static inline struct page *mem_page(unsigned long pfn)
{
	unsigned long offset;

	if (mem_has_vmemmap())
		return mem.map + pfn;
	offset = pfn & (BIT(mem.section_shift) - 1);
	return mem.map + ((unsigned long)mem.slot[pfn >> mem.section_shift] << mem.section_shift) +
	       offset;
}

static inline unsigned long mem_pfn(const struct page *page)
{
	unsigned long index = page - mem.map;

	if (mem_has_vmemmap())
		return index;
	return ((unsigned long)page->section << mem.section_shift) +
	       (index & (BIT(mem.section_shift) - 1));
}

static inline struct folio *mem_page_folio(const struct page *page)
{
	unsigned long head = raw_more_long(&page->compound_head);

	return (struct folio *)(head & 1 ? head - 1 : (unsigned long)page);
}

static inline unsigned int mem_folio_order(const struct folio *folio)
{
	return raw_more_long(&folio->page.flags) & PG_head ? raw_more32(&folio->second.order) : 0;
}

static inline bool mem_folio_is_anon(const struct folio *folio)
{
	return raw_more_long(&folio->page.mapping) & MAPPING_ANON;
}

static inline int mem_folio_pincount(const struct folio *folio)
{
	return mem_folio_order(folio) ? folio->second.pincount : 0;
}

#endif
