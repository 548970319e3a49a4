// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * weak: which old values a load may still return.
 *
 * Each step has a moment at which it takes effect in memory. A load that returns an old value took
 * effect before the next write to that location, whenever its turn came. What must be before what
 * is kept as rows, for each step the writes whose moments are before its own; an old value is
 * possible unless the write that replaced it is before the barrier that the load is behind. If it
 * is read, that barrier is from then on before that write, for everybody: which is why two readers
 * cannot see two writes in different orders.
 *
 * A barrier is local: it puts the loads (and, if full, the stores) of its thread that were before
 * it before those that come after it, and has no moment of its own that others could miss.
 */
#include "sched_int.h"

static u64 moment[SCHED_STEPS + 1][SCHED_WORDS]; /* before the step */
static u64 sofar[SCHED_STEPS + 1][SCHED_WORDS];	 /* before it or a load before it in its thread */
static u64 barrier[SCHED_THREADS][SCHED_WORDS];	 /* before the next load of the thread */
static int newest;				 /* step that has rows */

void order_reset(void)
{
	memset(barrier, 0, sizeof(barrier));
	newest = 0;
}

/* A later write may come to be before an earlier step: rows are as long as the schedule is. */
static void add(u64 *row, const u64 *from)
{
	row_or(row, from, newest);
}

static void with(u64 *row, int step)
{
	if (step == SCHED_NONE)
		return;
	add(row, moment[step]);
	row_set(row, step);
}

static void begin_rows(int step)
{
	int i;

	newest = step;
	row_clear(moment[step], step);
	row_clear(sofar[step], step);
	for (i = 0; !(step & 63) && i < step; i++)
		moment[i][step >> 6] = sofar[i][step >> 6] = 0;
}

static void begin(int step)
{
	const struct thread *t = &sched.thread[sched.step[step].thread];

	begin_rows(step);
	if (t->last != SCHED_NONE)
		add(sofar[step], sofar[t->last]);
}

/* A load: only barriers hold it, and it holds only what comes later in its thread. */
static void begin_load(int step)
{
	begin(step);
	add(moment[step], barrier[sched.step[step].thread]);
}

static void end(int step)
{
	add(sofar[step], moment[step]);
}

/* From now on what is in @row is before a write that is made already, and what is behind that. */
static void put_before(const u64 *row, int write)
{
	int i;

	for (i = 0; i <= newest; i++) {
		if (i == write || row_has(moment[i], write))
			add(moment[i], row);
		if (row_has(sofar[i], write))
			add(sofar[i], row);
	}
	for (i = 0; i < SCHED_THREADS; i++)
		if (row_has(barrier[i], write))
			add(barrier[i], row);
}

void order_load(int step, const struct loc *loc, unsigned int version)
{
	int read = loc->read[sched.step[step].thread];

	begin_load(step);
	with(moment[step], loc->version[version].step);
	/* So that the last reader of a thread stands for those before. */
	if (read != SCHED_NONE)
		add(moment[step], moment[read]);
	end(step);
	if (version + 1 < loc->nr_versions)
		put_before(moment[step], loc->version[version + 1].step);
}

void order_own_load(int step)
{
	begin_load(step);
	end(step);
}

/* After the writes there so far, and after those who read them. */
void order_write(int step, struct loc *loc)
{
	unsigned int i, j;

	for (i = 0; i <= loc->nr_over; i++) {
		const struct loc *l = i ? loc->over[i - 1] : loc;

		if (l->round != sched.round)
			continue;
		with(moment[step], l->write);
		for (j = 0; j < SCHED_THREADS; j++)
			if (l->read[j] != SCHED_NONE)
				add(moment[step], moment[l->read[j]]);
	}
}

static void with_arrivals(u64 *row, const struct thread *t, unsigned int from, bool section)
{
	unsigned int i;

	for (i = from; i < t->nr_arrivals; i++)
		if (!section || t->arrival[i].section)
			with(row, t->arrival[i].step);
}

/* Stores of its own that a write barrier has put before it. */
static void with_older(u64 *row, const struct thread *t, unsigned int epoch)
{
	unsigned int i;

	for (i = t->drained; i < t->nr_arrivals; i++)
		if (t->arrival[i].epoch < epoch)
			with(row, t->arrival[i].step);
}

/* What an update waits for: all stores of its thread, or those that it must not overtake. */
static void with_waited_for(u64 *row, const struct thread *t, bool full)
{
	if (full)
		with_arrivals(row, t, t->drained, false);
	else
		with_older(row, t, t->epoch);
}

void order_rmw(int step, struct loc *loc, bool full, bool acquire)
{
	int thread = sched.step[step].thread;

	begin(step);
	add(moment[step], sofar[step]);
	with_waited_for(moment[step], &sched.thread[thread], full);
	order_write(step, loc);
	end(step);
	row_set(sofar[step], step);
	if (full)
		add(barrier[thread], sofar[step]);
	else if (acquire)
		with(barrier[thread], loc->write);
}

/* One that has stored nothing: it holds back no load, but has had its own time to wait for. */
void order_rmw_not(int step, const struct loc *loc, bool full)
{
	begin(step);
	add(moment[step], sofar[step]);
	with_waited_for(moment[step], &sched.thread[sched.step[step].thread], full);
	with(moment[step], loc->version[loc->nr_versions - 1].step);
	end(step);
}

/* A full barrier; of WAIT also for what others did with IRQs off. */
void order_mb(int step)
{
	int thread = sched.step[step].thread;
	struct thread *t = &sched.thread[thread], *other;

	begin(step);
	with_arrivals(sofar[step], t, 0, false);
	for (other = sched.thread; other < &sched.thread[sched.test->nr_threads]; other++) {
		if (sched.step[step].kind != STEP_WAIT || other == t || other->on == SCHED_NONE)
			continue;
		add(sofar[step], sofar[other->on]);
		with_arrivals(sofar[step], other, 0, true);
	}
	add(barrier[thread], sofar[step]);
}

/* Behind a grace period: what was before it is seen. */
void order_off(int step)
{
	int thread = sched.step[step].thread, i;

	begin(step);
	for (i = 0; i < SCHED_THREADS; i++) {
		int wait = sched.thread[i].wait;

		if (i == thread || wait == SCHED_NONE)
			continue;
		add(barrier[thread], sofar[wait]);
		add(sofar[step], sofar[wait]);
	}
}

void order_other(int step)
{
	begin(step);
}

void order_flush(int step, const struct store *store)
{
	const struct thread *t = &sched.thread[sched.step[step].thread];

	begin_rows(step);
	if (store->after != SCHED_NONE)
		add(moment[step], sofar[store->after]);
	with_older(moment[step], t, store->epoch);
	order_write(step, store->loc);
}

void order_rmb(int thread)
{
	int last = sched.thread[thread].last;

	if (last != SCHED_NONE)
		add(barrier[thread], sofar[last]);
}

/* The oldest version that the next load may return. */
unsigned int order_oldest(int thread, const struct loc *loc)
{
	unsigned int now = loc->nr_versions - 1, oldest = loc->seen[thread], i;
	int last = sched.thread[thread].last, write = loc->version[now].step;

	if (oldest == now)
		return now;
	/*
	 * An old value that the load could also have found in time is left to the schedule in
	 * which it does.
	 */
	if (!sched.brute && !sched.random && sched.nr_replay == SCHED_NONE &&
	    (last == SCHED_NONE || write > last ||
	     (write != last && !row_has(sched.before[last], write))))
		return now;
	for (i = now; i > oldest; i--)
		if (row_has(barrier[thread], loc->version[i].step))
			return i;
	return oldest;
}
