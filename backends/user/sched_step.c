// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a step of the explorer's does. */
#include "sched_int.h"

/* Nobody could have made these two in the other order. */
static void after(int step)
{
	if (step != SCHED_NONE && dpor_is_new(sched.nr)) {
		row_or(sched.before[sched.nr], sched.before[step], step);
		row_set(sched.before[sched.nr], step);
	}
}

/* The same, of what made this step possible when it was not, and is no order by itself. */
static void late(int step)
{
	if (step != SCHED_NONE && dpor_is_new(sched.nr))
		sched.late[sched.nr_late++] = step;
}

/* Steps on the same memory that this one depends on. */
static void conflict_one(struct loc *loc, bool write)
{
	unsigned int i;

	memory_refresh(loc);
	dpor_candidate(loc->write);
	for (i = 0; write && i < SCHED_THREADS; i++)
		dpor_candidate(loc->read[i]);
}

static void conflict(struct loc *loc, bool write)
{
	struct step *step = &sched.step[sched.nr];
	unsigned int i;

	step->loc = loc;
	step->wrote = write;
	if (dpor_is_new(sched.nr)) {
		conflict_one(loc, write);
		for (i = 0; i < loc->nr_over; i++)
			conflict_one(loc->over[i], write);
	}
}

static void set_read(struct loc *loc)
{
	const struct step *step = &sched.step[sched.nr];

	loc->read[step->thread] = sched.nr;
}

/* The value goes to memory, and into the history of all words that have some of its bytes. */
static void set_write(struct loc *loc, u64 val)
{
	struct step *step = &sched.step[sched.nr];
	unsigned int i;

	step->old = memory_value(loc);
	for (i = 0; i < loc->nr_over; i++)
		memory_refresh(loc->over[i]);
	memory_plain_store(loc->addr, loc->bytes, val);
	step->val = memory_value(loc);
	loc->write = sched.nr;
	for (i = 0; i < SCHED_THREADS; i++)
		loc->read[i] = SCHED_NONE;
	if (sched.model != SCHED_WEAK)
		return;
	memory_version(loc, sched.nr);
	loc->seen[step->thread] = loc->nr_versions - 1;
	for (i = 0; i < loc->nr_over; i++) {
		struct loc *over = loc->over[i];

		memory_version(over, sched.nr);
		over->seen[step->thread] = over->nr_versions - 1;
	}
}

static void saw(struct loc *loc, int thread, int step)
{
	unsigned int i = loc->nr_versions - 1;

	while (i && loc->version[i].step > step)
		i--;
	if (loc->seen[thread] < i)
		loc->seen[thread] = i;
}

/* weak: which of the values it may see; the others are choices to be tried later. */
static u64 load_any(int thread, struct loc *loc)
{
	unsigned int newest = loc->nr_versions - 1, oldest = order_oldest(thread, loc), i;
	struct node *node = &sched.node[sched.nr];

	node->nr_choices = newest - oldest + 1;
	/* At random, too, most values are new. */
	if (sched.random && !dpor_any(4))
		node->choice = dpor_any(node->nr_choices);
	if (node->choice >= node->nr_choices) {
		node->choice = 0;
		sched_stop_why(RUN_MISFIT, "step %d: no such value to be read", sched.nr);
	}
	i = newest - node->choice;
	sched.step[sched.nr].stale = i != newest;
	order_load(sched.nr, loc, i);
	saw(loc, thread, loc->version[i].step);
	for (newest = 0; newest < loc->nr_over; newest++) {
		memory_refresh(loc->over[newest]);
		saw(loc->over[newest], thread, loc->version[i].step);
	}
	return loc->version[i].val;
}

static void do_load(int thread, const struct want *w)
{
	struct thread *t = &sched.thread[thread];
	struct step *step = &sched.step[sched.nr];
	struct store *own = memory_own(t, w->loc);

	if (own) {
		own->read = sched.nr;
		step->own = true;
		t->result = own->val;
		if (sched.model == SCHED_WEAK)
			order_own_load(sched.nr);
	} else {
		conflict(w->loc, false);
		t->result =
			sched.model == SCHED_WEAK ? load_any(thread, w->loc) : memory_value(w->loc);
		set_read(w->loc);
	}
	step->val = t->result;
}

/* All stores of a thread had to arrive first. */
static void full_barrier(struct thread *t)
{
	for (; t->drained < t->nr_arrivals; t->drained++)
		after(t->arrival[t->drained].step);
}

/* Those before its last write barrier had. */
static void after_older(const struct thread *t, unsigned int epoch)
{
	unsigned int i;

	for (i = t->drained; i < t->nr_arrivals; i++)
		if (t->arrival[i].epoch < epoch)
			after(t->arrival[i].step);
}

static void do_rmw(int thread, const struct want *w)
{
	struct thread *t = &sched.thread[thread];
	struct step *step = &sched.step[sched.nr];
	u64 old = memory_value(w->loc), val;
	bool store = true;

	val = w->fn(old, w->arg, &store);
	conflict(w->loc, store);
	if (sched.model == SCHED_WEAK) {
		if (store)
			order_rmw(sched.nr, w->loc, w->full, w->acquire);
		else
			order_rmw_not(sched.nr, w->loc, w->full);
	}
	if (w->full || sched.model == SCHED_TSO)
		full_barrier(t);
	else
		after_older(t, t->epoch);
	t->result = step->old = step->val = old;
	if (store) {
		set_write(w->loc, val);
		if (w->acquire)
			w->loc->lock = sched.nr;
	} else {
		if (sched.model == SCHED_WEAK)
			saw(w->loc, thread, sched.nr);
		set_read(w->loc);
	}
}

/* What could have come in place of it is not the unlock that let it go on, but the other lock. */
static void do_lock(int thread, const struct want *w)
{
	struct loc *loc = w->loc;
	unsigned int i;

	sched.step[sched.nr].loc = loc;
	sched.step[sched.nr].wrote = true;
	dpor_candidate(loc->lock);
	for (i = 0; i < SCHED_THREADS; i++)
		dpor_candidate(loc->read[i]);
	late(loc->write);
	if (sched.model == SCHED_TSO)
		full_barrier(&sched.thread[thread]);
	if (sched.model == SCHED_WEAK)
		order_rmw(sched.nr, loc, false, true);
	set_write(loc, thread + 1);
	loc->lock = sched.nr;
}

static void do_off(int thread)
{
	unsigned int i;

	for (i = 0; i < sched.test->nr_threads; i++)
		dpor_candidate(sched.thread[i].wait);
	if (sched.model == SCHED_WEAK)
		order_off(sched.nr);
	sched.thread[thread].off = sched.nr;
	sched.thread[thread].irqs_off = true;
}

static void do_wait(int thread)
{
	struct thread *t = &sched.thread[thread];
	unsigned int i, j;

	for (i = 0; i < sched.test->nr_threads; i++) {
		struct thread *other = &sched.thread[i];

		if (other == t)
			continue;
		dpor_candidate(other->off);
		late(other->on);
		for (j = other->drained; j < other->nr_arrivals; j++)
			if (other->arrival[j].section)
				late(other->arrival[j].step);
	}
	full_barrier(t);
	if (sched.model == SCHED_WEAK)
		order_mb(sched.nr);
	t->wait = sched.nr;
}

/* Stores to some of the same bytes have arrived, or any. */
static void do_room(const struct thread *t, const struct loc *loc)
{
	unsigned int i;

	for (i = 0; i < loc->nr_over; i++)
		if (loc->over[i]->round == sched.round)
			after(loc->over[i]->write);
	if (t->nr_arrivals)
		after(t->arrival[t->nr_arrivals - 1].step);
}

static void do_thread_step(int thread)
{
	struct thread *t = &sched.thread[thread];
	const struct want *w = &t->want;

	switch (w->kind) {
	case STEP_LOAD:
		do_load(thread, w);
		return;
	case STEP_RMW:
		do_rmw(thread, w);
		return;
	case STEP_LOCK:
		do_lock(thread, w);
		return;
	case STEP_STORE:
		conflict(w->loc, true);
		set_write(w->loc, w->val);
		return;
	case STEP_YIELD:
		conflict(w->loc, false);
		if (sched.model == SCHED_WEAK) {
			order_load(sched.nr, w->loc, w->loc->nr_versions - 1);
			saw(w->loc, thread, sched.nr);
		}
		set_read(w->loc);
		sched.step[sched.nr].val = memory_value(w->loc);
		return;
	case STEP_MB:
		full_barrier(t);
		if (sched.model == SCHED_WEAK)
			order_mb(sched.nr);
		return;
	case STEP_OFF:
		do_off(thread);
		return;
	case STEP_WAIT:
		do_wait(thread);
		return;
	case STEP_ON:
		t->on = sched.nr;
		t->irqs_off = false;
		break;
	default: /* ROOM */
		do_room(t, w->loc);
	}
	if (sched.model == SCHED_WEAK)
		order_other(sched.nr);
}

static void do_flush(int thread, unsigned int slot)
{
	struct thread *t = &sched.thread[thread];
	struct queue *q = &t->queue[slot];
	const struct store *store = queue_first(q);

	after(store->after);
	if (sched.model == SCHED_TSO && t->nr_arrivals)
		after(t->arrival[t->nr_arrivals - 1].step);
	after_older(t, store->epoch);
	conflict(store->loc, true);
	if (sched.model == SCHED_WEAK)
		order_flush(sched.nr, store);
	set_write(store->loc, store->val);
	/* Who saw it on its way has read what the next write will overwrite. */
	store->loc->read[thread] = store->read;
	t->arrival[t->nr_arrivals++] = (struct arrival){ sched.nr, store->epoch, store->section };
	t->stores--;
	t->section_stores -= store->section;
	q->head = (q->head + 1) % SCHED_QUEUE;
	if (!--q->nr)
		t->used &= ~(1U << slot);
}

void step_make(int proc)
{
	int i = proc - SCHED_THREADS, thread = i < 0 ? proc : i / SCHED_SLOTS;
	struct thread *t = &sched.thread[thread];
	struct step *step = &sched.step[sched.nr];

	*step = (struct step){ .kind = i < 0 ? t->want.kind : STEP_FLUSH,
			       .op = t->want.op,
			       .proc = proc,
			       .thread = thread };
	sched.node[sched.nr].nr_choices = 1;
	sched.nr_candidates = sched.nr_late = 0;
	if (dpor_is_new(sched.nr))
		row_clear(sched.before[sched.nr], sched.nr);
	if (i < 0) {
		step->where = t->want.loc;
		after(t->last);
		do_thread_step(thread);
		t->last = sched.nr;
	} else {
		step->where = queue_first(&t->queue[i % SCHED_SLOTS])->loc;
		do_flush(thread, i % SCHED_SLOTS);
	}
	dpor_made();
	sched.nr++;
}
