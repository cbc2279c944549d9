/* SPDX-License-Identifier: BSD-3-Clause */
/* A sampling file written anew with its blocks packed, or as they were before that. */
#ifndef VFTR_NODEAGENT_TRACE_REPACK_H
#define VFTR_NODEAGENT_TRACE_REPACK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct vfd_repack {
	int level;	 /* of zstd, 1 to 19; 0: nothing stays packed */
	bool unfinished; /* a file without an end is taken as well */
	/* told now and then how much of the file has been done, 0 to 1; or NULL */
	void (*progress)(void *ctx, double part);
	void *ctx;
	uint64_t before, after; /* result: bytes */
};

/*
 * Reads the file of descriptor `from` and writes the new one to `to`. Returns NULL, or a sentence
 * that says why not, which the caller frees: there may be something in `to` then. A file with
 * damage is not taken. What cannot be written is an error of `to`.
 */
char *vfd_repack(int from, FILE *to, struct vfd_repack *r);

#endif
