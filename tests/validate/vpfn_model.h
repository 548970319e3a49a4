/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Pages that others have pinned already, counted in a plain array. */
#ifndef TESTS_VALIDATE_VPFN_MODEL_H
#define TESTS_VALIDATE_VPFN_MODEL_H

#include "bed.h"

#define PAGE (1ULL << PTB_PAGE_SHIFT)

static u64 naive_count(const u64 *iovas, unsigned int n, u64 first, u64 last)
{
	unsigned int i, j;
	u64 nr = 0;

	for (i = 0; i < n; i++) {
		for (j = 0; j < i; j++)
			if (iovas[j] == iovas[i])
				break;
		/* A tree holds an address once, and only a page's own address counts. */
		nr += j == i && iovas[i] % PAGE == 0 && iovas[i] >= first && iovas[i] <= last;
	}
	return nr;
}

/* By what the tree knows of its subtrees, where it does, and node by node. */
static void
expect_count(ptb_vpfn_root_t *root, const u64 *iovas, unsigned int n, u64 first, u64 last)
{
	u64 want = naive_count(iovas, n, first, last), got = ptb_vpfn_count(root, first, last);
	u64 nodes = ptb_vpfn_count_nodes(root, first, last);

	if (got != want || nodes != want)
		EXPECT(false, "%u pages, from %llx to %llx: %llu, node by node %llu, expected %llu",
		       n, (unsigned long long)first, (unsigned long long)last,
		       (unsigned long long)got, (unsigned long long)nodes,
		       (unsigned long long)want);
}

#endif
