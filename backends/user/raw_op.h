/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What an access of a walker is for, in the words of the ops. */
#ifndef PTB_USER_RAW_OP_H
#define PTB_USER_RAW_OP_H

enum raw_op {
	RAW_PTE, /* load of an entry word, table lock held */
	RAW_PTE_LOCKLESS,
	RAW_PMD,     /* load of a word above the table, or of a leaf */
	RAW_FOLIO,   /* lookup of a page's folio */
	RAW_TRY_REF, /* add unless zero */
	RAW_REF_ADD,
	RAW_REF_PUT,
	RAW_PINCOUNT,
	RAW_STAT, /* node statistics: this CPU's own line, no atomic */
	RAW_MB,
	RAW_RMB,
	RAW_EXCLUSIVE, /* load of a per-page bit */
	RAW_FLAG,      /* set or clear a folio's flag */
	RAW_SEQ,       /* write_protect_seq */
	RAW_READ,      /* load of a count, of a folio's flags, size or owner, of a pagemap */
	RAW_PREFETCH,  /* a struct page, of which nothing is read */
	RAW_NR,
};

#endif
