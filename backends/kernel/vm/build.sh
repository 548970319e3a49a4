#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# Build a kernel with ptebatch in it: Debian's linux-source-6.12.
#
#	build.sh ARCH [debug|bench|kcsan]	ARCH: x86_64 or arm64; kcsan: x86_64
#	KDIR=<source>	a kernel source of your own instead, objects in build/kernel/VARIANT/objects
#
# Leaves build/kernel/VARIANT/{image,config,System.map}; VARIANT is ARCH, or ARCH-debug and so on.
# ARCH-bench is ARCH without KUnit, whose tests stand in the files that are measured: what they use of
# them more is inlined less, and the kernel's own code is not what it was. Beside it is "stock", the
# same kernel without ptebatch.
#
# Two trees are kept in ${PTEBATCH_CACHE:-~/.cache/ptebatch}/linux-<version of the package>:
#
#	base/			the source as it is
#	base/O-<variant>.<key>/	built from it; the key is a hash of the fragments and of the compiler
#	work/, work/O-*		copies of these, into which tree.sh puts ptebatch
#
# tree.sh writes only what changed, so that after an edit of a header kbuild makes the touched objects
# anew, in seconds; work/ may be deleted at any time. Objects also go through ccache. Of each variant
# two keys are kept, and a tree of another version of the package for a fortnight.
set -eu
. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || [ $# = 2 ] || { echo "usage: build.sh ARCH [debug|bench|kcsan]" >&2; exit 2; }
target "$@"
for tool in "make make" "flex flex" "bison bison" "bc bc" "flock util-linux" "spatch coccinelle" \
	"perl perl" "xz xz-utils" "ccache ccache"; do
	# shellcheck disable=SC2086
	need $tool
done

log=$out/$variant/build.log
mkdir -p "$out/$variant"

fragments="$vm/config/common.config $vm/config/$arch.config"
ours=$vm/config/ptebatch.config
objects=$arch
case $variant in
*-debug)
	fragments="$fragments $vm/config/debug.config"
	[ "$arch" = arm64 ] || fragments="$fragments $vm/config/debug-$arch.config"
	objects=$variant
	;;
*-kcsan)
	fragments="$fragments $vm/config/kcsan.config"
	objects=$variant
	;;
*-bench) ours=$vm/config/bench.config ;;
esac
# shellcheck disable=SC2086
key=$({ cat $fragments; ${cross}gcc --version; } | sha256sum | cut -c1-12)

# Of the source in $src, in $obj.
kbuild()
{
	make -C "$src" O="$obj" ARCH=$karch CROSS_COMPILE="$cross" CC="ccache ${cross}gcc" \
		KBUILD_BUILD_TIMESTAMP=2026-01-01 KBUILD_BUILD_USER=ptebatch \
		KBUILD_BUILD_HOST=ptebatch -j"$jobs" "$@" >>"$log" 2>&1 || {
		grep -E -A 5 'error|Error|warning: |\*\*\*' "$log" | tail -n 30 >&2
		die "$variant: the build failed: $log"
	}
}

# Each line of the fragments, of several for one option the last: else the kernel is not what it seems.
check_config()
{
	lost=$(cat "$@" | awk -F= -v config="$obj/.config" '
		/^CONFIG_/ { want[$1] = $0 }
		END {
			while ((getline <config) > 0)
				have[$1] = $0
			for (name in want)
				if (want[name] != have[name] && !(want[name] ~ /=n$/ && have[name] == ""))
					printf " %s", want[name]
		}')
	[ -z "$lost" ] || die "$variant: not to be had in this kernel's configuration:$lost"
}

# configure FRAGMENT...: over the configuration that is there
configure()
{
	(cd "$src" && scripts/kconfig/merge_config.sh -m -O "$obj" "$obj/.config" "$@") >>"$log" 2>&1
	kbuild olddefconfig
	check_config "$@"
}

# From nothing, unless it was done so before.
build_plain()
{
	[ "$(cat "$obj/.key" 2>/dev/null)" != "$key" ] || return 0
	say "building $variant from scratch: some minutes"
	[ ! -e "$obj/.key" ] || rm -rf "$obj"
	mkdir -p "$obj"
	kbuild tinyconfig
	# shellcheck disable=SC2086
	configure $fragments
	kbuild "${image##*/}"
	echo "$key" >"$obj/.key"
}

build_ptebatch()
{
	"$vm/../tree/tree.sh" apply "$src" >>"$log"
	# Objects of the base may be younger than what another variant's build has put into work/.
	[ "${KDIR-}" ] || [ -e "$obj/.ptebatch.config" ] ||
		find "$src" -path '*/O-*' -prune -o -type f -newer "$linux/base/.unpacked" \
			! -path '*/.ptebatch/*' -exec touch {} +
	cmp -s "$ours" "$obj/.ptebatch.config" || {
		configure "$ours"
		cp "$ours" "$obj/.ptebatch.config"
	}
	kbuild "${image##*/}"

	# Under the lock, so that what is run is what was built for this checkout.
	put "$out/$variant/image" <"$obj/$image"
	put "$out/$variant/config" <"$obj/.config"
	put "$out/$variant/System.map" <"$obj/System.map"
}

# Nearly half of the source is for graphics cards.
unpack()
{
	say "unpacking linux $version"
	tmp=$(mktemp -d "$linux/unpack.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' INT TERM
	tar -xJf $tarball -C "$tmp" --strip-components=1 --exclude='*/drivers/gpu/*.[ch]'
	chmod 755 "$tmp"
	touch "$tmp/.unpacked"
	mv -T "$tmp" "$linux/base"
}

: >"$log"
if [ "${KDIR-}" ]; then
	src=$(cd "$KDIR" && pwd)
	obj=$out/$objects/objects
	key="$key $src"
	build_plain
	build_ptebatch
	exit
fi

version=$(source_version)
linux=$cache/linux-$version
mkdir -p "$linux"
exec 9>"$linux/lock"
flock -n 9 || { say "another build is at work: waiting"; flock 9; }

# As a directory of the source: paths in objects are relative then, and a copy is not built anew.
dir=O-$objects.$key

# in_tree base|work
in_tree()
{
	src=$linux/$1
	obj=$src/$dir
}

in_tree base
[ -d "$src" ] || unpack
build_plain
case $variant in
*-bench) put "$out/$variant/stock" <"$obj/$image" ;;
esac

# Copies are made under another name, and keep the times of files.
in_tree work
if [ ! -d "$src" ]; then
	rm -rf "$src.new"
	mkdir "$src.new"
	find "$linux/base" -mindepth 1 -maxdepth 1 ! -name 'O-*' -exec cp -a -t "$src.new" {} +
	mv "$src.new" "$src"
fi
if [ ! -d "$obj" ]; then
	rm -rf "$obj.new"
	cp -a "$linux/base/$dir" "$obj.new"
	mv "$obj.new" "$obj"
fi
build_ptebatch

# By age of their last use: two keys of this variant are kept, and of other versions' trees the recent.
touch "$linux/base/$dir/.key" "$linux/lock"
# shellcheck disable=SC2012
ls -t "$linux"/base/O-"$objects".*/.key | tail -n +3 | while read -r old; do
	old=$(basename "$(dirname "$old")")
	for tree in base work; do
		rm -rf "${linux:?}/$tree/$old"
	done
done
find "$cache" -mindepth 2 -maxdepth 2 -path "$cache/linux-*/lock" -mtime +14 |
	while read -r old; do
		rm -rf "$(dirname "$old")"
	done
