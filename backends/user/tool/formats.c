// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The list of formats, and how their two builds work together. */
#include "tool.h"

#include <getopt.h>

/* The Makefile compiles format.c for each of these, plain and hooked. */
#define FORMATS(X) X(x86_64) X(x86_pae) X(xen_pv) X(arm64) X(arm64_64k) X(riscv64) X(s390) X(ppc64)

#define DECLARE(name) extern const struct ptb_format ptb_format_##name, ptb_format_hooked_##name;
FORMATS(DECLARE)

#define PAIR(name) { &ptb_format_##name, &ptb_format_hooked_##name },
const struct ptb_format_pair ptb_formats[] = { FORMATS(PAIR) };
const unsigned int ptb_nr_formats = ARRAY_SIZE(ptb_formats);

const struct ptb_format_pair *format_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ptb_nr_formats; i++)
		if (!strcmp(ptb_formats[i].plain->name, name))
			return &ptb_formats[i];
	return NULL;
}

bool replay(const struct ptb_format_pair *fmt, const struct replay_input *in,
	    struct replay_result *out)
{
	struct replay_result timed;
	enum replay_row row;

	if (!fmt->hooked->replay(in, out) || !fmt->plain->replay(in, &timed))
		return false;
	for (row = 0; row < ROW_NR; row++) {
		memcpy(out->row[row].ns, timed.row[row].ns, sizeof(timed.row[row].ns));
		out->row[row].ratio = timed.row[row].ratio;
	}
	if (!out->disagree[0])
		memcpy(out->disagree, timed.disagree, sizeof(out->disagree));
	return true;
}

static void swap_lengths(const struct snapshot *s, struct kind_result *swap)
{
	size_t i;

	for (i = 0; i < s->nr_runs; i++)
		if (s->runs[i].type == SNAP_SWAP) {
			swap->pages += s->runs[i].nr;
			swap->by_class[run_class(s->runs[i].nr)] += s->runs[i].nr;
		}
}

static bool has_kind(const struct snapshot *s, unsigned int kind)
{
	size_t i;

	for (i = 0; i < s->nr_vmas; i++)
		if (s->vmas[i].kind == kind)
			return true;
	return false;
}

void replay_kinds(const struct ptb_format_pair *fmt, const struct replay_input *in,
		  struct kind_result kinds[NR_KINDS])
{
	struct replay_input one = *in;
	struct replay_result result;
	unsigned int kind;

	memset(kinds, 0, NR_KINDS * sizeof(*kinds));
	swap_lengths(in->snapshot, &kinds[KIND_SWAP]);
	for (kind = 0; kind < KIND_SWAP; kind++) {
		if (!has_kind(in->snapshot, kind))
			continue;
		one.kinds = BIT(kind);
		replay(fmt, &one, &result);
		kinds[kind].pages = result.present;
		memcpy(kinds[kind].by_class, result.row[ROW_GUP_GET].by_class,
		       sizeof(kinds[kind].by_class));
		memcpy(kinds[kind].row, result.row, sizeof(result.row));
	}
}

static const char usage[] = "Usage: ptebatch formats\n\nNames the entry formats, one a line.\n";

int cmd_formats(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	unsigned int i;
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_print("formats", usage);
		return tool_usage("formats", "unknown option %s", argv[optind - 1]);
	}
	if (optind < argc)
		return tool_usage("formats", "what is \"%s\"", argv[optind]);
	for (i = 0; i < ptb_nr_formats; i++)
		printf("%s\n", ptb_formats[i].plain->name);
	return tool_flush("formats");
}
