// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GUP-fast on device memory by folio, against page by page: compound pages of all sizes and none,
 * several in one pagemap and several pagemaps in one range, some of them going away.
 */
#include "random.h"

#include "dax_scene.h"

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
	EXPECT_EQ(raw_hooks.count[RAW_TRY_REF], 4, "references, in one step a compound page");
	EXPECT_EQ(raw_hooks.count[RAW_REF_ADD], 0, "further references");
	EXPECT_EQ(mem.pagemaps[0].refs, 1, "references of the pagemap");
	raw_hooks.count[RAW_REF_PUT] = 0;
	ptb_dax_undo(pages, 43, FOLL_PIN);
	EXPECT_EQ(raw_hooks.count[RAW_REF_PUT], 4, "puts, one a compound page");
	EXPECT_EQ(bed_refs(FIRST_PFN) + bed_refs(FIRST_PFN + 16) + bed_refs(FIRST_PFN + 48), 3,
		  "references left");
	EXPECT_EQ(mem.pins_acquired - mem.pins_released, 0, "pins left");
	mem_exit();
}

/* A folio in much use is marked already, and nobody writes its line for nothing. */
TEST(dax_marks_no_folio_twice)
{
	struct scene s = { .order = { 2, 2 },
			   .refs = { 1, 1 },
			   .nr_folios = 2,
			   .referenced = { true, false },
			   .pagemap_end = { 8 },
			   .nr_pagemaps = 1 };
	static struct page *pages[NR_PFNS];

	make_scene(&s);
	raw_hooks.count[RAW_FLAG] = 0;
	EXPECT_EQ(ptb_dax_leaf(FIRST_PFN, 8, FOLL_GET, pages), 8, "pages");
	EXPECT_EQ(raw_hooks.count[RAW_FLAG], 1, "flags written, of two folios");
	mem_exit();
}

/* What was published goes on in the array, in the same compound page, and stays held. */
TEST(dax_undo_ends_where_it_is_told)
{
	struct scene s = { .order = { 2, 2 },
			   .refs = { 1, 1 },
			   .nr_folios = 2,
			   .pagemap_end = { 8 },
			   .nr_pagemaps = 1 };
	static struct page *pages[NR_PFNS];

	make_scene(&s);
	EXPECT_EQ(ptb_dax_leaf(FIRST_PFN, 8, FOLL_GET, pages), 8, "pages");
	ptb_dax_undo(pages, 6, FOLL_GET);
	EXPECT_EQ(bed_refs(FIRST_PFN), 1, "references of the first compound page");
	EXPECT_EQ(bed_refs(FIRST_PFN + 4), 1 + 2, "references of the second");
	ptb_dax_undo(pages + 6, 2, FOLL_GET);
	EXPECT_EQ(bed_refs(FIRST_PFN + 4), 1, "references of the second");
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
