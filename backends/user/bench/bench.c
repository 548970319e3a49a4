// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Contenders sent over a scene: checked, timed, or counted by callgrind. */
#include "contender.h"
#include "scene.h"

#include <time.h>
#include <valgrind/callgrind.h>

static void step_ends(void)
{
}

#include "../pass.h"

static const struct contender *const contenders[BENCH_CONTENDERS] = {
	&per_entry, &compare_each, &seed_shape, &ptebatch, &limit,
};

const char *bench_contender(unsigned int contender)
{
	return contenders[contender]->name;
}

/* ---- a pass over the scene, call by call ---- */

struct bench_walker {
	const char *name;
	/* False if the contender has no way of its own. */
	bool (*pass)(struct scene *s, const struct contender *c);
	void (*back)(struct scene *s, const struct contender *c);
	/* Pages that it has answered for, and the answer. */
	unsigned long (*answered)(const struct scene *s);
	u64 (*hash)(const struct scene *s);
};

static bool gup_fast_pass(struct scene *s, const struct contender *c)
{
	if (!c->gup.ptes)
		return false;
	pass_gup(&s->w, s->gup, &c->gup);
	return true;
}

static void gup_fast_back(struct scene *s, const struct contender *c)
{
	if (c != &limit)
		user_unpin_pages(s->w.pages, s->w.done, s->gup);
}

static u64 gup_fast_hash(const struct scene *s)
{
	return hash_pages(&s->w);
}

static bool mincore_pass(struct scene *s, const struct contender *c)
{
	if (!c->mincore)
		return false;
	pass_mincore(&s->w, c->mincore);
	return true;
}

static u64 mincore_hash(const struct scene *s)
{
	return hash_vec(&s->w);
}

static unsigned long done_answered(const struct scene *s)
{
	return s->w.done;
}

static bool scan_pass(struct scene *s, const struct contender *c)
{
	struct window *w = &s->w;
	unsigned long i;

	if (!c->scan)
		return false;
	for (i = 0; i < w->present.nr; i++)
		w->done += c->scan(mm_ptep(&w->mm, w->present.v[i].addr), w->present.v[i].nr,
				   s->runs + w->done);
	return true;
}

static bool contig_pass(struct scene *s, const struct contender *c)
{
	struct window *w = &s->w;
	unsigned long i;

	if (!c->contig)
		return false;
	for (i = 0; i < s->slots; i += CALL_PAGES)
		w->done += c->contig(s->mapped + i, CALL_PAGES, s->runs + w->done);
	return true;
}

static unsigned long runs_answered(const struct scene *s)
{
	unsigned long pages = 0, i;

	for (i = 0; i < s->w.done; i++)
		pages += s->runs[i];
	return pages;
}

static u64 runs_hash(const struct scene *s)
{
	u64 hash = s->w.done;
	unsigned long i;

	for (i = 0; i < s->w.done; i++)
		hash = mix(hash, s->runs[i]);
	return hash;
}

/* Pages that are pinned already: what pinning costs is another row's. */
static long hand_out(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
		     unsigned long *pfn, struct vfio_batch *batch)
{
	const struct scene *s = dma->engine_arg;
	struct page **pages = s->mapped + ((vaddr - dma->vaddr) >> PTB_PAGE_SHIFT);

	if (npage > (unsigned long)batch->capacity)
		npage = batch->capacity;
	memcpy(batch->pages, pages, npage * sizeof(*pages));
	batch->offset = 0;
	batch->size = npage;
	*pfn = mem_pfn(pages[0]);
	return npage;
}

static bool vfio_pin_pass(struct scene *s, const struct contender *c)
{
	if (!c->vfio_pin)
		return false;
	s->dma.engine = hand_out;
	s->dma.engine_arg = s;
	pass_vfio_pin(&s->w, &s->dma, c->vfio_pin);
	return true;
}

static void vfio_pin_back(struct scene *s, const struct contender *c)
{
	(void)c;
	s->w.mm.locked_vm = 0;
	s->dma.locked_vm = 0;
}

static unsigned long vfio_pin_answered(const struct scene *s)
{
	unsigned long pages = 0, i;

	for (i = 0; i < s->w.done; i++)
		pages += s->w.runs[i].nr;
	return pages;
}

static u64 vfio_runs_hash(const struct scene *s)
{
	return hash_runs(&s->w);
}

static bool vpfn_pass(struct scene *s, const struct contender *c)
{
	struct window *w = &s->w;
	unsigned long i;

	if (!c->vpfn)
		return false;
	for (i = 0; i < w->present.nr; i++) {
		u64 first = w->present.v[i].addr;

		w->runs[i].nr = c->vpfn(&s->dma, first,
					first + ((u64)w->present.v[i].nr << PTB_PAGE_SHIFT) - 1);
	}
	w->done = i;
	return true;
}

static unsigned long vpfn_answered(const struct scene *s)
{
	return s->w.done == s->w.present.nr ? s->pages : 0;
}

static void nothing_back(struct scene *s, const struct contender *c)
{
	(void)s;
	(void)c;
}

static const struct bench_walker walkers[] = {
	{ "gup_fast", gup_fast_pass, gup_fast_back, done_answered, gup_fast_hash },
	{ "mincore", mincore_pass, nothing_back, done_answered, mincore_hash },
	{ "scan", scan_pass, nothing_back, runs_answered, runs_hash },
	{ "contig", contig_pass, nothing_back, runs_answered, runs_hash },
	{ "vfio_pin", vfio_pin_pass, vfio_pin_back, vfio_pin_answered, vfio_runs_hash },
	{ "vpfn", vpfn_pass, nothing_back, vpfn_answered, vfio_runs_hash },
};

static bool run_pass(struct scene *s, const struct contender *c)
{
	s->w.done = 0;
	return s->walker->pass(s, c);
}

/* ---- what the tool asks for ---- */

struct scene *bench_make(const struct bench_row *row, bool small)
{
	struct scene *s = calloc(1, sizeof(*s));
	unsigned int i;

	if (!s)
		abort();
	for (i = 0; i < ARRAY_SIZE(walkers); i++)
		if (!strcmp(walkers[i].name, row->walker))
			s->walker = &walkers[i];
	scene_build(s, row, small);
	return s;
}

void bench_free(struct scene *s)
{
	scene_free(s);
	free(s);
}

unsigned long bench_pages(const struct scene *s)
{
	return s->pages;
}

bool bench_applies(const struct scene *s, unsigned int contender)
{
	return s->applies & BIT(contender);
}

static u64 state(const struct scene *s)
{
	return mix(hash_counts(&s->w), s->w.mm.locked_vm) + mem.freed;
}

/* What the first contender answered and left behind, which the others have to as well. */
struct outcome {
	const struct contender *by;
	u64 hash, counts;
};

static const char *
wrong(struct scene *s, const struct contender *c, const char *what, const struct contender *than)
{
	snprintf(s->why, sizeof(s->why), "%s %s%s", c->name, what, than ? than->name : "");
	return s->why;
}

static const char *check_one(struct scene *s, const struct contender *c, struct outcome *want)
{
	u64 hash = s->walker->hash(s), counts = state(s);

	if (s->walker->answered(s) != s->pages)
		return wrong(s, c, "does not answer for all pages", NULL);
	s->walker->back(s, c);
	if (state(s) != s->fresh)
		return wrong(s, c, "keeps what was given back", NULL);
	if (!want->by)
		*want = (struct outcome){ c, hash, counts };
	if (hash != want->hash)
		return wrong(s, c, "answers otherwise than ", want->by);
	/* The bound takes nothing. */
	if (counts != (c == &limit ? s->fresh : want->counts))
		return wrong(s, c, "leaves other counts than ", want->by);
	return NULL;
}

const char *bench_check(struct scene *s)
{
	struct outcome want = {};
	const char *why;
	unsigned int i;

	s->fresh = state(s);
	for (i = 0; i < BENCH_CONTENDERS; i++) {
		/* What the one before left in the output is no answer. */
		memset(s->w.pages, 0, s->slots * sizeof(*s->w.pages));
		memset(s->w.vec, 0xee, s->slots);
		memset(s->w.runs, 0, s->slots * sizeof(*s->w.runs));
		memset(s->runs, 0, s->slots * sizeof(*s->runs));
		if (!run_pass(s, contenders[i]))
			continue;
		s->applies |= BIT(i);
		why = check_one(s, contenders[i], &want);
		if (why)
			return why;
	}
	return NULL;
}

/* Of this thread alone: what others get of the CPU meanwhile is not our time. */
static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

u64 bench_time(struct scene *s, unsigned int contender, unsigned int *passes)
{
	const struct contender *c = contenders[contender];
	unsigned int i;
	u64 begin, ns;

	if (s->cold) {
		*passes = 1;
		scene_chill(s);
	}
	begin = now_ns();
	for (i = 0; i < *passes; i++)
		run_pass(s, c);
	ns = now_ns() - begin;
	for (i = 0; i < *passes; i++)
		s->walker->back(s, c);
	return ns;
}

bool bench_is_counted(void)
{
	return RUNNING_ON_VALGRIND;
}

void bench_count(struct scene *s, unsigned int contender, const char *name)
{
	CALLGRIND_START_INSTRUMENTATION;
	CALLGRIND_ZERO_STATS;
	run_pass(s, contenders[contender]);
	CALLGRIND_DUMP_STATS_AT(name);
	CALLGRIND_STOP_INSTRUMENTATION;
	s->walker->back(s, contenders[contender]);
}
