/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which functions of the library a test file comes to: each says its number on the way in. Included
 * before all else, and once, without the library, in the program itself.
 */
#ifndef TESTS_MUTATE_REACHED_H
#define TESTS_MUTATE_REACHED_H

#define REACHED_MAX 1024

extern unsigned char *reached_map;

static inline void reached(unsigned int number)
{
	reached_map[number] = 1;
}

#endif
