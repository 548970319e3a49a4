/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Of rounds of timing, the one in the middle: what disturbed a few of them does not count. */
#ifndef PTB_USER_MEDIAN_H
#define PTB_USER_MEDIAN_H

#include "kernel.h"

#define MAX_ROUNDS 64

static inline int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static inline double median(const double *v, unsigned int n)
{
	double sorted[MAX_ROUNDS];

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*sorted), compare_double);
	return n & 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

#endif
