/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GUEST_GUP_H
#define GUEST_GUP_H

#include <stdint.h>

#include "ptebatch_test.h"

/* A way to call GUP. */
struct gup_mode {
	const char *name;
	unsigned int flags;
};

extern const struct gup_mode gup_modes[9];

/* The device, which holds pages until it is closed. */
int gup_open(void);
/* What GUP returned: the frames of so many pages, or an error. */
int gup_hold(int fd, char *p, unsigned int nr, unsigned int flags, uint64_t *frames);
/* References and pins of the frames in @counts. */
void gup_counts(struct ptb_test_count *counts, unsigned int nr);

#endif
