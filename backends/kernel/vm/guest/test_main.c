// SPDX-License-Identifier: GPL-2.0-only
/* test GROUP...: gup, mincore, vfio, dax or all. TAP on stdout; exits 1 if a test failed. */
#include <stdio.h>
#include <string.h>

#include "test.h"

/* clang-format off */
static const struct {
	const char *name;
	void (*run)(void);
} groups[] = {
	{ "gup", test_gup },
	{ "gup", test_fork },
	{ "mincore", test_mincore },
	{ "vfio", test_vfio },
	{ "dax", test_dax },
};
/* clang-format on */

/* What would move or clean pages between the two sides of a test. */
static void quiet(void)
{
	file_put("/proc/sys/vm/dirty_writeback_centisecs", "0");
	if (file_write("/proc/sys/vm/compaction_proactiveness", "0"))
		printf("# memory may be compacted meanwhile\n");
}

int main(int argc, char **argv)
{
	size_t g;
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2)
		die("which of gup, mincore, vfio, dax, all?");
	quiet();
	for (i = 1; i < argc; i++) {
		bool found = false;

		for (g = 0; g < ARRAY_SIZE(groups); g++) {
			if (strcmp(argv[i], groups[g].name) && strcmp(argv[i], "all"))
				continue;
			found = true;
			groups[g].run();
		}
		if (!found)
			die("no group %s", argv[i]);
	}
	return tap_end();
}
