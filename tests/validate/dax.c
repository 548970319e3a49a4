// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GUP-fast on device memory by folio, against page by page: compound pages of all sizes and none,
 * several in one pagemap and several pagemaps in one range, some of them going away.
 */
#include "random.h"

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

/* ---- scenes ---- */

/* Compound pages of one size, of none (4K geometry), or of any. */
static void random_scene(struct rnd *r, struct scene *s)
{
	unsigned int geometry = rnd_below(r, 8), order, pagemaps;
	unsigned long pfn = 0;

	*s = (struct scene){ .p2pdma = rnd_once_in(r, 8) };
	pagemaps = 1 + rnd_below(r, 3);
	while (pfn < NR_PFNS && s->nr_folios < NR_FOLIOS) {
		order = geometry < 6 ? geometry : rnd_below(r, 6);
		while (pfn & ((1UL << order) - 1) || pfn + (1UL << order) > NR_PFNS)
			order--;
		s->order[s->nr_folios] = order;
		s->refs[s->nr_folios] = 1;
		/* Room for some references, for part of a compound page, or none at all. */
		if (rnd_once_in(r, 12))
			s->refs[s->nr_folios] =
				INT_MAX - rnd_below(r, rnd_once_in(r, 2) ? 20 : 2 * 1024);
		else if (rnd_once_in(r, 40))
			s->refs[s->nr_folios] = 0;
		s->referenced[s->nr_folios++] = rnd_once_in(r, 4);
		pfn += 1UL << order;
		if (s->nr_pagemaps < pagemaps - 1 && rnd_once_in(r, 6))
			s->pagemap_end[s->nr_pagemaps++] = pfn;
	}
	/* What is left has no page; no window goes there. */
	s->pagemap_end[s->nr_pagemaps++] = pfn;
	s->dying[s->nr_pagemaps - 1] = rnd_once_in(r, 4);
}

static unsigned long scene_end(const struct scene *s)
{
	return s->pagemap_end[s->nr_pagemaps - 1];
}

TEST(dax_takes_what_the_reference_takes)
{
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN, FOLL_PIN | FOLL_WRITE,
					     FOLL_PIN | FOLL_PCI_P2PDMA };
	struct rnd r = { 0x646178 };
	static struct state a, b;
	unsigned int i, taken = 0, refused = 0;
	struct scene s;
	char what[96];

	for (i = 0; i < HARNESS_ROUNDS(3000); i++) {
		unsigned int gup = gups[rnd_below(&r, ARRAY_SIZE(gups))], nr;
		unsigned long first;

		random_scene(&r, &s);
		first = rnd_below(&r, scene_end(&s));
		nr = 1 + rnd_below(&r, scene_end(&s) - first);
		walk(&s, first, nr, gup, ptb_dax_leaf, &a);
		walk(&s, first, nr, gup, ref_dax_leaf, &b);
		snprintf(what, sizeof(what), "scene %u, %u pages from %lu, flags 0x%x", i, nr,
			 first, gup);
		if (!same_state(&a, &b, what))
			break;
		if (a.ret)
			taken++;
		else
			refused++;
	}
	EXPECT(taken > i / 4 && refused > i / 4, "%u taken, %u refused: too few", taken, refused);
}

TEST(dax_counts_once_a_compound_page)
{
	struct scene s = { .order = { 4, 4, 4, 4 },
			   .refs = { 1, 1, 1, 1 },
			   .nr_folios = 4,
			   .pagemap_end = { 64 },
			   .nr_pagemaps = 1 };
	static struct page *pages[NR_PFNS];

	make_scene(&s);
	/* 8 of the first, two whole ones, 3 of the last */
	EXPECT_EQ(ptb_dax_leaf(FIRST_PFN + 8, 43, FOLL_PIN, pages), 43, "pages");
	EXPECT_EQ(bed_refs(FIRST_PFN), 1 + 8, "references of the first compound page");
	EXPECT_EQ(bed_refs(FIRST_PFN + 16), 1 + 16, "references of the second");
	EXPECT_EQ(bed_refs(FIRST_PFN + 48), 1 + 3, "references of the last");
	EXPECT_EQ(raw_hooks.count[RAW_TRY_REF], 4, "first references, one a compound page");
	EXPECT_EQ(raw_hooks.count[RAW_REF_ADD], 4, "further references, in one step each");
	EXPECT_EQ(mem.pagemaps[0].refs, 1, "references of the pagemap");
	raw_hooks.count[RAW_REF_PUT] = 0;
	ptb_dax_undo(pages, 43, FOLL_PIN);
	EXPECT_EQ(raw_hooks.count[RAW_REF_PUT], 4, "puts, one a compound page");
	EXPECT_EQ(bed_refs(FIRST_PFN) + bed_refs(FIRST_PFN + 16) + bed_refs(FIRST_PFN + 48), 3,
		  "references left");
	EXPECT_EQ(mem.pins_acquired - mem.pins_released, 0, "pins left");
	mem_exit();
}

/* ---- the pagemap goes away in the middle ---- */

static unsigned int access_nr, dies_at, dying_map;

static void let_die(enum raw_op op, const void *where, void *arg)
{
	(void)op;
	(void)where;
	(void)arg;
	if (access_nr++ == dies_at)
		mem.pagemaps[dying_map].dying = true;
}

static void expect_nothing_held(void)
{
	unsigned long pfn;
	unsigned int i;

	for (pfn = FIRST_PFN; pfn < FIRST_PFN + 40; pfn++)
		EXPECT(bed_refs(pfn) == 1 && !bed_pins(pfn) &&
			       !(bed_folio(pfn)->page.flags & PG_referenced),
		       "map %u dying at access %u: frame 0x%lx is held or marked", dying_map,
		       dies_at, pfn);
	for (i = 0; i < 3; i++)
		EXPECT(mem.pagemaps[i].refs == 1,
		       "map %u dying at access %u: map %u has %d references", dying_map, dies_at, i,
		       mem.pagemaps[i].refs);
	EXPECT_EQ(mem.pins_acquired - mem.pins_released, 0, "pins left");
}

/* 30 pages over three pagemaps: all of them, or none and nothing kept. */
static bool walk_while_dying(unsigned int gup)
{
	const struct scene s = { .order = { 3, 3, 0, 0, 1, 2, 3, 3 },
				 .refs = { 1, 1, 1, 1, 1, 1, 1, 1 },
				 .nr_folios = 8,
				 .pagemap_end = { 16, 20, 40 },
				 .nr_pagemaps = 3 };
	static struct page *pages[NR_PFNS];
	unsigned int got;

	make_scene(&s);
	access_nr = 0;
	raw_hooks.script = let_die;
	got = ptb_dax_leaf(FIRST_PFN + 5, 30, gup, pages);
	raw_hooks.script = NULL;
	EXPECT(got == 0 || got == 30, "%u pages of 30 taken", got);
	ptb_dax_undo(pages, got, gup);
	expect_nothing_held();
	mem_exit();
	return got;
}

TEST(dax_holds_nothing_when_a_pagemap_dies_on_the_way)
{
	unsigned int refused = 0, taken = 0;

	for (dying_map = 0; dying_map < 3; dying_map++)
		for (dies_at = 0; dies_at < 60; dies_at++) {
			*(walk_while_dying(FOLL_GET) ? &taken : &refused) += 1;
			*(walk_while_dying(FOLL_PIN) ? &taken : &refused) += 1;
		}
	EXPECT(refused && taken, "%u refused, %u taken: one never happened", refused, taken);
}
