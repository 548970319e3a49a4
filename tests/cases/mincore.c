// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases 79 and 80: what is in memory though no entry maps it. */
#include "case.h"

/* Of the file, pages 0 and 4 are cached. */
static void map_file(struct bed *bed)
{
	mem.file.nr = 6;
	mem.file.incore = calloc(6, 1);
	mem.file.incore[0] = mem.file.incore[4] = 1;
	bed->mm.vmas[0].mapping = &mem.file;
}

static void map_file_from_3(struct bed *bed)
{
	map_file(bed);
	bed->mm.vmas[0].vm_pgoff = 3;
}

static void cache_swap(struct bed *bed)
{
	(void)bed;
	mem.swap[1].nr = 0x200;
	mem.swap[1].incache = calloc(0x200, 1);
	memset(mem.swap[1].incache + 0x100, 1, 2);
}

/*
 * Poison, migration and device memory are reported as in memory, as the kernel does. Also tried:
 * empty slots, markers in between, an offset of the vma in the file, pages behind the file's end,
 * private entries over a file.
 */
TEST(case_79_marker_is_answered_like_an_empty_slot)
{
	static const struct {
		const char *name, *layout;
		bed_setup setup;
		const char *want;
	} rows[] = {
		{ "markers over a file", "marker*2", map_file, "10" },
		{ "markers over anonymous memory", "marker*2", NULL, "00" },
		{ "what is not there but somewhere", "hwpoison | migration | device-private", NULL,
		  "111" },
		{ "the same over a file", "hwpoison | migration | device-private", map_file,
		  "111" },
		{ "empty over a file", "none*6", map_file, "100010" },
		{ "empty and markers", "none*2 | marker*2 | none*2", map_file, "100010" },
		{ "markers and empty", "marker*2 | none*2 | marker*2", map_file, "100010" },
		{ "into the file", "marker | none | marker | none", map_file_from_3, "0100" },
		{ "present and markers", "o0@100 | marker | o1@102: 0 | marker*2", map_file,
		  "10101" },
		{ "behind the file's end", "none*5 | marker*3", map_file, "10001000" },
		{ "empty over anonymous memory", "none*3 | o0@100", NULL, "0001" },
		{ "swap", "swap 1:100*3 | marker | swap 0:100", cache_swap, "11000" },
		{ "protnone is present", "o2@100 protnone: 0-1 | marker", NULL, "110" },
	};
	unsigned char vec[BED_PAGES];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t nr = strlen(rows[i].want);

		bed_mincore_both(rows[i].layout, rows[i].setup, 0, nr, vec);
		for (j = 0; j < nr; j++)
			EXPECT(vec[j] == rows[i].want[j] - '0', "%s: page %zu reported %s memory",
			       rows[i].name, j, vec[j] ? "in" : "not in");
		EXPECT(vec[nr] == 0xee, "%s: wrote behind the vector", rows[i].name);
	}
}

static void swapoff(struct bed *bed)
{
	cache_swap(bed);
	mem.swap[1].gone = true;
}

/*
 * Also tried: the device there, slots behind its end, another device, several slots, and entries in
 * between.
 */
TEST(case_80_swap_device_is_held_while_it_is_asked)
{
	static const struct {
		const char *name, *layout;
		bed_setup setup;
		const char *want;
		unsigned int looks;
	} rows[] = {
		{ "gone", "swap 1:100", swapoff, "0", 0 },
		{ "gone, several slots", "swap 1:100*4", swapoff, "0000", 0 },
		{ "there", "swap 1:100", cache_swap, "1", 1 },
		{ "there, several slots", "swap 1:ff*4", cache_swap, "0110", 4 },
		{ "behind its end", "swap 1:200", cache_swap, "0", 1 },
		{ "another device gone", "swap 0:100 | swap 1:100", swapoff, "00", 0 },
		{ "in between", "swap 1:100 | o0@100 | swap 1:101 | none", cache_swap, "1110", 2 },
		{ "gone, in between", "swap 1:100 | o0@100 | swap 1:101 | none", swapoff, "0100",
		  0 },
	};
	unsigned char vec[BED_PAGES];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t nr = strlen(rows[i].want);
		struct bed bed;

		bed_mincore_both(rows[i].layout, rows[i].setup, 0, nr, vec);
		for (j = 0; j < nr; j++)
			EXPECT(vec[j] == rows[i].want[j] - '0', "%s: page %zu reported %s memory",
			       rows[i].name, j, vec[j] ? "in" : "not in");

		bed_need(&bed, rows[i].layout, NULL);
		rows[i].setup(&bed);
		user_mincore(&bed.mm, &bed.mm.vmas[0], bed_addr(&bed, 0), bed_addr(&bed, nr), vec,
			     ptb_mincore_ptes);
		EXPECT(mem.swap[1].gets == mem.swap[1].puts,
		       "%s: device got %llu times, put %llu times", rows[i].name,
		       (unsigned long long)mem.swap[1].gets, (unsigned long long)mem.swap[1].puts);
		EXPECT(mem.swap[1].looked == rows[i].looks,
		       "%s: its cache was read %llu times, not %u", rows[i].name,
		       (unsigned long long)mem.swap[1].looked, rows[i].looks);
		bed_free(&bed);
	}
}
