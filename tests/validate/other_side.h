/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The other side of GUP-fast in race.h. What it does has two steps, as in the kernel: it changes
 * the entries, and later looks at the counts and goes on by what they say.
 */
#ifndef TESTS_VALIDATE_OTHER_SIDE_H
#define TESTS_VALIDATE_OTHER_SIDE_H

#include "bed.h"

#define FIRST_PFN 0x100UL
#define NR_PFNS 0x700UL
#define NR_SLOTS 36

/* Of frames, beside what struct page has: must not be in a walker's hands, or not pinned. */
#define PG_gone BIT(30)
#define PG_shared_now BIT(31)

struct act {
	const char *name;
	void (*first)(void);
	void (*second)(void);
};

/* One act: each step just before the access of that number, or before the first one after it. */
struct turn {
	const struct act *act;
	unsigned int first, second;
	bool first_done, second_done;
};

static struct {
	struct bed bed;
	ptb_pte_t built[NR_SLOTS]; /* as the table was built */
	ptb_pte_t was[NR_SLOTS];   /* as it was before the act */
	ptb_pmd_t pmd_was;
	unsigned int nr;
	int owner[NR_PFNS]; /* references that are not the walker's */
	unsigned int access;
	struct turn turns[2]; /* one after the other */
	unsigned int nr_turns;
} now;

/* ---- the other side ---- */

static ptb_pte_t *ptep_of(unsigned int slot)
{
	return bed_ptep(&now.bed, slot);
}

static void clear_all(void)
{
	unsigned int i;

	for (i = 0; i < now.nr; i++)
		pte_set(ptep_of(i), fmt_mk(FMT_NONE));
}

static void restore_all(void)
{
	unsigned int i;

	for (i = 0; i < now.nr; i++)
		pte_set(ptep_of(i), now.was[i]);
}

/* The folio of a slot as it was mapped, or NULL: nobody frees the zero page. */
static struct folio *folio_of(unsigned int slot)
{
	unsigned long pfn;

	if (!ptb_pte_present(now.was[slot]))
		return NULL;
	pfn = ptb_pte_pfn(now.was[slot]);
	return mem_pfn_valid(pfn) && pfn != mem.zero_pfn ? bed_folio(pfn) : NULL;
}

static int *owner_of(struct folio *folio)
{
	return &now.owner[mem_pfn(&folio->page) - FIRST_PFN];
}

static bool held_by_others(struct folio *folio)
{
	return folio->page.refcount != *owner_of(folio);
}

static bool pinned(struct folio *folio)
{
	return mem_folio_order(folio) ? folio->second.pincount > 0
				      : folio->page.refcount >= GUP_PIN_COUNTING_BIAS;
}

/* Freed, and at once somebody else's: one page each. */
static void reuse(struct folio *folio)
{
	unsigned long pfn = mem_pfn(&folio->page), nr = 1UL << mem_folio_order(folio), i;

	for (i = 0; i < nr; i++) {
		mem_folio(pfn + i, 0, FOLIO_FILE)->page.flags |= PG_gone;
		now.owner[pfn + i - FIRST_PFN] = 1;
	}
}

/* The mapping lets go of its folios; who else holds one keeps it from being freed. */
static void drop_all(void)
{
	unsigned int i;

	for (i = 0; i < now.nr; i++) {
		struct folio *folio = folio_of(i);

		if (!folio || !*owner_of(folio) || folio->page.flags & PG_gone)
			continue;
		if (held_by_others(folio)) {
			folio->page.refcount--;
			*owner_of(folio) = 0;
		} else {
			reuse(folio);
		}
	}
}

static bool any_held(void)
{
	unsigned int i;

	for (i = 0; i < now.nr; i++)
		if (folio_of(i) && held_by_others(folio_of(i)))
			return true;
	return false;
}

/* Migration, collapse, split: all of it, or as it was. */
static void migrate(void)
{
	if (any_held())
		restore_all();
	else
		drop_all();
}

static void take_table(void)
{
	word_set(&mm_pmdp(&now.bed.mm, bed_addr(&now.bed, 0))->w, 0);
}

static void collapse(void)
{
	if (any_held())
		word_set(&mm_pmdp(&now.bed.mm, bed_addr(&now.bed, 0))->w, upper_val(now.pmd_was));
	else
		drop_all(); /* the entries are still there: nobody should be looking */
}

static void split(void)
{
	unsigned int i;

	for (i = 0; i < now.nr; i++) {
		struct folio *folio = folio_of(i);
		unsigned long pfn, n;

		if (!folio || held_by_others(folio) || !mem_folio_order(folio))
			continue;
		pfn = mem_pfn(&folio->page) - FIRST_PFN;
		for (n = 0; n < 1UL << mem_folio_order(folio); n++)
			now.owner[pfn + n] = 1;
		mem_split(folio);
	}
	restore_all();
}

static void share(unsigned int slot)
{
	unsigned long pfn = ptb_pte_pfn(now.was[slot]);
	struct folio *folio = bed_folio(pfn);

	pte_set(ptep_of(slot), ptb_pte_wrprotect(now.was[slot]));
	if (!mem_folio_is_anon(folio))
		return; /* a file's pages are shared anyway */
	if (folio->page.flags & PG_hugetlb)
		folio->page.flags &= ~PG_anon_exclusive;
	mem_page(pfn)->flags &= ~PG_anon_exclusive;
	mem_page(pfn)->flags |= PG_shared_now;
}

static void fork_begins(void)
{
	now.bed.mm.write_protect_seq++;
}

/* What may be pinned is copied, the rest shared. */
static void fork_shares(void)
{
	unsigned int i;

	for (i = 0; i < now.nr; i++)
		if (folio_of(i) && !pinned(folio_of(i)))
			share(i);
	now.bed.mm.write_protect_seq++;
}

/* Shares what nobody holds, and tells nobody. */
static void ksm(void)
{
	unsigned int i;
	bool held[NR_SLOTS];

	for (i = 0; i < now.nr; i++)
		held[i] = !folio_of(i) || held_by_others(folio_of(i));
	for (i = 0; i < now.nr; i++) {
		if (held[i])
			pte_set(ptep_of(i), now.was[i]);
		else
			share(i);
	}
}

static void protect_all(void)
{
	unsigned int i;

	for (i = 0; i < now.nr; i++)
		if (ptb_pte_present(now.was[i]))
			pte_set(ptep_of(i), ptb_pte_wrprotect(now.was[i]));
}

static void age_last(void)
{
	if (ptb_pte_present(now.was[now.nr - 1]))
		pte_set(ptep_of(now.nr - 1), ptb_pte_mkold(now.was[now.nr - 1]));
}

static void clear_middle(void)
{
	pte_set(ptep_of(now.nr / 2), fmt_mk(FMT_NONE));
}

static void clear_first(void)
{
	pte_set(ptep_of(0), fmt_mk(FMT_NONE));
}

/* The device goes: nobody may begin to hold its pagemap, and its pages are unmapped. */
static void unplug(void)
{
	if (mem.nr_pagemaps)
		mem.pagemaps[0].dying = true;
}

static void nothing(void)
{
}

static const struct act acts[] = {
	{ "zap", clear_all, drop_all },
	{ "migration", clear_all, migrate },
	{ "collapse", take_table, collapse },
	{ "split", clear_all, split },
	{ "fork", fork_begins, fork_shares },
	{ "KSM", clear_all, ksm },
	{ "mprotect", protect_all, nothing },
	{ "unplug", unplug, clear_all },
	{ "zap of one page", clear_middle, nothing },
	{ "zap of the first page, then of the rest", clear_first, clear_all },
	{ "aging, then zap", age_last, clear_middle },
};

#endif
