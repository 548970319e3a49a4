#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# debian.sh x86_64|arm64: prints a directory with "image" and "build" of Debian's stock 6.12 kernel for
# that machine: what boots, and what "make -C" builds modules against, on this machine.
#
# Fetched once, installed nowhere: packages are kept in ${PTEBATCH_CACHE:-~/.cache/ptebatch}/debian by
# their name and version, to be deleted for newer ones. apt is given a state of its own, so that neither
# the system's lists nor its foreign architectures matter; it needs no root.
set -eu
. "$(dirname "$0")/../vm/lib.sh"

[ $# = 1 ] || { echo "usage: debian.sh x86_64|arm64" >&2; exit 2; }
target "$1"
case $arch in
x86_64) deb=amd64 ;;
arm64) deb=arm64 ;;
esac
need dpkg-deb dpkg
need apt-get apt
need flock util-linux
host=$(dpkg --print-architecture)
debs=$cache/debian
mkdir -p "$debs"

# apt_of ARCH COMMAND..: apt as on a machine of that architecture.
apt_of()
{
	apt=$debs/apt-$1
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/state/status"
	cat >"$apt/apt.conf" <<-EOT
		APT::Architecture "$1";
		#clear APT::Architectures;
		APT::Architectures { "$1"; };
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Dir::State "$apt/state";
		Dir::State::status "$apt/state/status";
		Dir::Cache "$apt/cache";
	EOT
	shift
	APT_CONFIG=$apt/apt.conf "$@" || die "$* failed"
}

# fetch ARCH PACKAGE..: into $debs; what is there already is not fetched again.
fetch()
{
	of=$1
	shift
	(cd "$debs" && apt_of "$of" apt-get -qq download "$@" >&2)
}

exec 9>"$debs/lock"
flock 9

dir=""
for known in "$debs"/6.12.*-"$deb"; do
	[ ! -e "$known/image" ] || dir=$known
done
if [ -z "$dir" ]; then
	say "fetching Debian's 6.12 for $deb"
	for one in "$deb" "$host"; do
		apt_of "$one" apt-get -qq update >&2
	done
	headers=$(apt_of "$deb" apt-cache depends "linux-headers-6.12-cloud-$deb" |
		sed -n 's/^ *Depends: \(linux-headers-6\.12\.[0-9].*\)$/\1/p')
	[ "$headers" ] || die "apt knows no linux-headers-6.12-cloud-$deb"
	release=${headers#linux-headers-}
	version=${release%-cloud-"$deb"}

	tmp=$(mktemp -d "$debs/unpack.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' INT TERM
	fetch "$deb" "linux-image-$release" "$headers" "linux-headers-$version-common"
	# Programs, which run here.
	fetch "$host" "linux-kbuild-$version"
	for package in "linux-image-${release}_"*"_$deb" "${headers}_"*"_$deb" \
		"linux-headers-$version-common_"*_all "linux-kbuild-${version}_"*"_$host"; do
		# shellcheck disable=SC2086
		for file in "$debs"/$package.deb; do
			[ -e "$file" ] || die "apt has not fetched $package"
			dpkg-deb -x "$file" "$tmp"
		done
	done
	dir=$debs/$release
	sed -i "s|/usr/src/|$dir/usr/src/|" "$tmp/usr/src/$headers/Makefile"
	ln -s "usr/src/$headers" "$tmp/build"
	rm -rf "$tmp/lib/modules" "$tmp/usr/lib/modules"
	ln -s "boot/vmlinuz-$release" "$tmp/image"
	chmod 755 "$tmp"
	mv -T "$tmp" "$dir"
fi
echo "$dir"
