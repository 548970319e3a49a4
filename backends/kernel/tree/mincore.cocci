// SPDX-License-Identifier: GPL-2.0-only
//
// file: mm/mincore.c
// include: mincore.h
// in mincore_walk_ops: mincore_pte_range

@ptes@
typedef pmd_t;
identifier pmd, addr, end, walk;
@@
static int mincore_pte_range(pmd_t *pmd, unsigned long addr, unsigned long end,
			     struct mm_walk *walk)
{ ... }

@depends on ptes@
symbol mincore_pte_range;
identifier ops;
@@
+#ifdef CONFIG_PTEBATCH
+static int ptebatch_mincore_pte_range(pmd_t *pmd, unsigned long addr,
+			unsigned long end, struct mm_walk *walk);
+#else
+#define ptebatch_mincore_pte_range mincore_pte_range
+#endif
+
 static const struct mm_walk_ops ops = {
 	.pmd_entry =
-		mincore_pte_range
+		ptebatch_mincore_pte_range
 	,
 };
