// SPDX-License-Identifier: GPL-2.0-only
//
// file: drivers/vfio/vfio_iommu_type1.c
// include: vfio.h
// in vfio_pin_map_dma: vfio_pin_pages_remote vfio_unpin_pages_remote
// in vfio_iommu_replay: vfio_pin_pages_remote vfio_unpin_pages_remote
// in vfio_sync_unpin: vfio_unpin_pages_remote
// in unmap_unpin_slow: vfio_unpin_pages_remote

@pin@
type npage_t;
identifier dma, vaddr, npage, pfn_base, limit, batch;
@@
static long vfio_pin_pages_remote(struct vfio_dma *dma, unsigned long vaddr, npage_t npage,
				  unsigned long *pfn_base, unsigned long limit,
				  struct vfio_batch *batch)
{ ... }

@unpin@
type pin.npage_t;
identifier dma, iova, pfn, npage, do_accounting;
@@
static long vfio_unpin_pages_remote(struct vfio_dma *dma, dma_addr_t iova, unsigned long pfn,
				    npage_t npage, bool do_accounting)
{ ... }
+
+#ifdef CONFIG_PTEBATCH
+static long ptebatch_vfio_pin_pages_remote(struct vfio_dma *dma, unsigned long vaddr,
+					   npage_t npage, unsigned long *pfn_base,
+					   unsigned long limit, struct vfio_batch *batch);
+static long ptebatch_vfio_unpin_pages_remote(struct vfio_dma *dma, dma_addr_t iova,
+					     unsigned long pfn, npage_t npage,
+					     bool do_accounting);
+#else
+#define ptebatch_vfio_pin_pages_remote vfio_pin_pages_remote
+#define ptebatch_vfio_unpin_pages_remote vfio_unpin_pages_remote
+#endif

@depends on unpin@
expression list args;
@@
-vfio_pin_pages_remote(args)
+ptebatch_vfio_pin_pages_remote(args)

@depends on unpin@
expression list args;
@@
-vfio_unpin_pages_remote(args)
+ptebatch_vfio_unpin_pages_remote(args)
