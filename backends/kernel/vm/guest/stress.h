/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks by GUP and mincore, all keys on, while the rest of the system does to the same memory all
 * that it can: what tests of one walk at a time cannot show.
 */
#ifndef GUEST_STRESS_H
#define GUEST_STRESS_H

#include <pthread.h>

#include "gup.h"
#include "lib.h"

/* ---- memory, stress_areas.c ---- */

#define MAX_NR 2048 /* pages of an area */

enum kinds {
	ANON = 1 << 0, /* private and anonymous */
	KEPT = 1 << 1, /* nobody throws pages away: their contents are known, pins stay in place */
	COLLAPSED = 1 << 2, /* may be mapped by PMDs */
	MERGED = 1 << 3,    /* by KSM */
	FILE_SHMEM = 1 << 4,
	FILE_SHARED = 1 << 5,
	FILE_PRIVATE = 1 << 6,
};

struct area {
	const char *name;
	unsigned int nr, kinds;
	char *p;    /* NULL: there is no such memory here */
	char *twin; /* addresses to move it to: room for PMD_SIZE more */
	int fd;
	/* Who cannot do with an access that fails has it for reading. */
	pthread_rwlock_t lock;
};

extern struct area areas[];
extern const unsigned int nr_areas;

/* What a file needs, above all its disk in memory, is there before memory is looked at. */
void areas_open(void);
void areas_map(void);
void areas_unmap(void);

/* Of a thread's own sequence. */
void random_seed(unsigned int seed);
unsigned int random_below(unsigned int limit);
/* Up to so many microseconds, often none. */
void pause_below(unsigned int usec);

/* Pages that follow each other in an area, one to all of them. */
struct piece {
	struct area *area;
	char *p;
	unsigned int nr;
};

/* Of an area of all of these kinds and none of those. */
struct piece piece_of(unsigned int kinds, unsigned int none_of);

/* ---- threads ---- */

/* Memory is not mapped elsewhere meanwhile, so threads may leave holes: no malloc(), no stdio. */
bool stopped(void);
/* What a thread found wrong: printed, the first ones, and counted. */
void violated(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
unsigned int violations(void);
/* From many threads. */
void count_up(unsigned long *counter, unsigned long by);

/* stress_walkers.c */
void *thread_gup(void *unused);
void *thread_mincore(void *unused);
void *thread_write(void *unused);
/* What a child does before it ends: gets or pins what it shares with its parent. */
void walk_as_child(struct piece piece);
/* All of the memory that is kept, before the threads and after. */
void kept_start(void);
void kept_check(void);
bool walkers_all_did(void);
void walkers_report(void);

/* stress_mutators.c */
void *thread_mutate(void *unused);
void mutators_start(void);
void mutators_stop(void);
bool mutators_all_did(void);
void mutators_report(void);

/* ---- before and after, stress_after.c ---- */

bool swap_is_on(void);
void after_remember(void);
/* Nothing runs any more, areas are still mapped; then nothing is mapped. */
void after_check_counts(void);
void after_check_freed(void);

#endif
