/* SPDX-License-Identifier: BSD-3-Clause */
/* An entry of an INDEX block, for the two that write some: write/index.c and repack.c. */
#ifndef VFTR_NODEAGENT_TRACE_INDEX_ENTRY_H
#define VFTR_NODEAGENT_TRACE_INDEX_ENTRY_H

#include "nodeagent/trace/format.h"
#include "nodeagent/trace/varint.h"

#define INDEX_ENTRY (7 * VARINT_MAX)

/* Of block b, which is at `offset`; the entry before it was of `last` and `time`, 0 for the first
 * one in a block. Returns the end of the entry. */
static inline unsigned char *index_entry_put(
	unsigned char *at, const struct vfd_block *b, uint64_t offset, uint64_t last, uint64_t time)
{
	at = varint_put(at, (offset - last) / VFD_ALIGN);
	at = varint_put(at, b->kind);
	at = varint_put(at, b->flags);
	at = varint_put(at, (uint32_t)(b->track + 1));
	at = varint_put(at, b->records);
	at = varint_put(at, b->bytes);
	return varint_put(at, zigzag((int64_t)(b->time - time)));
}

#endif
