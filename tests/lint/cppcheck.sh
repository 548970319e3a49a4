#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# unusedFunction: headers are for others to use. missingIncludeSystem: the C library is not what is checked.
set -eu
. tests/lint/common.sh
# The generated functions of the tree are not ours to check.
tree='-DRB_PROTOTYPE(a,b,c,d)= -DRB_GENERATE(a,b,c,d)='
for f in $formats; do
	# shellcheck disable=SC2086
	cppcheck $tree --quiet --error-exitcode=1 --std=c11 --inline-suppr \
		--enable=warning,performance,portability \
		--suppress=unusedFunction --suppress=missingIncludeSystem \
		-Iinclude -Ibackends/user -DPTB_FMT_HEADER="\"fmt/$f.h\"" -D__x86_64__ -D__SIZEOF_LONG__=8 \
		backends/user/format.c
done
# shellcheck disable=SC2086
cppcheck $tree --quiet --error-exitcode=1 --std=c11 --inline-suppr \
	--enable=warning,performance,portability --suppress=missingIncludeSystem \
	-Iinclude -Ibackends/user -DPTB_FMT_HEADER='"fmt/x86_64.h"' -D__x86_64__ -D__SIZEOF_LONG__=8 \
	backends/user/mem.c backends/user/layout.c backends/user/whole_file.c backends/user/snapshot*.c \
	backends/user/record*.c backends/user/sched*.c backends/user/bench/*.c backends/user/tool/*.c
