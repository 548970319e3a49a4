#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The flags are __bitwise: sparse must be silent on every format, and must not be on a wrong use of them.
set -eu
. tests/lint/common.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

check()
{
	sparse -std=gnu11 -Wsparse-error -Wbitwise -Wcontext -Wnon-pointer-null -Wno-decl \
		-Iinclude -Ibackends/user -DPTB_FMT_HEADER="\"fmt/$1.h\"" "$2"
}

for f in $formats; do
	check "$f" backends/user/format.c
done
for c in backends/user/bench/*.c; do
	check x86_64 "$c"
done

cat >"$tmp/bad.c" <<'BAD'
#include "backend.h"
int bad(ptb_pte_t *ptep, ptb_pte_t *pte);
int bad(ptb_pte_t *ptep, ptb_pte_t *pte)
{
	return ptb_scan(ptep, pte, 1, 1, 4);
}
BAD
if check x86_64 "$tmp/bad.c" 2>/dev/null; then
	echo "sparse lets a bare number pass for scan flags"
	exit 1
fi
