// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Lines of 4 entries, as who explores small tables has them: they end where those of 8 do. */
#define PTB_LINE 4
#include "bed.h"

#define PAGES 16

TEST(lines_of_four_fill_their_pages_and_no_more)
{
	struct page *pages[PAGES + 1];
	unsigned int nr, i;
	struct bed bed;

	bed_need(&bed, "o4@100", NULL);
	for (nr = 1; nr <= PAGES; nr++) {
		memset(pages, 0, sizeof(pages));
		ptb_fill(pages, mem_page(0x100), nr);
		for (i = 0; i <= PAGES; i++)
			EXPECT(pages[i] == (i < nr ? mem_page(0x100 + i) : NULL),
			       "page %u of %u is not what it should be", i, nr);
	}
	bed_free(&bed);
}

TEST(lines_of_four_end_with_their_run)
{
	unsigned int max_nr, other;
	struct bed bed;

	for (other = 1; other < PAGES; other++) {
		bed_need(&bed, "o4@100 | o4@200", NULL);
		pte_set(bed_ptep(&bed, other), ptb_ptep_get(bed_ptep(&bed, PAGES), PTB_FOR_LOOK));
		for (max_nr = 1; max_nr <= PAGES; max_nr++) {
			ptb_pte_t pte = ptb_ptep_get(bed_ptep(&bed, 0), PTB_FOR_LOOK);
			unsigned int nr = ptb_scan_folio(bed_folio(0x100), NULL, bed_ptep(&bed, 0),
							 &pte, max_nr, PTB_FOR_LOOK);

			EXPECT(nr == (max_nr < other ? max_nr : other),
			       "run of %u entries, %u may be touched: %u", other, max_nr, nr);
		}
		bed_free(&bed);
	}
}
