// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which pages of a run a read-only pin may keep: by kind of folio, mapping, and way of asking. */
#include "bed.h"

#define LONGTERM_PIN (FOLL_PIN | FOLL_LONGTERM)

static struct vm_area_struct cow = { .vm_flags = VM_READ | VM_MAYWRITE };
static struct vm_area_struct cow_writable = { .vm_flags = VM_READ | VM_WRITE | VM_MAYWRITE };
static struct vm_area_struct shared = { .vm_flags = VM_READ | VM_WRITE | VM_SHARED | VM_MAYWRITE };
static struct vm_area_struct never_written = { .vm_flags = VM_READ };

/*
 * Of @nr pages from frame @pfn on. The columns are a short pin without a vma; a longterm pin
 * without one, in a private mapping (now writable or not), in a shared one, and in one that may
 * never be written.
 */
static const struct {
	const char *name, *layout;
	unsigned long pfn;
	unsigned int nr;
	unsigned int pin, longterm, longterm_cow, longterm_shared, longterm_ro;
} rows[] = {
	{ "all exclusive", "o3@100 ro", 0x100, 8, 8, 8, 8, 8, 8 },
	{ "part of the folio", "o3@100 ro", 0x103, 2, 2, 2, 2, 2, 2 },
	{ "all shared", "o3@100 ro shared", 0x100, 8, 0, 0, 0, 0, 0 },
	{ "first shared", "o3@100 ro: 0 shared, 1-7", 0x100, 8, 0, 0, 0, 0, 0 },
	{ "behind a shared head", "o3@100 ro: 0 shared, 1-7", 0x101, 7, 7, 7, 7, 7, 7 },
	{ "third shared", "o3@100 ro: 0-1, 2 shared, 3-7", 0x100, 8, 2, 2, 2, 2, 2 },
	{ "from the middle to the fifth", "o3@100 ro: 0-4, 5 shared, 6-7", 0x102, 6, 3, 3, 3, 3,
	  3 },
	{ "last shared", "o3@100 ro: 0-6, 7 shared", 0x100, 8, 7, 7, 7, 7, 7 },
	{ "the shared one is not asked for", "o3@100 ro: 0-6, 7 shared", 0x100, 7, 7, 7, 7, 7, 7 },
	{ "small exclusive", "o0@100 ro", 0x100, 1, 1, 1, 1, 1, 1 },
	{ "small shared", "o0@100 ro shared", 0x100, 1, 0, 0, 0, 0, 0 },
	{ "hugetlb, exclusive by its head", "o4@100 hugetlb ro", 0x105, 8, 8, 8, 8, 8, 8 },
	{ "hugetlb shared", "o4@100 hugetlb ro shared", 0x105, 8, 0, 0, 0, 0, 0 },
	{ "file", "o2@100 file ro", 0x100, 4, 4, 0, 0, 4, 4 },
	{ "shmem", "o2@100 shmem ro", 0x101, 3, 3, 0, 0, 3, 3 },
	{ "truncated file", "o2@100 truncated ro", 0x101, 3, 3, 0, 0, 3, 3 },
};

static void expect_unshared(size_t i, const char *column, struct vm_area_struct *vma,
			    unsigned int gup, unsigned int want)
{
	unsigned int got =
		ptb_unshared(vma, bed_folio(rows[i].pfn), mem_page(rows[i].pfn), rows[i].nr, gup);

	EXPECT(got == want, "%s, %s: %u pages may be kept, expected %u", rows[i].name, column, got,
	       want);
}

TEST(a_reading_pin_keeps_leading_pages_that_are_not_shared)
{
	struct bed bed;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bed_need(&bed, rows[i].layout, NULL);
		expect_unshared(i, "pin", NULL, FOLL_PIN, rows[i].pin);
		expect_unshared(i, "pin in a private mapping", &cow, FOLL_PIN, rows[i].pin);
		expect_unshared(i, "pin in a shared mapping", &shared, FOLL_PIN, rows[i].pin);
		expect_unshared(i, "longterm", NULL, LONGTERM_PIN, rows[i].longterm);
		expect_unshared(i, "longterm, private", &cow, LONGTERM_PIN, rows[i].longterm_cow);
		expect_unshared(i, "longterm, private and writable", &cow_writable, LONGTERM_PIN,
				rows[i].longterm_cow);
		expect_unshared(i, "longterm, shared", &shared, LONGTERM_PIN,
				rows[i].longterm_shared);
		expect_unshared(i, "longterm, never written", &never_written, LONGTERM_PIN,
				rows[i].longterm_ro);
		bed_free(&bed);
	}
}

TEST(who_writes_or_does_not_pin_need_not_ask)
{
	static const unsigned int gups[] = { 0, FOLL_GET, FOLL_GET | FOLL_WRITE,
					     FOLL_PIN | FOLL_WRITE, LONGTERM_PIN | FOLL_WRITE };
	struct bed bed;
	size_t i, g;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bed_need(&bed, rows[i].layout, NULL);
		for (g = 0; g < ARRAY_SIZE(gups); g++) {
			expect_unshared(i, "no question", NULL, gups[g], rows[i].nr);
			expect_unshared(i, "no question, private", &cow, gups[g], rows[i].nr);
		}
		EXPECT_EQ(raw_hooks.count[RAW_EXCLUSIVE], 0, "pages looked at for nothing");
		bed_free(&bed);
	}
}

/*
 * The head's flag is another page's: exclusive there says nothing here, without a virtual memory
 * map either.
 */
TEST(each_page_answers_for_itself_across_memory_sections)
{
	static const struct build_opts scattered = { .section_pages = 4, .no_vmemmap = true };
	struct bed bed;

	bed_need(&bed, "o4@100 ro: 0-9, 10 shared, 11-15", &scattered);
	EXPECT_EQ(ptb_unshared(NULL, bed_folio(0x100), mem_page(0x102), 14, FOLL_PIN), 8, "pages");
	EXPECT_EQ(ptb_unshared(NULL, bed_folio(0x100), mem_page(0x10b), 5, FOLL_PIN), 5, "pages");
	bed_free(&bed);
}
