// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a replay found, for people and for programs. */
#include "tool.h"

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
	printf("%8.2f%7.2f%9.2f%7.2f%7.2f\n", per(r->atomics[0], r->entries),
	       per(r->atomics[1], r->entries), r->ns[0], r->ns[1], r->ratio);
}

static void row_lengths(enum replay_row row, const struct row_result *r)
{
	unsigned int i;

	printf("%-9s%-6s%9s", names[row].walker, names[row].op, "");
	for (i = 0; i < RUN_CLASSES; i++)
		if (r->entries)
			printf("%8.1f%%", 100 * per(r->by_class[i], r->entries));
		else
			printf("%9s", "-");
	printf("\n");
}

void report_table(const struct report *r)
{
	const struct replay_result *res = r->result;
	enum replay_row row;
	unsigned int i;

	printf("%s as %s: %llu pages of %u KiB present, %llu swapped", r->source, r->format,
	       (unsigned long long)res->present, 1U << (r->page_shift - 10),
	       (unsigned long long)res->swapped);
	if (res->windows > 1)
		printf(", %u windows", res->windows);
	printf("\n");
	if (r->write_inferred)
		printf("(which entries are writable is inferred from rights and exclusivity)\n");

	printf("\n%-15s%9s%9s%7s%15s%16s\n", "", "", "", "mean", "atomics/page", "ns/page");
	printf("%-15s%9s%9s%7s%8s%7s%9s%7s%7s\n", "walker", "entries", "runs", "run", "before",
	       "after", "before", "after", "ratio");
	for (row = 0; row < ROW_NR; row++)
		row_cost(row, &res->row[row]);

	printf("\n%-24s", "entries by run length");
	for (i = 0; i < RUN_CLASSES; i++)
		printf("%9s", class_names[i]);
	printf("\n");
	for (row = 0; row < ROW_NR; row++)
		row_lengths(row, &res->row[row]);
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

static void json_row(enum replay_row row, const struct row_result *r)
{
	unsigned int i;

	printf("    {\"walker\": \"%s\", \"op\": \"%s\",\n", names[row].walker, names[row].op);
	printf("     \"entries\": %llu, \"runs\": %llu, \"mean_run\": %.3f,\n",
	       (unsigned long long)r->entries, (unsigned long long)r->runs,
	       per(r->entries, r->runs));
	printf("     \"entries_by_run_length\": {");
	for (i = 0; i < RUN_CLASSES; i++)
		printf("%s\"%s\": %llu", i ? ", " : "", class_names[i],
		       (unsigned long long)r->by_class[i]);
	printf("},\n     \"atomics_per_page\": {\"before\": %.4f, \"after\": %.4f},\n",
	       per(r->atomics[0], r->entries), per(r->atomics[1], r->entries));
	printf("     \"ns_per_page\": {\"before\": %.4f, \"after\": %.4f}, \"ratio\": %.4f}",
	       r->ns[0], r->ns[1], r->ratio);
}

void report_json(const struct report *r)
{
	const struct replay_result *res = r->result;
	enum replay_row row;

	printf("{\n  \"source\": ");
	json_string(r->source);
	printf(",\n  \"format\": \"%s\",\n  \"page_size\": %u,\n", r->format, 1U << r->page_shift);
	printf("  \"present\": %llu,\n  \"swapped\": %llu,\n  \"windows\": %u,\n",
	       (unsigned long long)res->present, (unsigned long long)res->swapped, res->windows);
	printf("  \"write_inferred\": %s,\n  \"agree\": %s,\n  \"walkers\": [\n",
	       r->write_inferred ? "true" : "false", res->disagree[0] ? "false" : "true");
	for (row = 0; row < ROW_NR; row++) {
		json_row(row, &res->row[row]);
		printf("%s\n", row + 1 < ROW_NR ? "," : "");
	}
	printf("  ]\n}\n");
}
