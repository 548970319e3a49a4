#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Makes javac.ptb anew: ./make-javac.sh PTEBATCH, as root, on Linux 6.16 or later with ext4 or XFS
# and a JDK 17 or later. Two recordings are never the same; look at the new one before it replaces
# the old.
set -eu

ptebatch=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
thp=/sys/kernel/mm/transparent_hugepage
lib=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")/lib
work=$(mktemp -d)
archive=$(mktemp -u /dev/shm/javac.XXXXXX)
pid=

chosen() {
	sed 's/.*\[\(.*\)\].*/\1/' "$1"
}
was=$(chosen $thp/enabled)
was64=$(chosen $thp/hugepages-64kB/enabled)
was256=$(chosen $thp/hugepages-256kB/enabled)

cleanup() {
	trap - EXIT INT TERM
	[ -z "$pid" ] || kill "$pid" || :
	echo "$was" >$thp/enabled
	echo "$was64" >$thp/hugepages-64kB/enabled
	echo "$was256" >$thp/hugepages-256kB/enabled
	rm -rf "$work" "$archive"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# Enough to keep the compiler busy: classes of lambdas and generics.
mkdir "$work/src" "$work/out"
awk -v dir="$work/src" 'BEGIN {
	map = "java.util.Map<String, java.util.List<Integer>>"
	for (i = 0; i < 1500; i++) {
		file = dir "/C" i ".java"
		print "public class C" i " {" >file
		for (j = 2; j < 14; j++) {
			print "\tpublic " map " m" j "(java.util.List<Integer> in) {" >file
			print "\t\treturn in.stream().filter(x -> x % " j " == 0)" >file
			print "\t\t\t.collect(java.util.stream.Collectors" >file
			print "\t\t\t\t.groupingBy(x -> \"k\" + x % " i + 1 "));\n\t}" >file
		}
		print "}" >file
		close(file)
	}
}'

# Large folios for the heap and for everything malloc() gives ...
echo always >$thp/enabled
echo always >$thp/hugepages-64kB/enabled
echo always >$thp/hugepages-256kB/enabled
# ... and, by reading them in order, for the files.
for f in "$lib/modules" "$lib/server/libjvm.so"; do
	dd if="$f" iflag=nocache count=0 status=none
	cat "$f" >"$work/read"
done
rm "$work/read"

# Memory of tmpfs: the archive of loaded classes, which is mapped privately.
javac -J-XX:ArchiveClassesAtExit="$archive" -d "$work/out" "$work/src/C1.java" >"$work/log" 2>&1

javac -J-XX:SharedArchiveFile="$archive" -J-Xms32m -J-Xmx1g -J-XX:MinHeapFreeRatio=5 \
	-J-XX:MaxHeapFreeRatio=10 -d "$work/out" "$work/src"/*.java >"$work/log" 2>&1 &
pid=$!
sleep 12
# A full collection gives heap back, trimming gives malloc's: both leave parts of 2 MiB folios mapped.
jcmd $pid GC.run
jcmd $pid System.trim_native_heap
until [ "$(awk '/^VmRSS/ { print $2 }' /proc/$pid/status)" -gt 409600 ]; do
	sleep 1
done
"$ptebatch" record --pid $pid -o "$here/javac.ptb"
