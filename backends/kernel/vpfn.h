/* SPDX-License-Identifier: GPL-2.0-only */
/* The tree of vpfn.h: struct vfio_pfn of drivers/vfio/vfio_iommu_type1.c, ordered by iova. */
#ifndef PTEBATCH_KERNEL_VPFN_H
#define PTEBATCH_KERNEL_VPFN_H

#include <linux/rbtree.h>

#include "ops.h"

typedef struct rb_root ptb_vpfn_root_t;
typedef struct rb_node ptb_vpfn_node_t;

static __always_inline u64 kernel_vpfn_iova(struct rb_node *node)
{
	return rb_entry(node, struct vfio_pfn, node)->iova;
}
#define ptb_vpfn_iova kernel_vpfn_iova

/* Equal from the address on, so that the leftmost equal one is the lowest that is not below. */
static inline int kernel_vpfn_cmp(const void *iova, const struct rb_node *node)
{
	return *(const u64 *)iova > rb_entry(node, struct vfio_pfn, node)->iova;
}

static __always_inline struct rb_node *kernel_vpfn_first(struct rb_root *root, u64 iova)
{
	return rb_find_first(&iova, root, kernel_vpfn_cmp);
}
#define ptb_vpfn_first kernel_vpfn_first

static __always_inline struct rb_node *kernel_vpfn_next(struct rb_node *node)
{
	return rb_next(node);
}
#define ptb_vpfn_next kernel_vpfn_next

#endif
