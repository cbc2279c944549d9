/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late senders (Wolf and Mohr, EuroPar 2003): how long a receive stood in the call that completed
 * it before its message was sent, min(send's enter, call's leave) - call's enter. A call that
 * completes several receives waited for the last of their senders: it counts once, for that
 * one. Pairs that are not exact count nothing, nor do waits between nodes that are no longer than
 * the error of their clocks.
 *
 * Pairs come in any order, so the wait of a call with requests is kept, and replaced by a longer
 * one: that of the last WAITS_MAX calls.
 */
#include <stdlib.h>
#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/comm.h"

#ifndef WAITS_MAX
#define WAITS_MAX (1u << 16)
#endif

/* A call that has waited, and for whom. */
struct late_wait {
	uint64_t thread, enter; /* key: process and thread that called, and when */
	struct thread_pair for_whom;
	uint64_t posted; /* when the receive was */
	uint64_t ticks;
	uint32_t path; /* of the call: struct match_done */
	struct cause_parts causes;
};

struct late_waits {
	struct late_wait at[WAITS_MAX];
	struct match_table by_call;
	size_t ever;
};

static uint64_t wait_of(
	const struct matching *m, const struct match_send *s, const struct match_receive *r)
{
	const struct match_done *d = &r->done;
	/* another agent may say any time, also one before all ticks of this one */
	const uint64_t until = (int64_t)(s->enter - d->leave) < 0 ? s->enter : d->leave;
	uint64_t ticks;

	if (d->unknown || d->cancelled || (int64_t)(until - d->enter) <= 0)
		return 0;
	ticks = until - d->enter;
	if (!map64_find(&m->here, s->source) && ticks <= m->clock_bound)
		return 0;
	return ticks;
}

/* The sender as a rank of the receiver's job; UINT32_MAX: it is none. */
static uint32_t late_rank(const struct process *receiver, const struct thread_pair *pair)
{
	const bool same_job = pair->from >> 32 == pair->to >> 32;
	/* a process of MPI may have another rank in a session */
	const bool own = pair->to == receiver->proc_id || receiver->job_rank == WIRE_UNKNOWN;

	return same_job && own ? (uint32_t)pair->from : UINT32_MAX;
}

/* A process that is traced here, or NULL. */
static const struct process *process_here(const struct matching *m, uint64_t proc_id)
{
	const uint32_t *at = map64_find(&m->here, proc_id);

	return at ? m->owners[*at] : NULL;
}

/* At the call path of the receiver; calls: 1, or -1 modulo 2^64. */
static void add_to_path(
	struct matching *m, const struct late_wait *w, uint64_t ticks, uint64_t calls)
{
	const struct process *p = process_here(m, w->for_whom.to);

	if (p && p->traffic && m->host->conf->mpi_waits)
		traffic_wait(p->traffic, w->path, WAIT_LATE_SENDER, late_rank(p, &w->for_whom),
			calls, ticks);
}

/* More or, modulo 2^64, less. */
static void add_ticks(struct matching *m, const struct late_wait *w, uint64_t ticks, uint64_t calls)
{
	add_to_path(m, w, ticks, calls);
	matching_pair_of(m, &m->thread_pairs, &w->for_whom, MATCHING_THREAD_PAIRS_MAX - 1)
		->late_ticks += ticks;
	if (m->n_rounds)
		matching_round_late(m, &w->for_whom, w->posted, ticks);
}

/* What the sender did meanwhile, if it is on this node. */
static void find_causes(struct matching *m, struct late_wait *w)
{
	const struct process *p = process_here(m, w->for_whom.to);
	const struct process *late = process_here(m, w->for_whom.from);

	if (p && p->traffic && late && late->traffic && m->host->conf->mpi_waits)
		traffic_cause(p->traffic, w->path, WAIT_LATE_SENDER, late->traffic,
			w->for_whom.from_thread, w->enter, w->enter + w->ticks, &w->causes);
}

static void take_causes_back(struct matching *m, const struct late_wait *w)
{
	const struct process *p = process_here(m, w->for_whom.to);

	if (p && p->traffic)
		traffic_cause_back(p->traffic, &w->causes);
}

/* The oldest one's place. */
static struct late_wait *new_wait(struct late_waits *l)
{
	struct late_wait *w = &l->at[l->ever % WAITS_MAX];

	if (l->ever++ >= WAITS_MAX)
		match_table_remove(&l->by_call, w->thread, w->enter);
	return w;
}

void matching_late_sender(
	struct matching *m, const struct match_send *s, const struct match_receive *r)
{
	struct late_wait now = {
		.thread = (uint64_t)matching_index(m, r->destination) << 32 | r->done.thread,
		.enter = r->done.enter,
		.for_whom = {.from = s->source,
			.to = r->destination,
			.from_thread = s->thread,
			.to_thread = r->thread},
		.posted = r->enter,
		.path = r->done.path,
		.ticks = wait_of(m, s, r)};
	struct late_wait *known;

	if (!now.ticks)
		return;
	if (r->enter == r->done.enter) { /* a blocking call, which received nothing else */
		add_ticks(m, &now, now.ticks, 1);
		find_causes(m, &now);
		return;
	}
	if (!m->late)
		m->late = xcalloc(1, sizeof(*m->late));
	known = match_table_find(&m->late->by_call, now.thread, now.enter);
	if (known && known->ticks >= now.ticks)
		return;
	if (known) {
		add_ticks(m, known, -known->ticks, UINT64_MAX);
		take_causes_back(m, known);
	} else {
		known = new_wait(m->late);
		match_table_add(&m->late->by_call, now.thread, now.enter, known);
	}
	*known = now;
	add_ticks(m, known, known->ticks, 1);
	find_causes(m, known);
}

void matching_late_free(struct matching *m)
{
	if (!m->late)
		return;
	match_table_free(&m->late->by_call);
	free(m->late);
	m->late = NULL;
}
