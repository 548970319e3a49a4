/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The way down to the tables, as the kernel's gup_fast() and walk_page_range() go it. */
#ifndef PTB_USER_DESCEND_H
#define PTB_USER_DESCEND_H

#include "backend.h"

/*
 * One table and one leaf of GUP-fast, in the shape of the library's; the reference walker has the
 * same.
 */
struct gup_walker {
	unsigned int (*ptes)(ptb_pmd_t pmd, ptb_pmd_t *pmdp, ptb_pte_t *ptep, unsigned int nr,
			     unsigned int gup, struct page **pages);
	unsigned int (*leaf)(ptb_leaf_t leaf, unsigned long addr, unsigned int nr, unsigned int gup,
			     struct page **pages);
};

static __always_inline unsigned long
user_gup_leaf(const struct gup_walker *walker, ptb_pmd_t val, ptb_pmd_t *where, unsigned int shift,
	      unsigned long addr, unsigned long nr, unsigned int gup, struct page **pages)
{
	ptb_leaf_t leaf = { .val = val, .where = where, .shift = shift };

	if (upper_attrs(val) & A_PROTNONE)
		return 0;
	return walker->leaf(leaf, addr, nr, gup, pages);
}

static __always_inline unsigned long
user_gup_range(struct mm_struct *mm, unsigned long addr, unsigned long end, unsigned int gup,
	       struct page **pages, const struct gup_walker *walker)
{
	unsigned long done = 0, want, got;

	for (; addr < end; addr += want << PTB_PAGE_SHIFT) {
		ptb_pmd_t *pudp = mm_pudp(mm, addr), *pmdp = mm_pmdp(mm, addr);
		ptb_pmd_t pud = upper_load(pudp), pmd;

		if (upper_val(pud) & UPPER_LEAF) {
			want = pages_to(addr, end, FMT_PUD_SHIFT);
			got = user_gup_leaf(walker, pud, pudp, FMT_PUD_SHIFT, addr, want, gup,
					    pages + done);
		} else if (unlikely(upper_val(pud) & UPPER_MIGRATION)) {
			break;
		} else {
			pmd = upper_load(pmdp);
			want = pages_to(addr, end, PTB_PMD_SHIFT);
			if (upper_val(pmd) & UPPER_LEAF)
				got = user_gup_leaf(walker, pmd, pmdp, PTB_PMD_SHIFT, addr, want,
						    gup, pages + done);
			else if (upper_val(pmd) & UPPER_TABLE)
				got = walker->ptes(pmd, pmdp, mm_ptep_of(mm, pmd, addr), want, gup,
						   pages + done);
			else
				break; /* empty, or migrating: not present either way */
		}
		done += got;
		if (got != want)
			break;
	}
	return done;
}

static inline void user_unpin_pages(struct page **pages, unsigned long nr, unsigned int gup)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		if (gup & FOLL_PIN)
			engine_pin(mem_page_folio(pages[i]), -1);
		else
			user_folio_put_refs(mem_page_folio(pages[i]), 1);
}

static inline unsigned int mm_read_seq(struct mm_struct *mm)
{
	return raw_load_acquire32(RAW_SEQ, &mm->write_protect_seq);
}

/* read_seqcount_retry(): what was read so far was read before the sequence is. */
static inline bool mm_seq_changed(struct mm_struct *mm, unsigned int seq)
{
	raw_more_rmb();
	return mm_read_seq(mm) != seq;
}

/* GUP-fast from the top: a fork that ran meanwhile makes a pin worthless, and all is given back. */
static __always_inline unsigned long
user_gup_fast(struct mm_struct *mm, unsigned long addr, unsigned long nr, unsigned int gup,
	      struct page **pages, const struct gup_walker *walker)
{
	unsigned long done, end = addr + (nr << PTB_PAGE_SHIFT);
	unsigned int seq = mm_read_seq(mm);

	if ((gup & FOLL_PIN) && (seq & 1))
		return 0;
	done = user_gup_range(mm, addr, end < mm->end ? end : mm->end, gup, pages, walker);
	if ((gup & FOLL_PIN) && mm_seq_changed(mm, seq)) {
		user_unpin_pages(pages, done, gup);
		return 0;
	}
	return done;
}

typedef void (*mincore_walker)(struct vm_area_struct *vma, ptb_pte_t *ptep, unsigned long addr,
			       unsigned int nr, unsigned char *vec);

static __always_inline void user_mincore(struct mm_struct *mm, struct vm_area_struct *vma,
					 unsigned long addr, unsigned long end, unsigned char *vec,
					 mincore_walker walker)
{
	unsigned long nr;

	for (; addr < end; addr += nr << PTB_PAGE_SHIFT, vec += nr) {
		nr = pages_to(addr, end, PTB_PMD_SHIFT);
		/* A huge page that migrates is in memory: pmd_trans_huge_lock() takes it too. */
		if ((upper_val(*mm_pudp(mm, addr)) | upper_val(*mm_pmdp(mm, addr))) &
		    (UPPER_LEAF | UPPER_MIGRATION))
			memset(vec, 1, nr);
		else if (upper_val(*mm_pmdp(mm, addr)) & UPPER_TABLE)
			walker(vma, mm_ptep(mm, addr), addr, nr, vec);
		else
			ptb_mincore_unmapped(addr, addr + (nr << PTB_PAGE_SHIFT), vma, vec);
	}
}

#endif
