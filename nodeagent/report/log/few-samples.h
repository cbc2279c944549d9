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

struct few_samples {
	size_t n;	  /* call paths that have no row */
	uint64_t excl_ns; /* of these */
	struct few_samples_row {
		bool is_folded;	  /* has no row: its nearest caller with one has its time */
		uint64_t excl_ns; /* with that of those below it which have none */
		uint64_t samples; /* the same */
	} rows[];		  /* by stack */
};

/* NULL: all call paths are shown as they are. The caller frees (free()). */
struct few_samples *few_samples_new(const struct report *r);
/* Prints, below the table, how many call paths were left out of it, if any. few may be NULL. */
void few_samples_say(FILE *f, const struct report *r, const struct few_samples *few);

/*
 * The error, in seconds, of a time that so many samples have given: two standard deviations of
 * their number.
 */
double samples_error_s(uint64_t ns, uint64_t samples);

/* False if calls is 0 and the profile has stack samples, which do not tell numbers of calls. */
bool calls_are_known(const struct profile *p, uint64_t calls);

/* The samples of a stack, or NULL. */
const struct profile_stack_samples *samples_of_stack(const struct profile *p, uint32_t stack);

#endif
