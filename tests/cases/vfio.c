// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases 65 to 78: pin, charge, unpin. */
#include "case.h"

static struct page *pages[BED_PAGES];

static void pfnmap(struct bed *bed)
{
	bed->mm.vmas[0].vm_flags |= VM_PFNMAP;
	/* Where the vma says it begins: not where it does. */
	bed->mm.vmas[0].vm_pgoff = 0x9000;
}

/*
 * Also tried: by batches of one, the zero page alone and beside its frame's neighbour; charged and
 * reserved.
 */
TEST(case_65_zero_page_balances_over_a_thousand_maps)
{
	static const struct {
		const char *layout;
		unsigned int nr, charge, capacity;
	} rows[] = {
		{ "zero@50 | o0@100 | zero@50", 3, 3, 0 },
		{ "zero@50 reserved | o0@100 | zero@50", 3, 1, 0 },
		{ "zero@50 | o0@100 | zero@50", 3, 3, 1 },
		{ "zero@50*3", 3, 3, 0 },
		{ "zero@50 reserved*3", 3, 0, 0 },
		{ "o0@4f | zero@50 | o0@51", 3, 3, 0 },
		{ "o0@4f | zero@50 reserved | o0@51", 3, 2, 0 },
	};
	static struct outcome o;
	unsigned int round;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vfio_case c = { .nr = rows[i].nr,
				       .limit = rows[i].charge,
				       .capacity = rows[i].capacity };
		struct bed bed;

		EXPECT_EQ(bed_vfio_both(rows[i].layout, NULL, NULL, &c, NULL), rows[i].nr,
			  rows[i].layout);
		bed_need(&bed, rows[i].layout, NULL);
		for (round = 0; round < 1000; round++)
			if (vfio_map(&bed, &c, &batched_vfio, &o) != (long)rows[i].nr)
				break;
		EXPECT_EQ(round, 1000, "maps that succeeded");
		EXPECT_EQ(bed.mm.locked_vm, 0, "pages charged in the end");
		case_untouched(&bed, rows[i].layout);
		if (rows[i].charge) {
			c.limit--;
			EXPECT_EQ(vfio_map(&bed, &c, &batched_vfio, &o), -ENOMEM,
				  "one below the charge");
			EXPECT_EQ(bed.mm.locked_vm, 0, "pages charged by a refused map");
			case_untouched(&bed, rows[i].layout);
		}
		bed_free(&bed);
	}
}

static long failing_engine(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
			   unsigned long *pfn, struct vfio_batch *batch)
{
	(void)vaddr;
	(void)npage;
	(void)pfn;
	(void)batch;
	return *(const int *)dma->engine_arg;
}

/*
 * The caller named there pins for mediated devices and is not part of the library; the convention
 * is: frames, or a negative error, never a count of something else. Also tried: reserved, without
 * accounting, errors of the engine and of accounting.
 */
TEST(case_66_result_is_frames_or_a_negative_error)
{
	static const int errors[] = { -EFAULT, -EINTR, -ENOMEM, -EAGAIN };
	struct vfio_batch batch = { .pages = pages, .capacity = 512 };
	unsigned long pfn;
	struct bed bed;
	size_t i;

	bed_need(&bed, "o0@100 | frame@900000 | o0@101 reserved special", NULL);
	pfnmap(&bed);
	for (i = 0; i < 3; i++) {
		struct vfio_dma dma = { .vaddr = bed_addr(&bed, 0), .mm = &bed.mm };
		unsigned long at = bed_addr(&bed, i);

		EXPECT_EQ(ptb_vfio_pin(&dma, at, 1, &pfn, 1, &batch), 1, "frames");
		EXPECT_EQ(bed.mm.locked_vm, i ? 0 : 1, "pages charged");
		EXPECT_EQ(ptb_vfio_unpin(&dma, at, pfn, 1, false), i ? 0 : 1, "pages unpinned");
		EXPECT_EQ(bed.mm.locked_vm, i ? 0 : 1, "pages charged, the caller takes them off");
		bed.mm.locked_vm = 0;
		case_untouched(&bed, "one page");

		dma.acct_error = -ENOMEM;
		EXPECT_EQ(ptb_vfio_pin(&dma, at, 1, &pfn, 1, &batch), i ? 1 : -ENOMEM,
			  "frames, or that they could not be charged");
		case_untouched(&bed, "accounting failed");
	}
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		struct vfio_dma dma = { .mm = &bed.mm,
					.engine = failing_engine,
					.engine_arg = (void *)&errors[i] };

		EXPECT_EQ(ptb_vfio_pin(&dma, 0, 7, &pfn, 8, &batch), errors[i],
			  "the engine's error");
		EXPECT(!batch.size && !bed.mm.locked_vm, "an error left something behind");
	}
	bed_free(&bed);
}

static int engine_call, engine_fails_at, engine_error;

static void first_call(struct bed *bed)
{
	(void)bed;
	engine_call = 0;
}

/* Ten pages a call, and once nothing, or an error. */
static long ten_then_nothing(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
			     unsigned long *pfn, struct vfio_batch *batch)
{
	long ret;

	if (++engine_call == engine_fails_at)
		return engine_error;
	dma->engine = NULL;
	ret = ptb_vfio_get_pfns(dma, vaddr, npage < 10 ? npage : 10, pfn, batch);
	dma->engine = ten_then_nothing;
	return ret;
}

/*
 * Also tried: nothing on the first and the third call, errors instead, a run that ends at that very
 * page.
 */
TEST(case_67_engine_that_pins_nothing_is_an_error_and_all_is_undone)
{
	static const struct {
		const char *layout;
		int at, error;
		long want;
	} rows[] = {
		{ "o5@200: 0-19", 2, 0, -EFAULT },
		{ "o5@200: 0-19", 1, 0, -EFAULT },
		{ "o5@200: 0-19", 2, -EINTR, -EINTR },
		{ "o5@200: 0-19", 3, 0, 20 },
		{ "o4@200: 0-9 | o4@300: 0-9", 2, 0, -EFAULT },
		{ "o4@200: 0-9 | o4@300: 0-9", 3, 0, 20 },
		{ "o4@200: 0-8 | o4@300: 0-10", 2, 0, -EFAULT },
		{ "o4@200: 0-8 | o4@300: 0-10", 3, 0, 20 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vfio_case c = {
			.nr = 20, .limit = 20, .write = true, .engine = ten_then_nothing
		};
		static struct outcome o;
		struct bed bed;
		long ret;

		engine_fails_at = rows[i].at;
		engine_error = rows[i].error;
		ret = bed_vfio_both(rows[i].layout, NULL, first_call, &c, NULL);
		EXPECT(ret == rows[i].want, "%s, nothing on call %d: returned %ld, expected %ld",
		       rows[i].layout, engine_fails_at, ret, rows[i].want);
		bed_need(&bed, rows[i].layout, NULL);
		first_call(&bed);
		vfio_map(&bed, &c, &batched_vfio, &o);
		EXPECT_EQ(bed.mm.locked_vm, 0, "pages charged");
		case_untouched(&bed, rows[i].layout);
		bed_free(&bed);
	}
}

static unsigned long charged_before;

static void pfnmap_charged(struct bed *bed)
{
	pfnmap(bed);
	bed->mm.locked_vm = charged_before;
}

/*
 * Also tried: at, above and below the limit, limits of nothing and of everything, pages charged
 * before, even beyond the limit; in small batches.
 */
TEST(case_70_limit_counts_what_the_run_adds)
{
	static const int first5[] = { 0, 1, 2, 3, 4, -1 }, first6[] = { 0, 1, 2, 3, 4, 5, -1 };
	static const int odd6[] = { 1, 3, 5, 7, 9, 15, -1 }, outside[] = { 16, 17, 1000, -1 };
	static const int all[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -1 };
	static const struct {
		const char *name, *layout;
		unsigned long limit;
		const int *external;
		bool lock_cap;
		long want, charge;
		unsigned long before;
	} rows[] = {
		{ "6 paid for", "o4@200", 10, first6, false, 16, 10, 0 },
		{ "6 paid for, here and there", "o4@200", 10, odd6, false, 16, 10, 0 },
		{ "5 paid for", "o4@200", 10, first5, false, -ENOMEM, 0, 0 },
		{ "5 paid for, no limit", "o4@200", 10, first5, true, 16, 11, 0 },
		{ "reserved", "o4@200 reserved special", 10, NULL, false, 16, 0, 0 },
		{ "no memory", "frame@900000*16", 0, NULL, false, 16, 0, 0 },
		{ "at the limit", "o4@200", 16, NULL, false, 16, 16, 0 },
		{ "one above it", "o4@200", 15, NULL, false, -ENOMEM, 0, 0 },
		{ "all paid for", "o4@200", 0, all, false, 16, 0, 0 },
		{ "others pinned elsewhere", "o4@200", 15, outside, false, -ENOMEM, 0, 0 },
		{ "no limit at all", "o4@200", ULONG_MAX, NULL, false, 16, 16, 0 },
		{ "small folios", "o3@200 | o0@208 | o0@209 | o1@20a | o2@20c", 10, first6, false,
		  16, 10, 0 },
		{ "two runs, second refused", "o3@200 | o3@300", 10, NULL, false, -ENOMEM, 0, 0 },
		{ "two runs", "o3@200 | o3@300", 10, odd6, false, 16, 10, 0 },
		{ "above the limit, all paid for", "o4@200", 10, all, false, 16, 0, 20 },
		{ "above the limit, some not", "o4@200", 10, odd6, false, -ENOMEM, 0, 20 },
		{ "up to the limit", "o4@200", 16, first6, false, 16, 10, 6 },
		{ "up to one above it", "o4@200", 16, first6, false, -ENOMEM, 0, 7 },
		{ "above it, but without one", "o4@200", 10, NULL, true, 16, 16, 20 },
	};
	static const int capacities[] = { 0, 1, 3, 16 };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (j = 0; j < ARRAY_SIZE(capacities); j++) {
			struct vfio_case c = { .nr = 16,
					       .limit = rows[i].limit,
					       .capacity = capacities[j],
					       .external = rows[i].external,
					       .lock_cap = rows[i].lock_cap,
					       .keep = true };
			static struct outcome o;
			struct bed bed;
			long ret;

			charged_before = rows[i].before;
			ret = bed_vfio_both(rows[i].layout, NULL, pfnmap_charged, &c, &o);

			EXPECT(ret == rows[i].want, "%s: returned %ld, expected %ld", rows[i].name,
			       ret, rows[i].want);
			EXPECT((long)(o.locked_vm - rows[i].before) == rows[i].charge,
			       "%s: %lld pages charged, expected %ld", rows[i].name,
			       (long long)(o.locked_vm - rows[i].before), rows[i].charge);

			bed_need(&bed, rows[i].layout, NULL);
			pfnmap_charged(&bed);
			c.keep = false;
			vfio_map(&bed, &c, &batched_vfio, &o);
			EXPECT_EQ(bed.mm.locked_vm, rows[i].before, "pages charged after unmap");
			case_untouched(&bed, rows[i].name);
			bed_free(&bed);
		}
}
