/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The runner as tests see it. A test file is compiled once per format and its tests run once in
 *each: suite = format.
 *
 *	TEST(stops_at_the_folio)
 *	{
 *		...
 *		EXPECT(nr == 4, "run of %u crossed into the folio at 0x104", nr);
 *	}
 *
 * SKIP(reason) where the format cannot express the input: such a test does not count as run.
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <criterion/criterion.h>

/* A walk that never ends is one of the faults: its test must end, and fail. */
#define HARNESS_TEST(suite, name) Test(suite, name, .timeout = 120)
#define TEST(name) HARNESS_TEST(FMT_NAME, name)

#define EXPECT(cond, ...) cr_expect(cond, __VA_ARGS__)
#define REQUIRE(cond, ...) cr_assert(cond, __VA_ARGS__)
#define SKIP(...) cr_skip_test(__VA_ARGS__)

#define EXPECT_EQ(got, want, what)                                                          \
	do {                                                                                \
		long long got__ = (long long)(got), want__ = (long long)(want);             \
		cr_expect(got__ == want__, "%s: %lld, expected %lld", what, got__, want__); \
	} while (0)

#endif
