/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What begins or ends inside a line, at its end, or goes on over several. Lines are of PTB_LINE. */
#ifndef TESTS_VALIDATE_LINES_H
#define TESTS_VALIDATE_LINES_H

#include "bed.h"

#define LINES_PAGES 32

static void expect_filled(void)
{
	struct page *pages[LINES_PAGES + 1];
	unsigned int nr, i;
	struct bed bed;

	bed_need(&bed, "o5@100", NULL);
	for (nr = 1; nr <= LINES_PAGES; nr++) {
		memset(pages, 0, sizeof(pages));
		ptb_fill(pages, mem_page(0x100), nr);
		for (i = 0; i <= LINES_PAGES; i++)
			EXPECT(pages[i] == (i < nr ? mem_page(0x100 + i) : NULL),
			       "page %u of %u is not what it should be", i, nr);
	}
	bed_free(&bed);
}

/* Pages may be written behind the run, as lines are, but none behind what there is room for. */
static void expect_filled_as_scanned(ptb_pte_t *ptep, unsigned int max_nr, unsigned int want)
{
	ptb_pte_t pte = ptb_ptep_get(ptep, PTB_FOR_GUP_FAST);
	struct page *pages[3 * LINES_PAGES] = {};
	unsigned int i;

	EXPECT_EQ(__ptb_scan(NULL, ptep, &pte, max_nr, PTB_FOR_GUP_FAST, mem_page(0x100), pages,
			     true),
		  want, "entries whose pages are filled in");
	for (i = 0; i < want; i++)
		EXPECT(pages[i] == mem_page(0x100 + i), "page %u of %u is not what it should be", i,
		       want);
	for (i = max_nr; i < ARRAY_SIZE(pages); i++)
		EXPECT(!pages[i], "page %u is written, of %u that there is room for", i, max_nr);
}

/* A run that ends with the entry before @other, which maps another folio; all go on behind it. */
static void expect_run_before(unsigned int other)
{
	unsigned int max_nr;
	struct bed bed;

	bed_need(&bed, "o5@100 | o5@200", NULL);
	pte_set(bed_ptep(&bed, other), ptb_ptep_get(bed_ptep(&bed, LINES_PAGES), PTB_FOR_LOOK));
	for (max_nr = 1; max_nr <= LINES_PAGES; max_nr++) {
		unsigned int want = max_nr < other ? max_nr : other;
		ptb_pte_t *ptep = bed_ptep(&bed, 0), pte = ptb_ptep_get(ptep, PTB_FOR_LOOK);

		memset(raw_hooks.count, 0, sizeof(raw_hooks.count));
		EXPECT_EQ(ptb_scan_folio(bed_folio(0x100), NULL, ptep, &pte, max_nr, PTB_FOR_LOOK),
			  want, "entries of the folio");
		/* The neighbour twice, by itself and in its line. */
		EXPECT(want < max_nr || raw_hooks.count[RAW_PTE] <= max_nr + 1,
		       "%llu looks at %u entries", (unsigned long long)raw_hooks.count[RAW_PTE],
		       max_nr);
		EXPECT_EQ(ptb_scan(ptep, &pte, 0x100 + LINES_PAGES, max_nr, PTB_FOR_GUP_FAST), want,
			  "entries with the same rights");
		expect_filled_as_scanned(ptep, max_nr, want);
	}
	bed_free(&bed);
}

static void expect_runs(void)
{
	unsigned int other;

	for (other = 1; other < LINES_PAGES; other++)
		expect_run_before(other);
}

/* From a slot on, up to an empty one; never a look at what was not asked for. */
static void expect_present(unsigned int start, unsigned int empty)
{
	unsigned int max_nr, got, want;
	struct bed bed;

	bed_need(&bed, "o5@100", NULL);
	pte_set(bed_ptep(&bed, empty), fmt_mk(FMT_NONE));
	for (max_nr = 1; start + max_nr <= LINES_PAGES; max_nr++) {
		ptb_pte_t *ptep = bed_ptep(&bed, start), pte = ptb_ptep_get(ptep, PTB_FOR_LOOK);

		want = start + max_nr < empty ? max_nr : empty - start;
		memset(raw_hooks.count, 0, sizeof(raw_hooks.count));
		EXPECT_EQ(ptb_scan_present(ptep, pte, max_nr), want, "present entries");
		EXPECT(want < max_nr || raw_hooks.count[RAW_PTE] < max_nr,
		       "%llu looks at %u entries behind the first",
		       (unsigned long long)raw_hooks.count[RAW_PTE], max_nr - 1);
		memset(raw_hooks.count, 0, sizeof(raw_hooks.count));
		got = ptb_scan_whole(ptep, pte, max_nr);
		EXPECT(got == want || got == 1, "from %u, at most %u: %u entries, expected %u or 1",
		       start, max_nr, got, want);
		EXPECT(max_nr >= PTB_LINE || !raw_hooks.count[RAW_PTE],
		       "%llu looks for %u entries, less than a line",
		       (unsigned long long)raw_hooks.count[RAW_PTE], max_nr);
	}
	bed_free(&bed);
}

static void expect_present_runs(void)
{
	unsigned int start, empty;

	for (start = 0; start < LINES_PAGES - 1; start++)
		for (empty = start + 1; empty < LINES_PAGES; empty++)
			expect_present(start, empty);
}

/* In an array of its own, so that a look behind it is seen under sanitizers. */
static void expect_contiguous(struct page *const *all, unsigned int n, unsigned int want)
{
	struct page **pages = malloc(n * sizeof(*pages));

	memcpy(pages, all, n * sizeof(*pages));
	EXPECT_EQ(ptb_contig_pages(pages, n), want, "pages up to the odd one");
	EXPECT_EQ(ptb_contig_folio(pages, n), want, "pages of the folio up to the odd one");
	free(pages);
}

/* One page is not where it belongs, or is left out. */
static void expect_contiguous_before(unsigned int odd, struct page *instead)
{
	struct page *pages[LINES_PAGES];
	unsigned int n, i;

	for (i = 0; i < LINES_PAGES; i++)
		pages[i] = mem_page(0x100 + i + (!instead && i >= odd));
	if (instead)
		pages[odd] = instead;
	for (n = 1; n < LINES_PAGES; n++)
		expect_contiguous(pages, n, n < odd ? n : odd);
}

static void expect_contiguous_runs(void)
{
	struct bed bed;
	unsigned int odd;

	bed_need(&bed, "o6@100 | o0@200", NULL);
	for (odd = 1; odd < LINES_PAGES; odd++) {
		expect_contiguous_before(odd, NULL);
		expect_contiguous_before(odd, mem_page(0x100 + odd - 1));
		expect_contiguous_before(odd, mem_page(0x100 + odd + 1));
		expect_contiguous_before(odd, mem_page(0x200));
	}
	bed_free(&bed);
}

#endif
