/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The explorer's engine: runs a few threads under every order of their accesses to shared memory
 * that can make a difference, on a machine that orders them as strongly or as weakly as asked for.
 * It knows nothing of page tables.
 *
 * The threads are cooperative. Each access of theirs is a step; between two steps a thread runs
 * alone, so what it does there needs no care. After each schedule the memory is as it was before
 * the first, and the next one starts from the beginning.
 *
 * Models, each with everything the ones before it allow:
 *
 * sc	accesses in program order
 * tso	a store waits in a FIFO of its thread; loads of that thread see it there. A full barrier and
 *	every read-modify-write wait for the FIFO to run empty
 * pso	a FIFO a thread and location: stores to different locations overtake each other, unless a
 *	write barrier stands between them. A relaxed read-modify-write waits for no other location
 * weak	and a load may return what the location held before, back to what the thread's last rmb,
 *	mb, full read-modify-write or acquire has seen. No dependency orders a load
 *
 * Not even weak lets a load see the future, that is, lets a later store overtake a load or a
 * read-modify-write. All threads see the stores of the others in one order (multi-copy atomic).
 *
 * Bytes that are accessed in different widths are one memory: a narrow and a wide access to the
 * same bytes conflict. A thread whose own store is still under way waits for it if it then touches
 * the same bytes in another width.
 */
#ifndef PTB_USER_SCHED_H
#define PTB_USER_SCHED_H

#include "kernel.h"
#include "raw_op.h"

enum sched_model { SCHED_SC, SCHED_TSO, SCHED_PSO, SCHED_WEAK, SCHED_NR_MODELS };

extern const char *const sched_model_name[SCHED_NR_MODELS];

#define SCHED_THREADS 4
/* Steps of one schedule, stores on their way to memory among them. */
#define SCHED_STEPS 4096
#define SCHED_STRING_MAX 32768

struct sched_thread {
	const char *name;
	void (*fn)(void *arg);
	void *arg;
};

/**
 * struct sched_test - what is to be explored
 * @name: for messages
 * @nr_threads: at most SCHED_THREADS
 * @thread: what each of them does, from the start to the end of one schedule
 * @reset: called before each schedule, for what is not in the arena. May be NULL
 * @check: called after each schedule, when all threads have ended and all stores have arrived;
 * sched_fail() tells what is wrong. May be NULL
 * @arg: for @reset and @check
 * @arena: all state that the threads share or that @check looks at, ghost state among it: as it is
 * when sched_explore() is called, so it is at the beginning of each schedule
 * @arena_bytes: its size; it is copied for every schedule, so it should be small
 */
struct sched_test {
	const char *name;
	unsigned int nr_threads;
	struct sched_thread thread[SCHED_THREADS];
	void (*reset)(void *arg);
	void (*check)(void *arg);
	void *arg;
	void *arena;
	size_t arena_bytes;
};

/**
 * struct sched_opts - how it is explored
 * @model: the machine
 * @bound: end after so many schedules, 0: when all have been
 * @seed: not 0: @bound schedules at random, for what is too large to be explored. All that can be
 * said of a bounded exploration is that the ends of schedules alike at the beginning were tried
 * @replay: the one schedule to run, as printed before; NULL: all
 * @trace: keep the steps of the last schedule for sched_print_steps(); a violation and a replay are
 * kept anyhow
 * @brute: every order of steps, whether it makes a difference or not; to test the engine
 */
struct sched_opts {
	enum sched_model model;
	u64 bound;
	u64 seed;
	const char *replay;
	bool trace;
	bool brute;
};

/**
 * struct sched_result - what came of it
 * @schedules: run to the end, or to a violation
 * @blocked: begun, and given up because all that could follow had been seen
 * @steps: of all of these together
 * @complete: nothing is left to explore
 * @violation: one was found, which ended the exploration
 * @seconds: it took
 * @why: what is wrong, or why a replay string does not fit
 * @schedule: string of the violating, or last, schedule
 */
struct sched_result {
	u64 schedules, blocked, steps;
	bool complete;
	bool violation;
	double seconds;
	char why[256];
	char schedule[SCHED_STRING_MAX];
};

/**
 * sched_explore() - run a test under every schedule
 * @test: the test
 * @opts: how
 * @res: set
 *
 * Ends at the first violation. A thread that blocks for ever, a schedule of more than SCHED_STEPS
 * steps and an unlock by who has not locked are violations like others.
 *
 * Return: false if @opts->replay does not fit the test; @res->why says why.
 */
bool sched_explore(const struct sched_test *test, const struct sched_opts *opts,
		   struct sched_result *res);

/**
 * sched_print_steps() - the last violating or replayed schedule, a column a thread, a line a step
 * @f: where to
 */
void sched_print_steps(FILE *f);

/**
 * sched_name() - name of a piece of memory, for sched_print_steps()
 * @where: its address
 * @bytes: its size
 * @fmt: "pte[2]"
 *
 * Part of the set-up. The latest name given to an address counts.
 */
void sched_name(const void *where, size_t bytes, const char *fmt, ...) __printf(3, 4);
void sched_forget_names(void);

/* ---- in threads; in set-up and check accesses are plain, barriers and locks nothing ---- */

u64 sched_load(enum raw_op op, const void *p, unsigned int bytes);
void sched_store(const void *p, unsigned int bytes, u64 val);

/**
 * typedef sched_update - what a read-modify-write makes of a value
 * @old: the newest value
 * @arg: as given to sched_rmw()
 * @store: true when called; false: only look
 *
 * May be called more than once for one access. Return: the new value.
 */
typedef u64 sched_update(u64 old, u64 arg, bool *store);

/**
 * sched_rmw() - atomic read-modify-write
 * @op: for printing
 * @p: where
 * @bytes: 1, 2, 4 or 8
 * @fn: what it makes of it
 * @arg: for @fn
 * @full: orders what is before and after it, if it stores; else relaxed
 *
 * A full one waits for its thread's stores even if it then stores nothing itself.
 *
 * Return: the value before.
 */
u64 sched_rmw(enum raw_op op, void *p, unsigned int bytes, sched_update *fn, u64 arg, bool full);

void sched_mb(void);
void sched_rmb(void);
void sched_wmb(void);

/*
 * A lock is an int, 0 when free. Taking it is a read-modify-write that is waited for, and an
 * acquire (under tso full, as on x86); giving it back is a store with release.
 */
void sched_lock(int *lock);
bool sched_trylock(int *lock);
void sched_unlock(int *lock);

/* Do not nest. */
void sched_irqs_off(void);
void sched_irqs_on(void);

/**
 * sched_wait_irqs() - an interrupt to, or a grace period of, every other CPU
 *
 * Goes on when no other thread has IRQs off. What others did with IRQs off before has happened,
 * their stores included; who turns IRQs off afterwards sees what this thread did before. A full
 * barrier for this thread.
 */
void sched_wait_irqs(void);

/**
 * sched_yield_until() - wait for others instead of spinning
 * @cond: looks at memory, without raw or sched functions, and has no side effects
 * @arg: for @cond
 * @where: the word that @cond is about: it changes when others write there
 */
void sched_yield_until(bool (*cond)(void *arg), void *arg, const void *where);

/* The property is broken: ends the schedule, and with it the exploration. In check, too. */
void sched_fail(const char *fmt, ...) __printf(1, 2);
/* A remark among the printed steps; no step itself. */
void sched_note(const char *fmt, ...) __printf(1, 2);
/* Steps made so far in this schedule, for ghost state. */
u64 sched_now(void);
/* Which thread is calling. */
unsigned int sched_self(void);
/* False in set-up and check. */
bool sched_running(void);

#endif
