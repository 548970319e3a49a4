/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A runner with nothing but the C library under it, for machines that have no Criterion. Each test
 * runs in a process of its own, so that a crash or a loop without end is one failure.
 */
#ifndef TESTS_RUNNER_H
#define TESTS_RUNNER_H

#include "kernel.h"

struct runner_test {
	const char *suite, *name;
	void (*run)(void);
	struct runner_test *next;
};

void runner_add(struct runner_test *test);
/* The test goes on. */
void runner_failed(const char *file, int line, const char *fmt, ...) __printf(3, 4);
void runner_end(void) __attribute__((__noreturn__));
void runner_skip(const char *fmt, ...) __printf(1, 2) __attribute__((__noreturn__));

#define RUNNER_TEST(suite_, name_)                                                            \
	static void suite_##_##name_(void);                                                   \
	static void __attribute__((__constructor__)) add_##suite_##_##name_(void)             \
	{                                                                                     \
		static struct runner_test test = { #suite_, #name_, suite_##_##name_, NULL }; \
		runner_add(&test);                                                            \
	}                                                                                     \
	static void suite_##_##name_(void)

#define RUNNER_EXPECT(cond, ...)                                        \
	do {                                                            \
		if (!(cond))                                            \
			runner_failed(__FILE__, __LINE__, __VA_ARGS__); \
	} while (0)

#define RUNNER_REQUIRE(cond, ...)                                       \
	do {                                                            \
		if (!(cond)) {                                          \
			runner_failed(__FILE__, __LINE__, __VA_ARGS__); \
			runner_end();                                   \
		}                                                       \
	} while (0)

#endif
