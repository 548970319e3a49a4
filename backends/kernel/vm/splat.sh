#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# splat.sh LOG: the kernel's complaints in a console's log; exits 1 if there are any.
set -eu

# A line is the kernel's if it has a time stamp: what a test prints is its own. Data races are kcsan.sh's
# to judge: most are between others.
awk '
	!/^\[ *[0-9]+\.[0-9]+\]/ { next }
	/BUG: KCSAN: / { next }
	/WARNING: |BUG: |KASAN: |UBSAN: |suspicious RCU usage|possible recursive locking/ ||
	/possible circular locking|inconsistent lock state|INFO: task .* blocked|rcu_.*stall/ ||
	/Bad page (state|map)|bad: scheduling|sleeping function called|soft lockup/ ||
	/Oops|kernel BUG at|general protection fault|Unable to handle kernel|refcount_t: / ||
	/page_table_check|Voluntary context switch within RCU|Call [Tt]race:/ {
		if (!nr++)
			print "splat:"
		left = 12
	}
	left-- > 0 { print }
	END { exit nr > 0 }' "$1" >&2
