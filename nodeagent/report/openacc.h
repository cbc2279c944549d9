/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers about OpenACC that logs and JSON share, out of openacc[] of a profile (openacc.c). */
#ifndef VFTR_NODEAGENT_REPORT_OPENACC_H
#define VFTR_NODEAGENT_REPORT_OPENACC_H

#include <stdint.h>
#include "shm/openacc.h"
#include "nodeagent/profile/profile.h"

struct report;

/*
 * The texts of an entry: file, lines, function and name are in `all', which the caller frees; what
 * is not known is "". If the runtime gives no function, `function' is the one that called OpenACC,
 * shortened, and belongs to the report.
 */
struct openacc_texts {
	char *all;
	const char *file, *lines, *function, *name;
};
struct openacc_texts openacc_texts_shown(const struct report *r, const struct profile_openacc *o);

/* The stack that an event belongs to: the nearest above it that is no event itself, or
 * PROFILE_NONE. */
uint32_t openacc_caller(const struct report *r, uint32_t stack);
/* A number that is the same for all entries of one event at one place in the source. */
uint64_t openacc_region_id(const struct profile_openacc *o);

/* The sum of all events at one position in one function. */
struct openacc_total {
	char *position; /* "heat.c:42-50" */
	char *function;
	uint64_t calls, ns[OPENACC_WAIT + 1]; /* by enum openacc_time, no time counted twice */
	uint64_t to_device, to_host;	      /* bytes */
	uint64_t on_device; /* bytes created there, or allocated if that is not reported */
};
/* The *n totals in the order of openacc.sort_table; openacc_totals_free() frees them. */
struct openacc_total *openacc_totals(const struct report *r, size_t *n);
void openacc_totals_free(struct openacc_total *t, size_t n);
/* The *n indices into openacc[] in that order; the caller frees. */
uint32_t *openacc_sort(const struct report *r, size_t *n);

#endif
