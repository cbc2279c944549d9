/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late receivers: how long a send stood in the call that completed it before its receive was
 * posted, min(receive's enter, call's leave) - call's enter; if the call ended after that, and only
 * if it cannot have ended before. That is so for a synchronous send; of a standard one it is known
 * when the job is over: unproven.h. A call that completes several operations waits for the last
 * one, and counts once, for that: replay/comm/longest.h.
 *
 * Of exact pairs. The agent of the sender alone knows its call paths, the one of the receiver alone
 * when it was posted: of messages between nodes the latter tells it (far-receivers.h).
 */
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/internode/far-receivers.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/internode/unproven.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/tree/calltree.h"

#define LARGE_COUNT 1u /* in the id of a function: its form with large counts */

static bool is_earlier(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

static uint32_t function_of(const struct node *n)
{
	return n ? key_mpi(n->key) : KEY_NO_MPI;
}

bool matching_is_sendrecv(const struct node *n)
{
	const uint32_t function = function_of(n);

	return (function & ~LARGE_COUNT) == VFTR_MPI_SENDRECV ||
	       (function & ~LARGE_COUNT) == VFTR_MPI_SENDRECV_REPLACE;
}

enum matching_completes matching_completes(const struct traffic *t, const struct match_send *s)
{
	const struct node *n = traffic_path_node(t, s->path);

	if (s->done_enter == s->enter)
		return matching_is_sendrecv(n) ? COMPLETES_SEVERAL : COMPLETES_ONE;
	switch (function_of(n)) {
	case VFTR_MPI_WAIT:
	case VFTR_MPI_WAITANY:
		return COMPLETES_ONE;
	case VFTR_MPI_WAITALL:
	case VFTR_MPI_WAITSOME:
		return COMPLETES_SEVERAL;
	default: /* it does not wait */
		return COMPLETES_NONE;
	}
}

struct unproven *matching_unproven(struct matching *m)
{
	if (!m->unproven)
		m->unproven = unproven_new();
	return m->unproven;
}

/* Of a synchronous send. */
static void count_synchronous(
	struct matching *m, struct traffic *t, struct longest_wait *w, bool alone)
{
	struct longest_wait *kept = w;

	if (alone)
		traffic_count_longest(t, w, 1);
	else
		kept = longest_add(matching_longest(m), t, w);
	if (kept)
		matching_causes(m, t, kept);
}

static void keep_standard(struct matching *m, struct traffic *t, const struct unproven_send *s,
	struct longest_wait *w, bool alone)
{
	if (unproven_is_at_once(m->unproven, s->far, s->bytes))
		return;
	if (!alone) {
		unproven_add_among(m->unproven, m, s, w);
		return;
	}
	unproven_add(m->unproven, s, w, 1);
	matching_causes(m, t, w); /* of waits that do not count nobody asks */
}

void matching_late_receiver(
	struct matching *m, const struct match_send *s, const struct match_receive *r)
{
	const struct process *p;
	enum matching_completes completes;
	struct longest_wait w;

	if (s->mode == MATCH_SEND_OTHER || !is_earlier(s->done_enter, r->enter) ||
		!m->host->conf->mpi_waits)
		return;
	p = matching_process(m, s->source);
	if (!p) {
		far_receiver_found(&m->far_receivers, s, r, m->clock_bound,
			m->host->sync ? causes_histories(sync_causes(m->host->sync)) : NULL);
		return;
	}
	if (!p->traffic)
		return;
	if (is_earlier(s->done_leave, r->enter)) {
		if (s->mode == MATCH_SEND_STANDARD)
			unproven_at_once(matching_unproven(m), false, s->bytes);
		return;
	}
	completes = matching_completes(p->traffic, s);
	if (!s->path || (completes == COMPLETES_NONE && s->mode == MATCH_SEND_STANDARD))
		return;
	longest_begin(&w, WAIT_LATE_RECEIVER, r->enter - s->done_enter);
	w.enter = s->done_enter;
	w.path = s->path;
	w.late = matching_rank(p, r->destination, s->source);
	w.about = (struct longest_about){
		.from = r->destination, .to = s->source, .from_thread = r->thread};
	if (w.late == UINT32_MAX)
		w.late = matching_late_job(m, r->destination, p->traffic);
	if (s->mode == MATCH_SEND_SYNCHRONOUS) {
		count_synchronous(m, p->traffic, &w, completes == COMPLETES_ONE);
		return;
	}
	matching_unproven(m);
	keep_standard(m, p->traffic,
		&(struct unproven_send){.source = s->source, .bytes = s->bytes}, &w,
		completes == COMPLETES_ONE);
}

void matching_late_receivers_end(struct matching *m)
{
	unproven_end(m->unproven, m);
	m->unproven = NULL;
	far_receivers_free(&m->far_receivers);
}
