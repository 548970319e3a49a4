// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * References and pins: what each way of asking does to each kind of folio, and that putting undoes
 * it.
 */
#include "bed.h"

#define LONGTERM_PIN (FOLL_PIN | FOLL_LONGTERM)
#define BIAS GUP_PIN_COUNTING_BIAS

/* What is counted, as one value to compare. */
struct counts {
	int refs, pins;
	u64 acquired, released;
};

static struct counts counts(unsigned long pfn)
{
	return (struct counts){ bed_refs(pfn), bed_pins(pfn), mem.pins_acquired,
				mem.pins_released };
}

/* What a small folio has no room for lies in the next page: not this folio's. */
static bool neighbour_untouched(unsigned long pfn)
{
	struct folio *folio = bed_folio(pfn);

	return mem_folio_order(folio) || !folio->second.pincount;
}

static void
expect_counts(const char *what, unsigned long pfn, struct counts was, int refs, int pins, int stat)
{
	struct counts now = counts(pfn);

	EXPECT(now.refs == was.refs + refs, "%s: %d references, expected %d", what, now.refs,
	       was.refs + refs);
	EXPECT(now.pins == was.pins + pins, "%s: %d pins, expected %d", what, now.pins,
	       was.pins + pins);
	EXPECT(neighbour_untouched(pfn), "%s: pins counted in a page of another folio", what);
	EXPECT((long)(now.acquired - now.released) == (long)(was.acquired - was.released) + stat,
	       "%s: the node counts %ld pins, expected %ld", what,
	       (long)(now.acquired - now.released), (long)(was.acquired - was.released) + stat);
}

/*
 * Answers by way of asking: get, pin, longterm pin.
 * y counted; n refused; 0 granted, nothing counted
 */
struct row {
	const char *name, *layout, *answers;
	unsigned long pfn;
	unsigned int flags; /* besides */
	int max;	    /* references asked for: 1, and this */
};

static const struct row rows[] = {
	{ "small", "o0@100", "yyy", 0x100, 0, 1 },
	{ "order 1, second page", "o1@100", "yyy", 0x101, 0, 2 },
	{ "large, in the middle", "o4@100", "yyy", 0x105, 0, 16 },
	{ "zero page", "zero@100", "y00", 0x100, 0, 1 },
	{ "small movable", "o0@100 cma", "yyn", 0x100, 0, 1 },
	{ "large movable", "o4@100 cma", "yyn", 0x10f, 0, 16 },
	{ "device", "o4@100 device", "yyy", 0x100, 0, 16 },
	{ "peer to peer", "o4@100 device p2pdma", "nnn", 0x100, 0, 16 },
	{ "small peer to peer", "o0@100 device p2pdma", "nnn", 0x100, 0, 1 },
	{ "peer to peer, allowed", "o4@100 device p2pdma", "yyy", 0x101, FOLL_PCI_P2PDMA, 15 },
	{ "small, with leave for peers", "o0@100", "yyy", 0x100, FOLL_PCI_P2PDMA, 1 },
	{ "large for writing", "o2@100", "yyy", 0x100, FOLL_WRITE, 4 },
	{ "freed", "o0@100 refs=0", "nnn", 0x100, 0, 1 },
	{ "large, freed", "o3@100 refs=0", "nnn", 0x103, 0, 5 },
	{ "overflown", "o0@100 refs=-5", "nnn", 0x100, 0, 1 },
	{ "large, overflown", "o3@100 refs=-2147483647", "nnn", 0x100, 0, 8 },
	{ "pinned by others", "o3@100 refs=9 pins=8", "yyy", 0x100, 0, 8 },
};

static const unsigned int ways[] = { FOLL_GET, FOLL_PIN, LONGTERM_PIN };

static const char *title(const struct row *r, unsigned int way, int refs, const char *step)
{
	static const char *const names[] = { "get", "pin", "longterm pin" };
	static char text[128];

	snprintf(text, sizeof(text), "%s: %s of %d, %s", r->name, names[way], refs, step);
	return text;
}

/*
 * Has this folio a pin count of its own: as the kernel has it, any large one, or from order 2 on
 * with words of 32 bits.
 */
static bool own_pincount(unsigned long pfn)
{
	return mem_folio_order(bed_folio(pfn)) > (sizeof(long) == 8 ? 0 : 1);
}

static void check_cell(const struct row *r, unsigned int way, int refs)
{
	const unsigned int gup = ways[way] | r->flags;
	char answer = r->answers[way];
	struct folio *folio;
	int unit = 1, pins = 0, stat = 0;
	struct counts was;
	struct bed bed;

	bed_need(&bed, r->layout, NULL);
	if (answer == '0')
		unit = 0;
	else if (gup & FOLL_PIN) {
		unit = own_pincount(r->pfn) ? 1 : BIAS;
		pins = own_pincount(r->pfn) ? refs : 0;
		stat = refs;
	}
	was = counts(r->pfn);
	folio = ptb_grab_first(mem_page(r->pfn), refs, gup);
	if (answer == 'n') {
		EXPECT(!folio, "%s", title(r, way, refs, "granted, should have been refused"));
		expect_counts(title(r, way, refs, "refused"), r->pfn, was, 0, 0, 0);
		bed_free(&bed);
		return;
	}
	REQUIRE(folio == bed_folio(r->pfn), "%s", title(r, way, refs, "refused or another folio"));
	expect_counts(title(r, way, refs, "grabbed"), r->pfn, was, unit * refs, pins, stat);

	EXPECT(ptb_grab_more(folio, refs, gup), "%s", title(r, way, refs, "refused more"));
	expect_counts(title(r, way, refs, "more"), r->pfn, was, 2 * unit * refs, 2 * pins,
		      2 * stat);

	ptb_put(folio, refs, gup);
	expect_counts(title(r, way, refs, "put half"), r->pfn, was, unit * refs, pins, stat);
	ptb_put(folio, refs, gup);
	expect_counts(title(r, way, refs, "put"), r->pfn, was, 0, 0, 0);
	EXPECT(!mem.freed, "%s", title(r, way, refs, "freed a folio that others hold"));
	bed_free(&bed);
}

TEST(grab_counts_all_or_nothing_and_put_undoes_it)
{
	unsigned int way;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (way = 0; way < ARRAY_SIZE(ways); way++) {
			check_cell(&rows[i], way, 1);
			if (rows[i].max > 1)
				check_cell(&rows[i], way, rows[i].max);
		}
}

/*
 * The count may reach INT_MAX and not one more, whether one or many are added, and by the first
 * grab or a later one.
 */
TEST(grab_stops_at_the_last_reference_that_fits)
{
	static const struct {
		const char *name, *layout;
		int room, refs;
		unsigned int gup;
		bool granted;
	} cells[] = {
		{ "get, fits", "o4@100", 8, 8, FOLL_GET, true },
		{ "get, one too many", "o4@100", 7, 8, FOLL_GET, false },
		{ "get of one, full", "o4@100", 0, 1, FOLL_GET, false },
		{ "get of one, fits", "o0@100", 1, 1, FOLL_GET, true },
		{ "pin of a large folio, fits", "o4@100", 8, 8, FOLL_PIN, true },
		{ "pin of a large folio, one too many", "o4@100", 7, 8, FOLL_PIN, false },
		{ "pin of a small folio, fits", "o0@100", BIAS, 1, FOLL_PIN, true },
		{ "pin of a small folio, one too many", "o0@100", BIAS - 1, 1, FOLL_PIN, false },
		{ "pin of a small folio, full", "o0@100", 0, 1, FOLL_PIN, false },
		{ "longterm pin of a small folio", "o0@100", BIAS - 1, 1, LONGTERM_PIN, false },
		{ "four gets of a small folio, fit", "o0@100", 4, 4, FOLL_GET, true },
		{ "four pins of a small folio, fit", "o0@100", 4 * BIAS, 4, FOLL_PIN, true },
		{ "four pins of a small folio", "o0@100", 4 * BIAS - 1, 4, FOLL_PIN, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cells); i++) {
		int fit = cells[i].granted ? cells[i].refs : 1;
		struct counts was;
		struct bed bed;
		bool got;

		bed_need(&bed, cells[i].layout, NULL);
		bed_folio(0x100)->page.refcount = INT_MAX - cells[i].room;
		was = counts(0x100);
		EXPECT_EQ(ptb_refs_that_fit(bed_folio(0x100), cells[i].refs, cells[i].gup), fit,
			  cells[i].name);

		got = ptb_grab_first(mem_page(0x100), cells[i].refs, cells[i].gup);
		EXPECT(got == cells[i].granted, "%s: first %s", cells[i].name,
		       got ? "granted" : "refused");
		if (got)
			ptb_put(bed_folio(0x100), cells[i].refs, cells[i].gup);
		expect_counts(cells[i].name, 0x100, was, 0, 0, 0);

		got = ptb_grab_more(bed_folio(0x100), cells[i].refs, cells[i].gup);
		EXPECT(got == cells[i].granted, "%s: more %s", cells[i].name,
		       got ? "granted" : "refused");
		if (got)
			ptb_put(bed_folio(0x100), cells[i].refs, cells[i].gup);
		expect_counts(cells[i].name, 0x100, was, 0, 0, 0);
		bed_free(&bed);
	}
}

TEST(grab_more_of_an_overflown_folio_is_refused)
{
	struct counts was;
	struct bed bed;

	bed_need(&bed, "o2@100 refs=-1", NULL);
	was = counts(0x100);
	EXPECT(!ptb_grab_more(bed_folio(0x100), 1, FOLL_GET),
	       "a reference on top of a negative count");
	EXPECT(!ptb_grab_more(bed_folio(0x100), 4, FOLL_PIN), "a pin on top of a negative count");
	expect_counts("refused", 0x100, was, 0, 0, 0);
	bed_free(&bed);
}

TEST(the_last_put_frees)
{
	struct bed bed;

	bed_need(&bed, "o2@100 | o0@200", NULL);
	REQUIRE(ptb_grab_first(mem_page(0x101), 3, FOLL_PIN), "pin refused");
	REQUIRE(ptb_grab_first(mem_page(0x200), 1, FOLL_PIN), "pin refused");
	bed_folio(0x100)->page.refcount--; /* the owner lets go */
	bed_folio(0x200)->page.refcount--;
	ptb_put(bed_folio(0x100), 2, FOLL_PIN);
	EXPECT_EQ(mem.freed, 0, "folios freed under a pin");
	ptb_put(bed_folio(0x100), 1, FOLL_PIN);
	EXPECT_EQ(mem.freed, 1, "folios freed by the last pin");
	ptb_put(bed_folio(0x200), 1, FOLL_PIN);
	EXPECT_EQ(mem.freed, 2, "folios freed by the last pin");
	bed_free(&bed);
}

/* ---- the other side between lookup and reference ---- */

static unsigned int acts_left;

static void split_before_ref(enum raw_op op, const void *where, void *arg)
{
	struct folio *folio = arg;

	(void)where;
	if (op != RAW_TRY_REF || !acts_left)
		return;
	acts_left--;
	mem_split(folio);
}

static void free_before_ref(enum raw_op op, const void *where, void *arg)
{
	struct folio *folio = arg;

	(void)where;
	if (op == RAW_TRY_REF)
		folio->page.refcount = 0;
}

TEST(a_page_split_away_is_found_in_its_own_folio)
{
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN, LONGTERM_PIN };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(gups); i++) {
		int unit = gups[i] & FOLL_PIN ? BIAS : 1;
		struct folio *folio;
		struct bed bed;

		bed_need(&bed, "o3@100", NULL);
		acts_left = 1;
		raw_hooks.script = split_before_ref;
		raw_hooks.arg = bed_folio(0x100);
		folio = ptb_grab_first(mem_page(0x105), 1, gups[i]);
		raw_hooks.script = NULL;
		EXPECT(folio == (struct folio *)mem_page(0x105),
		       "another folio than the page's own");
		EXPECT_EQ(bed_refs(0x105), 1 + unit, "references of the page's own folio");
		EXPECT_EQ(bed_refs(0x100), 1, "references left on what was its head");
		EXPECT_EQ(mem.pins_acquired - mem.pins_released, !!(gups[i] & FOLL_PIN),
			  "pins counted");
		EXPECT_EQ(mem.freed, 0, "folios freed");
		bed_free(&bed);
	}
}

TEST(a_folio_freed_before_the_reference_is_not_grabbed)
{
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN, LONGTERM_PIN };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(gups); i++) {
		struct bed bed;

		bed_need(&bed, "o3@100", NULL);
		raw_hooks.script = free_before_ref;
		raw_hooks.arg = bed_folio(0x100);
		EXPECT(!ptb_grab_first(mem_page(0x105), 3, gups[i]), "a freed folio was grabbed");
		raw_hooks.script = NULL;
		EXPECT_EQ(bed_refs(0x100), 0, "references of the freed folio");
		EXPECT_EQ(bed_pins(0x100), 0, "pins of the freed folio");
		EXPECT_EQ(mem.pins_acquired, 0, "pins counted");
		bed_free(&bed);
	}
}

/* ---- order ---- */

static char accesses[64];

static void note_access(enum raw_op op, const void *where, void *arg)
{
	static const char letters[RAW_NR] = {
		[RAW_TRY_REF] = 'r', [RAW_REF_ADD] = 'a', [RAW_PINCOUNT] = 'p',
		[RAW_MB] = 'B',	     [RAW_RMB] = 'R',	  [RAW_EXCLUSIVE] = 'x'
	};
	size_t n = strlen(accesses);

	(void)where;
	(void)arg;
	if (letters[op] && n < sizeof(accesses) - 1)
		accesses[n] = letters[op];
}

static void
expect_accesses(const char *layout, unsigned long pfn, int refs, unsigned int gup, const char *want)
{
	struct bed bed;

	bed_need(&bed, layout, NULL);
	memset(accesses, 0, sizeof(accesses));
	raw_hooks.script = note_access;
	ptb_grab_first(mem_page(pfn), refs, gup);
	raw_hooks.script = NULL;
	EXPECT(!strcmp(accesses, want), "%s: accesses %s, expected %s", layout, accesses, want);
	bed_free(&bed);
}

/* One add of each counter, however many pages, and the barrier behind the last of them. */
TEST(a_pin_is_ordered_before_what_is_read_under_it)
{
	expect_accesses("o4@100", 0x102, 8, FOLL_GET, "r");
	expect_accesses("o4@100", 0x102, 8, FOLL_PIN, "rpB");
	expect_accesses("o0@100", 0x100, 1, FOLL_PIN, "raB");
	expect_accesses("o4@100", 0x102, 8, LONGTERM_PIN, "rpB");
	expect_accesses("zero@100", 0x100, 1, FOLL_PIN, "");
	expect_accesses("zero@100", 0x100, 1, FOLL_GET, "r");
}

TEST(exclusive_is_read_behind_a_barrier)
{
	struct bed bed;

	bed_need(&bed, "o2@100 ro", NULL);
	memset(accesses, 0, sizeof(accesses));
	raw_hooks.script = note_access;
	EXPECT_EQ(ptb_unshared(NULL, bed_folio(0x100), mem_page(0x100), 4, FOLL_PIN), 4, "pages");
	raw_hooks.script = NULL;
	EXPECT(!strcmp(accesses, "Rxxxx"), "accesses %s, expected Rxxxx", accesses);
	bed_free(&bed);
}
