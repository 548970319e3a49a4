#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Each library header compiles alone after any one backend, with both compilers, and refuses to without one.
set -eu
. tests/lint/common.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for h in $headers; do
	for f in $formats; do
		printf '#include "backend.h"\n#include <ptebatch/%s>\n' "$h" >"$tmp/one.c"
		for cc in gcc clang; do
			$cc $flags -O2 -DPTB_FMT_HEADER="\"fmt/$f.h\"" -c "$tmp/one.c" -o "$tmp/one.o" || {
				echo "$h does not compile alone with $cc for $f"
				exit 1
			}
		done
	done
	[ "$h" = version.h ] && continue
	printf '#include <ptebatch/%s>\n' "$h" >"$tmp/none.c"
	if gcc $flags -c "$tmp/none.c" -o "$tmp/none.o" 2>/dev/null; then
		echo "$h compiles without a backend"
		exit 1
	fi
done
