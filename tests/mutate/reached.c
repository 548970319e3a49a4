// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What was reached is in a file that all tests of a program share, each being a process. */
#include "reached.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

unsigned char *reached_map;

static void __attribute__((__constructor__(101))) reached_init(void)
{
	int fd = open(getenv("REACHED"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ftruncate(fd, REACHED_MAX))
		abort();
	reached_map = mmap(NULL, REACHED_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (reached_map == MAP_FAILED)
		abort();
	close(fd);
}
