// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The recorder: frames, their folios, and their new numbers. */
#include "record.h"

#include <linux/kernel-page-flags.h>
#include <unistd.h>

/* Not in the headers for users */
#ifndef KPF_RESERVED
#define KPF_RESERVED 32
#endif

/* None of these is a page that a walker could take a reference to. */
#define KPF_NO_FOLIO                                                                            \
	(BIT_ULL(KPF_NOPAGE) | BIT_ULL(KPF_RESERVED) | BIT_ULL(KPF_BUDDY) | BIT_ULL(KPF_SLAB) | \
	 BIT_ULL(KPF_OFFLINE) | BIT_ULL(KPF_PGTABLE))

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* The frames of all runs of @type: sorted, those that touch or overlap as one. */
static int find_spans(struct rec *r, u8 type)
{
	size_t i, nr = 0;

	r->nr_spans = 0;
	for (i = 0; i < r->s->nr_runs; i++) {
		const struct snap_run *run = &r->s->runs[i];

		if (run->type != type)
			continue;
		if (!grow(&r->spans, r->nr_spans, sizeof(*r->spans)))
			return no_memory(r);
		r->spans[r->nr_spans++] = (struct span){ run->frame, run->frame + run->nr };
	}
	if (!r->nr_spans)
		return 0;
	qsort(r->spans, r->nr_spans, sizeof(*r->spans), compare_spans);
	for (i = 1; i < r->nr_spans; i++) {
		struct span *last = &r->spans[nr], *span = &r->spans[i];

		if (span->first > last->end)
			r->spans[++nr] = *span;
		else if (span->end > last->end)
			last->end = span->end;
	}
	r->nr_spans = nr + 1;
	return 0;
}

/* Blocks that are no neighbours get one between them, so that they do not become neighbours. */
static int number_blocks(struct rec *r)
{
	u64 old, last = 0, new = 0;
	size_t i;

	r->nr_blocks = 0;
	for (i = 0; i < r->nr_spans; i++) {
		for (old = r->spans[i].first / SNAP_BLOCK; old * SNAP_BLOCK < r->spans[i].end;
		     old++) {
			if (r->nr_blocks && old == last)
				continue;
			if (!grow(&r->blocks, r->nr_blocks, sizeof(*r->blocks)))
				return no_memory(r);
			new += r->nr_blocks &&old != last + 1 ? 2 : 1;
			last = old;
			r->blocks[r->nr_blocks++] = (struct block){ old, new };
		}
	}
	if (new >= SNAP_MAX_FRAMES / SNAP_BLOCK)
		return snapshot_fail(r->err, "memory of pid %d is spread too widely to be recorded",
				     r->pid);
	return 0;
}

static int compare_block(const void *key, const void *block)
{
	const u64 *old = key;
	const struct block *b = block;

	return *old < b->old ? -1 : *old > b->old;
}

static void renumber_runs(struct rec *r, u8 type)
{
	size_t i;

	for (i = 0; i < r->s->nr_runs; i++) {
		struct snap_run *run = &r->s->runs[i];
		u64 old = run->frame / SNAP_BLOCK;
		const struct block *b;

		if (run->type != type)
			continue;
		b = bsearch(&old, r->blocks, r->nr_blocks, sizeof(*b), compare_block);
		run->frame = b->new *SNAP_BLOCK + run->frame % SNAP_BLOCK;
	}
}

static u8 folio_kind(u64 flags)
{
	if (flags & BIT_ULL(KPF_ZERO_PAGE))
		return SNAP_ZERO;
	if (flags & KPF_NO_FOLIO)
		return SNAP_SPECIAL;
	if (flags & BIT_ULL(KPF_HUGE))
		return SNAP_HUGETLB;
	if (flags & BIT_ULL(KPF_ANON))
		return SNAP_ANON;
	if (flags & BIT_ULL(KPF_SWAPBACKED))
		return SNAP_SHMEM;
	return SNAP_FILE;
}

static bool is_tail(u64 flags)
{
	return flags & BIT_ULL(KPF_COMPOUND_TAIL);
}

/*
 * The folio that holds page @i of a block, by the flags of the block: folios are aligned to their
 * size, so that up to 2 MiB none leaves its block.
 */
static struct snap_folio folio_at(const u64 *flags, unsigned int i)
{
	struct snap_folio one = { .frame = i, .kind = folio_kind(flags[i]) }, whole;
	unsigned int head = i, end = i + 1, nr;

	while (head && is_tail(flags[head]))
		head--;
	while (end < SNAP_BLOCK && is_tail(flags[end]))
		end++;
	nr = end - head;
	if (nr == 1 || one.kind == SNAP_SPECIAL || (nr & (nr - 1)) || head % nr)
		return one;
	/* A block of tails only is inside a larger folio. */
	if (nr < SNAP_BLOCK && !(flags[head] & BIT_ULL(KPF_COMPOUND_HEAD)))
		return one;
	/* Tails show fewer flags than heads. */
	whole = (struct snap_folio){ .frame = head, .kind = folio_kind(flags[head]) };
	whole.order = (u8)__builtin_ctz(nr);
	return whole.kind == SNAP_SPECIAL ? one : whole;
}

/* @span is moved on to the first that ends after the block. */
static int add_folios(struct rec *r, const struct block *block, const u64 *flags, size_t *span)
{
	struct snapshot *s = r->s;
	u64 at = block->old * SNAP_BLOCK, end = at + SNAP_BLOCK;

	while (at < end) {
		struct snap_folio folio;

		while (*span < r->nr_spans && r->spans[*span].end <= at)
			++*span;
		if (*span == r->nr_spans || r->spans[*span].first >= end)
			break;
		if (at < r->spans[*span].first)
			at = r->spans[*span].first;
		folio = folio_at(flags, (unsigned int)(at % SNAP_BLOCK));
		at = block->old * SNAP_BLOCK + folio.frame + BIT(folio.order);
		folio.frame += block->new *SNAP_BLOCK;
		if (s->nr_folios == SNAP_MAX_FOLIOS)
			return snapshot_fail(r->err,
					     "pid %d has more folios than a recording can "
					     "hold",
					     r->pid);
		if (!grow(&s->folios, s->nr_folios, sizeof(folio)))
			return no_memory(r);
		s->folios[s->nr_folios++] = folio;
	}
	return 0;
}

/* Fills the buffer for neighbouring blocks at once; past the end of memory there are no pages. */
static int read_flags(struct rec *r, const struct block *first, size_t nr)
{
	size_t got = 0;

	while (got < nr * SNAP_BLOCK) {
		ssize_t n = read_words(r->kpageflags, r->buf + got, nr * SNAP_BLOCK - got,
				       first->old * SNAP_BLOCK + got);

		if (n < 0)
			return snapshot_fail(r->err, "cannot read /proc/kpageflags: %s",
					     strerror(errno));
		if (!n)
			break;
		got += (size_t)n;
	}
	for (; got < nr * SNAP_BLOCK; got++)
		r->buf[got] = BIT_ULL(KPF_NOPAGE);
	return 0;
}

static int find_folios(struct rec *r)
{
	size_t i, nr, j, span = 0;

	for (i = 0; i < r->nr_blocks; i += nr) {
		const struct block *first = &r->blocks[i];

		for (nr = 1; nr < CHUNK / SNAP_BLOCK && i + nr < r->nr_blocks; nr++)
			if (first[nr].old != first->old + nr)
				break;
		if (read_flags(r, first, nr))
			return -1;
		for (j = 0; j < nr; j++)
			if (add_folios(r, &first[j], r->buf + j * SNAP_BLOCK, &span))
				return -1;
		show_progress(r);
	}
	if (r->nr_blocks)
		r->s->nr_frames = (r->blocks[r->nr_blocks - 1].new + 1) * SNAP_BLOCK;
	return 0;
}

int renumber(struct rec *r, u8 type)
{
	if (find_spans(r, type) || number_blocks(r))
		return -1;
	if (type == SNAP_PRESENT && find_folios(r))
		return -1;
	renumber_runs(r, type);
	return 0;
}

/* Where the folios tell more than the entries and the vmas did */

static void correct_run(const struct snapshot *s, struct snap_vma *vma, struct snap_run *run)
{
	const struct snap_folio *folio = snapshot_folio(s, run->frame);
	u64 at;

	/* A file on tmpfs or hugetlbfs */
	if (vma->kind == SNAP_FILE && (folio->kind == SNAP_SHMEM || folio->kind == SNAP_HUGETLB))
		vma->kind = folio->kind;
	if (run->level != SNAP_PMD)
		return;
	for (at = 0; at < run->nr; at += SNAP_BLOCK)
		if (snapshot_folio(s, run->frame + at)->order < SNAP_MAX_ORDER)
			run->level = SNAP_PTE;
}

/* A leaf that became entries may now be one run with its neighbours. */
void correct_all(struct snapshot *s)
{
	size_t i, nr = 0;
	u64 j;

	for (i = 0; i < s->nr_vmas; i++) {
		struct snap_vma *vma = &s->vmas[i];
		const struct snap_run *runs = &s->runs[vma->first_run];
		u64 nr_old = vma->nr_runs;

		vma->first_run = nr;
		for (j = 0; j < nr_old; j++) {
			struct snap_run run = runs[j];

			if (run.type == SNAP_PRESENT)
				correct_run(s, vma, &run);
			if (nr == vma->first_run || !merge_run(&s->runs[nr - 1], &run))
				s->runs[nr++] = run;
		}
		vma->nr_runs = nr - vma->first_run;
	}
	s->nr_runs = nr;
}
