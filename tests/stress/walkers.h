/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The walkers, and what must hold of what they return, whatever the others do meanwhile. */
#ifndef TESTS_STRESS_WALKERS_H
#define TESTS_STRESS_WALKERS_H

#include "entry.h"

#define MOST_PAGES 96

struct walker {
	struct rnd rnd;
	unsigned int self;
	/* calls, those that returned pages, those that returned more than one; under the lock */
	u64 calls, hits, runs, pages, locked, locked_pages;
};

static const struct gup_walker batched_gup = { ptb_gup_fast_ptes, ptb_gup_fast_leaf };

struct got {
	struct page *page[MOST_PAGES];
	u64 gen[MOST_PAGES];
	unsigned long slot, nr;
	unsigned int gup;
};

/* It was mapped there: it was made for this slot, or is the one that all share. */
static void check_page(const struct got *g, unsigned int i)
{
	unsigned long tag = tag_of(g->page[i]);

	if (tag == TAG_SHARED) {
		if (g->gup & (FOLL_WRITE | FOLL_PIN))
			wrong("slot %lu: a page that KSM shares, flags 0x%x", g->slot + i, g->gup);
		return;
	}
	if (tag == TAG_MOVED || tag == TAG_FREE)
		wrong("slot %lu: frame 0x%lx, which is %s", g->slot + i, mem_pfn(g->page[i]),
		      tag == TAG_FREE ? "free" : "not in use any more");
	if (tag != g->slot + i + 1)
		wrong("slot %lu: frame 0x%lx, which is for slot %lu", g->slot + i,
		      mem_pfn(g->page[i]), tag - 1);
}

/* What is pinned is this process's alone, and stays so. Of what one leaf maps the head tells. */
static bool still_exclusive(struct page *page)
{
	struct folio *folio = mem_page_folio(page);

	return (raw_more_long(&page->flags) | raw_more_long(&folio->page.flags)) &
	       PG_anon_exclusive;
}

static void check_held(const struct got *g, unsigned int i, const char *when)
{
	if (gen_of(g->page[i]) != g->gen[i])
		wrong("slot %lu: frame 0x%lx freed while held", g->slot + i, mem_pfn(g->page[i]));
	if ((g->gup & FOLL_PIN) && !still_exclusive(g->page[i]))
		wrong("slot %lu: frame 0x%lx pinned, flags 0x%x, and shared %s", g->slot + i,
		      mem_pfn(g->page[i]), g->gup, when);
}

/* A folio at a time, as unpin_user_pages() does, or page by page. */
static void let_go(struct walker *w, struct got *g)
{
	unsigned long i, run;

	if (rnd_once_in(&w->rnd, 2)) {
		user_unpin_pages(g->page, g->nr, g->gup);
		return;
	}
	for (i = 0; i < g->nr; i += run) {
		run = ptb_contig_folio(g->page + i, g->nr - i);
		ptb_put(mem_page_folio(g->page[i]), run, g->gup);
	}
}

static unsigned long random_slot(struct walker *w)
{
	unsigned long in_table = rnd_below(&w->rnd, BUSY_SLOTS + 16);

	/* Where a leaf is or was, all of it counts; and so does walking into the next table. */
	if (rnd_once_in(&w->rnd, 16))
		in_table = rnd_below(&w->rnd, FMT_PTES);
	return first_slot(rnd_below(&w->rnd, TABLES)) + in_table % FMT_PTES;
}

static void gup(struct walker *w)
{
	static const unsigned int ways[] = { FOLL_GET, FOLL_GET | FOLL_WRITE, FOLL_PIN,
					     FOLL_PIN | FOLL_WRITE, FOLL_PIN | FOLL_LONGTERM };
	struct got g = { .slot = random_slot(w) };
	unsigned long most, i;

	most = 1 + rnd_below(&w->rnd, rnd_once_in(&w->rnd, 2) ? 8 : MOST_PAGES);
	g.gup = ways[rnd_below(&w->rnd, ARRAY_SIZE(ways))];
	irqs_off(w->self);
	g.nr = user_gup_fast(&world.mm, slot_addr(g.slot), most, g.gup, g.page, &batched_gup);
	irqs_on(w->self);
	for (i = 0; i < g.nr; i++) {
		g.gen[i] = gen_of(g.page[i]);
		check_page(&g, i);
		check_held(&g, i, "at once");
	}
	if (rnd_once_in(&w->rnd, 4))
		sched_yield();
	for (i = 0; i < g.nr; i++)
		check_held(&g, i, "later");
	let_go(w, &g);
	w->calls++;
	w->pages += g.nr;
	w->hits += g.nr > 0;
	w->runs += g.nr > 1;
}

/* Under the table's lock, where only the hardware goes on: as entry by entry. */
static void locked_mincore(struct walker *w, unsigned int t, ptb_pte_t *table)
{
	unsigned int first = rnd_below(&w->rnd, BUSY_SLOTS), nr, i;
	unsigned char a[FMT_PTES], b[FMT_PTES];
	unsigned long addr = slot_addr(first_slot(t) + first);

	nr = 1 + rnd_below(&w->rnd, FMT_PTES - first);
	ptb_mincore_ptes(&world.vma, table + first, addr, nr, a);
	ref_mincore_ptes(&world.vma, table + first, addr, nr, b);
	for (i = 0; i < nr; i++)
		if (a[i] != b[i])
			wrong("mincore: slot %u of table %u is %u, per entry %u", first + i, t,
			      a[i], b[i]);
	w->locked_pages += nr;
}

/* What a run of the greedy kind may differ in. */
static ptb_pte_t looked_at(ptb_pte_t pte)
{
	pte = ptb_pte_clear_soft_dirty(ptb_pte_mkclean(pte));
	return ptb_pte_mkold(ptb_pte_wrprotect(pte));
}

static unsigned int scan_each(struct folio *folio, ptb_pte_t *ptep, unsigned int max)
{
	ptb_pte_t first = looked_at(entry(ptep)), pte;
	unsigned int n;

	for (n = 1; n < max; n++) {
		pte = entry(ptep + n);
		if (!ptb_pte_present(pte) || mem_page_folio(mem_page(ptb_pte_pfn(pte))) != folio ||
		    !ptb_pte_same(looked_at(pte), ptb_pte_advance(first, n)))
			break;
	}
	return n;
}

static void locked_scan(struct walker *w, unsigned int t, ptb_pte_t *table)
{
	unsigned int first = rnd_below(&w->rnd, BUSY_SLOTS), max, nr, each;
	ptb_pte_t pte = entry(table + first);
	struct folio *folio;

	if (!ptb_pte_present(pte))
		return;
	folio = mem_page_folio(mem_page(ptb_pte_pfn(pte)));
	max = 1 + rnd_below(&w->rnd, FMT_PTES - first);
	nr = ptb_scan_folio(folio, NULL, table + first, &pte, max, PTB_FOR_LOOK);
	each = scan_each(folio, table + first, max);
	if (nr != each)
		wrong("scan: %u entries from slot %u of table %u, each looked at %u", nr, first, t,
		      each);
	w->locked_pages += nr;
}

static void locked(struct walker *w)
{
	unsigned int t = rnd_below(&w->rnd, TABLES);
	ptb_pte_t *table;

	if (!trylock(&world.table[t]))
		return;
	table = table_of(t);
	if (table && rnd_once_in(&w->rnd, 2))
		locked_mincore(w, t, table);
	else if (table)
		locked_scan(w, t, table);
	w->locked += !!table;
	unlock(&world.table[t]);
}

#endif
