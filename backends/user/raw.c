// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The hooks' own state. */
#define PTB_USER_HOOKS
#include "raw.h"

struct raw_hooks raw_hooks;

void raw_hook_slow(enum raw_op op, const void *where)
{
	raw_hooks.inside = true;
	raw_hooks.script(op, where, raw_hooks.arg);
	raw_hooks.inside = false;
}

void user_warn(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: the caller must not: %s\n", file, line, what);
	abort();
}
