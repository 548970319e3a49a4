// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GUP-fast with the other side acting at every moment of it. Each of the two steps of an act comes
 * just before one access of the walker, and every pair of accesses has its turn.
 */
#include "race.h"

static unsigned int accesses_of(const char *layout, unsigned int gup)
{
	now.nr_turns = 0;
	start(layout);
	raw_hooks.script = step;
	bed_gup(&now.bed, 0, now.nr, gup, pages);
	bed_free(&now.bed);
	return now.access;
}

static bool races_of(const char *layout, unsigned int gup, const struct act *act)
{
	static const unsigned int later[] = { 0, 1, 2, 4, 9, UINT_MAX / 2 };
	unsigned int n = accesses_of(layout, gup);
	size_t i, soonest = entries_may_tear() ? ARRAY_SIZE(later) - 1 : 0;
	struct turn *turn = &now.turns[0];
	char what[160];

	now.nr_turns = 1;
	turn->act = act;
	for (turn->first = 0; turn->first < n; turn->first++)
		for (i = soonest + turn->first % HARNESS_THIN; i < ARRAY_SIZE(later);
		     i += HARNESS_THIN) {
			turn->second = turn->first + later[i];
			snprintf(what, sizeof(what), "%s, flags 0x%x, %s at accesses %u and %u",
				 layout, gup, act->name, turn->first, turn->second);
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

	for (l = 0; l < ARRAY_SIZE(layouts); l++)
		for (g = 0; bed_can(layouts[l]) && g < ARRAY_SIZE(gups); g++)
			for (a = 0; a < ARRAY_SIZE(acts); a++)
				if (!races_of(layouts[l], gups[g], &acts[a]))
					return;
}
