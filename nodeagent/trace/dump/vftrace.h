/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of Vftrace itself, BASE_RANK.vfd of version 3 in host byte order: made from sampling
 * files of ours (vftrace.c), and printed (vftrace-read.c) as Vftrace's tool does.
 */
#ifndef VFTR_NODEAGENT_TRACE_DUMP_VFTRACE_H
#define VFTR_NODEAGENT_TRACE_DUMP_VFTRACE_H

#include <stdio.h>
#include "nodeagent/trace/read/file.h"

#define CLASSIC_VERSION 3

/* The numbers in the header of such a file, in their order. A COUNT is an int, too. */
#define CLASSIC_NUMBERS(LONG, INT, COUNT, DOUBLE)                                                  \
	LONG(interval_ns)                                                                          \
	INT(processes)                                                                             \
	INT(rank)                                                                                  \
	INT(threads)                                                                               \
	DOUBLE(runtime)                                                                            \
	COUNT(functions)                                                                           \
	COUNT(messages)                                                                            \
	COUNT(stacks)                                                                              \
	COUNT(counters)                                                                            \
	COUNT(observables)                                                                         \
	LONG(samples_at)                                                                           \
	LONG(stacks_at)                                                                            \
	LONG(threads_at)                                                                           \
	LONG(hardware_at)

/*
 * Writes the process with this number in f to the file at path, completely or not at all.
 * Collective calls are messages, as in trace/read/collectives.h. False and *error (caller frees).
 */
bool vfd_classic_write(struct vfd_file *f, uint32_t process, const char *path, char **error);

/* "DIR/BASE_RANK.vfd" as Vftrace names it, with as many digits as `ranks` has. Caller frees. */
char *vfd_classic_path(const char *dir, const char *base, int rank, uint32_t ranks);

struct classic_dump {
	bool only_header, skip_samples, threadtree;
};

/* True if it begins as such a file. in must be seekable; it is left at its begin. */
bool classic_is(FILE *in);

/*
 * Prints a file of any writer, whose contents are not trusted. True, or false and *error (caller
 * frees), after printing the part before the error.
 */
bool classic_dump(FILE *in, const struct classic_dump *d, FILE *out, char **error);

#endif
