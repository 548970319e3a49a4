// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* usage: tests [-t SECONDS] [PATTERN]; TAP on stdout, what failed on stderr. */
#include "runner.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whoever leaves a test by another way, with exit(0) as well, has failed. */
enum { PASSED = 90, SKIPPED, FAILED };

#define MAX_LINES 20

static struct runner_test *tests, **last = &tests;

/* Of the test that runs; its process alone counts. */
static unsigned int failures;
static char *skip_reason; /* shared with it */
#define REASON_MAX 200

void runner_add(struct runner_test *test)
{
	*last = test;
	last = &test->next;
}

void runner_failed(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	if (failures++ >= MAX_LINES)
		return;
	fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* Where coverage is measured it is written at exit(), which a test never comes to. */
int __llvm_profile_write_file(void) __attribute__((__weak__));

static void __attribute__((__noreturn__)) leave(int code)
{
	if (__llvm_profile_write_file)
		__llvm_profile_write_file();
	_exit(code);
}

void runner_end(void)
{
	if (failures > MAX_LINES)
		fprintf(stderr, "... and %u more\n", failures - MAX_LINES);
	leave(failures ? FAILED : PASSED);
}

void runner_skip(const char *fmt, ...)
{
	va_list ap;

	if (failures)
		runner_end();
	va_start(ap, fmt);
	vsnprintf(skip_reason, REASON_MAX, fmt, ap);
	va_end(ap);
	leave(SKIPPED);
}

/* The exit status of the test, as waitpid() gives it. */
static int run(const struct runner_test *test, unsigned int seconds)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(seconds);
		test->run();
		runner_end();
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("tests");
		exit(1);
	}
	return status;
}

static struct {
	unsigned int passed, failed, skipped;
} total;

static void report(const struct runner_test *test, int status, unsigned int seconds)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	bool ok = code == PASSED || code == SKIPPED;

	printf("%sok %u - %s::%s", ok ? "" : "not ",
	       total.passed + total.failed + total.skipped + 1, test->suite, test->name);
	if (code == PASSED)
		total.passed++;
	else if (code == SKIPPED)
		total.skipped++;
	else
		total.failed++;

	if (code == SKIPPED)
		printf(" # SKIP %s", skip_reason);
	else if (code < 0 && WTERMSIG(status) == SIGALRM)
		printf(" # not at its end after %u s", seconds);
	else if (code < 0)
		printf(" # killed by signal %d: %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (!ok && code != FAILED)
		printf(" # left by exit(%d)", code);
	putchar('\n');
}

/* Of "suite::name", as a glob if it looks like one, else anywhere in it. */
static bool matches(const struct runner_test *test, const char *pattern)
{
	char name[256];

	snprintf(name, sizeof(name), "%s::%s", test->suite, test->name);
	if (strpbrk(pattern, "*?["))
		return !fnmatch(pattern, name, 0);
	return strstr(name, pattern);
}

int main(int argc, char **argv)
{
	const struct rlimit no_core = { 0, 0 };
	const struct runner_test *test;
	unsigned int seconds = 120;
	int opt;

	while ((opt = getopt(argc, argv, "t:")) != -1)
		if (opt != 't' || !(seconds = strtoul(optarg, NULL, 10))) {
			fprintf(stderr, "usage: %s [-t SECONDS] [PATTERN]\n", argv[0]);
			return 2;
		}
	skip_reason =
		mmap(NULL, REASON_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skip_reason == MAP_FAILED) {
		perror("tests");
		return 1;
	}
	setrlimit(RLIMIT_CORE, &no_core);
	/* In step with stderr, and nothing left in it when a test forks. */
	setvbuf(stdout, NULL, _IOLBF, 0);

	for (test = tests; test; test = test->next)
		if (optind >= argc || matches(test, argv[optind]))
			report(test, run(test, seconds), seconds);
	printf("1..%u\n", total.passed + total.failed + total.skipped);
	printf("%u passed, %u failed, %u skipped\n", total.passed, total.failed, total.skipped);
	if (!total.passed && !total.failed)
		fprintf(stderr, "tests: nothing ran\n");
	return total.failed || !total.passed;
}
