/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the benchmark measured, for people and for programs. */
#ifndef PTB_TOOL_BENCH_TABLE_H
#define PTB_TOOL_BENCH_TABLE_H

#include "tool.h"
#include "../bench/bench.h"

struct bench_result {
	struct bench_row row;
	double ns[BENCH_CONTENDERS]; /* a page; below 0: does not apply */
};

void bench_heading(void);
void bench_line(const struct bench_result *r);
void bench_tsv(FILE *f, const struct bench_result *r, unsigned int nr);
void bench_json(const struct bench_result *r, unsigned int nr);

#endif
