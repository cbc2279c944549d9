/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks that a writer has written, for the index at the end of its file. */
#ifndef VFTR_NODEAGENT_TRACE_WRITE_INDEX_H
#define VFTR_NODEAGENT_TRACE_WRITE_INDEX_H

#include "nodeagent/trace/write/page.h"

struct vfd_index {
	struct vfd_page *pages; /* the last one is not full */
	size_t n_pages, cap_pages;
	uint64_t offset, time; /* of the entry before, in the same page */
	uint64_t blocks;
};

/* Adds the sealed block b, which is at this offset. */
void vfd_index_add(struct vfd_index *x, uint64_t offset, const struct vfd_block *b);
/* Writes INDEX blocks, the first of which will be at `place`, and END at `units`. */
void vfd_index_write(struct vfd_index *x, struct vfd_writer *w, uint64_t place, uint64_t units);
void vfd_index_free(struct vfd_index *x);

#endif
