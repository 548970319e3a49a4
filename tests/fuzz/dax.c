// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GUP-fast on a leaf of device memory, against the reference; and with a pagemap that goes away
 * meanwhile: all pages or none, and nothing kept.
 */
#include "validate/dax_scene.h"

#include "fuzz/call.h"

/* Of a folio's record: low bits of @which. */
#define ENDS_PAGEMAP 1
#define REFERENCED 2

static int folio_refs(unsigned int refs, bool one_ref)
{
	if (!refs || one_ref)
		return 1;
	return refs <= FUZZ_NEAR_MAX ? INT_MAX - (int)(refs - 1) : FUZZ_NEAR_MAX + 1 - (int)refs;
}

static void
add_folio(struct scene *s, const struct fuzz_record *r, unsigned long *pfn, bool one_ref)
{
	unsigned int order = r->nr % 6, i = s->nr_folios;

	while (*pfn & ((1UL << order) - 1) || *pfn + (1UL << order) > NR_PFNS)
		order--;
	s->order[i] = order;
	s->refs[i] = folio_refs(r->attrs >> 4, one_ref);
	s->referenced[i] = r->which & REFERENCED;
	s->nr_folios++;
	*pfn += 1UL << order;
	if ((r->which & ENDS_PAGEMAP) && s->nr_pagemaps < 2)
		s->pagemap_end[s->nr_pagemaps++] = *pfn;
}

static void make(const struct fuzz_input *in, struct scene *s)
{
	static const struct fuzz_record plain = { .nr = 2 };
	unsigned long pfn = 0;
	unsigned int i;

	*s = (struct scene){ .p2pdma = in->kind & 8 };
	for (i = 0; i < in->nr_rec && pfn < NR_PFNS; i++)
		if (in->rec[i].type % FUZZ_TYPES == FUZZ_FOLIO)
			add_folio(s, &in->rec[i], &pfn, in->script[0].act);
	if (!s->nr_folios)
		add_folio(s, &plain, &pfn, true);
	if (!s->nr_pagemaps || s->pagemap_end[s->nr_pagemaps - 1] < pfn)
		s->pagemap_end[s->nr_pagemaps++] = pfn;
	for (i = 0; i < s->nr_pagemaps; i++)
		s->dying[i] = in->kind & BIT(i);
}

static struct fuzz_window window(const struct fuzz_input *in, const struct scene *s)
{
	struct fuzz_window w = { .slot = in->slot % scene_end(s) };

	w.nr = 1 + in->nr % (scene_end(s) - w.slot);
	return w;
}

static unsigned int access_nr;

static void let_die(enum raw_op op, const void *where, void *arg)
{
	const struct fuzz_act *a = arg;

	(void)op;
	(void)where;
	if (access_nr++ == a->first)
		mem.pagemaps[a->slot % mem.nr_pagemaps].dying = true;
}

static void expect_as_before(const struct state *before)
{
	struct state after = {};
	unsigned int i;

	note_state(&after);
	for (i = 0; i < NR_PFNS; i++)
		if (after.frames[i].refs != before->frames[i].refs ||
		    after.frames[i].pins != before->frames[i].pins)
			fuzz_fail("frame %u left with %d references and %d pins", i,
				  after.frames[i].refs, after.frames[i].pins);
	if (memcmp(after.pagemap_refs, before->pagemap_refs, sizeof(after.pagemap_refs)) ||
	    after.pins != before->pins)
		fuzz_fail("references of a pagemap or pins of the node left");
}

static void race(const struct fuzz_input *in, const struct scene *s, struct fuzz_window w)
{
	static struct page *pages[NR_PFNS];
	unsigned int gup = fuzz_gup(in->gup);
	struct state before = {};
	unsigned int got;

	make_scene(s);
	note_state(&before);
	access_nr = 0;
	raw_hooks.arg = (void *)&in->script[0];
	raw_hooks.script = let_die;
	got = ptb_dax_leaf(FIRST_PFN + w.slot, w.nr, gup, pages);
	raw_hooks.script = NULL;
	if (got && got != w.nr)
		fuzz_fail("%u pages of %lu", got, w.nr);
	ptb_dax_undo(pages, got, gup);
	expect_as_before(&before);
	mem_exit();
}

static void run(const struct fuzz_input *in)
{
	static struct state a, b;
	struct fuzz_window w;
	struct scene s;

	make(in, &s);
	w = window(in, &s);
	if (in->script[0].act) {
		race(in, &s, w);
		return;
	}
	walk(&s, w.slot, w.nr, fuzz_gup(in->gup), ptb_dax_leaf, &a);
	walk(&s, w.slot, w.nr, fuzz_gup(in->gup), ref_dax_leaf, &b);
	same_state(&a, &b, "scene");
}

static void say_scene(const struct scene *s, struct fuzz_say *out)
{
	unsigned int i;

	say(out, "{ .order = {");
	for (i = 0; i < s->nr_folios; i++)
		say(out, " %u,", s->order[i]);
	say(out, " }, .refs = {");
	for (i = 0; i < s->nr_folios; i++)
		say(out, " %d,", s->refs[i]);
	say(out, " }, .nr_folios = %u, .pagemap_end = {", s->nr_folios);
	for (i = 0; i < s->nr_pagemaps; i++)
		say(out, " %lu,", s->pagemap_end[i]);
	say(out, " }, .dying = { %d, %d, %d }, .p2pdma = %d, .nr_pagemaps = %u }", s->dying[0],
	    s->dying[1], s->dying[2], s->p2pdma, s->nr_pagemaps);
}

static void say_call(const struct fuzz_input *in, struct fuzz_say *s)
{
	struct fuzz_window w;
	struct scene scene;

	make(in, &scene);
	w = window(in, &scene);
	say_scene(&scene, s);
	say(s, ", ptb_dax_leaf(FIRST_PFN + %lu, %lu, ", w.slot, w.nr);
	say_gup(s, fuzz_gup(in->gup));
	say(s, ", pages)");
	if (in->script[0].act)
		say(s, ", pagemap %u dying at access %u", in->script[0].slot % scene.nr_pagemaps,
		    in->script[0].first);
}

FUZZ_TARGET(run, say_call)
