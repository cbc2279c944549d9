/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/directory.h"

#include <errno.h>
#include <stdlib.h>
#include "nodeagent/net/transport.h"
#include "nodeagent/base/util.h"

enum { TAG_ENTRY = 700, TAG_ANSWER };

#define VERSION	  0x7666747264697233u /* first word of both; of the dead there is none */
#define NOBODY	  (-1)
#define HOLD_PART 16 /* of the time given: entries wait for those of others (net/route.h) */

/* ---- as messages ------------------------------------------------------------------ */

static struct words pack_entry(const struct directory_entry *e)
{
	struct words w = {0};

	words_put(&w, VERSION);
	words_put(&w, e->clock_bound_ns);
	rank_set_put(&w, e->here, e->n_here);
	rank_set_put(&w, e->wanted, e->n_wanted);
	rank_set_put(&w, e->lost, e->n_lost);
	rank_set_put(&w, e->homes, e->n_homes);
	return w;
}

/* What agent 0 has of one agent. */
struct sheet {
	uint64_t clock_bound_ns;
	struct rank_set here, wanted, lost, homes;
	uint64_t *reporters;
	size_t n_reporters, cap_reporters;
	int *senders;
	size_t n_senders, cap_senders;
	bool present;
};

static void unpack_entry(struct sheet *s, const void *buf, size_t bytes)
{
	struct words_in in = {buf, bytes / sizeof(uint64_t), false};

	if (words_get(&in) != VERSION)
		return;
	s->present = true;
	s->clock_bound_ns = words_get(&in);
	rank_set_get(&in, &s->here);
	rank_set_get(&in, &s->wanted);
	rank_set_get(&in, &s->lost);
	rank_set_get(&in, &s->homes);
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

struct owner {
	uint64_t proc_id;
	int agent;
};

struct hub {
	struct sheet *sheets;
	int size;
	struct owner *owners; /* by process */
	size_t n_owners;
	uint64_t clock_bound_ns;
	uint64_t *lost; /* of all */
	size_t n_lost;
	uint64_t *absent; /* agents */
	size_t n_absent;
};

ORDER_BY(owner_cmp, struct owner, RISING(proc_id))

static void make_owners(struct hub *h)
{
	size_t n = 0, n_lost = 0, kept = 0;

	for (int i = 0; i < h->size; i++) {
		n += h->sheets[i].here.n;
		n_lost += h->sheets[i].lost.n;
		h->clock_bound_ns = MAX(h->clock_bound_ns, h->sheets[i].clock_bound_ns);
	}
	h->owners = xcalloc(n + 1, sizeof(*h->owners));
	h->lost = xcalloc(n_lost + 1, sizeof(*h->lost));
	for (int i = 0; i < h->size; i++) {
		const struct sheet *s = &h->sheets[i];

		for (size_t k = 0; k < s->here.n; k++)
			h->owners[h->n_owners++] = (struct owner){s->here.at[k], i};
		for (size_t k = 0; k < s->lost.n; k++)
			h->lost[h->n_lost++] = s->lost.at[k];
	}
	if (n)
		qsort(h->owners, n, sizeof(*h->owners), owner_cmp);
	/* what two agents claim is nobody's: two jobs that cannot be told apart */
	for (size_t i = 0; i < n; i++) {
		if (kept && h->owners[kept - 1].proc_id == h->owners[i].proc_id)
			h->owners[kept - 1].agent = NOBODY;
		else
			h->owners[kept++] = h->owners[i];
	}
	h->n_owners = kept;
}

static int owner_of(const struct hub *h, uint64_t proc_id)
{
	const struct owner key = {.proc_id = proc_id},
			   *o = bsearch(&key, h->owners, h->n_owners, sizeof(key), owner_cmp);

	return o ? o->agent : NOBODY;
}

static void note_absent(struct hub *h)
{
	h->absent = xcalloc((size_t)h->size, sizeof(*h->absent));
	for (int i = 0; i < h->size; i++)
		if (!h->sheets[i].present)
			h->absent[h->n_absent++] = (uint64_t)i;
}

static void note_senders(struct hub *h)
{
	for (int i = 0; i < h->size; i++) {
		for (size_t k = 0; k < h->sheets[i].wanted.n; k++) {
			int to = owner_of(h, h->sheets[i].wanted.at[k]);
			struct sheet *s = to == NOBODY ? NULL : &h->sheets[to];

			if (!s || to == i || (s->n_senders && s->senders[s->n_senders - 1] == i))
				continue;
			*LIST_ADD(s, senders) = i;
		}
	}
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

/* Processes wanted, by the agent that has them. */
static void put_targets(const struct hub *h, int agent, struct words *w)
{
	const struct rank_set *wanted = &h->sheets[agent].wanted;
	struct owner *found = xcalloc(wanted->n + 1, sizeof(*found));
	uint64_t *at = xcalloc(wanted->n + 1, sizeof(*at));
	size_t n = 0, head = w->n, end;

	for (size_t k = 0; k < wanted->n; k++) {
		int to = owner_of(h, wanted->at[k]);

		/* sorted by agent, with the process behind */
		if (to != NOBODY && to != agent)
			found[n++] = (struct owner){(uint64_t)to, (int)k};
	}
	if (n)
		qsort(found, n, sizeof(*found), owner_cmp);
	words_put(w, 0);
	for (size_t i = 0; i < n; i = end) {
		for (end = i; end < n && found[end].proc_id == found[i].proc_id; end++)
			at[end - i] = wanted->at[found[end].agent];
		words_put(w, found[i].proc_id);
		rank_set_put(w, at, end - i);
		w->at[head]++;
	}
	free(found);
	free(at);
}

static struct words make_answer(const struct hub *h, int agent)
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
	put_targets(h, agent, &w);
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
		free(h->sheets[i].here.at);
		free(h->sheets[i].wanted.at);
		free(h->sheets[i].lost.at);
		free(h->sheets[i].homes.at);
		free(h->sheets[i].reporters);
		free(h->sheets[i].senders);
	}
	free(h->sheets);
	free(h->owners);
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
	unpack_entry(&h.sheets[0], mine->at, mine->n * sizeof(*mine->at));
	collect_entries(transport, &h, until);
	make_owners(&h);
	note_absent(&h);
	note_senders(&h);
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
