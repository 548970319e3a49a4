// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ptebatch demo: every embedded recording in every format. */
#include "tool.h"

#include <getopt.h>

static const char usage[] =
	"Usage: ptebatch demo\n"
	"\n"
	"Replays the embedded recordings of real processes in every format, per entry against\n"
	"batched, and checks that the walkers agree.\n";

/* The walkers the table has rows for: gup_fast, dax, mincore, vfio */
#define NR_WALKERS 4

static int demo_one(const struct recording *rec, const struct ptb_format_pair *fmt)
{
	struct replay_result result;
	struct report report = { .source = rec->name,
				 .format = fmt->plain->name,
				 .page_shift = fmt->plain->page_shift,
				 .result = &result };
	char err[SNAP_ERR_MAX];
	struct snapshot s;

	if (snapshot_load_mem(rec->data, rec->end - rec->data, &s, err))
		return tool_fail("demo", "%s: %s", rec->name, err);
	replay(fmt, &(struct replay_input){ .snapshot = &s, .rounds = 5 }, &result);
	snapshot_free(&s);
	report_table(&report);
	printf("\n");
	if (tool_flush("demo"))
		return 1;
	return result.disagree[0] ? tool_fail("demo", "%s: %s", rec->name, result.disagree) : 0;
}

static int demo(void)
{
	unsigned int r, f;

	for (r = 0; r < nr_recordings; r++) {
		printf("== %s: %s\n\n", recordings[r].name, recordings[r].what);
		for (f = 0; f < ptb_nr_formats; f++)
			if (demo_one(&recordings[r], &ptb_formats[f]))
				return 1;
	}
	printf("demo: %d walkers, %u formats, %u recordings: batched and per-entry agree\n",
	       NR_WALKERS, ptb_nr_formats, nr_recordings);
	return tool_flush("demo");
}

int cmd_demo(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_print("demo", usage);
		return tool_usage("demo", "unknown option %s", argv[optind - 1]);
	}
	if (optind < argc)
		return tool_usage("demo", "what is \"%s\"", argv[optind]);
	return demo();
}
