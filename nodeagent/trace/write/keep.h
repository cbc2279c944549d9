/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A writer that keeps blocks in memory: with keep_bytes in struct vfd_setup there is no file.
 * Blocks stay for keep_ns; if they would take more than keep_bytes, the oldest are dropped. At any
 * time all kept blocks can be written to a file, which is complete: definitions, then for each
 * track the frames that are open at its begin, then the blocks.
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
	uint64_t pushed_out;  /* blocks younger than keep_ns that were dropped for lack of room */
	uint64_t not_written; /* of the file that is being written: the disk was too slow */
};
/* Zeros for a writer that does not keep. */
struct vfd_kept vfd_writer_kept(const struct vfd_writer *w);

/*
 * Begins a file of all blocks that are kept now. Returns false with *error (caller frees), and
 * changes nothing, if the file cannot be made. After true the caller calls vfd_freeze_step() until
 * it returns true, then vfd_clock_...() for the clock's records, then vfd_freeze_end(). Events that
 * come meanwhile are kept for the next file.
 */
bool vfd_freeze_begin(struct vfd_writer *w, const char *path, char **error);
/* Writes as much as the disk takes now. Returns true if all is written, or there was an error. */
bool vfd_freeze_step(struct vfd_writer *w);
/* True if vfd_freeze_end() would not wait. */
bool vfd_freeze_is_written(struct vfd_writer *w);
/* Index and end; waits at most so many seconds for the disk. 0 or -errno of the first error.
 * *bytes: of the file. */
int vfd_freeze_end(struct vfd_writer *w, uint64_t ticks, double seconds, uint64_t *bytes);

#endif
