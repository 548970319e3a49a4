/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * One fake process under real threads: tables, frames that are freed and used again at once, locks,
 * and what stands for IRQs off.
 *
 * A page that is mapped somewhere was made for that slot, and says so for as long as anybody holds
 * it: that is how a walker knows that what it got was right.
 */
#ifndef TESTS_STRESS_WORLD_H
#define TESTS_STRESS_WORLD_H

#include "backend.h"
#include "descend.h"

#include <ptebatch/walk/gup_fast.h>
#include <ptebatch/walk/mincore.h>

#include "ref/mincore.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>

#include "validate/random.h"

#define TABLES 3
/* Of each table so many entries are in use, unless a leaf is split into it. */
#define BUSY_SLOTS 64
#define HUGE_ORDER (PTB_PMD_SHIFT - PTB_PAGE_SHIFT)
#define LARGE_ORDER 5
#define SMALL_PFNS 1024UL /* from here on, as many; few, so that they come again soon */
#define HUGE_PFN 0x2000UL
#define HUGE_FOLIOS (2 * TABLES)
#define KSM_PFN 0x100UL
#define END_PFN (HUGE_PFN + HUGE_FOLIOS * FMT_PTES)
#define TWO_WORDS (_Alignof(struct fmt_word) == 4)

#define TAG_FREE 0UL
#define TAG_SHARED ~0UL
#define TAG_MOVED ~1UL /* what was in it is elsewhere: nobody may get it any more */

/* Beside struct page; @child is guarded by the table's lock. */
struct frame {
	unsigned long tag; /* slot it is for, plus 1 */
	u64 gen;	   /* times it was freed */
	int child;	   /* references of other processes' mappings */
};

struct table_lock {
	int held;
} __attribute__((__aligned__(64)));

#define THREADS 8

struct section {
	unsigned int seq; /* odd: IRQs are off */
} __attribute__((__aligned__(64)));

static struct {
	struct mm_struct mm;
	struct vm_area_struct vma;
	struct table_lock table[TABLES]; /* entries, and the entry above */
	struct table_lock fork, pool;
	struct section walker[THREADS];
	unsigned long free_small[SMALL_PFNS / 64];
	bool free_huge[HUGE_FOLIOS];
	struct frame frames[END_PFN];
	bool stop;
} world;

static const char *thread_name(void);

static void __printf(1, 2) __attribute__((__noreturn__)) wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "stress: %s: ", thread_name());
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	_exit(1);
}

/* ---- locks and barriers ---- */

/* There may be fewer CPUs than threads, and others may want them. */
static inline void spin(unsigned int *spins)
{
	if (++*spins % 4 == 0)
		sched_yield();
}

static inline void lock(struct table_lock *l)
{
	unsigned int spins = 0;

	while (__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE))
		spin(&spins);
}

static inline bool trylock(struct table_lock *l)
{
	return !__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE);
}

static inline void unlock(struct table_lock *l)
{
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

static inline void mb(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void irqs_off(unsigned int self)
{
	__atomic_fetch_add(&world.walker[self].seq, 1, __ATOMIC_SEQ_CST);
}

static inline void irqs_on(unsigned int self)
{
	__atomic_fetch_add(&world.walker[self].seq, 1, __ATOMIC_SEQ_CST);
}

/* An interrupt to, or a grace period of, everybody: who has IRQs off now turns them on first. */
static void wait_irqs(void)
{
	unsigned int i, spins = 0;

	mb();
	for (i = 0; i < THREADS; i++) {
		unsigned int seq = __atomic_load_n(&world.walker[i].seq, __ATOMIC_SEQ_CST);

		while ((seq & 1) && __atomic_load_n(&world.walker[i].seq, __ATOMIC_SEQ_CST) == seq)
			spin(&spins);
	}
}

/* Where entries have two words, readers rely on it to wait. */
static inline void flush_tlb(void)
{
	if (TWO_WORDS)
		wait_irqs();
	else
		mb();
}

/* ---- frames ---- */

static inline struct frame *frame_of(const struct page *page)
{
	return &world.frames[mem_pfn(page)];
}

static inline unsigned long tag_of(const struct page *page)
{
	return __atomic_load_n(&frame_of(page)->tag, __ATOMIC_RELAXED);
}

static inline u64 gen_of(const struct page *page)
{
	return __atomic_load_n(&frame_of(page)->gen, __ATOMIC_RELAXED);
}

/* Written under the lock of the table that the page is for. */
static inline int child_of(unsigned long pfn)
{
	return __atomic_load_n(&world.frames[pfn].child, __ATOMIC_ACQUIRE);
}

static inline void set_child(unsigned long pfn, int child)
{
	__atomic_store_n(&world.frames[pfn].child, child, __ATOMIC_RELEASE);
}

static inline unsigned int order_of(const struct folio *folio)
{
	return mem_folio_order(folio);
}

static bool small_free(unsigned long first, unsigned long nr)
{
	unsigned long i;

	for (i = first; i < first + nr; i++)
		if (!(world.free_small[i / 64] & BIT(i % 64)))
			return false;
	return true;
}

static void small_mark(unsigned long first, unsigned long nr, bool free)
{
	unsigned long i;

	for (i = first; i < first + nr; i++) {
		if (free)
			world.free_small[i / 64] |= BIT(i % 64);
		else
			world.free_small[i / 64] &= ~BIT(i % 64);
	}
}

/* Lowest first: what was freed last is often used next. 0: none. */
static unsigned long small_alloc(unsigned int order)
{
	unsigned long nr = 1UL << order, i, found = 0;

	lock(&world.pool);
	for (i = 0; !found && i < SMALL_PFNS; i += nr)
		if (small_free(i, nr)) {
			small_mark(i, nr, false);
			found = SMALL_PFNS + i;
		}
	unlock(&world.pool);
	return found;
}

static unsigned long huge_alloc(void)
{
	unsigned long found = 0;
	unsigned int i;

	lock(&world.pool);
	for (i = 0; !found && i < HUGE_FOLIOS; i++)
		if (world.free_huge[i]) {
			world.free_huge[i] = false;
			found = HUGE_PFN + i * FMT_PTES;
		}
	unlock(&world.pool);
	return found;
}

#define STORE(where, val) __atomic_store_n(&(where), val, __ATOMIC_RELAXED)

/* Walkers that were there before may look at it all the time: nothing is plain here. */
static void make_folio(unsigned long pfn, unsigned int order, unsigned long slot)
{
	struct page *head = mem_page(pfn);
	unsigned long i;

	for (i = 0; i < 1UL << order; i++) {
		struct page *page = mem_page(pfn + i);

		STORE(frame_of(page)->tag, slot == TAG_SHARED ? TAG_SHARED : slot + i + 1);
		STORE(page->compound_head, i ? (unsigned long)head + 1 : 0);
		STORE(page->flags, PG_made | PG_anon_exclusive);
		if (i != 1)
			STORE(page->mapping, MAPPING_ANON);
	}
	if (!order)
		return;
	STORE(((struct folio *)head)->second.order, order);
	STORE(((struct folio *)head)->second.pincount, 0);
	STORE(head->flags, PG_made | PG_anon_exclusive | PG_head);
}

/* prep_new_page(), then set_page_refcounted(): whoever gets a reference sees the rest. */
static void first_refs(unsigned long pfn, int refs)
{
	__atomic_store_n(&mem_page(pfn)->refcount, refs, __ATOMIC_RELEASE);
}

static void free_frames(unsigned long pfn, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++) {
		if (child_of(pfn + i))
			wrong("frame 0x%lx freed, a child has it mapped", pfn + i);
		if (tag_of(mem_page(pfn + i)) == TAG_FREE)
			wrong("frame 0x%lx freed twice", pfn + i);
		STORE(world.frames[pfn + i].tag, TAG_FREE);
		__atomic_fetch_add(&world.frames[pfn + i].gen, 1, __ATOMIC_RELAXED);
	}
}

/* Of a huge folio that was split the pages come back one by one; it is whole when all have. */
static void huge_free(unsigned long pfn, unsigned long nr)
{
	static unsigned long back[HUGE_FOLIOS];
	unsigned long n = (pfn - HUGE_PFN) / FMT_PTES;

	back[n] += nr;
	if (back[n] < FMT_PTES)
		return;
	back[n] = 0;
	world.free_huge[n] = true;
}

void user_folio_freed(struct folio *folio)
{
	unsigned long pfn = mem_pfn(&folio->page), nr = 1UL << order_of(folio);

	if (order_of(folio) && raw_read(&folio->second.pincount))
		wrong("folio 0x%lx freed with %d pins", pfn, raw_read(&folio->second.pincount));
	free_frames(pfn, nr);
	lock(&world.pool);
	if (pfn >= HUGE_PFN)
		huge_free(pfn, nr);
	else
		small_mark(pfn - SMALL_PFNS, nr, true);
	unlock(&world.pool);
}

static inline void put_folio(struct folio *folio, int refs)
{
	user_folio_put_refs(folio, refs);
}

/* folio_maybe_dma_pinned() */
static inline bool maybe_pinned(struct folio *folio)
{
	if (order_of(folio))
		return raw_read(&folio->second.pincount) > 0;
	return raw_read(&folio->page.refcount) >= GUP_PIN_COUNTING_BIAS;
}

/* ---- tables ---- */

static inline unsigned long first_slot(unsigned int t)
{
	return t * FMT_PTES;
}

static inline unsigned long slot_addr(unsigned long slot)
{
	return world.mm.base + (slot << PTB_PAGE_SHIFT);
}

static inline ptb_pmd_t *pmdp_of(unsigned int t)
{
	return mm_pmdp(&world.mm, slot_addr(first_slot(t)));
}

/* Under the lock: the table that is there now, or NULL where there is a leaf or nothing. */
static inline ptb_pte_t *table_of(unsigned int t)
{
	ptb_pmd_t pmd = upper_load(pmdp_of(t));

	if (!(upper_val(pmd) & UPPER_TABLE))
		return NULL;
	return mm_ptep_of(&world.mm, pmd, slot_addr(first_slot(t)));
}

static inline void pmd_set(unsigned int t, u64 val)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	word_set(&pmdp_of(t)->w, val);
}

static inline u64 table_entry(unsigned long nr)
{
	return UPPER_TABLE | (u64)(nr + 1) << UPPER_PFN_SHIFT;
}

/* Each table has a spare one, so that it can be freed and somebody else's. */
static void make_world(void)
{
	unsigned long base = FMT_PUD_SIZE, i;

	mem_init(&(struct mem_opts){ .nr_pages = END_PFN + 1024 });
	mm_init(&world.mm, base, base + 2 * TABLES * FMT_PMD_SIZE);
	world.vma = (struct vm_area_struct){ .vm_start = base,
					     .vm_end = base + TABLES * FMT_PMD_SIZE,
					     .vm_flags = VM_READ | VM_WRITE | VM_MAYWRITE };
	for (i = 0; i < 2 * TABLES; i++)
		mm_ptep_alloc(&world.mm, slot_addr(i * FMT_PTES));
	for (i = TABLES; i < 2 * TABLES; i++)
		pmd_set(i, 0);
	memset(world.free_small, 0xff, sizeof(world.free_small));
	memset(world.free_huge, true, sizeof(world.free_huge));
	make_folio(KSM_PFN, 0, TAG_SHARED);
	STORE(mem_page(KSM_PFN)->flags, PG_made);
	first_refs(KSM_PFN, 1);
}

#endif
