// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a replay found, for people and for programs. */
#include "tool.h"

#include <unistd.h>

struct row_name {
	const char *walker, *op;
};

static const struct row_name names[ROW_NR] = {
	[ROW_GUP_GET] = { "gup_fast", "get" },	[ROW_GUP_PIN] = { "gup_fast", "pin" },
	[ROW_DAX_GET] = { "dax", "get" },	[ROW_DAX_PIN] = { "dax", "pin" },
	[ROW_MINCORE] = { "mincore", "look" },	[ROW_VFIO_PIN] = { "vfio", "pin" },
	[ROW_VFIO_UNPIN] = { "vfio", "unpin" },
};

static const char *const class_names[RUN_CLASSES] = {
	"1", "2-3", "4-15", "16-63", "64-511", "512+"
};

static const char *const kind_names[NR_KINDS] = { "anon", "file", "shmem", "hugetlb", "swap" };

/* Colour is for a terminal, and for whoever has not said no: no-color.org */
static const char *style(const char *code)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) ? code : "";
}

#define BOLD style("\033[1m")
#define GREEN style("\033[32m")
#define RED style("\033[31m")
#define PLAIN style("\033[m")

static double per(u64 count, u64 entries)
{
	return entries ? (double)count / entries : 0;
}

static void row_cost(enum replay_row row, const struct row_result *r)
{
	printf("%-9s%-6s%9llu%9llu%7.1f", names[row].walker, names[row].op,
	       (unsigned long long)r->entries, (unsigned long long)r->runs,
	       per(r->entries, r->runs));
	if (!r->entries) {
		printf("%8s%7s%9s%7s%7s\n", "-", "-", "-", "-", "-");
		return;
	}
	printf("%8.2f%7.2f%9.2f%7.2f%s%7.2f%s\n", per(r->atomics[0], r->entries),
	       per(r->atomics[1], r->entries), r->ns[0], r->ns[1],
	       r->ratio > 1.5	 ? GREEN
	       : r->ratio < 0.95 ? RED
				 : "",
	       r->ratio, PLAIN);
}

static void lengths(const u64 by_class[RUN_CLASSES], u64 entries)
{
	unsigned int i;

	for (i = 0; i < RUN_CLASSES; i++)
		if (entries)
			printf("%8.1f%%", 100 * per(by_class[i], entries));
		else
			printf("%9s", "-");
	printf("\n");
}

static void length_heading(const char *what)
{
	unsigned int i;

	printf("\n%s%-24s", BOLD, what);
	for (i = 0; i < RUN_CLASSES; i++)
		printf("%9s", class_names[i]);
	printf("%s\n", PLAIN);
}

/* What a walk over all of a kind costs less, and how much of what it cost that is. */
static void saved(const struct row_result *r)
{
	double before = r->ns[0] * r->entries, after = r->ns[1] * r->entries;

	if (!r->entries)
		printf("%16s", "-");
	else
		printf("%9.0f%6.0f%%", (before - after) / 1000, 100 * (before - after) / before);
}

static void kind_tables(const struct kind_result *kinds)
{
	static const enum replay_row rows[] = { ROW_GUP_GET, ROW_GUP_PIN, ROW_MINCORE,
						ROW_VFIO_PIN };
	unsigned int kind, i;

	length_heading("batched already   pages");
	for (kind = 0; kind < NR_KINDS; kind++) {
		printf("%-15s%9llu", kind_names[kind], (unsigned long long)kinds[kind].pages);
		lengths(kinds[kind].by_class, kinds[kind].pages);
	}

	printf("\n%s%-15s%16s%16s%16s%16s%s\n", BOLD, "saved, us", "gup_fast get", "gup_fast pin",
	       "mincore", "vfio pin", PLAIN);
	for (kind = 0; kind < KIND_SWAP; kind++) {
		printf("%-15s", kind_names[kind]);
		for (i = 0; i < ARRAY_SIZE(rows); i++)
			saved(&kinds[kind].row[rows[i]]);
		printf("\n");
	}
}

static void heading(const struct report *r)
{
	const struct replay_result *res = r->result;

	printf("%s%s as %s: %llu pages of %u KiB present, %llu swapped", BOLD, r->source, r->format,
	       (unsigned long long)res->present, 1U << (r->page_shift - 10),
	       (unsigned long long)res->swapped);
	if (res->windows > 1)
		printf(", %u windows", res->windows);
	printf("%s\n", PLAIN);
	if (r->note)
		printf("(%s)\n", r->note);
}

void report_table(const struct report *r)
{
	const struct replay_result *res = r->result;
	enum replay_row row;

	heading(r);
	printf("\n%s%-15s%9s%9s%7s%15s%16s\n", BOLD, "", "", "", "mean", "atomics/page", "ns/page");
	printf("%-15s%9s%9s%7s%8s%7s%9s%7s%7s%s\n", "walker", "entries", "runs", "run", "before",
	       "after", "before", "after", "ratio", PLAIN);
	for (row = 0; row < ROW_NR; row++)
		row_cost(row, &res->row[row]);

	length_heading("entries by run length");
	for (row = 0; row < ROW_NR; row++) {
		printf("%-9s%-6s%9s", names[row].walker, names[row].op, "");
		lengths(res->row[row].by_class, res->row[row].entries);
	}
	if (r->kinds)
		kind_tables(r->kinds);
}

/* A source is a file name: quotes, backslashes and control characters must not break the string. */
static void json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void json_lengths(const u64 by_class[RUN_CLASSES])
{
	unsigned int i;

	printf("\"entries_by_run_length\": {");
	for (i = 0; i < RUN_CLASSES; i++)
		printf("%s\"%s\": %llu", i ? ", " : "", class_names[i],
		       (unsigned long long)by_class[i]);
	printf("}");
}

static void json_rows(const struct row_result rows[ROW_NR])
{
	enum replay_row row;

	printf("\"walkers\": [\n");
	for (row = 0; row < ROW_NR; row++) {
		const struct row_result *r = &rows[row];

		printf("    {\"walker\": \"%s\", \"op\": \"%s\",\n", names[row].walker,
		       names[row].op);
		printf("     \"entries\": %llu, \"runs\": %llu, \"mean_run\": %.3f,\n     ",
		       (unsigned long long)r->entries, (unsigned long long)r->runs,
		       per(r->entries, r->runs));
		json_lengths(r->by_class);
		printf(",\n     \"atomics_per_page\": {\"before\": %.4f, \"after\": %.4f},\n",
		       per(r->atomics[0], r->entries), per(r->atomics[1], r->entries));
		printf("     \"ns_per_page\": {\"before\": %.4f, \"after\": %.4f},\n", r->ns[0],
		       r->ns[1]);
		printf("     \"ratio\": %.4f}%s\n", r->ratio, row + 1 < ROW_NR ? "," : "");
	}
	printf("  ]");
}

static void json_kinds(const struct kind_result *kinds)
{
	unsigned int kind;

	printf(",\n  \"kinds\": {\n");
	for (kind = 0; kind < NR_KINDS; kind++) {
		printf("  \"%s\": {\"pages\": %llu, ", kind_names[kind],
		       (unsigned long long)kinds[kind].pages);
		json_lengths(kinds[kind].by_class);
		if (kind != KIND_SWAP) {
			printf(",\n  ");
			json_rows(kinds[kind].row);
		}
		printf("}%s\n", kind + 1 < NR_KINDS ? "," : "");
	}
	printf("  }");
}

void report_json(const struct report *r)
{
	const struct replay_result *res = r->result;

	printf("{\n  \"source\": ");
	json_string(r->source);
	printf(",\n  \"note\": ");
	json_string(r->note ? r->note : "");
	printf(",\n  \"format\": \"%s\",\n  \"page_size\": %u,\n", r->format, 1U << r->page_shift);
	printf("  \"present\": %llu,\n  \"swapped\": %llu,\n  \"windows\": %u,\n",
	       (unsigned long long)res->present, (unsigned long long)res->swapped, res->windows);
	printf("  \"agree\": %s,\n  ", res->disagree[0] ? "false" : "true");
	json_rows(res->row);
	if (r->kinds)
		json_kinds(r->kinds);
	printf("\n}\n");
}
