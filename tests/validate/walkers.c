// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Whole walkers against the reference walkers, over layouts that a seed makes: what they return,
 * publish and leave behind must be the same. A layout that tells them apart is printed, and goes
 * into a test with a name.
 */
#include "caches.h"
#include "random_layout.h"

static const struct build_opts scattered = { .section_pages = 64, .no_vmemmap = true };

/* Every way of asking GUP-fast. */
static unsigned int gup_way(unsigned int n)
{
	return (n & 1 ? FOLL_PIN : FOLL_GET) | (n & 2 ? FOLL_WRITE : 0) |
	       (n & 4 ? FOLL_LONGTERM : 0) | (n & 8 ? FOLL_PCI_P2PDMA : 0);
}

static unsigned int dying_pagemaps;

static void let_pagemaps_die(struct bed *bed)
{
	unsigned int i;

	(void)bed;
	for (i = 0; i < mem.nr_pagemaps; i++)
		mem.pagemaps[i].dying = dying_pagemaps & BIT(i);
}

TEST(gup_fast_takes_what_the_reference_takes)
{
	struct rnd r = { 0x6775702d66617374 };
	unsigned long taken = 0, slot, nr;
	static struct random_layout rl;
	unsigned int i, n;

	for (i = 0; i < ROUNDS(600); i++) {
		random_layout(&rl, &r);
		for (n = 0; n < 16; n++) {
			random_window(&rl, &slot, &nr);
			dying_pagemaps = rnd_once_in(&r, 3) ? rnd_next(&r) : 0;
			taken += bed_gup_both(rl.text, rnd_once_in(&r, 3) ? &scattered : NULL,
					      let_pagemaps_die, slot, nr, gup_way(n));
		}
	}
	/* A comparison of nothing with nothing proves nothing. */
	EXPECT(taken > 20 * i, "only %lu pages were taken from %u layouts", taken, i);
}

TEST(gup_fast_one_entry_at_a_time_takes_what_the_reference_takes)
{
	struct rnd r = { 0x6f6e65 };
	static struct outcome a, b;
	static struct random_layout rl;
	unsigned long slot, nr;
	unsigned int i, n;

	for (i = 0; i < ROUNDS(200); i++) {
		random_layout(&rl, &r);
		for (n = 0; n < 16; n++) {
			random_window(&rl, &slot, &nr);
			gup_outcome(&a, rl.text, NULL, NULL, slot, nr, gup_way(n), &single_gup);
			gup_outcome(&b, rl.text, NULL, NULL, slot, nr, gup_way(n), &reference_gup);
			bed_same(&a, &b, rl.text);
		}
	}
}

TEST(gup_fast_ends_where_it_must)
{
	static const struct {
		const char *layout;
		unsigned long nr;
		unsigned int gup;
		long want;
	} rows[] = {
		{ "o3@100 ro: 0-4, 5 shared, 6-7", 8, FOLL_PIN, 5 },
		{ "o3@100 ro: 0-4, 5 shared, 6-7", 8, FOLL_GET, 8 },
		{ "o3@100 ro: 0 shared, 1-7", 8, FOLL_PIN, 0 },
		{ "o3@100: 0-4, 5 ro, 6-7", 8, FOLL_PIN | FOLL_WRITE, 5 },
		{ "o3@100: 0-4, 5 ro shared, 6-7", 8, FOLL_PIN, 5 },
		{ "o3@100: 0-4, 5 special, 6-7", 8, FOLL_GET, 5 },
		{ "o3@100: 0-4, 5 protnone, 6-7", 8, FOLL_GET, 5 },
		{ "o3@100: 0-4, 5 kernel, 6-7", 8, FOLL_GET, 5 },
		{ "o3@100: 0-4 | none | o3@100: 6-7", 8, FOLL_GET, 5 },
		{ "o3@100 | o0@108 secretmem | o0@109", 10, FOLL_GET, 8 },
		{ "o3@100 | o2@108 inaccessible", 12, FOLL_PIN, 8 },
		{ "o3@100 | o2@108 inaccessible", 12, FOLL_GET, 12 },
		{ "o3@100 | o2@108 cma", 12, FOLL_PIN | FOLL_LONGTERM, 8 },
		{ "o3@100 | o2@108 file ro", 12, FOLL_PIN | FOLL_LONGTERM, 8 },
		{ "o3@100 | o2@108 file", 12, FOLL_PIN | FOLL_LONGTERM | FOLL_WRITE, 8 },
		{ "o3@100 | o2@108 shmem", 12, FOLL_PIN | FOLL_LONGTERM | FOLL_WRITE, 12 },
		{ "o3@100 | o2@108 truncated", 12, FOLL_PIN, 12 },
		{ "o3@100 | o0@108 truncated", 9, FOLL_PIN, 8 },
		{ "o3@100 refs=2147483643", 8, FOLL_GET, 4 },
		{ "o3@100 refs=2147483643", 8, FOLL_PIN, 4 },
		{ "o0@100 | o0@101 refs=2147482624", 2, FOLL_PIN, 1 },
		{ "o0@100 | o0@101 refs=2147482623", 2, FOLL_PIN, 2 },
		{ "o3@100 | o2@108 refs=0", 12, FOLL_GET, 8 },
		{ "o3@100 shstk", 8, FOLL_PIN | FOLL_WRITE, 0 },
		{ "o3@100 shstk", 8, FOLL_PIN, 8 },
		{ "o3@100 | o2@108 device special devmap", 12, FOLL_PIN, 12 },
		{ "o3@100 | o2@108 device special devmap", 12, FOLL_PIN | FOLL_LONGTERM, 8 },
		{ "o3@100 | o2@108 device special devmap p2pdma", 12, FOLL_GET, 8 },
		{ "o5@200 cont | o0@300", 33, FOLL_PIN | FOLL_WRITE, 33 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		long got;

		if (!bed_can(rows[i].layout))
			continue;
		got = bed_gup_both(rows[i].layout, NULL, NULL, 0, rows[i].nr, rows[i].gup);
		EXPECT(got == rows[i].want, "%s, flags 0x%x: %ld pages, expected %ld",
		       rows[i].layout, rows[i].gup, got, rows[i].want);
	}
}

TEST(gup_fast_gives_back_what_it_took_before_a_dead_pagemap)
{
	const char *layout = "o0@100 | o2@104 | o2@108 device special devmap: 0-3 |"
			     " o2@10c device special devmap | o0@110";

	dying_pagemaps = BIT(1);
	EXPECT_EQ(bed_gup_both(layout, NULL, let_pagemaps_die, 0, 9, FOLL_PIN), 9, "pages");
	EXPECT_EQ(bed_gup_both(layout, NULL, let_pagemaps_die, 0, 10, FOLL_PIN), 0, "pages");
	EXPECT_EQ(bed_gup_both(layout, NULL, let_pagemaps_die, 7, 7, FOLL_GET), 0, "pages");
	EXPECT_EQ(bed_gup_both(layout, NULL, let_pagemaps_die, 13, 1, FOLL_GET), 1, "pages");
}

static void forget_secretmem(struct bed *bed)
{
	(void)bed;
	mem.no_secretmem = true;
}

/* A kernel that has secretmem cannot tell that the zero page is none: it leaves it to slow GUP. */
TEST(gup_fast_pins_the_zero_page_only_where_nothing_is_secret)
{
	static const struct {
		const char *layout;
		unsigned int gup;
		long with, without;
	} rows[] = {
		{ "zero@100", FOLL_PIN, 0, 1 },
		{ "zero@100", FOLL_PIN | FOLL_LONGTERM, 0, 0 },
		{ "zero@100", FOLL_PIN | FOLL_WRITE, 0, 0 },
		{ "zero@100 inaccessible", FOLL_PIN, 0, 0 },
		{ "o0@101 | zero@100 | o1@102", FOLL_PIN, 1, 4 },
		{ "zero@100", FOLL_GET, 0, 1 },
		{ "o0@100 truncated", FOLL_GET, 0, 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, NULL, 0, 4, rows[i].gup), rows[i].with,
			  rows[i].layout);
		EXPECT_EQ(bed_gup_both(rows[i].layout, NULL, forget_secretmem, 0, 4, rows[i].gup),
			  rows[i].without, rows[i].layout);
	}
}

/* ---- mincore ---- */

TEST(mincore_answers_as_the_reference_does)
{
	struct rnd r = { 0x6d696e636f7265 };
	static unsigned char vec[BED_PAGES];
	unsigned long in_core = 0, not_in_core = 0, slot, nr, j;
	static struct random_layout rl;
	unsigned int i, n;

	for (i = 0; i < ROUNDS(1000); i++) {
		random_layout(&rl, &r);
		for (n = 0; n < 4; n++) {
			random_window(&rl, &slot, &nr);
			cache_seed = rnd_next(&r);
			bed_mincore_both(rl.text, make_caches, slot, nr, vec);
			for (j = 0; j < nr; j++)
				*(vec[j] ? &in_core : &not_in_core) += 1;
			for (j = nr; j < BED_PAGES; j++)
				if (vec[j] != 0xee) {
					EXPECT(false, "%s: vec written behind its end", rl.text);
					break;
				}
		}
	}
	/* Small tables have few holes. */
	EXPECT(in_core > 20 * i && not_in_core > (FMT_PTES < 80 ? FMT_PTES / 4 : 20) * i,
	       "%lu pages in memory, %lu not: too few", in_core, not_in_core);
}

/* ---- vfio ---- */

static bool vma_is_pfnmap, by_page;

static void make_pfnmap(struct bed *bed)
{
	if (vma_is_pfnmap)
		bed->mm.vmas[0].vm_flags |= VM_PFNMAP;
	mem.by_page = by_page;
}

static void
random_vfio_case(struct rnd *r, struct random_layout *rl, struct vfio_case *c, int *external)
{
	static const int capacities[] = { 1, 2, 3, 7, 16, 512 };
	unsigned int n = 0, i;

	*c = (struct vfio_case){ .write = rnd_once_in(r, 2),
				 .lock_cap = rnd_once_in(r, 4),
				 .keep = rnd_once_in(r, 2),
				 .external = external };
	random_window(rl, &c->slot, &c->nr);
	/* One entry that cannot be pinned ends it all: mostly a few pages. */
	if (!rnd_once_in(r, 4))
		c->nr = 1 + rnd_below(r, c->nr < 16 ? c->nr : 16);
	c->capacity = capacities[rnd_below(r, ARRAY_SIZE(capacities))];
	c->limit = rnd_once_in(r, 3) ? rnd_below(r, c->nr + 2) : LONG_MAX;
	/* at times the last page is the last of the address space */
	c->iova = rnd_once_in(r, 3) ? -((u64)c->nr << PTB_PAGE_SHIFT) : 0x10000000;
	for (i = 0; i < c->nr && n < 16; i++)
		if (rnd_once_in(r, 6))
			external[n++] = i;
	external[n] = -1;
	vma_is_pfnmap = rnd_once_in(r, 2);
	by_page = rnd_once_in(r, 6);
}

TEST(vfio_pins_and_charges_as_the_reference_does)
{
	struct rnd r = { 0x7666696f };
	unsigned int i, n, mapped = 0, refused = 0;
	static struct random_layout rl;
	struct vfio_case c;
	int external[17];

	for (i = 0; i < ROUNDS(1000); i++) {
		random_layout(&rl, &r);
		for (n = 0; n < 6; n++) {
			random_vfio_case(&r, &rl, &c, external);
			if (bed_vfio_both(rl.text, rnd_once_in(&r, 3) ? &scattered : NULL,
					  make_pfnmap, &c, NULL) > 0)
				mapped++;
			else
				refused++;
		}
	}
	EXPECT(mapped > i / 2 && refused > i / 2, "%u mapped, %u refused: too few", mapped,
	       refused);
}

/* The engine of a test that fails at its n-th call, or accounting that does. */
static unsigned int engine_calls, engine_fails_at;
static int account_fails;

static long failing_engine(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
			   unsigned long *pfn, struct vfio_batch *batch)
{
	long ret;

	dma->acct_error = account_fails;
	if (++engine_calls == engine_fails_at)
		return engine_calls & 1 ? -EINTR : 0;
	dma->engine = NULL;
	ret = user_vfio_get_pfns(dma, vaddr, npage, pfn, batch);
	dma->engine = failing_engine;
	return ret;
}

static void restart_engine(struct bed *bed)
{
	engine_calls = 0;
	/* Whatever the walkers see first must not depend on who was first. */
	make_pfnmap(bed);
}

TEST(vfio_gives_everything_back_when_the_engine_or_the_account_fails)
{
	static const char *const layouts[] = {
		"o4@400 | o2@410 | o0@500 | o3@508",
		"o2@404 | o2@408 | o2@40c reserved | o2@410",
		"o0@400 | o0@401 | o0@402 | o0@403 | o1@404 | o0@407 | o3@408",
	};
	struct outcome result;
	unsigned int i;
	int capacity;

	vma_is_pfnmap = by_page = false;
	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		for (capacity = 1; capacity < 8; capacity++)
			for (engine_fails_at = 0; engine_fails_at < 12; engine_fails_at++) {
				struct vfio_case c = { .nr = 12,
						       .limit = 100,
						       .capacity = capacity,
						       .write = true,
						       .engine = failing_engine };

				account_fails = engine_fails_at == 11 ? -ENOMEM : 0;
				bed_vfio_both(layouts[i], NULL, restart_engine, &c, &result);
				EXPECT(!result.locked_vm, "%s: %llu pages left charged", layouts[i],
				       (unsigned long long)result.locked_vm);
				EXPECT(!result.acquired_less_released || i == 1,
				       "%s: %lld pins left", layouts[i],
				       (long long)result.acquired_less_released);
			}
}
