// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases 52 to 60: what an array of pages says about memory, and what it does not. */
#include "case.h"

static struct page *pages[BED_PAGES];

static size_t list(const long *pfns)
{
	size_t n;

	for (n = 0; pfns[n] >= 0; n++)
		pages[n] = mem_page(pfns[n]);
	return n;
}

/*
 * Sections of 4 pages whose struct pages lie in order, except that sections 1 and 25 have changed
 * places.
 */
static const struct build_opts *swapped_sections(void)
{
	static unsigned int slot[512];
	static struct build_opts opts = { .section_pages = 4, .no_vmemmap = true, .slot = slot };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(slot); i++)
		slot[i] = i == 1 ? 25 : i == 25 ? 1 : i;
	return &opts;
}

/*
 * Also tried: the other way round, inside a section, several sections in order, one page, and with
 * a virtual memory map.
 */
TEST(case_52_neighbours_in_the_memory_map_need_not_be_neighbours_in_memory)
{
	static const struct {
		const char *name;
		long pfns[8];
		size_t want;
	} rows[] = {
		{ "struct of 100 behind that of 3", { 2, 3, 100, -1 }, 2 },
		{ "it alone", { 3, 100, -1 }, 1 },
		{ "section 1 is elsewhere", { 3, 4, -1 }, 1 },
		{ "up to there", { 0, 1, 2, 3, 4, 5, -1 }, 4 },
		{ "inside section 1", { 4, 5, 6, -1 }, 3 },
		{ "struct of 8 behind that of 103", { 102, 103, 8, -1 }, 2 },
		{ "backwards", { 3, 2, -1 }, 1 },
		{ "one", { 100, -1 }, 1 },
	};
	struct bed bed;
	size_t i, n;

	bed_need(&bed, "o0@2 | o0@3 | o0@64", swapped_sections());
	for (i = 0; i < 256; i++)
		mem_folio(i, 0, FOLIO_ANON);
	EXPECT(mem_page(100) == mem_page(3) + 1, "the test's own memory map is not as it says");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		n = list(rows[i].pfns);
		EXPECT(ptb_contig_pages(pages, n) == rows[i].want, "%s: run of %zu, expected %zu",
		       rows[i].name, ptb_contig_pages(pages, n), rows[i].want);
	}
	bed_free(&bed);

	bed_need(&bed, "o0@2 | o0@3 | o0@64", NULL);
	n = list((const long[]){ 2, 3, 4, 5, -1 });
	EXPECT_EQ(ptb_contig_pages(pages, n), 4, "pages, the memory map being virtual");
	n = list((const long[]){ 2, 3, 100, -1 });
	EXPECT_EQ(ptb_contig_pages(pages, n), 2, "pages, the memory map being virtual");
	bed_free(&bed);
}

/* The caller joins runs by frame numbers. Also tried: a folio over both sections, small batches. */
TEST(case_52_runs_split_by_sections_are_joined_by_frames)
{
	static const struct {
		const char *layout;
		unsigned int capacity, nr;
		u8 runs[3];
	} rows[] = {
		{ "o0@2 | o0@3 | o0@64", 0, 3, { 2, 1 } },
		{ "o0@3 | o0@4", 0, 2, { 2 } },
		{ "o0@2 | o0@3 | o0@4 | o0@5", 0, 4, { 4 } },
		{ "o0@2 | o0@3 | o0@4 | o0@5", 1, 4, { 4 } },
		{ "o3@0 | o0@64", 0, 9, { 8, 1 } },
		{ "o3@0 | o0@64", 3, 9, { 8, 1 } },
		{ "o0@66 | o0@67 | o3@8", 0, 10, { 2, 8 } },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vfio_case c = { .nr = rows[i].nr,
				       .limit = 16,
				       .capacity = rows[i].capacity };
		static struct outcome o;

		EXPECT_EQ(bed_vfio_both(rows[i].layout, swapped_sections(), NULL, &c, &o),
			  rows[i].nr, rows[i].layout);
		for (j = 0; j < 3; j++)
			EXPECT(o.vec[j] == rows[i].runs[j], "%s: run %zu of %u frames, expected %u",
			       rows[i].layout, j, o.vec[j], rows[i].runs[j]);
	}
}

/*
 * Every section's struct pages lie in front of those of the section before. Also tried: every
 * start, a leaf, a get.
 */
TEST(case_53_pages_of_a_folio_are_looked_up_across_sections)
{
	static const struct build_opts opts = { .section_pages = 4, .no_vmemmap = true };
	static const struct {
		const char *layout;
		unsigned long pfn, slot, nr;
	} rows[] = {
		{ "o3@108", 0x108, 2, 6 },    { "o3@108", 0x108, 0, 8 },
		{ "o3@108", 0x108, 3, 2 },    { "o3@108", 0x108, 7, 1 },
		{ "o6@140", 0x140, 1, 63 },   { "o$o@$0" LEAF, BED_FRAME(0), 3, FMT_PTES - 4 },
		{ "o3@108 ro", 0x108, 2, 6 },
	};
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN };
	unsigned long j;
	size_t i, g;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (g = 0; g < ARRAY_SIZE(gups); g++) {
			struct bed bed;
			struct vfio_dma dma = { .mm = &bed.mm };
			unsigned long nr;

			EXPECT_EQ(bed_gup_both(rows[i].layout, &opts, NULL, rows[i].slot,
					       rows[i].nr, gups[g]),
				  rows[i].nr, rows[i].layout);
			bed_need(&bed, rows[i].layout, &opts);
			nr = bed_gup(&bed, rows[i].slot, rows[i].nr, gups[g], pages);
			for (j = 0; j < nr; j++)
				EXPECT(pages[j] == mem_page(rows[i].pfn + rows[i].slot + j),
				       "%s: page %lu is 0x%lx", rows[i].layout, j,
				       mem_pfn(pages[j]));
			EXPECT_EQ(ptb_contig_folio(pages, nr), nr,
				  "pages of the folio in the array");
			if (gups[g] == FOLL_PIN)
				ptb_vfio_unpin_pfns(&dma, rows[i].pfn + rows[i].slot, nr);
			else
				user_unpin_pages(pages, nr, gups[g]);
			case_untouched(&bed, rows[i].layout);
			bed_free(&bed);
		}
}

/*
 * Also tried: the candidate in front of the run, equal to its end, one too far, and as a folio's
 * page.
 */
TEST(case_55_run_goes_on_where_it_ended)
{
	static const struct {
		long pfns[5];
		size_t want;
	} rows[] = {
		{ { 10, 11, 12, 13, -1 }, 4 }, { { 10, 11, 12, 11, -1 }, 3 },
		{ { 10, 11, 12, 12, -1 }, 3 }, { { 10, 11, 12, 9, -1 }, 3 },
		{ { 10, 11, 12, 14, -1 }, 3 }, { { 10, 11, 12, 10, -1 }, 3 },
		{ { 10, 12, 13, 14, -1 }, 1 }, { { 0, 1, 2, 3, -1 }, 4 },
	};
	struct bed bed;
	size_t i, n;

	bed_need(&bed, "o4@0 | o0@20", NULL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		n = list(rows[i].pfns);
		EXPECT(ptb_contig_pages(pages, n) == rows[i].want, "row %zu: run of %zu pages", i,
		       ptb_contig_pages(pages, n));
		EXPECT(ptb_contig_folio(pages, n) == rows[i].want,
		       "row %zu: run of %zu in the folio", i, ptb_contig_folio(pages, n));
		EXPECT(ptb_contig_pfns((const unsigned long *)rows[i].pfns, n) == rows[i].want,
		       "row %zu: run of %zu frames", i,
		       ptb_contig_pfns((const unsigned long *)rows[i].pfns, n));
	}
	bed_free(&bed);
}

/* The same for a run over two calls of VFIO's engine. Also tried: a batch of one. */
TEST(case_55_second_batch_is_compared_with_the_end_of_the_run)
{
	static const struct {
		const char *layout;
		unsigned int capacity;
		u8 runs[3];
	} rows[] = {
		{ "o4@0: 10-12, 13", 3, { 4 } },    { "o4@0: 10-12, 11", 3, { 3, 1 } },
		{ "o4@0: 10-12, 13", 1, { 4 } },    { "o4@0: 10-12, 11", 1, { 3, 1 } },
		{ "o4@0: 10-12, 10", 2, { 3, 1 } },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vfio_case c = { .nr = 4, .limit = 4, .capacity = rows[i].capacity };
		static struct outcome o;

		EXPECT_EQ(bed_vfio_both(rows[i].layout, NULL, NULL, &c, &o), 4, rows[i].layout);
		for (j = 0; j < 3; j++)
			EXPECT(o.vec[j] == rows[i].runs[j], "%s: run %zu of %u frames, expected %u",
			       rows[i].layout, j, o.vec[j], rows[i].runs[j]);
	}
}

/*
 * Io_uring's question, asked of contig. Also tried: folios that follow each other in memory, a
 * folio's head behind a part.
 */
TEST(case_57_later_folio_need_not_start_at_its_head)
{
	static const struct {
		const char *name;
		long pfns[8];
		size_t folio, memory, second; /* second: in the next run's folio */
	} rows[] = {
		{ "A1 A2 B1 B2", { 0x101, 0x102, 0x201, 0x202, -1 }, 2, 2, 2 },
		{ "A1 A2 A3 B0", { 0x101, 0x102, 0x103, 0x104, -1 }, 3, 4, 1 },
		{ "A2 A3 B0 B1", { 0x102, 0x103, 0x104, 0x105, -1 }, 2, 4, 2 },
		{ "A0..A3 B1 B2", { 0x100, 0x101, 0x102, 0x103, 0x105, 0x106, -1 }, 4, 4, 2 },
		{ "A3 B0..B3", { 0x103, 0x104, 0x105, 0x106, 0x107, -1 }, 1, 5, 4 },
	};
	struct bed bed;
	size_t i, n, nr;

	bed_need(&bed, "o2@100 | o2@104 | o2@200", NULL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		n = list(rows[i].pfns);
		nr = ptb_contig_folio(pages, n);
		EXPECT(nr == rows[i].folio, "%s: %zu pages of the first folio", rows[i].name, nr);
		EXPECT(ptb_contig_pages(pages, n) == rows[i].memory, "%s: %zu pages contiguous",
		       rows[i].name, ptb_contig_pages(pages, n));
		nr = ptb_contig_folio(pages + nr, n - nr);
		EXPECT(nr == rows[i].second, "%s: %zu pages of the second folio", rows[i].name, nr);
	}
	list(rows[0].pfns);
	EXPECT_EQ(ptb_page_pfn(pages[0]) - ptb_page_pfn(&ptb_page_folio(pages[0])->page), 1,
		  "first page, counted from its folio's head");
	bed_free(&bed);
}

/* As vmap wants it: the order of what may be mapped as one block from pages[0] on. */
static unsigned int block_order(size_t n)
{
	struct folio *folio = ptb_page_folio(pages[0]);

	return ptb_contig_folio(pages, n) == ptb_folio_nr_pages(folio) ? mem_folio_order(folio) : 0;
}

/* Also tried: the array ending inside the folio, a head that comes second, two whole folios. */
TEST(case_59_whole_folio_needs_its_head_and_all_its_pages)
{
	static const struct {
		const char *name;
		long pfns[10];
		unsigned int want;
	} rows[] = {
		{ "A2 A3", { 0x102, 0x103, -1 }, 0 },
		{ "A2 A3 B0 B1", { 0x102, 0x103, 0x104, 0x105, -1 }, 0 },
		{ "A0..A3", { 0x100, 0x101, 0x102, 0x103, -1 }, 2 },
		{ "A0 A1 A3 A2", { 0x100, 0x101, 0x103, 0x102, -1 }, 0 },
		{ "A0 A1 A2", { 0x100, 0x101, 0x102, -1 }, 0 },
		{ "A1 A0 A2 A3", { 0x101, 0x100, 0x102, 0x103, -1 }, 0 },
		{ "A0..A3 B0", { 0x100, 0x101, 0x102, 0x103, 0x104, -1 }, 2 },
		{ "A0", { 0x100, -1 }, 0 },
		{ "A0 A1 A1 A3", { 0x100, 0x101, 0x101, 0x103, -1 }, 0 },
	};
	struct bed bed;
	size_t i, n;

	bed_need(&bed, "o2@100 | o2@104", NULL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		n = list(rows[i].pfns);
		EXPECT(block_order(n) == rows[i].want, "%s: block of order %u, expected %u",
		       rows[i].name, block_order(n), rows[i].want);
	}
	bed_free(&bed);
}

/*
 * The address is a multiple of 16 pages, the frame is not. Also tried: the other way round, a batch
 * that ends first.
 */
TEST(case_60_rest_of_a_folio_is_counted_from_the_page_in_it)
{
	static const struct {
		const char *layout;
		unsigned long slot;
		size_t batch, want;
	} rows[] = {
		{ "o4@200: 5-15 | o4@300: 0-4", 0, 16, 11 },
		{ "o4@200: 5-15 | o4@210: 0-4", 0, 16, 11 },
		{ "at 5 | o4@200: 0-15", 5, 16, 16 },
		{ "at 5 | o4@200: 0-15", 6, 8, 8 },
		{ "o4@200: 15 | o4@300: 0-14", 0, 16, 1 },
		{ "o4@200: 5-9 | o4@300: 0-10", 0, 16, 5 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vfio_case c = {
			.slot = rows[i].slot, .nr = rows[i].batch, .limit = 16, .capacity = 16
		};
		struct bed bed;
		size_t nr;

		bed_need(&bed, rows[i].layout, NULL);
		nr = bed_gup(&bed, rows[i].slot, rows[i].batch, FOLL_PIN, pages);
		EXPECT(nr == rows[i].batch, "%s: %zu pages", rows[i].layout, nr);
		EXPECT(ptb_contig_folio(pages, nr) == rows[i].want,
		       "%s: %zu pages left in the folio", rows[i].layout,
		       ptb_contig_folio(pages, nr));
		user_unpin_pages(pages, nr, FOLL_PIN);
		case_untouched(&bed, rows[i].layout);
		bed_free(&bed);
		EXPECT_EQ(bed_vfio_both(rows[i].layout, NULL, NULL, &c, NULL), rows[i].batch,
			  rows[i].layout);
	}
}
