// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib.h"
#include "vfio.h"

static int container = -1, group = -1, device = -1;
static off_t registers; /* where they are in the device's file */
static volatile uint64_t *edu;

static bool find_group(char *path, size_t size)
{
	DIR *dir = opendir("/dev/vfio");
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, size, "/dev/vfio/%s", entry->d_name);
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

const char *vfio_open(void)
{
	char path[300];

	if (container >= 0)
		return NULL;
	if (!find_group(path, sizeof(path)))
		return "no device is given to vfio-pci";

	container = open("/dev/vfio/vfio", O_RDWR);
	group = open(path, O_RDWR);
	if (container < 0 || group < 0)
		die("cannot open %s: %s", container < 0 ? "/dev/vfio/vfio" : path, strerror(errno));
	if (ioctl(group, VFIO_GROUP_SET_CONTAINER, &container) ||
	    ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU))
		die("%s takes no type1 IOMMU: %s", path, strerror(errno));
	return NULL;
}

int vfio_map(char *p, size_t size, uint64_t iova)
{
	struct vfio_iommu_type1_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uintptr_t)p,
		.iova = iova,
		.size = size,
	};

	return ioctl(container, VFIO_IOMMU_MAP_DMA, &map) ? -errno : 0;
}

long vfio_unmap(uint64_t iova, size_t size)
{
	struct vfio_iommu_type1_dma_unmap unmap = {
		.argsz = sizeof(unmap),
		.iova = iova,
		.size = size,
	};

	return ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap) ? -errno : (long)unmap.size;
}

/* ---- edu ---- */

#define EDU_BUFFER 0x40000ULL
enum { EDU_SRC = 0x80 / 8, EDU_DST = 0x88 / 8, EDU_COUNT = 0x90 / 8, EDU_COMMAND = 0x98 / 8 };
enum { EDU_RUN = 1, EDU_FROM_BUFFER = 2 };

/* The only device of the group. */
static bool find_device(char *name, size_t size)
{
	DIR *dir = opendir("/sys/bus/pci/drivers/vfio-pci");
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir))) {
		if (!strchr(entry->d_name, ':'))
			continue;
		snprintf(name, size, "%s", entry->d_name);
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

void edu_open(void)
{
	struct vfio_region_info bar = { .argsz = sizeof(bar), .index = VFIO_PCI_BAR0_REGION_INDEX };
	struct vfio_region_info config = { .argsz = sizeof(config),
					   .index = VFIO_PCI_CONFIG_REGION_INDEX };
	char name[300];
	uint16_t command;
	uint32_t id;

	if (edu)
		return;
	if (!find_device(name, sizeof(name)))
		die("vfio-pci has no device");
	device = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, name);
	if (device < 0 || ioctl(device, VFIO_DEVICE_GET_REGION_INFO, &bar) ||
	    ioctl(device, VFIO_DEVICE_GET_REGION_INFO, &config) ||
	    pread(device, &id, 4, config.offset) != 4)
		die("cannot use device %s: %s", name, strerror(errno));
	if (id != 0x11e81234)
		die("device %s is %08x and not edu", name, id);

	if (pread(device, &command, 2, config.offset + PCI_COMMAND) != 2)
		die("cannot read the command of %s", name);
	command |= PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	if (pwrite(device, &command, 2, config.offset + PCI_COMMAND) != 2)
		die("cannot enable %s", name);
	registers = bar.offset;
	edu = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, device, registers);
	if (edu == MAP_FAILED)
		die("cannot map registers of %s: %s", name, strerror(errno));
}

void edu_map_registers(char *p)
{
	if (mmap(p, EDU_REGISTERS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device,
		 registers) != p)
		die("cannot map registers: %s", strerror(errno));
}

static void edu_dma(uint64_t dst, uint64_t src, unsigned int command)
{
	edu[EDU_SRC] = src;
	edu[EDU_DST] = dst;
	edu[EDU_COUNT] = EDU_CHUNK;
	edu[EDU_COMMAND] = EDU_RUN | command;
	while (edu[EDU_COMMAND] & EDU_RUN)
		usleep(1000);
}

void edu_copy(uint64_t to_iova, uint64_t from_iova)
{
	edu_dma(EDU_BUFFER, from_iova, 0);
	edu_dma(to_iova, EDU_BUFFER, EDU_FROM_BUFFER);
}
