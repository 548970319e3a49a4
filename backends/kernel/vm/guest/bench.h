/* SPDX-License-Identifier: GPL-2.0-only */
/* One function a group of walkers; they print what bench.c says. */
#ifndef GUEST_BENCH_H
#define GUEST_BENCH_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_SIZE (64 * MIB)

/* A walk over all of the range, @per_call pages at a time: ns taken. */
typedef uint64_t bench_fn(char *p, size_t size, unsigned int per_call);

/* Prints the line of a walker: the best of some rounds on either side. */
void bench_row(const char *walker, const char *layout, bench_fn *fn, char *p, size_t size,
	       unsigned int per_call);

bench_fn bench_gup_fast, bench_pin_fast;

void bench_vfio(void);
void bench_dax(void);

#endif
