/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints files of Vftrace itself, BASE_RANK.vfd of version 3 in host byte order: old ones,
 * and those of `vftr export --format vfd3'. The output is that of Vftrace's tool. The
 * contents of a file are not trusted.
 */
#ifndef VFTR_NODEAGENT_TRACE_DUMP_VFTRACE_READ_H
#define VFTR_NODEAGENT_TRACE_DUMP_VFTRACE_READ_H

#include <stdbool.h>
#include <stdio.h>

struct classic_dump {
	bool only_header, skip_samples, threadtree;
};

/* True if it begins as such a file. in must be seekable; it is left at its begin. */
bool classic_is(FILE *in);

/* True, or false and *error (caller frees), after printing the part before the error. */
bool classic_dump(FILE *in, const struct classic_dump *d, FILE *out, char **error);

#endif
