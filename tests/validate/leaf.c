// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GUP-fast on a PMD or PUD leaf: all or nothing, and the leaf is looked at again under the
 * references.
 */
#include "leaf_race.h"

#define NR 24
#define SLOT 7

static char layout[256];

/* One leaf of @words; "small" ones next to it, where a walk may go on. */
static const char *leaf_layout(const char *words)
{
	snprintf(layout, sizeof(layout), "o%d@%lx %s | o2@%lx", PMD_ORDER, FMT_PTES, words,
		 2 * FMT_PTES);
	return layout;
}

TEST(a_leaf_gives_all_pages_or_none)
{
	static const struct {
		const char *words;
		unsigned int gup;
		bool taken;
	} rows[] = {
		{ "pmd", FOLL_GET, true },
		{ "pmd", FOLL_PIN | FOLL_WRITE, true },
		{ "pmd", FOLL_PIN | FOLL_WRITE | FOLL_LONGTERM, true },
		{ "pmd ro", FOLL_GET, true },
		{ "pmd ro", FOLL_GET | FOLL_WRITE, false },
		{ "pmd ro", FOLL_PIN, true },
		{ "pmd ro shared", FOLL_PIN, false },
		{ "pmd ro shared", FOLL_GET, true },
		{ "pmd shared", FOLL_PIN, true },
		{ "pmd special", FOLL_GET, false },
		{ "pmd protnone", FOLL_GET, false },
		{ "pmd kernel", FOLL_GET, false },
		{ "pmd cma", FOLL_PIN, true },
		{ "pmd cma", FOLL_PIN | FOLL_LONGTERM, false },
		{ "pmd refs=0", FOLL_GET, false },
		{ "pmd refs=-2", FOLL_PIN, false },
		{ "pmd refs=2147483624", FOLL_GET, false },
		{ "pmd refs=2147483623", FOLL_GET, true },
		{ "pmd refs=2147483624", FOLL_PIN, false },
		{ "pmd hugetlb ro", FOLL_PIN, true },
		{ "pmd hugetlb ro shared", FOLL_PIN, false },
		{ "pmd file ro", FOLL_PIN, true },
		{ "pmd file ro", FOLL_PIN | FOLL_LONGTERM, false },
		{ "pmd file", FOLL_PIN | FOLL_LONGTERM, true },
		{ "pmd file", FOLL_PIN | FOLL_LONGTERM | FOLL_WRITE, false },
		{ "pmd shmem", FOLL_PIN | FOLL_LONGTERM | FOLL_WRITE, true },
		{ "pmd device special devmap", FOLL_GET, false },
		{ "pmd device devmap", FOLL_GET, true },
		{ "pmd device devmap", FOLL_PIN | FOLL_WRITE, true },
		{ "pmd device devmap", FOLL_PIN | FOLL_LONGTERM, false },
		{ "pmd device devmap p2pdma", FOLL_PIN, false },
		{ "pmd device devmap p2pdma", FOLL_PIN | FOLL_PCI_P2PDMA, true },
	};
	size_t i;

	if (!FMT_LEAVES)
		SKIP("no leaves in this format");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		long got;

		if (!bed_can(leaf_layout(rows[i].words)))
			continue;
		got = bed_gup_both(layout, NULL, NULL, SLOT, NR, rows[i].gup);
		EXPECT(got == (rows[i].taken ? NR : 0), "%s, flags 0x%x: %ld pages of %d",
		       rows[i].words, rows[i].gup, got, NR);
	}
}

/* Out of one leaf into a table, and the other way round. */
TEST(a_walk_goes_on_behind_a_leaf)
{
	char text[256];

	leaf_layout("pmd");
	EXPECT_EQ(bed_gup_both(layout, NULL, NULL, FMT_PTES - 5, 9, FOLL_PIN), 9, "pages");
	EXPECT_EQ(bed_gup_both(layout, NULL, NULL, FMT_PTES - 5, 15, FOLL_PIN), 9,
		  "pages, then a hole");
	snprintf(text, sizeof(text), "at %lu | o3@%lx | o%d@%lx pmd", FMT_PTES - 8, 4 * FMT_PTES,
		 PMD_ORDER, FMT_PTES);
	EXPECT_EQ(bed_gup_both(text, NULL, NULL, FMT_PTES - 6, 20, FOLL_GET), 20, "pages");
}

TEST(a_pud_leaf_is_taken_across_pmds_and_sections)
{
	const struct build_opts opts = { .section_pages = 256, .no_vmemmap = true };
	const unsigned int order = FMT_PUD_SHIFT - PTB_PAGE_SHIFT;
	char text[64];

	if (order > 18)
		SKIP("a PUD maps more than a layout can say");
	snprintf(text, sizeof(text), "o%u@%lx hugetlb pud", order, 1UL << order);
	EXPECT_EQ(bed_gup_both(text, &opts, NULL, 2 * FMT_PTES + 5, 900, FOLL_PIN | FOLL_WRITE),
		  900, "pages");
	EXPECT_EQ(bed_gup_both(text, &opts, NULL, (1UL << order) - 10, 10, FOLL_GET), 10, "pages");
}

/* ---- the leaf changes ---- */

static void race(const char *words, size_t a, unsigned int gup)
{
	char what[64];

	now.act = leaf_acts[a].act;
	snprintf(what, sizeof(what), "%s: %s at access %u", words, leaf_acts[a].name, now.at);
	leaf_race(leaf_layout(words), SLOT, NR, gup, what);
}

TEST(a_leaf_that_changes_is_let_go)
{
	static const char *const words[] = { "pmd", "pmd ro", "pmd devmap device" };
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN, FOLL_PIN | FOLL_WRITE };
	size_t w, g, a;

	if (!FMT_LEAVES)
		SKIP("no leaves in this format");
	for (w = 0; w < ARRAY_SIZE(words); w++) {
		if (!bed_can(leaf_layout(words[w])))
			continue;
		for (g = 0; g < ARRAY_SIZE(gups); g++)
			for (a = 0; a < ARRAY_SIZE(leaf_acts); a++)
				for (now.at = 0; now.at < 24; now.at++)
					race(words[w], a, gups[g]);
	}
}
