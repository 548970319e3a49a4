/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From arch/riscv/include/asm/pgtable-bits.h, pgtable-64.h, pgtable.h */
#ifndef TESTS_VALIDATE_RAW_VALUES_RISCV64_H
#define TESTS_VALIDATE_RAW_VALUES_RISCV64_H

#include "raw_values.h"

/*
 * V 1, R 2, W 4, X 8, U 10, global or PROT_NONE 20, A 40, D 80, special 100, devmap 200; frame from
 * bit 10 on; memory type in 61-62, napot 63. Permission asks for present and write alone.
 */
static const struct present_row riscv64_present[] = {
	{ "rw young dirty", 0x048d14d7, 0x12345, "PWYDrw", 0x048d18d7, 0x048d20d7,
	  .mkold = 0x048d1497, .mkclean = 0x048d1457, .wrprotect = 0x048d14d3 },
	{ "rw young, executable", 0x2af3785f, 0xabcde, "PWYrw", 0x2af37c5f, 0x2af3845f,
	  .mkold = 0x2af3781f, .wrprotect = 0x2af3785b, .mkdirty = 0x2af378df },
	{ "ro old", 0x413, 0x1, "Pr", 0x813, 0x1013, .mkwrite = 0x417, .mkyoung = 0x453,
	  .mkdirty = 0x493 },
	{ "ro dirty", 0x400d3, 0x100, "PYDr", 0x404d3, 0x40cd3, .mkold = 0x40093,
	  .mkclean = 0x40053, .mkwrite = 0x400d7 },
	{ "PROT_NONE", 0xc00062, 0x3000, "PYNr", 0xc00462, 0xc00c62, .mkold = 0xc00022,
	  .mkwrite = 0xc00066, .mkdirty = 0xc000e2 },
	{ "global is PROT_NONE only where V is clear", 0x14e7, 0x5, "PWYDrw", 0x18e7, 0x20e7,
	  .mkold = 0x14a7, .mkclean = 0x1467, .wrprotect = 0x14e3 },
	{ "special", 0x3fb801d7, 0xfee00, "PWYDrwS", 0x3fb805d7, 0x3fb80dd7, .mkold = 0x3fb80197,
	  .mkclean = 0x3fb80157, .wrprotect = 0x3fb801d3 },
	{ "device memory", 0x900002d7, 0x240000, "PWYDrwV", 0x900006d7, 0x90000ed7,
	  .mkold = 0x90000297, .mkclean = 0x90000257, .wrprotect = 0x900002d3 },
	{ "at the top of 44 bits", 0x003fffffffffc0d7, 0xffffffffff0, "PWYDrw", 0x003fffffffffc4d7,
	  0x003fffffffffccd7, .mkold = 0x003fffffffffc097, .mkclean = 0x003fffffffffc057,
	  .wrprotect = 0x003fffffffffc0d3 },
	{ "uncached", 0x20000000000028d7, 0xa, "PWYDrw", 0x2000000000002cd7, 0x20000000000034d7,
	  .mkold = 0x2000000000002897, .mkclean = 0x2000000000002857,
	  .wrprotect = 0x20000000000028d3 },
	{ "napot of 16 pages: size in the frame, no next one", 0x80000000000820d7, 0x200, "PWYDrw",
	  0x804d7, 0x80cd7, .mkold = 0x8000000000082097, .mkclean = 0x8000000000082057,
	  .wrprotect = 0x80000000000820d3 },
	{ "napot, ro", 0x80000000048d20d3, 0x12340, "PYDr", 0x048d04d3, 0x048d0cd3,
	  .mkold = 0x80000000048d2093, .mkclean = 0x80000000048d2053,
	  .mkwrite = 0x80000000048d20d7 },
};

/* Type in 7-11, offset from 12 on; exclusive 40 */
static const struct other_row riscv64_other[] = {
	{ "empty", 0, "0m", 0, 0, 0 },
	{ "accessed alone is not empty", 0x40, "s", 0, 0, 0x1040 },
	{ "swap 0:10", 0x10000, "s", 0, 0x10, 0x11000 },
	{ "swap 1:1ff exclusive", 0x1ff0c0, "s", 1, 0x1ff, 0x2000c0 },
	{ "swap 22:0", 0xb00, "s", 22, 0, 0x1b00 },
	{ "swap 2, offset of 49 bits", 0x1000000000000100, "s", 2, 1ULL << 48, 0x1000000000001100 },
	{ "poisoned", 0x1234b80, "", 23, 0x1234, 0 },
	{ "migrating, was read-only", 0x1234c00, "", 24, 0x1234, 0 },
	{ "migrating, was writable", 0x1234d00, "", 26, 0x1234, 0 },
	{ "device-private", 0x99d80, "", 27, 0x99, 0 },
	{ "marker", 0x1f80, "m", 31, 1, 0 },
};

#endif
