/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Files written whole or not at all: what was there before stays until then. Both return 0, or -1
 * with a line in err, as in snapshot.h.
 */
#ifndef PTB_USER_WHOLE_FILE_H
#define PTB_USER_WHOLE_FILE_H

#include "snapshot.h"

/* Asked before long work, so that it does not end in a typo. */
int whole_file_may_write(const char *path, char err[SNAP_ERR_MAX]);
int whole_file_write(const char *path, const void *data, size_t len, char err[SNAP_ERR_MAX]);

#endif
