/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A recording of a process's page tables: what the entries said, without addresses, paths or
 * contents.
 *
 * Units are pages of the recorded machine (1 << page_shift bytes). Addresses are rebased: the
 * offset inside 2 MiB is kept, gaps are shortened. Frames are renumbered: neighbours stay
 * neighbours and the offset inside 2 MiB is kept.
 */
#ifndef PTB_SNAPSHOT_H
#define PTB_SNAPSHOT_H

#include "kernel.h"

enum snap_type {
	SNAP_NONE, /* nothing mapped */
	SNAP_PRESENT,
	SNAP_SWAP,
	SNAP_OTHER, /* non-present and not swap: migration, marker, poison */
	SNAP_NR_TYPES,
};

enum snap_level {
	SNAP_PTE,
	SNAP_PMD, /* the entries are one 2 MiB leaf (or several: nr is a multiple) */
	SNAP_NR_LEVELS,
};

/*
 * Bits of a run. WRITE is inferred from the rights of the vma and from exclusivity: /proc does not
 * tell it.
 */
#define SNAP_WRITE BIT(0)
#define SNAP_SOFT_DIRTY BIT(1)
#define SNAP_UFFD_WP BIT(2)
#define SNAP_EXCLUSIVE BIT(3)
#define SNAP_ALL_BITS (BIT(4) - 1)

/*
 * Consecutive entries of one type, level and bits whose frames (or swap offsets) count up by one.
 * Frame 0 for none and other.
 */
struct snap_run {
	u64 nr;
	u64 frame;
	u8 type;
	u8 level;
	u8 bits;
};

enum snap_kind {
	SNAP_ANON,
	SNAP_FILE,
	SNAP_SHMEM,
	SNAP_HUGETLB,
	SNAP_ZERO,    /* folio: the zero page */
	SNAP_SPECIAL, /* vma: pfnmap and the like; folio: a frame without a struct page the kernel
			 would hand out */
	SNAP_NR_KINDS,
};

#define SNAP_PROT_READ BIT(0)
#define SNAP_PROT_WRITE BIT(1)
#define SNAP_PROT_EXEC BIT(2)
#define SNAP_SHARED BIT(3)
#define SNAP_ALL_PROT (BIT(4) - 1)

/*
 * The runs of a vma cover it without a gap: runs[first_run .. first_run + nr_runs), their nr adding
 * up to nr_pages.
 */
struct snap_vma {
	u64 page; /* first page, rebased; vmas are sorted and do not overlap */
	u64 nr_pages;
	u64 pgoff; /* pages into the file; 0 for anon */
	u64 first_run;
	u64 nr_runs;
	u8 kind;
	u8 prot;
};

/*
 * A folio of which at least one page is mapped by a run; sorted by frame, not overlapping, frame
 * aligned to order.
 */
struct snap_folio {
	u64 frame;
	u8 order;
	u8 kind;
};

/* PMD leaves were guessed from smaps: the kernel had no PAGEMAP_SCAN. */
#define SNAP_FROM_SMAPS BIT(0)
#define SNAP_ALL_META (BIT(1) - 1)

struct snapshot {
	struct snap_vma *vmas;
	struct snap_run *runs;
	struct snap_folio *folios;
	size_t nr_vmas, nr_runs, nr_folios;
	u64 nr_frames; /* all frames are below this; a multiple of 512 */
	u8 page_shift;
	u8 meta;
};

/* The most that a recording may hold; a reader can size its own tables by these. */
#define SNAP_MAX_VMAS BIT(20)
#define SNAP_MAX_RUNS BIT(24)
#define SNAP_MAX_FOLIOS BIT(24)
#define SNAP_MAX_FRAMES BIT(26)
/* Of present, swap and other runs together: 256 GiB of 4 KiB pages. */
#define SNAP_MAX_ENTRIES BIT(26)
#define SNAP_MAX_PAGE BIT_ULL(35) /* the end of the address space */
#define SNAP_MAX_PGOFF BIT_ULL(52)
#define SNAP_MAX_ORDER 9

/* Frames are numbered, and PMD leaves are, in blocks of so many. */
#define SNAP_BLOCK 512

#define SNAP_ERR_MAX 160

/*
 * All of these return 0, or -1 with one line (no newline, no program name) in err: what happened,
 * to what, what to do. snapshot_load() accepts only what snapshot_check() accepts, so that a reader
 * need not check again.
 */
int snapshot_load(const char *path, struct snapshot *s, char err[SNAP_ERR_MAX]);
int snapshot_load_mem(const void *data, size_t len, struct snapshot *s, char err[SNAP_ERR_MAX]);
int snapshot_save(const struct snapshot *s, const char *path, char err[SNAP_ERR_MAX]);
int snapshot_check(const struct snapshot *s, char err[SNAP_ERR_MAX]);
int snapshot_record(int pid, struct snapshot *s, char err[SNAP_ERR_MAX]);
void snapshot_free(struct snapshot *s);

/* Writes the line into err, without control characters; always -1. */
int snapshot_fail(char err[SNAP_ERR_MAX], const char *fmt, ...) __printf(2, 3);

static inline u64 snap_folio_end(const struct snap_folio *folio)
{
	return folio->frame + BIT_ULL(folio->order);
}

/* The folio that holds @frame, or NULL. */
const struct snap_folio *snapshot_folio(const struct snapshot *s, u64 frame);

#endif
