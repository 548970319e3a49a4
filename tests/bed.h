/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A test bed: one layout, built, and everything a walker could leave behind in it, so that two
 * walkers can be compared.
 *
 * An outcome is what a walker returned and published plus the state of the whole memory afterwards.
 * bed_same() of the batched walker's and the reference walker's outcome, each on a bed built
 * afresh, is the oracle of every differential test.
 */
#ifndef TESTS_BED_H
#define TESTS_BED_H

#include "harness.h"

#include <ctype.h>

#include "build.h"
#include "ref/gup_fast.h"
#include "ref/mincore.h"
#include "ref/vfio.h"

#include <ptebatch/walk/gup_fast.h>
#include <ptebatch/walk/mincore.h>
#include <ptebatch/walk/vfio.h>

/* Room for a walk over two tables, and a little more. */
#define BED_PAGES (FMT_PTES > 512 ? 2 * FMT_PTES + 76 : 1100)

struct bed {
	struct layout layout;
	struct mm_struct mm;
};

static const struct gup_walker batched_gup __maybe_unused = { ptb_gup_fast_ptes,
							      ptb_gup_fast_leaf };
static const struct gup_walker reference_gup __maybe_unused = { ref_gup_fast_ptes,
								ref_gup_fast_leaf };

/*
 * Each entry by a call of its own. Unlike one call it keeps what came before a pagemap that has
 * gone.
 */
static inline unsigned int single_ptes(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep,
				       unsigned int nr, unsigned int gup, struct page **pages)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!ptb_gup_fast_pte(pmd, pmdp, ptep + i, gup, pages + i))
			break;
	return i;
}

static const struct gup_walker single_gup __maybe_unused = { single_ptes, ptb_gup_fast_leaf };

/* The n-th frame where a folio as large as a table may lie; they follow each other. */
#define BED_FRAME(n) ((FMT_PTES > 0x400 ? FMT_PTES : 0x400UL) + (n)*FMT_PTES)

/* Decimal digits behind + or -, if there are any; else the sign is the layout's own. */
static inline long bed_text_offset(const char **p)
{
	char *end;
	long n;

	if ((**p != '+' && **p != '-') || !isdigit((unsigned char)(*p)[1]))
		return 0;
	n = strtol(*p, &end, 10);
	*p = end;
	return n;
}

/*
 * The size of a table differs. In a layout $t is the number of its entries ($t-8, $t+4: counted
 * from there), $o the order of a folio as large, $0 to $9 the frames BED_FRAME() of such folios.
 */
static inline const char *bed_text(const char *text)
{
	static char out[8192];
	char *to = out;
	const char *p = text;

	while (*p) {
		size_t room = out + sizeof(out) - to;

		REQUIRE(room > 32, "layout too long");
		if (*p != '$') {
			*to++ = *p++;
			continue;
		}
		p += 2;
		if (p[-1] == 't')
			to += snprintf(to, room, "%ld", (long)FMT_PTES + bed_text_offset(&p));
		else if (p[-1] == 'o')
			to += snprintf(to, room, "%d", PTB_PMD_SHIFT - PTB_PAGE_SHIFT);
		else
			to += snprintf(to, room, "%lx", BED_FRAME(p[-1] - '0'));
	}
	*to = 0;
	return out;
}

static inline void bed_parse(const char *text, struct layout *l)
{
	char err[LAYOUT_ERR_MAX];

	REQUIRE(!layout_parse(bed_text(text), l, err), "%s", err);
}

/* For a row of a table: can this format say it. */
static inline bool bed_can(const char *text)
{
	struct layout l;

	bed_parse(text, &l);
	return layout_expressible(&l);
}

/*
 * False if this format has no words for it. A layout that does not parse is the test's own mistake.
 */
static inline bool bed_make(struct bed *bed, const char *text, const struct build_opts *opts)
{
	static const struct build_opts none;

	memset(&raw_hooks, 0, sizeof(raw_hooks));
	bed_parse(text, &bed->layout);
	return layout_build(&bed->layout, opts ? opts : &none, &bed->mm);
}

/* The usual way: a format that cannot express the input skips the test. */
static inline void bed_need(struct bed *bed, const char *text, const struct build_opts *opts)
{
	if (!bed_make(bed, text, opts))
		SKIP("no words for \"%s\" in this format", text);
}

static inline void bed_free(struct bed *bed)
{
	mm_exit(&bed->mm);
	mem_exit();
	memset(&raw_hooks, 0, sizeof(raw_hooks));
}

static inline unsigned long bed_addr(const struct bed *bed, unsigned long slot)
{
	return layout_addr(&bed->mm, slot);
}

static inline ptb_pte_t *bed_ptep(struct bed *bed, unsigned long slot)
{
	return mm_ptep(&bed->mm, bed_addr(bed, slot));
}

static inline struct folio *bed_folio(unsigned long pfn)
{
	return mem_page_folio(mem_page(pfn));
}

static inline int bed_refs(unsigned long pfn)
{
	return bed_folio(pfn)->page.refcount;
}

static inline int bed_pins(unsigned long pfn)
{
	return mem_folio_pincount(bed_folio(pfn));
}

/* ---- outcomes ---- */

struct folio_state {
	int refs, pins;
	unsigned long flags;
};

struct outcome {
	long ret;
	unsigned long pfns[BED_PAGES];
	unsigned char vec[BED_PAGES];
	struct folio_state folios[LAYOUT_MAX];
	unsigned int nr_folios;
	int pgmap_refs[ARRAY_SIZE(mem.pagemaps)];
	u64 acquired_less_released, freed, warned;
	u64 locked_vm;
};

static inline void outcome_state(struct outcome *o, const struct bed *bed)
{
	unsigned int i;

	o->nr_folios = bed->layout.nr_folios;
	for (i = 0; i < o->nr_folios; i++) {
		const struct folio *folio = bed_folio(bed->layout.folios[i].pfn);

		o->folios[i] = (struct folio_state){ folio->page.refcount,
						     mem_folio_pincount(folio), folio->page.flags };
	}
	for (i = 0; i < ARRAY_SIZE(mem.pagemaps); i++)
		o->pgmap_refs[i] = mem.pagemaps[i].refs;
	o->acquired_less_released = mem.pins_acquired - mem.pins_released;
	o->freed = mem.freed;
	o->warned = mem.warned;
	o->locked_vm = bed->mm.locked_vm;
}

static inline void outcome_pages(struct outcome *o, struct page **pages, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		o->pfns[i] = mem_pfn(pages[i]);
}

/* Says where they differ, in words about the product. */
static inline bool bed_same(const struct outcome *a, const struct outcome *b, const char *what)
{
	bool differ = memcmp(a, b, offsetof(struct outcome, folios)), same = true;
	unsigned int i;

#define DIFFER(cond, ...)                           \
	do {                                        \
		if (!(cond)) {                      \
			same = false;               \
			EXPECT(false, __VA_ARGS__); \
		}                                   \
	} while (0)
	DIFFER(a->ret == b->ret, "%s: batched returns %ld, per entry %ld", what, a->ret, b->ret);
	for (i = 0; differ && i < BED_PAGES; i++) {
		if (a->pfns[i] != b->pfns[i])
			DIFFER(false, "%s: page %u is frame 0x%lx batched, 0x%lx per entry", what,
			       i, a->pfns[i], b->pfns[i]);
		if (a->vec[i] != b->vec[i])
			DIFFER(false, "%s: vec[%u] is %u batched, %u per entry", what, i, a->vec[i],
			       b->vec[i]);
		if (!same)
			break;
	}
	for (i = 0; i < a->nr_folios; i++) {
		const struct folio_state *x = &a->folios[i], *y = &b->folios[i];

		DIFFER(x->refs == y->refs, "%s: folio %u has %d references batched, %d per entry",
		       what, i, x->refs, y->refs);
		DIFFER(x->pins == y->pins, "%s: folio %u has %d pins batched, %d per entry", what,
		       i, x->pins, y->pins);
		DIFFER(x->flags == y->flags, "%s: folio %u has flags %lx batched, %lx per entry",
		       what, i, x->flags, y->flags);
	}
	DIFFER(!memcmp(a->pgmap_refs, b->pgmap_refs, sizeof(a->pgmap_refs)),
	       "%s: pagemap references differ", what);
	DIFFER(a->acquired_less_released == b->acquired_less_released,
	       "%s: the node counts %lld pins batched, %lld per entry", what,
	       (long long)a->acquired_less_released, (long long)b->acquired_less_released);
	DIFFER(a->freed == b->freed, "%s: %lld folios freed batched, %lld per entry", what,
	       (long long)a->freed, (long long)b->freed);
	DIFFER(a->locked_vm == b->locked_vm, "%s: %lld pages charged batched, %lld per entry", what,
	       (long long)a->locked_vm, (long long)b->locked_vm);
	DIFFER(!a->warned == !b->warned, "%s: only one of the two warned", what);
#undef DIFFER
	return same;
}

/* ---- one walk, on a bed as it is ---- */

static inline unsigned long bed_gup_with(struct bed *bed, unsigned long slot, unsigned long nr,
					 unsigned int gup, struct page **pages,
					 const struct gup_walker *walker)
{
	return user_gup_fast(&bed->mm, bed_addr(bed, slot), nr, gup, pages, walker);
}

static inline unsigned long bed_gup(struct bed *bed, unsigned long slot, unsigned long nr,
				    unsigned int gup, struct page **pages)
{
	return bed_gup_with(bed, slot, nr, gup, pages, &batched_gup);
}

/* ---- the same walk by both walkers ---- */

/* Called on each bed after it was built, to add what a layout has no words for. */
typedef void (*bed_setup)(struct bed *bed);

static inline void gup_outcome(struct outcome *o, const char *text, const struct build_opts *opts,
			       bed_setup setup, unsigned long slot, unsigned long nr,
			       unsigned int gup, const struct gup_walker *walker)
{
	static struct page *pages[BED_PAGES];
	struct bed bed;

	*o = (struct outcome){};
	bed_need(&bed, text, opts);
	if (setup)
		setup(&bed);
	o->ret = bed_gup_with(&bed, slot, nr, gup, pages, walker);
	outcome_pages(o, pages, o->ret);
	outcome_state(o, &bed);
	bed_free(&bed);
}

/* GUP-fast by both; returns the pages taken, compared in every respect. */
static inline long bed_gup_both(const char *text, const struct build_opts *opts, bed_setup setup,
				unsigned long slot, unsigned long nr, unsigned int gup)
{
	static struct outcome a, b;

	gup_outcome(&a, text, opts, setup, slot, nr, gup, &batched_gup);
	gup_outcome(&b, text, opts, setup, slot, nr, gup, &reference_gup);
	bed_same(&a, &b, text);
	return a.ret;
}

static inline void mincore_outcome(struct outcome *o, const char *text, bed_setup setup,
				   unsigned long slot, unsigned long nr, mincore_walker walker)
{
	struct bed bed;

	*o = (struct outcome){};
	bed_need(&bed, text, NULL);
	if (setup)
		setup(&bed);
	memset(o->vec, 0xee, sizeof(o->vec));
	user_mincore(&bed.mm, &bed.mm.vmas[0], bed_addr(&bed, slot), bed_addr(&bed, slot + nr),
		     o->vec, walker);
	outcome_state(o, &bed);
	bed_free(&bed);
}

/* mincore by both; the vector, with what lies behind it, in @vec if not NULL. */
static inline void bed_mincore_both(const char *text, bed_setup setup, unsigned long slot,
				    unsigned long nr, unsigned char *vec)
{
	static struct outcome a, b;

	mincore_outcome(&a, text, setup, slot, nr, ptb_mincore_ptes);
	mincore_outcome(&b, text, setup, slot, nr, ref_mincore_ptes);
	bed_same(&a, &b, text);
	if (vec)
		memcpy(vec, a.vec, sizeof(a.vec));
}

struct vfio_walker {
	long (*pin)(struct vfio_dma *dma, unsigned long vaddr, long npage, unsigned long *pfn_base,
		    unsigned long limit, struct vfio_batch *batch);
	long (*unpin)(struct vfio_dma *dma, u64 iova, unsigned long pfn, long npage,
		      bool do_accounting);
	void (*batch_unpin)(struct vfio_batch *batch, struct vfio_dma *dma);
};

static const struct vfio_walker batched_vfio __maybe_unused = { ptb_vfio_pin, ptb_vfio_unpin,
								ptb_vfio_batch_unpin };
static const struct vfio_walker reference_vfio __maybe_unused = { ref_vfio_pin, ref_vfio_unpin,
								  ref_vfio_batch_unpin };

/**
 * struct vfio_case - a DMA mapping to be made, as vfio_pin_map_dma() does, and undone
 * @slot, @nr: where in the layout
 * @limit: RLIMIT_MEMLOCK in pages
 * @capacity: of the batch; 0: 512
 * @iova: bus address of the first page
 * @external: pages (numbered from the first) that others have pinned already, ended by -1; NULL:
 * none
 * @keep: leave it mapped
 * @cut: unmap at most so many pages at a time; 0: whole runs
 */
struct vfio_case {
	unsigned long slot, nr;
	unsigned long limit;
	int capacity;
	u64 iova;
	bool write, lock_cap, keep;
	long cut;
	const int *external;
	long (*engine)(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
		       unsigned long *pfn, struct vfio_batch *batch);
};

/*
 * By runs of contiguous frames, as the IOMMU hands them back: they need not be the runs that were
 * pinned.
 */
static inline void vfio_unmap(struct vfio_dma *dma, const unsigned long *pfns, long nr, long cut,
			      const struct vfio_walker *w)
{
	long i, run;

	for (i = 0; i < nr; i += run) {
		run = ptb_contig_pfns(pfns + i, cut && cut < nr - i ? cut : nr - i);
		w->unpin(dma, dma->iova + ((u64)i << PTB_PAGE_SHIFT), pfns[i], run, true);
	}
}

/*
 * Pin call by pin call; each run's frames go to pfns. Returns pages mapped or the error that ended
 * it, all undone.
 */
static inline long
vfio_map(struct bed *bed, const struct vfio_case *c, const struct vfio_walker *w, struct outcome *o)
{
	static struct page *pages[512];
	struct vfio_batch batch = { .pages = pages, .capacity = c->capacity ? c->capacity : 512 };
	struct vfio_dma dma = { .iova = c->iova,
				.vaddr = bed_addr(bed, c->slot),
				.write = c->write,
				.lock_cap = c->lock_cap,
				.mm = &bed->mm,
				.engine = c->engine };
	long done = 0, got = 0, i;
	unsigned int runs = 0;

	for (i = 0; c->external && c->external[i] >= 0; i++)
		vpfn_add(&dma.pfn_list, c->iova + ((u64)c->external[i] << PTB_PAGE_SHIFT));

	while (done < (long)c->nr) {
		unsigned long pfn;

		got = w->pin(&dma, dma.vaddr + ((unsigned long)done << PTB_PAGE_SHIFT),
			     c->nr - done, &pfn, c->limit, &batch);
		if (got <= 0)
			break;
		for (i = 0; i < got; i++)
			o->pfns[done + i] = pfn + i;
		o->vec[runs++] = got % 251;
		done += got;
	}
	w->batch_unpin(&batch, &dma);
	if (got <= 0 || !c->keep)
		vfio_unmap(&dma, o->pfns, done, c->cut, w);
	vpfn_clear(&dma.pfn_list);
	return got <= 0 ? got : done;
}

static inline long vfio_outcome(struct outcome *o, const char *text, const struct build_opts *opts,
				bed_setup setup, const struct vfio_case *c,
				const struct vfio_walker *w)
{
	struct bed bed;

	*o = (struct outcome){};
	bed_need(&bed, text, opts);
	if (setup)
		setup(&bed);
	o->ret = vfio_map(&bed, c, w, o);
	outcome_state(o, &bed);
	bed_free(&bed);
	return o->ret;
}

/* Map (and unmap, unless kept) by both. */
static inline long bed_vfio_both(const char *text, const struct build_opts *opts, bed_setup setup,
				 const struct vfio_case *c, struct outcome *result)
{
	static struct outcome a, b;

	vfio_outcome(&a, text, opts, setup, c, &batched_vfio);
	vfio_outcome(&b, text, opts, setup, c, &reference_vfio);
	bed_same(&a, &b, text);
	if (result)
		*result = a;
	return a.ret;
}

#endif
