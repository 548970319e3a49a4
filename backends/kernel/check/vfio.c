// SPDX-License-Identifier: GPL-2.0-only
/* walk/vfio.h as it will stand in the kernel: behind the real vfio_iommu_type1.c. */
#include <drivers/vfio/vfio_iommu_type1.c>
#include <kernel/vfio.h>

static typeof(vfio_pin_pages_remote) *const pin[] __used = {
	vfio_pin_pages_remote,
	ptb_kernel_vfio_pin_pages_remote,
};

static typeof(vfio_unpin_pages_remote) *const unpin[] __used = {
	vfio_unpin_pages_remote,
	ptb_kernel_vfio_unpin_pages_remote,
};
