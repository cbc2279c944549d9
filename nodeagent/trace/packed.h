/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks whose payload is packed by zstd, with a dictionary that the file has in a block of its own
 * or without one; vftr-vfd(5). Each can still be read alone.
 */
#ifndef VFTR_NODEAGENT_TRACE_PACKED_H
#define VFTR_NODEAGENT_TRACE_PACKED_H

#include <stdbool.h>
#include "nodeagent/trace/format.h"

struct packer;

/* NULL and *error, a sentence that the caller frees: there is no library. */
struct packer *packer_new(char **error);
void packer_free(struct packer *p);
/*
 * From now on blocks are packed and unpacked with these bytes as dictionary; they are copied.
 * level: of zstd, 1 to 19, for packing; 0: only to unpack, and false if they are none, as a
 * damaged file may say; then there is no dictionary.
 */
bool packer_set_dictionary(struct packer *p, const void *bytes, size_t n, int level);

/*
 * Packs block b, whose payload stands behind it and is not packed, into `to`, which has room for
 * VFD_BLOCK_MAX. After packer_set_dictionary() with a level. False: that would spare nothing.
 * Else to->bytes, kind, flags, track, records, sequence and time are set; it is to be sealed.
 */
bool packer_pack(struct packer *p, const struct vfd_block *b, struct vfd_block *to);
/* Bytes of a packed payload when it is unpacked; -1: it is damaged. */
long packer_length(const unsigned char *payload, size_t n);
/*
 * Unpacks a payload of n bytes into buf, which has room for VFD_BLOCK_MAX. Returns the
 * number of bytes, or -1 if it is damaged.
 */
long packer_unpack(struct packer *p, const unsigned char *payload, size_t n, unsigned char *buf);

#endif
