/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process does with files (shm/files.h): of each file, how many calls of each kind, and
 * what they have moved. What comes from the process is checked.
 */
#ifndef VFTR_NODEAGENT_REPLAY_FILES_H
#define VFTR_NODEAGENT_REPLAY_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "shm/files.h"

#define FILE_SMALL_BYTES 4096u /* reads and writes of less are small */

struct files;
struct slices;

/* The calls of one kind. Those that failed count in `calls`, `failed` and `ticks` only. */
struct file_calls {
	uint64_t calls, failed, bytes, ticks;
	uint64_t rest; /* part of `bytes`: moved by stream calls that are not counted singly */
	uint64_t sequential, small; /* of reads and writes */
	uint64_t least, most;	    /* bytes of one call; without a call UINT64_MAX and 0 */
};

struct file_use {
	uint32_t number;
	char *name;    /* NULL: it has not come */
	bool left_out; /* its name is one of files.exclude */
	bool used;
	struct file_calls of[FILE_CALLS];
};

/* exclude: a valid regular expression; names that match are left out. NULL: none. begin: of the
 * process, in ticks. */
struct files *files_new(const char *exclude, uint64_t begin);
void files_free(struct files *f);

/* Message of the process: number and name are untrusted. False: it makes no sense. */
bool files_define(struct files *f, const struct wire_file_name *m, const char *name);

/* The file with this number, owned by f, until the next one comes; its name may come later. NULL:
 * there is no such number. */
struct file_use *files_use(struct files *f, uint32_t number);

/* A call for a file was recorded in a frame with this key. */
void files_found_in(struct files *f, uint64_t key);
/* True if calls for files were recorded in frames of this region. f may be NULL. */
bool files_are_in(const struct files *f, uint64_t region_key);

/* A read or write began then and has moved bytes. */
void files_moved(struct files *f, bool is_write, uint64_t since, uint64_t ticks, uint64_t bytes);
/* What was moved over time, or NULL: nothing. f may be NULL. */
const struct slices *files_slices(const struct files *f);

/* All *n of them; those not `used` have nothing. f may be NULL. */
const struct file_use *files_all(const struct files *f, size_t *n);

#endif
