/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The explorer as the tool sees it: one struct ptb_explore a format and geometry. What may be asked
 * for stands in its table of pairs.
 */
#ifndef PTB_EXPLORE_H
#define PTB_EXPLORE_H

#include "sched.h"

#define EXPLORE_MUTATORS 2

struct explore_pair {
	const char *walker;
	const char *against[EXPLORE_MUTATORS]; /* the second may be NULL */
	unsigned int models; /* BIT(SCHED_*): explored to the end; 0: none, it is broken */
};

struct explore_request {
	struct explore_pair pair;
	enum sched_model model;
	u64 bound;	      /* schedules of each variant; 0: all */
	u64 seed;	      /* not 0: at random */
	const char *schedule; /* "variant:string", as printed; NULL: explore */
};

#define EXPLORE_VARIANTS 8 /* layouts of a pair */

struct explore_answer {
	u64 schedules, steps;
	unsigned int variants;
	struct {
		const char *name;
		u64 schedules, all, none; /* and of these the walker got all, or no, pages */
		bool complete;
	} of[EXPLORE_VARIANTS];
	bool complete, violation;
	double seconds;
	const char *variant; /* the violating, or replayed, one */
	struct sched_result last;
};

struct ptb_explore {
	const char *format;
	unsigned int slots; /* entries against one other side */
	/* The pairs, walkers and mutators by number; NULL behind the last. */
	const struct explore_pair *(*pair)(unsigned int i);
	const char *(*walker)(unsigned int i);
	const char *(*mutator)(unsigned int i, const char **what);
	/*
	 * Why the pair cannot be explored in this format, or NULL if it can. Two mutators can be
	 * combined if each has a row of its own with the walker.
	 */
	const char *(*refuses)(const struct explore_pair *pair);
	/* False: the schedule does not fit, answer->last.why says why. */
	bool (*run)(const struct explore_request *rq, struct explore_answer *answer);
};

#endif
