// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ptebatch: the command line. */
#include "tool.h"

#include "../median.h"

#include <ptebatch/version.h>

#include <stdarg.h>

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "demo", cmd_demo, "walk the embedded recordings in every format" },
	{ "record", cmd_record, "record the page tables of a live process" },
	{ "replay", cmd_replay, "walk a recording, per entry and batched" },
	{ "explore", cmd_explore, "a walker against the other side, under every schedule" },
	{ "bench", cmd_bench, "every way of walking against the others, in one run" },
	{ "formats", cmd_formats, "name the entry formats, one a line" },
};

/* What a user gave is quoted: no control characters. */
static void complain(const char *command, const char *fmt, va_list ap, const char *hint)
{
	char line[512], *c;

	vsnprintf(line, sizeof(line), fmt, ap);
	for (c = line; *c; c++)
		if ((u8)*c < ' ' || *c == 0x7f)
			*c = '?';
	if (hint)
		fprintf(stderr, "ptebatch: %s: %s; see ptebatch %s --help\n", command, line, hint);
	else
		fprintf(stderr, "ptebatch: %s: %s\n", command, line);
}

int tool_fail(const char *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(command, fmt, ap, NULL);
	va_end(ap);
	return 1;
}

int tool_usage(const char *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(command, fmt, ap, command);
	va_end(ap);
	return 2;
}

int tool_flush(const char *command)
{
	if (fflush(stdout) || ferror(stdout))
		return tool_fail(command, "cannot write to standard output");
	return 0;
}

int tool_print(const char *command, const char *text)
{
	fputs(text, stdout);
	return tool_flush(command);
}

int tool_rounds(const char *command, const char *text, unsigned int *rounds)
{
	unsigned long n;
	char *end;

	n = strtoul(text, &end, 10);
	if (*end || end == text || n < 1 || n > MAX_ROUNDS)
		return tool_usage(command, "rounds must be 1 to %u, not \"%s\"", MAX_ROUNDS, text);
	*rounds = n;
	return 0;
}

static int help(void)
{
	unsigned int i;

	printf("Usage: ptebatch COMMAND [OPTION]...\n\n"
	       "What batching page-table entries would save, shown on fake page tables.\n\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].what);
	printf("\n  --help     this text; ptebatch COMMAND --help has more\n"
	       "  --version\n\n"
	       "Exit status: 0, 1 for a failure, 2 for wrong usage.\n");
	return tool_flush("help");
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc < 2) {
		tool_fail("usage", "no command given; see ptebatch --help");
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help();
	if (!strcmp(argv[1], "--version"))
		return tool_print("version", "ptebatch " PTEBATCH_VERSION "\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	tool_fail("usage", "no command \"%s\"; see ptebatch --help", argv[1]);
	return 2;
}
