// SPDX-License-Identifier: GPL-2.0-only
/* Pins against fork: who gets the copy. The right answer is known, and is asked of each side. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

/* Parts of folios, and in both tables. */
static const struct window pinned = { 300, 500 };

static const char *const side_names[] = { "off", "on" };

/* What was pinned before stays with the parent, also when it is written to. */
static void pin_then_fork(const struct layout *layout, enum side side)
{
	uint64_t before[NR], ours[NR], childs[NR], frames[NR];
	char *p = layout_map(layout, NR * PAGE);
	int fd = gup_open(), ret, pid;
	unsigned int i;

	side_set(side);
	frames_read(p, NR, before);
	ret = gup_hold(fd, p + pinned.first * PAGE, pinned.nr,
		       PTB_TEST_PIN | PTB_TEST_WRITE | PTB_TEST_LONGTERM, frames);
	if (ret != (int)pinned.nr)
		wrong("%s: %d of %u pages pinned", side_names[side], ret, pinned.nr);

	pid = child_start();
	frames_read_of(pid, p, NR, childs);
	touch(p, NR * PAGE);
	frames_read(p, NR, ours);
	for (i = pinned.first; i < pinned.first + pinned.nr; i++) {
		if (ours[i] != before[i] || childs[i] == before[i]) {
			wrong("%s: page %u was pinned, and has gone to the child", side_names[side],
			      i);
			break;
		}
	}
	close(fd);
	memory_drop(p);
}

/* What is shared with a child already is not pinned for reading: a copy is. */
static void fork_then_pin(const struct layout *layout, enum side side)
{
	uint64_t before[NR], frames[NR];
	char *p = layout_map(layout, NR * PAGE);
	int fd = gup_open(), ret, i;

	side_set(side);
	frames_read(p, NR, before);
	child_start();
	counters_zero();
	ret = gup_hold(fd, p + pinned.first * PAGE, pinned.nr, PTB_TEST_PIN, frames);
	if (ret != (int)pinned.nr)
		wrong("%s: %d of %u pages pinned", side_names[side], ret, pinned.nr);
	for (i = 0; i < ret; i++) {
		if (frames[i] == before[pinned.first + i]) {
			wrong("%s: page %u is pinned and shared with the child", side_names[side],
			      pinned.first + i);
			break;
		}
	}
	if (side == ON && (counters_read("gup_fast").handled || !counters_read("gup_fast").bailed))
		wrong("on: our walker did not leave shared pages to the slow path");
	close(fd);
	memory_drop(p);
}

void test_fork(void)
{
	unsigned int i;

	for (i = 0; i < nr_layouts; i++) {
		pin_then_fork(&layouts[i], OFF);
		pin_then_fork(&layouts[i], ON);
		done("gup %s: pages pinned before a fork stay with the parent", layouts[i].name);
		fork_then_pin(&layouts[i], OFF);
		fork_then_pin(&layouts[i], ON);
		done("gup %s: pages shared by a fork are not pinned for reading", layouts[i].name);
	}
}
