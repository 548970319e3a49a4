#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Every static check, one TAP line each; the output of a failing one follows it. Ends with "N passed, N failed".
set -eu
cd "$(dirname "$0")/../.."
tests/deps.sh
mkdir -p build
log=build/lint.log

passed=0
failed=0
n=0
run()
{
	n=$((n + 1))
	if "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
		echo "ok $n - lint: $(basename "$1" .sh)"
	else
		failed=$((failed + 1))
		echo "not ok $n - lint: $(basename "$1" .sh)"
		sed 's/^/# /' "$log"
	fi
}

for check in format kernel-doc headers sparse cppcheck symbols inline-budget one-line-ops; do
	run "tests/lint/$check.sh"
done
run backends/kernel/check/check.sh

echo "lint: $passed passed, $failed failed"
[ "$failed" = 0 ]
