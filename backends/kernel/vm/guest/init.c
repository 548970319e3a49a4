// SPDX-License-Identifier: GPL-2.0-only
/*
 * /init of the test guest. Runs what stands behind "--" on the kernel's command line, one after the
 * other, and powers off. A word is a program and its arguments:
 *
 *	name:arg:arg		runs /bin/name with these arguments
 *	setup:vfio		gives QEMU's edu device to vfio-pci
 *	setup:dax:2097152	makes a device-dax of this alignment from the first pmem region
 *	setup:hugetlb:64	that many huge pages of the default size
 *	setup:disk		an ext2 of 96 MiB, mounted on /mnt
 *	setup:swap		swaps to a block device in memory of 1 GiB
 *
 * The console is one serial line. So that no kernel message tears a program's line apart, the
 * kernel is told to keep quiet and its log is written from here, by the line.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONSOLE_LEVEL 8
#define CONSOLE_QUIET 1
#define CONSOLE_LOUD 8

static int kmsg;

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, text, strlen(text)) >= 0;

	if (!done)
		printf("init: %s: cannot write \"%s\": %m\n", path, text);
	if (fd >= 0)
		close(fd);
	return done;
}

static bool get(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t nr = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	if (nr < 0)
		return false;
	text[nr] = 0;
	text[strcspn(text, "\n")] = 0;
	return true;
}

static void mounted(const char *type, const char *dir, const char *options)
{
	mkdir(dir, 0755);
	if (mount(type, dir, type, 0, options) && errno != EBUSY)
		printf("init: mount %s on %s: %m\n", type, dir);
}

/* A record is "level,sequence,microseconds,flags;text\n" and lines of tags, which nobody needs. */
static void print_kernel_log(void)
{
	char record[8192];
	unsigned long long usec;
	char *text;
	ssize_t nr;

	while ((nr = read(kmsg, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
		if (nr <= 0)
			continue;
		record[nr] = 0;
		text = strchr(record, ';');
		if (!text || sscanf(record, "%*u,%*u,%llu", &usec) != 1)
			continue;
		text[strcspn(text, "\n")] = 0;
		printf("[%5llu.%06llu] %s\n", usec / 1000000, usec % 1000000, text + 1);
	}
}

static bool setup_vfio(void)
{
	const char *pci = "/sys/bus/pci/devices";
	const char *type1 = "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts";
	char path[512], vendor[16], device[16];
	struct dirent *entry;
	DIR *dir = opendir(pci);

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s/vendor", pci, entry->d_name);
		if (!get(path, vendor, sizeof(vendor)))
			continue;
		snprintf(path, sizeof(path), "%s/%s/device", pci, entry->d_name);
		if (!get(path, device, sizeof(device)))
			continue;
		if (strcmp(vendor, "0x1234") || strcmp(device, "0x11e8"))
			continue;
		snprintf(path, sizeof(path), "%s/%s/driver_override", pci, entry->d_name);
		/* smmuv3 in QEMU cannot remap interrupts. */
		return put(path, "vfio-pci") && put("/sys/bus/pci/drivers_probe", entry->d_name) &&
		       put(type1, "1");
	}
	printf("init: no edu device: run.sh wants -v\n");
	return false;
}

static bool setup_dax(const char *align)
{
	const char *nd = "/sys/bus/nd";
	char path[512], seed[64];

	snprintf(path, sizeof(path), "%s/devices/region0/dax_seed", nd);
	if (!get(path, seed, sizeof(seed))) {
		printf("init: no pmem region: run.sh wants -p\n");
		return false;
	}
	snprintf(path, sizeof(path), "%s/devices/namespace0.0/driver/unbind", nd);
	if (!access(path, F_OK) && !put(path, "namespace0.0"))
		return false;
#define SEED(attribute) (snprintf(path, sizeof(path), "%s/devices/%s/" attribute, nd, seed), path)
	if (!put(SEED("align"), align) || !put(SEED("mode"), "ram") ||
	    !put(SEED("uuid"), "5c2f9f9e-7b1d-4d0e-9c8a-4f1d2d3c4b5a") ||
	    !put(SEED("namespace"), "namespace0.0"))
		return false;
	snprintf(path, sizeof(path), "%s/drivers/dax_pmem/bind", nd);
	return put(path, seed);
}

static bool setup_hugetlb(const char *nr)
{
	char got[32] = "";

	return put("/proc/sys/vm/nr_hugepages", nr) &&
	       get("/proc/sys/vm/nr_hugepages", got, sizeof(got)) && !strcmp(got, nr);
}

/* The image holds the file system's tables only; the rest of a fresh ext2 is a hole. */
static bool setup_disk(void)
{
	int image = open("/disk.ext2", O_RDWR);
	int loop = open("/dev/loop0", O_RDWR);
	bool done;

	mkdir("/mnt", 0755);
	done = image >= 0 && loop >= 0 && !ftruncate(image, 96 << 20) &&
	       !ioctl(loop, LOOP_SET_FD, image) && !mount("/dev/loop0", "/mnt", "ext2", 0, NULL);
	if (!done)
		printf("init: ext2 on /dev/loop0: %m\n");
	return done;
}

static bool setup_swap(void)
{
	char header[4096] = "";
	unsigned int *info = (unsigned int *)(header + 1024);
	int fd = open("/dev/nullb0", O_RDWR);
	bool done;

	/* Version and last page. */
	info[0] = 1;
	info[1] = (1 << 30) / sizeof(header) - 1;
	memcpy(header + sizeof(header) - 10, "SWAPSPACE2", 10);
	done = fd >= 0 && pwrite(fd, header, sizeof(header), 0) == sizeof(header) && !fsync(fd) &&
	       !swapon("/dev/nullb0", 0);
	if (!done)
		printf("init: swap on /dev/nullb0: %m\n");
	return done;
}

static bool setup(char **argv)
{
	const char *what = argv[1] ?: "";

	if (!strcmp(what, "vfio"))
		return setup_vfio();
	if (!strcmp(what, "dax"))
		return setup_dax(argv[2] ?: "2097152");
	if (!strcmp(what, "hugetlb"))
		return setup_hugetlb(argv[2] ?: "64");
	if (!strcmp(what, "disk"))
		return setup_disk();
	if (!strcmp(what, "swap"))
		return setup_swap();
	printf("init: nothing is called setup:%s\n", what);
	return false;
}

static int run(char **argv)
{
	sigset_t child;
	struct pollfd fds[2] = { { .fd = kmsg, .events = POLLIN }, { .events = POLLIN } };
	struct signalfd_siginfo info;
	char path[256];
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "/bin/%s", argv[0]);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	fds[1].fd = signalfd(-1, &child, SFD_CLOEXEC);

	pid = fork();
	if (!pid) {
		sigprocmask(SIG_UNBLOCK, &child, NULL);
		execv(path, argv);
		printf("init: %s: %m\n", path);
		_exit(127);
	}
	for (;;) {
		poll(fds, 2, -1);
		print_kernel_log();
		if (!(fds[1].revents & POLLIN))
			continue;
		if (read(fds[1].fd, &info, sizeof(info)) < 0)
			continue;
		/* Orphans end up here as well. */
		for (pid_t got; (got = waitpid(-1, &status, WNOHANG)) > 0;)
			if (got == pid)
				goto out;
	}
out:
	close(fds[1].fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void word(const char *text)
{
	char copy[1024], *argv[32], *rest = copy;
	int nr = 0, status;

	snprintf(copy, sizeof(copy), "%s", text);
	while (nr < 31 && (argv[nr] = strsep(&rest, ":")))
		nr++;
	argv[nr] = NULL;

	printf("ptebatch-begin %s\n", text);
	status = strcmp(argv[0], "setup") ? run(argv) : !setup(argv);
	print_kernel_log();
	printf("ptebatch-end %s %d\n", text, status);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("PATH", "/bin", 1);
	mounted("proc", "/proc", NULL);
	mounted("sysfs", "/sys", NULL);
	mounted("devtmpfs", "/dev", NULL);
	mounted("debugfs", "/sys/kernel/debug", NULL);
	mounted("tracefs", "/sys/kernel/tracing", NULL);
	mounted("tmpfs", "/tmp", NULL);
	mounted("tmpfs", "/dev/shm", NULL);

	/* The messages of the boot are on the console already. */
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	lseek(kmsg, 0, SEEK_END);
	klogctl(CONSOLE_LEVEL, NULL, CONSOLE_QUIET);

	for (int i = 1; i < argc; i++)
		word(argv[i]);

	print_kernel_log();
	klogctl(CONSOLE_LEVEL, NULL, CONSOLE_LOUD);
	printf("ptebatch-done\n");
	reboot(RB_POWER_OFF);
	return 1;
}
