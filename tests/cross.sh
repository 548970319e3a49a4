#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: cross.sh MACHINE...
# Runs build/cross/MACHINE/tests of each, emulated where this machine cannot. One line each; ends with
# "N passed, N failed". Skipped tests are in neither.
set -u
if [ $# = 0 ]; then
	echo "usage: cross.sh MACHINE..." >&2
	exit 2
fi
cd "$(dirname "$0")/.." || exit 1

emulator()
{
	case $1-$(uname -m) in
	aarch64-aarch64 | s390x-s390x | mips-mips) ;;
	i686-x86_64)
		# Not every x86-64 kernel runs programs of 32 bits.
		"build/cross/$1/tests" nothing >/dev/null 2>&1
		[ $? != 126 ] || echo qemu-i386-static
		;;
	i686-*) echo qemu-i386-static ;;
	*) echo "qemu-$1-static" ;;
	esac
}

for m in "$@"; do
	# shellcheck disable=SC2046
	$(emulator "$m") "build/cross/$m/tests" >"build/cross/$m/log" 2>&1 &
done
wait

passed=0
failed=0
for m in "$@"; do
	log=build/cross/$m/log
	sum=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
	case $sum in
	'' | '0 0 '*)
		echo "$m: the tests did not run to their end"
		tail -n 20 "$log"
		failed=$((failed + 1))
		continue
		;;
	esac
	# shellcheck disable=SC2086
	{
		set -- $sum
		echo "$m: $1 passed, $2 failed, $3 skipped"
		passed=$((passed + $1))
		failed=$((failed + $2))
		[ "$2" = 0 ] || grep -v '^ok ' "$log"
	}
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
