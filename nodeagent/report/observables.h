/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hardware counters of a profile, ready to be printed: their list, their values at each stack,
 * and the observables computed from them (hwprof.observables). A report has one. For one thread at
 * a time. counter: index into counters[] of the profile; observable: index into hwprof.observables.
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
	char **symbol;	    /* of each counter; then T (seconds) and CALLS */
	size_t n_symbols;   /* counters and these two */
	struct formula **f; /* by observable; NULL: it is no formula */
	double *value;	    /* by symbol: room for hwprof_formula() */
};

/* NULL if there are neither counters nor observables, or hwprof.active is false. p and c must
 * outlive the result. hwprof_free() takes NULL, too. */
struct hwprof *hwprof_new(const struct profile *p, const struct conf *c);
void hwprof_free(struct hwprof *h);

/*
 * Returns 0 and *error = NULL if all formulas of c are right, or -1 and *error (one sentence, the
 * caller frees).
 */
int hwprof_check(const struct conf *c, char **error);

/* A counter's value at a stack (PROFILE_NONE: at all), exclusive, summed over ranks. */
uint64_t hwprof_count(const struct hwprof *h, size_t counter, uint32_t stack);
/* An observable's value at a stack (PROFILE_NONE: at all); infinite or NAN: it has none there. */
double hwprof_observable(const struct hwprof *h, size_t observable, uint32_t stack);
/*
 * hwprof_thread(): writes the values of all counters in a thread (index into ended_threads[]) to
 * values[0..n_counters): at one stack, or with PROFILE_NONE at all. hwprof_formula(): an
 * observable's value for such values; infinite or NAN: it has none.
 */
void hwprof_thread(const struct hwprof *h, uint32_t thread, uint32_t stack, uint64_t *values);
double hwprof_formula(const struct hwprof *h, size_t observable, const uint64_t *values,
	uint64_t excl_ns, uint64_t calls);
/* "Perf": the source's name in titles of tables; static. */
const char *hwprof_type(const struct conf *c);
/* The counter's name without its symbol; belongs to the profile. */
const char *hwprof_name(const struct hwprof *h, size_t counter);

/*
 * All stacks by falling value of the observable with the number hwprof.sort_by_column (from 0), or
 * of the counter with this number if there is no such observable; ties by stack. The caller frees.
 */
uint32_t *hwprof_sort(const struct hwprof *h);

#endif
