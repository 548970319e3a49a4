// SPDX-License-Identifier: GPL-2.0-only
/* Results of tests. */
#include <stdarg.h>
#include <stdio.h>

#include "lib.h"

static unsigned int nr_tests, nr_failed;
static bool failing;

static void line(const char *what, const char *fmt, va_list args, const char *skipped)
{
	printf("%s %u - ", what, ++nr_tests);
	vprintf(fmt, args);
	if (skipped)
		printf(" # SKIP %s", skipped);
	putchar('\n');
}

void wrong(const char *fmt, ...)
{
	va_list args;

	failing = true;
	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

void done(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line(failing ? "not ok" : "ok", fmt, args, NULL);
	va_end(args);
	nr_failed += failing;
	failing = false;
}

void skip(const char *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line("ok", fmt, args, why);
	va_end(args);
}

int tap_end(void)
{
	printf("1..%u\n", nr_tests);
	return nr_failed != 0;
}
