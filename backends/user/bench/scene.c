// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The scenes of the benchmark: the same on every machine and in every run. */
#include "scene.h"

/* Fits into the caches that a core has for itself, with its struct pages and tables. */
#define WARM_SLOTS 4096
/* Too long to be learnt by heart: entries at random are not to be predicted. */
#define MANY_SLOTS 65536
#define SMALL_SLOTS 2048
/* Frames that the folios of a cold scene are strewn over: 256 MiB of struct pages. */
#define COLD_FRAMES (1UL << 22)
/* Of the pages of a tree, others have pinned one in so many, each by itself. */
#define NODE_STEP 8
#define SMALL_NODES 10000
#define NARROW_CALLS 128

static void *room_for(unsigned long nr, size_t size)
{
	size_t bytes = (nr * size + 4095) / 4096 * 4096;
	/*
	 * Whole pages, as tables are: an entry and its place in the output are then never taken
	 * for each other by a CPU that looks at the low bits of addresses first.
	 */
	void *p = aligned_alloc(4096, bytes ? bytes : 4096);

	if (!p)
		abort();
	return memset(p, 0, bytes);
}

static bool is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

/* ---- the same at random each time ---- */

static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The numbers below @n in an order of no sense; the first @want of them, where not all are. */
static unsigned int *shuffled(unsigned long n, unsigned long want)
{
	unsigned int *v = room_for(n, sizeof(*v));
	u64 state = 0x70746562;
	unsigned long i;

	for (i = 0; i < n; i++)
		v[i] = i;
	for (i = 0; i < want; i++) {
		unsigned long j = i + next_random(&state) % (n - i);
		unsigned int other = v[j];

		v[j] = v[i];
		v[i] = other;
	}
	return v;
}

/* ---- memory ---- */

/* Empty tables for @s->slots, and frames. The memory map is of huge pages, as the kernel's is. */
static void build_empty(struct scene *s, unsigned long nr_frames)
{
	struct build_opts opts = { .nr_pages = nr_frames, .spare = s->slots / CALL_PAGES - 1 };
	struct layout layout;
	char err[LAYOUT_ERR_MAX];
	unsigned long i;

	if (layout_parse("none", &layout, err) || !layout_build(&layout, &opts, &s->w.mm))
		abort();
	madvise(mem.map, mem.map_bytes, MADV_HUGEPAGE);
	for (i = 0; i < s->slots; i += CALL_PAGES)
		mm_ptep_alloc(&s->w.mm, layout_addr(&s->w.mm, i));
}

static void build_folio_at(struct scene *s, unsigned long pfn, unsigned int order)
{
	mem_folio(pfn, order, FOLIO_ANON);
	s->w.folios[s->w.nr_folios++] = pfn;
}

static void map_run(struct scene *s, unsigned long slot, unsigned long pfn, unsigned long nr)
{
	unsigned long i;

	mm_set_run(&s->w.mm, layout_addr(&s->w.mm, slot), pfn, nr, A_WRITE | A_YOUNG | A_DIRTY);
	for (i = 0; i < nr; i++)
		s->mapped[slot + i] = mem_page(pfn + i);
}

/* Whole folios, whose order in memory is not that of their addresses. */
static void build_folios(struct scene *s, unsigned long nr_frames, unsigned int order)
{
	unsigned long nr = BIT(order), i;
	unsigned int *place = shuffled(nr_frames / nr, s->slots / nr);

	build_empty(s, nr_frames);
	for (i = 0; i < s->slots / nr; i++) {
		build_folio_at(s, place[i] * nr, order);
		map_run(s, i * nr, place[i] * nr, nr);
	}
	free(place);
}

/* Each entry is there, or is not. */
static void build_random(struct scene *s)
{
	u64 state = 0x72616e64;
	unsigned long i;

	build_empty(s, s->slots);
	for (i = 0; i < s->slots; i++) {
		if (next_random(&state) >> 63)
			continue;
		build_folio_at(s, i, 0);
		map_run(s, i, i, 1);
	}
}

/* A folio a table, mapped back to front in pieces of @run pages: each run ends at a mismatch. */
static void build_runs(struct scene *s, unsigned long run)
{
	unsigned long table, at;

	build_empty(s, s->slots);
	for (table = 0; table < s->slots; table += CALL_PAGES) {
		build_folio_at(s, table, PTB_PMD_SHIFT - PTB_PAGE_SHIFT);
		for (at = 0; at < CALL_PAGES; at += run)
			map_run(s, table + at, table + CALL_PAGES - run - at, run);
	}
}

/* ---- pages that others have pinned ---- */

static u64 node_iova(unsigned long node)
{
	return (u64)node * NODE_STEP << PTB_PAGE_SHIFT;
}

/* Pinned in an order of its own, so neighbours in the tree are none in memory. */
static void build_tree(struct scene *s, unsigned long nodes)
{
	unsigned int *order = shuffled(nodes, nodes);
	unsigned long i;

	for (i = 0; i < nodes; i++)
		vpfn_add(&s->dma.pfn_list, node_iova(order[i]));
	free(order);
}

static void build_narrow(struct scene *s, unsigned long nodes)
{
	unsigned long span = nodes * NODE_STEP - CALL_PAGES, i;

	build_tree(s, nodes);
	for (i = 0; i < NARROW_CALLS; i++)
		ranges_add(&s->w.present, (span * i / NARROW_CALLS) << PTB_PAGE_SHIFT, CALL_PAGES);
}

static void build_wide(struct scene *s, unsigned long nodes)
{
	build_tree(s, nodes);
	ranges_add(&s->w.present, 0, nodes * NODE_STEP);
}

/* ---- a row ---- */

static void build_tables(struct scene *s, const struct bench_row *row, unsigned long nodes)
{
	if (is(row->layout, "cold"))
		build_folios(s, COLD_FRAMES, row->order);
	else if (is(row->layout, "random"))
		build_random(s);
	else if (is(row->layout, "none"))
		build_empty(s, s->slots);
	else if (is(row->layout, "run"))
		build_runs(s, row->order);
	else if (is(row->layout, "narrow"))
		build_folios(s, s->slots, PTB_PMD_SHIFT - PTB_PAGE_SHIFT);
	else
		build_folios(s, s->slots, row->order);

	s->dma.mm = &s->w.mm;
	s->dma.vaddr = s->w.mm.base;
	if (is(row->layout, "narrow")) {
		build_tree(s, nodes);
		s->dma.iova = node_iova(nodes / 2);
	}
}

static void build_calls(struct scene *s)
{
	unsigned long i;

	for (i = 0; i < s->slots; i += CALL_PAGES) {
		ranges_add(&s->w.present, layout_addr(&s->w.mm, i), CALL_PAGES);
		ranges_add(&s->w.pinnable, layout_addr(&s->w.mm, i), CALL_PAGES);
	}
}

static unsigned long row_slots(const struct bench_row *row, bool small)
{
	if (small)
		return SMALL_SLOTS;
	return is(row->layout, "warm") || is(row->layout, "narrow") ? WARM_SLOTS : MANY_SLOTS;
}

/* A cold scene is executed like a warm one. */
bool bench_is_countable(const struct bench_row *row)
{
	return !is(row->layout, "cold") && row->order <= SMALL_NODES;
}

void scene_build(struct scene *s, const struct bench_row *row, bool small)
{
	unsigned long nodes = small && row->order > SMALL_NODES ? SMALL_NODES : row->order;
	bool tree_alone = is(row->walker, "vpfn");

	s->gup = FOLL_WRITE | (is(row->op, "pin") ? FOLL_PIN : FOLL_GET);
	s->cold = is(row->layout, "cold");
	s->slots = tree_alone ? NARROW_CALLS : row_slots(row, small);
	s->mapped = room_for(s->slots, sizeof(*s->mapped));
	s->runs = room_for(s->slots, sizeof(*s->runs));
	s->w.pages = room_for(s->slots, sizeof(*s->w.pages));
	s->w.vec = room_for(s->slots, 1);
	s->w.runs = room_for(s->slots, sizeof(*s->w.runs));
	s->w.folios = room_for(s->slots, sizeof(*s->w.folios));

	if (!tree_alone) {
		build_tables(s, row, nodes);
		build_calls(s);
	} else if (is(row->layout, "narrow")) {
		build_narrow(s, nodes);
	} else {
		build_wide(s, nodes);
	}
	s->pages = s->w.present.pages;
}

void scene_free(struct scene *s)
{
	vpfn_clear(&s->dma.pfn_list);
	free(s->mapped);
	free(s->runs);
	free(s->w.folios);
	window_exit(&s->w);
	mem_exit();
}

/* ---- cold ---- */

static void flush_lines(const void *from, size_t bytes)
{
	const char *p;

	for (p = from; p < (const char *)from + bytes; p += 64) {
#if defined(__x86_64__) || defined(__i386__)
		asm volatile("clflush %0" : : "m"(*p) : "memory");
#elif defined(__aarch64__)
		asm volatile("dc civac, %0" : : "r"(p) : "memory");
#endif
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void scene_chill(const struct scene *s)
{
	unsigned long i;

	for (i = 0; i < s->slots; i++)
		flush_lines(s->mapped[i], sizeof(*s->mapped[i]));
	for (i = 0; i < s->slots; i += CALL_PAGES)
		flush_lines(s->w.mm.tables[i / CALL_PAGES], CALL_PAGES * sizeof(ptb_pte_t));
	flush_lines(s->w.pages, s->slots * sizeof(*s->w.pages));
}
