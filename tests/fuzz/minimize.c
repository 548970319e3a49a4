// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A failing input made smaller: records left out, then values made zero or halved, for as long as
 * it fails. What it fails with may change on the way.
 */
#include "fuzz.h"

static bool still_fails(const struct fuzz_input *in)
{
	u8 data[FUZZ_BYTES];

	return fuzz_fails(data, fuzz_encode(in, data), NULL, 0);
}

static bool without_record(struct fuzz_input *in, unsigned int at)
{
	struct fuzz_input less = *in;

	less.nr_rec--;
	memmove(&less.rec[at], &less.rec[at + 1], (less.nr_rec - at) * sizeof(less.rec[0]));
	less.rec[less.nr_rec] = (struct fuzz_record){};
	if (!still_fails(&less))
		return false;
	*in = less;
	return true;
}

static bool fewer_records(struct fuzz_input *in)
{
	unsigned int i = in->nr_rec;
	bool any = false;

	while (i--)
		any |= without_record(in, i);
	return any;
}

/* The bits of a byte one by one, the whole of it first. */
static bool plainer_byte(u8 *data, size_t size, size_t at)
{
	u8 was = data[at], bits;

	if (!was)
		return false;
	data[at] = 0;
	if (fuzz_fails(data, size, NULL, 0))
		return true;
	data[at] = was;
	for (bits = 0x80; bits; bits >>= 1) {
		if (!(data[at] & bits))
			continue;
		data[at] &= ~bits;
		if (!fuzz_fails(data, size, NULL, 0))
			data[at] |= bits;
	}
	return data[at] != was;
}

static bool plainer(struct fuzz_input *in)
{
	u8 data[FUZZ_BYTES];
	size_t size = fuzz_encode(in, data), i;
	bool any = false;

	for (i = 0; i < size; i++)
		any |= plainer_byte(data, size, i);
	fuzz_decode(data, size, in);
	return any;
}

size_t fuzz_minimize(u8 *data, size_t size)
{
	struct fuzz_input in;
	unsigned int rounds = 3;
	bool any = true;

	fuzz_decode(data, size, &in);
	if (!still_fails(&in))
		return size;
	while (any && rounds--) {
		any = fewer_records(&in);
		any |= plainer(&in);
	}
	return fuzz_encode(&in, data);
}
