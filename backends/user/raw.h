/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Every access a walker makes to memory that others may change goes through here: the words of a
 * table, the counts and flags of a page, barriers. Builds:
 *
 * plain             the access and nothing else: this one is timed
 * PTB_USER_HOOKS    counts accesses, and lets a script act before each, which is how a test plays
 *                   "the other side" at an exact moment
 * PTB_USER_THREADS  holds a thread up before an access now and then, which makes races wide
 * PTB_USER_EXPLORE  each access is a step of the explorer's (sched.h): raw_explore.h
 *
 * Most ops are one access, and are counted by it. Where an op makes several, those after the first
 * are raw_more_*(): not counted, no moment of a script, but steps of the explorer's all the same.
 */
#ifndef PTB_USER_RAW_H
#define PTB_USER_RAW_H

#include "kernel.h"
#include "raw_op.h"

#ifdef PTB_USER_EXPLORE
#include "raw_explore.h"
#else

#ifdef PTB_USER_HOOKS
struct raw_hooks {
	u64 count[RAW_NR];
	/* Called before the access; may itself access without recursing. */
	void (*script)(enum raw_op op, const void *where, void *arg);
	void *arg;
	bool inside;
};

extern struct raw_hooks raw_hooks;
void user_warn(const char *what, const char *file, int line) __attribute__((__noreturn__));

/* What the kernel would warn about ends the test. */
static inline void user_warn_on(bool cond, const char *what, const char *file, int line)
{
	if (unlikely(cond))
		user_warn(what, file, line);
}

void raw_hook_slow(enum raw_op op, const void *where);

static inline void raw_hook(enum raw_op op, const void *where)
{
	if (raw_hooks.inside)
		return;
	raw_hooks.count[op]++;
	if (raw_hooks.script)
		raw_hook_slow(op, where);
}
#elif defined(PTB_USER_THREADS)
extern __thread unsigned int raw_held_up_in; /* so many accesses */
void raw_hold_up(void);

static inline void raw_hook(enum raw_op op, const void *where)
{
	(void)op;
	(void)where;
	if (unlikely(!raw_held_up_in--))
		raw_hold_up();
}
#else
static inline void raw_hook(enum raw_op op, const void *where)
{
	(void)op;
	(void)where;
}
#endif

static __always_inline u64 raw_load64(enum raw_op op, const u64 *p)
{
	raw_hook(op, p);
	return READ_ONCE(*p);
}

static __always_inline u32 raw_load32(enum raw_op op, const u32 *p)
{
	raw_hook(op, p);
	return READ_ONCE(*p);
}

static __always_inline unsigned long raw_load_long(enum raw_op op, const unsigned long *p)
{
	raw_hook(op, p);
	return READ_ONCE(*p);
}

static __always_inline int raw_read(const int *p)
{
	raw_hook(RAW_READ, p);
	return READ_ONCE(*p);
}

/* smp_load_acquire() of the kernel */
static __always_inline u32 raw_load_acquire32(enum raw_op op, const u32 *p)
{
	raw_hook(op, p);
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static __always_inline void raw_store64(u64 *p, u64 val)
{
	WRITE_ONCE(*p, val);
}

static __always_inline void raw_store32(u32 *p, u32 val)
{
	WRITE_ONCE(*p, val);
}

/* atomic_add_unless(p, n, 0) of the kernel: ordered when it succeeds */
static __always_inline bool raw_add_unless_zero(int *p, int n)
{
	int old;

	raw_hook(RAW_TRY_REF, p);
	old = READ_ONCE(*p);
	do {
		if (unlikely(!old))
			return false;
	} while (!__atomic_compare_exchange_n(p, &old, old + n, true, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	return true;
}

static __always_inline void raw_add(enum raw_op op, int *p, int n)
{
	raw_hook(op, p);
	__atomic_fetch_add(p, n, __ATOMIC_RELAXED);
}

static __always_inline bool raw_sub_and_test(int *p, int n)
{
	raw_hook(RAW_REF_PUT, p);
	return __atomic_sub_fetch(p, n, __ATOMIC_ACQ_REL) == 0;
}

static __always_inline void raw_set_bits(unsigned long *p, unsigned long bits)
{
	raw_hook(RAW_FLAG, p);
	__atomic_fetch_or(p, bits, __ATOMIC_RELAXED);
}

static __always_inline void raw_clear_bits(unsigned long *p, unsigned long bits)
{
	raw_hook(RAW_FLAG, p);
	__atomic_fetch_and(p, ~bits, __ATOMIC_RELAXED);
}

/* After a read-modify-write: on x86 that is a full barrier already, elsewhere it has to be said. */
static __always_inline void raw_mb_after_atomic(void)
{
	raw_hook(RAW_MB, NULL);
#if defined(__x86_64__) || defined(__i386__)
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static __always_inline void raw_rmb(void)
{
	raw_hook(RAW_RMB, NULL);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* ---- accesses of an op after its first ---- */

static __always_inline unsigned long raw_more_long(const unsigned long *p)
{
	return READ_ONCE(*p);
}

static __always_inline u32 raw_more32(const u32 *p)
{
	return READ_ONCE(*p);
}

static __always_inline bool raw_more_bool(const bool *p)
{
	return READ_ONCE(*p);
}

#define raw_more_ptr(p) READ_ONCE(*(p))

/* A reference to a pagemap: percpu_ref_tryget_live(), percpu_ref_put() */
static __always_inline void raw_more_get(int *p)
{
	__atomic_fetch_add(p, 1, __ATOMIC_ACQUIRE);
}

static __always_inline void raw_more_put(int *p)
{
	__atomic_fetch_sub(p, 1, __ATOMIC_RELEASE);
}

static __always_inline void raw_more_rmb(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static __always_inline void raw_more_wmb(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

#endif
#endif
