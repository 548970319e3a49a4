// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Not a contender but the bound: entries are read and the answer is written, nothing else. Right
 * only for what the rows map, which is small, present and writable, or empty.
 */
#include "contender.h"

/* Present, so that the frame is not stored inverted; and one shift takes it to its struct page. */
static __always_inline struct page *limit_page(ptb_pte_t *ptep, char *map)
{
	u64 val = x86_val(ptb_ptep_get(ptep, PTB_FOR_GUP_FAST));

	return (struct page *)(map + (val & X86_PFN_MASK) / (FMT_PAGE_SIZE / sizeof(struct page)));
}

static __always_inline void limit_half(ptb_pte_t *ptep, struct page **pages, char *map)
{
	pages[0] = limit_page(ptep, map);
	pages[1] = limit_page(ptep + 1, map);
	pages[2] = limit_page(ptep + 2, map);
	pages[3] = limit_page(ptep + 3, map);
}

static unsigned int limit_ptes(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep, unsigned int nr,
			       unsigned int gup, struct page **pages)
{
	const ptb_pte_t *end = ptep + nr;
	char *map = (char *)ptb_pfn_page(0);

	(void)pmd;
	(void)pmdp;
	(void)gup;
	for (; ptep < end; ptep += PTB_LINE, pages += PTB_LINE) {
		limit_half(ptep, pages, map);
		limit_half(ptep + PTB_LINE / 2, pages + PTB_LINE / 2, map);
	}
	return nr;
}

static __always_inline void limit_vec_half(ptb_pte_t *ptep, unsigned char *vec)
{
	vec[0] = ptb_pte_present(ptb_ptep_get(ptep, PTB_FOR_LOOK));
	vec[1] = ptb_pte_present(ptb_ptep_get(ptep + 1, PTB_FOR_LOOK));
	vec[2] = ptb_pte_present(ptb_ptep_get(ptep + 2, PTB_FOR_LOOK));
	vec[3] = ptb_pte_present(ptb_ptep_get(ptep + 3, PTB_FOR_LOOK));
}

static void limit_mincore(struct vm_area_struct *vma, ptb_pte_t *ptep, unsigned long addr,
			  unsigned int nr, unsigned char *vec)
{
	const ptb_pte_t *end = ptep + nr;

	(void)vma;
	(void)addr;
	for (; ptep < end; ptep += PTB_LINE, vec += PTB_LINE) {
		if (ptb_line_present(ptep)) {
			memset(vec, 1, PTB_LINE);
			continue;
		}
		limit_vec_half(ptep, vec);
		limit_vec_half(ptep + PTB_LINE / 2, vec + PTB_LINE / 2);
	}
}

const struct contender limit = {
	.name = "limit",
	.gup = { .ptes = limit_ptes },
	.mincore = limit_mincore,
};
