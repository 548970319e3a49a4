#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# The walkers in a booted Linux: ours against the kernel's own on the same memory, KUnit, the kernel's
# selftests off and on. On x86_64 and arm64, then the same on debug kernels, Debian's stock kernels
# and UML. Ends with one line "N passed, N failed".
#
#	QUICK=1		plain kernels only
#	ARCH=x86_64	or arm64, alone
#	STRESS_TIME=30	seconds of stress on each debug kernel; on demand 300
#	KCSAN=1		at the end stress (60 s, or STRESS_TIME) on x86_64 under KCSAN too, QUICK or not
set -eu
. "$(dirname "$0")/lib.sh"
set +e
unset KDIR

"$top/tests/deps.sh" kernel || exit 1
for arch in $archs; do
	target "$arch"
done
mkdir -p "$out"

passed=0
failed=0
skipped=0

step()
{
	printf '== %s: ' "$*"
}

# verdict PASSED FAILED SKIPPED
verdict()
{
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + ${3:-0}))
	echo "$1 passed, $2 failed${3:+, $3 skipped}"
}

# Each reason once, with how often.
reasons()
{
	sed -n 's/.*# SKIP *//p' "$1" | sort | uniq -c | sed 's/^ *\([0-9]*\) /   skipped \1: /'
}

count()
{
	grep -c -e "$1" "$2"
}

# boot NAME TAP OPTION... -- WORD...: runs a guest, TAP is a command that makes TAP of its console.
# What went wrong, if no test tells, is a failure of its own.
boot()
{
	name=$1 tap=$2
	shift 2
	step "$variant $name"
	log=$out/$variant/$name.log
	result=$out/$variant/$name.tap
	"$vm/run.sh" -l "$log" "$@" >"$out/$variant/$name.out" 2>"$out/$variant/$name.err"
	rc=$?
	$tap "$log" >"$result"
	bad=$(count '^not ok ' "$result")
	skip=$(count '^ok .*# SKIP' "$result")
	good=$(($(count '^ok ' "$result") - skip))
	planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$result" | awk '{ n += $1 } END { print n + 0 }')
	[ $((good + bad + skip)) = "$planned" ] || bad=$((bad + 1))
	[ $rc != 0 ] && [ "$bad" = 0 ] && bad=1
	verdict "$good" "$bad" "$skip"
	reasons "$result"
	if [ "$bad" != 0 ]; then
		grep -B 8 '^not ok ' "$result" | grep -e '^not ok' -e '^#' | head -n 40
		cat "$out/$variant/$name.err"
		# A program that gave up says so in its last line.
		grep -B 3 '^ptebatch-end .* [1-9][0-9]*$' "$log"
		echo "   $((good + bad + skip)) results, $planned planned: $log"
	fi
}

# What the programs print, without their marks and the kernel's log.
tap_programs()
{
	sed -e '/^\[ *[0-9]*\.[0-9]*\] /d' -e '/^ptebatch-begin /,/^ptebatch-end /!d' -e '/^ptebatch-/d' "$1"
}

# KUnit's cases, which stand indented in the kernel's log below "1..<n>" of their suite.
tap_kunit()
{
	sed -n 's/^\[ *[0-9]*\.[0-9]*\]     \(ok\|not ok\|#\|1\.\.\)/\1/p' "$1"
}

# One result per test of the selftests: is it the same with all keys on as with all off?
tap_selftests()
{
	for side in off on; do
		sed -n "/^ptebatch-begin selftests:$side\$/,/^ptebatch-end /p" "$1" |
			grep -E '^[^:]*: (ok|not ok|exit)( |$)' | awk '{ print ++nr[$0] "\t" $0 }' |
			LC_ALL=C sort >"$out/$variant/selftests.$side"
	done
	awk -F '\t' '
		FILENAME != last { file++; last = FILENAME }
		file == 1 { off[$0]; next }
		{ on[$0]; all[$0] }
		END {
			for (line in off)
				all[line]
			for (line in all)
				print (line in off) + 2 * (line in on) "\t" line
		}' "$out/$variant/selftests.off" "$out/$variant/selftests.on" | LC_ALL=C sort -t "	" -k 3 |
		awk -F '\t' '
		$1 == 1 { print "not ok - only off: " $3 }
		$1 == 2 { print "not ok - only on: " $3 }
		$1 == 3 { print "ok - same: " $3 }
		END { print "1.." NR }'
	# Both by the kernel's own code would be the same as well.
	sed -n 's/^handled gup_fast \([0-9]*\) mincore \([0-9]*\)$/\1 \2/p' "$1" | awk '
		NR == 1 { off = $1 + $2 }
		NR == 2 { on = $1 && $2 }
		END {
			print NR == 2 && !off && on ? "ok" : "not ok", "- ours worked when on, only then"
			print "1..1"
		}'
}

# And what KCSAN has to say of it.
tap_races()
{
	tap_programs "$1"
	"$vm/kcsan.sh" "$1"
}

build()
{
	step "$variant build"
	if "$vm/build.sh" "$@" && "$vm/guest.sh" "$arch" && tests=$("$vm/selftests.sh" "$arch"); then
		verdict 1 0 ""
		return 0
	fi
	verdict 0 1 ""
	return 1
}

plain()
{
	target "$1"
	build "$1" || return
	everything ""
}

debug()
{
	target "$1" debug
	build "$1" debug || return
	everything -d
	stress tap_programs -d "${STRESS_TIME:-30}"
}

kcsan()
{
	target x86_64 kcsan
	build x86_64 kcsan || return
	stress tap_races -r "${STRESS_TIME:-60}"
}

# stress TAP OPTION SECONDS: two nodes, to move pages between.
stress()
{
	boot stress "$1" "$2" -n -t $((1200 + 5 * $3)) -a log_buf_len=16M "$arch" setup:disk setup:swap \
		"stress:$3"
}

everything()
{
	slow=${1:+-t 1200}
	# shellcheck disable=SC2086
	{
		boot kunit tap_kunit $1 $slow -a "kunit.enable=1 kunit.filter_glob=ptebatch*" "$arch"
		boot selftests tap_selftests $1 $slow -x "$tests" "$arch" setup:disk setup:swap setup:hugetlb:64 \
			selftests:off selftests:on
		[ "$variant" != arm64-debug ] || return
		boot anon tap_programs $1 $slow "$arch" setup:disk setup:swap test:gup test:mincore
		boot vfio tap_programs $1 $slow -v "$arch" setup:disk setup:vfio test:vfio
		[ "$arch" = x86_64 ] || return
		boot dax-2M tap_programs $1 $slow -p "$arch" setup:dax:2097152 test:dax
		boot dax-4k tap_programs $1 $slow -p "$arch" setup:dax:4096 test:dax
	}
}

# The suites that need no GUP-fast.
uml()
{
	step "UML kunit"
	work=$cache/linux-$(source_version)/work
	log=$out/uml.log
	(
		cd "$work" && flock "$work/../lock" tools/testing/kunit/kunit.py run --arch=um \
			--build_dir=O-um --kunitconfig="$vm/../kunit" --jobs="$jobs" --raw_output=all \
			--make_options='CC=ccache gcc'
	) >"$log" 2>&1
	rc=$?
	good=$(count '^    ok ' "$log")
	bad=$(count '^    not ok ' "$log")
	[ $rc != 0 ] && [ "$bad" = 0 ] && bad=1
	[ "$good" != 0 ] || bad=1
	verdict "$good" "$bad" ""
	[ "$bad" = 0 ] || tail -n 20 "$log"
}

for arch in $archs; do
	plain "$arch"
done
if [ -z "${QUICK-}" ]; then
	step "Debian's stock kernels"
	"$vm/../module/check.sh" >"$out/module.log" 2>&1
	case $? in
	0) verdict 1 0 "" ;;
	*) verdict 0 1 ""; tail -n 20 "$out/module.log" ;;
	esac
	uml
	for arch in $archs; do
		debug "$arch"
	done
fi
[ -z "${KCSAN-}" ] || kcsan

[ "$skipped" = 0 ] || echo "$skipped skipped, for the reasons above"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
