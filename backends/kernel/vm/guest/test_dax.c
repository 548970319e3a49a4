// SPDX-License-Identifier: GPL-2.0-only
#include <sys/mman.h>

#include "dax.h"
#include "test.h"

void test_dax(void)
{
	static struct gup_walk walk[2];
	unsigned int mode, w;
	unsigned long long ours;
	const char *name;
	size_t align;
	char *p = dax_map(NR * PAGE, &align);

	if (!p) {
		skip("there is no /dev/dax0.0", "dax");
		return;
	}
	name = align == PAGE ? "dax-4k" : "dax-2M";

	for (mode = 0; mode < ARRAY_SIZE(gup_modes); mode++) {
		/* A pagemap must be able to go: the fast path leaves longterm pins alone. */
		bool fast = !(gup_modes[mode].flags & PTB_TEST_LONGTERM);

		for (w = 0; w < nr_windows; w++) {
			gup_walk(&walk[OFF], OFF, p, windows[w], gup_modes[mode].flags);
			gup_walk(&walk[ON], ON, p, windows[w], gup_modes[mode].flags);
			gup_compare(&walk[OFF], &walk[ON], windows[w], true);

			ours = walk[ON].dax.handled + walk[ON].gup_fast.handled;
			if (walk[ON].ret != (int)windows[w].nr)
				wrong("%d of %u pages are taken", walk[ON].ret, windows[w].nr);
			if (fast ? ours * 100 < windows[w].nr * 99ULL : ours != 0)
				wrong("%llu of %u pages were handled by ours", ours, windows[w].nr);
		}
		done("%s, %s: pages and counts are the same off and on, %s by ours", name,
		     gup_modes[mode].name, fast ? "all" : "none");
	}
	munmap(p, NR * PAGE);
}
