/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Small concurrent programs as text, and the set of outcomes that the explorer finds for one.
 *
 *	x=1 wmb y=1 | y? rmb x?
 *
 * Threads are separated by |. Words, all 0 at the start: w to z; l is a lock.
 *
 *	x=1	store			x?	load into the thread's next register
 *	x+	relaxed add of 1	x!	the same with full order; both into a register
 *	x^	add 1 unless it is 0, full when it adds; into a register
 *	mb rmb wmb			x~	wait until it is not 0
 *	( )	take and give back the lock l
 *	[ ]	take it if it is free (1 into a register, else 0), give it back if it was
 *	cli sti				wait	until nobody else has IRQs off
 *
 * An outcome is the registers, thread by thread, and if the program ends with "." the final values
 * of w to z: "10", "0102".
 */
#ifndef TESTS_EXPLORE_PROGRAM_H
#define TESTS_EXPLORE_PROGRAM_H

#include "harness.h"
#include "sched.h"

#define WORDS 4
#define LOCK 4
#define OPS 8
#define REGS 8
#define THREADS 4

enum op_kind {
	OP_STORE,
	OP_LOAD,
	OP_ADD,
	OP_ADD_FULL,
	OP_ADD_NOT_ZERO,
	OP_MB,
	OP_RMB,
	OP_WMB,
	OP_LOCK,
	OP_UNLOCK,
	OP_TRYLOCK,
	OP_UNLOCK_IF,
	OP_UNTIL,
	OP_CLI,
	OP_STI,
	OP_WAIT,
};

struct op {
	enum op_kind kind;
	unsigned int word, val;
};

struct program {
	const char *text;
	unsigned int nr_threads, nr[THREADS];
	struct op op[THREADS][OPS];
	unsigned int initial[WORDS];
	bool finals;
};

/* Each word has a cache line's worth of room, so that no two are one location. */
struct arena {
	unsigned int word[WORDS][4];
	int lock;
	unsigned int reg[THREADS][REGS], nr_regs[THREADS];
};

static inline enum op_kind parse_access(char c)
{
	switch (c) {
	case '=':
		return OP_STORE;
	case '?':
		return OP_LOAD;
	case '+':
		return OP_ADD;
	case '!':
		return OP_ADD_FULL;
	case '^':
		return OP_ADD_NOT_ZERO;
	default:
		return OP_UNTIL;
	}
}

static inline void parse_op(const char *s, struct op *op)
{
	static const struct {
		const char *text;
		enum op_kind kind;
	} words[] = {
		{ "mb", OP_MB },    { "rmb", OP_RMB },	 { "wmb", OP_WMB },	{ "(", OP_LOCK },
		{ ")", OP_UNLOCK }, { "[", OP_TRYLOCK }, { "]", OP_UNLOCK_IF }, { "cli", OP_CLI },
		{ "sti", OP_STI },  { "wait", OP_WAIT },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(s, words[i].text))
			continue;
		*op = (struct op){ words[i].kind, LOCK, 0 };
		return;
	}
	*op = (struct op){ parse_access(s[1]), s[0] - 'w', s[1] == '=' ? s[2] - '0' : 1 };
}

/* @initial: like "x=1", or NULL */
static inline struct program program_parse(const char *text, const char *initial)
{
	struct program p = { .text = text, .nr_threads = 1 };
	char copy[256], *s, *rest;
	unsigned int t = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (s = strtok_r(copy, " ", &rest); s; s = strtok_r(NULL, " ", &rest)) {
		if (!strcmp(s, "|"))
			t++;
		else if (!strcmp(s, "."))
			p.finals = true;
		else
			parse_op(s, &p.op[t][p.nr[t]++]);
	}
	p.nr_threads = t + 1;
	if (initial)
		p.initial[initial[0] - 'w'] = initial[2] - '0';
	return p;
}

/* ---- outcomes: sets of short strings ---- */

#define OUTCOME 24
#define OUTCOMES 4096

struct outcomes {
	unsigned int nr;
	char text[OUTCOMES][OUTCOME];
};

static inline void outcomes_add(struct outcomes *set, const char *text)
{
	unsigned int lo = 0, hi = set->nr;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;
		int cmp = strcmp(set->text[mid], text);

		if (!cmp)
			return;
		if (cmp < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (set->nr == OUTCOMES)
		abort();
	memmove(set->text[lo + 1], set->text[lo], (set->nr++ - lo) * OUTCOME);
	snprintf(set->text[lo], OUTCOME, "%s", text);
}

static inline bool outcomes_same(const struct outcomes *a, const struct outcomes *b)
{
	return a->nr == b->nr && !memcmp(a->text, b->text, a->nr * OUTCOME);
}

static inline const char *outcomes_text(const struct outcomes *set, char *buf, size_t bytes)
{
	unsigned int i;
	size_t n = 0;

	buf[0] = '\0';
	for (i = 0; i < set->nr && n < bytes; i++)
		n += snprintf(buf + n, bytes - n, "%s%s", i ? " " : "", set->text[i]);
	return buf;
}

/* As both the explorer and the reference tell it. */
static inline void outcome_text(const struct program *p, const unsigned int reg[][REGS],
				const unsigned int *nr_regs, const unsigned int *words,
				char text[OUTCOME])
{
	unsigned int t, i, n = 0;

	for (t = 0; t < p->nr_threads; t++)
		for (i = 0; i < nr_regs[t]; i++)
			text[n++] = '0' + reg[t][i];
	for (i = 0; p->finals && i < WORDS; i++)
		text[n++] = '0' + words[i];
	text[n] = '\0';
}

/* ---- under the explorer ---- */

static struct {
	struct arena arena;
	const struct program *program;
	struct outcomes *found;
	unsigned int thread[THREADS];
} playing;

static inline u64 do_add(u64 old, u64 arg, bool *store)
{
	(void)store;
	return old + arg;
}

static inline u64 do_add_not_zero(u64 old, u64 arg, bool *store)
{
	*store = old;
	return old + arg;
}

static inline bool play_load(unsigned int *word, const struct op *op, unsigned int *reg)
{
	switch (op->kind) {
	case OP_LOAD:
		*reg = sched_load(RAW_READ, word, sizeof(*word));
		return true;
	case OP_ADD:
		*reg = sched_rmw(RAW_READ, word, sizeof(*word), do_add, op->val, false);
		return true;
	case OP_ADD_FULL:
		*reg = sched_rmw(RAW_READ, word, sizeof(*word), do_add, op->val, true);
		return true;
	case OP_ADD_NOT_ZERO:
		*reg = sched_rmw(RAW_READ, word, sizeof(*word), do_add_not_zero, op->val, true);
		return true;
	case OP_TRYLOCK:
		*reg = sched_trylock(&playing.arena.lock);
		return true;
	default:
		return false;
	}
}

static inline bool play_not_zero(void *arg)
{
	return *(unsigned int *)arg;
}

static inline void play_op(const struct op *op)
{
	switch (op->kind) {
	case OP_STORE:
		sched_store(playing.arena.word[op->word], sizeof(unsigned int), op->val);
		break;
	case OP_MB:
		sched_mb();
		break;
	case OP_RMB:
		sched_rmb();
		break;
	case OP_WMB:
		sched_wmb();
		break;
	case OP_LOCK:
		sched_lock(&playing.arena.lock);
		break;
	case OP_UNLOCK:
		sched_unlock(&playing.arena.lock);
		break;
	case OP_UNTIL:
		sched_yield_until(play_not_zero, playing.arena.word[op->word],
				  playing.arena.word[op->word]);
		break;
	case OP_CLI:
		sched_irqs_off();
		break;
	case OP_STI:
		sched_irqs_on();
		break;
	case OP_WAIT:
		sched_wait_irqs();
		break;
	default:
		break;
	}
}

static inline void play_thread(void *arg)
{
	unsigned int t = *(unsigned int *)arg, i;
	const struct program *p = playing.program;
	struct arena *a = &playing.arena;

	for (i = 0; i < p->nr[t]; i++) {
		const struct op *op = &p->op[t][i];
		unsigned int *reg = &a->reg[t][a->nr_regs[t]];

		if (play_load(op->word < WORDS ? a->word[op->word] : NULL, op, reg))
			a->nr_regs[t]++;
		else if (op->kind != OP_UNLOCK_IF)
			play_op(op);
		else if (reg[-1])
			sched_unlock(&a->lock);
	}
}

static inline void play_check(void *arg)
{
	struct arena *a = &playing.arena;
	unsigned int words[WORDS], i;
	char text[OUTCOME];

	(void)arg;
	for (i = 0; i < WORDS; i++)
		words[i] = a->word[i][0];
	outcome_text(playing.program, a->reg, a->nr_regs, words, text);
	outcomes_add(playing.found, text);
}

static inline struct sched_test program_test(const struct program *p, struct outcomes *found)
{
	static const char *const names[THREADS] = { "T0", "T1", "T2", "T3" };
	struct sched_test test = { .name = p->text,
				   .nr_threads = p->nr_threads,
				   .check = play_check,
				   .arena = &playing.arena,
				   .arena_bytes = sizeof(playing.arena) };
	unsigned int i;

	memset(&playing, 0, sizeof(playing));
	playing.program = p;
	playing.found = found;
	found->nr = 0;
	memset(found->text, 0, sizeof(found->text));
	for (i = 0; i < WORDS; i++) {
		playing.arena.word[i][0] = p->initial[i];
		sched_name(playing.arena.word[i], sizeof(unsigned int), "%c", 'w' + i);
	}
	sched_name(&playing.arena.lock, sizeof(int), "lock");
	for (i = 0; i < p->nr_threads; i++) {
		playing.thread[i] = i;
		test.thread[i] = (struct sched_thread){ names[i], play_thread, &playing.thread[i] };
	}
	return test;
}

#endif
