// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "test.h"

/* Neither of mincore's answers. */
#define UNTOUCHED 0xa5

struct mincore_walk {
	int err;
	unsigned char vec[NR + 16];
	struct handled handled;
};

static void mincore_walk(struct mincore_walk *walk, enum side side, char *p, struct window window)
{
	memset(walk->vec, UNTOUCHED, sizeof(walk->vec));
	side_set(side);
	counters_zero();
	walk->err = mincore(p + window.first * PAGE, window.nr * PAGE, walk->vec) ? errno : 0;
	walk->handled = counters_read("mincore");
}

static void compare(const struct mincore_walk *off, const struct mincore_walk *on,
		    struct window window, char expect)
{
	unsigned long long want = expect == 'a' && !on->err ? window.nr : 0;
	unsigned int i;

	if (off->err != on->err)
		wrong("pages %u to %u: error %d off, %d on", window.first,
		      window.first + window.nr - 1, off->err, on->err);
	for (i = 0; i < sizeof(on->vec); i++) {
		if (off->vec[i] == on->vec[i])
			continue;
		wrong("byte %u of pages %u to %u: %#x off, %#x on", i, window.first,
		      window.first + window.nr - 1, off->vec[i], on->vec[i]);
		break;
	}
	if (off->handled.handled || off->handled.bailed)
		wrong("with the key off our walker was called");
	if (on->handled.handled * 100 < want * 99 || (expect == 'n' && on->handled.handled))
		wrong("%llu of %u pages were handled by ours", on->handled.handled, window.nr);
}

static void test_one(const struct memory *memory)
{
	static struct mincore_walk walk[2];
	const char *why = NULL;
	char *p = memory->make(memory->arg, &why);
	unsigned int w;

	if (!p) {
		skip(why, "mincore %s", memory->name);
		return;
	}
	for (w = 0; w < nr_windows; w++) {
		mincore_walk(&walk[OFF], OFF, p, windows[w]);
		mincore_walk(&walk[ON], ON, p, windows[w]);
		compare(&walk[OFF], &walk[ON], windows[w], memory->mincore);
	}
	memory_drop(p);
	done("mincore %s: the vector is the same off and on, %s by ours", memory->name,
	     memory->mincore == 'a' ? "all" : "none");
}

void test_mincore(void)
{
	unsigned int i;

	for (i = 0; i < nr_memories; i++)
		test_one(&memories[i]);
}
