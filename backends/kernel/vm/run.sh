#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# Run programs in a guest, in QEMU without KVM, and print what they print. By hand:
#
#	run.sh -b -i x86_64 bench:gup			build what is stale, then measure
#	run.sh -b arm64 setup:disk setup:swap test:gup:mincore
#	run.sh -v x86_64 setup:vfio test:vfio
#	run.sh -p x86_64 setup:dax:2097152 test:dax
#
# Words are programs of the guest and their arguments; guest/init.c lists what "setup" can do.
#
#	-b	build first: kernel and programs	-d	the debug kernel
#	-r	the kernel with KCSAN (x86_64)		-n	two NUMA nodes
#	-i	icount: one CPU, and time counts instructions, the same on every run
#	-v	an IOMMU, and the edu device behind it	-p	1 GiB of pmem (x86_64)
#	-t S	seconds at most (300)			-a ".."	more of the kernel's command line
#	-k F	another kernel				-x F	a cpio archive over the guest's files
#	-l F	the console into this file (build/kernel/VARIANT/console.log)
#	-c	print all of the console
#
# Exits 1 if a program failed, if the kernel did not come up or did not go down by itself in time, or
# if its log has a splat; then with the end of the console on stderr.
set -eu
. "$(dirname "$0")/lib.sh"

usage()
{
	sed -n 's/^#\t\(run.sh\|-\)/\t\1/p' "$0" >&2
	exit 2
}

build="" debug="" icount="" vfio="" pmem="" seconds=300 append="" kernel="" extra="" log="" all="" nodes=""
while getopts bdrnivpt:a:k:x:l:c option; do
	case $option in
	b) build=yes ;;
	d) debug=debug ;;
	r) debug=kcsan ;;
	n) nodes=yes ;;
	i) icount=yes ;;
	v) vfio=yes ;;
	p) pmem=yes ;;
	t) seconds=$OPTARG ;;
	a) append=$OPTARG ;;
	k) kernel=$OPTARG ;;
	x) extra="$extra $OPTARG" ;;
	l) log=$OPTARG ;;
	c) all=yes ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || usage
# shellcheck disable=SC2086
target "$1" $debug
shift
words=$*

if [ "$build" ]; then
	# shellcheck disable=SC2086
	"$vm/build.sh" "$arch" $debug
	"$vm/guest.sh" "$arch"
fi
kernel=${kernel:-$out/$variant/image}
log=${log:-$out/$variant/console.log}
initrd=$out/$arch/guest.cpio
for file in "$kernel" "$initrd" $extra; do
	[ -e "$file" ] || die "$file is missing: -b builds"
done
# Archives may follow one another.
if [ "$extra" ]; then
	initrd=$log.cpio
	# shellcheck disable=SC2086
	cat "$out/$arch/guest.cpio" $extra >"$initrd"
fi

append="printk.time=1 kunit.enable=0 panic=-1 oops=panic panic_print=32 norandmaps null_blk.memory_backed=1 null_blk.gb=1 $append"
case $arch in
x86_64)
	need qemu-system-x86_64 qemu-system-x86
	# identify_cpu() clears for a moment what the CPU can do. An interrupt then finds KASAN believing
	# in four levels of tables, and every address wild: so debug kernels have four.
	set -- qemu-system-x86_64 -cpu "max${debug:+,la57=off}"
	machine=q35
	append="console=ttyS0 $append"
	[ -z "$vfio" ] || machine=$machine,kernel-irqchip=split
	# It must come before the device, and remap interrupts for vfio to trust it.
	[ -z "$vfio" ] || set -- "$@" -device intel-iommu,intremap=on,caching-mode=on
	[ -z "$vfio" ] || append="$append intel_iommu=on"
	memory=3G
	[ -z "$pmem" ] || memory=4G append="$append memmap=1G!4G"
	;;
arm64)
	need qemu-system-aarch64 qemu-system-arm
	# pauth in software would be a hash of many instructions at each call.
	set -- qemu-system-aarch64 -cpu max,pauth-impdef=on
	machine=virt,gic-version=3
	append="console=ttyAMA0 $append"
	[ -z "$vfio" ] || machine=$machine,iommu=smmuv3
	[ -z "$pmem" ] || die "arm64 has no pmem without firmware: -p is for x86_64"
	memory=3G
	;;
esac
[ -z "$vfio" ] || set -- "$@" -device edu,addr=03.0,dma_mask=0xffffffffff
if [ "$icount" ]; then
	set -- "$@" -accel tcg,thread=single -icount shift=0,sleep=off -smp 1 \
		-rtc base=2026-01-01T00:00:00,clock=vm -seed 1
else
	set -- "$@" -accel tcg -smp 2${nodes:+,sockets=2}
fi
# One for each CPU, which are no neighbours then.
[ -z "$nodes" ] || set -- "$@" -numa node,cpus=0,memdev=m0 -numa node,cpus=1,memdev=m1 \
	-object memory-backend-ram,id=m0,size=$((${memory%G} * 512))M \
	-object memory-backend-ram,id=m1,size=$((${memory%G} * 512))M
need timeout coreutils

rc=0
timeout "$seconds" "$@" -machine "$machine" -m "$memory" -nographic -no-reboot -nodefaults \
	-serial stdio -monitor none -kernel "$kernel" -initrd "$initrd" -append "$append -- $words" \
	</dev/null >"$log.raw" 2>&1 || rc=$?
tr -d '\r' <"$log.raw" >"$log"
rm "$log.raw"

fail()
{
	say "$variant: $*: the end of $log:"
	tail -n 25 "$log" | cut -c1-200 >&2
	exit 1
}

# What programs print stands between the marks of init; what the kernel says has a time stamp.
if [ "$all" ]; then
	cat "$log"
else
	sed -n -e '/^\[ *[0-9]*\.[0-9]*\] /d' -e '/^ptebatch-end /!{/^ptebatch-begin /,/^ptebatch-end /{/^ptebatch-/!p}}' "$log"
fi

[ $rc != 124 ] || fail "not done after $seconds s"
[ $rc = 0 ] || fail "QEMU failed"
! grep -q '^\[ *[0-9.]*\] Kernel panic' "$log" || fail "the kernel panicked"
grep -qx 'ptebatch-done' "$log" || fail "the guest stopped early"
"$vm/splat.sh" "$log" || exit 1
! grep '^ptebatch-end ' "$log" | grep -v ' 0$' >&2
