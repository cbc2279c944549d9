/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with the numbers themselves: they are not of all that ran, or not exact enough. */
#include "nodeagent/report/findings/internal.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/first-end.h"

#define LOST_SHARE 0.001 /* of calls or messages */

bool look_nothing_traced(const struct facts *facts, struct finding *f)
{
	if (facts->p->calls || facts->p->n_stack_samples || !facts->p->ranks)
		return false;
	if (facts->p->n_warnings) {
		finding_say(f, "Nothing was traced, and there are warnings.");
		finding_advise(f, "Read the warnings; then see `vftr doctor'.");
	} else {
		finding_say(f, "Nothing was traced: no function of the program is instrumented.");
	}
	prove_count(f, "calls", 0);
	prove_count(f, "processes", facts->p->ranks);
	prove_count(f, "warnings", facts->p->n_warnings);
	return true;
}

bool look_bad_end(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	size_t n;
	const struct profile_process *d = first_death(p, &n);
	char *text = first_end_sentence(p);

	if (text) {
		finding_say(f, "%s.", text);
		prove_count(f, "bad_ends", p->n_ends);
		free(text);
		return true;
	}
	if (!d)
		return false;
	if (d->end == PROCESS_KILLED && d->exit_status > 0)
		finding_say(f, "%s %" PRIu32 " was killed by signal %d (%s); its data end there.",
			p->world_size ? "Rank" : "Process", profile_rank_shown(p, d->rank),
			d->exit_status, strsignal(d->exit_status));
	else
		finding_say(f, "%s %" PRIu32 " ended without saying so; its data end there.",
			p->world_size ? "Rank" : "Process", profile_rank_shown(p, d->rank));
	prove_count(f, "rank", profile_rank_shown(p, d->rank));
	prove_count(f, "pid", (uint64_t)d->pid);
	if (d->exit_status > 0)
		prove_count(f, "signal", (uint64_t)d->exit_status);
	prove_seconds(f, "runtime_s", d->runtime_s);
	return true;
}

bool look_missing(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	const uint32_t ranked = p->ranks > p->unranked ? p->ranks - p->unranked : 0;
	const uint64_t ranks = ranked < p->world_size ? p->world_size - ranked : 0;

	if (!ranks && !p->lost_processes)
		return false;
	if (ranks)
		finding_say(f, "The data of %" PRIu64 " of %" PRIu32 " ranks are missing.", ranks,
			p->world_size);
	else
		finding_say(f,
			"%" PRIu64 " %s gave up waiting for a node agent, and %s not traced.",
			p->lost_processes, one_or_many(p->lost_processes, "process", "processes"),
			one_or_many(p->lost_processes, "was", "were"));
	prove_count(f, "missing_ranks", ranks);
	prove_count(f, "lost_processes", p->lost_processes);
	return true;
}

static uint64_t messages_of(const struct profile *p)
{
	uint64_t n = p->lost_messages;

	for (size_t i = 0; i < p->n_functions; i++)
		n += p->functions[i].sends + p->functions[i].receives;
	return n;
}

bool look_lost(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	const uint64_t calls = p->calls + p->lost_calls, messages = messages_of(p);
	const double of_calls = calls ? (double)p->lost_calls / (double)calls : 0.0;
	const double of_messages = messages ? (double)p->lost_messages / (double)messages : 0.0;

	if (of_calls < LOST_SHARE && of_messages < LOST_SHARE)
		return false;
	finding_say(f,
		"%.1f %% of the calls and %.1f %% of the messages were not recorded; numbers are "
		"less than what happened.",
		100.0 * of_calls, 100.0 * of_messages);
	prove_count(f, "calls", p->calls);
	prove_count(f, "lost", p->lost_calls);
	prove_count(f, "lost_messages", p->lost_messages);
	return true;
}

/* The greatest error of a clock; UINT64_MAX: some were not compared. */
static uint64_t worst_clock(const struct profile *p, const char **host)
{
	uint64_t worst = 0;

	EACH(const struct profile_agent, a, p->agents, p->n_agents) {
		uint64_t error = a->clock.error_ns;

		if (a->missing || a->clock.state == PROFILE_CLOCK_REFERENCE)
			continue;
		if (a->clock.state == PROFILE_CLOCK_UNKNOWN)
			error = UINT64_MAX;
		if (error >= worst) {
			worst = error;
			*host = a->host;
		}
	}
	return worst;
}

/* Waits for late senders of other nodes, and the messages that they are of. */
static void waits_between(const struct profile *p, uint64_t *ns, uint64_t *messages)
{
	for (size_t i = 0; i < p->n_thread_pairs && p->pair_ranks <= 1; i++) {
		const struct profile_thread_pair *t = &p->thread_pairs[i];
		const char *from = efficiency_host(p, t->from), *to = efficiency_host(p, t->to);

		if (!t->late_ns || !from || !to || !strcmp(from, to))
			continue;
		*ns += t->late_ns;
		*messages += t->messages;
	}
}

bool look_clock(const struct facts *facts, struct finding *f)
{
	const char *host = "";
	uint64_t error, ns = 0, messages = 0;
	double mean_s;

	if (facts->p->n_agents < 2)
		return false;
	error = worst_clock(facts->p, &host);
	waits_between(facts->p, &ns, &messages);
	mean_s = messages ? s_of(ns) / (double)messages : 0.0;
	if (!messages || (error != UINT64_MAX && 2.0 * s_of(error) < mean_s))
		return false;
	if (error == UINT64_MAX)
		finding_say(f,
			"The clock of node %s was not compared: waits between nodes are not known.",
			host);
	else
		finding_say(f,
			"The clock of node %s is known to %s only; a message between nodes waits "
			"%s "
			"on average.",
			host, quantity_seconds(s_of(error)).text, quantity_seconds(mean_s).text);
	prove_text(f, "node", host);
	if (error != UINT64_MAX)
		prove_seconds(f, "error_s", s_of(error));
	prove_seconds(f, "late_s", s_of(ns));
	prove_count(f, "messages", messages);
	return true;
}
