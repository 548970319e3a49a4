// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A layout as records: the way back of words.c, for seeds. What records cannot say is left out. */
#include "fuzz.h"

struct order {
	unsigned int index[LAYOUT_MAX]; /* of folios, by frame */
	unsigned int place[LAYOUT_MAX]; /* the other way round */
};

static void put(struct fuzz_input *in, enum fuzz_type type, unsigned int which, unsigned long from,
		unsigned long nr, u32 attrs)
{
	if (in->nr_rec < FUZZ_RECORDS)
		in->rec[in->nr_rec++] = (struct fuzz_record){ type, which, from, nr, attrs };
}

static void by_frame(const struct layout *l, struct order *o)
{
	unsigned int i, j;

	for (i = 0; i < l->nr_folios; i++) {
		for (j = i; j && l->folios[o->index[j - 1]].pfn > l->folios[i].pfn; j--)
			o->index[j] = o->index[j - 1];
		o->index[j] = i;
	}
	for (i = 0; i < l->nr_folios; i++)
		o->place[o->index[i]] = i;
}

static unsigned int refs_value(int refs)
{
	if (refs > INT_MAX - FUZZ_NEAR_MAX)
		return INT_MAX - refs + 1;
	if (refs <= 0 && refs > -90)
		return FUZZ_NEAR_MAX + 1 - refs;
	return 0;
}

static void put_folio(struct fuzz_input *in, const struct layout_folio *f, unsigned long *next)
{
	unsigned long nr = 1UL << f->order, near = (*next + nr - 1) & ~(nr - 1);
	unsigned long gap = f->pfn > near ? f->pfn - *next : 0;
	/* As large as a table of 512: as large as a table. */
	unsigned int order = f->order >= 9 ? FUZZ_PMD_ORDER : f->order;

	if (gap >= FUZZ_FAR)
		gap = FUZZ_FAR | ((gap >> 12) & 0x1ff);
	put(in, FUZZ_FOLIO, f->kind, gap, order, (f->flags & 15) | refs_value(f->refs) << 4);
	*next = f->pfn + nr;
}

static unsigned int folio_at(const struct layout *l, unsigned long pfn)
{
	unsigned int i;

	for (i = 0; i < l->nr_folios; i++)
		if (pfn - l->folios[i].pfn < 1UL << l->folios[i].order)
			return i;
	return 0;
}

static void put_pages(struct fuzz_input *in, const struct layout *l, const struct order *o,
		      const struct layout_item *item)
{
	unsigned int i = folio_at(l, item->pfn);
	const struct layout_folio *f = &l->folios[i];
	u32 usual = f->kind == FOLIO_ZERO ? A_YOUNG : A_WRITE | A_YOUNG | A_EXCLUSIVE;
	unsigned long from = item->pfn - f->pfn;

	if (item->level != LEVEL_PTE)
		put(in, FUZZ_LEAF, o->place[i], 0, 0, item->attrs ^ usual);
	else if (!from && item->nr == 1UL << f->order)
		put(in, FUZZ_WHOLE, o->place[i], 0, 0, item->attrs ^ usual);
	else
		put(in, FUZZ_PAGES, o->place[i], from, item->nr - 1, item->attrs ^ usual);
}

static void put_other(struct fuzz_input *in, const struct layout_item *item)
{
	unsigned int which;

	switch (item->swap_type) {
	case SWP_PTE_MARKER:
		which = 1;
		break;
	case SWP_MIGRATION_READ:
		which = 2;
		break;
	case SWP_HWPOISON:
		which = 3;
		break;
	default:
		which = 4;
	}
	put(in, FUZZ_HOLE, which, 0, item->nr - 1, 0);
}

void fuzz_records(const struct layout *l, struct fuzz_input *in)
{
	unsigned long next = 0x100, slots = 0;
	struct order o = {};
	unsigned int i;

	by_frame(l, &o);
	for (i = 0; i < l->nr_folios; i++)
		put_folio(in, &l->folios[o.index[i]], &next);
	for (i = 0; i < l->nr_items; i++) {
		const struct layout_item *item = &l->items[i];

		switch (item->type) {
		case ITEM_PAGES:
			put_pages(in, l, &o, item);
			break;
		case ITEM_FRAMES:
			put(in, FUZZ_FRAMES, 0, item->pfn, item->nr - 1,
			    item->attrs ^ (A_WRITE | A_YOUNG | A_SPECIAL));
			break;
		case ITEM_NONE:
			put(in, FUZZ_HOLE, 0, 0, item->nr - 1, 0);
			break;
		case ITEM_SWAP:
			put(in, FUZZ_SWAP, item->swap_type, item->pfn, item->nr - 1, item->attrs);
			break;
		case ITEM_OTHER:
			put_other(in, item);
			break;
		case ITEM_AT:
			if (item->pfn > slots)
				put(in, FUZZ_AT, 0, item->pfn - slots, 0, 0);
			slots = item->pfn;
			continue;
		}
		slots += item->nr;
	}
}
