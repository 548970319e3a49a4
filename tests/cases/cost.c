// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases 83 to 89: what a walk may cost, counted in accesses, never in time. */
#include "case.h"

#define SMALL 1000
/* As many of them as surely lie in one table. */
#define IN_TABLE (FMT_PTES < 512 ? FMT_PTES : 512)

static struct page *pages[BED_PAGES];

/* 1000 small folios with consecutive frames, over as many tables as it takes. */
static void small_pages(struct bed *bed)
{
	static const struct build_opts opts = { .nr_pages = 0x800 + SMALL,
						.spare = SMALL / FMT_PTES };
	unsigned int i;

	bed_need(bed, "none", &opts);
	for (i = 0; i < SMALL; i++) {
		mem_folio(0x800 + i, 0, FOLIO_ANON);
		mem_page(0x800 + i)->flags |= PG_anon_exclusive;
	}
	mm_set_run(&bed->mm, bed_addr(bed, 0), 0x800, SMALL, A_WRITE | A_YOUNG);
	memset(raw_hooks.count, 0, sizeof(raw_hooks.count));
}

/* One step of mremap, which must not look at a folio before an entry says that it pays. */
static unsigned int move_step(ptb_pte_t *ptep, unsigned int max_nr)
{
	ptb_pte_t pte = ptb_ptep_get(ptep, PTB_FOR_SET);
	struct folio *folio;

	if (max_nr == 1 || ptb_pte_hint(ptep, pte) == 1)
		return 1;
	folio = ptb_page_folio(ptb_pfn_page(ptb_pte_pfn(pte)));
	return ptb_scan_folio(folio, NULL, ptep, &pte, max_nr, PTB_FOR_SET);
}

static unsigned int move(struct bed *bed, unsigned long nr)
{
	unsigned long done;
	unsigned int steps = 0;

	for (done = 0; done < nr; steps++)
		done += move_step(bed_ptep(bed, done),
				  ptb_max_nr(bed_addr(bed, done), bed_addr(bed, nr)));
	return steps;
}

/*
 * Also tried: the scans that need no folio, mincore; blocks, of which each folio is looked up once.
 */
TEST(case_83_no_folio_is_looked_up_for_small_pages)
{
	unsigned char vec[SMALL];
	struct bed bed;
	ptb_pte_t pte;

	small_pages(&bed);
	EXPECT_EQ(move(&bed, SMALL), SMALL, "steps over small pages");
	EXPECT_EQ(raw_hooks.count[RAW_FOLIO], 0, "folio lookups to move small pages");
	pte = ptb_ptep_get(bed_ptep(&bed, 0), PTB_FOR_LOOK);
	EXPECT_EQ(ptb_scan(bed_ptep(&bed, 0), &pte, 0x800 + SMALL, IN_TABLE, PTB_FOR_LOOK),
		  IN_TABLE, "entries");
	EXPECT_EQ(ptb_scan_present(bed_ptep(&bed, 0), pte, IN_TABLE), IN_TABLE, "present entries");
	user_mincore(&bed.mm, &bed.mm.vmas[0], bed_addr(&bed, 0), bed_addr(&bed, SMALL), vec,
		     ptb_mincore_ptes);
	EXPECT_EQ(raw_hooks.count[RAW_FOLIO], 0, "folio lookups to look at entries");
	bed_free(&bed);

	if (FMT_CONT == 1)
		return;
	bed_need(&bed, "o9@400 cont | o5@800 cont | o5@820 cont", NULL);
	EXPECT_EQ(move(&bed, 512 + 64), 3, "steps over blocks");
	EXPECT_EQ(raw_hooks.count[RAW_FOLIO], 3, "folio lookups to move blocks of three folios");
	bed_free(&bed);
}

/*
 * The sum named there is not computed in a way that could be counted; the looks at entries are.
 * Also tried: present and empty in turn, where a run's end is looked at twice, nothing but empty
 * slots, blocks, of which one entry is looked at.
 */
TEST(case_85_mincore_looks_at_a_small_page_once)
{
	unsigned char vec[SMALL];
	struct bed bed;
	unsigned int i;

	small_pages(&bed);
	user_mincore(&bed.mm, &bed.mm.vmas[0], bed_addr(&bed, 0), bed_addr(&bed, SMALL), vec,
		     ptb_mincore_ptes);
	/* What a run begins with in each table may be looked at again with its line. */
	EXPECT(raw_hooks.count[RAW_PTE] >= SMALL &&
		       raw_hooks.count[RAW_PTE] <= SMALL + (SMALL + FMT_PTES - 1) / FMT_PTES,
	       "%llu looks at 1000 entries", (unsigned long long)raw_hooks.count[RAW_PTE]);

	for (i = 0; i < SMALL; i += 2)
		pte_set(bed_ptep(&bed, i), fmt_mk(FMT_NONE));
	memset(raw_hooks.count, 0, sizeof(raw_hooks.count));
	user_mincore(&bed.mm, &bed.mm.vmas[0], bed_addr(&bed, 0), bed_addr(&bed, SMALL), vec,
		     ptb_mincore_ptes);
	EXPECT(raw_hooks.count[RAW_PTE] < 2 * SMALL, "%llu looks at 1000 runs of one entry",
	       (unsigned long long)raw_hooks.count[RAW_PTE]);

	for (i = 0; i < SMALL; i++)
		pte_set(bed_ptep(&bed, i), fmt_mk(FMT_NONE));
	memset(raw_hooks.count, 0, sizeof(raw_hooks.count));
	user_mincore(&bed.mm, &bed.mm.vmas[0], bed_addr(&bed, 0), bed_addr(&bed, SMALL), vec,
		     ptb_mincore_ptes);
	/* The first of a run of empty ones is looked at by the walk alone. */
	EXPECT_EQ(raw_hooks.count[RAW_PTE], SMALL, "looks at 1000 empty entries");
	bed_free(&bed);

	if (FMT_CONT == 1)
		return;
	bed_need(&bed, "o9@400 cont", NULL);
	user_mincore(&bed.mm, &bed.mm.vmas[0], bed_addr(&bed, 0), bed_addr(&bed, 512), vec,
		     ptb_mincore_ptes);
	EXPECT_EQ(raw_hooks.count[RAW_PTE], 512 / FMT_CONT, "looks at 512 entries in blocks");
	bed_free(&bed);
}

/*
 * Also tried: each access of the walk, not only lookups: none may be more than the walk page by
 * page makes, but for one look at the folio's flags, without which no run could ever be found.
 */
TEST(case_85_small_page_costs_no_more_than_page_by_page)
{
	static const char *const ops[RAW_NR] = {
		[RAW_PTE] = "plain reads",
		[RAW_PTE_LOCKLESS] = "lockless reads",
		[RAW_PMD] = "upper reads",
		[RAW_FOLIO] = "folio lookups",
		[RAW_TRY_REF] = "grabs",
		[RAW_REF_ADD] = "adds",
		[RAW_REF_PUT] = "puts",
		[RAW_PINCOUNT] = "pincount updates",
		[RAW_STAT] = "statistics",
		[RAW_MB] = "barriers",
		[RAW_RMB] = "read barriers",
		[RAW_EXCLUSIVE] = "exclusive reads",
		[RAW_FLAG] = "flag writes",
		[RAW_SEQ] = "sequence reads",
		[RAW_READ] = "reads of counts and flags",
		[RAW_PREFETCH] = "pages asked for ahead",
	};
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN, FOLL_PIN | FOLL_WRITE };
	u64 batched[RAW_NR];
	struct bed bed;
	size_t g;
	int op;

	for (g = 0; g < ARRAY_SIZE(gups); g++) {
		small_pages(&bed);
		EXPECT_EQ(bed_gup(&bed, 0, SMALL, gups[g], pages), SMALL, "pages");
		memcpy(batched, raw_hooks.count, sizeof(batched));
		bed_free(&bed);
		small_pages(&bed);
		EXPECT_EQ(bed_gup_with(&bed, 0, SMALL, gups[g], pages, &reference_gup), SMALL,
			  "pages");
		for (op = 0; op < RAW_NR; op++)
			EXPECT(batched[op] <=
				       raw_hooks.count[op] +
					       (op == RAW_READ || op == RAW_PREFETCH ? SMALL : 0),
			       "%llu %s for 1000 small pages, page by page %llu",
			       (unsigned long long)batched[op], ops[op],
			       (unsigned long long)raw_hooks.count[op]);
		bed_free(&bed);
	}
}

/*
 * Also tried: a get, blocks, several runs, part of a folio, one page of it, a leaf, and to give
 * back.
 */
TEST(case_87_shared_counters_are_written_once_or_twice_a_run)
{
	static const struct {
		const char *layout;
		unsigned long nr;
		unsigned int runs, most; /* most: updates of one counter in all */
	} rows[] = {
		{ "o4@200", 16, 1, 1 },
		{ BLOCK, BLOCK_PAGES, 1, 1 },
		{ "o$o@$0", FMT_PTES, 1, 1 },
		/* The first run ends before its folio: what was guessed goes back. */
		{ "o4@200: 3-9 | o2@300 | o4@210", 27, 3, 4 },
		{ "o4@200: 3", 1, 1, 1 },
		{ "o$o@$0 pmd", FMT_PTES, 1, 1 },
		{ "at $t-8 | o4@200", 16, 2, 2 },
	};
	static const unsigned int gups[] = { FOLL_GET, FOLL_PIN };
	static const enum raw_op once[] = { RAW_TRY_REF, RAW_MB, RAW_FLAG, RAW_STAT };
	size_t i, g, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (g = 0; g < ARRAY_SIZE(gups); g++) {
			unsigned long slot = strstr(rows[i].layout, "at $t-8") ? FMT_PTES - 8 : 0;
			struct bed bed;
			u64 *n = raw_hooks.count;

			if (!bed_make(&bed, rows[i].layout, NULL))
				continue;
			EXPECT(bed_gup(&bed, slot, rows[i].nr, gups[g], pages) == rows[i].nr,
			       "%s: not all pages were had", rows[i].layout);
			for (j = 0; j < ARRAY_SIZE(once); j++)
				EXPECT(n[once[j]] <= rows[i].runs,
				       "%s: %llu of access %d, for %u runs", rows[i].layout,
				       (unsigned long long)n[once[j]], once[j], rows[i].runs);
			EXPECT(n[RAW_TRY_REF] + n[RAW_REF_ADD] + n[RAW_REF_PUT] <= rows[i].most,
			       "%s: %llu, %llu and %llu updates of reference counts",
			       rows[i].layout, (unsigned long long)n[RAW_TRY_REF],
			       (unsigned long long)n[RAW_REF_ADD],
			       (unsigned long long)n[RAW_REF_PUT]);
			EXPECT(n[RAW_PINCOUNT] <= rows[i].most, "%s: %llu updates of a pin count",
			       rows[i].layout, (unsigned long long)n[RAW_PINCOUNT]);
			bed_free(&bed);
		}
}

static u64 engine_calls;

/* 512 frames a call, as from folios of that size, without their memory. */
static long folio_engine(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
			 unsigned long *pfn, struct vfio_batch *batch)
{
	(void)batch;
	engine_calls++;
	EXPECT(mem.relaxed >= engine_calls, "engine call %llu without letting others run",
	       (unsigned long long)engine_calls);
	*pfn = ULONG_MAX / 16 + 1 + ((vaddr - dma->vaddr) >> PTB_PAGE_SHIFT);
	return npage < 512 ? npage : 512;
}

/* Also tried: real folios as large as a table, in full batches and in small ones. */
TEST(case_89_others_may_run_between_calls_of_the_engine)
{
	static const int capacities[] = { 512, 64, 1 };
	const long nr = 3 * FMT_PTES;
	struct vfio_batch batch = { .pages = pages, .capacity = 512 };
	unsigned long pfn;
	struct bed bed;
	size_t i;

	bed_need(&bed, "none", NULL);
	EXPECT_EQ(ptb_vfio_pin(&(struct vfio_dma){ .mm = &bed.mm, .engine = folio_engine }, 0,
			       1 << 15, &pfn, 0, &batch),
		  1 << 15, "frames");
	EXPECT_EQ(engine_calls, 64, "engine calls");
	EXPECT_EQ(mem.relaxed, 64, "times that others could run");
	bed_free(&bed);

	for (i = 0; i < ARRAY_SIZE(capacities); i++) {
		struct vfio_dma dma = { .mm = &bed.mm };

		batch.capacity = capacities[i];
		bed_need(&bed, "o$o@$0" LEAF " | o$o@$1" LEAF " | o$o@$2", NULL);
		dma.vaddr = bed_addr(&bed, 0);
		EXPECT_EQ(ptb_vfio_pin(&dma, dma.vaddr, nr, &pfn, nr, &batch), nr, "pages");
		EXPECT_EQ(mem.relaxed, (nr + capacities[i] - 1) / capacities[i],
			  "times that others could run");
		ptb_vfio_unpin(&dma, 0, pfn, nr, true);
		case_untouched(&bed, "three folios");
		bed_free(&bed);
	}
}
