// SPDX-License-Identifier: GPL-2.0-only
/* Walks by GUP, and what they did to the counts. */
#include <unistd.h>

#include "test.h"

/* clang-format off */
const struct window windows[] = {
	{ 0, NR },
	{ 1, NR - 1 },
	{ 0, 1 },
	{ 3, 29 },
	{ 15, 2 },
	{ 500, 30 },
	{ 7, 512 },
};
/* clang-format on */

const unsigned int nr_windows = ARRAY_SIZE(windows);

void pages_read(struct pages *pages, const char *p)
{
	static struct ptb_test_count counts[NR];
	unsigned int i, nr = 0, at = 0;

	frames_read(p, NR, pages->frame);
	for (i = 0; i < NR; i++) {
		if (pages->frame[i])
			counts[nr++].pfn = pages->frame[i];
	}
	gup_counts(counts, nr);
	for (i = 0; i < NR; i++) {
		pages->refs[i] = pages->frame[i] ? counts[at].refs : 0;
		pages->pins[i] = pages->frame[i] ? counts[at].pins : 0;
		at += pages->frame[i] != 0;
	}
}

void gup_walk(struct gup_walk *walk, enum side side, char *p, struct window window,
	      unsigned int flags)
{
	int fd = gup_open();

	pages_read(&walk->before, p);
	side_set(side);
	counters_zero();
	walk->ret = gup_hold(fd, p + window.first * PAGE, window.nr, flags, walk->frame);
	walk->gup_fast = counters_read("gup_fast");
	walk->dax = counters_read("dax");
	pages_read(&walk->held, p);
	close(fd);
	pages_read(&walk->after, p);
}

static void compare_pages(const char *when, const struct pages *off, const struct pages *off_base,
			  const struct pages *on, const struct pages *on_base, bool same_memory)
{
	unsigned int i;

	for (i = 0; i < NR; i++) {
		if (off->refs[i] != on->refs[i] || off->pins[i] != on->pins[i]) {
			wrong("page %u %s: %d references and %d pins off, %d and %d on", i, when,
			      off->refs[i], off->pins[i], on->refs[i], on->pins[i]);
			return;
		}
		if (same_memory ? off->frame[i] != on->frame[i]
				: (off->frame[i] == off_base->frame[i]) !=
					  (on->frame[i] == on_base->frame[i])) {
			wrong("page %u %s: frame %#llx off, %#llx on", i, when,
			      (unsigned long long)off->frame[i], (unsigned long long)on->frame[i]);
			return;
		}
	}
}

/* What a walk returns must be what is mapped while it is held. */
static void check_returned(const struct gup_walk *walk, struct window window, const char *side)
{
	int i;

	for (i = 0; i < walk->ret; i++) {
		if (walk->frame[i] != walk->held.frame[window.first + i]) {
			wrong("page %u: %s returned frame %#llx, mapped is %#llx", window.first + i,
			      side, (unsigned long long)walk->frame[i],
			      (unsigned long long)walk->held.frame[window.first + i]);
			return;
		}
	}
}

void gup_compare(const struct gup_walk *off, const struct gup_walk *on, struct window window,
		 bool same_memory)
{
	if (off->ret != on->ret)
		wrong("pages %u to %u: returned %d off, %d on", window.first,
		      window.first + window.nr - 1, off->ret, on->ret);
	check_returned(off, window, "off");
	check_returned(on, window, "on");

	compare_pages("before", &off->before, &off->before, &on->before, &on->before, same_memory);
	compare_pages("while held", &off->held, &off->before, &on->held, &on->before, same_memory);
	compare_pages("after", &off->after, &off->before, &on->after, &on->before, same_memory);

	if (off->gup_fast.handled || off->gup_fast.bailed || off->dax.handled || off->dax.bailed)
		wrong("with the keys off our walker was called");
}
