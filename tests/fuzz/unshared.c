// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which pages of a run a read-only pin may keep, against the question asked page by page. */
#include "fuzz/call.h"

static struct vm_area_struct vmas[] = {
	{ .vm_flags = VM_READ | VM_MAYWRITE },
	{ .vm_flags = VM_READ | VM_WRITE | VM_MAYWRITE },
	{ .vm_flags = VM_READ | VM_WRITE | VM_SHARED | VM_MAYWRITE },
	{ .vm_flags = VM_READ },
};
static const char *const vma_names[] = { "NULL", "&cow", "&cow_writable", "&shared",
					 "&never_written" };

static struct fuzz_words words(void)
{
	struct fuzz_words w = fuzz_tables;

	w.leaves = false;
	w.max_order = 6;
	return w;
}

static struct vm_area_struct *vma_of(const struct fuzz_input *in)
{
	unsigned int n = in->kind % (ARRAY_SIZE(vmas) + 1);

	return n ? &vmas[n - 1] : NULL;
}

struct question {
	const struct layout_folio *f;
	unsigned long pfn;
	unsigned int nr;
};

static struct question question_of(const struct fuzz_input *in, const struct layout *l)
{
	struct question q = {};

	if (!l->nr_folios)
		return q;
	q.f = &l->folios[in->extra[5] % l->nr_folios];
	q.pfn = in->slot & ((1UL << q.f->order) - 1);
	q.nr = 1 + in->nr % ((1UL << q.f->order) - q.pfn);
	q.pfn += q.f->pfn;
	return q;
}

/* Whoever may still write to it, or get a copy of it, would not write to what the pin reads. */
static bool may_keep(const struct question *q, unsigned long pfn, unsigned int gup,
		     const struct vm_area_struct *vma)
{
	bool private = !vma || (!(vma->vm_flags & VM_SHARED) && (vma->vm_flags & VM_MAYWRITE));

	if (!(gup & FOLL_PIN) || (gup & FOLL_WRITE))
		return true;
	if (q->f->kind == FOLIO_ANON)
		return mem_page(pfn)->flags & PG_anon_exclusive;
	if (q->f->kind == FOLIO_HUGETLB)
		return mem_page(q->f->pfn)->flags & PG_anon_exclusive;
	return !(gup & FOLL_LONGTERM) || !private;
}

static void run(const struct fuzz_input *in)
{
	unsigned int gup = fuzz_gup(in->gup), got, want = 0;
	struct fuzz_words w = words();
	struct question q;
	struct bed bed;

	bed_need(&bed, fuzz_text(in, &w), fuzz_opts(in));
	q = question_of(in, &bed.layout);
	if (q.f) {
		while (want < q.nr && may_keep(&q, q.pfn + want, gup, vma_of(in)))
			want++;
		got = ptb_unshared(vma_of(in), bed_folio(q.pfn), mem_page(q.pfn), q.nr, gup);
		if (got != want)
			fuzz_fail("%u pages may be kept, expected %u", got, want);
	}
	bed_free(&bed);
}

static void say_call(const struct fuzz_input *in, struct fuzz_say *s)
{
	struct fuzz_words w = words();
	const char *text = fuzz_text(in, &w);
	struct question q;
	struct layout l;

	bed_parse(text, &l);
	q = question_of(in, &l);
	say(s, "{ \"%s\", 0x%lx, %u }, ptb_unshared(%s, ", text, q.pfn, q.nr,
	    vma_names[in->kind % ARRAY_SIZE(vma_names)]);
	say_gup(s, fuzz_gup(in->gup));
	say(s, ")");
	if (fuzz_opts(in))
		say(s, ", scattered sections of %lu", fuzz_opts(in)->section_pages);
}

FUZZ_TARGET(run, say_call)
