// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One format: compiled once for each, with PTB_FMT_HEADER naming it. Built plain it measures time;
 * built with PTB_USER_HOOKS it counts instead. Exports one struct ptb_format, the only thing the
 * rest of the program sees.
 */
#include "median.h"
#include "window.h"

#include <time.h>

/* ---- how far the output has come: a step of a walker is what it publishes at once ---- */

#ifdef PTB_USER_HOOKS
struct progress {
	struct window *w;
	struct row_result *row;
	unsigned long seen;
	bool vec;
};

#define VEC_UNSEEN 0xee

static void progress_look(enum raw_op op, const void *where, void *arg)
{
	struct progress *p = arg;
	unsigned long from = p->seen;

	(void)op;
	(void)where;
	if (p->vec)
		while (p->seen < p->w->room && p->w->vec[p->seen] != VEC_UNSEEN)
			p->seen++;
	else
		while (p->seen < p->w->room && p->w->pages[p->seen])
			p->seen++;
	if (p->seen == from)
		return;
	p->row->runs++;
	p->row->by_class[run_class(p->seen - from)] += p->seen - from;
}

/* Between two calls of a walker: what it published last was a step of its own. */
static void step_ends(void)
{
	if (raw_hooks.script)
		raw_hooks.script(RAW_NR, NULL, raw_hooks.arg);
}

static u64 atomics_so_far(void)
{
	const u64 *n = raw_hooks.count;

	return n[RAW_TRY_REF] + n[RAW_REF_ADD] + n[RAW_REF_PUT] + n[RAW_PINCOUNT] + n[RAW_FLAG];
}
#else
static void step_ends(void)
{
}
#endif

#include "passes.h"

static u64 pass_entries(const struct window *w, enum replay_row row)
{
	unsigned long i;
	u64 pages = 0;

	if (row != ROW_VFIO_PIN && row != ROW_VFIO_UNPIN)
		return w->done;
	for (i = 0; i < w->done; i++)
		pages += w->runs[i].nr;
	return pages;
}

static void note_disagreement(struct replay_result *out, enum replay_row row)
{
	if (!out->disagree[0])
		snprintf(out->disagree, sizeof(out->disagree),
			 "%s: %s: batched and per-entry walker differ", STRINGIFY(FMT_NAME),
			 passes[row].name);
}

static void
tell(const struct replay_input *in, const char *what, unsigned int done, unsigned int of)
{
	if (in->progress)
		in->progress(what, done, of);
}

static bool counts_are_back(const struct window *w, u64 fresh)
{
	return hash_counts(w) == fresh && !w->mm.locked_vm && !mem.freed;
}

#ifdef PTB_USER_HOOKS
static u64 counted_pass(struct window *w, enum replay_row row, int batched, struct row_result *r)
{
	struct row_result unused = {};
	struct progress p = { .w = w, .row = batched ? r : &unused, .vec = row == ROW_MINCORE };
	bool by_output = row != ROW_VFIO_PIN && row != ROW_VFIO_UNPIN;
	u64 atomics, hash;
	unsigned long i;

	memset(w->pages, 0, w->room * sizeof(*w->pages));
	memset(w->vec, VEC_UNSEEN, w->room);
	memset(&raw_hooks, 0, sizeof(raw_hooks));
	w->done = 0;
	passes[row].before(w);
	if (by_output) {
		raw_hooks.script = progress_look;
		raw_hooks.arg = &p;
	}
	atomics = atomics_so_far();
	passes[row].walk[batched](w);
	r->atomics[batched] += atomics_so_far() - atomics;
	raw_hooks.script = NULL;

	hash = mix(passes[row].hash(w), hash_counts(w));
	if (batched) {
		r->entries += pass_entries(w, row);
		for (i = 0; !by_output && i < w->done; i++) {
			r->runs++;
			r->by_class[run_class(w->runs[i].nr)] += w->runs[i].nr;
		}
	}
	passes[row].after(w);
	return hash;
}

static void walk_window(struct window *w, const struct replay_input *in, struct replay_result *out)
{
	u64 fresh = hash_counts(w);
	enum replay_row row;

	for (row = 0; row < ROW_NR; row++) {
		u64 ref = counted_pass(w, row, 0, &out->row[row]);

		tell(in, "counting", row, ROW_NR);
		if (counted_pass(w, row, 1, &out->row[row]) != ref || !counts_are_back(w, fresh))
			note_disagreement(out, row);
	}
}

static void finish(const struct replay_input *in, struct replay_result *out)
{
	(void)in;
	(void)out;
}
#else
/*
 * One pass by one walker. What it returned and what it left, in one number; the counts are as
 * before afterwards.
 */
static u64 run_pass(struct window *w, enum replay_row row, int batched, double *ns)
{
	const struct pass *p = &passes[row];
	struct timespec t0, t1;
	u64 hash;

	w->done = 0;
	p->before(w);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	p->walk[batched](w);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	if (ns)
		*ns += (t1.tv_sec - t0.tv_sec) * 1e9 + (t1.tv_nsec - t0.tv_nsec);
	hash = mix(p->hash(w), hash_counts(w));
	p->after(w);
	return hash;
}

/* Times of all windows, by round, so that the median is one of whole walks. */
static double round_ns[ROW_NR][2][MAX_ROUNDS];

static void walk_window(struct window *w, const struct replay_input *in, struct replay_result *out)
{
	u64 fresh = hash_counts(w);
	enum replay_row row;
	unsigned int round;

	for (round = 0; round < in->rounds; round++) {
		tell(in, "timing", round, in->rounds);
		for (row = 0; row < ROW_NR; row++) {
			/* Whoever goes first finds the caches colder: take turns. */
			int first = round & 1;
			u64 a = run_pass(w, row, first, &round_ns[row][first][round]);
			u64 b = run_pass(w, row, !first, &round_ns[row][!first][round]);

			if (a != b || !counts_are_back(w, fresh))
				note_disagreement(out, row);
			if (!round)
				out->row[row].entries += pass_entries(w, row);
		}
	}
}

static void finish(const struct replay_input *in, struct replay_result *out)
{
	enum replay_row row;
	unsigned int round;

	for (row = 0; row < ROW_NR; row++) {
		struct row_result *r = &out->row[row];
		double ratio[MAX_ROUNDS];

		if (!r->entries)
			continue;
		for (round = 0; round < in->rounds; round++)
			ratio[round] = round_ns[row][0][round] / round_ns[row][1][round];
		r->ns[0] = median(round_ns[row][0], in->rounds) / r->entries;
		r->ns[1] = median(round_ns[row][1], in->rounds) / r->entries;
		r->ratio = median(ratio, in->rounds);
	}
	memset(round_ns, 0, sizeof(round_ns));
}
#endif

static void one_window(struct window *w, const struct replay_input *in, struct replay_result *out)
{
	walk_window(w, in, out);
	out->present += w->present.pages;
	out->swapped += w->swapped;
	out->empty += w->empty;
	out->windows++;
	window_exit(w);
}

static bool replay_layout(const struct replay_input *in, struct replay_result *out)
{
	static const struct build_opts opts;
	unsigned long folios[LAYOUT_MAX];
	struct window w = { .folios = folios, .nr_folios = in->layout->nr_folios };
	unsigned long i;

	if (!layout_build(in->layout, &opts, &w.mm))
		return false;
	for (i = 0; i < w.nr_folios; i++)
		folios[i] = in->layout->folios[i].pfn;
	if (!mem.nr_pagemaps)
		mem_pagemap(0, mem.nr_pages);
	window_scan(&w);
	one_window(&w, in, out);
	return true;
}

static void replay_snapshot(const struct replay_input *in, struct replay_result *out)
{
	const struct snapshot *s = in->snapshot;
	unsigned long *folios = snap_memory(s);
	struct snap_cursor cursor = {};
	struct window w = { .kinds = in->kinds };

	/* All frames also belong to one device, so that the same memory can be walked as dax. */
	mem_pagemap(0, mem.nr_pages);
	while (snap_window(&w, s, &cursor)) {
		w.folios = folios;
		w.nr_folios = s->nr_folios;
		one_window(&w, in, out);
		w.kinds = in->kinds;
	}
	free(folios);
}

static bool format_replay(const struct replay_input *in, struct replay_result *out)
{
	struct replay_input bounded = *in;

	if (bounded.rounds > MAX_ROUNDS)
		bounded.rounds = MAX_ROUNDS;
	*out = (struct replay_result){};
	if (in->layout) {
		if (!replay_layout(&bounded, out))
			return false;
	} else {
		replay_snapshot(&bounded, out);
	}
	finish(&bounded, out);
	mem_exit();
	return true;
}

#ifdef PTB_USER_HOOKS
#define FORMAT_SYMBOL(name) ptb_format_hooked_##name
#else
#define FORMAT_SYMBOL(name) ptb_format_##name
#endif
#define FORMAT_DEFINE(fmt)                                 \
	extern const struct ptb_format FORMAT_SYMBOL(fmt); \
	const struct ptb_format FORMAT_SYMBOL(fmt) = {     \
		.name = #fmt,                              \
		.page_shift = PTB_PAGE_SHIFT,              \
		.replay = format_replay,                   \
	}
#define FORMAT_DEFINE_(fmt) FORMAT_DEFINE(fmt)

FORMAT_DEFINE_(FMT_NAME);
