// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The recordings that are part of the program: recordings/README.md tells how each was made. */
#include "tool.h"

#define EMBED(name)                                                    \
	__asm__(".section .rodata\n"                                   \
		".global recording_" #name "\n"                        \
		".global recording_" #name "_end\n"                    \
		"recording_" #name ":\n"                               \
		".incbin \"backends/user/recordings/" #name ".ptb\"\n" \
		"recording_" #name "_end:\n"                           \
		".previous\n");                                        \
	extern const u8 recording_##name[], recording_##name##_end[];

EMBED(javac)
EMBED(chromium)
EMBED(postgres)
EMBED(hugetlb)

#define RECORDING(name, what)                                         \
	{                                                             \
#name, what, recording_##name, recording_##name##_end \
	}

const struct recording recordings[] = {
	RECORDING(javac, "a Java compiler at work, transparent huge pages on"),
	RECORDING(chromium,
		  "a browser's page back from the background, 64 KiB folios, partly swapped"),
	RECORDING(postgres, "a database server in a parallel join, shared memory in 64 KiB folios"),
	RECORDING(hugetlb, "a database server on reserved huge pages"),
};
const unsigned int nr_recordings = ARRAY_SIZE(recordings);
