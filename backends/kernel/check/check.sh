#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Compile the library against a real kernel: its headers behind mm/gup.c, mm/mincore.c and
# vfio_iommu_type1.c as they are, with gcc W=1 and sparse (C=2). Whatever is printed for our files
# is a failure.
#
#	check.sh		Debian's linux-source-6.12 over its linux-headers-6.12.*
#	KDIR=<tree> check.sh	a kernel tree of your own, after make modules_prepare
#
# Needs no root, links and runs nothing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
cache=${PTEBATCH_CACHE:-$HOME/.cache/ptebatch}
build=$top/build/kernel-compile

die()
{
	echo "kernel-compile: $*" >&2
	exit 1
}

# Only if changed, or kbuild builds anew what it need not.
put()
{
	printf '%s\n' "$2" | cmp -s - "$build/$1" || printf '%s\n' "$2" >"$build/$1"
}

command -v sparse >/dev/null || die "sparse is missing: install the package sparse"

# Sets ksrc, khdr and version; the source is unpacked once per version of the package.
find_debian()
{
	tarball=/usr/src/linux-source-6.12.tar.xz
	[ -e $tarball ] || die "$tarball is missing: install the package linux-source-6.12"
	pkg=$(dpkg-query -W -f '${Version}' linux-source-6.12) || die "$tarball is of no package"
	version=${pkg%%-*}
	arch=$(dpkg --print-architecture)

	khdr=""
	for dir in /usr/src/linux-headers-"$version"[+-]*"$arch"; do
		[ -e "$dir/.config" ] && khdr=$dir
	done
	[ "$khdr" ] || die "no headers of $version: install linux-headers-6.12-cloud-$arch or alike"

	ksrc=$cache/linux-source-$pkg
	[ -d "$ksrc" ] && return
	mkdir -p "$cache"
	tmp=$(mktemp -d "$cache/unpack.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' INT TERM
	tar -xJf $tarball -C "$tmp" --strip-components=1 --wildcards \
		'linux-source-6.12/mm/*.[ch]' 'linux-source-6.12/drivers/vfio/*.[ch]'
	# Whoever comes second has the same.
	mv -T "$tmp" "$ksrc" 2>/dev/null || [ -d "$ksrc" ] || die "cannot write to $cache"
}

if [ "${KDIR-}" ]; then
	khdr=$KDIR
	ksrc=$KDIR
	version=$(make -s --no-print-directory -C "$KDIR" kernelversion)
else
	find_debian
fi

mkdir -p "$build"
objs="" fails=""
for file in "$here"/Kbuild "$here"/*.c "$here"/fails/*.c; do
	name=${file##*/}
	cmp -s "$file" "$build/$name" || cp "$file" "$build/$name"
	case $file in
	*/fails/*.c) fails="$fails ${name%.c}.o" ;;
	*.c) objs="$objs ${name%.c}.o" ;;
	esac
done

# Each header alone behind the backend. Those of walk/ are so already in the files above.
for file in "$top"/include/ptebatch/*.h; do
	name=${file##*/}
	case $name in
	ptebatch.h|vpfn.h) backend='#include <drivers/vfio/vfio_iommu_type1.c>
#include <kernel/vpfn.h>' ;;
	*) backend='#include <kernel/ops.h>' ;;
	esac
	put "alone-${name%.h}.c" "#include <mm/internal.h>
$backend
#include <ptebatch/$name>"
	objs="$objs alone-${name%.h}.o"
done

for file in "$top"/include/ptebatch/walk/*.h; do
	name=${file##*/}
	binding=$(grep -l "^#include <ptebatch/walk/$name>" "$top"/backends/kernel/*.h) ||
		die "walk/$name: no header in backends/kernel binds it"
	grep -q "^#include <kernel/${binding##*/}>" "$here"/*.c ||
		die "walk/$name: nothing in backends/kernel/check compiles ${binding##*/}"
done

# The caller's make has no say in kbuild.
unset MAKEFLAGS MFLAGS MAKELEVEL

kbuild()
{
	make -s --no-print-directory -k -j"$(nproc)" -C "$khdr" M="$build" C=2 W=1e \
		PTB_TREE="$top" PTB_KSRC="$ksrc" PTB_OBJS="$objs $fails" "$@" 2>&1
}

status=0
# shellcheck disable=SC2086
kbuild $objs >"$build/log" || status=1

# -Wsparse-error would be simpler, but mm/ itself is not silent: sparse cannot see pte_offset_map()
# take the lock that pte_unmap() drops. Of the kernel's own files this one message is passed over,
# of ours nothing.
sed -e "\\|^$ksrc/mm/.*: warning: context imbalance in |d" -e '/: note: in included file/d' \
	"$build/log" >"$build/log.ours"
if [ -s "$build/log.ours" ]; then
	cat "$build/log.ours" >&2
	status=1
fi
[ $status = 0 ] || die "failed against $version"

# What must not pass: shows that all this can fail.
for obj in $fails; do
	want=$(sed -n 's|^// expect: ||p' "$build/${obj%.o}.c")
	if kbuild CF=-Wsparse-error "$obj" >"$build/log.fails"; then
		die "check/fails/${obj%.o}.c compiles, and must not"
	fi
	grep -q "$want" "$build/log.fails" || {
		cat "$build/log.fails" >&2
		die "check/fails/${obj%.o}.c fails without saying \"$want\""
	}
done

# shellcheck disable=SC2086
set -- $objs
echo "kernel-compile: $# objects against $version, C=2 silent"
