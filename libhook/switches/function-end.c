/* SPDX-License-Identifier: BSD-3-Clause */
#include "libhook/switches/function-end.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include "libhook/process.h"

/* Both numbers are offsets from the header. */
struct entry {
	int32_t begin, description;
};

struct header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t n;
	struct entry at[];
};

#define UNSIGNED_4	      0x03
#define SIGNED_4_FROM_HEADER  0x3b
#define SIGNED_4_FROM_ITS_OWN 0x1b

static const struct header *table_of(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const struct header *h = (const void *)(info->dlpi_addr + p->p_vaddr);

		if (p->p_type != PT_GNU_EH_FRAME || p->p_memsz < sizeof(*h))
			continue;
		if (h->version != 1 || h->frame_encoding != SIGNED_4_FROM_ITS_OWN ||
			h->count_encoding != UNSIGNED_4 ||
			h->table_encoding != SIGNED_4_FROM_HEADER ||
			h->n > (p->p_memsz - sizeof(*h)) / sizeof(h->at[0]))
			return NULL;
		return h;
	}
	return NULL;
}

static bool has_code(const struct dl_phdr_info *info, uint64_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X &&
			address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return true;
	}
	return false;
}

static uint64_t begin_of(const struct header *h, uint32_t i)
{
	return (uintptr_t)h + (uint64_t)(int64_t)h->at[i].begin;
}

/* context: begin, which becomes the end. */
static int find_end(struct dl_phdr_info *info, size_t bytes, void *context)
{
	uint64_t *address = context, begin = *address;
	const struct header *h;
	uint32_t low = 0, high;

	if (!has_code(info, begin))
		return 0;
	*address = 0;
	h = table_of(info);
	if (!h)
		return 1;
	for (high = h->n; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (begin_of(h, middle) < begin)
			low = middle + 1;
		else
			high = middle;
	}
	if (low + 1 < h->n && begin_of(h, low) == begin)
		*address = begin_of(h, low + 1);
	return 1;
}

uint64_t vftr_function_end(uint64_t begin)
{
	uint64_t address = begin;

	return vftr_loader_walk(find_end, &address) ? address : 0;
}
