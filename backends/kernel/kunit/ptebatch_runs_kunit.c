// SPDX-License-Identifier: GPL-2.0-only
/* Runs of real pages; the tree of VFIO's pins. */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/rbtree.h>

/* As much of VFIO's own as the tree asks for. */
struct vfio_pfn {
	struct rb_node node;
	dma_addr_t iova;
};

#include <ptebatch/kernel/vpfn.h>
#include <ptebatch/contig.h>
#include <ptebatch/vpfn.h>

#include "ptebatch_kunit.h"

/* ---- contig ---- */

/* Two folios of 8 pages, 8 small ones whose frames follow each other. */
struct heap {
	struct folio *large[2];
	struct page *small;
};

static int heap_init(struct kunit *test)
{
	struct heap *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, h);
	test->priv = h;
	h->large[0] = folio_alloc(GFP_KERNEL, 3);
	KUNIT_ASSERT_NOT_NULL(test, h->large[0]);
	h->large[1] = folio_alloc(GFP_KERNEL, 3);
	KUNIT_ASSERT_NOT_NULL(test, h->large[1]);
	h->small = alloc_pages(GFP_KERNEL, 3);
	KUNIT_ASSERT_NOT_NULL(test, h->small);
	split_page(h->small, 3);
	return 0;
}

static void heap_exit(struct kunit *test)
{
	struct heap *h = test->priv;
	unsigned int i;

	if (!h)
		return;
	for (i = 0; i < ARRAY_SIZE(h->large); i++)
		if (h->large[i])
			folio_put(h->large[i]);
	for (i = 0; h->small && i < 8; i++)
		put_page(h->small + i);
}

static struct page *heap_page(struct heap *h, unsigned int i)
{
	return i < 16 ? folio_page(h->large[i / 8], i % 8) : h->small + i % 8;
}

static void check_run(struct kunit *test, struct page **pages, unsigned int n)
{
	unsigned long pfns[24];
	unsigned int run, folio, i;

	for (i = 0; i < n; i++)
		pfns[i] = page_to_pfn(pages[i]);
	for (run = 1; run < n; run++)
		if (pfns[run] != pfns[0] + run)
			break;
	for (folio = 1; folio < run; folio++)
		if (page_folio(pages[folio]) != page_folio(pages[0]))
			break;

	KUNIT_ASSERT_EQ_MSG(test, ptb_contig_pfns(pfns, n), run, "of %u frames", n);
	KUNIT_ASSERT_EQ_MSG(test, ptb_contig_folio(pages, n), folio, "of %u pages of a folio", n);
	/* A section's end may be in between where sections are apart. */
	for (i = 1; i < run; i++)
		if (!ptb_page_same_section(pages[i - 1], pages[i]))
			break;
	KUNIT_ASSERT_EQ_MSG(test, ptb_contig_pages(pages, n), i, "of %u pages", n);
}

static void runs_are_those_of_the_frames(struct kunit *test)
{
	struct page *pages[24];
	struct rnd_state rnd;
	unsigned int round, n, i, at;

	prandom_seed_state(&rnd, 0x636f6e74);
	for (round = 0; round < 5000; round++) {
		n = 1 + below(&rnd, ARRAY_SIZE(pages));
		at = below(&rnd, 24);
		for (i = 0; i < n; i++) {
			pages[i] = heap_page(test->priv, at);
			at = once_in(&rnd, 8) ? below(&rnd, 24) : (at + 1) % 24;
		}
		check_run(test, pages, n);
	}
}

static void a_run_ends_with_its_folio_or_not(struct kunit *test)
{
	struct page *pages[8];
	struct heap *h = test->priv;
	unsigned int i;

	for (i = 0; i < 8; i++)
		pages[i] = folio_page(h->large[0], i);
	KUNIT_EXPECT_EQ(test, ptb_contig_folio(pages, 8), 8);
	KUNIT_EXPECT_EQ(test, ptb_contig_folio(pages, 5), 5);
	KUNIT_EXPECT_EQ(test, ptb_contig_folio(pages + 5, 3), 3);

	for (i = 0; i < 8; i++)
		pages[i] = h->small + i;
	KUNIT_EXPECT_EQ(test, ptb_contig_folio(pages, 8), 1);
	KUNIT_EXPECT_EQ(test, ptb_contig_pages(pages, 8), 8);
}

static struct kunit_case contig_cases[] = {
	KUNIT_CASE(runs_are_those_of_the_frames),
	KUNIT_CASE(a_run_ends_with_its_folio_or_not),
	{},
};

static struct kunit_suite contig_suite = {
	.name = "ptebatch_contig",
	.init = heap_init,
	.exit = heap_exit,
	.test_cases = contig_cases,
};

/* ---- vpfn ---- */

#define VPFNS 32

static void vpfn_insert(struct rb_root *root, struct vfio_pfn *new)
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		if (new->iova < rb_entry(parent, struct vfio_pfn, node)->iova)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&new->node, parent, link);
	rb_insert_color(&new->node, root);
}

/* A page low, high or in between; sometimes an address inside of it. */
static u64 random_iova(struct rnd_state *rnd)
{
	u64 iova = (u64)below(rnd, 2 * VPFNS) << PAGE_SHIFT;

	if (once_in(rnd, 8))
		iova += below(rnd, PAGE_SIZE);
	switch (below(rnd, 4)) {
	case 0:
		return -(u64)PAGE_SIZE - iova;
	case 1:
		return BIT_ULL(40) + iova;
	default:
		return iova;
	}
}

static u64 plain_count(const struct vfio_pfn *vpfns, unsigned int n, u64 first, u64 last)
{
	unsigned int i;
	u64 nr = 0;

	for (i = 0; i < n; i++)
		nr += PAGE_ALIGNED(vpfns[i].iova) && vpfns[i].iova >= first &&
		      vpfns[i].iova <= last;
	return nr;
}

static bool vpfn_known(const struct vfio_pfn *vpfns, unsigned int n, u64 iova)
{
	while (n--)
		if (vpfns[n].iova == iova)
			return true;
	return false;
}

static unsigned int vpfn_fill(struct rb_root *root, struct vfio_pfn *vpfns, struct rnd_state *rnd)
{
	unsigned int n = 0, want = below(rnd, VPFNS + 1);

	*root = RB_ROOT;
	while (n < want) {
		u64 iova = random_iova(rnd);

		if (vpfn_known(vpfns, n, iova))
			continue;
		vpfns[n].iova = iova;
		vpfn_insert(root, &vpfns[n++]);
	}
	/* The tree turns as it likes. */
	while (n && !once_in(rnd, 6))
		rb_erase(&vpfns[--n].node, root);
	return n;
}

static struct vfio_pfn *vpfn_alloc(struct kunit *test)
{
	struct vfio_pfn *vpfns = kunit_kcalloc(test, VPFNS, sizeof(*vpfns), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, vpfns);
	return vpfns;
}

static void count_agrees_with_an_array(struct kunit *test)
{
	struct vfio_pfn *vpfns = vpfn_alloc(test);
	unsigned int round, range, n;
	struct rnd_state rnd;
	struct rb_root root;

	prandom_seed_state(&rnd, 0x7670666e);
	for (round = 0; round < 400; round++) {
		n = vpfn_fill(&root, vpfns, &rnd);
		for (range = 0; range < 50; range++) {
			u64 first = once_in(&rnd, 8) ? 0 : random_iova(&rnd);
			u64 last = once_in(&rnd, 8) ? U64_MAX : random_iova(&rnd);

			if (first > last)
				swap(first, last);
			KUNIT_ASSERT_EQ_MSG(test, ptb_vpfn_count(&root, first, last),
					    plain_count(vpfns, n, first, last),
					    "%u pins, from %llx to %llx", n, first, last);
		}
	}
}

static void charge_is_what_is_left_to_pay(struct kunit *test)
{
	struct vfio_pfn *vpfns = vpfn_alloc(test);
	unsigned int round, n;
	struct rnd_state rnd;
	struct rb_root root;

	prandom_seed_state(&rnd, 0x63686172);
	for (round = 0; round < 20000; round++) {
		u64 iova, npage, locked = below(&rnd, 100), limit = below(&rnd, 100);
		bool cap = once_in(&rnd, 4);
		s64 want;

		if (round % 50 == 0)
			n = vpfn_fill(&root, vpfns, &rnd);
		iova = random_iova(&rnd) & PAGE_MASK;
		npage = 1 + below(&rnd, VPFNS);
		/* Up to the last page of the address space. */
		npage = min(npage, ((U64_MAX - iova) >> PAGE_SHIFT) + 1);
		want = npage - plain_count(vpfns, n, iova, iova + (npage << PAGE_SHIFT) - 1);
		if (want && !cap && locked + want > limit)
			want = -ENOMEM;
		KUNIT_ASSERT_EQ_MSG(test, ptb_vpfn_charge(&root, iova, npage, locked, limit, cap),
				    want, "%llu pages at %llx, %llu of %llu locked%s", npage, iova,
				    locked, limit, cap ? ", no limit" : "");
	}
}

static struct kunit_case vpfn_cases[] = {
	KUNIT_CASE(count_agrees_with_an_array),
	KUNIT_CASE(charge_is_what_is_left_to_pay),
	{},
};

static struct kunit_suite vpfn_suite = {
	.name = "ptebatch_vpfn",
	.test_cases = vpfn_cases,
};

kunit_test_suites(&contig_suite, &vpfn_suite);
