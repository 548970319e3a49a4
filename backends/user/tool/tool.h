/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the commands share. Exit codes: 0, 1 for a failure, 2 for usage. */
#ifndef PTB_TOOL_H
#define PTB_TOOL_H

#include "../replay.h"

int cmd_demo(int argc, char **argv);
int cmd_formats(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);

/* One line on stderr, "ptebatch: COMMAND: ..."; returns the exit code. */
int tool_fail(const char *command, const char *fmt, ...) __printf(2, 3);
int tool_usage(const char *command, const char *fmt, ...) __printf(2, 3);

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

/* What a replay found, as a table 80 columns wide, or as one JSON object. */
struct report {
	const char *source, *format;
	unsigned int page_shift;
	bool write_inferred;
	const struct replay_result *result;
};

void report_table(const struct report *r);
void report_json(const struct report *r);

#endif
