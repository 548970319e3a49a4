// SPDX-License-Identifier: GPL-2.0-only
/* Anonymous memory in folios of a given size, and the proof that it is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib.h"

/* clang-format off */
const struct layout layouts[] = {
	/* name           KiB  shuffled ptes */
	{ "4k",             4, false, false },
	{ "64k",           64, false, false },
	{ "1M",          1024, false, false },
	{ "2M-pte",      2048, false, true },
	{ "2M-pmd",      2048, false, false },
	{ "4k-shuffled",    4, true,  false },
	{ "64k-shuffled",  64, true,  false },
};
/* clang-format on */
const unsigned int nr_layouts = ARRAY_SIZE(layouts);

const struct layout *layout_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_layouts; i++) {
		if (!strcmp(layouts[i].name, name))
			return &layouts[i];
	}
	die("no layout %s", name);
}

bool thp_sizes(const char *file, unsigned int kib)
{
	DIR *dir = opendir(THP);
	struct dirent *entry;
	bool found = kib == 4;
	unsigned int size;
	char path[128];

	if (!dir)
		die("the kernel has no transparent huge pages");
	while ((entry = readdir(dir))) {
		if (sscanf(entry->d_name, "hugepages-%ukB", &size) != 1)
			continue;
		snprintf(path, sizeof(path), THP "hugepages-%ukB/%s", size, file);
		/* Not each size is for each kind of memory. */
		if (access(path, F_OK))
			continue;
		file_put(path, size == kib ? "always" : "never");
		found |= size == kib;
	}
	closedir(dir);
	return found;
}

void thp_set(unsigned int kib)
{
	file_put(THP "enabled", "never");
	if (!thp_sizes("enabled", kib))
		die("the kernel has no anonymous folios of %u KiB", kib);
}

char *map_anon(size_t size)
{
	char *p = mmap(NULL, size + PMD_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	size_t head;

	if (p == MAP_FAILED)
		die("cannot map %zu bytes: %s", size, strerror(errno));
	head = -(uintptr_t)p & (PMD_SIZE - 1);
	if (head)
		munmap(p, head);
	munmap(p + head + size, PMD_SIZE - head);
	return p + head;
}

void touch(char *p, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += PAGE)
		*(volatile char *)(p + i) = 1;
}

/* Always the same order. */
static void touch_shuffled(char *p, size_t size, size_t chunk)
{
	size_t nr = size / chunk, i, j, swap;
	size_t *order = malloc(nr * sizeof(*order));
	uint64_t r = 88172645463325252ULL;

	if (!order)
		die("no memory");
	for (i = 0; i < nr; i++)
		order[i] = i;
	for (i = nr - 1; i > 0; i--) {
		r ^= r << 13;
		r ^= r >> 7;
		r ^= r << 17;
		j = r % (i + 1);
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
	for (i = 0; i < nr; i++)
		touch(p + order[i] * chunk, chunk);
	free(order);
}

/* Entries instead of PMDs: protect a page for a moment. */
static void split_pmds(char *p, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += PMD_SIZE) {
		if (mprotect(p + i, PAGE, PROT_READ) ||
		    mprotect(p + i, PAGE, PROT_READ | PROT_WRITE))
			die("mprotect: %s", strerror(errno));
	}
	touch(p, size);
}

void frames_read_of(int pid, const char *p, size_t nr, uint64_t *frames)
{
	char path[64];
	size_t i;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		die("cannot read pagemap: %s", strerror(errno));
	if (pread(fd, frames, nr * 8, (uintptr_t)p / PAGE * 8) != (ssize_t)(nr * 8))
		die("pagemap is short at %p", (void *)p);
	close(fd);
	for (i = 0; i < nr; i++)
		frames[i] = frames[i] >> 63 ? frames[i] & ((1ULL << 55) - 1) : 0;
}

void frames_read(const char *p, size_t nr, uint64_t *frames)
{
	frames_read_of(getpid(), p, nr, frames);
}

/* struct pm_scan_arg of Linux 6.7: the headers of the build machine may be older. */
struct scan {
	uint64_t size, flags, start, end, walk_end, regions, nr_regions, max_pages;
	uint64_t inverted, all_of, any_of, returned;
};

#define SCAN _IOWR('f', 16, struct scan)
#define SCAN_HUGE (1 << 6)

size_t pmd_mapped(const char *p, size_t size)
{
	struct {
		uint64_t start, end, kinds;
	} regions[256];
	struct scan scan = {
		.size = sizeof(scan),
		.start = (uintptr_t)p,
		.end = (uintptr_t)p + size,
		.regions = (uintptr_t)regions,
		.nr_regions = ARRAY_SIZE(regions),
		.all_of = SCAN_HUGE,
		.returned = SCAN_HUGE,
	};
	int fd = open("/proc/self/pagemap", O_RDONLY), nr, i;
	size_t sum = 0;

	nr = fd < 0 ? -1 : ioctl(fd, SCAN, &scan);
	if (nr < 0)
		die("cannot scan pagemap: %s", strerror(errno));
	close(fd);
	for (i = 0; i < nr; i++)
		sum += regions[i].end - regions[i].start;
	return sum;
}

static uint64_t kpageflags(int fd, uint64_t frame)
{
	uint64_t flags;

	if (pread(fd, &flags, 8, frame * 8) != 8)
		die("cannot read kpageflags of frame %#llx", (unsigned long long)frame);
	return flags;
}

void layout_check(const struct layout *layout, const char *p, size_t size)
{
	enum { HEAD = 1 << 15, TAIL = 1 << 16 };
	size_t nr = size / PAGE, per_folio = layout->kib / 4, joined = 0, i;
	uint64_t *frames = malloc(nr * sizeof(*frames)), flags, want;
	int fd = open("/proc/kpageflags", O_RDONLY);
	bool first;

	if (fd < 0 || !frames)
		die("cannot read kpageflags: %s", strerror(errno));
	frames_read(p, nr, frames);
	for (i = 0; i < nr; i++) {
		first = i % per_folio == 0;
		flags = kpageflags(fd, frames[i]) & (HEAD | TAIL);
		want = layout->kib == 4 ? 0 : first ? HEAD : TAIL;
		if (!frames[i] || flags != want || (!first && frames[i] != frames[i - 1] + 1))
			die("page %zu of layout %s: frame %#llx, flags %#llx", i, layout->name,
			    (unsigned long long)frames[i], (unsigned long long)flags);
		if (first && i && frames[i] == frames[i - 1] + 1)
			joined++;
	}
	close(fd);
	free(frames);

	if (layout->shuffled && joined > nr / per_folio / 10)
		die("layout %s: %zu of %zu folios follow each other in memory", layout->name,
		    joined, nr / per_folio);
	if (layout->kib * 1024 == PMD_SIZE && pmd_mapped(p, size) != (layout->ptes ? 0 : size))
		die("layout %s: %zu bytes are mapped by PMDs", layout->name, pmd_mapped(p, size));
}

char *layout_map(const struct layout *layout, size_t size)
{
	char *p;

	thp_set(layout->kib);
	p = map_anon(size);
	if (layout->shuffled)
		touch_shuffled(p, size, layout->kib * 1024UL);
	else
		touch(p, size);
	/* From here on for khugepaged, which would put together what is split. */
	madvise(p, size, MADV_NOHUGEPAGE);
	if (layout->ptes)
		split_pmds(p, size);
	layout_check(layout, p, size);
	return p;
}
