// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The scan against its model, over tables that a seed makes: every flag set, start and limit. */
#include "random.h"
#include "scan_model.h"

/* Two folios whose frames follow each other, against the end of a table. */
#define SMALL_ORDER 3
#define FOLIO_PAGES (FMT_CONT > 1 ? 2 * FMT_CONT : 1U << SMALL_ORDER)
#define FIRST_PFN 0x400UL
#define SECOND_PAGES (FMT_CONT > 1 ? FMT_CONT : 4)
#define NR (FOLIO_PAGES + SECOND_PAGES)

struct scene {
	struct bed bed;
	struct known slot[FOLIO_PAGES + SECOND_PAGES];
	bool shadow_stack;
};

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

static bool scene_is_right(struct scene *s)
{
	/*
	 * Blocks make for more starts and limits: there each pair takes some of the sets in turn.
	 */
	unsigned int first, max_nr, n, step = FMT_CONT > 16 ? 23 : FMT_CONT > 1 ? 5 : 1;
	const struct known_table t = { .bed = &s->bed,
				       .at = FMT_PTES - NR,
				       .slot = s->slot,
				       .shadow_stack = s->shadow_stack };

	for (first = 0; first < FOLIO_PAGES; first++) {
		if (!s->slot[first].present || s->slot[first].pfn - FIRST_PFN >= FOLIO_PAGES)
			continue;
		for (max_nr = 1; max_nr <= NR - first; max_nr++)
			for (n = (first + max_nr) % step; n < 256; n += step)
				if (!scan_is_right(&t, first, max_nr, FIRST_PFN + FOLIO_PAGES, n))
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
