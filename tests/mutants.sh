#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: TOOL_OBJECTS=... mutants.sh BUILD
# Does what is there to catch faults catch them. A mutant is the library, or the userspace backend, with one change:
# tests/mutants/NAME.patch. It is compiled, and what is to catch it is run, tests of one file in one format, one
# pair of the explorer's, or rows of the benchmark, and nothing else; the same passes without the change. TOOL_OBJECTS:
# what the tool is linked from; those of the explorer, or of the benchmark, are replaced. Rows of BUILD/mutants.tsv:
#
#	mutant caught_by
#
# One that does not compile is not caught. NAME=GLOB: only these. With ALL=1, every pair of the explorer's is run, in
# every format, for each mutant that one mutator alone is to show: BUILD/mutants-all.tsv
#
#	mutant mutator caught_by
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
dir=$build/mutants
list=tests/mutants/mutants.txt
tab=$(printf '\t')
tests/deps.sh mutants || exit 1
mkdir -p "$dir/plain"

for c in tests/runner/runner.c backends/user/mem.c backends/user/layout.c backends/user/raw.c \
	backends/user/snapshot.c backends/user/whatif.c; do
	${CC:-gcc} -std=gnu11 -fno-strict-aliasing -fwrapv -w -O1 -Iinclude -Ibackends/user -DTESTS_PLAIN_RUNNER \
		-c "$c" -o "$dir/plain/$(basename "$c" .c).o" || exit 1
done

# The rows that are asked for.
wanted()
{
	while IFS="$tab" read -r name how only what; do
		[ -z "${ALL:-}" ] || [ "$only" != - ] || continue
		# shellcheck disable=SC2254
		case $name in
		'#'*) ;;
		${NAME:-*}) printf '%s\t%s\t%s\t%s\n' "$name" "$how" "$only" "$what" ;;
		esac
	done <$list
}
wanted >"$dir/wanted"

# What takes longest comes first.
jobs()
{
	if [ -n "${ALL:-}" ]; then
		cut -f 1 "$dir/wanted" | sed 's/^/everywhere\t/'
	else
		cut -f 2 "$dir/wanted" | sort -u | sed 's/^/unchanged\t/'
		cut -f 1 "$dir/wanted" | sed 's/^/mutant\t/'
	fi
}
begin=$(date +%s)
jobs | tr '\t\n' '\0\0' | xargs -0 -n 2 -P "$(nproc 2>/dev/null || echo 2)" tests/mutants/one.sh "$build"

result()
{
	cat "$dir/$(echo "$1" | tr ' /' '--')/result" 2>/dev/null || printf 'error\tnothing came of it\n'
}

bad=0
caught=0
complain()
{
	echo "$1"
	bad=$((bad + 1))
}

# One mutator is in every pair that caught it.
everywhere()
{
	printf '%s\t%s\t%s\n' "$name" "$only" "$by" >>"$tsv"
	others=$(echo "$by" | tr ' ' '\n' | grep -c -v ":$only:")
	case $verdict in
	caught) [ "$others" = 0 ] && [ -n "$by" ] && caught=$((caught + 1)) && return ;;
	esac
	complain "$name: not by $only alone: $by"
}

mutant()
{
	printf '%s\t%s\n' "$name" "$by" >>"$tsv"
	case $verdict in
	caught) caught=$((caught + 1)) ;;
	passed) complain "$name: not caught: $what" ;;
	*) complain "$name: $by" ;;
	esac
}

if [ -n "${ALL:-}" ]; then
	tsv=$build/mutants-all.tsv
	printf 'mutant\tmutator\tcaught_by\n' >"$tsv"
	kind=everywhere
else
	tsv=$build/mutants.tsv
	printf 'mutant\tcaught_by\n' >"$tsv"
	kind=mutant
	cut -f 2 "$dir/wanted" | sort -u >"$dir/hows"
	while IFS= read -r how; do
		verdict=$(result "unchanged $how")
		[ "${verdict%%"$tab"*}" = passed ] || complain "$how: without a change: $verdict"
	done <"$dir/hows"
fi
while IFS="$tab" read -r name how only what; do
	verdict=$(result "$kind $name")
	by=${verdict#*"$tab"}
	verdict=${verdict%%"$tab"*}
	$kind
done <"$dir/wanted"

# A patch that nobody applies is a mistake, too.
for p in tests/mutants/*.patch; do
	grep -q "^$(basename "$p" .patch)$tab" $list || complain "$p: not in $list"
done
echo "$(wc -l <"$dir/wanted") mutants, $caught caught, in $(($(date +%s) - begin)) s: $tsv"
[ "$bad" = 0 ]
