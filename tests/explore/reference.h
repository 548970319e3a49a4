/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The models once more, as a machine whose states are all visited: what the explorer is held
 * against. It has a clock, the number of writes so far; barriers look at it, and a load may return
 * any value that its word has held since the last of its thread's.
 */
#ifndef TESTS_EXPLORE_REFERENCE_H
#define TESTS_EXPLORE_REFERENCE_H

#include "program.h"

#define LOG 24
#define BUFFER 8
#define ROOM (1 << 18)

struct buffered {
	u8 word, val, epoch, section;
};

struct machine {
	u8 pc[THREADS], nr_regs[THREADS], reg[THREADS][REGS];
	u8 nr_log, log_word[LOG], log_val[LOG]; /* all writes in order */
	u8 floor[THREADS], grace[THREADS];
	u8 seen[THREADS][WORDS + 1]; /* writes to a word that a thread has seen */
	u8 epoch[THREADS], irqs_off[THREADS];
	u8 nr_buffer[THREADS];
	struct buffered buffer[THREADS][BUFFER];
};

static struct {
	const struct program *p;
	enum sched_model model;
	struct machine visited[ROOM];
	unsigned int round[ROOM], now, nr; /* what is of another round is empty */
	struct outcomes *found;
} ref;

static inline unsigned int ref_hash(const struct machine *m)
{
	const u8 *b = (const u8 *)m;
	unsigned int h = 2166136261u;
	size_t i;

	for (i = 0; i < sizeof(*m); i++)
		h = (h ^ b[i]) * 16777619u;
	return h;
}

static inline bool ref_visit(const struct machine *m)
{
	unsigned int i = ref_hash(m) % ROOM;

	for (; ref.round[i] == ref.now; i = (i + 1) % ROOM)
		if (!memcmp(&ref.visited[i], m, sizeof(*m)))
			return false;
	if (ref.nr == ROOM / 2)
		return false;
	ref.nr++;
	ref.round[i] = ref.now;
	ref.visited[i] = *m;
	return true;
}

static inline unsigned int ref_newest(const struct machine *m, unsigned int word)
{
	unsigned int i;

	for (i = m->nr_log; i--;)
		if (m->log_word[i] == word)
			return m->log_val[i];
	return word < WORDS ? ref.p->initial[word] : 0;
}

static inline void ref_write(struct machine *m, unsigned int t, unsigned int word, unsigned int val)
{
	if (m->nr_log == LOG)
		abort();
	m->log_word[m->nr_log] = word;
	m->log_val[m->nr_log++] = val;
	m->seen[t][word] = m->nr_log;
}

static inline int ref_buffered(const struct machine *m, unsigned int t, unsigned int word)
{
	int i;

	for (i = m->nr_buffer[t]; i--;)
		if (m->buffer[t][i].word == word)
			return i;
	return -1;
}

static inline bool ref_older_epoch(const struct machine *m, unsigned int t, unsigned int epoch)
{
	unsigned int i;

	for (i = 0; i < m->nr_buffer[t]; i++)
		if (m->buffer[t][i].epoch < epoch)
			return true;
	return false;
}

static inline void ref_store(struct machine *m, unsigned int t, unsigned int word, unsigned int val)
{
	if (ref.model == SCHED_SC) {
		ref_write(m, t, word, val);
		return;
	}
	if (m->nr_buffer[t] == BUFFER)
		abort();
	m->buffer[t][m->nr_buffer[t]++] =
		(struct buffered){ word, val, m->epoch[t], m->irqs_off[t] };
}

static void ref_go(const struct machine *m);

static inline void ref_step(const struct machine *m, unsigned int t)
{
	struct machine next = *m;

	next.pc[t]++;
	ref_go(&next);
}

static inline void ref_load(const struct machine *m, unsigned int t, unsigned int word)
{
	struct machine next = *m;
	int i = ref_buffered(m, t, word), first = 0, val;

	next.pc[t]++;
	if (i >= 0) {
		next.reg[t][next.nr_regs[t]++] = m->buffer[t][i].val;
		ref_go(&next);
		return;
	}
	/* The oldest value still there at the floor, or the one it has seen already. */
	for (i = 0; i < m->nr_log; i++)
		if (m->log_word[i] == word &&
		    (i < m->floor[t] || i < m->seen[t][word] || ref.model != SCHED_WEAK))
			first = i + 1;
	val = first ? m->log_val[first - 1] : (int)ref.p->initial[word];
	for (i = first;; i++) {
		next = *m;
		next.pc[t]++;
		next.reg[t][next.nr_regs[t]++] = val;
		if (next.seen[t][word] < first)
			next.seen[t][word] = first;
		ref_go(&next);
		for (; i < m->nr_log && m->log_word[i] != word; i++)
			;
		if (i == m->nr_log)
			break;
		first = i + 1;
		val = m->log_val[i];
	}
}

static inline void ref_rmw(const struct machine *m, unsigned int t, const struct op *op)
{
	bool full = op->kind != OP_ADD;
	unsigned int old = ref_newest(m, op->word);
	struct machine next = *m;

	if ((full || ref.model == SCHED_TSO) && m->nr_buffer[t])
		return;
	if (ref_buffered(m, t, op->word) >= 0 || ref_older_epoch(m, t, m->epoch[t]))
		return;
	next.pc[t]++;
	next.reg[t][next.nr_regs[t]++] = old;
	next.seen[t][op->word] = m->nr_log;
	if (op->kind != OP_ADD_NOT_ZERO || old) {
		ref_write(&next, t, op->word, old + op->val);
		if (full)
			next.floor[t] = next.nr_log;
	}
	ref_go(&next);
}

static inline void ref_lock(const struct machine *m, unsigned int t, bool try)
{
	struct machine next = *m;
	bool taken = ref_newest(m, LOCK);
	unsigned int i;

	if ((taken && !try) || ref_buffered(m, t, LOCK) >= 0 ||
	    (ref.model == SCHED_TSO && m->nr_buffer[t]) ||
	    (try && ref_older_epoch(m, t, m->epoch[t])))
		return;
	next.pc[t]++;
	if (try)
		next.reg[t][next.nr_regs[t]++] = !taken;
	if (taken) {
		ref_go(&next);
		return;
	}
	/* An acquire: loads are ordered behind the unlock, not behind loads before the lock. */
	for (i = next.floor[t]; i < m->nr_log; i++)
		if (m->log_word[i] == LOCK)
			next.floor[t] = i + 1;
	ref_write(&next, t, LOCK, 1);
	ref_go(&next);
}

static inline void ref_wait(const struct machine *m, unsigned int t)
{
	struct machine next = *m;
	unsigned int u, i;

	if (m->nr_buffer[t])
		return;
	for (u = 0; u < ref.p->nr_threads; u++) {
		if (u == t)
			continue;
		if (m->irqs_off[u])
			return;
		for (i = 0; i < m->nr_buffer[u]; i++)
			if (m->buffer[u][i].section)
				return;
		next.grace[u] = m->nr_log;
	}
	next.pc[t]++;
	next.floor[t] = m->nr_log;
	ref_go(&next);
}

static inline void ref_op(const struct machine *m, unsigned int t)
{
	const struct op *op = &ref.p->op[t][m->pc[t]];
	struct machine next = *m;

	switch (op->kind) {
	case OP_LOAD:
		ref_load(m, t, op->word);
		return;
	case OP_ADD:
	case OP_ADD_FULL:
	case OP_ADD_NOT_ZERO:
		ref_rmw(m, t, op);
		return;
	case OP_LOCK:
	case OP_TRYLOCK:
		ref_lock(m, t, op->kind == OP_TRYLOCK);
		return;
	case OP_WAIT:
		ref_wait(m, t);
		return;
	case OP_STORE:
		ref_store(&next, t, op->word, op->val);
		break;
	case OP_UNTIL:
		if (!ref_newest(m, op->word) || ref_buffered(m, t, op->word) >= 0)
			return;
		next.seen[t][op->word] = m->nr_log;
		break;
	case OP_UNLOCK_IF:
		if (!next.reg[t][next.nr_regs[t] - 1])
			break;
		/* fallthrough */
	case OP_UNLOCK:
		next.epoch[t]++;
		ref_store(&next, t, LOCK, 0);
		break;
	case OP_MB:
		if (m->nr_buffer[t])
			return;
		next.floor[t] = m->nr_log;
		break;
	case OP_RMB:
		next.floor[t] = m->nr_log;
		break;
	case OP_WMB:
		next.epoch[t]++;
		break;
	case OP_CLI:
		next.irqs_off[t] = 1;
		if (next.floor[t] < m->grace[t])
			next.floor[t] = m->grace[t];
		break;
	case OP_STI:
		next.irqs_off[t] = 0;
		break;
	}
	ref_step(&next, t);
}

/* The i-th store of a buffer arrives, if it may. */
static inline void ref_flush(const struct machine *m, unsigned int t, unsigned int i)
{
	const struct buffered *b = &m->buffer[t][i];
	struct machine next = *m;
	unsigned int j;

	if (i && ref.model == SCHED_TSO)
		return;
	if (ref_older_epoch(m, t, b->epoch))
		return;
	for (j = 0; j < i; j++)
		if (m->buffer[t][j].word == b->word)
			return;
	ref_write(&next, t, b->word, b->val);
	memmove(&next.buffer[t][i], &m->buffer[t][i + 1],
		(BUFFER - 1 - i) * sizeof(struct buffered));
	memset(&next.buffer[t][--next.nr_buffer[t]], 0, sizeof(struct buffered));
	ref_go(&next);
}

static inline void ref_end(const struct machine *m)
{
	unsigned int words[WORDS], reg[THREADS][REGS], nr_regs[THREADS], t, i;
	char text[OUTCOME];

	for (i = 0; i < WORDS; i++)
		words[i] = ref_newest(m, i);
	for (t = 0; t < THREADS; t++) {
		nr_regs[t] = m->nr_regs[t];
		for (i = 0; i < REGS; i++)
			reg[t][i] = m->reg[t][i];
	}
	outcome_text(ref.p, reg, nr_regs, words, text);
	outcomes_add(ref.found, text);
}

static void ref_go(const struct machine *m)
{
	unsigned int t, i;
	bool ended = true;

	if (!ref_visit(m))
		return;
	for (t = 0; t < ref.p->nr_threads; t++) {
		if (m->pc[t] < ref.p->nr[t]) {
			ended = false;
			ref_op(m, t);
		}
		for (i = 0; i < m->nr_buffer[t]; i++) {
			ended = false;
			ref_flush(m, t, i);
		}
	}
	if (ended)
		ref_end(m);
}

/* False where there are too many states. */
static inline bool reference(const struct program *p, enum sched_model model, struct outcomes *set)
{
	struct machine m = {};

	ref.p = p;
	ref.model = model;
	ref.now++;
	ref.nr = 0;
	ref.found = set;
	memset(set, 0, sizeof(*set));
	ref_go(&m);
	return ref.nr < ROOM / 2;
}

#endif
