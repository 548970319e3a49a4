/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the walkers in a running kernel: each walk is done with all keys 0 and with all keys 1
 * and must give the same, whatever that is. The kernel's own code is the expectation.
 */
#ifndef GUEST_TEST_H
#define GUEST_TEST_H

#include "gup.h"
#include "lib.h"

void test_gup(void);
void test_fork(void);
void test_mincore(void);
void test_vfio(void);
void test_dax(void);

/* ---- pages and their counts, test_pages.c ---- */

#define NR 1024 /* pages of a memory: two tables */

struct pages {
	uint64_t frame[NR]; /* 0: nothing is mapped */
	int refs[NR], pins[NR];
};

void pages_read(struct pages *pages, const char *p);

/* All of a range that a walk is asked for. */
struct window {
	unsigned int first, nr;
};

/* Whole, a page, at the edges of folios and of tables. */
extern const struct window windows[];
extern const unsigned int nr_windows;

/* A walk by GUP, with what is held at its end. */
struct gup_walk {
	struct pages before, held, after;
	int ret;
	uint64_t frame[NR]; /* the first @ret of them */
	struct handled gup_fast, dax;
};

void gup_walk(struct gup_walk *walk, enum side side, char *p, struct window window,
	      unsigned int flags);
/*
 * Says wrong() where two walks differ. Of the same memory all must be equal; of two that were made
 * alike, which frames were replaced instead of which they are.
 */
void gup_compare(const struct gup_walk *off, const struct gup_walk *on, struct window window,
		 bool same_memory);

/* ---- kinds of memory, test_memory.c ---- */

struct memory {
	const char *name;
	/* NR pages, all touched; NULL and *why if there are none here. */
	char *(*make)(const char *arg, const char **why);
	const char *arg;
	/*
	 * A letter for each of the first modes of GUP: which of the pages that it returns are ours
	 * to take, all, none or some. Capital: the walk changes the memory, which must be made anew
	 * each time.
	 */
	const char *gup;
	/* The same for mincore. */
	char mincore;
};

extern const struct memory memories[];
extern const unsigned int nr_memories;

/* Unmaps it, and ends the children that share it. */
void memory_drop(char *p);
/* A child that does nothing: what is mapped now is shared with it. */
int child_start(void);

#endif
