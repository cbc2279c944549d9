/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths with fewer stack samples than profile_table.min_samples, in the logs. */
#ifndef VFTR_NODEAGENT_REPORT_LOG_FEW_SAMPLES_H
#define VFTR_NODEAGENT_REPORT_LOG_FEW_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct profile;
struct profile_stack_samples;
struct report;

/*
 * Call paths of so few stack samples (profile_table.min_samples) that the runtime profile has no
 * row for them, and shows their time with a caller.
 */
struct few_samples {
	size_t n;	  /* call paths that have no row */
	uint64_t excl_ns; /* their exclusive time */
	struct few_samples_row {
		bool is_folded; /* it has no row: the nearest caller with one has its time */
		/* its own exclusive time and samples, with those of call paths that are shown with
		 * it; 0 if it is folded */
		uint64_t excl_ns;
		uint64_t samples;
	} rows[]; /* by stack */
};

/* NULL: all call paths are shown as they are. The caller frees, by free(). */
struct few_samples *few_samples_new(const struct report *r);
/* Prints, for below the table, how many call paths have no row, if any. few may be NULL. */
void few_samples_say(FILE *f, const struct report *r, const struct few_samples *few);

/*
 * The error, in seconds, of a time of ns that so many samples (> 0) have given: what two standard
 * deviations of their number make.
 */
double samples_error_s(uint64_t ns, uint64_t samples);

/* False if calls is 0 and the profile has stack samples, which do not tell numbers of calls. */
bool calls_are_known(const struct profile *p, uint64_t calls);

/* The entry of a stack in stack_samples[], or NULL. */
const struct profile_stack_samples *samples_of_stack(const struct profile *p, uint32_t stack);

#endif
