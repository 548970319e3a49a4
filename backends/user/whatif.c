// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The same memory, had it come in larger folios. */
#include "whatif.h"

struct whatif {
	const struct snapshot *s;
	struct snapshot *out;
	unsigned int order;
	u64 moved;
	size_t max_runs, max_folios;
};

/* Where a walk over the runs of a vma stands. */
struct place {
	size_t run;
	u64 in_run;
};

static bool room(void *array, size_t nr, size_t *max, size_t size)
{
	void *old, *more;

	if (nr < *max)
		return true;
	*max = *max ? 2 * *max : 1024;
	memcpy(&old, array, sizeof(old));
	more = reallocarray(old, *max, size);
	if (more)
		memcpy(array, &more, sizeof(more));
	return more;
}

static bool put_folio(struct whatif *w, const struct snap_folio *folio)
{
	if (!room(&w->out->folios, w->out->nr_folios, &w->max_folios, sizeof(*folio)))
		return false;
	w->out->folios[w->out->nr_folios++] = *folio;
	return true;
}

static bool put_run(struct whatif *w, const struct snap_run *run)
{
	if (!room(&w->out->runs, w->out->nr_runs, &w->max_runs, sizeof(*run)))
		return false;
	w->out->runs[w->out->nr_runs++] = *run;
	return true;
}

/* Part of the run at a place, and the place behind it. */
static struct snap_run take(const struct whatif *w, struct place *at, u64 nr)
{
	struct snap_run part = w->s->runs[at->run];

	if (part.type == SNAP_PRESENT || part.type == SNAP_SWAP)
		part.frame += at->in_run;
	part.nr -= at->in_run;
	if (part.nr > nr) {
		part.nr = nr;
		at->in_run += nr;
	} else {
		at->run++;
		at->in_run = 0;
	}
	return part;
}

/* Memory that the kernel allocates as it likes: not hugetlb's, nobody's zero page, no device. */
static bool may_move(const struct whatif *w, u64 frame)
{
	const struct snap_folio *folio = snapshot_folio(w->s, frame);

	return folio && folio->order < w->order &&
	       (folio->kind == SNAP_ANON || folio->kind == SNAP_FILE || folio->kind == SNAP_SHMEM);
}

/* Is the block from @at on present throughout, with one set of rights, and movable. */
static bool whole_block(const struct whatif *w, struct place at)
{
	u8 bits = w->s->runs[at.run].bits, kind;
	u64 left = 1ULL << w->order;
	const struct snap_folio *folio;

	folio = snapshot_folio(w->s, w->s->runs[at.run].frame + at.in_run);
	kind = folio ? folio->kind : SNAP_SPECIAL;
	while (left) {
		struct snap_run part = take(w, &at, left);
		u64 i;

		if (part.type != SNAP_PRESENT || part.level != SNAP_PTE || part.bits != bits)
			return false;
		for (i = 0; i < part.nr; i++)
			if (!may_move(w, part.frame + i) ||
			    snapshot_folio(w->s, part.frame + i)->kind != kind)
				return false;
		left -= part.nr;
	}
	return true;
}

static bool move_block(struct whatif *w, struct place *at)
{
	const struct snap_run *first = &w->s->runs[at->run];
	u64 nr = 1ULL << w->order, left = nr;
	struct snap_folio folio = { .frame = w->out->nr_frames, .order = w->order };
	struct snap_run run = {
		.nr = nr, .frame = folio.frame, .type = SNAP_PRESENT, .bits = first->bits
	};

	folio.kind = snapshot_folio(w->s, first->frame + at->in_run)->kind;
	if (nr >= SNAP_BLOCK)
		run.level = SNAP_PMD;
	/* A block of frames between two folios, so that new neighbours are no accident. */
	w->out->nr_frames += nr > SNAP_BLOCK / 2 ? nr : 2 * nr;
	w->moved += nr;
	while (left)
		left -= take(w, at, left).nr;
	return put_folio(w, &folio) && put_run(w, &run);
}

static bool do_vma(struct whatif *w, const struct snap_vma *vma, struct snap_vma *to)
{
	u64 page = vma->page, end = vma->page + vma->nr_pages, block = 1ULL << w->order;
	struct place at = { .run = vma->first_run };

	*to = *vma;
	to->first_run = w->out->nr_runs;
	while (page < end) {
		u64 next = (page / block + 1) * block;
		struct snap_run part;

		if (page % block == 0 && next <= end && w->s->runs[at.run].type == SNAP_PRESENT &&
		    whole_block(w, at)) {
			if (!move_block(w, &at))
				return false;
			page = next;
			continue;
		}
		/* A hole is passed in one step, and so is what leaves map already. */
		if (w->s->runs[at.run].type == SNAP_NONE || w->s->runs[at.run].level == SNAP_PMD ||
		    next > end)
			next = end;
		part = take(w, &at, next - page);
		if (!put_run(w, &part))
			return false;
		page += part.nr;
	}
	to->nr_runs = w->out->nr_runs - to->first_run;
	return true;
}

int snapshot_what_if(const struct snapshot *s, unsigned int order, struct snapshot *out, u64 *moved)
{
	struct whatif w = { .s = s, .out = out, .order = order };
	size_t i;

	*out = (struct snapshot){ .nr_frames = s->nr_frames,
				  .page_shift = s->page_shift,
				  .meta = s->meta };
	out->vmas = calloc(s->nr_vmas + 1, sizeof(*out->vmas));
	if (!out->vmas)
		return -1;
	out->nr_vmas = s->nr_vmas;
	for (i = 0; i < s->nr_folios; i++)
		if (!put_folio(&w, &s->folios[i]))
			goto fail;
	for (i = 0; i < s->nr_vmas; i++)
		if (!do_vma(&w, &s->vmas[i], &out->vmas[i]))
			goto fail;
	out->nr_frames = (out->nr_frames + SNAP_BLOCK - 1) / SNAP_BLOCK * SNAP_BLOCK;
	*moved = w.moved;
	return 0;
fail:
	snapshot_free(out);
	return -1;
}
