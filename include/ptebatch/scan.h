/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* scan: how many entries from here may be treated as one. */
#ifndef PTEBATCH_SCAN_H
#define PTEBATCH_SCAN_H

#include "ops.h"

/**
 * ptb_folio_end() - the frame behind a folio
 * @folio: held
 */
static __always_inline unsigned long ptb_folio_end(struct folio *folio)
{
	return ptb_page_pfn(&folio->page) + ptb_folio_nr_pages(folio);
}

/**
 * ptb_folio_left() - pages of a folio from one of them to its end
 * @folio: held
 * @page: of it
 */
static __always_inline unsigned long ptb_folio_left(struct folio *folio, struct page *page)
{
	return ptb_folio_end(folio) - ptb_page_pfn(page);
}

/**
 * ptb_max_nr() - entries from an address to the end of a range and of its table
 * @addr: address, page aligned
 * @end: end of the range, above @addr; 0 for the top of the address space
 *
 * The scan itself knows no table and no vma: rmap code that left this out read behind a table
 * (6.15).
 */
static __always_inline unsigned int ptb_max_nr(unsigned long addr, unsigned long end)
{
	unsigned long table_last = addr | ((1UL << PTB_PMD_SHIFT) - 1);
	unsigned long last = end - 1;

	if (table_last < last)
		last = table_last;
	return ((last - addr) >> PTB_PAGE_SHIFT) + 1;
}

/**
 * ptb_line_same() - do a line of entries go on from the one that a run began with
 * @ptep: the first entry of the run
 * @first: its value, present
 * @nr: the line is that of @ptep + @nr, of PTB_LINE entries and any alignment
 * @flags: a constant, without PTB_MERGE_*
 *
 * Optional, where entries are words that one look can take together. Same means as in __ptb_scan():
 * by key, and in pte_write() if that is respected. May say no where it is yes, never the other way
 * round: what it says no to is looked at one by one.
 *
 * Default: no. Needed by: scan.
 */
static inline bool
ptb_line_same(ptb_pte_t *ptep, ptb_pte_t first, unsigned long nr, const ptb_t flags);

/**
 * ptb_line_present() - are the PTB_LINE entries from here all present
 * @ptep: the first of them, in a table whose lock is held
 *
 * Optional, and may say no where it is yes. Default: no. Needed by: ptb_scan_present().
 */
static inline bool ptb_line_present(ptb_pte_t *ptep);

/* Written out, so that a line of pages is an addition and a store each. */
static __always_inline void ptb_fill_half(struct page **pages, struct page *page)
{
	pages[0] = page;
	pages[1] = ptb_page_nth(page, 1);
	pages[2] = ptb_page_nth(page, 2);
	pages[3] = ptb_page_nth(page, 3);
}

static __always_inline void ptb_fill_line(struct page **pages, struct page *page)
{
	ptb_fill_half(pages, page);
	if (PTB_LINE == 8)
		ptb_fill_half(pages + 4, ptb_page_nth(page, 4));
}

/**
 * ptb_fill() - write out the pages of a run
 * @pages: room for @nr
 * @page: the first page
 * @nr: pages, all in one folio
 */
static __always_inline void ptb_fill(struct page **pages, struct page *page, unsigned int nr)
{
	unsigned int i = 0;

	for (; i + PTB_LINE <= nr; i += PTB_LINE)
		ptb_fill_line(pages + i, ptb_page_nth(page, i));
	for (; i < nr; i++)
		pages[i] = ptb_page_nth(page, i);
}

/* What of an entry must agree. */
static __always_inline ptb_pte_t ptb_pte_key(ptb_pte_t pte, const ptb_t flags)
{
	if (!(flags & PTB_RESPECT_DIRTY))
		pte = ptb_pte_mkclean(pte);
	if (!(flags & PTB_RESPECT_SOFT_DIRTY))
		pte = ptb_pte_clear_soft_dirty(pte);
	if (!(flags & PTB_RESPECT_WRITE))
		pte = ptb_pte_wrprotect(pte);
	if (!(flags & PTB_RESPECT_YOUNG))
		pte = ptb_pte_mkold(pte);
	return pte;
}

static __always_inline unsigned int ptb_pte_step(ptb_pte_t *ptep, ptb_pte_t pte, const ptb_t flags)
{
	return flags & PTB_NO_HINT ? 1 : ptb_pte_hint(ptep, pte);
}

/* x86, s390 and ppc64 set soft-dirty with dirty: not where the run agrees that it is not. */
static __always_inline ptb_pte_t ptb_pte_merge_dirty(ptb_pte_t into, const ptb_t flags)
{
	ptb_pte_t soft_clean = ptb_pte_clear_soft_dirty(into);
	ptb_pte_t dirty = ptb_pte_mkdirty(into);

	if ((flags & PTB_RESPECT_SOFT_DIRTY) && ptb_pte_same(soft_clean, into))
		return ptb_pte_clear_soft_dirty(dirty);
	return dirty;
}

static __always_inline ptb_pte_t ptb_pte_merge(ptb_pte_t into, ptb_pte_t from,
					       struct vm_area_struct *vma, const ptb_t flags)
{
	if ((flags & PTB_MERGE_WRITE) && ptb_pte_write(from) && !ptb_pte_write(into))
		into = ptb_pte_mkwrite(into, vma);
	if (!(flags & PTB_MERGE_YOUNG_DIRTY))
		return into;
	if (ptb_pte_young(from))
		into = ptb_pte_mkyoung(into);
	/* Not twice: x86's mkdirty takes a shadow stack entry for a read-only one. */
	if (ptb_pte_dirty(from) && !ptb_pte_dirty(into))
		into = ptb_pte_merge_dirty(into, flags);
	return into;
}

/* Entries in whole lines that agree with the first, its own among them; their pages, if wanted. */
static __always_inline unsigned long
ptb_scan_lines(ptb_pte_t *ptep, ptb_pte_t first, unsigned long max_nr, const ptb_t flags,
	       struct page *page, struct page **pages, const bool fill)
{
	unsigned long nr = 0;

	/* Merging looks at every entry anyhow. */
	if (flags & (PTB_MERGE_WRITE | PTB_MERGE_YOUNG_DIRTY))
		return 0;
	while (nr + PTB_LINE <= max_nr && ptb_line_same(ptep, first, nr, flags)) {
		if (fill)
			ptb_fill_line(pages + nr, ptb_page_nth(page, nr));
		nr += PTB_LINE;
	}
	return nr;
}

/*
 * The one scan. max_nr has been cut to frames that may be advanced to. If asked to @fill, the pages
 * of the run, which is @page and on, are written in the same pass.
 */
static __always_inline unsigned int
__ptb_scan(struct vm_area_struct *vma, ptb_pte_t *ptep, ptb_pte_t *ptentp, unsigned long max_nr,
	   const ptb_t flags, struct page *page, struct page **pages, const bool fill)
{
	const ptb_pte_t first = *ptentp;
	ptb_pte_t merged = first, expected = ptb_pte_key(first, flags);
	unsigned long lines, step, nr;

	PTB_FLAGS_ARE_CONSTANT(flags);
	PTB_WARN_ON(!ptb_pte_present(first) || !max_nr);

	/* Who fills knows of a large folio. Else short runs are many, and the neighbour tells. */
	lines = fill ? ptb_scan_lines(ptep, first, max_nr, flags, page, pages, fill) : 0;
	if (lines == max_nr)
		return lines;
	step = lines ? lines : ptb_pte_step(ptep, first, flags);
	for (nr = step; nr < max_nr; nr += step) {
		ptb_pte_t pte = ptb_ptep_get(ptep + nr, flags);

		expected = ptb_pte_advance(expected, step);
		if (!ptb_pte_same(ptb_pte_key(pte, flags), expected))
			break;
		/* With dirty released, x86 shadow stack equals write-protected and dirty. */
		if ((flags & PTB_RESPECT_WRITE) && ptb_pte_write(pte) != ptb_pte_write(first))
			break;
		merged = ptb_pte_merge(merged, pte, vma, flags);
		step = ptb_pte_step(ptep + nr, pte, flags);
		if (!fill && nr == 1) {
			lines = ptb_scan_lines(ptep, first, max_nr, flags, page, pages, fill);
			if (lines)
				step = lines - 1;
		}
	}
	/* A hint reaches to the end of its block, whatever the caller may touch. */
	if (nr > max_nr)
		nr = max_nr;

	if (fill && nr > lines)
		ptb_fill(pages + lines, ptb_page_nth(page, lines), nr - lines);
	/* Not stored where nothing merges: the caller's copy then stays in its register. */
	if (flags & (PTB_MERGE_WRITE | PTB_MERGE_YOUNG_DIRTY))
		*ptentp = merged;
	return nr;
}

/**
 * ptb_scan_folio() - length of a batch: entries that map consecutive pages of one folio alike
 * @folio: the folio that the first entry maps, held by a reference or the table lock
 * @vma: needed by PTB_MERGE_WRITE, else may be NULL
 * @ptep: the first entry, in a table
 * @ptentp: the caller's copy of it, present; merged bits are folded into it
 * @max_nr: entries that may be touched, at least 1: see ptb_max_nr(), and the end of the vma
 * @flags: a constant, one of PTB_FOR_*, or a combination
 *
 * Without PTB_LOCKLESS the table lock is held, and the batch stays as it is while that is. With it
 * IRQs are off and the reference was taken before @ptentp was read (again): then these frames are
 * this folio's for as long as the reference is held, but the entries may change at once.
 *
 * Mirrors: folio_pte_batch_flags().
 * Return: entries, 1 to @max_nr, not leaving the folio.
 */
static __always_inline unsigned int ptb_scan_folio(struct folio *folio, struct vm_area_struct *vma,
						   ptb_pte_t *ptep, ptb_pte_t *ptentp,
						   unsigned int max_nr, const ptb_t flags)
{
	unsigned long left = ptb_folio_end(folio) - ptb_pte_pfn(*ptentp);

	/*
	 * Past the folio an advanced entry may look like an empty slot (Xen PV): never compare
	 * there.
	 */
	if (left < max_nr)
		max_nr = left;
	return __ptb_scan(vma, ptep, ptentp, max_nr, flags, NULL, NULL, false);
}

/**
 * ptb_scan() - length of a run by entries alone; it may cross folios
 * @ptep: the first entry, in a table
 * @ptentp: the caller's copy of it, present
 * @pfn_end: frame behind the last one that may be advanced to: mandatory, for the reason in
 * ptb_scan_folio()
 * @max_nr: entries that may be touched, at least 1
 * @flags: a constant
 *
 * For those who only read. A run that crosses folios must not be set again: on arm64 it would
 * spread accessed and dirty over folios that are neither.
 *
 * Context: as ptb_scan_folio(), but no struct page is touched.
 * Return: entries, 1 to @max_nr.
 */
static __always_inline unsigned int ptb_scan(ptb_pte_t *ptep, ptb_pte_t *ptentp,
					     unsigned long pfn_end, unsigned int max_nr,
					     const ptb_t flags)
{
	unsigned long left = pfn_end - ptb_pte_pfn(*ptentp);

	PTB_WARN_ON(pfn_end <= ptb_pte_pfn(*ptentp));
	if (left < max_nr)
		max_nr = left;
	return __ptb_scan(NULL, ptep, ptentp, max_nr, flags, NULL, NULL, false);
}

/**
 * ptb_line_begins() - is an entry the first of a line
 * @ptep: an entry
 */
static __always_inline bool ptb_line_begins(const ptb_pte_t *ptep)
{
	return !((unsigned long)ptep % (PTB_LINE * sizeof(*ptep)));
}

/* The run of present entries of which the first @nr are known. */
static __always_inline unsigned int
ptb_present_on(ptb_pte_t *ptep, unsigned int nr, unsigned int max_nr)
{
	while (nr + PTB_LINE <= max_nr && ptb_line_present(ptep + nr))
		nr += PTB_LINE;
	while (nr < max_nr) {
		ptb_pte_t pte = ptb_ptep_get(ptep + nr, PTB_FOR_LOOK);

		if (!ptb_pte_present(pte))
			return nr;
		nr += ptb_pte_hint(ptep + nr, pte);
	}
	return max_nr;
}

/**
 * ptb_scan_present() - length of a run of present entries, wherever they point
 * @ptep: the first entry, in a table whose lock is held
 * @pte: its value, present
 * @max_nr: entries that may be touched, at least 1
 *
 * Return: entries, 1 to @max_nr.
 */
static __always_inline unsigned int
ptb_scan_present(ptb_pte_t *ptep, ptb_pte_t pte, unsigned int max_nr)
{
	return ptb_present_on(ptep, ptb_pte_hint(ptep, pte), max_nr);
}

/**
 * ptb_scan_whole() - ptb_scan_present() where a line, or a block, is present from here to its end
 * @ptep: an entry, in a table whose lock is held
 * @pte: its value, present
 * @max_nr: entries that may be touched, at least 1
 *
 * For who meets entries of all kinds, and asks only where ptb_line_begins(): then it looks further
 * once a line, and stops soon where that does not pay.
 *
 * Return: entries, 1 to @max_nr; 1 where no line or block is whole.
 */
static __always_inline unsigned int
ptb_scan_whole(ptb_pte_t *ptep, ptb_pte_t pte, unsigned int max_nr)
{
	unsigned int nr = ptb_pte_hint(ptep, pte);

	if (nr == 1 && max_nr >= PTB_LINE && ptb_line_present(ptep))
		nr = PTB_LINE;
	return nr == 1 ? 1 : ptb_present_on(ptep, nr, max_nr);
}

/**
 * ptb_scan_none() - length of a run of empty entries
 * @ptep: the first entry, known to be none, in a table whose lock is held
 * @max_nr: entries that may be touched, at least 1
 *
 * Return: entries, 1 to @max_nr.
 */
static __always_inline unsigned int ptb_scan_none(ptb_pte_t *ptep, unsigned int max_nr)
{
	unsigned int nr = 1;

	while (nr < max_nr && ptb_pte_none(ptb_ptep_get(ptep + nr, PTB_FOR_LOOK)))
		nr++;
	return nr;
}

/**
 * ptb_scan_swap() - length of a run of swap entries with consecutive slots
 * @ptep: the first entry, in a table whose lock is held
 * @pte: its value, a swap slot
 * @max_nr: entries that may be touched, at least 1
 *
 * All bits of the entries agree, exclusive, soft-dirty and uffd-wp among them.
 *
 * Mirrors: swap_pte_batch(), which up to 7.1 also ends where the memcg of the slots changes: who
 * uncharges by run asks that besides.
 * Return: entries, 1 to @max_nr.
 */
static __always_inline unsigned int
ptb_scan_swap(ptb_pte_t *ptep, ptb_pte_t pte, unsigned int max_nr)
{
	unsigned int nr = 1;

	while (nr < max_nr) {
		pte = ptb_pte_swap_next(pte);
		if (!ptb_pte_same(ptb_ptep_get(ptep + nr, PTB_FOR_LOOK), pte))
			break;
		nr++;
	}
	return nr;
}

#endif
