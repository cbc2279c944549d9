/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/directory.h"

#include <errno.h>
#include <stdlib.h>
#include "nodeagent/internode/owners.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/base/util.h"

enum { TAG_ENTRY = 700, TAG_ANSWER };

#define VERSION	  0x7666747264697234u /* first word of both; of the dead there is none */
#define HERE_MOST ((size_t)1 << 18)   /* processes of one agent, whatever it claims */
#define HOLD_PART 16 /* of the time given: entries wait for those of others (net/route.h) */

/* ---- as messages ------------------------------------------------------------------ */

/* From a process to the next one; where ranks go round the nodes, between partners, too. */
static uint64_t step_of(const uint64_t *sorted, size_t n)
{
	return n > 1 ? sorted[n / 2] - sorted[n / 2 - 1] : 1;
}

static struct words pack_entry(const struct directory_entry *e)
{
	struct words w = {0};

	words_put(&w, VERSION);
	words_put(&w, e->clock_bound_ns);
	rank_set_put(&w, e->here, e->n_here);
	rank_set_put_mixed(&w, e->wanted, e->n_wanted, step_of(e->here, e->n_here));
	rank_set_put(&w, e->lost, e->n_lost);
	rank_set_put(&w, e->homes, e->n_homes);
	return w;
}

/*
 * What agent 0 has of one agent. Sets are left as they have come, a few words, and taken out when
 * they are needed: those of all agents would be a hundred times as large.
 */
struct sheet {
	uint64_t clock_bound_ns;
	void *entry;			    /* the message */
	struct words_in here, wanted, lost; /* in it */
	struct rank_set homes;
	uint64_t *reporters;
	size_t n_reporters, cap_reporters;
	int *senders;
	size_t n_senders, cap_senders;
	struct words targets; /* as the answer has them, in place of the message */
	bool present;
};

/* The words of the next set, which may be bad. */
static struct words_in skip_set(struct words_in *in, bool mixed)
{
	const struct words_in set = *in;

	rank_set_skip(in, mixed);
	return in->bad ? (struct words_in){.bad = true} : set;
}

/* Takes buf. */
static void unpack_entry(struct sheet *s, void *buf, size_t bytes)
{
	struct words_in in = {buf, bytes / sizeof(uint64_t), false};

	s->entry = buf;
	if (words_get(&in) != VERSION)
		return;
	s->present = true;
	s->clock_bound_ns = words_get(&in);
	s->here = skip_set(&in, false);
	s->wanted = skip_set(&in, true);
	s->lost = skip_set(&in, false);
	rank_set_get(&in, &s->homes);
}

/* The caller frees at. */
static struct rank_set take_set(struct words_in words)
{
	struct rank_set set = {0};

	if (words.at)
		rank_set_get_mixed(&words, &set);
	return set;
}

static int get_agent(struct words_in *in, int size)
{
	const uint64_t agent = words_get(in);

	in->bad |= agent >= (uint64_t)size;
	return in->bad ? 0 : (int)agent;
}

static int unpack_answer(struct directory *d, const void *buf, size_t bytes, int size)
{
	struct words_in in = {buf, bytes / sizeof(uint64_t), false};
	uint64_t n;

	if (words_get(&in) != VERSION)
		return -EPROTO;
	d->clock_bound_ns = words_get(&in);
	rank_set_get(&in, &d->absent);
	rank_set_get(&in, &d->lost);
	rank_set_get(&in, &d->reporters);
	rank_set_get(&in, &d->homes);
	n = words_get(&in);
	in.bad |= n > (uint64_t)size;
	d->senders = xcalloc(in.bad ? 1 : n + 1, sizeof(*d->senders));
	while (!in.bad && d->n_senders < n)
		d->senders[d->n_senders++] = get_agent(&in, size);
	n = words_get(&in);
	in.bad |= n > (uint64_t)size;
	d->targets = xcalloc(in.bad ? 1 : n + 1, sizeof(*d->targets));
	while (!in.bad && d->n_targets < n) {
		struct directory_target *t = &d->targets[d->n_targets++];

		t->agent = get_agent(&in, size);
		rank_set_get(&in, &t->proc_ids);
	}
	return in.bad ? -EPROTO : 0;
}

/* ---- agent 0 ------------------------------------------------------------------------ */

struct hub {
	struct sheet *sheets;
	int size;
	struct owners owners;
	uint64_t clock_bound_ns;
	uint64_t *lost; /* of all */
	size_t n_lost, cap_lost;
	uint64_t *absent; /* agents */
	size_t n_absent;
	/* find_targets(), one agent after the other: those used, and others with their room */
	struct target *targets;
	size_t n_used, n_targets, cap_targets;
	size_t *target_at; /* by agent: 1 + number in targets[], or 0 */
};

/* Those of an agent's processes that another one wants. */
struct target {
	int agent;
	uint64_t *ids;
	size_t n_ids, cap_ids;
};

static void claim_processes(struct hub *h, int agent)
{
	struct rank_set here = take_set(h->sheets[agent].here);

	for (size_t k = 0; k < MIN(here.n, HERE_MOST); k++)
		owners_claim(&h->owners, here.at[k], agent);
	free(here.at);
}

static void note_lost(struct hub *h, int agent)
{
	struct rank_set lost = take_set(h->sheets[agent].lost);

	for (size_t k = 0; k < lost.n; k++)
		*LIST_ADD(h, lost) = lost.at[k];
	free(lost.at);
}

static void make_owners(struct hub *h)
{
	for (int i = 0; i < h->size; i++) {
		h->clock_bound_ns = MAX(h->clock_bound_ns, h->sheets[i].clock_bound_ns);
		claim_processes(h, i);
		note_lost(h, i);
	}
}

static void note_absent(struct hub *h)
{
	h->absent = xcalloc((size_t)h->size, sizeof(*h->absent));
	for (int i = 0; i < h->size; i++)
		if (!h->sheets[i].present)
			h->absent[h->n_absent++] = (uint64_t)i;
}

/* Both sides of a report learn of it, or none: of homes that are absent nobody does. */
static void note_reporters(struct hub *h)
{
	for (int i = 0; i < h->size; i++) {
		struct rank_set *homes = &h->sheets[i].homes;
		size_t kept = 0;

		for (size_t k = 0; k < homes->n; k++) {
			const uint64_t to = homes->at[k];

			if (to >= (uint64_t)h->size || to == (uint64_t)i || !h->sheets[to].present)
				continue;
			homes->at[kept++] = to;
			*LIST_ADD(&h->sheets[to], reporters) = (uint64_t)i;
		}
		homes->n = kept;
	}
}

ORDER_BY(by_agent, struct target, RISING(agent))

/* The agent that it is of learns who asks. */
static struct target *target_of(struct hub *h, int agent, int asks)
{
	size_t *at = &h->target_at[agent];

	if (!*at) {
		if (h->n_used == h->n_targets)
			*LIST_ADD(h, targets) = (struct target){0};
		*at = ++h->n_used;
		h->targets[*at - 1].agent = agent;
		h->targets[*at - 1].n_ids = 0;
		*LIST_ADD(&h->sheets[agent], senders) = asks;
	}
	return &h->targets[*at - 1];
}

static void put_targets(struct hub *h, struct words *w)
{
	if (h->n_used)
		qsort(h->targets, h->n_used, sizeof(*h->targets), by_agent);
	words_put(w, h->n_used);
	for (size_t i = 0; i < h->n_used; i++) {
		struct target *t = &h->targets[i];

		words_put(w, (uint64_t)t->agent);
		rank_set_put(w, t->ids, t->n_ids);
		h->target_at[t->agent] = 0;
	}
	h->n_used = 0;
}

/*
 * Processes wanted, by the agent that has them. To be called for one agent after the other, so that
 * those who ask are in order.
 */
static void find_targets(struct hub *h, int agent)
{
	struct sheet *s = &h->sheets[agent];
	struct rank_set wanted = take_set(s->wanted);

	for (size_t k = 0; k < wanted.n; k++) {
		const int to = owners_find(&h->owners, wanted.at[k]);

		if (to != OWNERS_NOBODY && to != agent) {
			struct target *t = target_of(h, to, agent);

			*LIST_ADD(t, ids) = wanted.at[k];
		}
	}
	free(wanted.at);
	free(s->entry);
	s->entry = NULL;
	put_targets(h, &s->targets);
}

static struct words make_answer(struct hub *h, int agent)
{
	const struct sheet *s = &h->sheets[agent];
	struct words w = {0};

	words_put(&w, VERSION);
	words_put(&w, h->clock_bound_ns);
	rank_set_put(&w, h->absent, h->n_absent);
	rank_set_put(&w, h->lost, h->n_lost);
	rank_set_put(&w, s->reporters, s->n_reporters);
	rank_set_put(&w, s->homes.at, s->homes.n);
	words_put(&w, s->n_senders);
	for (size_t i = 0; i < s->n_senders; i++)
		words_put(&w, (uint64_t)s->senders[i]);
	for (size_t i = 0; i < s->targets.n; i++)
		words_put(&w, s->targets.at[i]);
	return w;
}

static void collect_entries(struct transport *transport, struct hub *h, double until)
{
	bool *heard = xcalloc((size_t)h->size, sizeof(*heard));
	int left = h->size - 1, next = 1; /* next: of whom nothing has come yet */

	while (left) {
		size_t bytes;
		void *buf;
		int who, error;

		while (next < h->size && heard[next])
			next++;
		error = transport_receive(
			transport, TRANSPORT_ANY, next, TAG_ENTRY, &buf, &bytes, &who, until);
		if (error == -ETIMEDOUT && transport_now() < until && next < h->size) {
			heard[next] = true; /* it has died */
			left--;
			continue;
		}
		if (error)
			break;
		if (who > 0 && who < h->size && !heard[who]) {
			heard[who] = true;
			left--;
			unpack_entry(&h->sheets[who], buf, bytes);
			buf = NULL;
		}
		free(buf);
		if (transport_now() > until) /* some say again and again what others never say */
			break;
	}
	free(heard);
}

static void hub_free(struct hub *h)
{
	for (int i = 0; i < h->size; i++) {
		free(h->sheets[i].entry);
		free(h->sheets[i].homes.at);
		free(h->sheets[i].reporters);
		free(h->sheets[i].senders);
		words_free(&h->sheets[i].targets);
	}
	for (size_t i = 0; i < h->n_targets; i++)
		free(h->targets[i].ids);
	free(h->targets);
	free(h->target_at);
	free(h->sheets);
	owners_free(&h->owners);
	free(h->lost);
	free(h->absent);
}

static int be_hub(
	struct transport *transport, const struct words *mine, double until, struct directory *d)
{
	struct hub h = {.size = transport->size};
	struct words own;
	int error;

	h.sheets = xcalloc((size_t)h.size, sizeof(*h.sheets));
	h.target_at = xcalloc((size_t)h.size, sizeof(*h.target_at));
	unpack_entry(&h.sheets[0], mine->at, mine->n * sizeof(*mine->at));
	h.sheets[0].entry = NULL; /* the caller's */
	collect_entries(transport, &h, until);
	make_owners(&h);
	note_absent(&h);
	for (int i = 0; i < h.size; i++)
		find_targets(&h, i);
	note_reporters(&h);
	for (int i = 1; i < h.size; i++) {
		struct words w = make_answer(&h, i);

		transport_to_one(transport, i, TAG_ANSWER, w.at, w.n * sizeof(*w.at), until + 1);
		words_free(&w);
	}
	own = make_answer(&h, 0);
	error = unpack_answer(d, own.at, own.n * sizeof(*own.at), h.size);
	words_free(&own);
	hub_free(&h);
	return error;
}

/* ---- all -------------------------------------------------------------------------------- */

int directory_ask(struct transport *transport, const struct directory_entry *mine, double seconds,
	struct directory *d)
{
	double begin = transport_now();
	struct words w = pack_entry(mine);
	size_t bytes;
	void *buf;
	int who, error;

	*d = (struct directory){0};
	if (!transport->rank) {
		error = be_hub(transport, &w, begin + seconds / 2, d);
		words_free(&w);
		return error;
	}
	error = transport_to_root(transport, TAG_ENTRY, w.at, w.n * sizeof(*w.at), true,
		seconds / HOLD_PART, begin + seconds / 2);
	words_free(&w);
	if (!error)
		error = transport_receive(
			transport, 0, 0, TAG_ANSWER, &buf, &bytes, &who, begin + seconds);
	if (error)
		return error;
	error = unpack_answer(d, buf, bytes, transport->size);
	free(buf);
	return error;
}

void directory_free(struct directory *d)
{
	free(d->lost.at);
	free(d->absent.at);
	free(d->reporters.at);
	free(d->homes.at);
	free(d->senders);
	for (size_t i = 0; i < d->n_targets; i++)
		free(d->targets[i].proc_ids.at);
	free(d->targets);
	*d = (struct directory){0};
}

void directory_gone(struct transport *transport)
{
	if (transport->rank)
		transport_to_root(transport, TAG_ENTRY, "", 1, true, 0, transport_now() + 1);
}
