/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * raw.h where an explorer runs: each access is a step. What only the other side uses, which the
 * explorer alone has, stands at the end.
 */
#ifndef PTB_USER_RAW_EXPLORE_H
#define PTB_USER_RAW_EXPLORE_H

#ifdef PTB_USER_HOOKS
#error "either the explorer or hooks"
#endif

#include "sched.h"

/* The accesses themselves are seen. */
static inline void raw_hook(enum raw_op op, const void *where)
{
	(void)op;
	(void)where;
}

/* What the kernel would warn about is a violation. */
static inline void user_warn_on(bool cond, const char *what, const char *file, int line)
{
	if (unlikely(cond))
		sched_fail("%s:%d: the caller must not: %s", file, line, what);
}

static inline u64 raw_load64(enum raw_op op, const u64 *p)
{
	return sched_load(op, p, sizeof(*p));
}

static inline u32 raw_load32(enum raw_op op, const u32 *p)
{
	return sched_load(op, p, sizeof(*p));
}

static inline unsigned long raw_load_long(enum raw_op op, const unsigned long *p)
{
	return sched_load(op, p, sizeof(*p));
}

static inline int raw_read(const int *p)
{
	return sched_load(RAW_READ, p, sizeof(*p));
}

/* A little more than an acquire: loads before it are ordered as well. */
static inline u32 raw_load_acquire32(enum raw_op op, const u32 *p)
{
	u32 val = sched_load(op, p, sizeof(*p));

	sched_rmb();
	return val;
}

static inline void raw_store64(u64 *p, u64 val)
{
	sched_store(p, sizeof(*p), val);
}

static inline void raw_store32(u32 *p, u32 val)
{
	sched_store(p, sizeof(*p), val);
}

static inline u64 raw_do_add_unless_zero(u64 old, u64 arg, bool *store)
{
	*store = old;
	return old + arg;
}

static inline u64 raw_do_add(u64 old, u64 arg, bool *store)
{
	(void)store;
	return old + arg;
}

static inline u64 raw_do_or(u64 old, u64 arg, bool *store)
{
	(void)store;
	return old | arg;
}

static inline u64 raw_do_and(u64 old, u64 arg, bool *store)
{
	(void)store;
	return old & arg;
}

static inline u64 raw_do_xchg(u64 old, u64 arg, bool *store)
{
	(void)old;
	(void)store;
	return arg;
}

static inline bool raw_add_unless_zero(int *p, int n)
{
	return sched_rmw(RAW_TRY_REF, p, sizeof(*p), raw_do_add_unless_zero, n, true);
}

static inline void raw_add(enum raw_op op, int *p, int n)
{
	sched_rmw(op, p, sizeof(*p), raw_do_add, n, false);
}

static inline bool raw_sub_and_test(int *p, int n)
{
	return (int)sched_rmw(RAW_REF_PUT, p, sizeof(*p), raw_do_add, -n, true) == n;
}

static inline void raw_set_bits(unsigned long *p, unsigned long bits)
{
	sched_rmw(RAW_FLAG, p, sizeof(*p), raw_do_or, bits, false);
}

static inline void raw_clear_bits(unsigned long *p, unsigned long bits)
{
	sched_rmw(RAW_FLAG, p, sizeof(*p), raw_do_and, ~bits, false);
}

static inline void raw_mb_after_atomic(void)
{
	sched_mb();
}

static inline void raw_rmb(void)
{
	sched_rmb();
}

static inline unsigned long raw_more_long(const unsigned long *p)
{
	return sched_load(RAW_READ, p, sizeof(*p));
}

static inline u32 raw_more32(const u32 *p)
{
	return sched_load(RAW_READ, p, sizeof(*p));
}

static inline bool raw_more_bool(const bool *p)
{
	return sched_load(RAW_READ, p, sizeof(*p));
}

#define raw_more_ptr(p) ((__typeof__(*(p)))(uintptr_t)sched_load(RAW_READ, p, sizeof(*(p))))

static inline void raw_more_get(int *p)
{
	sched_rmw(RAW_READ, p, sizeof(*p), raw_do_add, 1, false);
}

/* A release: what was done under the reference is seen by who sees it gone. */
static inline void raw_more_put(int *p)
{
	sched_wmb();
	sched_rmw(RAW_READ, p, sizeof(*p), raw_do_add, -1, false);
}

static inline void raw_more_rmb(void)
{
	sched_rmb();
}

static inline void raw_more_wmb(void)
{
	sched_wmb();
}

/* ---- the other side's ---- */

static inline void raw_write(int *p, int val)
{
	sched_store(p, sizeof(*p), (u32)val);
}

static inline void raw_store_long(unsigned long *p, unsigned long val)
{
	sched_store(p, sizeof(*p), val);
}

static inline void raw_store_bool(bool *p, bool val)
{
	sched_store(p, sizeof(*p), val);
}

#define raw_store_ptr(p, val) sched_store(p, sizeof(*(p)), (uintptr_t)(val))

/* Full, as the kernel's xchg(): the value before. */
static inline u64 raw_xchg64(u64 *p, u64 val)
{
	return sched_rmw(RAW_READ, p, sizeof(*p), raw_do_xchg, val, true);
}

static inline u32 raw_xchg32(u32 *p, u32 val)
{
	return sched_rmw(RAW_READ, p, sizeof(*p), raw_do_xchg, val, true);
}

struct raw_swap {
	u64 old, val;
};

static inline u64 raw_do_cmpxchg(u64 old, u64 arg, bool *store)
{
	const struct raw_swap *swap = (const struct raw_swap *)(uintptr_t)arg;

	*store = old == swap->old;
	return swap->val;
}

/* Full when it stores, which is when it returns @old. */
static inline u64 raw_cmpxchg(void *p, unsigned int bytes, u64 old, u64 val)
{
	struct raw_swap swap = { old, val };

	return sched_rmw(RAW_READ, p, bytes, raw_do_cmpxchg, (uintptr_t)&swap, true);
}

static inline u64 raw_cmpxchg64(u64 *p, u64 old, u64 val)
{
	return raw_cmpxchg(p, sizeof(*p), old, val);
}

static inline u32 raw_cmpxchg32(u32 *p, u32 old, u32 val)
{
	return raw_cmpxchg(p, sizeof(*p), old, val);
}

/* page_ref_freeze() is a cmpxchg of the count to 0. */
static inline bool raw_cmpxchg_int(int *p, int old, int val)
{
	return (int)raw_cmpxchg(p, sizeof(*p), (u32)old, (u32)val) == old;
}

static inline void raw_mb(void)
{
	sched_mb();
}

static inline void raw_wmb(void)
{
	sched_wmb();
}

#endif
