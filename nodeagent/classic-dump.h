/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of Vftrace itself, BASE_RANK.vfd of version 3 in host byte order: the old ones,
 * and those that `vftr export --format vfd3' makes. Printed as Vftrace's tool does.
 * What is in a file is not trusted.
 */
#ifndef VFTR_NODEAGENT_CLASSIC_DUMP_H
#define VFTR_NODEAGENT_CLASSIC_DUMP_H

#include <stdbool.h>
#include <stdio.h>

struct classic_dump {
	bool only_header, skip_samples, threadtree;
};

/* Does it begin as one? in must be seekable; it is left at its begin. */
bool classic_is(FILE *in);

/* True, or false and *error (caller frees): then what came before that is printed. */
bool classic_dump(FILE *in, const struct classic_dump *d, FILE *out, char **error);

#endif
