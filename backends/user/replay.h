/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a replay is told and what it finds out: no format in it. */
#ifndef PTB_USER_REPLAY_H
#define PTB_USER_REPLAY_H

#include "layout.h"
#include "snapshot.h"

/* Run lengths 1, 2-3, 4-15, 16-63, 64-511, 512 and more */
#define RUN_CLASSES 6

enum replay_row {
	ROW_GUP_GET,
	ROW_GUP_PIN,
	ROW_DAX_GET,
	ROW_DAX_PIN,
	ROW_MINCORE,
	ROW_VFIO_PIN,
	ROW_VFIO_UNPIN,
	ROW_NR,
};

struct row_result {
	u64 entries;		   /* pages the walker dealt with */
	u64 runs;		   /* steps it took for them */
	u64 by_class[RUN_CLASSES]; /* entries by the length of their run */
	u64 atomics[2];		   /* read-modify-writes of shared words: per entry, batched */
	double ns[2];		   /* a page: per entry, batched; medians over rounds */
	double ratio;		   /* median of the paired rounds' ratios */
};

struct replay_result {
	struct row_result row[ROW_NR];
	u64 present, swapped, empty;
	unsigned int windows; /* address spaces it took */
	char disagree[160];   /* where the two walkers differed; empty if they agree */
};

/* Either a recording or a layout. */
struct replay_input {
	const struct snapshot *snapshot;
	const struct layout *layout;
	unsigned int rounds; /* of timing */
	unsigned int kinds;  /* BIT(SNAP_ANON) and so on: vmas to walk; 0: all of them */
	/* Told how far it has come, or NULL. */
	void (*progress)(const char *what, unsigned int done, unsigned int of);
};

/*
 * The only seam between formats. A hooked one counts, a plain one measures time; both compare the
 * walkers.
 */
struct ptb_format {
	const char *name;
	unsigned int page_shift;
	/* False if the format cannot say a layout. */
	bool (*replay)(const struct replay_input *in, struct replay_result *out);
};

struct ptb_format_pair {
	const struct ptb_format *plain, *hooked;
};

extern const struct ptb_format_pair ptb_formats[];
extern const unsigned int ptb_nr_formats;

const struct ptb_format_pair *format_find(const char *name);

/* Count, then measure, and put the two together. */
bool replay(const struct ptb_format_pair *fmt, const struct replay_input *in,
	    struct replay_result *out);

static inline unsigned int run_class(u64 nr)
{
	return nr < 2 ? 0 : nr < 4 ? 1 : nr < 16 ? 2 : nr < 64 ? 3 : nr < 512 ? 4 : 5;
}

#endif
