#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# selftests.sh ARCH: builds the kernel's own tests of memory management, static, once for a version of
# the source, and prints the cpio archive that has them in /bin. After build.sh.
set -eu
. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || { echo "usage: selftests.sh ARCH" >&2; exit 2; }
target "$1"
need cpio cpio

base=$(source_tree)
linux=$(dirname "$base")
tests=$base/tools/testing/selftests
key=$({ "${cross}gcc" --version; cat "$0"; } | sha256sum | cut -c1-12)
archive=$linux/selftests-$arch.$key.cpio
if [ -e "$archive" ]; then
	echo "$archive"
	exit
fi

log=$out/$arch/selftests.log
mkdir -p "$out/$arch"
tmp=$(mktemp -d "$linux/selftests.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$tmp/root/bin"

make -C "$base" O="$tmp/headers" ARCH=$karch CROSS_COMPILE="$cross" headers >"$log" 2>&1 ||
	die "$arch: headers: $log"

# The selftests' own makefile stops at libraries that these do not need. io_uring is not tested.
echo "// No liburing support" >"$tmp/local_config.h"

# compile DIRECTORY NAME SOURCE...
compile()
{
	dir=$tests/$1 name=$2
	shift 2
	(cd "$dir" && "${cross}gcc" -static -O2 -D_GNU_SOURCE -U_FORTIFY_SOURCE -w -I"$tmp" -I"$base" \
		-I"$tests" -isystem "$tmp/headers/usr/include" -isystem "$base/tools/include/uapi" \
		-o "$tmp/root/bin/$name" "$@" -lrt -lpthread -lm) >>"$log" 2>&1 ||
		die "$arch: $name does not compile: $log"
}

compile mincore mincore_selftest mincore_selftest.c
for name in cow gup_longterm mkdirty madv_populate gup_test; do
	compile mm $name $name.c vm_util.c thp_settings.c
done

find "$tmp/root" -exec touch -h -d 2026-01-01 {} +
(cd "$tmp/root" && find . | LC_ALL=C sort | cpio -o -H newc --reproducible --quiet) >"$tmp/cpio"
rm -f "$linux/selftests-$arch".*.cpio
mv "$tmp/cpio" "$archive"
echo "$archive"
