// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Which schedule comes next: partial-order reduction with source sets and sleep sets (Abdulla,
 * Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction", POPL 2014, algorithm 1). Of
 * schedules that differ only in the order of steps that do not depend on each other, one is run.
 *
 * Two steps race when they depend on each other and nothing between them orders them. For each race
 * of a schedule another one is planned in which the later step does not come after the earlier one:
 * at the place of the earlier step, some process is noted that such a schedule can begin with.
 * Between two takers of a lock the race is between the takings, and likewise between IRQs off and
 * who waits for that: the giving back makes the second step possible, it does not race.
 */
#include "sched_int.h"

void dpor_candidate(int step)
{
	unsigned int i;

	if (step == SCHED_NONE || !dpor_is_new(sched.nr))
		return;
	if (sched.step[step].thread == sched.step[sched.nr].thread) {
		row_or(sched.before[sched.nr], sched.before[step], step);
		row_set(sched.before[sched.nr], step);
		return;
	}
	for (i = 0; i < sched.nr_candidates; i++)
		if (sched.candidate[i] == step)
			return;
	if (i == SCHED_CANDIDATES)
		abort();
	sched.candidate[sched.nr_candidates++] = step;
}

/* Is one of the steps in @set before this one. */
static bool any_before(const u64 *set, int step)
{
	int i;

	for (i = 0; i <= step >> 6; i++)
		if (set[i] & sched.before[step][i])
			return true;
	return false;
}

/* What a schedule may begin with that has neither @step nor what comes after it before @last. */
static u64 initials(int step, int last)
{
	u64 set[SCHED_WORDS], procs = 0;
	int i;

	row_clear(set, last);
	for (i = step + 1; i <= last; i++) {
		if (i != last && row_has(sched.before[i], step))
			continue;
		if (!any_before(set, i))
			procs |= proc_bit(sched.step[i].proc);
		row_set(set, i);
	}
	return procs;
}

static void plan(int step, int last)
{
	struct node *node = &sched.node[step];
	/* Who could not go on there waited for what that step did. */
	u64 procs = initials(step, last) & node->enabled;

	if (!procs || procs & (node->backtrack | node->sleep))
		return;
	if (procs & proc_bit(sched.step[last].proc))
		procs = proc_bit(sched.step[last].proc);
	node->backtrack |= procs & -procs;
}

static bool is_race(int step)
{
	unsigned int i;

	if (row_has(sched.before[sched.nr], step))
		return false;
	for (i = 0; i < sched.nr_candidates; i++) {
		int other = sched.candidate[i];

		if (other > step && row_has(sched.before[other], step))
			return false;
	}
	return true;
}

static void find_races(void)
{
	u64 *before = sched.before[sched.nr];
	int race[SCHED_CANDIDATES];
	unsigned int i, nr = 0;

	for (i = 0; i < sched.nr_candidates; i++)
		if (is_race(sched.candidate[i]))
			race[nr++] = sched.candidate[i];
	for (i = 0; i < sched.nr_candidates; i++) {
		row_or(before, sched.before[sched.candidate[i]], sched.candidate[i]);
		row_set(before, sched.candidate[i]);
	}
	for (i = 0; i < sched.nr_late; i++) {
		row_or(before, sched.before[sched.late[i]], sched.late[i]);
		row_set(before, sched.late[i]);
	}
	for (i = 0; i < nr; i++)
		plan(race[i], sched.nr);
}

/* The step has been made. Who was to sleep sleeps on, unless that step has changed its own. */
void dpor_made(void)
{
	const struct step *step = &sched.step[sched.nr];
	const struct node *node = &sched.node[sched.nr];
	u64 asleep;

	if (!dpor_is_new(sched.nr))
		return;
	find_races();
	sched.sleep = 0;
	for (asleep = node->sleep | node->done; asleep; asleep &= asleep - 1) {
		int proc = __builtin_ctzll(asleep);

		if (proc != step->proc && !memory_depends(proc, step))
			sched.sleep |= proc_bit(proc);
	}
}

static void nothing_enabled(void)
{
	unsigned int i;

	for (i = 0; i < sched.test->nr_threads; i++) {
		if (sched.thread[i].ended)
			continue;
		sched_stop_why(RUN_FAILED, "thread %s waits for ever", sched.test->thread[i].name);
		return;
	}
	sched.outcome = RUN_ENDED;
}

static int choose_replayed(u64 enabled)
{
	int n = sched.nr, proc;

	if (n == sched.nr_replay) {
		sched_stop_why(RUN_MISFIT, "the schedule ends after %d steps, the test does not",
			       n);
		return SCHED_NONE;
	}
	proc = sched.replay[n].proc;
	if (!(enabled & proc_bit(proc))) {
		sched_stop_why(RUN_MISFIT, "step %d of the schedule is not possible", n);
		return SCHED_NONE;
	}
	sched.node[n] = (struct node){ .enabled = enabled,
				       .backtrack = proc_bit(proc),
				       .proc = proc,
				       .choice = sched.replay[n].choice };
	return proc;
}

static int choose_first(u64 possible)
{
	if (sched.self != SCHED_NONE && possible & proc_bit(sched.self))
		return sched.self;
	return __builtin_ctzll(possible);
}

/* Each schedule has a rate of its own at which threads are interrupted. */
static int choose_any(u64 possible)
{
	unsigned int n;

	if (!sched.nr)
		sched.rate = 1U << dpor_any(6);
	if (dpor_any(sched.rate + 1))
		return choose_first(possible);
	for (n = dpor_any(__builtin_popcountll(possible)); n; n--)
		possible &= possible - 1;
	return __builtin_ctzll(possible);
}

/* The process to make the next step; SCHED_NONE: the schedule is over, and sched.outcome set. */
int dpor_choose(void)
{
	struct node *node = &sched.node[sched.nr];
	u64 enabled, possible;

	if (sched.nr < sched.fixed)
		return node->proc;
	if (sched.nr == SCHED_STEPS) {
		sched_stop_why(RUN_FAILED, "no end after %d steps", SCHED_STEPS);
		return SCHED_NONE;
	}
	enabled = memory_enabled();
	if (!enabled) {
		nothing_enabled();
		return SCHED_NONE;
	}
	if (sched.nr_replay != SCHED_NONE)
		return choose_replayed(enabled);
	possible = sched.brute || sched.random ? enabled : enabled & ~sched.sleep;
	if (!possible) {
		sched.outcome = RUN_BLOCKED;
		return SCHED_NONE;
	}
	*node = (struct node){ .enabled = enabled, .sleep = sched.brute ? 0 : sched.sleep };
	node->proc = sched.random ? choose_any(possible) : choose_first(possible);
	node->backtrack = sched.brute ? enabled : proc_bit(node->proc);
	return node->proc;
}

/* The next schedule is the last one up to the last step in whose place something is to be tried. */
bool dpor_next(void)
{
	int i;

	for (i = sched.nr - 1; i >= 0; i--) {
		struct node *node = &sched.node[i];
		u64 left;

		sched.fixed = i + 1;
		if (++node->choice < node->nr_choices)
			return true;
		node->choice = 0;
		node->done |= proc_bit(node->proc);
		left = node->backtrack & ~node->done & ~node->sleep;
		if (left) {
			node->proc = __builtin_ctzll(left);
			return true;
		}
	}
	return false;
}
