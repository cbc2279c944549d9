/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/clock/burst.h"

#include <errno.h>
#include <stdlib.h>

#include "nodeagent/clock/internal.h"
#include "nodeagent/base/util.h"

#define FAN_OUT	     16
#define MS	     1000000ll
#define WINDOW_NS    (50 * MS)	 /* of one level of the tree */
#define SLOT_NS	     (2 * MS)	 /* of one child in it */
#define START_NS     (1000 * MS) /* window at the start, when no clock is known */
#define FIRST_NS     (1000 * MS) /* first round after the start */
#define INTERVAL_MIN 0.25
#define AGAIN_NS     (100 * MS) /* a slow burst is repeated so much later */
#define AGAIN_MAX    3
#define EARLY_NS     (2 * MS) /* a server is there before */
#define NEVER	     CLOCK_TALK_NEVER

/* Something to do from a time on, if it is not too late then. */
struct window {
	int64_t from, until;
};

struct clock_burst {
	struct clock_talk talk;
	struct clock_sync sync;
	int rank, size;
	int parent; /* -1: none, or gone */
	int first_child, n_children, level, n_levels;
	bool gone[FAN_OUT];		      /* by child */
	bool served[FAN_OUT], wants[FAN_OUT]; /* in the present window; another one */
	bool last[FAN_OUT];		      /* has had its last one, in whatever window */
	int64_t first_want;		      /* when a child said so; 0: none has */
	int64_t start;			      /* local */
	int64_t round, interval; /* time of the round since the start; between rounds */
	uint32_t number;	 /* of the round */
	struct window ask, serve, check;
	int partner; /* of the check */
	int again;   /* how often the burst of this round was repeated */
	struct clock_measure best;
};

static const struct window nothing = {NEVER, NEVER};

static int level_of(int rank)
{
	int level = 0;

	for (; rank; rank = (rank - 1) / FAN_OUT)
		level++;
	return level;
}

int clock_burst_parent(int rank)
{
	return (rank - 1) / FAN_OUT;
}

static bool related(int a, int b)
{
	int high = a > b ? a : b, low = a > b ? b : a;

	return high == low || (high - 1) / FAN_OUT == low;
}

/*
 * The partners of checks: rank and rank ^ mask, a relation that holds both ways. Masks
 * change from round to round; all agents compute the same one. They are powers of two, and these
 * less one (agents 1 and 2 of three differ in both bits): an agent has at most 2 log N partners, as
 * each may need a connection.
 */
static int partner_of(int rank, int size, uint32_t round)
{
	unsigned bits = 0;

	while (1u << bits < (unsigned)size)
		bits++;
	for (unsigned skip = 0; skip + 1 < 2 * bits; skip++) {
		unsigned choice = (round * 2654435761u / 7 + skip) % (2 * bits - 1);
		unsigned mask = choice < bits ? 1u << choice : (1u << (choice - bits + 2)) - 1;

		for (int i = 0; i < size; i++) {
			int other = (int)((unsigned)i ^ mask), mine = (int)((unsigned)rank ^ mask);

			if (other < size && !related(i, other))
				return mine < size && !related(rank, mine) ? mine : -1;
		}
	}
	return -1;
}

struct clock_burst *clock_burst_new(struct transport *transport, double interval_s)
{
	struct clock_burst *b = xcalloc(1, sizeof(*b));
	int64_t now = clock_talk_now();

	b->talk.transport = transport;
	b->talk.sync = &b->sync;
	b->rank = transport->rank;
	b->size = transport->size;
	b->parent = transport->rank ? clock_burst_parent(transport->rank) : -1;
	b->first_child = transport->rank * FAN_OUT + 1;
	for (int i = 0; i < FAN_OUT && b->first_child + i < b->size; i++)
		b->n_children++;
	b->level = level_of(b->rank);
	b->n_levels = level_of(b->size - 1);
	b->sync.reference = !transport->rank;
	b->start = now;
	b->talk.job_start = transport->rank ? NEVER : now;
	b->sync.start = transport->rank ? 0 : now;
	interval_s = interval_s < INTERVAL_MIN ? INTERVAL_MIN : interval_s;
	b->interval = interval_s < 1e9 ? (int64_t)(interval_s * 1e9) : (int64_t)1e18;
	b->check = nothing;
	b->ask = b->parent < 0 ? nothing : (struct window){now, now + START_NS};
	b->serve = b->n_children ? (struct window){now, now + START_NS} : nothing;
	return b;
}

/* Receives all messages, as some MPI libraries complain of unreceived ones. */
static void drop_messages(struct transport *p)
{
	static const int tags[] = {TAG_CLOCK_ASK, TAG_CLOCK_PING, TAG_CLOCK_PONG, TAG_CLOCK_GONE};
	char content[TRANSPORT_SMALL_MAX];
	int who;

	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		while (!p->look(p, TRANSPORT_ANY, tags[i], content, sizeof(content), &who))
			;
}

void clock_burst_free(struct clock_burst *b)
{
	if (!b)
		return;
	drop_messages(b->talk.transport);
	clock_sync_clear(&b->sync);
	free(b);
}

const struct clock_sync *clock_burst_sync(const struct clock_burst *b)
{
	return &b->sync;
}

static int64_t next_time(const struct clock_burst *b)
{
	int64_t t = b->ask.from < b->serve.from ? b->ask.from : b->serve.from;

	return b->check.from < t ? b->check.from : t;
}

double clock_burst_next(const struct clock_burst *b)
{
	int64_t t = next_time(b);

	return t == NEVER ? 1e9 : (double)(t - clock_talk_now()) * 1e-9;
}

/* Local time of the present round. */
static int64_t round_begin(const struct clock_burst *b)
{
	int64_t error, offset = clock_sync_latest(&b->sync, clock_talk_now(), &error);

	if (error == INT64_MAX || b->talk.job_start == NEVER)
		return b->start + b->round;
	return b->talk.job_start + b->round - offset;
}

/*
 * Goes on to the first round that is not over; returns its begin. Many may be over, after a
 * suspension, or where a parent says that the job began long ago: those at intervals are skipped
 * at once. *step: from the round before.
 */
static int64_t pass_rounds(struct clock_burst *b, int64_t now, int64_t *step)
{
	int64_t begin = now;

	do {
		const int64_t grown = b->round ? b->round : FIRST_NS, late = now - begin;
		int64_t n;

		*step = grown < b->interval ? grown : b->interval;
		n = *step == b->interval && late > *step ? late / *step : 1;
		b->round += n * *step;
		b->number += (uint32_t)n;
		begin = round_begin(b);
	} while (begin < now);
	return begin;
}

/*
 * The same, where offsets and the start of the job may contradict those that a parent said before:
 * a round further ahead than the next one was reckoned from them. Then rounds are counted anew, and
 * if the start lies ahead, from that of this agent, until a parent says another one.
 */
static int64_t skip_rounds(struct clock_burst *b, int64_t now)
{
	int64_t step, begin = pass_rounds(b, now, &step);

	for (int again = 0; again < 2 && begin - now > step + FIRST_NS; again++) {
		if (again && b->rank)
			b->talk.job_start = NEVER;
		b->round = 0;
		b->number = 0;
		begin = pass_rounds(b, now, &step);
	}
	return begin;
}

static void next_round(struct clock_burst *b)
{
	const int64_t begin = skip_rounds(b, clock_talk_now());

	b->again = 0;
	for (int i = 0; i < FAN_OUT; i++)
		b->served[i] = false;
	if (b->parent >= 0) {
		b->ask.from =
			begin + (b->level - 1) * WINDOW_NS + (b->rank - 1) % FAN_OUT * SLOT_NS;
		b->ask.until = begin + b->level * WINDOW_NS;
	}
	if (b->n_children) {
		b->serve.from = begin + b->level * WINDOW_NS - EARLY_NS;
		b->serve.until = begin + (b->level + 1) * WINDOW_NS;
	}
	b->partner = partner_of(b->rank, b->size, b->number);
	if (b->partner >= 0) {
		b->check.from = begin + b->n_levels * WINDOW_NS;
		b->check.until = b->check.from + WINDOW_NS;
	}
}

/* Does not wait for agents that are gone. */
static void hear_goodbyes(struct clock_burst *b)
{
	char nothing_in_it[TRANSPORT_SMALL_MAX];
	int who;

	while (!b->talk.transport->look(b->talk.transport, TRANSPORT_ANY, TAG_CLOCK_GONE,
		nothing_in_it, sizeof(nothing_in_it), &who)) {
		if (who == b->parent)
			b->parent = -1;
		if (who >= b->first_child && who < b->first_child + b->n_children)
			b->gone[who - b->first_child] = true;
	}
}

static void accept_measure(struct clock_burst *b, const struct clock_measure *m)
{
	clock_sync_add(&b->sync.sync_points, &m->sync_point);
	if (b->talk.job_start != NEVER)
		b->sync.start = b->talk.job_start;
	if (!b->sync.round_trip || m->round_trip < b->sync.round_trip)
		b->sync.round_trip = m->round_trip;
	b->sync.bursts++;
}

/* Takes a burst, or the best of several slow ones; true: it should be repeated. */
static bool judge_measure(struct clock_burst *b, const struct clock_measure *m)
{
	if (!b->again || m->round_trip < b->best.round_trip)
		b->best = *m;
	if (clock_sync_is_slow(&b->sync, b->best.round_trip) && b->again < AGAIN_MAX) {
		b->sync.dropped++;
		b->again++;
		return true;
	}
	accept_measure(b, &b->best);
	b->again = 0;
	return false;
}

static void run_ask(struct clock_burst *b)
{
	struct clock_measure m;
	int error = -ETIMEDOUT;

	hear_goodbyes(b);
	if (b->parent < 0) {
		b->ask = nothing;
		return;
	}
	if (clock_talk_now() < b->ask.until)
		error = clock_talk_ask(&b->talk, b->parent, CLOCK_EDGE, b->ask.until, &m);
	if (error == -EINTR) {
		b->ask.from = clock_talk_now() + MS;
		return;
	}
	b->ask = nothing;
	if (!error && judge_measure(b, &m)) {
		clock_talk_done(&b->talk, b->parent, true);
		b->ask.from = clock_talk_now() + AGAIN_NS;
		b->ask.until = b->ask.from + WINDOW_NS;
		return;
	}
	if (!error) {
		clock_talk_done(&b->talk, b->parent, false);
		return;
	}
	b->sync.missed++;
	if (b->again) /* the slow one is better than none */
		accept_measure(b, &b->best);
}

static bool all_served(const struct clock_burst *b, const bool *served)
{
	return !ANY(i, b->n_children, !served[i] && !b->gone[i]);
}

/* Number of a child that was served for this purpose to the end, or -1. */
static int child_served(
	const struct clock_burst *b, const struct clock_served *s, enum clock_purpose purpose)
{
	int child = s->who - b->first_child;

	return s->complete && s->purpose == purpose && child >= 0 && child < b->n_children ? child
											   : -1;
}

/* A child may end while we are in a window yet: it does not come again. */
static struct clock_served serve(struct clock_burst *b)
{
	struct clock_served s = clock_talk_serve(&b->talk);
	int child = child_served(b, &s, CLOCK_LAST);

	if (child >= 0)
		b->last[child] = !s.again;
	return s;
}

/* The window ends. Those who want it have another one. */
static void end_serve(struct clock_burst *b)
{
	bool any = false;

	for (int i = 0; i < b->n_children; i++) {
		b->served[i] = !b->wants[i];
		any |= b->wants[i];
		b->wants[i] = false;
	}
	b->serve = nothing;
	if (any) {
		b->serve.from = b->first_want + AGAIN_NS - EARLY_NS;
		b->serve.until = b->first_want + AGAIN_NS + 2 * WINDOW_NS;
	}
	b->first_want = 0;
}

/* Until all of these are done, or then. False: a descriptor is ready. */
static bool serve_children(struct clock_burst *b, const bool *done, int64_t until)
{
	int64_t pause = 0;

	while (!all_served(b, done) && clock_talk_now() < until) {
		struct clock_served s = serve(b);
		int child = child_served(b, &s, CLOCK_EDGE);

		if (child >= 0) {
			b->served[child] = true;
			b->wants[child] = s.again;
			if (s.again && !b->first_want)
				b->first_want = clock_talk_now();
		}
		if (s.who >= 0) {
			pause = 0;
			continue;
		}
		hear_goodbyes(b);
		if (!clock_talk_rest(&b->talk, &pause))
			return false;
	}
	return true;
}

static void run_serve(struct clock_burst *b)
{
	if (serve_children(b, b->served, b->serve.until))
		end_serve(b);
	else
		b->serve.from = clock_talk_now() + MS;
}

static void ask_check(struct clock_burst *b)
{
	struct clock_measure m;
	int error = clock_talk_ask(&b->talk, b->partner, CLOCK_CHECK, b->check.until, &m);

	b->check = nothing;
	if (error)
		return;
	clock_talk_done(&b->talk, b->partner, false);
	clock_sync_add(&b->sync.checks, &m.sync_point);
}

/* The one with the larger rank asks. */
static void run_check(struct clock_burst *b)
{
	int64_t pause = 0;

	if (b->partner < b->rank) {
		ask_check(b);
		return;
	}
	while (clock_talk_now() < b->check.until) {
		struct clock_served s = serve(b);

		if (s.who == b->partner && s.complete)
			break;
		if (s.who < 0 && !clock_talk_rest(&b->talk, &pause))
			break;
	}
	b->check = nothing;
}

void clock_burst_run(struct clock_burst *b, const struct pollfd *fds, size_t n)
{
	b->talk.fds = fds;
	b->talk.n_fds = n;
	/* the parent first: what the children get is then fresh */
	if (b->ask.from <= clock_talk_now())
		run_ask(b);
	else if (b->serve.from <= clock_talk_now())
		run_serve(b);
	else if (b->check.from <= clock_talk_now())
		run_check(b);
	if (next_time(b) == NEVER)
		next_round(b);
}

static void ask_last(struct clock_burst *b, int64_t until)
{
	struct clock_measure m;
	bool more = b->parent >= 0;

	b->again = 0;
	while (more) {
		if (clock_talk_ask(&b->talk, b->parent, CLOCK_LAST, until, &m)) {
			b->sync.missed++;
			if (b->again)
				accept_measure(b, &b->best);
			return;
		}
		more = judge_measure(b, &m);
		clock_talk_done(&b->talk, b->parent, more);
	}
}

void clock_burst_last(struct clock_burst *b, double seconds, const struct pollfd *fds, size_t n)
{
	int64_t limit = (int64_t)(seconds * 1e9);

	b->talk.fds = fds;
	b->talk.n_fds = n;
	b->ask = b->serve = b->check = nothing;
	hear_goodbyes(b);
	ask_last(b, clock_talk_now() + limit);
	serve_children(b, b->last, clock_talk_now() + limit);
}

void clock_burst_gone(struct clock_burst *b)
{
	struct transport *p = b->talk.transport;

	if (b->parent >= 0)
		p->post(p, b->parent, TAG_CLOCK_GONE, "", 1);
	for (int i = 0; i < b->n_children; i++)
		p->post(p, b->first_child + i, TAG_CLOCK_GONE, "", 1);
}
