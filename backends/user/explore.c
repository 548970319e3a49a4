// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The explorer for one format: compiled once for each with PTB_USER_EXPLORE, and once more for the
 * small geometry, with PTB_EXPLORE_SMALL. Exports one struct ptb_explore.
 */
#include "explore.h"
#include "explore_pairs.h"

static const struct ex_walker *find_walker(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ex_walkers); i++)
		if (!strcmp(ex_walkers[i].name, name))
			return &ex_walkers[i];
	return NULL;
}

static const struct ex_mutator *find_mutator(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ex_mutators); i++)
		if (!strcmp(ex_mutators[i].name, name))
			return &ex_mutators[i];
	return NULL;
}

/* The @i-th layout of a row, or NULL. */
static const struct ex_variant *variant_nr(const struct ex_row *row, unsigned int i)
{
	unsigned int v;

	if (i >= EXPLORE_VARIANTS || !row->variant[i])
		return NULL;
	for (v = 0; v < ARRAY_SIZE(ex_variants); v++)
		if (!strcmp(ex_variants[v].name, row->variant[i]))
			return &ex_variants[v];
	abort();
}

static bool same_name(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static const struct ex_row *find_row(const char *walker, const char *first, const char *second)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ex_rows); i++)
		if (!strcmp(ex_rows[i].pair.walker, walker) &&
		    same_name(ex_rows[i].pair.against[0], first) &&
		    same_name(ex_rows[i].pair.against[1], second))
			return &ex_rows[i];
	return NULL;
}

/* The row that has the layouts: the pair's own, else that of the first mutator. */
static const struct ex_row *row_of(const struct explore_pair *pair)
{
	const struct ex_row *row = find_row(pair->walker, pair->against[0], pair->against[1]);

	if (row || !pair->against[1] || !find_row(pair->walker, pair->against[1], NULL))
		return row;
	return find_row(pair->walker, pair->against[0], NULL);
}

static const char *refuses(const struct explore_pair *pair)
{
	const struct ex_row *row = row_of(pair);
	const struct ex_variant *v;
	unsigned int i;

	if (!row)
		return "there is nothing to explore";
	for (i = 0; i < EXPLORE_MUTATORS; i++)
		if (!EX_TWO_WORDS && same_name(pair->against[i], "two-words"))
			return "entries of this format are one word";
	for (i = 0; (v = variant_nr(row, i)); i++)
		if (ex_can(v))
			return NULL;
	return variant_nr(row, 0)->attrs & A_CONT ? "this format has no blocks"
						  : "this format has no entries for devices";
}

/* ---- one variant ---- */

static struct sched_test test;

static void setup_variant(const struct explore_pair *pair, const struct ex_variant *v)
{
	const struct ex_walker *walker = find_walker(pair->walker);
	unsigned int i;

	ex_setup(v, pair->against[1] ? EX_SLOTS / 2 : EX_SLOTS);
	ex.walk[0].gup = v->gup;
	ex.walk[0].nr = ex.end - ex.first;
	if (walker->setup)
		walker->setup();
	test = (struct sched_test){
		.name = pair->walker,
		.nr_threads = 1,
		.thread[0] = { pair->walker, walker->fn, &ex.walk[0] },
		.reset = ex_reset,
		.check = explore_check,
		.arena = &ex,
		.arena_bytes = sizeof(ex),
	};
	for (i = 0; i < EXPLORE_MUTATORS && pair->against[i]; i++) {
		const struct ex_mutator *m = find_mutator(pair->against[i]);

		if (m->setup)
			m->setup();
		test.thread[test.nr_threads++] =
			(struct sched_thread){ m->name, ex.leaf ? m->leaf : m->fn, NULL };
	}
	ex_mem = mem;
}

static bool run_variant(const struct explore_request *rq, const struct ex_variant *v,
			const char *schedule, struct explore_answer *answer)
{
	struct sched_opts opts = {
		.model = rq->model, .bound = rq->bound, .seed = rq->seed, .replay = schedule
	};

	setup_variant(&rq->pair, v);
	memset(&explored, 0, sizeof(explored));
	if (!sched_explore(&test, &opts, &answer->last))
		return false;
	answer->of[answer->variants].name = v->name;
	answer->of[answer->variants].schedules = answer->last.schedules;
	answer->of[answer->variants].all = explored.all;
	answer->of[answer->variants].none = explored.none;
	answer->of[answer->variants++].complete = answer->last.complete;
	answer->schedules += answer->last.schedules;
	answer->steps += answer->last.steps;
	answer->seconds += answer->last.seconds;
	answer->complete &= answer->last.complete;
	answer->violation |= answer->last.violation;
	answer->variant = v->name;
	return true;
}

static bool run_replay(const struct explore_request *rq, const struct ex_row *row,
		       struct explore_answer *answer)
{
	const char *colon = strchr(rq->schedule, ':');
	const struct ex_variant *v;
	unsigned int i;

	for (i = 0; (v = variant_nr(row, i)); i++)
		if (colon && ex_can(v) && strlen(v->name) == (size_t)(colon - rq->schedule) &&
		    !strncmp(v->name, rq->schedule, colon - rq->schedule))
			return run_variant(rq, v, colon + 1, answer);
	snprintf(answer->last.why, sizeof(answer->last.why), "no such layout in this pair");
	return false;
}

static bool run(const struct explore_request *rq, struct explore_answer *answer)
{
	const struct ex_row *row = row_of(&rq->pair);
	const struct ex_variant *v;
	unsigned int i;

	memset(answer, 0, sizeof(*answer));
	answer->complete = true;
	if (rq->schedule)
		return run_replay(rq, row, answer);
	for (i = 0; (v = variant_nr(row, i)); i++) {
		if (!ex_can(v))
			continue;
		if (!run_variant(rq, v, NULL, answer))
			return false;
		if (answer->violation)
			break;
	}
	return true;
}

/* ---- what there is ---- */

static const struct explore_pair *pair_nr(unsigned int i)
{
	return i < ARRAY_SIZE(ex_rows) ? &ex_rows[i].pair : NULL;
}

static const char *walker_nr(unsigned int i)
{
	return i < ARRAY_SIZE(ex_walkers) ? ex_walkers[i].name : NULL;
}

static const char *mutator_nr(unsigned int i, const char **what)
{
	if (i >= ARRAY_SIZE(ex_mutators))
		return NULL;
	*what = ex_mutators[i].what;
	return ex_mutators[i].name;
}

#define NAME__(kind, fmt) ptb_explore_##kind##_##fmt
#define NAME_(kind, fmt) NAME__(kind, fmt)
#ifdef PTB_EXPLORE_SMALL
#define NAME NAME_(small, FMT_NAME)
#else
#define NAME NAME_(full, FMT_NAME)
#endif

extern const struct ptb_explore NAME;
const struct ptb_explore NAME = {
	.format = STRINGIFY(FMT_NAME),
	.slots = EX_SLOTS,
	.pair = pair_nr,
	.walker = walker_nr,
	.mutator = mutator_nr,
	.refuses = refuses,
	.run = run,
};
