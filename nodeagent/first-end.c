/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/first-end.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/profile.h"
#include "nodeagent/util.h"

#define FATES_MAX 4 /* the first one's, and of others */

static bool is_bad(const struct profile_process *q)
{
	return q->rank < PROFILE_UNRANKED && q->exit_status > 0 &&
	       (q->end == PROCESS_EXITED || q->end == PROCESS_KILLED);
}

static double end_s(const struct profile_process *q)
{
	return q->started_s + q->runtime_s;
}

static bool same_fate(const struct profile_process *a, const struct profile_process *b)
{
	return a->end == b->end && a->exit_status == b->exit_status;
}

/* "ranks 0-2,5"; *n gets how many. Processes are sorted by rank. */
static char *ranks_like(const struct profile *p, const struct profile_process *like, size_t *n)
{
	char *text = xstrdup("");
	uint32_t from = 0, to = 0;

	*n = 0;
	for (size_t i = 0; i <= p->n_processes; i++) {
		const struct profile_process *q = i < p->n_processes ? &p->processes[i] : NULL;
		bool counts = q && is_bad(q) && same_fate(q, like);
		char *old = text;

		if (counts && *n && q->rank == to + 1) {
			to = q->rank;
			++*n;
			continue;
		}
		if (*n && (counts || !q)) {
			const char *comma = old[0] ? "," : "";

			text = from == to ? xasprintf("%s%s%" PRIu32, old, comma, from)
					  : xasprintf("%s%s%" PRIu32 "-%" PRIu32, old, comma, from,
						    to);
			free(old);
		}
		if (counts) {
			from = to = q->rank;
			++*n;
		}
	}
	return text;
}

static char *fate(const struct profile_process *q, size_t n, bool then)
{
	if (q->end == PROCESS_EXITED)
		return xasprintf("%sexited with status %d", then ? "then " : "", q->exit_status);
	return xasprintf("%s %sended by signal %d (%s)", n == 1 ? "was" : "were",
		then ? "then " : "", q->exit_status, strsignal(q->exit_status));
}

static char *clause(const struct profile *p, const struct profile_process *q, bool then)
{
	size_t n;
	char *ranks = ranks_like(p, q, &n), *what = fate(q, n, then), *text;

	text = xasprintf("%s%s %s %s", then ? "r" : "R", n == 1 ? "ank" : "anks", ranks, what);
	if (!then) {
		char *old = text;

		text = n == 1 ? xasprintf("%s at t=%.2f s", old, end_s(q))
			      : xasprintf("%s, first rank %" PRIu32 " at t=%.2f s", old, q->rank,
					end_s(q));
		free(old);
	}
	free(ranks);
	free(what);
	return text;
}

void first_end_warn(struct profile *p, const char *host)
{
	const struct profile_process *first = NULL, *told[FATES_MAX];
	bool exited = false;
	size_t n = 0;
	char *text;

	for (size_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *q = &p->processes[i];

		if (!is_bad(q))
			continue;
		exited |= q->end == PROCESS_EXITED;
		if (!first || end_s(q) < end_s(first))
			first = q;
	}
	if (!exited)
		return;
	told[n++] = first;
	text = clause(p, first, false);
	for (size_t i = 0; i < p->n_processes && n < FATES_MAX; i++) {
		const struct profile_process *q = &p->processes[i];
		bool known = !is_bad(q);
		char *old = text, *more;

		for (size_t k = 0; k < n; k++)
			known = known || same_fate(q, told[k]);
		if (known)
			continue;
		told[n++] = q;
		more = clause(p, q, true);
		text = xasprintf("%s; %s", old, more);
		free(old);
		free(more);
	}
	profile_warn(p, "%s%s%s", p->world_size > p->ranks - p->unranked ? host : "",
		p->world_size > p->ranks - p->unranked ? ": " : "", text);
	free(text);
}
