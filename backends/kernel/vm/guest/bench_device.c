// SPDX-License-Identifier: GPL-2.0-only
/* The groups of bench that want a device: vfio, dax. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "dax.h"
#include "lib.h"
#include "vfio.h"

#define VFIO_SIZE (256 * MIB)
#define VFIO_IOVA 0x100000000ULL

static uint64_t bench_vfio_map(char *p, size_t size, unsigned int per_call)
{
	uint64_t start = now_ns(), ns;
	int ret = vfio_map(p, size, VFIO_IOVA);

	(void)per_call;
	ns = now_ns() - start;
	if (ret)
		die("VFIO_IOMMU_MAP_DMA: %s", strerror(-ret));
	vfio_unmap(VFIO_IOVA, size);
	return ns;
}

static uint64_t bench_vfio_unmap(char *p, size_t size, unsigned int per_call)
{
	uint64_t start;
	long ret;

	(void)per_call;
	vfio_map(p, size, VFIO_IOVA);
	start = now_ns();
	ret = vfio_unmap(VFIO_IOVA, size);
	if (ret != (long)size)
		die("VFIO_IOMMU_UNMAP_DMA: %ld of %zu", ret, size);
	return now_ns() - start;
}

void bench_vfio(void)
{
	const char *why = vfio_open();
	unsigned int i;

	if (why)
		die("vfio: %s", why);
	for (i = 0; i < nr_layouts; i++) {
		char *p = layout_map(&layouts[i], VFIO_SIZE);

		bench_row("vfio_map", layouts[i].name, bench_vfio_map, p, VFIO_SIZE, 0);
		bench_row("vfio_unmap", layouts[i].name, bench_vfio_unmap, p, VFIO_SIZE, 0);
		munmap(p, VFIO_SIZE);
	}
}

void bench_dax(void)
{
	size_t align;
	char *p = dax_map(BENCH_SIZE, &align);
	const char *name;

	if (!p)
		die("there is no /dev/dax0.0");
	name = align == PAGE ? "dax-4k" : "dax-2M";
	bench_row("dax_get", name, bench_gup_fast, p, BENCH_SIZE, 512);
	bench_row("dax_pin", name, bench_pin_fast, p, BENCH_SIZE, 512);
	munmap(p, BENCH_SIZE);
}
