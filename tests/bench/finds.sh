#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The gates on instructions close: figures and budgets made up for it, one fault at a time. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/cli/lib.inc
. tests/cli/lib.inc

tab()
{
	tr ' ' '\t'
}

tab >"$tmp/counts" <<'COUNTS'
walker layout order op per_entry compare_each seed_shape ptebatch limit
gup_fast warm 0 get 90.0 95.0 95.0 91.0 5.0
scan run 1 look - 60.0 - 61.0 -
COUNTS
budget='gup_fast/warm/0/get ptebatch per_entry
gup_fast/warm/0/get per_entry 135.7
scan/run/1/look ptebatch compare_each
gup_fast/warm/0/get ptebatch 91.0
scan/run/1/look ptebatch 61.0'

# gate SED-SCRIPT: the budget with that change
gate()
{
	echo "$budget" | sed "$1" | tab >"$tmp/budget"
	tests/bench/gates.sh --compare "$tmp/counts" "$tmp/budget" >"$tmp/out" 2>&1
	rc=$?
}

# closes NAME SED-SCRIPT WORDS: fails for that one reason
closes()
{
	gate "$2"
	[ $rc = 1 ] && [ "$(grep -c '^not ok' "$tmp/out")" = 1 ] && grep -q "^not ok.*$3" "$tmp/out"
	check $? "$1"
}

gate ''
[ $rc = 0 ] && ! grep -q -e '^not ok' -e '^#' "$tmp/out" && grep -q '^1\.\.5$' "$tmp/out"
check $? "figures that are as they may be pass"
gate '5s/61/60/'
[ $rc = 0 ]
check $? "2 % are nothing"
closes "more than that is said, by row and by how much" '5s/61.0/59.0/' 'scan/run/1/look ptebatch: 61.0 a page, 3.4 % over 59.0'
closes "a single page may cost no more than per entry" '1s/per_entry/limit/' 'gup_fast/warm/0/get ptebatch: 91.0 a page, .* over limit'
closes "per entry may cost no more than in the stock kernel" '2s/135.7/89.9/' 'gup_fast/warm/0/get per_entry: 90.0 a page, 0.1 % over 89.9'
closes "a row without a budget" '5d' 'scan/run/1/look: has no budget'
closes "a budget without a row" '5a mincore/none/0/look ptebatch 3.0' 'mincore/none/0/look ptebatch: not measured'
gate '5s/61.0/70.0/'
[ $rc = 0 ] && grep -q '^# scan/run/1/look: 12.9 % under its budget' "$tmp/out"
check $? "far under the budget is a note"

# The budget that is used, against figures that are its own, and with one of them made smaller.
grep -q '^gup_fast/warm/0/get.ptebatch.per_entry$' tests/bench/budget.tsv &&
	grep -q '^gup_fast/warm/0/pin.ptebatch.per_entry$' tests/bench/budget.tsv &&
	grep -q '^gup_fast/warm/0/pin.per_entry.191.1$' tests/bench/budget.tsv
check $? "budget.tsv holds single pages to one page's cost"
awk -F '\t' -v OFS='\t' '
	BEGIN { print "walker", "layout", "order", "op", "per_entry", "compare_each", "ptebatch" }
	!/^#/ && $2 == "ptebatch" && $3 ~ /^[0-9]/ { r = $1; gsub("/", "\t", r); print r, $3, $3, $3 }
	' tests/bench/budget.tsv >"$tmp/counts"
for row in gup_fast/warm/9/pin vfio_pin/warm/4/pin vpfn/wide/1000/count; do
	awk -F '\t' -v OFS='\t' -v row="$row" '$1 == row && $2 == "ptebatch" { $3 *= 0.97 } { print }' \
		tests/bench/budget.tsv >"$tmp/budget"
	tests/bench/gates.sh --compare "$tmp/counts" "$tmp/budget" >"$tmp/out" 2>&1
	[ $? = 1 ] && [ "$(grep -c '^not ok' "$tmp/out")" = 1 ] && grep -q "^not ok.* $row ptebatch: .* 3.1 % over" "$tmp/out"
	check $? "3 % less for $row in budget.tsv is noticed"
done
echo "1..$n"
