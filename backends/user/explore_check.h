/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What must hold when all threads have ended, whatever the order was. None of it asks in which
 * order two steps came that do not depend on each other: of such orders one alone is explored.
 */
#ifndef PTB_EXPLORE_CHECK_H
#define PTB_EXPLORE_CHECK_H

#include "explore_walk.h"

static inline void frame_name(char *name, size_t size, const struct page *page)
{
	unsigned int i = page - ex.map;

	snprintf(name, size, "%c%u", 'A' + i / EX_AREA_FRAMES, i % EX_AREA_FRAMES);
}

/*
 * Did this slot ever map this page, of this owner if asked for, with the rights asked for. What is
 * set a moment after it was returned counts as being set at that moment.
 */
static inline bool was_mapped(unsigned int slot, const struct page *page, bool owner, bool write)
{
	unsigned int i;

	for (i = 0; i < ex.nr_was[slot]; i++) {
		const struct ex_was *was = &ex.was[slot][i];

		if (was->page == page && (!owner || was->gen == ex_frame(page)->gen) &&
		    (was->write || !write))
			return true;
	}
	return false;
}

/* Every page that was returned was mapped there, open to that use, and is the same one still. */
static inline const char *returned_wrong(const struct ex_walk *walk, unsigned int i)
{
	const struct page *page = walk->pages[i];
	const struct ex_frame *frame = ex_frame(page);
	bool write = walk->gup & FOLL_WRITE;

	if (frame->gen != walk->gen[i])
		return "was freed while it was held";
	if (!was_mapped(ex.first + i, page, false, false))
		return "was never mapped there";
	if (!was_mapped(ex.first + i, page, true, false))
		return "had been freed, and is somebody else's";
	if (!was_mapped(ex.first + i, page, true, write))
		return "was never mapped there for writing";
	if (write && ex.unwritable[ex.first + i])
		return "had been made read-only before the walk began";
	if (frame->unused || (write && frame->unwritten))
		return "was taken when the counts had said that nobody did";
	if ((walk->gup & FOLL_PIN) && ex_is_anon(ex_page_folio(page)) && frame->shared)
		return "is pinned and shared";
	return NULL;
}

static inline void check_returned(const struct ex_walk *walk)
{
	const char *wrong;
	unsigned int i;
	char name[8];

	for (i = 0; i < walk->got; i++) {
		wrong = returned_wrong(walk, i);
		if (!wrong)
			continue;
		frame_name(name, sizeof(name), walk->pages[i]);
		sched_fail("page %u, frame %s, %s", i, name, wrong);
	}
}

static inline void check_frame(const struct page *page)
{
	const struct folio *folio = (const struct folio *)page;
	int refs = ex_frame(page)->refs, pins = ex_frame(page)->pins;
	unsigned int w, i;
	char name[8];

	for (w = 0; w < EX_WALKS; w++) {
		const struct ex_walk *walk = &ex.walk[w];

		for (i = 0; i < walk->got; i++) {
			if (ex_page_folio(walk->pages[i]) != folio)
				continue;
			refs += walk->gup & FOLL_PIN ? ex_pin_refs(folio) : 1;
			pins += !!(walk->gup & FOLL_PIN);
		}
	}
	frame_name(name, sizeof(name), page);
	if (page->refcount != refs)
		sched_fail("frame %s is left with %d references, %d are accounted for", name,
			   page->refcount, refs);
	else if (ex_order(folio) && folio->second.pincount != pins)
		sched_fail("frame %s is left with %d pins, %d are accounted for", name,
			   folio->second.pincount, pins);
}

static inline void check_statistics(void)
{
	long stat = mem.pins_acquired - mem.pins_released, pins = ex.pins;
	unsigned int w;

	for (w = 0; w < EX_WALKS; w++)
		if (ex.walk[w].gup & FOLL_PIN)
			pins += ex.walk[w].got;
	if (stat != pins)
		sched_fail("the node counts %ld pins, there are %ld", stat, pins);
	if (mem.pagemaps[0].refs != ex.pagemap_refs)
		sched_fail("the pagemap is left with %d references, not %d", mem.pagemaps[0].refs,
			   ex.pagemap_refs);
}

static inline void check_account(void)
{
	const struct mm_struct *other = ex.dma.mm == &ex.mm ? &ex.new_mm : &ex.mm;

	if (!ex.dma.mm)
		return;
	if ((long)ex.dma.mm->locked_vm != ex.charged || (long)ex.dma.locked_vm != ex.charged ||
	    other->locked_vm)
		sched_fail("charged: %lld by the mm, %lld by the mapping, %lld by the other mm; "
			   "pinned and not external: %ld",
			   (long long)ex.dma.mm->locked_vm, (long long)ex.dma.locked_vm,
			   (long long)other->locked_vm, ex.charged);
}

/* How walks ended, over all schedules: one that never gets anything shows nothing. */
static struct {
	u64 all, none;
} explored;

static void explore_check(void *arg)
{
	unsigned int w, i;

	(void)arg;
	explored.all += ex.walk[0].answered || ex.walk[0].got == ex.walk[0].nr;
	explored.none += !ex.walk[0].answered && !ex.walk[0].got;
	for (w = 0; w < EX_WALKS; w++)
		check_returned(&ex.walk[w]);
	for (i = 0; i < EX_FRAMES; i++)
		if (ex.map[i].flags & PG_made && !(ex.map[i].compound_head & 1))
			check_frame(&ex.map[i]);
	check_statistics();
	check_account();
}

#endif
