#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# kcsan.sh LOG: the data races that KCSAN has reported in a console's log, as TAP. One in a function of
# ours fails. What is inlined in another counts as that one's: what of the kernel's is inlined in
# ours is ours to explain. All others are counted.
set -eu
. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || { echo "usage: kcsan.sh LOG" >&2; exit 2; }

# The prefix kernel_ is not ours alone.
names=$(cat "$vm"/../*.h | grep -oE '\bkernel_[a-z0-9_]+\(' | tr -d '(' | sort -u)

# A report is a title, and for each access known a line "... of 8 bytes by ..." and the frames below.
awk -v names="$names" '
	BEGIN {
		split(names, list)
		for (i in list)
			ours[list[i]]
	}
	function is_ours(name)
	{
		return name in ours || name ~ /^(ptb|ptebatch)_/
	}
	!/^\[ *[0-9]+\.[0-9]+\]/ { next }
	{ sub(/^\[ *[0-9]+\.[0-9]+\] ?/, "") }
	/^kcsan: enabled early/ { enabled = 1 }
	/^BUG: KCSAN: / {
		report = 1
		title = substr($0, 13)
		text = ""
		at = below = 0
	}
	!report { next }
	/^====*$/ {
		report = 0
		nr++
		if (at) {
			printf "%s", text
			nr_at++
			titles = titles "# " title "\n"
		} else if (below) {
			calls[title]++
			nr_below++
		}
		next
	}
	{ text = text "#  " $0 "\n" }
	/ of [0-9]+ bytes by / { first = 1; next }
	/^ *[A-Za-z_][A-Za-z0-9_.]*\+0x/ {
		name = $1
		sub(/[.+].*/, "", name)
		if (is_ours(name) && first)
			at = 1
		else if (is_ours(name))
			below = 1
		first = 0
	}
	END {
		printf "# %d races reported, %d in our code, %d in functions that ours call\n", nr, nr_at, nr_below
		for (title in calls)
			print "#  " calls[title] "x " title
		print enabled && nr ? "ok" : "not ok", "- KCSAN is at work: it reports races of others"
		printf "%s", titles
		print nr_at ? "not ok" : "ok", "- no data race in our code"
		print "1..2"
	}' "$1"
