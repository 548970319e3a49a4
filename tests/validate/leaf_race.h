/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* GUP-fast on one PMD leaf of the folio at FMT_PTES, with the other side acting at one access. */
#ifndef TESTS_VALIDATE_LEAF_RACE_H
#define TESTS_VALIDATE_LEAF_RACE_H

#include "bed.h"

#define PMD_ORDER (PTB_PMD_SHIFT - PTB_PAGE_SHIFT)
#define LEAF_RACE_MAX 64

static struct {
	struct bed bed;
	unsigned int access, at;
	bool shared, gone;
	void (*act)(void);
	ptb_pmd_t was;
} now;

static ptb_pmd_t *leaf(void)
{
	return mm_pmdp(&now.bed.mm, bed_addr(&now.bed, 0));
}

static struct folio *leaf_folio(void)
{
	return bed_folio(FMT_PTES);
}

/* Cleared; freed and reused, unless somebody holds it. */
static void zap(void)
{
	word_set(&leaf()->w, 0);
	if (leaf_folio()->page.refcount == 1) {
		now.gone = true;
		mem_folio(FMT_PTES, PMD_ORDER, FOLIO_FILE);
	}
}

/* Shared read-only with another process, unless it is pinned. */
static void share(void)
{
	if (leaf_folio()->page.refcount != 1 || !mem_folio_is_anon(leaf_folio()))
		return;
	now.shared = true;
	leaf_folio()->page.flags &= ~PG_anon_exclusive;
	word_set(&leaf()->w, upper_leaf(FMT_PTES, A_YOUNG));
}

static void protect(void)
{
	word_set(&leaf()->w, upper_leaf(FMT_PTES, A_YOUNG));
}

/* The folio stays, mapped by entries of a table from now on, and each page says whose it is. */
static void split_leaf(void)
{
	unsigned long i;

	word_set(&leaf()->w, 0);
	for (i = 1; i < FMT_PTES && leaf_folio()->page.flags & PG_anon_exclusive; i++)
		if (!(leaf_folio()->page.flags & PG_hugetlb))
			mem_page(FMT_PTES + i)->flags |= PG_anon_exclusive;
	mm_set_run(&now.bed.mm, bed_addr(&now.bed, 0), FMT_PTES, FMT_PTES, upper_attrs(now.was));
}

/* While the walk looks at other things, the device takes its memory away. */
static void kill_pagemap(void)
{
	if (mem.nr_pagemaps)
		mem.pagemaps[0].dying = true;
	word_set(&leaf()->w, 0);
}

static void step(enum raw_op op, const void *where, void *arg)
{
	(void)op;
	(void)where;
	(void)arg;
	if (now.access++ == now.at)
		now.act();
}

/* Pages @slot to @slot + @nr of the leaf that @layout begins with. False: something was wrong. */
static bool leaf_race(const char *layout, unsigned long slot, unsigned int nr, unsigned int gup,
		      const char *what)
{
	static struct page *pages[LEAF_RACE_MAX];
	bool right = true;
	unsigned int got;

#define HOLDS(cond, ...)                            \
	do {                                        \
		if (!(cond)) {                      \
			right = false;              \
			EXPECT(false, __VA_ARGS__); \
		}                                   \
	} while (0)
	bed_need(&now.bed, layout, NULL);
	now.access = 0;
	now.shared = now.gone = false;
	now.was = *leaf();
	raw_hooks.script = step;
	got = bed_gup(&now.bed, slot, nr, gup, pages);
	raw_hooks.script = NULL;
	HOLDS(got == 0 || got == nr, "%s: %u pages", what, got);
	HOLDS(!got || !now.gone, "%s: pages that had been freed", what);
	HOLDS(!got || !now.shared || !(gup & FOLL_PIN), "%s: pinned and shared", what);
	HOLDS(!got || pages[nr - 1] == mem_page(FMT_PTES + slot + nr - 1), "%s: wrong pages", what);
	user_unpin_pages(pages, got, gup);
	HOLDS(leaf_folio()->page.refcount == 1 && !mem_folio_pincount(leaf_folio()),
	      "%s: %d references, %d pins left", what, leaf_folio()->page.refcount,
	      mem_folio_pincount(leaf_folio()));
	HOLDS(mem.pins_acquired == mem.pins_released, "%s: pins left", what);
	HOLDS(!mem.nr_pagemaps || mem.pagemaps[0].refs == 1, "%s: pagemap has %d references", what,
	      mem.pagemaps[0].refs);
#undef HOLDS
	bed_free(&now.bed);
	return right;
}

static const struct {
	const char *name;
	void (*act)(void);
} leaf_acts[] = {
	{ "zap", zap },		 { "share", share },	     { "protect", protect },
	{ "split", split_leaf }, { "unplug", kill_pagemap },
};

#endif
