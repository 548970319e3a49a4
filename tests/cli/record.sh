#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ptebatch record, and replay of bad recordings: what goes wrong is said in one line and leaves no
# file behind. Usage: record.sh PTEBATCH. Prints TAP; as another user than root it skips a part.
set -u

bin=$(realpath "$1")
good=$(realpath "$(dirname "$0")/../../backends/user/recordings/javac.ptb")
work=$(mktemp -d) || exit 1
chmod 755 "$work"
pid=
cleanup() {
	[ "$BASHPID" = $$ ] || return 0
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
mkdir out

nr=0
failed=0
ok() {
	nr=$((nr + 1))
	echo "ok $nr - $1"
}
not_ok() {
	nr=$((nr + 1))
	failed=1
	echo "not ok $nr - $1"
	sed 's/^/# /' err stdout | head -20
}
skip() {
	ok "$1 # SKIP $2"
}

# Whatever happened, out/ holds no file; then it is as before.
nothing_left() {
	local left

	left=$(ls -A out)
	[ -z "$left" ] && return 0
	echo "left behind: $left" >>err
	rm -rf out/* out/.[!.]*
	return 1
}

# refused STATUS PATTERN TEXT COMMAND...: one line on stderr that matches, nothing on stdout
refused() {
	local want=$1 pattern=$2 text=$3 status

	shift 3
	"$@" >stdout 2>err
	status=$?
	if [ $status -ne "$want" ]; then
		echo "exit status $status, not $want" >>err
		not_ok "$text"
	elif [ "$(wc -l <err)" -ne 1 ] || ! grep -qE "^ptebatch: (record|replay): .*$pattern" err; then
		echo "not one line with: $pattern" >>err
		not_ok "$text"
	elif [ -s stdout ]; then
		not_ok "$text: stdout is not empty"
	elif ! nothing_left; then
		not_ok "$text"
	else
		ok "$text"
	fi
}

record() {
	"$bin" record "$@"
}

sleep 60 &
pid=$!
# Until exec() it is a copy of this shell.
until [ "$(cat /proc/$pid/comm 2>/dev/null)" = sleep ]; do :; done

# ---- usage ----

if record --help >stdout 2>err && grep -q '^Usage: ptebatch record' stdout && [ ! -s err ]; then
	ok "--help prints the usage on stdout"
else
	not_ok "--help prints the usage on stdout"
fi
refused 2 'no process given' "no arguments" record
refused 2 'no process given' "no pid" record -o out/f
refused 2 'no output given' "no output" record --pid $pid
refused 2 'unknown option "--frobnicate"' "unknown long option" record --frobnicate
refused 2 'unknown option "-z"' "unknown short option" record -z
refused 2 'no value given to "--pid"' "pid without a value" record --pid
refused 2 'unexpected argument "more"' "an argument too many" record --pid $pid -o out/f more
refused 2 'standard output' "output to stdout" record --pid $pid -o -
for bad in '' 0 -1 +7 ' 7' 7x 0x10 4711. 99999999999 99999999999999999999 '7
8'; do
	refused 2 'not a pid' "pid $(printf %q "$bad")" record --pid "$bad" -o out/f
done

# ---- processes that are not there ----

refused 1 'no process has pid 4194305' "no such pid" record --pid 4194305 -o out/f
sleep 0 &
gone=$!
sleep 0.1
refused 1 "(no process has pid $gone|pid $gone has no memory)" "process that has ended" \
	record --pid $gone -o out/f
if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	refused 1 'pid 2 has no memory of its own' "kernel thread" record --pid 2 -o out/f
else
	skip "kernel thread" "pid 2 is none, or only root may ask"
fi

# ---- outputs that cannot be written ----

mkdir dir
ln -s dir link
refused 1 'cannot write out/no/f: No such file' "missing folder" record --pid $pid -o out/no/f
refused 1 'cannot write dir: ' "output is a folder" record --pid $pid -o dir
refused 1 'cannot write link: ' "output is a link to a folder" record --pid $pid -o link
refused 1 'cannot write out/: ' "output ends in a slash" record --pid $pid -o out/
refused 1 'cannot write : ' "empty output name" record --pid $pid -o ''
refused 1 'cannot write /dev/full: ' "output is a device" record --pid $pid -o /dev/full
if [ -c /dev/full ]; then
	ok "the device is still there"
else
	not_ok "the device is still there"
fi
refused 1 '.' "a name with a newline and an escape" record --pid $pid -o $'out/no/\n\e[31m'
echo precious >keep
refused 1 'no process' "a failure keeps the old file" record --pid 4194305 -o keep
if [ "$(cat keep)" = precious ]; then
	ok "the old file is as it was"
else
	not_ok "the old file is as it was"
fi

# ---- rights ----

as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"
}
unprivileged() {
	as_nobody sh -c 'sleep 60 & p=$!; sleep 0.1; ./ptebatch record --pid $p -o open/f; s=$?
			 kill $p; exit $s'
}
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && as_nobody true; then
	cp "$bin" ptebatch
	chmod 755 ptebatch
	mkdir -m 777 open
	refused 1 "not permitted to look into pid $pid; run as root" "process of another user" \
		as_nobody ./ptebatch record --pid $pid -o open/f
	refused 1 'frame numbers of pid [0-9]* are hidden; run as root or with CAP_SYS_ADMIN' \
		"own process of an ordinary user" unprivileged
	refused 1 "frame numbers of pid $pid are hidden" "root without CAP_SYS_ADMIN" \
		setpriv --bounding-set=-sys_admin ./ptebatch record --pid $pid -o open/f
	refused 1 'cannot write out/f: Permission denied' "folder of another user" \
		as_nobody ./ptebatch record --pid $pid -o out/f
	if [ -z "$(ls -A open)" ]; then
		ok "nothing is left where anyone may write"
	else
		not_ok "nothing is left where anyone may write"
	fi
else
	for text in "process of another user" "own process of an ordinary user" \
		    "root without CAP_SYS_ADMIN" "folder of another user" "nothing is left"; do
		skip "$text" "needs root and setpriv"
	done
fi

# ---- a recording ----

complete() {
	record --pid "$1" -o out/f >stdout 2>err && [ ! -s err ] && [ "$(ls -A out)" = f ] &&
		"$bin" replay out/f >stdout 2>err
}
if record --pid $pid -o out/f >stdout 2>err; then
	rm -f out/f
	for who in $pid $$; do
		text="a process is recorded and replayed, quietly"
		[ "$who" = $$ ] && text="so is the parent"
		if complete "$who"; then
			ok "$text"
		else
			not_ok "$text"
		fi
		rm -f out/*
	done
	# Through a pipe: the limit holds for the messages too.
	(ulimit -f 0; record --pid $pid -o out/f; echo "status $?") 2>&1 | cat >err
	if grep -q '^ptebatch: record: cannot write.*File too large' err &&
	   grep -q '^status 1$' err && nothing_left; then
		ok "file size limit"
	else
		not_ok "file size limit"
	fi
	partial=
	for delay in 0.0005 0.001 0.002 0.003 0.004 0.006 0.01; do
		timeout -s TERM $delay "$bin" record --pid $pid -o out/f >/dev/null 2>&1
		case $(ls -A out) in
		'') ;;
		f)	"$bin" replay out/f >/dev/null 2>&1 || partial=1 ;;
		*)	partial=1 ;;
		esac
		rm -rf out/* out/.[!.]*
	done
	if [ -z "$partial" ]; then
		ok "a signal leaves a whole file or none"
	else
		not_ok "a signal leaves a whole file or none"
	fi
elif ! grep -qE 'hidden|closed|not permitted' err; then
	not_ok "a process is recorded and replayed"
else
	for text in "a process is recorded and replayed" "so is the parent" "file size limit" \
		    "a signal leaves a whole file or none"; do
		skip "$text" "$(sed 's/#//g' err)"
	done
fi

# ---- recordings that are bad ----

bad_file() {
	refused 1 "$1" "replay: $2" "$bin" replay bad
}
# patch OFFSET OCTAL...: bad becomes the good recording with other bytes there
patch_good() {
	local at=$1

	shift
	cp "$good" bad
	chmod 644 bad
	printf "$(printf '\\%s' "$@")" | dd of=bad bs=1 seek="$at" conv=notrunc status=none
}
flipped() {
	printf '%o' $((255 - $(od -An -tu1 -j "$1" -N 1 "$good")))
}

size=$(stat -c %s "$good")
refused 1 'No such file' "replay: no such file" "$bin" replay missing
refused 1 'Is a directory' "replay: a folder" "$bin" replay dir
: >bad
bad_file 'not a ptebatch recording' "an empty file"
echo 'text, not a recording' >bad
bad_file 'not a ptebatch recording' "another file"
for len in 3 6 7 8 9 20 $((size / 2)) $((size - 5)) $((size - 1)); do
	head -c $len "$good" >bad
	bad_file 'cut short' "cut after $len bytes"
done
cp "$good" bad
echo >>bad
bad_file 'damaged' "something appended"
patch_good 6 377
bad_file 'version 255.*newer ptebatch' "a newer version"
patch_good 6 000
bad_file 'damaged' "a version that never was"
patch_good 7 001
bad_file 'damaged' "unknown flags"
for at in 8 12 $((size / 3)) $((size / 2)) $((size - 4)) $((size - 1)); do
	patch_good $at "$(flipped $at)"
	bad_file 'damaged|cut short' "byte $at flipped"
done
# A frame that is well-formed but for its claim: 2^62 bytes in an empty block.
printf '\211PTB\r\n\001\000\050\265\057\375\344\000\000\000\000\000\000\000\100\001\000\000\0\0\0\0' >bad
bad_file 'impossible size' "claims 2^62 bytes"

# wrap: bad becomes a file whose payload is stdin, with a checksum that is right
wrap() {
	cat >payload
	{
		printf '\211PTB\r\n\001\000'
		zstd -q -c --check payload
	} >bad
}
if command -v zstd >/dev/null; then
	printf '\014\000\000\000\000\000\000' | wrap
	bad_file 'follows its end' "something after the end"
	printf '\014\000\377\377\077\377\377\377\007\377\377\377\007\001' | wrap
	bad_file 'impossible counts' "claims more than it holds"
	printf '\014\000\200\000\000\000\000' | wrap
	bad_file 'impossible counts' "a number in a long form"
	printf '\014\000\000\000\000\377\377\377\377\377\377\377\377\377\377' | wrap
	bad_file 'impossible counts' "a number without end"
	printf '\014\000\000\001\000\002\000' | wrap
	bad_file 'nothing maps folio 0|damaged' "a folio that nothing maps"
	printf '\014\000\001\000\001\000\000\001\000\000\001\000\002' | wrap
	bad_file 'vma 0' "a run longer than its vma"
	printf '\014\000\001\000\001\002\000\001\000\000\001\001\001\000' | wrap
	bad_file 'vma 0: frame in no folio' "a page of no folio"
	head -c 100000000 /dev/zero | wrap
	bad_file 'damaged' "a hundred million zeros"
else
	skip "replay: well-formed frames of nonsense" "needs zstd"
fi

echo "1..$nr"
exit $failed
