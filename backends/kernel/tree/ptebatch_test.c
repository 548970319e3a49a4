// SPDX-License-Identifier: GPL-2.0-only
/* debugfs ptebatch/test: ptebatch_test.h says what it does. For test kernels only. */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/uaccess.h>

#include "internal.h"
#include <ptebatch/kernel/ops.h>
#include <ptebatch/scan.h>
#include "ptebatch_test.h"

/* A round of one table with interrupts off takes long enough. */
#define MAX_ROUNDS 256

struct hold {
	struct mutex lock;
	struct page **pages;
	int nr;
	bool pin;
};

/* ---- holding pages ---- */

static void hold_drop(struct hold *hold)
{
	int i;

	if (hold->pin)
		unpin_user_pages(hold->pages, hold->nr);
	else
		for (i = 0; i < hold->nr; i++)
			put_page(hold->pages[i]);
	kvfree(hold->pages);
	hold->pages = NULL;
	hold->nr = 0;
}

/* Combinations that GUP would warn about are refused here. */
static bool hold_flags_valid(unsigned int flags)
{
	if (flags & PTB_TEST_PIN)
		return !(flags &
			 ~(PTB_TEST_PIN | PTB_TEST_WRITE | PTB_TEST_LONGTERM | PTB_TEST_NOFAULT));
	return !(flags & ~(PTB_TEST_WRITE | PTB_TEST_FAST_ONLY));
}

static int hold_gup(const struct ptb_test_hold *arg, struct page **pages)
{
	unsigned int gup = 0;

	if (arg->flags & PTB_TEST_WRITE)
		gup |= FOLL_WRITE;
	if (arg->flags & PTB_TEST_LONGTERM)
		gup |= FOLL_LONGTERM;
	if (arg->flags & PTB_TEST_NOFAULT)
		gup |= FOLL_NOFAULT;

	if (arg->flags & PTB_TEST_PIN)
		return pin_user_pages_fast(arg->addr, arg->nr, gup, pages);
	if (arg->flags & PTB_TEST_FAST_ONLY)
		return get_user_pages_fast_only(arg->addr, arg->nr, gup, pages);
	return get_user_pages_fast(arg->addr, arg->nr, gup, pages);
}

static int hold_take(struct hold *hold, struct ptb_test_hold *arg)
{
	u64 __user *pfns = u64_to_user_ptr(arg->pfns);
	int i;

	if (hold->pages)
		return -EBUSY;
	if (!arg->nr || arg->nr > PTB_TEST_MAX_NR || !hold_flags_valid(arg->flags))
		return -EINVAL;

	hold->pages = kvcalloc(arg->nr, sizeof(*hold->pages), GFP_KERNEL);
	if (!hold->pages)
		return -ENOMEM;

	arg->ret = hold_gup(arg, hold->pages);
	hold->nr = max(arg->ret, 0);
	hold->pin = arg->flags & PTB_TEST_PIN;

	for (i = 0; i < hold->nr; i++) {
		if (put_user((u64)page_to_pfn(hold->pages[i]), pfns + i)) {
			hold_drop(hold);
			return -EFAULT;
		}
	}
	if (!hold->nr)
		hold_drop(hold);
	return 0;
}

/* ---- counts ---- */

static void count_one(struct ptb_test_count *count)
{
	struct folio *folio;

	count->refs = 0;
	count->pins = -1;
	if (!pfn_valid(count->pfn))
		return;

	folio = page_folio(pfn_to_page(count->pfn));
	count->refs = folio_ref_count(folio);
	if (folio_has_pincount(folio))
		count->pins = atomic_read(&folio->_pincount);
}

static int count_pages(const struct ptb_test_counts *arg)
{
	struct ptb_test_count __user *counts = u64_to_user_ptr(arg->counts);
	struct ptb_test_count count;
	unsigned int i;

	if (arg->nr > PTB_TEST_MAX_NR)
		return -EINVAL;

	/* What waits there for the lru is referenced too: counts would differ by chance. */
	lru_add_drain_all();
	for (i = 0; i < arg->nr; i++) {
		if (copy_from_user(&count, counts + i, sizeof(count)))
			return -EFAULT;
		count_one(&count);
		if (copy_to_user(counts + i, &count, sizeof(count)))
			return -EFAULT;
	}
	return 0;
}

/* ---- the scan alone ---- */

static noinline unsigned int scan_ours(pte_t *ptep, unsigned long addr, unsigned int nr)
{
	unsigned int done, run, runs = 0;

	for (done = 0; done < nr; done += run, runs++) {
		pte_t pte = ptb_ptep_get(ptep + done, PTB_FOR_LOOK);
		struct folio *folio = page_folio(pte_page(pte));

		run = 1;
		if (folio_test_large(folio) && nr - done > 1)
			run = ptb_scan_folio(folio, NULL, ptep + done, &pte, nr - done,
					     PTB_FOR_LOOK);
	}
	return runs;
}

static noinline unsigned int scan_kernel(pte_t *ptep, unsigned long addr, unsigned int nr)
{
	unsigned int done, run, runs = 0;

	for (done = 0; done < nr; done += run, runs++) {
		pte_t pte = ptep_get(ptep + done);
		struct folio *folio = page_folio(pte_page(pte));

		run = 1;
		if (folio_test_large(folio) && nr - done > 1)
			run = ptb_compat_folio_pte_batch(folio, addr + done * PAGE_SIZE,
							 ptep + done, pte, nr - done);
	}
	return runs;
}

static bool
scan_all_pages(struct vm_area_struct *vma, pte_t *ptep, unsigned long addr, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		pte_t pte = ptep_get(ptep + i);

		if (!pte_present(pte) || !vm_normal_page(vma, addr + i * PAGE_SIZE, pte))
			return false;
	}
	return true;
}

static u64 scan_timed(unsigned int (*scan)(pte_t *, unsigned long, unsigned int), pte_t *ptep,
		      unsigned long addr, unsigned int nr, unsigned int rounds, u32 *runs)
{
	unsigned int i, found = 0;
	unsigned long irqs;
	u64 start, ns;

	local_irq_save(irqs);
	start = ktime_get_ns();
	for (i = 0; i < rounds; i++)
		found = scan(ptep, addr, nr);
	ns = ktime_get_ns() - start;
	local_irq_restore(irqs);

	*runs += found;
	return ns;
}

static int scan_table(struct vm_area_struct *vma, unsigned long addr, unsigned int nr,
		      struct ptb_test_scan *arg)
{
	pmd_t *pmd = mm_find_pmd(vma->vm_mm, addr);
	spinlock_t *ptl;
	pte_t *ptep;
	int ret = 0;

	if (!pmd)
		return -ENXIO;
	ptep = pte_offset_map_lock(vma->vm_mm, pmd, addr, &ptl);
	if (!ptep)
		return -ENXIO;
	ptb_compat_mapped();

	if (scan_all_pages(vma, ptep, addr, nr)) {
		arg->ours_ns += scan_timed(scan_ours, ptep, addr, nr, arg->rounds, &arg->ours_runs);
		arg->kernel_ns +=
			scan_timed(scan_kernel, ptep, addr, nr, arg->rounds, &arg->kernel_runs);
	} else {
		ret = -ENXIO;
	}
	pte_unmap_unlock(ptep, ptl);
	return ret;
}

static int scan_range(struct ptb_test_scan *arg)
{
	unsigned long addr = arg->addr, end = addr + arg->nr * PAGE_SIZE;
	struct vm_area_struct *vma;
	unsigned int nr;
	int ret = -ENXIO;

	if (!arg->nr || arg->nr > PTB_TEST_MAX_NR || !arg->rounds || arg->rounds > MAX_ROUNDS ||
	    offset_in_page(addr) || end < addr)
		return -EINVAL;

	arg->ours_ns = 0;
	arg->kernel_ns = 0;
	arg->ours_runs = 0;
	arg->kernel_runs = 0;

	mmap_read_lock(current->mm);
	vma = vma_lookup(current->mm, addr);
	if (vma && end <= vma->vm_end && !is_vm_hugetlb_page(vma)) {
		for (ret = 0; !ret && addr < end; addr += nr * PAGE_SIZE) {
			nr = ptb_max_nr(addr, end);
			ret = scan_table(vma, addr, nr, arg);
		}
	}
	mmap_read_unlock(current->mm);
	return ret;
}

/* ---- the file ---- */

static int test_open(struct inode *inode, struct file *file)
{
	struct hold *hold = kzalloc(sizeof(*hold), GFP_KERNEL);

	if (!hold)
		return -ENOMEM;
	mutex_init(&hold->lock);
	file->private_data = hold;
	return 0;
}

static int test_release(struct inode *inode, struct file *file)
{
	hold_drop(file->private_data);
	kfree(file->private_data);
	return 0;
}

static long test_hold(struct hold *hold, void __user *user)
{
	struct ptb_test_hold arg;
	int ret;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;

	mutex_lock(&hold->lock);
	ret = hold_take(hold, &arg);
	if (!ret && copy_to_user(user, &arg, sizeof(arg))) {
		hold_drop(hold);
		ret = -EFAULT;
	}
	mutex_unlock(&hold->lock);
	return ret;
}

static long test_drop(struct hold *hold)
{
	mutex_lock(&hold->lock);
	hold_drop(hold);
	mutex_unlock(&hold->lock);
	return 0;
}

static long test_count(void __user *user)
{
	struct ptb_test_counts arg;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	return count_pages(&arg);
}

static long test_scan(void __user *user)
{
	struct ptb_test_scan arg;
	int ret;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	ret = scan_range(&arg);
	if (!ret && copy_to_user(user, &arg, sizeof(arg)))
		ret = -EFAULT;
	return ret;
}

static long test_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case PTB_TEST_HOLD:
		return test_hold(file->private_data, user);
	case PTB_TEST_RELEASE:
		return test_drop(file->private_data);
	case PTB_TEST_COUNT:
		return test_count(user);
	case PTB_TEST_SCAN:
		return test_scan(user);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations test_fops = {
	.open = test_open,
	.release = test_release,
	.unlocked_ioctl = test_ioctl,
};

/* Late, when the directory is there. */
static int __init ptebatch_test_init(void)
{
	struct dentry *dir = debugfs_lookup("ptebatch", NULL);

	debugfs_create_file("test", 0600, dir, NULL, &test_fops);
	dput(dir);
	return 0;
}
late_initcall(ptebatch_test_init);
