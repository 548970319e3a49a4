#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: list-cases.sh BINARY
# The case tests that ran, not those skipped, one "case_NN_name format" a line, sorted. From the
# runner's own report of this run. 1 if a case failed or none ran; then stderr says which.
set -u
if [ $# != 1 ]; then
	echo "usage: list-cases.sh BINARY" >&2
	exit 2
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

case $1 in
*/*) binary=$1 ;;
*) binary=./$1 ;;
esac
"$binary" --filter '*/case_*' --tap="$tmp/tap" >"$tmp/log" 2>&1
rc=$?

# "ok - format::name  (0.00s)", or "... # SKIP reason"; a test that crashed is "not ok" as well.
sed -n '/# SKIP/d; s/^\(not \)\{0,1\}ok - \([a-z0-9_]*\)::\(case_[a-z0-9_]*\) .*$/\3 \2/p' \
	"$tmp/tap" 2>/dev/null | LC_ALL=C sort >"$tmp/ran"
cat "$tmp/ran"

if grep -q '^not ok' "$tmp/tap" 2>/dev/null || [ "$rc" != 0 ]; then
	cat "$tmp/log" >&2
	exit 1
fi
if ! [ -s "$tmp/ran" ]; then
	echo "list-cases: no case ran in $1" >&2
	exit 1
fi
