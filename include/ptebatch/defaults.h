/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a backend need not say. Each is right for a machine without the feature; ops.h has the
 * contract.
 */
#ifndef PTEBATCH_DEFAULTS_H
#define PTEBATCH_DEFAULTS_H

#include "defs.h"

#ifndef ptb_pte_hint
static inline unsigned int ptb_default_pte_hint(ptb_pte_t *ptep, ptb_pte_t pte)
{
	(void)ptep;
	(void)pte;
	return 1;
}
#define ptb_pte_hint ptb_default_pte_hint
#endif

#ifndef ptb_pte_clear_soft_dirty
static inline ptb_pte_t ptb_default_pte_clear_soft_dirty(ptb_pte_t pte)
{
	return pte;
}
#define ptb_pte_clear_soft_dirty ptb_default_pte_clear_soft_dirty
#endif

#ifndef ptb_line_same
static inline bool
ptb_default_line_same(ptb_pte_t *ptep, ptb_pte_t first, unsigned long nr, const ptb_t flags)
{
	(void)ptep;
	(void)first;
	(void)nr;
	(void)flags;
	return false;
}
#define ptb_line_same ptb_default_line_same
#endif

#ifndef ptb_line_present
static inline bool ptb_default_line_present(ptb_pte_t *ptep)
{
	(void)ptep;
	return false;
}
#define ptb_line_present ptb_default_line_present
#endif

#ifndef ptb_pte_plain
static inline bool ptb_default_pte_plain(ptb_pte_t pte, bool write)
{
	(void)pte;
	(void)write;
	return false;
}
#define ptb_pte_plain ptb_default_pte_plain
#endif

#ifndef ptb_line_prefetch
static inline void ptb_default_line_prefetch(ptb_pte_t *ptep, bool write)
{
	(void)ptep;
	(void)write;
}
#define ptb_line_prefetch ptb_default_line_prefetch
#endif

#ifndef ptb_page_nth
static inline struct page *ptb_default_page_nth(struct page *page, unsigned long n)
{
	return page + n;
}
#define ptb_page_nth ptb_default_page_nth
#endif

#ifndef ptb_page_is_p2pdma
static inline bool ptb_default_page_is_p2pdma(struct page *page)
{
	(void)page;
	return false;
}
#define ptb_page_is_p2pdma ptb_default_page_is_p2pdma
#endif

#ifndef ptb_folio_stat_pins
static inline void ptb_default_folio_stat_pins(struct folio *folio, int pins)
{
	(void)folio;
	(void)pins;
}
#define ptb_folio_stat_pins ptb_default_folio_stat_pins
#endif

#ifndef ptb_folio_test_hugetlb
static inline bool ptb_default_folio_test_hugetlb(struct folio *folio)
{
	(void)folio;
	return false;
}
#define ptb_folio_test_hugetlb ptb_default_folio_test_hugetlb
#endif

#ifndef ptb_page_same_section
static inline bool ptb_default_page_same_section(const struct page *a, const struct page *b)
{
	(void)a;
	(void)b;
	return true;
}
#define ptb_page_same_section ptb_default_page_same_section
#endif

#endif
