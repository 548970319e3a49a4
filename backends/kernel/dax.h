/* SPDX-License-Identifier: GPL-2.0-only */
/* Binds walk/dax.h to mm/gup.c, at whose end it is included. Only 6.12 has such leaves. */
#ifndef PTEBATCH_KERNEL_DAX_H
#define PTEBATCH_KERNEL_DAX_H

#include "ab.h"
#include "ops.h"

static __always_inline struct dev_pagemap *
kernel_pagemap_get(unsigned long pfn, struct dev_pagemap *pgmap)
{
	return ptb_compat_pagemap_get(pfn, pgmap);
}
#define ptb_pagemap_get kernel_pagemap_get

static __always_inline void kernel_pagemap_put(struct dev_pagemap *pgmap)
{
	put_dev_pagemap(pgmap);
}
#define ptb_pagemap_put kernel_pagemap_put

static __always_inline bool kernel_folio_test_referenced(struct folio *folio)
{
	return folio_test_referenced(folio);
}
#define ptb_folio_test_referenced kernel_folio_test_referenced

static __always_inline void kernel_folio_set_referenced(struct folio *folio)
{
	folio_set_referenced(folio);
}
#define ptb_folio_set_referenced kernel_folio_set_referenced

static __always_inline void kernel_folio_clear_referenced(struct folio *folio)
{
	folio_clear_referenced(folio);
}
#define ptb_folio_clear_referenced kernel_folio_clear_referenced

#include <ptebatch/walk/dax.h>

/* For gup_fast_devmap_leaf(): 1 when all of the range was taken, else 0 and nothing was. */
static ptb_ab_ours int __maybe_unused ptb_kernel_gup_fast_devmap_leaf(unsigned long pfn,
								      unsigned long addr,
								      unsigned long end,
								      unsigned int flags,
								      struct page **pages, int *nr)
{
	unsigned int want = (end - addr) >> PAGE_SHIFT;
	unsigned int got;

	pages += *nr;
	got = ptb_dax_leaf(pfn, want, flags, pages);
	return ptb_ab_pages(PTB_AB_DAX, want, got, pages, nr);
}

/* As around the function itself. */
#if defined(CONFIG_ARCH_HAS_PTE_DEVMAP) && defined(CONFIG_TRANSPARENT_HUGEPAGE)

/* Stands at the calls of gup_fast_devmap_leaf() while the walker is on, if they are redirected. */
static ptb_ab_stand_in int __maybe_unused
ptebatch_gup_fast_devmap_leaf(unsigned long pfn, unsigned long addr, unsigned long end,
			      unsigned int flags, struct page **pages, int *nr)
{
	if (ptb_ab_on(PTB_AB_DAX))
		return ptb_kernel_gup_fast_devmap_leaf(pfn, addr, end, flags, pages, nr);
	return gup_fast_devmap_leaf(pfn, addr, end, flags, pages, nr);
}

#endif

#endif
