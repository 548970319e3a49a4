// SPDX-License-Identifier: GPL-2.0-only
/* The kinds of memory that walkers meet. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define SIZE (NR * PAGE)

/* make_hugetlb_with_child() may need many. */
static pid_t children[1024];
static unsigned int nr_children;

int child_start(void)
{
	pid_t child;

	if (nr_children == ARRAY_SIZE(children))
		die("%u children are not enough", nr_children);
	fflush(stdout);
	child = fork();
	if (child < 0)
		die("fork: %s", strerror(errno));
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	children[nr_children++] = child;
	return child;
}

static void child_kill(unsigned int i)
{
	kill(children[i], SIGKILL);
	waitpid(children[i], NULL, 0);
}

static void children_end(void)
{
	while (nr_children)
		child_kill(--nr_children);
}

void memory_drop(char *p)
{
	children_end();
	munmap(p, SIZE);
}

/* ---- anonymous ---- */

static char *make_layout(const char *arg, const char **why)
{
	(void)why;
	return layout_map(layout_find(arg), SIZE);
}

/* Folios that begin nowhere in particular, some of them in two tables. */
static char *make_moved(const char *arg, const char **why)
{
	char *p = make_layout(arg, why), *to = map_anon(SIZE + PMD_SIZE);

	munmap(to, SIZE + PMD_SIZE);
	to = mremap(p, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to + 5 * PAGE);
	if (to == MAP_FAILED)
		die("mremap: %s", strerror(errno));
	return to;
}

/* Other pages where some of a folio's have been. */
static char *make_refilled(const char *arg, const char **why)
{
	char *p = make_layout(arg, why);
	size_t i;

	thp_set(4);
	for (i = 3; i < NR; i += 16)
		madvise(p + i * PAGE, 2 * PAGE, MADV_DONTNEED);
	touch(p, SIZE);
	return p;
}

static char *make_holes(const char *arg, const char **why)
{
	char *p = make_layout(arg, why);
	size_t i;

	for (i = 37; i < NR; i += 100)
		munmap(p + i * PAGE, 2 * PAGE);
	return p;
}

static char *make_read_only_odd(const char *arg, const char **why)
{
	char *p = make_layout(arg, why);
	size_t i;

	for (i = 1; i < NR; i += 2)
		mprotect(p + i * PAGE, PAGE, PROT_READ);
	return p;
}

static char *make_no_access(const char *arg, const char **why)
{
	char *p = make_layout(arg, why);

	mprotect(p, SIZE, PROT_NONE);
	return p;
}

/* Every other page is dirty again, so that only entries tell. */
static char *make_lazyfree(const char *arg, const char **why)
{
	char *p = make_layout(arg, why);
	size_t i;

	if (madvise(p, SIZE, MADV_FREE))
		die("MADV_FREE: %s", strerror(errno));
	for (i = 0; i < NR; i += 2)
		touch(p + i * PAGE, PAGE);
	return p;
}

static char *make_shared_with_child(const char *arg, const char **why)
{
	char *p = make_layout(arg, why);

	child_start();
	return p;
}

static char *make_untouched(const char *arg, const char **why)
{
	(void)arg;
	(void)why;
	return map_anon(SIZE);
}

static void look(const char *p)
{
	size_t i;

	for (i = 0; i < SIZE; i += PAGE)
		(void)*(const volatile char *)(p + i);
}

static char *make_zero(const char *arg, const char **why)
{
	char *p = map_anon(SIZE);

	(void)why;
	thp_set(strtoul(arg, NULL, 10));
	look(p);
	return p;
}

/* ---- swap ---- */

static void swap_out(char *p, size_t size)
{
	uint64_t frames[NR];
	size_t i, tries, left = 1;

	/* A page on its way to the lists of reclaim, or being written, has to be waited for. */
	for (tries = 0; left && tries < 200; tries++) {
		if (tries)
			usleep(10000);
		if (madvise(p, size, MADV_PAGEOUT))
			die("MADV_PAGEOUT: %s", strerror(errno));
		frames_read(p, size / PAGE, frames);
		for (left = 0, i = 0; i < size / PAGE; i++)
			left += frames[i] != 0;
	}
	if (left)
		die("%zu pages do not go to swap", left);
}

static char *make_swapped(const char *arg, const char **why)
{
	char *p;

	if (file_field("/proc/meminfo", "SwapTotal:") <= 0) {
		*why = "no swap";
		return NULL;
	}
	p = make_layout(arg, why);
	swap_out(p, SIZE);
	return p;
}

static char *make_half_swapped(const char *arg, const char **why)
{
	size_t folio = layout_find(arg)->kib * 1024, i;
	char *p;

	if (file_field("/proc/meminfo", "SwapTotal:") <= 0) {
		*why = "no swap";
		return NULL;
	}
	p = make_layout(arg, why);
	for (i = folio; i < SIZE; i += 2 * folio)
		swap_out(p + i, folio);
	return p;
}

/* ---- files ---- */

static char *map_over(int flags, int fd)
{
	char *p = mmap(map_anon(SIZE), SIZE, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);

	if (p == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	return p;
}

static int file_open(const char **why)
{
	int fd = disk_file(SIZE);

	if (fd < 0)
		*why = "no ext2 on /mnt";
	return fd;
}

static char *make_file(const char *arg, const char **why)
{
	int fd = file_open(why);
	char *p;

	(void)arg;
	if (fd < 0)
		return NULL;
	p = map_over(MAP_SHARED, fd);
	close(fd);
	touch(p, SIZE);
	return p;
}

static char *make_file_private(const char *arg, const char **why)
{
	int fd = file_open(why);
	char *p;

	(void)arg;
	if (fd < 0)
		return NULL;
	p = map_over(MAP_PRIVATE, fd);
	close(fd);
	look(p);
	return p;
}

/* Nothing is mapped, a part is in the page cache. */
static char *make_file_cold(const char *arg, const char **why)
{
	int fd = file_open(why);
	size_t i;
	char *p;

	(void)arg;
	if (fd < 0)
		return NULL;
	fsync(fd);
	for (i = 0; i < NR; i += 48)
		posix_fadvise(fd, i * PAGE, 16 * PAGE, POSIX_FADV_DONTNEED);
	p = map_over(MAP_SHARED, fd);
	close(fd);
	madvise(p, SIZE, MADV_RANDOM);
	return p;
}

static char *make_shmem(const char *arg, const char **why)
{
	struct layout layout = { .name = "shmem", .kib = strtoul(arg, NULL, 10) };
	char *p;

	thp_set(4);
	if (!thp_sizes("shmem_enabled", layout.kib)) {
		*why = "no shmem folios of that size";
		return NULL;
	}
	p = map_over(MAP_SHARED | MAP_ANONYMOUS, -1);
	touch(p, SIZE);
	layout_check(&layout, p, SIZE);
	return p;
}

/* ---- hugetlb ---- */

static char *make_hugetlb(const char *arg, const char **why)
{
	unsigned long kib = strtoul(arg, NULL, 10);
	char path[96], *p;

	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%lukB/nr_hugepages", kib);
	if (access(path, W_OK)) {
		*why = "no huge pages of that size";
		return NULL;
	}
	/* As many again for copies. */
	file_put(path, "%lu", 2 * SIZE / 1024 / kib);
	p = mmap(map_anon(SIZE), SIZE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB |
			 (__builtin_ctzl(kib * 1024) << MAP_HUGE_SHIFT),
		 -1, 0);
	if (p == MAP_FAILED) {
		*why = "too few huge pages are free";
		return NULL;
	}
	touch(p, SIZE);
	return p;
}

/*
 * 6.12.117 forgets in fork what a table of small huge pages maps, if the page that has become that
 * table had an index before: its pt_share_count is not set to 0. Fork until the child has all;
 * those before it keep the bad tables meanwhile.
 */
static char *make_hugetlb_with_child(const char *arg, const char **why)
{
	char *p = make_hugetlb(arg, why);
	uint64_t ours[NR], childs[NR];
	unsigned int i;

	if (!p)
		return NULL;
	frames_read(p, NR, ours);
	do {
		frames_read_of(child_start(), p, NR, childs);
	} while (memcmp(ours, childs, sizeof(ours)));

	for (i = 0; i + 1 < nr_children; i++)
		child_kill(i);
	children[0] = children[i];
	nr_children = 1;
	return p;
}

/* ---- secretmem ---- */

static char *make_secretmem(const char *arg, const char **why)
{
	int fd = syscall(SYS_memfd_secret, 0);
	char *p;

	(void)arg;
	if (fd < 0) {
		*why = "the kernel has no memfd_secret";
		return NULL;
	}
	if (ftruncate(fd, SIZE))
		die("memfd_secret: %s", strerror(errno));
	p = map_over(MAP_SHARED, fd);
	close(fd);
	touch(p, SIZE);
	return p;
}

/*
 * GUP: get, get write, the same fast only, pin, pin write, pin longterm, the same write.
 *
 * What is not writable is copied for a write, and what is shared for a pin; fast only does neither.
 * The zero page is of a special entry, the huge one is not.
 */
/* clang-format off */
const struct memory memories[] = {
	/* First, while most pages are as at boot. */
	{ "hugetlb 64k shared with a child", make_hugetlb_with_child, "64",       "aNanNNNN", 'n' },
	{ "4k",                      make_layout,         "4k",           "aaaaaaaa", 'a' },
	{ "shuffled 4k",             make_layout,         "4k-shuffled",  "aaaaaaaa", 'a' },
	{ "64k",                     make_layout,         "64k",          "aaaaaaaa", 'a' },
	{ "shuffled 64k",            make_layout,         "64k-shuffled", "aaaaaaaa", 'a' },
	{ "1M",                      make_layout,         "1M",           "aaaaaaaa", 'a' },
	{ "2M by entries",           make_layout,         "2M-pte",       "aaaaaaaa", 'a' },
	{ "2M by PMDs",              make_layout,         "2M-pmd",       "aaaaaaaa", 'a' },
	{ "64k moved by 5 pages",    make_moved,          "64k",          "aaaaaaaa", 'a' },
	{ "2M moved by 5 pages",     make_moved,          "2M-pmd",       "aaaaaaaa", 'a' },
	{ "64k with other pages in", make_refilled,       "64k",          "aaaaaaaa", 'a' },
	{ "2M with other pages in",  make_refilled,       "2M-pte",       "aaaaaaaa", 'a' },
	{ "64k with holes",          make_holes,          "64k",          "aaaaaaaa", 'a' },
	{ "64k, odd read-only",      make_read_only_odd,  "64k",          "aaaaaaaa", 'a' },
	{ "2M, odd read-only",       make_read_only_odd,  "2M-pte",       "aaaaaaaa", 'a' },
	{ "64k without access",      make_no_access,      "64k",          "nnnnnnnn", 'a' },
	{ "2M without access",       make_no_access,      "2M-pmd",       "nnnnnnnn", 'a' },
	{ "64k lazily freed",        make_lazyfree,       "64k",          "aaaaaaaa", 'a' },
	{ "4k shared with a child",  make_shared_with_child, "4k",        "aNanNNNN", 'a' },
	{ "64k shared with a child", make_shared_with_child, "64k",       "aNanNNNN", 'a' },
	{ "2M shared with a child",  make_shared_with_child, "2M-pmd",    "aNanNNNN", 'a' },
	{ "4k swapped out",          make_swapped,        "4k",           "NNnnNNNN", 'a' },
	{ "64k swapped out",         make_swapped,        "64k",          "NNnnNNNN", 'a' },
	{ "64k, half swapped out",   make_half_swapped,   "64k",          "SSaaSSSS", 'a' },
	{ "nothing",                 make_untouched,      "",             "NNnnNNNN", 'n' },
	{ "zero page",               make_zero,           "4",            "nNnnnNNN", 'a' },
	{ "huge zero page",          make_zero,           "2048",         "aNanaNNN", 'a' },
	{ "file",                    make_file,           "",             "aaaaaaan", 'a' },
	{ "private file",            make_file_private,   "",             "aNanaNNN", 'a' },
	{ "file, cache half cold",   make_file_cold,      "",             NULL,       'n' },
	{ "shmem 4k",                make_shmem,          "4",            "aaaaaaaa", 'a' },
	{ "shmem 64k",               make_shmem,          "64",           "aaaaaaaa", 'a' },
	{ "shmem 2M",                make_shmem,          "2048",         "aaaaaaaa", 'a' },
	{ "hugetlb 64k",             make_hugetlb,        "64",           "aaaaaaaa", 'n' },
	{ "hugetlb 2M",              make_hugetlb,        "2048",         "aaaaaaaa", 'n' },
	{ "hugetlb 2M shared with a child", make_hugetlb_with_child, "2048",      "aNanNNNN", 'n' },
	{ "secretmem",               make_secretmem,      "",             "nnnnnnnn", 'a' },
};
/* clang-format on */

const unsigned int nr_memories = ARRAY_SIZE(memories);
