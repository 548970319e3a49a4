// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases 62, 63, 68 and 76: pages that others have pinned, found by bus address. */
#include "case.h"

#define PAGES(n) ((u64)(n) << PTB_PAGE_SHIFT)

/* By both ways there are: node by node, and by subtree counts where the tree carries them. */
static u64 count(ptb_vpfn_root_t *root, u64 first, u64 last)
{
	u64 nr = ptb_vpfn_count(root, first, last);

	EXPECT(ptb_vpfn_count_nodes(root, first, last) == nr,
	       "0x%llx to 0x%llx: %llu pages, node by node %llu", (unsigned long long)first,
	       (unsigned long long)last, (unsigned long long)nr,
	       (unsigned long long)ptb_vpfn_count_nodes(root, first, last));
	return nr;
}

/* Every range of pages 0 to 5, of which @set are in the tree. */
static void expect_set(ptb_vpfn_root_t *root, unsigned int set)
{
	unsigned int i, j;

	for (i = 0; i < 6; i++)
		for (j = i; j < 6; j++) {
			u64 want = __builtin_popcount(set >> i & (BIT(j - i + 1) - 1));
			u64 got = count(root, PAGES(i), PAGES(j + 1) - 1);

			EXPECT(got == want, "set %02x, pages %u to %u: %llu, not %llu", set, i, j,
			       (unsigned long long)got, (unsigned long long)want);
		}
}

/*
 * Also tried: every range over every set of up to six pages, put in in rising, falling and mixed
 * order, and taken out again one by one.
 */
TEST(case_62_every_page_of_a_range_is_counted_wherever_the_root_is)
{
	static const u8 orders[][6] = { { 0, 1, 2, 3, 4, 5 },
					{ 5, 4, 3, 2, 1, 0 },
					{ 3, 1, 5, 0, 2, 4 } };
	ptb_vpfn_root_t root = {};
	unsigned int set, i, o;

	EXPECT_EQ(count(&root, 0, PAGES(8) - 1), 0, "pages in an empty tree");
	vpfn_add(&root, PAGES(4));
	vpfn_add(&root, PAGES(2));
	vpfn_add(&root, PAGES(6));
	EXPECT_EQ(count(&root, 0, PAGES(8) - 1), 3, "pages in [0, 8)");
	EXPECT_EQ(count(&root, PAGES(4), PAGES(5) - 1), 1, "pages in [4, 5)");
	EXPECT_EQ(count(&root, PAGES(5), PAGES(6) - 1), 0, "pages in [5, 6)");
	vpfn_clear(&root);

	for (set = 0; set < 64; set++)
		for (o = 0; o < ARRAY_SIZE(orders); o++) {
			for (i = 0; i < 6; i++)
				if (set & BIT(orders[o][i]))
					vpfn_add(&root, PAGES(orders[o][i]));
			expect_set(&root, set);
			for (i = 0; i < 6; i++) {
				vpfn_del(&root, PAGES(i));
				expect_set(&root, set & ~(BIT(i + 1) - 1));
			}
		}
}

/*
 * Also tried: the bytes on both sides of the node, ranges that end just before it and begin just
 * behind it.
 */
TEST(case_63_point_query_finds_only_its_own_address)
{
	static const struct {
		u64 first, last, want;
	} rows[] = {
		{ PAGES(2) - 0x800, PAGES(2) - 0x800, 0 },
		{ PAGES(2), PAGES(2), 1 },
		{ PAGES(2) + 0x800, PAGES(2) + 0x800, 0 },
		{ PAGES(2) - 1, PAGES(2) - 1, 0 },
		{ PAGES(2) + 1, PAGES(2) + 1, 0 },
		{ PAGES(1), PAGES(2) - 1, 0 },
		{ PAGES(2) + 1, PAGES(3) - 1, 0 },
		{ PAGES(2) - 0x800, PAGES(2), 1 },
		{ PAGES(2) - 0x800, PAGES(2) + 0x7ff, 1 },
		{ PAGES(2), PAGES(3) - 1, 1 },
		{ 0, ~0ULL, 1 },
	};
	ptb_vpfn_root_t root = {};
	size_t i;

	vpfn_add(&root, PAGES(2));
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT(count(&root, rows[i].first, rows[i].last) == rows[i].want,
		       "0x%llx to 0x%llx: %llu pages", (unsigned long long)rows[i].first,
		       (unsigned long long)rows[i].last,
		       (unsigned long long)count(&root, rows[i].first, rows[i].last));
	vpfn_clear(&root);
}

/*
 * Here the bus address is computed from the user's, so the case goes the other way: base + (vaddr -
 * start), with bases where base + vaddr does not fit. Page 3 is paid for by others, which only the
 * right address shows. Also tried: other pages.
 */
TEST(case_68_address_of_a_page_is_computed_without_overflow)
{
	static const u64 bases[] = { 0x20000000, 0xf0000000, ~0ULL << 28, 0 - PAGES(16),
				     1ULL << 63 };
	static const int pages[] = { 0, 3, 15 };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(bases); i++)
		for (j = 0; j < ARRAY_SIZE(pages); j++) {
			const int external[] = { pages[j], -1 };
			struct vfio_case c = { .slot = 7,
					       .nr = 16,
					       .limit = 15,
					       .iova = bases[i],
					       .capacity = 4,
					       .external = external };

			EXPECT_EQ(bed_vfio_both("at 7 | o4@200", NULL, NULL, &c, NULL), 16,
				  "pages mapped, one of them paid for");
			c.limit = 14;
			EXPECT_EQ(bed_vfio_both("at 7 | o4@200", NULL, NULL, &c, NULL), -ENOMEM,
				  "the same with a limit of one less");
		}
}

/*
 * Ranges in the library are first to last, and nothing is rounded up, so there is nothing to wrap;
 * what is left of the case is the top of the address space. Also tried: the last page alone, the
 * range that ends one page before.
 */
TEST(case_76_range_may_end_with_the_address_space)
{
	const u64 half = 1ULL << (63 - PTB_PAGE_SHIFT);
	ptb_vpfn_root_t root = {};
	u64 last_page = 0 - PAGES(1);

	EXPECT_EQ((u64)~0ULL >> PTB_PAGE_SHIFT, (1ULL << (64 - PTB_PAGE_SHIFT)) - 1,
		  "number of the last page");
	vpfn_add(&root, 0);
	vpfn_add(&root, last_page);
	EXPECT_EQ(count(&root, last_page, ~0ULL), 1, "pages at the top");
	EXPECT_EQ(count(&root, 0, ~0ULL), 2, "pages in all");
	EXPECT_EQ(count(&root, PAGES(1), last_page - 1), 0, "pages between");
	EXPECT_EQ(ptb_vpfn_charge(&root, last_page, 1, 0, 0, false), 0, "charge for the last page");
	EXPECT_EQ(ptb_vpfn_charge(&root, 0 - PAGES(16), 16, 0, 15, false), 15,
		  "charge for the last 16");
	EXPECT_EQ(ptb_vpfn_charge(&root, 0 - PAGES(16), 15, 0, 15, false), 15,
		  "charge for all but it");
	EXPECT_EQ(ptb_vpfn_charge(&root, 0, half, 0, ~0ULL, false), half - 1,
		  "charge for half of the address space");
	vpfn_clear(&root);
	EXPECT_EQ(ptb_max_nr(0 - FMT_PAGE_SIZE, 0), 1, "entries left at the top");
}

/* Map and unmap there: a lookup that wrapped would take page 0 for the last. */
TEST(case_76_mapping_may_end_with_the_address_space)
{
	static const int last[] = { 15, -1 }, beyond[] = { 16, -1 };
	struct vfio_case c = { .nr = 16, .limit = 16, .iova = 0 - PAGES(16), .keep = true };
	static struct outcome o;

	EXPECT_EQ(bed_vfio_both("o4@200", NULL, NULL, &c, &o), 16, "pages");
	EXPECT_EQ(o.locked_vm, 16, "pages charged");
	c.external = last;
	EXPECT_EQ(bed_vfio_both("o4@200", NULL, NULL, &c, &o), 16, "pages");
	EXPECT_EQ(o.locked_vm, 15, "pages charged, the last being paid for");
	c.external = beyond;
	EXPECT_EQ(bed_vfio_both("o4@200", NULL, NULL, &c, &o), 16, "pages");
	EXPECT_EQ(o.locked_vm, 16, "pages charged, page 0 being paid for");
	c.keep = false;
	c.external = last;
	EXPECT_EQ(bed_vfio_both("o4@200", NULL, NULL, &c, &o), 16, "pages");
	EXPECT_EQ(o.locked_vm, 0, "pages charged after unmap");
}
