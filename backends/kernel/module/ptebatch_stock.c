// SPDX-License-Identifier: GPL-2.0-only
/*
 * What batching would save, on a kernel as the distribution ships it. In debugfs ptebatch_stock/:
 *
 * range	echo "<pid> [<start> <end>]" >range; cat range
 *	looks through the page tables of a process (0: who writes), of a range of addresses in hex
 *	or of all of it, and changes nothing:
 *
 *	pages_in_tables		present pages in tables, the ones that may be batched
 *	pages_by_leaf		pages that a PMD or PUD maps as a whole
 *	length look gup set contig	batches of 1, 2 to 3, 4 to 7 .. pages, by how equal entries
 *				must be: to be looked at or cleared (mincore, zap), to be pinned
 *				(write agrees), to be set again (mremap, mprotect: write and
 *				soft-dirty agree); and physically contiguous runs, across folios
 *	batches			their sum: divide pages_in_tables by it
 *	ns_per_page each scan	reading each entry and its folio, and one of each batch
 *
 * vpfn		cat vpfn
 *	pages that drivers have pinned through VFIO, in a tree as type1 keeps it: found one by one,
 *	and counted by the run of 512, in ns a page; fails if the two differ.
 *
 * GUP, whose functions are not for modules, wants a kernel that ptebatch was built into.
 */
#include <linux/debugfs.h>
#include <linux/hugetlb.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

/* As much of type1's own as the tree asks for. */
struct vfio_pfn {
	struct rb_node node;
	dma_addr_t iova;
};

#include <kernel/vpfn.h>
#include <ptebatch/contig.h>
#include <ptebatch/scan.h>
#include <ptebatch/vpfn.h>

#define BUCKETS 16 /* up to tables of 64K */

enum use { LOOK, GUP, SET, CONTIG, USES };

static struct report {
	u64 in_tables, by_leaf;
	u64 runs[BUCKETS][USES];
	u64 each_ns, scan_ns;
} report;

static struct page **pages;
static DEFINE_MUTEX(lock); /* of both */

/* ---- one table, its lock held ---- */

static struct folio *folio_of(pte_t pte)
{
	if (!pte_present(pte) || pte_special(pte) || pte_devmap(pte))
		return NULL;
	return page_folio(pte_page(pte));
}

static __always_inline void
count_batches(struct report *r, pte_t *ptep, unsigned int max_nr, enum use use, const ptb_t flags)
{
	unsigned int i, nr;

	for (i = 0; i < max_nr; i += nr) {
		pte_t pte = ptb_ptep_get(ptep + i, flags);
		struct folio *folio = folio_of(pte);

		nr = 1;
		if (!folio)
			continue;
		nr = ptb_scan_folio(folio, NULL, ptep + i, &pte, max_nr - i, flags);
		r->runs[ilog2(nr)][use]++;
	}
}

static void count_contiguous(struct report *r, pte_t *ptep, unsigned int max_nr)
{
	unsigned int n = 0, i, run;

	for (i = 0; i < max_nr; i++) {
		pte_t pte = ptb_ptep_get(ptep + i, PTB_FOR_LOOK);

		if (folio_of(pte))
			pages[n++] = pte_page(pte);
	}
	for (i = 0; i < n; i += run) {
		run = ptb_contig_pages(pages + i, n - i);
		r->runs[ilog2(run)][CONTIG]++;
	}
	r->in_tables += n;
}

/* As a walker does that takes one entry after the other. */
static noinline unsigned long look_at_each(pte_t *ptep, unsigned int max_nr)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < max_nr; i++)
		sum += (unsigned long)folio_of(ptep_get(ptep + i));
	return sum;
}

static noinline unsigned long look_at_batches(pte_t *ptep, unsigned int max_nr)
{
	unsigned long sum = 0;
	unsigned int i, nr;

	for (i = 0; i < max_nr; i += nr) {
		pte_t pte = ptb_ptep_get(ptep + i, PTB_FOR_LOOK);
		struct folio *folio = folio_of(pte);

		sum += (unsigned long)folio;
		nr = 1;
		if (folio)
			nr = ptb_scan_folio(folio, NULL, ptep + i, &pte, max_nr - i, PTB_FOR_LOOK);
	}
	return sum;
}

static void look_at_table(struct report *r, pte_t *ptep, unsigned int max_nr)
{
	u64 begin, between, end;

	/* First what warms the caches, then what is timed. */
	count_contiguous(r, ptep, max_nr);
	count_batches(r, ptep, max_nr, LOOK, PTB_FOR_LOOK);
	count_batches(r, ptep, max_nr, GUP, PTB_RESPECT_WRITE);
	count_batches(r, ptep, max_nr, SET, PTB_FOR_SET);

	begin = ktime_get_ns();
	look_at_each(ptep, max_nr);
	between = ktime_get_ns();
	look_at_batches(ptep, max_nr);
	end = ktime_get_ns();
	r->each_ns += between - begin;
	r->scan_ns += end - between;
}

/* ---- to the table ---- */

/* Cuts *end to what the entry found, or its absence, speaks of. */
static pmd_t *
find_pmd(struct mm_struct *mm, struct report *r, unsigned long addr, unsigned long *end)
{
	pgd_t *pgdp = pgd_offset(mm, addr);
	p4d_t *p4dp;
	pud_t *pudp, pud;

	*end = pgd_addr_end(addr, *end);
	if (pgd_none(*pgdp) || pgd_bad(*pgdp))
		return NULL;
	p4dp = p4d_offset(pgdp, addr);
	*end = p4d_addr_end(addr, *end);
	if (p4d_none(*p4dp) || p4d_bad(*p4dp))
		return NULL;
	pudp = pud_offset(p4dp, addr);
	*end = pud_addr_end(addr, *end);
	pud = READ_ONCE(*pudp);
	if (!pud_present(pud))
		return NULL;
	if (pud_leaf(pud)) {
		r->by_leaf += (*end - addr) >> PAGE_SHIFT;
		return NULL;
	}
	*end = pmd_addr_end(addr, *end);
	return pmd_offset(pudp, addr);
}

/*
 * As pte_offset_map_lock(), which modules cannot call: a table that a huge page replaces meanwhile
 * is freed only after a grace period, and its lock tells whether that has happened.
 */
static void look_at_pmd(struct mm_struct *mm, struct report *r, pmd_t *pmdp, unsigned long addr,
			unsigned long end)
{
	spinlock_t *ptl;
	pmd_t pmd;

	rcu_read_lock();
	pmd = pmdp_get_lockless(pmdp);
	if (pmd_present(pmd) && pmd_leaf(pmd)) {
		r->by_leaf += (end - addr) >> PAGE_SHIFT;
	} else if (pmd_present(pmd) && !pmd_bad(pmd)) {
		ptl = pte_lockptr(mm, &pmd);
		spin_lock(ptl);
		if (pmd_same(pmd, pmdp_get_lockless(pmdp)))
			look_at_table(r, pte_offset_kernel(&pmd, addr), ptb_max_nr(addr, end));
		spin_unlock(ptl);
	}
	rcu_read_unlock();
}

/* hugetlb has locks of its own; what a driver maps may have no pages. */
static bool has_folios(struct vm_area_struct *vma)
{
	return !is_vm_hugetlb_page(vma) && !(vma->vm_flags & (VM_IO | VM_PFNMAP | VM_MIXEDMAP));
}

/* Lets go of the mmap lock after each table. */
static int
look_at_range(struct mm_struct *mm, struct report *r, unsigned long addr, unsigned long end)
{
	while (addr < end) {
		struct vm_area_struct *vma;
		unsigned long next = end;
		pmd_t *pmdp;

		if (fatal_signal_pending(current) || mmap_read_lock_killable(mm))
			return -EINTR;
		vma = find_vma(mm, addr);
		if (vma) {
			addr = max(addr, vma->vm_start);
			next = min(end, vma->vm_end);
		}
		if (vma && addr < end && has_folios(vma)) {
			pmdp = find_pmd(mm, r, addr, &next);
			if (pmdp)
				look_at_pmd(mm, r, pmdp, addr, next);
		}
		mmap_read_unlock(mm);
		cond_resched();
		addr = next;
	}
	return 0;
}

static struct mm_struct *mm_of(int nr)
{
	struct task_struct *task;
	struct mm_struct *mm;
	struct pid *pid;

	if (!nr)
		return get_task_mm(current);
	pid = find_get_pid(nr);
	task = get_pid_task(pid, PIDTYPE_PID);
	put_pid(pid);
	if (!task)
		return NULL;
	mm = get_task_mm(task);
	put_task_struct(task);
	return mm;
}

static ssize_t range_write(struct file *file, const char __user *buf, size_t size, loff_t *pos)
{
	unsigned long start = 0, end = ULONG_MAX;
	struct mm_struct *mm;
	char text[64];
	int pid, got, err;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, size))
		return -EFAULT;
	text[size] = 0;
	got = sscanf(text, "%d %lx %lx", &pid, &start, &end);
	if ((got != 1 && got != 3) || pid < 0 || start >= end)
		return -EINVAL;
	mm = mm_of(pid);
	if (!mm)
		return -ESRCH;
	/* The first page that begins in it to the last. */
	start = start & PAGE_MASK;
	end = min(end, mm->task_size);

	err = mutex_lock_killable(&lock);
	if (!err) {
		memset(&report, 0, sizeof(report));
		err = look_at_range(mm, &report, start, PAGE_ALIGN(end));
		mutex_unlock(&lock);
	}
	mmput(mm);
	return err ?: size;
}

static void show_ns(struct seq_file *m, u64 ns, u64 nr)
{
	u64 hundredths = nr ? div64_u64(ns * 100, nr) : 0;

	seq_printf(m, "\t%llu.%02llu", hundredths / 100, hundredths % 100);
}

static int range_show(struct seq_file *m, void *v)
{
	u64 sum[USES] = {};
	unsigned int i, use;

	mutex_lock(&lock);
	seq_printf(m, "pages_in_tables\t%llu\npages_by_leaf\t%llu\n", report.in_tables,
		   report.by_leaf);
	seq_puts(m, "length\tlook\tgup\tset\tcontig\n");
	for (i = 0; i < BUCKETS; i++) {
		const u64 *runs = report.runs[i];

		for (use = 0; use < USES; use++)
			sum[use] += runs[use];
		if (runs[LOOK] || runs[GUP] || runs[SET] || runs[CONTIG])
			seq_printf(m, "%u\t%llu\t%llu\t%llu\t%llu\n", 1U << i, runs[LOOK],
				   runs[GUP], runs[SET], runs[CONTIG]);
	}
	seq_printf(m, "batches\t%llu\t%llu\t%llu\t%llu\n", sum[LOOK], sum[GUP], sum[SET],
		   sum[CONTIG]);
	seq_puts(m, "ns_per_page\teach\tscan\nns_per_page");
	show_ns(m, report.each_ns, report.in_tables);
	show_ns(m, report.scan_ns, report.in_tables);
	seq_putc(m, '\n');
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_STORE_ATTRIBUTE(range);

/* ---- vpfn ---- */

#define RUN 512
#define ROUNDS 64

static bool vpfn_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vfio_pfn, node)->iova < rb_entry(b, struct vfio_pfn, node)->iova;
}

static int vpfn_cmp(const void *key, const struct rb_node *node)
{
	u64 iova = *(const u64 *)key, other = rb_entry(node, struct vfio_pfn, node)->iova;

	return iova < other ? -1 : iova > other;
}

/* A run of RUN pages at iova 0, of which @nr have been pinned already. */
static int vpfn_line(struct seq_file *m, struct vfio_pfn *vpfns, unsigned int nr)
{
	struct rb_root root = RB_ROOT;
	u64 found = 0, counted = 0, begin, between, end, iova;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		vpfns[i].iova = (dma_addr_t)(i * (RUN / nr)) << PAGE_SHIFT;
		rb_add(&vpfns[i].node, &root, vpfn_less);
	}

	begin = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++)
		for (iova = 0; iova < (u64)RUN << PAGE_SHIFT; iova += PAGE_SIZE)
			found += !!rb_find(&iova, &root, vpfn_cmp);
	between = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++)
		counted += ptb_vpfn_count(&root, 0, ((u64)RUN << PAGE_SHIFT) - 1);
	end = ktime_get_ns();

	if (found != counted || found != (u64)ROUNDS * nr)
		return -EIO;
	/* Just enough is left to pay for the rest, or one page too little. */
	if (ptb_vpfn_charge(&root, 0, RUN, 7, 7 + RUN - nr, false) != RUN - nr ||
	    (nr < RUN && ptb_vpfn_charge(&root, 0, RUN, 7, 6 + RUN - nr, false) != -ENOMEM))
		return -EIO;

	seq_printf(m, "%u", nr);
	show_ns(m, between - begin, ROUNDS * RUN);
	show_ns(m, end - between, ROUNDS * RUN);
	seq_putc(m, '\n');
	return 0;
}

static int vpfn_show(struct seq_file *m, void *v)
{
	struct vfio_pfn *vpfns = kvcalloc(RUN, sizeof(*vpfns), GFP_KERNEL);
	unsigned int nr;
	int err = 0;

	if (!vpfns)
		return -ENOMEM;
	seq_puts(m, "pinned\teach\tcount\n");
	err = vpfn_line(m, vpfns, 0);
	for (nr = 1; !err && nr <= RUN; nr *= 8)
		err = vpfn_line(m, vpfns, nr);
	kvfree(vpfns);
	return err;
}
DEFINE_SHOW_ATTRIBUTE(vpfn);

/* ---- module ---- */

static struct dentry *dir;

static int __init stock_init(void)
{
	BUILD_BUG_ON(ilog2(PTRS_PER_PTE) >= BUCKETS);

	pages = kmalloc_array(PTRS_PER_PTE, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	dir = debugfs_create_dir("ptebatch_stock", NULL);
	debugfs_create_file("range", 0600, dir, NULL, &range_fops);
	debugfs_create_file("vpfn", 0400, dir, NULL, &vpfn_fops);
	return 0;
}

static void __exit stock_exit(void)
{
	debugfs_remove(dir);
	kfree(pages);
}

module_init(stock_init);
module_exit(stock_exit);
MODULE_DESCRIPTION("What treating page table entries by the run would save");
MODULE_LICENSE("GPL");
