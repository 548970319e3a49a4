/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The other side: what a process, its children, the kernel and the hardware do to its tables. Each
 * takes the table's lock, as in the kernel, and walkers do not.
 */
#ifndef TESTS_STRESS_OTHERS_H
#define TESTS_STRESS_OTHERS_H

#include "entry.h"

/* One other thread. @table is locked and has entries wherever this is given to somebody. */
struct other {
	struct rnd rnd;
	unsigned int t;
	ptb_pte_t *table;
};

/* References to be dropped once the lock is: one a page. */
struct drop {
	struct folio *folio;
	int refs;
};

struct drops {
	struct drop drop[FMT_PTES];
	unsigned int nr;
};

static inline struct page *page_at(const struct other *o, unsigned int i)
{
	return mem_page(ptb_pte_pfn(entry(o->table + i)));
}

static inline struct folio *folio_at(const struct other *o, unsigned int i)
{
	return mem_page_folio(page_at(o, i));
}

static inline bool present_at(const struct other *o, unsigned int i)
{
	return ptb_pte_present(entry(o->table + i));
}

static inline bool is_ksm(const struct page *page)
{
	return mem_pfn(page) == KSM_PFN;
}

static inline bool exclusive(const struct page *page)
{
	return raw_more_long(&page->flags) & PG_anon_exclusive;
}

static void drop_later(struct drops *d, struct folio *folio, int refs)
{
	if (d->nr && d->drop[d->nr - 1].folio == folio)
		d->drop[d->nr - 1].refs += refs;
	else
		d->drop[d->nr++] = (struct drop){ folio, refs };
}

static void drop_all(const struct drops *d)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++)
		put_folio(d->drop[i].folio, d->drop[i].refs);
}

/* A few entries from anywhere; mostly few, at times a block or more. */
static unsigned int some_slots(struct other *o, unsigned int *first)
{
	unsigned int nr = rnd_once_in(&o->rnd, 3) ? 32 : 4;

	*first = rnd_below(&o->rnd, BUSY_SLOTS);
	nr = 1 + rnd_below(&o->rnd, nr);
	return *first + nr > FMT_PTES ? FMT_PTES - *first : nr;
}

/* ---- zap, and faults that use the memory again ---- */

static void clear_slots(struct other *o, unsigned int first, unsigned int nr, struct drops *d)
{
	unsigned int i;

	unfold_ends(o->table, first, nr);
	for (i = first; i < first + nr; i++) {
		ptb_pte_t pte = entry_clear(o->table + i);

		if (ptb_pte_present(pte))
			drop_later(d, mem_page_folio(mem_page(ptb_pte_pfn(pte))), 1);
	}
}

/* zap_pte_range(): the references go after the flush. */
static bool zap(struct other *o, struct drops *d)
{
	unsigned int first, nr = some_slots(o, &first);

	clear_slots(o, first, nr, d);
	flush_tlb();
	return d->nr;
}

static bool all_none(const struct other *o, unsigned int first, unsigned int nr)
{
	unsigned int i;

	for (i = first; i < first + nr; i++)
		if (!ptb_pte_none(entry(o->table + i)))
			return false;
	return true;
}

static void map_folio(struct other *o, unsigned int first, unsigned long pfn, unsigned int nr)
{
	u32 attrs = A_WRITE | A_YOUNG | (rnd_once_in(&o->rnd, 2) ? A_DIRTY : 0);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		bool block = FMT_CONT > 1 && nr >= FMT_CONT;

		entry_set(o->table + first + i, fmt_pte_mk(pfn + i, attrs | (block ? A_CONT : 0)));
	}
}

/* do_anonymous_page(), of a folio as large as there is room for */
static bool fault(struct other *o, struct drops *d)
{
	/* One table has small ones alone, as only those are collapsed. */
	unsigned int order = o->t ? rnd_below(&o->rnd, LARGE_ORDER + 1) : 0, first;
	unsigned long pfn;

	(void)d;
	first = rnd_below(&o->rnd, BUSY_SLOTS) & ~((1U << order) - 1);
	while (order && !all_none(o, first, 1U << order))
		order--;
	first &= ~((1U << order) - 1);
	if (!all_none(o, first, 1U << order))
		return false;
	pfn = small_alloc(order);
	if (!pfn)
		return false;
	make_folio(pfn, order, first_slot(o->t) + first);
	first_refs(pfn, 1 << order);
	map_folio(o, first, pfn, 1U << order);
	return true;
}

/* ---- rights and marks ---- */

/* change_pte_range() */
static bool protect(struct other *o, struct drops *d)
{
	unsigned int first, nr = some_slots(o, &first), i;

	(void)d;
	for (i = first; i < first + nr; i++) {
		unfold(o->table, i);
		entry_modify(o->table + i, ptb_pte_wrprotect);
	}
	flush_tlb();
	return true;
}

static ptb_pte_t writable(ptb_pte_t pte)
{
	return ptb_pte_mkwrite(pte, &world.vma);
}

/* can_change_pte_writable(): what this process alone owns */
static bool unprotect(struct other *o, struct drops *d)
{
	unsigned int first, nr = some_slots(o, &first), i;

	(void)d;
	for (i = first; i < first + nr; i++) {
		if (!present_at(o, i) || !exclusive(page_at(o, i)))
			continue;
		unfold(o->table, i);
		entry_modify(o->table + i, writable);
	}
	return true;
}

static bool age(struct other *o, struct drops *d)
{
	unsigned int first, nr = some_slots(o, &first), i;

	(void)d;
	for (i = first; i < first + nr; i++)
		entry_modify(o->table + i, ptb_pte_mkold);
	return true;
}

/* Blocks taken apart and put together, with nothing else changed. */
static bool refold(struct other *o, struct drops *d)
{
	unsigned int first, nr = some_slots(o, &first);

	(void)d;
	(void)nr;
	if (FMT_CONT == 1)
		return false;
	if (in_block(entry(o->table + first)))
		unfold(o->table, first);
	else
		fold(o->table, first);
	return true;
}

/* ---- fork, and the children's end ---- */

/*
 * copy_present_ptes(): a page that may be pinned the child gets a copy of, and nothing happens
 * here; else both have it read-only.
 */
static void fork_page(struct other *o, unsigned int i)
{
	struct page *page = page_at(o, i);
	struct folio *folio = mem_page_folio(page);

	if (exclusive(page)) {
		if (maybe_pinned(folio))
			return;
		raw_clear_bits(&page->flags, PG_anon_exclusive);
	}
	if (is_ksm(page))
		return;
	set_child(mem_pfn(page), child_of(mem_pfn(page)) + 1);
	user_folio_ref_add(folio, 1);
	if (ptb_pte_write(entry(o->table + i))) {
		unfold(o->table, i);
		entry_modify(o->table + i, ptb_pte_wrprotect);
	}
}

/* raw_write_seqcount_begin() and end(); one fork at a time */
static void fork_seq(void)
{
	mb();
	__atomic_fetch_add(&world.mm.write_protect_seq, 1, __ATOMIC_SEQ_CST);
	mb();
}

static bool fork_some(struct other *o, struct drops *d)
{
	unsigned int first, nr = some_slots(o, &first), i;

	(void)d;
	lock(&world.fork);
	fork_seq();
	for (i = first; i < first + nr; i++)
		if (present_at(o, i))
			fork_page(o, i);
	fork_seq();
	unlock(&world.fork);
	flush_tlb();
	return true;
}

/*
 * Pages that are or were mapped by this table. A child's reference keeps the tag as it is, so that
 * is looked at second.
 */
static bool child_exits(struct other *o, struct drops *d)
{
	unsigned long first = first_slot(o->t), pfn;

	for (pfn = SMALL_PFNS; pfn < END_PFN && d->nr < ARRAY_SIZE(d->drop); pfn++) {
		if (pfn == 2 * SMALL_PFNS)
			pfn = HUGE_PFN;
		if (!child_of(pfn) || tag_of(mem_page(pfn)) - 1 - first >= FMT_PTES)
			continue;
		drop_later(d, mem_page_folio(mem_page(pfn)), child_of(pfn));
		set_child(pfn, 0);
	}
	return d->nr;
}

/* ---- a write to a page that is not ours alone ---- */

/* wp_can_reuse_anon_folio(): its mapping here is the only reference left */
static bool may_reuse(struct page *page)
{
	return !is_ksm(page) && !order_of(mem_page_folio(page)) && raw_read(&page->refcount) == 1;
}

static bool copy_page(struct other *o, unsigned int i, struct drops *d)
{
	unsigned long pfn = small_alloc(0);
	struct page *old = page_at(o, i);

	if (!pfn)
		return false;
	make_folio(pfn, 0, first_slot(o->t) + i);
	first_refs(pfn, 1);
	unfold(o->table, i);
	entry_clear(o->table + i);
	flush_tlb();
	entry_set(o->table + i, fmt_pte_mk(pfn, A_WRITE | A_YOUNG | A_DIRTY));
	drop_later(d, mem_page_folio(old), 1);
	return true;
}

/* do_wp_page() */
static bool write_fault(struct other *o, struct drops *d)
{
	unsigned int first, nr = some_slots(o, &first), i;
	bool any = false;

	for (i = first; i < first + nr; i++) {
		if (!present_at(o, i) || exclusive(page_at(o, i)))
			continue;
		if (may_reuse(page_at(o, i))) {
			raw_set_bits(&page_at(o, i)->flags, PG_anon_exclusive);
			entry_modify(o->table + i, writable);
			any = true;
		} else {
			any |= copy_page(o, i, d);
		}
	}
	return any;
}

/* ---- KSM ---- */

/* write_protect_page(), replace_page() */
static bool ksm(struct other *o, struct drops *d)
{
	unsigned int i = rnd_below(&o->rnd, BUSY_SLOTS);
	struct page *page;
	ptb_pte_t pte;

	if (!present_at(o, i) || order_of(folio_at(o, i)) || is_ksm(page_at(o, i)))
		return false;
	page = page_at(o, i);
	pte = entry_clear(o->table + i);
	flush_tlb();
	/* folio_try_share_anon_rmap_pte(): the entry went, now who has pinned it? */
	mb();
	if (raw_read(&page->refcount) != 1) {
		entry_set(o->table + i, pte);
		return false;
	}
	raw_clear_bits(&page->flags, PG_anon_exclusive);
	STORE(frame_of(page)->tag, TAG_MOVED);
	mb();
	user_folio_ref_add((struct folio *)mem_page(KSM_PFN), 1);
	entry_set(o->table + i, fmt_pte_mk(KSM_PFN, A_YOUNG));
	drop_later(d, (struct folio *)page, 1);
	return true;
}

#endif
