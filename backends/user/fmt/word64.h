/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Entries of one 64-bit word: one load reads one, with or without the lock. */
#ifndef PTB_FMT_WORD_H
#define PTB_FMT_WORD_H

#include "../raw.h"

struct fmt_word {
	u64 val;
};

static __always_inline u64 word_val(struct fmt_word w)
{
	return w.val;
}

static __always_inline struct fmt_word word_mk(u64 val)
{
	return (struct fmt_word){ val };
}

static __always_inline struct fmt_word word_load(enum raw_op op, const struct fmt_word *p)
{
	return word_mk(raw_load64(op, &p->val));
}

static __always_inline struct fmt_word word_load_lockless(enum raw_op op, const struct fmt_word *p)
{
	return word_load(op, p);
}

static __always_inline void word_set(struct fmt_word *p, u64 val)
{
	raw_store64(&p->val, val);
}

#endif
