#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# check.sh [x86_64|arm64]: builds ptebatch_stock.ko against Debian's stock 6.12 kernel, silent under W=1
# and sparse, and has it look at memory of known layouts in a guest that runs this kernel. Prints TAP.
# Both machines, if none is named.
set -eu
. "$(dirname "$0")/../vm/lib.sh"
here=$vm
vm=$here/../vm

[ $# -le 1 ] || { echo "usage: check.sh [x86_64|arm64]" >&2; exit 2; }
need sparse sparse
need cpio cpio

run()
{
	"$vm/run.sh" -k "$stock/image" -x "$build/stock.cpio" -l "$build/console.log" "$@"
}

check()
{
	target "$1"
	stock=$("$here/debian.sh" "$arch")
	build=$out/module/$arch
	mkdir -p "$build/root/bin"
	for file in Kbuild ptebatch_stock.c; do
		put "$build/$file" <"$here/$file"
	done

	make -s --no-print-directory -C "$stock/build" M="$build" PTB_TREE="$top" W=1e C=2 modules \
		>"$build/log" 2>&1 || { cat "$build/log" >&2; die "$arch: the module does not build"; }
	[ ! -s "$build/log" ] || { cat "$build/log" >&2; die "$arch: the build is not silent"; }

	"${cross}gcc" -static -O2 -Wall -Wextra -Werror -iquote "$vm/guest" -o "$build/root/bin/stock" \
		"$here/stock.c" "$vm/guest/lib.c" "$vm/guest/layout.c" || die "$arch: stock.c does not compile"
	cp "$build/ptebatch_stock.ko" "$build/root"
	(cd "$build/root" && find . | LC_ALL=C sort | cpio -o -H newc --quiet) >"$build/stock.cpio"

	"$vm/guest.sh" "$arch"
	echo "# $arch: $(basename "$stock")"
	# With icount a nanosecond is an instruction, but there is only one CPU.
	run -i "$arch" stock && run "$arch" stock:churn
}

for machine in ${1:-x86_64 arm64}; do
	check "$machine"
done
