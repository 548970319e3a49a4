# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Sourced by the checks: what there is to check, and how it is compiled.
formats=$(cd backends/user/fmt && for f in *.h; do
	grep -q '^#define FMT_NAME' "$f" && basename "$f" .h
done)
headers=$(cd include/ptebatch && ls ./*.h walk/*.h | sed 's,^\./,,')
flags="-std=gnu11 -fno-strict-aliasing -fwrapv -Wall -Wextra -Werror -Iinclude -Ibackends/user"
