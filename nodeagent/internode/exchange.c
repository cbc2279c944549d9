/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each agent has for the others, when the job is over. Agents that have
 * something for each other meet in pairs, all in the same order, so that nobody
 * waits for one that waits for him. In a pair the one with the lower rank
 * gives first; who takes says so first, so that a message never waits in MPI.
 *
 *	taker   READY          -> giver
 *	giver   CHUNK ... LAST -> taker      batches (match/wire.h)
 *	giver   LOCKS .. -> taker             in between (lock-exchange.h)
 *	taker   ANSWER .. LAST -> giver      what they have waited (far-receivers.h), and CAUSES
 *
 * Times travel as global ones (clock/sync.h) and become ticks of the taker. Who does not
 * answer costs its messages and some waiting, nothing else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/match/wire.h"
#include "nodeagent/internode/collectives.h"
#include "nodeagent/internode/directory.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/internode/lock-exchange.h"
#include "nodeagent/net/transport.h"

enum { TAG_READY = 710, TAG_CHUNK, TAG_ANSWER };
/* the last byte of a chunk; CAUSES, LOCKS: words of far-causes.h, of lock-exchange.h */
enum { MORE, LAST, CAUSES, LOCKS };

#define CHUNK_BYTES ((size_t)1 << 20)
#define LOCKS_WORDS (LOCK_EXCHANGE_WORDS * (CHUNK_BYTES / 64)) /* of a chunk, at most */
#define PART	    3 /* of the deadline of the collation, all of this */
#define PAIR_PART   3 /* of that, to wait for one agent, which may wait for another one */

struct exchange {
	struct matching *m;
	struct transport *transport;
	struct directory directory;
	double until, patience;
	struct match_batch batch;
	struct far_telling telling;
	struct far_calls calls;
	int to, error;	    /* of the giving */
	struct map64 known; /* processes that sent something -> index */
	struct source {
		uint64_t proc_id, sends, receives; /* taken so far */
	} * sources;
	size_t n_sources, cap_sources, first_source; /* of the present agent */
	uint64_t lost_sends;
	bool cut_off;
};

/* ---- giving ----------------------------------------------------------------------- */

static double patience(const struct exchange *x)
{
	double until = transport_now() + x->patience;

	return until < x->until ? until : x->until;
}

static void send_bytes(struct exchange *x, int tag, const void *bytes, size_t n, uint8_t kind)
{
	uint8_t *chunk = xmalloc(n + 1);

	if (n)
		memcpy(chunk, bytes, n);
	chunk[n] = kind;
	x->error = x->transport->send(x->transport, x->to, tag, chunk, n + 1, patience(x));
	if (x->error != -ETIMEDOUT)
		free(chunk); /* else it may leave later */
}

static void send_chunk(struct exchange *x, uint8_t kind)
{
	struct words *w = &x->telling.words;

	if (w->n)
		send_bytes(x, TAG_CHUNK, w->at, w->n * sizeof(*w->at), CAUSES);
	words_free(w);
	if (!x->error)
		send_bytes(x, TAG_CHUNK, x->batch.bytes, x->batch.n, kind);
	match_batch_clear(&x->batch);
}

static void give_send(void *arg, const struct match_send *s)
{
	struct exchange *x = arg;
	struct match_send told = *s;

	if (x->error) {
		x->lost_sends++;
		return;
	}
	told.history = s->history ? far_tell(&x->telling, x->m->host,
					    matching_process(x->m, s->source), s->history)
				  : 0;
	told.enter = internode_global(x->m->host, s->enter);
	told.leave = told.enter + (internode_global(x->m->host, s->leave) - told.enter);
	if (s->mode)
		far_calls_tell(&x->calls, x->m, &told, s);
	match_batch_send(&x->batch, &told);
	if (x->batch.n + x->telling.words.n * sizeof(uint64_t) >= CHUNK_BYTES)
		send_chunk(x, MORE);
}

static void give_locks(struct exchange *x, const struct rank_set *proc_ids)
{
	struct words *causes = &x->telling.words, locks = {0};

	lock_exchange_put(x->m, proc_ids, &x->telling, &locks);
	if (causes->n)
		send_bytes(x, TAG_CHUNK, causes->at, causes->n * sizeof(*causes->at), CAUSES);
	words_free(causes);
	for (size_t at = 0, n; at < locks.n && !x->error; at += n) {
		n = locks.n - at < LOCKS_WORDS ? locks.n - at : LOCKS_WORDS;
		send_bytes(x, TAG_CHUNK, locks.at + at, n * sizeof(*locks.at), LOCKS);
	}
	words_free(&locks);
}

static const struct directory_target *target(const struct exchange *x, int agent)
{
	return FIND(y, x->directory.targets, x->directory.n_targets, y->agent == agent);
}

/* A piece for each process: those are about equally old. False: there was none left. */
static bool give_round(struct exchange *x, const struct rank_set *proc_ids)
{
	bool any = false;

	for (size_t i = 0; i < proc_ids->n && !x->error; i++) {
		struct match_piece p;

		if (!match_outbox_piece(x->m->outbox, proc_ids->at[i], &p))
			continue;
		any = true;
		if (!p.bytes || match_batch_each(p.bytes, p.n, give_send, x))
			x->lost_sends += p.records;
		free(p.bytes);
	}
	return any;
}

static const char *use_answer(struct exchange *x, const uint64_t *words, size_t n, uint8_t kind)
{
	return kind == CAUSES ? far_take(&x->m->far, x->m->host, words, n)
			      : far_calls_answer(&x->calls, x->m, words, n);
}

/* What the sends have waited for their receivers; the next message of this tag if *last is false.
 */
static void take_answer(struct exchange *x, int from, bool *last)
{
	const char *wrong;
	size_t bytes;
	uint8_t *buf;
	int who;

	x->error = transport_receive(
		x->transport, from, from, TAG_ANSWER, (void **)&buf, &bytes, &who, patience(x));
	if (x->error)
		return;
	wrong = bytes ? use_answer(x, (uint64_t *)buf, bytes / sizeof(uint64_t), buf[bytes - 1])
		      : "an empty message";
	*last = !bytes || buf[bytes - 1] == LAST;
	if (!*last && transport_now() > x->until)
		x->error = -ETIMEDOUT;
	if (wrong)
		host_warn(x->m->host, false,
			"waits for the node of agent %d are not known: it sent %s", from, wrong);
	free(buf);
}

static void give_to(struct exchange *x, int to)
{
	const struct directory_target *t = target(x, to);
	bool last = false;
	size_t bytes;
	void *buf;
	int who;

	if (!t)
		return;
	x->to = to;
	x->error =
		transport_receive(x->transport, to, to, TAG_READY, &buf, &bytes, &who, patience(x));
	if (!x->error)
		free(buf);
	if (!x->error)
		give_locks(x, &t->proc_ids);
	while (!x->error && give_round(x, &t->proc_ids))
		;
	if (!x->error)
		send_chunk(x, LAST);
	far_heard_next(&x->m->far);
	while (!x->error && !last)
		take_answer(x, to, &last);
	far_calls_free(&x->calls);
	match_batch_clear(&x->batch);
	far_telling_free(&x->telling);
	x->cut_off |= x->error == -ECONNRESET;
}

/* ---- taking -------------------------------------------------------------------------- */

static struct source *source_of(struct exchange *x, uint64_t proc_id)
{
	const uint32_t at = *map64_at(&x->known, proc_id, (uint32_t)x->n_sources);

	if (at == x->n_sources)
		*LIST_ADD(x, sources) = (struct source){.proc_id = proc_id};
	return &x->sources[at];
}

static void take_send(void *arg, const struct match_send *s)
{
	struct exchange *x = arg;
	struct match_send mine = *s;

	if (!map64_find(&x->m->here, s->destination))
		return;
	source_of(x, s->source)->sends++;
	mine.history = far_number(&x->m->far, s->history);
	mine.enter = internode_ticks(x->m->host, s->enter);
	mine.leave = internode_ticks(x->m->host, s->leave);
	if (s->mode) {
		mine.done_enter = internode_ticks(x->m->host, s->done_enter);
		mine.done_leave = internode_ticks(x->m->host, s->done_leave);
	}
	match_send(matching_core(x->m), &mine);
}

/* Of each source as many receives as sends, at least; in the end all. */
static void take_receives(struct exchange *x, bool all)
{
	for (size_t i = x->first_source; i < x->n_sources; i++) {
		struct source *s = &x->sources[i];
		uint64_t n;

		while (all || s->receives < s->sends) {
			n = matching_take_receives(x->m, s->proc_id);
			if (!n)
				break;
			s->receives += n;
		}
	}
}

static bool is_sender(const struct exchange *x, int agent)
{
	return ANY(i, x->directory.n_senders, x->directory.senders[i] == agent);
}

static const char *take_chunk(struct exchange *x, const void *bytes, size_t n, uint8_t kind)
{
	if (kind == LOCKS)
		return lock_exchange_take(x->m, bytes, n / sizeof(uint64_t));
	if (kind != CAUSES)
		return match_batch_each(bytes, n, take_send, x);
	return far_take(&x->m->far, x->m->host, bytes, n / sizeof(uint64_t));
}

static void send_answer(struct exchange *x, int to)
{
	struct far_telling paths = {.histories = {0}};
	struct words answer = {0};
	size_t at = 0, n;

	far_receivers_put(&x->m->far_receivers, x->m, &paths, &answer);
	x->to = to;
	x->error = 0;
	if (paths.words.n)
		send_bytes(x, TAG_ANSWER, paths.words.at, paths.words.n * sizeof(*paths.words.at),
			CAUSES);
	far_telling_free(&paths);
	while (!x->error) {
		n = far_answer_part(&answer, at, CHUNK_BYTES / sizeof(uint64_t));
		send_bytes(x, TAG_ANSWER, answer.at + at, n * sizeof(uint64_t),
			at + n < answer.n ? MORE : LAST);
		at += n;
		if (at >= answer.n)
			break;
	}
	words_free(&answer);
}

static void take_from(struct exchange *x, int from)
{
	bool last = false;
	int error;

	if (!is_sender(x, from))
		return;
	far_heard_next(&x->m->far);
	error = x->transport->send(x->transport, from, TAG_READY, "", 1, patience(x));
	while (!error && !last) {
		const char *wrong;
		size_t bytes;
		uint8_t *buf;
		int who;

		error = transport_receive(x->transport, from, from, TAG_CHUNK, (void **)&buf,
			&bytes, &who, patience(x));
		if (error)
			break;
		wrong = bytes ? take_chunk(x, buf, bytes - 1, buf[bytes - 1]) : "an empty message";
		last = !bytes || buf[bytes - 1] == LAST;
		if (!last && transport_now() > x->until) /* who never ends gets no more time */
			error = -ETIMEDOUT;
		if (wrong)
			host_warn(x->m->host, false,
				"messages from the node of agent %d have no partner: it sent %s",
				from, wrong);
		free(buf);
		take_receives(x, false);
	}
	take_receives(x, true);
	if (!error)
		send_answer(x, from);
	far_receivers_free(&x->m->far_receivers);
	x->first_source = x->n_sources;
	x->cut_off |= error == -ECONNRESET;
}

/* ---- the whole -------------------------------------------------------------------------- */

struct meeting {
	int round, with;
};

ORDER_BY(meeting_cmp, struct meeting, RISING(round))

/* Whom to meet. In a round, which is rank ^ with, each agent has one other at most. */
static size_t plan(const struct exchange *x, struct meeting *at)
{
	const struct directory *d = &x->directory;
	size_t n = 0, distinct = 0;

	for (size_t i = 0; i < d->n_senders; i++)
		at[n++].with = d->senders[i];
	for (size_t i = 0; i < d->n_targets; i++)
		at[n++].with = d->targets[i].agent;
	for (size_t i = 0; i < n; i++)
		at[i].round = x->transport->rank ^ at[i].with;
	if (n)
		qsort(at, n, sizeof(*at), meeting_cmp);
	for (size_t i = 0; i < n; i++)
		if (at[i].round && (!distinct || at[i].round != at[distinct - 1].round))
			at[distinct++] = at[i];
	return distinct;
}

static void meet_all(struct exchange *x)
{
	const struct directory *d = &x->directory;
	struct meeting *at = xcalloc(d->n_senders + d->n_targets + 1, sizeof(*at));
	size_t n = plan(x, at);

	for (size_t i = 0; i < n && !x->cut_off; i++) {
		if (x->transport->rank < at[i].with)
			give_to(x, at[i].with);
		take_from(x, at[i].with);
		if (x->transport->rank > at[i].with)
			give_to(x, at[i].with);
	}
	free(at);
}

static void hear_of_losses(const struct exchange *x)
{
	for (size_t i = 0; i < x->directory.lost.n; i++)
		match_lost(matching_core(x->m), x->directory.lost.at[i]);
}

/* Neither is worth anything in ticks if not known. */
static void set_clock_bound(const struct exchange *x, uint64_t mine)
{
	x->m->clock_bound = internode_error_ticks(x->m->host, mine, x->directory.clock_bound_ns);
	match_set_clock_bound(matching_core(x->m), x->m->clock_bound);
}

static uint64_t *keys(const struct map64 *m)
{
	uint64_t *at = xcalloc(m->n + 1, sizeof(*at));
	size_t n = 0;

	for (size_t i = 0; m->slots && i <= m->mask; i++)
		if (m->slots[i].used)
			at[n++] = m->slots[i].key;
	return at;
}

/* Agents whose processes had the same locks meet, too. */
static void want_lock_members(const struct host *host, struct directory_entry *e)
{
	struct map64 members = {0};
	uint64_t *more;

	lock_exchange_want(host, &members);
	more = keys(&members);
	e->wanted = xrealloc(e->wanted, (e->n_wanted + members.n + 1) * sizeof(*e->wanted));
	memcpy(e->wanted + e->n_wanted, more, members.n * sizeof(*more));
	e->n_wanted += members.n;
	free(more);
	map64_free(&members);
}

static bool has_lock_members(const struct host *host)
{
	struct map64 members = {0};
	bool any;

	lock_exchange_want(host, &members);
	any = members.n > 0;
	map64_free(&members);
	return any;
}

static bool has_homes(const struct host *host)
{
	size_t n;

	free(collectives_homes(host, &n));
	return n > 0;
}

bool matching_has_news(const struct host *host)
{
	const struct matching *m = host->matching;

	if (!host->transport || host->transport->size < 2)
		return false;
	if (m && (m->n_lost || match_outbox_left(m->outbox)))
		return true;
	return has_lock_members(host) || has_homes(host);
}

void matching_exchange(struct matching *m)
{
	const struct host *host = m->host;
	double seconds = ending_exchange(host->conf->agent_deadline_s) / PART;
	struct exchange x = {.m = m,
		.transport = host->transport,
		.until = transport_now() + seconds,
		.patience = seconds / PAIR_PART};
	struct directory_entry mine = {.clock_bound_ns = internode_clock_error(host),
		.here = keys(&m->here),
		.n_here = m->here.n,
		.lost = m->lost,
		.n_lost = m->n_lost};

	mine.homes = collectives_homes(host, &mine.n_homes);
	mine.wanted = match_outbox_proc_ids(m->outbox, &mine.n_wanted);
	want_lock_members(host, &mine);
	match_defer_no_more(matching_core(m));
	if (!directory_ask(host->transport, &mine, seconds / 2, &x.directory)) {
		m->met = true;
		m->absent = x.directory.absent;
		m->reporters = x.directory.reporters;
		m->homes = x.directory.homes;
		x.directory.absent = x.directory.reporters = x.directory.homes =
			(struct rank_set){0};
		set_clock_bound(&x, mine.clock_bound_ns);
		hear_of_losses(&x);
		meet_all(&x);
	}
	m->not_shipped += x.lost_sends;
	directory_free(&x.directory);
	match_batch_free(&x.batch);
	map64_free(&x.known);
	free(x.sources);
	free(mine.here);
	free(mine.wanted);
	free(mine.homes);
}
