// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The page tables of a live process, from /proc.
 *
 *	smaps		the vmas (it has the lines of maps), their flags and, where there is no
 *			PAGEMAP_SCAN, how much PMD leaves map
 *	PAGEMAP_SCAN	where anything is mapped, and what by PMD leaves
 *	pagemap		the entries
 *	kpageflags	the folios
 *
 * The process runs on meanwhile, so that these may disagree. A leaf whose folio turns out smaller
 * is recorded as entries, a folio of which only a part is found as single pages; the result always
 * passes snapshot_check(). A folio larger than 2 MiB is recorded as folios of 2 MiB.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "record.h"

#include <fcntl.h>
#include <unistd.h>

void show_progress(struct rec *r)
{
	struct timespec now;
	s64 ms;

	if (!r->progress)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - r->shown.tv_sec) * 1000 + (now.tv_nsec - r->shown.tv_nsec) / 1000000;
	if (ms < 300)
		return;
	r->shown = now;
	fprintf(stderr, "\rptebatch: record: %llu MiB, %zu runs, %zu folios",
		(unsigned long long)(r->entries << r->s->page_shift >> 20), r->s->nr_runs,
		r->s->nr_folios);
}

/* Vmas */

static u8 kind_of(const char *name, bool shared)
{
	static const struct {
		const char *prefix;
		u8 kind;
	} known[] = {
		{ "[heap]", SNAP_ANON },	{ "[stack", SNAP_ANON }, { "[anon:", SNAP_ANON },
		{ "[anon_shmem:", SNAP_SHMEM }, { "[", SNAP_SPECIAL },	 { "/memfd:", SNAP_SHMEM },
		{ "/dev/shm/", SNAP_SHMEM },	{ "/SYSV", SNAP_SHMEM },
	};
	size_t i;

	if (!*name)
		return SNAP_ANON;
	if (!strncmp(name, "/dev/zero", 9))
		return shared ? SNAP_SHMEM : SNAP_ANON;
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strncmp(name, known[i].prefix, strlen(known[i].prefix)))
			return known[i].kind;
	return SNAP_FILE;
}

/* The first line of a vma. Vmas may merge while they are read: none starts below @floor. */
static bool parse_head(const char *line, unsigned int page_shift, u64 floor, struct area *area)
{
	unsigned long long start, end, off;
	const char *name;
	char perms[5];
	int at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %*x:%*x %*u %n", &start, &end, perms, &off, &at) < 4)
		return false;
	name = at ? line + at : "";
	*area = (struct area){ .start = start >> page_shift, .end = end >> page_shift };
	area->pgoff = off >> page_shift;
	area->prot = (perms[0] == 'r' ? SNAP_PROT_READ : 0) |
		     (perms[1] == 'w' ? SNAP_PROT_WRITE : 0) |
		     (perms[2] == 'x' ? SNAP_PROT_EXEC : 0) | (perms[3] == 's' ? SNAP_SHARED : 0);
	area->kind = kind_of(name, area->prot & SNAP_SHARED);
	if (area->start < floor) {
		area->pgoff += floor - area->start;
		area->start = floor;
	}
	if (area->end < area->start || !strncmp(name, "[vsyscall]", 10))
		area->end = area->start;
	return true;
}

static void parse_detail(const char *line, struct area *area)
{
	unsigned long long kb;
	char key[24];

	if (!strncmp(line, "VmFlags:", 8)) {
		if (strstr(line, " ht"))
			area->kind = SNAP_HUGETLB;
		else if (strstr(line, " pf") || strstr(line, " io"))
			area->kind = SNAP_SPECIAL;
		return;
	}
	if (sscanf(line, "%23[^:]: %llu kB", key, &kb) != 2)
		return;
	if (!strcmp(key, "Rss") || !strcmp(key, "Swap"))
		area->resident_kb += kb;
	else if (!strcmp(key, "AnonHugePages") || !strcmp(key, "ShmemPmdMapped") ||
		 !strcmp(key, "FilePmdMapped"))
		area->leaf_kb += kb;
}

static int read_smaps(struct rec *r, FILE *smaps)
{
	struct area area = { 0 }, next;
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	while (!ret && getline(&line, &room, smaps) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!parse_head(line, r->s->page_shift, area.end, &next)) {
			parse_detail(line, &area);
			continue;
		}
		if (area.end > area.start)
			ret = add_area(r, &area);
		area = next;
	}
	if (!ret && area.end > area.start)
		ret = add_area(r, &area);
	if (!ret && ferror(smaps))
		ret = snapshot_fail(r->err, "cannot read the smaps of pid %d", r->pid);
	free(line);
	return ret;
}

/* Keeps the offset in 2 MiB; a gap keeps its size if small, else becomes 2 to 4 MiB. */
static void rebase(struct snapshot *s)
{
	u64 end = SNAP_BLOCK, old_end = SNAP_BLOCK;
	size_t i;

	for (i = 0; i < s->nr_vmas; i++) {
		struct snap_vma *vma = &s->vmas[i];
		u64 gap = vma->page - old_end;

		old_end = vma->page + vma->nr_pages;
		vma->page = end + (gap < 2 * SNAP_BLOCK ? gap : SNAP_BLOCK + gap % SNAP_BLOCK);
		end = vma->page + vma->nr_pages;
	}
}

/* Memory that ended does not come back: if it is there, all that was read was of it. */
static int still_there(struct rec *r)
{
	return read_words(r->pagemap, r->buf, 1, r->s->vmas[0].page) == 1 ? 0 : gone(r);
}

static int no_mm(int pid, char err[SNAP_ERR_MAX])
{
	return snapshot_fail(err,
			     "pid %d has no memory of its own: it has ended, or is a kernel "
			     "thread",
			     pid);
}

static int cannot_open(int pid, const char *path, char err[SNAP_ERR_MAX])
{
	char proc[24];

	if (errno == EACCES || errno == EPERM)
		return snapshot_fail(err,
				     "not permitted to look into pid %d; run as root or with "
				     "CAP_SYS_PTRACE and CAP_SYS_ADMIN",
				     pid);
	if ((errno != ENOENT && errno != ESRCH) || access("/proc/self", F_OK))
		return snapshot_fail(err, "cannot open %s: %s", path, strerror(errno));
	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	if (!access(proc, F_OK))
		return no_mm(pid, err);
	return snapshot_fail(err, "no process has pid %d", pid);
}

/* NULL with the reason in err; @pagemap may be open even then. */
static FILE *open_smaps(int pid, int *pagemap, char err[SNAP_ERR_MAX])
{
	char path[40];
	FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	*pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (*pagemap >= 0) {
		snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
		f = fopen(path, "re");
	}
	if (!f)
		cannot_open(pid, path, err);
	return f;
}

static int open_flags(struct rec *r)
{
	r->kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (r->kpageflags >= 0)
		return 0;
	if (errno == EACCES || errno == EPERM)
		return snapshot_fail(r->err, "/proc/kpageflags is closed to this user; run as "
					     "root or with CAP_DAC_READ_SEARCH");
	return snapshot_fail(r->err, "cannot open /proc/kpageflags: %s", strerror(errno));
}

static int record(struct rec *r, FILE *smaps)
{
	if (read_smaps(r, smaps))
		return -1;
	if (!r->s->nr_vmas)
		return no_mm(r->pid, r->err);
	if (open_flags(r) || renumber(r, SNAP_SWAP) || renumber(r, SNAP_PRESENT) || still_there(r))
		return -1;
	correct_all(r->s);
	rebase(r->s);
	return snapshot_check(r->s, r->err);
}

int snapshot_record(int pid, struct snapshot *s, char err[SNAP_ERR_MAX])
{
	struct rec *r = calloc(1, sizeof(*r));
	FILE *smaps;
	int ret = -1;

	*s = (struct snapshot){ 0 };
	if (!r)
		return snapshot_fail(err, "out of memory");
	s->page_shift = (u8)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	r->s = s;
	r->err = err;
	r->pid = pid;
	r->kpageflags = -1;
	r->progress = isatty(STDERR_FILENO);
	clock_gettime(CLOCK_MONOTONIC, &r->shown);
	smaps = open_smaps(pid, &r->pagemap, err);
	if (smaps) {
		ret = record(r, smaps);
		fclose(smaps);
	}
	if (r->progress)
		fputs("\r\033[K", stderr);
	if (r->pagemap >= 0)
		close(r->pagemap);
	if (r->kpageflags >= 0)
		close(r->kpageflags);
	free(r->spans);
	free(r->blocks);
	free(r);
	if (ret)
		snapshot_free(s);
	return ret;
}
