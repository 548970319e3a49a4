// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The typed accesses under the explorer, and entries of two words. */
#define PTB_USER_EXPLORE
#include "harness.h"
#include "raw.h"
#include "fmt/word32x2.h"

static struct {
	u64 wide;
	u32 narrow;
	unsigned long flags;
	int count, zero;
	bool yes;
	const int *pointer;
	struct fmt_word entry;
} state;

static struct sched_result res;

static void explore(void (*a)(void *), void (*b)(void *), enum sched_model model)
{
	struct sched_test test = { .name = "raw",
				   .nr_threads = b ? 2 : 1,
				   .thread = { { "one", a, NULL }, { "two", b, NULL } },
				   .arena = &state,
				   .arena_bytes = sizeof(state) };
	struct sched_opts opts = { .model = model };

	sched_explore(&test, &opts, &res);
}

static void right(bool is, const char *what)
{
	if (!is)
		sched_fail("wrong: %s", what);
}
#define RIGHT(cond) right(cond, #cond)

static void loads_and_stores(void)
{
	raw_store64(&state.wide, 0x123456789abcdef0ULL);
	RIGHT(raw_load64(RAW_PTE, &state.wide) == 0x123456789abcdef0ULL);
	raw_store32(&state.narrow, 0xfedcba98);
	RIGHT(raw_load32(RAW_PTE, &state.narrow) == 0xfedcba98);
	RIGHT(raw_more32(&state.narrow) == 0xfedcba98);
	RIGHT(raw_load_acquire32(RAW_SEQ, &state.narrow) == 0xfedcba98);
	raw_store_long(&state.flags, ~6UL);
	RIGHT(raw_load_long(RAW_READ, &state.flags) == ~6UL);
	RIGHT(raw_more_long(&state.flags) == ~6UL);
	raw_write(&state.count, -5);
	RIGHT(raw_read(&state.count) == -5);
	raw_store_bool(&state.yes, true);
	RIGHT(raw_more_bool(&state.yes));
	raw_store_ptr(&state.pointer, &state.count);
	RIGHT(raw_more_ptr(&state.pointer) == &state.count);
	raw_mb();
	raw_wmb();
	raw_rmb();
	raw_mb_after_atomic();
}

static void updates(void)
{
	raw_write(&state.count, 3);
	RIGHT(raw_add_unless_zero(&state.count, 2) && raw_read(&state.count) == 5);
	RIGHT(!raw_add_unless_zero(&state.zero, 2) && !raw_read(&state.zero));
	raw_add(RAW_REF_ADD, &state.count, -4);
	RIGHT(raw_read(&state.count) == 1);
	raw_add(RAW_REF_ADD, &state.count, 4);
	RIGHT(!raw_sub_and_test(&state.count, 3) && raw_read(&state.count) == 2);
	RIGHT(raw_sub_and_test(&state.count, 2) && !raw_read(&state.count));
	raw_more_get(&state.count);
	RIGHT(raw_read(&state.count) == 1);
	raw_more_put(&state.count);
	RIGHT(!raw_read(&state.count));
	raw_store_long(&state.flags, 1);
	raw_set_bits(&state.flags, 6);
	raw_clear_bits(&state.flags, 3);
	RIGHT(raw_load_long(RAW_READ, &state.flags) == 4);
	raw_store64(&state.wide, 1ULL << 40);
	RIGHT(raw_xchg64(&state.wide, 7) == 1ULL << 40 && raw_load64(RAW_PTE, &state.wide) == 7);
	RIGHT(raw_cmpxchg64(&state.wide, 7, 9) == 7 && raw_load64(RAW_PTE, &state.wide) == 9);
	RIGHT(raw_cmpxchg64(&state.wide, 7, 1) == 9 && raw_load64(RAW_PTE, &state.wide) == 9);
	raw_store32(&state.narrow, 3);
	RIGHT(raw_xchg32(&state.narrow, 4) == 3);
	RIGHT(raw_cmpxchg32(&state.narrow, 4, 5) == 4 && raw_more32(&state.narrow) == 5);
	raw_write(&state.count, -1);
	RIGHT(!raw_cmpxchg_int(&state.count, 1, 0) && raw_cmpxchg_int(&state.count, -1, 8));
	RIGHT(raw_read(&state.count) == 8);
}

static void each_access(void *arg)
{
	(void)arg;
	loads_and_stores();
	updates();
}

HARNESS_TEST(explore, accesses_are_what_they_are_called)
{
	enum sched_model model;

	EXPECT(!sched_running(), "runs before it was asked to");
	for (model = 0; model < SCHED_NR_MODELS; model++) {
		explore(each_access, NULL, model);
		EXPECT(res.complete && res.schedules == 1, "%s: %llu schedules, %s",
		       sched_model_name[model], (unsigned long long)res.schedules, res.why);
	}
	memset(&state, 0, sizeof(state));
	/* No schedule runs here. */
	raw_write(&state.count, 1);
	EXPECT(state.count == 1 && raw_add_unless_zero(&state.count, 1) && state.count == 2,
	       "set-up does not access memory");
	EXPECT(!raw_sub_and_test(&state.count, 1) && raw_read(&state.count) == 1,
	       "set-up does not access memory");
}

/* ---- entries of two words: high and low of one value are alike ---- */

#define OLD 0x100000001ULL
#define NEW 0x200000002ULL

static void clear_and_set(void *arg)
{
	(void)arg;
	word_set(&state.entry, 0);
	sched_wait_irqs(); /* the TLB flush of a clear-and-set */
	word_set(&state.entry, NEW);
}

static void torn_is_wrong(struct fmt_word w)
{
	RIGHT(!w.low || w.high == w.low);
}

static void read_lockless(void *arg)
{
	(void)arg;
	sched_irqs_off();
	torn_is_wrong(word_load_lockless(RAW_PTE_LOCKLESS, &state.entry));
	sched_irqs_on();
}

static void read_plain(void *arg)
{
	(void)arg;
	sched_irqs_off();
	torn_is_wrong(word_load(RAW_PTE, &state.entry));
	sched_irqs_on();
}

HARNESS_TEST(explore, two_words_are_torn_unless_read_with_care)
{
	enum sched_model model;

	for (model = 0; model < SCHED_NR_MODELS; model++) {
		memset(&state, 0, sizeof(state));
		state.entry = word_mk(OLD);
		explore(clear_and_set, read_lockless, model);
		EXPECT(res.complete && res.schedules > 2, "%s: %s after %llu schedules",
		       sched_model_name[model], res.why, (unsigned long long)res.schedules);
		explore(clear_and_set, read_plain, model);
		EXPECT(res.violation, "%s: a plain read is whole", sched_model_name[model]);
	}
}
