/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From arch/s390/include/asm/pgtable.h */
#ifndef TESTS_VALIDATE_RAW_VALUES_S390_H
#define TESTS_VALIDATE_RAW_VALUES_S390_H

#include "raw_values.h"

/*
 * present 1, soft-dirty 2, young 4, dirty 8, read 10, write 20, special 40, unused 80; of the
 * hardware: no execution 100, protected 200, invalid 400. What is old or PROT_NONE is invalid, what
 * is clean or read-only protected. Permission asks for present and write alone.
 */
static const struct present_row s390_present[] = {
	{ "rw young dirty soft-dirty", 0x1234513f, 0x12345, "PWYDrw", 0x1234613f, 0x1234813f,
	  .mkold = 0x1234553b, .mkclean = 0x12345337, .wrprotect = 0x1234531f,
	  .clear_soft_dirty = 0x1234513d },
	{ "rw young clean: protected till it is written", 0xabcde335, 0xabcde, "PWYrw", 0xabcdf335,
	  0xabce1335, .mkold = 0xabcde731, .wrprotect = 0xabcde315, .mkdirty = 0xabcde13f },
	{ "rw old dirty: invalid till it is used", 0x1539, 0x1, "PWDrw", 0x2539, 0x4539,
	  .mkclean = 0x1731, .wrprotect = 0x1719, .mkyoung = 0x113d, .mkdirty = 0x153b },
	{ "rw old clean: both", 0x200731, 0x200, "PWrw", 0x201731, 0x203731, .wrprotect = 0x200711,
	  .mkyoung = 0x200335, .mkdirty = 0x20053b },
	{ "ro young clean", 0x100315, 0x100, "PYr", 0x101315, 0x103315, .mkold = 0x100711,
	  .mkwrite = 0x100335, .mkdirty = 0x10031f },
	{ "ro old dirty", 0x300719, 0x300, "PDr", 0x301719, 0x303719, .mkclean = 0x300711,
	  .mkwrite = 0x300539, .mkyoung = 0x30031d, .mkdirty = 0x30071b },
	{ "PROT_NONE: young and still invalid", 0x3000705, 0x3000, "PYNr", 0x3001705, 0x3003705,
	  .mkold = 0x3000701, .mkwrite = 0x3000725, .mkdirty = 0x300070f },
	{ "PROT_NONE, old dirty", 0xfff709, 0xfff, "PDNr", 0x1000709, 0x1002709,
	  .mkclean = 0xfff701, .mkyoung = 0xfff70d, .mkwrite = 0xfff529, .mkdirty = 0xfff70b },
	{ "special", 0xfee0017d, 0xfee00, "PWYDrwS", 0xfee0117d, 0xfee0317d, .mkold = 0xfee00579,
	  .mkclean = 0xfee00375, .wrprotect = 0xfee0035d, .mkdirty = 0xfee0017f },
	{ "unused by a guest, executable", 0x7295, 0x7, "PYr", 0x8295, 0xa295, .mkold = 0x7691,
	  .mkwrite = 0x72b5, .mkdirty = 0x729f },
	{ "at the top of 64 bits", 0xffffffffffff013d, 0xffffffffffff0, "PWYDrw",
	  0xffffffffffff113d, 0xffffffffffff313d, .mkold = 0xffffffffffff0539,
	  .mkclean = 0xffffffffffff0335, .wrprotect = 0xffffffffffff031d,
	  .mkdirty = 0xffffffffffff013f },
};

/* Invalid and protected 600; type in 2-6, offset from 12 on; soft-dirty 2, exclusive 800 */
static const struct other_row s390_other[] = {
	{ "empty", 0x400, "0m", 0, 0, 0 },
	{ "all zero is not empty", 0, "s", 0, 0, 0x1000 },
	{ "swap 0:10", 0x10600, "s", 0, 0x10, 0x11600 },
	{ "swap 1:1ff exclusive soft-dirty", 0x1ffe06, "s", 1, 0x1ff, 0x200e06 },
	{ "swap 22:0", 0x658, "s", 22, 0, 0x1658 },
	{ "swap 2, offset of 49 bits", 0x1000000000000608, "s", 2, 1ULL << 48, 0x1000000000001608 },
	{ "poisoned", 0x123465c, "", 23, 0x1234, 0 },
	{ "migrating, was read-only", 0x1234660, "", 24, 0x1234, 0 },
	{ "migrating, was writable", 0x1234668, "", 26, 0x1234, 0 },
	{ "device-private", 0x9966c, "", 27, 0x99, 0 },
	{ "marker", 0x167c, "m", 31, 1, 0 },
};

#endif
