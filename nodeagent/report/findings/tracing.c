/* SPDX-License-Identifier: BSD-3-Clause */
/* What tracing takes from the program, and what the machine does not give it. */
#include "nodeagent/report/findings/internal.h"

#include <math.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/report/short.h"

#define WORTH_S 0.1 /* a run: in a shorter one a turn of another process is a large share */

/* "f, g and 3 more" */
static char *names_of(const struct report *r, const struct short_functions *s, size_t named)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < named; i++)
		text = xappend(text, "%s%s", i ? ", " : "", r->cell[s->names[i]]);
	if (s->n > named)
		text = xappend(text, " and %zu more", s->n - named);
	return text;
}

/* To count them is possible in the next run; what to compile with lasts. */
static void advise_option(
	struct finding *f, const struct report *r, const struct short_functions *s, size_t named)
{
	char *option = short_functions_option_text(r, s, named);
	const char *first = isnan(conf_count_tiny(r->c)) ? "Run with -k " COUNT_TINY
							   ", which counts them, or compile"
							 : "Compile";

	if (*option && s->has_cxx)
		finding_advise(f,
			"%s with %s (of C++ with what `vftr flags --exclude RUN' prints).", first,
			option);
	else if (*option)
		finding_advise(f, "%s with %s", first, option);
	else
		finding_advise(f, "%s with what `vftr flags --exclude RUN' prints.", first);
	free(option);
}

bool look_short_functions(const struct facts *facts, struct finding *f)
{
	const struct report *r = facts->r;
	struct short_functions s;
	size_t named;

	if (!facts->p->calls)
		return false;
	s = short_functions(r);
	named = short_functions_named(r, &s);
	f->seconds = report_overhead_s(r, s.all_calls);
	if (named) {
		char *names = names_of(r, &s, named);
		const double part = (double)s.all_calls / (double)facts->p->calls;

		finding_say(f,
			"Tracing costs %s in short functions, which make %.0f %% of all calls: %s.",
			amount_of(facts, f->seconds).text, 100.0 * part, names);
		free(names);
		advise_option(f, r, &s, named);
		prove_text(f, "function", r->shown[s.names[0]]);
		prove_count(f, "calls", s.calls[0]);
		prove_count(f, "short_functions", s.n);
		prove_count(f, "short_calls", s.all_calls);
		prove_seconds(f, "hooks_s", f->seconds);
	}
	short_functions_free(&s);
	return named;
}

bool look_agent_behind(const struct facts *facts, struct finding *f)
{
	f->seconds = report_blocked_s(facts->r);
	if (!(f->seconds > 0.0))
		return false;
	finding_say(f, "Threads wait %s for the node agent to make room in their rings.",
		amount_of(facts, f->seconds).text);
	prove_seconds(f, "blocked_s", f->seconds);
	return true;
}

/*
 * What waits in MPI wants a CPU only to see that it has to wait on: that is no loss. So no more
 * than what is beyond all time in MPI is to be won, and of less nobody can tell.
 */
static double loss_of(const struct facts *facts, double queued_s)
{
	const uint64_t *part = facts->d.part_ns;
	const double beyond_s = queued_s - s_of(part[DIGEST_MPI] + part[DIGEST_MPI_ENDS]);

	return beyond_s > 0.0 ? beyond_s : NAN;
}

/* By that it is sorted: ", of which 400 ms (4.0 %) are to be won". */
static char *part_to_win(const struct facts *facts, double queued_s, double loss_s)
{
	if (isnan(loss_s) || loss_s >= queued_s)
		return xstrdup("");
	return xasprintf(", of which %s are to be won", amount_of(facts, loss_s).text);
}

bool look_oversubscribed(const struct facts *facts, struct finding *f)
{
	const struct profile_cpu *c = &facts->p->cpu;
	double queued_s;
	char *part;

	if (!digest_is_starved(facts->r) || facts->p->runtime_s < WORTH_S)
		return false;
	queued_s = s_of(c->queued_ns);
	f->seconds = loss_of(facts, queued_s);
	part = part_to_win(facts, queued_s, f->seconds);
	finding_say(f,
		"%s were ready to run but had no CPU for %s%s; %s %" PRIu32 " for %.0f %% of its "
		"time.",
		facts->p->world_size ? "Ranks" : "Processes", amount_of(facts, queued_s).text, part,
		facts->p->world_size ? "rank" : "process",
		profile_rank_shown(facts->p, c->queued_rank),
		100.0 * (double)c->most_queued_ns / (double)c->queued_wall_ns);
	free(part);
	prove_seconds(f, "t_queued_s", queued_s);
	prove_seconds(
		f, "mpi_s", s_of(facts->d.part_ns[DIGEST_MPI] + facts->d.part_ns[DIGEST_MPI_ENDS]));
	prove_count(f, "rank_queued", profile_rank_shown(facts->p, c->queued_rank));
	prove_seconds(f, "t_queued_most_s", s_of(c->most_queued_ns));
	prove_seconds(f, "t_wall_queued_s", s_of(c->queued_wall_ns));
	return true;
}
