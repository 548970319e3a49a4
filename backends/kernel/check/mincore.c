// SPDX-License-Identifier: GPL-2.0-only
/* walk/mincore.h as it will stand in the kernel: behind the real mm/mincore.c. */
#include <mm/mincore.c>
#include <kernel/mincore.h>

static typeof(mincore_pte_range) *const pmd_entry[] __used = {
	mincore_pte_range,
	ptb_kernel_mincore_pte_range,
};
