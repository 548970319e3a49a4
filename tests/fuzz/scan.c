// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The scans against their models, on one table. */
#include "validate/scan_model.h"

#include "fuzz/call.h"

#define SLOTS (FMT_PTES < 128 ? FMT_PTES : 128)

enum way { BATCH, BATCHES, RUN, PRESENT, EMPTY, SWAP, WAYS };

static enum way way_of(const struct fuzz_input *in)
{
	return in->kind % WAYS;
}

static ptb_t batch_flags(const struct fuzz_input *in)
{
	return (__force ptb_t)in->extra[5];
}

static bool for_shadow_stack(const struct fuzz_input *in)
{
	return (FMT_ATTRS & A_SHSTK) && (in->extra[6] & 1);
}

/* A vma is written by its shadow stack or by all else: what is merged must go by that. */
static struct fuzz_words words_of(const struct fuzz_input *in)
{
	struct fuzz_words w = fuzz_tables;

	w.leaves = false;
	w.max_order = 6;
	w.slots = SLOTS;
	if (way_of(in) <= BATCHES && (batch_flags(in) & (PTB_MERGE_WRITE | PTB_MERGE_YOUNG_DIRTY)))
		w.attrs &= ~(u32)(A_SAVED_DIRTY | (for_shadow_stack(in) ? A_WRITE : A_SHSTK));
	return w;
}

/* ---- what is known of the table ---- */

struct entry {
	enum { NONE, MAPPED, SLOT, OTHER } class;
	unsigned int type;
	u64 offset;
};

static struct known known[FMT_PTES];
static struct entry entries[FMT_PTES];

/* The kernel folds what is whole, aligned and of one folio. */
static bool in_block(const struct layout_item *item, unsigned long slot, unsigned long i)
{
	unsigned long index = slot % FMT_CONT;

	return (item->attrs & A_CONT) && FMT_CONT > 1 && (item->pfn + i) % FMT_CONT == index &&
	       i >= index && item->nr - i >= FMT_CONT - index;
}

static void know_item(const struct layout_item *item, unsigned long slot)
{
	const u32 swap_bits = A_EXCLUSIVE | A_SOFT_DIRTY | A_UFFD_WP;
	unsigned long i;

	for (i = 0; i < item->nr; i++, slot++) {
		struct known *k = &known[slot];
		struct entry *e = &entries[slot];

		if (item->type == ITEM_PAGES || item->type == ITEM_FRAMES) {
			u32 attrs = item->attrs & ~(u32)(A_EXCLUSIVE | A_CONT);

			*k = (struct known){ true, item->pfn + i, attrs };
			k->attrs |= in_block(item, slot, i) ? A_CONT : 0;
			e->class = MAPPED;
		} else if (item->type == ITEM_SWAP) {
			*e = (struct entry){ SLOT, item->swap_type, item->pfn + i };
			k->attrs = item->attrs & swap_bits;
		} else if (item->type == ITEM_OTHER) {
			e->class = OTHER;
		}
	}
}

static void know(const struct layout *l)
{
	unsigned long slot = 0;
	unsigned int i;

	memset(known, 0, sizeof(known));
	memset(entries, 0, sizeof(entries));
	for (i = 0; i < l->nr_items; i++) {
		if (l->items[i].type == ITEM_AT) {
			slot = l->items[i].pfn;
			continue;
		}
		know_item(&l->items[i], slot);
		slot += l->items[i].nr;
	}
}

/* As fuzz_mark(), in known words: what mkdirty() does besides is the format's affair. */
static void mark(struct bed *bed, unsigned long slot, unsigned int how)
{
	struct known *k;

	if (slot >= FMT_PTES || !known[slot].present)
		return;
	k = &known[slot];
	if (how & 1)
		k->attrs = how & 4 ? k->attrs & ~(u32)A_YOUNG : k->attrs | A_YOUNG;
	if ((how & 2) && (k->attrs & A_WRITE))
		k->attrs |= A_DIRTY;
	pte_set(bed_ptep(bed, slot), fmt_pte_mk(k->pfn, k->attrs));
}

/* ---- the call ---- */

struct call {
	unsigned long slot, pfn_end;
	unsigned int max;
	bool sensible;
};

static bool starts(enum way way, const struct layout *l, unsigned long slot)
{
	unsigned int i;

	switch (way) {
	case BATCH:
	case BATCHES:
		for (i = 0; i < l->nr_folios && entries[slot].class == MAPPED; i++)
			if (known[slot].pfn - l->folios[i].pfn < 1UL << l->folios[i].order)
				return true;
		return false;
	case RUN:
	case PRESENT:
		return entries[slot].class == MAPPED;
	case EMPTY:
		return entries[slot].class == NONE;
	default:
		return entries[slot].class == SLOT;
	}
}

static unsigned long folio_end(const struct layout *l, unsigned long pfn)
{
	unsigned int i;

	for (i = 0; i < l->nr_folios; i++)
		if (pfn - l->folios[i].pfn < 1UL << l->folios[i].order)
			break;
	return l->folios[i].pfn + (1UL << l->folios[i].order);
}

/*
 * Where entries stop being advanced: at the latest where memory does, which a caller has to know.
 * Frames without pages go on for ever.
 */
static unsigned long run_end(const struct fuzz_input *in, const struct layout *l, unsigned long pfn)
{
	unsigned long want = in->extra[7] == 255 ? ULONG_MAX : pfn + 1 + in->extra[7], end;
	unsigned int i;

	if (pfn >= l->max_pfn)
		return want;
	for (end = folio_end(l, pfn), i = 0; i < l->nr_folios; i++)
		if (l->folios[i].pfn == end)
			end = folio_end(l, end);
	return want < end ? want : end;
}

/* From the slot asked for, or the next one that such a scan may begin with. */
static struct call call_of(const struct fuzz_input *in, const struct layout *l)
{
	struct call c = { .slot = in->slot % SLOTS };
	unsigned int i;

	for (i = 0; i < SLOTS && !c.sensible; i++) {
		c.sensible = starts(way_of(in), l, (c.slot + i) % SLOTS);
		if (c.sensible)
			c.slot = (c.slot + i) % SLOTS;
	}
	c.max = 1 + in->nr % (FMT_PTES - c.slot);
	if (!c.sensible)
		return c;
	if (way_of(in) <= BATCHES)
		c.pfn_end = folio_end(l, known[c.slot].pfn);
	else if (way_of(in) == RUN)
		c.pfn_end = run_end(in, l, known[c.slot].pfn);
	return c;
}

/* ---- models of the plain scans ---- */

static bool goes_on(enum way way, unsigned long first, unsigned long slot)
{
	const struct entry *a = &entries[first], *b = &entries[slot];

	if (way != SWAP)
		return a->class == b->class;
	return b->class == SLOT && b->type == a->type && b->offset == a->offset + (slot - first) &&
	       known[first].attrs == known[slot].attrs;
}

static unsigned int class_model(enum way way, const struct call *c)
{
	unsigned int n = 1;

	while (n < c->max && goes_on(way, c->slot, c->slot + n))
		n++;
	return n;
}

static unsigned int scan_class(enum way way, struct bed *bed, const struct call *c)
{
	ptb_pte_t *ptep = bed_ptep(bed, c->slot), pte = ptb_ptep_get(ptep, PTB_FOR_LOOK);

	if (way == PRESENT)
		return ptb_scan_present(ptep, pte, c->max);
	if (way == EMPTY)
		return ptb_scan_none(ptep, c->max);
	return ptb_scan_swap(ptep, pte, c->max);
}

static void expect_run(unsigned int got, unsigned int want)
{
	if (got != want)
		fuzz_fail("%u entries, expected %u", got, want);
}

static void scan_run(const struct known_table *t, const struct call *c)
{
	ptb_pte_t *ptep = bed_ptep(t->bed, c->slot), pte = ptb_ptep_get(ptep, PTB_FOR_LOOK);

	expect_run(ptb_scan(ptep, &pte, c->pfn_end, c->max, PTB_FOR_LOOK),
		   model(t, c->slot, c->max, c->pfn_end, PTB_FOR_LOOK));
	pte = ptb_ptep_get(ptep, PTB_LOCKLESS);
	expect_run(ptb_scan(ptep, &pte, c->pfn_end, c->max, PTB_LOCKLESS),
		   model(t, c->slot, c->max, c->pfn_end, PTB_LOCKLESS));
}

static void run_on(const struct fuzz_input *in, struct bed *bed)
{
	const struct known_table t = { .bed = bed,
				       .slot = known,
				       .shadow_stack = for_shadow_stack(in) };
	struct call c;

	know(&bed->layout);
	mark(bed, in->extra[1], in->extra[2]);
	mark(bed, in->extra[3], in->extra[4]);
	c = call_of(in, &bed->layout);
	if (!c.sensible)
		return;
	if (t.shadow_stack)
		bed->mm.vmas[0].vm_flags |= VM_SHADOW_STACK;
	if (way_of(in) <= BATCHES)
		scan_is_right(&t, c.slot, c.max, c.pfn_end, in->extra[5]);
	else if (way_of(in) == RUN)
		scan_run(&t, &c);
	else
		expect_run(scan_class(way_of(in), bed, &c), class_model(way_of(in), &c));
}

static void run(const struct fuzz_input *in)
{
	struct fuzz_words words = words_of(in);
	struct bed bed;

	bed_need(&bed, fuzz_text(in, &words), NULL);
	run_on(in, &bed);
	bed_free(&bed);
}

static void say_call(const struct fuzz_input *in, struct fuzz_say *s)
{
	static const char *const names[] = { "scan_folio",   "scan_folio", "scan",
					     "scan_present", "scan_none",  "scan_swap" };
	struct fuzz_words words = words_of(in);
	const char *text = fuzz_text(in, &words);
	struct layout l;
	struct call c;

	bed_parse(text, &l);
	know(&l);
	c = call_of(in, &l);
	say(s, "ptb_%s, { \"%s\", %lu, %u", names[way_of(in)], text, c.slot, c.max);
	if (way_of(in) <= BATCHES)
		say(s, ", 0x%x", in->extra[5]);
	else if (way_of(in) == RUN)
		say(s, ", 0x%lx", c.pfn_end);
	say(s, " }%s", for_shadow_stack(in) ? ", of a shadow stack" : "");
	say_setup(s, in);
}

FUZZ_TARGET(run, say_call)
