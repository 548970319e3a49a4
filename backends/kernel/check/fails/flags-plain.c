// SPDX-License-Identifier: GPL-2.0-only
/* FPB_* or a plain number instead of PTB_* flags: gcc is content, sparse is not. */
// expect: restricted ptb_t
#include <mm/internal.h>
#include <kernel/ops.h>
#include <ptebatch/scan.h>

static __used unsigned int scan(pte_t *ptep, pte_t *pte, unsigned int max_nr)
{
	return ptb_scan(ptep, pte, pte_pfn(*pte) + max_nr, max_nr, 4);
}
