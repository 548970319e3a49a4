// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Raw entries of each format through every entry op. The values are typed from the kernel's
 * headers:
 *	x86	arch/x86/include/asm/pgtable_types.h, pgtable.h, pgtable-invert.h, pgtable_64.h,
 *		pgtable-3level.h
 *	arm64	arch/arm64/include/asm/pgtable-hwdef.h, pgtable-prot.h, pgtable.h
 *	swap types	include/linux/swap.h, include/linux/swapops.h
 * This is the one file of the tests that knows formats by name.
 */
#include "bed.h"

/*
 * A present entry. is: P present, W write, Y young, D dirty, N protnone, r and w permitted to read
 * and to write, S special, V devmap. An operation whose result is not named leaves the entry as it
 * is.
 */
struct present_row {
	const char *what;
	u64 val;
	unsigned long pfn;
	const char *is;
	u64 next, third; /* advanced by 1 and by 3 */
	u64 mkold, mkclean, wrprotect, clear_soft_dirty, mkwrite, mkyoung, mkdirty;
	bool block; /* the hint says so */
};

/*
 * An entry that maps nothing. is: 0 none, m none mostly, s swap; next: the entry of the slot behind
 */
struct other_row {
	const char *what;
	u64 val;
	const char *is;
	unsigned int type;
	u64 offset, next;
};

/*
 * P 1, RW 2, US 4, A 20, D 40, PROT_NONE 100, special 200, uffd 400, soft-dirty 800, devmap 57,
 * saved-dirty 58, NX 63
 */
static const struct present_row x86_64_present[] = {
	{ "rw young dirty soft-dirty", 0x8000000012345867, 0x12345, "PWYDrw", 0x8000000012346867,
	  0x8000000012348867, .mkold = 0x8000000012345847, .mkclean = 0x8000000012345827,
	  .wrprotect = 0x8400000012345825, .clear_soft_dirty = 0x8000000012345067 },
	{ "rw young, executable", 0x00000000abcde027, 0xabcde, "PWYrw", 0x00000000abcdf027,
	  0x00000000abce1027, .mkold = 0x00000000abcde007, .wrprotect = 0x00000000abcde025,
	  .mkdirty = 0x00000000abcde867 },
	{ "ro old", 0x8000000000001005, 0x1, "Pr", 0x8000000000002005, 0x8000000000004005,
	  .mkwrite = 0x8000000000001007, .mkyoung = 0x8000000000001025,
	  .mkdirty = 0x8400000000001805 },
	{ "ro, dirty saved", 0x8400000000100025, 0x100, "PYDr", 0x8400000000101025,
	  0x8400000000103025, .mkold = 0x8400000000100005, .mkclean = 0x8000000000100025,
	  .mkwrite = 0x8000000000100067, .mkdirty = 0x8400000000100825 },
	{ "shadow stack", 0x8000000000200065, 0x200, "PWYDr", 0x8000000000201065,
	  0x8000000000203065, .mkold = 0x8000000000200045, .mkclean = 0x8000000000200025,
	  .wrprotect = 0x8400000000200025, .mkwrite = 0x8000000000200067,
	  .mkdirty = 0x8400000000200825 },
	{ "shadow stack that was saved-dirty", 0x8400000000200065, 0x200, "PWYDr",
	  0x8400000000201065, 0x8400000000203065, .mkold = 0x8400000000200045,
	  .mkclean = 0x8000000000200025, .wrprotect = 0x8400000000200025,
	  .mkwrite = 0x8000000000200067, .mkdirty = 0x8400000000200825 },
	{ "PROT_NONE: the frame inverted", 0x000ffffffcfff120, 0x3000, "PYN", 0x000ffffffcffe120,
	  0x000ffffffcffc120, .mkold = 0x000ffffffcfff100, .mkwrite = 0x000ffffffcfff122,
	  .mkdirty = 0x040ffffffcfff920 },
	{ "NUMA hint on a dirty page", 0x040fffffff000920, 0xfff, "PYDN", 0x040ffffffefff920,
	  0x040ffffffeffd920, .mkold = 0x040fffffff000900, .mkclean = 0x000fffffff000920,
	  .clear_soft_dirty = 0x040fffffff000120, .mkwrite = 0x000fffffff000962 },
	{ "special", 0x80000000fee00267, 0xfee00, "PWYDrwS", 0x80000000fee01267, 0x80000000fee03267,
	  .mkold = 0x80000000fee00247, .mkclean = 0x80000000fee00227,
	  .wrprotect = 0x84000000fee00225, .mkdirty = 0x80000000fee00a67 },
	{ "device memory", 0x8200000240000267, 0x240000, "PWYDrwSV", 0x8200000240001267,
	  0x8200000240003267, .mkold = 0x8200000240000247, .mkclean = 0x8200000240000227,
	  .wrprotect = 0x8600000240000225, .mkdirty = 0x8200000240000a67 },
	{ "userfaultfd write-protected, high frame", 0x800007fffffff425, 0x7fffffff, "PYr",
	  0x8000080000000425, 0x8000080000002425, .mkold = 0x800007fffffff405,
	  .mkwrite = 0x800007fffffff427, .mkdirty = 0x840007fffffffc25 },
	{ "not for the user", 0x8000000000005163, 0x5, "PWYD", 0x8000000000006163,
	  0x8000000000008163, .mkold = 0x8000000000005143, .mkclean = 0x8000000000005123,
	  .wrprotect = 0x8400000000005121, .mkdirty = 0x8000000000005963 },
	{ "protection key 5, uncached", 0xa80000000000a0b7, 0xa, "PWYrw", 0xa80000000000b0b7,
	  0xa80000000000d0b7, .mkold = 0xa80000000000a097, .wrprotect = 0xa80000000000a0b5,
	  .mkdirty = 0xa80000000000a8f7 },
};

/* Type in 59-63, ~offset in 9-58; soft-dirty 2, uffd 4, exclusive 8 */
static const struct other_row x86_64_other[] = {
	{ "empty", 0, "0m", 0, 0, 0 },
	{ "empty, accessed by an erratum", 0x20, "0m", 0, 0, 0 },
	{ "empty, accessed and dirty by an erratum", 0x60, "0m", 0, 0, 0 },
	{ "swap 0:10", 0x07ffffffffffde00, "s", 0, 0x10, 0x07ffffffffffdc00 },
	{ "swap 1:1ff exclusive soft-dirty", 0x0ffffffffffc000a, "s", 1, 0x1ff,
	  0x0ffffffffffbfe0a },
	{ "swap 22:0 uffd-wp", 0xb7fffffffffffe04, "s", 22, 0, 0xb7fffffffffffc04 },
	{ "poisoned", 0xbfffffffffdb9600, "", 23, 0x1234, 0 },
	{ "migrating, was read-only", 0xc7ffffffffdb9600, "", 24, 0x1234, 0 },
	{ "migrating, was writable", 0xd7ffffffffdb9600, "", 26, 0x1234, 0 },
	{ "device-private", 0xdffffffffffecc00, "", 27, 0x99, 0 },
	{ "marker", 0xfffffffffffffc00, "m", 31, 1, 0 },
};

/* As x86-64, but: saved-dirty 400; no uffd, soft-dirty, devmap, shadow stack */
static const struct present_row x86_pae_present[] = {
	{ "rw young dirty", 0x8000000012345067, 0x12345, "PWYDrw", 0x8000000012346067,
	  0x8000000012348067, .mkold = 0x8000000012345047, .mkclean = 0x8000000012345027,
	  .wrprotect = 0x8000000012345425 },
	{ "last frame of the low word", 0x00000000fffff027, 0xfffff, "PWYrw", 0x0000000100000027,
	  0x0000000100002027, .mkold = 0x00000000fffff007, .wrprotect = 0x00000000fffff025,
	  .mkdirty = 0x00000000fffff067 },
	{ "frame in both words", 0x8000001234567067, 0x1234567, "PWYDrw", 0x8000001234568067,
	  0x800000123456a067, .mkold = 0x8000001234567047, .mkclean = 0x8000001234567027,
	  .wrprotect = 0x8000001234567425 },
	{ "ro old, frame in the high word", 0x0000000300000005, 0x300000, "Pr", 0x0000000300001005,
	  0x0000000300003005, .mkwrite = 0x0000000300000007, .mkyoung = 0x0000000300000025,
	  .mkdirty = 0x0000000300000405 },
	{ "ro, dirty saved", 0x8000000000100425, 0x100, "PYDr", 0x8000000000101425,
	  0x8000000000103425, .mkold = 0x8000000000100405, .mkclean = 0x8000000000100025,
	  .mkwrite = 0x8000000000100067 },
	{ "ro dirty is no shadow stack here", 0x8000000000200065, 0x200, "PYDr", 0x8000000000201065,
	  0x8000000000203065, .mkold = 0x8000000000200045, .mkclean = 0x8000000000200025,
	  .wrprotect = 0x8000000000200425, .mkwrite = 0x8000000000200067,
	  .mkdirty = 0x8000000000200425 },
	{ "PROT_NONE: the frame inverted", 0x000ffffffcfff120, 0x3000, "PYN", 0x000ffffffcffe120,
	  0x000ffffffcffc120, .mkold = 0x000ffffffcfff100, .mkwrite = 0x000ffffffcfff122,
	  .mkdirty = 0x000ffffffcfff520 },
	{ "PROT_NONE across the words", 0x000fffff00000120, 0xfffff, "PYN", 0x000ffffefffff120,
	  0x000ffffeffffd120, .mkold = 0x000fffff00000100, .mkwrite = 0x000fffff00000122,
	  .mkdirty = 0x000fffff00000520 },
	{ "special", 0x80000000fee00267, 0xfee00, "PWYDrwS", 0x80000000fee01267, 0x80000000fee03267,
	  .mkold = 0x80000000fee00247, .mkclean = 0x80000000fee00227,
	  .wrprotect = 0x80000000fee00625 },
	{ "not for the user", 0x0000000000005163, 0x5, "PWYD", 0x0000000000006163,
	  0x0000000000008163, .mkold = 0x0000000000005143, .mkclean = 0x0000000000005123,
	  .wrprotect = 0x0000000000005521 },
	{ "a software bit with no meaning here", 0x8000000000007827, 0x7, "PWYrw",
	  0x8000000000008827, 0x800000000000a827, .mkold = 0x8000000000007807,
	  .wrprotect = 0x8000000000007825, .mkdirty = 0x8000000000007867 },
};

/* Exclusive 80; the third swap entry has nothing in its low word */
static const struct other_row x86_pae_other[] = {
	{ "empty", 0, "0m", 0, 0, 0 },
	{ "empty, accessed and dirty by an erratum", 0x60, "0m", 0, 0, 0 },
	{ "swap 0:10", 0x07ffffffffffde00, "s", 0, 0x10, 0x07ffffffffffdc00 },
	{ "swap 1:1ff exclusive", 0x0ffffffffffc0080, "s", 1, 0x1ff, 0x0ffffffffffbfe80 },
	{ "swap 0:7fffff", 0x07ffffff00000000, "s", 0, 0x7fffff, 0x07fffffefffffe00 },
	{ "swap 22:0", 0xb7fffffffffffe00, "s", 22, 0, 0xb7fffffffffffc00 },
	{ "poisoned", 0xbfffffffffdb9600, "", 23, 0x1234, 0 },
	{ "migrating, was read-only", 0xc7ffffffffdb9600, "", 24, 0x1234, 0 },
	{ "device-private", 0xdffffffffffecc00, "", 27, 0x99, 0 },
	{ "marker", 0xfffffffffffffc00, "m", 31, 1, 0 },
};

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

/* Type in 6-10, offset in 12-61; exclusive 4, uffd 8 */
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

static const struct {
	const char *format;
	const struct present_row *present;
	size_t nr_present;
	const struct other_row *other;
	size_t nr_other;
} tables[] = {
#define TABLE(f)                                                                           \
	{                                                                                  \
#f, f##_present, ARRAY_SIZE(f##_present), f##_other, ARRAY_SIZE(f##_other) \
	}
	TABLE(x86_64),
	TABLE(x86_pae),
	TABLE(arm64),
};

static size_t my_table(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcmp(tables[i].format, STRINGIFY(FMT_NAME)))
			return i;
	REQUIRE(false, "format %s has no raw values here", STRINGIFY(FMT_NAME));
	return 0;
}

static void is(const char *what, const char *letters, char letter, bool got)
{
	bool want = strchr(letters, letter);

	EXPECT(got == want, "%s: '%c' is %d, expected %d", what, letter, got, want);
}

static void gives(const char *what, const char *op, ptb_pte_t got, u64 want)
{
	EXPECT(fmt_val(got) == want, "%s: %s gives %016llx, expected %016llx", what, op,
	       (unsigned long long)fmt_val(got), (unsigned long long)want);
}

static void check_hint(const char *what, ptb_pte_t pte, bool block)
{
	static ptb_pte_t table[FMT_PTES] __attribute__((__aligned__(4096)));
	static const unsigned int slots[] = { 0,	   1, FMT_CONT - 1, FMT_CONT, FMT_CONT + 5,
					      FMT_PTES - 1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		unsigned int got = ptb_pte_hint(table + slots[i], pte);
		unsigned int want = block ? FMT_CONT - slots[i] % FMT_CONT : 1;

		EXPECT(got == want, "%s: hint %u at slot %u, expected %u", what, got, slots[i],
		       want);
	}
}

static void check_predicates(const char *what, const char *letters, ptb_pte_t pte)
{
	is(what, letters, 'P', ptb_pte_present(pte));
	is(what, letters, 'N', ptb_pte_protnone(pte));
	is(what, letters, 'r', ptb_pte_permitted(pte, false));
	is(what, letters, 'w', ptb_pte_permitted(pte, true));
	is(what, letters, '0', ptb_pte_none(pte));
}

static void check_present(const struct present_row *r)
{
	static struct vm_area_struct vma = { .vm_flags = VM_WRITE | VM_MAYWRITE };
	ptb_pte_t pte = fmt_mk(r->val);

	check_predicates(r->what, r->is, pte);
	is(r->what, r->is, 'W', ptb_pte_write(pte));
	is(r->what, r->is, 'Y', ptb_pte_young(pte));
	is(r->what, r->is, 'D', ptb_pte_dirty(pte));
	is(r->what, r->is, 'S', ptb_pte_special(pte));
	is(r->what, r->is, 'V', ptb_pte_devmap(pte));
	EXPECT(ptb_pte_pfn(pte) == r->pfn, "%s: frame 0x%lx, expected 0x%lx", r->what,
	       ptb_pte_pfn(pte), r->pfn);
	EXPECT(ptb_pte_same(pte, fmt_mk(r->val)), "%s: differs from itself", r->what);
	EXPECT(!ptb_pte_same(pte, fmt_mk(r->next)), "%s: same as its neighbour", r->what);
	gives(r->what, "advance(1)", ptb_pte_advance(pte, 1), r->next);
	gives(r->what, "advance(3)", ptb_pte_advance(pte, 3), r->third);
#define OP(op, ...) gives(r->what, #op, ptb_pte_##op(pte, ##__VA_ARGS__), r->op ? r->op : r->val)
	OP(mkold);
	OP(mkclean);
	OP(wrprotect);
	OP(clear_soft_dirty);
	OP(mkwrite, &vma);
	OP(mkyoung);
	OP(mkdirty);
#undef OP
	check_hint(r->what, pte, r->block);
}

TEST(raw_present_entries_mean_what_the_kernel_says)
{
	size_t t = my_table(), i;

	REQUIRE(tables[t].nr_present >= 8, "fewer than 8 raw values");
	for (i = 0; i < tables[t].nr_present; i++)
		check_present(&tables[t].present[i]);
}

static void check_other(const struct other_row *r)
{
	ptb_pte_t pte = fmt_mk(r->val);

	check_predicates(r->what, r->is, pte);
	is(r->what, r->is, 'm', ptb_pte_none_mostly(pte));
	if (ptb_pte_none(pte))
		return;
	is(r->what, r->is, 's', ptb_pte_is_swap(pte));
	EXPECT_EQ(fmt_swp_type(pte), r->type, r->what);
	EXPECT_EQ(fmt_swp_offset(pte), r->offset, r->what);
	if (ptb_pte_is_swap(pte))
		gives(r->what, "swap_next", ptb_pte_swap_next(pte), r->next);
}

TEST(raw_entries_that_map_nothing_mean_what_the_kernel_says)
{
	size_t t = my_table(), i;

	REQUIRE(tables[t].nr_other >= 8, "fewer than 8 raw values");
	for (i = 0; i < tables[t].nr_other; i++)
		check_other(&tables[t].other[i]);
}

/* Each row in a table, read back with and without the lock. */
TEST(raw_entries_come_back_from_a_table_whole)
{
	size_t t = my_table(), i;
	struct bed bed;

	bed_need(&bed, "none", NULL);
	for (i = 0; i < tables[t].nr_present; i++) {
		const struct present_row *r = &tables[t].present[i];
		ptb_pte_t *ptep = bed_ptep(&bed, i);

		word_set(&ptep->w, r->val);
		gives(r->what, "a read under the lock", ptb_ptep_get(ptep, PTB_FOR_LOOK), r->val);
		gives(r->what, "a lockless read", ptb_ptep_get(ptep, PTB_FOR_GUP_FAST), r->val);
	}
	bed_free(&bed);
}
