// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ptebatch record: the page tables of a live process into a file.
 */
#include "tool.h"

#include "../whole_file.h"

#include <getopt.h>

static const char usage[] =
	"Usage: ptebatch record --pid N -o FILE\n"
	"\n"
	"Records the page tables of the process N while it runs: what is present, swapped,\n"
	"exclusive, soft-dirty and write-protected by userfaultfd, and the folios behind it.\n"
	"Addresses and frames are renumbered; paths, names and contents are not recorded. Whether\n"
	"an entry is writable is inferred from the rights of its mapping and from exclusivity. To\n"
	"play it back: ptebatch replay FILE.\n"
	"\n"
	"  -p, --pid N        the process\n"
	"  -o, --output FILE  the recording; replaced once it is complete\n"
	"  -h, --help         this text\n"
	"\n"
	"Needs root, or CAP_SYS_ADMIN for the frame numbers, CAP_DAC_READ_SEARCH for\n"
	"/proc/kpageflags and, for the processes of others, CAP_SYS_PTRACE.\n";

/* Digits only: strtol() would take blanks, signs and what follows. 0: not a pid */
static int parse_pid(const char *arg)
{
	long pid;

	if (!*arg || arg[strspn(arg, "0123456789")])
		return 0;
	errno = 0;
	pid = strtol(arg, NULL, 10);
	return errno || pid > INT_MAX ? 0 : (int)pid;
}

/* The argument may hold anything: one line stays one line. */
static int wrong_usage(const char *what, const char *arg)
{
	char err[SNAP_ERR_MAX];

	snapshot_fail(err, "%s \"%.80s\"", what, arg);
	return tool_usage("record", "%s", err);
}

static int summary(const struct snapshot *s)
{
	u64 pages[SNAP_NR_TYPES] = { 0 }, leaves = 0;
	size_t i;

	for (i = 0; i < s->nr_runs; i++) {
		pages[s->runs[i].type] += s->runs[i].nr;
		if (s->runs[i].level == SNAP_PMD)
			leaves += s->runs[i].nr >> SNAP_MAX_ORDER;
	}
	printf("%zu vmas, %llu pages present (%llu PMD leaves), %llu in swap, %zu folios\n",
	       s->nr_vmas, (unsigned long long)pages[SNAP_PRESENT], (unsigned long long)leaves,
	       (unsigned long long)pages[SNAP_SWAP], s->nr_folios);
	return tool_flush("record");
}

static int record(int pid, const char *output)
{
	char err[SNAP_ERR_MAX];
	struct snapshot s;
	int ret;

	if (whole_file_may_write(output, err) || snapshot_record(pid, &s, err))
		return tool_fail("record", "%s", err);
	ret = snapshot_save(&s, output, err) ? tool_fail("record", "%s", err) : summary(&s);
	snapshot_free(&s);
	return ret;
}

int cmd_record(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pid", required_argument, NULL, 'p' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *output = NULL;
	int c, pid = 0;

	opterr = 0;
	optind = 0; /* glibc: start anew, whoever parsed before */
	while ((c = getopt_long(argc, argv, ":p:o:h", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			return tool_print("record", usage);
		case 'p':
			pid = parse_pid(optarg);
			if (!pid)
				return wrong_usage("not a pid:", optarg);
			break;
		case 'o':
			output = optarg;
			break;
		case ':':
			return wrong_usage("no value given to", argv[optind - 1]);
		default:
			return wrong_usage("unknown option", argv[optind - 1]);
		}
	}
	if (optind < argc)
		return wrong_usage("unexpected argument", argv[optind]);
	if (!pid)
		return tool_usage("record", "no process given: --pid N");
	if (!output)
		return tool_usage("record", "no output given: -o FILE");
	if (!strcmp(output, "-"))
		return tool_usage("record", "a recording does not go to standard output: -o FILE");
	return record(pid, output);
}
