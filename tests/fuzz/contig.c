// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Runs in arrays of pages, of any folios in any order, against their frame numbers. */
#include "fuzz/call.h"

#define PAGES 96

static struct fuzz_words words(void)
{
	struct fuzz_words w = fuzz_tables;

	w.folios_only = true;
	w.leaves = false;
	w.max_order = 6;
	w.end_pfn = 0x2000;
	return w;
}

static unsigned long pfns[PAGES];
static unsigned int ends[PAGES]; /* of each one's folio, in frames from it */
static unsigned int nr_pages;

static void add_pages(const struct layout *l, const struct fuzz_record *r)
{
	const struct layout_folio *f = &l->folios[r->which % l->nr_folios];
	unsigned long from = r->from & ((1UL << f->order) - 1), nr = 1 + r->nr % 64, i;

	if (r->type % FUZZ_TYPES == FUZZ_WHOLE)
		nr = 1UL << f->order;
	for (i = from; i < 1UL << f->order && i < from + nr && nr_pages < PAGES; i++) {
		pfns[nr_pages] = f->pfn + i;
		ends[nr_pages++] = (1U << f->order) - i;
	}
}

static void make_array(const struct fuzz_input *in, const struct layout *l)
{
	unsigned int i;

	nr_pages = 0;
	for (i = 0; i < in->nr_rec; i++)
		if (in->rec[i].type % FUZZ_TYPES != FUZZ_FOLIO)
			add_pages(l, &in->rec[i]);
}

static const struct build_opts *opts_of(const struct fuzz_input *in)
{
	static struct build_opts opts;

	opts = (struct build_opts){ .section_pages = 4UL << (in->sections >> 1) % 4,
				    .no_vmemmap = true };
	return in->sections & 1 ? &opts : NULL;
}

struct runs {
	size_t pages, folio, frames;
};

static struct runs model(unsigned int at, unsigned int n, unsigned long section)
{
	struct runs r = {};
	unsigned int i = 1;

	while (i < n && pfns[at + i] == pfns[at] + i)
		i++;
	r.frames = i;
	r.folio = i < ends[at] ? i : ends[at];
	r.pages = i;
	if (section && r.pages > section - pfns[at] % section)
		r.pages = section - pfns[at] % section;
	return r;
}

static void expect(const char *what, unsigned int at, unsigned int n, size_t got, size_t want)
{
	if (got != want)
		fuzz_fail("from page %u, of %u: %zu %s, expected %zu", at, n, got, what, want);
}

static void run(const struct fuzz_input *in)
{
	const struct build_opts *opts = opts_of(in);
	struct fuzz_words w = words();
	struct page *pages[PAGES];
	unsigned int at, n, i;
	struct bed bed;

	bed_need(&bed, fuzz_text(in, &w), opts);
	make_array(in, &bed.layout);
	for (i = 0; i < nr_pages; i++)
		pages[i] = mem_page(pfns[i]);
	for (at = 0; at < nr_pages; at++) {
		struct runs want;

		n = 1 + (in->nr + at) % (nr_pages - at);
		want = model(at, n, opts ? opts->section_pages : 0);
		expect("contiguous pages", at, n, ptb_contig_pages(pages + at, n), want.pages);
		expect("pages of the folio", at, n, ptb_contig_folio(pages + at, n), want.folio);
		expect("frames", at, n, ptb_contig_pfns(pfns + at, n), want.frames);
	}
	bed_free(&bed);
}

static void say_call(const struct fuzz_input *in, struct fuzz_say *s)
{
	struct fuzz_words w = words();
	const char *text = fuzz_text(in, &w);
	struct layout l;
	unsigned int i;

	bed_parse(text, &l);
	make_array(in, &l);
	say(s, "\"%s\", {", text);
	for (i = 0; i < nr_pages; i++)
		say(s, " 0x%lx,", pfns[i]);
	say(s, " }, from each of them 1 + (%u + its number) %% (what is left)", in->nr);
	if (opts_of(in))
		say(s, ", scattered sections of %lu", opts_of(in)->section_pages);
}

FUZZ_TARGET(run, say_call)
