// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the guest: loads ptebatch_stock.ko, has it look at memory of known layouts, or with "churn" at
 * a process that changes its own all the time, and prints TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

#define DIR DEBUGFS "ptebatch_stock/"
#define SIZE (8 * MIB)
#define NR (SIZE / PAGE)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum use { LOOK, GUP, SET, CONTIG, USES };

struct report {
	unsigned long in_tables, by_leaf;
	unsigned long runs[16][USES], batches[USES];
	double each, scan;
};

static int tests, failures;

static void ok(bool good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void ok(bool good, const char *fmt, ...)
{
	va_list ap;

	failures += !good;
	printf("%sok %d - ", good ? "" : "not ", ++tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static void parse(struct report *r, char *line)
{
	unsigned long length, *b = r->batches, runs[USES];
	unsigned int i;

	sscanf(line, "pages_in_tables %lu", &r->in_tables);
	sscanf(line, "pages_by_leaf %lu", &r->by_leaf);
	sscanf(line, "batches %lu %lu %lu %lu", &b[LOOK], &b[GUP], &b[SET], &b[CONTIG]);
	sscanf(line, "ns_per_page %lf %lf", &r->each, &r->scan);
	if (sscanf(line, "%lu %lu %lu %lu %lu", &length, &runs[LOOK], &runs[GUP], &runs[SET],
		   &runs[CONTIG]) != 5)
		return;
	for (i = 0; i < 16; i++)
		if (1UL << i == length)
			memcpy(r->runs[i], runs, sizeof(runs));
}

static int ask(const char *question, struct report *r)
{
	char text[4096], *line, *rest = text;
	int err = file_write(DIR "range", question);

	memset(r, 0, sizeof(*r));
	if (err < 0)
		return err;
	err = file_read(DIR "range", text, sizeof(text));
	if (err < 0)
		return err;
	while ((line = strsep(&rest, "\n")))
		parse(r, line);
	return 0;
}

static struct report ask_range(int pid, const char *p, size_t size)
{
	char question[64];
	struct report r;
	int err;

	snprintf(question, sizeof(question), "%d %lx %lx", pid, (long)p, (long)p + size);
	err = ask(question, &r);
	if (err < 0)
		die("%s: \"%s\": %s", DIR "range", question, strerror(-err));
	return r;
}

/* ---- tests ---- */

static void load(void)
{
	int fd = open("/ptebatch_stock.ko", O_RDONLY);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		die("/ptebatch_stock.ko: cannot be loaded: %s", strerror(errno));
	ok(!access(DIR "range", F_OK), "loaded");
}

static void unload(void)
{
	int err = syscall(SYS_delete_module, "ptebatch_stock", 0);

	ok(!err && access(DIR, F_OK), "unloaded, and nothing is left in debugfs");
}

/* Not one page more or less than all, in batches that end where folios do. */
static void layout(const char *name, unsigned int bucket)
{
	char *p = layout_map(layout_find(name), SIZE);
	struct report r = ask_range(0, p, SIZE);
	unsigned long n = NR >> bucket;
	unsigned int use;
	bool all = true;

	for (use = LOOK; use <= SET; use++)
		all = all && r.runs[bucket][use] == n && r.batches[use] == n;
	ok(r.in_tables == NR && !r.by_leaf && all && r.batches[CONTIG] <= n,
	   "%s: %lu pages in %lu, %lu, %lu batches, %lu contiguous runs", name, r.in_tables,
	   r.batches[LOOK], r.batches[GUP], r.batches[SET], r.batches[CONTIG]);
	printf("# %s: %.2f ns a page for each, %.2f by batch\n", name, r.each, r.scan);
	if (bucket >= 4)
		ok(r.scan < r.each, "%s: one look at a batch costs less than one at each page",
		   name);
	munmap(p, SIZE);
}

/* As a debugger, or a walker in the middle of a range, may ask. */
static void windows(void)
{
	char *p = layout_map(layout_find("64k"), SIZE);
	struct report r = ask_range(0, p + 5 * PAGE, 16 * PAGE);

	ok(r.in_tables == 16 && r.batches[LOOK] == 2 && r.runs[3][LOOK] == 1 &&
		   r.runs[2][LOOK] == 1,
	   "a range from page 5 of a folio to page 4 of the next is 11 and 5 pages");
	r = ask_range(0, p + 7 * PAGE, 1);
	ok(r.in_tables == 1 && r.runs[0][LOOK] == 1, "a byte is its page");
	mprotect(p + 3 * PAGE, PAGE, PROT_READ);
	r = ask_range(0, p, 16 * PAGE);
	ok(r.in_tables == 16 && r.batches[LOOK] == 3,
	   "a page of another vma is a batch of its own");
	madvise(p + 9 * PAGE, PAGE, MADV_DONTNEED);
	r = ask_range(0, p, 16 * PAGE);
	ok(r.in_tables == 15 && r.batches[LOOK] == 4, "a page that is gone is not counted");
	munmap(p, SIZE);
	r = ask_range(0, p, SIZE);
	ok(!r.in_tables && !r.by_leaf && !r.batches[LOOK], "nothing is mapped, nothing is counted");
}

static void leaves(void)
{
	char *p = layout_map(layout_find("2M-pmd"), SIZE);
	struct report r = ask_range(0, p, SIZE);

	ok(r.by_leaf == NR && !r.in_tables, "2M-pmd: %lu pages by PMD", r.by_leaf);
	r = ask_range(0, p + PAGE, SIZE - 2 * PAGE);
	ok(r.by_leaf == NR - 2, "2M-pmd: but a page at either end, %lu pages", r.by_leaf);
	/* A vma of its own; on arm64 what is left of its block has no block bit any more. */
	mprotect(p + 100 * PAGE, PAGE, PROT_READ);
	r = ask_range(0, p, SIZE);
	ok(r.by_leaf == NR - 512 && r.in_tables == 512 &&
		   (r.batches[LOOK] == 3 || r.batches[LOOK] == 5),
	   "2M-pmd: one of them by PTE, in %lu batches", r.batches[LOOK]);
	munmap(p, SIZE);
}

static void others(void)
{
	char *p = layout_map(layout_find("64k"), SIZE);
	pid_t child = fork();
	char question[32];
	struct report r;
	int err;

	if (!child)
		for (;;)
			pause();
	r = ask_range(child, p, SIZE);
	ok(r.in_tables == NR && r.batches[LOOK] == NR / 16, "another process");
	snprintf(question, sizeof(question), "%d", child);
	err = ask(question, &r);
	ok(!err && r.in_tables > NR && r.batches[LOOK] > NR / 16,
	   "all of another process: %lu pages", r.in_tables);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(ask(question, &r) == -ESRCH, "a process that is gone");
	munmap(p, SIZE);
}

static void nonsense(void)
{
	static const struct {
		const char *question;
		int err;
	} rows[] = {
		{ "x", -EINVAL },
		{ "-1", -EINVAL },
		{ "0 1000", -EINVAL },
		{ "0 1000 1000", -EINVAL },
		{ "0 2000 1000", -EINVAL },
		{ "999999", -ESRCH },
		{ "2" /* kthreadd */, -ESRCH },
	};
	struct report r;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		ok(ask(rows[i].question, &r) == rows[i].err, "\"%s\" is refused", rows[i].question);
}

/* Tables come and go, split and collapse while they are looked at. No splat is what is expected. */
static void churn(void)
{
	char question[32], *p = map_anon(SIZE);
	pid_t child = fork();
	struct report r;
	int i, asked = 0;

	if (!child) {
		for (;;) {
			memset(p, 1, SIZE);
			mprotect(p + PAGE, PAGE, PROT_READ);
			mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE);
			madvise(p, SIZE, MADV_COLLAPSE);
			madvise(p + SIZE / 2, SIZE / 2, MADV_DONTNEED);
			munmap(p, SIZE / 4);
			mmap(p, SIZE / 4, PROT_READ | PROT_WRITE,
			     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		}
	}
	snprintf(question, sizeof(question), "%d", child);
	for (i = 0; i < 300; i++)
		asked += !ask(question, &r);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(asked == 300, "a process whose tables come and go, %d times", asked);
	munmap(p, SIZE);
}

static void vpfn(void)
{
	char text[1024] = "", *line, *rest = text;
	int lines = 0;

	ok(file_read(DIR "vpfn", text, sizeof(text)) >= 0, "pins counted as found one by one");
	while ((line = strsep(&rest, "\n")) && *line) {
		printf("# vpfn: %s\n", line);
		lines++;
	}
	ok(lines == 6, "vpfn: none to all of a run pinned already");
}

int main(int argc, char **argv)
{
	load();
	if (argc > 1 && !strcmp(argv[1], "churn")) {
		churn();
	} else {
		layout("4k", 0);
		layout("4k-shuffled", 0);
		layout("64k", 4);
		layout("1M", 8);
		windows();
		leaves();
		others();
		nonsense();
		vpfn();
	}
	unload();
	printf("1..%d\n", tests);
	return failures != 0;
}
