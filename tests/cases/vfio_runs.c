// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases 73 to 78: pages carried from one call to the next, and frames of different kinds. */
#include "case.h"

static struct page *pages[BED_PAGES];

static void pfnmap(struct bed *bed)
{
	bed->mm.vmas[0].vm_flags |= VM_PFNMAP;
	/* Where the vma says it begins: not where it does. */
	bed->mm.vmas[0].vm_pgoff = 0x9000;
}

/*
 * One pin call from @slot: what it must return, first frame and length, and what it must leave in
 * the batch.
 */
static void expect_pin(struct bed *bed, struct vfio_dma *dma, struct vfio_batch *batch,
		       unsigned long slot, long npage, unsigned long want_pfn, long want, int left)
{
	unsigned long pfn = 0;
	long got = ptb_vfio_pin(dma, bed_addr(bed, slot), npage, &pfn, ULONG_MAX, batch);

	EXPECT(got == want && (got <= 0 || pfn == want_pfn),
	       "%ld pages from %lu: frames 0x%lx, %ld of them, expected 0x%lx, %ld", npage, slot,
	       pfn, got, want_pfn, want);
	EXPECT(batch->size == left, "%ld pages from %lu: %d left in the batch, expected %d", npage,
	       slot, batch->size, left);
}

/*
 * What iommufd carries from one full batch into the next is here what a pin call leaves in VFIO's
 * batch. Ten pages of one run are pinned and seven asked for. Also tried: every other split, and
 * what is never asked for, which is given back.
 */
TEST(case_73_pages_left_in_the_batch_keep_their_frames)
{
	long ask;

	for (ask = 1; ask <= 10; ask++) {
		struct vfio_batch batch = { .pages = pages, .capacity = 512 };
		struct bed bed;
		struct vfio_dma dma = { .mm = &bed.mm };
		unsigned long pfn;

		bed_need(&bed, "o4@100: 0-9", NULL);
		dma.vaddr = bed_addr(&bed, 0);
		EXPECT_EQ(ptb_vfio_get_pfns(&dma, dma.vaddr, 10, &pfn, &batch), 10, "pages pinned");
		expect_pin(&bed, &dma, &batch, 0, ask, 0x100, ask, 10 - ask);
		EXPECT_EQ(bed_pins(0x100), 10, "pins while some are left");
		if (ask == 7)
			expect_pin(&bed, &dma, &batch, 7, 3, 0x107, 3, 0);
		else
			ptb_vfio_batch_unpin(&batch, &dma);
		EXPECT_EQ(batch.size, 0, "pages in the batch at last");
		EXPECT_EQ(bed_pins(0x100), ask == 7 ? 10 : ask, "pins at last");
		EXPECT_EQ(ptb_vfio_unpin(&dma, 0, 0x100, ask == 7 ? 10 : ask, true),
			  ask == 7 ? 10 : ask, "pages unpinned");
		EXPECT_EQ(bed.mm.locked_vm, 0, "pages charged");
		case_untouched(&bed, "carried pages");
		bed_free(&bed);
	}
}

/* Also tried: capacities that make every page, or every run, a carried one. */
TEST(case_74_pages_left_in_the_batch_begin_the_next_run)
{
	static const char text[] = "o4@100: 0-10 | o0@200";
	static const int capacities[] = { 1, 2, 3, 5, 10, 11, 12 };
	struct vfio_batch batch = { .pages = pages, .capacity = 512 };
	struct bed bed;
	struct vfio_dma dma = { .mm = &bed.mm };
	unsigned long pfn;
	size_t i;

	bed_need(&bed, text, NULL);
	dma.vaddr = bed_addr(&bed, 0);
	ptb_vfio_get_pfns(&dma, dma.vaddr, 10, &pfn, &batch);
	expect_pin(&bed, &dma, &batch, 0, 7, 0x100, 7, 3);
	expect_pin(&bed, &dma, &batch, 7, 5, 0x107, 4, 1);
	expect_pin(&bed, &dma, &batch, 11, 1, 0x200, 1, 0);
	EXPECT_EQ(bed.mm.locked_vm, 12, "pages charged");
	ptb_vfio_unpin(&dma, 0, 0x100, 11, true);
	ptb_vfio_unpin(&dma, 11UL << PTB_PAGE_SHIFT, 0x200, 1, true);
	EXPECT_EQ(bed.mm.locked_vm, 0, "pages charged after unmap");
	case_untouched(&bed, text);
	bed_free(&bed);

	for (i = 0; i < ARRAY_SIZE(capacities); i++) {
		struct vfio_case c = { .nr = 12, .limit = 12, .capacity = capacities[i] };
		static struct outcome o;

		EXPECT_EQ(bed_vfio_both(text, NULL, NULL, &c, &o), 12, "pages");
		EXPECT(o.vec[0] == 11 && o.vec[1] == 1 && !o.vec[2],
		       "capacity %d: runs of %u, %u and %u frames", capacities[i], o.vec[0],
		       o.vec[1], o.vec[2]);
	}
}

/*
 * Reserved frames, which are not pinned, stand for MMIO. A revoked buffer has no counterpart:
 * nothing is unmapped here. Also tried: one kind alone, reserved first and last, frames without a
 * page; unmapped as one range, as the IOMMU may hand it back.
 */
TEST(case_77_run_ends_where_the_kind_of_frame_changes)
{
	static const struct {
		const char *layout;
		unsigned int nr, pinned;
		u8 runs[4];
	} rows[] = {
		{ "o1@10 | o1@12 reserved special | o0@14", 5, 3, { 2, 2, 1 } },
		{ "o1@12 reserved special | o1@14", 4, 2, { 2, 2 } },
		{ "o1@10 | o1@12 reserved special", 4, 2, { 2, 2 } },
		{ "o1@12 reserved special | o0@14 reserved special", 3, 0, { 3 } },
		{ "o1@10 | o1@12 | o0@14", 5, 5, { 5 } },
		{ "o1@10 | frame@900000*3 | o0@14", 6, 3, { 2, 3, 1 } },
		{ "o0@10 | o0@11 reserved special | o0@12 | o0@13 reserved special",
		  4,
		  2,
		  { 1, 1, 1, 1 } },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vfio_case c = { .nr = rows[i].nr, .limit = rows[i].pinned };
		static struct outcome o;
		struct bed bed;
		long ret = bed_vfio_both(rows[i].layout, NULL, pfnmap, &c, &o);

		EXPECT(ret == (long)rows[i].nr, "%s: returned %ld", rows[i].layout, ret);
		for (j = 0; j < 4; j++)
			EXPECT(o.vec[j] == rows[i].runs[j], "%s: run %zu of %u frames, expected %u",
			       rows[i].layout, j, o.vec[j], rows[i].runs[j]);

		bed_need(&bed, rows[i].layout, NULL);
		pfnmap(&bed);
		vfio_map(&bed, &c, &batched_vfio, &o);
		EXPECT(mem.pins_released == rows[i].pinned, "%s: %llu pages unpinned, expected %u",
		       rows[i].layout, (unsigned long long)mem.pins_released, rows[i].pinned);
		case_untouched(&bed, rows[i].layout);
		bed_free(&bed);
	}
}

/*
 * Also tried: the leaf's ends, a leaf whose frames go on, single entries, a vma that is not a frame
 * map, a read-only leaf.
 */
TEST(case_78_frames_come_from_the_entry_up_to_the_end_of_its_leaf)
{
	static const char two[] = "frame@$0" LEAF "*$t | frame@$4" LEAF "*$t";
	static const char onward[] = "frame@$0" LEAF "*$t | frame@$1" LEAF "*$t";
	static const char single[] = "frame@1000*5 | frame@8000*3";
	static const struct {
		const char *layout;
		unsigned long slot;
		long npage;
		unsigned long pfn;
		long want;
	} rows[] = {
		{ two, 5, FMT_PTES + 20, BED_FRAME(0) + 5, FMT_PTES - 5 },
		{ two, FMT_PTES, 20, BED_FRAME(4), 20 },
		{ two, 0, 2 * FMT_PTES, BED_FRAME(0), FMT_PTES },
		{ two, FMT_PTES - 1, 2, BED_FRAME(1) - 1, 1 },
		{ two, 5, 3, BED_FRAME(0) + 5, 3 },
		{ onward, 5, FMT_PTES + 20, BED_FRAME(0) + 5, FMT_PTES + 20 },
		{ single, 1, 7, 0x1001, 4 },
		{ single, 5, 3, 0x8000, 3 },
		{ two, 2 * FMT_PTES - 1, 1, BED_FRAME(5) - 1, 1 },
	};
	struct vfio_batch batch = { .pages = pages, .capacity = 512 };
	struct bed bed;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vfio_dma dma = { .mm = &bed.mm };
		struct vfio_case c = { .slot = rows[i].slot, .nr = rows[i].npage };

		EXPECT_EQ(bed_vfio_both(rows[i].layout, NULL, pfnmap, &c, NULL), rows[i].npage,
			  rows[i].layout);
		bed_need(&bed, rows[i].layout, NULL);
		pfnmap(&bed);
		dma.vaddr = bed_addr(&bed, 0);
		expect_pin(&bed, &dma, &batch, rows[i].slot, rows[i].npage, rows[i].pfn,
			   rows[i].want, 0);
		EXPECT_EQ(bed.mm.locked_vm, 0, "pages charged");
		bed_free(&bed);
	}

	bed_need(&bed, two, NULL);
	expect_pin(&bed, &(struct vfio_dma){ .mm = &bed.mm, .vaddr = bed_addr(&bed, 0) }, &batch, 5,
		   20, 0, -EFAULT, 0);
	bed_free(&bed);
	bed_need(&bed, "frame@$0 ro" LEAF "*$t", NULL);
	pfnmap(&bed);
	expect_pin(&bed,
		   &(struct vfio_dma){ .mm = &bed.mm, .vaddr = bed_addr(&bed, 0), .write = true },
		   &batch, 5, 1, 0, -EFAULT, 0);
	bed_free(&bed);
}
