// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scan against the kernel's own on the same table. References and pins need statics of
 * mm/gup.c: they are in ptebatch_gup_kunit.h.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/prandom.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/vmalloc.h>

#include "internal.h"

#include <ptebatch/kernel/ops.h>
#include <ptebatch/scan.h>

#include "ptebatch_kunit.h"

#ifdef CONFIG_ARM64_CONTPTE
#define BLOCK CONT_PTES
#else
#define BLOCK 16
#endif
#define FOLIO_PAGES (4 * BLOCK)
#define SLOTS (3 * BLOCK)

struct table {
	pte_t *ptes;
	pte_t *slot; /* the last SLOTS entries: behind them reads fault */
	struct folio *folio;
	struct vm_area_struct vma;
};

static int table_init(struct kunit *test)
{
	struct table *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	/* Followed by a hole in the address space. */
	t->ptes = vzalloc(PTRS_PER_PTE * sizeof(pte_t));
	KUNIT_ASSERT_NOT_NULL(test, t->ptes);
	t->slot = t->ptes + PTRS_PER_PTE - SLOTS;
	t->folio = folio_alloc(GFP_KERNEL, ilog2(FOLIO_PAGES));
	KUNIT_ASSERT_NOT_NULL(test, t->folio);
	vm_flags_init(&t->vma, VM_READ | VM_WRITE);
	return 0;
}

static void table_exit(struct kunit *test)
{
	struct table *t = test->priv;

	if (!t)
		return;
	if (t->folio)
		folio_put(t->folio);
	vfree(t->ptes);
}

/* Not set_ptes(): nobody walks this table, and page table check need not hear of it. */
static void put_slot(struct table *t, unsigned int i, pte_t pte)
{
	WRITE_ONCE(t->slot[i], pte);
}

/* Slots map the folio from its page @from on, and then what frames come behind it. */
static void fill_plain(struct table *t, unsigned int from)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		put_slot(t, i, pfn_pte(folio_pfn(t->folio) + from + i, vm_get_page_prot(VM_READ)));
}

/* Young and dirty may be in any entry of a block. */
static void make_block(struct table *t, unsigned int i, struct rnd_state *rnd)
{
#ifdef CONFIG_ARM64_CONTPTE
	unsigned long pfn = pte_pfn(t->slot[i]);
	pgprot_t prot = pte_pgprot(t->slot[i]);
	unsigned int j;

	if (!pte_valid(t->slot[i]) || !IS_ALIGNED(pfn, BLOCK))
		return;
	for (j = 0; j < BLOCK; j++) {
		pte_t pte = pte_mkcont(pfn_pte(pfn + j, prot));

		if (rnd && once_in(rnd, BLOCK))
			pte = pte_mkyoung(pte);
		if (rnd && once_in(rnd, BLOCK) && pte_write(pte))
			pte = pte_mkdirty(pte);
		put_slot(t, i + j, pte);
	}
#endif
}

static pte_t random_bits(struct table *t, struct rnd_state *rnd, pte_t pte)
{
	u32 bits = prandom_u32_state(rnd);

	pte = bits & BIT(0) ? pte_mkyoung(pte) : pte_mkold(pte);
	pte = bits & BIT(1) ? pte_mkdirty(pte) : pte_mkclean(pte);
	pte = bits & BIT(2) ? pte_mksoft_dirty(pte) : pte_clear_soft_dirty(pte);
	return bits & BIT(3) ? pte_mkwrite(pte, &t->vma) : pte_wrprotect(pte);
}

/* An entry that should end any run that comes to it. */
static pte_t random_stranger(struct table *t, struct rnd_state *rnd, pte_t pte)
{
	switch (below(rnd, 5)) {
	case 0:
		return __pte(0);
	case 1:
		return pfn_pte(folio_pfn(t->folio) + below(rnd, FOLIO_PAGES),
			       vm_get_page_prot(VM_READ));
	case 2:
		return pte_mkuffd_wp(pte);
	case 3:
		return pfn_pte(pte_pfn(pte), PAGE_NONE);
	default:
		return pfn_pte(pte_pfn(pte), vm_get_page_prot(VM_READ | VM_EXEC));
	}
}

/* Runs of all lengths: how often an entry differs from its neighbours differs between tables. */
static void fill_random(struct table *t, struct rnd_state *rnd)
{
	unsigned int from = below(rnd, 4) * BLOCK, rarely = 1 + below(rnd, 64), i;
	pgprot_t prot = vm_get_page_prot(VM_READ);
	bool none = once_in(rnd, 8);
	struct rnd_state base;

	prandom_seed_state(&base, prandom_u32_state(rnd));
	for (i = 0; i < SLOTS; i++) {
		struct rnd_state same = base;
		pte_t pte = pfn_pte(folio_pfn(t->folio) + from + i, none ? PAGE_NONE : prot);

		if (!none)
			pte = random_bits(t, once_in(rnd, rarely) ? rnd : &same, pte);
		if (once_in(rnd, SLOTS))
			pte = random_stranger(t, rnd, pte);
		put_slot(t, i, pte);
	}
}

static void make_random_blocks(struct table *t, struct rnd_state *rnd)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i += BLOCK)
		if (once_in(rnd, 2))
			make_block(t, i, rnd);
}

/* Flags are constants: a function for each set of them, by its number. */
/* clang-format off */
#define SCAN(n)                                                                             \
	static noinline unsigned int scan_##n(struct table *t, pte_t *ptep, pte_t *ptentp,  \
					      unsigned int max_nr)                          \
	{                                                                                   \
		return ptb_scan_folio(t->folio, &t->vma, ptep, ptentp, max_nr,              \
				      (__force ptb_t)0x##n);                                \
	}
#define ENTRY(n) { (__force ptb_t)0x##n, scan_##n }

SCAN(00) SCAN(01) SCAN(02) SCAN(03) SCAN(04) SCAN(05) SCAN(06) SCAN(07)
SCAN(08) SCAN(09) SCAN(0a) SCAN(0b) SCAN(0c) SCAN(0d) SCAN(0e) SCAN(0f)
SCAN(10) SCAN(11) SCAN(12) SCAN(13) SCAN(14) SCAN(15) SCAN(16) SCAN(17)
SCAN(18) SCAN(19) SCAN(1a) SCAN(1b) SCAN(1c) SCAN(1d) SCAN(1e) SCAN(1f)
SCAN(20) SCAN(27) SCAN(38) SCAN(44) SCAN(64) SCAN(80) SCAN(96) SCAN(ff)

static const struct scan {
	ptb_t flags;
	unsigned int (*run)(struct table *t, pte_t *ptep, pte_t *ptentp, unsigned int max_nr);
} scans[] = {
	ENTRY(00), ENTRY(01), ENTRY(02), ENTRY(03), ENTRY(04), ENTRY(05), ENTRY(06), ENTRY(07),
	ENTRY(08), ENTRY(09), ENTRY(0a), ENTRY(0b), ENTRY(0c), ENTRY(0d), ENTRY(0e), ENTRY(0f),
	ENTRY(10), ENTRY(11), ENTRY(12), ENTRY(13), ENTRY(14), ENTRY(15), ENTRY(16), ENTRY(17),
	ENTRY(18), ENTRY(19), ENTRY(1a), ENTRY(1b), ENTRY(1c), ENTRY(1d), ENTRY(1e), ENTRY(1f),
	ENTRY(20), ENTRY(27), ENTRY(38), ENTRY(44), ENTRY(64), ENTRY(80), ENTRY(96), ENTRY(ff),
};

/* clang-format on */

/* The kernel's batch, up to where a bit differs that only ours can respect. */
static unsigned int
expected_batch(struct table *t, pte_t *ptep, pte_t *ptentp, unsigned int max_nr, ptb_t flags)
{
	pte_t first = *ptentp, pte = first;
	unsigned int nr, i;

	nr = ptb_compat_folio_pte_batch_flags(t->folio, &t->vma, ptep, &pte, max_nr, flags);
	for (i = 1; i < nr; i++) {
		pte = ptep_get(ptep + i);
		if ((flags & PTB_RESPECT_WRITE) && pte_write(pte) != pte_write(first))
			break;
		if ((flags & PTB_RESPECT_YOUNG) && pte_young(pte) != pte_young(first))
			break;
	}
	return ptb_compat_folio_pte_batch_flags(t->folio, &t->vma, ptep, ptentp, i, flags);
}

static void
check_batch(struct kunit *test, const struct scan *scan, unsigned int start, unsigned int max_nr)
{
	struct table *t = test->priv;
	const ptb_t flags = scan->flags;
	pte_t *ptep = t->slot + start;
	pte_t first = ptb_ptep_get(ptep, flags), ours = first, kernels = ptep_get(ptep);
	unsigned int nr, want;

	if (!pte_present(first) || pte_pfn(first) - folio_pfn(t->folio) >= FOLIO_PAGES)
		return;
	nr = scan->run(t, ptep, &ours, max_nr);
	want = expected_batch(t, ptep, &kernels, max_nr, flags);
	KUNIT_ASSERT_EQ_MSG(test, nr, want, "batch of %u by flags %#x from slot %u, limit %u", nr,
			    (__force unsigned int)flags, start, max_nr);

	if (flags & PTB_MERGE_WRITE)
		KUNIT_ASSERT_EQ_MSG(test, !pte_write(ours), !pte_write(kernels),
				    "write not as merged by the kernel");
	if (flags & PTB_MERGE_YOUNG_DIRTY) {
		KUNIT_ASSERT_EQ_MSG(test, !pte_young(ours), !pte_young(kernels),
				    "young not as merged by the kernel");
		KUNIT_ASSERT_EQ_MSG(test, !pte_dirty(ours), !pte_dirty(kernels),
				    "dirty not as merged by the kernel");
	}
	/* The kernel marks soft-dirty with dirty, even where all of the run agrees it is not. */
	if (flags & PTB_RESPECT_SOFT_DIRTY)
		KUNIT_ASSERT_EQ_MSG(test, !pte_soft_dirty(ours), !pte_soft_dirty(first),
				    "soft-dirty changed though respected");
	KUNIT_ASSERT_EQ_MSG(test, pte_val(ptb_pte_key(ours, PTB_FOR_LOOK)),
			    pte_val(ptb_pte_key(first, PTB_FOR_LOOK)),
			    "merging changed more than young, dirty and write");
}

static void scan_agrees_with_the_kernel(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int round, i;

	prandom_seed_state(&rnd, 0x7363616e);
	for (round = 0; round < 512; round++) {
		fill_random(test->priv, &rnd);
		make_random_blocks(test->priv, &rnd);
		for (i = 0; i < ARRAY_SIZE(scans); i++) {
			unsigned int start = below(&rnd, SLOTS);

			check_batch(test, &scans[i], start, SLOTS - start);
			check_batch(test, &scans[i], start, 1 + below(&rnd, SLOTS - start));
		}
	}
}

static void scan_stays_in_folio_range_and_table(struct kunit *test)
{
	static const struct {
		const char *name;
		unsigned int from, start, max_nr, want;
	} rows[] = {
		{ "one entry", 0, 0, 1, 1 },
		{ "one entry inside a block", 0, 5, 1, 1 },
		{ "limit inside a block", 0, 3, 5, 5 },
		{ "limit in the next block", 0, 3, BLOCK, BLOCK },
		{ "limit is the table's end", 0, 0, SLOTS, SLOTS },
		{ "limit is the table's end, from inside a block", 0, BLOCK + 1, 2 * BLOCK - 1,
		  2 * BLOCK - 1 },
		{ "last entry of the table", 0, SLOTS - 1, 1, 1 },
		{ "folio ends with the table", BLOCK, 0, SLOTS, SLOTS },
		{ "folio ends before the limit", 2 * BLOCK, 0, SLOTS, 2 * BLOCK },
		{ "folio ends before the limit, from inside a block", 2 * BLOCK, 7, SLOTS - 7,
		  2 * BLOCK - 7 },
		{ "limit one past the folio", 2 * BLOCK, 0, 2 * BLOCK + 1, 2 * BLOCK },
		{ "last page of the folio", 2 * BLOCK, 2 * BLOCK - 1, BLOCK + 1, 1 },
	};
	struct table *t = test->priv;
	unsigned int i, k, cont;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (cont = 0; cont < 2; cont++) {
			fill_plain(t, rows[i].from);
			for (k = 0; cont && k < SLOTS; k += BLOCK)
				make_block(t, k, NULL);
			for (k = 0; k < ARRAY_SIZE(scans); k++) {
				pte_t *ptep = t->slot + rows[i].start, pte = *ptep;

				KUNIT_EXPECT_EQ_MSG(test,
						    scans[k].run(t, ptep, &pte, rows[i].max_nr),
						    rows[i].want, "%s, flags %#x%s", rows[i].name,
						    (__force unsigned int)scans[k].flags,
						    cont ? ", in blocks" : "");
				check_batch(test, &scans[k], rows[i].start, rows[i].max_nr);
			}
		}
}

static pte_t toggle(struct table *t, pte_t pte, ptb_t bit)
{
	if (bit == PTB_RESPECT_YOUNG)
		return pte_young(pte) ? pte_mkold(pte) : pte_mkyoung(pte);
	if (bit == PTB_RESPECT_DIRTY)
		return pte_dirty(pte) ? pte_mkclean(pte) : pte_mkdirty(pte);
	if (bit == PTB_RESPECT_SOFT_DIRTY)
		return pte_soft_dirty(pte) ? pte_clear_soft_dirty(pte) : pte_mksoft_dirty(pte);
	return pte_write(pte) ? pte_wrprotect(pte) : pte_mkwrite(pte, &t->vma);
}

/* What the kernel's own cannot be asked about as well. */
static void bits_end_a_run_only_where_respected(struct kunit *test)
{
	static const ptb_t bits[] = { PTB_RESPECT_YOUNG, PTB_RESPECT_DIRTY, PTB_RESPECT_SOFT_DIRTY,
				      PTB_RESPECT_WRITE };
	struct table *t = test->priv;
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		fill_plain(t, 0);
		/* There and back: UML notes in the entry that it was changed. */
		for (k = 0; k < SLOTS; k++) {
			pte_t pte = toggle(t, toggle(t, t->slot[k], bits[i]), bits[i]);

			put_slot(t, k, pte_clear_soft_dirty(pte));
		}
		put_slot(t, 5, toggle(t, t->slot[5], bits[i]));
		if (pte_val(t->slot[5]) == pte_val(pte_advance_pfn(t->slot[4], 1)))
			continue; /* a bit that this architecture has not */

		for (k = 0; k < ARRAY_SIZE(scans); k++) {
			pte_t pte = t->slot[0];
			/* mkdirty makes soft-dirty as well. */
			bool both = pte_soft_dirty(t->slot[5]) &&
				    (scans[k].flags & PTB_RESPECT_SOFT_DIRTY);
			unsigned int want = scans[k].flags & bits[i] || both ? 5 : SLOTS;

			KUNIT_EXPECT_EQ_MSG(test, scans[k].run(t, t->slot, &pte, SLOTS), want,
					    "flags %#x, entries differ in what %#x respects",
					    (__force unsigned int)scans[k].flags,
					    (__force unsigned int)bits[i]);
		}
	}
}

static void scan_without_folio_ends_at_the_given_frame(struct kunit *test)
{
	struct table *t = test->priv;
	unsigned long pfn_end = folio_pfn(t->folio) + FOLIO_PAGES;
	pte_t pte;

	fill_plain(t, 2 * BLOCK);
	pte = t->slot[0];
	KUNIT_EXPECT_EQ(test, ptb_scan(t->slot, &pte, pfn_end, SLOTS, PTB_FOR_LOOK), 2 * BLOCK);
	KUNIT_EXPECT_EQ(test, ptb_scan(t->slot, &pte, pfn_end + 3, SLOTS, PTB_FOR_LOOK),
			2 * BLOCK + 3);
	KUNIT_EXPECT_EQ(test, ptb_scan(t->slot, &pte, ULONG_MAX, SLOTS, PTB_FOR_LOOK), SLOTS);
	KUNIT_EXPECT_EQ(test, ptb_scan(t->slot, &pte, pte_pfn(pte) + 1, SLOTS, PTB_FOR_LOOK), 1);
}

static void limit_is_the_end_of_range_or_table(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, 0x656e6473);
	for (i = 0; i < 1000; i++) {
		unsigned long addr = PMD_SIZE + below(&rnd, 4 * PTRS_PER_PTE) * PAGE_SIZE;
		unsigned long end = addr + (1 + below(&rnd, 2 * PTRS_PER_PTE)) * PAGE_SIZE;

		KUNIT_EXPECT_EQ(test, ptb_max_nr(addr, end),
				(pmd_addr_end(addr, end) - addr) >> PAGE_SHIFT);
	}
	KUNIT_EXPECT_EQ(test, ptb_max_nr(-PAGE_SIZE, 0), 1);
	KUNIT_EXPECT_EQ(test, ptb_max_nr(-PMD_SIZE, 0), PTRS_PER_PTE);
}

static void runs_of_present_and_of_empty_entries(struct kunit *test)
{
	struct table *t = test->priv;
	unsigned int round, i, nr, got;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 0x636c6173);
	for (round = 0; round < 200; round++) {
		fill_random(t, &rnd);
		for (i = below(&rnd, SLOTS); i < SLOTS && !once_in(&rnd, BLOCK); i++)
			put_slot(t, i, __pte(0));
		make_random_blocks(t, &rnd);
		for (i = 0; i < SLOTS; i++) {
			pte_t pte = t->slot[i];

			for (nr = 1; i + nr < SLOTS; nr++)
				if (!pte_present(t->slot[i + nr]) != !pte_present(pte))
					break;
			if (pte_present(pte))
				got = ptb_scan_present(t->slot + i, pte, SLOTS - i);
			else
				got = ptb_scan_none(t->slot + i, SLOTS - i);
			KUNIT_ASSERT_EQ_MSG(test, got, nr, "from slot %u", i);
		}
	}
}

static void runs_of_swap_entries(struct kunit *test)
{
	static const unsigned int runs[] = { 5, 1, 5, 1, 8, SLOTS - 20 };
	struct table *t = test->priv;
	unsigned int i, at;

	if (!IS_ENABLED(CONFIG_SWAP))
		kunit_skip(test, "no swap");

	for (i = 0; i < SLOTS; i++)
		put_slot(t, i, swp_entry_to_pte(swp_entry(1, 100 + i + (i >= 20))));
	put_slot(t, 5, pte_swp_mkexclusive(t->slot[5]));
	put_slot(t, 11, swp_entry_to_pte(swp_entry(2, 111)));

	for (i = 0, at = 0; i < ARRAY_SIZE(runs); at += runs[i++]) {
		pte_t *ptep = t->slot + at;

		KUNIT_EXPECT_EQ_MSG(test, ptb_scan_swap(ptep, *ptep, SLOTS - at), runs[i],
				    "from slot %u", at);
		/* With memcg it asks whom the slots belong to, and of these nobody knows. */
		if (!IS_ENABLED(CONFIG_MEMCG))
			KUNIT_EXPECT_EQ(test, swap_pte_batch(ptep, SLOTS - at, *ptep), runs[i]);
		KUNIT_EXPECT_EQ(test, ptb_scan_swap(ptep, *ptep, 1), 1);
	}
}

static struct kunit_case scan_cases[] = {
	KUNIT_CASE(scan_agrees_with_the_kernel),
	KUNIT_CASE(scan_stays_in_folio_range_and_table),
	KUNIT_CASE(bits_end_a_run_only_where_respected),
	KUNIT_CASE(scan_without_folio_ends_at_the_given_frame),
	KUNIT_CASE(limit_is_the_end_of_range_or_table),
	KUNIT_CASE(runs_of_present_and_of_empty_entries),
	KUNIT_CASE(runs_of_swap_entries),
	{},
};

static struct kunit_suite scan_suite = {
	.name = "ptebatch_scan",
	.init = table_init,
	.exit = table_exit,
	.test_cases = scan_cases,
};

kunit_test_suite(scan_suite);
