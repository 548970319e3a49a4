#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: one.sh BUILD mutant NAME | unchanged "HOW" | everywhere NAME
# One job of mutants.sh: says what came of it in one line of its own, BUILD/mutants/<what>/result: caught BY, passed,
# or error WHY.
set -u
build=$1
kind=$2
arg=$3
tab=$(printf '\t')
base="-std=gnu11 -fno-strict-aliasing -fwrapv -w"
cc="$(command -v ccache) ${CC:-gcc}"
# A violation comes early, and what runs longer than this has none that is easy to find.
bound=200000
[ "$kind" != everywhere ] || bound=20000

# field NAME NUMBER: of the table
field()
{
	awk -F '\t' -v name="$1" -v n="$2" '$1 == name { print $n }' tests/mutants/mutants.txt
}

out=$build/mutants/$(echo "$kind $arg" | tr ' /' '--')
rm -rf "$out"
mkdir -p "$out"
finish()
{
	echo "$1$tab$2" >"$out/result"
	rm -rf "$out/tree"
	exit 0
}

# What is compiled: a copy with the change, or what there is.
tree=.
if [ "$kind" != unchanged ]; then
	tree=$out/tree
	mkdir -p "$tree/backends"
	cp -r include "$tree/"
	cp -r backends/user "$tree/backends/"
	patch -s -d "$tree" -p 1 -F 0 -N -r - --no-backup-if-mismatch <"tests/mutants/$arg.patch" >"$out/log" 2>&1 ||
		finish error "$arg.patch does not apply any more"
fi
compile()
{
	# shellcheck disable=SC2086
	$cc $base -I"$tree/include" -I"$tree/backends/user" -Itests "$@" >"$out/log" 2>&1 ||
		finish error "does not compile: $(grep -m 1 error "$out/log")"
}

link()
{
	${CC:-gcc} "$@" -lzstd >"$out/log" 2>&1 || finish error "does not link"
}

# FILE FORMAT PATTERN: the tests whose names contain it
run_tests()
{
	compile -O1 -DTESTS_PLAIN_RUNNER -DPTB_USER_HOOKS -DPTB_FMT_HEADER="\"fmt/$2.h\"" \
		-c "tests/$1.c" -o "$out/tests.o"
	link "$out/tests.o" "$build"/mutants/plain/*.o -o "$out/tests"
	"$out/tests" -t 60 "$3" >"$out/log" 2>&1
	grep -q '^1\.\.[1-9]' "$out/log" || finish error "no test of $1 has $3 in its name"
	by=$(sed -n 's/^not ok [0-9]* - \([^ ]*\).*/\1/p' "$out/log" | head -n 1)
	[ -z "$by" ] || finish caught "$by"
	grep -q '^[1-9][0-9]* passed' "$out/log" || finish error "all tests of $1 with $3 are skipped for $2"
}

build_tool()
{
	tool=$build/ptebatch
	[ "$kind" != unchanged ] || return 0
	tool=$out/ptebatch
	objects=$TOOL_OBJECTS
	for f in "$@"; do
		small="-DPTB_EXPLORE_SMALL -DPTB_LINE=4"
		[ "$f" != arm64 ] || small="$small -DFMT_CONT=4"
		# shellcheck disable=SC2086
		compile -O1 -DPTB_USER_EXPLORE $small -DPTB_FMT_HEADER="\"fmt/$f.h\"" \
			-c "$tree/backends/user/explore.c" -o "$out/$f.small.o"
		objects="$(echo "$objects" | tr ' ' '\n' | grep -v "/fmt/$f\.small\.o$") $out/$f.small.o"
	done
	# shellcheck disable=SC2086
	link $objects -o "$tool"
}

# ROWS: contenders of the benchmark that must agree
run_bench()
{
	tool=$build/ptebatch
	if [ "$kind" != unchanged ]; then
		tool=$out/ptebatch
		objects=$(echo "$TOOL_OBJECTS" | tr ' ' '\n' | grep -v '/bench/[a-z_]*\.o$')
		for c in "$tree"/backends/user/bench/*.c; do
			compile -O1 -DPTB_USER_VMEMMAP -DPTB_FMT_HEADER='"fmt/x86_64.h"' -c "$c" -o "$out/$(basename "$c" .c).o"
			objects="$objects $out/$(basename "$c" .c).o"
		done
		# shellcheck disable=SC2086
		link $objects -o "$tool"
	fi
	"$tool" bench --check --rows "$1" >"$out/log" 2>&1
	rc=$?
	[ $rc != 1 ] || finish caught "$(sed 's/^ptebatch: //' "$out/log")"
	[ $rc = 0 ] || finish error "bench of $1: exit code $rc"
}

# WALKER MUTATOR FORMAT MODEL
explore()
{
	"$tool" explore --walker "$1" --against "$2" --format "$3" --model "$4" --bound $bound >"$out/log" 2>&1
	rc=$?
	case $rc in
	0) return 0 ;;
	1) grep -q '^violation: ' "$out/log" && return 1 ;;
	2) return 2 ;;
	esac
	finish error "explore $1 against $2, $3, $4: exit code $rc"
}

run_pair()
{
	build_tool "$3"
	explore "$@"
	case $? in
	1) finish caught "explore $1 against $2, $3, $4" ;;
	2) finish error "explore does not know $1 against $2, $3" ;;
	esac
}

# Every pair with one other side, in every format, under the model that shows the mutant.
run_everywhere()
{
	build_tool x86_64 x86_pae arm64
	caught=
	"$tool" explore --list | sed '1,/^pairs:/d; /^$/,$d' | grep -v -e , -e '^ *blind ' >"$out/pairs"
	while read -r w m; do
		for f in x86_64 x86_pae arm64; do
			explore "$w" "$m" $f "$1"
			[ $? = 1 ] && caught="$caught $w:$m:$f"
		done
	done <"$out/pairs"
	finish caught "${caught# }"
}

how=$arg
[ "$kind" = unchanged ] || how=$(field "$arg" 2)
# shellcheck disable=SC2086
set -- $how
case $kind-$1 in
everywhere-explore) run_everywhere "$5" ;;
*-explore) run_pair "$2" "$3" "$4" "$5" ;;
*-bench) run_bench "$2" ;;
*-test) run_tests "$2" "$3" "$4" ;;
*) finish error "what is $how" ;;
esac
finish passed -
