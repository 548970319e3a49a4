// SPDX-License-Identifier: GPL-2.0-only
/* walk/gup_fast.h as it will stand in the kernel: behind the real mm/gup.c. */
#include <mm/gup.c>
#include <kernel/gup.h>

/* A stand-in of another type than what it stands in for does not compile. */
static typeof(gup_fast_pte_range) *const ptes[] __used = {
	gup_fast_pte_range,
	ptb_kernel_gup_fast_pte_range,
};

static typeof(gup_fast_pmd_leaf) *const pmds[] __used = {
	gup_fast_pmd_leaf,
	ptb_kernel_gup_fast_pmd_leaf,
};

static typeof(gup_fast_pud_leaf) *const puds[] __used = {
	gup_fast_pud_leaf,
	ptb_kernel_gup_fast_pud_leaf,
};
