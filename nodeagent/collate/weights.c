/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which call paths the profile of the job is to have as rows (profile/prune.h), found by all agents
 * together before they collate. Each agent owns a range of the hashes of call paths: those whose
 * first bits are its number. In as many rounds as a number has bits, an agent meets the one whose
 * number differs in that bit: each gives the half of its hashes that is on the side of the other
 *one, and adds up what it gets (recursive halving). The owner then has the weight of each of its
 *paths over all nodes, and the rounds go back with the answers. So no agent has more than its own
 *paths, and those of its range.
 *
 *	TAG_WEIGHTS	struct there_head, then for each path its hash and weight, by hash
 *	TAG_ROWS	struct back_head, then for each of these paths a byte: 1, it is to be a row
 *
 * Agents are numbered by their ranks, without those that agent 0 knew to be gone when it said that
 * the job is over. If there are agents beyond the last power of 2, each of them gives all that it
 *has to another one first. In a pair the one with the lower number sends first, so that no message
 *waits in MPI for one that waits for it.
 *
 * An agent that does not answer is not waited for longer than all of this may take, and what is not
 * known of all of these stays a row. One agent may know of a death and another one not: all that
 *any of them prunes, prune_job() prunes in the end, as half of its limit is the one here.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/collate/tree.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/prune.h"

#define SURELY 2 /* in the end the total may be half of what it is here: profile/prune.h */

struct path {
	uint64_t hash, weight;
};

/* round: the bit in which the numbers of both differ */
struct there_head {
	uint64_t run, round, agents, total_ns; /* agents: of which these are the sums */
};

struct back_head {
	uint64_t run, round, below_ns, paths;
};

/* Of a round: what this agent had, of which it has given that from `from' to end - 1, and what it
 * got. */
struct halving {
	int round;
	uint64_t *had, *got;
	size_t n_had, n_got, from, end;
};

#define ROUNDS_MAX 32 /* bits of a number */

struct weighing {
	struct transport *transport;
	double until;
	int *ranks; /* of the agents that take part, by number */
	int n_ranks, me;
	struct there_head sum;
	struct path *paths; /* by hash, each once */
	size_t n;
	struct halving rounds[ROUNDS_MAX];
	unsigned n_rounds;
	bool *keep; /* of paths, on the way back */
	uint64_t below_ns, all_paths;
};

/* The greatest power of 2 that is not more than n, a number of agents. */
static int power_below(int n)
{
	int power = 1;

	while (power <= n / 2)
		power *= 2;
	return power;
}

/* The round after this one, of this agent; the first one after 0. 0: there is none. */
static int next_round(const struct weighing *w, int round)
{
	const int power = power_below(w->n_ranks);

	if (!round && (w->me ^ power) < w->n_ranks)
		return power;
	if (w->me >= power)
		return 0;
	return (round ? round : power) / 2;
}

/* ---- messages ----------------------------------------------------------------------------- */

static void give(struct weighing *w, int round, enum tag tag, const void *head, size_t head_bytes,
	const void *rest, size_t bytes)
{
	char *message = xmalloc(head_bytes + bytes);

	memcpy(message, head, head_bytes);
	memcpy(message + head_bytes, rest, bytes);
	send_and_free(
		w->transport, w->ranks[w->me ^ round], tag, message, head_bytes + bytes, w->until);
}

/* The message of this run and round; NULL: there is none. The caller frees. */
static void *take(struct weighing *w, int round, enum tag tag, size_t least, size_t *bytes)
{
	const int from = w->ranks[w->me ^ round];

	for (;;) {
		uint64_t words[2];
		void *message;
		int who;

		if (transport_receive(
			    w->transport, from, from, tag, &message, bytes, &who, w->until))
			return NULL;
		if (*bytes >= least) {
			memcpy(words, message, sizeof(words));
			if (words[0] == w->sum.run && words[1] == (uint64_t)round)
				return message;
		}
		free(message);
	}
}

/* ---- there -------------------------------------------------------------------------------- */

static uint64_t *hashes_of(const struct path *paths, size_t n)
{
	uint64_t *hash = xmalloc(n * sizeof(*hash) + 1);

	for (size_t i = 0; i < n; i++)
		hash[i] = paths[i].hash;
	return hash;
}

/* Whether each hash is greater than the one before. */
static bool is_sorted(const struct path *paths, size_t n)
{
	return ALL(i, n, !i || paths[i - 1].hash < paths[i].hash);
}

/* Adds n paths, by hash, to those that are here. */
static void add_paths(struct weighing *w, const struct path *b, size_t n)
{
	struct path *out = xmalloc((w->n + n) * sizeof(*out) + 1);
	const struct path *a = w->paths, *a_end = a + w->n, *b_end = b + n;
	size_t kept = 0;

	while (a < a_end || b < b_end) {
		const bool one = b == b_end || (a < a_end && a->hash <= b->hash);
		const bool other = a == a_end || (b < b_end && b->hash <= a->hash);

		out[kept++] = one ? *a : *b;
		if (one && other)
			out[kept - 1].weight = prune_add(a->weight, b->weight);
		a += one;
		b += other;
	}
	free(w->paths);
	w->paths = out;
	w->n = kept;
}

static void take_paths(struct weighing *w, struct halving *h)
{
	struct there_head head;
	size_t bytes;
	char *message = take(w, h->round, TAG_WEIGHTS, sizeof(head), &bytes);
	struct path *paths;

	if (!message)
		return;
	memcpy(&head, message, sizeof(head));
	h->n_got = (bytes - sizeof(head)) / sizeof(*paths);
	paths = xmalloc(h->n_got * sizeof(*paths) + 1);
	memcpy(paths, message + sizeof(head), h->n_got * sizeof(*paths));
	free(message);
	if (is_sorted(paths, h->n_got)) {
		h->got = hashes_of(paths, h->n_got);
		add_paths(w, paths, h->n_got);
		w->sum.agents += head.agents;
		w->sum.total_ns = prune_add(w->sum.total_ns, head.total_ns);
	} else {
		h->n_got = 0;
	}
	free(paths);
}

/* Takes the paths of a round out of those that are here; the caller frees. */
static struct path *take_out(struct weighing *w, const struct halving *h)
{
	const size_t n = h->end - h->from;
	struct path *out = xmalloc(n * sizeof(*out) + 1);

	memcpy(out, w->paths + h->from, n * sizeof(*out));
	memmove(w->paths + h->from, w->paths + h->end, (w->n - h->end) * sizeof(*out));
	w->n -= n;
	return out;
}

/* One round: gives the paths from `from' to end - 1. */
static void halve(struct weighing *w, int round, size_t from, size_t end)
{
	struct halving *h = &w->rounds[w->n_rounds++];
	struct there_head head = w->sum;
	const bool first = !(w->me & round);
	const size_t bytes = (end - from) * sizeof(struct path);
	struct path *given;

	*h = (struct halving){.round = round,
		.had = hashes_of(w->paths, w->n),
		.n_had = w->n,
		.from = from,
		.end = end};
	given = take_out(w, h);
	head.round = (uint64_t)round;
	if (first)
		give(w, round, TAG_WEIGHTS, &head, sizeof(head), given, bytes);
	take_paths(w, h);
	if (!first)
		give(w, round, TAG_WEIGHTS, &head, sizeof(head), given, bytes);
	free(given);
}

/* The first path in whose hash the bit of this value is set; all have the same bits above it. */
static size_t first_with(const struct weighing *w, uint64_t bit)
{
	return LOWER_BOUND(i, 0, w->n, !(w->paths[i].hash & bit));
}

static void weigh_there(struct weighing *w)
{
	const int power = power_below(w->n_ranks);
	uint64_t bit = (uint64_t)1 << 63;
	int round = 0;

	while ((round = next_round(w, round))) {
		if (round == power) {
			halve(w, round, 0, w->me & power ? w->n : 0);
			continue;
		}
		const size_t middle = first_with(w, bit);

		if (w->me & round)
			halve(w, round, 0, middle);
		else
			halve(w, round, middle, w->n);
		bit >>= 1;
	}
}

/* ---- back --------------------------------------------------------------------------------- */

/* By the owner. */
static void choose_rows(struct weighing *w)
{
	const bool complete = w->sum.agents == (uint64_t)w->n_ranks;

	w->keep = xcalloc(w->n + 1, sizeof(*w->keep));
	w->all_paths = w->n;
	w->below_ns = complete ? w->sum.total_ns / PRUNE_PART / SURELY : 0;
	for (size_t i = 0; i < w->n; i++)
		w->keep[i] = w->paths[i].weight >= w->below_ns;
}

static void give_answers(
	struct weighing *w, const struct halving *h, const struct back_head *head, const bool *keep)
{
	unsigned char *bytes = xcalloc(h->n_got + 1, 1);

	for (size_t i = 0; i < h->n_got; i++)
		bytes[i] = keep[i];
	give(w, h->round, TAG_ROWS, head, sizeof(*head), bytes, h->n_got);
	free(bytes);
}

/* Of the paths that were given; all are rows if there is no answer. */
static void take_answers(struct weighing *w, const struct halving *h, bool *keep)
{
	const size_t n = h->end - h->from;
	struct back_head head;
	size_t bytes;
	char *message = take(w, h->round, TAG_ROWS, sizeof(head), &bytes);

	memset(keep, true, n);
	if (message && bytes == sizeof(head) + n) {
		memcpy(&head, message, sizeof(head));
		for (size_t i = 0; i < n; i++)
			keep[i] = message[sizeof(head) + i];
		w->below_ns = MAX(w->below_ns, head.below_ns);
		w->all_paths += head.paths;
	}
	free(message);
}

/* keep: of n hashes `of', which are in hash[] of `in'. */
static void look_up(const uint64_t *of, size_t n, const uint64_t *hash, const bool *in, bool *keep)
{
	for (size_t i = 0, at = 0; i < n; i++) {
		while (hash[at] < of[i])
			at++;
		keep[i] = in[at];
	}
}

/* From what is known after a round to what is known before it. hash: after it. */
static void go_back(struct weighing *w, const struct halving *h, const uint64_t *hash)
{
	const struct back_head head = {w->sum.run, (uint64_t)h->round, w->below_ns, w->all_paths};
	bool *mine = xcalloc(h->n_had + 1, sizeof(*mine));
	bool *theirs = xcalloc(h->n_got + 1, sizeof(*theirs));
	const bool first = !(w->me & h->round);

	look_up(h->got, h->n_got, hash, w->keep, theirs);
	look_up(h->had, h->from, hash, w->keep, mine);
	look_up(h->had + h->end, h->n_had - h->end, hash, w->keep, mine + h->end);
	if (first)
		give_answers(w, h, &head, theirs);
	take_answers(w, h, mine + h->from);
	if (!first)
		give_answers(w, h, &head, theirs);
	free(theirs);
	free(w->keep);
	w->keep = mine;
}

static void weigh_back(struct weighing *w)
{
	uint64_t *last = hashes_of(w->paths, w->n);

	choose_rows(w);
	for (unsigned k = w->n_rounds; k-- > 0;)
		go_back(w, &w->rounds[k], k + 1 < w->n_rounds ? w->rounds[k + 1].had : last);
	free(last);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Numbers the agents that take part. False: this is none of them. */
static bool number_agents(struct weighing *w)
{
	const struct collate_plan *plan = w->transport->plan;
	const int size = w->transport->size;
	bool *gone = xcalloc((size_t)size, sizeof(*gone)), takes_part;

	for (size_t i = 0; i < plan->n_gone; i++)
		if (plan->gone[i] < (uint32_t)size)
			gone[plan->gone[i]] = true;
	takes_part = !gone[w->transport->rank];
	w->ranks = xcalloc((size_t)size, sizeof(*w->ranks));
	for (int i = 0; i < size; i++) {
		if (i == w->transport->rank)
			w->me = w->n_ranks;
		if (!gone[i])
			w->ranks[w->n_ranks++] = i;
	}
	free(gone);
	return takes_part;
}

/* Paths of one hash are one here. */
static void begin(struct weighing *w, const struct profile *p)
{
	uint64_t *weight = prune_weights(p);

	w->sum = (struct there_head){
		.run = w->transport->plan->run, .agents = 1, .total_ns = prune_total_ns(p)};
	w->paths = xmalloc(p->n_stacks * sizeof(*w->paths) + 1);
	for (size_t i = 0; i < p->n_stacks; i++) {
		const uint64_t hash = p->stacks[i].hash;

		if (w->n && w->paths[w->n - 1].hash == hash)
			w->paths[w->n - 1].weight = prune_add(w->paths[w->n - 1].weight, weight[i]);
		else
			w->paths[w->n++] = (struct path){hash, weight[i]};
	}
	free(weight);
}

static void end(struct weighing *w)
{
	for (unsigned k = 0; k < w->n_rounds; k++) {
		free(w->rounds[k].had);
		free(w->rounds[k].got);
	}
	free(w->paths);
	free(w->keep);
	free(w->ranks);
}

/* Of the stacks of p, whose hashes are those before the first round. */
static bool *rows_of(const struct weighing *w, const struct profile *p)
{
	bool *keep = xcalloc(p->n_stacks + 1, sizeof(*keep));
	const uint64_t *hash = w->rounds[0].had;

	for (size_t i = 0, at = 0; i < p->n_stacks; i++) {
		while (hash[at] < p->stacks[i].hash)
			at++;
		keep[i] = w->keep[at];
	}
	return keep;
}

void collate_weigh(struct transport *transport, struct profile *p, uint64_t from, double until)
{
	struct weighing w = {.transport = transport, .until = until};
	bool *keep;

	if (number_agents(&w)) {
		begin(&w, p);
		weigh_there(&w);
		weigh_back(&w);
	} else {
		profile_warn(p,
			"agent %d had been taken for lost when call paths with little time were "
			"added up: a row may have what is of its node only",
			transport->rank);
	}
	if (w.n_rounds && w.all_paths > from) {
		keep = rows_of(&w, p);
		prune_others(p, keep, w.below_ns, w.all_paths);
		free(keep);
	}
	end(&w);
}

void collate_weigh_not(struct transport *transport)
{
	struct weighing w = {.transport = transport,
		.until = transport_now() + 1,
		.sum.run = transport->plan->run};
	int round = 0;

	number_agents(&w);
	while ((round = next_round(&w, round))) {
		const struct there_head there = {.run = w.sum.run, .round = (uint64_t)round};
		const struct back_head back = {.run = w.sum.run, .round = (uint64_t)round};

		give(&w, round, TAG_WEIGHTS, &there, sizeof(there), "", 0);
		give(&w, round, TAG_ROWS, &back, sizeof(back), "", 0);
	}
	end(&w);
}
