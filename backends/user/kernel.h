/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The few words of the kernel's vocabulary that the headers and the fake mm are written in. Same
 * meaning as in the kernel; nothing here is specific to an entry format.
 */
#ifndef PTB_USER_KERNEL_H
#define PTB_USER_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#ifdef __CHECKER__
#define __bitwise __attribute__((bitwise))
#define __force __attribute__((force))
#else
#define __bitwise
#define __force
#endif

#define noinline __attribute__((__noinline__))
#define __flatten __attribute__((__flatten__))
#undef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#define __maybe_unused __attribute__((__unused__))
#define __printf(fmt, args) __attribute__((__format__(printf, fmt, args)))
/* Coverage is to count conditions where they stand, and not here. */
#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* ThreadSanitizer knows marked accesses by another name. */
#if defined(__SANITIZE_THREAD__)
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#else
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#endif

/*
 * An expression that must be false where the compiler can tell; __OPTIMIZE__ because constants fold
 * only then.
 */
#ifdef __OPTIMIZE__
#define BUILD_BUG_ON_MSG(cond, msg)                                              \
	do {                                                                     \
		extern void ptb_build_bug(void) __attribute__((__error__(msg))); \
		if (cond)                                                        \
			ptb_build_bug();                                         \
	} while (0)
#else
#define BUILD_BUG_ON_MSG(cond, msg) ((void)(cond))
#endif

#endif
