// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * VFIO's pin and unpin against the reference. Between two calls of the pin engine the process may
 * change its tables, and the engine or the account may fail.
 */
#include "fuzz/call.h"

#define TOP_PAGES(nr) (-((u64)(nr) << PTB_PAGE_SHIFT))

enum happens { NOTHING, ENGINE_FAILS, ACCOUNT_FAILS, ENTRY_GOES, ENTRY_MOVES, HAPPENS_NR };

static unsigned int engine_calls;

static enum happens what_happens(const struct fuzz_act *a)
{
	return a->act % HAPPENS_NR;
}

/* The process unmaps a page, or maps there what is mapped elsewhere. */
static void change_entry(struct mm_struct *mm, const struct fuzz_act *a)
{
	ptb_pte_t *ptep;

	if (!mm->tables[0])
		return;
	ptep = mm_ptep(mm, mm->base + (((unsigned long)a->slot % FMT_PTES) << PTB_PAGE_SHIFT));
	if (ptb_pte_present(*ptep) && ptb_pte_hint(ptep, *ptep) > 1)
		return;
	if (what_happens(a) == ENTRY_GOES)
		pte_set(ptep, fmt_mk(FMT_NONE));
	else
		pte_set(ptep, *mm_ptep(mm, mm->base));
}

static long engine(struct vfio_dma *dma, unsigned long vaddr, unsigned long npage,
		   unsigned long *pfn, struct vfio_batch *batch)
{
	const struct fuzz_act *a = fuzz_now->script;
	unsigned int i;
	long ret = 1;

	engine_calls++;
	for (i = 0; i < ARRAY_SIZE(fuzz_now->script); i++) {
		if (a[i].first != engine_calls)
			continue;
		if (what_happens(&a[i]) == ENGINE_FAILS)
			ret = a[i].later & 1 ? -EINTR : 0;
		else if (what_happens(&a[i]) == ACCOUNT_FAILS)
			dma->acct_error = -ENOMEM;
		else if (what_happens(&a[i]) != NOTHING)
			change_entry(dma->mm, &a[i]);
	}
	if (ret != 1)
		return ret;
	dma->engine = NULL;
	ret = user_vfio_get_pfns(dma, vaddr, npage, pfn, batch);
	dma->engine = engine;
	return ret;
}

static void setup(struct bed *bed)
{
	engine_calls = 0;
	fuzz_setup(bed);
	if (fuzz_now->kind & 1)
		bed->mm.vmas[0].vm_flags |= VM_PFNMAP;
	mem.by_page = fuzz_now->kind & 2;
}

/* extra[5]: capacity and where; extra[6], extra[7]: limit, and pages that others have pinned. */
static struct vfio_case make_case(const struct fuzz_input *in, struct fuzz_window w, int *external)
{
	static const int capacities[] = { 512, 1, 2, 3, 7, 16 };
	struct vfio_case c = { .slot = w.slot,
			       .nr = w.nr,
			       .capacity = capacities[in->extra[5] % ARRAY_SIZE(capacities)],
			       .limit = in->extra[6] ? in->extra[6] - 1 : LONG_MAX,
			       .iova = in->extra[5] & 0x80 ? TOP_PAGES(w.nr) : 0x10000000,
			       .write = in->gup & 2,
			       .lock_cap = in->kind & 4,
			       .keep = in->kind & 8,
			       .cut = in->kind >> 4,
			       .external = external,
			       .engine = engine };
	int n = 0, i;

	for (i = 0; i < 8 && (unsigned long)i < w.nr; i++)
		if (in->extra[7] & BIT(i))
			external[n++] = i;
	external[n] = -1;
	return c;
}

static void run(const struct fuzz_input *in)
{
	const char *text = fuzz_text(in, &fuzz_tables);
	int external[9];
	struct vfio_case c = make_case(in, fuzz_window(in, text), external);

	fuzz_now = in;
	bed_vfio_both(text, fuzz_opts(in), setup, &c, NULL);
}

static void say_acts(const struct fuzz_input *in, struct fuzz_say *s)
{
	static const char *const names[] = { "", "engine fails", "account fails", "entry goes",
					     "entry moves" };
	const struct fuzz_act *a = in->script;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(in->script); i++)
		if (what_happens(&a[i]) != NOTHING)
			say(s, ", %s (%u, %u) at engine call %u", names[what_happens(&a[i])],
			    a[i].slot, a[i].later, a[i].first);
}

static void say_call(const struct fuzz_input *in, struct fuzz_say *s)
{
	const char *text = fuzz_text(in, &fuzz_tables);
	int external[9], i;
	struct vfio_case c = make_case(in, fuzz_window(in, text), external);

	say(s, "bed_vfio_both(\"%s\", { .slot = %lu, .nr = %lu, .limit = %lu, .capacity = %d, ",
	    text, c.slot, c.nr, c.limit, c.capacity);
	say(s, ".iova = 0x%llx, .write = %d, .lock_cap = %d, .keep = %d, .cut = %ld",
	    (unsigned long long)c.iova, c.write, c.lock_cap, c.keep, c.cut);
	for (i = 0; external[i] >= 0; i++)
		say(s, "%s%d", i ? ", " : ", .external = ", external[i]);
	say(s, " }%s%s", in->kind & 1 ? ", pfnmap" : "", in->kind & 2 ? ", by page" : "");
	say_acts(in, s);
	say_setup(s, in);
	say(s, ")");
}

FUZZ_TARGET(run, say_call)
