/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the commands share. Exit codes: 0, 1 for a failure, 2 for usage. */
#ifndef PTB_TOOL_H
#define PTB_TOOL_H

#include "../replay.h"

int cmd_bench(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_explore(int argc, char **argv);
int cmd_formats(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);

/* One line on stderr, "ptebatch: COMMAND: ..."; returns the exit code. */
int tool_fail(const char *command, const char *fmt, ...) __printf(2, 3);
int tool_usage(const char *command, const char *fmt, ...) __printf(2, 3);

/* Rounds of timing. 0, or the exit code once it has complained. */
int tool_rounds(const char *command, const char *text, unsigned int *rounds);

/* A text to stdout. Fails where that cannot be written. */
int tool_print(const char *command, const char *text);
/* The last word of every command that prints: was all of it written. */
int tool_flush(const char *command);

struct recording {
	const char *name, *what;
	const u8 *data, *end;
};

extern const struct recording recordings[];
extern const unsigned int nr_recordings;

/* Kinds of mappings that are told apart: those of the recording, and swap, wherever it is. */
#define NR_KINDS 5
#define KIND_SWAP 4 /* behind SNAP_ANON, SNAP_FILE, SNAP_SHMEM, SNAP_HUGETLB */

struct kind_result {
	u64 pages;
	u64 by_class[RUN_CLASSES];
	struct row_result row[ROW_NR]; /* of the walkers sent over this kind alone */
};

/* What a replay found, as tables 80 columns wide, or as one JSON object. */
struct report {
	const char *source, *format, *note;
	unsigned int page_shift;
	const struct replay_result *result;
	const struct kind_result *kinds; /* NR_KINDS of them, or NULL */
};

void report_table(const struct report *r);
void report_json(const struct report *r);

/* Walk each kind of mapping by itself. */
void replay_kinds(const struct ptb_format_pair *fmt, const struct replay_input *in,
		  struct kind_result kinds[NR_KINDS]);

#endif
