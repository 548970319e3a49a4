#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: gates.sh [--update | --compare INSTRUCTIONS BUDGET]
# What the library executes a page, against budget.tsv, which says what may be how much. TAP, a line a row of it. With
# --update the figures in there become those of this build; with --compare nothing is counted.
#
# Instructions are the compiler's: the budget names it, and where the build is another's there is nothing to compare.
set -eu
cd "$(dirname "$0")/../.."
budget=tests/bench/budget.tsv
counts=build/bench/instructions.tsv

# "x86_64 gcc 12.2.0", from what the compiler left in an object.
built_by()
{
	printf '%s ' "$(uname -m)"
	readelf -p .comment build/bench/ptebatch.o |
		sed -n 's/.*GCC: .* \([0-9.]*\)$/gcc \1/p; s/.*clang version \([0-9.]*\).*/clang \1/p' | head -n 1
}

# At most 2 % over a figure, or over another contender of the same run; the others' own figures are bounds.
compare()
{
	awk -F '\t' -v counts="$1" '
	function tap(ok, text) {
		print (ok ? "ok " : "not ok ") ++n " - instructions: " text
		bad += !ok
	}
	FILENAME == counts {
		if (FNR == 1)
			for (i = 5; i <= NF; i++)
				name[i] = $i
		for (i = 5; FNR > 1 && i <= NF; i++)
			if ($i != "-")
				count[$1 "/" $2 "/" $3 "/" $4, name[i]] = $i
		if (FNR > 1)
			measured[$1 "/" $2 "/" $3 "/" $4] = 1
		next
	}
	/^#/ || !NF { next }
	{
		is = count[$1, $2]
		may = $3 ~ /^[0-9]/ ? $3 : count[$1, $3]
		what = $1 " " $2
		of = $3 ~ /^[0-9]/ ? "" : $3 ", "
		if ($2 == "ptebatch" && $3 ~ /^[0-9]/)
			has_budget[$1] = 1
		if (is == "" || may == "") {
			tap(0, what ": not measured")
			next
		}
		if (is > may * ($2 == "ptebatch" ? 1.02 : 1))
			tap(0, sprintf("%s: %s a page, %.1f %% over %s%s", what, is, 100 * (is / may - 1), of, may))
		else
			tap(1, sprintf("%s: %s a page, may be %s%s", what, is, of, may))
		if ($3 ~ /^[0-9]/ && $2 == "ptebatch" && is < may * 0.95)
			printf "# %s: %.1f %% under its budget: make bench-budget lowers it\n", $1, 100 * (1 - is / may)
	}
	END {
		for (row in measured)
			if (!(row in has_budget))
				tap(0, row ": has no budget: make bench-budget gives it one")
		print "1.." n
		exit bad > 0
	}' "$1" "$2"
}

update()
{
	{
		sed '/^# compiler: /d; /^# measured: /q' $budget
		echo "# compiler: $compiler"
		awk -F '\t' -v OFS='\t' '
			FNR == 1 { for (i = 5; i <= NF; i++) if ($i == "ptebatch") at = i; next }
			{ print $1 "/" $2 "/" $3 "/" $4, "ptebatch", $at }' $counts
	} >$budget.new
	mv $budget.new $budget
}

case ${1-} in
--compare)
	compare "$2" "$3"
	exit
	;;
--update | '') ;;
*)
	echo "usage: gates.sh [--update | --compare INSTRUCTIONS BUDGET]" >&2
	exit 2
	;;
esac

make -s build/ptebatch >&2
compiler=$(built_by)
of=$(sed -n 's/^# compiler: //p' $budget)
if [ "${1-}" = '' ] && [ "$compiler" != "$of" ]; then
	echo "ok 1 - instructions # SKIP the budget is of $of, this is $compiler"
	echo "1..1"
	exit 0
fi
tests/bench/instructions.sh build/ptebatch $counts
if [ "${1-}" = --update ]; then
	update
else
	compare $counts $budget
fi
