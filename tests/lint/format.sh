#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Kernel style as far as clang-format can say it, and no line wider than 100 columns.
set -eu
files=$(find include backends tests -name '*.[ch]' | sort)
# shellcheck disable=SC2086
clang-format --dry-run -Werror $files
# shellcheck disable=SC2086
tests/lint/width.sh $files
# A licence line in each, the kernel backend under the kernel's own licence.
for f in $files; do
	case $f in
	backends/kernel/*) want='GPL-2.0-only' ;;
	*) want='GPL-2.0-only OR MIT' ;;
	esac
	head -n 1 "$f" | grep -q "SPDX-License-Identifier: $want\( \*/\)\?\$" || {
		echo "$f: no SPDX line for $want"
		exit 1
	}
done
