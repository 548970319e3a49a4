// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ptebatch explore --tsv: all pairs, formats and models, in as many processes as there are CPUs. */
#include "explore_matrix.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Schedules of each layout where not all of them are asked for. */
#define BOUND_FULL 1000
#define BOUND_WEAK 20000
#define BOUND_QUICK 40000

struct job {
	const struct ptb_explore *e;
	struct explore_pair pair;
	enum sched_model model;
	u64 bound;
	bool random; /* what does not come to an end: else only the last steps would vary */
};

/* What a worker says of a job; all of it lies in memory that the processes share. */
struct outcome {
	bool done, complete, violation;
	u64 schedules;
	double seconds;
	char replay[160];
	char why[256];
};

static struct {
	struct job *jobs;
	unsigned int nr;
	unsigned int *next;
	struct outcome *outcomes;
} matrix;

/* ---- what is to be done ---- */

static void add_job(const struct ptb_explore *e, const struct explore_pair *pair,
		    enum sched_model model, u64 bound, bool random)
{
	matrix.jobs = realloc(matrix.jobs, (matrix.nr + 1) * sizeof(*matrix.jobs));
	if (!matrix.jobs)
		abort();
	matrix.jobs[matrix.nr++] = (struct job){ e, *pair, model, bound, random };
}

/* x86 orders stores; what its code relies on need not hold where none are. */
static bool is_weak(const struct ptb_explore *e)
{
	return !strcmp(e->format, "arm64");
}

/* In a hurry: each format on its own machine, which allows what stronger ones do. */
static void add_quick(const struct ptb_explore *e, const struct explore_pair *pair)
{
	if (!pair->against[1])
		add_job(e, pair, is_weak(e) ? SCHED_WEAK : SCHED_TSO, BOUND_QUICK, false);
}

static void add_small(const struct ptb_explore *e, const struct explore_pair *pair)
{
	enum sched_model model;

	for (model = 0; model < SCHED_NR_MODELS; model++) {
		if (model > SCHED_TSO && !is_weak(e))
			continue;
		if (pair->models & BIT(model))
			add_job(e, pair, model, 0, false);
		else
			add_job(e, pair, model, BOUND_WEAK, true);
	}
}

static void add_pairs(const struct ptb_explore *e, bool full, bool quick)
{
	const struct explore_pair *pair;
	unsigned int i;

	for (i = 0; (pair = e->pair(i)); i++) {
		if (!pair->models || e->refuses(pair))
			continue;
		if (quick && !full)
			add_quick(e, pair);
		else if (!full)
			add_small(e, pair);
		else if (!quick && !pair->against[1])
			add_job(e, pair, SCHED_PSO, BOUND_FULL, true);
	}
}

/* ---- doing it ---- */

static void do_job(unsigned int i, struct explore_answer *answer)
{
	const struct job *job = &matrix.jobs[i];
	struct explore_request rq = {
		.pair = job->pair, .model = job->model, .bound = job->bound, .seed = job->random
	};
	struct outcome *out = &matrix.outcomes[i];

	job->e->run(&rq, answer);
	out->schedules = answer->schedules;
	out->seconds = answer->seconds;
	out->complete = answer->complete && !answer->violation;
	out->violation = answer->violation;
	if (answer->violation) {
		snprintf(out->why, sizeof(out->why), "%s", answer->last.why);
		snprintf(out->replay, sizeof(out->replay), "%s:%.100s", answer->variant,
			 answer->last.schedule);
	}
	__atomic_store_n(&out->done, true, __ATOMIC_RELEASE);
}

static void worker(void)
{
	static struct explore_answer answer;
	unsigned int i;

	/* Not on its own when the table is given up. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	while ((i = __atomic_fetch_add(matrix.next, 1, __ATOMIC_RELAXED)) < matrix.nr)
		do_job(i, &answer);
	_exit(0);
}

static unsigned int nr_done(void)
{
	unsigned int done = 0, i;

	for (i = 0; i < matrix.nr; i++)
		done += __atomic_load_n(&matrix.outcomes[i].done, __ATOMIC_ACQUIRE);
	return done;
}

static void progress(bool tty)
{
	if (tty)
		fprintf(stderr, "\rexplored %u of %u", nr_done(), matrix.nr);
}

static bool run_workers(void)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	struct timespec nap = { .tv_nsec = 200000000 };
	bool tty = isatty(STDERR_FILENO), ok = true;
	int status;

	for (i = 0; i < nr_cpus; i++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (!pid)
			worker();
	}
	nr_cpus = i;
	while (nr_cpus) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		progress(tty);
		if (pid > 0) {
			nr_cpus--;
			ok = ok && WIFEXITED(status) && !WEXITSTATUS(status);
		} else {
			nanosleep(&nap, NULL);
		}
	}
	if (tty)
		fprintf(stderr, "\r%30s\r", "");
	return ok && nr_done() == matrix.nr;
}

/* ---- what came of it ---- */

static const char *format_of(const struct job *job, char *name, size_t size)
{
	snprintf(name, size, job->e->slots > 4 ? "%s/%u" : "%s", job->e->format, job->e->slots);
	return name;
}

static void against_of(const struct job *job, char *name, size_t size)
{
	snprintf(name, size, job->pair.against[1] ? "%s,%s" : "%s", job->pair.against[0],
		 job->pair.against[1]);
}

static bool write_table(const char *path)
{
	FILE *f = fopen(path, "w");
	unsigned int i;
	bool ok;

	if (!f)
		return false;
	fprintf(f, "walker\tmutator\tformat\tmodel\tschedules\tcomplete\tviolations\n");
	for (i = 0; i < matrix.nr; i++) {
		const struct job *job = &matrix.jobs[i];
		const struct outcome *out = &matrix.outcomes[i];
		char format[32], against[64];

		against_of(job, against, sizeof(against));
		fprintf(f, "%s\t%s\t%s\t%s\t%llu\t%s\t%d\n", job->pair.walker, against,
			format_of(job, format, sizeof(format)), sched_model_name[job->model],
			(unsigned long long)out->schedules, out->complete ? "yes" : "bounded",
			out->violation);
	}
	ok = !ferror(f);
	return !fclose(f) && ok;
}

static unsigned int tell_violations(void)
{
	unsigned int violations = 0, i;
	char format[32], against[64];

	for (i = 0; i < matrix.nr; i++) {
		const struct job *job = &matrix.jobs[i];

		if (!matrix.outcomes[i].violation)
			continue;
		violations++;
		against_of(job, against, sizeof(against));
		printf("violation: %s against %s, %s, %s: %s\n"
		       "  seen by: ptebatch explore --walker %s --against %s --model %s "
		       "--format %s\n",
		       job->pair.walker, against, format_of(job, format, sizeof(format)),
		       sched_model_name[job->model], matrix.outcomes[i].why, job->pair.walker,
		       against, sched_model_name[job->model], format);
	}
	return violations;
}

static void tell_slowest(void)
{
	const struct job *job = &matrix.jobs[0];
	double slowest = 0;
	char against[64];
	unsigned int i;

	for (i = 0; i < matrix.nr; i++)
		if (matrix.outcomes[i].seconds > slowest) {
			slowest = matrix.outcomes[i].seconds;
			job = &matrix.jobs[i];
		}
	against_of(job, against, sizeof(against));
	printf("the longest: %s against %s, %s, %s, %.1f s\n", job->pair.walker, against,
	       job->e->format, sched_model_name[job->model], slowest);
}

int explore_matrix(const struct ptb_explore *const *geometries, unsigned int nr, const char *path,
		   bool quick)
{
	u64 schedules = 0;
	unsigned int complete = 0, violations, i;
	FILE *f = fopen(path, "a");
	size_t bytes;

	/* Minutes later is too late to learn that. What the file holds it keeps until then. */
	if (!f || fclose(f))
		return tool_fail("explore", "cannot write %s", path);
	for (i = 0; i < nr; i++)
		add_pairs(geometries[i], geometries[i]->slots > 4, quick);
	bytes = sizeof(*matrix.next) + 64 + matrix.nr * sizeof(*matrix.outcomes);
	matrix.next = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (matrix.next == MAP_FAILED)
		return tool_fail("explore", "no memory");
	matrix.outcomes = (struct outcome *)((char *)matrix.next + 64);
	if (!run_workers())
		return tool_fail("explore", "a process died");
	if (!write_table(path))
		return tool_fail("explore", "cannot write %s", path);
	for (i = 0; i < matrix.nr; i++) {
		schedules += matrix.outcomes[i].schedules;
		complete += matrix.outcomes[i].complete;
	}
	violations = tell_violations();
	tell_slowest();
	printf("%u explorations, %u to the end, %llu schedules, %u violations: %s\n", matrix.nr,
	       complete, (unsigned long long)schedules, violations, path);
	return tool_flush("explore") || violations;
}
