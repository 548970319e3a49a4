#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: instructions.sh TOOL TSV
# What each contender of "TOOL bench" executes: instructions a page, counted by callgrind in one run over small scenes.
# Columns as in user.tsv; rows whose small scene would be another's are left out. Written whole or not at all.
set -eu
if [ $# != 2 ]; then
	echo "usage: instructions.sh TOOL TSV" >&2
	exit 2
fi
tool=$1
tsv=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Without debug information, which valgrind need not read, and of some compilers cannot.
strip -g -o "$tmp/ptebatch" "$tool"
if ! valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file="$tmp/part" \
	"$tmp/ptebatch" bench --instructions >"$tmp/log" 2>&1; then
	cat "$tmp/log" >&2
	exit 1
fi

# Parts have numbers, from 1 on, and the one without is what came after the last.
set --
while [ -f "$tmp/part.$(($# + 1))" ]; do
	set -- "$@" "$tmp/part.$(($# + 1))"
done
awk -v OFS='\t' '
	# Three decimals, and of small numbers three digits.
	function figure(x, scaled, decimals) {
		decimals = 3
		for (scaled = x * 1000; scaled > 0 && scaled < 100 && decimals < 12; scaled *= 10)
			decimals++
		return sprintf("%." decimals "f", x)
	}
	BEGIN { nr_names = split("per_entry compare_each seed_shape ptebatch limit", name, " ") }
	/^desc: Trigger: Client Request: / {
		row = $5
		contender = $6
		pages = $7
		if (!(row in seen))
			rows[++nr_rows] = row
		seen[row] = 1
	}
	/^totals: / { count[row, contender] = figure($2 / pages) }
	END {
		printf "walker\tlayout\torder\top"
		for (i = 1; i <= nr_names; i++)
			printf "\t%s", name[i]
		print ""
		for (r = 1; r <= nr_rows; r++) {
			line = rows[r]
			gsub("/", "\t", line)
			for (i = 1; i <= nr_names; i++)
				line = line OFS ((rows[r], name[i]) in count ? count[rows[r], name[i]] : "-")
			print line
		}
		exit !nr_rows
	}' "$@" >"$tmp/tsv"
mkdir -p "$(dirname "$tsv")"
cp "$tmp/tsv" "$tsv.new"
mv "$tsv.new" "$tsv"
