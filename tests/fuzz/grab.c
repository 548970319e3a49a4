// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * References and pins taken and dropped in any order, against plain counting. A folio may be split
 * between lookup and reference.
 */
#include "fuzz/call.h"

#define HOLDS 32
#define BIAS GUP_PIN_COUNTING_BIAS

static struct fuzz_words words(void)
{
	struct fuzz_words w = fuzz_tables;

	w.folios_only = true;
	w.leaves = false;
	w.max_order = 6;
	return w;
}

/* What we hold of a folio, and what is counted. */
struct hold {
	unsigned long pfn;
	int refs;
	unsigned int gup;
};

struct count {
	s64 refs, pins;
};

static struct {
	struct bed bed;
	struct count counts[LAYOUT_MAX]; /* by folio of the layout */
	struct hold holds[HOLDS];
	unsigned int nr_holds;
	s64 stat;
} now;

static const struct layout_folio *folio_nr(unsigned int which)
{
	return &now.bed.layout.folios[which % now.bed.layout.nr_folios];
}

static struct count *count_of(const struct layout_folio *f)
{
	return &now.counts[f - now.bed.layout.folios];
}

/* A word of 32 bits has no room for a pin count in a folio of two pages. */
static bool own_pincount(const struct layout_folio *f)
{
	return f->order > (sizeof(long) == 8 ? 0 : 1);
}

static bool is_zero(const struct layout_folio *f)
{
	return f->kind == FOLIO_ZERO;
}

/* References that so many pages are. */
static s64 cost(const struct layout_folio *f, int refs, unsigned int gup)
{
	return (s64)refs * ((gup & FOLL_PIN) && !own_pincount(f) ? BIAS : 1);
}

static void add(const struct layout_folio *f, int refs, unsigned int gup)
{
	if ((gup & FOLL_PIN) && is_zero(f))
		return;
	count_of(f)->refs += cost(f, refs, gup);
	if (gup & FOLL_PIN) {
		count_of(f)->pins += own_pincount(f) ? refs : 0;
		now.stat += refs;
	}
}

static bool first_granted(const struct layout_folio *f, int refs, unsigned int gup)
{
	s64 count = count_of(f)->refs;

	if ((gup & FOLL_PIN) && is_zero(f))
		return true;
	if (f->kind == FOLIO_DEVICE && (f->flags & FOLIO_P2PDMA) && !(gup & FOLL_PCI_P2PDMA))
		return false;
	if ((gup & FOLL_PIN) && (gup & FOLL_LONGTERM) && (f->flags & FOLIO_CMA))
		return false;
	return count > 0 && count + cost(f, refs, gup) <= INT_MAX;
}

static bool more_granted(const struct layout_folio *f, int refs, unsigned int gup)
{
	if ((gup & FOLL_PIN) && is_zero(f))
		return true;
	return count_of(f)->refs >= 0 && count_of(f)->refs + cost(f, refs, gup) <= INT_MAX;
}

static void expect_counts(const char *step)
{
	unsigned int i;

	for (i = 0; i < now.bed.layout.nr_folios; i++) {
		const struct layout_folio *f = &now.bed.layout.folios[i];
		const struct count *c = count_of(f);

		if (bed_refs(f->pfn) != c->refs || bed_pins(f->pfn) != c->pins)
			fuzz_fail("%s: folio %u has %d references and %d pins, expected %lld, %lld",
				  step, i, bed_refs(f->pfn), bed_pins(f->pfn), (long long)c->refs,
				  (long long)c->pins);
	}
	if ((s64)(mem.pins_acquired - mem.pins_released) != now.stat)
		fuzz_fail("%s: the node counts %lld pins, expected %lld", step,
			  (long long)(mem.pins_acquired - mem.pins_released), (long long)now.stat);
	if (mem.freed)
		fuzz_fail("%s: a folio was freed", step);
}

/* ---- one step ---- */

enum step { FIRST, MORE, PUT, STEPS };

static enum step step_of(const struct fuzz_record *r)
{
	return (r->type % FUZZ_TYPES) % STEPS;
}

static unsigned long page_in(const struct layout_folio *f, const struct fuzz_record *r)
{
	return r->from & ((1UL << f->order) - 1);
}

/* All of them in the folio; of a small one a few nevertheless. */
static int refs_of(const struct layout_folio *f, const struct fuzz_record *r)
{
	unsigned long left = f->order ? (1UL << f->order) - page_in(f, r) : 4;

	return 1 + r->nr % left;
}

static void note_hold(const struct layout_folio *f, int refs, unsigned int gup)
{
	add(f, refs, gup);
	now.holds[now.nr_holds++] = (struct hold){ f->pfn, refs, gup };
}

static void first(const struct fuzz_record *r)
{
	const struct layout_folio *f = folio_nr(r->which);
	unsigned int gup = fuzz_gup(r->attrs);
	int refs = refs_of(f, r);
	bool want = first_granted(f, refs, gup);
	struct folio *got;

	if (now.nr_holds == HOLDS)
		return;
	got = ptb_grab_first(mem_page(f->pfn + page_in(f, r)), refs, gup);
	if (got && got != bed_folio(f->pfn))
		fuzz_fail("first: another folio");
	if (!got != !want)
		fuzz_fail("first: %s", got ? "granted" : "refused");
	if (got)
		note_hold(f, refs, gup);
}

/* Of what is held already, in whatever way. */
static void more(const struct fuzz_record *r)
{
	const struct layout_folio *f = folio_nr(r->which);
	unsigned int gup = fuzz_gup(r->attrs), i;
	int refs = refs_of(f, r);
	bool got, want = more_granted(f, refs, gup);

	for (i = 0; i < now.nr_holds; i++)
		if (now.holds[i].pfn == f->pfn)
			break;
	if (i == now.nr_holds || now.nr_holds == HOLDS)
		return;
	got = ptb_grab_more(bed_folio(f->pfn), refs, gup);
	if (got != want)
		fuzz_fail("more: %s", got ? "granted" : "refused");
	if (got)
		note_hold(f, refs, gup);
}

/* All of a hold, or some pages of it. */
static void put(const struct fuzz_record *r)
{
	struct hold *h;
	unsigned int i;
	int refs;

	if (!now.nr_holds)
		return;
	h = &now.holds[r->which % now.nr_holds];
	refs = 1 + r->nr % h->refs;
	ptb_put(bed_folio(h->pfn), refs, h->gup);
	for (i = 0; folio_nr(i)->pfn != h->pfn; i++)
		;
	add(folio_nr(i), -refs, h->gup);
	h->refs -= refs;
	if (!h->refs)
		*h = now.holds[--now.nr_holds];
}

/* ---- split meanwhile ---- */

static unsigned int tries_left;

static void split_at_try(enum raw_op op, const void *where, void *arg)
{
	(void)where;
	if (op == RAW_TRY_REF && !--tries_left)
		mem_split(arg);
}

/* The page is found in its own folio, or nothing is held. */
static void split_race(const struct fuzz_input *in)
{
	const struct layout_folio *f = folio_nr(in->script[0].slot);
	unsigned int gup = fuzz_gup(in->gup);
	unsigned long pfn = f->pfn + in->script[0].first % (1UL << f->order);
	int unit = gup & FOLL_PIN ? BIAS : 1, head = bed_refs(f->pfn);
	struct folio *got;

	if (!f->order || head <= 0 || head > INT_MAX / 2 || (f->flags & ~FOLIO_RESERVED))
		return;
	tries_left = 1;
	raw_hooks.arg = bed_folio(f->pfn);
	raw_hooks.script = split_at_try;
	got = ptb_grab_first(mem_page(pfn), 1, gup);
	raw_hooks.script = NULL;
	if (got != (struct folio *)mem_page(pfn))
		fuzz_fail("split: not the page's own folio");
	if (bed_refs(pfn) != (pfn == f->pfn ? head : 1) + unit)
		fuzz_fail("split: %d references of page 0x%lx", bed_refs(pfn), pfn);
	if (pfn != f->pfn && bed_refs(f->pfn) != head)
		fuzz_fail("split: %d references left on what was its head", bed_refs(f->pfn));
}

static void run(const struct fuzz_input *in)
{
	static void (*const steps[STEPS])(const struct fuzz_record *) = { first, more, put };
	static const char *const names[STEPS] = { "first", "more", "put" };
	struct fuzz_words w = words();
	unsigned int i;

	bed_need(&now.bed, fuzz_text(in, &w), NULL);
	now.nr_holds = 0;
	now.stat = 0;
	for (i = 0; i < now.bed.layout.nr_folios; i++)
		now.counts[i] = (struct count){ now.bed.layout.folios[i].refs, 0 };
	if (in->script[0].act)
		split_race(in);
	for (i = 0; i < in->nr_rec && !in->script[0].act; i++) {
		if (in->rec[i].type % FUZZ_TYPES == FUZZ_FOLIO)
			continue;
		steps[step_of(&in->rec[i])](&in->rec[i]);
		expect_counts(names[step_of(&in->rec[i])]);
	}
	bed_free(&now.bed);
}

static void say_step(const struct fuzz_record *r, struct fuzz_say *s)
{
	static const char *const names[STEPS] = { "first", "more", "put" };
	const struct layout_folio *f = folio_nr(r->which);

	if (step_of(r) == PUT) {
		say(s, "; put of hold %u, 1 + %u", r->which, r->nr);
		return;
	}
	say(s, "; %s 0x%lx, %d, ", names[step_of(r)], f->pfn + page_in(f, r), refs_of(f, r));
	say_gup(s, fuzz_gup(r->attrs));
}

static void say_call(const struct fuzz_input *in, struct fuzz_say *s)
{
	struct fuzz_words w = words();
	const char *text = fuzz_text(in, &w);
	unsigned int i;

	bed_parse(text, &now.bed.layout);
	say(s, "\"%s\"", text);
	if (in->script[0].act) {
		say(s, ", folio %u split while its page %u is grabbed, ", in->script[0].slot,
		    in->script[0].first);
		say_gup(s, fuzz_gup(in->gup));
		return;
	}
	for (i = 0; i < in->nr_rec; i++)
		if (in->rec[i].type % FUZZ_TYPES != FUZZ_FOLIO)
			say_step(&in->rec[i], s);
}

FUZZ_TARGET(run, say_call)
