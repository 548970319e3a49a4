/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From arch/powerpc/include/asm/book3s/64/pgtable.h, radix.h, pgtable-be-types.h */
#ifndef TESTS_VALIDATE_RAW_VALUES_PPC64_H
#define TESTS_VALIDATE_RAW_VALUES_PPC64_H

#include "raw_values.h"

/*
 * X 1, W 2, R 4, privileged 8, cache control 30, dirty 80, accessed 100, soft-dirty 200, special
 * 400, devmap 800, frame in 16-52; being changed 61, an entry 62, present 63. Big-endian in memory.
 */
static const struct present_row ppc64_present[] = {
	{ "rw young dirty soft-dirty", 0xc000000123450386, 0x12345, "PWYDrw", 0xc000000123460386,
	  0xc000000123480386, .mkold = 0xc000000123450286, .mkclean = 0xc000000123450306,
	  .wrprotect = 0xc000000123450384, .clear_soft_dirty = 0xc000000123450186,
	  .bytes = "\xc0\x00\x00\x01\x23\x45\x03\x86" },
	{ "rw young, executable", 0xc000000abcde0107, 0xabcde, "PWYrw", 0xc000000abcdf0107,
	  0xc000000abce10107, .mkold = 0xc000000abcde0007, .wrprotect = 0xc000000abcde0105,
	  .mkdirty = 0xc000000abcde0387, .bytes = "\xc0\x00\x00\x0a\xbc\xde\x01\x07" },
	{ "ro old", 0xc000000000010004, 0x1, "Pr", 0xc000000000020004, 0xc000000000040004,
	  .mkwrite = 0xc000000000010006, .mkyoung = 0xc000000000010104,
	  .mkdirty = 0xc000000000010284 },
	{ "ro dirty", 0xc000000001000184, 0x100, "PYDr", 0xc000000001010184, 0xc000000001030184,
	  .mkold = 0xc000000001000084, .mkclean = 0xc000000001000104, .mkwrite = 0xc000000001000186,
	  .mkdirty = 0xc000000001000384 },
	{ "PROT_NONE", 0xc000000030000108, 0x3000, "PYN", 0xc000000030010108, 0xc000000030030108,
	  .mkold = 0xc000000030000008, .mkwrite = 0xc00000003000010e,
	  .mkdirty = 0xc000000030000388 },
	{ "execute only", 0xc000000000060101, 0x6, "PY", 0xc000000000070101, 0xc000000000090101,
	  .mkold = 0xc000000000060001, .mkwrite = 0xc000000000060107,
	  .mkdirty = 0xc000000000060381 },
	{ "not for the user", 0xc00000000005018e, 0x5, "PWYD", 0xc00000000006018e,
	  0xc00000000008018e, .mkold = 0xc00000000005008e, .mkclean = 0xc00000000005010e,
	  .wrprotect = 0xc00000000005018c, .mkdirty = 0xc00000000005038e },
	{ "being changed, and there all the same", 0x6000000002000106, 0x200, "PWYrw",
	  0x6000000002010106, 0x6000000002030106, .mkold = 0x6000000002000006,
	  .wrprotect = 0x6000000002000104, .mkdirty = 0x6000000002000386,
	  .bytes = "\x60\x00\x00\x00\x02\x00\x01\x06" },
	{ "special", 0xc000000fee000586, 0xfee00, "PWYDrwS", 0xc000000fee010586, 0xc000000fee030586,
	  .mkold = 0xc000000fee000486, .mkclean = 0xc000000fee000506,
	  .wrprotect = 0xc000000fee000584, .mkdirty = 0xc000000fee000786 },
	{ "device memory", 0xc000002400000d86, 0x240000, "PWYDrwSV", 0xc000002400010d86,
	  0xc000002400030d86, .mkold = 0xc000002400000c86, .mkclean = 0xc000002400000d06,
	  .wrprotect = 0xc000002400000d84, .mkdirty = 0xc000002400000f86 },
	{ "at the top of 53 bits", 0xc01ffffffff00106, 0x1ffffffff0, "PWYrw", 0xc01ffffffff10106,
	  0xc01ffffffff30106, .mkold = 0xc01ffffffff00006, .wrprotect = 0xc01ffffffff00104,
	  .mkdirty = 0xc01ffffffff00386 },
	{ "uncached", 0xc0000000000a0136, 0xa, "PWYrw", 0xc0000000000b0136, 0xc0000000000d0136,
	  .mkold = 0xc0000000000a0036, .wrprotect = 0xc0000000000a0134,
	  .mkdirty = 0xc0000000000a03b6 },
};

/* An entry 62; type in 0-4, offset in 16-52; exclusive 20, soft-dirty 200 */
static const struct other_row ppc64_other[] = {
	{ "empty", 0, "0m", 0, 0, 0 },
	{ "swap 0:10", 0x4000000000100000, "s", 0, 0x10, 0x4000000000110000 },
	{ "swap 1:1ff exclusive soft-dirty", 0x4000000001ff0221, "s", 1, 0x1ff,
	  0x4000000002000221 },
	{ "swap 22:0", 0x4000000000000016, "s", 22, 0, 0x4000000000010016 },
	{ "swap 2, offset of 37 bits", 0x4010000000000002, "s", 2, 1ULL << 36, 0x4010000000010002 },
	{ "poisoned", 0x4000000012340017, "", 23, 0x1234, 0 },
	{ "migrating, was read-only", 0x4000000012340018, "", 24, 0x1234, 0 },
	{ "migrating, was writable", 0x400000001234001a, "", 26, 0x1234, 0 },
	{ "device-private", 0x400000000099001b, "", 27, 0x99, 0 },
	{ "marker", 0x400000000001001f, "m", 31, 1, 0 },
};

#endif
