// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The explorer's strings and printing.
 *
 * A schedule in a string: the model, a colon, and what made each step: a to d for a thread, A to D
 * and a hexadecimal digit for a store of that thread that arrives by the way of that number. "=n"
 * is the n-th choice of a step (0, the newest value, goes without saying), "*n" a step n times:
 *
 *	pso:a*12,A0,b*3,b=1
 */
#include "sched_int.h"

#include <stdarg.h>

#define NAMES_MAX 1024
#define NOTES_MAX 1024
#define COLUMN 44

struct name {
	uintptr_t addr;
	size_t bytes;
	char text[48];
};

/* What a thread said or did that is no step, before step @at. */
struct note {
	int at, thread;
	char text[128];
};

static struct name names[NAMES_MAX];
static unsigned int nr_names;
static struct note notes[NOTES_MAX];
static unsigned int nr_notes;
/* Of the test, which may be gone by the time it is printed. */
static char thread_name[SCHED_THREADS][32];

/* ---- names ---- */

void sched_name(const void *where, size_t bytes, const char *fmt, ...)
{
	struct name *name;
	va_list ap;

	for (name = names; name < names + nr_names; name++)
		if (name->addr == (uintptr_t)where && name->bytes == bytes)
			break;
	if (name == names + NAMES_MAX)
		return;
	if (name == names + nr_names)
		nr_names++;
	name->addr = (uintptr_t)where;
	name->bytes = bytes;
	va_start(ap, fmt);
	vsnprintf(name->text, sizeof(name->text), fmt, ap);
	va_end(ap);
}

void sched_forget_names(void)
{
	nr_names = 0;
}

/* The narrowest name that covers it. */
static void loc_name(const struct loc *loc, char *buf, size_t bytes)
{
	const struct name *name, *best = NULL;

	for (name = names; name < names + nr_names; name++)
		if (loc->addr >= name->addr && loc->addr < name->addr + name->bytes &&
		    (!best || name->bytes < best->bytes))
			best = name;
	if (!best)
		snprintf(buf, bytes, "%#lx", (unsigned long)loc->addr);
	else if (loc->addr == best->addr)
		snprintf(buf, bytes, "%s", best->text);
	else
		snprintf(buf, bytes, "%s+%u", best->text, (unsigned int)(loc->addr - best->addr));
}

/* ---- what is no step ---- */

void print_reset(void)
{
	unsigned int i;

	nr_notes = 0;
	for (i = 0; sched.log && i < sched.test->nr_threads; i++)
		snprintf(thread_name[i], sizeof(thread_name[i]), "%s", sched.test->thread[i].name);
}

void print_note(const char *fmt, ...)
{
	struct note *note = &notes[nr_notes];
	va_list ap;

	if (!sched.log || nr_notes == NOTES_MAX)
		return;
	nr_notes++;
	note->at = sched.nr;
	note->thread = sched.self;
	va_start(ap, fmt);
	vsnprintf(note->text, sizeof(note->text), fmt, ap);
	va_end(ap);
}

static const char *number(u64 val, char buf[24])
{
	snprintf(buf, 24, val < 10 ? "%llu" : "%#llx", (unsigned long long)val);
	return buf;
}

void print_store(const struct loc *loc, u64 val)
{
	char name[72], buf[24];

	loc_name(loc, name, sizeof(name));
	print_note("write %s = %s, on its way", name, number(val, buf));
}

/* ---- steps ---- */

static void print_rmw(const struct step *step, const char *name, char *text, size_t bytes)
{
	static const char *const verbs[RAW_NR + 1] = {
		[RAW_TRY_REF] = "try ref", [RAW_REF_ADD] = "ref add", [RAW_REF_PUT] = "ref put",
		[RAW_PINCOUNT] = "pins",   [RAW_FLAG] = "flag",	      [RAW_NR] = "trylock",
	};
	const char *verb = verbs[step->op] ? verbs[step->op] : "change";
	char old[24], val[24];

	if (step->wrote)
		snprintf(text, bytes, "%s %s: %s -> %s", verb, name, number(step->old, old),
			 number(step->val, val));
	else
		snprintf(text, bytes, "%s %s: not with %s", verb, name, number(step->old, old));
}

static void print_step(const struct step *step, char *text, size_t bytes)
{
	char name[72] = "", val[24];

	if (step->where)
		loc_name(step->where, name, sizeof(name));
	number(step->val, val);
	switch (step->kind) {
	case STEP_LOAD:
		snprintf(text, bytes, "read %s: %s%s", name, val,
			 step->own ? ", its own" : (step->stale ? ", an old value" : ""));
		break;
	case STEP_STORE:
		snprintf(text, bytes, "write %s = %s", name, val);
		break;
	case STEP_FLUSH:
		snprintf(text, bytes, "  arrives: %s = %s", name, val);
		break;
	case STEP_RMW:
		print_rmw(step, name, text, bytes);
		break;
	case STEP_LOCK:
		snprintf(text, bytes, "lock %s", name);
		break;
	case STEP_YIELD:
		snprintf(text, bytes, "waited for %s: %s", name, val);
		break;
	case STEP_MB:
		snprintf(text, bytes, "mb");
		break;
	case STEP_ROOM:
		snprintf(text, bytes, "room for %s", name);
		break;
	case STEP_OFF:
		snprintf(text, bytes, "IRQs off");
		break;
	case STEP_ON:
		snprintf(text, bytes, "IRQs on");
		break;
	case STEP_WAIT:
		snprintf(text, bytes, "waited for others' IRQs");
		break;
	}
}

static void print_line(FILE *f, const char *head, int thread, const char *text)
{
	fprintf(f, "%-6s%*s%s\n", head, thread * COLUMN, "", text);
}

void sched_print_steps(FILE *f)
{
	const struct note *note = notes;
	int i, thread;

	fprintf(f, "step  ");
	for (thread = 0; thread < SCHED_THREADS && thread_name[thread][0]; thread++)
		fprintf(f, "%-*s", COLUMN, thread_name[thread]);
	fputc('\n', f);
	for (i = 0; i <= sched.nr; i++) {
		char head[16], text[256];

		for (; note < notes + nr_notes && note->at == i; note++)
			print_line(f, "", note->thread, note->text);
		if (i == sched.nr)
			break;
		snprintf(head, sizeof(head), "%4d", i);
		print_step(&sched.step[i], text, sizeof(text));
		print_line(f, head, sched.step[i].thread, text);
	}
	if (sched.why[0])
		fprintf(f, "%s\n", sched.why);
}

/* ---- schedules as strings ---- */

static int print_token(char *buf, size_t bytes, const struct node *node)
{
	int i = node->proc - SCHED_THREADS, n;

	if (i < 0)
		n = snprintf(buf, bytes, "%c", 'a' + node->proc);
	else
		n = snprintf(buf, bytes, "%c%x", 'A' + i / SCHED_SLOTS, i % SCHED_SLOTS);
	if (node->choice)
		n += snprintf(buf + n, bytes - n, "=%u", node->choice);
	return n;
}

/* Of the steps made. */
void print_string(char *buf, size_t bytes)
{
	size_t n = snprintf(buf, bytes, "%s:", sched_model_name[sched.model]);
	int i, j;

	for (i = 0; i < sched.nr; i = j) {
		const struct node *node = &sched.node[i];
		char token[32];
		int len = print_token(token, sizeof(token), node);

		for (j = i + 1; j < sched.nr; j++)
			if (sched.node[j].proc != node->proc ||
			    sched.node[j].choice != node->choice)
				break;
		if (j > i + 1)
			snprintf(token + len, sizeof(token) - len, "*%d", j - i);
		n += snprintf(buf + n, bytes - n, "%s%s", i ? "," : "", token);
		if (n >= bytes)
			break;
	}
}

static bool no_schedule(const char *at)
{
	snprintf(sched.why, sizeof(sched.why),
		 "not a schedule of this model from here on: \"%.40s\"", at);
	return false;
}

static bool parse_number(const char **s, char mark, unsigned long *val)
{
	char *end;

	if (**s != mark)
		return true;
	*val = strtoul(*s + 1, &end, 10);
	if (end == *s + 1)
		return false;
	*s = end;
	return true;
}

static int parse_proc(const char **s)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	char c = *(*s)++;

	if (c >= 'a' && c < 'a' + SCHED_THREADS)
		return c - 'a';
	if (c < 'A' || c >= 'A' + SCHED_THREADS || !**s)
		return SCHED_NONE;
	digit = strchr(digits, *(*s)++);
	if (!digit || digit - digits >= SCHED_SLOTS)
		return SCHED_NONE;
	return proc_of_queue(c - 'A', digit - digits);
}

/* The schedule to be followed is that of a string. */
bool print_parse(const char *s)
{
	const char *name = sched_model_name[sched.model];
	size_t len = strlen(name);

	if (strncmp(s, name, len) || s[len] != ':')
		return no_schedule(s);
	s += len + 1;
	sched.nr_replay = 0;
	while (*s) {
		const char *token = s;
		unsigned long choice = 0, times = 1;
		int proc = parse_proc(&s);

		if (proc == SCHED_NONE || !parse_number(&s, '=', &choice) ||
		    !parse_number(&s, '*', &times) || (*s && *s != ',') || !times ||
		    times > (unsigned long)(SCHED_STEPS - sched.nr_replay))
			return no_schedule(token);
		for (; times; times--) {
			sched.replay[sched.nr_replay].proc = proc;
			sched.replay[sched.nr_replay++].choice = choice;
		}
		if (*s && !*++s)
			return no_schedule(s - 1);
	}
	return true;
}
