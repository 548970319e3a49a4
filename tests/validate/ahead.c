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

/* Small folios, the entry of one of them with other attributes. */
static u64 asked_ahead(unsigned int odd, unsigned long attrs, unsigned int gup)
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
	bed_gup(&bed, 0, SMALL, gup, pages);
	asked = raw_hooks.count[RAW_PREFETCH];
	bed_free(&bed);
	return asked;
}

TEST(only_pages_that_may_be_taken_are_asked_for_ahead)
{
	const unsigned long plain = A_WRITE | A_YOUNG;

	if (!asked_ahead(20, plain, FOLL_GET))
		SKIP("this format asks for nothing ahead");
	EXPECT_EQ(asked_ahead(20, plain, FOLL_GET), ASKED, "all are plain");
	EXPECT_EQ(asked_ahead(20, A_YOUNG, FOLL_GET), ASKED, "one is read-only");
	EXPECT_EQ(asked_ahead(20, A_YOUNG, FOLL_GET | FOLL_WRITE), OTHER, "one may not be written");
	EXPECT_EQ(asked_ahead(20, plain | A_SPECIAL, FOLL_GET), OTHER, "one is special");
	EXPECT_EQ(asked_ahead(20, plain | A_DEVMAP, FOLL_GET), OTHER, "one is a device's");
	EXPECT_EQ(asked_ahead(20, A_PROTNONE, FOLL_GET), OTHER, "one is closed to everybody");
	EXPECT_EQ(asked_ahead(31, plain | A_SPECIAL, FOLL_GET), OTHER, "one behind is special");
}
