#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Everything that must pass. Ends with one line "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1
tests/deps.sh cross tree fuzz || exit 1
mkdir -p build
jobs=$(nproc 2>/dev/null || echo 2)
log=build/check.log

passed=0
failed=0

step()
{
	printf '== %s\n' "$*"
}

add()
{
	passed=$((passed + $1))
	failed=$((failed + $2))
}

verdict()
{
	if [ "$1" = 0 ]; then
		add 1 0
	else
		echo "FAILED: $2"
		add 0 1
	fi
}

# A program that prints TAP: its lines count, and so does an exit code that they do not explain.
tap()
{
	"$@" >"$log" 2>&1
	rc=$?
	ok=$(grep -c '^ok ' "$log")
	bad=$(grep -c '^not ok ' "$log")
	[ "$bad" != 0 ] || [ "$rc" != 0 ] && cat "$log"
	[ "$rc" != 0 ] && [ "$bad" = 0 ] && bad=1
	echo "$ok passed, $bad failed"
	add "$ok" "$bad"
}

# Criterion sums itself up in a line of its own.
criterion()
{
	"$1" >"$log" 2>&1
	rc=$?
	sum=$(sed -n 's/.*Tested: \([0-9]*\) | Passing: \([0-9]*\) | Failing: \([0-9]*\) | Crashing: \([0-9]*\).*/\1 \2 \3 \4/p' "$log" | tail -n 1)
	# shellcheck disable=SC2086
	set -- ${sum:-0 0 0 0}
	bad=$(($3 + $4))
	[ "$bad" = 0 ] && { [ "$rc" != 0 ] || [ "$1" = 0 ]; } && bad=1
	[ "$bad" = 0 ] || cat "$log"
	echo "$2 passed, $bad failed"
	add "$2" "$bad"
}

step build
make -j"$jobs" build/ptebatch build/tests build/litmus build/san/ptebatch build/san/tests build/san/litmus >"$log" 2>&1
rc=$?
[ $rc = 0 ] || tail -n 40 "$log"
verdict $rc build
[ $rc = 0 ] || { echo "$passed passed, $failed failed"; exit 1; }

step lint
tap tests/lint/lint.sh

step tests, once per format
criterion build/tests

step tests under ASan and UBSan
criterion build/san/tests

step "the explorer's engine, plain and under ASan and UBSan"
criterion build/litmus
criterion build/san/litmus

step "walkers against the other side, a part of all orders"
build/ptebatch explore --quick --tsv build/explore-quick.tsv >"$log" 2>&1
rc=$?
tail -n 1 "$log"
[ $rc = 0 ] || cat "$log"
verdict $rc "an order is wrong"

step "inputs nobody thought of: 60 s"
make -j"$jobs" fuzz FUZZ_TIME=60 >"$log" 2>&1
rc=$?
[ $rc = 0 ] || tail -n 40 "$log"
verdict $rc "an input fails, or none ran"

step "threads, plain and under ThreadSanitizer: 18 s"
make -j"$jobs" stress STRESS_TIME=18 >"$log" 2>&1
rc=$?
[ $rc = 0 ] || tail -n 80 "$log"
verdict $rc "threads"

step tests on other machines
make -j"$jobs" cross >"$log" 2>&1
rc=$?
# shellcheck disable=SC2046
set -- $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" | tail -n 1)
if [ $# = 2 ]; then
	grep -A 20 '^[a-z0-9]*: [0-9]* passed, ' "$log"
	[ $rc != 0 ] && [ "$2" = 0 ] && set -- "$1" 1
	add "$1" "$2"
else
	tail -n 20 "$log"
	verdict 1 "cross builds"
fi

step cases
tests/list-cases.sh build/tests >build/cases.txt
rc=$?
cases=$(cut -d_ -f2 build/cases.txt | sort -u | wc -l)
echo "$cases different cases, $(wc -l <build/cases.txt) runs"
[ $rc = 0 ] && [ "$cases" -ge 52 ]
verdict $? "fewer than 52 cases ran"

step into a kernel tree and out again
tap tests/kernel-tree.sh

step command line, sanitized
for t in tests/cli/*.sh; do
	tap "$t" build/san/ptebatch
done

step "instructions a page, and that more would be noticed"
tap tests/bench/gates.sh
tap tests/bench/finds.sh

step demo
build/ptebatch demo >"$log" 2>&1
rc=$?
tail -n 1 "$log"
tail -n 1 "$log" | grep -q '^demo: 4 walkers, [0-9]* formats, [0-9]* recordings: batched and per-entry agree$' || rc=1
verdict $rc demo

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
