/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that grows at its end, written asynchronously: bytes are collected in
 * slabs, and full slabs are handed to io_uring (registered buffers, several in
 * flight). Only close and the wait functions wait for the disk. Where
 * io_uring is forbidden or unknown, pwrite() is called instead, which may wait.
 * One thread. An error of the file ends the writing and is reported once.
 */
#ifndef VFTR_NODEAGENT_TRACE_WRITE_FILE_H
#define VFTR_NODEAGENT_TRACE_WRITE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outfile;

/* The way in which a slab is written; each one is the fall-back of the one before. */
enum outfile_way { OUTFILE_REGISTERED, OUTFILE_URING, OUTFILE_PWRITE };

/*
 * Opens a new file in place of the one at path. NULL and *error (caller frees) if that fails.
 * Tries `way` and its fall-backs only. buffer_bytes (1 MiB at least) may wait for the disk
 * before the file is not ready; memory is taken as it is needed.
 */
struct outfile *outfile_open(
	const char *path, enum outfile_way way, uint64_t buffer_bytes, char **error);

/* Appends all bytes, or none of them (false), if too much is waiting for the disk, there was an
 * error, or n is more than a slab, of 512 KiB at least. */
bool outfile_append(struct outfile *o, const void *bytes, size_t n);
/* True if a slab is free; else try again later. */
bool outfile_ready(struct outfile *o);
/* Waits until a slab is free, at most so many seconds, below 1. */
void outfile_wait_ready(struct outfile *o, double seconds);
/* Hands over the bytes collected so far, full slab or not. */
void outfile_flush(struct outfile *o);
/* True if all bytes handed over are written, or never will be. */
bool outfile_idle(struct outfile *o);
/* Waits until all bytes handed over are written, at most so many seconds. */
void outfile_wait(struct outfile *o, double seconds);
/* Writes the rest; waits at most so many seconds. 0 or -errno of the first error. */
int outfile_close(struct outfile *o, double seconds);

/* Bytes appended. */
uint64_t outfile_bytes(const struct outfile *o);
/* Of these, those that are written or may still be: after an error, less. */
uint64_t outfile_written(const struct outfile *o);
/* errno of the first error, or 0. */
int outfile_error(const struct outfile *o);
enum outfile_way outfile_way(const struct outfile *o);
/* Why io_uring is not used: "io_uring_setup: Function not implemented", or NULL. */
const char *outfile_note(const struct outfile *o);

#endif
