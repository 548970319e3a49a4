// SPDX-License-Identifier: GPL-2.0-only
/* walk/dax.h behind the real mm/gup.c, without walk/gup_fast.h. */
#include <mm/gup.c>
#include <kernel/dax.h>

/* Later kernels have no such function, and nothing for ours to stand in for. */
#ifdef CONFIG_ARCH_HAS_PTE_DEVMAP
static typeof(gup_fast_devmap_leaf) *const leaves[] __used = {
	gup_fast_devmap_leaf,
	ptb_kernel_gup_fast_devmap_leaf,
};
#endif
