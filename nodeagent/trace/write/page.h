/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block of the sampling file while it is filled, for data that belong to no track:
 * definitions, messages, index. Its payload begins behind the header.
 */
#ifndef VFTR_NODEAGENT_TRACE_WRITE_PAGE_H
#define VFTR_NODEAGENT_TRACE_WRITE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/trace/format.h"

#define SHARED_BLOCK_BYTES (32u << 10) /* of payload of a full block */

struct vfd_writer;

/* The owner frees bytes. */
struct vfd_page {
	unsigned char *bytes;
	size_t used, room; /* of the payload; room for a varint stays behind it */
	uint32_t records;
};

/* Makes room for n bytes of payload; write there, then give vfd_page_done() the new end. */
unsigned char *vfd_page_room(struct vfd_page *p, size_t n);
void vfd_page_done(struct vfd_page *p, const unsigned char *end);
/* Frees unused memory of the page. */
void vfd_page_trim(struct vfd_page *p);
/* Writes it as a block and empties it; false: as vfd_write_block(). */
bool vfd_page_write(struct vfd_writer *w, struct vfd_page *p, enum vfd_kind kind, uint64_t time);

#endif
