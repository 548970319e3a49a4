#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Makes postgres.ptb and hugetlb.ptb anew: ./make-postgres.sh PTEBATCH, as root, on Linux 6.16 or
# later with ext4 or XFS and PostgreSQL 15 or later. Two recordings are never the same; look at the
# new ones before they replace the old.
set -eu

ptebatch=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
bin=$(pg_config --bindir)
lib=$(pg_config --pkglibdir)
thp64=/sys/kernel/mm/transparent_hugepage/hugepages-64kB
reserve=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
work=$(mktemp -d)
load=
query=

chosen() {
	sed 's/.*\[\(.*\)\].*/\1/' "$1"
}
was=$(chosen $thp64/enabled)
was_shmem=$(chosen $thp64/shmem_enabled)
reserved=$(cat $reserve)

as_postgres() {
	setpriv --reuid=postgres --regid=postgres --clear-groups --inh-caps=-all "$@"
}
stop() {
	for pid in $query $load; do
		kill "$pid" || :
		wait "$pid" 2>/dev/null || :
	done
	query=
	load=
	[ ! -e data/postmaster.pid ] || as_postgres "$bin/pg_ctl" -D data -m immediate stop >>log
}
cleanup() {
	trap - EXIT INT TERM
	stop || :
	echo "$was" >$thp64/enabled
	echo "$was_shmem" >$thp64/shmem_enabled
	echo "$reserved" >$reserve
	rm -rf "$work"
}
cd "$work"
trap cleanup EXIT
trap 'exit 1' INT TERM

sql() {
	as_postgres "$bin/psql" -h "$work" -d postgres -qAtX "$@"
}
# start HUGE_PAGES JIT: transactions of two clients fill the pool and go on behind the query.
start() {
	as_postgres "$bin/pg_ctl" -D data -l server.log -o "-c huge_pages=$1 -c jit=$2" -w start >>log
	as_postgres "$bin/pgbench" -h "$work" -n -c 2 -T 15 postgres >>log 2>&1
	as_postgres "$bin/pgbench" -h "$work" -n -c 2 -T 300 postgres >>log 2>&1 &
	load=$!
}
# kb PID PATTERN: of the mappings whose line in smaps has the pattern.
kb() {
	awk -v pattern="$2" '/^[0-9a-f]+-/ { on = $0 ~ pattern } /^Rss:/ && on { sum += $2 }
		END { print sum + 0 }' "/proc/$1/smaps"
}
# record NAME PATTERN KB WORKERS: the server process of a client that looks for some rows here and
# there and then sorts a join, once the mappings of the pattern hold so much.
record() {
	sql -c "SET max_parallel_workers_per_gather = $4" -c "
		SELECT count(abalance) FROM generate_series(1, 2500) i, LATERAL (
			SELECT abalance FROM pgbench_accounts
			WHERE aid = i::bigint * 7919 * 104729 % 3000000 + 1) one" -c "
		SELECT x.bid, percentile_cont(0.5) WITHIN GROUP (ORDER BY x.abalance - y.abalance)
		FROM pgbench_accounts x JOIN pgbench_accounts y ON y.aid = 3000001 - x.aid
		WHERE x.aid % 3 < 2 AND y.aid % 5 < 2 GROUP BY x.bid" >>log 2>&1 &
	query=$!
	pid=
	until [ -n "$pid" ] && [ "$(kb "$pid" "$2")" -gt "$3" ]; do
		kill -0 $query # it must not be over yet
		sleep 0.1
		pid=$(sql -c "SELECT pid FROM pg_stat_activity
			WHERE query LIKE '%percentile%' AND backend_type = 'client backend'
			AND pid <> pg_backend_pid()")
	done
	"$ptebatch" record --pid "$pid" -o "$here/$1.ptb"
}

chown postgres .
as_postgres "$bin/initdb" -D data -A trust >log
cat >>data/postgresql.conf <<CONF
listen_addresses = ''
unix_socket_directories = '$work'
shared_buffers = 384MB
work_mem = 48MB
max_wal_size = 4GB
fsync = off
CONF

# Reading files in order gives the page cache large folios.
llvm=$(ldd "$lib/llvmjit.so" | awk '/libLLVM/ { print $3 }')
for f in "$bin/postgres" $llvm; do
	dd if="$f" iflag=nocache count=0 status=none
	cat "$f" >copy
done
rm copy

# The pool is shared anonymous memory: folios of 64 KiB. What workers share is a file on tmpfs:
# single pages.
echo always >$thp64/shmem_enabled
{
	as_postgres "$bin/pg_ctl" -D data -l server.log -w start
	as_postgres "$bin/pgbench" -h "$work" -i -q -s 30 postgres
	as_postgres "$bin/pg_ctl" -D data -m fast -w stop
} >>log 2>&1
start off on
record postgres /dev/shm/ 40000 2
stop

# The same with a pool of reserved huge pages, without workers and with anonymous memory in 64 KiB.
echo always >$thp64/enabled
pool=$(as_postgres "$bin/postgres" -D data -C shared_memory_size_in_huge_pages 2>>log)
echo $((reserved + pool)) >$reserve
start on off
record hugetlb heap 40000 0
