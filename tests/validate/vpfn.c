// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Pages that others have pinned already: counted against a plain array, charged against plain
 * arithmetic.
 */
#include "random.h"

#include "vpfn_model.h"

#define TOP (~0ULL)

/* Low addresses, high ones, and some in between, so that ranges find many and few. */
static u64 random_address(struct rnd *r, bool aligned)
{
	u64 iova = rnd_below(r, 64 * PAGE);

	switch (rnd_below(r, 4)) {
	case 0:
		iova = TOP - iova;
		break;
	case 1:
		iova += 1ULL << 40;
		break;
	case 2:
		iova = rnd_next(r);
	}
	return aligned ? iova & ~(PAGE - 1) : iova;
}

static void forget(ptb_vpfn_root_t *root, u64 *iovas, unsigned int *n, unsigned int which)
{
	u64 iova = iovas[which];
	unsigned int i, kept = 0;

	vpfn_del(root, iova);
	for (i = 0; i < *n; i++)
		if (iovas[i] != iova)
			iovas[kept++] = iovas[i];
	*n = kept;
}

TEST(count_agrees_with_an_array_on_random_trees)
{
	struct rnd r = { 0x7670666e };
	u64 iovas[48], first, last;
	unsigned int tree, range, n, i;

	for (tree = 0; tree < 400; tree++) {
		ptb_vpfn_root_t root = {};

		n = rnd_below(&r, ARRAY_SIZE(iovas) + 1);
		for (i = 0; i < n; i++) {
			iovas[i] = random_address(&r, !rnd_once_in(&r, 8));
			vpfn_add(&root, iovas[i]);
		}
		/* Some go again, each at a time, and the tree turns as it likes. */
		while (n && !rnd_once_in(&r, 5))
			forget(&root, iovas, &n, rnd_below(&r, n));
		for (range = 0; range < 50; range++) {
			first = rnd_once_in(&r, 8) ? 0 : random_address(&r, rnd_once_in(&r, 2));
			last = rnd_once_in(&r, 8) ? TOP : random_address(&r, rnd_once_in(&r, 2));
			/* Often exactly from or to an address that is there. */
			if (n && rnd_once_in(&r, 3))
				first = iovas[rnd_below(&r, n)];
			if (n && rnd_once_in(&r, 3))
				last = iovas[rnd_below(&r, n)];
			if (first > last) {
				u64 other = first;

				first = last;
				last = other;
			}
			expect_count(&root, iovas, n, first, last);
		}
		vpfn_clear(&root);
	}
}

TEST(count_includes_both_ends_and_wraps_nowhere)
{
	static const struct {
		const char *name;
		u64 iovas[5];
		unsigned int n;
		u64 first, last;
		u64 want;
	} rows[] = {
		{ "no tree", {}, 0, 0, TOP, 0 },
		{ "one page", { PAGE }, 1, PAGE, 2 * PAGE - 1, 1 },
		{ "first address alone", { PAGE }, 1, PAGE, PAGE, 1 },
		{ "one before", { PAGE }, 1, 0, PAGE - 1, 0 },
		{ "one behind", { PAGE }, 1, PAGE + 1, TOP, 0 },
		{ "address 0", { 0, PAGE }, 2, 0, 0, 1 },
		{ "address 0, and on", { 0, PAGE }, 2, 0, PAGE, 2 },
		{ "last page", { TOP - PAGE + 1 }, 1, TOP - PAGE + 1, TOP, 1 },
		{ "last byte, which is no page's own address", { TOP }, 1, TOP, TOP, 0 },
		{ "second byte, which is none either", { PAGE + 1 }, 1, 0, TOP, 0 },
		{ "all there is", { 0, PAGE, 1ULL << 63, TOP - PAGE + 1, TOP }, 5, 0, TOP, 4 },
		{ "from inside the first page", { 0, PAGE, 2 * PAGE }, 3, 1, 2 * PAGE, 2 },
		{ "into the last page", { 0, PAGE, 2 * PAGE }, 3, 0, 2 * PAGE - 1, 2 },
		{ "between two", { 0, 4 * PAGE }, 2, PAGE, 4 * PAGE - 1, 0 },
		/* the range's middle is not where the count begins */
		{ "lower half of the range", { PAGE, 2 * PAGE, 3 * PAGE }, 3, 0, 100 * PAGE, 3 },
	};
	size_t i;
	unsigned int j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ptb_vpfn_root_t root = {};

		for (j = 0; j < rows[i].n; j++)
			vpfn_add(&root, rows[i].iovas[j]);
		EXPECT_EQ(ptb_vpfn_count(&root, rows[i].first, rows[i].last), rows[i].want,
			  rows[i].name);
		EXPECT_EQ(ptb_vpfn_count_nodes(&root, rows[i].first, rows[i].last), rows[i].want,
			  rows[i].name);
		vpfn_clear(&root);
	}
}

TEST(charge_is_what_nobody_else_has_paid_for)
{
	static const struct {
		const char *name;
		u64 iova, npage; /* pages at 2, 3 and 5 and the last one are paid for */
		u64 locked, limit;
		bool lock_cap;
		s64 want;
	} rows[] = {
		{ "all new", 8 * PAGE, 4, 0, 4, false, 4 },
		{ "limit met exactly", 8 * PAGE, 4, 6, 10, false, 4 },
		{ "one above the limit", 8 * PAGE, 4, 7, 10, false, -ENOMEM },
		{ "already above the limit", 8 * PAGE, 1, 11, 10, false, -ENOMEM },
		{ "above the limit, allowed to", 8 * PAGE, 4, 11, 10, true, 4 },
		{ "no limit", 8 * PAGE, 4, 1ULL << 50, TOP, false, 4 },
		{ "no limit, nearly all locked", 8 * PAGE, 4, TOP - 4, TOP, false, 4 },
		{ "no limit, one too many locked", 8 * PAGE, 4, TOP - 3, TOP, false, -ENOMEM },
		{ "limit of none", 8 * PAGE, 1, 0, 0, false, -ENOMEM },
		{ "some paid", 2 * PAGE, 4, 0, 1, false, 1 },
		{ "some paid, no room", 2 * PAGE, 4, 1, 1, false, -ENOMEM },
		{ "paid at both ends", 3 * PAGE, 3, 0, 1, false, 1 },
		{ "paid just before", 4 * PAGE, 1, 0, 1, false, 1 },
		{ "paid just behind", 1 * PAGE, 1, 0, 1, false, 1 },
		{ "all paid, at the limit", 2 * PAGE, 2, 10, 10, false, 0 },
		{ "all paid, above the limit", 2 * PAGE, 2, 11, 10, false, 0 },
		{ "all paid, limit of none", 5 * PAGE, 1, 0, 0, false, 0 },
		{ "last page of all", TOP - PAGE + 1, 1, 0, 0, false, 0 },
		{ "up to the last page of all", TOP - 3 * PAGE + 1, 3, 0, 2, false, 2 },
		{ "up to it, no room", TOP - 3 * PAGE + 1, 3, 0, 1, false, -ENOMEM },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ptb_vpfn_root_t root = {};
		s64 got;

		vpfn_add(&root, 2 * PAGE);
		vpfn_add(&root, 3 * PAGE);
		vpfn_add(&root, 5 * PAGE);
		vpfn_add(&root, TOP - PAGE + 1);
		got = ptb_vpfn_charge(&root, rows[i].iova, rows[i].npage, rows[i].locked,
				      rows[i].limit, rows[i].lock_cap);
		EXPECT_EQ(got, rows[i].want, rows[i].name);
		vpfn_clear(&root);
	}
}

/* s390's vfio_ap pins addresses inside of pages, two of them perhaps inside of one. */
TEST(pins_inside_a_page_pay_for_nothing_but_themselves)
{
	static const u64 inside[] = { PAGE + 8, PAGE + 16, 2 * PAGE + 8 };
	ptb_vpfn_root_t root = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inside); i++)
		vpfn_add(&root, inside[i]);
	EXPECT_EQ(ptb_vpfn_count(&root, 0, 4 * PAGE - 1), 0, "pages paid for");
	EXPECT_EQ(ptb_vpfn_charge(&root, PAGE, 1, 0, 1, false), 1, "a page with two of them");
	EXPECT_EQ(ptb_vpfn_charge(&root, 0, 4, 0, 4, false), 4, "four pages");
	vpfn_add(&root, PAGE);
	EXPECT_EQ(ptb_vpfn_charge(&root, PAGE, 1, 0, 0, false), 0,
		  "the page itself pinned as well");
	vpfn_clear(&root);
}
