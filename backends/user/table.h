/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tables of entries. Everything above a table is two flat arrays: no walker sees more of it than
 * the one word above.
 */
#ifndef PTB_USER_TABLE_H
#define PTB_USER_TABLE_H

#ifndef PTB_USER_BACKEND_H
#error "part of backend.h"
#endif

#include <sys/mman.h>
#include <unistd.h>

#define FMT_PAGE_SIZE (1UL << PTB_PAGE_SHIFT)
#define FMT_PMD_SIZE (1UL << PTB_PMD_SHIFT)
#define FMT_PUD_SIZE (1UL << FMT_PUD_SHIFT)

/*
 * Beyond so many tables the guards would exhaust the mappings a process may have
 * (vm.max_map_count).
 */
#define TABLE_GUARDED_MAX 4096

static inline size_t table_bytes(void)
{
	size_t host = sysconf(_SC_PAGESIZE), bytes = FMT_PTES * sizeof(ptb_pte_t);

	return (bytes + host - 1) / host * host;
}

/* A table ends where a page ends, nothing readable on either side: whoever leaves it faults. */
static inline ptb_pte_t *table_alloc(bool guarded)
{
	size_t host = guarded ? sysconf(_SC_PAGESIZE) : 0, bytes = table_bytes();
	ptb_pte_t *table;
	unsigned long i;
	char *p = mmap(NULL, bytes + 2 * host, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		abort();
	if (guarded &&
	    (mprotect(p, host, PROT_NONE) || mprotect(p + host + bytes, host, PROT_NONE)))
		abort();
	table = (ptb_pte_t *)(p + host + bytes) - FMT_PTES;
	for (i = 0; FMT_NONE && i < FMT_PTES; i++)
		word_set(&table[i].w, FMT_NONE);
	return table;
}

static inline void table_free(ptb_pte_t *table, bool guarded)
{
	size_t host = guarded ? sysconf(_SC_PAGESIZE) : 0, bytes = table_bytes();

	munmap((char *)(table + FMT_PTES) - bytes - host, bytes + 2 * host);
}

static inline unsigned long mm_nr_pmds(const struct mm_struct *mm)
{
	return (mm->end - mm->base) >> PTB_PMD_SHIFT;
}

static inline unsigned long mm_nr_puds(const struct mm_struct *mm)
{
	return (mm->end - mm->base + FMT_PUD_SIZE - 1) >> FMT_PUD_SHIFT;
}

/* An empty address space of [base, end); base aligned to a PUD. */
static inline void mm_init(struct mm_struct *mm, unsigned long base, unsigned long end)
{
	*mm = (struct mm_struct){ .base = base, .end = end };
	mm->puds = calloc(mm_nr_puds(mm), sizeof(ptb_pmd_t));
	mm->pmds = calloc(mm_nr_pmds(mm), sizeof(ptb_pmd_t));
	mm->tables = calloc(mm_nr_pmds(mm), sizeof(void *));
	if (!mm->puds || !mm->pmds || !mm->tables)
		abort();
}

static inline void mm_exit(struct mm_struct *mm)
{
	unsigned long i;

	for (i = 0; i < mm_nr_pmds(mm); i++)
		if (mm->tables[i])
			table_free(mm->tables[i], i < TABLE_GUARDED_MAX);
	free(mm->puds);
	free(mm->pmds);
	free(mm->tables);
	free(mm->vmas);
	*mm = (struct mm_struct){};
}

static inline ptb_pmd_t *mm_pudp(struct mm_struct *mm, unsigned long addr)
{
	return (ptb_pmd_t *)mm->puds + ((addr - mm->base) >> FMT_PUD_SHIFT);
}

static inline ptb_pmd_t *mm_pmdp(struct mm_struct *mm, unsigned long addr)
{
	return (ptb_pmd_t *)mm->pmds + ((addr - mm->base) >> PTB_PMD_SHIFT);
}

static inline unsigned int mm_pte_index(unsigned long addr)
{
	return (addr & (FMT_PMD_SIZE - 1)) >> PTB_PAGE_SHIFT;
}

/* The entry of an address in the table that a word above names: its value, not its place. */
static inline ptb_pte_t *mm_ptep_of(struct mm_struct *mm, ptb_pmd_t pmd, unsigned long addr)
{
	ptb_pte_t *table = mm->tables[(upper_val(pmd) >> UPPER_PFN_SHIFT) - 1];

	return table + mm_pte_index(addr);
}

/* The entry of an address whose table is there. */
static inline ptb_pte_t *mm_ptep(struct mm_struct *mm, unsigned long addr)
{
	ptb_pte_t *table = mm->tables[(addr - mm->base) >> PTB_PMD_SHIFT];

	return table + mm_pte_index(addr);
}

/* The same, making the table if there is none. */
static inline ptb_pte_t *mm_ptep_alloc(struct mm_struct *mm, unsigned long addr)
{
	unsigned long i = (addr - mm->base) >> PTB_PMD_SHIFT;

	if (!mm->tables[i]) {
		mm->tables[i] = table_alloc(i < TABLE_GUARDED_MAX);
		word_set(&mm_pmdp(mm, addr)->w, UPPER_TABLE | (u64)(i + 1) << UPPER_PFN_SHIFT);
	}
	return mm_ptep(mm, addr);
}

static inline void pte_set(ptb_pte_t *ptep, ptb_pte_t pte)
{
	word_set(&ptep->w, word_val(pte.w));
}

/*
 * Entries of one run: blocks get their hint where the format has one and the kernel would fold
 * them.
 */
static inline void
mm_set_run(struct mm_struct *mm, unsigned long addr, unsigned long pfn, unsigned long nr, u32 attrs)
{
	unsigned long i;

	for (i = 0; i < nr; i++, addr += FMT_PAGE_SIZE) {
		unsigned long in_block = mm_pte_index(addr) % FMT_CONT;
		u32 a = attrs;

		if (FMT_CONT == 1 || (pfn + i) % FMT_CONT != in_block || i < in_block ||
		    nr - i < FMT_CONT - in_block)
			a &= ~A_CONT;
		pte_set(mm_ptep_alloc(mm, addr), fmt_pte_mk(pfn + i, a));
	}
}

/* Pages from an address to the end of a range and of the aligned block of that shift. */
static inline unsigned long pages_to(unsigned long addr, unsigned long end, unsigned int shift)
{
	unsigned long last = addr | ((1UL << shift) - 1);

	return ((last < end - 1 ? last : end - 1) - addr + 1) >> PTB_PAGE_SHIFT;
}

#endif
