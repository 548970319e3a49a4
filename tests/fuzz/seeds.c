// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * usage: seeds DIRECTORY RECORDING... <SOURCE
 *
 * Inputs to begin with: every string in preprocessed C that is a layout, and pieces of recordings.
 * Each in some ways of calling, and one format after the other.
 */
#include "bed.h"

#include "fuzz/fuzz.h"
#include "snapshot.h"

#include <ctype.h>

static const char *dir;
static unsigned int nr_written, nr_layouts;

void fuzz_fail(const char *fmt, ...)
{
	fprintf(stderr, "seeds: %s\n", fmt);
	exit(1);
}

static void write_input(const struct fuzz_input *in)
{
	u8 data[FUZZ_BYTES];
	size_t size = fuzz_encode(in, data);
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%04u", dir, nr_written++);
	f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* Left alone from the first entry to the last; with the other side; and in other ways. */
static void write_layout(const struct layout *l)
{
	struct fuzz_input in = { .format = nr_layouts, .gup = 1 };
	unsigned int n = nr_layouts++;

	fuzz_records(l, &in);
	in.nr = l->nr_slots ? l->nr_slots - 1 : 0;
	write_input(&in);
	in.gup = n % 8;
	in.kind = n;
	in.extra[5] = n * 7;
	in.script[0] = (struct fuzz_act){ 1 + n % 11, n % 8, n % 23, n % 5 };
	write_input(&in);
	in.script[0].act = 0;
	in.sections = n;
	in.extra[0] = n % 5;
	write_input(&in);
}

/* ---- strings ---- */

static int skip_space(int c)
{
	for (;;) {
		while (isspace(c))
			c = getchar();
		/* a line of the preprocessor's */
		if (c != '#')
			return c;
		while (c != '\n' && c != EOF)
			c = getchar();
	}
}

/* Strings that follow each other are one. Returns what comes behind. */
static int get_string(char *text, size_t room)
{
	size_t n = 0;
	int c = '"';

	while (c == '"') {
		for (c = getchar(); c != '"' && c != EOF; c = getchar()) {
			if (c == '\\')
				c = getchar();
			if (n + 1 < room)
				text[n++] = c;
		}
		c = skip_space(getchar());
	}
	text[n] = 0;
	return c;
}

static void strings(void)
{
	char text[4096], err[LAYOUT_ERR_MAX];
	struct layout l;
	int c = getchar();

	while (c != EOF) {
		if (c == '\'') {
			while ((c = getchar()) != '\'' && c != EOF)
				if (c == '\\')
					getchar();
		}
		if (c != '"') {
			c = getchar();
			continue;
		}
		c = get_string(text, sizeof(text));
		if (!layout_parse(bed_text(text), &l, err))
			write_layout(&l);
	}
}

/* ---- recordings ---- */

#define PIECE_RUNS 10
#define PIECES 40

static bool add_item(struct layout *l, const struct layout_item *item)
{
	if (l->nr_items == LAYOUT_MAX)
		return false;
	l->items[l->nr_items++] = *item;
	l->nr_slots += item->nr;
	return true;
}

static bool add_folio(struct layout *l, const struct snap_folio *f)
{
	static const enum folio_kind kinds[SNAP_NR_KINDS] = { FOLIO_ANON,  FOLIO_FILE,
							      FOLIO_SHMEM, FOLIO_HUGETLB,
							      FOLIO_ZERO,  FOLIO_TRUNCATED };
	unsigned int i;

	for (i = 0; i < l->nr_folios; i++)
		if (l->folios[i].pfn == f->frame)
			return true;
	if (l->nr_folios == LAYOUT_MAX)
		return false;
	l->folios[l->nr_folios++] = (struct layout_folio){
		.pfn = f->frame, .order = f->order, .kind = kinds[f->kind], .refs = 1
	};
	return true;
}

static bool add_present(struct layout *l, const struct snapshot *s, const struct snap_run *run)
{
	u64 frame = run->frame, end = run->frame + (run->nr < 1024 ? run->nr : 1024);

	while (frame < end) {
		const struct snap_folio *f = snapshot_folio(s, frame);
		struct layout_item item = { .type = ITEM_PAGES, .pfn = frame, .attrs = A_YOUNG };

		if (!f || !add_folio(l, f))
			return false;
		item.nr = (snap_folio_end(f) < end ? snap_folio_end(f) : end) - frame;
		item.level = run->level == SNAP_PMD ? LEVEL_PMD : LEVEL_PTE;
		item.attrs |= run->bits & SNAP_WRITE ? A_WRITE : 0;
		item.attrs |= run->bits & SNAP_SOFT_DIRTY ? A_SOFT_DIRTY : 0;
		item.attrs |= run->bits & SNAP_EXCLUSIVE ? A_EXCLUSIVE : 0;
		item.attrs |= f->order >= 4 && item.level == LEVEL_PTE ? A_CONT : 0;
		if (!add_item(l, &item))
			return false;
		frame += item.nr;
	}
	return true;
}

static bool add_run(struct layout *l, const struct snapshot *s, const struct snap_run *run)
{
	struct layout_item item = { .type = ITEM_NONE, .nr = run->nr < 60 ? run->nr : 60 };

	switch (run->type) {
	case SNAP_PRESENT:
		return add_present(l, s, run);
	case SNAP_SWAP:
		item.type = ITEM_SWAP;
		item.pfn = run->frame & 0xffff;
		break;
	case SNAP_OTHER:
		item.type = ITEM_OTHER;
		item.swap_type = SWP_MIGRATION_READ;
		break;
	}
	return add_item(l, &item);
}

static void pieces(const char *path)
{
	size_t at, step, i;
	char err[SNAP_ERR_MAX];
	struct snapshot s;

	if (snapshot_load(path, &s, err)) {
		fprintf(stderr, "seeds: %s\n", err);
		exit(1);
	}
	step = s.nr_runs / PIECES + 1;
	for (at = 0; at < s.nr_runs; at += step) {
		struct layout l = {};

		for (i = at; i < s.nr_runs && i < at + PIECE_RUNS; i++)
			if (!add_run(&l, &s, &s.runs[i]))
				break;
		write_layout(&l);
	}
	snapshot_free(&s);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2) {
		fputs("usage: seeds DIRECTORY RECORDING... <SOURCE\n", stderr);
		return 2;
	}
	dir = argv[1];
	strings();
	for (i = 2; i < argc; i++)
		pieces(argv[i]);
	printf("%u layouts, %u seeds\n", nr_layouts, nr_written);
	return 0;
}
