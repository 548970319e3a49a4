/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * THE CONTRACT: what a backend gives to the primitives.
 *
 * A backend writes "static inline" functions under names of its own, says "#define ptb_x backend_x"
 * for each, and is included first. The prototypes below then re-declare its functions, so that a
 * wrong type is a compile error that names the op. Where a default exists (defaults.h) the op may
 * be left out. Ops that one walker alone needs stand at the top of that walker's header, the four
 * of the vpfn tree at the top of vpfn.h.
 *
 * Besides, a backend gives
 *
 *   types      ptb_pte_t, ptb_pmd_t; struct vm_area_struct, struct page, struct folio with its head
 *              page as member "page"
 *
 *   constants  PTB_PAGE_SHIFT, PTB_PMD_SHIFT; FOLL_GET, FOLL_PIN, FOLL_WRITE, FOLL_LONGTERM,
 *              FOLL_PCI_P2PDMA; GUP_PIN_COUNTING_BIAS; INT_MAX and the error numbers
 *
 *   words      bool, u64, s64, size_t, likely, unlikely, noinline, __flatten, __always_inline,
 *              __bitwise, __force, memset, BUILD_BUG_ON_MSG, and PTB_WARN_ON for what a caller must
 *              not do
 *
 * Unless an op says otherwise it may be called in any context, sleeps never, and orders nothing.
 */
#ifndef PTEBATCH_OPS_H
#define PTEBATCH_OPS_H

#include "defs.h"
#include "defaults.h"

/* ---- entries ---- */

/**
 * ptb_ptep_get() - read an entry from a table
 * @ptep: into a table that cannot be freed meanwhile
 * @flags: with PTB_LOCKLESS no table lock is held and the value must be one that the table held as
 * a whole at some moment
 *
 * Young and dirty of a block may be gathered from all its entries; without any of PTB_YOUNG_DIRTY
 * in @flags one load is enough and they may be stale. Two reads with the same @flags of an entry
 * that nobody changed return the same.
 *
 * Needed by: scan, walkers. Context: the table lock, or IRQs off with PTB_LOCKLESS. Mirrors:
 * ptep_get(), ptep_get_lockless().
 * Return: the entry.
 */
static inline ptb_pte_t ptb_ptep_get(ptb_pte_t *ptep, const ptb_t flags);

/**
 * ptb_pte_same() - are two entries equal in every bit
 * @a: an entry
 * @b: another
 *
 * Needed by: scan, walkers. Mirrors: pte_same(), except that no bit is left out.
 */
static inline bool ptb_pte_same(ptb_pte_t a, ptb_pte_t b);

/**
 * ptb_pte_pfn() - the frame an entry maps
 * @pte: a present entry
 *
 * Needed by: scan, walkers. Mirrors: pte_pfn().
 * Return: frame number.
 */
static inline unsigned long ptb_pte_pfn(ptb_pte_t pte);

/**
 * ptb_pte_advance() - the entry that would map the n-th page after this one
 * @pte: a present entry, by value
 * @n: pages to go forward, at least 1, staying inside the folio (or the range of frames the caller
 * vouches for)
 *
 * Only the frame number changes. The result is for comparing, never for storing. A format whose
 * frame number is not one linear field rebuilds the entry; none adds to the raw value without
 * knowing that it is one.
 *
 * Needed by: scan. Mirrors: pte_advance_pfn().
 * Return: the entry.
 */
static inline ptb_pte_t ptb_pte_advance(ptb_pte_t pte, unsigned int n);

/**
 * ptb_pte_hint() - entries from here that the format itself vouches for
 * @ptep: where @pte was read
 * @pte: a present entry, read under the table lock or under a reference to its folio
 *
 * Never leaves the aligned block of @ptep, so from the middle of a block it is what remains of it.
 *
 * Needed by: scan. Default: 1. Mirrors: pte_batch_hint().
 * Return: at least 1.
 */
static inline unsigned int ptb_pte_hint(ptb_pte_t *ptep, ptb_pte_t pte);

/**
 * ptb_pte_present() - does the entry map a frame, PROT_NONE included
 * @pte: an entry
 *
 * Needed by: scan, walkers. Mirrors: pte_present().
 */
static inline bool ptb_pte_present(ptb_pte_t pte);

/**
 * ptb_pte_none() - is nothing at all recorded here
 * @pte: an entry
 *
 * Needed by: scan. Mirrors: pte_none(). A marker is not none.
 */
static inline bool ptb_pte_none(ptb_pte_t pte);

/**
 * ptb_pte_write() - may the entry be written through
 * @pte: a present entry
 *
 * Not always a single bit: an x86 shadow stack entry is writable with its write bit clear.
 *
 * Needed by: scan, walkers. Mirrors: pte_write().
 */
static inline bool ptb_pte_write(ptb_pte_t pte);

/**
 * ptb_pte_young() - accessed since it was last made old
 * @pte: a present entry
 *
 * Needed by: scan with PTB_MERGE_YOUNG_DIRTY. Mirrors: pte_young().
 */
static inline bool ptb_pte_young(ptb_pte_t pte);

/**
 * ptb_pte_dirty() - written since it was last made clean, in hardware or software
 * @pte: a present entry
 *
 * Needed by: scan with PTB_MERGE_YOUNG_DIRTY. Mirrors: pte_dirty().
 */
static inline bool ptb_pte_dirty(ptb_pte_t pte);

/**
 * ptb_pte_mkold() - the entry with young cleared, for comparing
 * @pte: a present entry
 *
 * This and the next three commute with ptb_pte_advance(), are idempotent, and leave frame and
 * presence alone.
 *
 * Needed by: scan. Mirrors: pte_mkold().
 */
static inline ptb_pte_t ptb_pte_mkold(ptb_pte_t pte);

/**
 * ptb_pte_mkclean() - the entry with dirty cleared, for comparing
 * @pte: a present entry
 *
 * Needed by: scan. Mirrors: pte_mkclean().
 */
static inline ptb_pte_t ptb_pte_mkclean(ptb_pte_t pte);

/**
 * ptb_pte_wrprotect() - the entry with write cleared, for comparing
 * @pte: a present entry
 *
 * Needed by: scan. Mirrors: pte_wrprotect().
 */
static inline ptb_pte_t ptb_pte_wrprotect(ptb_pte_t pte);

/**
 * ptb_pte_clear_soft_dirty() - the entry with soft-dirty cleared, for comparing
 * @pte: a present entry
 *
 * Needed by: scan. Default: the entry as it is. Mirrors: pte_clear_soft_dirty().
 */
static inline ptb_pte_t ptb_pte_clear_soft_dirty(ptb_pte_t pte);

/**
 * ptb_pte_mkwrite() - the entry made writable
 * @pte: a present entry
 * @vma: where it is mapped
 *
 * Needed by: scan with PTB_MERGE_WRITE. Mirrors: pte_mkwrite().
 */
static inline ptb_pte_t ptb_pte_mkwrite(ptb_pte_t pte, struct vm_area_struct *vma);

/**
 * ptb_pte_mkyoung() - the entry made young
 * @pte: a present entry
 *
 * Needed by: scan with PTB_MERGE_YOUNG_DIRTY. Mirrors: pte_mkyoung().
 */
static inline ptb_pte_t ptb_pte_mkyoung(ptb_pte_t pte);

/**
 * ptb_pte_mkdirty() - the entry made dirty
 * @pte: a present entry
 *
 * Needed by: scan with PTB_MERGE_YOUNG_DIRTY. Mirrors: pte_mkdirty().
 */
static inline ptb_pte_t ptb_pte_mkdirty(ptb_pte_t pte);

/**
 * ptb_pte_swap_next() - the swap entry for the next slot, every other bit equal
 * @pte: an entry that holds a swap slot
 *
 * Needed by: ptb_scan_swap(). Mirrors: pte_next_swp_offset().
 */
static inline ptb_pte_t ptb_pte_swap_next(ptb_pte_t pte);

/* ---- pages and folios ---- */

/**
 * ptb_page_folio() - the folio a page belongs to at this moment
 * @page: a page
 *
 * Stable only under a reference, or where nobody can split or free; never asserts, as it is also
 * asked of pages that may be on their way out.
 *
 * Needed by: grab, contig, walkers. Mirrors: page_folio().
 */
static inline struct folio *ptb_page_folio(struct page *page);

/**
 * ptb_page_nth() - the n-th page after this one in the same folio
 * @page: a page
 * @n: pages to go forward, not leaving the folio
 *
 * A lookup, never a test: it says where the page is, not whether it is contiguous.
 *
 * Needed by: unshare, contig, walkers. Default: @page + @n. Mirrors: nth_page(), folio_page().
 */
static inline struct page *ptb_page_nth(struct page *page, unsigned long n);

/**
 * ptb_page_pfn() - frame number of a page
 * @page: a page
 *
 * Needed by: scan, contig, walkers. Mirrors: page_to_pfn().
 */
static inline unsigned long ptb_page_pfn(const struct page *page);

/**
 * ptb_pfn_page() - the page of a frame
 * @pfn: a frame that has a struct page
 *
 * Needed by: walkers. Mirrors: pfn_to_page().
 */
static inline struct page *ptb_pfn_page(unsigned long pfn);

/**
 * ptb_folio_nr_pages() - size of a folio
 * @folio: held by a reference, or by whatever keeps it from being split
 *
 * Needed by: scan, contig, walkers. Mirrors: folio_nr_pages().
 * Return: pages, 1 for a small folio.
 */
static inline unsigned long ptb_folio_nr_pages(struct folio *folio);

/* ---- references ---- */

/**
 * ptb_folio_ref_count() - the reference count as it stands
 * @folio: a folio
 *
 * Needed by: grab. Mirrors: folio_ref_count().
 * Return: negative when somebody overflowed it.
 */
static inline int ptb_folio_ref_count(struct folio *folio);

/**
 * ptb_folio_try_ref() - add references unless there are none
 * @folio: a folio that may be freed at any moment
 * @refs: references, at least 1
 *
 * Ordering: full barrier on success.
 *
 * Needed by: grab. Mirrors: folio_ref_try_add(), folio_ref_try_add_rcu().
 * Return: whether they were added.
 */
static inline bool ptb_folio_try_ref(struct folio *folio, int refs);

/**
 * ptb_folio_ref_add() - add references to a folio that the caller holds
 * @folio: held
 * @refs: references
 *
 * Needed by: grab. Mirrors: folio_ref_add().
 */
static inline void ptb_folio_ref_add(struct folio *folio, int refs);

/**
 * ptb_folio_put_refs() - drop references; the last one frees the folio
 * @folio: held by at least @refs
 * @refs: references
 *
 * Ordering: release. Needed by: grab. Mirrors: folio_put_refs(), with
 * put_devmap_managed_folio_refs() where there is one.
 */
static inline void ptb_folio_put_refs(struct folio *folio, int refs);

/**
 * ptb_folio_pincount_add() - change the pin count of a folio that has one
 * @folio: held, ptb_folio_has_pincount()
 * @pins: pins to add; negative to drop
 *
 * Needed by: grab. Mirrors: atomic_add() on folio->_pincount.
 */
static inline void ptb_folio_pincount_add(struct folio *folio, int pins);

/**
 * ptb_folio_has_pincount() - are pins counted apart from references
 * @folio: held
 *
 * If not, a pin is GUP_PIN_COUNTING_BIAS references.
 *
 * Needed by: grab. Mirrors: folio_has_pincount(), folio_test_large() in kernels before it.
 */
static inline bool ptb_folio_has_pincount(struct folio *folio);

/**
 * ptb_page_is_zero() - is this the 4K zero page, which pins neither count nor need
 * @page: a page
 *
 * By address alone: nothing of the page is read. The huge zero folio is counted like any other.
 *
 * Needed by: grab. Mirrors: is_zero_page().
 */
static inline bool ptb_page_is_zero(const struct page *page);

/**
 * ptb_folio_longterm_pinnable() - may the folio be pinned for long where it is
 * @folio: held
 *
 * Needed by: grab. Mirrors: folio_is_longterm_pinnable().
 */
static inline bool ptb_folio_longterm_pinnable(struct folio *folio);

/**
 * ptb_page_is_p2pdma() - is this memory of a PCI device
 * @page: a page
 *
 * Needed by: grab. Default: false. Mirrors: is_pci_p2pdma_page().
 */
static inline bool ptb_page_is_p2pdma(struct page *page);

/**
 * ptb_folio_stat_pins() - tell the node's statistics of pins
 * @folio: held
 * @pins: acquired if positive, released if negative
 *
 * Needed by: grab. Default: nothing. Mirrors: node_stat_mod_folio() of NR_FOLL_PIN_ACQUIRED,
 * NR_FOLL_PIN_RELEASED.
 */
static inline void ptb_folio_stat_pins(struct folio *folio, int pins);

/**
 * ptb_mb_after_pin() - full barrier between a pin and what is read under it
 *
 * Ordering: every access before, the read-modify-write of the count among them, comes before every
 * access after. Pairs with the barrier between clearing an entry and reading the counts on the
 * other side.
 *
 * Needed by: grab. Mirrors: smp_mb__after_atomic().
 */
static inline void ptb_mb_after_pin(void);

/* ---- may a read-only pin see later writes: unsharing ---- */

/**
 * ptb_rmb() - reads before stay before reads after
 *
 * Needed by: unshare. Mirrors: smp_rmb() in gup_must_unshare().
 */
static inline void ptb_rmb(void);

/**
 * ptb_folio_test_anon() - is the folio anonymous, KSM included
 * @folio: held
 *
 * Needed by: unshare. Mirrors: folio_test_anon().
 */
static inline bool ptb_folio_test_anon(struct folio *folio);

/**
 * ptb_folio_test_hugetlb() - does the folio belong to hugetlb
 * @folio: held
 *
 * Needed by: unshare. Default: false. Mirrors: folio_test_hugetlb().
 */
static inline bool ptb_folio_test_hugetlb(struct folio *folio);

/**
 * ptb_page_anon_exclusive() - does one process alone own this page
 * @page: a page of an anonymous folio; the head if the folio is hugetlb
 *
 * Needed by: unshare. Mirrors: PageAnonExclusive().
 */
static inline bool ptb_page_anon_exclusive(struct page *page);

/**
 * ptb_vma_is_cow() - is this a private mapping that may be written
 * @vma: a vma, its flags stable
 *
 * Needed by: unshare. Mirrors: is_cow_mapping().
 */
static inline bool ptb_vma_is_cow(struct vm_area_struct *vma);

/* ---- contiguity ---- */

/**
 * ptb_page_same_section() - are two pages as far apart by their frames as they are in memory
 * @a: a page
 * @b: a page behind it in memory, with nothing but struct pages between the two
 *
 * Needed by: contig. Default: true, right wherever the memory map is virtual or flat. Mirrors:
 * memdesc_section() equality in num_pages_contiguous().
 */
static inline bool ptb_page_same_section(const struct page *a, const struct page *b);

#endif
