#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Fuzzing finds what it is there for: a fault is put into a copy of the library, one at a time, and must come
# out as a failing call: within seconds, a minute on a busy machine. One format, one target each. TAP; with -v
# the call.
set -u
cd "$(dirname "$0")/../.." || exit 1
verbose=${1:-}
format=x86_64
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
make -s build/fuzz/seeds/.made || exit 1

n=0
bad=0
say()
{
	n=$((n + 1))
	[ "$1" = ok ] || bad=$((bad + 1))
	echo "$1 $n - fuzz: $2"
}

# fault NAME TARGET HEADER SED-SCRIPT
fault()
{
	rm -rf "$tmp/include" "$tmp/found" "$tmp/corpus"
	mkdir -p "$tmp/found" "$tmp/corpus"
	cp -r include "$tmp/"
	sed -i "$4" "$tmp/include/ptebatch/$3"
	if cmp -s "include/ptebatch/$3" "$tmp/include/ptebatch/$3"; then
		say "not ok" "$1: $3 has no such line any more"
		return
	fi
	# Only what sees the header is compiled again.
	rm -rf "$tmp/fuzz/o/$format" "$tmp/fuzz/$2"
	if ! make -s B="$tmp" FUZZ_FORMATS="$format" FUZZ_INCLUDE="-I$tmp/include" "$tmp/fuzz/$2" \
		>"$tmp/log" 2>&1; then
		say "not ok" "$1: does not compile"
		sed 's/^/# /' "$tmp/log"
		return
	fi
	"$tmp/fuzz/$2" -max_total_time=60 -max_len=264 -timeout=10 -artifact_prefix="$tmp/found/" \
		"$tmp/corpus" build/fuzz/seeds >"$tmp/log" 2>&1
	input=$(find "$tmp/found" -type f | head -n 1)
	if [ -z "$input" ]; then
		say "not ok" "$1: not found"
		return
	fi
	"$tmp/fuzz/$2" --minimize "$input"
	text=$("$tmp/fuzz/$2" --text "$input")
	case $text in
	*' /* '*' */') say ok "$1" ;;
	*) say "not ok" "$1: found, but what it says does not fail" ;;
	esac
	[ -z "$verbose" ] || echo "# $text"
}

fault "run one entry past the folio's end" scan scan.h '0,/max_nr = left;/s//max_nr = left + 1;/'
fault "write not respected" gup_fast defs.h '/define PTB_FOR_GUP_FAST/s/ | PTB_RESPECT_WRITE//'
fault "surplus not given back" gup_fast walk/gup_fast.h 's/if (batch && nr < held)/if (batch \&\& nr > held)/'
fault "entry not read again" gup_fast walk/gup_fast.h \
	's/!ptb_pte_same(ptb_ptep_get(ptep, PTB_FOR_GUP_FAST), pte)/false/'
fault "leaf not read again" leaf walk/gup_fast.h \
	's/(unlikely(!ptb_leaf_unchanged(leaf)) || /(/'
fault "mark left behind by undoing" dax walk/dax.h '/ptb_folio_clear_referenced(folio);/d'
fault "last page of a run not filled in" mincore walk/mincore.h 's/memset(vec + 1, 1, more)/memset(vec + 1, 1, more - 1)/'
fault "account of a run that ends at a stranger" vfio walk/vfio.h 's/acct += charge;/acct = charge;/'
fault "room for pins of small folios not asked for" grab grab.h 's/!ptb_ref_has_room(folio, bias)/false/'
fault "one page's answer for all" unshared grab.h 's/ptb_page_nth(page, i)/page/'
fault "section not asked for" contig contig.h 's/ptb_page_same_section(page, next)/true/'
fault "last address excluded" vpfn vpfn.h 's/iova > last/iova >= last/'
echo "1..$n"
[ "$bad" = 0 ]
