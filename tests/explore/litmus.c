// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The explorer's models: of programs known from the literature all outcomes that a model allows are
 * found, and none besides; of random ones the same as by visiting all states of a machine.
 */
#include "reference.h"

#define TEXT 4096

/* What one model allows, and the next ones: NULL is as the one before. */
struct litmus {
	const char *name, *program, *initial;
	const char *want[SCHED_NR_MODELS];
};

#define ALL_16_BUT_1010 "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111"

static const struct litmus litmus[] = {
	{ "SB", "x=1 y? | y=1 x?", NULL, { "01 10 11", "00 01 10 11" } },
	{ "SB+mb+mb", "x=1 mb y? | y=1 mb x?", NULL, { "01 10 11" } },
	{ "SB+mb", "x=1 mb y? | y=1 x?", NULL, { "01 10 11", "00 01 10 11" } },
	{ "SB+wmb+wmb", "x=1 wmb y? | y=1 wmb x?", NULL, { "01 10 11", "00 01 10 11" } },
	{ "SB+rmb+rmb", "x=1 rmb y? | y=1 rmb x?", NULL, { "01 10 11", "00 01 10 11" } },
	{ "SB of full updates", "x! y? | y! x?", NULL, { "0001 0100 0101" } },
	{ "SB of relaxed updates",
	  "x+ y? | y+ x?",
	  NULL,
	  { "0001 0100 0101", NULL, NULL, "0000 0001 0100 0101" } },
	{ "SB, updates elsewhere",
	  "x=1 z+ y? | y=1 w+ x?",
	  NULL,
	  { "0001 0100 0101", NULL, "0000 0001 0100 0101" } },
	{ "SB, seeing its own",
	  "x=1 x? y? | y=1 y? x?",
	  NULL,
	  { "1011 1110 1111", "1010 1011 1110 1111" } },
	{ "MP", "x=1 y=1 | y? x?", NULL, { "00 01 11", NULL, "00 01 10 11" } },
	{ "MP+wmb", "x=1 wmb y=1 | y? x?", NULL, { "00 01 11", NULL, NULL, "00 01 10 11" } },
	{ "MP+rmb", "x=1 y=1 | y? rmb x?", NULL, { "00 01 11", NULL, "00 01 10 11" } },
	{ "MP+wmb+rmb", "x=1 wmb y=1 | y? rmb x?", NULL, { "00 01 11" } },
	{ "MP+mb+mb", "x=1 mb y=1 | y? mb x?", NULL, { "00 01 11" } },
	{ "MP+wmbs", "x=1 wmb y=1 | y? wmb x?", NULL, { "00 01 11", NULL, NULL, "00 01 10 11" } },
	{ "MP by a full update", "x=1 y! | y? rmb x?", NULL, { "000 001 011" } },
	{ "MP by a relaxed update",
	  "x=1 y+ | y? rmb x?",
	  NULL,
	  { "000 001 011", NULL, "000 001 010 011" } },
	{ "MP, full update reads", "x=1 wmb y=1 | y! x?", NULL, { "00 01 11" } },
	{ "MP, failing update reads",
	  "x=1 wmb y=0 | y^ x?",
	  "y=1",
	  { "01 10 11", NULL, NULL, "00 01 10 11" } },
	{ "CoRR", "x=1 | x? x?", NULL, { "00 01 11" } },
	{ "CoRR of two", "x=1 x=2 | x? x?", NULL, { "00 01 02 11 12 22" } },
	{ "CoWR", "x=1 x? | x=2 x?", NULL, { "11 12 22" } },
	{ "CoRW", "x? x=1 | x=2 .", NULL, { "00100 00200 20100" } },
	{ "2+2W", "x=1 y=2 | y=1 x=2 .", NULL, { "0120 0210 0220", NULL, "0110 0120 0210 0220" } },
	{ "2+2W+wmb+wmb", "x=1 wmb y=2 | y=1 wmb x=2 .", NULL, { "0120 0210 0220" } },
	{ "R", "x=1 y=1 | y=2 x? .", NULL, { "00110 10110 10120", "00110 00120 10110 10120" } },
	{ "R+mb+mb", "x=1 mb y=1 | y=2 mb x? .", NULL, { "00110 10110 10120" } },
	{ "S",
	  "x=2 y=1 | y? x=1 .",
	  NULL,
	  { "00110 00210 10110", NULL, "00110 00210 10110 10210" } },
	{ "LB", "x? y=1 | y? x=1", NULL, { "00 01 10" } },
	{ "WRC",
	  "x=1 | x? y=1 | y? x?",
	  NULL,
	  { "000 001 010 011 100 101 111", NULL, NULL, "000 001 010 011 100 101 110 111" } },
	{ "WRC+rmb", "x=1 | x? y=1 | y? rmb x?", NULL, { "000 001 010 011 100 101 111" } },
	{ "IRIW",
	  "x=1 | y=1 | x? y? | y? x?",
	  NULL,
	  { ALL_16_BUT_1010, NULL, NULL,
	    "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111" } },
	{ "IRIW+rmb+rmb", "x=1 | y=1 | x? rmb y? | y? rmb x?", NULL, { ALL_16_BUT_1010 } },
	{ "updates do not get lost",
	  "x+ | x+ | x! .",
	  NULL,
	  { "0120300 0210300 1020300 1200300 2010300 2100300" } },
	{ "reference or free", "x^ | x=0 .", "x=1", { "00000 10000" } },
	{ "a lock excludes", "( x? x=1 ) | ( x? x=2 )", NULL, { "01 20" } },
	{ "a lock orders", "x=1 ( y=1 ) | ( y? ) x?", NULL, { "00 01 11" } },
	{ "unlock lets loads pass", "( x=1 ) y? | y=1 mb x?", NULL, { "01 10 11", "00 01 10 11" } },
	{ "a lock taken or not", "[ ] x? | ( x=1 )", NULL, { "00 01 10 11" } },
	{ "waiting is reading", "x=1 wmb y=1 | y~ rmb x?", NULL, { "1" } },
	{ "waiting is no barrier", "x=1 wmb y=1 | y~ x?", NULL, { "1", NULL, NULL, "0 1" } },
	{ "IRQs off hold off", "cli y? x? sti | y=1 wait x=1", NULL, { "00 10 11" } },
	{ "IRQs on do not", "y? x? | y=1 wait x=1", NULL, { "00 01 10 11" } },
	{ "stores before IRQs on", "cli x=1 sti | y=1 wait x? .", NULL, { "00110 10110" } },
	{ "loads behind a grace period", "x=1 wait y=1 | cli y? x? sti", NULL, { "00 01 11" } },
};

static const char *wanted(const struct litmus *l, enum sched_model model)
{
	while (!l->want[model])
		model--;
	return l->want[model];
}

static void explore_all(const struct program *p, enum sched_model model, bool brute, u64 bound,
			struct outcomes *found, struct sched_result *res)
{
	struct sched_test test = program_test(p, found);
	struct sched_opts opts = { .model = model, .brute = brute, .bound = bound };

	sched_explore(&test, &opts, res);
}

HARNESS_TEST(explore, models_allow_what_the_literature_says)
{
	static struct outcomes found;
	static struct sched_result res;
	char text[TEXT];
	unsigned int i;
	enum sched_model model;

	for (i = 0; i < ARRAY_SIZE(litmus); i++) {
		const struct litmus *l = &litmus[i];
		struct program p = program_parse(l->program, l->initial);

		for (model = 0; model < SCHED_NR_MODELS; model++) {
			explore_all(&p, model, false, 0, &found, &res);
			EXPECT(res.complete, "%s under %s: %s", l->name, sched_model_name[model],
			       res.why);
			outcomes_text(&found, text, sizeof(text));
			EXPECT(!strcmp(text, wanted(l, model)), "%s under %s: %s, not %s", l->name,
			       sched_model_name[model], text, wanted(l, model));
		}
	}
}

HARNESS_TEST(explore, schedules_at_random_show_nothing_else)
{
	static struct outcomes found;
	static struct sched_result res;
	unsigned int i, j, seen = 0, wanted_seen = 0;
	enum sched_model model;

	for (i = 0; i < ARRAY_SIZE(litmus); i++)
		for (model = 0; model < SCHED_NR_MODELS; model++) {
			struct program p = program_parse(litmus[i].program, litmus[i].initial);
			struct sched_test test = program_test(&p, &found);
			struct sched_opts opts = { .model = model, .bound = 300, .seed = i + 1 };
			const char *want = wanted(&litmus[i], model), *s;

			sched_explore(&test, &opts, &res);
			for (j = 0; j < found.nr; j++)
				EXPECT(strstr(want, found.text[j]), "%s under %s: %s",
				       litmus[i].name, sched_model_name[model], found.text[j]);
			seen += found.nr;
			for (s = want; s; s = strchr(s + 1, ' '))
				wanted_seen++;
		}
	EXPECT(seen * 10 > wanted_seen * 9, "%u outcomes of %u", seen, wanted_seen);
}

/* ---- random programs ---- */

static u64 seed;

static unsigned int any(unsigned int n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static void random_access(char **s, unsigned int words)
{
	char word = 'w' + any(words);

	switch (any(9)) {
	case 0:
	case 1:
	case 2:
		*s += sprintf(*s, "%c=%u ", word, 1 + any(2));
		break;
	case 3:
		*s += sprintf(*s, "%c+ ", word);
		break;
	case 4:
		*s += sprintf(*s, "%c%c ", word, "!^"[any(2)]);
		break;
	default:
		*s += sprintf(*s, "%c? ", word);
	}
}

/* Some accesses, perhaps with a barrier, or in a critical section. */
static unsigned int random_block(char **s, unsigned int words, unsigned int left)
{
	static const char *const barriers[] = { "mb ", "rmb ", "wmb ", "rmb ", "wmb ", "wait " };
	static const char *const sections[][2] = { { "cli", "sti" }, { "(", ")" }, { "[", "]" } };
	unsigned int kind = any(10), n;

	if (kind < ARRAY_SIZE(sections) && left > 2) {
		*s += sprintf(*s, "%s ", sections[kind][0]);
		for (n = 3; n < left && kind < 2 && any(2); n++)
			random_access(s, words);
		if (kind < 2)
			random_access(s, words);
		*s += sprintf(*s, "%s ", sections[kind][1]);
		return n;
	}
	if (kind < 6) {
		*s += sprintf(*s, "%s", barriers[any(ARRAY_SIZE(barriers))]);
		return 1;
	}
	random_access(s, words);
	return 1;
}

static void random_program(char *s, unsigned int threads, unsigned int ops)
{
	unsigned int words = 2 + any(2), t, left, used;

	for (t = 0; t < threads; t++) {
		s += sprintf(s, t ? "| " : "");
		for (left = ops - any(ops / 2); left; left -= used) {
			used = random_block(&s, words, left);
			if (used > left)
				used = left;
		}
	}
	sprintf(s, ".");
}

static void compare_random(unsigned int rounds, unsigned int threads, unsigned int ops, u64 start)
{
	static struct outcomes found, want;
	static struct sched_result res;
	u64 schedules = 0, brute = 0, too_large = 0;
	enum sched_model model;

	seed = start;
	while (rounds--) {
		char text[256], got[TEXT], expected[TEXT];
		struct program p;

		random_program(text, threads, ops);
		p = program_parse(text, any(2) ? "x=1" : NULL);
		for (model = 0; model < SCHED_NR_MODELS; model++) {
			if (!reference(&p, model, &want)) {
				too_large++;
				continue;
			}
			explore_all(&p, model, false, 0, &found, &res);
			EXPECT(res.complete, "%s: %s", text, res.why);
			EXPECT(outcomes_same(&found, &want), "%s under %s: %s, not %s", text,
			       sched_model_name[model], outcomes_text(&found, got, TEXT),
			       outcomes_text(&want, expected, TEXT));
			schedules += res.schedules;
			explore_all(&p, model, true, 20000, &found, &res);
			if (!res.complete)
				continue;
			brute++;
			EXPECT(outcomes_same(&found, &want),
			       "%s under %s, without reduction: %s, not %s", text,
			       sched_model_name[model], outcomes_text(&found, got, TEXT),
			       outcomes_text(&want, expected, TEXT));
		}
	}
	EXPECT(schedules && brute > 4 * too_large,
	       "%llu schedules, %llu programs without reduction, %llu too large",
	       (unsigned long long)schedules, (unsigned long long)brute,
	       (unsigned long long)too_large);
}

HARNESS_TEST(explore, two_random_threads_do_what_a_machine_does)
{
	compare_random(HARNESS_ROUNDS(200), 2, 6, 0x9e3779b97f4a7c15ULL);
}

HARNESS_TEST(explore, three_random_threads_do_what_a_machine_does)
{
	compare_random(HARNESS_ROUNDS(100), 3, 4, 0xc2b2ae3d27d4eb4fULL);
}
