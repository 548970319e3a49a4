/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs in the guest share. Anything that cannot be set up ends the program with one
 * line that says what: a figure or a test over other memory than it claims is worse than none.
 */
#ifndef GUEST_LIB_H
#define GUEST_LIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE 4096UL
#define MIB (1024UL * 1024)
#define PMD_SIZE (2 * MIB)
#define DEBUGFS "/sys/kernel/debug/"
#define THP "/sys/kernel/mm/transparent_hugepage/"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- lib.c ---- */

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Files of a line or so: 0 or -errno. */
int file_write(const char *path, const char *text);
int file_read(const char *path, char *text, size_t size);
/* The same, where it must work. */
void file_put(const char *path, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
long file_number(const char *path);
/* A number behind "<key>" in a file of many lines, or -1. */
long file_field(const char *path, const char *key);
/* Whole pages of zeros in a file on /mnt, which writes back; -1 if there is no disk. */
int disk_file(size_t size);

/* Instructions under icount, on both architectures. */
uint64_t now_ns(void);

enum side { OFF, ON };

struct handled {
	unsigned long long handled, bailed;
};

/* All keys at once: off is the kernel's own code. */
void side_set(enum side side);
/* From 0 on, and no more. */
void counters_zero(void);
void counters_stop(void);
struct handled counters_read(const char *walker);

/* ---- tap.c ---- */

/* What went wrong with the test at hand; it then fails. */
void wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The end of a test: its name says what is expected. */
void done(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void skip(const char *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* After the last of them: what main() returns. */
int tap_end(void);

/* ---- layout.c ---- */

struct layout {
	const char *name;
	unsigned int kib; /* of a folio: 4, 2048, or a multi-size one between */
	bool shuffled;	  /* touched in random order, so that neighbours are none in memory */
	bool ptes;	  /* 2M, but mapped by entries */
};

/* 4k comes first: memory is contiguous right after boot, and stock figures are from there. */
extern const struct layout layouts[];
extern const unsigned int nr_layouts;

const struct layout *layout_find(const char *name);
/* Policy for anonymous memory touched from now on: folios of this size, no others. */
void thp_set(unsigned int kib);
/* Any such policy by its file; false if it has no such size. */
bool thp_sizes(const char *file, unsigned int kib);
/* size of 2 MiB alignment, private and anonymous, not touched yet. */
char *map_anon(size_t size);
void touch(char *p, size_t size);
/* A layout as its name says. */
char *layout_map(const struct layout *layout, size_t size);
/* That it is so: does a folio begin at each kib, and only there? */
void layout_check(const struct layout *layout, const char *p, size_t size);

/* Frames from pagemap: 0 where no page is mapped. */
void frames_read(const char *p, size_t nr, uint64_t *frames);
void frames_read_of(int pid, const char *p, size_t nr, uint64_t *frames);
/* Bytes of the range that are mapped by PMDs. */
size_t pmd_mapped(const char *p, size_t size);

#endif
