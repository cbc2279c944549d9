/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports go to the homes (home.h), then answers come back. Each time the agents meet in pairs,
 * all in the same order, so that nobody waits for one that waits for him; one of a pair at
 * least is a home. The one with the lower rank gives first; who takes says so first, so that
 * a message never waits in MPI.
 *
 *	taker   READY          -> giver
 *	giver   CHUNK ... LAST -> taker      words of home.h, and one that says if more follow
 *
 * Agents that the directory has not heard of are left out. Another one that does not answer costs
 * what it would have told and a part of the time (PATIENCE), nothing else. Reports have half of
 * the time, so that there is some for answers.
 */
#include "nodeagent/internode/collectives.h"

#include <errno.h>
#include <stdlib.h>
#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/internode/asking.h"
#include "nodeagent/internode/directory.h"
#include "nodeagent/internode/home.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/comm/sync.h"

enum { TAG_REPORT_READY = 720, TAG_REPORT, TAG_ANSWER_READY, TAG_ANSWER };
enum { MORE, LAST }; /* the last word of a message */

#define CHUNK_WORDS ((size_t)1 << 17) /* a MiB */
#define PART	    4		      /* of the deadline of the collation, all of this */
#define PATIENCE    8		      /* of that, for one step with one agent */

struct collectives {
	struct asking_sums sums[ELSEWHERE_LOG2_MAX + 1];
};

/* What an agent has for another one in one of both parts. */
struct link {
	struct words kept; /* the message that leaves next */
	int to, tag, error;
};

struct comparing {
	struct host *host;
	struct transport *transport;
	struct elsewhere *e; /* or NULL: no call here has members elsewhere */
	struct asking_clock clock;
	struct home *home;     /* or NULL: this agent is none */
	struct words *answers; /* by agent */
	size_t answers_most;   /* words of one: all that is asked */
	/* by agent: its report came, all of it; it makes no sense; it is not there, or no more */
	bool *heard, *refused, *silent;
	bool *home_of_mine, *reporter; /* by agent, of the directory */
	uint64_t clock_error;	       /* the greatest of those heard of */
	double until;		       /* of reports, then of answers */
	double patience;	       /* s */
	bool cut_off;
	struct link out;
};

/* ---- messages -------------------------------------------------------------------------- */

static double step_until(const struct comparing *x)
{
	const double until = transport_now() + x->patience;

	return until < x->until ? until : x->until;
}

static void note_failure(struct comparing *x, int with, int error)
{
	x->silent[with] |= error != 0;
	x->cut_off |= error == -ECONNRESET;
}

static void send_words(struct comparing *x, struct words *w, uint64_t what)
{
	struct link *l = &x->out;

	if (!l->error) {
		words_put(w, what);
		l->error = x->transport->send(
			x->transport, l->to, l->tag, w->at, w->n * sizeof(*w->at), step_until(x));
	}
	if (l->error != -ETIMEDOUT) /* else it may leave later */
		words_free(w);
	*w = (struct words){0};
}

static void begin_giving(struct comparing *x, int to, int ready, int tag)
{
	size_t bytes;
	void *buf = NULL;
	int who;

	x->out = (struct link){.to = to, .tag = tag};
	x->out.error =
		transport_receive(x->transport, to, to, ready, &buf, &bytes, &who, step_until(x));
	if (!x->out.error)
		free(buf);
}

static void end_giving(struct comparing *x)
{
	struct words w = {0};

	send_words(x, &w, LAST);
	note_failure(x, x->out.to, x->out.error);
}

/* Calls use() for each message, with its words but the last. True if all came. */
static bool take_words(struct comparing *x, int from, int ready, int tag,
	void (*use)(struct comparing *x, int from, const uint64_t *words, size_t n))
{
	bool last = false;
	int error = x->transport->send(x->transport, from, ready, "", 1, step_until(x));

	while (!error && !last) {
		size_t bytes, n;
		uint64_t *buf;
		int who;

		error = transport_receive(
			x->transport, from, from, tag, (void **)&buf, &bytes, &who, step_until(x));
		if (error)
			break;
		n = bytes / sizeof(*buf);
		last = !n || buf[n - 1] == LAST;
		if (!last && transport_now() > x->until)
			error = -ETIMEDOUT;
		if (n > 1)
			use(x, from, buf, n - 1);
		free(buf);
	}
	note_failure(x, from, error);
	return !error;
}

/* ---- reports --------------------------------------------------------------------------- */

static void take_report(struct comparing *x, int from, const uint64_t *words, size_t n)
{
	const char *wrong = x->refused[from] ? NULL : home_take(x->home, from, words, n);

	if (!wrong)
		return;
	host_warn(x->host, false,
		"waits for ranks on the node of agent %d are not known: it sent %s", from, wrong);
	x->refused[from] = true; /* the rest would not be where it looks for answers */
}

static void give_chunk(void *arg, struct words *w)
{
	send_words(arg, w, MORE);
}

static void give_reports(struct comparing *x, int to)
{
	if (!x->home_of_mine[to])
		return;
	begin_giving(x, to, TAG_REPORT_READY, TAG_REPORT);
	if (x->e)
		asking_report(x->e, &x->clock, to, x->transport->size, CHUNK_WORDS, give_chunk, x);
	end_giving(x);
}

static void take_reports(struct comparing *x, int from)
{
	if (x->home && x->reporter[from])
		x->heard[from] = take_words(x, from, TAG_REPORT_READY, TAG_REPORT, take_report);
}

static void own_report(void *arg, struct words *w)
{
	struct comparing *x = arg;

	take_report(x, x->transport ? x->transport->rank : 0, w->at, w->n);
}

/* ---- answers --------------------------------------------------------------------------- */

static void keep_answers(struct comparing *x, int from, const uint64_t *words, size_t n)
{
	struct words_in in = {words, n, false};
	uint64_t error;

	if (words_get(&in) != HOME_VERSION) {
		host_warn(x->host, false, "agent %d sent answers of another version", from);
		return;
	}
	error = words_get(&in);
	x->clock_error = MAX(x->clock_error, error);
	while (in.n && x->answers[from].n < x->answers_most)
		words_put(&x->answers[from], words_get(&in));
}

static void give_answers(struct comparing *x, int to)
{
	struct words w = {0};

	if (!x->home || !x->heard[to])
		return;
	begin_giving(x, to, TAG_ANSWER_READY, TAG_ANSWER);
	while (!x->out.error && home_give(x->home, to, CHUNK_WORDS, &w))
		send_words(x, &w, MORE);
	end_giving(x);
}

static void take_answers(struct comparing *x, int from)
{
	if (x->home_of_mine[from])
		take_words(x, from, TAG_ANSWER_READY, TAG_ANSWER, keep_answers);
}

static void own_answers(struct comparing *x, int self)
{
	struct words w = {0};

	while (home_give(x->home, self, CHUNK_WORDS, &w)) {
		keep_answers(x, self, w.at, w.n);
		words_free(&w);
		w = (struct words){0};
	}
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Round by round, in each of which an agent meets one other at most. */
static void meet_all(struct comparing *x, void (*give)(struct comparing *x, int to),
	void (*take)(struct comparing *x, int from))
{
	const int size = x->transport->size, self = x->transport->rank;

	for (int round = 1; round < 2 * size && !x->cut_off; round++) {
		const int with = self ^ round;

		if (with >= size || (!x->home_of_mine[with] && !x->reporter[with]))
			continue;
		if (self < with && !x->silent[with])
			give(x, with);
		if (!x->silent[with])
			take(x, with);
		if (self > with && !x->silent[with])
			give(x, with);
	}
}

static uint64_t global_time(const void *arg, uint64_t ticks)
{
	return internode_global(arg, ticks);
}

static uint64_t own_ticks(const void *arg, uint64_t time)
{
	return internode_ticks(arg, time);
}

static uint32_t late_rank(const void *arg, struct traffic *t, uint64_t job, uint32_t rank)
{
	const struct host *host = arg;

	return host->matching ? matching_late_of(host->matching, t, job, rank) : UINT32_MAX;
}

/* Words of the answers about all calls, whose homes are one agent's at worst. */
static size_t answers_most(const struct elsewhere *e)
{
	const struct elsewhere_comm *comms;
	size_t n = 0, calls = 0;

	comms = e ? elsewhere_comms(e, &n) : NULL;
	for (size_t i = 0; i < n; i++)
		calls += comms[i].n_calls;
	return calls * HOME_ANSWER_WORDS;
}

static void begin_comparing(struct comparing *x, struct host *host, int size, int self)
{
	*x = (struct comparing){.host = host,
		.transport = size > 1 ? host->transport : NULL,
		.e = host->sync ? sync_elsewhere(host->sync) : NULL,
		.clock = {global_time, own_ticks, host, late_rank, internode_clock_error(host),
			UINT64_MAX},
		.answers = xcalloc((size_t)size, sizeof(*x->answers)),
		.heard = xcalloc((size_t)size, sizeof(*x->heard)),
		.refused = xcalloc((size_t)size, sizeof(*x->refused)),
		.silent = xcalloc((size_t)size, sizeof(*x->silent)),
		.home_of_mine = xcalloc((size_t)size, sizeof(*x->home_of_mine)),
		.reporter = xcalloc((size_t)size, sizeof(*x->reporter)),
		.until = transport_now() + ending_exchange(host->conf->agent_deadline_s) / PART};
	x->answers_most = answers_most(x->e);
	x->home = home_is(self, size) ? home_new(size) : NULL;
	x->clock_error = x->clock.error_ns;
}

static void end_comparing(struct comparing *x, int size)
{
	for (int i = 0; i < size; i++)
		words_free(&x->answers[i]);
	home_free(x->home);
	free(x->answers);
	free(x->heard);
	free(x->refused);
	free(x->silent);
	free(x->home_of_mine);
	free(x->reporter);
}

static void mark_agents(const struct comparing *x, const struct rank_set *agents, bool *by)
{
	for (size_t i = 0; i < agents->n; i++)
		if (agents->at[i] < (uint64_t)x->transport->size)
			by[agents->at[i]] = true;
}

static void use_directory(struct comparing *x, const struct rank_set *absent,
	const struct rank_set *reporters, const struct rank_set *homes)
{
	mark_agents(x, absent, x->silent);
	mark_agents(x, reporters, x->reporter);
	mark_agents(x, homes, x->home_of_mine);
}

uint64_t *collectives_homes(const struct host *host, size_t *n)
{
	const int size = host->transport->size;
	struct elsewhere *e = host->sync ? sync_elsewhere(host->sync) : NULL;
	bool *homes = xcalloc((size_t)size, sizeof(*homes));
	uint64_t *at = xcalloc((size_t)size, sizeof(*at));

	*n = 0;
	if (e && host->conf->mpi_waits)
		asking_homes(e, size, homes);
	for (int i = 0; i < size; i++)
		if (homes[i])
			at[(*n)++] = (uint64_t)i;
	free(homes);
	return at;
}

/* Asks the directory, unless that was done for messages. False: the others leave us out. */
static bool find_absent(struct comparing *x)
{
	const struct matching *m = x->host->matching;
	struct directory_entry mine = {.clock_bound_ns = x->clock.error_ns};
	struct directory d;
	bool answered;

	if (x->host->no_exchange)
		return false;
	if (m && m->met) {
		use_directory(x, &m->absent, &m->reporters, &m->homes);
		return !x->silent[x->transport->rank];
	}
	if (m) /* the directory did not answer */
		return false;
	mine.homes = collectives_homes(x->host, &mine.n_homes);
	answered = !directory_ask(x->transport, &mine, (x->until - transport_now()) / 2, &d);
	free(mine.homes);
	if (answered)
		use_directory(x, &d.absent, &d.reporters, &d.homes);
	directory_free(&d);
	return answered && !x->silent[x->transport->rank];
}

void collectives_end(struct host *host)
{
	const bool several = host->transport && host->transport->size > 1;
	const int size = several ? host->transport->size : 1;
	const int self = several ? host->transport->rank : 0;
	struct comparing x;

	if (!host->conf->mpi_waits)
		return;
	begin_comparing(&x, host, size, self);
	if (x.home && x.e)
		asking_report(x.e, &x.clock, self, size, CHUNK_WORDS, own_report, &x);
	if (x.transport && find_absent(&x)) {
		const double end = x.until, left = end - transport_now();

		x.patience = left / PATIENCE;
		x.until = end - left / 2;
		meet_all(&x, give_reports, take_reports);
		x.until = end;
		meet_all(&x, give_answers, take_answers);
	}
	if (x.home)
		own_answers(&x, self);
	x.clock.error_ticks = internode_error_ticks(host, x.clock.error_ns, x.clock_error);
	if (x.e) {
		host->collectives = xcalloc(1, sizeof(*host->collectives));
		asking_count(x.e, sync_longest(host->sync), &x.clock, x.answers, size,
			host->collectives->sums);
	}
	end_comparing(&x, size);
}

/* ---- before and after ---------------------------------------------------------------------- */

static void begin_elsewhere(struct process *p)
{
	const struct host *host = p->host;
	const char *least = getenv("VFTR_TEST_KEPT");
	const size_t bytes_max = least ? strtoul(least, NULL, 10) : ELSEWHERE_BYTES_MAX;

	if (host->sync && host->conf->mpi_waits && host->transport && host->transport->size > 1)
		sync_begin_elsewhere(host->sync, bytes_max);
}

static void on_rank(struct process *p, const struct wire_rank *told)
{
	begin_elsewhere(p);
}

static void gather_compared(const struct host *host, struct profile *out)
{
	for (uint32_t i = 0; host->collectives && i <= ELSEWHERE_LOG2_MAX; i++) {
		const struct asking_sums *s = &host->collectives->sums[i];
		struct profile_compared *to;

		if (!s->calls)
			continue;
		to = profile_add(out, PROFILE_COMPARED);
		*to = (struct profile_compared){.log2 = i,
			.calls = s->calls,
			.kept = s->kept,
			.unknown = s->unknown,
			.waited = s->waited,
			.waited_ns = clocks_ns(&host->clocks, s->waited_ticks),
			.error_ns = clocks_ns(&host->clocks, s->error_ticks),
			.below = s->below,
			.below_ns = clocks_ns(&host->clocks, s->below_ticks),
			.partly = s->partly,
			.partly_ns = clocks_ns(&host->clocks, s->partly_ticks)};
	}
}

const struct process_observer collectives_observer = {
	.rank = on_rank, .session_rank = begin_elsewhere, .gather = gather_compared};
