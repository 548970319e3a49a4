// SPDX-License-Identifier: GPL-2.0-only
/* The memory that all act on. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"

/* clang-format off */
struct area areas[] = {
	{ .name = "4k",           .nr = 1024, .kinds = ANON },
	{ .name = "64k",          .nr = 1024, .kinds = ANON | COLLAPSED },
	{ .name = "2M",           .nr = 2048, .kinds = ANON | COLLAPSED },
	{ .name = "4k kept",      .nr = 1024, .kinds = ANON | KEPT | MERGED },
	{ .name = "64k kept",     .nr = 1024, .kinds = ANON | KEPT | COLLAPSED },
	{ .name = "2M kept",      .nr = 2048, .kinds = ANON | KEPT | COLLAPSED },
	{ .name = "shmem",        .nr = 1024, .kinds = FILE_SHMEM | COLLAPSED },
	{ .name = "file",         .nr = 1024, .kinds = FILE_SHARED },
	{ .name = "private file", .nr = 1024, .kinds = FILE_PRIVATE },
};
/* clang-format on */

const unsigned int nr_areas = ARRAY_SIZE(areas);

void areas_open(void)
{
	unsigned int i;

	for (i = 0; i < nr_areas; i++) {
		areas[i].fd = -1;
		if (!(areas[i].kinds & (FILE_SHARED | FILE_PRIVATE)))
			continue;
		areas[i].fd = disk_file(areas[i].nr * PAGE);
		if (areas[i].fd >= 0 && fsync(areas[i].fd))
			die("cannot write a file on /mnt: %s", strerror(errno));
	}
}

static void map_over(struct area *area, int flags)
{
	if (mmap(area->p, area->nr * PAGE, PROT_READ | PROT_WRITE, flags | MAP_FIXED, area->fd,
		 0) == MAP_FAILED)
		die("mmap: %s", strerror(errno));
}

/* Addresses alone: what is mapped there is replaced, and nothing else comes there. */
static char *reserve(size_t size)
{
	char *p = map_anon(size);

	mprotect(p, size, PROT_NONE);
	return p;
}

static void area_map(struct area *area)
{
	size_t size = area->nr * PAGE;
	pthread_rwlockattr_t attr;

	if ((area->kinds & (FILE_SHARED | FILE_PRIVATE)) && area->fd < 0)
		return;
	area->twin = reserve(size + PMD_SIZE);
	area->p = map_anon(size);
	if (area->kinds & FILE_SHMEM)
		map_over(area, MAP_SHARED | MAP_ANONYMOUS);
	if (area->kinds & FILE_SHARED)
		map_over(area, MAP_SHARED);
	if (area->kinds & FILE_PRIVATE)
		map_over(area, MAP_PRIVATE);

	if (area->nr == MAX_NR)
		madvise(area->p, size, MADV_HUGEPAGE);
	if (!(area->kinds & COLLAPSED))
		madvise(area->p, size, MADV_NOHUGEPAGE);
	if (area->kinds & MERGED)
		madvise(area->p, size, MADV_MERGEABLE);
	touch(area->p, size);

	/* Else who writes, mostly mremap, never gets it. */
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&area->lock, &attr);
}

void areas_map(void)
{
	unsigned int i;

	/* 64k for all who ask for nothing, 2M for those who do. */
	file_put(THP "enabled", "never");
	thp_sizes("shmem_enabled", 64);
	thp_sizes("enabled", 64);
	file_put(THP "hugepages-2048kB/enabled", "madvise");
	for (i = 0; i < nr_areas; i++)
		area_map(&areas[i]);
}

void areas_unmap(void)
{
	unsigned int i;

	for (i = 0; i < nr_areas; i++) {
		if (!areas[i].p)
			continue;
		munmap(areas[i].p, areas[i].nr * PAGE);
		munmap(areas[i].twin, areas[i].nr * PAGE + PMD_SIZE);
		if (areas[i].fd >= 0)
			close(areas[i].fd);
	}
}

static __thread uint64_t state;

void random_seed(unsigned int seed)
{
	state = seed * 0x9e3779b97f4a7c15ULL;
}

unsigned int random_below(unsigned int limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 32) % limit;
}

void pause_below(unsigned int usec)
{
	if (random_below(2))
		usleep(random_below(usec));
}

struct piece piece_of(unsigned int kinds, unsigned int none_of)
{
	static const unsigned int nrs[] = { 1, 1, 3, 16, 16, 64, 512, MAX_NR };
	struct piece piece;
	unsigned int first;

	do {
		piece.area = &areas[random_below(nr_areas)];
	} while (!piece.area->p || (piece.area->kinds & kinds) != kinds ||
		 piece.area->kinds & none_of);
	piece.nr = nrs[random_below(ARRAY_SIZE(nrs))];
	if (piece.nr > piece.area->nr)
		piece.nr = piece.area->nr;
	first = random_below(piece.area->nr - piece.nr + 1);
	/* Half of them where folios of that size begin. */
	if (random_below(2))
		first -= first % piece.nr;
	piece.p = piece.area->p + first * PAGE;
	return piece;
}
