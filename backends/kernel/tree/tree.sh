#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: tree.sh apply|revert|series KDIR
#
# Puts ptebatch into a kernel source tree: headers, Kconfig, keys, and at the call sites that the
# semantic patches name, the stand-ins for the kernel's own functions, which stay as they are.
#
#	apply	into the files of KDIR; over an older ptebatch, updates it
#	revert	takes it out again, byte for byte
#	series	onto the branch that is checked out in KDIR, as commits
#
# All is made and checked elsewhere before anything in KDIR is written. KDIR/.ptebatch has the
# kernel's files as they were, and the sums of what was written: what was changed since by somebody
# else is never overwritten. A file is written by rename and only if it changes, so that after an
# interruption each is old or new, and both apply and revert can go on from there.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)

die()
{
	echo "kernel-tree: $*" >&2
	exit 1
}

# ---- the parts, each a commit of the series; they are made in $new ----

parts="headers kconfig keys gup_fast dax mincore vfio test kunit"

# $1, of the kernel, may be edited in $new from here on.
edit()
{
	[ ! -e "$new/$1" ] || return 0
	mkdir -p "$(dirname "$old/$1")" "$(dirname "$new/$1")"
	if listed "$1" && [ -e "$state/orig/$1" ]; then
		cp --preserve=mode "$state/orig/$1" "$old/$1"
	else
		[ -f "$kdir/$1" ] || die "$1 not found in $kdir"
		cp --preserve=mode "$kdir/$1" "$old/$1"
	fi
	cp --preserve=mode "$old/$1" "$new/$1"
}

# The file $1, of ours, is to stand as $2.
add()
{
	listed "$2" || [ ! -e "$kdir/$2" ] || die "$2 is there already, and not by apply"
	mkdir -p "$(dirname "$new/$2")"
	cp "$1" "$new/$2"
}

add_object()
{
	add "$1" "mm/${1##*/}"
	edit mm/Makefile
	object=${1##*/}
	echo "obj-\$($2) += ${object%.c}.o" >>"$new/mm/Makefile"
}

# With $2, the file $1 includes $3 at its end, where all that it defines is in reach.
include()
{
	grep -qxF "#include $3" "$new/$1" ||
		printf '\n#ifdef %s\n#include %s\n#endif\n' "$2" "$3" >>"$new/$1"
}

# Is ptebatch_$2 called in $3 of the file $1, and $2 itself nowhere any more?
redirected()
{
	awk -v fn="$2" -v caller="$3" '
	function has(line, name) { return line ~ "(^|[^A-Za-z0-9_])" name "([^A-Za-z0-9_]|$)" }
	/^[a-z]/ && !/;$/	{ inside = has($0, caller) }
	!/^\t/ || /^\t+(\/\*| \*)/	{ next }
	inside && has($0, "ptebatch_" fn)	{ found = 1 }
	has($0, fn) && !has($0, fn "\\(\\)")	{ left = 1 }
	END { exit !found || left }' "$new/$1"
}

walker()
{
	cocci=$here/$1.cocci
	file=$(sed -n 's|^// file: ||p' "$cocci")
	edit "$file"
	gone=$(sed -n 's|^// may be gone: ||p' "$cocci")
	if [ "$gone" ] && ! grep -qw "$gone" "$new/$file"; then
		echo "kernel-tree: $file has no $gone here: $1 is left out"
		return 0
	fi
	spatch --very-quiet --max-width 100 --in-place --sp-file "$cocci" "$new/$file" \
		>"$tmp/spatch" 2>&1 || die "$file: spatch: $(tail -n 1 "$tmp/spatch")"
	sed -n 's|^// in \([a-z0-9_]*\): |\1 |p' "$cocci" >"$tmp/calls"
	while read -r caller fns; do
		for fn in $fns; do
			redirected "$file" "$fn" "$caller" ||
				die "$file: the use of $fn in $caller was not found"
		done
	done <"$tmp/calls"

	include "$file" CONFIG_PTEBATCH "<ptebatch/kernel/$(sed -n 's|^// include: ||p' "$cocci")>"
}

part()
{
	case $1 in
	headers)
		for h in "$top"/include/ptebatch/*.h; do
			add "$h" "include/ptebatch/${h##*/}"
		done
		for h in "$top"/include/ptebatch/walk/*.h; do
			add "$h" "include/ptebatch/walk/${h##*/}"
		done
		for h in "$top"/backends/kernel/*.h; do
			add "$h" "include/ptebatch/kernel/${h##*/}"
		done ;;
	kconfig)
		add "$here/Kconfig" mm/Kconfig.ptebatch
		edit mm/Kconfig
		awk '{ line[NR] = $0 } /^endmenu/ { end = NR }
		END {
			for (i = 1; i <= NR; i++) {
				if (i == end)
					print "source \"mm/Kconfig.ptebatch\"\n"
				print line[i]
			}
			exit !end
		}' "$old/mm/Kconfig" >"$new/mm/Kconfig" || die "mm/Kconfig: no endmenu was found" ;;
	keys)
		add_object "$here/ptebatch.c" CONFIG_PTEBATCH_AB ;;
	test)
		add "$here/ptebatch_test.h" mm/ptebatch_test.h
		add_object "$here/ptebatch_test.c" CONFIG_PTEBATCH_TEST ;;
	kunit)
		for f in "$top"/backends/kernel/kunit/*.h; do
			add "$f" "mm/${f##*/}"
		done
		edit mm/gup.c
		include mm/gup.c CONFIG_PTEBATCH_KUNIT_TEST '"ptebatch_gup_kunit.h"'
		for f in "$top"/backends/kernel/kunit/*.c; do
			add_object "$f" CONFIG_PTEBATCH_KUNIT_TEST
		done ;;
	*)
		walker "$1" ;;
	esac
}

# ---- what is in KDIR: $state/sums names each file that is or may be ours, with its sums ----

listed()
{
	[ -e "$state/sums" ] && grep -q "  $1\$" "$state/sums"
}

# Every file must be as somebody before us left it: ours of then or of now, or the kernel's.
check_state()
{
	[ -e "$state/sums" ] || return 0
	sed 's/^[0-9a-f]*  //' "$state/sums" | sort -u >"$tmp/ours"
	while read -r path; do
		if [ ! -e "$kdir/$path" ]; then
			[ ! -e "$state/orig/$path" ] || die "$path is missing in $kdir"
			continue
		fi
		sum=$(sha256sum <"$kdir/$path")
		grep -qxF "${sum%% *}  $path" "$state/sums" ||
			cmp -s "$state/orig/$path" "$kdir/$path" ||
			die "$path was changed by hand since: nothing was done"
	done <"$tmp/ours"
}

# All of the file or nothing.
put()
{
	cmp -s "$1" "$2" && return
	mkdir -p "$(dirname "$2")"
	cp --preserve=mode "$1" "$state/put"
	mv "$state/put" "$2"
	written=$((written + 1))
}

# The kernel's file again, or none.
take_back()
{
	if [ -e "$state/orig/$1" ]; then
		put "$state/orig/$1" "$kdir/$1"
	else
		rm -f "$kdir/$1"
		rmdir -p --ignore-fail-on-non-empty "$(dirname "$kdir/$1")" 2>/dev/null || :
	fi
}

apply()
{
	check_state
	for p in $parts; do
		part "$p"
	done

	(cd "$new" && find . -type f | sort | sed 's|^\./||' | xargs sha256sum) >"$tmp/sums"
	mkdir -p "$state/orig"
	(cd "$old" && find . -type f) | sed 's|^\./||' >"$tmp/list"
	while read -r path; do
		put "$old/$path" "$state/orig/$path"
	done <"$tmp/list"
	# Until all is written both are ours.
	if [ -e "$state/sums" ]; then
		sort -u "$tmp/sums" "$state/sums" >"$tmp/both"
	else
		cp "$tmp/sums" "$tmp/both"
	fi
	cmp -s "$tmp/sums" "$state/sums" || put "$tmp/both" "$state/sums"

	written=0
	sed 's/^[0-9a-f]*  //' "$tmp/both" | sort -u >"$tmp/list"
	while read -r path; do
		if [ -e "$new/$path" ]; then
			put "$new/$path" "$kdir/$path"
		else
			take_back "$path"
		fi
	done <"$tmp/list"
	wrote=$written
	put "$tmp/sums" "$state/sums"
	echo "kernel-tree: applied to $kdir, $wrote files written"
}

revert()
{
	[ -e "$state/sums" ] || {
		rm -rf "$state"
		echo "kernel-tree: nothing to revert in $kdir"
		return 0
	}
	check_state
	while read -r path; do
		take_back "$path"
	done <"$tmp/ours"
	mv "$state" "$state.gone"
	rm -rf "$state.gone"
	echo "kernel-tree: reverted in $kdir"
}

# Made of objects alone: the work tree and the branch see nothing until all of it is there.
series()
{
	[ "$(git -C "$kdir" rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] ||
		die "$kdir is not the top of a git tree: use apply"
	base=$(git rev-parse -q --verify HEAD) || die "$kdir has no commit yet"
	[ ! -e "$state" ] || die "ptebatch is applied to $kdir: revert it first"
	[ -z "$(git status --porcelain)" ] || die "the work tree of $kdir is not clean"
	name=$(git config user.name) || die "who signs off? Set user.name with git config"
	email=$(git config user.email) || die "who signs off? Set user.email with git config"

	export GIT_INDEX_FILE="$tmp/index"
	git read-tree HEAD
	head=$base
	for p in $parts; do
		part "$p"
		git --work-tree="$new" add --force --ignore-removal .
		tree=$(git write-tree)
		[ "$tree" != "$(git rev-parse "$head^{tree}")" ] || continue
		{
			sed 1d "$here/series/$p"
			printf '\nSigned-off-by: %s <%s>\n' "$name" "$email"
		} >"$tmp/message"
		head=$(git commit-tree "$tree" -p "$head" -F "$tmp/message")
	done
	unset GIT_INDEX_FILE
	git merge -q --ff-only "$head"
	echo "kernel-tree: $(git rev-list --count "$base..") commits onto $(git rev-parse --short "$base")"
}

[ $# = 2 ] || die "usage: tree.sh apply|revert|series KDIR"
kdir=$(cd "$2" 2>/dev/null && pwd) || die "$2 is no directory"
state=$kdir/.ptebatch
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
old=$tmp/old new=$tmp/new written=0
mkdir "$old" "$new"

case $1 in
apply|series) command -v spatch >/dev/null || die "spatch is missing: install the package coccinelle" ;;
esac
# Two at a time would each take the other for somebody's hand.
exec 9<"$kdir"
flock -n 9 || die "somebody else is at work in $kdir"
rm -rf "$state.gone"

case $1 in
apply) apply ;;
revert) revert ;;
series) cd "$kdir" && series ;;
*) die "usage: tree.sh apply|revert|series KDIR" ;;
esac
