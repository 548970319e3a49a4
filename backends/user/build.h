/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From a layout to memory and tables of this format. */
#ifndef PTB_USER_BUILD_H
#define PTB_USER_BUILD_H

#include "descend.h"
#include "layout.h"

/* Where layouts are built: away from 0, and a table with neighbours on both sides. */
#define BUILD_BASE (4 * FMT_PUD_SIZE)
#define BUILD_BASE_FITS (8ULL * FMT_PUD_SIZE <= FMT_VA_END)

struct build_opts {
	unsigned long section_pages;
	bool no_vmemmap;
	const unsigned int *slot;
	unsigned long nr_pages; /* frames at least */
	unsigned long spare;	/* tables beyond those named */
};

/* Slots that one entry of an item covers. */
static inline unsigned long item_span(const struct layout_item *item)
{
	switch (item->level) {
	case LEVEL_PMD:
		return FMT_PTES;
	case LEVEL_PUD:
		return FMT_PTES * FMT_PMDS;
	default:
		return 1;
	}
}

/* Has the format the words for it, and do its leaves fit where they are put. */
static inline bool layout_expressible(const struct layout *l)
{
	unsigned long slot = 0;
	unsigned int i;

	if (l->attrs & ~(u32)FMT_ATTRS)
		return false;
	for (i = 0; i < l->nr_items; i++) {
		const struct layout_item *item = &l->items[i];
		unsigned long span = item_span(item);

		if (!FMT_LEAVES && item->level != LEVEL_PTE)
			return false;
		if (slot % span || item->pfn % span || item->nr % span)
			return false;
		slot = item->type == ITEM_AT ? item->pfn : slot + item->nr;
	}
	return true;
}

static inline void build_folio(const struct layout_folio *f)
{
	struct folio *folio = mem_folio(f->pfn, f->order, f->kind);

	folio->page.refcount = f->refs;
	if (f->order)
		folio->second.pincount = f->pins;
	folio->page.flags |= f->flags & FOLIO_CMA ? PG_unpinnable : 0;
	folio->page.flags |= f->flags & FOLIO_RESERVED ? PG_reserved : 0;
	folio->page.flags |= f->flags & FOLIO_INACCESSIBLE ? PG_inaccessible : 0;
	if (f->kind == FOLIO_DEVICE) {
		folio->page.pgmap = mem_pagemap(f->pfn, BIT(f->order));
		folio->page.pgmap->p2pdma = f->flags & FOLIO_P2PDMA;
	}
}

/*
 * Exclusive is said by the page: of a hugetlb folio by the head, of what one leaf maps by its first
 * page as well.
 */
static inline void build_exclusive(const struct layout_item *item)
{
	unsigned long i;

	if (!(item->attrs & A_EXCLUSIVE))
		return;
	for (i = 0; i < item->nr; i++) {
		struct folio *folio = mem_page_folio(mem_page(item->pfn + i));

		if (!mem_folio_is_anon(folio))
			continue;
		if (folio->page.flags & PG_hugetlb || item->level != LEVEL_PTE)
			folio->page.flags |= PG_anon_exclusive;
		else
			mem_page(item->pfn + i)->flags |= PG_anon_exclusive;
	}
}

static inline void
build_leaf(struct mm_struct *mm, unsigned long addr, const struct layout_item *item)
{
	bool pud = item->level == LEVEL_PUD;
	unsigned long step = item_span(item), i;

	for (i = 0; i < item->nr; i += step, addr += step << PTB_PAGE_SHIFT)
		word_set(&(pud ? mm_pudp : mm_pmdp)(mm, addr)->w,
			 upper_leaf(item->pfn + i, item->attrs & ~A_EXCLUSIVE));
}

static inline void
build_swap(struct mm_struct *mm, unsigned long addr, const struct layout_item *item)
{
	unsigned long i;

	for (i = 0; i < item->nr; i++, addr += FMT_PAGE_SIZE)
		pte_set(mm_ptep_alloc(mm, addr),
			fmt_swp_mk(item->swap_type, item->pfn + i, item->attrs));
}

static inline void
build_item(struct mm_struct *mm, unsigned long addr, const struct layout_item *item)
{
	switch (item->type) {
	case ITEM_PAGES:
		build_exclusive(item);
		/* fallthrough */
	case ITEM_FRAMES:
		if (item->level == LEVEL_PTE)
			mm_set_run(mm, addr, item->pfn, item->nr, item->attrs & ~A_EXCLUSIVE);
		else
			build_leaf(mm, addr, item);
		break;
	case ITEM_SWAP:
	case ITEM_OTHER:
		build_swap(mm, addr, item);
		break;
	case ITEM_NONE:
		mm_ptep_alloc(mm, addr);
		break;
	case ITEM_AT:
		break;
	}
}

static inline unsigned long layout_addr(const struct mm_struct *mm, unsigned long slot)
{
	return mm->base + (slot << PTB_PAGE_SHIFT);
}

/*
 * Make memory and an mm with one private, writable, anonymous vma over all of its tables. False if
 * the format cannot express the layout; then nothing was made.
 */
static inline bool
layout_build(const struct layout *l, const struct build_opts *opts, struct mm_struct *mm)
{
	struct mem_opts mo = { .nr_pages = l->max_pfn + 1024,
			       .section_pages = opts->section_pages,
			       .no_vmemmap = opts->no_vmemmap,
			       .slot = opts->slot };
	unsigned long slot = 0, nr_tables = 1 + opts->spare, base, i;

	if (!layout_expressible(l))
		return false;
	if (mo.nr_pages < opts->nr_pages)
		mo.nr_pages = opts->nr_pages;
	for (i = 0; i < l->nr_items; i++) {
		slot = l->items[i].type == ITEM_AT ? l->items[i].pfn : slot + l->items[i].nr;
		if ((slot + FMT_PTES - 1) / FMT_PTES + opts->spare > nr_tables)
			nr_tables = (slot + FMT_PTES - 1) / FMT_PTES + opts->spare;
	}

	mem_init(&mo);
	base = BUILD_BASE_FITS ? BUILD_BASE : FMT_PUD_SIZE;
	mm_init(mm, base, base + nr_tables * FMT_PMD_SIZE);
	mm->vmas = calloc(1, sizeof(*mm->vmas));
	if (!mm->vmas)
		abort();
	mm->vmas[0] = (struct vm_area_struct){ .vm_start = base,
					       .vm_end = mm->end,
					       .vm_flags = VM_READ | VM_WRITE | VM_MAYWRITE };
	mm->nr_vmas = 1;

	for (i = 0; i < l->nr_folios; i++)
		build_folio(&l->folios[i]);
	for (i = 0, slot = 0; i < l->nr_items; i++) {
		const struct layout_item *item = &l->items[i];

		build_item(mm, layout_addr(mm, slot), item);
		slot = item->type == ITEM_AT ? item->pfn : slot + item->nr;
	}
	return true;
}

#endif
