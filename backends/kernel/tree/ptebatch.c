// SPDX-License-Identifier: GPL-2.0-only
/*
 * ptebatch/ in debugfs: which side of a walker runs, and what ours have done.
 *
 *	<walker>	1 ours (at boot), 0 the kernel's own
 *	counters	pages handled and bailed out of; writing 1 (as at boot) zeroes them and
 *			counts, 0 stops: who counts does not measure
 *	runs		how often a run of 2^n up to 2^(n+1) - 1 pages was met, while there are
 *			counters; writing 1 zeroes it and gathers, 0 stops
 */
#include <linux/bitops.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

#include "internal.h"

#include <ptebatch/kernel/ops.h>
#include <ptebatch/kernel/ab.h>
#include <ptebatch/contig.h>

static const char *const names[PTB_AB_WALKERS] = {
	[PTB_AB_GUP_FAST] = "gup_fast",
	[PTB_AB_DAX] = "dax",
	[PTB_AB_MINCORE] = "mincore",
	[PTB_AB_VFIO] = "vfio",
};

struct static_key_true ptb_ab_keys[PTB_AB_WALKERS] = {
	[0 ... PTB_AB_WALKERS - 1] = STATIC_KEY_TRUE_INIT,
};
EXPORT_SYMBOL_GPL(ptb_ab_keys);

DEFINE_STATIC_KEY_TRUE(ptb_ab_count_key);
EXPORT_SYMBOL_GPL(ptb_ab_count_key);

/* Pages that ours have done, and pages that were asked of them and left to others. */
struct counts {
	unsigned long handled;
	unsigned long bailed;
};

static DEFINE_PER_CPU(struct counts, counts[PTB_AB_WALKERS]);
static atomic_long_t runs[PTB_AB_WALKERS][BITS_PER_LONG];
static bool gather;

static void one_run(enum ptb_ab walker, unsigned long nr)
{
	atomic_long_inc(&runs[walker][ilog2(nr)]);
}

void ptb_ab_done(enum ptb_ab walker, unsigned long handled, unsigned long bailed)
{
	this_cpu_add(counts[walker].handled, handled);
	this_cpu_add(counts[walker].bailed, bailed);
}
EXPORT_SYMBOL_GPL(ptb_ab_done);

void ptb_ab_done_run(enum ptb_ab walker, unsigned long nr)
{
	ptb_ab_done(walker, nr, 0);
	if (READ_ONCE(gather))
		one_run(walker, nr);
}
EXPORT_SYMBOL_GPL(ptb_ab_done_run);

void ptb_ab_done_pages(enum ptb_ab walker, unsigned int want, struct page **pages, unsigned int nr)
{
	unsigned int i, run;

	ptb_ab_done(walker, nr, want - nr);
	for (i = 0; READ_ONCE(gather) && i < nr; i += run) {
		run = ptb_contig_folio(pages + i, nr - i);
		one_run(walker, run);
	}
}

void ptb_ab_done_bytes(enum ptb_ab walker, const unsigned char *vec, unsigned int nr)
{
	unsigned int i, run;

	ptb_ab_done(walker, nr, 0);
	for (i = 0; READ_ONCE(gather) && i < nr; i += run) {
		for (run = 1; i + run < nr && vec[i + run] == vec[i]; run++)
			;
		one_run(walker, run);
	}
}

static int walker_get(void *data, u64 *val)
{
	struct static_key_true *key = data;

	*val = static_key_enabled(key);
	return 0;
}

static int walker_set(void *data, u64 val)
{
	struct static_key_true *key = data;

	if (val > 1)
		return -EINVAL;
	if (val)
		static_branch_enable(key);
	else
		static_branch_disable(key);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(walker_fops, walker_get, walker_set, "%llu\n");

static int counters_show(struct seq_file *m, void *unused)
{
	int w, cpu;

	for (w = 0; w < PTB_AB_WALKERS; w++) {
		unsigned long handled = 0, bailed = 0;

		for_each_possible_cpu(cpu)
			handled += per_cpu(counts[w].handled, cpu);
		for_each_possible_cpu(cpu)
			bailed += per_cpu(counts[w].bailed, cpu);
		seq_printf(m, "%s handled %lu bailed %lu\n", names[w], handled, bailed);
	}
	return 0;
}

/* What is counted meanwhile elsewhere may survive or not. */
static ssize_t counters_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	bool on;
	int cpu, ret = kstrtobool_from_user(buf, len, &on);

	if (ret)
		return ret;
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(counts, cpu), 0, sizeof(counts));
	if (on)
		static_branch_enable(&ptb_ab_count_key);
	else
		static_branch_disable(&ptb_ab_count_key);
	return len;
}
DEFINE_SHOW_STORE_ATTRIBUTE(counters);

static int runs_show(struct seq_file *m, void *unused)
{
	int w, order;

	for (w = 0; w < PTB_AB_WALKERS; w++) {
		for (order = 0; order < BITS_PER_LONG; order++) {
			long n = atomic_long_read(&runs[w][order]);

			if (n)
				seq_printf(m, "%s %lu %ld\n", names[w], BIT(order), n);
		}
	}
	return 0;
}

static ssize_t runs_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	bool on;
	int ret = kstrtobool_from_user(buf, len, &on);

	if (ret)
		return ret;
	if (on)
		memset(runs, 0, sizeof(runs));
	WRITE_ONCE(gather, on);
	return len;
}
DEFINE_SHOW_STORE_ATTRIBUTE(runs);

static int __init ptb_ab_init(void)
{
	struct dentry *dir = debugfs_create_dir("ptebatch", NULL);
	int w;

	for (w = 0; w < PTB_AB_WALKERS; w++)
		debugfs_create_file_unsafe(names[w], 0600, dir, &ptb_ab_keys[w], &walker_fops);
	debugfs_create_file("counters", 0600, dir, NULL, &counters_fops);
	debugfs_create_file("runs", 0600, dir, NULL, &runs_fops);
	return 0;
}
late_initcall(ptb_ab_init);
