/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tracing has cost, in the logs: hooks and wrappers, which is an estimate, and
 * waits for room in the rings, which were measured.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/units.h"
#include "nodeagent/report/digest.h"
#include "nodeagent/report/findings.h"
#include "nodeagent/report/log/internal.h"
#include "nodeagent/report/short.h"

#define MUCH 0.1 /* of the run: worth a warning */
/* Short functions that make most calls are worth a warning below MUCH, too: */
#define MANY_CALLS 100000
#define NOT_LITTLE 0.01 /* of the run */

static double overhead_of(const struct report *r, const char *prefix)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < r->p->n_stacks; i++)
		if (!strncmp(r->p->names[r->p->stacks[i].name], prefix, strlen(prefix)))
			calls += r->p->stacks[i].calls;
	return report_overhead_s(r, calls);
}

/*
 * Processes, or how many threads ran at once on average where that is more; without
 * MPI, where processes come one after the other, where it is less, too.
 */
static double side_by_side(const struct report *r, double runtime_s)
{
	double lived_s = report_blocked_s(r), ranks = r->p->ranks ? r->p->ranks : 1;

	for (size_t i = 0; i < r->p->n_stacks; i++)
		lived_s += (double)r->p->stacks[i].excl_ns * 1e-9;
	if (runtime_s <= 0.0)
		return ranks;
	if (!r->p->world_size && lived_s < ranks * runtime_s)
		return lived_s > runtime_s ? lived_s / runtime_s : 1.0;
	return lived_s > ranks * runtime_s ? lived_s / runtime_s : ranks;
}

void report_cost(const struct report *r, double runtime_s, double *hooks_s, double *blocked_s)
{
	double tracks = side_by_side(r, runtime_s);

	*hooks_s = report_overhead_s(r, r->p->calls) / tracks;
	*blocked_s = report_blocked_s(r) / tracks;
}

static void print_share(FILE *f, const struct report *r, const char *label, double ns)
{
	if (ns > 0.0 && r->excl_s > 0.0)
		fprintf(f, "%-*s%*.2f %%\n", SECTION_LABEL, label, SECTION_VALUE,
			100.0 * ns * 1e-9 / r->excl_s);
}

/*
 * Of the time of all ranks and threads; what the wrappers cost is another thing. In layout run
 * the start and the end of MPI, which are no communication, stand apart.
 */
static void mpi_share(FILE *f, const struct report *r)
{
	double mpi = 0.0, ends = 0.0;

	for (uint32_t i = 0; i < r->p->n_stacks; i++) {
		const struct profile_stack *s = &r->p->stacks[i];

		if (strncmp(r->p->names[s->name], "MPI_", 4))
			continue;
		if (r->run && digest_part(r, i) == DIGEST_MPI_ENDS)
			ends += (double)s->excl_ns;
		else
			mpi += (double)s->excl_ns;
	}
	print_share(f, r, "Time in MPI:", mpi);
	print_share(f, r, "MPI_Init/Finalize:", ends);
}

/* The shares are by calls: a wrapper costs about what a hook costs. */
void section_times(FILE *f, const struct report *r, double runtime_s)
{
	double tracks = side_by_side(r, runtime_s);
	double hooks = report_overhead_s(r, r->p->calls) / tracks;
	double blocked = report_blocked_s(r) / tracks;
	double mpi = overhead_of(r, "MPI_") / tracks;
	double openmp = r->p->n_openmp ? overhead_of(r, "omp_") / tracks : 0.0;
	double cuda = r->p->n_gpu ? overhead_of(r, "cuda") / tracks : 0.0;
	double openacc = r->p->n_openacc ? overhead_of(r, "acc_") / tracks : 0.0;
	double others = mpi + openmp + cuda + openacc, all = hooks + blocked;

	section_seconds(f, "Total runtime:", runtime_s);
	section_seconds(f, "Application time:", all < runtime_s ? runtime_s - all : 0.0);
	section_seconds(f, "Overhead:", all);
	section_seconds(f, "   Function hooks:", hooks > others ? hooks - others : 0.0);
	if (r->p->world_size)
		section_seconds(f, "   MPI wrappers:", mpi);
	if (r->p->n_openmp)
		section_seconds(f, "   OMP callbacks:", openmp);
	if (r->p->n_gpu)
		section_seconds(f, "   CUDA callbacks:", cuda);
	if (r->p->n_gpu)
		section_gpu_times(f, r);
	if (r->p->n_openacc)
		section_seconds(f, "   OpenACC callbacks:", openacc);
	if (r->p->n_openacc)
		section_openacc_times(f, r);
	if (blocked > 0.0)
		section_seconds(f, "   Waiting for room:", blocked);
	mpi_share(f, r);
}

/* ---- the warning ---------------------------------------------------------------- */

/* "83 % of all calls are of the short functions: f, g, which cost 1.20 s" */
static void name_short(FILE *f, const struct report *r, const struct short_functions *s,
	size_t named, double seconds)
{
	fprintf(f, "%.0f %% of all calls are of %s ",
		100.0 * (double)s->all_calls / (double)r->p->calls,
		s->n == 1 ? "the short function" : "short functions:");
	for (size_t i = 0; i < named; i++)
		section_text(f, i ? ", " : "", r->cell[s->names[i]], "");
	if (s->n > named)
		fprintf(f, " and %zu more", s->n - named);
	fprintf(f, ", which %s %s", s->n == 1 ? "costs" : "cost", quantity_seconds(seconds).text);
}

/* What to add for a compiler or to the next run, to be copied. */
static void print_remedy(
	FILE *f, const struct report *r, const struct short_functions *s, size_t named)
{
	char *option = short_functions_option_text(r, s, named);

	if (*option)
		section_text(f, "   Compile with: ", option, "\n");
	if (s->has_cxx)
		fputs("   Compile C++ with: what `vftr flags --exclude RUN' prints\n", f);
	if (isnan(conf_count_tiny(r->c)))
		fputs("   Or count them, with: -k " COUNT_TINY "\n", f);
	free(option);
}

/* Most calls are short ones, and so many that their cost is no noise. */
static bool is_short_most(
	const struct report *r, const struct short_functions *s, double seconds, double runtime_s)
{
	return s->all_calls > r->p->calls / 2 && s->all_calls >= MANY_CALLS &&
	       seconds >= NOT_LITTLE * runtime_s;
}

/* The summary of layout run says it above, and what to do; that threads wait for the agent, without
 * the functions (`named' of them are) that make it wait. */
static bool is_among_findings(const struct report *r, size_t named)
{
	struct findings all;
	bool is_there = false;

	if (!r->run || r->log != REPORT_SUMMARY)
		return false;
	all = findings_of(r);
	for (size_t i = 0; i < all.n; i++)
		is_there |= !strcmp(all.at[i].rule, "short_functions") ||
			    (!named && !strcmp(all.at[i].rule, "agent_behind"));
	findings_free(&all);
	return is_there;
}

void section_overhead_warning(FILE *f, const struct report *r, double runtime_s)
{
	double hooks, blocked, seconds;
	struct short_functions s;
	size_t named;
	bool much;

	if (!r->p->calls)
		return;
	report_cost(r, runtime_s, &hooks, &blocked);
	much = hooks + blocked > MUCH * runtime_s;
	s = short_functions(r);
	named = short_functions_named(r, &s);
	seconds = hooks * (double)s.all_calls / (double)r->p->calls;
	if ((much || is_short_most(r, &s, seconds, runtime_s)) && !is_among_findings(r, named)) {
		fputs("Warning: ", f);
		if (much)
			fprintf(f, "tracing took %.0f %% of the run",
				fmin(100.0, 100.0 * (hooks + blocked) / runtime_s));
		if (much && blocked > 0.01 * runtime_s)
			fprintf(f, ", %.0f %% of it waiting for the agent",
				100.0 * blocked / (hooks + blocked));
		if (named) {
			fputs(much ? "; " : "", f);
			name_short(f, r, &s, named, seconds);
		} else if (!much) {
			fprintf(f, "most calls are of %zu short functions", s.n);
		}
		fputs(".\n", f);
		if (named)
			print_remedy(f, r, &s, named);
	}
	short_functions_free(&s);
}
