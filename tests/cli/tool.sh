#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The commands other than record: help, formats, replay of layouts, and what they say to bad input.
set -u
bin=$1
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"

for c in demo record replay bench formats; do
	helps $c
done
run --help
[ "$rc" = 0 ] && grep -q '^Usage: ptebatch COMMAND' "$tmp/out"
check $? "--help names the commands"
run --version
[ "$rc" = 0 ] && grep -qx 'ptebatch [0-9.]*' "$tmp/out"
check $? "--version prints one line"

run formats
[ "$rc" = 0 ] && [ "$(head -n 1 "$tmp/out")" = x86_64 ] && [ "$(wc -l <"$tmp/out")" -ge 3 ]
check $? "formats prints one name a line"
cp "$tmp/out" "$tmp/formats"

while read -r f; do
	run replay --rounds 1 --format "$f" --layout 'o2@100: 0-3 | none | o4@200 | o0@300 ro shared'
	[ "$rc" = 0 ] && grep -q "^layout as $f: 21 pages" "$tmp/out"
	check $? "a layout is replayed as $f"
done <"$tmp/formats"

run replay --rounds 1 --layout 'o4@200: 0-15'
awk 'length($0) > 80 { bad = 1 } END { exit bad }' "$tmp/out"
check $? "the table is 80 columns wide"
run replay --rounds 1 --json --layout 'o4@200: 0-15'
[ "$rc" = 0 ] && jq -e .agree "$tmp/out" >/dev/null
check $? "--json prints JSON"

rec=$(ls backends/user/recordings/*.ptb | head -n 1)
run replay --rounds 1 "$rec"
[ "$rc" = 0 ] && grep -q '^batched already' "$tmp/out" && grep -q '^saved, us' "$tmp/out"
check $? "a recording is told apart by kind of mapping"
awk 'length($0) > 80 { bad = 1 } END { exit bad }' "$tmp/out" && ! grep -q "$(printf '\033')" "$tmp/out"
check $? "its tables are 80 columns wide, and plain in a pipe"
for size in 64k 2M; do
	run replay --rounds 1 --json --what-if $size "$rec"
	[ "$rc" = 0 ] && jq -e '.agree and (.kinds.anon.pages > 0)' "$tmp/out" >/dev/null
	check $? "--what-if $size agrees and counts the kinds"
done
if command -v script >/dev/null; then
	for no_color in '' 1; do
		NO_COLOR=$no_color script -qec "$bin replay --rounds 1 --layout o4@200" /dev/null \
			>"$tmp/out" 2>"$tmp/err" </dev/null
		grep -q "$(printf '\033\\[1m')" "$tmp/out"
		[ "$?" = "${no_color:-0}" ]
		check $? "on a terminal, NO_COLOR=\"$no_color\" decides on colour"
	done
fi

complains 2 'no command' frobnicate
complains 2 'no format' replay --format vax --layout none
complains 2 'unknown option --frob' replay --frob
complains 2 'no value given' replay --format
complains 2 'no recording given' replay
complains 2 'not both' replay --layout none file
complains 2 'rounds must be' replay --rounds 0 --layout none
complains 2 'rounds must be' replay --rounds 7x --layout none
complains 2 'what if is 64k or 2M' replay --what-if 1G "$rec"
complains 2 'for recordings' replay --what-if 64k --layout none
complains 2 'what is' formats extra
complains 2 'unknown option' demo --frob
complains 2 'what is' demo extra
complains 1 'layout: not an item' replay --layout bogus
complains 1 'not aligned' replay --layout 'o4@201: 0-15'
complains 1 'not in the folio' replay --layout 'o2@100: 0-4'
complains 1 'overlaps' replay --layout 'o2@100 | o1@102'
complains 1 'cannot be said' replay --format x86_64 --layout 'o4@200 cont'
complains 1 'number above' replay --layout 'none*99999999999999999999'

notices_a_full_disk formats

echo "1..$n"
