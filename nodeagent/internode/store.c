/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores the results: ids of processes become the outputs' ranks, ticks become ns. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/process/host.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"

_Static_assert(PROFILE_MATCH_LABELS == MATCH_LABELS, "as in match/match.h");
_Static_assert(PROFILE_MATCH_REASONS == MATCH_REASONS, "as in match/match.h");

static uint32_t shown(const struct host *host, uint64_t proc_id)
{
	const struct matching *m = host->matching;
	const uint32_t *owner = map64_find(&m->here, proc_id);
	const struct process *here = owner ? m->owners[*owner] : NULL;

	if (proc_id == MATCH_ELSEWHERE)
		return PROFILE_ELSEWHERE;
	if (here && here->greeted && here->ended)
		return (uint32_t)here->rank;
	/* on another node: there the main job has the same ranks */
	for (const struct process *p = host->processes; p; p = p->next)
		if (p->main_job && match_proc_id(p->job, (uint32_t)proc_id) == proc_id)
			return (uint32_t)proc_id < (uint32_t)p->size ? (uint32_t)proc_id
								     : PROFILE_ELSEWHERE;
	return PROFILE_ELSEWHERE;
}

static uint64_t ns_of(const struct host *host, uint64_t ticks)
{
	return clocks_ns(&host->clocks, ticks);
}

static void store_counts(const struct matching *m, struct profile_matching *to)
{
	const struct match_counts *c = match_counts(matching_core(m));

	memcpy(to->pairs, c->pairs, sizeof(to->pairs));
	memcpy(to->unmatched_sends, c->unmatched_sends, sizeof(to->unmatched_sends));
	memcpy(to->unmatched_receives, c->unmatched_receives, sizeof(to->unmatched_receives));
	to->not_shipped = m->not_shipped;
	to->lost_sends = c->lost_sends;
	to->lost_receives = c->lost_receives;
	to->late = c->late;
	to->overflow = c->overflow;
	to->too_long = c->too_long;
	to->violations = c->violations;
	if (!c->violations)
		return;
	to->worst_ns = ns_of(m->host, c->worst);
	to->worst_from = shown(m->host, c->worst_source);
	to->worst_to = shown(m->host, c->worst_destination);
}

void matching_store_pairs(const struct host *host, struct profile *p, const struct pair_sums *sums,
	const uint32_t *ranks)
{
	const struct thread_pair *others = sums->others;

	free(p->thread_pairs);
	p->n_thread_pairs = 0;
	p->thread_pairs = xcalloc(sums->of.used + 1, sizeof(*p->thread_pairs));
	for (size_t i = 0; sums->at.slots && i <= sums->at.mask; i++) {
		const struct match_table_slot *s = &sums->at.slots[i];
		const struct thread_pair *from = s->value;

		if (from)
			p->thread_pairs[p->n_thread_pairs++] =
				(struct profile_thread_pair){.from = ranks[s->key.a >> 32],
					.from_thread = from->from_thread,
					.to = ranks[(uint32_t)s->key.a],
					.to_thread = from->to_thread,
					.messages = from->messages,
					.bytes = from->bytes,
					.late_ns = ns_of(host, from->late_ticks)};
	}
	if (others)
		p->thread_pairs[p->n_thread_pairs++] =
			(struct profile_thread_pair){.from = PROFILE_ELSEWHERE,
				.from_thread = PROFILE_NONE,
				.to = PROFILE_ELSEWHERE,
				.to_thread = PROFILE_NONE,
				.messages = others->messages,
				.bytes = others->bytes,
				.late_ns = ns_of(host, others->late_ticks)};
	/* processes of other jobs may be shown alike */
	profile_combine(p, PROFILE_THREAD_PAIRS);
	profile_pairs_group_threads(p);
}

void matching_store(const struct host *host, struct profile *p)
{
	const struct matching *m = host->matching;
	uint32_t *rank; /* by index of the process's id */

	if (!m)
		return;
	store_counts(m, &p->matching);
	rank = xmalloc((m->index.n + 1) * sizeof(*rank));
	for (size_t i = 0; m->index.slots && i <= m->index.mask; i++)
		if (m->index.slots[i].used)
			rank[m->index.slots[i].value] = shown(host, m->index.slots[i].key);
	matching_store_pairs(host, p, &m->thread_pairs, rank);
	free(rank);
}
