// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* GUP-fast on a leaf of any folio, with the other side acting in between. */
#include "validate/leaf_race.h"

#include "fuzz/call.h"

/* The leaf, and a few pages behind it that are not asked for. */
static const char *layout_of(const struct fuzz_input *in)
{
	static const char *const kinds[] = { "",	 " file",	   " shmem",
					     " hugetlb", " device devmap", " cma" };
	static const struct {
		const char *word;
		u32 needs;
	} words[] = {
		{ " ro", 0 },  { " shared", 0 },	  { " dirty", 0 },
		{ " old", 0 }, { " special", A_SPECIAL }, { " kernel", A_KERNEL },
	};
	static char text[256];
	struct fuzz_say s = { text, text + sizeof(text) };
	unsigned int kind = in->extra[5] % ARRAY_SIZE(kinds), i;

	/* A device's pages need a pagemap bit in the entry. */
	if (kind == 4 && !(FMT_ATTRS & A_DEVMAP))
		kind = 0;
	say(&s, "o%d@%lx pmd%s", PMD_ORDER, FMT_PTES, kinds[kind]);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if ((in->extra[6] & BIT(i)) && !(words[i].needs & ~(u32)FMT_ATTRS))
			say(&s, "%s", words[i].word);
	say(&s, " | o2@%lx", 2 * FMT_PTES);
	return text;
}

static struct fuzz_window window(const struct fuzz_input *in)
{
	struct fuzz_window w = { .slot = in->slot % FMT_PTES };

	w.nr = 1 + in->nr % (FMT_PTES - w.slot);
	if (w.nr > LEAF_RACE_MAX)
		w.nr = LEAF_RACE_MAX;
	return w;
}

static void run(const struct fuzz_input *in)
{
	struct fuzz_window w = window(in);

	if (!FMT_LEAVES)
		return;
	now.act = leaf_acts[in->script[0].act % ARRAY_SIZE(leaf_acts)].act;
	now.at = in->script[0].first % 64;
	leaf_race(layout_of(in), w.slot, w.nr, fuzz_gup(in->gup), "leaf");
}

static void say_call(const struct fuzz_input *in, struct fuzz_say *s)
{
	struct fuzz_window w = window(in);

	say(s, "leaf_race(\"%s\", %lu, %lu, ", layout_of(in), w.slot, w.nr);
	say_gup(s, fuzz_gup(in->gup));
	say(s, ", \"%s\" at access %u)", leaf_acts[in->script[0].act % ARRAY_SIZE(leaf_acts)].name,
	    in->script[0].first % 64);
}

FUZZ_TARGET(run, say_call)
