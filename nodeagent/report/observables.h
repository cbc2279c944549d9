/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hardware counters of a profile, ready to be printed: their list, their values
 * at each stack, and the observables computed from them (hwprof.observables). A
 * report has one.
 */
#ifndef VFTR_NODEAGENT_REPORT_OBSERVABLES_H
#define VFTR_NODEAGENT_REPORT_OBSERVABLES_H

#include <stddef.h>
#include <stdint.h>

struct conf;
struct profile;

struct hwprof {
	const struct profile *p;
	const struct conf *c;
	uint32_t *first;    /* by stack: its counts begin there; one more for the end */
	char **symbol;	    /* of each counter; then T and CALLS */
	size_t n_symbols;   /* counters and these two */
	struct formula **f; /* by observable; NULL: it is no formula */
	double *value;	    /* by symbol */
};

/* NULL if there are neither counters nor observables, or they are not wanted. */
struct hwprof *hwprof_new(const struct profile *p, const struct conf *c);
void hwprof_free(struct hwprof *h);

/* 0 if all formulas are right, or -1 and *error (one sentence, the caller frees). */
int hwprof_check(const struct conf *c, char **error);

/* A counter's value at a stack (PROFILE_NONE: at all), exclusive, summed over ranks. */
uint64_t hwprof_count(const struct hwprof *h, size_t counter, uint32_t stack);
/* An observable's value; none if it is infinite or NAN. */
double hwprof_observable(const struct hwprof *h, size_t observable, uint32_t stack);
/*
 * Writes the values of all counters in a thread (index into ended_threads[]) to
 * values[0..n_counters): at one stack, or with PROFILE_NONE at all. Computes an observable from
 * such values.
 */
void hwprof_thread(const struct hwprof *h, uint32_t thread, uint32_t stack, uint64_t *values);
double hwprof_formula(const struct hwprof *h, size_t observable, const uint64_t *values,
	uint64_t excl_ns, uint64_t calls);
/* "Perf": the source's name in titles of tables. */
const char *hwprof_type(const struct conf *c);
/* The counter's name without its symbol. */
const char *hwprof_name(const struct hwprof *h, size_t counter);

/* 0 .. n_stacks-1 by falling observable hwprof.sort_by_column, else by that counter;
 * ties by stack. The caller frees. */
uint32_t *hwprof_sort(const struct hwprof *h);

#endif
