// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ptebatch replay: a recording, or a layout, walked per entry and batched. */
#include "tool.h"

#include "../whatif.h"

#include <getopt.h>
#include <unistd.h>

static const char usage[] =
	"Usage: ptebatch replay [OPTION]... FILE\n"
	"       ptebatch replay [OPTION]... --layout TEXT\n"
	"\n"
	"Rebuilds the page tables of a recording, sends every walker over them one entry at a\n"
	"time (before) and batched (after), checks that both return the same pages and leave the\n"
	"same counts, and prints what each cost. Atomics are read-modify-writes of shared words.\n"
	"\n"
	"  -f, --format NAME  lay the entries out as another format would (see ptebatch formats)\n"
	"  -w, --what-if SIZE 64k or 2M: the same memory, had it come in folios of that size\n"
	"                     wherever that much of it lies together\n"
	"  -l, --layout TEXT  page tables in words, for instance \"o4@200: 0-15 | none | o0@300\"\n"
	"  -r, --rounds N     rounds of timing, 1 to 64; fewer the longer one takes\n"
	"  -j, --json         print one JSON object\n"
	"  -h, --help         this text\n";

struct args {
	const struct ptb_format_pair *format;
	const char *layout, *file;
	unsigned int rounds;
	unsigned int what_if; /* order, or 0 */
	bool json, help;
};

/* 0, or the exit code once it has complained */
static int parse(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "layout", required_argument, NULL, 'l' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "what-if", required_argument, NULL, 'w' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, ":f:l:r:w:jh", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			a->format = format_find(optarg);
			if (!a->format)
				return tool_usage("replay", "no format \"%s\"", optarg);
			break;
		case 'l':
			a->layout = optarg;
			break;
		case 'r':
			if (tool_rounds("replay", optarg, &a->rounds))
				return 2;
			break;
		case 'w':
			a->what_if = !strcmp(optarg, "64k") ? 4 : !strcmp(optarg, "2M") ? 9 : 0;
			if (!a->what_if)
				return tool_usage("replay", "what if is 64k or 2M, not \"%s\"",
						  optarg);
			break;
		case 'j':
			a->json = true;
			break;
		case 'h':
			a->help = true;
			return 0;
		case ':':
			return tool_usage("replay", "no value given to %s", argv[optind - 1]);
		default:
			return tool_usage("replay", "unknown option %s", argv[optind - 1]);
		}
	}
	a->file = argv[optind];
	if (!a->file == !a->layout)
		return tool_usage("replay",
				  a->file ? "a file or a layout, not both" : "no recording given");
	if (a->layout && a->what_if)
		return tool_usage("replay", "what if is for recordings");
	if (a->file && argv[optind + 1])
		return tool_usage("replay", "what is \"%s\"", argv[optind + 1]);
	return 0;
}

static void progress(const char *what, unsigned int done, unsigned int of)
{
	fprintf(stderr, "\rreplay: %s %3u %%\033[K", what, 100 * done / of);
}

static int show(const struct args *a, const char *source, const char *note, struct replay_input *in)
{
	struct kind_result kinds[NR_KINDS];
	struct replay_result result;
	struct report report = { .source = source,
				 .format = a->format->plain->name,
				 .note = note,
				 .page_shift = a->format->plain->page_shift,
				 .result = &result };
	bool said;

	if (isatty(STDERR_FILENO))
		in->progress = progress;
	said = replay(a->format, in, &result);
	if (said && in->snapshot) {
		replay_kinds(a->format, in, kinds);
		report.kinds = kinds;
	}
	if (in->progress)
		fprintf(stderr, "\r\033[K");
	if (!said)
		return tool_fail("replay", "this layout cannot be said in format %s",
				 report.format);
	if (a->json)
		report_json(&report);
	else
		report_table(&report);
	if (tool_flush("replay"))
		return 1;
	return result.disagree[0] ? tool_fail("replay", "%s", result.disagree) : 0;
}

static int replay_layout(const struct args *a)
{
	char err[LAYOUT_ERR_MAX];
	struct layout layout;

	if (layout_parse(a->layout, &layout, err))
		return tool_fail("replay", "%s", err);
	return show(a, "layout", NULL,
		    &(struct replay_input){ .layout = &layout,
					    .rounds = a->rounds ? a->rounds : 15 });
}

/* A page costs its struct page, its entry, and its place in the output of every walker. */
#define BYTES_A_PAGE (64 + 8 + 8 + 24 + 1)

/* A recording may be of a larger machine, or made to look so: say so. */
static bool fits_in_memory(u64 entries, u64 *need_mib, u64 *have_mib)
{
	*need_mib = entries * BYTES_A_PAGE >> 20;
	*have_mib = (u64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) >> 20;
	return *need_mib < *have_mib / 4 * 3;
}

static u64 count_entries(const struct snapshot *s)
{
	u64 entries = 0;
	size_t i;

	for (i = 0; i < s->nr_runs; i++)
		if (s->runs[i].type != SNAP_NONE)
			entries += s->runs[i].nr;
	return entries;
}

/* A long walk is steady by itself. */
static unsigned int default_rounds(u64 entries)
{
	u64 rounds = BIT(24) / (entries + 1);

	return rounds > 15 ? 15 : rounds < 3 ? 3 : rounds;
}

static int replay_what_if(const struct args *a, const char *source, const struct snapshot *s,
			  unsigned int rounds)
{
	struct replay_input in = { .rounds = rounds };
	struct snapshot other;
	char note[128];
	u64 moved;
	int ret;

	if (snapshot_what_if(s, a->what_if, &other, &moved))
		return tool_fail("replay", "out of memory");
	snprintf(note, sizeof(note), "as if %llu of them, which lie together, were in %s folios",
		 (unsigned long long)moved, a->what_if == 9 ? "2M" : "64k");
	in.snapshot = &other;
	ret = show(a, source, note, &in);
	snapshot_free(&other);
	return ret;
}

static int replay_snapshot(const struct args *a, const char *source, const struct snapshot *s)
{
	u64 entries = count_entries(s), need, have;
	struct replay_input in = { .snapshot = s,
				   .rounds = a->rounds ? a->rounds : default_rounds(entries) };

	if (!fits_in_memory(entries, &need, &have))
		return tool_fail("replay", "%s needs %llu MiB of memory, this machine has %llu",
				 source, (unsigned long long)need, (unsigned long long)have);
	if (a->what_if)
		return replay_what_if(a, source, s, in.rounds);
	return show(a, source, "which are writable is inferred from rights and exclusivity", &in);
}

static int replay_file(const struct args *a)
{
	const char *slash = strrchr(a->file, '/');
	char err[SNAP_ERR_MAX];
	struct snapshot s;
	int ret;

	if (snapshot_load(a->file, &s, err))
		return tool_fail("replay", "%s", err);
	ret = replay_snapshot(a, slash ? slash + 1 : a->file, &s);
	snapshot_free(&s);
	return ret;
}

int cmd_replay(int argc, char **argv)
{
	struct args a = { .format = &ptb_formats[0] };
	int ret = parse(argc, argv, &a);

	if (ret)
		return ret;
	if (a.help)
		return tool_print("replay", usage);
	return a.layout ? replay_layout(&a) : replay_file(&a);
}
