// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What the benchmark measured, for people and for programs. */
#include "bench_table.h"

/* Three decimals, and of small numbers three digits. */
static void put_ns(FILE *f, double ns)
{
	double scaled = ns * 1000;
	int decimals = 3;

	if (ns < 0) {
		fputc('-', f);
		return;
	}
	for (; scaled > 0 && scaled < 100 && decimals < 12; scaled *= 10)
		decimals++;
	fprintf(f, "%.*f", decimals, ns);
}

/* ---- a table, 80 columns wide ---- */

void bench_heading(void)
{
	printf("%-35s%9s%9s%9s\n", "ns/page", "per", "compare", "seed");
	printf("%-9s%-12s%7s %-6s%9s%9s%9s%9s%9s\n", "walker", "layout", "order", "op", "entry",
	       "each", "shape", "ptebatch", "limit");
}

void bench_line(const struct bench_result *r)
{
	unsigned int i;

	printf("%-9s%-12s%7lu %-6s", r->row.walker, r->row.layout, r->row.order, r->row.op);
	for (i = 0; i < BENCH_CONTENDERS; i++)
		if (r->ns[i] < 0)
			printf("%9s", "-");
		else
			printf(r->ns[i] < 0.01 ? "%9.1e" : "%9.3f", r->ns[i]);
	printf("\n");
}

/* ---- for programs ---- */

void bench_tsv(FILE *f, const struct bench_result *r, unsigned int nr)
{
	unsigned int i;

	fprintf(f, "walker\tlayout\torder\top");
	for (i = 0; i < BENCH_CONTENDERS; i++)
		fprintf(f, "\t%s", bench_contender(i));
	fprintf(f, "\n");
	for (; nr--; r++) {
		fprintf(f, "%s\t%s\t%lu\t%s", r->row.walker, r->row.layout, r->row.order,
			r->row.op);
		for (i = 0; i < BENCH_CONTENDERS; i++) {
			fputc('\t', f);
			put_ns(f, r->ns[i]);
		}
		fprintf(f, "\n");
	}
}

static void json_ns(const double ns[BENCH_CONTENDERS])
{
	unsigned int i;

	printf("{");
	for (i = 0; i < BENCH_CONTENDERS; i++) {
		printf("%s\"%s\": ", i ? ", " : "", bench_contender(i));
		if (ns[i] < 0)
			printf("null");
		else
			put_ns(stdout, ns[i]);
	}
	printf("}");
}

void bench_json(const struct bench_result *r, unsigned int nr)
{
	printf("{\n  \"unit\": \"ns/page\",\n  \"rows\": [\n");
	for (; nr--; r++) {
		printf("    {\"walker\": \"%s\", \"layout\": \"%s\", \"order\": %lu, "
		       "\"op\": \"%s\",\n     \"ns_per_page\": ",
		       r->row.walker, r->row.layout, r->row.order, r->row.op);
		json_ns(r->ns);
		printf("}%s\n", nr ? "," : "");
	}
	printf("  ]\n}\n");
}
