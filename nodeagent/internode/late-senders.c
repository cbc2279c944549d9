/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late senders (Wolf and Mohr, EuroPar 2003): how long a receive stood in the call that completed
 * it before its message was sent, min(send's enter, call's leave) - call's enter. A call that
 * completes several receives waited for the last of their senders: it counts once, for that
 * one. Pairs that are not exact count nothing, nor do waits between nodes that are no longer than
 * the error of their clocks.
 *
 * Pairs come in any order, so the wait of a call with requests may be taken back for a longer one:
 * replay/comm/longest.h. It may also turn out that the message was received in the wrong order:
 * wrong-order.h.
 */
#include "conf/conf.h"
#include "nodeagent/base/rank.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/internode/wrong-order.h"
#include "nodeagent/match/probes.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/jobs/spawns.h"

/* error: of the difference of their clocks */
static uint64_t wait_of(const struct match_send *s, const struct match_receive *r, uint64_t error)
{
	const struct match_done *d = &r->done;
	/* another agent may say any time, also one before all ticks of this one */
	const uint64_t until = (int64_t)(s->enter - d->leave) < 0 ? s->enter : d->leave;
	uint64_t ticks;

	if (d->unknown || d->cancelled || (int64_t)(until - d->enter) <= 0)
		return 0;
	ticks = until - d->enter;
	return ticks > error ? ticks : 0;
}

uint32_t matching_rank(const struct process *p, uint64_t from, uint64_t to)
{
	const bool same_job = from >> 32 == to >> 32;
	/* a process of MPI may have another rank in a session */
	const bool own = to == p->proc_id || p->job_rank == WIRE_UNKNOWN;

	return same_job && own ? (uint32_t)from : UINT32_MAX;
}

/* On another node. */
static uint32_t far_late(struct matching *m, uint64_t late, struct traffic *t)
{
	const uint32_t *known = map64_find(&m->far_late, late);
	uint32_t name, number;

	if (known)
		return *known;
	if (m->n_far_late >= FAR_LATE_MAX) /* another agent may say any id */
		return UINT32_MAX;
	m->n_far_late++;
	name = m->host->sync ? spawns_name(sync_spawns(m->host->sync), late) : PROFILE_ELSEWHERE;
	number = name == PROFILE_ELSEWHERE ? UINT32_MAX : traffic_late_far(t, name);
	map64_add(&m->far_late, late, number);
	return number;
}

uint32_t matching_late_job(struct matching *m, uint64_t late, struct traffic *t)
{
	const struct process *p = matching_process(m, late);

	if (!t || (p && !p->traffic))
		return UINT32_MAX;
	return p ? traffic_late_job(t, p->traffic) : far_late(m, late, t);
}

uint32_t matching_late_of(struct matching *m, struct traffic *t, uint64_t job, uint32_t rank)
{
	if (traffic_job(t) == job)
		return rank;
	return matching_late_job(m, match_proc_id(job, rank), t);
}

static struct thread_pair pair_about(const struct longest_about *a)
{
	return (struct thread_pair){.from = a->from,
		.to = a->to,
		.from_thread = a->from_thread,
		.to_thread = a->to_thread};
}

/* More or, modulo 2^64, less. */
static void add_ticks(struct matching *m, const struct longest_about *about, uint64_t ticks)
{
	const struct thread_pair like = pair_about(about);

	matching_recent_pair(m, &like)->late_ticks += ticks;
	if (m->n_rounds)
		matching_round_late(m, &like, about->posted, ticks);
}

void matching_causes(struct matching *m, struct traffic *t, struct longest_wait *w)
{
	const struct process *late;
	const struct history_part *history;
	size_t n;

	if (w->ticks < CAUSE_TICKS_LEAST || !t || !m->host->conf->mpi_waits)
		return;
	late = matching_process(m, w->about.from);
	if (late) {
		if (late->traffic)
			traffic_cause(t, w->path, w->kind, late->traffic, w->about.from_thread,
				w->enter, w->enter + w->ticks, &w->causes);
		return;
	}
	history = far_history(&m->far, w->about.history, &n);
	if (history && w->late != UINT32_MAX)
		traffic_cause_far(t, w->path, w->kind, w->late, history, n, w->ticks, &w->causes);
}

static void take_back(void *arg, const struct longest_wait *w)
{
	struct matching *m = arg;

	if (!wait_is_for_sender(w->kind))
		return;
	add_ticks(m, &w->about, -w->ticks);
	if (m->wrong_order)
		wrong_order_take_back(m->wrong_order, w->about.to, w->about.caller, w->enter);
}

struct longest *matching_longest(struct matching *m)
{
	if (m->longest)
		return m->longest;
	if (!m->host->sync)
		m->own_longest = longest_new(traffic_count_longest);
	m->longest = m->own_longest ?: sync_longest(m->host->sync);
	longest_listen(m->longest, take_back, m);
	return m->longest;
}

/* ---- in the wrong order -------------------------------------------------------------------- */

/* A wrong_order_found: a call that has completed several operations may be taken back as such. */
static void count_wrong_order(void *arg, struct longest_wait *w, uint32_t path)
{
	struct matching *m = arg;
	const struct process *p = matching_process(m, w->about.to);
	struct longest_wait *kept;

	if (!p || !p->traffic)
		return;
	kept = m->longest ? longest_of_call(m->longest, p->traffic, w->path, w->enter) : NULL;
	if (!kept || !wait_is_for_sender(kept->kind))
		kept = w;
	traffic_wait_in_wrong_order(p->traffic, kept, path);
	kept->kind = WAIT_WRONG_ORDER;
}

/* Of MPI_Probe() no record says what it looked for. */
static uint32_t takes_of(const struct match_receive *r, uint32_t queue, bool is_probe)
{
	return is_probe ? CHOICE_ALL
			: choice_of(r->flags & MATCH_FROM_ANY, r->flags & MATCH_TAG_ANY, queue);
}

/* wait: what the call has waited, or NULL. error: of the clocks, between sender and receiver. */
static void look_at_order(struct matching *m, const struct match_send *s,
	const struct match_receive *r, const struct longest_wait *wait, uint64_t error,
	bool is_probe)
{
	const struct match_done *d = &r->done;
	const uint32_t queue = choice_queue(s->comm, s->tag);

	if (!m->host->conf->mpi_waits || d->unknown || d->cancelled)
		return;
	if (!m->wrong_order)
		m->wrong_order = wrong_order_new(count_wrong_order, m);
	wrong_order_add(m->wrong_order,
		&(struct wrong_order_message){.source = s->source,
			.destination = r->destination,
			.enter = d->enter,
			.leave = d->leave,
			.sent = s->enter,
			.error = error,
			.thread = d->thread,
			.path = d->path,
			.queue = queue,
			.takes = takes_of(r, queue, is_probe)},
		wait);
}

/* Whether the call that has completed the receive, at n, may have completed others. */
static bool may_be_several(const struct node *n, const struct match_receive *r)
{
	return r->enter != r->done.enter || matching_is_sendrecv(n);
}

/* Adds it, and returns what counts now; NULL: its call has waited longer for another one. */
static const struct longest_wait *count_wait(
	struct matching *m, const struct match_receive *r, struct longest_wait *w, bool is_probe)
{
	const struct process *p = matching_process(m, r->destination);
	struct traffic *t = p ? p->traffic : NULL;
	struct node *n = t ? traffic_path_node(t, w->path) : NULL;
	struct longest_wait *kept = w;

	w->late = p ? matching_rank(p, w->about.from, r->destination) : UINT32_MAX;
	if (w->late == UINT32_MAX)
		w->late = matching_late_job(m, w->about.from, t);
	if (!is_probe && may_be_several(n, r))
		kept = longest_add(matching_longest(m), t, w);
	else if (t) /* it completed nothing else */
		traffic_count_alone(t, n, w);
	if (!kept)
		return NULL;
	add_ticks(m, &w->about, w->ticks);
	matching_causes(m, t, kept);
	return kept;
}

/* A receive, or a call of MPI_Probe() before it in place of the one that completed it. */
static inline __attribute__((always_inline)) void look_at_call(struct matching *m,
	const struct match_send *s, const struct match_receive *r, uint64_t error, bool is_probe)
{
	const uint64_t ticks = wait_of(s, r, error);
	struct longest_wait w;

	if (!ticks) {
		look_at_order(m, s, r, NULL, error, is_probe);
		return;
	}
	longest_begin(&w, WAIT_LATE_SENDER, ticks);
	w.enter = r->done.enter;
	w.path = r->done.path;
	w.error = error;
	w.about = (struct longest_about){s->source, r->destination, s->thread, r->thread,
		r->done.thread, r->enter, s->history};
	look_at_order(m, s, r, count_wait(m, r, &w, is_probe), error, is_probe);
}

/* It may have been found there, and was waited for there, if at all. */
static bool look_at_probe(struct matching *m, const struct match_send *s,
	const struct match_receive *r, const struct match_probe *probe, uint64_t error)
{
	struct match_receive in = *r;

	if ((int64_t)(s->enter - probe->leave - error) > 0)
		return false;
	in.done.enter = probe->enter;
	in.done.leave = probe->leave;
	in.done.path = probe->path;
	in.done.thread = r->thread;
	look_at_call(m, s, &in, error, true);
	return true;
}

/* False: none of the calls before the receive can have found the message. */
static __attribute__((noinline)) bool look_at_probes(struct matching *m, const struct match_send *s,
	const struct match_receive *r, uint64_t error)
{
	const struct process *p = matching_process(m, r->destination);
	const struct match_probe *probe;
	bool is_found = false;

	if (!p || !p->traffic || r->done.unknown || r->done.cancelled)
		return false;
	for (uint32_t number = r->done.probes; number; number = probe->before) {
		probe = traffic_probe(p->traffic, number);
		if (!probe)
			break;
		is_found |= look_at_probe(m, s, r, probe, error);
	}
	return is_found;
}

void matching_late_sender(
	struct matching *m, const struct match_send *s, const struct match_receive *r)
{
	const uint64_t error = matching_process(m, s->source) ? 0 : m->clock_bound;

	if (r->done.probes && look_at_probes(m, s, r, error))
		return;
	look_at_call(m, s, r, error, false);
}

void matching_late_free(struct matching *m)
{
	wrong_order_free(m->wrong_order);
	m->wrong_order = NULL;
	far_heard_free(&m->far);
	if (!m->own_longest)
		return;
	longest_free(m->own_longest);
	m->longest = m->own_longest = NULL;
}
