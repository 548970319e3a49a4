#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The library leaves no symbol behind: none exported, none wanted, and the primitives none at all, as they are inlined.
set -eu
. tests/lint/common.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

{
	echo '#include "backend.h"'
	for h in $headers; do
		echo "#include <ptebatch/$h>"
	done
	cat <<'USE'
typedef void (*fn)(void);
extern const fn used[];
const fn used[] = {
	(fn)ptb_gup_fast_ptes, (fn)ptb_gup_fast_leaf, (fn)ptb_dax_leaf, (fn)ptb_mincore_ptes,
	(fn)ptb_vfio_pin, (fn)ptb_vfio_unpin,
};
USE
} >"$tmp/all.c"

for f in $formats; do
	for cc in gcc clang; do
		$cc $flags -O2 -Wno-cast-function-type -DPTB_FMT_HEADER="\"fmt/$f.h\"" \
			-c "$tmp/all.c" -o "$tmp/all.o"
		if nm "$tmp/all.o" | grep -E ' [A-Zuvw] _*ptb_'; then
			echo "stray symbols with $cc for $f"
			exit 1
		fi
		if nm "$tmp/all.o" | grep -E ' t _*ptb_(scan|grab|put|contig|unshared|pte_)'; then
			echo "primitives not inlined with $cc for $f"
			exit 1
		fi
	done
done
