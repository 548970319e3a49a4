// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One format: compiled once for each, with PTB_FMT_HEADER naming it. Built plain it measures time;
 * built with PTB_USER_HOOKS it counts instead. Exports one struct ptb_format, the only thing the
 * rest of the program sees.
 */
#include "window.h"

#include "ref/gup_fast.h"
#include "ref/mincore.h"
#include "ref/vfio.h"

#include <ptebatch/walk/gup_fast.h>
#include <ptebatch/walk/mincore.h>
#include <ptebatch/walk/vfio.h>

#include <time.h>

#define MAX_ROUNDS 64

/* ---- what a pass leaves behind, to compare by ---- */

static u64 mix(u64 hash, u64 value)
{
	return (hash ^ value) * 0x100000001b3ULL + (hash >> 29);
}

static u64 hash_pages(const struct window *w)
{
	u64 hash = w->done;
	unsigned long i;

	for (i = 0; i < w->done; i++)
		hash = mix(hash, mem_pfn(w->pages[i]));
	return hash;
}

static u64 hash_vec(const struct window *w)
{
	u64 hash = w->done;
	unsigned long i;

	for (i = 0; i < w->done; i++)
		hash = mix(hash, w->vec[i]);
	return hash;
}

static u64 hash_runs(const struct window *w)
{
	u64 hash = w->done;
	unsigned long i;

	for (i = 0; i < w->done; i++)
		hash = mix(mix(hash, w->runs[i].pfn), w->runs[i].nr);
	return mix(hash, w->mm.locked_vm);
}

static u64 hash_counts(const struct window *w)
{
	u64 hash = 0;
	unsigned long i;

	for (i = 0; i < w->nr_folios; i++) {
		const struct folio *folio = mem_page_folio(mem_page(w->folios[i]));

		hash = mix(hash, folio->page.refcount);
		hash = mix(hash, mem_folio_pincount(folio));
	}
	return mix(hash, mem.pins_acquired - mem.pins_released);
}

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

/* ---- passes: a walker sent over everything in a window ---- */

static __always_inline void
pass_gup(struct window *w, unsigned int gup, const struct gup_walker *walker)
{
	unsigned long i;

	for (i = 0; i < w->present.nr; i++) {
		unsigned long addr = w->present.v[i].addr, left = w->present.v[i].nr, got;

		while (left) {
			got = user_gup_fast(&w->mm, addr, left, gup, w->pages + w->done, walker);
			step_ends();
			w->done += got;
			/* What it stopped at is slow GUP's; go on behind it. */
			if (got < left)
				got++;
			addr += got << PTB_PAGE_SHIFT;
			left -= got;
		}
	}
}

static __always_inline void pass_dax(struct window *w, unsigned int gup,
				     unsigned int (*walker)(unsigned long pfn, unsigned int nr,
							    unsigned int gup, struct page **pages))
{
	unsigned long i;

	for (i = 0; i < w->frames.nr; i++) {
		w->done += walker(w->frames.v[i].addr, w->frames.v[i].nr, gup, w->pages + w->done);
		step_ends();
	}
}

static __always_inline void pass_mincore(struct window *w, mincore_walker walker)
{
	unsigned int i;

	for (i = 0; i < w->mm.nr_vmas; i++) {
		struct vm_area_struct *vma = &w->mm.vmas[i];

		user_mincore(&w->mm, vma, vma->vm_start, vma->vm_end, w->vec + w->done, walker);
		w->done += (vma->vm_end - vma->vm_start) >> PTB_PAGE_SHIFT;
		step_ends();
	}
}

static struct page *batch_pages[512];

static struct vfio_dma window_dma(struct window *w)
{
	/* The bus sees a range of its own, as a guest's memory would be. */
	return (struct vfio_dma){ .iova = 0, .vaddr = 0, .mm = &w->mm };
}

static __always_inline void
pass_vfio_pin(struct window *w,
	      long (*pin)(struct vfio_dma *dma, unsigned long vaddr, long npage,
			  unsigned long *pfn_base, unsigned long limit, struct vfio_batch *batch))
{
	struct vfio_dma dma = window_dma(w);
	struct vfio_batch batch = { .pages = batch_pages, .capacity = ARRAY_SIZE(batch_pages) };
	unsigned long i;

	for (i = 0; i < w->pinnable.nr; i++) {
		unsigned long addr = w->pinnable.v[i].addr;
		long left = w->pinnable.v[i].nr;

		while (left) {
			struct vfio_run *run = &w->runs[w->done];
			long got = pin(&dma, addr, left, &run->pfn, ULONG_MAX, &batch);

			if (got <= 0)
				break;
			run->iova = addr;
			run->nr = got;
			w->done++;
			addr += (unsigned long)got << PTB_PAGE_SHIFT;
			left -= got;
		}
	}
}

static __always_inline void
pass_vfio_unpin(struct window *w, long (*unpin)(struct vfio_dma *dma, u64 iova, unsigned long pfn,
						long npage, bool do_accounting))
{
	struct vfio_dma dma = window_dma(w);
	unsigned long i;

	for (i = 0; i < w->done; i++)
		unpin(&dma, w->runs[i].iova, w->runs[i].pfn, w->runs[i].nr, true);
}

static const struct gup_walker batched_gup = { ptb_gup_fast_ptes, ptb_gup_fast_leaf };
static const struct gup_walker reference_gup = { ref_gup_fast_ptes, ref_gup_fast_leaf };

static void gup_get_ref(struct window *w)
{
	pass_gup(w, FOLL_GET, &reference_gup);
}

static void gup_get(struct window *w)
{
	pass_gup(w, FOLL_GET, &batched_gup);
}

static void gup_pin_ref(struct window *w)
{
	pass_gup(w, FOLL_PIN, &reference_gup);
}

static void gup_pin(struct window *w)
{
	pass_gup(w, FOLL_PIN, &batched_gup);
}

static void dax_get_ref(struct window *w)
{
	pass_dax(w, FOLL_GET, ref_dax_leaf);
}

static void dax_get(struct window *w)
{
	pass_dax(w, FOLL_GET, ptb_dax_leaf);
}

static void dax_pin_ref(struct window *w)
{
	pass_dax(w, FOLL_PIN, ref_dax_leaf);
}

static void dax_pin(struct window *w)
{
	pass_dax(w, FOLL_PIN, ptb_dax_leaf);
}

static void mincore_ref(struct window *w)
{
	pass_mincore(w, ref_mincore_ptes);
}

static void mincore_batched(struct window *w)
{
	pass_mincore(w, ptb_mincore_ptes);
}

static void vfio_pin_ref(struct window *w)
{
	pass_vfio_pin(w, ref_vfio_pin);
}

static void vfio_pin(struct window *w)
{
	pass_vfio_pin(w, ptb_vfio_pin);
}

static void vfio_unpin_ref(struct window *w)
{
	pass_vfio_unpin(w, ref_vfio_unpin);
}

static void vfio_unpin(struct window *w)
{
	pass_vfio_unpin(w, ptb_vfio_unpin);
}

static void put_got(struct window *w)
{
	user_unpin_pages(w->pages, w->done, FOLL_GET);
}

static void put_pinned(struct window *w)
{
	user_unpin_pages(w->pages, w->done, FOLL_PIN);
}

static void nothing(struct window *w)
{
	(void)w;
}

static const struct pass {
	const char *name;
	void (*before)(struct window *w);
	void (*walk[2])(struct window *w); /* per entry, batched */
	void (*after)(struct window *w);
	u64 (*hash)(const struct window *w);
} passes[ROW_NR] = {
	[ROW_GUP_GET] = { "gup_fast get", nothing, { gup_get_ref, gup_get }, put_got, hash_pages },
	[ROW_GUP_PIN] = { "gup_fast pin",
			  nothing,
			  { gup_pin_ref, gup_pin },
			  put_pinned,
			  hash_pages },
	[ROW_DAX_GET] = { "dax get", nothing, { dax_get_ref, dax_get }, put_got, hash_pages },
	[ROW_DAX_PIN] = { "dax pin", nothing, { dax_pin_ref, dax_pin }, put_pinned, hash_pages },
	[ROW_MINCORE] = { "mincore", nothing, { mincore_ref, mincore_batched }, nothing, hash_vec },
	[ROW_VFIO_PIN] = { "vfio pin",
			   nothing,
			   { vfio_pin_ref, vfio_pin },
			   vfio_unpin_ref,
			   hash_runs },
	[ROW_VFIO_UNPIN] = { "vfio unpin",
			     vfio_pin,
			     { vfio_unpin_ref, vfio_unpin },
			     nothing,
			     hash_runs },
};

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

	(void)in;
	for (row = 0; row < ROW_NR; row++) {
		u64 ref = counted_pass(w, row, 0, &out->row[row]);

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

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(const double *v, unsigned int n)
{
	double sorted[MAX_ROUNDS];

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*sorted), compare_double);
	return n & 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
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

/* All frames also belong to one device, so that the same memory can be walked as dax. */
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
	struct window w = {};

	mem_pagemap(0, mem.nr_pages);
	while (snap_window(&w, s, &cursor)) {
		w.folios = folios;
		w.nr_folios = s->nr_folios;
		one_window(&w, in, out);
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
