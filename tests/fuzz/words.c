// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The layout of an input, in the words of layout.h; nothing that its parser or the build refuse. */
#include "fuzz.h"

#include <stdarg.h>

#define FOLIOS 16

struct place {
	unsigned long pfn;
	unsigned int order;
	enum folio_kind kind;
	u16 attrs;
	bool named;
};

struct writer {
	const struct fuzz_words *w;
	struct fuzz_say say;
	const char *begin;
	bool any; /* entry, empty ones included */
	struct place folios[FOLIOS];
	unsigned int nr_folios, devices, large;
	bool zero;
	unsigned long next_pfn, slots;
};

void say(struct fuzz_say *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->at, s->end - s->at, fmt, ap);
	va_end(ap);
	if (n >= s->end - s->at)
		abort();
	s->at += n;
}

/* Combinations that no kernel makes are left out: an entry is writable in one way. */
static u32 sensible(const struct fuzz_words *w, u32 attrs)
{
	attrs &= w->attrs;
	if (attrs & A_PROTNONE)
		attrs &= ~(u32)(A_WRITE | A_SHSTK | A_KERNEL);
	if (attrs & A_SHSTK)
		attrs &= ~(u32)A_WRITE;
	if (attrs & (A_SHSTK | A_WRITE))
		attrs &= ~(u32)A_SAVED_DIRTY;
	return attrs;
}

static const struct {
	const char *word;
	u32 attr;
} set_words[] = {
	{ "dirty", A_DIRTY },	  { "soft-dirty", A_SOFT_DIRTY },   { "uffd-wp", A_UFFD_WP },
	{ "special", A_SPECIAL }, { "devmap", A_DEVMAP },	    { "kernel", A_KERNEL },
	{ "cont", A_CONT },	  { "saved-dirty", A_SAVED_DIRTY }, { "protnone", A_PROTNONE },
	{ "shstk", A_SHSTK },
};

/* @usual: what such an item has where nothing is said. */
static void attr_words(struct writer *wr, u32 attrs, u32 usual)
{
	size_t i;

	/* Bits that the item has anyway cannot be taken away: frames are special. */
	attrs = sensible(wr->w, attrs ^ usual) | (usual & A_SPECIAL);
	if (usual & ~attrs & A_WRITE)
		say(&wr->say, " ro");
	if (attrs & ~usual & A_WRITE)
		say(&wr->say, " rw");
	if (usual & ~attrs & A_YOUNG)
		say(&wr->say, " old");
	if (usual & ~attrs & A_EXCLUSIVE)
		say(&wr->say, " shared");
	if (attrs & ~usual & A_EXCLUSIVE)
		say(&wr->say, " excl");
	for (i = 0; i < ARRAY_SIZE(set_words); i++)
		if (attrs & ~usual & set_words[i].attr)
			say(&wr->say, " %s", set_words[i].word);
}

static void bar(struct writer *wr)
{
	if (wr->say.at != wr->begin)
		say(&wr->say, " | ");
}

/* ---- folios ---- */

static unsigned int folio_order(struct writer *wr, unsigned int nr)
{
	unsigned int order = nr & 15;

	if (order == FUZZ_PMD_ORDER)
		order = wr->w->pmd_order;
	else
		order %= wr->w->pmd_order + 1;
	if (order > wr->w->max_order)
		order %= wr->w->max_order + 1;
	/* They take their time to make. */
	if (order > 6 && ++wr->large > 3)
		order = 4;
	return order;
}

static enum folio_kind folio_kind(struct writer *wr, u8 which)
{
	enum folio_kind kind = which % FOLIO_NR_KINDS;

	/* There is a pagemap for each of a few, and one zero page. */
	if (kind == FOLIO_DEVICE && ++wr->devices > 4)
		return FOLIO_FILE;
	if (kind == FOLIO_ZERO) {
		if (wr->zero)
			return FOLIO_ANON;
		wr->zero = true;
	}
	return kind;
}

static void new_folio(struct writer *wr, const struct fuzz_record *r)
{
	unsigned long gap = r->from & FUZZ_FAR ? (r->from & 0x1ffUL) << 12 : r->from, nr;
	struct place *f = &wr->folios[wr->nr_folios];

	if (wr->nr_folios == FOLIOS)
		return;
	f->kind = folio_kind(wr, r->which);
	f->order = f->kind == FOLIO_ZERO ? 0 : folio_order(wr, r->nr);
	f->attrs = r->attrs;
	nr = 1UL << f->order;
	f->pfn = (wr->next_pfn + gap + nr - 1) & ~(nr - 1);
	if (f->pfn + nr > wr->w->end_pfn)
		f->pfn = (wr->next_pfn + nr - 1) & ~(nr - 1);
	if (f->pfn + nr > wr->w->end_pfn)
		return;
	wr->next_pfn = f->pfn + nr;
	wr->nr_folios++;
}

static struct place *folio_of(struct writer *wr, u8 which)
{
	static const struct fuzz_record plain = { .nr = 2 };

	if (!wr->nr_folios)
		new_folio(wr, &plain);
	return &wr->folios[which % wr->nr_folios];
}

static void refs_word(struct writer *wr, unsigned int refs)
{
	if (!refs || wr->w->one_ref)
		return;
	if (refs <= FUZZ_NEAR_MAX)
		say(&wr->say, " refs=%d", INT_MAX - (int)(refs - 1));
	else
		say(&wr->say, " refs=%d", FUZZ_NEAR_MAX + 1 - (int)refs);
}

/* What a folio is, said where it comes first. */
static void folio_words(struct writer *wr, struct place *f)
{
	static const char *const kinds[FOLIO_NR_KINDS] = { "",		 " file",     " shmem",
							   " secretmem", " hugetlb",  " device",
							   "",		 " truncated" };
	static const char *const flags[] = { " cma", " reserved", " inaccessible", " p2pdma" };
	size_t i;

	if (f->named)
		return;
	f->named = true;
	say(&wr->say, "%s", kinds[f->kind]);
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		if (f->attrs & BIT(i))
			say(&wr->say, "%s", flags[i]);
	/* Of the zero page nobody counts on the count. */
	if (f->kind != FOLIO_ZERO)
		refs_word(wr, f->attrs >> 4);
}

/* ---- items ---- */

static unsigned long fits(struct writer *wr, unsigned long nr)
{
	unsigned long room = wr->w->slots - wr->slots;

	wr->any = true;
	return nr < room ? nr : room;
}

static void
pages_item(struct writer *wr, struct place *f, unsigned long from, unsigned long nr, u32 attrs)
{
	unsigned long all = 1UL << f->order;

	from %= all;
	nr = fits(wr, nr < all - from ? nr : all - from);
	bar(wr);
	if (f->kind == FOLIO_ZERO) {
		say(&wr->say, "zero@%lx", f->pfn);
		folio_words(wr, f);
		attr_words(wr, attrs, A_YOUNG);
	} else {
		say(&wr->say, "o%u@%lx", f->order, f->pfn);
		folio_words(wr, f);
		attr_words(wr, attrs, A_WRITE | A_YOUNG | A_EXCLUSIVE);
		if (nr < all)
			say(&wr->say, ": %lu", from);
		if (nr < all && nr > 1)
			say(&wr->say, "-%lu", from + nr - 1);
	}
	wr->slots += nr;
}

static void at_item(struct writer *wr, unsigned long slot)
{
	if (slot >= wr->w->slots || slot == wr->slots)
		return;
	bar(wr);
	say(&wr->say, "at %lu", slot);
	wr->slots = slot;
}

/* Where blocks can be: at their place in a block. */
static void block_at(struct writer *wr, const struct place *f, unsigned long from, u32 attrs)
{
	unsigned long all = 1UL << f->order;

	if (!(attrs & A_CONT) || !(wr->w->attrs & A_CONT))
		return;
	at_item(wr, wr->slots + ((f->pfn + from % all - wr->slots) & 31));
}

static void at_record(struct writer *wr, const struct fuzz_record *r)
{
	unsigned long end = (wr->slots / wr->w->ptes + 1) * wr->w->ptes, slot;

	slot = r->nr & 1 ? end - 1 - r->from % 64 : wr->slots + r->from;
	if (slot > wr->slots)
		at_item(wr, slot);
}

static void leaf_item(struct writer *wr, struct place *f, u32 attrs)
{
	unsigned long at = (wr->slots + wr->w->ptes - 1) / wr->w->ptes * wr->w->ptes;

	if (!wr->w->leaves || f->order != wr->w->pmd_order || at + wr->w->ptes > wr->w->slots)
		return;
	at_item(wr, at);
	bar(wr);
	say(&wr->say, "o%u@%lx pmd", f->order, f->pfn);
	folio_words(wr, f);
	attr_words(wr, attrs & ~(u32)A_CONT, A_WRITE | A_YOUNG | A_EXCLUSIVE);
	wr->any = true;
	wr->slots += wr->w->ptes;
}

static void hole_item(struct writer *wr, const struct fuzz_record *r)
{
	static const char *const holes[] = { "none", "marker", "migration", "hwpoison",
					     "device-private" };
	unsigned long nr = fits(wr, 1 + r->nr % 64UL);

	bar(wr);
	say(&wr->say, "%s*%lu", holes[r->which % ARRAY_SIZE(holes)], nr);
	wr->slots += nr;
}

static void counted_item(struct writer *wr, const struct fuzz_record *r)
{
	unsigned long nr = fits(wr, 1 + r->nr % 64UL);

	bar(wr);
	if (r->type % FUZZ_TYPES == FUZZ_SWAP) {
		say(&wr->say, "swap %u:%x", r->which % SWAP_DEVS, r->from);
		attr_words(wr, r->attrs & (A_EXCLUSIVE | A_SOFT_DIRTY | A_UFFD_WP), 0);
	} else {
		say(&wr->say, "frame@%lx", 0xfe0000UL + r->from);
		attr_words(wr, r->attrs & ~(u32)A_EXCLUSIVE, A_WRITE | A_YOUNG | A_SPECIAL);
	}
	say(&wr->say, "*%lu", nr);
	wr->slots += nr;
}

static void item(struct writer *wr, const struct fuzz_record *r)
{
	struct place *f;

	switch (r->type % FUZZ_TYPES) {
	case FUZZ_WHOLE:
		f = folio_of(wr, r->which);
		block_at(wr, f, 0, r->attrs);
		pages_item(wr, f, 0, 1UL << f->order, r->attrs);
		break;
	case FUZZ_PAGES:
		f = folio_of(wr, r->which);
		block_at(wr, f, r->from, r->attrs);
		pages_item(wr, f, r->from, 1UL + r->nr, r->attrs);
		break;
	case FUZZ_FOLIO:
		new_folio(wr, r);
		break;
	case FUZZ_HOLE:
		hole_item(wr, r);
		break;
	case FUZZ_AT:
		at_record(wr, r);
		break;
	case FUZZ_LEAF:
		leaf_item(wr, folio_of(wr, r->which), r->attrs);
		break;
	default:
		counted_item(wr, r);
	}
}

static void folios(struct writer *wr, const struct fuzz_input *in)
{
	unsigned int i;

	for (i = 0; i < in->nr_rec; i++)
		if (in->rec[i].type % FUZZ_TYPES == FUZZ_FOLIO)
			new_folio(wr, &in->rec[i]);
	folio_of(wr, 0);
	for (i = 0; i < wr->nr_folios && wr->slots < wr->w->slots; i++)
		pages_item(wr, &wr->folios[i], 0, 1UL << wr->folios[i].order, 0);
}

void fuzz_layout(const struct fuzz_input *in, const struct fuzz_words *words, char out[FUZZ_TEXT])
{
	struct writer wr = { .w = words,
			     .say = { out, out + FUZZ_TEXT },
			     .begin = out,
			     .next_pfn = words->first_pfn };
	unsigned int i;

	*out = 0;
	if (words->folios_only)
		folios(&wr, in);
	for (i = 0; !words->folios_only && i < in->nr_rec && wr.slots < words->slots; i++)
		item(&wr, &in->rec[i]);
	if (!wr.any) {
		bar(&wr);
		say(&wr.say, "none");
	}
}
