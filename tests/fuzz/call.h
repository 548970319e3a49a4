/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the targets share, per format: the call that a header means, and how to say it. */
#ifndef TESTS_FUZZ_CALL_H
#define TESTS_FUZZ_CALL_H

#include "bed.h"

#include "fuzz/fuzz.h"

#define FUZZ_TARGET(run_, text_)                                                               \
	static void __attribute__((__constructor__)) fuzz_add_target(void)                     \
	{                                                                                      \
		static struct fuzz_target target = { STRINGIFY(FMT_NAME), run_, text_, NULL }; \
		fuzz_add(&target);                                                             \
	}

/* Two tables and more, with leaves: what whole walkers are sent over. */
static const struct fuzz_words fuzz_tables __maybe_unused = {
	.attrs = FMT_ATTRS,
	.pmd_order = PTB_PMD_SHIFT - PTB_PAGE_SHIFT,
	.max_order = PTB_PMD_SHIFT - PTB_PAGE_SHIFT,
	.leaves = FMT_LEAVES,
	.ptes = FMT_PTES,
	.slots = 2 * FMT_PTES,
	.first_pfn = 0x100,
	.end_pfn = 0x220000,
};

static inline const char *fuzz_text(const struct fuzz_input *in, const struct fuzz_words *words)
{
	static char text[FUZZ_TEXT];

	fuzz_layout(in, words, text);
	return text;
}

static inline unsigned int fuzz_gup(u8 gup)
{
	return (gup & 1 ? FOLL_PIN : FOLL_GET) | (gup & 2 ? FOLL_WRITE : 0) |
	       (gup & 4 ? FOLL_LONGTERM : 0) | (gup & 8 ? FOLL_PCI_P2PDMA : 0);
}

static inline void say_gup(struct fuzz_say *s, unsigned int gup)
{
	say(s, "%s", gup & FOLL_PIN ? "FOLL_PIN" : "FOLL_GET");
	if (gup & FOLL_WRITE)
		say(s, " | FOLL_WRITE");
	if (gup & FOLL_LONGTERM)
		say(s, " | FOLL_LONGTERM");
	if (gup & FOLL_PCI_P2PDMA)
		say(s, " | FOLL_PCI_P2PDMA");
}

/* ---- where in the layout ---- */

struct fuzz_window {
	unsigned long slot, nr;
};

/* Inside the tables; mostly a part of them. */
static inline struct fuzz_window fuzz_window(const struct fuzz_input *in, const char *text)
{
	unsigned long slots, end;
	struct fuzz_window w;
	struct layout l;

	bed_parse(text, &l);
	slots = l.nr_slots ? l.nr_slots : 1;
	end = (slots + FMT_PTES - 1) / FMT_PTES * FMT_PTES;
	w.slot = in->slot % slots;
	w.nr = 1 + in->nr % (end - w.slot);
	if (w.nr > BED_PAGES)
		w.nr = BED_PAGES;
	return w;
}

/* ---- what a layout has no words for ---- */

static inline const struct build_opts *fuzz_opts(const struct fuzz_input *in)
{
	static struct build_opts opts;

	opts = (struct build_opts){ .section_pages = 16UL << (in->sections >> 1) % 4,
				    .no_vmemmap = true };
	return in->sections & 1 ? &opts : NULL;
}

static const struct fuzz_input *fuzz_now;

/* The hardware has marked an entry, also in the midst of a block. */
static inline void fuzz_mark(struct bed *bed, unsigned long slot, unsigned int how)
{
	ptb_pte_t *ptep, pte;

	if (!bed->mm.tables[0] || slot >= FMT_PTES)
		return;
	ptep = bed_ptep(bed, slot);
	pte = *ptep;
	if (!ptb_pte_present(pte))
		return;
	if (how & 1)
		pte = how & 4 ? ptb_pte_mkold(pte) : ptb_pte_mkyoung(pte);
	/* A shadow stack is dirty already; made so again it would be read-only. */
	if ((how & 2) && ptb_pte_write(pte) && !ptb_pte_dirty(pte))
		pte = ptb_pte_mkdirty(pte);
	pte_set(ptep, pte);
}

/* extra[0]: pagemaps that die, secretmem; extra[1] to extra[4]: two marks. */
static inline void fuzz_setup(struct bed *bed)
{
	const u8 *extra = fuzz_now->extra;
	unsigned int i;

	for (i = 0; i < mem.nr_pagemaps; i++)
		mem.pagemaps[i].dying = extra[0] & BIT(i);
	mem.no_secretmem = extra[0] & 16;
	fuzz_mark(bed, extra[1], extra[2]);
	fuzz_mark(bed, extra[3], extra[4]);
}

static inline void say_setup(struct fuzz_say *s, const struct fuzz_input *in)
{
	const struct build_opts *opts = fuzz_opts(in);
	unsigned int i;

	if (opts)
		say(s, ", scattered sections of %lu", opts->section_pages);
	if (in->extra[0] & 15)
		say(s, ", pagemaps 0x%x dying", in->extra[0] & 15);
	if (in->extra[0] & 16)
		say(s, ", no secretmem");
	for (i = 1; i < 4; i += 2)
		if (in->extra[i + 1] & 7)
			say(s, ", entry %u marked%s%s", in->extra[i],
			    !(in->extra[i + 1] & 1) ? ""
			    : in->extra[i + 1] & 4  ? " old"
						    : " young",
			    in->extra[i + 1] & 2 ? " dirty" : "");
}

#endif
