/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The other side: splitting a folio, and what happens to the entry above a table: collapse, freeing
 * the table, leaves.
 */
#ifndef PTB_MUTATE_TABLE_H
#define PTB_MUTATE_TABLE_H

#include "mutate_share.h"

/* ---- split_huge_page_to_list_to_order(), to single pages ---- */

/* __split_huge_page(): tails from the last to the first, then the head */
static inline void split_frozen(struct folio *folio, unsigned int nr)
{
	struct page *page = &folio->page;
	unsigned int i;

	for (i = nr - 1; i; i--) {
		sched_store(&page[i].mapping, sizeof(page[i].mapping), MAPPING_ANON);
		sched_wmb();
		sched_store(&page[i].compound_head, sizeof(page[i].compound_head), 0);
		mut_unfreeze(&page[i], 1);
	}
	sched_rmw(RAW_FLAG, &page->flags, sizeof(page->flags), mut_fn_and_not, PG_head,
		  !EX_RELAXED);
	ex_frame(page)->refs = 1;
	raw_add(RAW_REF_ADD, &page->refcount, 1);
}

static void mutate_split(void *arg)
{
	struct folio *folio = rmap_folio(0);
	unsigned int nr, i;

	(void)arg;
	if (!folio || !ex_order(folio))
		return;
	nr = 1U << ex_order(folio);
	/* The caller's reference. */
	mut_get(folio, 1);
	rmap_unmap(folio, true);
	if (!mut_freeze(folio, 1)) {
		migration_end(EX_A);
		mut_put(folio, 1);
		return;
	}
	split_frozen(folio, nr);
	migration_end(EX_A);
	for (i = 0; i < nr; i++)
		mut_put((struct folio *)(&folio->page + i), 1);
}

/* ---- the entry above ---- */

static inline void above_set(ptb_pmd_t val)
{
	ex.above = val;
	word_set(&ex.pmds[0].w, upper_val(val));
}

/* pmdp_huge_get_and_clear(), pmdp_collapse_flush() without its flush */
static inline void above_clear(void)
{
	ex.above = (ptb_pmd_t){};
	if (EX_TWO_WORDS)
		word_set(&ex.pmds[0].w, 0);
	else
		sched_rmw(RAW_PMD, &ex.pmds[0], sizeof(ex.pmds[0]), mut_fn_zero, 0, !EX_RELAXED);
}

/* Of all that a table spans, the slots are the last. */
static inline ptb_pmd_t above_leaf(enum ex_area area, u32 attrs)
{
	unsigned long pfn = ex_pfn(area, 0) - mm_pte_index(ex.addr);

	return (ptb_pmd_t){ word_mk(upper_leaf(pfn, attrs)) };
}

static inline void leaf_note(enum ex_area area, bool write)
{
	unsigned int i;

	for (i = 0; i < ex.nr; i++)
		ex_note_page(i, fmt_mk(FMT_NONE), ex_page(area, i), write);
}

/* __collapse_huge_page_isolate(): every page is mapped here alone, and nobody else holds it */
static inline bool collapse_isolate(void)
{
	bool ok = true;
	unsigned int i;

	mut_lock();
	for (i = 0; ok && i < ex.nr; i++)
		ok = mut_present(i) && !ex_order(mut_folio(i)) &&
		     raw_read(&mut_folio(i)->page.refcount) == 1;
	for (i = 0; ok && i < ex.nr; i++)
		ex_frame(mut_page(i))->unused = true;
	mut_unlock();
	return ok;
}

/* __collapse_huge_page_copy_succeeded() */
static inline void collapse_free_old(void)
{
	unsigned int i;

	for (i = 0; i < ex.nr; i++) {
		struct folio *folio = mut_folio(i);

		mut_lock();
		mut_clear(i);
		mut_unlock();
		mut_put(folio, 1);
	}
}

/*
 * collapse_huge_page(): the entry above goes first, those in the table stay until the counts have
 * been looked at. Between the two the kernel sends an interrupt that waits for GUP-fast; older ones
 * did not, and nor does this, so that it is the second look at the entry above that has to be
 * right. The leaf that comes maps B.
 */
static void setup_collapse(void)
{
	struct folio *folio = ex_folio(EX_B, 0, ex_nr_order(), FOLIO_ANON, 0);

	folio->page.flags |= PG_anon_exclusive;
}

static void mutate_collapse(void *arg)
{
	ptb_pmd_t table = ex.above;

	(void)arg;
	sched_lock(&ex.mmap);
	sched_lock(&ex.pml);
	above_clear();
	sched_mb();
	sched_unlock(&ex.pml);
	if (collapse_isolate()) {
		collapse_free_old();
		mut_unfreeze(ex_page(EX_B, 0), 1);
		table = above_leaf(EX_B, A_WRITE | A_YOUNG);
		leaf_note(EX_B, true);
	}
	sched_lock(&ex.pml);
	sched_wmb();
	above_set(table);
	sched_unlock(&ex.pml);
	sched_unlock(&ex.mmap);
}

/*
 * retract_page_tables(), free_pgtables(): the entry above is cleared, and after a grace period the
 * table is somebody else's. What it maps stays in the page cache.
 */
static void mutate_table_free(void *arg)
{
	unsigned int i;

	(void)arg;
	sched_lock(&ex.pml);
	mut_lock();
	above_clear();
	mut_flush();
	mut_unlock();
	sched_unlock(&ex.pml);
	sched_wait_irqs();
	for (i = 0; i < ex.nr; i++)
		pte_set(ex_ptep(i), ex_pte(EX_C, i, A_WRITE | A_YOUNG));
}

/* ---- leaves: the entry above maps the folio itself ---- */

static inline bool leaf_writable(void)
{
	return upper_attrs(ex.above) & A_WRITE;
}

static inline struct folio *leaf_folio(void)
{
	return (struct folio *)ex_page(EX_A, 0);
}

/* zap_huge_pmd() */
static void mutate_leaf_zap(void *arg)
{
	(void)arg;
	sched_lock(&ex.pml);
	above_clear();
	sched_unlock(&ex.pml);
	mut_flush();
	if (leaf_folio()->page.pgmap)
		truncate_device();
	else
		mut_put(leaf_folio(), 1);
}

/* pmdp_invalidate(): PROT_NONE in our words: there, but closed */
static inline void leaf_invalidate(void)
{
	above_clear();
	mut_flush();
}

/* change_huge_pmd() */
static void mutate_leaf_mprotect(void *arg)
{
	u32 attrs;

	(void)arg;
	sched_lock(&ex.pml);
	attrs = upper_attrs(ex.above);
	leaf_invalidate();
	leaf_note(EX_A, false);
	above_set(above_leaf(EX_A, attrs & ~A_WRITE));
	sched_unlock(&ex.pml);
	mut_flush();
	mut_unwritable();
}

/* copy_huge_pmd(); a pinned folio is split and copied instead, which changes nothing here */
static void mutate_leaf_fork(void *arg)
{
	struct folio *folio = leaf_folio();

	(void)arg;
	fork_seq(true);
	sched_lock(&ex.pml);
	mut_get(folio, 1);
	if (!mut_maybe_pinned(folio)) {
		/* One mark for what one leaf maps. */
		mut_clear_exclusive(&folio->page);
		leaf_note(EX_A, false);
		above_set(above_leaf(EX_A, upper_attrs(ex.above) & ~A_WRITE));
	} else {
		ex_frame(&folio->page)->refs--;
		raw_add(RAW_REF_ADD, &folio->page.refcount, -1);
	}
	sched_unlock(&ex.pml);
	fork_seq(false);
	mut_flush();
}

/*
 * __split_huge_pmd_locked(): invalid first, then a table with an entry for each page; @freeze:
 * migration entries, if the folio is not pinned.
 */
static inline void leaf_to_table(bool freeze)
{
	struct folio *folio = leaf_folio();
	bool write = leaf_writable();
	u32 attrs = A_YOUNG | (write ? A_WRITE : 0);
	unsigned int i;

	leaf_invalidate();
	if (freeze && !mut_try_share(folio, &folio->page, 1))
		freeze = false;
	if (!freeze) {
		mut_get(folio, ex.nr - 1);
		for (i = 1; i < ex.nr; i++)
			mut_set_exclusive(&folio->page + i);
	}
	for (i = 0; i < ex.nr; i++) {
		ptb_pte_t pte = ex_pte(EX_A, i, attrs);

		ex.moving[i] = pte;
		mut_set(i, freeze ? migration_entry(i, pte, true) : pte);
	}
	if (freeze)
		mut_put(folio, 1);
	sched_wmb();
	above_set(ex_table_entry());
}

static void mutate_leaf_split_pmd(void *arg)
{
	(void)arg;
	sched_lock(&ex.pml);
	leaf_to_table(false);
	sched_unlock(&ex.pml);
}

/* split_huge_page() of what a leaf maps: unmap_folio() splits the PMD on the way */
static void mutate_leaf_split(void *arg)
{
	struct folio *folio = leaf_folio();
	unsigned int i;

	(void)arg;
	mut_get(folio, 1);
	sched_lock(&ex.pml);
	leaf_to_table(true);
	sched_unlock(&ex.pml);
	if (ptb_pte_present(ex.cur[0]))
		rmap_unmap(folio, true);
	if (!mut_freeze(folio, 1)) {
		migration_end(EX_A);
		mut_put(folio, 1);
		return;
	}
	split_frozen(folio, ex.nr);
	migration_end(EX_A);
	for (i = 0; i < ex.nr; i++)
		mut_put((struct folio *)(&folio->page + i), 1);
}

/* set_pmd_migration_entry(), remove_migration_pmd() */
static void mutate_leaf_migrate(void *arg)
{
	struct folio *folio = leaf_folio(), *to = (struct folio *)ex_page(EX_B, 0);
	u32 attrs;

	(void)arg;
	mut_get(folio, 1);
	sched_lock(&ex.pml);
	attrs = upper_attrs(ex.above);
	leaf_invalidate();
	if (!mut_try_share(folio, &folio->page, 1)) {
		above_set(above_leaf(EX_A, attrs));
		sched_unlock(&ex.pml);
		mut_put(folio, 1);
		return;
	}
	above_set((ptb_pmd_t){ word_mk(UPPER_MIGRATION) });
	mut_put(folio, 1);
	sched_unlock(&ex.pml);
	if (migrate_mapping(folio))
		mut_unfreeze(&to->page, 1);
	else
		to = folio;
	sched_lock(&ex.pml);
	if (to == folio)
		mut_get(folio, 1);
	mut_set_exclusive(&to->page);
	leaf_note(to == folio ? EX_A : EX_B, attrs & A_WRITE);
	above_set(above_leaf(to == folio ? EX_A : EX_B, attrs));
	sched_unlock(&ex.pml);
	mut_put(folio, 1);
}

static u64 mut_fn_leaf_dirty(u64 old, u64 arg, bool *store)
{
	*store = old & UPPER_LEAF;
	return old | arg;
}

/* The hardware's bits of a leaf. */
static void mutate_leaf_hw(void *arg)
{
	(void)arg;
	sched_rmw(RAW_PMD, &ex.pmds[0], mut_word_bytes(), mut_fn_leaf_dirty, BIT(3), true);
}

#endif
