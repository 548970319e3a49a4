// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Raw entries of each format through every entry op. The values are typed from the kernel's
 * headers, which each family's table names; swap types are include/linux/swap.h and swapops.h.
 * These are the only files of the tests that know formats by name.
 */
#include "raw_values_arm64.h"
#include "raw_values_ppc64.h"
#include "raw_values_riscv64.h"
#include "raw_values_s390.h"
#include "raw_values_x86.h"

static const struct {
	const char *format;
	const struct present_row *present;
	size_t nr_present;
	const struct other_row *other;
	size_t nr_other;
} tables[] = {
#define TABLE(f, other)                                                            \
	{                                                                          \
#f, f##_present, ARRAY_SIZE(f##_present), other, ARRAY_SIZE(other) \
	}
	TABLE(x86_64, x86_64_other),   TABLE(x86_pae, x86_pae_other),
	TABLE(xen_pv, x86_64_other), /* translated only if present */
	TABLE(arm64, arm64_other),     TABLE(arm64_64k, arm64_other),
	TABLE(riscv64, riscv64_other), TABLE(s390, s390_other),
	TABLE(ppc64, ppc64_other),
};

/* Where an entry depends on memory: the folio whose frames are there. */
static const char memory[] = "o4@100";

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
	static struct vm_area_struct shstk = { .vm_flags =
						       VM_WRITE | VM_MAYWRITE | VM_SHADOW_STACK };
	u64 mkwrite = r->mkwrite ? r->mkwrite : r->val;
	ptb_pte_t pte = fmt_mk(r->val);

	/* A machine of 32 bits has no such frame. */
	if (r->pfn > ULONG_MAX - 3)
		return;
	check_predicates(r->what, r->is, pte);
	is(r->what, r->is, 'W', ptb_pte_write(pte));
	is(r->what, r->is, 'Y', ptb_pte_young(pte));
	is(r->what, r->is, 'D', ptb_pte_dirty(pte));
	is(r->what, r->is, 'S', ptb_pte_special(pte));
	is(r->what, r->is, 'V', ptb_pte_devmap(pte));
	EXPECT(ptb_pte_pfn(pte) == r->pfn, "%s: frame 0x%lx, expected 0x%llx", r->what,
	       ptb_pte_pfn(pte), (unsigned long long)r->pfn);
	EXPECT(ptb_pte_same(pte, fmt_mk(r->val)), "%s: differs from itself", r->what);
	EXPECT(!ptb_pte_same(pte, fmt_mk(r->next)), "%s: same as its neighbour", r->what);
	gives(r->what, "advance(1)", ptb_pte_advance(pte, 1), r->next);
	gives(r->what, "advance(3)", ptb_pte_advance(pte, 3), r->third);
	EXPECT(ptb_pte_none(ptb_pte_advance(pte, 1)) == !r->next, "%s: what is next is%s empty",
	       r->what, r->next ? "" : " not");
#define OP(op, ...) gives(r->what, #op, ptb_pte_##op(pte, ##__VA_ARGS__), r->op ? r->op : r->val)
	OP(mkold);
	OP(mkclean);
	OP(wrprotect);
	OP(clear_soft_dirty);
	OP(mkwrite, &vma);
	OP(mkyoung);
	OP(mkdirty);
#undef OP
	gives(r->what, "mkwrite in a shadow stack", ptb_pte_mkwrite(pte, &shstk),
	      r->mkwrite_shstk ? r->mkwrite_shstk : mkwrite);
	check_hint(r->what, pte, r->block);
}

TEST(raw_present_entries_mean_what_the_kernel_says)
{
	size_t t = my_table(), i;
	struct bed bed;

	bed_need(&bed, memory, NULL);
	REQUIRE(tables[t].nr_present >= 8, "fewer than 8 raw values");
	for (i = 0; i < tables[t].nr_present; i++)
		check_present(&tables[t].present[i]);
	bed_free(&bed);
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
	struct bed bed;

	bed_need(&bed, memory, NULL);
	REQUIRE(tables[t].nr_other >= 8, "fewer than 8 raw values");
	for (i = 0; i < tables[t].nr_other; i++)
		check_other(&tables[t].other[i]);
	bed_free(&bed);
}

/* Each row in a table, read back with and without the lock. */
TEST(raw_entries_come_back_from_a_table_whole)
{
	size_t t = my_table(), i;
	struct bed bed;

	bed_need(&bed, memory, NULL);
	for (i = 0; i < tables[t].nr_present; i++) {
		const struct present_row *r = &tables[t].present[i];
		u64 word = r->word ? r->word : r->val;
		ptb_pte_t *ptep = bed_ptep(&bed, i);

		word_set(&ptep->w, word);
		EXPECT(word_val(fmt_mk(r->val).w) == word,
		       "%s: the table would hold %016llx, not %016llx", r->what,
		       (unsigned long long)word_val(fmt_mk(r->val).w), (unsigned long long)word);
		EXPECT(!r->bytes || !memcmp(ptep, r->bytes, 8),
		       "%s: the bytes are in another order", r->what);
		gives(r->what, "a read under the lock", ptb_ptep_get(ptep, PTB_FOR_LOOK), r->val);
		gives(r->what, "a lockless read", ptb_ptep_get(ptep, PTB_FOR_GUP_FAST), r->val);
	}
	bed_free(&bed);
}
