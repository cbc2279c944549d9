/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A writer that keeps: with keep_bytes in struct vfd_setup there is no file. Blocks stay in
 * memory for keep_ns, and all of them together never take more than keep_bytes: the oldest ones
 * go. At any time what is there can be written to a file of its own, which is as whole as any
 * other: definitions, then for each track what was open when it begins, then the blocks.
 *
 * One thread. Nothing waits for the disk but vfd_freeze_end().
 */
#ifndef VFTR_NODEAGENT_TRACE_WRITE_KEEP_H
#define VFTR_NODEAGENT_TRACE_WRITE_KEEP_H

#include "nodeagent/trace/write/writer.h"

struct vfd_kept {
	uint64_t bytes;	      /* now, of blocks, definitions and what holds them */
	uint64_t most;	      /* ever */
	uint64_t blocks;      /* now */
	uint64_t pushed_out;  /* blocks younger than keep_ns that went to keep the bound */
	uint64_t not_written; /* of the file that is being written: the disk was too slow */
};
/* Zeros for a writer that does not keep. */
struct vfd_kept vfd_writer_kept(const struct vfd_writer *w);

/*
 * Begins a file of all that is there by now. False and *error (caller frees): it cannot be made,
 * and nothing else has changed. Then vfd_freeze_step() until it is true, the clock's records
 * (vfd_clock_...(), which only then go to a file), and vfd_freeze_end(). What comes meanwhile is
 * kept for the next file.
 */
bool vfd_freeze_begin(struct vfd_writer *w, const char *path, char **error);
/* Writes what the disk takes now. True: all is written, or there was an error. */
bool vfd_freeze_step(struct vfd_writer *w);
/* True if vfd_freeze_end() would not wait. */
bool vfd_freeze_is_written(struct vfd_writer *w);
/* Index and end; waits at most so many seconds for the disk. 0 or -errno of the first error.
 * *bytes: of the file. */
int vfd_freeze_end(struct vfd_writer *w, uint64_t ticks, double seconds, uint64_t *bytes);

#endif
