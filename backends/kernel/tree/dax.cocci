// SPDX-License-Identifier: GPL-2.0-only
//
// file: mm/gup.c
// include: gup.h
// in gup_fast_devmap_pmd_leaf: gup_fast_devmap_leaf
// in gup_fast_devmap_pud_leaf: gup_fast_devmap_leaf
// may be gone: gup_fast_devmap_leaf

@leaf@
identifier pfn, addr, end, flags, pages, nr;
@@
static int gup_fast_devmap_leaf(unsigned long pfn, unsigned long addr, unsigned long end,
				unsigned int flags, struct page **pages, int *nr)
{ ... }

@depends on leaf@
@@
+#ifdef CONFIG_PTEBATCH
+static int ptebatch_gup_fast_devmap_leaf(unsigned long pfn, unsigned long addr,
+	unsigned long end, unsigned int flags, struct page **pages, int *nr);
+#else
+#define ptebatch_gup_fast_devmap_leaf gup_fast_devmap_leaf
+#endif
+
gup_fast_devmap_pmd_leaf(...) { <+... gup_fast_devmap_leaf(...) ...+> }

@depends on leaf@
identifier caller = { gup_fast_devmap_pmd_leaf, gup_fast_devmap_pud_leaf };
expression list args;
@@
caller(...) {
<+...
-gup_fast_devmap_leaf(args)
+ptebatch_gup_fast_devmap_leaf(args)
...+>
}
