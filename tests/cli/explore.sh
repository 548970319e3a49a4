#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ptebatch explore: what it finds, what it replays, and what it says to bad input.
set -u
bin=$1
command=explore
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"

helps explore

run --list
[ "$rc" = 0 ] && grep -q '^walkers: gup_fast ' "$tmp/out" && grep -q '^  table-free  *table freed' "$tmp/out"
check $? "--list names walkers and mutators"
cp "$tmp/out" "$tmp/list"
[ "$(sed -n '/^pairs:/,/^$/p' "$tmp/list" | grep -c ' [a-z]')" -ge 30 ]
check $? "there are 30 pairs and more"

for f in x86_64 x86_pae arm64; do
	for m in sc tso pso weak; do
		run --walker gup_fast --against zap --format $f --model $m
		[ "$rc" = 0 ] && grep -q "^gup_fast against zap, $f, $m: [0-9]* schedules .*, complete, no violation" "$tmp/out"
		check $? "zap is explored to the end for $f under $m"
	done
done
run --walker gup_fast --against zap,hw
[ "$rc" = 0 ] && grep -q 'against zap,hw, x86_64, sc: .* complete' "$tmp/out"
check $? "two at once"
run --walker gup_fast --against ksm,mprotect --bound 100
[ "$rc" = 0 ] && grep -q ', bounded, no violation' "$tmp/out"
check $? "two that are no pair of the table, bounded"
run --walker gup_fast --against fork --format arm64/16 --bound 50 --seed 7
[ "$rc" = 0 ] && grep -q 'against fork, arm64/16, sc: .* bounded, no violation' "$tmp/out"
check $? "as many entries as a block has, at random"
! grep -q "$(printf '[\033\r]')" "$tmp/out" "$tmp/err"
check $? "no colour and no progress in a pipe"

# What has gone wrong is printed, and comes again.
run --walker blind --against zap
[ "$rc" = 1 ] && grep -q '^violation: page 0, frame A0, had been freed' "$tmp/out" && grep -q ' try ref A0 refcount: ' "$tmp/out"
check $? "a violation is printed step by step, with 1"
cp "$tmp/out" "$tmp/first"
replay=$(sed -n "s/^replay: ptebatch explore \(.*\) --schedule '\(.*\)'$/\1 --schedule \2/p" "$tmp/out")
# shellcheck disable=SC2086
run $replay
[ "$rc" = 1 ] && grep -q ', replayed, 1 violation' "$tmp/out"
check $? "its schedule string replays it"
# Addresses of this process differ.
for f in first out; do
	grep '^ *[0-9]' "$tmp/$f" | grep -v ' mapping = ' >"$tmp/$f.steps"
done
cmp -s "$tmp/first.steps" "$tmp/out.steps" && [ -s "$tmp/out.steps" ]
check $? "step by step"

complains 2 'which --walker'
complains 2 'which --against' --walker gup_fast
complains 2 'no walker "slow"' --walker slow --against zap
complains 2 'no mutator "gremlin"' --walker gup_fast --against gremlin
complains 2 'no mutator ""' --walker gup_fast --against zap,
complains 2 'no mutator "ksm,fork"' --walker gup_fast --against zap,ksm,fork
complains 2 'no model "power"' --walker gup_fast --against zap --model power
complains 2 'no format "s390"' --walker gup_fast --against zap --format s390
complains 2 'nothing to explore' --walker mincore --against unplug
complains 2 'no blocks' --walker gup_fast --against refold --format x86_64
complains 2 'one word' --walker gup_fast --against two-words --format arm64
complains 2 'no entries for devices' --walker dax --against unplug --format x86_pae
complains 2 'bound must be' --walker gup_fast --against zap --bound 0
complains 2 'bound must be' --walker gup_fast --against zap --bound 7x
complains 2 'bound must be' --walker gup_fast --against zap --bound -7
complains 2 'seed must be' --walker gup_fast --against zap --bound 7 --seed x
complains 2 'needs a --bound' --walker gup_fast --against zap --seed 7
complains 2 'does not fit' --walker gup_fast --against zap --schedule nonsense
complains 2 'does not fit' --walker gup_fast --against zap --schedule one-get:nonsense
complains 2 'does not fit' --walker gup_fast --against zap --schedule 'one-get:sc:z*9'
complains 2 'no value given for --walker' --walker
complains 2 'unknown option --frob' --frob
complains 2 'what is "extra"' extra
complains 2 'explores all pairs' --tsv "$tmp/x" --walker gup_fast
complains 2 '--quick is for --tsv' --quick
complains 1 'cannot write' --tsv "$tmp/no/such/place" --quick

notices_a_full_disk explore --list

echo "1..$n"
