// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Files written whole or not at all. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "whole_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device or a pipe must not be renamed over. */
int whole_file_may_write(const char *path, char err[SNAP_ERR_MAX])
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct stat st;
	bool may;
	char *dir;

	if (!*name || (!stat(path, &st) && !S_ISREG(st.st_mode)))
		return snapshot_fail(err, "cannot write %.80s: not the name of a file", path);
	dir = strndup(path, (size_t)(name - path));
	if (!dir)
		return snapshot_fail(err, "out of memory");
	may = !access(slash ? dir : ".", W_OK | X_OK);
	free(dir);
	return may ? 0 : snapshot_fail(err, "cannot write %.80s: %s", path, strerror(errno));
}

static bool write_file(int fd, const u8 *p, size_t len)
{
	mode_t mask = umask(0);

	umask(mask);
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			return false;
		p += n < 0 ? 0 : n;
		len -= n < 0 ? 0 : (size_t)n;
	}
	return !fchmod(fd, 0666 & ~mask);
}

static int replace(const char *path, const u8 *p, size_t len, char err[SNAP_ERR_MAX])
{
	bool ok = false;
	char *tmp;
	int fd;

	if (asprintf(&tmp, "%s.XXXXXX", path) < 0)
		return snapshot_fail(err, "out of memory");
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd >= 0) {
		ok = write_file(fd, p, len);
		ok = !close(fd) && ok && !rename(tmp, path);
	}
	if (!ok) {
		snapshot_fail(err, "cannot write %.80s: %s", path, strerror(errno));
		if (fd >= 0)
			unlink(tmp);
	}
	free(tmp);
	return ok ? 0 : -1;
}

int whole_file_write(const char *path, const void *data, size_t len, char err[SNAP_ERR_MAX])
{
	void (*too_large)(int);
	sigset_t all, before;
	char *real;
	int ret;

	if (whole_file_may_write(path, err))
		return -1;
	real = realpath(path, NULL);
	/* Signals wait while the temporary file exists, so that none leaves it behind. */
	sigfillset(&all);
	sigdelset(&all, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &all, &before);
	too_large = signal(SIGXFSZ, SIG_IGN);
	ret = replace(real ? real : path, data, len, err);
	signal(SIGXFSZ, too_large);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(real);
	return ret;
}
