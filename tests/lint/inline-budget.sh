#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ptb_scan_folio() on x86_64 may have 5 % + 2 more instructions than a loop written by hand for that one format.
set -eu
. tests/lint/common.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

count()
{
	objdump -d --no-show-raw-insn "$tmp/o" | awk -v f="<$1>:" '
		$2 == f { on = 1; next }
		/^$/ { on = 0 }
		# padding between functions is no instruction of either
		on && $2 !~ /^(nop|nopw|nopl|data16|cs|xchg)/ { n++ }
		END { print n + 0 }'
}

for cc in gcc clang; do
	$cc $flags -O2 -DPTB_USER_VMEMMAP -DPTB_FMT_HEADER='"fmt/x86_64.h"' \
		-c tests/lint/inline-budget.c -o "$tmp/o"
	generic=$(count generic)
	by_hand=$(count by_hand)
	echo "$cc: ptb_scan_folio $generic instructions, by hand $by_hand"
	[ "$by_hand" -gt 10 ]
	if objdump -d "$tmp/o" | grep -E 'call.*<'; then
		echo "$cc: something is called and not inlined"
		exit 1
	fi
	if [ $((generic * 100)) -gt $((by_hand * 105 + 200)) ]; then
		echo "$cc: over the budget of 5 % + 2"
		exit 1
	fi
done
