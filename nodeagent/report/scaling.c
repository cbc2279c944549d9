/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/report/digest.h"
#include "nodeagent/report/report.h"

#define SAME   0.01 /* numbers of calls that differ by less are the same */
#define MOSTLY 0.5  /* of the calls must say the same */

const char *const scaling_reasons[SCALING_REASONS] = {
	[SCALING_BY_OPTION] = "option",
	[SCALING_BY_CALLS] = "calls",
	[SCALING_SAME_RANKS] = "same_ranks",
	[SCALING_BY_TIME] = "time",
	[SCALING_NEITHER] = "assumed",
};

ORDER_BY(by_name, struct scaling_function, ALPHABETIC(name))

/* ---- a run ------------------------------------------------------------------------------- */

static void keep_functions(struct scaling_run *run, const struct report *r)
{
	struct report_group *groups;
	const uint32_t *members;
	size_t n = report_groups(r, &groups, &members);

	run->functions = xcalloc(n + 1, sizeof(*run->functions));
	for (size_t i = 0; i < n; i++) {
		if (!groups[i].calls ||
			digest_part(r, members[groups[i].first]) != DIGEST_COMPUTING)
			continue;
		run->functions[run->n_functions++] = (struct scaling_function){
			xstrdup(r->shown[groups[i].name]), groups[i].calls};
		run->calls += groups[i].calls;
	}
	qsort(run->functions, run->n_functions, sizeof(*run->functions), by_name);
	free(groups);
}

/* The sum of a counter in functions of the program; NAN: there is none of these names. */
static double count_of(const struct report *r, const char *perf, const char *papi)
{
	const struct profile *p = r->p;
	double sum = 0.0;
	size_t k;

	for (k = 0; k < p->n_counters; k++) {
		const char *name = strchr(p->counters[k].name, ' ');

		if (name && (!strcmp(name + 1, perf) || !strcmp(name + 1, papi)))
			break;
	}
	if (k == p->n_counters)
		return NAN;
	for (size_t i = 0; i < p->n_counts; i++)
		if (p->counts[i].counter == p->counters[k].number &&
			digest_part(r, p->counts[i].stack) == DIGEST_COMPUTING)
			sum += (double)p->counts[i].value;
	return sum > 0.0 ? sum : NAN;
}

struct scaling_run scaling_of(const struct report *r)
{
	struct scaling_run run = {
		.instructions = count_of(r, "instructions", "PAPI_TOT_INS"),
		.cycles = count_of(r, "cycles", "PAPI_TOT_CYC"),
	};

	keep_functions(&run, r);
	return run;
}

void scaling_done(struct scaling_run *run)
{
	for (size_t i = 0; i < run->n_functions; i++)
		free(run->functions[i].name);
	free(run->functions);
	*run = (struct scaling_run){0};
}

/* ---- strong or weak ---------------------------------------------------------------------- */

static bool are_same(double a, double b)
{
	return fabs(a - b) <= SAME * fmax(a, b);
}

/* Adds what the calls of one run say; a function that only one of both has says nothing. */
static void compare_calls(
	struct scaling *s, const struct scaling_run *run, const struct scaling_run *reference)
{
	double total = 0.0, per_rank = 0.0, all = 0.0;

	EACH(const struct scaling_function, f, run->functions, run->n_functions) {
		const struct scaling_function *there =
			reference->n_functions
				? bsearch(f, reference->functions, reference->n_functions,
					  sizeof(*f), by_name)
				: NULL;
		const double calls = (double)f->calls;

		all += calls;
		if (!there)
			continue;
		if (are_same(calls, (double)there->calls))
			total += calls;
		if (are_same(calls / run->ranks, (double)there->calls / reference->ranks))
			per_rank += calls;
	}
	s->same_total = fmin(s->same_total, all > 0.0 ? total / all : 0.0);
	s->same_per_rank = fmin(s->same_per_rank, all > 0.0 ? per_rank / all : 0.0);
}

/* Has the useful time grown by less than half of what threads have, as orders of magnitude? */
static bool is_same_work(const struct scaling_run *run, const struct scaling_run *reference)
{
	return run->useful_s > 0.0 && reference->useful_s > 0.0 &&
	       log(run->useful_s / reference->useful_s) <
		       0.5 * log(run->threads / reference->threads);
}

struct scaling scaling_recognise(const struct scaling_run *runs, size_t n, size_t reference)
{
	struct scaling s = {.same_total = 1.0, .same_per_rank = 1.0};
	bool same_ranks = true, same_work = false;

	for (size_t i = 0; i < n; i++) {
		if (runs[i].ranks == runs[reference].ranks)
			continue;
		same_ranks = false;
		compare_calls(&s, &runs[i], &runs[reference]);
		same_work |= is_same_work(&runs[i], &runs[reference]);
	}
	s.reason = SCALING_BY_CALLS;
	if (same_ranks) {
		s.reason = SCALING_SAME_RANKS;
		s.same_total = s.same_per_rank = 0.0;
	} else if (fmax(s.same_total, s.same_per_rank) < MOSTLY) {
		s.reason = SCALING_NEITHER;
	} else if (s.same_per_rank > s.same_total) {
		s.weak = !same_work;
		s.reason = same_work ? SCALING_BY_TIME : SCALING_BY_CALLS;
	}
	return s;
}

char *scaling_sentence(const struct scaling *s)
{
	const double total = 100.0 * s->same_total, per_rank = 100.0 * s->same_per_rank;

	switch (s->reason) {
	case SCALING_BY_CALLS:
		if (s->weak)
			return xasprintf("Weak scaling: %.0f %% of the calls are of functions that "
					 "each rank calls as often in all runs.",
				per_rank);
		return xasprintf("Strong scaling: %.0f %% of the calls are of functions that are "
				 "called as often in all runs.",
			total);
	case SCALING_SAME_RANKS:
		return xstrdup(
			"Strong scaling is assumed: the runs have the same number of ranks.");
	case SCALING_BY_TIME:
		return xasprintf("Strong scaling is assumed: each rank calls functions as often in "
				 "all runs (%.0f %% of the calls), but useful times are those of "
				 "the same work.",
			per_rank);
	case SCALING_NEITHER:
		return xasprintf(
			"Strong scaling is assumed: of the calls, %.0f %% are of functions "
			"that are called as often in all runs, and %.0f %% of those that "
			"each rank calls as often.",
			total, per_rank);
	default:
		return xasprintf(
			"%s scaling, as the command line says.", s->weak ? "Weak" : "Strong");
	}
}

/* ---- factors ----------------------------------------------------------------------------- */

struct scaling_factors scaling_factors(
	const struct scaling_run *run, const struct scaling_run *reference, bool weak)
{
	const double share = weak ? run->threads / reference->threads : 1.0;
	const bool has_times = run->useful_s > 0.0 && reference->useful_s > 0.0;

	return (struct scaling_factors){
		.instructions = reference->instructions / run->instructions * share,
		.ipc = run->instructions / run->cycles /
		       (reference->instructions / reference->cycles),
		.frequency = has_times ? run->cycles / run->useful_s /
						 (reference->cycles / reference->useful_s)
				       : NAN,
	};
}
