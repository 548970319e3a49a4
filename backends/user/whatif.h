/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The same memory, had it come in larger folios. */
#ifndef PTB_USER_WHATIF_H
#define PTB_USER_WHATIF_H

#include "snapshot.h"

/*
 * A copy of @s in which every aligned block of 1 << @order pages that is wholly present, entry by
 * entry with the same rights, is one folio of new frames; from order 9 on mapped by PMD leaves, as
 * the kernel would. What is in a folio as large already, or partly present, stays as it is: nothing
 * is added to the process. @moved: pages that changed folio.
 *
 * 0, or -1 if memory is out.
 */
int snapshot_what_if(const struct snapshot *s, unsigned int order, struct snapshot *out,
		     u64 *moved);

#endif
