// SPDX-License-Identifier: GPL-2.0-only
/* stress SECONDS. TAP on stdout; exits 1 if a test failed. */
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stress.h"

/* More than there are CPUs, for some to be preempted in the middle. */
static void *(*const threads[])(void *) = {
	thread_gup,   thread_gup,    thread_gup,    thread_mincore,
	thread_write, thread_mutate, thread_mutate, thread_mutate,
};

#define SAID 10 /* violations that are printed */

static pthread_barrier_t all_started;
static pthread_mutex_t report = PTHREAD_MUTEX_INITIALIZER;
static unsigned int nr_violated;
static bool stop;

bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

void count_up(unsigned long *counter, unsigned long by)
{
	__atomic_add_fetch(counter, by, __ATOMIC_RELAXED);
}

void violated(const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	pthread_mutex_lock(&report);
	if (nr_violated++ < SAID)
		wrong("%s", text);
	pthread_mutex_unlock(&report);
}

unsigned int violations(void)
{
	return nr_violated;
}

static void *start(void *arg)
{
	uintptr_t i = (uintptr_t)arg;

	random_seed(i + 1);
	pthread_barrier_wait(&all_started);
	return threads[i](arg);
}

static bool all_did(void)
{
	return walkers_all_did() && mutators_all_did();
}

static void run(unsigned int seconds)
{
	pthread_t ids[ARRAY_SIZE(threads)];
	unsigned int i;
	int err;

	pthread_barrier_init(&all_started, NULL, ARRAY_SIZE(threads));
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		err = pthread_create(&ids[i], NULL, start, (void *)(uintptr_t)i);
		if (err)
			die("cannot start a thread: %s", strerror(err));
	}
	/* Longer where a second is not much, as in emulation: until each had its turn. */
	for (i = 0; i < seconds || (i < 5 * seconds + 60 && !all_did()); i++)
		sleep(1);
	printf("# %u s\n", i);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(ids[i], NULL);
}

int main(int argc, char **argv)
{
	struct handled gup_fast, mincore;
	unsigned int seconds;

	setvbuf(stdout, NULL, _IOLBF, 0);
	seconds = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	if (!seconds)
		die("for how many seconds?");
	/* Or threads would map memory for it, where a hole is by chance. */
	mallopt(M_ARENA_MAX, 1);
	printf("# for %u s at least\n", seconds);

	side_set(ON);
	areas_open();
	after_remember();
	areas_map();
	kept_start();
	mutators_start();
	counters_zero();
	run(seconds);
	gup_fast = counters_read("gup_fast");
	mincore = counters_read("mincore");
	mutators_stop();

	kept_check();
	if (violations() > SAID)
		wrong("%u such in all", violations());
	done("what is kept has its contents, what is pinned has stayed in its place");

	walkers_report();
	printf("# gup_fast handled %llu bailed %llu\n", gup_fast.handled, gup_fast.bailed);
	printf("# mincore handled %llu bailed %llu\n", mincore.handled, mincore.bailed);
	if (!gup_fast.handled || !gup_fast.bailed)
		wrong("it met nothing to take, or nothing to leave");
	done("gup_fast: pages were handled by ours, others left to the slow path");
	if (!mincore.handled)
		wrong("none were");
	done("mincore: pages were handled by ours");

	mutators_report();
	after_check_counts();
	areas_unmap();
	after_check_freed();
	return tap_end();
}
