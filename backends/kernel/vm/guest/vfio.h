/* SPDX-License-Identifier: GPL-2.0-only */
/* A VFIO type1 container with QEMU's edu device, which vfio-pci has. */
#ifndef GUEST_VFIO_H
#define GUEST_VFIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL, or why there is none. */
const char *vfio_open(void);
/* 0 or -errno. */
int vfio_map(char *p, size_t size, uint64_t iova);
/* Bytes unmapped, or -errno. */
long vfio_unmap(uint64_t iova, size_t size);

#define EDU_REGISTERS (1024 * 1024)
/* What edu moves at a time: a page at most, or QEMU takes it for an attack. */
#define EDU_CHUNK 2048

void edu_open(void);
/* Its registers for VFIO to map, at p. */
void edu_map_registers(char *p);
/* The device copies a chunk of memory to another place, through its own. */
void edu_copy(uint64_t to_iova, uint64_t from_iova);

#endif
