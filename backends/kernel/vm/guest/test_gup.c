// SPDX-License-Identifier: GPL-2.0-only
/* GUP-fast over all kinds of memory, in all modes. */
#include <ctype.h>
#include <stdio.h>

#include "test.h"

static const char *by_ours(char expect)
{
	switch (tolower(expect)) {
	case 'a':
		return "all";
	case 'n':
		return "none";
	default:
		return "some";
	}
}

static void check_handled(const struct gup_walk *on, char expect)
{
	unsigned long long pages = on->ret > 0 ? on->ret : 0;

	if (expect == 'n' && on->gup_fast.handled)
		wrong("%llu pages were taken without the slow path", on->gup_fast.handled);
	if (expect == 'a' && on->gup_fast.handled * 100 < pages * 99)
		wrong("%llu of %llu pages were handled by ours", on->gup_fast.handled, pages);
}

static char *make(const struct memory *memory, const char **why)
{
	char *p = memory->make(memory->arg, why);

	if (!p && !*why)
		die("cannot make memory %s", memory->name);
	return p;
}

/* One test: a memory, a mode, all windows. */
static void test_mode(const struct memory *memory, unsigned int mode)
{
	static struct gup_walk walk[2];
	bool anew = isupper(memory->gup[mode]);
	const char *why = NULL;
	char *p = NULL;
	unsigned int w, side, taken = 0;

	for (w = 0; w < nr_windows; w++) {
		for (side = OFF; side <= ON; side++) {
			if (!p)
				p = make(memory, &why);
			if (!p) {
				skip(why, "gup %s, %s", memory->name, gup_modes[mode].name);
				return;
			}
			gup_walk(&walk[side], side, p, windows[w], gup_modes[mode].flags);
			if (anew) {
				memory_drop(p);
				p = NULL;
			}
		}
		gup_compare(&walk[OFF], &walk[ON], windows[w], !anew);
		check_handled(&walk[ON], tolower(memory->gup[mode]));
		taken += walk[ON].gup_fast.handled;
	}
	if (tolower(memory->gup[mode]) == 'a' && !taken)
		wrong("no page was taken at all");
	if (p)
		memory_drop(p);
	done("gup %s, %s: pages and counts are the same off and on, %s by ours", memory->name,
	     gup_modes[mode].name, by_ours(memory->gup[mode]));
}

void test_gup(void)
{
	unsigned int i, mode;

	for (i = 0; i < nr_memories; i++) {
		for (mode = 0; memories[i].gup && memories[i].gup[mode]; mode++)
			test_mode(&memories[i], mode);
	}
}
