/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of OpenACC (shm/openacc.h) on the agent's side: their names and numbers, and what
 * a process has told of the regions they are.
 */
#ifndef VFTR_NODEAGENT_OPENACC_H
#define VFTR_NODEAGENT_OPENACC_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/openacc.h"

/* What happens where. Texts are never NULL, have no line's end, and may be empty. */
struct openacc_region {
	uint32_t event, parent; /* as in struct wire_openacc */
	uint32_t line, last;
	char *file, *function; /* as the runtime tells them */
	char *name;	       /* of the variable or kernel */
};

/* "compute_construct"; NULL: no event begins with this number. */
const char *openacc_event_name(uint32_t event);
/* Whether another event ends it. */
bool openacc_event_ends(uint32_t event);
enum openacc_time openacc_event_time(uint32_t event);
/* "enter data"; "" for what is not known. */
const char *openacc_parent_name(uint32_t parent);

/* Of a message, whose texts are untrusted; NULL: it makes no sense. Free with the other. */
struct openacc_region *openacc_region_new(
	const struct wire_openacc *m, const char *file, const char *function, const char *name);
void openacc_region_free(struct openacc_region *r);

/* "heat.c:42", or NULL if the runtime has not told a file; the caller frees. */
char *openacc_region_place(const struct openacc_region *r);

#endif
