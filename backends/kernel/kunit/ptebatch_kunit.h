/* SPDX-License-Identifier: GPL-2.0-only */
/* Chance, the same on every run. */
#ifndef PTEBATCH_KUNIT_H
#define PTEBATCH_KUNIT_H

#include <linux/prandom.h>

static inline u32 below(struct rnd_state *rnd, u32 n)
{
	return prandom_u32_state(rnd) % n;
}

static inline bool once_in(struct rnd_state *rnd, u32 n)
{
	return !below(rnd, n);
}

#endif
