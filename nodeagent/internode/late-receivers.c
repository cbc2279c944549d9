/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late receivers: how long a send stood in the call that completed it before its receive was
 * posted, min(receive's enter, call's leave) - call's enter; if the call ended after that, and only
 * if it cannot have ended before. That is so for a synchronous send. A standard one may have been
 * sent at once: those which ended before their receives were posted were, and so all are taken to
 * be that are not longer. What is longer is known when the job is over; until then waits of such
 * sends are kept by their lengths, those of calls that complete nothing else: of MPI_Send() and
 * MPI_Wait().
 *
 * Of exact pairs on this node: the agent of the sender alone knows its call paths, the one of the
 * receiver alone when it was posted.
 */
#include <stdlib.h>
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/tree/calltree.h"

#ifndef LATE_RECEIVERS_MAX
#define LATE_RECEIVERS_MAX 4096u /* rows: call paths by late rank and length, 48 B each */
#endif
#define PLACES 8u /* where a row may be */

/* Waits of standard sends of one length that may have been sent at once. */
struct unproven {
	uint64_t source, bytes;
	uint32_t path, late;
	uint64_t calls, ticks;
};

struct late_receivers {
	bool some_at_once;
	uint64_t at_once; /* bytes: the longest message that was sent at once */
	struct unproven rows[LATE_RECEIVERS_MAX];
};

static bool is_earlier(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

static bool is_at_once(const struct late_receivers *l, uint64_t bytes)
{
	return l->some_at_once && bytes <= l->at_once;
}

/* Its row, or a free one; NULL: there is no room. */
static struct unproven *row_of(struct late_receivers *l, const struct unproven *like)
{
	uint64_t h = (like->source ^ like->bytes << 17) * 0x9e3779b97f4a7c15u;

	h = (h ^ ((uint64_t)like->path << 32 | like->late)) * 0xd6e8feb86659fd93u;
	for (uint64_t i = 0; i < PLACES; i++) {
		struct unproven *row = &l->rows[((h ^ h >> 32) + i) % LATE_RECEIVERS_MAX];

		if (!row->calls)
			*row = *like;
		if (row->source == like->source && row->bytes == like->bytes &&
			row->path == like->path && row->late == like->late)
			return row;
	}
	return NULL;
}

static void keep_unproven(
	struct late_receivers *l, const struct match_send *s, const struct longest_wait *w)
{
	struct unproven *row = row_of(l,
		&(struct unproven){
			.source = s->source, .bytes = s->bytes, .path = w->path, .late = w->late});

	if (!row)
		return;
	row->calls++;
	row->ticks += w->ticks;
}

/* The call that completed s has completed nothing else. */
static bool is_alone(const struct traffic *t, const struct match_send *s)
{
	const struct node *n;

	if (s->done_enter == s->enter)
		return true;
	n = traffic_path_node(t, s->path);
	return n && key_mpi(n->key) == VFTR_MPI_WAIT;
}

static void count_synchronous(
	struct matching *m, struct traffic *t, struct longest_wait *w, bool alone)
{
	struct longest_wait *kept = w;

	if (alone)
		traffic_wait(t, w->path, w->kind, w->late, 1, w->ticks);
	else
		kept = longest_add(matching_longest(m), t, w);
	if (kept)
		matching_causes(m, t, kept);
}

void matching_late_receiver(
	struct matching *m, const struct match_send *s, const struct match_receive *r)
{
	const struct process *p;
	struct longest_wait w;
	bool alone;

	if (s->mode == MATCH_SEND_OTHER || !is_earlier(s->done_enter, r->enter))
		return;
	p = matching_process(m, s->source);
	if (!p || !p->traffic || !m->host->conf->mpi_waits)
		return;
	if (!m->late_receivers)
		m->late_receivers = xcalloc(1, sizeof(*m->late_receivers));
	if (is_earlier(s->done_leave, r->enter)) {
		if (s->mode == MATCH_SEND_STANDARD && !is_at_once(m->late_receivers, s->bytes)) {
			m->late_receivers->some_at_once = true;
			m->late_receivers->at_once = s->bytes;
		}
		return;
	}
	if (!s->path)
		return;
	alone = is_alone(p->traffic, s);
	w = (struct longest_wait){.enter = s->done_enter,
		.path = s->path,
		.late = matching_rank(p, r->destination, s->source),
		.kind = WAIT_LATE_RECEIVER,
		.ticks = r->enter - s->done_enter,
		.about = {.from = r->destination, .to = s->source, .from_thread = r->thread}};
	if (s->mode == MATCH_SEND_SYNCHRONOUS) {
		count_synchronous(m, p->traffic, &w, alone);
	} else if (alone && !is_at_once(m->late_receivers, s->bytes)) {
		keep_unproven(m->late_receivers, s, &w);
		matching_causes(m, p->traffic, &w); /* of waits that do not count nobody asks */
	}
}

void matching_late_receivers_end(struct matching *m)
{
	const struct late_receivers *l = m->late_receivers;

	for (size_t i = 0; l && i < LATE_RECEIVERS_MAX; i++) {
		const struct unproven *row = &l->rows[i];
		const struct process *p = matching_process(m, row->source);

		if (row->calls && p && p->traffic && !is_at_once(l, row->bytes))
			traffic_wait(p->traffic, row->path, WAIT_LATE_RECEIVER, row->late,
				row->calls, row->ticks);
	}
	free(m->late_receivers);
	m->late_receivers = NULL;
}
