// SPDX-License-Identifier: GPL-2.0-only
/* When all is over: is every count what it should be, has all memory come back? */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/swap.h>
#include <unistd.h>

#include "stress.h"

/* Of /proc/kpageflags. */
#define ANON_PAGE (1ULL << 12)
#define HEAD (1ULL << 15)
#define TAIL (1ULL << 16)
#define ZERO_PAGE (1ULL << 24)
#define PRIVATE (1ULL << 35)

#define PER_PMD ((unsigned int)(PMD_SIZE / PAGE))

bool swap_is_on(void)
{
	static int on = -1;

	/* As it was in the beginning, for the report at the end. */
	if (on < 0)
		on = file_field("/proc/meminfo", "SwapTotal:") > 0;
	return on;
}

static long vmstat(const char *name)
{
	char key[64];
	long value;

	snprintf(key, sizeof(key), "%s ", name);
	value = file_field("/proc/vmstat", key);
	if (value < 0)
		die("/proc/vmstat has no %s", name);
	return value;
}

/* What CPUs keep to themselves goes to the common counters. */
static void settle(void)
{
	gup_counts(NULL, 0);
	file_put("/proc/sys/vm/stat_refresh", "1");
}

/*
 * Pages on the LRU lists that are neither of a file nor mapped as anonymous: somebody has
 * forgotten a reference, and they are nobody's any more.
 */
static long lost_pages(void)
{
	settle();
	return vmstat("nr_inactive_anon") + vmstat("nr_active_anon") + vmstat("nr_inactive_file") +
	       vmstat("nr_active_file") + vmstat("nr_unevictable") - vmstat("nr_file_pages") -
	       vmstat("nr_anon_pages");
}

static const char *const users[] = { "nr_anon_pages", "nr_shmem", "nr_mapped", "nr_mlock" };
static long used[ARRAY_SIZE(users)], lost, free_pages;

static void drop_caches(void)
{
	sync();
	file_put("/proc/sys/vm/drop_caches", "3");
	settle();
}

void after_remember(void)
{
	unsigned int i;

	swap_is_on();
	drop_caches();
	for (i = 0; i < ARRAY_SIZE(users); i++)
		used[i] = vmstat(users[i]);
	lost = lost_pages();
	free_pages = vmstat("nr_free_pages");
}

/* ---- while it is mapped: a reference for each who has one, and no more ---- */

struct folio {
	uint64_t head;
	unsigned int nr;
	uint64_t flags;
};

static void flags_read(uint64_t frame, uint64_t *flags, unsigned int nr)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, flags, nr * 8UL, frame * 8) != (ssize_t)(nr * 8UL))
		die("cannot read kpageflags: %s", strerror(errno));
}

static struct folio folio_of(uint64_t frame)
{
	static uint64_t flags[PER_PMD], base = -1ULL;
	struct folio folio = { .head = frame, .nr = 1 };
	unsigned int at = frame % PER_PMD;

	flags_read(frame, &folio.flags, 1);
	if (!(folio.flags & (HEAD | TAIL)))
		return folio;
	/* It is aligned to its size. */
	if (base != frame - at) {
		base = frame - at;
		flags_read(base, flags, PER_PMD);
	}
	while (at && flags[at] & TAIL)
		at--;
	folio.head = base + at;
	folio.flags |= flags[at];
	while (at + folio.nr < PER_PMD && flags[at + folio.nr] & TAIL)
		folio.nr++;
	return folio;
}

static bool count_is_right(const struct area *area, const struct folio *folio, unsigned int mapped,
			   const struct ptb_test_count *count, bool say)
{
	/* The page cache has one a page, buffers have one. */
	int want = mapped + (folio->flags & ANON_PAGE ? 0 : folio->nr) + !!(folio->flags & PRIVATE);

	if (count->refs == want && count->pins <= 0)
		return true;
	if (say)
		wrong("%s: frame %#llx of %u, flags %#llx: %d references, should be %d; pins %d",
		      area->name, (unsigned long long)count->pfn, folio->nr,
		      (unsigned long long)folio->flags, count->refs, want, count->pins);
	return false;
}

/* How many pages there are whose counts are not right. */
static unsigned int check_area(const struct area *area, bool say, unsigned long *looked_at)
{
	static struct ptb_test_count counts[MAX_NR];
	static struct folio folios[MAX_NR];
	static uint64_t frames[MAX_NR];
	static bool pmd[MAX_NR / 512];
	unsigned int i, k, mapped, bad = 0;

	for (i = 0; i < area->nr; i += PER_PMD)
		pmd[i / PER_PMD] = pmd_mapped(area->p + i * PAGE, PMD_SIZE) == PMD_SIZE;
	frames_read(area->p, area->nr, frames);
	for (i = 0; i < area->nr; i++) {
		counts[i].pfn = frames[i];
		if (frames[i])
			folios[i] = folio_of(frames[i]);
	}
	gup_counts(counts, area->nr);

	for (i = 0; i < area->nr; i++) {
		if (!frames[i] || folios[i].flags & ZERO_PAGE)
			continue;
		for (mapped = 0, k = 0; k < area->nr; k++) {
			/* A PMD has one for all. */
			if (frames[k] && folios[k].head == folios[i].head &&
			    (!pmd[k / PER_PMD] || k % PER_PMD == 0))
				mapped++;
		}
		++*looked_at;
		if (!count_is_right(area, &folios[i], mapped, &counts[i], say && bad < 3))
			bad++;
	}
	return bad;
}

void after_check_counts(void)
{
	unsigned int a, tries, bad;
	unsigned long looked_at;
	long acquired, released;

	/* What is in swap comes back, and no page is left in its cache. */
	if (swap_is_on()) {
		if (swapoff("/dev/nullb0") || file_field("/proc/meminfo", "SwapTotal:"))
			wrong("swapoff: %s", strerror(errno));
		done("all comes back from swap");
	} else {
		skip("no swap", "all comes back from swap");
	}

	for (a = 0; a < nr_areas; a++) {
		if (!areas[a].p) {
			skip("no ext2 on /mnt", "%s: every count is back", areas[a].name);
			continue;
		}
		/* The kernel's threads may hold a page for a moment yet. */
		for (tries = 0; tries < 50; tries++) {
			looked_at = 0;
			bad = check_area(&areas[a], tries == 49, &looked_at);
			if (!bad)
				break;
			usleep(100000);
		}
		printf("# %s: %lu pages looked at, %u times\n", areas[a].name, looked_at,
		       tries + 1);
		if (bad)
			wrong("%u pages in all", bad);
		if (!looked_at && !(areas[a].kinds & FILE_SHMEM))
			wrong("no page is mapped");
		done("%s: every count is back", areas[a].name);
	}

	settle();
	acquired = vmstat("nr_foll_pin_acquired");
	released = vmstat("nr_foll_pin_released");
	printf("# pins acquired %ld, released %ld\n", acquired, released);
	if (acquired != released || !acquired)
		wrong("that is not the same, or none");
	done("as many pins released as acquired");
}

/* ---- when nothing is mapped any more ---- */

/* Of other programs, and of counters that are brought together only now and then. */
#define NEAR 256

void after_check_freed(void)
{
	unsigned int i, tries;
	long now = 0, nr;

	for (tries = 0; tries < 50; tries++) {
		drop_caches();
		now = lost_pages();
		if (now == lost)
			break;
		usleep(100000);
	}
	printf("# on LRU lists without owner: %ld before, %ld now\n", lost, now);
	if (now != lost)
		wrong("pages are lost");
	done("no page has outlived its last owner");

	for (i = 0; i < ARRAY_SIZE(users); i++) {
		nr = vmstat(users[i]);
		printf("# %s %ld before, %ld now\n", users[i], used[i], nr);
		if (nr > used[i] + NEAR)
			wrong("%s is not back", users[i]);
	}
	printf("# nr_free_pages %ld before, %ld now\n", free_pages, vmstat("nr_free_pages"));
	done("memory in use is what it was before");
}
