/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Page cache and swap caches behind a bed, as a seed makes them. */
#ifndef TESTS_VALIDATE_CACHES_H
#define TESTS_VALIDATE_CACHES_H

#include "random.h"

#include "bed.h"

static u64 cache_seed;

/*
 * A file behind the vma, of which the cache holds some; swap caches that hold some, and a device
 * that has gone.
 */
static void make_caches(struct bed *bed)
{
	struct rnd r = { cache_seed };
	unsigned long nr = BED_PAGES, i;
	unsigned int d;

	mem.file.nr = nr - 200; /* the vma is longer than the file */
	mem.file.incore = malloc(mem.file.nr);
	for (i = 0; i < mem.file.nr; i++)
		mem.file.incore[i] = rnd_once_in(&r, 2);
	for (d = 0; d < SWAP_DEVS; d++) {
		mem.swap[d].nr = 60;
		mem.swap[d].incache = malloc(60);
		for (i = 0; i < 60; i++)
			mem.swap[d].incache[i] = rnd_once_in(&r, 2);
	}
	mem.swap[3].gone = true;
	if (rnd_once_in(&r, 3))
		return; /* anonymous */
	bed->mm.vmas[0].mapping = &mem.file;
	bed->mm.vmas[0].vm_pgoff = rnd_below(&r, 10);
}

#endif
