# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=sh
# What the scripts in this directory share: sourced, after "set -eu".

vm=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$vm/../../.." && pwd)
cache=${PTEBATCH_CACHE:-$HOME/.cache/ptebatch}
out=$top/build/kernel
jobs=$(nproc)

export CCACHE_DIR="$cache/ccache" CCACHE_NOHASHDIR=1
# The caller's make has no say in other makefiles; its ARCH= is for ours.
archs=${ARCH:-x86_64 arm64}
unset ARCH CROSS_COMPILE MAKEFLAGS MFLAGS MAKELEVEL

me=$(basename "$0")

die()
{
	echo "$me: $*" >&2
	exit 1
}

say()
{
	echo "$me: $*" >&2
}

# need COMMAND PACKAGE
need()
{
	command -v "$1" >/dev/null || die "$1 is missing: install the package $2"
}

# target ARCH [debug|bench|kcsan]: sets arch, variant (a name for directories), karch, cross, image.
target()
{
	arch=${1-}
	case $arch in
	x86_64) karch=x86_64 cross="" image=arch/x86/boot/bzImage ;;
	arm64) karch=arm64 cross=aarch64-linux-gnu- image=arch/arm64/boot/Image ;;
	*) die "\"$arch\" is no architecture: x86_64 or arm64" ;;
	esac
	case ${2-} in
	"") variant=$arch ;;
	debug | bench) variant=$arch-$2 ;;
	kcsan)
		[ "$arch" = x86_64 ] || die "KCSAN is for x86_64"
		variant=$arch-$2
		;;
	*) die "\"$2\" is no variant: debug, bench, kcsan, or nothing" ;;
	esac
	if [ "$cross" ]; then need "${cross}gcc" gcc-aarch64-linux-gnu; else need gcc gcc; fi
}

# Only if changed, or what depends on it is built anew for nothing: put FILE <text
put()
{
	cat >"$1.new"
	if cmp -s "$1.new" "$1"; then
		rm "$1.new"
	else
		mv "$1.new" "$1"
	fi
}

# Debian's package of the kernel's source; build.sh unpacks it into the cache.
tarball=/usr/src/linux-source-6.12.tar.xz

source_version()
{
	[ -e $tarball ] || die "$tarball is missing: install the package linux-source-6.12"
	dpkg-query -W -f '${Version}' linux-source-6.12
}

source_tree()
{
	tree=${KDIR:-$cache/linux-$(source_version)/base}
	[ -d "$tree/mm" ] || die "$tree is not there: build.sh unpacks it"
	(cd "$tree" && pwd)
}
