// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ptebatch explore: a walker against the other side, under every schedule. */
#include "explore_matrix.h"

#include <getopt.h>
#include <unistd.h>

static const char usage[] =
	"Usage: ptebatch explore --walker W --against M[,M2] [OPTION]...\n"
	"       ptebatch explore --list\n"
	"       ptebatch explore --tsv FILE [--quick]\n"
	"\n"
	"Runs a walker against the other side under every order of their accesses to shared\n"
	"memory that can make a difference. A violation is printed step by step, with a string\n"
	"that replays it; the exit status is 1 then.\n"
	"\n"
	"  --walker W       see --list\n"
	"  --against M,M2   one mutator, or two at once\n"
	"  --model MODEL    sc, tso, pso or weak (default sc)\n"
	"  --format F       a format (default x86_64), or FORMAT/16: as many entries as a block\n"
	"                   and two lines, instead of 4\n"
	"  --bound N        give up after N schedules of a layout\n"
	"  --seed N         with --bound: schedules at random\n"
	"  --schedule S     replay one schedule\n"
	"  --list           name the walkers, the mutators and the pairs\n"
	"  --tsv FILE       explore all pairs, formats and models into a table\n"
	"  --quick          with --tsv: a part that takes less than a minute\n";

/* The Makefile compiles explore.c for each of these, small and full. */
#define EXPLORED(X) X(x86_64) X(x86_pae) X(arm64)

#define DECLARE(name) \
	extern const struct ptb_explore ptb_explore_small_##name, ptb_explore_full_##name;
EXPLORED(DECLARE)

#define EACH(name) &ptb_explore_small_##name, &ptb_explore_full_##name,
static const struct ptb_explore *const geometries[] = { EXPLORED(EACH) };

static struct explore_answer answer;

static bool is_full(const struct ptb_explore *e)
{
	return e->slots > 4;
}

static void format_name(char *name, size_t size, const struct ptb_explore *e)
{
	if (is_full(e))
		snprintf(name, size, "%s/%u", e->format, e->slots);
	else
		snprintf(name, size, "%s", e->format);
}

static void pair_name(char *name, size_t size, const struct explore_pair *pair)
{
	snprintf(name, size, "%s%s%s", pair->against[0], pair->against[1] ? "," : "",
		 pair->against[1] ? pair->against[1] : "");
}

/* ---- one pair ---- */

static void print_violation(const struct ptb_explore *e, const struct explore_request *rq)
{
	char format[32], against[64];

	format_name(format, sizeof(format), e);
	pair_name(against, sizeof(against), &rq->pair);
	sched_print_steps(stdout);
	printf("\nviolation: %s\nreplay: ptebatch explore --walker %s --against %s --model %s "
	       "--format %s --schedule '%s:%s'\n",
	       answer.last.why, rq->pair.walker, against, sched_model_name[rq->model], format,
	       answer.variant, answer.last.schedule);
}

static void print_layouts(void)
{
	unsigned int i;

	for (i = 0; i < answer.variants; i++)
		printf("  %-17s %9llu schedules, all pages in %llu, none in %llu%s\n",
		       answer.of[i].name, (unsigned long long)answer.of[i].schedules,
		       (unsigned long long)answer.of[i].all, (unsigned long long)answer.of[i].none,
		       answer.of[i].complete ? "" : ", bounded");
}

static int explore_one(const struct ptb_explore *e, const struct explore_request *rq)
{
	char format[32], against[64];

	format_name(format, sizeof(format), e);
	pair_name(against, sizeof(against), &rq->pair);
	if (!e->run(rq, &answer))
		return tool_usage("explore", "this schedule does not fit: %s", answer.last.why);
	if (rq->schedule && !answer.violation)
		sched_print_steps(stdout);
	if (answer.violation)
		print_violation(e, rq);
	print_layouts();
	printf("%s against %s, %s, %s: %llu schedule%s of %u layout%s in %.2f s, %s, %s\n",
	       rq->pair.walker, against, format, sched_model_name[rq->model],
	       (unsigned long long)answer.schedules, answer.schedules == 1 ? "" : "s",
	       answer.variants, answer.variants == 1 ? "" : "s", answer.seconds,
	       rq->schedule	  ? "replayed"
	       : answer.violation ? "ended"
	       : answer.complete  ? "complete"
				  : "bounded",
	       answer.violation ? "1 violation" : "no violation");
	return tool_flush("explore") || answer.violation;
}

/* ---- what there is ---- */

static int list(void)
{
	const struct ptb_explore *e = geometries[0];
	const struct explore_pair *pair;
	const char *name, *what;
	char against[64];
	unsigned int i;

	printf("walkers:");
	for (i = 0; (name = e->walker(i)); i++)
		printf(" %s", name);
	printf("\n\nmutators:\n");
	for (i = 0; (name = e->mutator(i, &what)); i++)
		printf("  %-12s %s\n", name, what);
	printf("\npairs:\n");
	for (i = 0; (pair = e->pair(i)); i++) {
		pair_name(against, sizeof(against), pair);
		printf("  %-14s %s\n", pair->walker, against);
	}
	printf("\nformats:");
	for (i = 0; i < ARRAY_SIZE(geometries); i++) {
		char format[32];

		format_name(format, sizeof(format), geometries[i]);
		printf(" %s", format);
	}
	printf("\n");
	return tool_flush("explore");
}

/* ---- arguments ---- */

static const struct ptb_explore *find_format(const char *name)
{
	unsigned int i;
	char format[32];

	for (i = 0; i < ARRAY_SIZE(geometries); i++) {
		format_name(format, sizeof(format), geometries[i]);
		if (!strcmp(format, name))
			return geometries[i];
	}
	return NULL;
}

static bool known_walker(const char *name)
{
	const char *walker;
	unsigned int i;

	for (i = 0; (walker = geometries[0]->walker(i)); i++)
		if (!strcmp(walker, name))
			return true;
	return false;
}

static bool known_mutator(const char *name)
{
	const char *mutator, *what;
	unsigned int i;

	for (i = 0; (mutator = geometries[0]->mutator(i, &what)); i++)
		if (!strcmp(mutator, name))
			return true;
	return false;
}

static bool find_model(const char *name, enum sched_model *model)
{
	for (*model = 0; *model < SCHED_NR_MODELS; (*model)++)
		if (!strcmp(sched_model_name[*model], name))
			return true;
	return false;
}

static bool number(const char *text, u64 *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value;
}

struct arguments {
	const char *walker, *against, *model, *format, *bound, *seed, *schedule, *tsv;
	bool list, quick;
};

static int explore_arguments(struct arguments *a)
{
	struct explore_request rq = { .schedule = a->schedule };
	const struct ptb_explore *e;
	static char names[64];
	const char *why;
	char *end;
	unsigned int i;

	if (!a->walker || !a->against)
		return tool_usage("explore", "which --%s", a->walker ? "against" : "walker");
	if (!known_walker(a->walker))
		return tool_usage("explore", "no walker \"%s\"", a->walker);
	rq.pair.walker = a->walker;
	snprintf(names, sizeof(names), "%s", a->against);
	rq.pair.against[0] = names;
	end = strchr(names, ',');
	if (end) {
		*end = '\0';
		rq.pair.against[1] = end + 1;
	}
	for (i = 0; i < EXPLORE_MUTATORS && rq.pair.against[i]; i++)
		if (!known_mutator(rq.pair.against[i]))
			return tool_usage("explore", "no mutator \"%s\"", rq.pair.against[i]);
	if (!find_model(a->model, &rq.model))
		return tool_usage("explore", "no model \"%s\"", a->model);
	e = find_format(a->format);
	if (!e)
		return tool_usage("explore", "no format \"%s\" to explore", a->format);
	if (a->bound && !number(a->bound, &rq.bound))
		return tool_usage("explore", "the bound must be a number above 0, not \"%s\"",
				  a->bound);
	if (a->seed && !number(a->seed, &rq.seed))
		return tool_usage("explore", "the seed must be a number above 0, not \"%s\"",
				  a->seed);
	if (a->seed && !a->bound)
		return tool_usage("explore", "--seed needs a --bound");
	why = e->refuses(&rq.pair);
	if (why)
		return tool_usage("explore", "%s against %s: %s", a->walker, a->against, why);
	return explore_one(e, &rq);
}

int cmd_explore(int argc, char **argv)
{
	static const struct option options[] = {
		{ "walker", required_argument, NULL, 'w' },
		{ "against", required_argument, NULL, 'a' },
		{ "model", required_argument, NULL, 'm' },
		{ "format", required_argument, NULL, 'f' },
		{ "bound", required_argument, NULL, 'b' },
		{ "seed", required_argument, NULL, 'r' },
		{ "schedule", required_argument, NULL, 's' },
		{ "tsv", required_argument, NULL, 't' },
		{ "list", no_argument, NULL, 'l' },
		{ "quick", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct arguments a = { .model = "sc", .format = "x86_64" };
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'w':
			a.walker = optarg;
			break;
		case 'a':
			a.against = optarg;
			break;
		case 'm':
			a.model = optarg;
			break;
		case 'f':
			a.format = optarg;
			break;
		case 'b':
			a.bound = optarg;
			break;
		case 'r':
			a.seed = optarg;
			break;
		case 's':
			a.schedule = optarg;
			break;
		case 't':
			a.tsv = optarg;
			break;
		case 'l':
			a.list = true;
			break;
		case 'q':
			a.quick = true;
			break;
		case 'h':
			return tool_print("explore", usage);
		case ':':
			return tool_usage("explore", "no value given for %s", argv[optind - 1]);
		default:
			return tool_usage("explore", "unknown option %s", argv[optind - 1]);
		}
	}
	if (optind < argc)
		return tool_usage("explore", "what is \"%s\"", argv[optind]);
	if (a.quick && !a.tsv)
		return tool_usage("explore", "--quick is for --tsv");
	if (a.tsv && (a.walker || a.against || a.schedule || a.bound))
		return tool_usage("explore", "--tsv explores all pairs");
	if (a.list)
		return list();
	return a.tsv ? explore_matrix(geometries, ARRAY_SIZE(geometries), a.tsv, a.quick)
		     : explore_arguments(&a);
}
