// SPDX-License-Identifier: GPL-2.0-only
/* VFIO type1: what is pinned, charged and reached by a device. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"
#include "vfio.h"

#define IOVA 0x10000000ULL

struct vfio_walk {
	struct pages before, held, after;
	long locked[3]; /* KiB: before, held, after */
	int map;
	long unmap;
	struct handled mapped, unmapped;
};

static long locked(void)
{
	return file_field("/proc/self/status", "VmLck:");
}

static uint64_t iova(unsigned int page)
{
	return IOVA + page * PAGE;
}

/* The sides of map and unmap may differ: what one took the other must give back. */
static void vfio_walk(struct vfio_walk *walk, enum side map, enum side unmap, char *p,
		      struct window window, void (*while_held)(char *p, struct window window))
{
	size_t size = window.nr * PAGE;

	pages_read(&walk->before, p);
	walk->locked[0] = locked();

	side_set(map);
	counters_zero();
	walk->map = vfio_map(p + window.first * PAGE, size, iova(window.first));
	walk->mapped = counters_read("vfio");
	pages_read(&walk->held, p);
	walk->locked[1] = locked();

	if (!walk->map && while_held)
		while_held(p, window);

	side_set(unmap);
	counters_zero();
	walk->unmap = vfio_unmap(iova(window.first), size);
	walk->unmapped = counters_read("vfio");
	pages_read(&walk->after, p);
	walk->locked[2] = locked();
}

static void compare_counts(const char *when, const struct pages *off, const struct pages *on)
{
	unsigned int i;

	for (i = 0; i < NR; i++) {
		if (off->frame[i] == on->frame[i] && off->refs[i] == on->refs[i] &&
		    off->pins[i] == on->pins[i])
			continue;
		wrong("page %u %s: frame %#llx, %d references, %d pins off; %#llx, %d, %d on", i,
		      when, (unsigned long long)off->frame[i], off->refs[i], off->pins[i],
		      (unsigned long long)on->frame[i], on->refs[i], on->pins[i]);
		return;
	}
}

static void vfio_compare(const struct vfio_walk *off, const struct vfio_walk *on)
{
	static const char *const when[] = { "before", "while mapped", "after" };
	unsigned int i;

	if (off->map != on->map || off->unmap != on->unmap)
		wrong("map returned %d and unmap %ld off, %d and %ld on", off->map, off->unmap,
		      on->map, on->unmap);
	compare_counts(when[0], &off->before, &on->before);
	compare_counts(when[1], &off->held, &on->held);
	compare_counts(when[2], &off->after, &on->after);
	for (i = 0; i < 3; i++) {
		if (off->locked[i] != on->locked[i])
			wrong("%s: %ld KiB are charged off, %ld on", when[i], off->locked[i],
			      on->locked[i]);
	}
	if (on->locked[2] != on->locked[0])
		wrong("%ld KiB stay charged", on->locked[2] - on->locked[0]);
}

static void
check_handled(const struct vfio_walk *walk, enum side map, enum side unmap, unsigned int nr)
{
	unsigned long long want_map = walk->map || map == OFF ? 0 : nr;
	unsigned long long want_unmap = walk->map || unmap == OFF ? 0 : nr;

	if (walk->mapped.handled * 100 < want_map * 99 || (map == OFF && walk->mapped.handled))
		wrong("%llu of %u pages were mapped by ours", walk->mapped.handled, nr);
	if (walk->unmapped.handled * 100 < want_unmap * 99 ||
	    (unmap == OFF && walk->unmapped.handled))
		wrong("%llu of %u pages were unmapped by ours", walk->unmapped.handled, nr);
}

/* All sides against the kernel's own alone. */
static void
compare_sides(char *p, struct window window, void (*while_held)(char *p, struct window window))
{
	static struct vfio_walk off, on;
	unsigned int s;

	for (s = 0; s < 4; s++) {
		enum side map = s & 1, unmap = s >> 1;

		/* How it was mapped does not depend on how it will be unmapped. */
		vfio_walk(s ? &on : &off, map, unmap, p, window, map == unmap ? while_held : NULL);
		check_handled(s ? &on : &off, map, unmap, window.nr);
		if (s)
			vfio_compare(&off, &on);
	}
}

/* ---- a device reaches each page, and no other ---- */

static uint64_t mark(unsigned int page, size_t at)
{
	return 0xabc0000000000ULL + page * PAGE + at;
}

static void check_copy(char *p, unsigned int from, unsigned int to)
{
	uint64_t *src = (uint64_t *)(p + from * PAGE), *dst = (uint64_t *)(p + to * PAGE);
	size_t at;

	for (at = 0; at < EDU_CHUNK / 8; at++) {
		src[at] = mark(from, at);
		dst[at] = 0;
	}
	edu_copy(iova(to), iova(from));
	for (at = 0; at < EDU_CHUNK / 8; at++) {
		if (dst[at] == mark(from, at))
			continue;
		wrong("the device does not reach page %u or %u", from, to);
		return;
	}
}

/* A copy takes 200 ms: not many. Both ends, inside a folio, and where folios and tables meet. */
static void check_dma(char *p, struct window window)
{
	unsigned int last = window.first + window.nr - 1;

	check_copy(p, window.first, last);
	check_copy(p, window.first + 16, window.first + 15);
	check_copy(p, window.first + 511, window.first + 512);
}

static void test_memory(const struct memory *memory)
{
	const char *why = NULL;
	char *p = memory->make(memory->arg, &why);
	unsigned int w;

	if (!p) {
		skip(why, "vfio %s", memory->name);
		return;
	}
	for (w = 0; w < nr_windows; w++)
		compare_sides(p, windows[w], memory->mincore == 'a' && !w ? check_dma : NULL);
	memory_drop(p);
	done("vfio %s: pins and charge are the same off and on, a device reaches the pages",
	     memory->name);
}

/* Frames that are no memory are mapped, but neither pinned nor charged. */
static void test_registers(const struct layout *layout)
{
	char *p = layout_map(layout, NR * PAGE);
	unsigned int w;

	edu_map_registers(p + 300 * PAGE);
	for (w = 0; w < nr_windows; w++)
		compare_sides(p, windows[w], NULL);
	compare_sides(p, (struct window){ 300, EDU_REGISTERS / PAGE }, NULL);
	munmap(p, NR * PAGE);
	done("vfio registers in the midst of %s: pins and charge are the same off and on",
	     layout->name);
}

/* ---- the limit ---- */

static void cap_ipc_lock(bool on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		die("capget: %s", strerror(errno));
	if (on)
		data[0].effective |= 1U << CAP_IPC_LOCK;
	else
		data[0].effective &= ~(1U << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &header, data))
		die("capset: %s", strerror(errno));
}

static void limit_set(rlim_t bytes)
{
	struct rlimit limit = { bytes, RLIM_INFINITY };

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		die("setrlimit: %s", strerror(errno));
}

static void test_limit(const struct layout *layout)
{
	static const unsigned int limits[] = { NR, NR - 1, NR / 2 + 1, 512, 511, 17, 1, 0 };
	const struct window all = { 0, NR };
	char *p = layout_map(layout, NR * PAGE);
	static struct vfio_walk off, on;
	unsigned int i;

	cap_ipc_lock(false);
	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		limit_set(limits[i] * PAGE);
		vfio_walk(&off, OFF, OFF, p, all, NULL);
		vfio_walk(&on, ON, ON, p, all, NULL);
		vfio_compare(&off, &on);
		if (on.map != (limits[i] < NR ? -ENOMEM : 0))
			wrong("a limit of %u pages: map returned %d", limits[i], on.map);
		compare_counts("given back", &on.before, &on.after);
	}
	limit_set(RLIM_INFINITY);
	cap_ipc_lock(true);
	munmap(p, NR * PAGE);
	done("vfio %s: at the limit it fails with ENOMEM, and all is given back", layout->name);
}

void test_vfio(void)
{
	const char *why = vfio_open();
	unsigned int i;

	if (why) {
		skip(why, "vfio");
		return;
	}
	edu_open();
	for (i = 0; i < nr_memories; i++) {
		/* What a pin replaces cannot be compared by frames. */
		if (memories[i].gup && memories[i].gup[7] == 'a')
			test_memory(&memories[i]);
	}
	for (i = 0; i < nr_layouts; i++) {
		test_registers(&layouts[i]);
		test_limit(&layouts[i]);
	}
}
