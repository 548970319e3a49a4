// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The fake memory: making it, and taking it away. */
#include "mm.h"

#include <sys/mman.h>

struct user_mem mem;

#ifdef PTB_USER_HOOKS
#error "hooks are compiled in per format, not here"
#endif

static void *map_lazily(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		fprintf(stderr, "ptebatch: no room for a memory map of %zu bytes\n", bytes);
		exit(1);
	}
	return p;
}

void mem_init(const struct mem_opts *opts)
{
	unsigned long section = opts->section_pages ? opts->section_pages : 32768;
	unsigned long nr_sections = (opts->nr_pages + section - 1) / section;
	unsigned long i;

	mem = (struct user_mem){
		.nr_pages = opts->nr_pages,
		.section_shift = __builtin_ctzl(section),
		.vmemmap = !opts->no_vmemmap,
		.zero_pfn = ULONG_MAX,
		.file.kind = MAPPING_FILE,
		.shmem.kind = MAPPING_SHMEM,
		.secretmem.kind = MAPPING_SECRETMEM,
	};
	mem.slot = calloc(nr_sections + 1, sizeof(*mem.slot));
	if (!mem.slot)
		abort();
	for (i = 0; i < nr_sections; i++) {
		if (mem.vmemmap)
			mem.slot[i] = i;
		else
			mem.slot[i] = opts->slot ? opts->slot[i] : nr_sections - 1 - i;
	}
	mem.map_bytes = (nr_sections + 1) * section * sizeof(struct page);
	mem.map = map_lazily(mem.map_bytes);
}

void mem_exit(void)
{
	unsigned int i;

	if (mem.map)
		munmap(mem.map, mem.map_bytes);
	free(mem.slot);
	free(mem.file.incore);
	free(mem.shmem.incore);
	for (i = 0; i < SWAP_DEVS; i++)
		free(mem.swap[i].incache);
	mem = (struct user_mem){};
}

static unsigned long kind_mapping(enum folio_kind kind)
{
	switch (kind) {
	case FOLIO_ANON:
	case FOLIO_HUGETLB:
		return MAPPING_ANON;
	case FOLIO_FILE:
	case FOLIO_DEVICE:
		return (unsigned long)&mem.file;
	case FOLIO_SHMEM:
		return (unsigned long)&mem.shmem;
	case FOLIO_SECRETMEM:
		return (unsigned long)&mem.secretmem;
	default:
		return 0;
	}
}

struct folio *mem_folio(unsigned long pfn, unsigned int order, enum folio_kind kind)
{
	unsigned long nr = BIT(order), i;
	struct page *head = mem_page(pfn);
	struct folio *folio = (struct folio *)head;

	if (pfn & (nr - 1) || pfn + nr > mem.nr_pages)
		abort();
	for (i = 0; i < nr; i++) {
		struct page *page = mem_page(pfn + i);

		*page = (struct page){
			.flags = PG_made,
			.compound_head = i ? (unsigned long)head + 1 : 0,
			.section = (pfn + i) >> mem.section_shift,
		};
	}
	head->mapping = kind_mapping(kind);
	head->refcount = 1;
	if (kind == FOLIO_HUGETLB)
		head->flags |= PG_hugetlb;
	if (kind == FOLIO_ZERO)
		mem.zero_pfn = pfn;
	if (order) {
		head->flags |= PG_head;
		folio->second.order = order;
	}
	return folio;
}

void mem_split(struct folio *folio)
{
	unsigned long nr = BIT(mem_folio_order(folio)), pfn = mem_pfn(&folio->page), i;

	folio->page.flags &= ~PG_head;
	for (i = 1; i < nr; i++) {
		struct page *page = mem_page(pfn + i);

		page->compound_head = 0;
		page->mapping = folio->page.mapping;
		page->pgmap = folio->page.pgmap;
		page->refcount = 1;
	}
}

struct dev_pagemap *mem_pagemap(unsigned long pfn, unsigned long nr)
{
	struct dev_pagemap *pgmap;

	if (mem.nr_pagemaps == ARRAY_SIZE(mem.pagemaps))
		abort();
	pgmap = &mem.pagemaps[mem.nr_pagemaps++];
	*pgmap = (struct dev_pagemap){ .pfn = pfn, .nr = nr, .refs = 1 };
	return pgmap;
}

RB_GENERATE(vpfn_tree, vfio_pfn, node, vpfn_cmp)

static u64 vpfn_nr(const struct vfio_pfn *vpfn)
{
	return vpfn ? vpfn->nr : 0;
}

void vpfn_count(struct vfio_pfn *vpfn)
{
	vpfn->nr =
		!(vpfn->iova & 4095) + vpfn_nr(RB_LEFT(vpfn, node)) + vpfn_nr(RB_RIGHT(vpfn, node));
}

/* The tree counts where it rotates; above that the counts are ours to mend. */
static void vpfn_count_up(struct vfio_pfn *vpfn)
{
	for (; vpfn; vpfn = RB_PARENT(vpfn, node))
		vpfn_count(vpfn);
}

void vpfn_add(struct vpfn_tree *tree, u64 iova)
{
	struct vfio_pfn *vpfn = calloc(1, sizeof(*vpfn));

	if (!vpfn)
		abort();
	vpfn->iova = iova;
	if (RB_INSERT(vpfn_tree, tree, vpfn))
		free(vpfn);
	else
		vpfn_count_up(vpfn);
}

void vpfn_del(struct vpfn_tree *tree, u64 iova)
{
	struct vfio_pfn key = { .iova = iova }, *vpfn = RB_FIND(vpfn_tree, tree, &key), *parent;

	if (!vpfn)
		return;
	parent = RB_PARENT(vpfn, node);
	RB_REMOVE(vpfn_tree, tree, vpfn);
	vpfn_count_up(parent);
	free(vpfn);
}

void vpfn_clear(struct vpfn_tree *tree)
{
	while (!RB_EMPTY(tree))
		vpfn_del(tree, RB_ROOT(tree)->iova);
}
