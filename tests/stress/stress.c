// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * usage: FORMAT SECONDS [SEED]
 *
 * Walkers and all others at once, on one process, in threads. Ends with a line of what was done, or
 * with the first thing that was wrong.
 */
#include "large.h"
#include "walkers.h"

#include <time.h>
#include <unistd.h>

enum { WALKERS = 2, OTHERS = 2, HARDWARE = 1 };

struct thread {
	pthread_t id;
	const char *name;
	void (*turn)(struct thread *thread);
	struct walker walker;
	struct other other;
	struct drops drops;
	struct tally tally;
};

/* ---- held up at a bad moment ---- */

__thread unsigned int raw_held_up_in;
static __thread struct rnd held_up = { 1 };

/* Sometimes for as long as others take to do something, sometimes for longer. */
void raw_hold_up(void)
{
	unsigned int i = 50 + rnd_below(&held_up, 500);

	raw_held_up_in = rnd_below(&held_up, 60);
	if (rnd_once_in(&held_up, 40))
		sched_yield();
	while (i--)
		__asm__ volatile("");
}

static struct thread threads[WALKERS + OTHERS + HARDWARE];
static __thread const char *my_name = "main";

static const char *thread_name(void)
{
	return my_name;
}

static void walker_turn(struct thread *thread)
{
	if (rnd_once_in(&thread->walker.rnd, 8))
		locked(&thread->walker);
	else
		gup(&thread->walker);
}

static void other_turn(struct thread *thread)
{
	one_turn(&thread->other, &thread->drops, &thread->tally);
	if (rnd_once_in(&thread->other.rnd, 4))
		sched_yield();
}

/* The hardware marks what it may walk: no lock, only that an entry is still what it was. */
static void hardware_turn(struct thread *thread)
{
	struct rnd *rnd = &thread->other.rnd;
	unsigned int t = rnd_below(rnd, TABLES);
	ptb_pte_t *ptep, old, new;
	ptb_pmd_t pmd;

	irqs_off(thread->walker.self);
	pmd = upper_load(pmdp_of(t));
	if (upper_val(pmd) & UPPER_TABLE) {
		ptep = mm_ptep_of(&world.mm, pmd,
				  slot_addr(first_slot(t) + rnd_below(rnd, BUSY_SLOTS)));
		old = entry(ptep);
		if (ptb_pte_permitted(old, false)) {
			new = ptb_pte_mkyoung(old);
			if (ptb_pte_write(old))
				new = ptb_pte_mkdirty(new);
			thread->tally.marks += entry_try(ptep, old, new);
		}
	}
	irqs_on(thread->walker.self);
	if (rnd_once_in(rnd, 8))
		sched_yield();
}

static void *run(void *arg)
{
	struct thread *thread = arg;

	my_name = thread->name;
	held_up = thread->walker.rnd;
	while (!__atomic_load_n(&world.stop, __ATOMIC_RELAXED))
		thread->turn(thread);
	return NULL;
}

static void start(u64 seed)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		struct thread *thread = &threads[i];

		thread->name = i < WALKERS ? "walker" : i < WALKERS + OTHERS ? "other" : "hardware";
		thread->turn = i < WALKERS	      ? walker_turn
			       : i < WALKERS + OTHERS ? other_turn
						      : hardware_turn;
		thread->walker.self = i;
		thread->walker.rnd.state = thread->other.rnd.state =
			(seed + i) * 0x9e3779b97f4a7c15 | 1;
	}
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (pthread_create(&threads[i].id, NULL, run, &threads[i]))
			abort();
}

/* ---- afterwards ---- */

static void unmap_all(void)
{
	struct thread *thread = &threads[0];
	struct other *o = &thread->other;
	struct drops *d = &thread->drops;

	for (o->t = 0; o->t < TABLES; o->t++) {
		d->nr = 0;
		if (!table_of(o->t)) {
			leaf_zap(o->t, d);
			drop_all(d);
			d->nr = 0;
		}
		o->table = table_of(o->t);
		clear_slots(o, 0, FMT_PTES, d);
		drop_all(d);
		do {
			d->nr = 0;
			child_exits(o, d);
			drop_all(d);
		} while (d->nr);
	}
}

static void expect_nothing_left(void)
{
	unsigned long pfn, i;

	for (pfn = SMALL_PFNS; pfn < END_PFN; pfn++)
		if (mem_page(pfn)->refcount || tag_of(mem_page(pfn)))
			wrong("frame 0x%lx left with %d references, for slot %ld", pfn,
			      mem_page(pfn)->refcount, (long)tag_of(mem_page(pfn)) - 1);
	if (mem_page(KSM_PFN)->refcount != 1)
		wrong("the shared page left with %d references", mem_page(KSM_PFN)->refcount);
	for (i = 0; i < ARRAY_SIZE(world.free_small); i++)
		if (~world.free_small[i])
			wrong("memory that nobody holds is not free");
	for (i = 0; i < HUGE_FOLIOS; i++)
		if (!world.free_huge[i])
			wrong("huge folio %lu that nobody holds is not free", i);
	if (mem.pins_acquired != mem.pins_released)
		wrong("the node counts %lld pins left",
		      (long long)(mem.pins_acquired - mem.pins_released));
}

static void add_up(struct walker *w, struct tally *t)
{
	unsigned int i, a;

	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		w->calls += threads[i].walker.calls;
		w->pages += threads[i].walker.pages;
		w->runs += threads[i].walker.runs;
		w->hits += threads[i].walker.hits;
		w->locked += threads[i].walker.locked;
		w->locked_pages += threads[i].walker.locked_pages;
		for (a = 0; a < ARRAY_SIZE(acts); a++)
			t->acts[a] += threads[i].tally.acts[a];
		for (a = 0; a < ARRAY_SIZE(leaf_acts); a++)
			t->leaf_acts[a] += threads[i].tally.leaf_acts[a];
		t->marks += threads[i].tally.marks;
	}
}

/* Acts that there should be some of in each run. On a machine that is busy with others: */
#define FEW_ACTS 20000

static u64 acts_of(const struct tally *t)
{
	u64 done = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(acts); i++)
		done += t->acts[i];
	for (i = 0; i < ARRAY_SIZE(leaf_acts); i++)
		done += t->leaf_acts[i];
	return done;
}

static const char *never_done(const struct tally *t, const struct walker *w)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(acts); i++)
		if (!t->acts[i] && (FMT_CONT > 1 || acts[i].act != refold))
			return acts[i].name;
	for (i = 0; i < ARRAY_SIZE(leaf_acts); i++)
		if (!t->leaf_acts[i] && FMT_LEAVES)
			return leaf_acts[i].name;
	if (!w->locked)
		return "a walk under the lock";
	if (!t->marks)
		return "a mark by the hardware";
	return w->runs ? NULL : "a run of several pages";
}

static void print_tally(const struct tally *t)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(acts); i++)
		printf("\t%s %llu\n", acts[i].name, (unsigned long long)t->acts[i]);
	for (i = 0; i < ARRAY_SIZE(leaf_acts); i++)
		printf("\t%s %llu\n", leaf_acts[i].name, (unsigned long long)t->leaf_acts[i]);
}

/* What did not happen was not tested. */
static void report(unsigned int seconds)
{
	struct walker w = {};
	struct tally t = {};
	const char *never;

	add_up(&w, &t);
	never = never_done(&t, &w);
	if (never && acts_of(&t) > FEW_ACTS)
		wrong("\"%s\" never happened", never);
	printf("%s: %u s: %llu walks, %llu pages in %llu; ", STRINGIFY(FMT_NAME), seconds,
	       (unsigned long long)w.calls, (unsigned long long)w.pages,
	       (unsigned long long)w.hits);
	printf("%llu under the lock; %llu acts, %llu marks%s%s\n", (unsigned long long)w.locked,
	       (unsigned long long)acts_of(&t), (unsigned long long)t.marks,
	       never ? "; on a busy machine, without " : "", never ? never : "");
	if (getenv("V"))
		print_tally(&t);
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 0, i;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (u64)time(NULL) << 20 ^ getpid();

	if (!seconds) {
		fprintf(stderr, "usage: %s SECONDS [SEED]\n", argv[0]);
		return 2;
	}
	make_world();
	start(seed);
	sleep(seconds);
	__atomic_store_n(&world.stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i].id, NULL);
	unmap_all();
	expect_nothing_left();
	report(seconds);
	return 0;
}
