// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ptebatch bench: each way of walking against the others, on the same tables and in turns. */
#include "bench_table.h"

#include "../median.h"
#include "../whole_file.h"

#include <fnmatch.h>
#include <getopt.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char usage[] =
	"Usage: ptebatch bench [OPTION]...\n"
	"\n"
	"Sends contenders over the same fake page tables, in turns and on one CPU, and prints\n"
	"what a page costs each: the median of all rounds. Each row is checked first: all must\n"
	"answer alike and leave the same counts. docs/performance.md says what they are.\n"
	"\n"
	"  --rows GLOB     rows of that WALKER/LAYOUT/ORDER/OP, for instance 'gup_fast/*/pin'\n"
	"  --rounds N      rounds of timing, 1 to 64 (default 31)\n"
	"  --tsv FILE      also write a table with tabs; replaced once it is complete\n"
	"  --json          print one JSON object\n"
	"  --list          name the rows, one a line\n"
	"  --check         only check, every row, in small\n"
	"  --instructions  let callgrind count instead: see tests/bench/instructions.sh\n"
	"  -h, --help      this text\n";

#define MAX_ROWS 64
/* Long enough for the clock not to matter, short enough for few interrupts to come between. */
#define TIMING_NS 500000

enum mode { TIME, LIST, CHECK, COUNT };

struct args {
	enum mode mode;
	const char *rows, *tsv;
	unsigned int rounds;
	bool json, help;
};

static struct bench_result results[MAX_ROWS];

static unsigned int choose(const char *glob)
{
	struct bench_row row;
	unsigned int nr = 0, i;
	char name[BENCH_NAME_MAX];

	for (i = 0; nr < MAX_ROWS && bench_row(i, &row); i++) {
		bench_row_name(name, &row);
		if (!glob || !fnmatch(glob, name, 0))
			results[nr++].row = row;
	}
	return nr;
}

static int list(unsigned int nr)
{
	char name[BENCH_NAME_MAX];
	unsigned int i;

	for (i = 0; i < nr; i++) {
		bench_row_name(name, &results[i].row);
		printf("%s\n", name);
	}
	return tool_flush("bench");
}

/* ---- one row ---- */

/* Passes that take long enough to be timed. */
static void calibrate(struct scene *s, unsigned int passes[BENCH_CONTENDERS])
{
	unsigned int i;

	for (i = 0; i < BENCH_CONTENDERS; i++) {
		passes[i] = 1;
		if (bench_applies(s, i))
			passes[i] += TIMING_NS / (bench_time(s, i, &passes[i]) + 1);
	}
}

/* In turns: whoever disturbs one round disturbs all, and no contender always comes first. */
static void time_row(struct scene *s, unsigned int rounds, double ns[BENCH_CONTENDERS])
{
	double times[BENCH_CONTENDERS][MAX_ROUNDS];
	unsigned int passes[BENCH_CONTENDERS], round, turn, i;

	calibrate(s, passes);
	for (round = 0; round < rounds; round++)
		for (turn = 0; turn < BENCH_CONTENDERS; turn++) {
			i = (round + turn) % BENCH_CONTENDERS;
			if (!bench_applies(s, i))
				continue;
			times[i][round] = bench_time(s, i, &passes[i]);
			times[i][round] /= (double)passes[i] * bench_pages(s);
		}
	for (i = 0; i < BENCH_CONTENDERS; i++)
		ns[i] = bench_applies(s, i) ? median(times[i], rounds) : -1;
}

/* The name tells the reader what was counted: row, contender, pages. */
static void count_row(struct scene *s, const char *row)
{
	char name[2 * BENCH_NAME_MAX];
	unsigned int i;

	for (i = 0; i < BENCH_CONTENDERS; i++) {
		if (!bench_applies(s, i))
			continue;
		snprintf(name, sizeof(name), "%s %s %lu", row, bench_contender(i), bench_pages(s));
		bench_count(s, i, name);
	}
}

static int one_row(const struct args *a, struct bench_result *r)
{
	char name[BENCH_NAME_MAX];
	struct scene *s;
	const char *why;
	int ret = 0;

	bench_row_name(name, &r->row);
	if (a->mode == COUNT && !bench_is_countable(&r->row))
		return 0;
	s = bench_make(&r->row, a->mode != TIME);
	why = bench_check(s);
	if (why)
		ret = tool_fail("bench", "%s: %s", name, why);
	else if (a->mode == TIME)
		time_row(s, a->rounds, r->ns);
	else if (a->mode == COUNT)
		count_row(s, name);
	bench_free(s);
	return ret;
}

/* ---- all of them ---- */

/* sched_setaffinity(): <sched.h> would be that of the explorer. */
static bool stay_on_one_cpu(void)
{
	unsigned long mask[16] = {};
	unsigned int cpu;

	if (syscall(SYS_getcpu, &cpu, NULL, NULL) || cpu >= 8 * sizeof(mask))
		return false;
	mask[cpu / (8 * sizeof(long))] = 1UL << cpu % (8 * sizeof(long));
	return !syscall(SYS_sched_setaffinity, 0, sizeof(mask), mask);
}

static void progress(unsigned int done, unsigned int of)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, done < of ? "\rbench: row %u of %u\033[K" : "\r\033[K", done + 1,
			of);
}

static int write_tsv(const char *path, unsigned int nr)
{
	char err[SNAP_ERR_MAX], *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int ret;

	if (!f)
		return tool_fail("bench", "out of memory");
	bench_tsv(f, results, nr);
	if (fclose(f))
		return tool_fail("bench", "out of memory");
	ret = whole_file_write(path, text, len, err) ? tool_fail("bench", "%s", err) : 0;
	free(text);
	return ret;
}

static int all_rows(const struct args *a, unsigned int nr)
{
	bool table = a->mode == TIME && !a->json;
	unsigned int i;

	if (table)
		bench_heading();
	for (i = 0; i < nr; i++) {
		progress(i, nr);
		if (one_row(a, &results[i]))
			return 1;
		progress(nr, nr);
		if (table)
			bench_line(&results[i]);
		if (tool_flush("bench"))
			return 1;
	}
	if (a->json)
		bench_json(results, nr);
	else if (!table)
		printf("%u rows: all contenders agree\n", nr);
	return tool_flush("bench") || (a->tsv && write_tsv(a->tsv, nr));
}

static int bench(const struct args *a)
{
	unsigned int nr = choose(a->rows);
	char err[SNAP_ERR_MAX];

	if (!nr)
		return tool_usage("bench", "no row is called \"%s\", see --list", a->rows);
	if (a->mode == LIST)
		return list(nr);
	if (a->mode == COUNT && !bench_is_counted())
		return tool_usage("bench", "instructions are counted under callgrind");
	if (a->tsv && whole_file_may_write(a->tsv, err))
		return tool_fail("bench", "%s", err);
	if (!stay_on_one_cpu())
		return tool_fail("bench", "cannot stay on one CPU: %s", strerror(errno));
	return all_rows(a, nr);
}

/* ---- arguments ---- */

static int set_mode(struct args *a, enum mode mode)
{
	if (a->mode != TIME && a->mode != mode)
		return tool_usage("bench", "one of --list, --check and --instructions");
	a->mode = mode;
	return 0;
}

static int one_option(struct args *a, int c)
{
	switch (c) {
	case 'r':
		a->rows = optarg;
		return 0;
	case 'n':
		return tool_rounds("bench", optarg, &a->rounds);
	case 't':
		a->tsv = optarg;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case 'l':
		return set_mode(a, LIST);
	case 'c':
		return set_mode(a, CHECK);
	case 'i':
		return set_mode(a, COUNT);
	default:
		a->help = true;
		return 0;
	}
}

/* 0, or the exit code once it has complained */
static int parse(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "rows", required_argument, NULL, 'r' },
		{ "rounds", required_argument, NULL, 'n' },
		{ "tsv", required_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{ "list", no_argument, NULL, 'l' },
		{ "check", no_argument, NULL, 'c' },
		{ "instructions", no_argument, NULL, 'i' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c, ret;

	opterr = 0;
	optind = 0;
	while (!a->help && (c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == ':')
			return tool_usage("bench", "no value given for %s", argv[optind - 1]);
		if (c == '?')
			return tool_usage("bench", "unknown option %s", argv[optind - 1]);
		ret = one_option(a, c);
		if (ret)
			return ret;
	}
	if (a->help)
		return 0;
	if (optind < argc)
		return tool_usage("bench", "what is \"%s\"", argv[optind]);
	if (a->mode != TIME && (a->tsv || a->json))
		return tool_usage("bench", "--%s is for timing", a->tsv ? "tsv" : "json");
	return 0;
}

int cmd_bench(int argc, char **argv)
{
	struct args a = { .rounds = 31 };
	int ret = parse(argc, argv, &a);

	if (ret)
		return ret;
	return a.help ? tool_print("bench", usage) : bench(&a);
}
