/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The other side: what makes a page shared, or takes it away, if nobody holds it: fork, KSM,
 * swap-out, migration.
 */
#ifndef PTB_MUTATE_SHARE_H
#define PTB_MUTATE_SHARE_H

#include "mutate_entries.h"

/* ---- fork: copy_present_ptes() under write_protect_seq ---- */

/*
 * raw_write_seqcount_begin() and _end(). That the sequence is seen before pins are looked for is
 * due to the lock taken in between, which is a full barrier on x86 and an acquire elsewhere: there
 * nothing in 6.12 orders the two, and the explorer finds that. GUP cannot make up for it, so it is
 * a full barrier here.
 */
static inline void fork_seq(bool begin)
{
	unsigned int *seq = &ex.mm.write_protect_seq;

	if (!begin)
		sched_wmb();
	sched_store(seq, sizeof(*seq), ++ex.seq);
	if (begin)
		sched_mb();
}

/* folio_try_dup_anon_rmap_ptes(): no barrier here, pins are caught by the sequence. */
static inline bool fork_try_dup(struct folio *folio, struct page *page, unsigned int nr)
{
	unsigned int i;

	if (!ex_is_anon(folio))
		return true;
	if (mut_maybe_pinned(folio))
		for (i = 0; i < nr; i++)
			if (mut_exclusive(page + i))
				return false;
	for (i = 0; i < nr; i++)
		if (mut_exclusive(page + i))
			mut_clear_exclusive(page + i);
	return true;
}

/* What may be pinned the child gets a copy of; nothing changes here then. */
static inline bool fork_copy(unsigned int slot, unsigned int nr)
{
	struct folio *folio = mut_folio(slot);
	unsigned int i;

	mut_get(folio, nr);
	if (!fork_try_dup(folio, mut_page(slot), nr)) {
		ex_frame(&folio->page)->refs -= nr;
		raw_add(RAW_REF_ADD, &folio->page.refcount, -(int)nr);
		return false;
	}
	for (i = 0; i < nr; i++)
		if (ptb_pte_write(ex.cur[slot + i]))
			mut_wrprotect(slot + i);
	return true;
}

static inline void fork_slots(unsigned int first)
{
	unsigned int i, nr, n;

	sched_lock(&ex.mmap);
	fork_seq(true);
	mut_lock();
	for (i = first; i < ex.nr; i += nr) {
		nr = 1;
		if (!mut_present(i))
			continue;
		nr = mut_run(i);
		if (fork_copy(i, nr))
			continue;
		/* Again, page by page, with one to copy to at hand. */
		for (n = 0; nr > 1 && n < nr; n++)
			fork_copy(i + n, 1);
	}
	mut_unlock();
	fork_seq(false);
	mut_flush();
	sched_unlock(&ex.mmap);
}

static void mutate_fork(void *arg)
{
	(void)arg;
	fork_slots(0);
}

/* The lower half is not for children: madvise(MADV_DONTFORK). */
static void mutate_fork_half(void *arg)
{
	(void)arg;
	fork_slots(ex.nr / 2);
}

/* ---- KSM ---- */

/* write_protect_page(): the entry as it is then, or none if the page is in use */
static inline ptb_pte_t ksm_write_protect(unsigned int slot, struct folio *folio)
{
	ptb_pte_t pte = ex.cur[slot];
	bool exclusive = mut_exclusive(&folio->page);

	if (!ptb_pte_write(pte) && !ptb_pte_dirty(pte) && !exclusive)
		return pte;
	pte = mut_clear(slot);
	mut_flush();
	/* The mapping's reference and KSM's own. */
	if (raw_read(&folio->page.refcount) != 2 ||
	    (exclusive && !mut_try_share(folio, &folio->page, 1))) {
		mut_set(slot, pte);
		return fmt_mk(FMT_NONE);
	}
	ex_frame(&folio->page)->unwritten = true;
	pte = ptb_pte_wrprotect(ptb_pte_mkclean(pte));
	mut_set(slot, pte);
	return pte;
}

/* replace_page() by the shared one, read-only */
static inline void ksm_replace(unsigned int slot, struct folio *folio, ptb_pte_t orig)
{
	mut_get((struct folio *)ex_page(EX_C, 0), 1);
	mut_clear(slot);
	mut_flush();
	mut_set(slot, ptb_pte_wrprotect(ex_pte(EX_C, 0, A_YOUNG)));
	mut_put(folio, 1);
	(void)orig;
}

/* One page: the second, so that runs begin before it and go on behind it. */
static void mutate_ksm(void *arg)
{
	unsigned int slot = 1;
	struct folio *folio;
	ptb_pte_t orig;

	(void)arg;
	mut_lock();
	if (!mut_present(slot) || ex_order(mut_folio(slot))) {
		mut_unlock();
		return;
	}
	folio = mut_folio(slot);
	/* follow_page() of the scan */
	mut_get(folio, 1);
	orig = ksm_write_protect(slot, folio);
	mut_unlock();
	if (!ptb_pte_none(orig)) {
		mut_lock();
		if (mut_present(slot) && user_pte_same(ex.cur[slot], orig))
			ksm_replace(slot, folio, orig);
		mut_unlock();
	}
	mut_put(folio, 1);
}

/* ---- reclaim and migration: the rmap walk ---- */

static inline ptb_pte_t swap_entry(unsigned int slot, bool exclusive)
{
	return fmt_swp_mk(0, slot, exclusive ? A_EXCLUSIVE : 0);
}

static inline ptb_pte_t migration_entry(unsigned int slot, ptb_pte_t old, bool exclusive)
{
	unsigned int type = ptb_pte_write(old) ? SWP_MIGRATION_WRITE
			    : exclusive	       ? SWP_MIGRATION_READ_EXCLUSIVE
					       : SWP_MIGRATION_READ;

	return fmt_swp_mk(type, slot, 0);
}

/*
 * try_to_unmap_one(), try_to_migrate_one(): the TLB flush is put off, so but for two words there is
 * none here. False: it is pinned, and mapped as before.
 */
static inline bool rmap_unmap_one(unsigned int slot, struct folio *folio, bool migrate)
{
	struct page *page = mut_page(slot);
	bool exclusive = ex_is_anon(folio) && mut_exclusive(page);
	ptb_pte_t old;

	mut_unfold(slot);
	old = mut_clear(slot);
	if (EX_TWO_WORDS)
		mut_flush();
	if (exclusive && !mut_try_share(folio, page, 1)) {
		mut_set(slot, old);
		return false;
	}
	ex.moving[slot] = old;
	if (migrate)
		mut_set(slot, migration_entry(slot, old, exclusive));
	else if (ex_is_anon(folio))
		mut_set(slot, swap_entry(slot, exclusive));
	mut_put(folio, 1);
	return true;
}

/* Every entry of a folio under one hold of the lock; false as soon as one fails. */
static inline bool rmap_unmap(struct folio *folio, bool migrate)
{
	bool unmapped = true;
	unsigned int i;

	mut_lock();
	for (i = 0; unmapped && i < ex.nr; i++)
		if (mut_present(i) && mut_folio(i) == folio)
			unmapped = rmap_unmap_one(i, folio, migrate);
	mut_unlock();
	return unmapped;
}

/* shrink_folio_list(): into the swap cache, unmapped, written, and freed if nobody holds it */
static inline void swap_out(struct folio *folio)
{
	unsigned int nr = 1U << ex_order(folio), i;
	unsigned int first = &folio->page - ex_page(EX_A, 0);

	/* Isolated from the LRU by one reference, the cache's come to it. */
	mut_get(folio, 1 + nr);
	for (i = 0; i < nr; i++)
		sched_store(&ex.incache[first + i], 1, 1);
	if (rmap_unmap(folio, false)) {
		/* try_to_unmap_flush(), then __remove_mapping() */
		sched_mb();
		if (mut_freeze(folio, 1 + nr)) {
			for (i = 0; i < nr; i++)
				sched_store(&ex.incache[first + i], 1, 0);
			mut_reuse(folio);
			return;
		}
	}
	/* Stays in the cache. */
	mut_put(folio, 1);
}

/* The folio of a slot: nobody else frees it while it is isolated. */
static inline struct folio *rmap_folio(unsigned int slot)
{
	struct folio *folio = NULL;

	mut_lock();
	if (mut_present(slot))
		folio = mut_folio(slot);
	mut_unlock();
	return folio;
}

static void mutate_swap(void *arg)
{
	struct folio *folio = rmap_folio(0);

	(void)arg;
	if (folio)
		swap_out(folio);
}

/* mk_pte(), and what the migration entry kept; a block is not folded again. */
static inline ptb_pte_t migration_pte(enum ex_area area, unsigned int slot)
{
	ptb_pte_t was = ex.moving[slot];

	return ex_pte(area, slot,
		      (ptb_pte_write(was) ? A_WRITE : 0) | (ptb_pte_young(was) ? A_YOUNG : 0) |
			      (ptb_pte_dirty(was) ? A_DIRTY : 0));
}

/* remove_migration_ptes(): entries again, to the new folio or the old one */
static inline void migration_end(enum ex_area area)
{
	unsigned int i;

	mut_lock();
	for (i = 0; i < ex.nr; i++) {
		struct page *page = ex_page(area, i);
		struct folio *folio = ex_page_folio(page);
		unsigned int type = fmt_swp_type(ex.cur[i]);

		if (mut_present(i) || ptb_pte_none(ex.cur[i]) || type < SWP_MIGRATION_READ ||
		    type > SWP_MIGRATION_WRITE)
			continue;
		mut_get(folio, 1);
		if (ex_is_anon(folio) && type != SWP_MIGRATION_READ)
			mut_set_exclusive(page);
		mut_set(i, migration_pte(area, i));
	}
	mut_unlock();
}

/* migrate_folio_move(): is the reference that isolated it the last */
static inline bool migrate_mapping(struct folio *folio)
{
	unsigned int i;

	if (raw_read(&folio->page.refcount) != 1)
		return false;
	if (ex_order(folio)) {
		if (!mut_freeze(folio, 1))
			return false;
		mut_unfreeze(&folio->page, 1);
	}
	for (i = 0; i < 1U << ex_order(folio); i++)
		ex_frame(&folio->page + i)->unused = true;
	return true;
}

static void mutate_migrate(void *arg)
{
	struct folio *folio = rmap_folio(0);
	struct page *to = ex_page(EX_B, 0);

	(void)arg;
	if (!folio)
		return;
	mut_get(folio, 1);
	rmap_unmap(folio, true);
	if (migrate_mapping(folio)) {
		mut_unfreeze(to, 1);
		migration_end(EX_B);
		mut_put((struct folio *)to, 1);
	} else {
		migration_end(EX_A);
	}
	mut_put(folio, 1);
}

#endif
