// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* VFIO call by call, where what one call leaves in the batch meets what the next one asks for. */
#include "bed.h"

static struct page *pages[64];

struct calls {
	struct bed bed;
	struct vfio_batch batch;
	struct vfio_dma dma;
	unsigned long pfn;
};

static void start(struct calls *c, const char *layout, bool write)
{
	bed_need(&c->bed, layout, NULL);
	c->batch = (struct vfio_batch){ .pages = pages, .capacity = ARRAY_SIZE(pages) };
	c->dma = (struct vfio_dma){
		.iova = 0x100000, .vaddr = bed_addr(&c->bed, 0), .write = write, .mm = &c->bed.mm
	};
}

static long pin(struct calls *c, unsigned long slot, long npage, unsigned long limit)
{
	return ptb_vfio_pin(&c->dma, bed_addr(&c->bed, slot), npage, &c->pfn, limit, &c->batch);
}

static void unpin(struct calls *c, unsigned long slot, unsigned long pfn, long npage)
{
	ptb_vfio_unpin(&c->dma, c->dma.iova + ((u64)slot << PTB_PAGE_SHIFT), pfn, npage, true);
}

static void expect_nothing_left(struct calls *c, const char *what)
{
	unsigned int i;

	EXPECT(!c->batch.size, "%s: %d pages left in the batch", what, c->batch.size);
	EXPECT(!c->bed.mm.locked_vm, "%s: %llu pages left charged", what,
	       (unsigned long long)c->bed.mm.locked_vm);
	EXPECT(mem.pins_acquired == mem.pins_released, "%s: pins left", what);
	for (i = 0; i < c->bed.layout.nr_folios; i++)
		EXPECT(bed_refs(c->bed.layout.folios[i].pfn) == 1, "%s: folio %u is still held",
		       what, i);
}

TEST(a_call_takes_no_more_than_it_asks_for)
{
	struct calls c;

	start(&c, "o0@400 | o0@402 | o2@408 | o2@40c", true);
	EXPECT_EQ(pin(&c, 0, 10, 100), 1, "frames of the first call");
	EXPECT_EQ(c.batch.size, 9, "pages left in the batch");
	EXPECT_EQ(pin(&c, 1, 2, 100), 1, "frames of the second call");
	/* Eight more follow each other, and three are asked for, across no end of a folio. */
	EXPECT_EQ(pin(&c, 2, 3, 100), 3, "frames of the third call");
	EXPECT_EQ(c.pfn, 0x408, "first frame of the third call");
	EXPECT_EQ(c.bed.mm.locked_vm, 5, "pages charged");
	EXPECT_EQ(c.batch.size, 5, "pages left in the batch");
	EXPECT_EQ(pin(&c, 5, 4, 100), 4, "frames of the last call");
	EXPECT_EQ(c.pfn, 0x40b, "first frame of the last call");
	ptb_vfio_batch_unpin(&c.batch, &c.dma);
	unpin(&c, 0, 0x400, 1);
	unpin(&c, 1, 0x402, 1);
	unpin(&c, 2, 0x408, 7);
	expect_nothing_left(&c, "all undone");
	bed_free(&c.bed);
}

static long engine_that_ends(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
			     unsigned long *pfn, struct vfio_batch *batch)
{
	unsigned long *calls_left = dma->engine_arg;
	long ret;

	if (!*calls_left)
		return -EINTR;
	--*calls_left;
	dma->engine = NULL;
	ret = user_vfio_get_pfns(dma, vaddr, npage, pfn, batch);
	dma->engine = engine_that_ends;
	return ret;
}

TEST(a_call_that_fails_leaves_nothing)
{
	unsigned long calls_left = 2;
	struct calls c;

	start(&c, "o2@400 | o0@408 | o0@500", true);
	EXPECT_EQ(pin(&c, 0, 6, 3), -ENOMEM, "above the limit at once");
	expect_nothing_left(&c, "above the limit");
	c.dma.acct_error = -EAGAIN;
	EXPECT_EQ(pin(&c, 0, 6, 100), -EAGAIN, "the account says no");
	expect_nothing_left(&c, "not accounted");
	bed_free(&c.bed);

	/* Two calls of the engine, of two pages each; the third is refused. */
	start(&c, "o2@400 | o2@404", true);
	c.batch.capacity = 2;
	c.dma.engine = engine_that_ends;
	c.dma.engine_arg = &calls_left;
	EXPECT_EQ(pin(&c, 0, 8, 100), -EINTR, "the engine ends");
	expect_nothing_left(&c, "engine ended");
	/* The limit is met by the second two, with one page of them more in the batch. */
	calls_left = 2;
	EXPECT_EQ(pin(&c, 0, 8, 3), -ENOMEM, "above the limit later");
	expect_nothing_left(&c, "above the limit later");
	bed_free(&c.bed);
}

/* Frames follow each other, but one of the pages is never charged, and undoing must know it. */
TEST(a_run_is_charged_whole_or_not_at_all)
{
	struct calls c;

	start(&c, "o1@402 ro | zero@404 reserved | o0@405 ro", false);
	EXPECT_EQ(pin(&c, 0, 4, 100), 2, "frames before the zero page");
	EXPECT_EQ(c.bed.mm.locked_vm, 2, "pages charged");
	EXPECT_EQ(pin(&c, 2, 2, 100), 1, "frames of the zero page");
	EXPECT_EQ(c.pfn, 0x404, "its frame");
	EXPECT_EQ(c.bed.mm.locked_vm, 2, "pages charged");
	EXPECT_EQ(pin(&c, 3, 1, 100), 1, "frames behind the zero page");
	EXPECT_EQ(c.bed.mm.locked_vm, 3, "pages charged");
	/* Handed back as one range. */
	unpin(&c, 0, 0x402, 4);
	expect_nothing_left(&c, "unpinned");
	bed_free(&c.bed);
}

/* On both sides of a frame that is not unpinned. */
TEST(pages_pinned_by_others_stay_charged_in_each_run)
{
	struct calls c;

	start(&c, "o1@402 ro | zero@404 reserved | o0@405 ro | o0@406 ro", false);
	vpfn_add(&c.dma.pfn_list, c.dma.iova);
	vpfn_add(&c.dma.pfn_list, c.dma.iova + (4ULL << PTB_PAGE_SHIFT));
	EXPECT_EQ(pin(&c, 0, 5, 100), 2, "frames before the zero page");
	EXPECT_EQ(pin(&c, 2, 3, 100), 1, "frames of the zero page");
	EXPECT_EQ(pin(&c, 3, 2, 100), 2, "frames behind the zero page");
	EXPECT_EQ(c.bed.mm.locked_vm, 2, "pages charged");
	unpin(&c, 0, 0x402, 5);
	expect_nothing_left(&c, "unpinned");
	vpfn_clear(&c.dma.pfn_list);
	bed_free(&c.bed);
}

/* As in the kernel, whose put_pfn() asks the same: what is reserved is nobody's to unpin. */
TEST(reserved_pages_left_in_the_batch_are_not_unpinned)
{
	struct calls c;

	start(&c, "o0@400 | o0@402 | o0@404", true);
	EXPECT_EQ(pin(&c, 0, 3, 100), 1, "frames before the one that will be reserved");
	EXPECT_EQ(c.batch.size, 2, "pages left in the batch");
	mem_page(0x402)->flags |= PG_reserved;
	ptb_vfio_batch_unpin(&c.batch, &c.dma);
	EXPECT_EQ(bed_refs(0x402), 1 + GUP_PIN_COUNTING_BIAS, "references of the reserved page");
	EXPECT_EQ(bed_refs(0x404), 1, "references of the page behind it");
	bed_free(&c.bed);
}

/* What others have pinned stays on the account, theirs. */
TEST(pages_pinned_by_others_are_charged_once)
{
	struct calls c;

	start(&c, "o3@400", true);
	vpfn_add(&c.dma.pfn_list, c.dma.iova + (2ULL << PTB_PAGE_SHIFT));
	vpfn_add(&c.dma.pfn_list, c.dma.iova + (7ULL << PTB_PAGE_SHIFT));
	vpfn_add(&c.dma.pfn_list, c.dma.iova + (8ULL << PTB_PAGE_SHIFT));
	EXPECT_EQ(pin(&c, 0, 8, 6), 8, "frames, with room for six");
	EXPECT_EQ(c.bed.mm.locked_vm, 6, "pages charged");
	unpin(&c, 0, 0x400, 8);
	expect_nothing_left(&c, "unpinned");
	EXPECT_EQ(pin(&c, 0, 8, 5), -ENOMEM, "room for five");
	expect_nothing_left(&c, "refused");
	vpfn_clear(&c.dma.pfn_list);
	bed_free(&c.bed);
}
