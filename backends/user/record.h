/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the parts of the recorder share. Functions return 0, or -1 with the reason in rec->err. */
#ifndef PTB_USER_RECORD_H
#define PTB_USER_RECORD_H

#include "snapshot.h"

#include <time.h>

#define CHUNK (128 * SNAP_BLOCK) /* words read at once; whole blocks */

/* One vma as smaps tells it, in pages. */
struct area {
	u64 start, end, pgoff;
	u64 resident_kb, leaf_kb;
	u8 kind, prot;
};

struct span {
	u64 first, end; /* frames */
};

/* Of 512 frames: its number on the machine and the one in the recording */
struct block {
	u64 old, new;
};

struct rec {
	struct snapshot *s;
	char *err;
	int pid;
	int pagemap, kpageflags;
	u64 at; /* the page to be recorded next */
	u64 entries;
	u64 leaves; /* how many PMD leaves there may still be in this vma */
	struct span *spans;
	struct block *blocks;
	size_t nr_spans, nr_blocks;
	u64 buf[CHUNK];
	struct timespec shown;
	bool progress;
};

/* Room for one more in an array that is only ever extended by one: it doubles at powers of two. */
static inline bool grow(void *array, size_t nr, size_t size)
{
	void *old, *more;

	if (nr & (nr - 1))
		return true;
	memcpy(&old, array, sizeof(old));
	more = reallocarray(old, nr ? 2 * nr : 1, size);
	if (more)
		memcpy(array, &more, sizeof(more));
	return more;
}

static inline int no_memory(struct rec *r)
{
	return snapshot_fail(r->err, "out of memory");
}

static inline int gone(struct rec *r)
{
	return snapshot_fail(r->err,
			     "pid %d ended, or started another program, while it was "
			     "recorded",
			     r->pid);
}

/* record.c */
void show_progress(struct rec *r);

/* record_entries.c: up to @nr words of a file at word @index */
ssize_t read_words(int fd, u64 *buf, size_t nr, u64 index);
int add_area(struct rec *r, const struct area *area);
/* Takes @next into @run if it goes on where that ends. */
bool merge_run(struct snap_run *run, const struct snap_run *next);

/* record_folios.c */
int renumber(struct rec *r, u8 type);
void correct_all(struct snapshot *s);

#endif
