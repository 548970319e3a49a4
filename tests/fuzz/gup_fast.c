// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GUP-fast, leaves included. Left alone it must do what the reference does; with the other side
 * acting in between, what it returns must be right and nothing may be left.
 */
#include "validate/race.h"

#include "fuzz/call.h"

/* What race.h has room for. */
static const struct fuzz_words small = {
	.attrs = FMT_ATTRS,
	.pmd_order = PTB_PMD_SHIFT - PTB_PAGE_SHIFT,
	.max_order = 5,
	.ptes = FMT_PTES,
	.slots = NR_SLOTS < FMT_PTES ? NR_SLOTS : FMT_PTES,
	.first_pfn = FIRST_PFN,
	.end_pfn = FIRST_PFN + NR_PFNS,
	.one_ref = true,
};

/* Words of two halves: see entries_may_tear(). */
static bool may_tear(void)
{
	static int known = -1;

	now.nr_turns = 0;
	if (known < 0)
		known = entries_may_tear();
	return known;
}

static void set_turns(const struct fuzz_input *in)
{
	bool tear = may_tear();
	unsigned int i;

	now.nr_turns = 0;
	for (i = 0; i < ARRAY_SIZE(in->script) && in->script[i].act; i++) {
		const struct fuzz_act *a = &in->script[i];
		struct turn *turn = &now.turns[now.nr_turns++];

		turn->act = &acts[(a->act - 1) % ARRAY_SIZE(acts)];
		turn->first = a->first;
		turn->second = tear ? UINT_MAX / 2 : (unsigned int)a->first + a->later;
		if (tear)
			break;
	}
}

/* Entry by entry. A pagemap that has gone ends that in another way: no devices. */
static struct fuzz_words single_words(void)
{
	struct fuzz_words w = fuzz_tables;

	w.attrs &= ~(u32)A_DEVMAP;
	return w;
}

static bool is_single(const struct fuzz_input *in)
{
	return in->kind & 1;
}

static const char *text_of(const struct fuzz_input *in)
{
	const struct fuzz_words single = single_words();

	return fuzz_text(in, is_single(in) ? &single : &fuzz_tables);
}

static void
single(const struct fuzz_input *in, const char *text, struct fuzz_window w, unsigned int gup)
{
	static struct outcome a, b;

	gup_outcome(&a, text, fuzz_opts(in), fuzz_setup, w.slot, w.nr, gup, &single_gup);
	gup_outcome(&b, text, fuzz_opts(in), fuzz_setup, w.slot, w.nr, gup, &reference_gup);
	bed_same(&a, &b, text);
}

static void run(const struct fuzz_input *in)
{
	unsigned int gup = fuzz_gup(in->gup);
	struct fuzz_window w;
	const char *text;

	fuzz_now = in;
	set_turns(in);
	if (now.nr_turns) {
		race(fuzz_text(in, &small), gup, "race");
		return;
	}
	text = text_of(in);
	w = fuzz_window(in, text);
	if (is_single(in))
		single(in, text, w, gup);
	else
		bed_gup_both(text, fuzz_opts(in), fuzz_setup, w.slot, w.nr, gup);
}

static void say_turns(const struct fuzz_input *in, struct fuzz_say *s)
{
	unsigned int i;

	say(s, "race(\"%s\", ", fuzz_text(in, &small));
	say_gup(s, fuzz_gup(in->gup));
	for (i = 0; i < now.nr_turns; i++)
		say(s, ", \"%s\" at accesses %u and %u", now.turns[i].act->name, now.turns[i].first,
		    now.turns[i].second);
	say(s, ")");
}

static void say_call(const struct fuzz_input *in, struct fuzz_say *s)
{
	struct fuzz_window w;
	const char *text;

	set_turns(in);
	if (now.nr_turns) {
		say_turns(in, s);
		return;
	}
	text = text_of(in);
	w = fuzz_window(in, text);
	say(s, "bed_gup_both(\"%s\", %lu, %lu, %s", text, w.slot, w.nr,
	    is_single(in) ? "single_gup, " : "");
	say_gup(s, fuzz_gup(in->gup));
	say_setup(s, in);
	say(s, ")");
}

FUZZ_TARGET(run, say_call)
