// SPDX-License-Identifier: GPL-2.0-only
/* Every primitive, and every use of the scan, behind the real mm/internal.h. */
#include <mm/internal.h>
#include <kernel/ops.h>
#include <ptebatch/contig.h>
#include <ptebatch/grab.h>
#include <ptebatch/scan.h>

static __used unsigned int
scan_look(pte_t *ptep, pte_t *pte, unsigned long pfn_end, unsigned long addr, unsigned long end)
{
	return ptb_scan(ptep, pte, pfn_end, ptb_max_nr(addr, end), PTB_FOR_LOOK);
}

static __used unsigned int scan_set(struct folio *folio, struct vm_area_struct *vma, pte_t *ptep,
				    pte_t *pte, unsigned int max_nr)
{
	return ptb_scan_folio(folio, vma, ptep, pte, max_nr, PTB_FOR_SET | PTB_MERGE_WRITE);
}

static __used unsigned int
scan_gup_fast(struct folio *folio, pte_t *ptep, pte_t *pte, unsigned int max_nr)
{
	return ptb_scan_folio(folio, NULL, ptep, pte, max_nr, PTB_FOR_GUP_FAST);
}

static __used unsigned int
scan_gup_locked(struct folio *folio, pte_t *ptep, pte_t *pte, unsigned int max_nr)
{
	return ptb_scan_folio(folio, NULL, ptep, pte, max_nr, PTB_FOR_GUP_LOCKED);
}

static __used unsigned int
scan_careful(pte_t *ptep, pte_t *pte, unsigned long pfn_end, unsigned int max_nr)
{
	return ptb_scan(ptep, pte, pfn_end, max_nr, PTB_RESPECT_YOUNG | PTB_NO_HINT);
}

static __used unsigned int scan_class(pte_t *ptep, pte_t pte, unsigned int max_nr)
{
	if (pte_present(pte))
		return ptb_scan_present(ptep, pte, max_nr);
	if (pte_none(pte))
		return ptb_scan_none(ptep, max_nr);
	return ptb_scan_swap(ptep, pte, max_nr);
}

static __used unsigned int
grab(struct vm_area_struct *vma, struct page *page, unsigned int nr, unsigned int gup)
{
	struct folio *folio = ptb_grab_first(page, 1, gup);

	if (!folio)
		return 0;
	nr = ptb_unshared(vma, folio, page, nr, gup);
	if (nr > 1 && ptb_grab_more(folio, nr - 1, gup))
		return nr;
	ptb_put(folio, 1, gup);
	return 0;
}

static __used size_t contig(struct page **pages, const unsigned long *pfns, size_t n)
{
	return ptb_contig_pages(pages, n) + ptb_contig_folio(pages, n) + ptb_contig_pfns(pfns, n);
}
