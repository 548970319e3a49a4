/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One walk of GUP-fast with the other side acting at given accesses of it, and what must hold. */
#ifndef TESTS_VALIDATE_RACE_H
#define TESTS_VALIDATE_RACE_H

#include "other_side.h"

/* An act knows the table as it finds it. */
static void note_table(void)
{
	unsigned int i;

	for (i = 0; i < now.nr; i++)
		now.was[i] = *ptep_of(i);
	now.pmd_was = *mm_pmdp(&now.bed.mm, bed_addr(&now.bed, 0));
}

/* The first turn that is not over goes on; the next one waits for it. */
static void take_turn(struct turn *turn)
{
	if (!turn->first_done && now.access >= turn->first) {
		turn->first_done = true;
		note_table();
		turn->act->first();
	}
	if (turn->first_done && !turn->second_done && now.access >= turn->second) {
		turn->second_done = true;
		turn->act->second();
	}
}

static void step(enum raw_op op, const void *where, void *arg)
{
	unsigned int i;

	(void)op;
	(void)where;
	(void)arg;
	for (i = 0; i < now.nr_turns; i++) {
		take_turn(&now.turns[i]);
		if (!now.turns[i].second_done)
			break;
	}
	now.access++;
}

/* ---- one walk ---- */

static struct page *pages[NR_SLOTS];

static void start(const char *layout)
{
	unsigned int i;

	bed_need(&now.bed, layout, NULL);
	now.nr = now.bed.layout.nr_slots;
	REQUIRE(now.nr <= NR_SLOTS, "layout too long");
	note_table();
	memcpy(now.built, now.was, sizeof(now.built));
	memset(now.owner, 0, sizeof(now.owner));
	for (i = 0; i < now.bed.layout.nr_folios; i++)
		now.owner[now.bed.layout.folios[i].pfn - FIRST_PFN] = 1;
	now.access = 0;
	for (i = 0; i < now.nr_turns; i++)
		now.turns[i].first_done = now.turns[i].second_done = false;
}

static bool returned_is_right(unsigned int got, unsigned int gup, const char *what)
{
	unsigned int i;

	for (i = 0; i < got; i++) {
		unsigned long flags = pages[i]->flags, pfn = mem_pfn(pages[i]);

		/* The acts leave every slot with its frame or without any. */
		if (!ptb_pte_present(now.built[i]) || ptb_pte_pfn(now.built[i]) != pfn) {
			EXPECT(false, "%s: page %u was never mapped there", what, i);
			return false;
		}
		/* and take rights away, if anything */
		if (!ptb_pte_permitted(now.built[i], gup & FOLL_WRITE)) {
			EXPECT(false, "%s: page %u was never open to that", what, i);
			return false;
		}
		if (flags & PG_gone) {
			EXPECT(false, "%s: page %u had been freed", what, i);
			return false;
		}
		if ((gup & FOLL_PIN) && (flags & PG_shared_now)) {
			EXPECT(false, "%s: page %u is pinned and shared", what, i);
			return false;
		}
	}
	return true;
}

static bool nothing_is_left(const char *what)
{
	unsigned int i, j;

	for (i = 0; i < now.bed.layout.nr_folios; i++)
		for (j = 0; j < 1U << now.bed.layout.folios[i].order; j++) {
			unsigned long pfn = now.bed.layout.folios[i].pfn + j;
			struct page *page = mem_page(pfn);

			if (page->compound_head)
				continue;
			if (page->refcount == now.owner[pfn - FIRST_PFN] &&
			    !mem_folio_pincount((struct folio *)page))
				continue;
			EXPECT(false,
			       "%s: frame 0x%lx left with %d references and %d pins, expected %d",
			       what, pfn, page->refcount, mem_folio_pincount((struct folio *)page),
			       now.owner[pfn - FIRST_PFN]);
			return false;
		}
	if (mem.pins_acquired != mem.pins_released) {
		EXPECT(false, "%s: the node counts %lld pins left", what,
		       (long long)(mem.pins_acquired - mem.pins_released));
		return false;
	}
	for (i = 0; i < mem.nr_pagemaps; i++)
		if (mem.pagemaps[i].refs != 1) {
			EXPECT(false, "%s: pagemap left with %d references", what,
			       mem.pagemaps[i].refs);
			return false;
		}
	return true;
}

static bool race(const char *layout, unsigned int gup, const char *what)
{
	unsigned int got, i;
	bool right;

	start(layout);
	raw_hooks.script = step;
	got = bed_gup(&now.bed, 0, now.nr, gup, pages);
	raw_hooks.script = NULL;
	/* The walk may have ended before its turn: the other side goes on nevertheless. */
	for (i = 0; i < now.nr_turns; i++)
		if (now.turns[i].first_done && !now.turns[i].second_done)
			now.turns[i].act->second();
	right = returned_is_right(got, gup, what);
	user_unpin_pages(pages, got, gup);
	right = right && nothing_is_left(what);
	bed_free(&now.bed);
	return right;
}

/*
 * An entry of two words is not safe from being cleared and set again between the reads of them: a
 * flush of the TLB keeps that from happening, as it waits for the walker to enable interrupts. So
 * there the second step comes after the walk.
 */
static bool __maybe_unused entries_may_tear(void)
{
	bool more_than_one_load;

	start("o0@100");
	ptb_ptep_get(ptep_of(0), PTB_FOR_GUP_FAST);
	more_than_one_load = raw_hooks.count[RAW_PTE_LOCKLESS] > 1;
	bed_free(&now.bed);
	return more_than_one_load;
}

#endif
