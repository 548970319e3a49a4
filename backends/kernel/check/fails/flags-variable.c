// SPDX-License-Identifier: GPL-2.0-only
/* Flags that are not a constant. */
// expect: scan flags must be a constant
#include <mm/internal.h>
#include <kernel/ops.h>
#include <ptebatch/scan.h>

static __used unsigned int scan(pte_t *ptep, pte_t *pte, unsigned int max_nr, ptb_t flags)
{
	return ptb_scan(ptep, pte, pte_pfn(*pte) + max_nr, max_nr, flags);
}
