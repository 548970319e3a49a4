/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The fake mm as far as it does not depend on the entry format: vmas, the process, VFIO's
 * structures, FOLL_* words.
 */
#ifndef PTB_USER_MM_H
#define PTB_USER_MM_H

#include "page.h"

/* Called by the tree where it moves a node. */
struct vfio_pfn;
void vpfn_count(struct vfio_pfn *vpfn);
#define RB_AUGMENT(vpfn) vpfn_count(vpfn)
#include <bsd/sys/tree.h>

/* The kernel's values; include/linux/mm_types.h */
#define FOLL_WRITE BIT(0)
#define FOLL_GET BIT(1)
#define FOLL_LONGTERM BIT(8)
#define FOLL_PCI_P2PDMA BIT(10)
#define FOLL_PIN BIT(19)
#define GUP_PIN_COUNTING_BIAS (1 << 10)

#define VM_READ BIT(0)
#define VM_WRITE BIT(1)
#define VM_SHARED BIT(3)
#define VM_MAYWRITE BIT(5)
#define VM_PFNMAP BIT(10)
#define VM_SHADOW_STACK BIT_ULL(37)

struct mm_struct;

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	u64 vm_flags; /* has VM_SHADOW_STACK on 32-bit machines, too */
	unsigned long vm_pgoff;
	struct address_space *mapping; /* NULL: anonymous */
	bool left_out;		       /* of a replay */
};

struct mm_struct {
	u64 locked_vm;
	unsigned int write_protect_seq;
	/*
	 * One entry a PMD_SIZE of [base, end), and one a PUD_SIZE above them; the formats know
	 * their type.
	 */
	unsigned long base, end;
	void *puds, *pmds;
	void **tables;
	struct vm_area_struct *vmas; /* sorted */
	unsigned int nr_vmas;
};

/* Each node knows how many at 4K boundaries there are below it, itself included. */
struct vfio_pfn {
	RB_ENTRY(vfio_pfn) node;
	u64 iova;
	u64 nr;
};

RB_HEAD(vpfn_tree, vfio_pfn);

static inline int vpfn_cmp(const struct vfio_pfn *a, const struct vfio_pfn *b)
{
	return a->iova < b->iova ? -1 : a->iova > b->iova;
}

RB_PROTOTYPE(vpfn_tree, vfio_pfn, node, vpfn_cmp)
void vpfn_add(struct vpfn_tree *tree, u64 iova);
void vpfn_del(struct vpfn_tree *tree, u64 iova);
void vpfn_clear(struct vpfn_tree *tree);

struct vfio_batch {
	struct page **pages;
	int capacity;
	int size;
	int offset;
};

struct vfio_dma {
	u64 iova;
	unsigned long vaddr;
	bool write; /* the device may write: prot & IOMMU_WRITE */
	bool lock_cap;
	struct vpfn_tree pfn_list;
	struct mm_struct *mm;
	u64 locked_vm;
	/* The pin engine, when a test plays it; else pages are pinned from the mm. */
	long (*engine)(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
		       unsigned long *pfn, struct vfio_batch *batch);
	void *engine_arg;
	int acct_error; /* what accounting answers, if not 0 */
};

#endif
