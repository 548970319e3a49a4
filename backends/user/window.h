/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A window: one address space with the memory behind it, and what the walkers are to be sent over.
 * Made from a recording or a layout; a recording that is larger than the format's address space
 * takes several.
 */
#ifndef PTB_USER_WINDOW_H
#define PTB_USER_WINDOW_H

#include "build.h"
#include "replay.h"

struct range {
	unsigned long addr; /* dax: frame */
	unsigned long nr;
};

struct ranges {
	struct range *v;
	unsigned long nr, max;
	unsigned long pages;
};

struct vfio_run {
	u64 iova;
	unsigned long pfn;
	long nr;
};

struct window {
	struct mm_struct mm;
	struct ranges present;	/* consecutive present entries */
	struct ranges pinnable; /* of them, what a longterm pin would take as it is */
	unsigned int kinds;	/* of vmas to walk, 0: all */
	struct ranges frames;	/* consecutive frames inside a PMD's worth, as device memory */
	u64 swapped, empty;

	struct page **pages;   /* output of gup_fast and dax */
	unsigned char *vec;    /* output of mincore */
	struct vfio_run *runs; /* output of vfio */
	unsigned long room;    /* in each */
	unsigned long done;    /* written */

	unsigned long *folios; /* first frames, to look at counts */
	unsigned long nr_folios;
};

static inline void ranges_add(struct ranges *r, unsigned long addr, unsigned long nr)
{
	if (r->nr == r->max) {
		r->max = r->max ? 2 * r->max : 64;
		r->v = realloc(r->v, r->max * sizeof(*r->v));
		if (!r->v)
			abort();
	}
	r->v[r->nr++] = (struct range){ addr, nr };
	r->pages += nr;
}

/* One more page: longer by one if it follows the last. */
static inline void ranges_push(struct ranges *r, unsigned long addr, unsigned long step)
{
	struct range *last = r->nr ? &r->v[r->nr - 1] : NULL;

	if (last && last->addr + last->nr * step == addr) {
		last->nr++;
		r->pages++;
	} else {
		ranges_add(r, addr, 1);
	}
}

static inline void window_page(struct window *w, unsigned long addr, const struct engine_entry *e)
{
	ranges_push(&w->present, addr, FMT_PAGE_SIZE);
	if (engine_page(&w->mm, addr, false))
		ranges_push(&w->pinnable, addr, FMT_PAGE_SIZE);
	if (e->special || !mem_pfn_valid(e->pfn) || e->pfn == mem.zero_pfn ||
	    (mem_page_folio(mem_page(e->pfn))->page.flags & PG_reserved))
		return;
	/* A leaf of device memory ends with its PMD. */
	if (e->pfn % FMT_PTES)
		ranges_push(&w->frames, e->pfn, 1);
	else
		ranges_add(&w->frames, e->pfn, 1);
}

static inline void window_scan_vma(struct window *w, const struct vm_area_struct *vma)
{
	unsigned long addr;

	for (addr = vma->vm_start; addr < vma->vm_end; addr += FMT_PAGE_SIZE) {
		struct engine_entry e;
		ptb_pte_t pte;

		if (engine_lookup(&w->mm, addr, &e)) {
			window_page(w, addr, &e);
			continue;
		}
		if (!(upper_val(*mm_pmdp(&w->mm, addr)) & UPPER_TABLE)) {
			w->empty++;
			continue;
		}
		pte = *mm_ptep(&w->mm, addr);
		if (ptb_pte_none(pte))
			w->empty++;
		else if (ptb_pte_is_swap(pte))
			w->swapped++;
	}
}

static inline void window_scan(struct window *w)
{
	unsigned int i;

	for (i = 0; i < w->mm.nr_vmas; i++) {
		const struct vm_area_struct *vma = &w->mm.vmas[i];

		if (vma->left_out)
			continue;
		window_scan_vma(w, vma);
		w->room += (vma->vm_end - vma->vm_start) >> PTB_PAGE_SHIFT;
	}
	w->room++;
	w->pages = calloc(w->room, sizeof(*w->pages));
	w->vec = calloc(w->room, 1);
	w->runs = calloc(w->room, sizeof(*w->runs));
	if (!w->pages || !w->vec || !w->runs)
		abort();
}

static inline void window_exit(struct window *w)
{
	mm_exit(&w->mm);
	free(w->present.v);
	free(w->pinnable.v);
	free(w->frames.v);
	free(w->pages);
	free(w->vec);
	free(w->runs);
	*w = (struct window){};
}

/* ---- from a recording ---- */

static inline enum folio_kind snap_folio_kind(u8 kind)
{
	switch (kind) {
	case SNAP_ANON:
		return FOLIO_ANON;
	case SNAP_FILE:
		return FOLIO_FILE;
	case SNAP_SHMEM:
		return FOLIO_SHMEM;
	case SNAP_HUGETLB:
		return FOLIO_HUGETLB;
	default:
		return FOLIO_TRUNCATED;
	}
}

/* Memory as it was recorded; returns the folios' frames. */
static inline unsigned long *snap_memory(const struct snapshot *s)
{
	struct mem_opts opts = { .nr_pages = s->nr_frames + 1024 };
	unsigned long *pfns = calloc(s->nr_folios + 1, sizeof(*pfns));
	size_t i;

	if (!pfns)
		abort();
	mem_init(&opts);
	for (i = 0; i < s->nr_folios; i++) {
		const struct snap_folio *f = &s->folios[i];
		bool zero = f->kind == SNAP_ZERO && !f->order && mem.zero_pfn == ULONG_MAX;
		struct folio *folio =
			mem_folio(f->frame, f->order, zero ? FOLIO_ZERO : snap_folio_kind(f->kind));

		if (f->kind == SNAP_SPECIAL)
			folio->page.flags |= PG_reserved;
		pfns[i] = f->frame;
	}
	return pfns;
}

static inline u32 snap_attrs(const struct snap_run *run, const struct snap_folio *folio)
{
	u32 attrs = A_YOUNG;

	attrs |= run->bits & SNAP_WRITE ? A_WRITE : 0;
	attrs |= run->bits & SNAP_SOFT_DIRTY ? A_SOFT_DIRTY : 0;
	attrs |= run->bits & SNAP_UFFD_WP ? A_UFFD_WP : 0;
	/* The kernel maps the 4K zero page so, and whatever has no page it would hand out. */
	if (!folio || folio->kind == SNAP_SPECIAL || (folio->kind == SNAP_ZERO && !folio->order))
		attrs |= A_SPECIAL;
	if (folio && (1UL << folio->order) >= FMT_CONT)
		attrs |= A_CONT;
	return attrs & FMT_ATTRS;
}

static inline void snap_exclusive(unsigned long pfn, unsigned long nr, bool leaf)
{
	struct folio *folio = mem_page_folio(mem_page(pfn));
	unsigned long i;

	if (!mem_folio_is_anon(folio))
		return;
	if (leaf || (folio->page.flags & PG_hugetlb))
		folio->page.flags |= PG_anon_exclusive;
	for (i = 0; i < nr && !(folio->page.flags & PG_hugetlb); i++)
		mem_page(pfn + i)->flags |= PG_anon_exclusive;
}

/*
 * Part of a run inside one folio: leaves where the recording had them and this format's fit,
 * entries otherwise.
 */
static inline void snap_map(struct mm_struct *mm, unsigned long addr, const struct snap_run *run,
			    unsigned long pfn, unsigned long nr, u32 attrs)
{
	while (nr) {
		unsigned long step = FMT_PTES - mm_pte_index(addr);

		if (FMT_LEAVES && run->level == SNAP_PMD && step == FMT_PTES && nr >= step &&
		    pfn % FMT_PTES == 0) {
			word_set(&mm_pmdp(mm, addr)->w, upper_leaf(pfn, attrs & ~A_CONT));
		} else {
			step = step < nr ? step : nr;
			mm_set_run(mm, addr, pfn, step, attrs);
		}
		addr += step << PTB_PAGE_SHIFT;
		pfn += step;
		nr -= step;
	}
}

static inline void snap_map_present(struct mm_struct *mm, unsigned long addr,
				    const struct snapshot *s, const struct snap_run *run,
				    unsigned long pfn, unsigned long nr)
{
	unsigned long part;

	for (; nr; nr -= part, pfn += part, addr += part << PTB_PAGE_SHIFT) {
		const struct snap_folio *folio = snapshot_folio(s, pfn);

		part = folio ? folio->frame + (1UL << folio->order) - pfn : 1;
		part = part < nr ? part : nr;
		snap_map(mm, addr, run, pfn, part, snap_attrs(run, folio));
		if (folio && (run->bits & SNAP_EXCLUSIVE))
			snap_exclusive(pfn, part, run->level == SNAP_PMD);
	}
}

static inline void snap_map_swap(struct mm_struct *mm, unsigned long addr,
				 const struct snap_run *run, u64 first, unsigned long nr)
{
	bool swap = run->type == SNAP_SWAP;
	u32 attrs = 0;
	unsigned long i;

	attrs |= run->bits & SNAP_EXCLUSIVE ? A_EXCLUSIVE : 0;
	attrs |= run->bits & SNAP_SOFT_DIRTY ? A_SOFT_DIRTY : 0;
	attrs |= run->bits & SNAP_UFFD_WP ? A_UFFD_WP : 0;
	for (i = 0; i < nr; i++, addr += FMT_PAGE_SIZE)
		pte_set(mm_ptep_alloc(mm, addr),
			fmt_swp_mk(swap ? 0 : SWP_MIGRATION_READ, (first + i) & (BIT_ULL(40) - 1),
				   attrs));
}

/* Alignment to 2 MiB of the recording and to a table of this format survives. */
static inline u64 snap_unit(void)
{
	return FMT_PTES > 512 ? FMT_PTES : 512;
}

/*
 * A hole of more than a few tables is cut short by whole 2 MiB (of the recording) and whole tables:
 * it has nothing to walk.
 */
static inline u64 snap_hole(u64 nr)
{
	u64 unit = snap_unit();

	return nr > 8 * unit ? nr % unit + 4 * unit : nr;
}

static inline u64 snap_run_pages(const struct snap_run *run)
{
	return run->type == SNAP_NONE ? snap_hole(run->nr) : run->nr;
}

/*
 * Where a walk through a recording stands: linear pages, holes cut short, vmas one after another as
 * far apart as they were.
 */
struct snap_cursor {
	size_t vma, run; /* run: in the snapshot */
	u64 in_run;	 /* pages of it that are done */
	u64 page;	 /* linear */
	bool gap_done;	 /* the gap before the vma is in page */
};

static inline u64 snap_vma_gap(const struct snapshot *s, size_t vma)
{
	const struct snap_vma *v = &s->vmas[vma], *prev = v - 1;

	if (!vma)
		return v->page % snap_unit();
	return snap_hole(v->page - (prev->page + prev->nr_pages));
}

static inline struct vm_area_struct *
window_add_vma(struct window *w, const struct snap_vma *v, unsigned long addr)
{
	struct mm_struct *mm = &w->mm;
	struct vm_area_struct *vma;

	mm->vmas = realloc(mm->vmas, (mm->nr_vmas + 1) * sizeof(*mm->vmas));
	if (!mm->vmas)
		abort();
	vma = &mm->vmas[mm->nr_vmas++];
	*vma = (struct vm_area_struct){ .vm_start = addr, .vm_end = addr, .vm_pgoff = v->pgoff };
	vma->vm_flags = VM_READ | (v->prot & SNAP_PROT_WRITE ? VM_WRITE | VM_MAYWRITE : 0) |
			(v->prot & SNAP_SHARED ? VM_SHARED : 0);
	vma->left_out = w->kinds && !(w->kinds & BIT(v->kind));
	if (v->kind == SNAP_FILE || v->kind == SNAP_SHMEM)
		vma->mapping = v->kind == SNAP_FILE ? &mem.file : &mem.shmem;
	return vma;
}

/* Pages of the current run that fit below @limit; sets them up at @addr. */
static inline u64 snap_place(struct window *w, const struct snapshot *s,
			     const struct snap_cursor *c, unsigned long addr, u64 limit)
{
	const struct snap_run *run = &s->runs[c->run];
	u64 nr = snap_run_pages(run) - c->in_run;

	if (nr > limit)
		nr = limit;
	if (run->type == SNAP_PRESENT)
		snap_map_present(&w->mm, addr, s, run, run->frame + c->in_run, nr);
	else if (run->type != SNAP_NONE)
		snap_map_swap(&w->mm, addr, run, run->frame + c->in_run, nr);
	return nr;
}

/* Runs of the current vma, to linear page @end; @offset takes a linear page to its address. */
static inline void snap_place_vma(struct window *w, const struct snapshot *s, struct snap_cursor *c,
				  unsigned long offset, u64 end)
{
	const struct snap_vma *v = &s->vmas[c->vma];
	struct vm_area_struct *vma = window_add_vma(w, v, offset + (c->page << PTB_PAGE_SHIFT));

	while (c->run < v->first_run + v->nr_runs && c->page < end) {
		u64 nr = snap_place(w, s, c, offset + (c->page << PTB_PAGE_SHIFT), end - c->page);

		c->page += nr;
		c->in_run += nr;
		vma->vm_end = offset + (c->page << PTB_PAGE_SHIFT);
		if (c->in_run == snap_run_pages(&s->runs[c->run])) {
			c->run++;
			c->in_run = 0;
		}
	}
}

/* Pages an address space of this format can hold, away from its ends; whole PUDs. */
static inline u64 window_pages(void)
{
	return (FMT_VA_END - FMT_PUD_SIZE) >> FMT_PUD_SHIFT << (FMT_PUD_SHIFT - PTB_PAGE_SHIFT);
}

/* Linear pages of the whole recording. */
static inline u64 snap_linear_pages(const struct snapshot *s)
{
	u64 pages = 0;
	size_t v, r;

	for (v = 0; v < s->nr_vmas; v++) {
		pages += snap_vma_gap(s, v);
		for (r = 0; r < s->vmas[v].nr_runs; r++)
			pages += snap_run_pages(&s->runs[s->vmas[v].first_run + r]);
	}
	return pages;
}

/* The next window from where @c stands. False when the recording is at its end. */
static inline bool snap_window(struct window *w, const struct snapshot *s, struct snap_cursor *c)
{
	u64 first = c->page & ~(snap_unit() - 1), room = window_pages();
	u64 left = snap_linear_pages(s) - first;
	unsigned long base = FMT_PUD_SIZE;

	if (c->vma == s->nr_vmas)
		return false;
	if (room > left)
		room = (left + FMT_PTES - 1) / FMT_PTES * FMT_PTES;
	mm_init(&w->mm, base, base + (room << PTB_PAGE_SHIFT));

	while (c->vma < s->nr_vmas && c->page - first < room) {
		const struct snap_vma *v = &s->vmas[c->vma];
		u64 end_run = v->first_run + v->nr_runs;

		if (!c->gap_done)
			c->page += snap_vma_gap(s, c->vma);
		c->gap_done = true;
		if (c->page - first >= room)
			break;
		snap_place_vma(w, s, c, base - (first << PTB_PAGE_SHIFT), first + room);
		if (c->run == end_run) {
			c->vma++;
			c->gap_done = false;
		}
	}
	window_scan(w);
	return true;
}

#endif
