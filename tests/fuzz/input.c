// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Bytes to an input and back. */
#include "fuzz.h"

struct bytes {
	const u8 *p, *end;
};

static u8 take(struct bytes *b)
{
	return b->p < b->end ? *b->p++ : 0;
}

static u16 take16(struct bytes *b)
{
	u16 low = take(b);

	return low | (u16)(take(b) << 8);
}

void fuzz_decode(const u8 *data, size_t size, struct fuzz_input *in)
{
	struct bytes b = { data, data + size };
	unsigned int i;

	*in = (struct fuzz_input){};
	in->format = take(&b);
	in->gup = take(&b);
	in->sections = take(&b);
	in->kind = take(&b);
	in->slot = take16(&b);
	in->nr = take16(&b);
	for (i = 0; i < ARRAY_SIZE(in->script); i++) {
		in->script[i].act = take(&b);
		in->script[i].slot = take(&b);
		in->script[i].first = take(&b);
		in->script[i].later = take(&b);
	}
	for (i = 0; i < sizeof(in->extra); i++)
		in->extra[i] = take(&b);
	while (b.p < b.end && in->nr_rec < FUZZ_RECORDS) {
		struct fuzz_record *r = &in->rec[in->nr_rec++];

		r->type = take(&b);
		r->which = take(&b);
		r->from = take16(&b);
		r->nr = take16(&b);
		r->attrs = take16(&b);
	}
}

static void put16(u8 **p, u16 val)
{
	*(*p)++ = val;
	*(*p)++ = val >> 8;
}

size_t fuzz_encode(const struct fuzz_input *in, u8 data[FUZZ_BYTES])
{
	u8 *p = data;
	unsigned int i;

	*p++ = in->format;
	*p++ = in->gup;
	*p++ = in->sections;
	*p++ = in->kind;
	put16(&p, in->slot);
	put16(&p, in->nr);
	for (i = 0; i < ARRAY_SIZE(in->script); i++) {
		*p++ = in->script[i].act;
		*p++ = in->script[i].slot;
		*p++ = in->script[i].first;
		*p++ = in->script[i].later;
	}
	memcpy(p, in->extra, sizeof(in->extra));
	p += sizeof(in->extra);
	for (i = 0; i < in->nr_rec; i++) {
		const struct fuzz_record *r = &in->rec[i];

		*p++ = r->type;
		*p++ = r->which;
		put16(&p, r->from);
		put16(&p, r->nr);
		put16(&p, r->attrs);
	}
	return p - data;
}
