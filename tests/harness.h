/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The runner as tests see it. A test file is compiled once per format and its tests run once in
 * each: suite = format.
 *
 *	TEST(stops_at_the_folio)
 *	{
 *		...
 *		EXPECT(nr == 4, "run of %u crossed into the folio at 0x104", nr);
 *	}
 *
 * SKIP(reason) where the format cannot express the input: such a test does not count as run.
 *
 * It is Criterion, or with TESTS_PLAIN_RUNNER the one in runner/, which cross builds have. With
 * TESTS_FUZZ there is none: helpers that expect something are called by a fuzz target.
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#ifdef TESTS_PLAIN_RUNNER

#include "runner/runner.h"

#define HARNESS_TEST(suite, name) RUNNER_TEST(suite, name)
#define EXPECT(cond, ...) RUNNER_EXPECT(cond, __VA_ARGS__)
#define REQUIRE(cond, ...) RUNNER_REQUIRE(cond, __VA_ARGS__)
#define SKIP(...) runner_skip(__VA_ARGS__)

#elif defined(TESTS_FUZZ)

#include "fuzz/fail.h"

#define EXPECT(cond, ...) FUZZ_EXPECT(cond, __VA_ARGS__)
#define REQUIRE(cond, ...) FUZZ_EXPECT(cond, __VA_ARGS__)
#define SKIP(...) fuzz_fail(__VA_ARGS__)

#else

#include <criterion/criterion.h>

/* A walk that never ends is one of the faults: its test must end, and fail. */
#define HARNESS_TEST(suite, name) Test(suite, name, .timeout = 120)
#define EXPECT(cond, ...) cr_expect(cond, __VA_ARGS__)
#define REQUIRE(cond, ...) cr_assert(cond, __VA_ARGS__)
#define SKIP(...) cr_skip_test(__VA_ARGS__)

#endif

#ifndef TESTS_FUZZ
#define TEST(name) HARNESS_TEST(FMT_NAME, name)
#endif

/* Rounds of a random test: all, or under emulation one in so many. */
#ifndef HARNESS_THIN
#define HARNESS_THIN 1
#endif
#define HARNESS_ROUNDS(n) ((n) / HARNESS_THIN)

#define EXPECT_EQ(got, want, what)                                                       \
	do {                                                                             \
		long long got__ = (long long)(got), want__ = (long long)(want);          \
		EXPECT(got__ == want__, "%s: %lld, expected %lld", what, got__, want__); \
	} while (0)

#endif
