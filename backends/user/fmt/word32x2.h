/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Entries of two 32-bit words, of which the low one says whether the entry is present. A writer
 * sets high before low and clears low before high; a reader without the lock reads low on both
 * sides of high (ptep_get_lockless() where CONFIG_GUP_GET_PXX_LOW_HIGH is set). Taken over from
 * there is the assumption that an entry is not cleared and set again with the same low word in
 * between: that takes a TLB flush, which IRQs off holds off.
 */
#ifndef PTB_FMT_WORD_H
#define PTB_FMT_WORD_H

#include "../raw.h"

struct fmt_word {
	u32 low, high;
};

static __always_inline u64 word_val(struct fmt_word w)
{
	return w.low | (u64)w.high << 32;
}

static __always_inline struct fmt_word word_mk(u64 val)
{
	return (struct fmt_word){ (u32)val, val >> 32 };
}

static __always_inline struct fmt_word word_load(enum raw_op op, const struct fmt_word *p)
{
	u32 low = raw_load32(op, &p->low);

	/* Under the lock nobody changes it: the hardware writes to the low word alone. */
	return (struct fmt_word){ low, raw_more32(&p->high) };
}

static __always_inline struct fmt_word word_load_lockless(enum raw_op op, const struct fmt_word *p)
{
	struct fmt_word w;

	do {
		w.low = raw_load32(op, &p->low);
		raw_more_rmb();
		w.high = raw_load32(op, &p->high);
		raw_more_rmb();
	} while (unlikely(w.low != raw_load32(op, &p->low)));
	return w;
}

static __always_inline void word_set(struct fmt_word *p, u64 val)
{
	if (!val) {
		raw_store32(&p->low, 0);
		raw_more_wmb();
		raw_store32(&p->high, 0);
		return;
	}
	raw_store32(&p->high, val >> 32);
	raw_more_wmb();
	raw_store32(&p->low, (u32)val);
}

#endif
