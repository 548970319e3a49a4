// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The same memory in larger folios: only whole blocks of one kind and one set of rights move. */
#include "bed.h"

#include "whatif.h"

#define MAX 64

/* Pages of a vma from page 512 on, one a letter: a anon, f file, r anon and read-only, . none */
static struct snapshot
make(const char *pages, struct snap_vma *vma, struct snap_run *runs, struct snap_folio *folios)
{
	struct snapshot s = { .vmas = vma,
			      .nr_vmas = 1,
			      .runs = runs,
			      .folios = folios,
			      .nr_frames = 1024,
			      .page_shift = 12 };
	size_t i;

	for (i = 0; pages[i]; i++) {
		bool none = pages[i] == '.';

		/* Every other frame, so that nothing lies together by itself. */
		runs[i] = (struct snap_run){ .nr = 1,
					     .frame = none ? 0 : 512 + 2 * i,
					     .type = none ? SNAP_NONE : SNAP_PRESENT,
					     .bits = pages[i] == 'r' ? 0 : SNAP_WRITE };
		if (!none)
			folios[s.nr_folios++] =
				(struct snap_folio){ .frame = 512 + 2 * i,
						     .kind = pages[i] == 'f' ? SNAP_FILE
									     : SNAP_ANON };
	}
	s.nr_runs = i;
	*vma = (struct snap_vma){ .page = 512, .nr_pages = i, .nr_runs = i };
	return s;
}

static u64 present_pages(const struct snapshot *s)
{
	u64 pages = 0;
	size_t i;

	for (i = 0; i < s->nr_runs; i++)
		pages += s->runs[i].type == SNAP_PRESENT ? s->runs[i].nr : 0;
	return pages;
}

TEST(only_whole_blocks_move_into_larger_folios)
{
	static const struct {
		const char *pages;
		u64 moved;
	} rows[] = {
		{ "aaaaaaaaaaaaaaaa", 16 },
		{ "aaaaaaaaaaaaaaa", 0 },
		{ "aaaaaaaaaaaaaaa.", 0 },
		{ ".aaaaaaaaaaaaaaaa", 0 },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 32 },
		{ "aaaaaaaaaaaaaaar", 0 },
		{ "rrrrrrrrrrrrrrrr", 16 },
		{ "aaaaaaaaaaaaaaaf", 0 },
		{ "ffffffffffffffff................aaaaaaaaaaaaaaaa", 32 },
		{ "aaaaaaaaaaaaaaaa..", 16 },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct snap_folio folios[MAX];
		struct snap_run runs[MAX];
		struct snap_vma vma;
		struct snapshot s = make(rows[i].pages, &vma, runs, folios), other;
		u64 moved = 0, pages = 0;

		REQUIRE(!snapshot_what_if(&s, 4, &other, &moved), "no memory");
		EXPECT_EQ(moved, rows[i].moved, rows[i].pages);
		EXPECT_EQ(present_pages(&other), present_pages(&s), "pages present");
		for (k = 0; k < other.nr_runs; k++) {
			const struct snap_run *run = &other.runs[k];
			const struct snap_folio *folio = snapshot_folio(&other, run->frame);

			pages += run->nr;
			if (run->nr == 16 && run->type == SNAP_PRESENT)
				EXPECT(folio && folio->order == 4 && folio->frame == run->frame,
				       "%s: a block is not a folio", rows[i].pages);
		}
		EXPECT_EQ(pages, vma.nr_pages, "pages of the vma");
		snapshot_free(&other);
	}
}
