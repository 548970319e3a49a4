#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: coverage.sh TESTS DIRECTORY TSV
# Runs the tests, built to count, in every format, and says what of include/ptebatch they reach: lines, outcomes
# of conditions, and of each decision the conditions that were shown to decide it (MC/DC). A decision counts as
# covered by what all formats and users together show. HTML in the directory; a row a decision in the TSV:
#
#	file line decision conditions covered
#
# Ends with a summary and what is not covered, a line each; 1 if there is any.
set -u
if [ $# != 3 ]; then
	echo "usage: coverage.sh TESTS DIRECTORY TSV" >&2
	exit 2
fi
tests=$1
dir=$2
tsv=$3
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# Each test is a process of its own; what they count is added up in one file.
rm -rf "$dir/raw" "$dir/html"
if ! LLVM_PROFILE_FILE="$dir/raw/%1m.profraw" "$tests" >"$dir/tests.log" 2>&1; then
	grep '^not ok' "$dir/tests.log"
	echo "coverage: the tests fail, see $dir/tests.log" >&2
	exit 1
fi
llvm-profdata-19 merge -o "$dir/tests.profdata" "$dir"/raw/*.profraw || exit 1
cov()
{
	how=$1
	shift
	llvm-cov-19 "$how" "$@" -instr-profile="$dir/tests.profdata" "$tests" -sources include/ptebatch
}
cov export -format=text >"$tmp/all.json" 2>/dev/null &&
	cov export -format=lcov >"$tmp/all.lcov" 2>/dev/null &&
	cov show -format=html -output-dir="$dir/html" -show-branches=count -show-mcdc -show-instantiations=false \
		>/dev/null 2>&1 || exit 1

# A decision is a record of its own where it has several conditions, else a branch. Kinds of regions: 4 a branch,
# 6 a condition of a decision. The file of each is the one it is written in.
jq -r '.data[0].functions[] | .filenames as $f |
	(.mcdc_records[] | ["m", $f[.[4]], .[0], .[1], .[2], .[3]] + .[6]),
	(.branches[] | ["b", $f[.[6]], .[0], .[1], .[2], .[3], .[8], (.[4] > 0), (.[5] > 0)]) |
	select(.[1] | contains("include/ptebatch/")) | @tsv' "$tmp/all.json" |
	sed 's,\t[^\t]*/include/ptebatch/,\t,' | sort -u >"$tmp/records"
sed -n 's,^SF:.*/include/ptebatch/,F ,p; s/^DA:\([0-9]*\),\([0-9]*\).*/\1 \2/p' "$tmp/all.lcov" >"$tmp/lines"

awk -F '\t' '
function source(file, l1, c1, l2, c2,	path, text, n)
{
	path = "include/ptebatch/" file
	if (!(path in loaded)) {
		loaded[path] = 1
		for (n = 1; (getline text < path) > 0; n++)
			code[path, n] = text
		close(path)
	}
	text = l1 == l2 ? substr(code[path, l1], c1, c2 - c1) : substr(code[path, l1], c1)
	for (n = l1 + 1; n <= l2; n++) {
		sub(/[ \t]*$/, " ", text)
		text = text (n < l2 ? code[path, n] : substr(code[path, n], 1, c2 - 1))
	}
	# A macro is its name alone; what it is asked of comes behind.
	n = l2
	while (text ~ /likely$/ && substr(code[path, n], c2, 1) == "(" || opened(text) > 0) {
		if (c2 > length(code[path, n])) {
			c2 = 1
			n++
			text = text " "
		}
		text = text substr(code[path, n], c2++, 1)
	}
	gsub(/[ \t]+/, " ", text)
	return text
}
function opened(text)
{
	return gsub(/[(]/, "", text) - gsub(/[)]/, "", text)
}
function miss(what)
{
	missing[++nr_missing] = what
}
FILENAME ~ /lines$/ {
	split($0, part, " ")
	if (part[1] == "F") {
		file = part[2]
	} else {
		lines++
		reached[file, part[1]] = part[2] > 0
		if (part[2] > 0)
			lines_reached++
		else
			miss(file ":" part[1] ": never reached")
	}
	next
}
{
	at = $2 SUBSEP $3 SUBSEP $4 SUBSEP $5 SUBSEP $6
}
$1 == "m" {
	nr[at] = NF - 6
	for (i = 7; i <= NF; i++)
		if ($i == "true")
			shown[at, i - 6] = 1
}
$1 == "b" {
	kind[at] = $7
	if ($8 == "true")
		yes[at] = 1
	if ($9 == "true")
		no[at] = 1
}
END {
	for (at in kind) {
		split(at, p, SUBSEP)
		# what the compiler knows has no outcomes
		if (!(at in yes) && !(at in no) && reached[p[1], p[2]])
			continue
		outcomes += 2
		outcomes_seen += (at in yes) + (at in no)
		if (kind[at] != 4)
			continue
		nr[at] = 1
		if ((at in yes) && (at in no))
			shown[at, 1] = 1
		else
			why[at] = (at in yes) ? "never false" : (at in no) ? "never true" : "never asked"
	}
	for (at in nr) {
		split(at, p, SUBSEP)
		text = source(p[1], p[2], p[3], p[4], p[5])
		# One in a macro of the backend: its place is not in this file.
		if (nr[at] > 1 && text !~ /&&|[|][|]/)
			continue
		covered = 0
		for (i = 1; i <= nr[at]; i++) {
			if ((at, i) in shown)
				covered++
			else
				miss(p[1] ": " text ": " (nr[at] > 1 ? "condition " i " never decides" : why[at]))
		}
		decisions++
		full += covered == nr[at]
		conditions += nr[at]
		decided += covered
		printf "%s\t%d\t%s\t%d\t%d\n", p[1], p[2], text, nr[at], covered
	}
	printf "lines %d of %d, outcomes of conditions %d of %d, decisions (MC/DC) %d of %d, conditions %d of %d\n", \
		lines_reached, lines, outcomes_seen, outcomes, full, decisions, decided, conditions >"/dev/stderr"
	for (i = 1; i <= nr_missing; i++)
		print missing[i] >"/dev/stderr"
	exit nr_missing > 0
}' "$tmp/lines" "$tmp/records" >"$tmp/rows" 2>"$tmp/summary"
rc=$?
{
	printf 'file\tline\tdecision\tconditions\tcovered\n'
	sort -t "$(printf '\t')" -k 1,1 -k 2,2n "$tmp/rows"
} >"$tsv"
sed '1s/^/coverage: /' "$tmp/summary"
exit $rc
