/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Fuzzing. An input is a header and records of fixed size, and any bytes are one: what is missing
 * is zero, what is out of range wraps. Zeros make the plainest input.
 *
 * A target reads the records as a layout, or as what else it works on; the header says how it is
 * called and what the other side does. It runs in every format that is linked in, one at a time.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "attr.h"
#include "layout.h"

enum fuzz_type {
	FUZZ_WHOLE, /* all pages of folio @which, as far as they fit */
	FUZZ_PAGES, /* 1 + @nr pages of folio @which from page @from on */
	FUZZ_FOLIO, /* the next folio */
	FUZZ_HOLE,  /* 1 + @nr entries; @which: of what kind */
	FUZZ_SWAP,  /* 1 + @nr slots of device @which from @from on */
	FUZZ_FRAMES,
	FUZZ_AT,   /* @from slots on; with @nr odd: to some slots before the table's end */
	FUZZ_LEAF, /* folio @which, if it is as large as a leaf */
	FUZZ_TYPES,
};

/*
 * Attributes are what differs from the usual ones of such an entry. Of a folio: @which is its kind;
 * @from the frames left out before it, by 4096 with FUZZ_FAR; @nr its order, FUZZ_PMD_ORDER as
 * large as a table; @attrs flags of layout.h in four bits, references in the rest.
 */
struct fuzz_record {
	u8 type, which;
	u16 from, nr, attrs;
};

#define FUZZ_FAR 0x8000
#define FUZZ_PMD_ORDER 15
/* References of a folio: 0: one; to FUZZ_NEAR_MAX: nearly all there can be; then 0, -1, ... */
#define FUZZ_NEAR_MAX 4000

#define FUZZ_HEADER 24
#define FUZZ_RECORD 8
/* At most two items of a layout each. */
#define FUZZ_RECORDS 30
#define FUZZ_BYTES (FUZZ_HEADER + FUZZ_RECORDS * FUZZ_RECORD)

/* @act: 0: nothing. */
struct fuzz_act {
	u8 act, slot, first, later;
};

struct fuzz_input {
	u8 format, gup, sections, kind;
	u16 slot, nr;
	struct fuzz_act script[2];
	u8 extra[8]; /* each target's own */
	struct fuzz_record rec[FUZZ_RECORDS];
	unsigned int nr_rec;
};

void fuzz_decode(const u8 *data, size_t size, struct fuzz_input *in);
size_t fuzz_encode(const struct fuzz_input *in, u8 data[FUZZ_BYTES]);

/* ---- words ---- */

struct fuzz_say {
	char *at, *end;
};

void say(struct fuzz_say *s, const char *fmt, ...) __printf(2, 3);

/* What a layout may have: of the format, and of the target. */
struct fuzz_words {
	u32 attrs;
	unsigned int pmd_order;
	bool leaves;
	unsigned long ptes, slots; /* in a table, and at most */
	unsigned int max_order;
	unsigned long first_pfn, end_pfn;
	bool one_ref;	  /* every folio has one reference */
	bool folios_only; /* each folio once, whole; nothing else */
};

#define FUZZ_TEXT 8000

/* The layout of an input, as bed_make() takes it. */
void fuzz_layout(const struct fuzz_input *in, const struct fuzz_words *words, char out[FUZZ_TEXT]);
/* The other way round, as far as it goes: slots from @slot on. */
void fuzz_records(const struct layout *l, struct fuzz_input *in);

/* ---- targets ---- */

struct fuzz_target {
	const char *format;
	void (*run)(const struct fuzz_input *in);
	/* The same as a call, on one line. */
	void (*text)(const struct fuzz_input *in, struct fuzz_say *s);
	struct fuzz_target *next;
};

void fuzz_add(struct fuzz_target *target);

/* Small inputs that fail as @data does; returns the size. */
size_t fuzz_minimize(u8 *data, size_t size);
/* Does it fail, and with what words; in a process of its own. */
bool fuzz_fails(const u8 *data, size_t size, char *why, size_t room);
void fuzz_run(const u8 *data, size_t size);

#endif
