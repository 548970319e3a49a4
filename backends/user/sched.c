// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The explorer's threads' side, and one schedule after the other. */
#include "sched_int.h"

#include <stdarg.h>
#include <time.h>

const char *const sched_model_name[SCHED_NR_MODELS] = { "sc", "tso", "pso", "weak" };

struct sched sched;

/* ---- steps ---- */

/* From thread @self, or from none, the schedule goes on; returns when it is @self's turn. */
void sched_go_on(int self)
{
	while (!sched.starting) {
		int proc = dpor_choose();

		if (proc == SCHED_NONE) {
			if (!stack_is_callers())
				stack_switch(SCHED_CALLER);
			return;
		}
		if (proc >= SCHED_THREADS) {
			step_make(proc);
			continue;
		}
		if (proc != self)
			stack_switch(proc);
		return;
	}
	stack_switch(SCHED_CALLER);
}

/* The calling thread makes its step when its turn comes. */
static u64 make_step(void)
{
	int self = sched.self;

	sched_go_on(self);
	step_make(self);
	return sched.thread[self].result;
}

static struct want *want(enum step_kind kind)
{
	struct want *w = &sched.thread[sched.self].want;

	*w = (struct want){ .kind = kind };
	return w;
}

void sched_stop(enum outcome outcome)
{
	sched.outcome = outcome;
	if (!stack_is_callers())
		stack_switch(SCHED_CALLER);
}

static void stop_va(enum outcome outcome, const char *fmt, va_list ap)
{
	if (sched.outcome == RUN_GOES_ON || sched.outcome == RUN_ENDED)
		vsnprintf(sched.why, sizeof(sched.why), fmt, ap);
	sched.outcome = outcome;
}

void sched_stop_why(enum outcome outcome, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	stop_va(outcome, fmt, ap);
	va_end(ap);
	sched_stop(outcome);
}

void sched_fail(const char *fmt, ...)
{
	va_list ap;

	if (!sched.test) {
		fprintf(stderr, "ptebatch: explore: sched_fail() without a schedule\n");
		abort();
	}
	va_start(ap, fmt);
	stop_va(RUN_FAILED, fmt, ap);
	va_end(ap);
	sched_stop(RUN_FAILED);
}

u64 sched_load(enum raw_op op, const void *p, unsigned int bytes)
{
	struct want *w;

	if (!sched_running())
		return memory_plain_load((uintptr_t)p, bytes);
	w = want(STEP_LOAD);
	w->op = op;
	w->loc = memory_loc(p, bytes);
	return make_step();
}

static void store(struct loc *loc, u64 val)
{
	struct want *w;

	if (sched.model == SCHED_SC) {
		w = want(STEP_STORE);
		w->loc = loc;
		w->val = val;
		make_step();
		return;
	}
	w = want(STEP_ROOM);
	w->loc = loc;
	if (!memory_can(sched.self))
		make_step();
	memory_push(sched.self, loc, val);
	if (sched.log)
		print_store(loc, val);
}

void sched_store(const void *p, unsigned int bytes, u64 val)
{
	if (!sched_running())
		memory_plain_store((uintptr_t)p, bytes, val);
	else
		store(memory_loc(p, bytes), val);
}

u64 sched_rmw(enum raw_op op, void *p, unsigned int bytes, sched_update *fn, u64 arg, bool full)
{
	struct want *w;

	if (!sched_running()) {
		u64 old = memory_plain_load((uintptr_t)p, bytes), val;
		bool yes = true;

		val = fn(old, arg, &yes);
		if (yes)
			memory_plain_store((uintptr_t)p, bytes, val);
		return old;
	}
	w = want(STEP_RMW);
	w->op = op;
	w->loc = memory_loc(p, bytes);
	w->fn = fn;
	w->arg = arg;
	w->full = full;
	return make_step();
}

void sched_mb(void)
{
	if (!sched_running())
		return;
	if (sched.model == SCHED_SC) {
		print_note("mb");
		return;
	}
	want(STEP_MB);
	make_step();
}

void sched_rmb(void)
{
	if (!sched_running())
		return;
	if (sched.model == SCHED_WEAK)
		order_rmb(sched.self);
	print_note("rmb");
}

void sched_wmb(void)
{
	if (!sched_running())
		return;
	sched.thread[sched.self].epoch++;
	print_note("wmb");
}

void sched_lock(int *lock)
{
	if (!sched_running())
		return;
	want(STEP_LOCK)->loc = memory_loc(lock, sizeof(*lock));
	make_step();
}

static u64 do_trylock(u64 old, u64 arg, bool *yes)
{
	*yes = !old;
	return arg;
}

bool sched_trylock(int *lock)
{
	struct want *w;

	if (!sched_running())
		return true;
	w = want(STEP_RMW);
	w->op = RAW_NR;
	w->loc = memory_loc(lock, sizeof(*lock));
	w->fn = do_trylock;
	w->arg = sched.self + 1;
	w->acquire = true;
	return !make_step();
}

void sched_unlock(int *lock)
{
	struct loc *loc;

	if (!sched_running())
		return;
	loc = memory_loc(lock, sizeof(*lock));
	if (memory_value(loc) != (u64)sched.self + 1 || memory_own(&sched.thread[sched.self], loc))
		sched_fail("unlock of a lock that is not held");
	sched.thread[sched.self].epoch++;
	store(loc, 0);
}

void sched_irqs_off(void)
{
	if (!sched_running())
		return;
	if (sched.thread[sched.self].irqs_off)
		sched_fail("IRQs off twice");
	want(STEP_OFF);
	make_step();
}

void sched_irqs_on(void)
{
	if (!sched_running())
		return;
	if (!sched.thread[sched.self].irqs_off)
		sched_fail("IRQs on that were not off");
	want(STEP_ON);
	make_step();
}

void sched_wait_irqs(void)
{
	if (!sched_running())
		return;
	if (sched.thread[sched.self].irqs_off)
		sched_fail("waits for others with IRQs off");
	want(STEP_WAIT);
	make_step();
}

void sched_yield_until(bool (*cond)(void *arg), void *arg, const void *where)
{
	struct want *w;

	if (!sched_running())
		return;
	w = want(STEP_YIELD);
	w->loc = memory_loc(where, 1);
	w->cond = cond;
	w->cond_arg = arg;
	make_step();
}

void sched_note(const char *fmt, ...)
{
	char text[128];
	va_list ap;

	if (!sched.log || !sched_running())
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	print_note("%s", text);
}

u64 sched_now(void)
{
	return sched.nr;
}

unsigned int sched_self(void)
{
	return sched.self;
}

bool sched_running(void)
{
	return sched.test && sched.self != SCHED_NONE;
}

/* ---- schedules ---- */

static void *arena_copy;

static void run(void)
{
	unsigned int i;

	memcpy(sched.test->arena, arena_copy, sched.test->arena_bytes);
	if (sched.test->reset)
		sched.test->reset(sched.test->arg);
	sched.round++;
	sched.nr = 0;
	sched.outcome = RUN_GOES_ON;
	sched.why[0] = '\0';
	sched.sleep = 0;
	print_reset();
	memory_reset();
	sched.starting = true;
	for (i = 0; i < sched.test->nr_threads && sched.outcome == RUN_GOES_ON; i++) {
		sched.thread[i].ended = false;
		stack_begin(i);
	}
	sched.starting = false;
	if (sched.outcome == RUN_GOES_ON)
		sched_go_on(SCHED_NONE);
	if (sched.outcome == RUN_ENDED && sched.test->check)
		sched.test->check(sched.test->arg);
}

/* Once more, so that the steps can be printed. */
static void run_again_with_log(void)
{
	bool again = sched.nr_replay == SCHED_NONE;
	char why[sizeof(sched.why)];
	int i;

	memcpy(why, sched.why, sizeof(why));
	for (i = 0; again && i < sched.nr; i++) {
		sched.replay[i].proc = sched.node[i].proc;
		sched.replay[i].choice = sched.node[i].choice;
	}
	if (again)
		sched.nr_replay = sched.nr;
	sched.random = 0;
	sched.fixed = 0;
	sched.log = true;
	run();
	memcpy(sched.why, why, sizeof(why));
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void explore(const struct sched_opts *opts, struct sched_result *res)
{
	for (;;) {
		run();
		res->steps += sched.nr;
		if (sched.outcome == RUN_AGAIN) {
			/* One more way to look at some bytes is known: from the start. */
			sched.fixed = 0;
			res->schedules = res->blocked = 0;
			continue;
		}
		if (sched.outcome == RUN_BLOCKED)
			res->blocked++;
		else
			res->schedules++;
		if (sched.outcome == RUN_ENDED && sched.nr < sched.nr_replay)
			sched_stop_why(RUN_MISFIT,
				       "the test ends after %d steps, the schedule does not",
				       sched.nr);
		if (sched.outcome == RUN_FAILED || sched.outcome == RUN_MISFIT)
			return;
		if (sched.nr_replay != SCHED_NONE)
			return;
		if (opts->bound && res->schedules >= opts->bound)
			return;
		if (!sched.random && !dpor_next()) {
			res->complete = true;
			return;
		}
	}
}

bool sched_explore(const struct sched_test *test, const struct sched_opts *opts,
		   struct sched_result *res)
{
	double start = now();
	bool fits;

	memset(res, 0, sizeof(*res));
	sched.test = test;
	sched.model = opts->model;
	sched.brute = opts->brute;
	sched.random = opts->replay ? 0 : opts->seed;
	sched.log = false;
	sched.self = SCHED_NONE;
	sched.fixed = 0;
	sched.nr_replay = SCHED_NONE;
	memory_forget();
	if (opts->replay && !print_parse(opts->replay)) {
		snprintf(res->why, sizeof(res->why), "%s", sched.why);
		sched.test = NULL;
		return false;
	}
	arena_copy = malloc(test->arena_bytes + 1);
	if (!arena_copy)
		abort();
	memcpy(arena_copy, test->arena, test->arena_bytes);

	explore(opts, res);
	res->violation = sched.outcome == RUN_FAILED;
	fits = sched.outcome != RUN_MISFIT;
	print_string(res->schedule, sizeof(res->schedule));
	if (res->violation || opts->replay || opts->trace)
		run_again_with_log();
	snprintf(res->why, sizeof(res->why), "%s", sched.why);
	memcpy(test->arena, arena_copy, test->arena_bytes);
	free(arena_copy);
	res->seconds = now() - start;
	sched.test = NULL;
	return fits;
}
