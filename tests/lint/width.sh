#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# No line of code wider than 100 columns, a tab reaching to the next multiple of eight.
set -eu
awk '{
	col = 0
	n = length($0)
	for (i = 1; i <= n; i++)
		col = substr($0, i, 1) == "\t" ? (int(col / 8) + 1) * 8 : col + 1
	if (col > 100) {
		printf "%s:%d: %d columns\n", FILENAME, FNR, col
		bad = 1
	}
} END { exit bad }' "$@"
