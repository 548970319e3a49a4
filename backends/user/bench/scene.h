/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A scene: memory, tables and trees of one row, and room for what a walker answers. */
#ifndef PTB_USER_BENCH_SCENE_H
#define PTB_USER_BENCH_SCENE_H

#include "bench.h"
#include "../window.h"

/* Pages of a call: what one table maps, which is how the kernel's walk goes. */
#define CALL_PAGES FMT_PTES

struct scene {
	const struct bench_walker *walker;
	struct window w;      /* its ranges are the calls of a pass */
	struct page **mapped; /* the page of each slot, NULL if empty */
	unsigned long slots;
	unsigned long pages; /* a pass answers for so many */
	unsigned int gup;
	struct vfio_dma dma;
	unsigned int *runs; /* output of scan and contig */
	bool cold;
	/* Of the check: */
	u64 fresh; /* hash of the counts when nobody holds anything */
	unsigned int applies;
	char why[80];
};

/* Makes the memory of a row; the walker has still to be said. */
void scene_build(struct scene *s, const struct bench_row *row, bool small);
void scene_free(struct scene *s);

/* Out of all caches. */
void scene_chill(const struct scene *s);

#endif
