// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GUP-fast with the other side acting at every moment of it. Each of the two steps of an act comes
 * just before one access of the walker, and every pair of accesses has its turn.
 */
#include "other_side.h"

static void step(enum raw_op op, const void *where, void *arg)
{
	(void)op;
	(void)where;
	(void)arg;
	if (now.enabled && !now.first_done && now.access == now.first) {
		now.first_done = true;
		now.act->first();
	}
	if (now.first_done && !now.second_done && now.access >= now.second) {
		now.second_done = true;
		now.act->second();
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
	for (i = 0; i < now.nr; i++)
		now.was[i] = *ptep_of(i);
	now.pmd_was = *mm_pmdp(&now.bed.mm, bed_addr(&now.bed, 0));
	memset(now.owner, 0, sizeof(now.owner));
	for (i = 0; i < now.bed.layout.nr_folios; i++)
		now.owner[now.bed.layout.folios[i].pfn - FIRST_PFN] = 1;
	now.access = 0;
	now.first_done = now.second_done = false;
}

static unsigned int accesses_of(const char *layout, unsigned int gup)
{
	start(layout);
	now.enabled = false;
	raw_hooks.script = step;
	bed_gup(&now.bed, 0, now.nr, gup, pages);
	bed_free(&now.bed);
	return now.access;
}

static bool returned_is_right(unsigned int got, unsigned int gup, const char *what)
{
	unsigned int i;

	for (i = 0; i < got; i++) {
		unsigned long flags = pages[i]->flags, pfn = mem_pfn(pages[i]);

		/* The acts leave every slot with its frame or without any. */
		if (!ptb_pte_present(now.was[i]) || ptb_pte_pfn(now.was[i]) != pfn) {
			EXPECT(false, "%s: page %u was never mapped there", what, i);
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
	unsigned int got;
	bool right;

	start(layout);
	now.enabled = true;
	raw_hooks.script = step;
	got = bed_gup(&now.bed, 0, now.nr, gup, pages);
	raw_hooks.script = NULL;
	/* The walk may have ended before its turn: the other side goes on nevertheless. */
	if (now.first_done && !now.second_done)
		now.act->second();
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
static bool entries_may_tear(void)
{
	bool more_than_one_load;

	start("o0@100");
	ptb_ptep_get(ptep_of(0), PTB_FOR_GUP_FAST);
	more_than_one_load = raw_hooks.count[RAW_PTE_LOCKLESS] > 1;
	bed_free(&now.bed);
	return more_than_one_load;
}

static bool races_of(const char *layout, unsigned int gup, const struct act *act)
{
	static const unsigned int later[] = { 0, 1, 2, 4, 9, UINT_MAX / 2 };
	unsigned int n = accesses_of(layout, gup);
	size_t i, soonest = entries_may_tear() ? ARRAY_SIZE(later) - 1 : 0;
	char what[160];

	now.act = act;
	for (now.first = 0; now.first < n; now.first++)
		for (i = soonest + now.first % HARNESS_THIN; i < ARRAY_SIZE(later);
		     i += HARNESS_THIN) {
			now.second = now.first + later[i];
			snprintf(what, sizeof(what), "%s, flags 0x%x, %s at accesses %u and %u",
				 layout, gup, act->name, now.first, now.second);
			if (!race(layout, gup, what))
				return false;
		}
	return true;
}

TEST(nothing_unheld_is_returned_whenever_the_other_side_acts)
{
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN, FOLL_PIN | FOLL_WRITE,
					     FOLL_GET | FOLL_WRITE, FOLL_PIN | FOLL_LONGTERM };
	const char *const layouts[] = {
		"o3@100",
		"o0@100 | o0@101 | o1@102",
		"o3@100 ro",
		"o1@100 ro | o2@104",
		FMT_CONT > 16 ? "o5@200 cont" : "o4@200 cont",
		"o3@100: 2-6 | o0@108",
		"o3@100 device special devmap | o0@108",
	};
	size_t l, g, a;

	now.enabled = false;
	for (l = 0; l < ARRAY_SIZE(layouts); l++)
		for (g = 0; bed_can(layouts[l]) && g < ARRAY_SIZE(gups); g++)
			for (a = 0; a < ARRAY_SIZE(acts); a++)
				if (!races_of(layouts[l], gups[g], &acts[a]))
					return;
}
