/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Numbers that look random and are the same in every run. */
#ifndef TESTS_VALIDATE_RANDOM_H
#define TESTS_VALIDATE_RANDOM_H

#include "kernel.h"

struct rnd {
	u64 state; /* not 0 */
};

/* xorshift64 */
static inline u64 rnd_next(struct rnd *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state;
}

/* 0 .. n - 1 */
static inline u64 rnd_below(struct rnd *r, u64 n)
{
	return (rnd_next(r) >> 11) % n;
}

/* True once in n */
static inline bool rnd_once_in(struct rnd *r, unsigned int n)
{
	return !rnd_below(r, n);
}

#endif
