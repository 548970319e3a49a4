// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One target under libFuzzer. Besides libFuzzer's own arguments:
 *
 *	--text FILE		the input as a call, and what is wrong with it
 *	--minimize FILE		make the file smaller, as long as it fails
 */
#include "fail.h"
#include "fuzz.h"

#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max_size, unsigned int seed);

static struct fuzz_target *targets[16]; /* by name of their format */
static unsigned int nr_targets;
static int words_fd = -1;

void fuzz_add(struct fuzz_target *target)
{
	unsigned int i = nr_targets++;

	if (nr_targets > ARRAY_SIZE(targets))
		abort();
	for (; i && strcmp(targets[i - 1]->format, target->format) > 0; i--)
		targets[i] = targets[i - 1];
	targets[i] = target;
}

void fuzz_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdprintf(words_fd < 0 ? STDERR_FILENO : words_fd, fmt, ap);
	va_end(ap);
	if (words_fd < 0)
		fputc('\n', stderr);
	abort();
}

static const struct fuzz_target *target_of(const struct fuzz_input *in)
{
	return targets[in->format % nr_targets];
}

void fuzz_run(const u8 *data, size_t size)
{
	struct fuzz_input in;

	fuzz_decode(data, size, &in);
	target_of(&in)->run(&in);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	fuzz_run(data, size);
	return 0;
}

/* ---- an input in words ---- */

/* Of what a sanitizer says, the line that names the fault. */
static void note_words(char *why, size_t room, const char *text)
{
	static const char *const marks[] = { "ERROR: ", "error: ", "must not: " };
	const char *line = text;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(marks); i++)
		if (strstr(text, marks[i]))
			line = strstr(text, marks[i]);
	snprintf(why, room, "%.*s", (int)strcspn(line, "\n"), line);
}

bool fuzz_fails(const u8 *data, size_t size, char *why, size_t room)
{
	static char text[16384];
	size_t n = 0;
	ssize_t got;
	int fds[2], status;
	pid_t pid;

	if (pipe(fds))
		abort();
	pid = fork();
	if (pid < 0)
		abort();
	if (!pid) {
		close(fds[0]);
		words_fd = fds[1];
		dup2(fds[1], STDERR_FILENO);
		alarm(10);
		fuzz_run(data, size);
		_exit(0);
	}
	close(fds[1]);
	while ((got = read(fds[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	text[n] = 0;
	close(fds[0]);
	if (waitpid(pid, &status, 0) != pid)
		abort();
	if (why)
		note_words(why, room, n ? text : "no end");
	return status;
}

static size_t read_input(const char *path, u8 data[FUZZ_BYTES])
{
	FILE *f = fopen(path, "rb");
	size_t size;

	if (!f) {
		perror(path);
		exit(2);
	}
	size = fread(data, 1, FUZZ_BYTES, f);
	fclose(f);
	return size;
}

static void print_text(const char *path)
{
	static char line[2 * FUZZ_TEXT], why[512];
	struct fuzz_say s = { line, line + sizeof(line) };
	u8 data[FUZZ_BYTES];
	size_t size = read_input(path, data);
	struct fuzz_input in;

	fuzz_decode(data, size, &in);
	target_of(&in)->text(&in, &s);
	printf("%s: %s", target_of(&in)->format, line);
	if (fuzz_fails(data, size, why, sizeof(why)))
		printf(" /* %s */", why);
	putchar('\n');
}

static void minimize_file(const char *path)
{
	u8 data[FUZZ_BYTES];
	size_t size = read_input(path, data);
	FILE *f;

	size = fuzz_minimize(data, size);
	f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f)) {
		perror(path);
		exit(2);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	if (*argc != 3)
		return 0;
	if (!strcmp((*argv)[1], "--text"))
		print_text((*argv)[2]);
	else if (!strcmp((*argv)[1], "--minimize"))
		minimize_file((*argv)[2]);
	else
		return 0;
	fflush(stdout);
	_exit(0);
}

/* ---- mutation that knows records ---- */

static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void random_record(struct fuzz_input *in, unsigned int at, unsigned int *state)
{
	static const u16 attrs[] = { A_WRITE, A_DIRTY, A_YOUNG, A_EXCLUSIVE, A_CONT, A_PROTNONE };
	struct fuzz_record *r = &in->rec[at];

	*r = (struct fuzz_record){ .type = next_random(state) % FUZZ_TYPES,
				   .which = next_random(state) % 8,
				   .nr = next_random(state) % 10 };
	if (next_random(state) % 2)
		r->attrs = attrs[next_random(state) % ARRAY_SIZE(attrs)];
	if (!(next_random(state) % 4))
		r->from = next_random(state) % 40;
}

static void move_records(struct fuzz_input *in, unsigned int to, unsigned int from)
{
	unsigned int nr = in->nr_rec - (to > from ? to : from);

	memmove(&in->rec[to], &in->rec[from], nr * sizeof(in->rec[0]));
}

static void change_records(struct fuzz_input *in, unsigned int *state)
{
	unsigned int at = in->nr_rec ? next_random(state) % in->nr_rec : 0;
	struct fuzz_record copy = in->rec[at];

	if (in->nr_rec && next_random(state) % 3 == 0) {
		move_records(in, at, at + 1);
		in->nr_rec--;
		return;
	}
	if (in->nr_rec == FUZZ_RECORDS)
		return;
	in->nr_rec++;
	move_records(in, at + 1, at);
	if (next_random(state) % 3)
		random_record(in, at, state);
	else
		in->rec[at] = copy;
}

/* One byte of the header or of a record, by itself. */
static size_t change_byte(u8 *data, size_t size, unsigned int *state)
{
	if (!size)
		return 0;
	LLVMFuzzerMutate(data + next_random(state) % size, 1, 1);
	return size;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max_size, unsigned int seed)
{
	unsigned int state = seed;
	struct fuzz_input in;

	switch (next_random(&state) % 4) {
	case 0:
		return LLVMFuzzerMutate(data, size, max_size);
	case 1:
		return change_byte(data, size, &state);
	default:
		if (max_size < FUZZ_BYTES)
			return LLVMFuzzerMutate(data, size, max_size);
		fuzz_decode(data, size, &in);
		change_records(&in, &state);
		return fuzz_encode(&in, data);
	}
}
