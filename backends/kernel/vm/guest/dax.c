// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dax.h"
#include "lib.h"

char *dax_map(size_t size, size_t *align)
{
	int fd = open("/dev/dax0.0", O_RDWR);
	char *p;

	if (fd < 0)
		return NULL;
	*align = file_number("/sys/bus/dax/devices/dax0.0/align");
	p = mmap(map_anon(size), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED)
		die("cannot map /dev/dax0.0: %s", strerror(errno));
	close(fd);
	touch(p, size);
	return p;
}
