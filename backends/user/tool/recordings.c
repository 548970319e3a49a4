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

const struct recording recordings[] = {
	{ "javac", "a Java compiler at work, transparent huge pages on", recording_javac,
	  recording_javac_end },
};
const unsigned int nr_recordings = ARRAY_SIZE(recordings);
