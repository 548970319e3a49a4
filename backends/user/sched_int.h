/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The engine's inside: sched.c is what threads call, and runs one schedule after the other;
 * sched_stack.c has the threads' stacks, sched_memory.c what they share and who can go on,
 * sched_step.c what a step does, sched_order.c which old values weak may still return, sched_dpor.c
 * which schedule comes next, sched_print.c strings and printing.
 *
 * A schedule is a row of steps. A step is made by a process: one of the threads, or one of the
 * stores' ways to memory, which count as processes of their own, so that a store is nothing that
 * others could notice and its arrival is (Zhang, Kusano, Wang, "Dynamic partial order reduction for
 * relaxed memory models", 2015). Steps of different processes depend on each other when they touch
 * the same memory and one of them writes.
 */
#ifndef PTB_USER_SCHED_INT_H
#define PTB_USER_SCHED_INT_H

#include "sched.h"

#define SCHED_LOCS 4096
#define SCHED_OVER 16  /* locations that share bytes with one */
#define SCHED_SLOTS 15 /* locations that stores of a thread are under way to */
#define SCHED_QUEUE 32 /* stores on one way */
#define SCHED_WORDS (SCHED_STEPS / 64)
#define SCHED_NONE (-1) /* no step, process, thread */
#define SCHED_CANDIDATES 128

enum step_kind {
	STEP_LOAD,
	STEP_STORE, /* straight to memory: sc alone */
	STEP_RMW,
	STEP_LOCK,
	STEP_YIELD,
	STEP_MB,
	STEP_ROOM, /* until a store can be put on its way */
	STEP_OFF,
	STEP_ON,
	STEP_WAIT,
	STEP_FLUSH, /* a store arrives */
};

struct version {
	int step; /* that wrote it */
	u64 val;
};

/* Bytes that are accessed together. What is below @round is of this schedule. */
struct loc {
	uintptr_t addr;
	unsigned int bytes;
	unsigned int nr_over;
	struct loc *over[SCHED_OVER]; /* that share bytes with this one */

	u64 round;
	int write;		 /* last step that wrote here */
	int lock;		 /* last step that took this lock */
	int read[SCHED_THREADS]; /* last step of a thread that read here since */
	/* weak: all it has held, and the oldest of these that a thread may still see */
	struct version *version;
	unsigned int nr_versions, room;
	unsigned int seen[SCHED_THREADS];
};

/* A store under way. */
struct store {
	struct loc *loc;
	u64 val;
	int after;	    /* last step of its thread before it */
	unsigned int epoch; /* write barriers before it */
	int read;	    /* last step of its thread that has seen it here */
	bool section;	    /* IRQs were off */
};

struct queue {
	struct store store[SCHED_QUEUE];
	unsigned int head, nr;
};

struct arrival {
	int step;
	unsigned int epoch;
	bool section;
};

/* What a thread wants to do next. */
struct want {
	enum step_kind kind;
	enum raw_op op;
	struct loc *loc;
	u64 val, arg;
	sched_update *fn;
	bool (*cond)(void *arg);
	void *cond_arg;
	bool full, acquire;
};

struct thread {
	bool ended;
	struct want want;
	u64 result;
	int last; /* its last step */
	unsigned int epoch;
	unsigned int stores; /* under way */
	unsigned int section_stores;
	bool irqs_off;
	int off, on, wait; /* last steps of these kinds */
	u32 used;	   /* queues that are not empty */
	struct queue queue[SCHED_SLOTS];
	struct arrival arrival[SCHED_STEPS];
	unsigned int nr_arrivals, drained; /* those before the last full barrier */
};

struct step {
	enum step_kind kind;
	enum raw_op op;
	int proc, thread;
	struct loc *loc; /* what others may notice: NULL for a load from the own queue */
	const struct loc *where;
	bool wrote, own, stale;
	u64 val, old;
};

/* What has been, and is to be, tried in place of a step. Sets of processes. */
struct node {
	u64 enabled, sleep, done, backtrack;
	int proc;
	unsigned int choice, nr_choices;
};

enum outcome { RUN_GOES_ON, RUN_ENDED, RUN_BLOCKED, RUN_FAILED, RUN_AGAIN, RUN_MISFIT };

struct sched {
	const struct sched_test *test;
	enum sched_model model;
	bool brute, log;
	u64 random;	   /* 0: not at random */
	unsigned int rate; /* a thread goes on so many times out of so many and one */
	enum outcome outcome;
	char why[256];
	u64 round;
	int self; /* thread that runs */
	bool starting;
	int nr;	   /* steps made */
	int fixed; /* steps that are as in the schedule before */
	u64 sleep; /* processes not to be tried next */
	struct thread thread[SCHED_THREADS];
	struct step step[SCHED_STEPS + 1];
	struct node node[SCHED_STEPS + 1];
	/* Of the step being made: those it may race with, and those that made it possible. */
	int candidate[SCHED_CANDIDATES], late[SCHED_STEPS];
	unsigned int nr_candidates, nr_late;
	/* For each step those that it comes after: one bit each. */
	u64 before[SCHED_STEPS + 1][SCHED_WORDS];
	/* A schedule to be followed. */
	struct {
		int proc;
		unsigned int choice;
	} replay[SCHED_STEPS];
	int nr_replay; /* SCHED_NONE: none */
};

extern struct sched sched;

static inline int proc_of_queue(int thread, unsigned int slot)
{
	return SCHED_THREADS + thread * SCHED_SLOTS + slot;
}

static inline u64 proc_bit(int proc)
{
	return 1ULL << proc;
}

static inline bool row_has(const u64 *row, int step)
{
	return row[step >> 6] >> (step & 63) & 1;
}

static inline void row_set(u64 *row, int step)
{
	row[step >> 6] |= 1ULL << (step & 63);
}

/* @of: the row is one of this step. */
static inline void row_or(u64 *row, const u64 *from, int of)
{
	int i;

	for (i = 0; i <= of >> 6; i++)
		row[i] |= from[i];
}

static inline void row_clear(u64 *row, int of)
{
	int i;

	for (i = 0; i <= of >> 6; i++)
		row[i] = 0;
}

/* sched_stack.c */
#define SCHED_CALLER SCHED_THREADS /* of sched_explore() */
void stack_switch(int next);
/* From its start to its first step, or its end. */
void stack_begin(int thread);
bool stack_is_callers(void);

/* sched.c */
void sched_go_on(int self);
void sched_stop(enum outcome outcome);
void sched_stop_why(enum outcome outcome, const char *fmt, ...) __printf(2, 3);

static inline const struct store *queue_first(const struct queue *q)
{
	return &q->store[q->head];
}

/* sched_memory.c */
void memory_reset(void);
void memory_forget(void);
struct loc *memory_loc(const void *p, unsigned int bytes);
/* What was of another schedule goes. */
void memory_refresh(struct loc *loc);
u64 memory_value(const struct loc *loc);
/* weak: the value it has now belongs to its history. */
void memory_version(struct loc *loc, int step);
/* The thread's own newest store to a location, if it is still under way. */
struct store *memory_own(struct thread *t, const struct loc *loc);
u64 memory_plain_load(uintptr_t addr, unsigned int bytes);
void memory_plain_store(uintptr_t addr, unsigned int bytes, u64 val);
void memory_push(int thread, struct loc *loc, u64 val);
/* Processes that can make a step. */
u64 memory_enabled(void);
bool memory_can(int thread);
/* Would this process's next step and the step just made be another thing in the other order. */
bool memory_depends(int proc, const struct step *step);

/* sched_step.c: makes the step of a process; step[nr] is it, and nr counts on. */
void step_make(int proc);

/* sched_order.c */
void order_reset(void);
void order_load(int step, const struct loc *loc, unsigned int version);
void order_own_load(int step);
void order_write(int step, struct loc *loc);
void order_rmw(int step, struct loc *loc, bool full, bool acquire);
void order_rmw_not(int step, const struct loc *loc, bool full);
void order_mb(int step);
void order_off(int step);
void order_other(int step);
void order_flush(int step, const struct store *store);
void order_rmb(int thread);
unsigned int order_oldest(int thread, const struct loc *loc);

/* sched_dpor.c */
int dpor_choose(void);
void dpor_candidate(int step);
void dpor_made(void);
bool dpor_next(void);
static inline bool dpor_is_new(int step)
{
	return !sched.brute && !sched.random && step >= sched.fixed - 1;
}

static inline unsigned int dpor_any(unsigned int n)
{
	sched.random ^= sched.random << 13;
	sched.random ^= sched.random >> 7;
	sched.random ^= sched.random << 17;
	return (sched.random >> 16) % n;
}

/* sched_print.c */
void print_reset(void);
void print_note(const char *fmt, ...) __printf(1, 2);
void print_store(const struct loc *loc, u64 val);
void print_string(char *buf, size_t bytes);
bool print_parse(const char *s);

#endif
