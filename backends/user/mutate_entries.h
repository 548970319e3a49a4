/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The other side: what changes entries of one table, and looks at no count before it does. */
#ifndef PTB_MUTATE_ENTRIES_H
#define PTB_MUTATE_ENTRIES_H

#include "mutate.h"

/*
 * dax_layout_busy_page(): a file's pages on a device have been unmapped, and go to another file if
 * all of them are idle, which is one reference.
 */
static inline void truncate_device(void)
{
	bool idle = true;
	unsigned int i;

	for (i = 0; idle && i < ex.nr; i++)
		if (!(ex_page(EX_A, i)->compound_head & 1))
			idle = raw_read(&ex_page(EX_A, i)->refcount) == 1;
	for (i = 0; idle && i < ex.nr; i++)
		ex_frame(ex_page(EX_A, i))->unused = true;
}

/*
 * zap_pte_range(), tlb_finish_mmu(): all entries are cleared under the lock, then the TLB is
 * flushed, then the mapping's references are dropped, a folio at a time.
 */
static inline void zap_slots(unsigned int first, unsigned int end)
{
	struct folio *folio[EX_SLOTS];
	unsigned int nr[EX_SLOTS], n = 0, i;

	mut_lock();
	if (first || end != ex.nr)
		mut_unfold(first);
	for (i = first; i < end; i++) {
		if (!mut_present(i))
			continue;
		if (n && folio[n - 1] == mut_folio(i)) {
			nr[n - 1]++;
		} else {
			folio[n] = mut_folio(i);
			nr[n++] = 1;
		}
		mut_clear(i);
	}
	mut_unlock();
	mut_flush();
	if (n && folio[0]->page.pgmap)
		truncate_device();
	else
		for (i = 0; i < n; i++)
			mut_put(folio[i], nr[i]);
}

static void mutate_zap(void *arg)
{
	(void)arg;
	zap_slots(0, ex.nr);
}

/* madvise(MADV_DONTNEED) of one page in the middle */
static void mutate_zap_one(void *arg)
{
	(void)arg;
	zap_slots(ex.nr / 2, ex.nr / 2 + 1);
}

/*
 * The frame that was just freed is given to the same process at the same address: the entry is what
 * it was.
 */
static void mutate_zap_refault(void *arg)
{
	ptb_pte_t was = ex.cur[0];
	struct page *page = mem_page(ptb_pte_pfn(was));

	(void)arg;
	zap_slots(0, 1);
	if (!ex_frame(page)->gen)
		return; /* somebody holds it */
	mut_lock();
	/* do_anonymous_page(): rmap says exclusive before the entry is there */
	sched_store(&page->mapping, sizeof(page->mapping), MAPPING_ANON);
	mut_set_exclusive(page);
	sched_wmb();
	if (!mut_present(0))
		mut_set(0, was);
	mut_unlock();
}

/*
 * change_pte_range() to read-only: ptep_modify_prot_start() and _commit() one by one, then the
 * flush. A block is unfolded at its first entry and folded again behind its last.
 */
static void mutate_mprotect(void *arg)
{
	bool block;
	unsigned int i;

	(void)arg;
	sched_lock(&ex.mmap);
	mut_lock();
	block = FMT_CONT > 1 && mut_is_block(0);
	for (i = 0; i < ex.nr; i++) {
		ptb_pte_t old;

		if (!mut_present(i))
			continue;
		mut_unfold(i);
		old = mut_clear(i);
		mut_set(i, ptb_pte_wrprotect(old));
	}
	if (block)
		mut_convert(A_CONT);
	mut_unlock();
	mut_flush();
	mut_unwritable();
	sched_unlock(&ex.mmap);
}

/* ---- the CPU's own table walker: no lock, one atomic step an entry ---- */

static u64 mut_fn_accessed(u64 old, u64 arg, bool *store)
{
	ptb_pte_t pte = fmt_mk(old);

	/* Dirty is for what may be written, and is set in what is there alone. */
	*store = ptb_pte_permitted(pte, arg);
	pte = ptb_pte_mkyoung(pte);
	return fmt_val(arg ? ptb_pte_mkdirty(pte) : pte);
}

static inline void mut_access(unsigned int slot, bool write)
{
	sched_rmw(RAW_PTE, ex_ptep(slot), mut_word_bytes(), mut_fn_accessed, write, true);
}

static void mutate_hw(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < ex.nr; i += ex.nr - 1) {
		mut_access(i, false);
		mut_access(i, true);
	}
}

/* test_and_clear_young() of reclaim, of every entry: a block keeps its bit in any of them */
static u64 mut_fn_old(u64 old, u64 arg, bool *store)
{
	(void)arg;
	*store = true;
	return fmt_val(ptb_pte_mkold(fmt_mk(old)));
}

static void mutate_aging(void *arg)
{
	unsigned int i;

	(void)arg;
	mut_lock();
	for (i = 0; i < ex.nr; i++)
		if (mut_present(i))
			sched_rmw(RAW_PTE, ex_ptep(i), mut_word_bytes(), mut_fn_old, 0,
				  !EX_RELAXED);
	mut_unlock();
}

/* ---- blocks ---- */

/* contpte_try_unfold() for a change of one entry, and contpte_try_fold() after it */
static void mutate_unfold(void *arg)
{
	(void)arg;
	mut_lock();
	mut_unfold(ex.nr - 1);
	mut_unlock();
}

static void mutate_refold(void *arg)
{
	(void)arg;
	mut_lock();
	mut_unfold(0);
	mut_convert(A_CONT);
	mut_unlock();
}

/* The block is taken away and another folio's put there: munmap(), then a fault-around. */
static void mutate_repaint(void *arg)
{
	unsigned int i;

	(void)arg;
	zap_slots(0, ex.nr);
	mut_get((struct folio *)ex_page(EX_B, 0), ex.nr);
	mut_lock();
	for (i = 0; i < ex.nr; i++)
		mut_set(i, ex_pte(EX_B, i, A_WRITE | A_YOUNG | (FMT_CONT > 1 ? A_CONT : 0)));
	mut_unlock();
}

/*
 * Entries of two words go from one frame to another that differs in the high word alone, with the
 * flush in between that ptep_get_lockless() relies on. Pages of a file: their own references stay.
 */
static void mutate_two_words(void *arg)
{
	unsigned int i;

	(void)arg;
	mut_lock();
	for (i = 0; i < ex.nr; i++) {
		struct page *page = mut_page(i);

		mut_clear(i);
		mut_flush();
		mut_get((struct folio *)ex_page(EX_B, i), 1);
		mut_set(i, ex_pte(EX_B, i, A_YOUNG));
		mut_put((struct folio *)page, 1);
	}
	mut_unlock();
}

#endif
