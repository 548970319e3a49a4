/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the file ptebatch/test in debugfs does for tests in a guest, which cannot see it from
 * outside: hold pages by GUP, read their counts, and time the scan alone.
 */
#ifndef PTEBATCH_TEST_H
#define PTEBATCH_TEST_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Pages an ioctl takes at most: 256 MiB. */
#define PTB_TEST_MAX_NR (1U << 16)

/* How to hold. Without PIN it is a reference; LONGTERM and NOFAULT want PIN, FAST_ONLY does not. */
#define PTB_TEST_PIN (1U << 0)
#define PTB_TEST_WRITE (1U << 1)
#define PTB_TEST_LONGTERM (1U << 2)
#define PTB_TEST_FAST_ONLY (1U << 3)
#define PTB_TEST_NOFAULT (1U << 4)

/*
 * Take pages of the caller's and keep them until PTB_TEST_RELEASE or the file is closed. One hold a
 * file: -EBUSY is about that. What GUP itself returned is in @ret, an error too, and nothing is
 * held unless it is above 0.
 */
struct ptb_test_hold {
	__u64 addr;
	__u64 pfns; /* user's array of nr __u64, @ret of which are written */
	__u32 nr;
	__u32 flags;
	__s32 ret;
	__u32 pad;
};

/* Counts of the folio of a frame; a frame that is no memory has none. */
struct ptb_test_count {
	__u64 pfn;
	__s32 refs;
	__s32 pins; /* -1 if that folio counts pins among its references */
};

struct ptb_test_counts {
	__u64 counts; /* user's array of nr struct ptb_test_count, with @pfn filled in */
	__u32 nr;
	__u32 pad;
};

/*
 * Find the batches of a range, all of it mapped by entries to pages of one vma, in @rounds rounds
 * under the table lock, and again the way the kernel itself does. Times are sums over the rounds.
 */
struct ptb_test_scan {
	__u64 addr;
	__u32 nr;
	__u32 rounds;
	__u64 ours_ns;
	__u64 kernel_ns;
	__u32 ours_runs;
	__u32 kernel_runs;
};

#define PTB_TEST_HOLD _IOWR('b', 1, struct ptb_test_hold)
#define PTB_TEST_RELEASE _IO('b', 2)
#define PTB_TEST_COUNT _IOW('b', 3, struct ptb_test_counts)
#define PTB_TEST_SCAN _IOWR('b', 4, struct ptb_test_scan)

#endif
