#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ptebatch bench: that its contenders agree in every row, what it prints, and what it says to bad input.
set -u
bin=$1
command=bench
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"

helps bench

run --list
rows=$(wc -l <"$tmp/out")
[ "$rc" = 0 ] && [ "$rows" -ge 49 ] && grep -qx gup_fast/cold/9/pin "$tmp/out" &&
	grep -qx mincore/random/0/look "$tmp/out" && grep -qx vpfn/wide/1000000/count "$tmp/out" &&
	[ "$(sort -u "$tmp/out" | wc -l)" = "$rows" ]
check $? "--list names the rows"
run --list --rows 'gup_fast/warm/*/pin'
[ "$rc" = 0 ] && [ "$(cat "$tmp/out")" = "$(printf 'gup_fast/warm/%s/pin\n' 0 2 4 8 9)" ]
check $? "--rows chooses some"

run --check
[ "$rc" = 0 ] && [ "$(cat "$tmp/out")" = "$rows rows: all contenders agree" ] && [ ! -s "$tmp/err" ]
check $? "in every row all contenders answer alike and leave the same counts"

# One row of each walker, as briefly as may be.
set -- gup_fast/warm/4/pin gup_fast/cold/9/get mincore/all-present/0/look scan/run/1/look contig/run/512/look \
	vfio_pin/narrow/1000/pin vpfn/narrow/100/count vpfn/wide/100/count
header=$(printf 'walker\tlayout\torder\top\tper_entry\tcompare_each\tseed_shape\tptebatch\tlimit')
: >"$tmp/all"
for row in "$@"; do
	run --rounds 1 --rows "$row" --tsv "$tmp/tsv"
	[ "$rc" = 0 ] && [ "$(head -n 1 "$tmp/tsv")" = "$header" ] && [ "$(wc -l <"$tmp/tsv")" = 2 ] &&
		[ "$(tail -n 1 "$tmp/tsv" | cut -f 1-4 | tr '\t' /)" = "$row" ]
	check $? "$row is timed"
	cat "$tmp/out" >>"$tmp/all"
	tail -n 1 "$tmp/tsv" >>"$tmp/lines"
done
cp "$tmp/all" "$tmp/out"
awk 'length($0) > 80 { bad = 1 } END { exit bad }' "$tmp/out" && ! grep -q "$(printf '[\033\r]')" "$tmp/out"
check $? "its table is 80 columns wide, and plain in a pipe"
# In gup_fast all have a way of their own, in vfio_pin two; a figure has three digits, however small it is.
awk -F '\t' '
	$1 == "gup_fast" { all += $5 > 0 && $6 > 0 && $7 > 0 && $8 > 0 && $9 > 0 }
	$1 == "vfio_pin" { two += $5 > 0 && $6 $7 $9 == "---" && $8 > 0 }
	{ for (i = 5; i <= 9; i++) if ($i != "-" && $i !~ /^[0-9]*\.[0-9]*[0-9][0-9][0-9]$/) bad = 1 }
	END { exit bad || all != 2 || two != 1 }' "$tmp/lines"
check $? "- is where a contender has no way of its own"

run --rounds 1 --rows 'scan/run/16/look' --json
[ "$rc" = 0 ] && jq -e '.rows[0] | .order == 16 and .ns_per_page.ptebatch > 0 and .ns_per_page.per_entry == null' \
	"$tmp/out" >/dev/null
check $? "--json prints JSON"

echo before >"$tmp/tsv"
run --rounds 1 --rows 'nothing/*' --tsv "$tmp/tsv"
[ "$rc" = 2 ] && [ "$(cat "$tmp/tsv")" = before ] && ! ls "$tmp"/tsv.* >/dev/null 2>&1
check $? "what fails leaves the table of before"

complains 2 'no row is called "nothing/*"' --rows 'nothing/*'
complains 2 'rounds must be' --rounds 0
complains 2 'rounds must be' --rounds 65
complains 2 'rounds must be' --rounds 7x
complains 2 'no value given for --tsv' --tsv
complains 2 'unknown option --frob' --frob
complains 2 'what is "extra"' extra
complains 2 'one of --list' --list --check
complains 2 '--tsv is for timing' --check --tsv "$tmp/tsv"
complains 2 '--json is for timing' --list --json
complains 2 'under callgrind' --instructions
complains 1 'cannot write' --tsv "$tmp/no/such/place"
complains 1 'cannot write' --tsv /dev/null

notices_a_full_disk bench --list

echo "1..$n"
