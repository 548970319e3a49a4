#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Threads find what they are there for: a fault is put into a copy of the library, one at a time, and must
# show: within seconds, a minute on a busy machine. TAP; with -v what was wrong.
set -u
cd "$(dirname "$0")/../.." || exit 1
verbose=${1:-}
format=x86_64
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

n=0
bad=0
say()
{
	n=$((n + 1))
	[ "$1" = ok ] || bad=$((bad + 1))
	echo "$1 $n - stress: $2"
}

# fault NAME HEADER SED-SCRIPT
fault()
{
	rm -rf "$tmp"/*
	cp -r include "$tmp/"
	sed -i "$3" "$tmp/include/ptebatch/$2"
	if cmp -s "include/ptebatch/$2" "$tmp/include/ptebatch/$2"; then
		say "not ok" "$1: $2 has no such line any more"
		return
	fi
	# What is not asked any more may be left over.
	if ! make -s B="$tmp" STRESS_CFLAGS="-I$tmp/include -Wno-error" "$tmp/stress/$format" >"$tmp/log" 2>&1; then
		say "not ok" "$1: does not compile"
		sed 's/^/# /' "$tmp/log"
		return
	fi
	# It ends at the first thing that is wrong.
	if "$tmp/stress/$format" 60 >"$tmp/log" 2>&1; then
		acts=$(sed -n 's/.* \([0-9]*\) acts.*/\1/p' "$tmp/log")
		if [ "${acts:-0}" -lt 500000 ]; then
			say ok "$1 # SKIP the machine is too busy for threads"
		else
			say "not ok" "$1: not found"
		fi
	else
		say ok "$1"
	fi
	[ -z "$verbose" ] || sed 's/^/# /' "$tmp/log"
}

fault "entry not read again" walk/gup_fast.h 's/!ptb_pte_same(ptb_ptep_get(ptep, PTB_FOR_GUP_FAST), pte)/false/'
fault "entry above not read again" walk/gup_fast.h 's/unlikely(!ptb_pmd_unchanged(pmdp, pmd))/false/'
fault "folio not looked up again" grab.h 's/if (likely(ptb_page_folio(page) == \*folio))/if (true)/'
fault "references added to a count of zero" grab.h \
	's/!ptb_folio_try_ref(\*folio, refs)/(ptb_folio_ref_add(*folio, refs), false)/'
fault "shared pages pinned" walk/gup_fast.h 's/if (!ptb_pte_write(pte))/if (false)/'
fault "write not respected" defs.h '/define PTB_FOR_GUP_FAST/s/ | PTB_RESPECT_WRITE//'
echo "1..$n"
[ "$bad" = 0 ]
