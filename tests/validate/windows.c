// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A recording laid out for this format: entries one to one, in windows where they do not fit. */
#include "bed.h"

#include "window.h"

/* Anonymous memory of one vma: huge leaves, a large folio by entries, small pages, a big hole. */
#define LEAVES 4UL
#define BIG_HOLE (1UL << 28)

static struct snap_run runs[] = {
	{ .nr = LEAVES * 512,
	  .frame = 512,
	  .type = SNAP_PRESENT,
	  .level = SNAP_PMD,
	  .bits = SNAP_WRITE },
	{ .nr = 512, .frame = 512 * 6, .type = SNAP_PRESENT, .bits = SNAP_WRITE | SNAP_EXCLUSIVE },
	{ .nr = 3, .type = SNAP_NONE },
	{ .nr = 5, .frame = 512 * 8 + 11, .type = SNAP_PRESENT },
	{ .nr = BIG_HOLE, .type = SNAP_NONE },
	{ .nr = 40, .frame = 77, .type = SNAP_SWAP, .bits = SNAP_EXCLUSIVE },
	{ .nr = 1, .frame = 512 * 8 + 30, .type = SNAP_PRESENT },
};

static struct snap_folio folios[] = {
	{ .frame = 512, .order = 9 },	  { .frame = 1024, .order = 9 },
	{ .frame = 1536, .order = 9 },	  { .frame = 2048, .order = 9 },
	{ .frame = 512 * 6, .order = 9 }, { .frame = 512 * 8 + 11 },
	{ .frame = 512 * 8 + 12 },	  { .frame = 512 * 8 + 13 },
	{ .frame = 512 * 8 + 14 },	  { .frame = 512 * 8 + 15 },
	{ .frame = 512 * 8 + 30 },
};

static struct snapshot one_vma(struct snap_vma *vma)
{
	size_t i;

	*vma = (struct snap_vma){ .page = 512 * 3,
				  .nr_runs = ARRAY_SIZE(runs),
				  .prot = SNAP_PROT_WRITE };
	for (i = 0; i < ARRAY_SIZE(runs); i++)
		vma->nr_pages += runs[i].nr;
	return (struct snapshot){ .vmas = vma,
				  .nr_vmas = 1,
				  .runs = runs,
				  .nr_runs = ARRAY_SIZE(runs),
				  .folios = folios,
				  .nr_folios = ARRAY_SIZE(folios),
				  .nr_frames = 512 * 9,
				  .page_shift = 12 };
}

/* Frames in the order of their addresses, over all windows. */
static unsigned long
collect(const struct snapshot *s, unsigned long *frames, u64 *swapped, unsigned int *windows)
{
	struct snap_cursor cursor = {};
	struct window w = {};
	unsigned long n = 0, i, k;

	free(snap_memory(s));
	while (snap_window(&w, s, &cursor)) {
		EXPECT(w.mm.end <= FMT_VA_END, "a window ends above the address space");
		for (i = 0; i < w.present.nr; i++)
			for (k = 0; k < w.present.v[i].nr; k++) {
				struct engine_entry e;
				unsigned long addr = w.present.v[i].addr + (k << PTB_PAGE_SHIFT);

				REQUIRE(engine_lookup(&w.mm, addr, &e), "an entry is gone");
				frames[n++] = e.pfn;
				/* The vma begins on 2 MiB: frame and page agree below that. */
				if (e.pfn < 512 * 8)
					EXPECT_EQ(addr >> PTB_PAGE_SHIFT & 511, e.pfn & 511,
						  "place in 2 MiB");
			}
		*swapped += w.swapped;
		(*windows)++;
		window_exit(&w);
	}
	mem_exit();
	return n;
}

TEST(recording_is_laid_out_entry_by_entry)
{
	static unsigned long frames[4096];
	struct snap_vma vma;
	struct snapshot s = one_vma(&vma);
	unsigned long n, i, k, at = 0;
	unsigned int windows = 0;
	u64 swapped = 0;

	n = collect(&s, frames, &swapped, &windows);
	for (i = 0; i < ARRAY_SIZE(runs); i++)
		for (k = 0; runs[i].type == SNAP_PRESENT && k < runs[i].nr; k++, at++)
			if (frames[at] != runs[i].frame + k) {
				EXPECT(false, "entry %lu maps frame 0x%lx, recorded 0x%lx", at,
				       frames[at], (unsigned long)runs[i].frame + k);
				return;
			}
	EXPECT_EQ(n, at, "entries");
	EXPECT_EQ(swapped, 40, "swap entries");
	EXPECT_EQ(windows, 1, "windows, as the hole is cut short");
}

/* Many vmas, together larger than the address space: nothing is lost at a window's end. */
TEST(recording_that_does_not_fit_is_split_into_windows)
{
	u64 room = window_pages(), per_vma = 1000003, nr_vmas, i;
	unsigned int windows = 0;
	struct snap_cursor cursor = {};
	struct window w = {};
	struct snap_vma *vmas;
	struct snap_run *many;
	struct snapshot s;
	u64 present = 0;

	/* Larger address spaces would need a larger recording than memory allows here. */
	if (room > 4 * per_vma)
		SKIP("the address space is too large to overflow");
	nr_vmas = 3 * room / per_vma + 1;
	vmas = calloc(nr_vmas, sizeof(*vmas));
	many = calloc(nr_vmas, sizeof(*many));
	REQUIRE(vmas && many, "no memory");
	for (i = 0; i < nr_vmas; i++) {
		vmas[i] = (struct snap_vma){ .page = 512 + i * (per_vma + 7),
					     .nr_pages = per_vma,
					     .first_run = i,
					     .nr_runs = 1 };
		many[i] = (struct snap_run){ .nr = per_vma, .frame = 1, .type = SNAP_SWAP };
	}
	s = (struct snapshot){ .vmas = vmas,
			       .nr_vmas = nr_vmas,
			       .runs = many,
			       .nr_runs = nr_vmas,
			       .nr_frames = 512,
			       .page_shift = 12 };
	free(snap_memory(&s));
	while (snap_window(&w, &s, &cursor)) {
		EXPECT(w.mm.end <= FMT_VA_END, "a window ends above the address space");
		present += w.swapped;
		windows++;
		window_exit(&w);
	}
	mem_exit();
	EXPECT_EQ(present, nr_vmas * per_vma, "entries");
	EXPECT(windows >= 4, "only %u windows for three address spaces' worth", windows);
	free(vmas);
	free(many);
}

/* Blocks get their hint where the kernel would fold them: whole, aligned, inside one folio. */
TEST(blocks_of_a_large_folio_get_their_hint)
{
	struct snap_vma vma;
	struct snapshot s = one_vma(&vma);
	struct snap_cursor cursor = {};
	struct window w = {};
	unsigned long addr;
	ptb_pte_t *ptep;

	if (FMT_CONT == 1)
		SKIP("no blocks in this format");
	free(snap_memory(&s));
	REQUIRE(snap_window(&w, &s, &cursor), "no window");
	addr = w.mm.vmas[0].vm_start + LEAVES * 512 * FMT_PAGE_SIZE;
	ptep = mm_ptep(&w.mm, addr);
	EXPECT_EQ(ptb_pte_hint(ptep, *ptep), FMT_CONT, "hint in an order-9 folio");
	EXPECT_EQ(ptb_pte_hint(ptep + 5, ptep[5]), FMT_CONT - 5, "hint inside a block");
	/* Behind it come three empty entries and five small pages. */
	ptep = mm_ptep(&w.mm, addr + 515 * FMT_PAGE_SIZE);
	EXPECT_EQ(ptb_pte_hint(ptep, *ptep), 1, "hint of a small page");
	window_exit(&w);
	mem_exit();
}
