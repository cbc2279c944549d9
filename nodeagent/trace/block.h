/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of a sampling file: makes and verifies their checksums. */
#ifndef VFTR_NODEAGENT_TRACE_BLOCK_H
#define VFTR_NODEAGENT_TRACE_BLOCK_H

#include <stdbool.h>
#include "nodeagent/trace/format.h"

/* crc32c (Castagnoli), continued with n more bytes; crc: of the bytes before, 0 at first. */
uint32_t vfd_crc(uint32_t crc, const void *bytes, size_t n);
/* The same without special instructions of the CPU. */
uint32_t vfd_crc_portable(uint32_t crc, const void *bytes, size_t n);

/*
 * Completes a block whose payload of b->bytes bytes stands behind it: magic,
 * zeros up to VFD_ALIGN (there must be room), checksum. Returns its whole length.
 */
size_t vfd_block_seal(struct vfd_block *b);

/*
 * Length of the block at `at`, of which `bytes` are there; or 0 if it is no block, or
 * damaged: *why is a sentence for the user; *more: true if more bytes could help.
 */
size_t vfd_block_check(const unsigned char *at, size_t bytes, const char **why, bool *more);

#endif
