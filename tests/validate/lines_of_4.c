// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Lines of 4 entries, as who explores small tables has them. */
#define PTB_LINE 4
#include "lines.h"

TEST(lines_of_4_fill_their_pages_and_no_more)
{
	expect_filled();
}

TEST(lines_of_4_end_with_their_run)
{
	expect_runs();
}

TEST(lines_of_4_of_present_entries_end_with_their_run)
{
	expect_present_runs();
}

TEST(lines_of_4_of_pages_end_before_the_odd_one)
{
	expect_contiguous_runs();
}
