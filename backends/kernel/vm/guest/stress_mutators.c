// SPDX-License-Identifier: GPL-2.0-only
/* The rest of the system: who shares, moves, splits, joins and takes pages away. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define KSM "/sys/kernel/mm/ksm/"
#define GARBAGE 0xdeadUL

/* Each says whether it did something. That a page is held, or gone, is no fault. */

static void child(struct piece piece)
{
	unsigned int before = violations(), i;

	/* As it was copied it may have others waiting, who are not here. */
	pthread_rwlock_init(&piece.area->lock, NULL);
	for (i = 0; i < piece.nr && i < 32; i++) {
		if (random_below(2))
			*(volatile unsigned long *)(piece.p + i * PAGE) = GARBAGE;
	}
	walk_as_child(piece);
	pause_below(20000);
	_exit(violations() != before);
}

static bool mutate_fork(void)
{
	struct piece piece = piece_of(0, 0);
	unsigned int seed = random_below(-1U) | 1;
	int status;
	pid_t pid;

	/* Else the child would find it out of reach for ever. */
	pthread_rwlock_rdlock(&piece.area->lock);
	pid = fork();
	if (!pid) {
		random_seed(seed);
		child(piece);
	}
	pthread_rwlock_unlock(&piece.area->lock);
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		violated("%s: a child ended with status %#x", piece.area->name, status);
	return true;
}

static bool advise(struct piece piece, int advice)
{
	return !madvise(piece.p, piece.nr * PAGE, advice);
}

static bool mutate_dontneed(void)
{
	return advise(piece_of(0, KEPT), MADV_DONTNEED);
}

static bool mutate_free(void)
{
	return advise(piece_of(ANON, KEPT), MADV_FREE);
}

/* Truncates what others have mapped. */
static bool mutate_remove(void)
{
	return advise(piece_of(FILE_SHMEM, 0), MADV_REMOVE);
}

/*
 * Twice: what is written to swap stays in memory, in its cache, at first. Looked at, it is mapped
 * again and clean, and goes at once.
 */
static bool mutate_pageout(void)
{
	struct piece piece = piece_of(0, 0);
	bool did = advise(piece, MADV_PAGEOUT);
	unsigned int i;

	pause_below(5000);
	pthread_rwlock_rdlock(&piece.area->lock);
	for (i = 0; i < piece.nr; i++)
		(void)*(const volatile char *)(piece.p + i * PAGE);
	pthread_rwlock_unlock(&piece.area->lock);
	return advise(piece, MADV_PAGEOUT) && did;
}

static bool mutate_collapse(void)
{
	struct piece piece = piece_of(COLLAPSED, 0);

	piece.nr = PMD_SIZE / PAGE;
	piece.p = piece.area->p + random_below(piece.area->nr / piece.nr) * PMD_SIZE;
	return advise(piece, MADV_COLLAPSE);
}

static bool mutate_unmerge(void)
{
	struct piece piece = piece_of(MERGED, 0);

	piece.p = piece.area->p;
	piece.nr = piece.area->nr;
	/* In between KSM has time to merge some. */
	usleep(random_below(200000));
	return advise(piece, MADV_UNMERGEABLE) && advise(piece, MADV_MERGEABLE);
}

static bool mutate_mprotect(void)
{
	struct piece piece = piece_of(0, 0);
	size_t size = piece.nr * PAGE;
	bool did;

	pthread_rwlock_wrlock(&piece.area->lock);
	did = !mprotect(piece.p, size, random_below(4) ? PROT_READ : PROT_NONE);
	pause_below(1000);
	if (mprotect(piece.p, size, PROT_READ | PROT_WRITE))
		die("%s: mprotect: %s", piece.area->name, strerror(errno));
	pthread_rwlock_unlock(&piece.area->lock);
	return did;
}

/* There, by whole tables or by entries, and back. */
static bool mutate_mremap(void)
{
	struct piece piece = piece_of(0, 0);
	size_t size = piece.nr * PAGE;
	char *to = piece.area->twin + (piece.p - piece.area->p);
	bool did;

	if (random_below(2))
		to += random_below(PMD_SIZE / PAGE) * PAGE;
	pthread_rwlock_wrlock(&piece.area->lock);
	did = mremap(piece.p, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
	if (did) {
		pause_below(1000);
		if (mremap(to, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, piece.p) != piece.p)
			die("%s: mremap: %s", piece.area->name, strerror(errno));
	}
	pthread_rwlock_unlock(&piece.area->lock);
	return did;
}

static bool mutate_compact(void)
{
	return !file_write("/proc/sys/vm/compact_memory", "1");
}

#define MOVED 64

/* From one of two nodes to the other. */
static bool mutate_move_pages(void)
{
	struct piece piece = piece_of(0, 0);
	int nodes[MOVED], was[MOVED], is[MOVED];
	void *pages[MOVED];
	unsigned int i, nr = piece.nr > MOVED ? MOVED : piece.nr;

	for (i = 0; i < nr; i++)
		pages[i] = piece.p + i * PAGE;
	if (syscall(SYS_move_pages, 0, nr, pages, NULL, was, 0))
		return false;
	for (i = 0; i < nr; i++) {
		nodes[i] = was[i] == 0;
		is[i] = -EBUSY;
	}
	if (syscall(SYS_move_pages, 0, nr, pages, nodes, is, MPOL_MF_MOVE) < 0)
		return false;
	for (i = 0; i < nr; i++) {
		if (was[i] >= 0 && is[i] == nodes[i])
			return true;
	}
	return false;
}

static const char *no_swap(void)
{
	return swap_is_on() ? NULL : "no swap";
}

static const char *one_node(void)
{
	return access("/sys/devices/system/node/node1", F_OK) ? "not two NUMA nodes" : NULL;
}

/* clang-format off */
static struct mutator {
	const char *name;
	unsigned int weight;
	bool (*run)(void);
	const char *(*refused)(void);
	unsigned long tried, did;
} mutators[] = {
	{ "fork",        8, mutate_fork, NULL, 0, 0 },
	{ "DONTNEED",    6, mutate_dontneed, NULL, 0, 0 },
	{ "FREE",        6, mutate_free, NULL, 0, 0 },
	{ "REMOVE",      2, mutate_remove, NULL, 0, 0 },
	{ "COLLAPSE",    8, mutate_collapse, NULL, 0, 0 },
	{ "PAGEOUT",     8, mutate_pageout, no_swap, 0, 0 },
	{ "UNMERGEABLE", 1, mutate_unmerge, NULL, 0, 0 },
	{ "mprotect",    8, mutate_mprotect, NULL, 0, 0 },
	{ "mremap",      8, mutate_mremap, NULL, 0, 0 },
	{ "compact",     1, mutate_compact, NULL, 0, 0 },
	{ "move_pages",  8, mutate_move_pages, one_node, 0, 0 },
};

/* What runs by itself, by the kernel's own account. */
static struct {
	const char *name, *file, *key;
	const char *(*refused)(void);
	long before;
} daemons[] = {
	{ "khugepaged, collapsed", THP "khugepaged/pages_collapsed", "", NULL, 0 },
	{ "KSM, pages copied again",  "/proc/vmstat", "cow_ksm ", NULL, 0 },
	{ "swap, pages out",       "/proc/vmstat", "pswpout ", no_swap, 0 },
	{ "swap, pages in",        "/proc/vmstat", "pswpin ", no_swap, 0 },
	{ "compaction, pages isolated", "/proc/vmstat", "compact_isolated ", NULL, 0 },
	{ "migration, pages",      "/proc/vmstat", "pgmigrate_success ", NULL, 0 },
};
/* clang-format on */

static const char *refused(const char *(*ask)(void))
{
	return ask ? ask() : NULL;
}

void *thread_mutate(void *unused)
{
	struct mutator *mutator;
	unsigned int i, weights = 0, at;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(mutators); i++)
		weights += mutators[i].weight;
	while (!stopped()) {
		at = random_below(weights);
		for (mutator = mutators; at >= mutator->weight; mutator++)
			at -= mutator->weight;
		if (refused(mutator->refused))
			continue;
		count_up(&mutator->tried, 1);
		count_up(&mutator->did, mutator->run());
		pause_below(1000);
	}
	return NULL;
}

void mutators_start(void)
{
	unsigned int i;

	file_put(THP "khugepaged/scan_sleep_millisecs", "10");
	file_put(THP "khugepaged/alloc_sleep_millisecs", "10");
	file_put(THP "khugepaged/pages_to_scan", "4096");
	file_put(KSM "smart_scan", "0");
	file_put(KSM "sleep_millisecs", "10");
	file_put(KSM "pages_to_scan", "1000");
	file_put(KSM "run", "1");
	for (i = 0; i < ARRAY_SIZE(daemons); i++)
		daemons[i].before = file_field(daemons[i].file, daemons[i].key);
}

/* Also takes apart what KSM has merged, and waits for it. */
void mutators_stop(void)
{
	thp_sizes("enabled", 4);
	file_put(KSM "run", "2");
	file_put(KSM "run", "0");
	if (!access("/proc/sys/kernel/numa_balancing", F_OK))
		file_put("/proc/sys/kernel/numa_balancing", "0");
}

static long since_start(unsigned int daemon)
{
	return file_field(daemons[daemon].file, daemons[daemon].key) - daemons[daemon].before;
}

bool mutators_all_did(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mutators); i++) {
		if (!refused(mutators[i].refused) && !mutators[i].did)
			return false;
	}
	for (i = 0; i < ARRAY_SIZE(daemons); i++) {
		if (!refused(daemons[i].refused) && since_start(i) <= 0)
			return false;
	}
	return true;
}

void mutators_report(void)
{
	const char *why;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mutators); i++) {
		why = refused(mutators[i].refused);
		if (why) {
			skip(why, "%s went on meanwhile", mutators[i].name);
			continue;
		}
		printf("# %s %lu of %lu\n", mutators[i].name, mutators[i].did, mutators[i].tried);
		if (!mutators[i].did)
			wrong("never once");
		done("%s went on meanwhile", mutators[i].name);
	}
	for (i = 0; i < ARRAY_SIZE(daemons); i++) {
		why = refused(daemons[i].refused);
		if (why) {
			skip(why, "%s: some meanwhile", daemons[i].name);
			continue;
		}
		printf("# %s %ld\n", daemons[i].name, since_start(i));
		if (since_start(i) <= 0)
			wrong("none");
		done("%s: some meanwhile", daemons[i].name);
	}
}
