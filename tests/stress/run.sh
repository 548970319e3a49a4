#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: run.sh SECONDS PROGRAM...
# Runs each for its share of the seconds in all, and says in one line what it did. 1 if something was wrong.
set -u
if [ $# -lt 2 ]; then
	echo "usage: run.sh SECONDS PROGRAM..." >&2
	exit 2
fi
seconds=$1
shift
case $seconds in
'' | *[!0-9]* | 0) echo "stress: how long? STRESS_TIME=<seconds>" >&2; exit 2 ;;
esac
each=$(((seconds + $# - 1) / $#))

rc=0
for program in "$@"; do
	how=
	case $program in
	*/tsan/*) how=' (ThreadSanitizer)' ;;
	esac
	if "$program" "$each" >"$program.log" 2>&1; then
		sed "1s/:/$how:/" "$program.log"
	else
		echo "$program $each: FAILED"
		head -n 60 "$program.log"
		rc=1
	fi
done
exit $rc
