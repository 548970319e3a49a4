/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the case tests share. A case is a fault that a real walker had, as a small input with the
 * right answer; docs/cases.md lists them. The test of one tries the inputs next to it as well.
 */
#ifndef TESTS_CASES_CASE_H
#define TESTS_CASES_CASE_H

#include "bed.h"

/*
 * Entries that the format itself vouches for as a block, where it has such; else the same entries
 * without. Blocks have 16 or 32 entries: CONT is for folios of 32 and more, BLOCK is one folio that
 * is one block of BLOCK_PAGES.
 */
#if FMT_CONT > 1
#define CONT " cont"
#else
#define CONT ""
#endif
#if FMT_CONT > 16
#define BLOCK_PAGES 32
#define BLOCK "o5@200" CONT
#else
#define BLOCK_PAGES 16
#define BLOCK "o4@200" CONT
#endif

/* One leaf, where the format has such; else the same pages entry by entry. */
#ifdef FMT_NO_LEAVES
#define LEAF ""
#else
#define LEAF " pmd"
#endif

/*
 * Every folio is held and pinned as the layout made it, and so is every pagemap: nothing was kept,
 * nothing dropped twice.
 */
static inline void case_untouched(const struct bed *bed, const char *what)
{
	unsigned int i;

	for (i = 0; i < bed->layout.nr_folios; i++) {
		const struct layout_folio *f = &bed->layout.folios[i];

		EXPECT(bed_refs(f->pfn) == f->refs,
		       "%s: folio at 0x%lx left with %d references, had %d", what, f->pfn,
		       bed_refs(f->pfn), f->refs);
		EXPECT(bed_pins(f->pfn) == f->pins, "%s: folio at 0x%lx left with %d pins, had %d",
		       what, f->pfn, bed_pins(f->pfn), f->pins);
	}
	for (i = 0; i < mem.nr_pagemaps; i++)
		EXPECT(mem.pagemaps[i].refs == 1, "%s: pagemap %u left with %d references, had 1",
		       what, i, mem.pagemaps[i].refs);
	EXPECT(mem.pins_acquired == mem.pins_released, "%s: the node counts %lld pins too many",
	       what, (long long)(mem.pins_acquired - mem.pins_released));
	EXPECT(!mem.freed, "%s: a folio was freed", what);
}

/*
 * One batch from a slot; the caller has bounded @max_nr. @first, if not NULL, gets the merged copy
 * of the first entry.
 */
static __always_inline unsigned int case_scan(struct bed *bed, unsigned long slot,
					      unsigned int max_nr, const ptb_t flags,
					      ptb_pte_t *first)
{
	ptb_pte_t *ptep = bed_ptep(bed, slot), pte = ptb_ptep_get(ptep, flags);
	struct folio *folio = bed_folio(ptb_pte_pfn(pte));
	unsigned int nr;

	nr = ptb_scan_folio(folio, &bed->mm.vmas[0], ptep, &pte, max_nr, flags);
	if (first)
		*first = pte;
	return nr;
}

/*
 * The user that sets the entries of a run again from its first one: in place an unmap that was
 * given up, elsewhere mremap. Returns the number of runs, their lengths in @runs.
 */
static inline unsigned int case_set_again(struct bed *bed, unsigned long slot, unsigned int nr,
					  unsigned long to, unsigned int *runs)
{
	unsigned int done, i, n = 0;

	for (done = 0; done < nr; done += runs[n++]) {
		ptb_pte_t pte;

		runs[n] = case_scan(bed, slot + done, nr - done, PTB_FOR_SET, &pte);
		for (i = 0; i < runs[n]; i++) {
			/* As set_ptes() counts up. The library itself never stores these. */
			if (i)
				pte = ptb_pte_advance(pte, 1);
			pte_set(mm_ptep_alloc(&bed->mm, bed_addr(bed, to + done + i)), pte);
		}
	}
	return n;
}

/* ---- which entries were read ---- */

struct case_reads {
	const ptb_pte_t *from;
	long low, high; /* counted from @from */
};

static inline void case_read_note(enum raw_op op, const void *where, void *arg)
{
	struct case_reads *r = arg;
	long i = ((const char *)where - (const char *)r->from) / (long)sizeof(*r->from);

	if (op != RAW_PTE && op != RAW_PTE_LOCKLESS)
		return;
	if (i < r->low)
		r->low = i;
	if (i > r->high)
		r->high = i;
}

static inline void case_reads_start(struct case_reads *r, const ptb_pte_t *from)
{
	*r = (struct case_reads){ .from = from, .low = LONG_MAX, .high = LONG_MIN };
	raw_hooks.arg = r;
	raw_hooks.script = case_read_note;
}

static inline void case_reads_stop(void)
{
	raw_hooks.script = NULL;
}

/* ---- the other side, at an exact moment ---- */

/**
 * struct case_race - one act of the other side, in a static of the test file
 * @after: acts only once this has happened; RAW_NR: from the start on
 * @at, @nth: just before the n-th (from 1) such access from then on
 * @slot: with @at a read of an entry: of this slot alone; -1: any
 * @act: what the other side does
 * @happened: it had its turn
 * @high: the last slot of the first table that was read
 */
struct case_race {
	enum raw_op after, at;
	unsigned int nth;
	long slot;
	void (*act)(struct bed *bed);
	struct bed *bed;
	bool armed, happened;
	unsigned int seen;
	long high;
};

#define CASE_RACE(after_, at_, nth_, slot_, act_) \
	((struct case_race){ .after = after_, .at = at_, .nth = nth_, .slot = slot_, .act = act_ })

/* bed_ptep() is plain arithmetic: no access of its own. */
static inline void case_race_step(enum raw_op op, const void *where, void *arg)
{
	struct case_race *race = arg;
	long slot = -1;

	if (op == RAW_PTE || op == RAW_PTE_LOCKLESS)
		slot = ((const char *)where - (const char *)bed_ptep(race->bed, 0)) /
		       (long)sizeof(ptb_pte_t);
	if (slot > race->high)
		race->high = slot;
	if (race->happened)
		return;
	if (race->armed && op == race->at && (race->slot < 0 || race->slot == slot) &&
	    ++race->seen == race->nth) {
		race->happened = true;
		race->act(race->bed);
	}
	if (op == race->after)
		race->armed = true;
}

static inline void case_race_start(struct case_race *race, struct bed *bed)
{
	race->bed = bed;
	race->armed = race->after == RAW_NR;
	race->happened = false;
	race->seen = 0;
	race->high = -1;
	raw_hooks.arg = race;
	raw_hooks.script = case_race_step;
}

#endif
