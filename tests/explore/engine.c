// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The explorer's engine apart from its models: what it finds, how often it looks, what it says. */
#include "program.h"

static struct {
	u64 wide;
	u64 other[4][2];
	int lock[2];
	int flag;
	u64 seen[2];
} state;

static struct sched_result res;

static struct sched_test test_of(void (*a)(void *), void (*b)(void *), void (*check)(void *))
{
	memset(&state, 0, sizeof(state));
	return (struct sched_test){ .name = "engine",
				    .nr_threads = 2,
				    .thread = { { "one", a, NULL }, { "two", b, NULL } },
				    .check = check,
				    .arena = &state,
				    .arena_bytes = sizeof(state) };
}

static bool explore(const struct sched_test *test, enum sched_model model, const char *replay)
{
	struct sched_opts opts = { .model = model, .replay = replay };

	return sched_explore(test, &opts, &res);
}

static u64 schedules_of(const char *text, enum sched_model model)
{
	static struct outcomes found;
	struct program p = program_parse(text, NULL);
	struct sched_test test = program_test(&p, &found);

	explore(&test, model, NULL);
	return res.complete ? res.schedules : 0;
}

HARNESS_TEST(explore, as_many_schedules_as_make_a_difference)
{
	static const struct {
		const char *program;
		u64 want[SCHED_NR_MODELS];
	} rows[] = {
		{ "w=1 w? w+ mb w? | x? x+ x=2 x! | y=1 y=2 ( y? )", { 1, 1, 1, 1 } },
		{ "z? w=1 | z? x=1 | z? y=1 | z? z?", { 1, 1, 1, 1 } },
		{ "x=1 | x? | x? | x?", { 8, 8, 8, 8 } },
		{ "x=1 | x=2 | x=3", { 6, 6, 6, 6 } },
		{ "x+ | x+ | x+ | x+", { 24, 24, 24, 24 } },
		{ "( x+ ) | ( x+ ) | ( x+ )", { 6, 6, 6, 6 } },
		{ "cli x? sti | wait | cli y? sti", { 4, 4, 4, 4 } },
		{ "x=1 y? | y=1 x?", { 3, 4, 4, 4 } },
		/* Either word before or after: old values need no schedules of their own. */
		{ "x=1 wmb y=1 | y? rmb x?", { 3, 3, 3, 3 } },
		{ "x=1 wmb y=1 | y? x?", { 3, 3, 3, 4 } },
	};
	enum sched_model model;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (model = 0; model < SCHED_NR_MODELS; model++) {
			u64 got = schedules_of(rows[i].program, model);

			EXPECT(got == rows[i].want[model], "%s under %s: %llu schedules, not %llu",
			       rows[i].program, sched_model_name[model], (unsigned long long)got,
			       (unsigned long long)rows[i].want[model]);
		}
}

/* ---- a fault that one order of many brings out ---- */

static u64 get(u64 *p)
{
	return sched_load(RAW_READ, p, sizeof(*p));
}

static void put(u64 *p, u64 val)
{
	sched_store(p, sizeof(*p), val);
}

static void climb_odd(void *arg)
{
	unsigned int i;

	(void)arg;
	sched_note("begins");
	for (i = 1; i < 8; i += 2)
		if (get(&state.wide) == i - 1)
			put(&state.wide, i);
}

static void climb_even(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 2; i < 7; i += 2)
		if (get(&state.wide) == i - 1)
			put(&state.wide, i);
	if (get(&state.wide) == 7)
		sched_fail("the top was reached at step %llu", (unsigned long long)sched_now());
}

HARNESS_TEST(explore, a_violation_is_found_told_and_replayed)
{
	struct sched_test test = test_of(climb_odd, climb_even, NULL);
	enum sched_model model;
	static char why[256], schedule[SCHED_STRING_MAX], steps[8192];
	FILE *f;

	sched_name(&state.wide, sizeof(state.wide), "height");
	for (model = 0; model < SCHED_NR_MODELS; model++) {
		EXPECT(explore(&test, model, NULL), "%s", res.why);
		EXPECT(res.violation && !res.complete, "the fault was not found");
		EXPECT(res.schedules > 1, "the fault is in the first schedule");
		snprintf(why, sizeof(why), "%s", res.why);
		snprintf(schedule, sizeof(schedule), "%s", res.schedule);

		EXPECT(explore(&test, model, schedule), "%s: %s", schedule, res.why);
		EXPECT(res.violation && res.schedules == 1, "%s: no fault", schedule);
		EXPECT(!strcmp(res.why, why), "%s: %s, not %s", schedule, res.why, why);
		EXPECT(!strcmp(res.schedule, schedule), "%s replayed %s", res.schedule, schedule);
	}
	memset(steps, 0, sizeof(steps));
	f = fmemopen(steps, sizeof(steps) - 1, "w");
	sched_print_steps(f);
	fclose(f);
	EXPECT(strstr(steps, "one") && strstr(steps, "two"), "no threads in: %s", steps);
	EXPECT(strstr(steps, "begins"), "no remark in: %s", steps);
	EXPECT(strstr(steps, "read height: 6"), "no read in: %s", steps);
	EXPECT(strstr(steps, "arrives: height = 7"), "no write in: %s", steps);
	EXPECT(strstr(steps, why), "no reason in: %s", steps);
	EXPECT_EQ(state.wide, 0, "the arena after all");
	sched_forget_names();
}

HARNESS_TEST(explore, a_schedule_that_does_not_fit_is_refused)
{
	static const struct {
		const char *schedule, *why;
	} rows[] = {
		{ "", "not a schedule" },
		{ "sc:a", "not a schedule" },
		{ "tso:", "ends after 0 steps" },
		{ "tso:a*3", "ends after 3 steps" },
		{ "tso:e", "not a schedule" },
		{ "tso:a*", "not a schedule" },
		{ "tso:a*0", "not a schedule" },
		{ "tso:a*5000", "not a schedule" },
		{ "tso:a,,b", "not a schedule" },
		{ "tso:a,", "not a schedule" },
		{ "tso:Af", "not a schedule" },
		{ "tso:A", "not a schedule" },
		{ "tso:B0", "step 0 of the schedule is not possible" },
		{ "tso:a*50", "step 4 of the schedule is not possible" },
		{ "tso:a*4,A0,b*4,a", "step 9 of the schedule is not possible" },
	};
	struct sched_test test = test_of(climb_odd, climb_even, NULL);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT(!explore(&test, SCHED_TSO, rows[i].schedule), "\"%s\" fits",
		       rows[i].schedule);
		EXPECT(strstr(res.why, rows[i].why), "\"%s\": %s", rows[i].schedule, res.why);
		EXPECT(!res.violation, "\"%s\" is a violation", rows[i].schedule);
	}
	EXPECT(explore(&test, SCHED_TSO, "tso:a*4,A0,b*4,B0"), "%s", res.why);
	EXPECT(!res.violation, "%s", res.why);
}

HARNESS_TEST(explore, a_bound_is_kept)
{
	struct sched_test test = test_of(climb_odd, climb_even, NULL);
	struct sched_opts opts = { .model = SCHED_SC, .bound = 2 };

	sched_explore(&test, &opts, &res);
	EXPECT(res.schedules == 2 && !res.complete && !res.violation, "%llu schedules",
	       (unsigned long long)res.schedules);
}

/* ---- threads that do not get on ---- */

static void lock_01(void *arg)
{
	(void)arg;
	sched_lock(&state.lock[0]);
	sched_lock(&state.lock[1]);
	sched_unlock(&state.lock[1]);
	sched_unlock(&state.lock[0]);
}

static void lock_10(void *arg)
{
	(void)arg;
	sched_lock(&state.lock[1]);
	sched_lock(&state.lock[0]);
	sched_unlock(&state.lock[0]);
	sched_unlock(&state.lock[1]);
}

static void try_lock_10(void *arg)
{
	(void)arg;
	sched_lock(&state.lock[1]);
	if (sched_trylock(&state.lock[0])) {
		state.seen[0] = 1;
		sched_unlock(&state.lock[0]);
	}
	sched_unlock(&state.lock[1]);
}

static void unlock_0(void *arg)
{
	(void)arg;
	sched_unlock(&state.lock[0]);
}

static void spin(void *arg)
{
	(void)arg;
	while (!get(&state.other[0][0]))
		;
}

static void nothing(void *arg)
{
	(void)arg;
}

static bool flag_is_set(void *arg)
{
	(void)arg;
	return state.flag;
}

static void raise_flag(void *arg)
{
	(void)arg;
	put(&state.wide, 7);
	sched_wmb();
	sched_store(&state.flag, sizeof(state.flag), 1);
}

static void wait_for_flag(void *arg)
{
	(void)arg;
	sched_yield_until(flag_is_set, NULL, &state.flag);
	sched_rmb();
	state.seen[0] = get(&state.wide);
}

static void wait_for_7(void *arg)
{
	(void)arg;
	if (state.seen[0] != 7)
		sched_fail("read %llu", (unsigned long long)state.seen[0]);
}

static void fail_with_irqs_off(void *arg)
{
	(void)arg;
	sched_irqs_off();
	sched_wait_irqs();
}

HARNESS_TEST(explore, who_waits_for_ever_is_told)
{
	const struct {
		void (*a)(void *), (*b)(void *), (*check)(void *);
		const char *why;
	} rows[] = {
		{ lock_01, lock_10, NULL, "waits for ever" },
		{ lock_01, lock_01, NULL, NULL },
		{ lock_01, try_lock_10, NULL, NULL },
		{ unlock_0, lock_01, NULL, "not held" },
		{ spin, nothing, NULL, "no end after 4096 steps" },
		{ wait_for_flag, nothing, NULL, "thread one waits for ever" },
		{ wait_for_flag, raise_flag, wait_for_7, NULL },
		{ wait_for_flag, raise_flag, fail_with_irqs_off, NULL },
		{ fail_with_irqs_off, nothing, NULL, "waits for others with IRQs off" },
	};
	enum sched_model model;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (model = 0; model < SCHED_NR_MODELS; model++) {
			struct sched_test test = test_of(rows[i].a, rows[i].b, rows[i].check);

			explore(&test, model, NULL);
			EXPECT(res.violation == !!rows[i].why, "row %u: %s", i, res.why);
			EXPECT(!rows[i].why || strstr(res.why, rows[i].why), "row %u: %s", i,
			       res.why);
			EXPECT(rows[i].why || res.complete, "row %u is not complete", i);
		}
}

/* ---- bytes in two widths ---- */

static u32 *half(unsigned int i)
{
	return (u32 *)&state.wide + i;
}

static void put_wide(void *arg)
{
	(void)arg;
	put(&state.wide, 0x200000001ULL);
}

static void put_halves(void *arg)
{
	(void)arg;
	sched_store(half(0), 4, 1);
	sched_store(half(1), 4, 2);
}

static void get_halves(void *arg)
{
	(void)arg;
	state.seen[0] = sched_load(RAW_READ, half(0), 4);
	state.seen[1] = sched_load(RAW_READ, half(1), 4);
}

static void get_wide(void *arg)
{
	u64 val = get(&state.wide);

	(void)arg;
	state.seen[0] = (u32)val;
	state.seen[1] = val >> 32;
}

static void put_half_get_wide(void *arg)
{
	sched_store(half(1), 4, 3);
	get_wide(arg);
}

static struct outcomes seen;

static void note_seen(void *arg)
{
	char text[3] = { '0' + state.seen[0], '0' + state.seen[1] };

	(void)arg;
	EXPECT(!sched_running(), "check runs as a thread");
	outcomes_add(&seen, text);
}

HARNESS_TEST(explore, wide_and_narrow_are_the_same_memory)
{
	const struct {
		void (*a)(void *), (*b)(void *);
		const char *want[SCHED_NR_MODELS];
	} rows[] = {
		{ put_wide, get_wide, { "00 12" } },
		{ put_wide, get_halves, { "00 02 12", NULL, NULL, "00 02 10 12" } },
		{ put_halves, get_wide, { "00 10 12", NULL, "00 02 10 12" } },
		{ put_halves, get_halves, { "00 02 10 12" } },
		{ put_wide, put_half_get_wide, { "03 12 13" } },
	};
	enum sched_model model;
	char text[100];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (model = 0; model < SCHED_NR_MODELS; model++) {
			struct sched_test test = test_of(rows[i].a, rows[i].b, note_seen);
			enum sched_model from = model;

			while (!rows[i].want[from])
				from--;
			memset(&seen, 0, sizeof(seen));
			explore(&test, model, NULL);
			outcomes_text(&seen, text, sizeof(text));
			EXPECT(res.complete && !strcmp(text, rows[i].want[from]),
			       "row %u under %s: %s, not %s", i, sched_model_name[model], text,
			       rows[i].want[from]);
		}
}

static void fail_if_torn(void *arg)
{
	(void)arg;
	if (!state.seen[0] && state.seen[1])
		sched_fail("torn");
}

HARNESS_TEST(explore, a_fault_is_found_at_random_too)
{
	struct sched_opts opts = { .bound = 1000, .seed = 1 };
	static char schedule[SCHED_STRING_MAX];

	for (opts.model = 0; opts.model < SCHED_NR_MODELS; opts.model++) {
		struct sched_test test = test_of(put_wide, get_halves, fail_if_torn);

		sched_explore(&test, &opts, &res);
		EXPECT(res.violation, "%s: %llu schedules without the fault",
		       sched_model_name[opts.model], (unsigned long long)res.schedules);
		snprintf(schedule, sizeof(schedule), "%s", res.schedule);
		EXPECT(explore(&test, opts.model, schedule) && res.violation, "%s: %s", schedule,
		       res.why);
	}
}

/* ---- many stores under way ---- */

static void put_many(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < 100; i++)
		put(&state.other[i % 4][0], i);
	for (i = 0; i < 8; i++)
		put(&state.other[i % 4][i / 4], i);
}

HARNESS_TEST(explore, stores_find_room)
{
	enum sched_model model;

	for (model = 0; model < SCHED_NR_MODELS; model++) {
		struct sched_test test = test_of(put_many, nothing, NULL);

		explore(&test, model, NULL);
		EXPECT(res.complete && res.schedules == 1, "%s: %llu schedules, %s",
		       sched_model_name[model], (unsigned long long)res.schedules, res.why);
	}
}
