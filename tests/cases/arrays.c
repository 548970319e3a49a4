// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Cases 40 to 43: pages[] is filled where it should be, read no further than it goes, and counted
 * in wide enough numbers.
 */
#include "case.h"

static struct page *pages[BED_PAGES];

/*
 * Also tried: table then leaf and leaf then table, three in a row, a start inside the first, a
 * single page.
 */
TEST(case_40_second_leaf_goes_behind_the_first)
{
	static const struct {
		const char *layout;
		unsigned long slot, nr, first, split, second;
	} rows[] = {
		{ "o$o@$0 pmd | o$o@$2 pmd", FMT_PTES - 8, 16, BED_FRAME(1) - 8, 8, BED_FRAME(2) },
		{ "o$o@$0 pmd | o$o@$2 pmd", 0, 2 * FMT_PTES, BED_FRAME(0), FMT_PTES,
		  BED_FRAME(2) },
		{ "o$o@$0 pmd | o$o@$2 pmd", FMT_PTES - 1, 2, BED_FRAME(1) - 1, 1, BED_FRAME(2) },
		{ "at $t-8 | o3@108 | o$o@$2 pmd", FMT_PTES - 8, 16, 0x108, 8, BED_FRAME(2) },
		{ "o$o@$0 pmd | o3@108", FMT_PTES - 8, 16, BED_FRAME(1) - 8, 8, 0x108 },
		{ "o$o@$0 pmd | at $t | o0@107 | o0@100", FMT_PTES - 1, 2, BED_FRAME(1) - 1, 1,
		  0x107 },
		{ "at $t-4 | o2@100 | o2@200", FMT_PTES - 4, 8, 0x100, 4, 0x200 },
	};
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN };
	unsigned long j;
	size_t i, g;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (g = 0; g < ARRAY_SIZE(gups); g++) {
			unsigned long nr;
			struct bed bed;

			if (!bed_make(&bed, rows[i].layout, NULL))
				continue;
			memset(pages, 0, sizeof(pages));
			nr = bed_gup(&bed, rows[i].slot, rows[i].nr, gups[g], pages);
			REQUIRE(nr == rows[i].nr, "%s: %lu pages", rows[i].layout, nr);
			for (j = 0; j < nr; j++) {
				unsigned long want = j < rows[i].split
							     ? rows[i].first + j
							     : rows[i].second + (j - rows[i].split);

				if (mem_pfn(pages[j]) != want) {
					EXPECT(false, "%s: page %lu is 0x%lx, expected 0x%lx",
					       rows[i].layout, j, mem_pfn(pages[j]), want);
					break;
				}
			}
			EXPECT(!pages[nr], "%s: wrote behind pages[%lu]", rows[i].layout, nr);
			user_unpin_pages(pages, nr, gups[g]);
			case_untouched(&bed, rows[i].layout);
			bed_free(&bed);
		}
}

/*
 * The library takes no arrays with holes; who has one looks for the next page and gives runs back
 * by contig and put, as here. A hole must end a run without being looked into. Also tried: holes
 * first, last and all over; a get.
 */
TEST(case_41_hole_in_the_array_ends_a_run)
{
	static const struct {
		const char *name;
		long page[5]; /* -1: hole */
	} rows[] = {
		{ "A0 - A1 - B0", { 0x100, -1, 0x101, -1, 0x104 } },
		{ "- - A0 A1 B0", { -1, -1, 0x100, 0x101, 0x104 } },
		{ "A0 A1 A2 - -", { 0x100, 0x101, 0x102, -1, -1 } },
		{ "holes alone", { -1, -1, -1, -1, -1 } },
		{ "A0 A1 - A3 B0", { 0x100, 0x101, -1, 0x103, 0x104 } },
	};
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN };
	size_t i, g, j, run;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (g = 0; g < ARRAY_SIZE(gups); g++) {
			struct bed bed;

			bed_need(&bed, "o2@100 | o2@104", NULL);
			for (j = 0; j < 5; j++) {
				pages[j] = rows[i].page[j] < 0 ? NULL : mem_page(rows[i].page[j]);
				if (pages[j])
					ptb_grab_more(bed_folio(rows[i].page[j]), 1, gups[g]);
			}
			for (j = 0; j < 5; j += run) {
				run = 1;
				if (!pages[j])
					continue;
				EXPECT(ptb_contig_pages(pages + j, 5 - j) <= 5 - j,
				       "%s: left the array", rows[i].name);
				run = ptb_contig_folio(pages + j, 5 - j);
				ptb_put(mem_page_folio(pages[j]), run, gups[g]);
			}
			case_untouched(&bed, rows[i].name);
			bed_free(&bed);
		}
}

/*
 * Folios in pages[0 .. n) that may not be pinned for long, as collecting them for migration walks
 * the array.
 */
static unsigned int count_unpinnable(size_t n)
{
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < n; i += ptb_contig_folio(pages + i, n - i))
		if (!ptb_folio_longterm_pinnable(mem_page_folio(pages[i])))
			nr++;
	return nr;
}

/*
 * Also tried: the part in the middle, skipped and repeated pages, the unpinnable folio first,
 * large, and twice.
 */
TEST(case_42_step_is_what_the_array_holds_of_a_folio)
{
	static const struct {
		const char *name;
		unsigned int n, want, first;
		unsigned long page[6];
	} rows[] = {
		{ "A0 A1 C", 3, 1, 2, { 0x108, 0x109, 0x200 } },
		{ "A3 A4 C", 3, 1, 2, { 0x10b, 0x10c, 0x200 } },
		{ "A7 C A0", 3, 1, 1, { 0x10f, 0x200, 0x108 } },
		{ "A0 C A1 C", 4, 2, 1, { 0x108, 0x200, 0x109, 0x200 } },
		{ "C A0 A1", 3, 1, 1, { 0x200, 0x108, 0x109 } },
		{ "A0 A2 A4 C", 4, 1, 1, { 0x108, 0x10a, 0x10c, 0x200 } },
		{ "A0 A0 C", 3, 1, 1, { 0x108, 0x108, 0x200 } },
		{ "A1 A0 C", 3, 1, 1, { 0x109, 0x108, 0x200 } },
		{ "A0 A1 D1 D2 C", 5, 2, 2, { 0x108, 0x109, 0x301, 0x302, 0x200 } },
		{ "A0 A1", 2, 0, 2, { 0x108, 0x109 } },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bed bed;
		struct vfio_dma dma = { .mm = &bed.mm };
		struct vfio_batch batch = { .pages = pages, .capacity = 6, .size = rows[i].n };

		bed_need(&bed, "o3@108 | o0@200 cma | o2@300 cma", NULL);
		for (j = 0; j < rows[i].n; j++) {
			pages[j] = mem_page(rows[i].page[j]);
			ptb_grab_more(bed_folio(rows[i].page[j]), 1, FOLL_PIN);
		}
		EXPECT(ptb_contig_folio(pages, rows[i].n) == rows[i].first, "%s: first step of %zu",
		       rows[i].name, ptb_contig_folio(pages, rows[i].n));
		EXPECT(count_unpinnable(rows[i].n) == rows[i].want,
		       "%s: %u folios found to migrate", rows[i].name, count_unpinnable(rows[i].n));
		ptb_vfio_batch_unpin(&batch, &dma);
		EXPECT(!batch.size, "%s: %d pages left in the batch", rows[i].name, batch.size);
		case_untouched(&bed, rows[i].name);
		bed_free(&bed);
	}
}

#define WIDE(expr) _Static_assert(sizeof(expr) == 8, "counts across ranges have 64 bits: " #expr)

WIDE(ptb_vpfn_count(NULL, 0, 0));
WIDE(ptb_vpfn_charge(NULL, 0, 0, 0, 0, false));

/* Of what an address space or an array holds: as many bits as an address. */
#define LONG(expr) _Static_assert(sizeof(expr) == sizeof(long), "an unsigned int folds: " #expr)

LONG(ptb_vfio_pin(NULL, 0, 0, NULL, 0, NULL));
LONG(ptb_vfio_unpin(NULL, 0, 0, 0, false));
LONG(ptb_contig_pages(NULL, 0));
LONG(ptb_contig_folio(NULL, 0));
LONG(ptb_contig_pfns(NULL, 0));

#define MANY ((s64)(1ULL << 31) + 5)
#define FAR_PFN (ULONG_MAX / 16 + 1)

static unsigned long engine_most;

/* Frames without struct pages, as many as are asked for: constant time. */
static long frames_engine(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
			  unsigned long *pfn, struct vfio_batch *batch)
{
	(void)batch;
	*pfn = FAR_PFN + ((vaddr - dma->vaddr) >> PTB_PAGE_SHIFT);
	return npage < engine_most ? npage : engine_most;
}

/* Also tried: in one piece, in pieces of 2^20, in uneven ones; from a count above 2^31 on. */
TEST(case_43_counts_of_pages_have_64_bits)
{
	static const unsigned long most[] = { ULONG_MAX, 1UL << 20, (1UL << 31) - 1, 3000001 };
	struct vfio_batch batch = { .pages = pages, .capacity = 512 };
	ptb_vpfn_root_t none = {};
	unsigned long pfn;
	struct bed bed;
	size_t i;

	if (sizeof(long) < 8)
		SKIP("no address space here has so many pages");
	bed_need(&bed, "none", NULL);
	for (i = 0; i < ARRAY_SIZE(most); i++) {
		struct vfio_dma dma = { .vaddr = 1UL << 20,
					.mm = &bed.mm,
					.engine = frames_engine };

		engine_most = most[i];
		EXPECT_EQ(ptb_vfio_pin(&dma, dma.vaddr, MANY, &pfn, 0, &batch), MANY,
			  "frames of a range of 8 TiB");
		EXPECT_EQ(pfn, FAR_PFN, "first frame");
		EXPECT_EQ(ptb_vfio_pin(&dma, dma.vaddr + (MANY << PTB_PAGE_SHIFT), 3, &pfn, 0,
				       &batch),
			  3, "frames behind it");
		EXPECT_EQ(pfn, FAR_PFN + MANY, "first frame behind it");
		EXPECT_EQ(bed.mm.locked_vm, 0, "pages charged for frames that are not memory");
	}
	bed_free(&bed);

	EXPECT_EQ(ptb_vpfn_charge(&none, 0, MANY, 0, MANY, false), MANY, "pages to charge");
	EXPECT_EQ(ptb_vpfn_charge(&none, 0, MANY, 0, MANY - 1, false), -ENOMEM,
		  "one above the limit");
	EXPECT_EQ(ptb_vpfn_charge(&none, 0, 1UL << 20, MANY, MANY + (1 << 20), false), 1 << 20,
		  "pages to charge upon many");
	EXPECT_EQ(ptb_max_nr(0, ~(ULONG_MAX >> 1)), FMT_PTES,
		  "entries left in the table of a huge range");
}

/*
 * Frames beyond 2^32 bytes of iova, where a shift in 32 bits would fold. Also tried: below, at and
 * behind the fold.
 */
TEST(case_43_addresses_of_far_pages_do_not_fold)
{
	ptb_vpfn_root_t root = {};
	u64 far = (u64)MANY << PTB_PAGE_SHIFT;

	vpfn_add(&root, far);
	EXPECT_EQ(ptb_vpfn_count(&root, 0, far - 1), 0, "pages of others before");
	EXPECT_EQ(ptb_vpfn_count(&root, 0, far), 1, "pages of others up to it");
	EXPECT_EQ(ptb_vpfn_charge(&root, 0, MANY, 0, -1UL, false), MANY,
		  "pages to charge before it");
	EXPECT_EQ(ptb_vpfn_charge(&root, 0, MANY + 1, 0, -1UL, false), MANY,
		  "pages to charge with it");
	EXPECT_EQ(ptb_vpfn_charge(&root, 1ULL << 32, 1 << 20, 0, -1UL, false), 1 << 20,
		  "pages to charge elsewhere");
	vpfn_clear(&root);
}
