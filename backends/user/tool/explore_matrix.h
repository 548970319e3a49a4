/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The explorer's whole table. */
#ifndef PTB_TOOL_EXPLORE_MATRIX_H
#define PTB_TOOL_EXPLORE_MATRIX_H

#include "tool.h"
#include "../explore.h"

/* Every pair in each of the geometries, into a TSV file. Returns the exit code. */
int explore_matrix(const struct ptb_explore *const *geometries, unsigned int nr, const char *path,
		   bool quick);

#endif
