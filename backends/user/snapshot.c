// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Recordings in memory: what makes one valid, and where its folios are. */
#include "snapshot.h"

#include <stdarg.h>

int snapshot_fail(char err[SNAP_ERR_MAX], const char *fmt, ...)
{
	va_list ap;
	char *c;

	va_start(ap, fmt);
	vsnprintf(err, SNAP_ERR_MAX, fmt, ap);
	va_end(ap);
	/* A path may hold a newline or an escape sequence: one line stays one line. */
	for (c = err; *c; c++)
		if ((u8)*c < ' ' || *c == 0x7f)
			*c = '?';
	return -1;
}

void snapshot_free(struct snapshot *s)
{
	free(s->vmas);
	free(s->runs);
	free(s->folios);
	*s = (struct snapshot){ 0 };
}

/* The index of the first folio that ends after @frame; nr_folios if none does. */
static size_t folio_from(const struct snapshot *s, u64 frame)
{
	size_t lo = 0, hi = s->nr_folios;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (snap_folio_end(&s->folios[mid]) > frame)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

const struct snap_folio *snapshot_folio(const struct snapshot *s, u64 frame)
{
	size_t i = folio_from(s, frame);

	if (i == s->nr_folios || s->folios[i].frame > frame)
		return NULL;
	return &s->folios[i];
}

/* Checking: what is wrong, or NULL. */

struct check {
	const struct snapshot *s;
	u8 *mapped; /* per folio */
	u64 entries;
};

static const char *check_totals(const struct snapshot *s)
{
	if (s->page_shift < 12 || s->page_shift > 16)
		return "page size out of range";
	if (s->meta & ~SNAP_ALL_META)
		return "unknown marks";
	if (s->nr_vmas > SNAP_MAX_VMAS || s->nr_runs > SNAP_MAX_RUNS)
		return "too many vmas or runs";
	if (s->nr_folios > SNAP_MAX_FOLIOS)
		return "too many folios";
	if (s->nr_frames > SNAP_MAX_FRAMES || s->nr_frames % SNAP_BLOCK)
		return "number of frames out of range";
	return NULL;
}

static const char *check_folio(const struct snapshot *s, const struct snap_folio *folio, u64 end)
{
	if (folio->kind >= SNAP_NR_KINDS)
		return "unknown kind";
	if (folio->order > SNAP_MAX_ORDER || (folio->kind == SNAP_SPECIAL && folio->order))
		return "order out of range";
	if (folio->frame < end)
		return "not above the folio before";
	if (folio->frame > s->nr_frames || snap_folio_end(folio) > s->nr_frames)
		return "beyond the last frame";
	if (folio->frame & (BIT(folio->order) - 1))
		return "not aligned to its order";
	return NULL;
}

static const char *check_vma(const struct snapshot *s, const struct snap_vma *vma, u64 end, u64 run)
{
	if (vma->kind >= SNAP_NR_KINDS || vma->kind == SNAP_ZERO || (vma->prot & ~SNAP_ALL_PROT))
		return "unknown kind or rights";
	if (vma->page < end)
		return "not above the vma before";
	if (vma->page > SNAP_MAX_PAGE || vma->nr_pages > SNAP_MAX_PAGE - vma->page)
		return "beyond the address space";
	if (vma->pgoff > SNAP_MAX_PGOFF || (vma->pgoff && vma->kind == SNAP_ANON))
		return "file offset out of range";
	if (vma->first_run != run || vma->nr_runs > s->nr_runs - run)
		return "runs out of range";
	return NULL;
}

static const char *check_bits(const struct snap_vma *vma, const struct snap_run *run)
{
	static const u8 may[SNAP_NR_TYPES] = {
		[SNAP_PRESENT] = SNAP_ALL_BITS,
		[SNAP_SWAP] = SNAP_SOFT_DIRTY | SNAP_UFFD_WP,
		[SNAP_OTHER] = SNAP_SOFT_DIRTY | SNAP_UFFD_WP,
	};

	if (run->bits & ~may[run->type])
		return "bits that its type cannot have";
	if (!(run->bits & SNAP_WRITE))
		return NULL;
	if (!(vma->prot & SNAP_PROT_WRITE) || (run->bits & SNAP_UFFD_WP))
		return "writable against the rights of the vma";
	return NULL;
}

/* What a special vma maps need not be in a folio. */
static const char *
check_present(struct check *c, const struct snap_vma *vma, const struct snap_run *run)
{
	bool special = vma->kind == SNAP_SPECIAL;
	u64 at = run->frame, end = at + run->nr;
	size_t i;

	for (i = folio_from(c->s, at); at < end; i++) {
		const struct snap_folio *folio = &c->s->folios[i];
		bool none = i == c->s->nr_folios || folio->frame >= end;

		if (!special && (none || folio->frame > at))
			return "frame in no folio";
		if (none)
			break;
		if (!special && run->level == SNAP_PMD && folio->order < SNAP_MAX_ORDER)
			return "PMD leaf of a folio too small";
		c->mapped[i] = 1;
		at = snap_folio_end(folio);
	}
	return NULL;
}

static const char *
check_frames(struct check *c, const struct snap_vma *vma, const struct snap_run *run)
{
	u64 limit = run->type == SNAP_PRESENT ? c->s->nr_frames : SNAP_MAX_FRAMES;

	if (run->type == SNAP_NONE)
		return run->frame ? "frame of an empty run" : NULL;
	if (run->nr > SNAP_MAX_ENTRIES - c->entries)
		return "too many entries";
	c->entries += run->nr;
	if (run->type == SNAP_OTHER)
		return run->frame ? "frame of a run that has none" : NULL;
	if (run->frame < SNAP_BLOCK || run->frame > limit || run->nr > limit - run->frame)
		return "frame out of range";
	return run->type == SNAP_PRESENT ? check_present(c, vma, run) : NULL;
}

static const char *
check_run(struct check *c, const struct snap_vma *vma, const struct snap_run *run, u64 done)
{
	const char *why;

	if (run->type >= SNAP_NR_TYPES || run->level >= SNAP_NR_LEVELS)
		return "unknown type or level";
	if (!run->nr || run->nr > vma->nr_pages - done)
		return "a run is not inside it";
	if (run->level == SNAP_PMD && run->type != SNAP_PRESENT)
		return "PMD leaf not present";
	if (run->level == SNAP_PMD && ((vma->page + done) | run->nr | run->frame) % SNAP_BLOCK)
		return "PMD leaf not aligned";
	why = check_bits(vma, run);
	return why ? why : check_frames(c, vma, run);
}

static const char *check_runs(struct check *c, const struct snap_vma *vma)
{
	u64 i, done = 0;

	for (i = 0; i < vma->nr_runs; i++) {
		const struct snap_run *run = &c->s->runs[vma->first_run + i];
		const char *why = check_run(c, vma, run, done);

		if (why)
			return why;
		done += run->nr;
	}
	return done == vma->nr_pages ? NULL : "its runs do not cover it";
}

static int check_all_folios(struct check *c, char err[SNAP_ERR_MAX])
{
	u64 end = SNAP_BLOCK;
	size_t i;

	for (i = 0; i < c->s->nr_folios; i++) {
		const char *why = check_folio(c->s, &c->s->folios[i], end);

		if (why)
			return snapshot_fail(err, "damaged recording: folio %zu: %s", i, why);
		end = snap_folio_end(&c->s->folios[i]);
	}
	return 0;
}

static int check_all_vmas(struct check *c, char err[SNAP_ERR_MAX])
{
	u64 end = SNAP_BLOCK, first_run = 0;
	size_t i;

	for (i = 0; i < c->s->nr_vmas; i++) {
		const struct snap_vma *vma = &c->s->vmas[i];
		const char *why = check_vma(c->s, vma, end, first_run);

		if (!why)
			why = check_runs(c, vma);
		if (why)
			return snapshot_fail(err, "damaged recording: vma %zu: %s", i, why);
		end = vma->page + vma->nr_pages;
		first_run += vma->nr_runs;
	}
	if (first_run != c->s->nr_runs)
		return snapshot_fail(err, "damaged recording: runs of no vma");
	for (i = 0; i < c->s->nr_folios; i++)
		if (!c->mapped[i])
			return snapshot_fail(err, "damaged recording: nothing maps folio %zu", i);
	return 0;
}

int snapshot_check(const struct snapshot *s, char err[SNAP_ERR_MAX])
{
	const char *why = check_totals(s);
	struct check c = { .s = s };
	int ret;

	if (why)
		return snapshot_fail(err, "damaged recording: %s", why);
	c.mapped = calloc(s->nr_folios + 1, 1);
	if (!c.mapped)
		return snapshot_fail(err, "out of memory");
	ret = check_all_folios(&c, err);
	if (!ret)
		ret = check_all_vmas(&c, err);
	free(c.mapped);
	return ret;
}
