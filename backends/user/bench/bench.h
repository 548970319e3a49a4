/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The benchmark as the tool sees it: rows, each a scene that all contenders are sent over, and what
 * one of them takes for it. No format in it, and no floating point.
 */
#ifndef PTB_USER_BENCH_BENCH_H
#define PTB_USER_BENCH_BENCH_H

#include "../kernel.h"

#define BENCH_CONTENDERS 5

/* Its name, in the order of the table's columns. */
const char *bench_contender(unsigned int contender);

struct bench_row {
	const char *walker, *layout, *op;
	/* Of the folios; layout run: length of a run; narrow and wide: nodes in the tree. */
	unsigned long order;
};

#define BENCH_NAME_MAX 64

/* Row number @i, false behind the last. */
bool bench_row(unsigned int i, struct bench_row *row);
/* WALKER/LAYOUT/ORDER/OP */
void bench_row_name(char name[BENCH_NAME_MAX], const struct bench_row *row);

struct scene;

/* @small: a part of it, and small trees; for who counts instructions, or only checks. */
struct scene *bench_make(const struct bench_row *row, bool small);
void bench_free(struct scene *s);

/* Pages that one pass over the scene answers for. */
unsigned long bench_pages(const struct scene *s);

/*
 * Sends every contender over the scene once. NULL if they answer alike, leave the same counts
 * meanwhile and none afterwards, else what is wrong. Nothing else may be asked of a scene before.
 */
const char *bench_check(struct scene *s);

/* Has the contender a way of its own. */
bool bench_applies(const struct scene *s, unsigned int contender);

/*
 * Nanoseconds of @passes, or of one where caches must not know the scene. What they take is given
 * back afterwards, which is not timed.
 */
u64 bench_time(struct scene *s, unsigned int contender, unsigned int *passes);

/* Does callgrind run us; and is the row's small scene the row's own, and worth counting. */
bool bench_is_counted(void);
bool bench_is_countable(const struct bench_row *row);
/* Has it count the instructions of a pass, and write them down under a name. */
void bench_count(struct scene *s, unsigned int contender, const char *name);

#endif
