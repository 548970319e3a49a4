// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Recordings in files. What makes one valid is in snapshot.c. Reader and writer stand together,
 * number by number the same, which is why this is a long file.
 *
 * A file is
 *
 *	6 bytes		89 50 54 42 0d 0a; the first and last show a transfer in text mode
 *	1 byte		version: 1
 *	1 byte		flags: 0
 *	to the end	one zstd frame (RFC 8878) with content size and checksum
 *
 * In the frame a number is LEB128: seven bits a byte, low bits first, in its shortest form. A
 * signed difference is zigzag: 0, -1, 1, -2, ... are 0, 1, 2, 3, ... A byte is a byte.
 *
 *	byte page_shift, byte meta, nr_vmas, nr_folios, nr_runs, nr_frames / 512
 *	per folio	(frame - end of the folio before) << 1, plus 1 if its kind and order are as
 *			in the folio before; if they are not: byte kind << 5 | order
 *	per vma		page - end of the vma before, nr_pages, byte prot << 4 | kind, pgoff,
 *			nr_runs
 *	per run		byte bits << 3 | level << 2 | type; nr (of a PMD run: nr / 512);
 *			if present or swap: frame - end of the last run of that type, signed
 *
 * What comes before the first is: a folio of kind 0 and order 0 that ends at 512, a vma and a run
 * that end at 512. The runs are in the order of the vmas. Nothing follows the last run.
 *
 * A reader allocates by a count only after it has seen that the bytes left can hold that many and
 * that it is below its limit in snapshot.h. All else that may be relied on is in snapshot_check().
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "whole_file.h"

#include <zstd.h>
#include <zstd_errors.h>

#define VERSION 1
#define HEADER_LEN 8

/* More bytes than the numbers of a valid recording can take. */
#define PAYLOAD_BOUND(vmas, folios, runs) (32 + 32 * (vmas) + 8 * (folios) + 16 * (runs))
#define MAX_PAYLOAD PAYLOAD_BOUND(SNAP_MAX_VMAS, SNAP_MAX_FOLIOS, SNAP_MAX_RUNS)

/* A block of 128 KiB takes four bytes at least. */
#define ZSTD_BEST_RATIO 32768

static const u8 magic[6] = { 0x89, 'P', 'T', 'B', '\r', '\n' };

/* Loading */

struct in {
	const u8 *p, *end;
	bool bad;
};

static u8 get_byte(struct in *in)
{
	if (in->p == in->end) {
		in->bad = true;
		return 0;
	}
	return *in->p++;
}

/* Anything above @max is as bad as a number cut short or not in its shortest form. */
static u64 get(struct in *in, u64 max)
{
	unsigned int shift;
	u64 v = 0;

	for (shift = 0; shift < 64; shift += 7) {
		u8 b = get_byte(in);

		if (shift == 63 && b > 1)
			break;
		v |= (u64)(b & 0x7f) << shift;
		if (b & 0x80)
			continue;
		if (v > max || (!b && shift))
			break;
		return v;
	}
	in->bad = true;
	return 0;
}

static s64 get_signed(struct in *in)
{
	u64 v = get(in, UINT64_MAX);

	return (s64)(v >> 1) ^ -(s64)(v & 1);
}

static bool get_folios(struct in *in, struct snapshot *s)
{
	u8 order = 0, kind = SNAP_ANON;
	u64 end = SNAP_BLOCK;
	size_t i;

	for (i = 0; i < s->nr_folios && !in->bad; i++) {
		u64 v = get(in, 2 * SNAP_MAX_FRAMES);

		if (!(v & 1)) {
			u8 b = get_byte(in);

			order = b & 31;
			kind = b >> 5;
		}
		s->folios[i].frame = end + (v >> 1);
		s->folios[i].order = order;
		s->folios[i].kind = kind;
		end = snap_folio_end(&s->folios[i]);
	}
	return !in->bad;
}

static bool get_vmas(struct in *in, struct snapshot *s)
{
	u64 end = SNAP_BLOCK, first_run = 0;
	size_t i;

	for (i = 0; i < s->nr_vmas && !in->bad; i++) {
		struct snap_vma *vma = &s->vmas[i];
		u8 b;

		vma->page = end + get(in, SNAP_MAX_PAGE);
		vma->nr_pages = get(in, SNAP_MAX_PAGE);
		b = get_byte(in);
		vma->kind = b & 15;
		vma->prot = b >> 4;
		vma->pgoff = get(in, SNAP_MAX_PGOFF);
		vma->first_run = first_run;
		vma->nr_runs = get(in, s->nr_runs);
		first_run += vma->nr_runs;
		end = vma->page + vma->nr_pages;
	}
	return !in->bad;
}

static bool get_runs(struct in *in, struct snapshot *s)
{
	u64 next[SNAP_NR_TYPES] = { [SNAP_PRESENT] = SNAP_BLOCK, [SNAP_SWAP] = SNAP_BLOCK };
	size_t i;

	for (i = 0; i < s->nr_runs && !in->bad; i++) {
		struct snap_run *run = &s->runs[i];
		u8 b = get_byte(in);

		run->type = b & 3;
		run->level = b >> 2 & 1;
		run->bits = b >> 3;
		run->nr = get(in, SNAP_MAX_PAGE);
		if (run->level == SNAP_PMD)
			run->nr *= SNAP_BLOCK;
		if (!next[run->type])
			continue;
		run->frame = next[run->type] + (u64)get_signed(in);
		if (run->frame > SNAP_MAX_FRAMES)
			in->bad = true;
		next[run->type] = run->frame + run->nr;
	}
	return !in->bad;
}

static int get_all(struct in *in, struct snapshot *s, char err[SNAP_ERR_MAX])
{
	size_t least;

	s->page_shift = get_byte(in);
	s->meta = get_byte(in);
	s->nr_vmas = get(in, SNAP_MAX_VMAS);
	s->nr_folios = get(in, SNAP_MAX_FOLIOS);
	s->nr_runs = get(in, SNAP_MAX_RUNS);
	s->nr_frames = get(in, SNAP_MAX_FRAMES / SNAP_BLOCK) * SNAP_BLOCK;
	/* A folio takes a byte at least, a vma five, a run two. */
	least = s->nr_folios + 5 * s->nr_vmas + 2 * s->nr_runs;
	if (in->bad || least > (size_t)(in->end - in->p))
		return snapshot_fail(err, "damaged recording: impossible counts");
	s->folios = calloc(s->nr_folios + 1, sizeof(*s->folios));
	s->vmas = calloc(s->nr_vmas + 1, sizeof(*s->vmas));
	s->runs = calloc(s->nr_runs + 1, sizeof(*s->runs));
	if (!s->folios || !s->vmas || !s->runs)
		return snapshot_fail(err, "out of memory");
	if (!get_folios(in, s) || !get_vmas(in, s) || !get_runs(in, s))
		return snapshot_fail(err, "damaged recording: a number is out of range");
	if (in->p != in->end)
		return snapshot_fail(err, "damaged recording: something follows its end");
	return snapshot_check(s, err);
}

/* The size of the content, or 0 with the reason in err. */
static size_t content_size(const u8 *frame, size_t len, char err[SNAP_ERR_MAX])
{
	unsigned long long size = ZSTD_getFrameContentSize(frame, len);
	size_t used = ZSTD_findFrameCompressedSize(frame, len);

	snapshot_fail(err, "damaged recording: not what was compressed");
	if (ZSTD_isError(used)) {
		if (ZSTD_getErrorCode(used) == ZSTD_error_srcSize_wrong)
			snapshot_fail(err, "cut short: copy or record it again");
		return 0;
	}
	/* The frame's descriptor: a checksum there must be, and the spare bits are 0. */
	if (used != len || (frame[4] & 0x1c) != 0x04)
		return 0;
	if (size > MAX_PAYLOAD || size / ZSTD_BEST_RATIO > len) {
		snapshot_fail(err, "damaged recording: claims an impossible size");
		return 0;
	}
	return size;
}

static int load_frame(const u8 *frame, size_t len, struct snapshot *s, char err[SNAP_ERR_MAX])
{
	size_t size = content_size(frame, len, err);
	struct in in;
	u8 *buf;
	int ret;

	if (!size)
		return -1;
	buf = malloc(size);
	if (!buf)
		return snapshot_fail(err, "out of memory");
	if (ZSTD_decompress(buf, size, frame, len) == size) {
		in = (struct in){ .p = buf, .end = buf + size };
		ret = get_all(&in, s, err);
	} else {
		ret = snapshot_fail(err, "damaged recording: its checksum does not match");
	}
	free(buf);
	return ret;
}

int snapshot_load_mem(const void *data, size_t len, struct snapshot *s, char err[SNAP_ERR_MAX])
{
	const u8 *p = data;
	int ret;

	*s = (struct snapshot){ 0 };
	if (!len || memcmp(p, magic, len < sizeof(magic) ? len : sizeof(magic)))
		return snapshot_fail(err, "not a ptebatch recording");
	if (len > sizeof(magic) && p[6] > VERSION)
		return snapshot_fail(err,
				     "recording of version %u, newer than the %u known here: "
				     "use a newer ptebatch",
				     p[6], VERSION);
	if (len <= HEADER_LEN)
		return snapshot_fail(err, "cut short: copy or record it again");
	if (p[6] != VERSION || p[7])
		return snapshot_fail(err, "damaged recording: unknown header");
	ret = load_frame(p + HEADER_LEN, len - HEADER_LEN, s, err);
	if (ret)
		snapshot_free(s);
	return ret;
}

/* The whole of a file, which may be a pipe; NULL with the reason in err. */
static u8 *read_all(FILE *f, const char *path, size_t *len, char err[SNAP_ERR_MAX])
{
	size_t room = 0;
	u8 *buf = NULL;

	*len = 0;
	do {
		u8 *more;

		room = room ? 2 * room : BIT(16);
		more = room <= MAX_PAYLOAD ? realloc(buf, room) : NULL;
		if (!more) {
			snapshot_fail(err, "%.100s: too large for a recording", path);
			goto out;
		}
		buf = more;
		*len += fread(buf + *len, 1, room - *len, f);
	} while (*len == room);
	if (!ferror(f))
		return buf;
	snapshot_fail(err, "cannot read %.100s: %s", path, strerror(errno));
out:
	free(buf);
	return NULL;
}

int snapshot_load(const char *path, struct snapshot *s, char err[SNAP_ERR_MAX])
{
	FILE *f = fopen(path, "re");
	char why[SNAP_ERR_MAX];
	size_t len;
	u8 *buf;
	int ret;

	*s = (struct snapshot){ 0 };
	if (!f)
		return snapshot_fail(err, "cannot open %.100s: %s", path, strerror(errno));
	buf = read_all(f, path, &len, err);
	fclose(f);
	if (!buf)
		return -1;
	ret = snapshot_load_mem(buf, len, s, why);
	if (ret)
		snapshot_fail(err, "%.80s: %s", path, why);
	free(buf);
	return ret;
}

/* Saving */

static void put(u8 **p, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		*(*p)++ = (u8)v | 0x80;
	*(*p)++ = (u8)v;
}

static void put_signed(u8 **p, s64 v)
{
	put(p, v < 0 ? ~((u64)v << 1) : (u64)v << 1);
}

static void put_folios(u8 **p, const struct snapshot *s)
{
	static const struct snap_folio before = { .frame = SNAP_BLOCK - 1 };
	const struct snap_folio *last = &before;
	size_t i;

	for (i = 0; i < s->nr_folios; i++) {
		const struct snap_folio *folio = &s->folios[i];
		bool same = folio->kind == last->kind && folio->order == last->order;

		put(p, (folio->frame - snap_folio_end(last)) << 1 | same);
		if (!same)
			*(*p)++ = (u8)(folio->kind << 5 | folio->order);
		last = folio;
	}
}

static void put_vmas(u8 **p, const struct snapshot *s)
{
	u64 end = SNAP_BLOCK;
	size_t i;

	for (i = 0; i < s->nr_vmas; i++) {
		const struct snap_vma *vma = &s->vmas[i];

		put(p, vma->page - end);
		put(p, vma->nr_pages);
		*(*p)++ = (u8)(vma->prot << 4 | vma->kind);
		put(p, vma->pgoff);
		put(p, vma->nr_runs);
		end = vma->page + vma->nr_pages;
	}
}

static void put_runs(u8 **p, const struct snapshot *s)
{
	u64 next[SNAP_NR_TYPES] = { [SNAP_PRESENT] = SNAP_BLOCK, [SNAP_SWAP] = SNAP_BLOCK };
	size_t i;

	for (i = 0; i < s->nr_runs; i++) {
		const struct snap_run *run = &s->runs[i];

		*(*p)++ = (u8)(run->bits << 3 | run->level << 2 | run->type);
		put(p, run->level == SNAP_PMD ? run->nr / SNAP_BLOCK : run->nr);
		if (!next[run->type])
			continue;
		put_signed(p, (s64)(run->frame - next[run->type]));
		next[run->type] = run->frame + run->nr;
	}
}

static size_t put_all(u8 *buf, const struct snapshot *s)
{
	u8 *p = buf;

	*p++ = s->page_shift;
	*p++ = s->meta;
	put(&p, s->nr_vmas);
	put(&p, s->nr_folios);
	put(&p, s->nr_runs);
	put(&p, s->nr_frames / SNAP_BLOCK);
	put_folios(&p, s);
	put_vmas(&p, s);
	put_runs(&p, s);
	return (size_t)(p - buf);
}

/* The bytes of the file; NULL if memory is out. */
static u8 *encode(const struct snapshot *s, size_t *len)
{
	u8 *raw = malloc(PAYLOAD_BOUND(s->nr_vmas, s->nr_folios, s->nr_runs));
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	u8 *file = NULL;
	size_t n;

	if (!raw || !ctx)
		goto out;
	n = put_all(raw, s);
	file = malloc(HEADER_LEN + ZSTD_compressBound(n));
	if (!file)
		goto out;
	memcpy(file, magic, sizeof(magic));
	file[6] = VERSION;
	file[7] = 0;
	/* The best level takes a second for every megabyte or two. */
	ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, n < BIT(22) ? 19 : 6);
	ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(ctx, file + HEADER_LEN, ZSTD_compressBound(n), raw, n);
	*len = HEADER_LEN + n;
	if (ZSTD_isError(n)) {
		free(file);
		file = NULL;
	}
out:
	ZSTD_freeCCtx(ctx);
	free(raw);
	return file;
}

int snapshot_save(const struct snapshot *s, const char *path, char err[SNAP_ERR_MAX])
{
	size_t len;
	u8 *file;
	int ret;

	if (whole_file_may_write(path, err) || snapshot_check(s, err))
		return -1;
	file = encode(s, &len);
	if (!file)
		return snapshot_fail(err, "out of memory");
	ret = whole_file_write(path, file, len, err);
	free(file);
	return ret;
}
