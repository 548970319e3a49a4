/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Layouts that a seed makes, in the words that this format has: folios of many kinds, mapped whole
 * and in part, alike and not, with holes and strangers between them, across tables, in blocks and
 * under leaves.
 */
#ifndef TESTS_VALIDATE_RANDOM_LAYOUT_H
#define TESTS_VALIDATE_RANDOM_LAYOUT_H

#include "bed.h"
#include "random.h"

#include <stdarg.h>

#define PMD_ORDER (PTB_PMD_SHIFT - PTB_PAGE_SHIFT)

/* Large tables take their time to build: fewer of them. */
#define ROUNDS(n) HARNESS_ROUNDS(FMT_PTES > 512 ? (n) / 4 : (n))

#define RANDOM_FOLIOS 8
#define RANDOM_BEGINS 16

struct random_folio {
	unsigned long pfn;
	unsigned int order;
	bool device, named;
};

struct random_layout {
	char text[4096];
	unsigned long slots;		     /* named so far */
	unsigned long begins[RANDOM_BEGINS]; /* slots where an item begins, the last of them */
	unsigned int nr_begins;
	unsigned long zero_pfn;
	struct rnd *rnd;
	struct random_folio folios[RANDOM_FOLIOS];
	unsigned int nr_folios;
};

static void __printf(2, 3) rl_say(struct random_layout *rl, const char *fmt, ...)
{
	size_t n = strlen(rl->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rl->text + n, sizeof(rl->text) - n, fmt, ap);
	va_end(ap);
}

static inline bool rl_once_in(struct random_layout *rl, unsigned int n)
{
	return rnd_once_in(rl->rnd, n);
}

static inline unsigned long rl_below(struct random_layout *rl, unsigned long n)
{
	return rnd_below(rl->rnd, n);
}

static inline void rl_bar(struct random_layout *rl)
{
	if (rl->text[0])
		rl_say(rl, " | ");
}

static inline void rl_item(struct random_layout *rl)
{
	rl_bar(rl);
	rl->begins[rl->nr_begins++ % RANDOM_BEGINS] = rl->slots;
}

static inline void rl_at(struct random_layout *rl, unsigned long slot)
{
	rl_bar(rl);
	rl_say(rl, "at %lu", slot);
	rl->slots = slot;
}

/* Mostly nothing: runs must have a chance. */
static inline void rl_entry_words(struct random_layout *rl, unsigned int once_in)
{
	static const struct {
		const char *word;
		u32 needs;
	} words[] = {
		{ "ro", 0 },
		{ "ro", 0 },
		{ "dirty", 0 },
		{ "dirty", 0 },
		{ "old", 0 },
		{ "ro shared", 0 },
		{ "ro", 0 },
		{ "special", 0 },
		{ "protnone", 0 },
		{ "kernel", A_KERNEL },
		{ "soft-dirty", A_SOFT_DIRTY },
		{ "uffd-wp", A_UFFD_WP },
		{ "shstk", A_SHSTK },
		{ "saved-dirty", A_SAVED_DIRTY },
	};
	size_t i;

	while (rl_once_in(rl, once_in)) {
		i = rl_below(rl, ARRAY_SIZE(words));
		if (!(words[i].needs & ~FMT_ATTRS))
			rl_say(rl, " %s", words[i].word);
	}
}

/* What a folio is, said where it comes first. */
static inline void rl_folio_words(struct random_layout *rl, struct random_folio *f)
{
	static const char *const kinds[] = { "file", "shmem", "secretmem", "hugetlb", "truncated" };

	if (f->named)
		return;
	f->named = true;
	if (f->device)
		rl_say(rl, " device%s", rl_once_in(rl, 3) ? " p2pdma" : "");
	else if (rl_once_in(rl, 3))
		rl_say(rl, " %s", kinds[rl_below(rl, ARRAY_SIZE(kinds))]);
	if (rl_once_in(rl, 10))
		rl_say(rl, " cma");
	if (rl_once_in(rl, 16))
		rl_say(rl, " inaccessible");
	if (rl_once_in(rl, 16))
		rl_say(rl, " reserved");
	/* Hardly room for a few references, for a pin or two of a small folio, or none. */
	if (rl_once_in(rl, 12))
		rl_say(rl, " refs=%ld",
		       INT_MAX - (long)rl_below(rl, rl_once_in(rl, 2) ? 12 : 3000));
	else if (rl_once_in(rl, 24))
		rl_say(rl, " refs=%d", rl_once_in(rl, 2) ? 0 : -3);
}

static inline void rl_pieces(struct random_layout *rl, const struct random_folio *f)
{
	unsigned long nr = 1UL << f->order, from = rl_below(rl, nr), to;
	unsigned int pieces = 1 + rl_below(rl, 3);
	bool shareable = rl_once_in(rl, 4);

	while (pieces--) {
		to = from + rl_below(rl, nr - from);
		if (rl_once_in(rl, 2))
			to = nr - 1;
		rl_say(rl, "%lu-%lu", from, to);
		rl_entry_words(rl, 3);
		/* Who reads only must ask each page. */
		if (shareable)
			rl_say(rl, rl_once_in(rl, 2) ? " ro" : " ro shared");
		rl->slots += to - from + 1;
		/* Mostly on, at times with a page left out or come again, or anywhere. */
		from = rl_once_in(rl, 4) ? rl_below(rl, nr)
					 : to + 1 + rl_once_in(rl, 6) - rl_once_in(rl, 6);
		if (from >= nr)
			from = 0;
		if (pieces)
			rl_say(rl, ", ");
	}
}

static inline void rl_folio_item(struct random_layout *rl)
{
	struct random_folio *f = &rl->folios[rl_below(rl, rl->nr_folios)];
	bool block = FMT_CONT > 1 && (1U << f->order) >= FMT_CONT && !rl_once_in(rl, 3);

	if (block && rl->slots % FMT_CONT)
		rl_at(rl, rl->slots + FMT_CONT - rl->slots % FMT_CONT);
	rl_item(rl);
	rl_say(rl, "o%u@%lx", f->order, f->pfn);
	rl_folio_words(rl, f);
	if (f->device && (FMT_ATTRS & A_DEVMAP))
		rl_say(rl, " special devmap");
	if (block)
		rl_say(rl, " cont");
	rl_entry_words(rl, 4);
	/* A large folio in pieces is long: seldom. */
	if (rl_once_in(rl, 2) && f->order && (f->order < PMD_ORDER || rl_once_in(rl, 3))) {
		rl_say(rl, ": ");
		rl_pieces(rl, f);
	} else {
		rl->slots += 1UL << f->order;
	}
}

static inline void rl_leaf_item(struct random_layout *rl, unsigned long *next_pfn)
{
	bool device = rl->nr_folios < RANDOM_FOLIOS && (FMT_ATTRS & A_DEVMAP) && rl_once_in(rl, 4);
	struct random_folio f = { .order = PMD_ORDER, .device = device };

	f.pfn = *next_pfn = (*next_pfn + FMT_PTES - 1) & ~(FMT_PTES - 1);
	*next_pfn += FMT_PTES;
	if (rl->slots % FMT_PTES)
		rl_at(rl, rl->slots + FMT_PTES - rl->slots % FMT_PTES);
	rl_item(rl);
	rl_say(rl, "o%u@%lx pmd", f.order, f.pfn);
	rl_folio_words(rl, &f);
	if (device)
		rl_say(rl, " special devmap");
	rl_entry_words(rl, 3);
	rl->slots += FMT_PTES;
}

static inline void rl_hole(struct random_layout *rl)
{
	static const char *const holes[] = { "none", "marker", "migration", "hwpoison",
					     "device-private" };
	unsigned long nr = 1 + rl_below(rl, 5);

	rl_item(rl);
	switch (rl_below(rl, 4)) {
	case 0:
		rl_say(rl, "swap %lu:%lx*%lu", rl_below(rl, SWAP_DEVS), 1 + rl_below(rl, 64), nr);
		break;
	case 1:
		/* as the kernel maps it, special in most formats */
		if (rl_once_in(rl, 3)) {
			nr = 1;
			rl_say(rl, "zero@%lx reserved%s", rl->zero_pfn,
			       rl_once_in(rl, 2) ? " special" : "");
			break;
		}
		rl_say(rl, "frame@fee%02lx*%lu", rl_below(rl, 256), nr);
		break;
	default:
		rl_say(rl, "%s*%lu", holes[rl_once_in(rl, 2) ? 0 : rl_below(rl, ARRAY_SIZE(holes))],
		       nr);
	}
	rl->slots += nr;
}

/* Folios side by side as frames, mostly: there a run must know where to stop. */
static inline unsigned long rl_make_folios(struct random_layout *rl)
{
	static const unsigned char orders[] = { 0, 0, 1, 2, 2, 3, 4, 4, 5 };
	unsigned long pfn = 0x400;
	unsigned int i, devices = 0;

	rl->nr_folios = 1 + rl_below(rl, RANDOM_FOLIOS - 1);
	for (i = 0; i < rl->nr_folios; i++) {
		struct random_folio *f = &rl->folios[i];

		f->order = orders[rl_below(rl, ARRAY_SIZE(orders))];
		if (rl_once_in(rl, 12))
			f->order = PMD_ORDER;
		/* One pagemap is kept free for a leaf. */
		f->device = rl_once_in(rl, 8) && ++devices < ARRAY_SIZE(mem.pagemaps) - 1;
		f->pfn = (pfn + (1UL << f->order) - 1) & ~((1UL << f->order) - 1);
		pfn = f->pfn + (1UL << f->order) + (rl_once_in(rl, 4) ? 3 : 0);
	}
	return pfn;
}

/* A layout of not much more than two tables. */
static inline void random_layout(struct random_layout *rl, struct rnd *rnd)
{
	unsigned int items, leaves = 0, devices_left = 1;
	unsigned long pfn;

	*rl = (struct random_layout){ .rnd = rnd };
	items = 1 + rl_below(rl, 10);
	rl->zero_pfn = rl_make_folios(rl);
	pfn = rl->zero_pfn + 1;
	if (rl_once_in(rl, 4))
		rl_at(rl, FMT_PTES - 1 - rl_below(rl, 24));
	while (items-- && rl->slots < 2 * FMT_PTES - FMT_PTES / 8) {
		if (FMT_LEAVES && rl->slots <= FMT_PTES && leaves < devices_left &&
		    rl_once_in(rl, 16)) {
			rl_leaf_item(rl, &pfn);
			leaves++;
		} else if (rl_once_in(rl, 4)) {
			rl_hole(rl);
		} else {
			rl_folio_item(rl);
		}
	}
	if (!rl->text[0] || rl->text[0] == 'a')
		rl_hole(rl);
}

/* Slots that have a table or a leaf or could have: no walk may go beyond. */
static inline unsigned long random_layout_end(const struct random_layout *rl)
{
	return (rl->slots + FMT_PTES - 1) / FMT_PTES * FMT_PTES;
}

/* Somewhere in it, seldom all of it. */
static inline void random_window(struct random_layout *rl, unsigned long *slot, unsigned long *nr)
{
	unsigned int nr_begins = rl->nr_begins < RANDOM_BEGINS ? rl->nr_begins : RANDOM_BEGINS;
	unsigned long end = random_layout_end(rl);

	/* Where something begins, more often than anywhere. */
	if (rl_once_in(rl, 3))
		*slot = rl_below(rl, rl->slots);
	else
		*slot = rl->begins[rl_below(rl, nr_begins)] +
			(rl_once_in(rl, 2) ? rl_below(rl, 8) : 0);
	if (*slot >= rl->slots)
		*slot = rl->slots - 1;
	*nr = 1 + rl_below(rl, end - *slot);
	if (rl_once_in(rl, 2) && *nr > 48)
		*nr = 1 + rl_below(rl, 48);
	if (*nr > BED_PAGES)
		*nr = BED_PAGES;
}

#endif
