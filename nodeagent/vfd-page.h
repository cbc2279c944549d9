/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block of the sampling file that fills, of whatever is not a lane's: definitions,
 * messages, index. Its payload begins behind the header.
 */
#ifndef VFTR_NODEAGENT_VFD_PAGE_H
#define VFTR_NODEAGENT_VFD_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/vfd-format.h"

#define SHARED_BLOCK_BYTES (32u << 10) /* of payload, and it is full */

struct vfd_writer;

/* bytes is for the owner to free. */
struct vfd_page {
	unsigned char *bytes;
	size_t used, room; /* of the payload; room for a varint stays behind it */
	uint32_t records;
};

/* Room for n bytes of payload; write at the result, and tell where the payload ends now. */
unsigned char *vfd_page_room(struct vfd_page *p, size_t n);
void vfd_page_done(struct vfd_page *p, const unsigned char *end);
/* Gives back the memory that it does not use. */
void vfd_page_trim(struct vfd_page *p);
/* Writes it as a block and empties it; false: as vfd_write_block(). */
bool vfd_page_write(struct vfd_writer *w, struct vfd_page *p, enum vfd_kind kind, uint64_t time);

#endif
