#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What the headers document can be read by the kernel's own tool, every argument named.
set -eu
tool=$(ls -d /usr/lib/linux-kbuild-6.12*/scripts/kernel-doc | sort -V | tail -n 1)
perl "$tool" -none -Werror -Wshort-desc -Wcontents-before-sections include/ptebatch/*.h include/ptebatch/walk/*.h
# At most 40 ops in the contract: more, and a port is no small thing any more.
ops=$(grep -c '^static inline .*ptb_.*(\|^static inline .*$' include/ptebatch/ops.h)
echo "$ops ops"
[ "$ops" -le 40 ]
