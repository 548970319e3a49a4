#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: run.sh BUILD SECONDS TARGET...
# Fuzzes each target, two at a time, for its share of the seconds in all. One line a target; 1 if an input
# fails, which then stands there as a call: from there it goes into a test with a name.
set -u
if [ $# -lt 3 ]; then
	echo "usage: run.sh BUILD SECONDS TARGET..." >&2
	exit 2
fi
build=$1
seconds=$2
shift 2
case $seconds in
'' | *[!0-9]* | 0) echo "fuzz: how long? FUZZ_TIME=<seconds>" >&2; exit 2 ;;
esac

# What a target found before is where it begins.
each=$(((2 * seconds + $# - 1) / $#))
rm -rf "$build/found"
mkdir -p "$build/found"
one()
{
	mkdir -p "$build/corpus/$1"
	"$build/$1" -max_total_time=$each -max_len=264 -timeout=10 -verbosity=1 -print_final_stats=1 \
		-artifact_prefix="$build/found/$1-" "$build/corpus/$1" "$build/seeds" \
		>"$build/$1.log" 2>&1
}

report()
{
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$1.log")
	for found in "$build/found/$1-"*; do
		[ -e "$found" ] || continue
		"$build/$1" --minimize "$found"
		printf '%s: FAILS after %s inputs: ' "$1" "${runs:-?}"
		"$build/$1" --text "$found"
		return 1
	done
	if [ -z "$runs" ]; then
		echo "$1: did not run:"
		tail -n 5 "$build/$1.log"
		return 1
	fi
	echo "$1: $runs inputs in $each s, none fails"
}

rc=0
while [ $# -gt 0 ]; do
	one "$1" &
	first=$!
	if [ $# -gt 1 ]; then
		one "$2"
	fi
	wait "$first"
	report "$1" || rc=1
	if [ $# -gt 1 ]; then
		report "$2" || rc=1
		shift
	fi
	shift
done
exit $rc
