// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * mincore against the reference. The table is locked: all that others can do meanwhile is what the
 * hardware does, and that must change nothing.
 */
#include "fuzz/call.h"

#include "validate/caches.h"

static struct bed *marked;
static unsigned int access_nr;

static void mark_in_between(enum raw_op op, const void *where, void *arg)
{
	const struct fuzz_act *a = arg;

	(void)op;
	(void)where;
	if (access_nr++ == a->first)
		fuzz_mark(marked, a->slot, a->later);
}

static void setup(struct bed *bed)
{
	struct fuzz_act *a = (struct fuzz_act *)&fuzz_now->script[0];

	make_caches(bed);
	if (!a->act)
		return;
	marked = bed;
	access_nr = 0;
	raw_hooks.arg = a;
	raw_hooks.script = mark_in_between;
}

static void set_seed(const struct fuzz_input *in)
{
	memcpy(&cache_seed, in->extra, sizeof(cache_seed));
	cache_seed |= 1;
}

static void run(const struct fuzz_input *in)
{
	const char *text = fuzz_text(in, &fuzz_tables);
	struct fuzz_window w = fuzz_window(in, text);
	static unsigned char vec[BED_PAGES];
	unsigned long i;

	fuzz_now = in;
	set_seed(in);
	bed_mincore_both(text, setup, w.slot, w.nr, vec);
	for (i = w.nr; i < BED_PAGES; i++)
		if (vec[i] != 0xee)
			fuzz_fail("vec[%lu] of %lu was written", i, w.nr);
}

static void say_call(const struct fuzz_input *in, struct fuzz_say *s)
{
	const char *text = fuzz_text(in, &fuzz_tables);
	struct fuzz_window w = fuzz_window(in, text);

	set_seed(in);
	say(s, "bed_mincore_both(\"%s\", make_caches, %lu, %lu, vec), cache_seed 0x%llx", text,
	    w.slot, w.nr, (unsigned long long)cache_seed);
	if (in->script[0].act)
		say(s, ", entry %u marked 0x%x at access %u", in->script[0].slot,
		    in->script[0].later & 7, in->script[0].first);
}

FUZZ_TARGET(run, say_call)
