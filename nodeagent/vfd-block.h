/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of a sampling file: their checksum, made and verified. */
#ifndef VFTR_NODEAGENT_VFD_BLOCK_H
#define VFTR_NODEAGENT_VFD_BLOCK_H

#include <stdbool.h>
#include "nodeagent/vfd-format.h"

/* crc32c (Castagnoli) of more bytes behind those that gave crc; 0 at first. */
uint32_t vfd_crc(uint32_t crc, const void *bytes, size_t n);
/* The same without the CPU's help. */
uint32_t vfd_crc_portable(uint32_t crc, const void *bytes, size_t n);

/*
 * Completes a block whose payload of b->bytes bytes stands behind it: magic,
 * zeros up to VFD_ALIGN (there must be room), checksum. Returns its whole length.
 */
size_t vfd_block_seal(struct vfd_block *b);

/*
 * Length of the block at `at`, of which `bytes` are there, or 0 and *why: it is
 * none, or damaged. *why is a sentence for the user, *more whether more bytes
 * could help.
 */
size_t vfd_block_check(const unsigned char *at, size_t bytes, const char **why, bool *more);

#endif
