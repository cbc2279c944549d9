/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers about OpenACC that logs and JSON share (report-openacc.c). */
#ifndef VFTR_NODEAGENT_REPORT_OPENACC_H
#define VFTR_NODEAGENT_REPORT_OPENACC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "nodeagent/openacc.h"
#include "nodeagent/profile.h"

struct report;

/* The texts of an entry; the caller frees `all`, where they are. */
struct openacc_texts {
	char *all;
	const char *file, *lines, *function, *name;
};
struct openacc_texts openacc_texts(const struct profile_openacc *o);
/* The same with the function that has called OpenACC, where the runtime tells none. */
struct openacc_texts openacc_texts_shown(const struct report *r, const struct profile_openacc *o);

/* The stack that the events in it belong to: the nearest above that is none itself. */
uint32_t openacc_caller(const struct report *r, uint32_t stack);
/* The same number for what happens at one place in the source. */
uint64_t openacc_region_id(const struct profile_openacc *o);

/* All events at one position in one function. */
struct openacc_total {
	char *position; /* "heat.c:42-50" */
	char *function;
	uint64_t calls, ns[OPENACC_WAIT + 1]; /* by enum openacc_time, no time counted twice */
	uint64_t to_device, to_host;
	uint64_t on_device; /* created there; where the runtime does not tell that, allocated */
};
/* In the order of openacc.sort_table; free with the other. */
struct openacc_total *openacc_totals(const struct report *r, size_t *n);
void openacc_totals_free(struct openacc_total *t, size_t n);
/* Indices into openacc[] in that order; the caller frees. */
uint32_t *openacc_sort(const struct report *r);

#endif
