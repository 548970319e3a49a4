/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The runner as fuzz targets see it: what a test would report ends the process, with its words. */
#ifndef TESTS_FUZZ_FAIL_H
#define TESTS_FUZZ_FAIL_H

#include "kernel.h"

void fuzz_fail(const char *fmt, ...) __printf(1, 2) __attribute__((__noreturn__));

#define FUZZ_EXPECT(cond, ...)                  \
	do {                                    \
		if (!(cond))                    \
			fuzz_fail(__VA_ARGS__); \
	} while (0)

#endif
