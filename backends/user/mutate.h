/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The other side, in the steps and under the locks of Linux 6.12: what it is made of. Each function
 * names the kernel's that it stands for. Where the kernel may leave something out on some machine
 * or path, so does this: a TLB flush holds nobody off unless an entry has two words.
 *
 * Refcounts are followed by ex_frame()->refs, which is what others than walkers hold.
 */
#ifndef PTB_MUTATE_H
#define PTB_MUTATE_H

#include "explore_world.h"

/* ---- read-modify-writes that raw.h has no word for ---- */

static inline u64 mut_fn_zero(u64 old, u64 arg, bool *store)
{
	(void)old;
	(void)arg;
	*store = true;
	return 0;
}

static inline u64 mut_fn_if_zero(u64 old, u64 arg, bool *store)
{
	*store = (u32)old == (u32)arg;
	return 0;
}

static inline u64 mut_fn_and_not(u64 old, u64 arg, bool *store)
{
	*store = true;
	return old & ~arg;
}

/* ---- entries, under the table lock ---- */

/* ptep_get_and_clear(): two words go low before high. */
static inline ptb_pte_t mut_clear(unsigned int slot)
{
	ptb_pte_t *ptep = ex_ptep(slot), old = ex.cur[slot];

	if (EX_TWO_WORDS) {
		u32 *words = (u32 *)ptep;

		sched_store(&words[0], sizeof(u32), 0);
		sched_wmb();
		sched_store(&words[1], sizeof(u32), 0);
	} else {
		old = fmt_mk(sched_rmw(RAW_PTE, ptep, sizeof(*ptep), mut_fn_zero, 0, !EX_RELAXED));
	}
	ex_note(slot, fmt_mk(FMT_NONE));
	return old;
}

/* set_pte_at() */
static inline void mut_set(unsigned int slot, ptb_pte_t pte)
{
	ex_note(slot, pte);
	pte_set(ex_ptep(slot), pte);
}

static u64 mut_fn_wrprotect(u64 old, u64 arg, bool *store)
{
	(void)arg;
	*store = true;
	return fmt_val(ptb_pte_wrprotect(fmt_mk(old)));
}

/* Of two words it is the low one that has these bits. */
static inline size_t mut_word_bytes(void)
{
	return EX_TWO_WORDS ? sizeof(u32) : sizeof(u64);
}

/* ptep_set_wrprotect() */
static inline void mut_wrprotect(unsigned int slot)
{
	ex_note(slot, ptb_pte_wrprotect(ex.cur[slot]));
	sched_rmw(RAW_PTE, ex_ptep(slot), mut_word_bytes(), mut_fn_wrprotect, 0, !EX_RELAXED);
}

/*
 * flush_tlb_range(): a barrier. Where it is by interrupt it waits for who has them off, which only
 * two words rely on.
 */
static inline void mut_flush(void)
{
	if (EX_TWO_WORDS)
		sched_wait_irqs();
	else
		sched_mb();
}

static inline bool mut_present(unsigned int slot)
{
	return ptb_pte_present(ex.cur[slot]);
}

static inline struct page *mut_page(unsigned int slot)
{
	return mem_page(ptb_pte_pfn(ex.cur[slot]));
}

/* Of an entry; under the lock, with what it maps still mapped. */
static inline struct folio *mut_folio(unsigned int slot)
{
	return ex_page_folio(mut_page(slot));
}

/* Slots from here on that map the same folio. */
static inline unsigned int mut_run(unsigned int slot)
{
	struct folio *folio = mut_folio(slot);
	unsigned int n = 1;

	while (slot + n < ex.nr && mut_present(slot + n) && mut_folio(slot + n) == folio)
		n++;
	return n;
}

static inline bool mut_is_block(unsigned int slot)
{
#ifdef ptb_pte_hint
	return ptb_pte_hint(ex_ptep(slot), ex.cur[slot]) > 1 ||
	       ptb_pte_hint(ex_ptep(0), ex.cur[0]) > 1;
#else
	(void)slot;
	return false;
#endif
}

/* contpte_convert(): every entry cleared, in order; flushed; every entry set, in order. */
static inline void mut_convert(u32 cont)
{
	ptb_pte_t old[EX_SLOTS];
	unsigned int i;

	for (i = 0; i < EX_SLOTS; i++)
		old[i] = mut_clear(i);
	mut_flush();
	for (i = 0; i < EX_SLOTS; i++) {
		u64 val = fmt_val(old[i]);
		u64 bit = fmt_val(fmt_pte_mk(0, A_CONT)) ^ fmt_val(fmt_pte_mk(0, 0));

		mut_set(i, fmt_mk(cont ? val | bit : val & ~bit));
	}
}

/* contpte_try_unfold(), before one entry of a block is changed */
static inline void mut_unfold(unsigned int slot)
{
	if (FMT_CONT > 1 && mut_present(slot) && mut_is_block(slot))
		mut_convert(0);
}

/* ---- counts ---- */

/* folio_get(), folio_ref_add() */
static inline void mut_get(struct folio *folio, int refs)
{
	ex_frame(&folio->page)->refs += refs;
	raw_add(RAW_REF_ADD, &folio->page.refcount, refs);
}

/*
 * The allocator gives out what was freed: one page each, to a file. free_pages_prepare(),
 * prep_new_page()
 */
static inline void mut_reuse(struct folio *folio)
{
	unsigned long nr = 1UL << ex_order(folio), i;
	struct page *page = &folio->page;

	for (i = 0; i < nr; i++) {
		*ex_frame(page + i) = (struct ex_frame){ .gen = ex_frame(page + i)->gen + 1 };
	}
	if (nr > 1)
		sched_store(&page[1].order, sizeof(page[1].order), 0);
	for (i = 1; i < nr; i++) {
		sched_store(&page[i].compound_head, sizeof(page[i].compound_head), 0);
		sched_store(&page[i].mapping, sizeof(page[i].mapping), (unsigned long)&mem.file);
	}
	sched_store(&page->flags, sizeof(page->flags), PG_made);
	sched_store(&page->mapping, sizeof(page->mapping), (unsigned long)&mem.file);
	sched_wmb();
	for (i = 0; i < nr; i++) {
		ex_frame(page + i)->refs = 1;
		sched_store(&page[i].refcount, sizeof(int), 1);
	}
}

/* folio_put_refs(); what is free is used again at once. */
static inline void mut_put(struct folio *folio, int refs)
{
	ex_frame(&folio->page)->refs -= refs;
	if (raw_sub_and_test(&folio->page.refcount, refs))
		mut_reuse(folio);
}

/* folio_maybe_dma_pinned() */
static inline bool mut_maybe_pinned(struct folio *folio)
{
	if (ex_order(folio))
		return raw_read(&folio->second.pincount) > 0;
	return raw_read(&folio->page.refcount) >= GUP_PIN_COUNTING_BIAS;
}

/* folio_ref_freeze(): all references are these, and from here on nobody gets another. */
static inline bool mut_freeze(struct folio *folio, int refs)
{
	int was = sched_rmw(RAW_TRY_REF, &folio->page.refcount, sizeof(int), mut_fn_if_zero, refs,
			    true);

	if (was != refs)
		return false;
	ex_frame(&folio->page)->refs = 0;
	return true;
}

/* folio_ref_unfreeze(): a release */
static inline void mut_unfreeze(struct page *page, int refs)
{
	ex_frame(page)->refs = refs;
	sched_wmb();
	sched_store(&page->refcount, sizeof(int), refs);
}

/* ---- exclusive ---- */

static inline bool mut_exclusive(struct page *page)
{
	return READ_ONCE(page->flags) & PG_anon_exclusive;
}

/* ClearPageAnonExclusive(): from here on the page is not this process's alone. */
static inline void mut_clear_exclusive(struct page *page)
{
	ex_frame(page)->shared = true;
	sched_rmw(RAW_FLAG, &page->flags, sizeof(page->flags), mut_fn_and_not, PG_anon_exclusive,
		  !EX_RELAXED);
}

static inline void mut_set_exclusive(struct page *page)
{
	ex_frame(page)->shared = false;
	raw_set_bits(&page->flags, PG_anon_exclusive);
}

/*
 * folio_try_share_anon_rmap_pte(), of @nr pages. The entry has been cleared; whether it was by
 * something that orders is not relied on.
 */
static inline bool mut_try_share(struct folio *folio, struct page *page, unsigned int nr)
{
	unsigned int i;

	sched_mb();
	if (mut_maybe_pinned(folio))
		return false;
	for (i = 0; i < nr; i++)
		mut_clear_exclusive(page + i);
	sched_mb();
	return true;
}

/*
 * Of rights that have been taken away, by who has told the TLBs: a walk that has not begun yet must
 * not find them. The barrier before this, and the one behind the walk's beginning, see to it that
 * one of the two is seen.
 */
static inline void mut_unwritable(void)
{
	unsigned int i;

	if (!ex.dated || raw_read(&ex.began))
		return;
	for (i = 0; i < ex.nr; i++)
		ex.unwritable[i] = true;
}

static inline void mut_lock(void)
{
	sched_lock(&ex.ptl);
}

static inline void mut_unlock(void)
{
	sched_unlock(&ex.ptl);
}

#endif
