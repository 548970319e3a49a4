/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The other side, continued: splitting and collapsing, leaves, tables that are freed. */
#ifndef TESTS_STRESS_LARGE_H
#define TESTS_STRESS_LARGE_H

#include "others.h"

/* ---- split_huge_page() ---- */

struct unmapped {
	ptb_pte_t pte[FMT_PTES];
	unsigned int first; /* entry of the folio's first page */
	unsigned int nr, mapped;
	int expected; /* references that are known */
};

/* A page is mapped at its place or nowhere. */
static void unmap_folio(struct other *o, struct folio *folio, struct unmapped *u)
{
	unsigned long pfn = mem_pfn(&folio->page);
	unsigned int i;

	u->first = tag_of(&folio->page) - 1 - first_slot(o->t);
	u->nr = 1U << order_of(folio);
	u->mapped = u->expected = 0;
	for (i = 0; i < u->nr; i++) {
		ptb_pte_t *ptep = o->table + u->first + i;

		u->expected += child_of(pfn + i);
		u->pte[i] = fmt_mk(FMT_NONE);
		if (!ptb_pte_present(entry(ptep)) || ptb_pte_pfn(entry(ptep)) != pfn + i)
			continue;
		u->pte[i] = entry_clear(ptep);
		u->mapped++;
	}
	u->expected += u->mapped;
	flush_tlb();
}

static void remap_folio(struct other *o, const struct unmapped *u)
{
	unsigned int i;

	for (i = 0; i < u->nr; i++)
		if (ptb_pte_present(u->pte[i]))
			entry_set(o->table + u->first + i,
				  fmt_mk(fmt_val(u->pte[i]) & ~cont_bit()));
}

/* folio_ref_freeze() */
static bool freeze(struct folio *folio, int refs)
{
	return __atomic_compare_exchange_n(&folio->page.refcount, &refs, 0, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

/* __split_huge_page(): what nothing refers to is free. */
static void split_frozen(struct folio *folio, const struct unmapped *u)
{
	unsigned long pfn = mem_pfn(&folio->page);
	unsigned int i = u->nr;

	while (i--) {
		struct page *page = mem_page(pfn + i);
		int refs = ptb_pte_present(u->pte[i]) + child_of(pfn + i);

		if (i == 1)
			STORE(page->mapping, MAPPING_ANON);
		if (i)
			__atomic_store_n(&page->compound_head, 0, __ATOMIC_RELEASE);
		else
			raw_clear_bits(&page->flags, PG_head);
		if (refs)
			first_refs(pfn + i, refs);
		else
			user_folio_freed((struct folio *)page);
	}
}

static bool split(struct other *o, struct drops *d)
{
	static struct unmapped all[TABLES]; /* too large for a stack; by the lock's holder */
	struct unmapped *u = &all[o->t];
	unsigned int i = rnd_below(&o->rnd, BUSY_SLOTS);
	struct folio *folio;

	(void)d;
	if (!present_at(o, i) || !order_of(folio_at(o, i)))
		return false;
	folio = folio_at(o, i);
	unmap_folio(o, folio, u);
	if (!freeze(folio, u->expected)) {
		remap_folio(o, u);
		return false;
	}
	split_frozen(folio, u);
	remap_folio(o, u);
	return true;
}

/* ---- collapse_huge_page() ---- */

/* Which of the tables is there now. */
static unsigned long number_of(unsigned int t)
{
	return (upper_val(upper_load(pmdp_of(t))) >> UPPER_PFN_SHIFT) - 1;
}

/* __collapse_huge_page_isolate(): nobody else holds any of them. */
static bool may_collapse(const struct other *o)
{
	unsigned int i;

	for (i = 0; i < FMT_PTES; i++) {
		struct page *page;

		if (!present_at(o, i))
			continue;
		page = page_at(o, i);
		if (is_ksm(page) || order_of(mem_page_folio(page)) || !exclusive(page) ||
		    raw_read(&page->refcount) != 1)
			return false;
	}
	return true;
}

/* __collapse_huge_page_copy() takes its time, with the old entries still there. */
static void copy_small_pages(const struct other *o)
{
	unsigned int i;

	for (i = 0; i < FMT_PTES; i++)
		if (present_at(o, i))
			STORE(frame_of(page_at(o, i))->tag, TAG_MOVED);
	for (i = 0; i < 4; i++) {
		raw_hold_up();
		sched_yield();
	}
}

/*
 * The entry above goes first. The kernel then sends an interrupt that waits for GUP-fast; older
 * ones did not, so at times nor does this.
 */
static bool collapse(struct other *o, struct drops *d)
{
	unsigned long was = number_of(o->t), pfn = FMT_LEAVES ? huge_alloc() : 0;

	if (!pfn)
		return false;
	word_set(&pmdp_of(o->t)->w, 0);
	if (TWO_WORDS || rnd_once_in(&o->rnd, 4))
		wait_irqs();
	mb();
	if (!may_collapse(o)) {
		pmd_set(o->t, table_entry(was));
		lock(&world.pool);
		world.free_huge[(pfn - HUGE_PFN) / FMT_PTES] = true;
		unlock(&world.pool);
		return false;
	}
	copy_small_pages(o);
	clear_slots(o, 0, FMT_PTES, d);
	make_folio(pfn, HUGE_ORDER, first_slot(o->t));
	first_refs(pfn, 1);
	pmd_set(o->t, upper_leaf(pfn, A_WRITE | A_YOUNG));
	return true;
}

/* ---- a table is freed, and somebody else's ---- */

/* free_pgtables(): after a grace period, whatever is written there is nothing to this process. */
static bool free_table(struct other *o, struct drops *d)
{
	unsigned long was = number_of(o->t), other = was < TABLES ? was + TABLES : was - TABLES;
	ptb_pte_t *table = world.mm.tables[other];
	unsigned int i;

	/* The spare one was, until now. */
	for (i = 0; i < FMT_PTES; i++)
		pte_set(table + i, fmt_mk(FMT_NONE));
	clear_slots(o, 0, FMT_PTES, d);
	word_set(&pmdp_of(o->t)->w, 0);
	wait_irqs();
	for (i = 0; i < FMT_PTES; i++)
		pte_set(o->table + i, fmt_pte_mk(KSM_PFN + 1, A_WRITE | A_YOUNG));
	pmd_set(o->t, table_entry(other));
	return true;
}

/* ---- leaves ---- */

static struct folio *leaf_folio(unsigned int t)
{
	ptb_leaf_t leaf = { .val = upper_load(pmdp_of(t)), .shift = PTB_PMD_SHIFT };

	return (struct folio *)mem_page(user_leaf_pfn(leaf, 0));
}

static bool leaf_zap(unsigned int t, struct drops *d)
{
	struct folio *folio = leaf_folio(t);
	unsigned int i;

	word_set(&pmdp_of(t)->w, 0);
	flush_tlb();
	drop_later(d, folio, 1);
	/* An empty table, whatever became of the one that was there before. */
	for (i = 0; i < FMT_PTES; i++)
		pte_set((ptb_pte_t *)world.mm.tables[t] + i, fmt_mk(FMT_NONE));
	pmd_set(t, table_entry(t));
	return true;
}

/* __split_huge_pmd_locked(): the entries first, then the table. */
static bool leaf_to_table(unsigned int t, struct drops *d)
{
	u32 attrs = A_YOUNG | (upper_attrs(upper_load(pmdp_of(t))) & A_WRITE);
	ptb_pte_t *table = world.mm.tables[t];
	struct folio *folio = leaf_folio(t);
	bool owned = exclusive(&folio->page);
	unsigned int i;

	(void)d;
	word_set(&pmdp_of(t)->w, 0);
	flush_tlb();
	user_folio_ref_add(folio, FMT_PTES - 1);
	for (i = 0; i < FMT_PTES; i++) {
		if (owned)
			raw_set_bits(&mem_page(mem_pfn(&folio->page) + i)->flags,
				     PG_anon_exclusive);
		else
			raw_clear_bits(&mem_page(mem_pfn(&folio->page) + i)->flags,
				       PG_anon_exclusive);
		pte_set(table + i, fmt_pte_mk(mem_pfn(&folio->page) + i, attrs));
	}
	pmd_set(t, table_entry(t));
	return true;
}

static bool leaf_protect(unsigned int t, struct drops *d)
{
	u32 attrs = upper_attrs(upper_load(pmdp_of(t)));
	struct folio *folio = leaf_folio(t);

	(void)d;
	word_set(&pmdp_of(t)->w, 0);
	flush_tlb();
	attrs = attrs & A_WRITE || !exclusive(&folio->page) ? A_YOUNG : A_YOUNG | A_WRITE;
	pmd_set(t, upper_leaf(mem_pfn(&folio->page), attrs));
	return true;
}

/* copy_huge_pmd(): its child lets go at once, but the page stays shared. */
static bool leaf_fork(unsigned int t, struct drops *d)
{
	struct folio *folio = leaf_folio(t);

	lock(&world.fork);
	fork_seq();
	if (!maybe_pinned(folio)) {
		user_folio_ref_add(folio, 1);
		drop_later(d, folio, 1);
		raw_clear_bits(&folio->page.flags, PG_anon_exclusive);
		word_set(&pmdp_of(t)->w, 0);
		flush_tlb();
		pmd_set(t, upper_leaf(mem_pfn(&folio->page), A_YOUNG));
	}
	fork_seq();
	unlock(&world.fork);
	return true;
}

/* ---- one turn ---- */

static const struct {
	const char *name;
	bool (*act)(struct other *o, struct drops *d);
	unsigned int often;
} acts[] = {
	{ "zap", zap, 50 },
	{ "fault", fault, 200 },
	{ "protect", protect, 20 },
	{ "unprotect", unprotect, 30 },
	{ "age", age, 20 },
	{ "refold", refold, 40 },
	{ "fork", fork_some, 10 },
	{ "child exits", child_exits, 10 },
	{ "write fault", write_fault, 40 },
	{ "ksm", ksm, 20 },
	{ "split", split, 30 },
	{ "collapse", collapse, 40 },
	{ "free table", free_table, 1 },
};

static const struct {
	const char *name;
	bool (*act)(unsigned int t, struct drops *d);
} leaf_acts[] = {
	{ "leaf zap", leaf_zap },
	{ "leaf split", leaf_to_table },
	{ "leaf protect", leaf_protect },
	{ "leaf fork", leaf_fork },
};

struct tally {
	u64 acts[ARRAY_SIZE(acts)], leaf_acts[ARRAY_SIZE(leaf_acts)], marks;
};

static unsigned int choose_act(struct other *o)
{
	unsigned int all = 0, i, n;

	for (i = 0; i < ARRAY_SIZE(acts); i++)
		all += acts[i].often;
	n = rnd_below(&o->rnd, all);
	for (i = 0; n >= acts[i].often; i++)
		n -= acts[i].often;
	return i;
}

static void one_turn(struct other *o, struct drops *d, struct tally *tally)
{
	unsigned int i;

	o->t = rnd_below(&o->rnd, TABLES);
	d->nr = 0;
	lock(&world.table[o->t]);
	o->table = table_of(o->t);
	if (o->table) {
		i = choose_act(o);
		tally->acts[i] += acts[i].act(o, d);
	} else {
		i = rnd_below(&o->rnd, ARRAY_SIZE(leaf_acts));
		tally->leaf_acts[i] += leaf_acts[i].act(o->t, d);
	}
	unlock(&world.table[o->t]);
	drop_all(d);
}

#endif
