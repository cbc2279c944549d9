/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that grows at its end, written behind the caller's back: bytes are
 * collected in slabs, and full slabs are handed to io_uring (registered
 * buffers, several in flight). Nothing here waits for the disk but close. Where
 * io_uring is forbidden or unknown, pwrite() is called instead, which may wait.
 * One thread. An error of the file ends the writing and is told once.
 */
#ifndef VFTR_NODEAGENT_VFD_URING_H
#define VFTR_NODEAGENT_VFD_URING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outfile;

/* How a slab may travel; the latter ones are fall-backs. */
enum outfile_way { OUTFILE_REGISTERED, OUTFILE_URING, OUTFILE_PWRITE };

/*
 * An existing file is emptied. NULL and *error (caller frees) if there can be none. Not
 * better ways than `way` are tried. So many bytes may wait for the disk until we are not
 * ready any more, 1 MiB at least; memory is taken as it is needed.
 */
struct outfile *outfile_open(
	const char *path, enum outfile_way way, uint64_t buffer_bytes, char **error);

/* All bytes, or none of them: then too much is waiting for the disk, or there
 * was an error. */
bool outfile_append(struct outfile *o, const void *bytes, size_t n);
/* Whether a slab is free: else better come back later. */
bool outfile_ready(struct outfile *o);
/* Waits until one is, at most so many seconds, below 1. */
void outfile_wait_ready(struct outfile *o, double seconds);
/* Hands over what has been collected, full slab or not. */
void outfile_flush(struct outfile *o);
/* Waits until all that was handed over is written, at most so many seconds. */
void outfile_wait(struct outfile *o, double seconds);
/* Writes the rest; waits at most so many seconds. 0 or -errno of the first error. */
int outfile_close(struct outfile *o, double seconds);

/* Nobody has put another file there. */
bool outfile_is_at(const struct outfile *o, const char *path);
/* Bytes appended. */
uint64_t outfile_bytes(const struct outfile *o);
/* errno of the first error, or 0. */
int outfile_error(const struct outfile *o);
enum outfile_way outfile_way(const struct outfile *o);
/* Why io_uring is not used: "io_uring_setup: Function not implemented", or NULL. */
const char *outfile_note(const struct outfile *o);

#endif
