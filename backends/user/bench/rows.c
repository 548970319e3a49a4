// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What is measured. */
#include "bench.h"

static const struct group {
	const char *walker, *layout;
	const char *ops[2];
	unsigned long orders[6];
	unsigned int nr;
} groups[] = {
	{ "gup_fast", "warm", { "get", "pin" }, { 0, 2, 4, 8, 9 }, 5 },
	{ "gup_fast", "cold", { "get", "pin" }, { 0, 2, 4, 8, 9 }, 5 },
	{ "mincore", "all-present", { "look" }, { 0, 4, 9 }, 3 },
	{ "mincore", "random", { "look" }, { 0 }, 1 },
	{ "mincore", "none", { "look" }, { 0 }, 1 },
	{ "scan", "run", { "look" }, { 1, 2, 4, 8, 16, 512 }, 6 },
	{ "contig", "run", { "look" }, { 1, 16, 512 }, 3 },
	{ "vfio_pin", "warm", { "pin" }, { 0, 4, 9 }, 3 },
	{ "vfio_pin", "narrow", { "pin" }, { 1000, 100000 }, 2 },
	{ "vpfn", "narrow", { "count" }, { 100, 1000, 10000, 100000, 1000000 }, 5 },
	{ "vpfn", "wide", { "count" }, { 100, 1000, 10000, 100000, 1000000 }, 5 },
};

bool bench_row(unsigned int i, struct bench_row *row)
{
	const struct group *g;
	unsigned int op;

	for (g = groups; g < groups + ARRAY_SIZE(groups); g++)
		for (op = 0; op < ARRAY_SIZE(g->ops) && g->ops[op]; op++, i -= g->nr) {
			if (i >= g->nr)
				continue;
			*row = (struct bench_row){ g->walker, g->layout, g->ops[op], g->orders[i] };
			return true;
		}
	return false;
}

void bench_row_name(char name[BENCH_NAME_MAX], const struct bench_row *row)
{
	snprintf(name, BENCH_NAME_MAX, "%s/%s/%lu/%s", row->walker, row->layout, row->order,
		 row->op);
}
