/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From arch/arm64/include/asm/pgtable-hwdef.h, pgtable-prot.h, pgtable.h */
#ifndef TESTS_VALIDATE_RAW_VALUES_ARM64_H
#define TESTS_VALIDATE_RAW_VALUES_ARM64_H

#include "raw_values.h"

/*
 * page 3, user 40, read-only 80, shareable 300, AF 400, nG 800; write 51, contiguous 52, PXN 53,
 * UXN 54, dirty 55, special 56, devmap 57, uffd 58. Not contiguous with anything here but the row
 * that says so.
 */
static const struct present_row arm64_present[] = {
	{ "rw young clean", 0x0068000012345fc3, 0x12345, "PWYrw", 0x0068000012346fc3,
	  0x0068000012348fc3, .mkold = 0x0068000012345bc3, .wrprotect = 0x0060000012345fc3,
	  .mkdirty = 0x00e8000012345f43 },
	{ "dirtied by hardware", 0x0068000000001f43, 0x1, "PWYDrw", 0x0068000000002f43,
	  0x0068000000004f43, .mkold = 0x0068000000001b43, .mkclean = 0x0068000000001fc3,
	  .wrprotect = 0x00e0000000001fc3, .mkdirty = 0x00e8000000001f43 },
	{ "dirtied by software", 0x00e8000000001f43, 0x1, "PWYDrw", 0x00e8000000002f43,
	  0x00e8000000004f43, .mkold = 0x00e8000000001b43, .mkclean = 0x0068000000001fc3,
	  .wrprotect = 0x00e0000000001fc3 },
	{ "ro dirty", 0x00e0000000100fc3, 0x100, "PYDr", 0x00e0000000101fc3, 0x00e0000000103fc3,
	  .mkold = 0x00e0000000100bc3, .mkclean = 0x0060000000100fc3,
	  .mkwrite = 0x00e8000000100f43 },
	{ "ro old", 0x0060000000200bc3, 0x200, "Pr", 0x0060000000201bc3, 0x0060000000203bc3,
	  .mkwrite = 0x0068000000200bc3, .mkyoung = 0x0060000000200fc3,
	  .mkdirty = 0x00e0000000200bc3 },
	{ "of a block", 0x0078000000400fc3, 0x400, "PWYrw", 0x0078000000401fc3, 0x0078000000403fc3,
	  .mkold = 0x0078000000400bc3, .wrprotect = 0x0070000000400fc3,
	  .mkdirty = 0x00f8000000400f43, .block = true },
	{ "PROT_NONE", 0x0060000003000f82, 0x3000, "PYN", 0x0060000003001f82, 0x0060000003003f82,
	  .mkold = 0x0060000003000b82, .mkwrite = 0x0068000003000f82,
	  .mkdirty = 0x00e0000003000f82 },
	{ "PROT_NONE out of a block", 0x0070000003000f82, 0x3000, "PYN", 0x0070000003001f82,
	  0x0070000003003f82, .mkold = 0x0070000003000b82, .mkwrite = 0x0078000003000f82,
	  .mkdirty = 0x00f0000003000f82 },
	{ "invalid for a moment, not PROT_NONE", 0x0060000000005fc2, 0x5, "PY", 0x0060000000006fc2,
	  0x0060000000008fc2, .mkold = 0x0060000000005bc2, .mkwrite = 0x0068000000005fc2,
	  .mkdirty = 0x00e0000000005fc2 },
	{ "execute only", 0x0020000000006f83, 0x6, "PY", 0x0020000000007f83, 0x0020000000009f83,
	  .mkold = 0x0020000000006b83, .mkwrite = 0x0028000000006f83,
	  .mkdirty = 0x00a0000000006f83 },
	{ "special", 0x0168000000009f43, 0x9, "PWYDrwS", 0x016800000000af43, 0x016800000000cf43,
	  .mkold = 0x0168000000009b43, .mkclean = 0x0168000000009fc3,
	  .wrprotect = 0x01e0000000009fc3, .mkdirty = 0x01e8000000009f43 },
	{ "device memory", 0x0368000240000f43, 0x240000, "PWYDrwSV", 0x0368000240001f43,
	  0x0368000240003f43, .mkold = 0x0368000240000b43, .mkclean = 0x0368000240000fc3,
	  .wrprotect = 0x03e0000240000fc3, .mkdirty = 0x03e8000240000f43 },
	{ "userfaultfd write-protected", 0x0460000000007fc3, 0x7, "PYr", 0x0460000000008fc3,
	  0x046000000000afc3, .mkold = 0x0460000000007bc3, .mkwrite = 0x0468000000007fc3,
	  .mkdirty = 0x04e0000000007fc3 },
	{ "at the top of 48 bits", 0x0060ffffffff0fc3, 0xffffffff0, "PYr", 0x0060ffffffff1fc3,
	  0x0060ffffffff3fc3, .mkold = 0x0060ffffffff0bc3, .mkwrite = 0x0068ffffffff0fc3,
	  .mkdirty = 0x00e0ffffffff0fc3 },
};

/* Whatever the granule: type in 6-10, offset in 12-61; exclusive 4, uffd 8 */
static const struct other_row arm64_other[] = {
	{ "empty", 0, "0m", 0, 0, 0 },
	{ "accessed alone is not empty", 0x400, "s", 16, 0, 0x1400 },
	{ "swap 0:10", 0x0000000000010000, "s", 0, 0x10, 0x0000000000011000 },
	{ "swap 1:1ff exclusive", 0x00000000001ff044, "s", 1, 0x1ff, 0x0000000000200044 },
	{ "swap 22:0 uffd-wp", 0x0000000000000588, "s", 22, 0, 0x0000000000001588 },
	{ "swap 2, offset of 49 bits", 0x1000000000000080, "s", 2, 1ULL << 48, 0x1000000000001080 },
	{ "poisoned", 0x00000000012345c0, "", 23, 0x1234, 0 },
	{ "migrating, was read-only", 0x0000000001234600, "", 24, 0x1234, 0 },
	{ "device-private", 0x00000000000996c0, "", 27, 0x99, 0 },
	{ "marker", 0x00000000000017c0, "m", 31, 1, 0 },
};

/* As with 4K, but: address in 16-47, and its bits 48-51 in 12-15; blocks of 32 */
static const struct present_row arm64_64k_present[] = {
	{ "rw young clean", 0x0068000123450fc3, 0x12345, "PWYrw", 0x0068000123460fc3,
	  0x0068000123480fc3, .mkold = 0x0068000123450bc3, .wrprotect = 0x0060000123450fc3,
	  .mkdirty = 0x00e8000123450f43 },
	{ "dirtied by hardware", 0x0068000000010f43, 0x1, "PWYDrw", 0x0068000000020f43,
	  0x0068000000040f43, .mkold = 0x0068000000010b43, .mkclean = 0x0068000000010fc3,
	  .wrprotect = 0x00e0000000010fc3, .mkdirty = 0x00e8000000010f43 },
	{ "last frame of 48 bits", 0x0060ffffffff0fc3, 0xffffffff, "PYr", 0x0060000000001fc3,
	  0x0060000000021fc3, .mkold = 0x0060ffffffff0bc3, .mkwrite = 0x0068ffffffff0fc3,
	  .mkdirty = 0x00e0ffffffff0fc3 },
	{ "above 48 bits", 0x0068123456785fc3, 0x512345678, "PWYrw", 0x0068123456795fc3,
	  0x00681234567b5fc3, .mkold = 0x0068123456785bc3, .wrprotect = 0x0060123456785fc3,
	  .mkdirty = 0x00e8123456785f43 },
	{ "across the split, not at once", 0x0060fffffffe5fc3, 0x5fffffffe, "PYr",
	  0x0060ffffffff5fc3, 0x0060000000016fc3, .mkold = 0x0060fffffffe5bc3,
	  .mkwrite = 0x0068fffffffe5fc3, .mkdirty = 0x00e0fffffffe5fc3 },
	{ "at the top of 52 bits", 0x0060fffffff0ffc3, 0xffffffff0, "PYr", 0x0060fffffff1ffc3,
	  0x0060fffffff3ffc3, .mkold = 0x0060fffffff0fbc3, .mkwrite = 0x0068fffffff0ffc3,
	  .mkdirty = 0x00e0fffffff0ffc3 },
	{ "of a block", 0x0078000004000fc3, 0x400, "PWYrw", 0x0078000004010fc3, 0x0078000004030fc3,
	  .mkold = 0x0078000004000bc3, .wrprotect = 0x0070000004000fc3,
	  .mkdirty = 0x00f8000004000f43, .block = true },
	{ "PROT_NONE, above 48 bits", 0x006000003000af82, 0xa00003000, "PYN", 0x006000003001af82,
	  0x006000003003af82, .mkold = 0x006000003000ab82, .mkwrite = 0x006800003000af82,
	  .mkdirty = 0x00e000003000af82 },
	{ "ro dirty", 0x00e0000001000fc3, 0x100, "PYDr", 0x00e0000001010fc3, 0x00e0000001030fc3,
	  .mkold = 0x00e0000001000bc3, .mkclean = 0x0060000001000fc3,
	  .mkwrite = 0x00e8000001000f43 },
	{ "special", 0x0168000000090f43, 0x9, "PWYDrwS", 0x01680000000a0f43, 0x01680000000c0f43,
	  .mkold = 0x0168000000090b43, .mkclean = 0x0168000000090fc3,
	  .wrprotect = 0x01e0000000090fc3, .mkdirty = 0x01e8000000090f43 },
	{ "device memory", 0x0368002400000f43, 0x240000, "PWYDrwSV", 0x0368002400010f43,
	  0x0368002400030f43, .mkold = 0x0368002400000b43, .mkclean = 0x0368002400000fc3,
	  .wrprotect = 0x03e0002400000fc3, .mkdirty = 0x03e8002400000f43 },
	{ "userfaultfd write-protected", 0x0460000000070fc3, 0x7, "PYr", 0x0460000000080fc3,
	  0x04600000000a0fc3, .mkold = 0x0460000000070bc3, .mkwrite = 0x0468000000070fc3,
	  .mkdirty = 0x04e0000000070fc3 },
};

#endif
