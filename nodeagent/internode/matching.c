/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/matching.h"

#include <inttypes.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "nodeagent/match/wire.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/base/util.h"

#define THREAD_MULTIPLE 3 /* MPI_THREAD_MULTIPLE, in all MPI libraries */

/* ---- what was found ------------------------------------------------------------- */

uint32_t matching_index(struct matching *m, uint64_t proc_id)
{
	return *map64_at(&m->index, proc_id, (uint32_t)m->index.n);
}

struct thread_pair *matching_pair_of(
	struct matching *m, struct pair_sums *s, const struct thread_pair *like, size_t most)
{
	const uint64_t a =
		(uint64_t)matching_index(m, like->from) << 32 | matching_index(m, like->to);
	const uint64_t b = (uint64_t)like->from_thread << 32 | like->to_thread;
	struct thread_pair *p = match_table_find(&s->at, a, b);

	if (p)
		return p;
	if (s->of.used >= most) {
		if (!s->others)
			s->others = match_pool_take(&s->of);
		return s->others;
	}
	p = match_pool_take(&s->of);
	*p = (struct thread_pair){
		like->from, like->to, like->from_thread, like->to_thread, 0, 0, 0};
	match_table_add(&s->at, a, b, p);
	return p;
}

struct thread_pair *matching_recent_pair(struct matching *m, const struct thread_pair *like)
{
	struct thread_pair *p = m->recent;

	if (p && p->from == like->from && p->to == like->to &&
		p->from_thread == like->from_thread && p->to_thread == like->to_thread)
		return p;
	p = matching_pair_of(m, &m->thread_pairs, like, MATCHING_THREAD_PAIRS_MAX - 1);
	if (p != m->thread_pairs.others)
		m->recent = p;
	return p;
}

static uint32_t rank_of(uint64_t proc_id)
{
	return (uint32_t)proc_id;
}

static void dump_pair(
	FILE *f, const struct match_send *s, const struct match_receive *r, enum match_label label)
{
	fprintf(f,
		"pair %s comm %" PRIx64 " from %" PRIu32 ".%" PRIu32 " ticket %" PRIu32
		" tag %" PRIu32 " bytes %" PRIu64 " to %" PRIu32 ".%" PRIu32 " ticket %" PRIu32
		" bytes %" PRIu64 " done %" PRIu32 "\n",
		match_label_names[label], s->comm, rank_of(s->source), s->thread, s->ticket, s->tag,
		s->bytes, rank_of(r->destination), r->thread, r->ticket, r->done.bytes,
		r->done.thread);
}

static void on_pair(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_label label)
{
	struct matching *m = arg;
	struct thread_pair *p = matching_recent_pair(m, &(struct thread_pair){.from = s->source,
								.to = r->destination,
								.from_thread = s->thread,
								.to_thread = r->thread});

	p->messages++;
	p->bytes += r->done.unknown ? s->bytes : r->done.bytes;
	if (label == MATCH_EXACT) {
		matching_late_sender(m, s, r);
		matching_late_receiver(m, s, r);
	}
	if (m->n_rounds)
		matching_round_pair(m, s, r, label);
	if (m->listener.pair)
		m->listener.pair(m->listener.arg, s, r, label);
	if (m->dump)
		dump_pair(m->dump, s, r, label);
}

static void on_unmatched(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_reason reason)
{
	struct matching *m = arg;

	if (m->n_rounds)
		matching_round_unmatched(m, s, r, reason);
	if (!m->dump)
		return;
	if (s)
		fprintf(m->dump,
			"send comm %" PRIx64 " from %" PRIu32 ".%" PRIu32 " ticket %" PRIu32
			" tag %" PRIu32 " bytes %" PRIu64 " to %" PRIu32 ": %s\n",
			s->comm, rank_of(s->source), s->thread, s->ticket, s->tag, s->bytes,
			rank_of(s->destination), match_reason_names[reason]);
	else
		fprintf(m->dump,
			"receive comm %" PRIx64 " to %" PRIu32 ".%" PRIu32 " ticket %" PRIu32
			": %s\n",
			r->comm, rank_of(r->destination), r->thread, r->ticket,
			match_reason_names[reason]);
}

/* ---- processes --------------------------------------------------------------------- */

const struct process *matching_process(const struct matching *m, uint64_t proc_id)
{
	struct asked *known = m->asked ? &m->asked[proc_id % ASKED] : NULL;
	const uint32_t *at;

	if (known && known->process && known->proc_id == proc_id)
		return known->process;
	at = map64_find(&m->here, proc_id);
	if (at && known)
		*known = (struct asked){proc_id, m->owners[*at]};
	return at ? m->owners[*at] : NULL;
}

static bool is_here(void *arg, uint64_t proc_id)
{
	return matching_process(arg, proc_id);
}

static bool is_far(void *arg, uint64_t proc_id)
{
	return !is_here(arg, proc_id);
}

static bool defer(void *arg, const struct match_receive *r)
{
	struct matching *m = arg;

	return match_outbox_receive(m->inbox, r);
}

static void ship(void *arg, const struct match_send *s)
{
	struct matching *m = arg;

	match_outbox_send(m->outbox, s);
}

static void ship_loss(void *arg, uint64_t proc_id)
{
	struct matching *m = arg;

	if (map64_find(&m->is_lost, proc_id))
		return;
	map64_add(&m->is_lost, proc_id, 1);
	*LIST_ADD(m, lost) = proc_id;
}

static FILE *open_dump(const char *host)
{
	const char *base = getenv("VFTR_TEST_PAIRS");
	char *path = base && base[0] ? xasprintf("%s.%s", base, host) : NULL;
	int fd = path ? open_replaced(path, O_WRONLY) : -1;

	free(path);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

static struct matching *matching_of(struct host *host)
{
	struct matching *m = host->matching;
	struct match_node_options o;

	if (m)
		return m;
	m = xcalloc(1, sizeof(*m));
	o = (struct match_node_options){.match = {.pair = on_pair,
						.unmatched = on_unmatched,
						.is_far = is_far,
						.defer = defer,
						.arg = m},
		.is_here = is_here,
		.ship = ship,
		.ship_loss = ship_loss,
		.arg = m};
	m->host = host;
	m->asked = xcalloc(ASKED, sizeof(*m->asked));
	m->node = match_node_new(&o);
	m->thread_pairs.of.bytes = sizeof(struct thread_pair);
	m->outbox = match_outbox_new(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	m->inbox = match_outbox_new(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	m->dump = open_dump(host->name);
	host->matching = m;
	return m;
}

static void give_receive(void *arg, const struct match_receive *r)
{
	match_deferred(arg, r);
}

uint64_t matching_take_receives(struct matching *m, uint64_t source)
{
	struct match_piece p;

	if (!match_outbox_piece(m->inbox, source, &p))
		return 0;
	if (!p.bytes || !match_batch_receives(p.bytes, p.n, give_receive, matching_core(m)))
		match_deferred_lost(matching_core(m));
	free(p.bytes);
	return p.records;
}

/* Others may have written to it, or received from it, before we heard of it. */
static void come_home(struct matching *m, uint64_t proc_id)
{
	struct match_piece p;

	while (matching_take_receives(m, proc_id))
		;
	while (match_outbox_piece(m->outbox, proc_id, &p)) {
		if (!p.bytes || match_batch_give(p.bytes, p.n, matching_core(m)))
			m->not_shipped += p.records;
		free(p.bytes);
	}
}

/* p has this id from now on, and may get another one later. */
static void set_owner(struct matching *m, uint64_t proc_id, const struct process *p)
{
	m->asked[proc_id % ASKED].process = NULL;
	*map64_at(&m->here, proc_id, 0) = (uint32_t)m->n_owners;
	*LIST_ADD(m, owners) = p;
}

static void on_rank(struct process *p, const struct wire_rank *told)
{
	struct host *host = p->host;
	uint64_t job = p->job, proc_id = match_proc_id(job, (uint32_t)p->job_rank);
	struct matching *m;

	if (p->match || !host->conf->mpi_match || !host->conf->mpi_log_messages)
		return;
	m = matching_of(host);
	/* two programs that are rank 0 of jobs of their own: neither has seen the other */
	while (map64_find(&m->here, proc_id)) {
		job += 0x9e3779b97f4a7c15u;
		proc_id = match_proc_id(job, (uint32_t)p->job_rank);
	}
	set_owner(m, proc_id, p);
	p->proc_id = proc_id;
	p->match = match_process_new(m->node, proc_id, told->thread_level >= THREAD_MULTIPLE);
	traffic_match(p->traffic, p->match, job);
	come_home(m, proc_id);
}

static void leave_session(struct process *p)
{
	traffic_session(p->traffic, NULL, 0, 0);
	match_process_end(p->session_match);
	p->session_match = NULL;
}

void matching_join_session(struct process *p, uint32_t rank, uint64_t job)
{
	struct host *host = p->host;
	struct matching *m;

	leave_session(p);
	if (host->conf->mpi_match && host->conf->mpi_log_messages) {
		m = matching_of(host);
		p->session_proc_id = match_proc_id(job, rank);
		set_owner(m, p->session_proc_id, p);
		p->session_match = match_process_new(m->node, p->session_proc_id, true);
		come_home(m, p->session_proc_id);
		observers_tell(host, session_rank, p);
	}
	traffic_session(p->traffic, p->session_match, rank, job);
}

void matching_leave(struct process *p)
{
	traffic_spawned_end(p->traffic);
	leave_session(p);
	traffic_match(p->traffic, NULL, 0);
	match_process_end(p->match);
	p->match = NULL;
}

const struct process_observer matching_observer = {.rank = on_rank, .end = matching_leave};

void matching_set_listener(struct host *host, const struct matching_listener *listener)
{
	if (host->conf->mpi_match)
		matching_of(host)->listener = *listener;
}

void matching_copied(struct host *host)
{
	struct matching *m = host->matching;

	if (!m)
		return;
	match_outbox_copied(m->outbox);
	match_outbox_copied(m->inbox);
}

void matching_end(struct host *host)
{
	struct matching *m;

	if (!host->conf->mpi_match || !host->conf->mpi_log_messages)
		return;
	/* the others wait for a word of an agent without messages, too */
	m = matching_of(host);
	if (!host->no_exchange && host->transport && host->transport->size > 1)
		matching_exchange(m);
	m->not_shipped += match_outbox_left(m->outbox);
	match_node_end(m->node);
	matching_late_receivers_end(m);
	matching_late_free(m);
	if (m->dump)
		fclose(m->dump);
	m->dump = NULL;
}
