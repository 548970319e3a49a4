/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The scan's contract in words, as a model. It compares attributes as the table was made from them,
 * and knows nothing of how an entry says them.
 */
#ifndef TESTS_VALIDATE_SCAN_MODEL_H
#define TESTS_VALIDATE_SCAN_MODEL_H

#include "bed.h"

/* What the test knows of a slot. */
struct known {
	bool present;
	unsigned long pfn;
	u32 attrs;
};

#define A_ANY_WRITE (A_WRITE | A_SHSTK)
#define A_ANY_DIRTY (A_DIRTY | A_SAVED_DIRTY | A_SHSTK)

/* Part of a table: its slot 0 is slot @at of the bed, where a block may begin. */
struct known_table {
	struct bed *bed;
	unsigned long at;
	const struct known *slot;
	bool shadow_stack; /* what the vma is for */
};

typedef unsigned int (*scan_fn)(struct folio *folio, struct vm_area_struct *vma, ptb_pte_t *ptep,
				ptb_pte_t *ptentp, unsigned int max_nr);

/* Flags are constants, so there is a scan of its own for each of the 256 sets. */
/* clang-format off */
#define SCAN(n)                                                                                  \
	static unsigned int scan_##n(struct folio *folio, struct vm_area_struct *vma,            \
				     ptb_pte_t *ptep, ptb_pte_t *ptentp, unsigned int max_nr)    \
	{                                                                                        \
		return ptb_scan_folio(folio, vma, ptep, ptentp, max_nr, (__force ptb_t)(0x##n)); \
	}
#define NAME(n) scan_##n, /* in order */
#define ROW(h, X)                                                                                \
	X(h##0) X(h##1) X(h##2) X(h##3) X(h##4) X(h##5) X(h##6) X(h##7)                          \
	X(h##8) X(h##9) X(h##a) X(h##b) X(h##c) X(h##d) X(h##e) X(h##f)
#define ALL(X)                                                                                   \
	ROW(0, X) ROW(1, X) ROW(2, X) ROW(3, X) ROW(4, X) ROW(5, X) ROW(6, X) ROW(7, X)          \
	ROW(8, X) ROW(9, X) ROW(a, X) ROW(b, X) ROW(c, X) ROW(d, X) ROW(e, X) ROW(f, X)
/* clang-format on */

ALL(SCAN)
static const scan_fn scans[256] = { ALL(NAME) };

/* ---- the model ---- */

/* The hardware may keep young and dirty of a block in any of its entries. */
static u32 seen_attrs(const struct known_table *s, unsigned int i)
{
	u32 attrs = s->slot[i].attrs;
	unsigned int j, base = i - i % FMT_CONT;

	if (!(attrs & A_CONT))
		return attrs;
	for (j = base; j < base + FMT_CONT; j++)
		attrs |= s->slot[j].attrs & (A_YOUNG | A_DIRTY);
	return attrs;
}

static bool differ(u32 a, u32 b, u32 mask)
{
	return !(a & mask) != !(b & mask);
}

/* May entry @i of the scene be treated as what the first one, @n before it, begins. */
static bool alike(const struct known_table *s, unsigned int first, unsigned int i, ptb_t flags)
{
	u32 a = seen_attrs(s, first), b = seen_attrs(s, i);

	if (!s->slot[i].present || s->slot[i].pfn != s->slot[first].pfn + (i - first))
		return false;
	if ((flags & PTB_RESPECT_DIRTY) && differ(a, b, A_ANY_DIRTY))
		return false;
	if ((flags & PTB_RESPECT_SOFT_DIRTY) && differ(a, b, A_SOFT_DIRTY))
		return false;
	/* Writable by whom is part of it. */
	if ((flags & PTB_RESPECT_WRITE) && (a & A_ANY_WRITE) != (b & A_ANY_WRITE))
		return false;
	if ((flags & PTB_RESPECT_YOUNG) && differ(a, b, A_YOUNG))
		return false;
	return !((a ^ b) & ~(A_ANY_DIRTY | A_ANY_WRITE | A_SOFT_DIRTY | A_YOUNG));
}

/* @pfn_end: behind the folio, or behind what may be advanced to. */
static unsigned int model(const struct known_table *s, unsigned int first, unsigned int max_nr,
			  unsigned long pfn_end, ptb_t flags)
{
	unsigned long left = pfn_end - s->slot[first].pfn;
	unsigned int n = 1;

	while (n < max_nr && n < left && alike(s, first, first + n, flags))
		n++;
	return n;
}

static u32
model_merged(const struct known_table *s, unsigned int first, unsigned int nr, ptb_t flags)
{
	const ptb_t asks = PTB_RESPECT_YOUNG | PTB_RESPECT_DIRTY | PTB_MERGE_YOUNG_DIRTY;
	u32 attrs = flags & asks ? seen_attrs(s, first) : s->slot[first].attrs, any = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		any |= seen_attrs(s, first + i);
	if ((flags & PTB_MERGE_WRITE) && (any & A_ANY_WRITE))
		attrs |= s->shadow_stack ? A_SHSTK : A_WRITE;
	if ((flags & PTB_MERGE_YOUNG_DIRTY) && (any & A_YOUNG))
		attrs |= A_YOUNG;
	if ((flags & PTB_MERGE_YOUNG_DIRTY) && (any & A_ANY_DIRTY))
		attrs |= A_DIRTY;
	return attrs;
}

/* ---- one scan ---- */

static const ptb_pte_t *reads_end;
static bool read_past;

static void watch_reads(enum raw_op op, const void *where, void *arg)
{
	(void)arg;
	if ((op == RAW_PTE || op == RAW_PTE_LOCKLESS) &&
	    (const char *)where >= (const char *)reads_end)
		read_past = true;
}

static bool bare_same(ptb_pte_t got, unsigned long pfn, u32 attrs)
{
	/* What becomes dirty becomes soft-dirty with it, and a shadow stack has no other dirty. */
	ptb_pte_t a = fmt_pte_mk(pfn, attrs),
		  b = fmt_pte_mk(pfn, attrs | (A_SOFT_DIRTY & FMT_ATTRS));

	if (attrs & A_SHSTK)
		return ptb_pte_write(got) && ptb_pte_dirty(got) && ptb_pte_pfn(got) == pfn &&
		       ptb_pte_young(got) == !!(attrs & A_YOUNG);
	return ptb_pte_same(got, a) || ((attrs & A_DIRTY) && ptb_pte_same(got, b));
}

/* The batch from slot @first on, with the flag set @n; @pfn_end is behind the folio. */
static bool scan_is_right(const struct known_table *s, unsigned int first, unsigned int max_nr,
			  unsigned long pfn_end, unsigned int n)
{
	const ptb_t flags = (__force ptb_t)n;
	ptb_pte_t *ptep = bed_ptep(s->bed, s->at + first);
	unsigned int want = model(s, first, max_nr, pfn_end, flags), got;
	u64 *count = raw_hooks.count;
	ptb_pte_t pte, before;

	pte = before = ptb_ptep_get(ptep, flags);
	count[RAW_PTE] = count[RAW_PTE_LOCKLESS] = 0;
	reads_end = ptep + max_nr;
	/* To gather a block's young and dirty all of it is read. */
	if (FMT_CONT > 1)
		reads_end = bed_ptep(s->bed, s->at) +
			    (first + max_nr + FMT_CONT - 1) / FMT_CONT * FMT_CONT;
	read_past = false;
	raw_hooks.script = watch_reads;
	got = scans[n](bed_folio(s->slot[first].pfn), &s->bed->mm.vmas[0], ptep, &pte, max_nr);
	raw_hooks.script = NULL;

#define RIGHT(cond, what, ...)                                                                     \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			EXPECT(false, "entry %u, at most %u, flags 0x%x: " what, first, max_nr, n, \
			       ##__VA_ARGS__);                                                     \
			return false;                                                              \
		}                                                                                  \
	} while (0)
	RIGHT(got == want, "%u entries, expected %u", got, want);
	RIGHT(!read_past, "read behind the limit");
	RIGHT(!count[flags & PTB_LOCKLESS ? RAW_PTE : RAW_PTE_LOCKLESS], "read the other way");
	if (flags & (PTB_MERGE_WRITE | PTB_MERGE_YOUNG_DIRTY))
		RIGHT(bare_same(pte, s->slot[first].pfn, model_merged(s, first, got, flags)),
		      "merged into %llx", (unsigned long long)fmt_val(pte));
	else
		RIGHT(ptb_pte_same(pte, before),
		      "the first entry changed, and nothing was to merge");
	RIGHT(ptb_pte_write(pte) ==
		      !!(((flags & PTB_MERGE_WRITE ? model_merged(s, first, got, flags) : 0) |
			  s->slot[first].attrs) &
			 A_ANY_WRITE),
	      "write is %d after merging", ptb_pte_write(pte));
#undef RIGHT
	return true;
}

#endif
