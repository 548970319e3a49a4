// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench GROUP...: gup, mincore, scan, vfio, dax
 *
 *	bench <walker> <layout> <off> <on>	instructions a page, under icount
 *	scan <layout> <ours> <folio_pte_batch>
 *
 * Off is the kernel's own code, all keys 0; on is ours, all keys 1; in turns, on the same memory.
 * In a kernel without ptebatch "stock <walker> <layout> <insn>".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "gup.h"
#include "lib.h"

/* The kernel's own, of mm/ of its source. */
#include "gup_test.h"

#define ROUNDS 5
#define FOLL_WRITE 1

/* Once before it is measured: a walker that leaves its pages to the kernel's own is quick, too. */
static void bench_is_ours(const char *walker, const char *layout, bench_fn *fn, char *p,
			  size_t size, unsigned int per_call)
{
	static const char *const counters[] = { "gup_fast", "dax", "mincore", "vfio" };
	unsigned long long handled = 0;
	size_t i;

	side_set(ON);
	counters_zero();
	fn(p, size, per_call);
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		handled += counters_read(counters[i]).handled;
	if (handled * 100 < size / PAGE * 99)
		die("%s %s: %llu of %zu pages were handled by ours", walker, layout, handled,
		    size / PAGE);
	counters_stop();
}

void bench_row(const char *walker, const char *layout, bench_fn *fn, char *p, size_t size,
	       unsigned int per_call)
{
	uint64_t best[2] = { UINT64_MAX, UINT64_MAX }, ns;
	bool both = !access(DEBUGFS "ptebatch", F_OK);
	unsigned int i;

	if (both)
		bench_is_ours(walker, layout, fn, p, size, per_call);
	for (i = 0; i < 2 * ROUNDS; i++) {
		if (both)
			side_set(i % 2);
		ns = fn(p, size, per_call);
		if (ns < best[i % 2])
			best[i % 2] = ns;
	}
	if (both)
		printf("bench %s %s %.2f %.2f\n", walker, layout, (double)best[OFF] / (size / PAGE),
		       (double)best[ON] / (size / PAGE));
	else
		printf("stock %s %s %.2f\n", walker, layout,
		       (double)(best[0] < best[1] ? best[0] : best[1]) / (size / PAGE));
}

/* ---- gup ---- */

static uint64_t gup_test(unsigned long cmd, char *p, size_t size, unsigned int per_call)
{
	static int fd = -1;
	struct gup_test arg = {
		.addr = (uintptr_t)p,
		.size = size,
		.nr_pages_per_call = per_call,
		.gup_flags = FOLL_WRITE,
	};

	if (fd < 0)
		fd = open(DEBUGFS "gup_test", O_RDWR);
	if (fd < 0 || ioctl(fd, cmd, &arg))
		die("gup_test: %s", strerror(errno));
	if (arg.size != size)
		die("gup_test stopped at %#llx of %#zx", (unsigned long long)arg.size, size);
	return arg.get_delta_usec * 1000;
}

uint64_t bench_gup_fast(char *p, size_t size, unsigned int per_call)
{
	return gup_test(GUP_FAST_BENCHMARK, p, size, per_call);
}

uint64_t bench_pin_fast(char *p, size_t size, unsigned int per_call)
{
	return gup_test(PIN_FAST_BENCHMARK, p, size, per_call);
}

/* ---- mincore ---- */

static uint64_t bench_mincore(char *p, size_t size, unsigned int per_call)
{
	static unsigned char vec[BENCH_SIZE / PAGE];
	size_t step = per_call * PAGE, i;
	uint64_t start = now_ns();

	for (i = 0; i < size; i += step) {
		if (mincore(p + i, step, vec + i / PAGE))
			die("mincore: %s", strerror(errno));
	}
	return now_ns() - start;
}

/* ---- the layouts ---- */

struct walker {
	const char *name;
	bench_fn *fn;
	unsigned int per_call;
};

static const struct walker gup_walkers[] = {
	{ "gup_fast", bench_gup_fast, 512 },
	{ "pin_fast", bench_pin_fast, 512 },
	{ NULL },
};

/* mincore's stock figure is of one call: entering the kernel is no part of its walk. */
static const struct walker mincore_walkers[] = {
	{ "mincore", bench_mincore, BENCH_SIZE / PAGE },
	{ NULL },
};

static void bench_layouts(const struct walker *walkers)
{
	const struct walker *w;
	unsigned int i;

	for (i = 0; i < nr_layouts; i++) {
		const char *name = layouts[i].name;
		char *p = layout_map(&layouts[i], BENCH_SIZE);

		for (w = walkers; w->name; w++) {
			bench_row(w->name, name, w->fn, p, BENCH_SIZE, w->per_call);
			if (!strcmp(name, "4k")) {
				bench_row(w->name, "4k-n1", w->fn, p, BENCH_SIZE, 1);
				bench_row(w->name, "4k-n16", w->fn, p, BENCH_SIZE, 16);
			} else if (!strcmp(name, "64k")) {
				bench_row(w->name, "64k-n16", w->fn, p, BENCH_SIZE, 16);
			}
		}
		munmap(p, BENCH_SIZE);
	}
}

static void bench_gup(void)
{
	bench_layouts(gup_walkers);
}

static void bench_all_mincore(void)
{
	bench_layouts(mincore_walkers);
}

/* ---- the scan alone ---- */

static void bench_scan(void)
{
	int fd = gup_open();
	unsigned int i;

	for (i = 0; i < nr_layouts; i++) {
		struct ptb_test_scan arg = { .nr = BENCH_SIZE / PAGE, .rounds = 16 };
		double pages = (double)arg.nr * arg.rounds;
		char *p;

		/* A folio of one page is not scanned, and behind a PMD there is nothing to. */
		if (layouts[i].kib == 4 || !strcmp(layouts[i].name, "2M-pmd"))
			continue;
		p = layout_map(&layouts[i], BENCH_SIZE);
		arg.addr = (uintptr_t)p;
		if (ioctl(fd, PTB_TEST_SCAN, &arg))
			die("scan of layout %s: %s", layouts[i].name, strerror(errno));
		if (arg.ours_runs != arg.kernel_runs)
			die("scan of layout %s: %u batches, folio_pte_batch %u", layouts[i].name,
			    arg.ours_runs, arg.kernel_runs);
		printf("scan %s %.2f %.2f\n", layouts[i].name, arg.ours_ns / pages,
		       arg.kernel_ns / pages);
		munmap(p, BENCH_SIZE);
	}
	close(fd);
}

/* clang-format off */
static const struct {
	const char *name;
	void (*run)(void);
} groups[] = {
	{ "gup", bench_gup },
	{ "mincore", bench_all_mincore },
	{ "scan", bench_scan },
	{ "vfio", bench_vfio },
	{ "dax", bench_dax },
};
/* clang-format on */

int main(int argc, char **argv)
{
	size_t g;
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2)
		die("which of gup, mincore, scan, vfio, dax?");
	for (i = 1; i < argc; i++) {
		for (g = 0; g < ARRAY_SIZE(groups); g++) {
			if (!strcmp(argv[i], groups[g].name))
				break;
		}
		if (g == ARRAY_SIZE(groups))
			die("no group %s", argv[i]);
		groups[g].run();
	}
	return 0;
}
