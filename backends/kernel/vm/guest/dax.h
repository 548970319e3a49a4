/* SPDX-License-Identifier: GPL-2.0-only */
/* The first device-dax. */
#ifndef GUEST_DAX_H
#define GUEST_DAX_H

#include <stddef.h>

/* All of it mapped; NULL if there is no device. *align is the granularity of its mappings. */
char *dax_map(size_t size, size_t *align);

#endif
