// SPDX-License-Identifier: GPL-2.0-only
/* Those who get and pin, who ask, and who write. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"

#define CHECKED 64 /* pages of a pin that are looked at */

static struct {
	unsigned long calls, pages;
} taken[ARRAY_SIZE(gup_modes)];

static unsigned long mincores, writes;

/* ---- GUP ---- */

/* The frame, as soon as the page is neither in migration nor on its way from swap. */
static uint64_t frame_of(char *p)
{
	uint64_t frame = 0;
	unsigned int tries;

	for (tries = 0; !frame && tries < 10000; tries++) {
		/* Where nobody looks, and always the same. */
		*(volatile char *)(p + 64) = 0;
		frames_read(p, 1, &frame);
		if (!frame)
			sched_yield();
	}
	return frame;
}

/*
 * Private memory that is pinned, if only to read, stays the page that its owner writes to: neither
 * fork nor KSM, swap, migration or a collapse may come in between.
 */
static void
check_pinned(struct piece piece, const uint64_t *frames, unsigned int nr, const char *mode)
{
	unsigned int i = nr > CHECKED ? random_below(nr - CHECKED) : 0;
	unsigned int end = nr > CHECKED ? i + CHECKED : nr;
	uint64_t frame;

	pthread_rwlock_rdlock(&piece.area->lock);
	for (; i < end; i++) {
		frame = frame_of(piece.p + i * PAGE);
		if (frame == frames[i])
			continue;
		violated("%s, %s: page %zu is frame %#llx, pinned is %#llx", piece.area->name, mode,
			 (piece.p - piece.area->p) / PAGE + i, (unsigned long long)frame,
			 (unsigned long long)frames[i]);
		break;
	}
	pthread_rwlock_unlock(&piece.area->lock);
}

static void gup_once(int fd, struct piece piece, unsigned int mode)
{
	static __thread uint64_t frames[MAX_NR];
	unsigned int flags = gup_modes[mode].flags;
	int ret = gup_hold(fd, piece.p, piece.nr, flags, frames);

	/* It is one moment's truth: any number of pages, or an error. */
	if (ret <= 0)
		return;
	count_up(&taken[mode].calls, 1);
	count_up(&taken[mode].pages, ret);
	if (!random_below(8))
		usleep(random_below(20000));
	if ((piece.area->kinds & KEPT) && (flags & PTB_TEST_PIN))
		check_pinned(piece, frames, ret, gup_modes[mode].name);
	ioctl(fd, PTB_TEST_RELEASE);
}

void *thread_gup(void *unused)
{
	int fd = gup_open();

	(void)unused;
	while (!stopped())
		gup_once(fd, piece_of(0, 0), random_below(ARRAY_SIZE(gup_modes)));
	close(fd);
	return NULL;
}

void walk_as_child(struct piece piece)
{
	gup_once(gup_open(), piece, random_below(ARRAY_SIZE(gup_modes)));
}

/* ---- mincore ---- */

#define UNTOUCHED 0xa5

static void mincore_once(struct piece piece)
{
	static __thread unsigned char vec[MAX_NR + 16];
	unsigned int i;

	memset(vec, UNTOUCHED, piece.nr + 16);
	if (mincore(piece.p, piece.nr * PAGE, vec))
		return;
	for (i = 0; i < piece.nr + 16; i++) {
		if (i < piece.nr ? vec[i] <= 1 : vec[i] == UNTOUCHED)
			continue;
		violated("%s: byte %u of mincore of %u pages is %#x", piece.area->name, i, piece.nr,
			 vec[i]);
		break;
	}
	count_up(&mincores, 1);
}

void *thread_mincore(void *unused)
{
	(void)unused;
	while (!stopped())
		mincore_once(piece_of(0, 0));
	return NULL;
}

/* ---- the owner, who writes, and knows what it wrote ---- */

/*
 * Few different ones, for KSM to find pages alike. Never 0: when a folio is split, a page of zeros
 * gives way to the zero page, and that, pinned to read, does not see what its owner writes.
 */
static unsigned char written[16][MAX_NR];

static volatile unsigned long *word(struct area *area, unsigned int i, bool last)
{
	return (unsigned long *)(area->p + i * PAGE + (last ? PAGE - sizeof(long) : 0));
}

static void expect_page(struct area *area, unsigned int i)
{
	unsigned long first = *word(area, i, false), last = *word(area, i, true);
	unsigned char want = written[area - areas][i];

	if (first != want || last != want)
		violated("%s: page %u has %#lx and %#lx, written was %#x", area->name, i, first,
			 last, want);
}

static void write_page(struct area *area, unsigned int i)
{
	unsigned char *value = &written[area - areas][i];

	*value = *value % 4 + 1;
	*word(area, i, false) = *value;
	*word(area, i, true) = *value;
}

void kept_start(void)
{
	unsigned int a, i;

	for (a = 0; a < nr_areas; a++) {
		for (i = 0; i < areas[a].nr && (areas[a].kinds & KEPT); i++)
			write_page(&areas[a], i);
	}
}

void kept_check(void)
{
	unsigned int a, i;

	for (a = 0; a < nr_areas; a++) {
		for (i = 0; i < areas[a].nr && (areas[a].kinds & KEPT); i++)
			expect_page(&areas[a], i);
	}
}

void *thread_write(void *unused)
{
	struct piece piece;
	unsigned int first, i;

	(void)unused;
	while (!stopped()) {
		piece = piece_of(0, 0);
		first = (piece.p - piece.area->p) / PAGE;
		pthread_rwlock_rdlock(&piece.area->lock);
		for (i = 0; i < piece.nr && i < 32; i++) {
			if (piece.area->kinds & KEPT)
				expect_page(piece.area, first + i);
			write_page(piece.area, first + i);
		}
		pthread_rwlock_unlock(&piece.area->lock);
		count_up(&writes, i);
		pause_below(1000);
	}
	return NULL;
}

bool walkers_all_did(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(taken); i++) {
		if (!taken[i].pages)
			return false;
	}
	return mincores && writes;
}

void walkers_report(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(taken); i++) {
		printf("# %s: %lu pages in %lu calls\n", gup_modes[i].name, taken[i].pages,
		       taken[i].calls);
		if (!taken[i].pages)
			wrong("%s: no page was taken", gup_modes[i].name);
	}
	printf("# mincore: %lu calls\n# written: %lu pages\n", mincores, writes);
	if (!mincores || !writes)
		wrong("mincore: %lu calls, %lu pages written", mincores, writes);
	done("pages were taken in all ways, asked for and written");
}
