/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Entries of one 64-bit word that is big-endian whatever the CPU is. */
#ifndef PTB_FMT_WORD_H
#define PTB_FMT_WORD_H

#include "../raw.h"

struct fmt_word {
	u64 be;
};

static __always_inline u64 word_swap(u64 val)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? val : __builtin_bswap64(val);
}

static __always_inline u64 word_val(struct fmt_word w)
{
	return word_swap(w.be);
}

static __always_inline struct fmt_word word_mk(u64 val)
{
	return (struct fmt_word){ word_swap(val) };
}

static __always_inline struct fmt_word word_load(enum raw_op op, const struct fmt_word *p)
{
	return (struct fmt_word){ raw_load64(op, &p->be) };
}

static __always_inline struct fmt_word word_load_lockless(enum raw_op op, const struct fmt_word *p)
{
	return word_load(op, p);
}

static __always_inline void word_set(struct fmt_word *p, u64 val)
{
	raw_store64(&p->be, word_swap(val));
}

#endif
