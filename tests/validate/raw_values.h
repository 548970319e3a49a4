/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How a raw entry and what it must mean are written down: one table a family of formats. */
#ifndef TESTS_VALIDATE_RAW_VALUES_H
#define TESTS_VALIDATE_RAW_VALUES_H

#include "bed.h"

/*
 * A present entry. is: P present, W write, Y young, D dirty, N protnone, r and w permitted to read
 * and to write, S special, V devmap. An operation whose result is not named leaves the entry as it
 * is.
 */
struct present_row {
	const char *what;
	u64 val;
	u64 pfn;
	const char *is;
	u64 next, third; /* advanced by 1 and by 3; 0: to nothing */
	u64 mkold, mkclean, wrprotect, clear_soft_dirty, mkwrite, mkyoung, mkdirty;
	u64 mkwrite_shstk; /* in a shadow stack's vma; 0: as mkwrite */
	bool block;	   /* the hint says so */
	u64 word;	   /* what the table holds, if that is not the value */
	const char *bytes; /* its 8 bytes in memory, where the CPU's order is not the entry's */
};

/*
 * An entry that maps nothing. is: 0 none, m none mostly, s swap; next: the entry of the slot behind
 */
struct other_row {
	const char *what;
	u64 val;
	const char *is;
	unsigned int type;
	u64 offset, next;
};

#endif
