// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The parser of layouts: layout.h has the grammar. */
#include "layout.h"

#include "attr.h"

#include <ctype.h>
#include <stdarg.h>

struct parser {
	const char *p;
	struct layout *l;
	char *err;
};

static bool __printf(2, 3) fail(struct parser *ps, const char *fmt, ...)
{
	char what[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(ps->err, LAYOUT_ERR_MAX, "layout: %s at \"%.24s\"", what, ps->p);
	return false;
}

static void skip_space(struct parser *ps)
{
	while (isspace((unsigned char)*ps->p))
		ps->p++;
}

static bool eat(struct parser *ps, char c)
{
	skip_space(ps);
	if (*ps->p != c)
		return false;
	ps->p++;
	return true;
}

/* A word ends where no letter, digit or dash goes on. */
static bool eat_word(struct parser *ps, const char *word)
{
	size_t n = strlen(word);

	skip_space(ps);
	if (strncmp(ps->p, word, n) || isalnum((unsigned char)ps->p[n]) || ps->p[n] == '-')
		return false;
	ps->p += n;
	return true;
}

static bool number(struct parser *ps, int base, unsigned long max, unsigned long *n)
{
	char *end;

	skip_space(ps);
	if (!isxdigit((unsigned char)*ps->p))
		return fail(ps, "a number is missing");
	errno = 0;
	*n = strtoul(ps->p, &end, base);
	if (end == ps->p)
		return fail(ps, "a number is missing");
	if (errno || *n > max)
		return fail(ps, "number above %lu", max);
	ps->p = end;
	return true;
}

#define MAX_PFN (1UL << 28)
#define MAX_NR (1UL << 20)

struct word {
	const char *name;
	u32 set, clear;
};

static const struct word entry_words[] = {
	{ "rw", A_WRITE, 0 },
	{ "ro", 0, A_WRITE },
	{ "dirty", A_DIRTY, 0 },
	{ "clean", 0, A_DIRTY },
	{ "young", A_YOUNG, 0 },
	{ "old", 0, A_YOUNG },
	{ "soft-dirty", A_SOFT_DIRTY, 0 },
	{ "uffd-wp", A_UFFD_WP, 0 },
	{ "special", A_SPECIAL, 0 },
	{ "devmap", A_DEVMAP, 0 },
	{ "protnone", A_PROTNONE, A_WRITE },
	{ "kernel", A_KERNEL, 0 },
	{ "cont", A_CONT, 0 },
	{ "shstk", A_SHSTK, A_WRITE },
	{ "saved-dirty", A_SAVED_DIRTY, A_WRITE },
	{ "excl", A_EXCLUSIVE, 0 },
	{ "shared", 0, A_EXCLUSIVE },
};

static bool entry_word(struct parser *ps, u32 *attrs)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(entry_words); i++)
		if (eat_word(ps, entry_words[i].name)) {
			*attrs = (*attrs & ~entry_words[i].clear) | entry_words[i].set;
			return true;
		}
	return false;
}

static const char *const kind_words[FOLIO_NR_KINDS] = {
	[FOLIO_ANON] = "anon",		 [FOLIO_FILE] = "file",		  [FOLIO_SHMEM] = "shmem",
	[FOLIO_SECRETMEM] = "secretmem", [FOLIO_HUGETLB] = "hugetlb",	  [FOLIO_DEVICE] = "device",
	[FOLIO_ZERO] = "zero",		 [FOLIO_TRUNCATED] = "truncated",
};

static bool kind_word(struct parser *ps, struct layout_folio *f)
{
	unsigned int i;

	for (i = 0; i < FOLIO_NR_KINDS; i++)
		if (eat_word(ps, kind_words[i])) {
			f->kind = i;
			return true;
		}
	return false;
}

static bool folio_flag_word(struct parser *ps, struct layout_folio *f)
{
	static const char *const names[] = { "cma", "reserved", "inaccessible", "p2pdma" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (eat_word(ps, names[i])) {
			f->flags |= BIT(i);
			return true;
		}
	return false;
}

/* refs=N, pins=N: false with err set on a bad number */
static bool count_word(struct parser *ps, const char *name, int *count, bool *bad)
{
	unsigned long n;
	bool negative;

	if (!eat_word(ps, name))
		return false;
	if (!eat(ps, '=')) {
		*bad = true;
		return fail(ps, "= is missing");
	}
	negative = eat(ps, '-');
	*bad = !number(ps, 10, INT_MAX, &n);
	*count = negative ? -(int)n : (int)n;
	return true;
}

static bool folio_words(struct parser *ps, struct layout_folio *f, struct layout_item *item)
{
	bool bad = false;

	for (;;) {
		if (entry_word(ps, &item->attrs) || kind_word(ps, f) || folio_flag_word(ps, f))
			continue;
		if (eat_word(ps, "pmd"))
			item->level = LEVEL_PMD;
		else if (eat_word(ps, "pud"))
			item->level = LEVEL_PUD;
		else if (!count_word(ps, "refs", &f->refs, &bad) &&
			 !count_word(ps, "pins", &f->pins, &bad))
			return !bad;
		if (bad)
			return false;
	}
}

static bool add_item(struct parser *ps, const struct layout_item *item)
{
	struct layout *l = ps->l;

	if (l->nr_items == LAYOUT_MAX)
		return fail(ps, "more than %u items", LAYOUT_MAX);
	l->items[l->nr_items++] = *item;
	l->attrs |= item->attrs;
	if (item->type == ITEM_AT)
		l->nr_slots = item->pfn;
	else
		l->nr_slots += item->nr;
	if (item->type == ITEM_PAGES && item->pfn + item->nr > l->max_pfn)
		l->max_pfn = item->pfn + item->nr;
	return true;
}

static bool add_folio(struct parser *ps, const struct layout_folio *f)
{
	struct layout *l = ps->l;
	unsigned int i;

	for (i = 0; i < l->nr_folios; i++) {
		const struct layout_folio *o = &l->folios[i];

		if (o->pfn == f->pfn && o->order == f->order)
			return true;
		if (f->pfn < o->pfn + BIT(o->order) && o->pfn < f->pfn + BIT(f->order))
			return fail(ps, "folio at %lx overlaps another", f->pfn);
	}
	if (l->nr_folios == LAYOUT_MAX)
		return fail(ps, "more than %u folios", LAYOUT_MAX);
	l->folios[l->nr_folios++] = *f;
	if (f->pfn + BIT(f->order) > l->max_pfn)
		l->max_pfn = f->pfn + BIT(f->order);
	return true;
}

static bool
ranges(struct parser *ps, const struct layout_folio *f, const struct layout_item *common)
{
	do {
		struct layout_item item = *common;
		unsigned long first, last;

		if (!number(ps, 10, MAX_NR, &first))
			return false;
		last = first;
		if (eat(ps, '-') && !number(ps, 10, MAX_NR, &last))
			return false;
		if (last < first || last >= BIT(f->order))
			return fail(ps, "pages %lu-%lu are not in the folio", first, last);
		item.pfn = f->pfn + first;
		item.nr = last - first + 1;
		while (entry_word(ps, &item.attrs))
			;
		if (!add_item(ps, &item))
			return false;
	} while (eat(ps, ','));
	return true;
}

static bool times(struct parser *ps, unsigned long *nr)
{
	*nr = 1;
	if (!eat(ps, '*'))
		return true;
	return number(ps, 10, MAX_NR, nr);
}

static bool folio_item(struct parser *ps)
{
	struct layout_item item = { .type = ITEM_PAGES, .attrs = A_WRITE | A_YOUNG | A_EXCLUSIVE };
	struct layout_folio f = { .refs = 1 };
	unsigned long order;

	if (!number(ps, 10, 18, &order))
		return false;
	if (!eat(ps, '@'))
		return fail(ps, "@ is missing");
	if (!number(ps, 16, MAX_PFN, &f.pfn))
		return false;
	f.order = order;
	if (f.pfn & (BIT(f.order) - 1))
		return fail(ps, "frame %lx is not aligned to order %u", f.pfn, f.order);
	if (!folio_words(ps, &f, &item))
		return false;
	if (f.kind == FOLIO_ZERO && f.order)
		return fail(ps, "the zero page has order 0");
	if (!add_folio(ps, &f))
		return false;
	if (eat(ps, ':'))
		return ranges(ps, &f, &item);
	item.pfn = f.pfn;
	item.nr = BIT(f.order);
	return add_item(ps, &item);
}

static bool zero_item(struct parser *ps)
{
	struct layout_item item = { .type = ITEM_PAGES, .attrs = A_YOUNG };
	struct layout_folio f = { .kind = FOLIO_ZERO, .refs = 1 };
	unsigned long nr;

	if (!eat(ps, '@'))
		return fail(ps, "@ is missing");
	if (!number(ps, 16, MAX_PFN, &f.pfn) || !folio_words(ps, &f, &item) || !times(ps, &nr))
		return false;
	if (!add_folio(ps, &f))
		return false;
	item.pfn = f.pfn;
	item.nr = 1;
	while (nr--)
		if (!add_item(ps, &item))
			return false;
	return true;
}

/* frame@PFN, swap T:OFF */
static bool counted_item(struct parser *ps, enum item_type type)
{
	struct layout_item item = { .type = type };
	unsigned long swap_type = 0;

	if (type == ITEM_FRAMES) {
		item.attrs = A_WRITE | A_YOUNG | A_SPECIAL;
		if (!eat(ps, '@'))
			return fail(ps, "@ is missing");
	} else {
		if (!number(ps, 10, SWAP_DEVS - 1, &swap_type))
			return false;
		if (!eat(ps, ':'))
			return fail(ps, ": is missing");
	}
	item.swap_type = swap_type;
	if (!number(ps, 16, MAX_PFN, &item.pfn))
		return false;
	for (;;) {
		if (entry_word(ps, &item.attrs))
			continue;
		if (type == ITEM_FRAMES && eat_word(ps, "pmd"))
			item.level = LEVEL_PMD;
		else
			break;
	}
	return times(ps, &item.nr) && add_item(ps, &item);
}

static const struct {
	const char *name;
	enum item_type type;
	unsigned int swap_type;
} plain_items[] = {
	{ "none", ITEM_NONE, 0 },
	{ "marker", ITEM_OTHER, SWP_PTE_MARKER },
	{ "migration", ITEM_OTHER, SWP_MIGRATION_READ },
	{ "hwpoison", ITEM_OTHER, SWP_HWPOISON },
	{ "device-private", ITEM_OTHER, SWP_DEVICE_WRITE },
};

static bool plain_item(struct parser *ps, bool *found)
{
	struct layout_item item = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plain_items); i++)
		if (eat_word(ps, plain_items[i].name)) {
			*found = true;
			item.type = plain_items[i].type;
			item.swap_type = plain_items[i].swap_type;
			return times(ps, &item.nr) && add_item(ps, &item);
		}
	return false;
}

static bool at_item(struct parser *ps)
{
	struct layout_item item = { .type = ITEM_AT };

	return number(ps, 10, MAX_NR, &item.pfn) && add_item(ps, &item);
}

static bool one_item(struct parser *ps)
{
	bool found = false;

	if (plain_item(ps, &found))
		return true;
	if (found)
		return false;
	if (eat_word(ps, "swap"))
		return counted_item(ps, ITEM_SWAP);
	if (eat_word(ps, "at"))
		return at_item(ps);
	skip_space(ps);
	if (eat_word(ps, "frame"))
		return counted_item(ps, ITEM_FRAMES);
	if (eat_word(ps, "zero"))
		return zero_item(ps);
	if (*ps->p == 'o' && isdigit((unsigned char)ps->p[1])) {
		ps->p++;
		return folio_item(ps);
	}
	return fail(ps, "not an item");
}

int layout_parse(const char *text, struct layout *l, char err[LAYOUT_ERR_MAX])
{
	struct parser ps = { .p = text, .l = l, .err = err };

	*l = (struct layout){};
	do {
		if (!one_item(&ps))
			return -1;
	} while (eat(&ps, '|'));
	skip_space(&ps);
	if (*ps.p) {
		fail(&ps, "| or the end expected");
		return -1;
	}
	return 0;
}
