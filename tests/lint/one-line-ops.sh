#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# An op that the kernel cannot give in one line is a wrong op: every "#define ptb_x kernel_x" in
# backends/kernel names a function whose body is one statement on one line. Where kernels differ,
# that line calls compat.h.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"

exec awk '
FNR == 1 { body = 0 }
# The name of a function is the word before the first parenthesis.
/^[a-z].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); at = FILENAME ":" FNR }
/^\{/ { body = 1; lines = 0; next }
/^\}/ { if (body) { len[name] = lines; where[name] = at } body = 0; next }
# Two statements on a line are two.
body { n = gsub(/;/, "&"); lines += n > 1 ? n : 1 }
/^#define ptb_[a-z0-9_]+ kernel_/ { op[$2] = $3; def[$2] = FILENAME ":" FNR }
END {
	for (o in op) {
		ops++
		f = op[o]
		if (!(f in len)) {
			print def[o] ": " o ": no function " f
			bad = 1
		} else if (len[f] != 1) {
			print where[f] ": " o ": " len[f] " lines, not one"
			bad = 1
		}
	}
	if (!ops) {
		print "one-line-ops: no ops found in backends/kernel"
		bad = 1
	}
	exit bad
}' backends/kernel/*.h
