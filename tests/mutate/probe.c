// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * All of the library, in every way that somebody uses it: what leaves the code of this file as it
 * is, in every format, changes nothing.
 */
#include "backend.h"

#include <ptebatch/walk/dax.h>
#include <ptebatch/walk/gup_fast.h>
#include <ptebatch/walk/mincore.h>
#include <ptebatch/walk/vfio.h>

#define SCANS(X)                                                               \
	X(look, PTB_FOR_LOOK)                                                  \
	X(set, PTB_FOR_SET)                                                    \
	X(fast, PTB_FOR_GUP_FAST)                                              \
	X(locked, PTB_FOR_GUP_LOCKED)                                          \
	X(young, PTB_RESPECT_YOUNG)                                            \
	X(soft, PTB_RESPECT_SOFT_DIRTY)                                        \
	X(merge, PTB_MERGE_WRITE)                                              \
	X(merge_plain, PTB_MERGE_YOUNG_DIRTY)                                  \
	X(merge_soft, PTB_RESPECT_SOFT_DIRTY | PTB_MERGE_YOUNG_DIRTY)          \
	X(all, PTB_RESPECT_YOUNG | PTB_RESPECT_DIRTY | PTB_RESPECT_SOFT_DIRTY) \
	X(no_hint, PTB_NO_HINT)

struct probe_scan {
	unsigned int (*folio)(struct folio *folio, struct vm_area_struct *vma, ptb_pte_t *ptep,
			      ptb_pte_t *pte, unsigned int max_nr);
	unsigned int (*run)(ptb_pte_t *ptep, ptb_pte_t *pte, unsigned long end,
			    unsigned int max_nr);
};

#define SCAN(name, flags)                                                                      \
	static unsigned int folio_##name(struct folio *folio, struct vm_area_struct *vma,      \
					 ptb_pte_t *ptep, ptb_pte_t *pte, unsigned int max_nr) \
	{                                                                                      \
		return ptb_scan_folio(folio, vma, ptep, pte, max_nr, flags);                   \
	}                                                                                      \
	static unsigned int run_##name(ptb_pte_t *ptep, ptb_pte_t *pte, unsigned long end,     \
				       unsigned int max_nr)                                    \
	{                                                                                      \
		return ptb_scan(ptep, pte, end, max_nr, flags);                                \
	}
SCANS(SCAN)

#define ROW(name, flags) { folio_##name, run_##name },
extern const struct probe_scan probe_scans[];
const struct probe_scan probe_scans[] = { SCANS(ROW) };

typedef void (*fn)(void);
extern const fn probe_used[];
const fn probe_used[] = {
	(fn)ptb_max_nr,	      (fn)ptb_fill,	     (fn)ptb_scan_present,
	(fn)ptb_scan_none,    (fn)ptb_scan_swap,     (fn)ptb_grab_first,
	(fn)ptb_grab_more,    (fn)ptb_put,	     (fn)ptb_drop,
	(fn)ptb_try_get,      (fn)ptb_refs_to_pins,  (fn)ptb_refs_that_fit,
	(fn)ptb_unshared,     (fn)ptb_contig_pages,  (fn)ptb_contig_folio,
	(fn)ptb_contig_pfns,  (fn)ptb_vpfn_count,    (fn)ptb_vpfn_count_nodes,
	(fn)ptb_vpfn_charge,  (fn)ptb_dax_leaf,	     (fn)ptb_dax_undo,
	(fn)ptb_gup_fast_pte, (fn)ptb_gup_fast_ptes, (fn)ptb_gup_fast_leaf,
	(fn)ptb_mincore_ptes, (fn)ptb_vfio_pin,	     (fn)ptb_vfio_unpin,
};
