// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a backend need not say, of a backend that says none of it: the entries of a format alone. */
#include "harness.h"

#include "mm.h"

#define PTB_BACKEND none
#include PTB_FMT_HEADER

#undef ptb_pte_hint
#undef ptb_pte_clear_soft_dirty
#undef ptb_line_same
#undef ptb_line_present
#include <ptebatch/defaults.h>

static const u64 raws[] = { 0, 1, 0x67, 0x8000000000000865, ~0ULL };

TEST(default_entries_have_no_hint_no_soft_dirty_and_no_lines)
{
	ptb_pte_t table[2 * PTB_LINE] = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(raws); i++) {
		ptb_pte_t pte = fmt_mk(raws[i]);

		table[0] = pte;
		EXPECT(ptb_pte_hint(table, pte) == 1, "0x%llx: vouches for others",
		       (unsigned long long)raws[i]);
		EXPECT(fmt_val(ptb_pte_clear_soft_dirty(pte)) == fmt_val(pte),
		       "0x%llx: cleaned of what the format does not have",
		       (unsigned long long)raws[i]);
		EXPECT(!ptb_line_same(table, pte, 0, PTB_FOR_LOOK), "0x%llx: a line agrees unseen",
		       (unsigned long long)raws[i]);
		EXPECT(!ptb_line_present(table), "0x%llx: a line is present unseen",
		       (unsigned long long)raws[i]);
	}
}

TEST(default_pages_follow_each_other_and_are_ordinary)
{
	struct folio folio = {};
	struct page pages[4] = {};
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(pages); n++)
		EXPECT(ptb_page_nth(pages, n) == pages + n, "page %u is elsewhere", n);
	EXPECT(!ptb_page_is_p2pdma(pages), "a page is of a PCI device");
	EXPECT(!ptb_folio_test_hugetlb(&folio), "a folio is hugetlb's");
	EXPECT(ptb_page_same_section(pages, pages + 1), "neighbours are of two sections");
	ptb_folio_stat_pins(&folio, 1);
	EXPECT(!folio.page.flags, "statistics changed the folio");
}
