// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The explorer's memory: locations, stores under way, and who can go on. */
#include "sched_int.h"

static struct loc locs[SCHED_LOCS];
static unsigned int nr_locs;
static struct loc *hash[2 * SCHED_LOCS];

/* Of OFF, ON and WAIT: they are about all threads. */
static bool is_irqs(enum step_kind kind)
{
	return kind == STEP_OFF || kind == STEP_ON || kind == STEP_WAIT;
}

u64 memory_plain_load(uintptr_t addr, unsigned int bytes)
{
	switch (bytes) {
	case 1:
		return READ_ONCE(*(const u8 *)addr);
	case 2:
		return READ_ONCE(*(const u16 *)addr);
	case 4:
		return READ_ONCE(*(const u32 *)addr);
	default:
		return READ_ONCE(*(const u64 *)addr);
	}
}

void memory_plain_store(uintptr_t addr, unsigned int bytes, u64 val)
{
	switch (bytes) {
	case 1:
		WRITE_ONCE(*(u8 *)addr, val);
		break;
	case 2:
		WRITE_ONCE(*(u16 *)addr, val);
		break;
	case 4:
		WRITE_ONCE(*(u32 *)addr, val);
		break;
	default:
		WRITE_ONCE(*(u64 *)addr, val);
	}
}

u64 memory_value(const struct loc *loc)
{
	return memory_plain_load(loc->addr, loc->bytes);
}

/* ---- locations ---- */

void memory_version(struct loc *loc, int step)
{
	if (loc->nr_versions == loc->room) {
		loc->room = loc->room ? 2 * loc->room : 8;
		loc->version = realloc(loc->version, loc->room * sizeof(*loc->version));
		if (!loc->version)
			abort();
	}
	loc->version[loc->nr_versions++] = (struct version){ step, memory_value(loc) };
}

/* What was of another schedule goes. */
void memory_refresh(struct loc *loc)
{
	unsigned int i;

	if (loc->round == sched.round)
		return;
	loc->round = sched.round;
	loc->write = loc->lock = SCHED_NONE;
	for (i = 0; i < SCHED_THREADS; i++) {
		loc->read[i] = SCHED_NONE;
		loc->seen[i] = 0;
	}
	loc->nr_versions = 0;
	if (sched.model == SCHED_WEAK)
		memory_version(loc, SCHED_NONE);
}

static bool overlap(const struct loc *a, const struct loc *b)
{
	return a->addr < b->addr + b->bytes && b->addr < a->addr + a->bytes;
}

static void over_add(struct loc *loc, struct loc *other)
{
	if (loc->nr_over == SCHED_OVER)
		abort();
	loc->over[loc->nr_over++] = other;
}

static struct loc *loc_new(uintptr_t addr, unsigned int bytes)
{
	struct loc *loc = &locs[nr_locs], *other;

	if (nr_locs == SCHED_LOCS) {
		fprintf(stderr, "ptebatch: explore: more than %d words are shared\n", SCHED_LOCS);
		abort();
	}
	*loc = (struct loc){
		.addr = addr, .bytes = bytes, .version = loc->version, .room = loc->room
	};
	for (other = locs; other != loc; other++) {
		if (!overlap(other, loc))
			continue;
		over_add(loc, other);
		over_add(other, loc);
		/* What these bytes have held in this schedule has not been kept for this width. */
		if (other->round == sched.round && other->nr_versions > 1)
			sched.outcome = RUN_AGAIN;
	}
	nr_locs++;
	return loc;
}

struct loc *memory_loc(const void *p, unsigned int bytes)
{
	uintptr_t addr = (uintptr_t)p;
	unsigned int i = (unsigned int)((addr * 0x9e3779b97f4a7c15ULL) >> 40) + bytes;

	for (;; i++) {
		struct loc **slot = &hash[i % ARRAY_SIZE(hash)];

		if (!*slot) {
			*slot = loc_new(addr, bytes);
			if (sched.outcome == RUN_AGAIN)
				sched_stop(RUN_AGAIN);
		}
		if ((*slot)->addr == addr && (*slot)->bytes == bytes) {
			memory_refresh(*slot);
			return *slot;
		}
	}
}

void memory_forget(void)
{
	nr_locs = 0;
	memset(hash, 0, sizeof(hash));
}

void memory_reset(void)
{
	unsigned int i, slot;

	for (i = 0; i < SCHED_THREADS; i++) {
		struct thread *t = &sched.thread[i];

		t->last = t->off = t->on = t->wait = SCHED_NONE;
		t->epoch = t->stores = t->section_stores = t->used = 0;
		t->nr_arrivals = t->drained = 0;
		t->irqs_off = false;
		for (slot = 0; slot < SCHED_SLOTS; slot++)
			t->queue[slot].head = t->queue[slot].nr = 0;
	}
	if (sched.model == SCHED_WEAK)
		order_reset();
}

/* ---- stores under way ---- */

static struct store *queue_last(struct queue *q)
{
	return &q->store[(q->head + q->nr - 1) % SCHED_QUEUE];
}

#define for_each_queue(t, slot, used) \
	for ((used) = (t)->used; (used) && ((slot) = __builtin_ctz(used), true); (used) &= (used)-1)

/* The queue that a store to a location goes to, if it has one already. */
static int queue_of(const struct thread *t, const struct loc *loc)
{
	u32 used;
	int slot;

	for_each_queue(t, slot, used) if (sched.model == SCHED_TSO ||
					  queue_first(&t->queue[slot])->loc == loc) return slot;
	return SCHED_NONE;
}

static bool has_room(const struct thread *t, const struct loc *loc)
{
	int slot = queue_of(t, loc);

	if (slot != SCHED_NONE)
		return t->queue[slot].nr < SCHED_QUEUE;
	return ~t->used & ((1U << SCHED_SLOTS) - 1);
}

void memory_push(int thread, struct loc *loc, u64 val)
{
	struct thread *t = &sched.thread[thread];
	int slot = queue_of(t, loc);
	struct queue *q;

	if (slot == SCHED_NONE)
		slot = __builtin_ctz(~t->used);
	q = &t->queue[slot];
	q->nr++;
	*queue_last(q) = (struct store){ .loc = loc,
					 .val = val,
					 .after = t->last,
					 .epoch = t->epoch,
					 .read = SCHED_NONE,
					 .section = t->irqs_off };
	t->used |= 1U << slot;
	t->stores++;
	t->section_stores += t->irqs_off;
}

/* The thread's own newest store to a location, if it is still under way. */
struct store *memory_own(struct thread *t, const struct loc *loc)
{
	int slot = t->used ? queue_of(t, loc) : SCHED_NONE;
	struct queue *q;
	unsigned int i;

	if (slot == SCHED_NONE)
		return NULL;
	q = &t->queue[slot];
	if (sched.model != SCHED_TSO)
		return queue_last(q);
	for (i = q->nr; i--;)
		if (q->store[(q->head + i) % SCHED_QUEUE].loc == loc)
			return &q->store[(q->head + i) % SCHED_QUEUE];
	return NULL;
}

/* Is a store under way to some of the same bytes, but not the same word. */
static bool overlaps_own(struct thread *t, const struct loc *loc)
{
	unsigned int i;

	if (!t->used)
		return false;
	for (i = 0; i < loc->nr_over; i++)
		if (memory_own(t, loc->over[i]))
			return true;
	return false;
}

static unsigned int oldest_epoch(const struct thread *t)
{
	unsigned int oldest = t->epoch;
	u32 used;
	int slot;

	for_each_queue(t, slot, used) if (queue_first(&t->queue[slot])->epoch < oldest) oldest =
		queue_first(&t->queue[slot])->epoch;
	return oldest;
}

/* ---- what can go on ---- */

static bool rmw_enabled(struct thread *t, const struct want *w)
{
	if (sched.model == SCHED_SC || !t->used)
		return true;
	if (sched.model == SCHED_TSO || w->full)
		return false;
	return !memory_own(t, w->loc) && !overlaps_own(t, w->loc) && oldest_epoch(t) == t->epoch;
}

static bool lock_enabled(struct thread *t, const struct want *w)
{
	if (memory_value(w->loc))
		return false;
	if (sched.model == SCHED_TSO)
		return !t->used;
	return !memory_own(t, w->loc) && !overlaps_own(t, w->loc);
}

static bool wait_enabled(const struct thread *t)
{
	const struct thread *other;

	if (t->used)
		return false;
	for (other = sched.thread; other < &sched.thread[sched.test->nr_threads]; other++)
		if (other != t && (other->irqs_off || other->section_stores))
			return false;
	return true;
}

/* What it looks at is memory: no access of it is a step. */
static bool yield_enabled(struct thread *t, const struct want *w)
{
	int self = sched.self;
	bool enough;

	if (memory_own(t, w->loc) || overlaps_own(t, w->loc))
		return false;
	sched.self = SCHED_NONE;
	enough = w->cond(w->cond_arg);
	sched.self = self;
	return enough;
}

bool memory_can(int thread)
{
	struct thread *t = &sched.thread[thread];
	const struct want *w = &t->want;

	switch (w->kind) {
	case STEP_LOAD:
		return !overlaps_own(t, w->loc);
	case STEP_RMW:
		return rmw_enabled(t, w);
	case STEP_LOCK:
		return lock_enabled(t, w);
	case STEP_YIELD:
		return yield_enabled(t, w);
	case STEP_MB:
		return !t->used;
	case STEP_ROOM:
		return has_room(t, w->loc) && !overlaps_own(t, w->loc);
	case STEP_WAIT:
		return wait_enabled(t);
	default:
		return true;
	}
}

u64 memory_enabled(void)
{
	unsigned int i, oldest;
	u64 set = 0;
	u32 used;
	int slot;

	for (i = 0; i < sched.test->nr_threads; i++) {
		struct thread *t = &sched.thread[i];

		if (!t->ended && memory_can(i))
			set |= proc_bit(i);
		if (!t->used)
			continue;
		oldest = oldest_epoch(t);
		for_each_queue(t, slot, used) if (sched.model == SCHED_TSO ||
						  queue_first(&t->queue[slot])->epoch == oldest)
			set |= proc_bit(proc_of_queue(i, slot));
	}
	return set;
}

/* ---- what depends on what ---- */

static bool same_bytes(const struct loc *a, const struct loc *b)
{
	return a && b && (a == b || overlap(a, b));
}

static bool want_depends(struct thread *t, const struct step *step)
{
	const struct want *w = &t->want;

	switch (w->kind) {
	case STEP_LOAD:
		/* The own store hides the others' until it has arrived. */
		return step->wrote && same_bytes(w->loc, step->loc) && !memory_own(t, w->loc);
	case STEP_YIELD:
		return step->wrote && same_bytes(w->loc, step->loc);
	case STEP_STORE:
	case STEP_RMW:
	case STEP_LOCK:
		return same_bytes(w->loc, step->loc);
	case STEP_OFF:
	case STEP_ON:
		return step->kind == STEP_WAIT;
	case STEP_WAIT:
		return is_irqs(step->kind);
	default:
		return false;
	}
}

bool memory_depends(int proc, const struct step *step)
{
	int i = proc - SCHED_THREADS;

	if (i < 0)
		return want_depends(&sched.thread[proc], step);
	return same_bytes(queue_first(&sched.thread[i / SCHED_SLOTS].queue[i % SCHED_SLOTS])->loc,
			  step->loc);
}
