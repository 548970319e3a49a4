/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ptebatch: words, flags and build-time checks.
 *
 * entry            one PTE, by value ("pte"); "ptep" points to one in a table
 * run              consecutive entries that may be treated as one
 * batch            a run bounded to one folio
 * hint             the entry's own word (arm64 contpte) that its neighbours belong to it
 * head reference   the first reference of a run, under which the rest of it is read
 * end, last        end is exclusive, last is inclusive
 * max_nr           entries the caller may touch from here: never read past it
 *
 * Counts are unsigned int inside one table and 64 bits across ranges.
 */
#ifndef PTEBATCH_DEFS_H
#define PTEBATCH_DEFS_H

#ifndef PTB_BACKEND
#error "include a ptebatch backend first, then the library"
#endif

/*
 * How a scan treats two entries that differ. By default it ignores young, dirty, soft-dirty and
 * write, and compares every other bit. Bits 0 to 4 are mainline's FPB_* of the same name. Always a
 * compile-time constant, so that a test that is not asked for costs nothing, and never a default,
 * so that nobody ignores the write bit by not thinking of it.
 */
typedef unsigned int __bitwise ptb_t;

#define PTB_RESPECT_DIRTY ((__force ptb_t)(1U << 0))
#define PTB_RESPECT_SOFT_DIRTY ((__force ptb_t)(1U << 1))
#define PTB_RESPECT_WRITE ((__force ptb_t)(1U << 2))
/* Fold the bit of every counted entry into the caller's copy of the first one. */
#define PTB_MERGE_WRITE ((__force ptb_t)(1U << 3))
#define PTB_MERGE_YOUNG_DIRTY ((__force ptb_t)(1U << 4))
#define PTB_RESPECT_YOUNG ((__force ptb_t)(1U << 5))
/* No table lock is held: read entries that may change, or be wider than a word, safely. */
#define PTB_LOCKLESS ((__force ptb_t)(1U << 6))
/* Read every entry, whatever the block hint says: for tests and for the careful. */
#define PTB_NO_HINT ((__force ptb_t)(1U << 7))

/* Who sets none of these does not look at young and dirty: they may be stale. */
#define PTB_YOUNG_DIRTY (PTB_RESPECT_YOUNG | PTB_RESPECT_DIRTY | PTB_MERGE_YOUNG_DIRTY)

/*
 * Callers name the use:
 *
 * LOOK: the entries are only looked at, or cleared for good. Greedy.
 *
 * SET: entries of the run are set again from the first. Ignoring write here granted write access in
 * real kernels (mremap and lazyfree, both in 2025), so write and soft-dirty must agree; young and
 * dirty are gathered so that none is lost.
 *
 * GUP_FAST: no lock, and the first entry's right to write is taken for all.
 *
 * GUP_LOCKED: the same under the table lock, where a write also dirties the folio by its entries.
 */
#define PTB_FOR_LOOK ((__force ptb_t)0)
#define PTB_FOR_SET (PTB_RESPECT_WRITE | PTB_RESPECT_SOFT_DIRTY | PTB_MERGE_YOUNG_DIRTY)
#define PTB_FOR_GUP_FAST (PTB_LOCKLESS | PTB_RESPECT_WRITE)
#define PTB_FOR_GUP_LOCKED (PTB_RESPECT_WRITE | PTB_RESPECT_DIRTY)

/*
 * Entries that are looked at in one go, and pages that are written so: a cache line of either. 4 is
 * for who explores small tables.
 */
#ifndef PTB_LINE
#define PTB_LINE 8
#endif

/* Constants fold only in an optimised build, so only there can this be asked. */
#ifdef __OPTIMIZE__
#define PTB_FLAGS_ARE_CONSTANT(flags) \
	BUILD_BUG_ON_MSG(!__builtin_constant_p(flags), "ptebatch: scan flags must be a constant")
#else
#define PTB_FLAGS_ARE_CONSTANT(flags) ((void)(flags))
#endif

#endif
