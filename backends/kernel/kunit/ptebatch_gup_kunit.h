/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * References and pins as ours takes them, against try_grab_folio_fast(), try_grab_folio(),
 * gup_put_folio() and gup_must_unshare() on the same folio.
 *
 * Included at the end of mm/gup.c, whose statics these are. Left out: hugetlb, which only the
 * question of unsharing knows; device memory, which the guests' tests of device-dax have;
 * peer-to-peer, which needs the device.
 */
#ifdef CONFIG_HAVE_GUP_FAST

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/sched.h>

#include <ptebatch/kernel/ops.h>
#include <ptebatch/grab.h>

#define GRAB_LONGTERM_PIN (FOLL_PIN | FOLL_LONGTERM)

struct grab_counts {
	int refs, pins;
	long acquired, released;
};

enum grab_step { GRAB_FIRST, GRAB_MORE, GRAB_PUT_HALF, GRAB_PUT, GRAB_STEPS };

/* What was granted, and what was counted by the end of each step. */
struct grab_trace {
	bool first, more;
	struct grab_counts at[GRAB_STEPS];
};

struct grab_way {
	const char *name;
	struct folio *(*first)(struct page *page, int refs, unsigned int gup);
	bool (*more)(struct folio *folio, int refs, unsigned int gup);
	void (*put)(struct folio *folio, int refs, unsigned int gup);
};

static bool grab_kernel_more(struct folio *folio, int refs, unsigned int gup)
{
	return !try_grab_folio(folio, refs, gup);
}

static const struct grab_way grab_kernel = { "the kernel", try_grab_folio_fast, grab_kernel_more,
					     gup_put_folio };

static const struct grab_way grab_ours[] = {
	{ "ours", ptb_grab_first, ptb_grab_more, ptb_put },
	{ "ours, put by the kernel", ptb_grab_first, ptb_grab_more, gup_put_folio },
	{ "the kernel, put by ours", try_grab_folio_fast, grab_kernel_more, ptb_put },
};

/* The part of each CPU is not in the sum yet; ours runs on one. */
static long grab_stat(struct folio *folio, enum node_stat_item item)
{
	struct per_cpu_nodestat *part = this_cpu_ptr(folio_pgdat(folio)->per_cpu_nodestats);

	return atomic_long_read(&folio_pgdat(folio)->vm_stat[item]) + part->vm_node_stat_diff[item];
}

static struct grab_counts grab_count(struct folio *folio)
{
	return (struct grab_counts){
		.refs = folio_ref_count(folio),
		.pins = folio_test_large(folio) ? atomic_read(&folio->_pincount) : 0,
		.acquired = grab_stat(folio, NR_FOLL_PIN_ACQUIRED),
		.released = grab_stat(folio, NR_FOLL_PIN_RELEASED),
	};
}

static struct grab_counts grab_since(struct folio *folio, struct grab_counts was)
{
	struct grab_counts now = grab_count(folio);

	return (struct grab_counts){ now.refs - was.refs, now.pins - was.pins,
				     now.acquired - was.acquired, now.released - was.released };
}

/* Nothing is asserted in here: interrupts are off, and the folio may be in a state of its own. */
static struct grab_trace
grab_try(const struct grab_way *way, struct page *page, int refs, unsigned int gup)
{
	struct folio *folio = page_folio(page), *got;
	struct grab_counts was = grab_count(folio);
	struct grab_trace t = {};

	got = way->first(page, refs, gup);
	t.first = got;
	t.at[GRAB_FIRST] = grab_since(folio, was);
	if (!got)
		return t;
	t.more = way->more(got, refs, gup);
	t.at[GRAB_MORE] = grab_since(folio, was);
	if (t.more)
		way->put(got, refs, gup);
	t.at[GRAB_PUT_HALF] = grab_since(folio, was);
	way->put(got, refs, gup);
	t.at[GRAB_PUT] = grab_since(folio, was);
	return t;
}

static void grab_expect_same(struct kunit *test, const char *what, const struct grab_trace *want,
			     const struct grab_trace *got)
{
	static const char *const steps[GRAB_STEPS] = { "first", "more", "put half", "put" };
	unsigned int i;

	KUNIT_EXPECT_EQ_MSG(test, got->first, want->first, "%s: first granted", what);
	KUNIT_EXPECT_EQ_MSG(test, got->more, want->more, "%s: more granted", what);
	for (i = 0; i < GRAB_STEPS; i++) {
		KUNIT_EXPECT_EQ_MSG(test, got->at[i].refs, want->at[i].refs, "%s, %s: references",
				    what, steps[i]);
		KUNIT_EXPECT_EQ_MSG(test, got->at[i].pins, want->at[i].pins, "%s, %s: pins", what,
				    steps[i]);
		KUNIT_EXPECT_EQ_MSG(test, got->at[i].acquired, want->at[i].acquired,
				    "%s, %s: NR_FOLL_PIN_ACQUIRED", what, steps[i]);
		KUNIT_EXPECT_EQ_MSG(test, got->at[i].released, want->at[i].released,
				    "%s, %s: NR_FOLL_PIN_RELEASED", what, steps[i]);
	}
}

/* What is made of a folio for the time that it is grabbed. */
enum grab_state { GRAB_USED, GRAB_FREED, GRAB_MOVABLE };

static unsigned long grab_enter(struct folio *folio, enum grab_state state)
{
	unsigned long zone = folio_zonenum(folio);

	if (state == GRAB_FREED)
		folio_ref_freeze(folio, 1);
	if (state == GRAB_MOVABLE)
		set_page_zone(&folio->page, ZONE_MOVABLE);
	return zone;
}

static void grab_leave(struct folio *folio, enum grab_state state, unsigned long zone)
{
	if (state == GRAB_FREED)
		folio_ref_unfreeze(folio, 1);
	if (state == GRAB_MOVABLE)
		set_page_zone(&folio->page, zone);
}

/* answers to get, pin, longterm pin: y counted, n refused, 0 granted and nothing counted */
static const struct grab_kind {
	const char *name, *answers;
	unsigned int order, page;
	enum grab_state state;
	bool zero;
} grab_kinds[] = {
	{ "small page", "yyy", 0, 0, GRAB_USED },
	{ "second page of two", "yyy", 1, 1, GRAB_USED },
	{ "head of a large folio", "yyy", 4, 0, GRAB_USED },
	{ "middle of a large folio", "yyy", 4, 7, GRAB_USED },
	{ "tail of a large folio", "yyy", 4, 15, GRAB_USED },
	{ "zero page", "y00", 0, 0, GRAB_USED, .zero = true },
	{ "freed page", "nnn", 0, 0, GRAB_FREED },
	{ "tail of a freed folio", "nnn", 4, 5, GRAB_FREED },
	{ "page in ZONE_MOVABLE", "yyn", 0, 0, GRAB_MOVABLE },
	{ "tail of a folio in ZONE_MOVABLE", "yyn", 4, 5, GRAB_MOVABLE },
};

KUNIT_ARRAY_PARAM_DESC(grab_kind, grab_kinds, name);

static struct folio *grab_alloc(struct kunit *test, unsigned int order)
{
	struct folio *folio = folio_alloc(GFP_KERNEL, order);

	KUNIT_ASSERT_NOT_NULL(test, folio);
	return folio;
}

static void grab_check_cell(struct kunit *test, const struct grab_kind *kind, struct page *page,
			    unsigned int way, int refs)
{
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN, GRAB_LONGTERM_PIN };
	static const char *const names[] = { "get", "pin", "longterm pin" };
	struct folio *folio = page_folio(page);
	struct grab_trace kernels, ours[ARRAY_SIZE(grab_ours)];
	char answer = kind->answers[way];
	unsigned long flags, zone;
	char what[80];
	unsigned int i;

	local_irq_save(flags);
	zone = grab_enter(folio, kind->state);
	kernels = grab_try(&grab_kernel, page, refs, gups[way]);
	for (i = 0; i < ARRAY_SIZE(grab_ours); i++)
		ours[i] = grab_try(&grab_ours[i], page, refs, gups[way]);
	grab_leave(folio, kind->state, zone);
	local_irq_restore(flags);

	snprintf(what, sizeof(what), "%s of %d, the kernel", names[way], refs);
	KUNIT_EXPECT_EQ_MSG(test, kernels.first, answer != 'n', "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, kernels.at[GRAB_FIRST].refs >= refs, answer == 'y', "%s", what);
	for (i = 0; i < ARRAY_SIZE(grab_ours); i++) {
		snprintf(what, sizeof(what), "%s of %d, %s", names[way], refs, grab_ours[i].name);
		grab_expect_same(test, what, &kernels, &ours[i]);
	}
}

static void grab_counts_as_the_kernel(struct kunit *test)
{
	const struct grab_kind *kind = test->param_value;
	struct folio *folio = kind->zero ? page_folio(ZERO_PAGE(0)) : grab_alloc(test, kind->order);
	struct page *page = folio_page(folio, kind->page);
	unsigned int left = folio_nr_pages(folio) - kind->page, way;

	for (way = 0; way < 3; way++) {
		grab_check_cell(test, kind, page, way, 1);
		grab_check_cell(test, kind, page, way, left);
		grab_check_cell(test, kind, page, way, (left + 1) / 2);
	}
	if (!kind->zero)
		folio_put(folio);
}

/*
 * The deliberate difference: the kernel looks whether the count is negative already, ours whether
 * it would be.
 */
static const struct grab_edge {
	const char *name;
	unsigned int order;
	int room, refs;
	unsigned int gup;
	bool fits;
} grab_edges[] = {
	{ "get, fits", 4, 8, 8, FOLL_GET, true },
	{ "get, one too many", 4, 7, 8, FOLL_GET, false },
	{ "get of a small page, fits", 0, 1, 1, FOLL_GET, true },
	{ "get of a small page, full", 0, 0, 1, FOLL_GET, false },
	{ "pin of a large folio, fits", 4, 8, 8, FOLL_PIN, true },
	{ "pin of a large folio, one too many", 4, 7, 8, FOLL_PIN, false },
	{ "pin of a small page, fits", 0, GUP_PIN_COUNTING_BIAS, 1, FOLL_PIN, true },
	{ "pin of a small page, one too many", 0, GUP_PIN_COUNTING_BIAS - 1, 1, FOLL_PIN, false },
	{ "pin of a small page, full", 0, 0, 1, FOLL_PIN, false },
	{ "longterm pin of a small page, one too many", 0, GUP_PIN_COUNTING_BIAS - 1, 1,
	  GRAB_LONGTERM_PIN, false },
};

KUNIT_ARRAY_PARAM_DESC(grab_edge, grab_edges, name);

static bool grab_kernel_overflows(const struct grab_edge *edge, struct folio *folio, bool first)
{
	bool granted = first ? !!try_grab_folio_fast(&folio->page, edge->refs, edge->gup)
			     : grab_kernel_more(folio, edge->refs, edge->gup);
	bool overflown = folio_ref_count(folio) < 0;

	if (granted)
		gup_put_folio(folio, edge->refs, edge->gup);
	return granted && overflown;
}

static void grab_refuses_what_does_not_fit(struct kunit *test)
{
	const struct grab_edge *edge = test->param_value;
	struct folio *folio = grab_alloc(test, edge->order);
	int others = INT_MAX - edge->room - 1;
	bool kernels[2], ours[2], negative;
	struct grab_counts was, end;
	unsigned long flags;

	local_irq_save(flags);
	page_ref_add(&folio->page, others);
	kernels[0] = grab_kernel_overflows(edge, folio, true);
	kernels[1] = grab_kernel_overflows(edge, folio, false);

	was = grab_count(folio);
	ours[0] = ptb_grab_first(&folio->page, edge->refs, edge->gup);
	if (ours[0])
		ptb_put(folio, edge->refs, edge->gup);
	ours[1] = ptb_grab_more(folio, edge->refs, edge->gup);
	if (ours[1])
		ptb_put(folio, edge->refs, edge->gup);
	end = grab_since(folio, was);

	/* Once it is too late the kernel refuses as well, with a warning. */
	page_ref_add(&folio->page, edge->room + 1);
	negative = ptb_grab_first(&folio->page, edge->refs, edge->gup) ||
		   ptb_grab_more(folio, edge->refs, edge->gup);
	page_ref_sub(&folio->page, others + edge->room + 1);
	local_irq_restore(flags);

	KUNIT_EXPECT_EQ_MSG(test, kernels[0], !edge->fits, "first by the kernel overflows");
	KUNIT_EXPECT_EQ_MSG(test, kernels[1], !edge->fits, "more by the kernel overflows");
	KUNIT_EXPECT_EQ_MSG(test, ours[0], edge->fits, "first granted");
	KUNIT_EXPECT_EQ_MSG(test, ours[1], edge->fits, "more granted");
	KUNIT_EXPECT_EQ_MSG(test, end.refs, 0, "references left");
	KUNIT_EXPECT_EQ_MSG(test, end.pins, 0, "pins left");
	KUNIT_EXPECT_EQ_MSG(test, end.acquired, end.released, "NR_FOLL_PIN_*");
	KUNIT_EXPECT_EQ_MSG(test, end.acquired,
			    edge->fits && (edge->gup & FOLL_PIN) ? 2 * edge->refs : 0,
			    "NR_FOLL_PIN_ACQUIRED");
	KUNIT_EXPECT_FALSE_MSG(test, negative, "granted on top of a negative count");
	folio_put(folio);
}

/* ---- unshare ---- */

#ifndef PAGE_MAPPING_ANON
#define PAGE_MAPPING_ANON FOLIO_MAPPING_ANON
#endif

static void grab_check_unshared(struct kunit *test, struct folio *folio, unsigned int exclusive)
{
	static const unsigned int gups[] = {
		FOLL_GET,
		FOLL_PIN,
		GRAB_LONGTERM_PIN,
		FOLL_GET | FOLL_WRITE,
		FOLL_PIN | FOLL_WRITE,
		GRAB_LONGTERM_PIN | FOLL_WRITE,
	};
	struct vm_area_struct cow = {}, shared = {}, *vmas[] = { NULL, &cow, &shared };
	unsigned int nr = folio_nr_pages(folio), v, g, want, got;

	vm_flags_init(&cow, VM_READ | VM_WRITE | VM_MAYWRITE);
	vm_flags_init(&shared, VM_READ | VM_WRITE | VM_MAYWRITE | VM_SHARED);
	for (v = 0; v < ARRAY_SIZE(vmas); v++)
		for (g = 0; g < ARRAY_SIZE(gups); g++) {
			for (want = 0; want < nr; want++)
				if (gup_must_unshare(vmas[v], gups[g], folio_page(folio, want)))
					break;
			got = ptb_unshared(vmas[v], folio, &folio->page, nr, gups[g]);
			KUNIT_EXPECT_EQ_MSG(test, got, want, "%u exclusive, vma %u, gup %#x",
					    exclusive, v, gups[g]);
		}
}

static void unshared_end_where_the_kernel_would_unshare(struct kunit *test)
{
	struct folio *folio = grab_alloc(test, 3);
	unsigned int i;

	grab_check_unshared(test, folio, 0);
	folio->mapping = (void *)PAGE_MAPPING_ANON;
	grab_check_unshared(test, folio, 0);
	for (i = 0; i < folio_nr_pages(folio); i++) {
		SetPageAnonExclusive(folio_page(folio, i));
		grab_check_unshared(test, folio, i + 1);
	}
	while (i--)
		ClearPageAnonExclusive(folio_page(folio, i));
	folio->mapping = NULL;
	folio_put(folio);
}

/* The statistics are kept by CPU: have them all in one. */
static int grab_init(struct kunit *test)
{
	return set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
}

static struct kunit_case grab_cases[] = {
	KUNIT_CASE_PARAM(grab_counts_as_the_kernel, grab_kind_gen_params),
	KUNIT_CASE_PARAM(grab_refuses_what_does_not_fit, grab_edge_gen_params),
	KUNIT_CASE(unshared_end_where_the_kernel_would_unshare),
	{},
};

static struct kunit_suite grab_suite = {
	.name = "ptebatch_grab",
	.init = grab_init,
	.test_cases = grab_cases,
};

kunit_test_suite(grab_suite);

#endif
