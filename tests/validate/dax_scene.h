/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A range of device memory in compound pages, walked; and all that a walk leaves behind. */
#ifndef TESTS_VALIDATE_DAX_SCENE_H
#define TESTS_VALIDATE_DAX_SCENE_H

#include "bed.h"

#define FIRST_PFN 0x400UL
#define NR_PFNS 192UL
#define NR_FOLIOS 64

/* A range of device memory: folios side by side, cut into pagemaps. */
struct scene {
	unsigned char order[NR_FOLIOS];
	int refs[NR_FOLIOS];
	bool referenced[NR_FOLIOS];
	unsigned int nr_folios;
	unsigned long pagemap_end[3]; /* in frames from FIRST_PFN on; the last ends the range */
	bool dying[3], p2pdma;
	unsigned int nr_pagemaps;
};

/* All there is to compare. */
struct state {
	long ret;
	unsigned long pfns[NR_PFNS];
	struct folio_state frames[NR_PFNS];
	int pagemap_refs[3];
	u64 pins;
};

typedef unsigned int (*dax_fn)(unsigned long pfn, unsigned int nr, unsigned int gup,
			       struct page **pages);

static void make_scene(const struct scene *s)
{
	unsigned long pfn = FIRST_PFN, from = FIRST_PFN;
	unsigned int i, m = 0;

	memset(&raw_hooks, 0, sizeof(raw_hooks));
	mem_init(&(struct mem_opts){ .nr_pages = FIRST_PFN + NR_PFNS + 64 });
	for (i = 0; i < s->nr_pagemaps; i++) {
		struct dev_pagemap *pgmap = mem_pagemap(from, FIRST_PFN + s->pagemap_end[i] - from);

		pgmap->dying = s->dying[i];
		pgmap->p2pdma = s->p2pdma;
		from = FIRST_PFN + s->pagemap_end[i];
	}
	for (i = 0; i < s->nr_folios; i++) {
		struct folio *folio = mem_folio(pfn, s->order[i], FOLIO_DEVICE);

		while (pfn >= FIRST_PFN + s->pagemap_end[m])
			m++;
		folio->page.pgmap = &mem.pagemaps[m];
		folio->page.refcount = s->refs[i];
		if (s->referenced[i])
			folio->page.flags |= PG_referenced;
		pfn += 1UL << s->order[i];
	}
}

static void note_state(struct state *st)
{
	unsigned long i;

	for (i = 0; i < NR_PFNS; i++) {
		struct folio *folio = bed_folio(FIRST_PFN + i);

		st->frames[i] =
			(struct folio_state){ folio->page.refcount, mem_folio_pincount(folio),
					      folio->page.flags };
	}
	for (i = 0; i < mem.nr_pagemaps; i++)
		st->pagemap_refs[i] = mem.pagemaps[i].refs;
	st->pins = mem.pins_acquired - mem.pins_released;
}

static void walk(const struct scene *s, unsigned long first, unsigned int nr, unsigned int gup,
		 dax_fn leaf, struct state *st)
{
	static struct page *pages[NR_PFNS];
	long i;

	memset(st, 0, sizeof(*st));
	make_scene(s);
	st->ret = leaf(FIRST_PFN + first, nr, gup, pages);
	for (i = 0; i < st->ret; i++)
		st->pfns[i] = mem_pfn(pages[i]);
	note_state(st);
	mem_exit();
}

static bool same_state(const struct state *a, const struct state *b, const char *what)
{
	unsigned int i;

	if (a->ret != b->ret) {
		EXPECT(false, "%s: batched takes %ld pages, per page %ld", what, a->ret, b->ret);
		return false;
	}
	for (i = 0; i < NR_PFNS; i++) {
		const struct folio_state *x = &a->frames[i], *y = &b->frames[i];

		if (a->pfns[i] == b->pfns[i] && x->refs == y->refs && x->pins == y->pins &&
		    x->flags == y->flags)
			continue;
		EXPECT(false,
		       "%s: frame %u: page 0x%lx, %d refs, %d pins, flags %lx batched; page 0x%lx, "
		       "%d refs, %d pins, flags %lx per page",
		       what, i, a->pfns[i], x->refs, x->pins, x->flags, b->pfns[i], y->refs,
		       y->pins, y->flags);
		return false;
	}
	if (memcmp(a->pagemap_refs, b->pagemap_refs, sizeof(a->pagemap_refs)) ||
	    a->pins != b->pins) {
		EXPECT(false, "%s: pagemap references or pins of the node differ", what);
		return false;
	}
	return true;
}

static unsigned long scene_end(const struct scene *s)
{
	return s->pagemap_end[s->nr_pagemaps - 1];
}

#endif
