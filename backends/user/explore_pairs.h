/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is explored: which walker against whom, in which layouts. A layout is in a row for what it
 * can show there: a folio for what follows the head reference, single pages for walks that stop and
 * go on, read-only entries where exclusive decides, blocks where there are any.
 */
#ifndef PTB_EXPLORE_PAIRS_H
#define PTB_EXPLORE_PAIRS_H

#include "explore_check.h"

struct ex_walker {
	const char *name;
	void (*fn)(void *arg);
	void (*setup)(void);
};

struct ex_mutator {
	const char *name, *what;
	void (*fn)(void *arg);
	void (*leaf)(void *arg); /* where the entry above is a leaf */
	void (*setup)(void);
};

static void setup_dated(void)
{
	ex.dated = true;
}

static void setup_vfio(void)
{
	vfio_setup(FOLL_WRITE);
}

static void setup_vfio_unpin(void)
{
	setup_vfio();
	setup_vfio_mapped();
}

static const struct ex_walker ex_walkers[] = {
	{ "gup_fast", walk_gup_fast, NULL },
	{ "gup_fast_leaf", walk_gup_fast, NULL },
	{ "dax", walk_gup_fast, NULL },
	{ "mincore", walk_mincore, NULL },
	{ "vfio_pin", walk_vfio_pin, setup_vfio },
	{ "vfio_unpin", walk_vfio_unpin, setup_vfio_unpin },
	{ "blind", walk_blind, NULL },
};

static const struct ex_mutator ex_mutators[] = {
	{ "zap", "unmapped, freed and given to somebody else", mutate_zap, mutate_leaf_zap, NULL },
	{ "zap-one", "one page in the middle unmapped", mutate_zap_one, NULL, NULL },
	{ "refault", "freed, and back at the same address", mutate_zap_refault, NULL, NULL },
	{ "mprotect", "made read-only", mutate_mprotect, mutate_leaf_mprotect, setup_dated },
	{ "fork", "copy on write", mutate_fork, mutate_leaf_fork, NULL },
	{ "fork-half", "copy on write of the upper half", mutate_fork_half, NULL, NULL },
	{ "ksm", "merged by KSM", mutate_ksm, NULL, NULL },
	{ "swap", "swapped out", mutate_swap, NULL, NULL },
	{ "migrate", "moved elsewhere", mutate_migrate, mutate_leaf_migrate, NULL },
	{ "split", "folio split", mutate_split, mutate_leaf_split, NULL },
	{ "split-pmd", "leaf split into a table", NULL, mutate_leaf_split_pmd, NULL },
	{ "collapse", "khugepaged", mutate_collapse, NULL, setup_collapse },
	{ "table-free", "table freed and reused", mutate_table_free, NULL, NULL },
	{ "unfold", "block unfolded", mutate_unfold, NULL, NULL },
	{ "refold", "block unfolded and folded", mutate_refold, NULL, NULL },
	{ "repaint", "unmapped, another folio mapped", mutate_repaint, NULL, NULL },
	{ "hw", "accessed and dirty, by the CPU", mutate_hw, mutate_leaf_hw, NULL },
	{ "aging", "accessed taken back by reclaim", mutate_aging, NULL, NULL },
	{ "two-words", "frame replaced, high word alone", mutate_two_words, NULL, NULL },
	{ "unpin", "somebody else unpins", mutate_unpin, mutate_unpin, setup_pinned },
	{ "unplug", "the device goes away", mutate_unplug, mutate_unplug, NULL },
	{ "external", "a mediated device pins", mutate_external_pin, NULL, NULL },
	{ "exec", "exec: a new mm is charged", mutate_exec, NULL, NULL },
};

#define RW (A_WRITE | A_YOUNG | A_DIRTY)
#define RO A_YOUNG
#define OLD A_WRITE /* neither accessed nor dirty yet */
#define DEV (RW | A_DEVMAP | A_SPECIAL)
#define LEAFDEV (RW | A_DEVMAP)
#define PIN_WRITE (FOLL_PIN | FOLL_WRITE)
#define GET_WRITE (FOLL_GET | FOLL_WRITE)
#define LONGTERM (FOLL_PIN | FOLL_WRITE | FOLL_LONGTERM)

/* name, layout, entries, how they are taken, slots at most, slot that the walk begins with */
static const struct ex_variant ex_variants[] = {
	{ "one-get", EX_ONE, RW, FOLL_GET, 0, 0 },
	{ "one-get-write", EX_ONE, RW, GET_WRITE, 0, 0 },
	{ "one-get-old", EX_ONE, OLD, FOLL_GET, 0, 0 },
	{ "one-pin", EX_ONE, RW, FOLL_PIN, 0, 0 },
	{ "one-pin-write", EX_ONE, RW, PIN_WRITE, 0, 0 },
	{ "one-pin-ro", EX_ONE, RO, FOLL_PIN, 0, 0 },
	{ "one-longterm", EX_ONE, RW, LONGTERM, 0, 0 },
	{ "tail-get", EX_ONE, RW, FOLL_GET, 0, 1 },
	{ "tail-pin-ro", EX_ONE, RO, FOLL_PIN, 0, 1 },
	{ "last-get", EX_ONE, RW, FOLL_GET, 0, EX_SLOTS - 1 },
	{ "last-pin-write", EX_ONE, RW, PIN_WRITE, 0, EX_SLOTS - 1 },
	{ "small-get", EX_SMALL, RW, FOLL_GET, 0, 0 },
	{ "small-get-write", EX_SMALL, RW, GET_WRITE, 0, 0 },
	{ "small-pin", EX_SMALL, RW, FOLL_PIN, 0, 0 },
	{ "small-pin-old", EX_SMALL, OLD, PIN_WRITE, 0, 0 },
	{ "small-pin-write", EX_SMALL, RW, PIN_WRITE, 0, 0 },
	{ "small-pin-ro", EX_SMALL, RO, FOLL_PIN, 0, 0 },
	{ "small-longterm", EX_SMALL, RW, LONGTERM, 0, 0 },
	{ "three-pin", EX_SMALL, RW, FOLL_PIN, 3, 0 },
	{ "single-pin", EX_SMALL, RW, FOLL_PIN, 0, EX_SLOTS - 1 },
	{ "mixed-get", EX_MIXED, RW, FOLL_GET, 0, 0 },
	{ "mixed-pin", EX_MIXED, RW, FOLL_PIN, 0, 0 },
	{ "file-get", EX_FILE, RW, FOLL_GET, 0, 0 },
	{ "file-pin", EX_FILE, RO, FOLL_PIN, 0, 0 },
	{ "file-folio-get", EX_FFOLIO, RW, FOLL_GET, 0, 0 },
	{ "block-get", EX_ONE, RW | A_CONT, FOLL_GET, 0, 0 },
	{ "block-get-write", EX_ONE, RW | A_CONT, GET_WRITE, 0, 0 },
	{ "block-pin", EX_ONE, RW | A_CONT, FOLL_PIN, 0, 0 },
	{ "block-pin-ro", EX_ONE, RO | A_CONT, FOLL_PIN, 0, 0 },
	{ "block-pin-old", EX_ONE, OLD | A_CONT, FOLL_PIN, 0, 0 },
	{ "block-tail-get", EX_ONE, RW | A_CONT, FOLL_GET, 0, 1 },
	{ "device-get", EX_DEV, DEV, FOLL_GET, 0, 0 },
	{ "device-pin", EX_DEV, DEV, PIN_WRITE, 0, 0 },
	{ "device-pages-get", EX_DEVS, DEV, FOLL_GET, 0, 0 },
	{ "leaf-get", EX_LEAF, RW, FOLL_GET, 0, 0 },
	{ "leaf-pin-write", EX_LEAF, RW, PIN_WRITE, 0, 0 },
	{ "leaf-pin-ro", EX_LEAF, RO, FOLL_PIN, 0, 0 },
	{ "leaf-tail-get", EX_LEAF, RW, FOLL_GET, 0, 1 },
	{ "device-leaf-get", EX_LEAFDEV, LEAFDEV, FOLL_GET, 0, 0 },
	{ "device-leaf-pin", EX_LEAFDEV, LEAFDEV, PIN_WRITE, 0, 0 },
	{ "one", EX_ONE, RW, 0, 0, 0 },
	{ "small", EX_SMALL, RW, 0, 0, 0 },
	{ "file", EX_FILE, RW, 0, 0, 0 },
	{ "block", EX_ONE, RW | A_CONT, 0, 0, 0 },
};

#define STRONG_MODELS (BIT(SCHED_SC) | BIT(SCHED_TSO) | BIT(SCHED_PSO))
#define ALL_MODELS (STRONG_MODELS | BIT(SCHED_WEAK))

struct ex_row {
	struct explore_pair pair;
	const char *variant[EXPLORE_VARIANTS];
};

#define ROW(walker, mutator, ...)                    \
	{                                            \
		{ walker, { mutator }, ALL_MODELS }, \
		{                                    \
			__VA_ARGS__                  \
		}                                    \
	}
/* Under weak there are too many to explore them all. */
#define ROW_STRONG(walker, mutator, ...)                \
	{                                               \
		{ walker, { mutator }, STRONG_MODELS }, \
		{                                       \
			__VA_ARGS__                     \
		}                                       \
	}
#define ROW_BROKEN(walker, mutator, ...)    \
	{                                   \
		{ walker, { mutator }, 0 }, \
		{                           \
			__VA_ARGS__         \
		}                           \
	}
#define ROW2(walker, a, b, ...)                   \
	{                                         \
		{ walker, { a, b }, ALL_MODELS }, \
		{                                 \
			__VA_ARGS__               \
		}                                 \
	}

static const struct ex_row ex_rows[] = {
	/* gup_fast: a table of entries */
	ROW("gup_fast", "zap", "one-get", "one-pin-write", "small-pin", "mixed-get", "tail-get",
	    "single-pin", "block-get", "device-pages-get"),
	ROW("gup_fast", "zap-one", "one-get", "small-pin-write", "block-pin", "block-tail-get"),
	ROW("gup_fast", "refault", "small-get", "small-pin-write", "small-pin-ro"),
	ROW("gup_fast", "mprotect", "one-get-write", "small-pin-write", "block-get-write"),
	ROW("gup_fast", "fork", "one-pin-write", "one-pin-ro", "three-pin", "mixed-pin",
	    "block-pin"),
	ROW("gup_fast", "fork-half", "one-pin-ro", "one-pin-write", "last-pin-write",
	    "block-pin-ro"),
	ROW("gup_fast", "ksm", "small-get-write", "small-get", "small-pin-write", "small-pin-ro"),
	ROW("gup_fast", "swap", "one-get", "one-pin-write", "one-pin-ro", "small-pin-ro",
	    "tail-pin-ro", "block-pin"),
	ROW("gup_fast", "migrate", "mixed-get", "one-pin-write", "one-pin-ro", "small-pin-ro",
	    "small-longterm", "last-get", "block-pin"),
	ROW_STRONG("gup_fast", "split", "mixed-get", "mixed-pin", "one-pin-write", "tail-get",
		   "last-pin-write", "block-get"),
	ROW("gup_fast", "collapse", "small-get", "small-pin-write", "single-pin"),
	ROW("gup_fast", "table-free", "file-get", "file-folio-get", "file-pin"),
	ROW("gup_fast", "unfold", "block-get", "block-pin", "block-pin-ro", "block-tail-get"),
	ROW("gup_fast", "refold", "block-get", "block-pin-ro", "block-tail-get"),
	ROW("gup_fast", "repaint", "block-get", "block-pin"),
	ROW("gup_fast", "hw", "one-get-old", "small-pin-old", "block-pin-old"),
	ROW("gup_fast", "aging", "one-get", "small-pin", "block-get"),
	ROW("gup_fast", "two-words", "file-get", "file-pin"),
	ROW("gup_fast", "unpin", "one-pin", "small-pin", "one-longterm"),
	ROW("gup_fast", "unplug", "device-get", "device-pin", "device-pages-get"),
	ROW2("gup_fast", "zap", "unpin", "one-pin", "small-pin"),
	ROW2("gup_fast", "zap", "hw", "one-get-old", "small-pin-old"),
	ROW2("gup_fast", "fork", "zap", "one-pin-ro", "small-pin-write"),
	ROW2("gup_fast", "fork", "unpin", "small-pin-write"),
	ROW2("gup_fast", "ksm", "zap", "small-pin-ro"),
	ROW2("gup_fast", "swap", "unpin", "one-pin-write", "small-pin-ro"),
	ROW2("gup_fast", "unfold", "hw", "block-pin-old"),
	/* gup_fast: one leaf */
	ROW("gup_fast_leaf", "zap", "leaf-get", "leaf-pin-write"),
	ROW("gup_fast_leaf", "mprotect", "leaf-pin-write"),
	ROW("gup_fast_leaf", "fork", "leaf-pin-write", "leaf-pin-ro"),
	ROW("gup_fast_leaf", "migrate", "leaf-get", "leaf-pin-write", "leaf-pin-ro"),
	ROW("gup_fast_leaf", "split", "leaf-get", "leaf-pin-write", "leaf-pin-ro", "leaf-tail-get"),
	ROW("gup_fast_leaf", "split-pmd", "leaf-get", "leaf-pin-write", "leaf-pin-ro"),
	ROW("gup_fast_leaf", "hw", "leaf-get"),
	ROW("gup_fast_leaf", "unpin", "leaf-pin-write"),
	/* dax: one leaf of device memory */
	ROW("dax", "zap", "device-leaf-get", "device-leaf-pin"),
	ROW("dax", "mprotect", "device-leaf-pin"),
	ROW("dax", "hw", "device-leaf-get"),
	ROW("dax", "unpin", "device-leaf-pin"),
	ROW("dax", "unplug", "device-leaf-get", "device-leaf-pin"),
	/* mincore: under the table lock */
	ROW("mincore", "zap", "one", "small", "file", "block"),
	ROW("mincore", "zap-one", "one", "block"),
	ROW("mincore", "mprotect", "one", "block"),
	ROW("mincore", "fork", "small"),
	ROW("mincore", "ksm", "small"),
	ROW("mincore", "swap", "one", "small", "block"),
	ROW("mincore", "migrate", "one", "block"),
	ROW("mincore", "split", "one", "block"),
	ROW("mincore", "collapse", "small"),
	ROW("mincore", "table-free", "file"),
	ROW("mincore", "unfold", "block"),
	ROW("mincore", "refold", "block"),
	ROW("mincore", "repaint", "block"),
	ROW("mincore", "hw", "one", "block"),
	ROW("mincore", "aging", "one", "block"),
	ROW("mincore", "two-words", "file"),
	/* vfio */
	ROW("vfio_pin", "zap", "one-longterm", "small-longterm"),
	ROW("vfio_pin", "mprotect", "one-longterm"),
	ROW("vfio_pin", "fork", "one-longterm", "small-longterm"),
	ROW("vfio_pin", "ksm", "small-longterm"),
	ROW("vfio_pin", "swap", "one-longterm", "small-longterm"),
	ROW("vfio_pin", "migrate", "one-longterm", "small-longterm"),
	ROW("vfio_pin", "split", "one-longterm"),
	ROW("vfio_pin", "unpin", "one-longterm", "small-longterm"),
	ROW("vfio_pin", "external", "one-longterm", "small-longterm"),
	ROW("vfio_pin", "exec", "one-longterm"),
	ROW2("vfio_pin", "external", "exec", "small-longterm"),
	ROW("vfio_unpin", "zap", "one-longterm", "small-longterm"),
	ROW("vfio_unpin", "fork", "one-longterm", "small-longterm"),
	ROW("vfio_unpin", "ksm", "small-longterm"),
	ROW("vfio_unpin", "swap", "one-longterm", "small-longterm"),
	ROW("vfio_unpin", "migrate", "one-longterm", "small-longterm"),
	ROW("vfio_unpin", "split", "one-longterm"),
	ROW("vfio_unpin", "unpin", "one-longterm", "small-longterm"),
	ROW("vfio_unpin", "external", "one-longterm", "small-longterm"),
	ROW("vfio_unpin", "exec", "one-longterm"),
	ROW2("vfio_unpin", "external", "exec", "small-longterm"),
	/* not among those that must hold */
	ROW_BROKEN("blind", "zap", "small-get"),
};

#endif
