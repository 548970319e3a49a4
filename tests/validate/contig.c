// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Runs in arrays of pages: pattern of frames -> length of the run at its head. */
#include "bed.h"

#define ROW_MAX 18

/*
 * One folio of 16 pages at 0x10, 4 at 0x20, four small ones at 0x24, 4 pages at 0x28. Sections,
 * where there are some, have 4 frames, and the last one's pages come first in memory: behind the
 * last page of a section in memory is the first page of the section before it.
 */
static void make_pages(struct bed *bed, const struct build_opts *opts)
{
	unsigned long pfn;

	bed_need(bed, "none", opts);
	mem_folio(0x10, 4, FOLIO_ANON);
	mem_folio(0x20, 2, FOLIO_ANON);
	for (pfn = 0x24; pfn < 0x28; pfn++)
		mem_folio(pfn, 0, FOLIO_FILE);
	mem_folio(0x28, 2, FOLIO_FILE);
}

static const struct build_opts flat = { .nr_pages = 1024 };
static const struct build_opts scattered = { .nr_pages = 1024,
					     .section_pages = 4,
					     .no_vmemmap = true };

static const struct {
	const char *name;
	unsigned long pfns[ROW_MAX]; /* to the first 0 */
	unsigned int pages, in_sections, folio, frames;
} rows[] = {
	{ "one", { 0x15 }, 1, 1, 1, 1 },
	{ "in a section", { 0x10, 0x11, 0x12, 0x13 }, 4, 4, 4, 4 },
	{ "across sections", { 0x12, 0x13, 0x14, 0x15 }, 4, 2, 4, 4 },
	{ "a whole folio",
	  { 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d,
	    0x1e, 0x1f },
	  16,
	  4,
	  16,
	  16 },
	{ "into the next folio", { 0x1e, 0x1f, 0x20, 0x21 }, 4, 2, 2, 4 },
	{ "out of a folio into small ones", { 0x22, 0x23, 0x24, 0x25 }, 4, 2, 2, 4 },
	{ "small folios", { 0x24, 0x25, 0x26, 0x27 }, 4, 4, 1, 4 },
	{ "small folios into a large one", { 0x26, 0x27, 0x28, 0x29 }, 4, 2, 1, 4 },
	{ "a gap at once", { 0x10, 0x12, 0x13 }, 1, 1, 1, 1 },
	{ "a gap", { 0x10, 0x11, 0x13 }, 2, 2, 2, 2 },
	{ "a gap to another folio", { 0x10, 0x11, 0x20, 0x21 }, 2, 2, 2, 2 },
	{ "repeated", { 0x10, 0x10, 0x11 }, 1, 1, 1, 1 },
	{ "repeated further on", { 0x10, 0x11, 0x11, 0x12 }, 2, 2, 2, 2 },
	{ "backwards", { 0x11, 0x10 }, 1, 1, 1, 1 },
	{ "back to the start of the folio", { 0x13, 0x10, 0x11 }, 1, 1, 1, 1 },
	{ "from its end to its start", { 0x1f, 0x10 }, 1, 1, 1, 1 },
	{ "two in turn", { 0x10, 0x20, 0x11, 0x21 }, 1, 1, 1, 1 },
	{ "and again", { 0x10, 0x11, 0x12, 0x11, 0x12 }, 3, 3, 3, 3 },
	/* Neighbours in memory where sections are scattered, and far apart as frames. */
	{ "end of a section, start of the one before", { 0x16, 0x17, 0x10, 0x11 }, 2, 2, 2, 2 },
	{ "the same between folios", { 0x2b, 0x24, 0x25 }, 1, 1, 1, 1 },
	{ "one page of a folio copied", { 0x10, 0x11, 0x24, 0x13 }, 2, 2, 2, 2 },
};

static void expect_run(const char *name, const char *what, size_t got, unsigned int want)
{
	EXPECT(got == want, "%s: %zu %s, expected %u", name, got, what, want);
}

static void check_rows(const struct build_opts *opts)
{
	struct page *pages[ROW_MAX];
	struct bed bed;
	size_t i, n, m;

	make_pages(&bed, opts);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (n = 0; n < ROW_MAX && rows[i].pfns[n]; n++)
			pages[n] = mem_page(rows[i].pfns[n]);
		/* Whatever part of the array is asked about. */
		for (m = 1; m <= n; m++) {
			unsigned int want = opts->no_vmemmap ? rows[i].in_sections : rows[i].pages;

			expect_run(rows[i].name, "contiguous pages", ptb_contig_pages(pages, m),
				   want < m ? want : m);
			expect_run(rows[i].name, "pages of the folio", ptb_contig_folio(pages, m),
				   rows[i].folio < m ? rows[i].folio : m);
			expect_run(rows[i].name, "frames", ptb_contig_pfns(rows[i].pfns, m),
				   rows[i].frames < m ? rows[i].frames : m);
		}
	}
	bed_free(&bed);
}

TEST(runs_of_pages_in_a_virtual_memory_map)
{
	check_rows(&flat);
}

TEST(runs_of_pages_in_scattered_sections)
{
	check_rows(&scattered);
}

/*
 * With sections placed in order, neighbours in memory are neighbours as frames; a run may still end
 * with the section.
 */
TEST(runs_end_with_the_section_wherever_it_lies)
{
	unsigned int slot[512], first = 0x10 / 4, i;
	const struct build_opts opts = {
		.nr_pages = 1024, .section_pages = 4, .no_vmemmap = true, .slot = slot
	};
	struct page *pages[16];
	struct bed bed;

	for (i = 0; i < ARRAY_SIZE(slot); i++)
		slot[i] = i;
	/* Two sections of the folio change places. */
	slot[first + 1] = first + 2;
	slot[first + 2] = first + 1;
	make_pages(&bed, &opts);
	for (i = 0; i < ARRAY_SIZE(pages); i++)
		pages[i] = mem_page(0x10 + i);
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		unsigned int got = ptb_contig_pages(pages + i, ARRAY_SIZE(pages) - i);

		EXPECT(got == 4 - i % 4, "%u pages from %u, %u are left in the section", got, i,
		       4 - i % 4);
		EXPECT_EQ(ptb_contig_folio(pages + i, ARRAY_SIZE(pages) - i), ARRAY_SIZE(pages) - i,
			  "pages of the folio");
	}
	bed_free(&bed);
}

/* Two sections of a folio have changed places: behind the first in memory is the third. */
TEST(what_lies_behind_a_section_is_not_what_follows_it)
{
	enum { ORDER = 10, NR = 1 << ORDER, SECTION = 64, FIRST = NR / SECTION };
	unsigned int slot[4 * NR / SECTION];
	const struct build_opts opts = {
		.nr_pages = 4 * NR, .section_pages = SECTION, .no_vmemmap = true, .slot = slot
	};
	struct page *pages[2 * PTB_LINE];
	struct bed bed;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(slot); i++)
		slot[i] = i;
	slot[FIRST + 1] = FIRST + 2;
	slot[FIRST + 2] = FIRST + 1;
	bed_need(&bed, "none", &opts);
	mem_folio(NR, ORDER, FOLIO_HUGETLB);
	pages[0] = mem_page(NR + SECTION - 1);
	for (i = 1; i < ARRAY_SIZE(pages); i++)
		pages[i] = mem_page(NR + 2 * SECTION + i - 1);
	EXPECT(pages[1] == pages[0] + 1, "the third section is elsewhere");
	EXPECT_EQ(ptb_contig_pages(pages, ARRAY_SIZE(pages)), 1, "pages");
	EXPECT_EQ(ptb_contig_folio(pages, ARRAY_SIZE(pages)), 1, "pages of the folio");
	bed_free(&bed);
}

/* A folio may be larger than a section: its pages are one run nevertheless, from any of them. */
TEST(a_gigantic_folio_is_one_run_across_sections)
{
	enum { ORDER = 10, NR = 1 << ORDER };
	/* In order: behind a section's last page in memory is the next one's first. */
	unsigned int slot[4 * NR / 64];
	const struct build_opts opts = {
		.nr_pages = 4 * NR, .section_pages = 64, .no_vmemmap = true, .slot = slot
	};
	static struct page *pages[NR + 1];
	struct bed bed;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(slot); i++)
		slot[i] = i;
	bed_need(&bed, "none", &opts);
	mem_folio(NR, ORDER, FOLIO_HUGETLB);
	mem_folio(2 * NR, ORDER, FOLIO_HUGETLB);
	for (i = 0; i <= NR; i++)
		pages[i] = mem_page(NR + i);
	for (i = 0; i < NR; i += 37) {
		EXPECT_EQ(ptb_contig_folio(pages + i, NR + 1 - i), NR - i,
			  "pages to the folio's end");
		EXPECT_EQ(ptb_contig_pages(pages + i, NR + 1 - i), 64 - i % 64,
			  "pages to the section's end");
	}
	/* and one page in its far end is not where it belongs */
	pages[NR - 3] = mem_page(2 * NR);
	EXPECT_EQ(ptb_contig_folio(pages, NR), NR - 3, "pages to the stranger");
	bed_free(&bed);
}

TEST(runs_of_frames_need_no_pages)
{
	static const struct {
		unsigned long pfns[6];
		size_t n, want;
	} pfn_rows[] = {
		{ { 5, 6, 7, 8, 9, 10 }, 6, 6 },
		{ { 5, 6, 7, 8, 9, 10 }, 3, 3 },
		{ { 5, 6, 8, 9 }, 4, 2 },
		{ { 5, 5, 5 }, 3, 1 },
		{ { 5, 4, 3 }, 3, 1 },
		{ { 5, 6, 5, 6 }, 4, 2 },
		{ { 0xfee00000, 0xfee00001, 0xfee00002 }, 3, 3 },
#if __SIZEOF_LONG__ == 8
		{ { 0xffffffff, 0x100000000, 0x100000001 }, 3, 3 },
#endif
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pfn_rows); i++)
		EXPECT_EQ(ptb_contig_pfns(pfn_rows[i].pfns, pfn_rows[i].n), pfn_rows[i].want,
			  "frames");
}
