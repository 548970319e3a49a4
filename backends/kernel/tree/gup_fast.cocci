// SPDX-License-Identifier: GPL-2.0-only
//
// file: mm/gup.c
// include: gup.h
// in gup_fast_pmd_range: gup_fast_pte_range gup_fast_pmd_leaf
// in gup_fast_pud_range: gup_fast_pud_leaf

@ptes@
typedef pmd_t;
identifier pmd, pmdp, addr, end, flags, pages, nr;
@@
static int gup_fast_pte_range(pmd_t pmd, pmd_t *pmdp, unsigned long addr, unsigned long end,
			      unsigned int flags, struct page **pages, int *nr)
{ ... }

@pmd_leaf@
identifier pmd, pmdp, addr, end, flags, pages, nr;
@@
static int gup_fast_pmd_leaf(pmd_t pmd, pmd_t *pmdp, unsigned long addr, unsigned long end,
			     unsigned int flags, struct page **pages, int *nr)
{ ... }

@pud_leaf@
typedef pud_t;
identifier pud, pudp, addr, end, flags, pages, nr;
@@
static int gup_fast_pud_leaf(pud_t pud, pud_t *pudp, unsigned long addr, unsigned long end,
			     unsigned int flags, struct page **pages, int *nr)
{ ... }

@depends on ptes && pmd_leaf && pud_leaf@
@@
+#ifdef CONFIG_PTEBATCH
+static int ptebatch_gup_fast_pte_range(pmd_t pmd, pmd_t *pmdp, unsigned long addr,
+		unsigned long end, unsigned int flags, struct page **pages,
+		int *nr);
+static int ptebatch_gup_fast_pmd_leaf(pmd_t orig, pmd_t *pmdp, unsigned long addr,
+		unsigned long end, unsigned int flags, struct page **pages,
+		int *nr);
+static int ptebatch_gup_fast_pud_leaf(pud_t orig, pud_t *pudp, unsigned long addr,
+		unsigned long end, unsigned int flags, struct page **pages,
+		int *nr);
+#else
+#define ptebatch_gup_fast_pte_range gup_fast_pte_range
+#define ptebatch_gup_fast_pmd_leaf gup_fast_pmd_leaf
+#define ptebatch_gup_fast_pud_leaf gup_fast_pud_leaf
+#endif
+
gup_fast_pmd_range(...) { ... }

@depends on ptes@
expression list args;
@@
gup_fast_pmd_range(...) {
<+...
-gup_fast_pte_range(args)
+ptebatch_gup_fast_pte_range(args)
...+>
}

@depends on pmd_leaf@
expression list args;
@@
gup_fast_pmd_range(...) {
<+...
-gup_fast_pmd_leaf(args)
+ptebatch_gup_fast_pmd_leaf(args)
...+>
}

@depends on pud_leaf@
expression list args;
@@
gup_fast_pud_range(...) {
<+...
-gup_fast_pud_leaf(args)
+ptebatch_gup_fast_pud_leaf(args)
...+>
}
