#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# backends/kernel/tree/tree.sh on Debian's linux-source-6.12: into a tree, out of it again, and
# whatever may be wrong with the tree or come between. Prints TAP; needs no root, boots nothing.
#
# checkpatch: these types are not asked for. LINE_SPACING: an op and its #define belong together.
# NEW_TYPEDEFS: the library names a backend's types by them. LINUX_VERSION_CODE and, for its
# comparisons, CONSTANT_COMPARISON: compat.h is what the others need not care for.
# UNCOMMENTED_DEFINITION: takes a local spinlock_t *ptl for a lock. BIT_MACRO: ptebatch_test.h is
# for userspace too.
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
cache=${PTEBATCH_CACHE:-$HOME/.cache/ptebatch}
ignored=LINE_SPACING,NEW_TYPEDEFS,LINUX_VERSION_CODE,CONSTANT_COMPARISON,UNCOMMENTED_DEFINITION,BIT_MACRO

bail()
{
	echo "Bail out! $*"
	exit 1
}

for tool in spatch sparse perl git; do
	command -v $tool >/dev/null || bail "$tool is missing: run tests/deps.sh"
done
tarball=/usr/src/linux-source-6.12.tar.xz
[ -e $tarball ] || bail "$tarball is missing: install the package linux-source-6.12"
pkg=$(dpkg-query -W -f '${Version}' linux-source-6.12)
khdr=
for dir in /usr/src/linux-headers-"${pkg%%-*}"[+-]*"$(dpkg --print-architecture)"; do
	[ -e "$dir/.config" ] && khdr=$dir
done
[ "$khdr" ] || bail "no headers of ${pkg%%-*}: install linux-headers-6.12-cloud-amd64 or alike"

mkdir -p "$cache"
work=$(mktemp -d "$cache/kernel-tree.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/tmp" "$work/bin" "$work/memo"
export TMPDIR="$work/tmp"

# The parts of the source that matter, once per version of the package.
ksrc=$cache/linux-tree-$pkg
if [ ! -d "$ksrc" ]; then
	mkdir "$work/unpack"
	tar -xJf $tarball -C "$work/unpack" --strip-components=1 linux-source-6.12/mm \
		linux-source-6.12/drivers/vfio linux-source-6.12/scripts/checkpatch.pl \
		linux-source-6.12/scripts/spelling.txt \
		linux-source-6.12/scripts/const_structs.checkpatch || bail "cannot unpack $tarball"
	mv -T "$work/unpack" "$ksrc" 2>/dev/null || [ -d "$ksrc" ] || bail "cannot write to $cache"
fi

# As it is now, whoever edits it meanwhile.
mkdir -p "$work/repo/backends"
cp -R "$top/include" "$work/repo/"
cp -R "$top/backends/kernel" "$work/repo/backends/"
tree=$work/repo/backends/kernel/tree/tree.sh

# spatch once for each input: it is most of what all this takes.
cat >"$work/bin/spatch" <<END
#!/bin/sh
for arg; do
	[ "\$old" != --sp-file ] || cocci=\$arg
	old=\$arg
done
memo=$work/memo/\$(cat "\$cocci" "\$arg" | sha256sum | cut -c 1-64)
[ -e "\$memo" ] || {
	$(command -v spatch) "\$@" || exit
	cp "\$arg" "\$memo"
}
cp "\$memo" "\$arg"
END
chmod +x "$work/bin/spatch"

nr=0
failed=0
# What was said against it stands in $work/why.
result()
{
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr - $2"
	else
		failed=1
		echo "not ok $nr - $2"
		head -n 40 "$work/why" | sed 's/^/# /'
	fi
}

# The kernel's files that are redirected, and no others: a small tree that tree.sh takes for one.
fresh()
{
	rm -rf "${work:?}/$1"
	mkdir -p "$work/$1/mm" "$work/$1/drivers/vfio"
	for f in mm/Kconfig mm/Makefile mm/gup.c mm/mincore.c drivers/vfio/vfio_iommu_type1.c; do
		cp "$ksrc/$f" "$work/$1/$f"
	done
}

# $1, with everything that shows whether a file was written. What git keeps is its own business.
seen()
{
	find "$work/$1" -name .git -prune -o -printf '%p %i %T@ %s %m\n' | sort
	find "$work/$1" -name .git -prune -o -type f -exec sha256sum {} + | sort
}

run()
{
	PATH="$work/bin:$PATH" sh "$tree" "$@" >"$work/out" 2>"$work/why"
}

# The tree $2 is left as it is by $1, with one line that says $3.
refused()
{
	seen "$2" >"$work/before"
	run "$1" "$work/$2"
	refused=$?
	seen "$2" >"$work/after"
	[ $refused != 0 ] && [ "$(wc -l <"$work/why")" = 1 ] && grep -q "^kernel-tree: .*$3" "$work/why" &&
		cmp "$work/before" "$work/after" >>"$work/why"
}

same_tree()
{
	diff -r -x .git "$work/$1" "$2" >"$work/why" 2>&1
}

# ---- in and out ----

fresh pristine
fresh a
run apply "$work/a"
result $? "apply"

calls="mm/gup.c: gup_fast_pte_range 1, gup_fast_pmd_leaf 1, gup_fast_pud_leaf 1, gup_fast_devmap_leaf 2
mm/mincore.c: mincore_pte_range 1
drivers/vfio/vfio_iommu_type1.c: vfio_pin_pages_remote 2, vfio_unpin_pages_remote 5"
# The same functions, to the letter, and each call of them is one of ours now.
: >"$work/why"
for call in $(echo "$calls" | awk '{ f = $1; for (i = 2; i < NF; i += 2) print f $i ":" $(i + 1) + 0 }'); do
	file=${call%%:*} fn=${call#*:} fn=${fn%:*} want=${call##*:}
	body="/^static .*[ *]$fn(/,/^}/p"
	[ "$(sed -n "$body" "$ksrc/$file")" = "$(sed -n "$body" "$work/a/$file" | sed '/^static.* ptebatch_/d')" ] ||
		echo "$file: $fn is not what it was" >>"$work/why"
	got=$(grep -c "	.*[^a-z_]ptebatch_${fn}[(,]" "$work/a/$file")
	[ "$got" = "$want" ] || echo "$file: $got calls of ptebatch_$fn, not $want" >>"$work/why"
	! grep "^	.*[^a-z_]${fn}[(,]" "$work/a/$file" | grep -v "$fn()" >>"$work/why" ||
		echo "$file: $fn is still called" >>"$work/why"
done
[ ! -s "$work/why" ]
result $? "every call is redirected, the functions stay as they are"

seen a >"$work/before"
run apply "$work/a"
rc=$?
seen a | diff "$work/before" - >>"$work/why" || rc=1
result $rc "apply twice writes nothing"

cp -R "$work/a" "$work/once"
run revert "$work/a" && same_tree a "$work/pristine"
result $? "revert, byte for byte"
run revert "$work/a" && same_tree a "$work/pristine"
result $? "revert twice"

# ---- trees that are not what the patches know ----

# FILE SED-EXPRESSION WHAT IS SAID
mismatch()
{
	fresh b
	sed -i "$2" "$work/b/$1"
	! cmp -s "$work/b/$1" "$ksrc/$1" || bail "nothing in $1 for: $2"
	refused apply b "$3"
	result $? "left alone: $4"
}
mismatch mm/gup.c 's/\(else if (!\)gup_fast_pte_range(/\1other(/' \
	'mm/gup.c.*gup_fast_pte_range in gup_fast_pmd_range' "a call that is not there"
mismatch mm/gup.c 's/static int gup_fast_pmd_leaf(/static long gup_fast_pmd_leaf(/' \
	'mm/gup.c.*gup_fast_pmd_leaf in gup_fast_pmd_range' "a function of another type"
mismatch mm/gup.c 's/^static void gup_fast_pgd_range(.*/&\n	gup_fast_pud_leaf(x);/' \
	'mm/gup.c.*gup_fast_pud_leaf' "a call where none is known"
mismatch mm/gup.c '/^static int gup_fast_devmap_pud_leaf/,/^}/s/gup_fast_devmap_leaf(/other(/' \
	'mm/gup.c.*gup_fast_devmap_leaf in gup_fast_devmap_pud_leaf' "one call of two"
mismatch mm/mincore.c 's/mincore_pte_range,/NULL,/' \
	'mm/mincore.c.*mincore_pte_range in mincore_walk_ops' "walk operations without ours"
mismatch drivers/vfio/vfio_iommu_type1.c '/^static int vfio_iommu_replay/,/^}/s/vfio_pin_pages_remote(/other(/' \
	'vfio_iommu_type1.c.*vfio_pin_pages_remote in vfio_iommu_replay' "a caller gone"
mismatch mm/Kconfig '/^endmenu/d' 'mm/Kconfig.*endmenu' "a menu without end"

fresh b
rm "$work/b/mm/mincore.c"
refused apply b 'mm/mincore.c not found'
result $? "left alone: a file that is missing"

fresh b
mkdir -p "$work/b/include/ptebatch"
echo mine >"$work/b/include/ptebatch/scan.h"
refused apply b 'include/ptebatch/scan.h is there already'
result $? "left alone: a file of somebody else"

fresh b
sed -i 's/gup_fast_devmap_leaf/gone/' "$work/b/mm/gup.c"
run apply "$work/b" && [ "$(grep -c 'mm/gup.c has no gup_fast_devmap_leaf here: dax is left out' "$work/out")" = 1 ] &&
	! grep -q ptebatch_gup_fast_devmap_leaf "$work/b/mm/gup.c"
result $? "without device leaves that walker is left out, and it is said"

# ---- what is there is neither lost nor left ----

rm -rf "$work/b"
cp -R "$work/once" "$work/b"
echo '/* mine */' >>"$work/b/mm/gup.c"
refused apply b 'mm/gup.c was changed by hand' && refused revert b 'mm/gup.c was changed by hand'
result $? "an edit of a redirected file is not lost"

rm -rf "$work/b"
cp -R "$work/once" "$work/b"
echo '/* mine */' >>"$work/b/include/ptebatch/scan.h"
refused apply b 'include/ptebatch/scan.h was changed by hand' &&
	refused revert b 'include/ptebatch/scan.h was changed by hand'
result $? "an edit of a header is not lost"

rm -rf "$work/b"
cp -R "$work/once" "$work/b"
cp "$ksrc/mm/gup.c" "$work/b/mm/gup.c"
run apply "$work/b" && same_tree b "$work/once"
result $? "the kernel's own file, put back by hand, is no edit"

newer()
{
	echo '/* newer */' >>"$work/repo/include/ptebatch/scan.h"
	rm "$work/repo/include/ptebatch/version.h"
	echo '/* new */' >"$work/repo/include/ptebatch/new.h"
	sed -i 's/^+#ifdef CONFIG_PTEBATCH/+\/* newer *\/\n&/' \
		"$work/repo/backends/kernel/tree/mincore.cocci"
}
mv "$work/repo" "$work/older"
cp -R "$work/older" "$work/repo"
newer
rm -rf "$work/b"
cp -R "$work/once" "$work/b"
touch "$work/stamp"
run apply "$work/b"
rc=$?
find "$work/b" -newer "$work/stamp" -type f -printf '%P\n' | grep -v '^.ptebatch/' | sort >"$work/got"
printf '%s\n' include/ptebatch/new.h include/ptebatch/scan.h mm/mincore.c | diff - "$work/got" >>"$work/why" || rc=1
fresh new
run apply "$work/new" && same_tree b "$work/new" || rc=1
result $rc "a newer ptebatch over an older one, no more written than changed"
run revert "$work/b" && same_tree b "$work/pristine"
result $? "and out again"

# ---- killed on the way, at the n-th file that it would put in its place ----

mkdir "$work/kill"
ln -s ../bin/spatch "$work/kill/spatch"
cat >"$work/kill/mv" <<'END'
#!/bin/sh
n=$(($(cat "$KILL_COUNT") - 1))
echo $n >"$KILL_COUNT"
[ $n != 0 ] || {
	kill -KILL $PPID
	exit 1
}
exec /bin/mv "$@"
END
chmod +x "$work/kill/mv"
export KILL_COUNT="$work/count"

# N COMMAND: killed or not, the rest must be able to go on from $work/b
killed()
{
	echo "$1" >"$KILL_COUNT"
	PATH="$work/kill:$PATH" sh "$tree" "$2" "$work/b" >"$work/out" 2>&1
	[ "$(cat "$KILL_COUNT")" = 0 ] || bail "$2: there are no $1 files to put"
	rm -rf "$work/c"
	cp -R "$work/b" "$work/c"
}

for n in 2 6 7 25; do
	fresh b
	killed $n apply
	run apply "$work/b" && same_tree b "$work/new" &&
		run revert "$work/c" && same_tree c "$work/pristine"
	result $? "apply killed at file $n: apply and revert go on"
done

for n in 1 3; do
	rm -rf "$work/b"
	cp -R "$work/once" "$work/b"
	killed $n apply
	run apply "$work/b" && same_tree b "$work/new" &&
		run revert "$work/c" && same_tree c "$work/pristine"
	result $? "update killed at file $n: apply and revert go on"
done

for n in 2 6; do
	rm -rf "$work/b"
	cp -R "$work/new" "$work/b"
	killed $n revert
	run apply "$work/b" && same_tree b "$work/new" &&
		run revert "$work/c" && same_tree c "$work/pristine"
	result $? "revert killed at file $n: apply and revert go on"
done

# ---- as commits ----

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git_tree()
{
	fresh b
	git -C "$work/b" init -q -b main
	git -C "$work/b" config user.name "A Developer"
	git -C "$work/b" config user.email dev@example.org
	git -C "$work/b" add .
	git -C "$work/b" commit -q -m base
}

fresh b
refused series b 'not the top of a git tree'
result $? "series: no git tree"
git_tree
echo '/* mine */' >>"$work/b/mm/gup.c"
git -C "$work/b" update-index -q --refresh
refused series b 'work tree .* is not clean'
result $? "series: a work tree that is not clean"
git_tree
git -C "$work/b" config --unset user.email
refused series b 'user.email'
result $? "series: nobody to sign it off"
git_tree
sed -i 's/mincore_pte_range,/NULL,/' "$work/b/mm/mincore.c"
git -C "$work/b" commit -q -a -m other
git -C "$work/b" rev-parse HEAD >"$work/head"
refused series b 'mincore_pte_range in mincore_walk_ops' &&
	[ "$(git -C "$work/b" rev-parse HEAD)" = "$(cat "$work/head")" ]
result $? "series: a tree that does not match"

git_tree
run series "$work/b"
rc=$?
git -C "$work/b" log --reverse --format=%s main >"$work/got"
[ -z "$(git -C "$work/b" status --porcelain)" ] || rc=1
[ "$(git -C "$work/b" log --format=%B | grep -c '^Signed-off-by: A Developer <dev@example.org>$')" = $(($(wc -l <"$work/got") - 1)) ] || rc=1
for subject in 'mm: add ptebatch' 'mm: .*Kconfig' 'mm: .*keys' 'mm/gup: .*run' 'mm/gup: .*device' 'mm/mincore: ' 'vfio/type1: '; do
	grep -q "^$subject" "$work/got" || {
		echo "no commit: $subject" >>"$work/why"
		rc=1
	}
done
result $rc "series: signed commits, one a walker"
diff -r -x .git -x .ptebatch "$work/b" "$work/new" >"$work/why"
result $? "series: the last commit is what apply makes"
! run series "$work/b" && [ "$(wc -l <"$work/why")" = 1 ]
result $? "series: not twice"

# ---- what the compiler, sparse and checkpatch say ----

rm -rf "$work/repo"
mv "$work/older" "$work/repo"

# These stay where they are, so that next time only what has changed is compiled.
build=$top/build/kernel-tree-$pkg
full=$build/full
mkdir -p "$build"
run apply "$full" || {
	rm -rf "$full"
	cp -R "$ksrc" "$full"
	run apply "$full" || bail "cannot apply to $full"
}
unset MAKEFLAGS MFLAGS MAKELEVEL

# DIR FILE CONTENT
put()
{
	printf '%s\n' "$3" | cmp -s - "$1/$2" || printf '%s\n' "$3" >"$1/$2"
}

# NAME TREE DEFINES MAKE-ARGUMENTS...: behind Debian's headers; what is printed goes to NAME/log
compile()
{
	dir=$build/$1 src=$2 defines=$3
	shift 3
	mkdir -p "$dir"
	objs="gup.o mincore.o"
	for f in mm/gup.c mm/mincore.c drivers/vfio/vfio_iommu_type1.c; do
		put "$dir" "${f##*/}" "#include <$f>"
	done
	case $defines in
	*_AB*)
		put "$dir" ptebatch.c "#include <mm/ptebatch.c>"
		objs="$objs ptebatch.o" ;;
	esac
	put "$dir" Kbuild "ccflags-y := -I$src -I$src/include $defines
obj-y := $objs
obj-m := vfio_iommu_type1.o"
	# shellcheck disable=SC2086
	make -s --no-print-directory -k -j"$(nproc)" -C "$khdr" M="$dir" "$@" \
		$objs vfio_iommu_type1.o >"$dir/log" 2>&1
}

for name in plain ab; do
	defines=-DCONFIG_PTEBATCH=1
	[ $name = plain ] || defines="$defines -DCONFIG_PTEBATCH_AB=1"
	compile $name "$full" "$defines" C=2 W=1e
	rc=$?
	# sparse cannot see pte_offset_map() take the lock: what it says of the kernel's own functions
	# is not ours.
	sed -e "/: note: in included file/d" -e "\|$full/mm/.*: warning: context imbalance in '[^']*'|{
		/'pte\(batch\|b\)_/!d
	}" "$build/$name/log" >"$work/why"
	[ $rc = 0 ] && [ ! -s "$work/why" ]
	result $? "redirected files are silent under W=1 and C=2: $name"
done

compile off "$full" ""
rc=$?
compile stock "$ksrc" "" || rc=1
cat "$build/off/log" "$build/stock/log" >"$work/why"
for obj in gup.o mincore.o vfio_iommu_type1.o; do
	for name in off stock; do
		objcopy -O binary -j .text "$build/$name/$obj" "$work/$name.text" || rc=1
	done
	cmp "$work/off.text" "$work/stock.text" >>"$work/why" 2>&1 || rc=1
done
result $rc "with CONFIG_PTEBATCH off the code is the kernel's, byte for byte"

new=$(sed 's/^[0-9a-f]*  //' "$full/.ptebatch/sums" | while read -r f; do
	[ -e "$full/.ptebatch/orig/$f" ] || echo "$f"
done)
# shellcheck disable=SC2086
(cd "$full" && perl scripts/checkpatch.pl --no-tree --strict --max-line-length=100 --terse \
	--show-types --no-summary --ignore "$ignored" -f $new) >"$work/why" 2>&1
result $? "checkpatch has nothing against the new files"

echo "1..$nr"
exit $failed
