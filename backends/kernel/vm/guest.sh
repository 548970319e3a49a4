#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# guest.sh ARCH: compiles the guest's programs, static, and packs build/kernel/ARCH/guest.cpio with
# them in /bin, /init, and the tables of an empty ext2 for init to mount.
set -eu
. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || { echo "usage: guest.sh ARCH" >&2; exit 2; }
target "$1"
need cpio cpio
need mke2fs e2fsprogs

cpio=$out/$arch/guest.cpio
gup_test=$(source_tree)/mm
sources="$vm/guest $vm/guest.sh $vm/lib.sh $vm/../tree/ptebatch_test.h"
# shellcheck disable=SC2086
[ ! -e "$cpio" ] || [ "$(find $sources -newer "$cpio")" ] || exit 0

root=$out/$arch/guest
rm -rf "$root"
mkdir -p "$root/bin"
programs="bench test selftests stress"

# A program is NAME.c or NAME_*.c; what belongs to none is shared by all.
shared=
for file in "$vm"/guest/*.c; do
	name=${file##*/}
	case " $programs init " in
	*" ${name%%[_.]*} "*) ;;
	*) shared="$shared $file" ;;
	esac
done

compile()
{
	program=$1
	shift
	"${cross}gcc" -static -O2 -g0 -Wall -Wextra -Wno-sign-compare -Werror -iquote "$vm/../tree" -iquote "$gup_test" \
		-o "$program" "$@" || die "$arch: ${program##*/} does not compile"
}

compile "$root/init" "$vm/guest/init.c"
for name in $programs; do
	set --
	for file in "$vm/guest/$name.c" "$vm/guest/$name"_*.c; do
		[ ! -e "$file" ] || set -- "$@" "$file"
	done
	# shellcheck disable=SC2086
	[ $# = 0 ] || compile "$root/bin/$name" "$@" $shared
done

# All that a fresh ext2 has is at its beginning: init makes it 96 MiB long again.
truncate -s 96M "$root/disk.ext2"
PATH=$PATH:/sbin:/usr/sbin mke2fs -q -t ext2 -b 4096 -N 256 -U clear -E hash_seed=clear \
	"$root/disk.ext2" 2>/dev/null ||
	PATH=$PATH:/sbin:/usr/sbin mke2fs -q -t ext2 -b 4096 -N 256 "$root/disk.ext2" ||
	die "mke2fs failed"
truncate -s 1M "$root/disk.ext2"

# Time stamps and order are fixed, for two boots to be alike.
find "$root" -exec touch -h -d 2026-01-01 {} +
(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc --reproducible --quiet) >"$cpio.new"
mv "$cpio.new" "$cpio"
