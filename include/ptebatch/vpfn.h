/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * vpfn: pages of a range that somebody else has pinned and paid for already, found in a tree
 * ordered by address.
 *
 * The four ops are about a tree, not about page tables, so they stand here and not in ops.h.
 */
#ifndef PTEBATCH_VPFN_H
#define PTEBATCH_VPFN_H

#include "defs.h"

/**
 * ptb_vpfn_first() - the lowest node at or above an address
 * @root: the tree; types ptb_vpfn_root_t and ptb_vpfn_node_t are the backend's
 * @iova: bus address in bytes
 *
 * Needed by: vpfn. Context: whatever keeps the tree still. Mirrors: rb_find_first().
 * Return: the node, or NULL.
 */
static inline ptb_vpfn_node_t *ptb_vpfn_first(ptb_vpfn_root_t *root, u64 iova);

/**
 * ptb_vpfn_next() - the node behind this one
 * @node: in the tree
 *
 * Needed by: vpfn. Mirrors: rb_next().
 * Return: the node, or NULL.
 */
static inline ptb_vpfn_node_t *ptb_vpfn_next(ptb_vpfn_node_t *node);

/**
 * ptb_vpfn_iova() - address of a node
 * @node: in the tree
 *
 * Needed by: vpfn.
 * Return: bus address in bytes.
 */
static inline u64 ptb_vpfn_iova(ptb_vpfn_node_t *node);

#ifdef ptb_vpfn_rank
/**
 * ptb_vpfn_rank() - nodes at page boundaries, at or below an address
 * @root: a tree that carries subtree counts
 * @iova: bus address in bytes
 *
 * Needed by: vpfn, optional: makes the count O(log n).
 * Return: nodes.
 */
static inline u64 ptb_vpfn_rank(ptb_vpfn_root_t *root, u64 iova);
#endif

/* In order from @first: no recursion, and no way to start in the middle and miss the lower half. */
static inline u64 ptb_vpfn_count_nodes(ptb_vpfn_root_t *root, u64 first, u64 last)
{
	ptb_vpfn_node_t *node;
	u64 nr = 0;

	for (node = ptb_vpfn_first(root, first); node; node = ptb_vpfn_next(node)) {
		u64 iova = ptb_vpfn_iova(node);

		if (iova > last)
			break;
		if (!(iova & ((1UL << PTB_PAGE_SHIFT) - 1)))
			nr++;
	}
	return nr;
}

/**
 * ptb_vpfn_count() - pages of a range that have a node
 * @root: the tree
 * @first: first address, bytes, any alignment
 * @last: last address, inclusive, so that the range may end with the address space
 *
 * A page has a node at its own address. A driver may have pinned an address inside of a page, as
 * s390's vfio_ap does: that pin has been charged for itself, and several may lie in one page.
 *
 * O(log n + k) for k nodes found; O(log n) where the tree has ptb_vpfn_rank(). Mirrors:
 * vpfn_pages().
 * Return: pages.
 */
static inline u64 ptb_vpfn_count(ptb_vpfn_root_t *root, u64 first, u64 last)
{
#ifdef ptb_vpfn_rank
	return ptb_vpfn_rank(root, last) - (first ? ptb_vpfn_rank(root, first - 1) : 0);
#else
	return ptb_vpfn_count_nodes(root, first, last);
#endif
}

/**
 * ptb_vpfn_charge() - what a run adds to locked_vm
 * @root: pages pinned by others: paid for already
 * @iova: bus address of the run
 * @npage: its length, at least 1
 * @locked: pages accounted so far, those of this call included
 * @limit: RLIMIT_MEMLOCK in pages
 * @lock_cap: CAP_IPC_LOCK: no limit
 *
 * A run that adds nothing is never refused, even above the limit.
 *
 * Return: pages to add, or -ENOMEM if they do not fit.
 */
static inline s64
ptb_vpfn_charge(ptb_vpfn_root_t *root, u64 iova, u64 npage, u64 locked, u64 limit, bool lock_cap)
{
	u64 last = iova + ((npage << PTB_PAGE_SHIFT) - 1);
	u64 add = npage - ptb_vpfn_count(root, iova, last);

	if (!add || lock_cap)
		return add;
	if (locked > limit || add > limit - locked)
		return -ENOMEM;
	return add;
}

#endif
