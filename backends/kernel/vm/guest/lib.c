// SPDX-License-Identifier: GPL-2.0-only
/* Files, time, keys and counters. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"

#define EXT2_MAGIC 0xef53

void die(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, fmt);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY), ret = 0;
	size_t done = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	while (done < size - 1 && (got = read(fd, text + done, size - 1 - done)) != 0) {
		if (got < 0) {
			ret = -errno;
			break;
		}
		done += got;
	}
	text[done] = 0;
	close(fd);
	return ret;
}

void file_put(const char *path, const char *fmt, ...)
{
	char text[128];
	va_list args;
	int ret;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	ret = file_write(path, text);
	if (ret)
		die("cannot write \"%s\" to %s: %s", text, path, strerror(-ret));
}

long file_number(const char *path)
{
	char text[64];
	int ret = file_read(path, text, sizeof(text));

	if (ret)
		die("cannot read %s: %s", path, strerror(-ret));
	return strtol(text, NULL, 0);
}

long file_field(const char *path, const char *key)
{
	FILE *file = fopen(path, "r");
	size_t len = strlen(key);
	char line[256];
	long value = -1;

	if (!file)
		die("cannot read %s: %s", path, strerror(errno));
	while (value < 0 && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, len))
			value = strtol(line + len, NULL, 10);
	}
	fclose(file);
	return value;
}

int disk_file(size_t size)
{
	static const char zeros[PAGE];
	struct statfs fs;
	int fd;

	if (statfs("/mnt", &fs) || fs.f_type != EXT2_MAGIC)
		return -1;
	fd = open("/mnt", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0)
		die("cannot make a file on /mnt: %s", strerror(errno));
	for (; size; size -= PAGE) {
		if (write(fd, zeros, PAGE) != PAGE)
			die("cannot write a file on /mnt: %s", strerror(errno));
	}
	return fd;
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

void side_set(enum side side)
{
	static const char *const keys[] = { "gup_fast", "dax", "mincore", "vfio" };
	char path[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(path, sizeof(path), DEBUGFS "ptebatch/%s", keys[i]);
		file_put(path, "%d", side == ON);
	}
}

void counters_zero(void)
{
	file_put(DEBUGFS "ptebatch/counters", "1");
}

void counters_stop(void)
{
	file_put(DEBUGFS "ptebatch/counters", "0");
}

struct handled counters_read(const char *walker)
{
	char text[512], want[64];
	struct handled h;
	char *line;
	int ret = file_read(DEBUGFS "ptebatch/counters", text, sizeof(text));

	if (ret)
		die("cannot read the counters: %s", strerror(-ret));
	snprintf(want, sizeof(want), "%s handled ", walker);
	line = strstr(text, want);
	if (!line || sscanf(line + strlen(want), "%llu bailed %llu", &h.handled, &h.bailed) != 2)
		die("no counter of %s in: %s", walker, text);
	return h;
}
