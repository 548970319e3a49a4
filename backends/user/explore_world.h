/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The small world that a walker and the other side share while schedules are explored: a table of a
 * few entries, the frames they map, the words above, locks. All of it lies in one arena, which is
 * copied back before every schedule.
 *
 * Beside it stands what the kernel has no words for and the invariants need ("ghost"): what a slot
 * ever mapped, how often a frame was given to somebody new, who else holds it.
 */
#ifndef PTB_EXPLORE_WORLD_H
#define PTB_EXPLORE_WORLD_H

#include "mm.h"
#include "sched.h"

#define PTB_BACKEND user
#include PTB_FMT_HEADER

/*
 * Every entry that a walker reads one by one comes by here, so that one which no table ever held is
 * seen at once: torn, or of a table that belongs to somebody else by now.
 */
static inline ptb_pte_t fmt_ptep_get(ptb_pte_t *ptep, const ptb_t flags)
{
	return ptb_ptep_get(ptep, flags);
}

static noinline void explore_saw(const ptb_pte_t *ptep, ptb_pte_t pte);

static __always_inline ptb_pte_t explore_ptep_get(ptb_pte_t *ptep, const ptb_t flags)
{
	ptb_pte_t pte = fmt_ptep_get(ptep, flags);

	explore_saw(ptep, pte);
	return pte;
}
#undef ptb_ptep_get
#define ptb_ptep_get explore_ptep_get

#include "descend.h"

/* Small enough that schedules come to an end; else as wide as a block and two lines are. */
#ifdef PTB_EXPLORE_SMALL
#define EX_ORDER 2
#else
#define EX_ORDER 4
#endif
#define EX_SLOTS (1U << EX_ORDER)

/* Two 32-bit words an entry. */
#define EX_TWO_WORDS (_Alignof(struct fmt_word) == 4)
/* Read-modify-writes that do not return, or have no suffix, order nothing. */
#define EX_RELAXED (FMT_CONT > 1)

/*
 * Frames: what is mapped at first (A), what is put in its place (B), somebody else's (C). Where an
 * entry has two words they differ in the high one alone.
 */
enum ex_area { EX_A, EX_B, EX_C, EX_AREAS };

#define EX_SECTION_SHIFT 5
#define EX_AREA_FRAMES (1U << EX_SECTION_SHIFT)
#define EX_FRAMES (EX_AREAS * EX_AREA_FRAMES)
#define EX_FIRST_PFN 0x400UL /* a leaf that has the slots at its end begins above 0 */
#define EX_AREA_STRIDE (EX_TWO_WORDS ? 1UL << (32 - PTB_PAGE_SHIFT) : EX_AREA_FRAMES)

enum ex_layout {
	EX_ONE,	    /* one anonymous folio */
	EX_SMALL,   /* anonymous single pages */
	EX_MIXED,   /* anonymous: a folio of half the slots, then single pages */
	EX_FILE,    /* single pages of a file */
	EX_FFOLIO,  /* one folio of a file */
	EX_DEV,	    /* one compound page of a device */
	EX_DEVS,    /* single pages of a device */
	EX_NONE,    /* nothing mapped; every other page in the cache */
	EX_LEAF,    /* one anonymous folio, mapped by the entry above */
	EX_LEAFDEV, /* two compound pages of a device, mapped by the entry above */
};

struct ex_variant {
	const char *name;
	enum ex_layout layout;
	u32 attrs;
	unsigned int gup;
	unsigned int most;  /* slots at most, if not 0: more of these do not come to an end */
	unsigned int first; /* slot that the walk begins with */
};

/* What a slot mapped at some time. */
struct ex_was {
	ptb_pte_t key;
	struct page *page;
	unsigned int gen;
	bool write;
};

struct ex_frame {
	unsigned int gen; /* how often it became somebody else's */
	int refs, pins;	  /* held by others than walkers; at the page that counts for its folio */
	bool shared;	  /* not exclusive to the process any more */
	/* The counts said so, and the other side went on by that: it is copied, or merged. */
	bool unused, unwritten;
};

#define EX_WAS_MAX 12
#define EX_WALKS 2

struct ex_walk {
	unsigned int gup;
	unsigned int nr;
	unsigned long got;
	struct page *pages[EX_SLOTS];
	unsigned int gen[EX_SLOTS];
	bool answered; /* mincore: vec is filled, from a table */
	unsigned char vec[EX_SLOTS];
};

struct ex_world {
	bool leaf;
	unsigned int nr;	 /* slots mapped */
	unsigned int first, end; /* of these walked */
	unsigned long addr;
	int ptl, pml, mmap, iommu;
	/* What the kernel has */
	struct mm_struct mm, new_mm;
	ptb_pmd_t puds[2], pmds[2];
	void *tables[1];
	ptb_pte_t table[EX_SLOTS] __attribute__((__aligned__(EX_SLOTS * 8)));
	struct page map[EX_FRAMES];
	struct vm_area_struct vma;
	struct vfio_dma dma;
	struct vfio_pfn vpfn[EX_SLOTS];
	unsigned char incore[EX_SLOTS];
	unsigned char incache[EX_SLOTS];
	/* Ghost */
	ptb_pte_t cur[EX_SLOTS];    /* what the lock's holder knows to be in the table */
	ptb_pte_t moving[EX_SLOTS]; /* what a migration entry stands for */
	ptb_pmd_t above;
	struct ex_was was[EX_SLOTS][EX_WAS_MAX];
	unsigned int nr_was[EX_SLOTS];
	bool dated; /* it counts what was over before the walk began */
	int began;
	bool unwritable[EX_SLOTS]; /* before that */
	struct ex_frame frame[EX_FRAMES];
	struct ex_walk walk[EX_WALKS];
	unsigned int seq;
	bool mapped;  /* VFIO has charged what it maps */
	int pins;     /* of the node's statistics, by others than walkers */
	long charged; /* pages that ought to be on the account */
	int pagemap_refs;
};

static struct ex_world ex;
static struct user_mem ex_mem; /* as it was set up */
static unsigned int ex_slot_of_section[(EX_AREAS << (32 - 12 - EX_SECTION_SHIFT)) + 64];

static inline unsigned long ex_pfn(enum ex_area area, unsigned int i)
{
	return EX_FIRST_PFN + area * EX_AREA_STRIDE + i;
}

static inline struct page *ex_page(enum ex_area area, unsigned int i)
{
	return &ex.map[area * EX_AREA_FRAMES + i];
}

static inline struct ex_frame *ex_frame(const struct page *page)
{
	return &ex.frame[page - ex.map];
}

static inline ptb_pte_t *ex_ptep(unsigned int slot)
{
	return &ex.table[slot];
}

/* What the other side knows under its locks, without a step. */
static inline struct folio *ex_page_folio(const struct page *page)
{
	unsigned long head = page->compound_head;

	return (struct folio *)(head & 1 ? head - 1 : (unsigned long)page);
}

static inline unsigned int ex_order(const struct folio *folio)
{
	return folio->page.flags & PG_head ? folio->second.order : 0;
}

/* References that a pin of it is. */
static inline int ex_pin_refs(const struct folio *folio)
{
	return ex_order(folio) ? 1 : GUP_PIN_COUNTING_BIAS;
}

static inline bool ex_is_anon(const struct folio *folio)
{
	return folio->page.mapping & MAPPING_ANON;
}

/* Before each schedule: of what a walker may look at this alone is not in the arena. */
static void ex_reset(void *arg)
{
	(void)arg;
	mem = ex_mem;
}

/* ---- what a slot ever mapped ---- */

static inline ptb_pte_t ex_key(ptb_pte_t pte)
{
	return ptb_pte_mkold(ptb_pte_mkclean(ptb_pte_clear_soft_dirty(pte)));
}

static inline const struct ex_was *ex_find_was(unsigned int slot, ptb_pte_t pte)
{
	unsigned int i;

	for (i = 0; i < ex.nr_was[slot]; i++)
		if (user_pte_same(ex.was[slot][i].key, ex_key(pte)))
			return &ex.was[slot][i];
	return NULL;
}

static inline void ex_note_page(unsigned int slot, ptb_pte_t key, struct page *page, bool write)
{
	struct ex_was *was;
	unsigned int i;

	for (i = 0; i < ex.nr_was[slot]; i++) {
		was = &ex.was[slot][i];
		if (user_pte_same(was->key, key) && was->page == page && was->write == write &&
		    was->gen == ex_frame(page)->gen)
			return;
	}
	if (ex.nr_was[slot] == EX_WAS_MAX)
		abort();
	ex.was[slot][ex.nr_was[slot]++] = (struct ex_was){
		.key = key, .page = page, .gen = ex_frame(page)->gen, .write = write
	};
}

/* A slot is about to hold an entry. */
static inline void ex_note(unsigned int slot, ptb_pte_t pte)
{
	ex.cur[slot] = pte;
	if (ptb_pte_present(pte) && mem_pfn_valid(ptb_pte_pfn(pte)))
		ex_note_page(slot, ex_key(pte), mem_page(ptb_pte_pfn(pte)), ptb_pte_write(pte));
}

static noinline void explore_saw(const ptb_pte_t *ptep, ptb_pte_t pte)
{
	unsigned long slot = ((uintptr_t)ptep - (uintptr_t)ex.table) / sizeof(*ptep);

	if (!sched_running())
		return;
	if (slot < ex.first || slot >= ex.end)
		sched_fail("an entry outside the range was read");
	else if (ptb_pte_present(pte) && !ex_find_was(slot, pte))
		sched_fail("an entry was used that this address never had: 0x%llx",
			   (unsigned long long)fmt_val(pte));
}

/* ---- setting up ---- */

static inline struct folio *
ex_folio(enum ex_area area, unsigned int i, unsigned int order, enum folio_kind kind, int refs)
{
	struct folio *folio = mem_folio(ex_pfn(area, i), order, kind);

	folio->page.refcount = refs;
	ex_frame(&folio->page)->refs = refs;
	return folio;
}

static inline void ex_setup_mem(void)
{
	unsigned int a;

	mem = (struct user_mem){
		.map = (void *)((uintptr_t)ex.map -
				(EX_TWO_WORDS ? 0 : EX_FIRST_PFN * sizeof(struct page))),
		.nr_pages = ex_pfn(EX_AREAS, 0),
		.section_shift = EX_SECTION_SHIFT,
		.vmemmap = !EX_TWO_WORDS,
		.zero_pfn = ULONG_MAX,
		.slot = ex_slot_of_section,
		.file = { .kind = MAPPING_FILE, .nr = EX_SLOTS, .incore = ex.incore },
		.shmem.kind = MAPPING_SHMEM,
		.secretmem.kind = MAPPING_SECRETMEM,
		.swap[0] = { .nr = EX_SLOTS, .incache = ex.incache },
	};
	for (a = 0; a < EX_AREAS; a++)
		ex_slot_of_section[ex_pfn(a, 0) >> EX_SECTION_SHIFT] = a;
}

static inline void ex_setup_mm(bool leaf)
{
	unsigned int first = leaf ? 0 : FMT_PTES - EX_SLOTS;

	ex.leaf = leaf;
	ex.mm = (struct mm_struct){ .base = FMT_PUD_SIZE,
				    .end = FMT_PUD_SIZE + FMT_PMD_SIZE,
				    .puds = ex.puds,
				    .pmds = ex.pmds,
				    .tables = ex.tables,
				    .vmas = &ex.vma,
				    .nr_vmas = 1 };
	ex.addr = ex.mm.base + first * FMT_PAGE_SIZE;
	ex.tables[0] = (void *)((uintptr_t)ex.table - first * sizeof(ptb_pte_t));
	ex.vma = (struct vm_area_struct){ .vm_start = ex.addr,
					  .vm_end = ex.addr + EX_SLOTS * FMT_PAGE_SIZE,
					  .vm_flags = VM_READ | VM_WRITE | VM_MAYWRITE };
}

static inline ptb_pmd_t ex_table_entry(void)
{
	return (ptb_pmd_t){ word_mk(UPPER_TABLE | 1ULL << UPPER_PFN_SHIFT) };
}

static inline unsigned int ex_nr_order(void)
{
	return __builtin_ctz(ex.nr);
}

/* The folios of an area as a layout has them, each with @each references a mapped page. */
static inline void ex_setup_folios(enum ex_area area, enum ex_layout layout, int each)
{
	unsigned int order = ex_nr_order(), i;
	int all = each * ex.nr;

	switch (layout) {
	case EX_ONE:
		ex_folio(area, 0, order, FOLIO_ANON, all);
		break;
	case EX_LEAF:
		ex_folio(area, 0, order, FOLIO_ANON, each);
		break;
	case EX_FFOLIO:
		ex_folio(area, 0, order, FOLIO_FILE, all);
		break;
	case EX_DEV:
		ex_folio(area, 0, order, FOLIO_DEVICE, 1);
		break;
	case EX_LEAFDEV:
		ex_folio(area, 0, order - 1, FOLIO_DEVICE, 1);
		ex_folio(area, ex.nr / 2, order - 1, FOLIO_DEVICE, 1);
		break;
	case EX_MIXED:
		ex_folio(area, 0, order - 1, FOLIO_ANON, all / 2);
		for (i = ex.nr / 2; i < ex.nr; i++)
			ex_folio(area, i, 0, FOLIO_ANON, each);
		break;
	case EX_SMALL:
		for (i = 0; i < ex.nr; i++)
			ex_folio(area, i, 0, FOLIO_ANON, each);
		break;
	case EX_NONE:
	case EX_FILE:
		for (i = 0; i < ex.nr; i++)
			ex_folio(area, i, 0, FOLIO_FILE, each);
		break;
	case EX_DEVS:
		for (i = 0; i < ex.nr; i++)
			ex_folio(area, i, 0, FOLIO_DEVICE, 1);
		break;
	}
	for (i = 0; i < ex.nr; i++)
		if (area == EX_A && ex_is_anon(ex_page_folio(ex_page(area, i))))
			ex_page(area, i)->flags |= PG_anon_exclusive;
}

static inline bool ex_is_file(enum ex_layout layout)
{
	return layout == EX_FILE || layout == EX_FFOLIO || layout == EX_NONE;
}

static inline bool ex_is_device(enum ex_layout layout)
{
	return layout == EX_DEV || layout == EX_DEVS || layout == EX_LEAFDEV;
}

static inline void ex_setup_pagemap(void)
{
	struct dev_pagemap *pgmap = mem_pagemap(ex_pfn(EX_A, 0), ex.nr);
	unsigned int i;

	for (i = 0; i < ex.nr; i++)
		ex_page_folio(ex_page(EX_A, i))->page.pgmap = pgmap;
	ex.pagemap_refs = 1;
}

static inline void ex_map_slot(unsigned int slot, ptb_pte_t pte)
{
	*ex_ptep(slot) = pte;
	ex_note(slot, pte);
}

static inline ptb_pte_t ex_pte(enum ex_area area, unsigned int slot, u32 attrs)
{
	return fmt_pte_mk(ex_pfn(area, slot), attrs);
}

static inline void ex_map_leaf(u32 attrs)
{
	ptb_pmd_t leaf = { word_mk(upper_leaf(ex_pfn(EX_A, 0), attrs)) };
	unsigned int i;

	ex.pmds[0] = ex.above = leaf;
	for (i = 0; i < ex.nr; i++)
		ex_note_page(i, fmt_mk(FMT_NONE), ex_page(EX_A, i), attrs & A_WRITE);
}

#define EX_NAME(page, field) \
	sched_name(&(page)->field, sizeof((page)->field), "%c%u " #field, area, nr)

static inline void ex_name_page(const struct page *page)
{
	char area = 'A' + (page - ex.map) / EX_AREA_FRAMES;
	unsigned int nr = (page - ex.map) % EX_AREA_FRAMES;

	EX_NAME(page, flags);
	EX_NAME(page, compound_head);
	EX_NAME(page, refcount);
	EX_NAME(page, mapping);
	EX_NAME(page, pgmap);
	EX_NAME(page, order);
	EX_NAME(page, pincount);
}

static inline void ex_names(void)
{
	unsigned int i;

	sched_forget_names();
	sched_name(&ex.mm.write_protect_seq, sizeof(unsigned int), "write_protect_seq");
	sched_name(ex.puds, sizeof(ex.puds), "pud");
	sched_name(ex.pmds, sizeof(ex.pmds), "pmd");
	sched_name(&ex.ptl, sizeof(int), "ptl");
	sched_name(&ex.pml, sizeof(int), "pmd lock");
	sched_name(&ex.mmap, sizeof(int), "mmap lock");
	sched_name(&ex.iommu, sizeof(int), "iommu lock");
	sched_name(&ex.began, sizeof(int), "walk has begun");
	sched_name(&mem.pagemaps[0].refs, sizeof(int), "pagemap refs");
	sched_name(&mem.pagemaps[0].dying, sizeof(bool), "pagemap dying");
	for (i = 0; i < EX_SLOTS; i++)
		sched_name(ex_ptep(i), sizeof(ptb_pte_t), "pte[%u]", i);
	for (i = 0; i < EX_FRAMES; i++)
		if (ex.map[i].flags & PG_made)
			ex_name_page(&ex.map[i]);
}

/* Has the format the words for it. */
static inline bool ex_can(const struct ex_variant *v)
{
	return !(v->attrs & ~(u32)FMT_ATTRS);
}

static inline void ex_setup(const struct ex_variant *v, unsigned int nr)
{
	bool leaf = v->layout == EX_LEAF || v->layout == EX_LEAFDEV;
	int each = ex_is_file(v->layout) ? 2 : 1; /* the cache's, the mapping's */
	unsigned int i;

	memset(&ex, 0, sizeof(ex));
	if (EX_ORDER == 2 && v->most && nr > v->most)
		nr = v->most;
	ex.first = v->first < nr ? v->first : nr - 1;
	ex.end = nr;
	/* A block is mapped whole. */
	ex.nr = v->attrs & A_CONT ? EX_SLOTS : nr;
	ex_setup_mem();
	ex_setup_mm(leaf);
	ex_setup_folios(EX_A, v->layout, each);
	ex_setup_folios(EX_B, v->layout, 0);
	ex_setup_folios(EX_C, EX_SMALL, 1);
	if (ex_is_device(v->layout))
		ex_setup_pagemap();
	if (ex_is_file(v->layout))
		ex.vma.mapping = &mem.file;
	ex.pmds[0] = ex.above = ex_table_entry();
	if (leaf)
		ex_map_leaf(v->attrs);
	for (i = 0; i < EX_SLOTS; i++) {
		bool mapped = !leaf && i < ex.nr && v->layout != EX_NONE;

		ex_map_slot(i, mapped ? ex_pte(EX_A, i, v->attrs) : fmt_mk(FMT_NONE));
		ex.incore[i] = i & 1;
	}
	ex_mem = mem;
	ex_names();
}

#endif
