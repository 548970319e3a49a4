// SPDX-License-Identifier: GPL-2.0-only
/* An op of a wrong type is an error that names the op. */
// expect: ptb_pte_none
#include <mm/internal.h>
#include <kernel/ops.h>

static inline int wrong_pte_none(pte_t pte)
{
	return pte_none(pte);
}
#undef ptb_pte_none
#define ptb_pte_none wrong_pte_none

#include <ptebatch/scan.h>
