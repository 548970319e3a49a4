// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The scan against its contract in words, over tables that a seed makes: every flag set, every
 * start, every limit. The model compares attributes as the table was made from them, and knows
 * nothing of how an entry says them.
 */
#include "random.h"

#include "bed.h"

/* What the test knows of a slot. */
struct known {
	bool present;
	unsigned long pfn;
	u32 attrs;
};

/* Two folios whose frames follow each other, against the end of a table. */
#define SMALL_ORDER 3
#define FOLIO_PAGES (FMT_CONT > 1 ? 2 * FMT_CONT : 1U << SMALL_ORDER)
#define FIRST_PFN 0x400UL
#define SECOND_PAGES (FMT_CONT > 1 ? FMT_CONT : 4)
#define NR (FOLIO_PAGES + SECOND_PAGES)

#define A_ANY_WRITE (A_WRITE | A_SHSTK)
#define A_ANY_DIRTY (A_DIRTY | A_SAVED_DIRTY | A_SHSTK)

struct scene {
	struct bed bed;
	struct known slot[FOLIO_PAGES + SECOND_PAGES];
	bool shadow_stack;
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
#define NAME(n) [0x##n] = scan_##n,
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
static u32 seen_attrs(const struct scene *s, unsigned int i)
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
static bool alike(const struct scene *s, unsigned int first, unsigned int i, ptb_t flags)
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

static unsigned int
model(const struct scene *s, unsigned int first, unsigned int max_nr, ptb_t flags)
{
	unsigned long left = FIRST_PFN + FOLIO_PAGES - s->slot[first].pfn;
	unsigned int n = 1;

	while (n < max_nr && n < left && alike(s, first, first + n, flags))
		n++;
	return n;
}

static u32 model_merged(const struct scene *s, unsigned int first, unsigned int nr, ptb_t flags)
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

/* ---- scenes ---- */

static u32 random_attrs(struct rnd *r, const struct scene *s, u32 base)
{
	u32 attrs = base & (A_SPECIAL | A_DEVMAP | A_KERNEL | A_UFFD_WP | A_PROTNONE | A_CONT);

	attrs |= rnd_once_in(r, 2) ? A_YOUNG : 0;
	attrs |= rnd_once_in(r, 3) ? A_DIRTY : 0;
	attrs |= rnd_once_in(r, 3) ? A_SOFT_DIRTY : 0;
	if (rnd_once_in(r, 3) && !(attrs & A_PROTNONE))
		attrs |= s->shadow_stack ? A_SHSTK : A_WRITE;
	if (attrs & A_PROTNONE)
		attrs &= ~A_KERNEL;
	return attrs & FMT_ATTRS;
}

/* One thing that no flag releases. */
static void spoil(struct rnd *r, struct known *k)
{
	static const u32 bits[] = { A_SPECIAL, A_DEVMAP, A_KERNEL, A_UFFD_WP, A_PROTNONE };

	switch (rnd_below(r, 4)) {
	case 0:
		k->present = false;
		break;
	case 1:
		k->pfn += rnd_once_in(r, 2) ? 1 : -1;
		break;
	default:
		k->attrs ^= bits[rnd_below(r, ARRAY_SIZE(bits))] & FMT_ATTRS;
		/* Closed to all is closed to the user, and an entry says it once. */
		if (k->attrs & A_PROTNONE)
			k->attrs &= ~(A_ANY_WRITE | A_KERNEL);
	}
}

static ptb_pte_t entry_of(struct rnd *r, const struct known *k)
{
	if (k->present)
		return fmt_pte_mk(k->pfn, k->attrs);
	if (rnd_once_in(r, 2))
		return fmt_mk(FMT_NONE);
	return fmt_swp_mk(rnd_once_in(r, 2) ? 0 : SWP_MIGRATION_READ, k->pfn, 0);
}

/* The entries of a block agree in all but what the hardware sets. */
static void make_block(struct rnd *r, struct scene *s, unsigned int at)
{
	u32 attrs = random_attrs(r, s, (s->slot[at].attrs | A_CONT) & ~A_PROTNONE);
	unsigned int i;

	for (i = at; i < at + FMT_CONT; i++) {
		s->slot[i].attrs = attrs & ~(A_YOUNG | A_DIRTY);
		/*
		 * As the kernel sets it: clean or dirty all over, until the hardware marks one of
		 * them.
		 */
		if (rnd_once_in(r, FMT_CONT))
			s->slot[i].attrs |= A_YOUNG;
		if ((attrs & A_WRITE) && rnd_once_in(r, FMT_CONT))
			s->slot[i].attrs |= A_DIRTY;
	}
}

static void make_scene(struct rnd *r, struct scene *s)
{
	u32 base = rnd_next(r) & rnd_next(r) & FMT_ATTRS & ~(u32)A_CONT;
	bool uniform = rnd_once_in(r, 3);
	unsigned int i;

	s->shadow_stack = (FMT_ATTRS & A_SHSTK) && rnd_once_in(r, 3);
	s->bed.mm.vmas[0].vm_flags &= ~VM_SHADOW_STACK;
	s->bed.mm.vmas[0].vm_flags |= s->shadow_stack ? VM_SHADOW_STACK : 0;
	base = random_attrs(r, s, base);
	for (i = 0; i < NR; i++) {
		s->slot[i] = (struct known){ true, FIRST_PFN + i,
					     uniform ? base : random_attrs(r, s, base) };
		if (rnd_once_in(r, 2 * NR))
			spoil(r, &s->slot[i]);
	}
	for (i = 0; FMT_CONT > 1 && i < FOLIO_PAGES; i += FMT_CONT)
		if (!rnd_once_in(r, 3))
			make_block(r, s, i);
	/* A block is made of frames in their place. */
	for (i = 0; i < NR; i++) {
		if (s->slot[i].attrs & A_CONT)
			s->slot[i] = (struct known){ true, FIRST_PFN + i, s->slot[i].attrs };
		pte_set(bed_ptep(&s->bed, FMT_PTES - NR + i), entry_of(r, &s->slot[i]));
	}
}

/* ---- one scan of a scene ---- */

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

static bool scan_is_right(struct scene *s, unsigned int first, unsigned int max_nr, unsigned int n)
{
	const ptb_t flags = (__force ptb_t)n;
	ptb_pte_t *ptep = bed_ptep(&s->bed, FMT_PTES - NR + first);
	unsigned int want = model(s, first, max_nr, flags), got;
	u64 *count = raw_hooks.count;
	ptb_pte_t pte, before;

	pte = before = ptb_ptep_get(ptep, flags);
	count[RAW_PTE] = count[RAW_PTE_LOCKLESS] = 0;
	reads_end = ptep + max_nr;
	/* To gather a block's young and dirty all of it is read. */
	if (FMT_CONT > 1)
		reads_end = bed_ptep(&s->bed, FMT_PTES - NR) +
			    (first + max_nr + FMT_CONT - 1) / FMT_CONT * FMT_CONT;
	read_past = false;
	raw_hooks.script = watch_reads;
	got = scans[n](bed_folio(s->slot[first].pfn), &s->bed.mm.vmas[0], ptep, &pte, max_nr);
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

static bool scene_is_right(struct scene *s)
{
	/*
	 * Blocks make for more starts and limits: there each pair takes some of the sets in turn.
	 */
	unsigned int first, max_nr, n, step = FMT_CONT > 16 ? 23 : FMT_CONT > 1 ? 5 : 1;

	for (first = 0; first < FOLIO_PAGES; first++) {
		if (!s->slot[first].present || s->slot[first].pfn - FIRST_PFN >= FOLIO_PAGES)
			continue;
		for (max_nr = 1; max_nr <= NR - first; max_nr++)
			for (n = (first + max_nr) % step; n < 256; n += step)
				if (!scan_is_right(s, first, max_nr, n))
					return false;
	}
	return true;
}

static void make_bed(struct bed *bed)
{
	char text[96];

	snprintf(text, sizeof(text), "at %lu | o%d@%lx | o%d@%lx", FMT_PTES - NR,
		 __builtin_ctz(FOLIO_PAGES), FIRST_PFN, __builtin_ctz(SECOND_PAGES),
		 FIRST_PFN + FOLIO_PAGES);
	bed_need(bed, text, NULL);
}

TEST(scan_agrees_with_its_contract_on_tables_of_all_kinds)
{
	struct rnd r = { 0x7074656261746368 };
	static struct scene s;
	unsigned int i, scenes = HARNESS_ROUNDS(FMT_CONT > 1 ? 20 : 200);

	make_bed(&s.bed);
	for (i = 0; i < scenes; i++) {
		make_scene(&r, &s);
		if (!scene_is_right(&s)) {
			EXPECT(false, "in scene %u", i);
			break;
		}
	}
	bed_free(&s.bed);
}
