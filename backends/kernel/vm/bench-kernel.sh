#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# Instructions a page of each walker, off (all keys 0, the kernel's own code) and on (all keys 1), in
# one boot per kind of memory: build/kernel/ab-ARCH.tsv, rewritten whole, and a table of it.
#
#	ARCH=x86_64	or arm64, alone
#	KDIR=<source>	a kernel of your own: then stock figures are not looked at
#	STOCK=1		measure a kernel without ptebatch instead, into build/kernel/stock-ARCH.tsv
#
# Fails if the kernel's own code costs over 2 % more than in stock.tsv, which was measured so: then
# either that code is not what it was, or the measurement is not. Over 2 % less is said: ours
# are compared with something faster than they replace.
set -eu
. "$(dirname "$0")/lib.sh"

"$top/tests/deps.sh" kernel
for arch in $archs; do
	target "$arch"
done

# boot NAME OPTION... ARCH WORD...
boot()
{
	name=$1
	shift
	"$vm/run.sh" -i -k "$out/$variant/$kernel" -l "$out/$variant/bench-$name.log" "$@" >>"$raw"
}

# measure ARCH KERNEL [WORD]: what the guest's bench prints, in $raw
measure()
{
	target "$1" bench
	kernel=$2
	raw=$out/$variant/$kernel.txt
	mkdir -p "$out/$variant"
	"$vm/build.sh" "$arch" bench
	"$vm/guest.sh" "$arch"
	: >"$raw"
	boot anon "$arch" "bench:gup:mincore${3-}"
	boot vfio -v "$arch" setup:vfio bench:vfio
	if [ "$arch" = x86_64 ]; then
		boot dax-2M -p "$arch" setup:dax:2097152 bench:dax
		boot dax-4k -p "$arch" setup:dax:4096 bench:dax
	fi
}

# Whole or not at all.
write()
{
	cat >"$1.new"
	mv "$1.new" "$1"
	column -t -s "	" "$1"
}

stock()
{
	measure "$1" stock
	awk -v arch="$arch" -v OFS='\t' '
		BEGIN { print "arch", "walker", "layout", "insn" }
		$1 == "stock" && NF == 4 { print arch, $2, $3, $4 }' "$raw" |
		write "$out/stock-$arch.tsv"
}

off_and_on()
{
	measure "$1" image :scan
	awk -v arch="$arch" -v OFS='\t' '
		BEGIN { print "arch", "walker", "layout", "unit", "off", "on", "ratio" }
		$1 == "bench" && NF == 5 {
			print arch, $2, $3, "insn/page", $4, $5, sprintf("%.3f", $4 / $5)
		}' "$raw" | write "$out/ab-$arch.tsv"
	echo
	echo "the scan alone, insn/page: ours, folio_pte_batch()"
	sed -n 's/^scan //p' "$raw" | column -t
}

compare()
{
	awk -F '\t' -v file="$out/ab-$1.tsv" '
		FILENAME != file && $1 == arch { stock[$2 " " $3] = $4; next }
		FILENAME == file && FNR > 1 { off[$2 " " $3] = $5 }
		END {
			for (row in stock) {
				if (!(row in off)) {
					print "not measured: " row
					bad = 1
					continue
				}
				# 0.01 is what the figures are rounded to
				if (off[row] > 1.02 * stock[row] + 0.01)
					bad = 1
				else if (off[row] >= 0.98 * stock[row] - 0.01)
					continue
				printf "%s: off is %s, stock is %s: %+.1f %%\n", row, off[row],
					stock[row], 100 * (off[row] / stock[row] - 1)
			}
			exit bad
		}' arch="$1" "$vm/stock.tsv" "$out/ab-$1.tsv" >&2
}

status=0
for arch in $archs; do
	if [ "${STOCK-}" ]; then
		stock "$arch"
		continue
	fi
	off_and_on "$arch"
	[ "${KDIR-}" ] || compare "$arch" || status=1
done
[ $status = 0 ] || die "the kernel's own code costs more than in a kernel without ptebatch"
