#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: deps.sh [cross] [tree] [kernel] [fuzz] [bench] [coverage] [mutants] [mutate]
# The one list of packages, by their Debian names; installs only what is missing.
set -eu

packages="
	gcc clang make ccache
	libcriterion-dev libzstd-dev libbsd-dev
	cppcheck sparse clang-format binutils jq valgrind
	linux-source-6.12 linux-headers-6.12-cloud-amd64
"
for group in "$@"; do
	case $group in
	cross)
		packages="$packages
			gcc-i686-linux-gnu libc6-dev-i386-cross
			gcc-aarch64-linux-gnu libc6-dev-arm64-cross
			gcc-s390x-linux-gnu libc6-dev-s390x-cross
			gcc-mips-linux-gnu libc6-dev-mips-cross
			qemu-user-static
		"
		;;
	tree)
		packages="$packages coccinelle git perl"
		;;
	fuzz)
		packages="$packages clang llvm libclang-rt-14-dev"
		;;
	bench)
		packages="$packages gnuplot-nox"
		;;
	coverage)
		packages="$packages clang-19 llvm-19 libclang-rt-19-dev"
		;;
	mutants)
		packages="$packages patch"
		;;
	mutate)
		packages="$packages python3"
		;;
	kernel)
		packages="$packages
			coccinelle qemu-system-x86 qemu-system-arm
			gcc-aarch64-linux-gnu libc6-dev-arm64-cross
			flex bison bc perl python3 xz-utils libelf-dev libssl-dev
			cpio kmod e2fsprogs bsdextrautils
		"
		;;
	*)
		echo "deps: no group is called \"$group\": cross, tree, kernel, fuzz, bench, coverage, mutants, mutate" >&2
		exit 2
		;;
	esac
done

missing=
for p in $packages; do
	case $(dpkg-query -W -f='${Status}' "$p" 2>/dev/null) in
	"install ok installed") ;;
	*) missing="$missing $p" ;;
	esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "deps: missing:$missing; run as root, or: apt-get install$missing" >&2
	exit 1
fi
echo "deps: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The lists may be old, or absent on a fresh machine: only then is it worth asking the network for them.
# shellcheck disable=SC2086
if ! apt-get install -y --no-install-recommends $missing >"$log" 2>&1; then
	apt-get update >"$log" 2>&1 &&
		apt-get install -y --no-install-recommends $missing >"$log" 2>&1 || {
		echo "deps: could not install$missing:" >&2
		tail -n 5 "$log" >&2
		exit 1
	}
fi
