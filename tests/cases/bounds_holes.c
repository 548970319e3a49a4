// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Case 1: frames without a machine frame, as a ballooned Xen PV guest has them. The entry that
 * would map one is all zero, and then equals an empty slot. Of a format that has no such frames the
 * advance is wrapped here before the library sees it.
 */
#define PTB_BACKEND user
#include "mm.h"
#include PTB_FMT_HEADER

#ifndef FMT_NONE
#define FMT_NONE 0ULL
#endif

static unsigned long hole_first, hole_nr;

static inline ptb_pte_t format_pte_advance(ptb_pte_t pte, unsigned int n)
{
	return ptb_pte_advance(pte, n);
}

static inline ptb_pte_t hole_pte_advance(ptb_pte_t pte, unsigned int n)
{
	if (ptb_pte_pfn(pte) + n - hole_first < hole_nr)
		return fmt_mk(FMT_NONE);
	return format_pte_advance(pte, n);
}
#undef ptb_pte_advance
#define ptb_pte_advance hole_pte_advance

#include "case.h"

/*
 * No frame from @first on is to have a machine frame. Where the format says so itself, as memory
 * that was never made a page is given back in a Xen PV guest, it is left alone.
 */
static void make_hole(unsigned long first)
{
	ptb_pte_t last = fmt_pte_mk(first - 1, A_WRITE | A_YOUNG);

	hole_nr = 0;
	hole_first = first;
	if (!ptb_pte_none(ptb_pte_advance(last, 1)))
		hole_nr = 16;
}

static void make_hole_at_104(struct bed *bed)
{
	(void)bed;
	make_hole(0x104);
}

/*
 * Also tried: every start in the folio, a folio of one page before the hole, an entry behind that
 * is not empty, the limit at and behind the folio's end, every use of the scan, and the scan that
 * knows no folio.
 */
TEST(case_01_nothing_behind_the_folio_is_compared)
{
	static const struct {
		const char *name, *layout;
		unsigned long hole;
		unsigned int slot, max, want;
	} rows[] = {
		{ "empty slot behind", "o2@100: 0-3 | none | o0@1da7", 0x104, 0, 20, 4 },
		{ "from the middle", "o2@100: 0-3 | none | o0@1da7", 0x104, 2, 20, 2 },
		{ "from the last page", "o2@100: 0-3 | none | o0@1da7", 0x104, 3, 20, 1 },
		{ "limit at the folio's end", "o2@100: 0-3 | none", 0x104, 0, 4, 4 },
		{ "limit before it", "o2@100: 0-3 | none", 0x104, 0, 3, 3 },
		{ "small folio", "o0@103 | none*4", 0x104, 0, 5, 1 },
		{ "many empty slots behind", "o3@108: 0-7 | none*8", 0x110, 0, 16, 8 },
		{ "another folio behind", "o2@100: 0-3 | o0@1da7", 0x104, 0, 5, 4 },
	};
	unsigned int use, nr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (use = 0; use < 4; use++) {
			struct case_reads reads;
			struct bed bed;
			ptb_pte_t pte;

			bed_need(&bed, rows[i].layout, NULL);
			make_hole(rows[i].hole);
			case_reads_start(&reads, bed_ptep(&bed, rows[i].slot));
			switch (use) {
			case 0:
				nr = case_scan(&bed, rows[i].slot, rows[i].max, PTB_FOR_LOOK, NULL);
				break;
			case 1:
				nr = case_scan(&bed, rows[i].slot, rows[i].max, PTB_FOR_SET, NULL);
				break;
			case 2:
				nr = case_scan(&bed, rows[i].slot, rows[i].max, PTB_FOR_GUP_FAST,
					       NULL);
				break;
			default:
				pte = ptb_ptep_get(bed_ptep(&bed, rows[i].slot), PTB_FOR_LOOK);
				nr = ptb_scan(bed_ptep(&bed, rows[i].slot), &pte, rows[i].hole,
					      rows[i].max, PTB_FOR_LOOK);
			}
			case_reads_stop();
			EXPECT(nr == rows[i].want, "%s: run of %u from page %u, expected %u",
			       rows[i].name, nr, rows[i].slot, rows[i].want);
			EXPECT(reads.high < (long)rows[i].want,
			       "%s: entry %ld behind the folio was read", rows[i].name, reads.high);
			bed_free(&bed);
			hole_nr = 0;
		}
}

TEST(case_01_gup_stops_before_the_empty_slot)
{
	EXPECT_EQ(bed_gup_both("o2@100: 0-3 | none | o0@1da7", NULL, make_hole_at_104, 0, 6,
			       FOLL_PIN),
		  4, "pages before an empty slot");
	EXPECT_EQ(bed_gup_both("o2@100: 0-3 | o0@1da7", NULL, make_hole_at_104, 0, 5, FOLL_PIN), 5,
		  "pages of two folios that are neighbours in the table alone");
}
