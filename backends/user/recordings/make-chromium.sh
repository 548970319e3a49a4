#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Makes chromium.ptb anew: ./make-chromium.sh PTEBATCH, as root, on Linux 6.16 or later with ext4 or
# XFS, loop devices, perl and Debian's chromium. Two recordings are never the same; look at the new
# one before it replaces the old.
set -eu

ptebatch=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
thp=/sys/kernel/mm/transparent_hugepage
dir=/usr/lib/chromium
work=$(mktemp -d)
browser=
swap=

chosen() {
	sed 's/.*\[\(.*\)\].*/\1/' "$1"
}
was64=$(chosen $thp/hugepages-64kB/enabled)
was2048=$(chosen $thp/hugepages-2048kB/enabled)

cleanup() {
	trap - EXIT INT TERM
	[ -z "$browser" ] || kill "$browser" || :
	[ -z "$browser" ] || wait "$browser" || :
	echo "$was64" >$thp/hugepages-64kB/enabled
	echo "$was2048" >$thp/hugepages-2048kB/enabled
	if [ -n "$swap" ]; then
		! grep -q "^${swap}[[:space:]]" /proc/swaps || swapoff "$swap"
		losetup -d "$swap"
	fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# A page that fills a table and, in itself and in a worker, an index of records and buffers, and
# lets go of a part of each; and the same again 14 seconds later.
cat >"$work/page.html" <<'HTML'
<!doctype html>
<title>Orders</title>
<canvas id="chart" width="1600" height="900"></canvas>
<table id="rows"></table>
<script>
function load(kept, from, to) {
	for (let i = from; i < to; i++) {
		const record = { id: i, name: "customer " + i * 7919 % 100003, total: i, lines: [] };
		for (let j = 0; j < i % 7; j++)
			record.lines.push({ article: (i * j) % 997, amount: j });
		kept.records.set(record.name + i, record);
		if (i % 500 == 0)
			kept.buffers.push(new Uint8Array(16384 + i % 13 * 40000).fill(i));
	}
	for (const [key, record] of kept.records)
		if (record.id >= from && record.id % 5 < 2)
			kept.records.delete(key);
	kept.buffers = kept.buffers.filter((buffer, i) => i % 3);
}
const source = load + `
	const kept = { records: new Map(), buffers: [] };
	load(kept, 0, 100000);
	setTimeout(() => load(kept, 100000, 200000), 14000);`;
const kept = { records: new Map(), buffers: [] };
const worker = new Worker(URL.createObjectURL(new Blob([source])));
function show(from, to) {
	let html = "";
	for (let i = from; i < to; i++)
		html += "<tr class=r" + i % 10 + "><td>" + i + "<td>customer " + i + "<td>" + i * 37 % 1009;
	rows.insertAdjacentHTML("beforeend", html);
	for (let i = rows.rows.length - 1; i > 0; i -= 4)
		rows.deleteRow(i);
	const context = chart.getContext("2d");
	for (let i = from; i < to; i += 10)
		context.fillRect(i % 1600, 900 - i * 37 % 900, 3, 900);
}
load(kept, 0, 150000);
show(0, 10000);
setTimeout(() => {
	load(kept, 150000, 300000);
	show(10000, 20000);
}, 14000);
</script>
HTML

# Folios of 64 KiB and none of 2 MiB for anonymous memory; large folios for the files, by reading
# them in order.
echo always >$thp/hugepages-64kB/enabled
echo never >$thp/hugepages-2048kB/enabled
for f in $dir/chromium $dir/icudtl.dat $dir/resources.pak; do
	dd if="$f" iflag=nocache count=0 status=none
	cat "$f" >"$work/copy"
done
rm "$work/copy"
# Folios go to swap in one piece only if that is a block device.
fallocate -l 1G "$work/swap"
swap=$(losetup -f --show "$work/swap")
mkswap "$swap" >"$work/log"
swapon "$swap"

HOME="$work" TMPDIR="$work" $dir/chromium --headless --no-sandbox --disable-gpu \
	--disable-quic --no-first-run --disable-background-networking \
	--disable-component-update --disable-sync \
	--user-data-dir="$work/profile" "file://$work/page.html" >"$work/log" 2>&1 &
browser=$!
sleep 9

# The process that shows the page is the largest of its kind.
pid=$(ps -eo pid,rss,args | awk -v profile="$work/profile" 'index($0, profile) && /type=renderer/ &&
	$2 > most { most = $2; pid = $1 } END { print pid }')
# What a tab in the background loses: all its anonymous memory is paged out (process_madvise(),
# MADV_PAGEOUT). What the page then goes on to use comes back. 434 is pidfd_open(), 440
# process_madvise().
perl -e '
	my $fd = syscall(434, $ARGV[0] + 0, 0);
	open(my $maps, "<", "/proc/$ARGV[0]/maps") or die;
	while (<$maps>) {
		/^(\w+)-(\w+) rw.p \w+ 00:00 0 / or next;
		my $range = pack("QQ", hex($1), hex($2) - hex($1));
		syscall(440, $fd, $range, 1, 21, 0);
	}' "$pid"
sleep 14
"$ptebatch" record --pid "$pid" -o "$here/chromium.ptb"
