// SPDX-License-Identifier: GPL-2.0-only
/*
 * selftests off|on: runs the kernel's own tests of memory management with all keys 0 or 1. Their
 * lines are printed with the test's name in front, so that the host can compare the two runs line
 * by line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

/* clang-format off */
static const struct {
	const char *command;
	const char *cwd; /* a file system that the test's temporary files can be on */
} tests[] = {
	{ "mincore_selftest",               "/mnt" },
	{ "gup_longterm",                   "/tmp" },
	{ "cow",                            "/tmp" },
	{ "mkdirty",                        "/tmp" },
	{ "madv_populate",                  "/tmp" },
	/* Fast and slow, get and pin and longterm; without huge pages, with them, and hugetlb. */
	{ "gup_test -u -w -T -m 16 -n 512", "/tmp" },
	{ "gup_test -u -w -t -m 16 -n 123", "/tmp" },
	{ "gup_test -u -w -H -m 16 -n 512", "/tmp" },
	{ "gup_test -a -w -T -m 16 -n 512", "/tmp" },
	{ "gup_test -a -w -t -m 16 -n 123", "/tmp" },
	{ "gup_test -a -w -H -m 16 -n 512", "/tmp" },
	{ "gup_test -a -W -S -t -m 16 -n 1", "/tmp" },
	{ "gup_test -U -w -t -m 16 -n 123", "/tmp" },
	{ "gup_test -b -w -t -m 16 -n 123", "/tmp" },
	{ "gup_test -L -w -T -m 16 -n 512", "/tmp" },
	{ "gup_test -L -w -t -m 16 -n 123", "/tmp" },
	{ "gup_test -L -w -H -m 16 -n 512", "/tmp" },
	{ "gup_test -ct -F 0x1 0 19 0x1000", "/tmp" },
};
/* clang-format on */

static void run(const char *command, const char *cwd)
{
	char copy[256], line[4096], *argv[16], *rest = copy;
	int fds[2], nr = 0, status = 0;
	FILE *output;
	pid_t pid;

	snprintf(copy, sizeof(copy), "%s", command);
	while (nr < 15 && (argv[nr] = strsep(&rest, " ")))
		nr++;
	argv[nr] = NULL;

	if (pipe(fds))
		die("pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		if (chdir(cwd))
			die("cannot change to %s: %s", cwd, strerror(errno));
		execvp(argv[0], argv);
		die("cannot run %s: %s", argv[0], strerror(errno));
	}
	close(fds[1]);
	output = fdopen(fds[0], "r");
	while (output && fgets(line, sizeof(line), output)) {
		line[strcspn(line, "\n")] = 0;
		printf("%s: %s\n", command, line);
	}
	fclose(output);
	waitpid(pid, &status, 0);
	printf("%s: exit %d\n", command,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int main(int argc, char **argv)
{
	if (argc != 2 || (strcmp(argv[1], "off") && strcmp(argv[1], "on")))
		die("selftests: off or on?");
	side_set(strcmp(argv[1], "on") ? OFF : ON);
	counters_zero();
	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++)
		run(tests[i].command, tests[i].cwd);

	printf("handled gup_fast %llu mincore %llu\n", counters_read("gup_fast").handled,
	       counters_read("mincore").handled);
	return 0;
}
