// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Pages that others have pinned: a tree that grows and shrinks, counted and charged. */
#include "validate/vpfn_model.h"

#include "fuzz/call.h"

#define NODES FUZZ_RECORDS

enum step { ADD, REMOVE, COUNT, CHARGE, STEPS };

static struct {
	ptb_vpfn_root_t root;
	u64 iovas[NODES];
	unsigned int n;
} now;

static enum step step_of(const struct fuzz_record *r)
{
	return r->type % STEPS;
}

/* Around 0, around 2^40, below the top; on a page's start, or 8 bytes into it and on. */
static u64 address(u8 which, u16 page)
{
	u64 iova = (u64)page * PAGE + (which & 12 ? (which & 12) * 2 : 0);

	switch (which % 4) {
	case 1:
		return iova + (1ULL << 40);
	case 2:
		return -(PAGE + (u64)page * PAGE) + (which & 12 ? (which & 12) * 2 : 0);
	default:
		return iova;
	}
}

static void add(u64 iova)
{
	vpfn_add(&now.root, iova);
	now.iovas[now.n++] = iova;
}

static void del(u64 iova)
{
	unsigned int i, kept = 0;

	vpfn_del(&now.root, iova);
	for (i = 0; i < now.n; i++)
		if (now.iovas[i] != iova)
			now.iovas[kept++] = now.iovas[i];
	now.n = kept;
}

static void count(const struct fuzz_record *r)
{
	u64 a = address(r->which, r->from), b = address(r->which >> 4, r->nr);

	/* Also to the last byte of a page, as a run is counted. */
	if (r->attrs & 1)
		b |= PAGE - 1;
	if (a <= b)
		expect_count(&now.root, now.iovas, now.n, a, b);
	else
		expect_count(&now.root, now.iovas, now.n, b, a);
}

struct charge {
	u64 iova, npage, locked, limit;
	bool lock_cap;
};

static struct charge charge_of(const struct fuzz_record *r)
{
	struct charge c = { .iova = address(r->which & ~12, r->from),
			    .npage = 1 + r->nr % 128,
			    .locked = r->attrs & 127,
			    .limit = r->attrs >> 7 & 127,
			    .lock_cap = r->attrs >> 15 };

	/* As large as they can be. */
	if (r->attrs >> 14 & 1) {
		c.limit = ~0ULL;
		c.locked = -c.locked;
	}
	if (c.npage > -c.iova / PAGE && c.iova)
		c.npage = -c.iova / PAGE;
	return c;
}

static void charge(const struct fuzz_record *r)
{
	struct charge c = charge_of(r);
	u64 paid = naive_count(now.iovas, now.n, c.iova, c.iova + (c.npage * PAGE - 1));
	s64 want = c.npage - paid, got;

	if (want && !c.lock_cap && (c.locked > c.limit || (u64)want > c.limit - c.locked))
		want = -ENOMEM;
	got = ptb_vpfn_charge(&now.root, c.iova, c.npage, c.locked, c.limit, c.lock_cap);
	if (got != want)
		fuzz_fail("charged %lld, expected %lld", (long long)got, (long long)want);
}

static void run(const struct fuzz_input *in)
{
	unsigned int i;

	now.n = 0;
	for (i = 0; i < in->nr_rec; i++) {
		const struct fuzz_record *r = &in->rec[i];

		if (step_of(r) == ADD)
			add(address(r->which, r->from));
		else if (step_of(r) == REMOVE)
			del(address(r->which, r->from));
		else if (step_of(r) == COUNT)
			count(r);
		else
			charge(r);
	}
	vpfn_clear(&now.root);
}

static void say_step(const struct fuzz_record *r, struct fuzz_say *s)
{
	struct charge c = charge_of(r);

	switch (step_of(r)) {
	case ADD:
		say(s, "add 0x%llx; ", (unsigned long long)address(r->which, r->from));
		break;
	case REMOVE:
		say(s, "remove 0x%llx; ", (unsigned long long)address(r->which, r->from));
		break;
	case COUNT:
		say(s, "count 0x%llx, 0x%llx; ", (unsigned long long)address(r->which, r->from),
		    (unsigned long long)(address(r->which >> 4, r->nr) |
					 (r->attrs & 1 ? PAGE - 1 : 0)));
		break;
	default:
		say(s, "charge 0x%llx, %llu pages, %llu of %llu locked%s; ",
		    (unsigned long long)c.iova, (unsigned long long)c.npage,
		    (unsigned long long)c.locked, (unsigned long long)c.limit,
		    c.lock_cap ? ", lock_cap" : "");
	}
}

static void say_call(const struct fuzz_input *in, struct fuzz_say *s)
{
	unsigned int i;

	for (i = 0; i < in->nr_rec; i++)
		say_step(&in->rec[i], s);
}

FUZZ_TARGET(run, say_call)
