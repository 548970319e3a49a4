// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Lines as they are. */
#include "lines.h"

TEST(lines_fill_their_pages_and_no_more)
{
	expect_filled();
}

TEST(lines_end_with_their_run)
{
	expect_runs();
}

TEST(lines_of_present_entries_end_with_their_run)
{
	expect_present_runs();
}

TEST(lines_of_pages_end_before_the_odd_one)
{
	expect_contiguous_runs();
}
