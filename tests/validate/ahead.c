// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Pages that GUP-fast asks for ahead: only of entries that are plain; nothing of them is read. */
#include "bed.h"

#define SMALL 32
#define AT 0x800
/* Of lines 2 and 3, while the line before is worked on. */
#define ASKED 16
/* Of the one that has no odd entry. */
#define OTHER 8

static struct page *pages[SMALL];

static bool asks_ahead(void)
{
	return !strcmp(STRINGIFY(FMT_NAME), "x86_64");
}

/* Of @nr small folios, the entry of one with other attributes. */
static u64 asked_of(unsigned int nr, unsigned int odd, unsigned long attrs, unsigned int gup)
{
	static const struct build_opts opts = { .nr_pages = AT + SMALL };
	struct bed bed;
	unsigned int i;
	u64 asked;

	bed_need(&bed, "none", &opts);
	for (i = 0; i < SMALL; i++) {
		mem_folio(AT + i, 0, FOLIO_ANON);
		mem_page(AT + i)->flags |= PG_anon_exclusive;
	}
	mm_set_run(&bed.mm, bed_addr(&bed, 0), AT, SMALL, A_WRITE | A_YOUNG);
	mm_set_run(&bed.mm, bed_addr(&bed, odd), AT + odd, 1, attrs);
	memset(raw_hooks.count, 0, sizeof(raw_hooks.count));
	bed_gup(&bed, 0, nr, gup, pages);
	asked = raw_hooks.count[RAW_PREFETCH];
	bed_free(&bed);
	return asked;
}

static u64 asked_ahead(unsigned int odd, unsigned long attrs, unsigned int gup)
{
	return asked_of(SMALL, odd, attrs, gup);
}

TEST(only_pages_that_may_be_taken_are_asked_for_ahead)
{
	const unsigned long plain = A_WRITE | A_YOUNG;

	if (!asks_ahead())
		SKIP("this format asks for nothing ahead");
	EXPECT_EQ(asked_ahead(20, plain, FOLL_GET), ASKED, "all are plain");
	EXPECT_EQ(asked_ahead(20, A_YOUNG, FOLL_GET), ASKED, "one is read-only");
	EXPECT_EQ(asked_ahead(20, A_YOUNG, FOLL_GET | FOLL_WRITE), OTHER, "one may not be written");
	EXPECT_EQ(asked_ahead(20, plain | A_SPECIAL, FOLL_GET), OTHER, "one is special");
	EXPECT_EQ(asked_ahead(20, plain | A_DEVMAP, FOLL_GET), OTHER, "one is a device's");
	EXPECT_EQ(asked_ahead(20, A_PROTNONE, FOLL_GET), OTHER, "one is closed to everybody");
	EXPECT_EQ(asked_ahead(31, plain | A_SPECIAL, FOLL_GET), OTHER, "one behind is special");
}

TEST(nothing_behind_the_range_is_asked_for_ahead)
{
	const unsigned long plain = A_WRITE | A_YOUNG;

	if (!asks_ahead())
		SKIP("this format asks for nothing ahead");
	EXPECT_EQ(asked_of(2 * PTB_LINE, 20, plain, FOLL_GET), 0, "two lines");
	EXPECT_EQ(asked_of(3 * PTB_LINE - 1, 20, plain, FOLL_GET), 0, "not quite three");
	EXPECT_EQ(asked_of(3 * PTB_LINE, 20, plain, FOLL_GET), PTB_LINE, "three");
}

/* Its struct page is one for many entries, and asked for when it is needed. */
TEST(nothing_of_large_folios_is_asked_for_ahead)
{
	struct bed bed;

	bed_need(&bed, "o3@400 | o3@408 | o3@500 | o3@600", NULL);
	bed_gup(&bed, 0, SMALL, FOLL_GET, pages);
	EXPECT_EQ(raw_hooks.count[RAW_PREFETCH], 0, "pages asked for");
	bed_free(&bed);
}
