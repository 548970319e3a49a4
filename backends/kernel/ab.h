/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Both sides of a walker in one kernel: a key to switch ours off for the kernel's own function, and
 * counters, which have a key as well, and while asked for a histogram of the lengths of runs.
 * mm/ptebatch.c has them and their files in debugfs.
 *
 * Once per call, never per page. Without CONFIG_PTEBATCH_AB ours are always on and nothing of this
 * is left in the code.
 */
#ifndef PTEBATCH_KERNEL_AB_H
#define PTEBATCH_KERNEL_AB_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct page;

enum ptb_ab {
	PTB_AB_GUP_FAST,
	PTB_AB_DAX,
	PTB_AB_MINCORE,
	PTB_AB_VFIO,
	PTB_AB_WALKERS,
};

extern struct static_key_true ptb_ab_keys[PTB_AB_WALKERS];
extern struct static_key_true ptb_ab_count_key;

/* What a call has done: out of line, for who counts does not measure. */
void ptb_ab_done(enum ptb_ab walker, unsigned long handled, unsigned long bailed);
/* The same, for runs of pages as far as they follow each other in one folio. */
void ptb_ab_done_pages(enum ptb_ab walker, unsigned int want, struct page **pages, unsigned int nr);
/* For runs of bytes alike. */
void ptb_ab_done_bytes(enum ptb_ab walker, const unsigned char *vec, unsigned int nr);
/* For one run. */
void ptb_ab_done_run(enum ptb_ab walker, unsigned long nr);

#ifdef CONFIG_PTEBATCH_AB

/*
 * Ours are a function apart, a call away. What stands at the call is for the kernel's own, which
 * is to cost what it costs in a kernel without us: there gcc inlines it, and how well depends on
 * what is around. Measured for each machine with gcc 12: GUP-fast of 4k pages then costs 1.5 % less
 * than there on x86-64, 1.8 % more on arm64. The other hint makes that 3 % less and 7 % less, and
 * on x86-64 a PMD leaf inlined with ours beside it costs 9 % more. mincore is called by pointer:
 * ours may be in the same function, which is 1 % better on x86-64 and 1 % worse on arm64.
 */
#define ptb_ab_ours noinline
#define ptb_ab_stand_in __always_inline
#ifdef CONFIG_ARM64
#define ptb_ab_leaf_stand_in __always_inline
#define ptb_ab_ours_in_walk noinline
#define ptb_ab_branch static_branch_unlikely
#else
#define ptb_ab_leaf_stand_in noinline
#define ptb_ab_ours_in_walk __always_inline
#define ptb_ab_branch static_branch_likely
#endif

static __always_inline bool ptb_ab_on(const enum ptb_ab walker)
{
	return ptb_ab_branch(&ptb_ab_keys[walker]);
}

static __always_inline bool ptb_ab_counts(void)
{
	return static_branch_unlikely(&ptb_ab_count_key);
}

#else

#define ptb_ab_stand_in inline
#define ptb_ab_leaf_stand_in inline
#define ptb_ab_ours inline
#define ptb_ab_ours_in_walk inline

static __always_inline bool ptb_ab_on(const enum ptb_ab walker)
{
	return true;
}

static __always_inline bool ptb_ab_counts(void)
{
	return false;
}

#endif

/*
 * What GUP-fast expects where @want pages were asked for and @got are now at @pages: the sum in
 * *nr, and whether to go on.
 */
static __always_inline int ptb_ab_pages(const enum ptb_ab walker, unsigned int want,
					unsigned int got, struct page **pages, int *nr)
{
	*nr += got;
	if (ptb_ab_counts())
		ptb_ab_done_pages(walker, want, pages, got);
	return got == want;
}

#endif
