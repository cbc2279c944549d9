/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matched messages of single rounds of a session. Those between nodes are known when the
 * job is over, so each goes to its round by its time: a receive by that of its call, and
 * a send that nobody received by that of its own.
 */
#include <string.h>
#include "nodeagent/process/host.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/process/rounds.h"
#include "nodeagent/base/util.h"

static struct matching_round *round_at(struct matching *m, unsigned round)
{
	while (m->n_rounds <= round) {
		*LIST_ADD(m, rounds) = (struct matching_round){
			.thread_pairs.of.bytes = sizeof(struct thread_pair)};
	}
	return &m->rounds[round];
}

static void add_pair(struct matching *m, struct matching_round *to, const struct thread_pair *like)
{
	struct thread_pair *p =
		matching_pair_of(m, &to->thread_pairs, like, MATCHING_THREAD_PAIRS_MAX / 16);

	p->messages += like->messages;
	p->bytes += like->bytes;
	p->late_ticks += like->late_ticks;
}

void matching_round_pair(struct matching *m, const struct match_send *s,
	const struct match_receive *r, enum match_label label)
{
	struct matching_round *to = round_at(m, rounds_at(m->host, r->enter));
	const struct thread_pair one = {.from = s->source,
		.to = r->destination,
		.from_thread = s->thread,
		.to_thread = r->thread,
		.messages = 1,
		.bytes = r->done.unknown ? s->bytes : r->done.bytes};

	to->pairs[label]++;
	to->found++;
	add_pair(m, to, &one);
}

void matching_round_late(
	struct matching *m, const struct thread_pair *pair, uint64_t posted, uint64_t ticks)
{
	struct matching_round *to = round_at(m, rounds_at(m->host, posted));
	struct thread_pair more = *pair;

	more.messages = more.bytes = 0;
	more.late_ticks = ticks;
	to->found++;
	add_pair(m, to, &more);
}

void matching_round_unmatched(struct matching *m, const struct match_send *s,
	const struct match_receive *r, enum match_reason reason)
{
	struct matching_round *to = round_at(m, rounds_at(m->host, s ? s->enter : r->enter));

	if (s)
		to->unmatched_sends[reason]++;
	else
		to->unmatched_receives[reason]++;
	to->found++;
}

void matching_round_over(struct host *host, unsigned round)
{
	struct matching *m = host->matching;
	const struct match_counts *c;
	struct matching_round *to;

	if (!m)
		return;
	if (!m->n_rounds) {
		to = round_at(m, round);
		c = match_counts(matching_core(m));
		memcpy(to->pairs, c->pairs, sizeof(to->pairs));
		memcpy(to->unmatched_sends, c->unmatched_sends, sizeof(to->unmatched_sends));
		memcpy(to->unmatched_receives, c->unmatched_receives,
			sizeof(to->unmatched_receives));
		for (size_t i = 0; m->thread_pairs.at.slots && i <= m->thread_pairs.at.mask; i++)
			if (m->thread_pairs.at.slots[i].value)
				add_pair(m, to, m->thread_pairs.at.slots[i].value);
	}
	to = round_at(m, round);
	to->stored = to->found;
}

/* A process of another node: in a session all have the same ranks in a round. */
static uint32_t rank_elsewhere(const struct profile *p, uint64_t proc_id)
{
	return proc_id != MATCH_ELSEWHERE && (uint32_t)proc_id < p->world_size ? (uint32_t)proc_id
									       : PROFILE_ELSEWHERE;
}

bool matching_store_round(const struct host *host, unsigned round, struct profile *p,
	uint32_t (*rank)(void *arg, const struct process *p), void *arg)
{
	const struct matching *m = host->matching;
	const struct matching_round *from;
	uint32_t *ranks;

	if (!m || round >= m->n_rounds)
		return false;
	from = &m->rounds[round];
	memset(&p->matching, 0, sizeof(p->matching));
	memcpy(p->matching.pairs, from->pairs, sizeof(from->pairs));
	memcpy(p->matching.unmatched_sends, from->unmatched_sends, sizeof(from->unmatched_sends));
	memcpy(p->matching.unmatched_receives, from->unmatched_receives,
		sizeof(from->unmatched_receives));
	ranks = xmalloc((m->index.n + 1) * sizeof(*ranks));
	for (size_t i = 0; m->index.slots && i <= m->index.mask; i++) {
		const struct map64_slot *slot = &m->index.slots[i];
		const uint32_t *owner = map64_find(&m->here, slot->key);

		if (slot->used)
			ranks[slot->value] =
				owner ? rank(arg, m->owners[*owner]) : rank_elsewhere(p, slot->key);
	}
	matching_store_pairs(host, p, &from->thread_pairs, ranks);
	free(ranks);
	return from->found != from->stored;
}
