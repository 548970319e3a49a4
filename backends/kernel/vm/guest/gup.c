// SPDX-License-Identifier: GPL-2.0-only
/* GUP by way of the test device. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "gup.h"
#include "lib.h"

/* clang-format off */
const struct gup_mode gup_modes[] = {
	{ "get",                 0 },
	{ "get write",           PTB_TEST_WRITE },
	{ "get fast only",       PTB_TEST_FAST_ONLY },
	{ "get fast only write", PTB_TEST_FAST_ONLY | PTB_TEST_WRITE },
	{ "pin",                 PTB_TEST_PIN },
	{ "pin write",           PTB_TEST_PIN | PTB_TEST_WRITE },
	{ "pin longterm",        PTB_TEST_PIN | PTB_TEST_LONGTERM },
	{ "pin longterm write",  PTB_TEST_PIN | PTB_TEST_LONGTERM | PTB_TEST_WRITE },
	{ "pin without faults",  PTB_TEST_PIN | PTB_TEST_NOFAULT },
};
/* clang-format on */

int gup_open(void)
{
	int fd = open(DEBUGFS "ptebatch/test", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("cannot open ptebatch/test: %s", strerror(errno));
	return fd;
}

int gup_hold(int fd, char *p, unsigned int nr, unsigned int flags, uint64_t *frames)
{
	struct ptb_test_hold arg = {
		.addr = (uintptr_t)p,
		.nr = nr,
		.flags = flags,
		.pfns = (uintptr_t)frames,
	};

	if (ioctl(fd, PTB_TEST_HOLD, &arg))
		die("cannot hold pages: %s", strerror(errno));
	return arg.ret;
}

void gup_counts(struct ptb_test_count *counts, unsigned int nr)
{
	struct ptb_test_counts arg = { .counts = (uintptr_t)counts, .nr = nr };
	static int fd = -1;

	if (fd < 0)
		fd = gup_open();
	if (ioctl(fd, PTB_TEST_COUNT, &arg))
		die("cannot read counts: %s", strerror(errno));
}
