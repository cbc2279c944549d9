/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of OpenACC (shm/openacc.h) in the agent: the regions that a process has defined
 * for them.
 */
#ifndef VFTR_NODEAGENT_REPLAY_OPENACC_H
#define VFTR_NODEAGENT_REPLAY_OPENACC_H

#include <stdint.h>
#include "shm/openacc.h"

/* An event and its place. Texts are never NULL, have no newline, and may be empty. */
struct openacc_region {
	uint32_t event, parent; /* as in struct wire_openacc */
	uint32_t line, last;
	char *file, *function; /* as the runtime gives them */
	char *name;	       /* of the variable or kernel */
};

/* From a message, whose texts are untrusted; NULL: it makes no sense. The caller frees it. */
struct openacc_region *openacc_region_new(
	const struct wire_openacc *m, const char *file, const char *function, const char *name);
void openacc_region_free(struct openacc_region *r);

/* "heat.c:42", or NULL if the runtime has given no file; the caller frees. */
char *openacc_region_location(const struct openacc_region *r);

#endif
