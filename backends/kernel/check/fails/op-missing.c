// SPDX-License-Identifier: GPL-2.0-only
/* So is an op in use that neither the backend gives nor defaults.h has. */
// expect: ptb_pte_none
#include <mm/internal.h>
#include <kernel/ops.h>
#undef ptb_pte_none
#include <ptebatch/scan.h>

static __used unsigned int scan(pte_t *ptep, unsigned int max_nr)
{
	return ptb_scan_none(ptep, max_nr);
}
