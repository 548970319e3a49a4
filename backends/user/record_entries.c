// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The recorder: entries, from pagemap and PAGEMAP_SCAN. */
#include "record.h"

#include <sys/ioctl.h>
#include <unistd.h>

/* Documentation/admin-guide/mm/pagemap.rst */
#define PM_FRAME (BIT_ULL(55) - 1)
#define PM_SOFT_DIRTY BIT_ULL(55)
#define PM_EXCLUSIVE BIT_ULL(56)
#define PM_UFFD_WP BIT_ULL(57)
#define PM_GUARD BIT_ULL(58)
#define PM_FILE BIT_ULL(61)
#define PM_SWAP BIT_ULL(62)
#define PM_PRESENT BIT_ULL(63)

/* A swap entry is a type of 5 bits and an offset. From this type on it may be no swap at all. */
#define SWAP_TYPES 23

/* The ABI of PAGEMAP_SCAN, Linux 6.7: the headers of the build machine may be older. */
struct scan_region {
	u64 start, end, categories;
};

/* The words of its argument, struct pm_scan_arg */
enum {
	ARG_SIZE,
	ARG_FLAGS,
	ARG_START,
	ARG_END,
	ARG_WALK_END,
	ARG_VEC,
	ARG_VEC_LEN,
	ARG_MAX_PAGES,
	ARG_INVERTED,
	ARG_ALL_OF,
	ARG_ANY_OF,
	ARG_RETURNED,
	ARG_WORDS,
};

#define SCAN_PAGES _IOWR('f', 16, u64[ARG_WORDS])
#define SCAN_PRESENT BIT(3)
#define SCAN_SWAPPED BIT(4)
#define SCAN_HUGE BIT(6)

/* Runs, with the frames of the machine */

static bool has_frame(const struct snap_run *run)
{
	return run->type == SNAP_PRESENT || run->type == SNAP_SWAP;
}

bool merge_run(struct snap_run *run, const struct snap_run *next)
{
	if (run->type != next->type || run->level != next->level || run->bits != next->bits)
		return false;
	if (has_frame(run) && run->frame + run->nr != next->frame)
		return false;
	run->nr += next->nr;
	return true;
}

static int add_run(struct rec *r, const struct snap_run *run)
{
	struct snapshot *s = r->s;
	struct snap_vma *vma = &s->vmas[s->nr_vmas - 1];

	r->at += run->nr;
	if (run->type != SNAP_NONE)
		r->entries += run->nr;
	if (s->nr_runs == SNAP_MAX_RUNS || r->entries > SNAP_MAX_ENTRIES)
		return snapshot_fail(r->err, "pid %d has more memory than a recording can hold",
				     r->pid);
	if (vma->nr_runs && merge_run(&s->runs[s->nr_runs - 1], run))
		return 0;
	if (!grow(&s->runs, s->nr_runs, sizeof(*s->runs)))
		return no_memory(r);
	s->runs[s->nr_runs++] = *run;
	vma->nr_runs++;
	return 0;
}

static int add_hole(struct rec *r, u64 end)
{
	struct snap_run none = { .type = SNAP_NONE };

	if (r->at >= end)
		return 0;
	none.nr = end - r->at;
	return add_run(r, &none);
}

/*
 * The write bit is not told. A private page is written in place if it is anonymous and ours alone,
 * a shared one if the vma may be written.
 */
static u8 present_bits(u64 entry, u8 prot)
{
	u8 bits = 0;

	if (entry & PM_SOFT_DIRTY)
		bits |= SNAP_SOFT_DIRTY;
	if (entry & PM_EXCLUSIVE)
		bits |= SNAP_EXCLUSIVE;
	if (entry & PM_UFFD_WP)
		return bits | SNAP_UFFD_WP;
	if (!(prot & SNAP_PROT_WRITE))
		return bits;
	if ((prot & SNAP_SHARED) || (entry & (PM_FILE | PM_EXCLUSIVE)) == PM_EXCLUSIVE)
		bits |= SNAP_WRITE;
	return bits;
}

static int add_entry(struct rec *r, u64 entry, u8 level, u8 prot)
{
	struct snap_run run = { .nr = level == SNAP_PMD ? SNAP_BLOCK : 1, .level = level };
	u64 frame = entry & PM_FRAME;

	if (entry & PM_PRESENT) {
		run.type = SNAP_PRESENT;
		run.frame = frame;
		run.bits = present_bits(entry, prot);
		if (!frame)
			return snapshot_fail(r->err,
					     "frame numbers of pid %d are hidden; run as "
					     "root or with CAP_SYS_ADMIN",
					     r->pid);
	} else if (entry & (PM_SWAP | PM_GUARD)) {
		run.type = SNAP_OTHER;
		run.bits = present_bits(entry & (PM_SOFT_DIRTY | PM_UFFD_WP), 0);
		if (!(entry & PM_GUARD) && frame % 32 < SWAP_TYPES) {
			run.type = SNAP_SWAP;
			run.frame = frame % 32 << 50 | frame / 32;
		}
	}
	return add_run(r, &run);
}

/* Whether 512 entries can be one leaf. Only whether a page is shared may differ among them. */
static bool is_leaf(const u64 *entry)
{
	unsigned int i;

	if (!(entry[0] & PM_PRESENT) || (entry[0] & PM_FRAME) % SNAP_BLOCK)
		return false;
	for (i = 1; i < SNAP_BLOCK; i++)
		if ((entry[i] ^ (entry[0] + i)) & ~PM_EXCLUSIVE)
			return false;
	return true;
}

static int add_leaf(struct rec *r, const u64 *entry, u8 prot)
{
	u64 leaf = entry[0];
	unsigned int i;

	for (i = 1; i < SNAP_BLOCK; i++)
		if (!(entry[i] & PM_EXCLUSIVE))
			leaf &= ~PM_EXCLUSIVE;
	r->leaves--;
	return add_entry(r, leaf, SNAP_PMD, prot);
}

static int add_entries(struct rec *r, size_t nr, bool leaves, u8 prot)
{
	size_t i = 0;
	int ret = 0;

	while (i < nr && !ret) {
		if (leaves && r->leaves && r->at % SNAP_BLOCK == 0 && nr - i >= SNAP_BLOCK &&
		    is_leaf(&r->buf[i])) {
			ret = add_leaf(r, &r->buf[i], prot);
			i += SNAP_BLOCK;
		} else {
			ret = add_entry(r, r->buf[i++], SNAP_PTE, prot);
		}
	}
	return ret;
}

ssize_t read_words(int fd, u64 *buf, size_t nr, u64 index)
{
	ssize_t n;

	do
		n = pread(fd, buf, nr * sizeof(*buf), (off_t)(index * sizeof(*buf)));
	while (n < 0 && errno == EINTR);
	return n < 0 ? n : n / (ssize_t)sizeof(*buf);
}

static int read_entries(struct rec *r, u64 end, bool leaves, u8 prot)
{
	while (r->at < end) {
		/* Chunks end where blocks do, so that a leaf is never seen in halves. */
		size_t nr = CHUNK - r->at % SNAP_BLOCK;
		ssize_t n;

		if (nr > end - r->at)
			nr = (size_t)(end - r->at);
		n = read_words(r->pagemap, r->buf, nr, r->at);
		if (n < 0)
			return snapshot_fail(r->err, "cannot read the pagemap of pid %d: %s",
					     r->pid, strerror(errno));
		if (!n)
			return gone(r);
		if (add_entries(r, (size_t)n, leaves, prot))
			return -1;
		show_progress(r);
	}
	return 0;
}

/* 1: this kernel has no such scan */
static int scan_area(struct rec *r, const struct area *area)
{
	unsigned int shift = r->s->page_shift;
	struct scan_region found[256];
	u64 arg[ARG_WORDS] = {
		[ARG_SIZE] = sizeof(arg),
		[ARG_START] = area->start << shift,
		[ARG_END] = area->end << shift,
		[ARG_VEC] = (uintptr_t)found,
		[ARG_VEC_LEN] = ARRAY_SIZE(found),
		[ARG_ANY_OF] = SCAN_PRESENT | SCAN_SWAPPED,
		[ARG_RETURNED] = SCAN_PRESENT | SCAN_SWAPPED | SCAN_HUGE,
	};

	r->leaves = UINT64_MAX;
	while (arg[ARG_START] < arg[ARG_END]) {
		int i, nr = ioctl(r->pagemap, SCAN_PAGES, arg);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return 1;
		for (i = 0; i < nr; i++)
			if (add_hole(r, found[i].start >> shift) ||
			    read_entries(r, found[i].end >> shift, found[i].categories & SCAN_HUGE,
					 area->prot))
				return -1;
		if (arg[ARG_WALK_END] <= arg[ARG_START])
			break;
		arg[ARG_START] = arg[ARG_WALK_END];
	}
	return 0;
}

/* Without the scan: which blocks are leaves is guessed, up to as many as smaps counts. */
static int read_area(struct rec *r, const struct area *area)
{
	bool hugetlb = area->kind == SNAP_HUGETLB;

	r->s->meta |= SNAP_FROM_SMAPS;
	r->leaves = hugetlb ? UINT64_MAX : area->leaf_kb >> (r->s->page_shift + 9 - 10);
	/* Address space that was only reserved. Zero pages are not counted as resident. */
	if (!area->resident_kb && !hugetlb && !(area->prot & ~SNAP_SHARED))
		return 0;
	return read_entries(r, area->end, true, area->prot);
}

int add_area(struct rec *r, const struct area *area)
{
	struct snapshot *s = r->s;
	struct snap_vma vma = {
		.page = area->start,
		.nr_pages = area->end - area->start,
		.first_run = s->nr_runs,
		.kind = area->kind,
		.prot = area->prot,
	};
	int ret = 1;

	if (s->nr_vmas == SNAP_MAX_VMAS || !grow(&s->vmas, s->nr_vmas, sizeof(vma)))
		return no_memory(r);
	if (vma.kind != SNAP_ANON && vma.kind != SNAP_SPECIAL)
		vma.pgoff = area->pgoff;
	s->vmas[s->nr_vmas++] = vma;
	r->at = area->start;
	if (!(s->meta & SNAP_FROM_SMAPS))
		ret = scan_area(r, area);
	if (ret > 0)
		ret = read_area(r, area);
	return ret ? ret : add_hole(r, area->end);
}
