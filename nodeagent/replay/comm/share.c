/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/share.h"

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/trace/collective.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/neighbours.h"

/* The partners of the messages of one call in one direction, in the order of ranks. */
enum whom {
	WHOM_ALL,    /* all whom messages on the communicator go to */
	WHOM_OTHERS, /* all but oneself, in one with one group */
	WHOM_GROUP,  /* the own group of an intercommunicator */
	WHOMS
};

/* Bytes of the messages of a call in one direction, as far as they are known. */
struct lengths {
	struct lengths_key key;
	uint32_t known;
	uint64_t all, listed[WHOMS]; /* listed: if they are with ... */
};

struct shares {
	struct lengths *of; /* oldest first */
	size_t n, cap;
};

/* ---- who is listed ------------------------------------------------------------------ */

static int64_t rounded_up(int64_t a, int64_t b)
{
	return a <= 0 ? 0 : (a + b - 1) / b;
}

/* Number of those of first, first + stride ... that are from `from` to `to`. */
static uint64_t within(int64_t first, int64_t stride, int64_t n, int64_t from, int64_t to)
{
	int64_t begin, end;

	if (!stride)
		return from <= first && first <= to ? (uint64_t)n : 0;
	if (stride < 0)
		return within(first + stride * (n - 1), -stride, n, from, to);
	begin = rounded_up(from - first, stride);
	end = rounded_up(to + 1 - first, stride);
	end = end < n ? end : n;
	return begin < end ? (uint64_t)(end - begin) : 0;
}

/* Number of listed ranks of c from `from` to before `to`. */
static uint64_t listed_ranks(
	const struct traffic *t, const struct comm *c, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->n_runs && !c->job; i++) {
		const struct run *r = &c->runs[i];
		const uint64_t end = i + 1 < c->n_runs ? r[1].before : c->members;
		const uint64_t low = from > r->before ? from : r->before;
		const uint64_t high = to < end ? to : end;

		if (r->first < 0 || low >= high)
			continue;
		for (size_t k = 0; k < t->n_ranges; k++)
			sum += within(r->first + (int64_t)r->stride * (int64_t)(low - r->before),
				r->stride, (int64_t)(high - low), t->ranges[k].first,
				t->ranges[k].last);
	}
	return sum;
}

static bool is_listed(const struct traffic *t, const struct comm *c, uint32_t rank)
{
	return rank < comm_ranks(c) && sums_is_listed(t, comm_peer(c, rank));
}

/* The same for the partners of messages, from message `from` on. */
static uint64_t listed(
	const struct traffic *t, const struct comm *c, enum whom whom, uint64_t from, uint64_t to)
{
	uint64_t own = 0;

	if (whom == WHOM_OTHERS) {
		own = from < c->rank && c->rank < to && is_listed(t, c, c->rank);
		from += from >= c->rank;
		to += to > c->rank;
	}
	if (whom == WHOM_GROUP) {
		from += c->remote_size;
		to += c->remote_size;
	}
	return listed_ranks(t, c, from, to) - own;
}

/* ---- lengths ------------------------------------------------------------------------ */

static void drop_lengths(struct traffic *t, struct shares *s, size_t i)
{
	memmove(&s->of[i], &s->of[i + 1], (--s->n - i) * sizeof(*s->of));
	t->n_lengths--;
}

void shares_free(struct traffic *t, struct shares *s)
{
	if (!s)
		return;
	t->n_lengths -= s->n;
	free(s->of);
	free(s);
}

static struct lengths *find_lengths(const struct shares *s, uint32_t ticket, bool received)
{
	const size_t n = s ? s->n : 0;
	const size_t i = n ? lengths_find(s->of, n, sizeof(*s->of), ticket, received) : n;

	return i < n ? &s->of[i] : NULL;
}

static struct lengths *make_lengths(
	struct traffic *t, struct comm *c, const struct message_lengths *l)
{
	struct shares *s = c->shares ? c->shares : (c->shares = xcalloc(1, sizeof(*s)));
	const bool persistent = l->flags & LENGTHS_PERSISTENT;
	const size_t old = lengths_in_the_way(t, s->of, s->n, sizeof(*s->of), persistent);

	if (old < s->n)
		drop_lengths(t, s, old);
	if (!lengths_take(t, 1))
		return NULL;
	*APPEND(s->of, s->n, s->cap) =
		(struct lengths){.key = {l->ticket, l->flags & LENGTHS_RECEIVED, persistent}};
	return &s->of[s->n - 1];
}

static void add_lengths(
	struct traffic *t, const struct comm *c, struct lengths *k, uint32_t n, uint64_t bytes)
{
	for (enum whom w = 0; w < WHOMS; w++)
		k->listed[w] += bytes * listed(t, c, w, k->known, (uint64_t)k->known + n);
	k->all += bytes * n;
	k->known += n;
}

void share_lengths(struct traffic *t, struct comm *c, const struct message_lengths *l)
{
	struct lengths *k;

	if (t->all_ranks || !t->listed)
		return;
	k = find_lengths(c->shares, l->ticket, l->flags & LENGTHS_RECEIVED);
	if (!k && !l->first)
		k = make_lengths(t, c, l);
	if (!k || l->first != k->known || l->n > comm_all(c) - k->known)
		return;
	if (l->flags & LENGTHS_SAME)
		add_lengths(t, c, k, l->n, l->bytes[0]);
	else
		for (uint32_t i = 0; i < l->n; i++)
			add_lengths(t, c, k, 1, l->bytes[i]);
}

/* ---- what of a call counts ----------------------------------------------------------- */

/* n messages of together so many bytes. */
static void with_some(const struct traffic *t, struct pending *p, bool received, enum whom whom,
	uint32_t n, uint64_t bytes)
{
	const struct comm *c = p->comm;
	const struct lengths *k = find_lengths(c->shares, p->m.ticket, received);
	uint32_t counting;

	if (!n || n + (whom == WHOM_OTHERS) != (whom == WHOM_GROUP ? c->size : comm_ranks(c)))
		return;
	counting = (uint32_t)listed(t, c, whom, 0, n);
	if (k && k->known == n && k->all == bytes)
		bytes = k->listed[whom];
	else
		bytes = (uint64_t)((unsigned __int128)bytes * counting / n);
	share_add(&p->share, received, counting, bytes);
}

/* Messages with all ranks, or all but one's own. */
static void with_all(
	const struct traffic *t, struct pending *p, bool received, uint32_t n, uint64_t bytes)
{
	const bool but_me = n < comm_ranks(p->comm) && !p->comm->remote_size;

	with_some(t, p, received, but_me ? WHOM_OTHERS : WHOM_ALL, n, bytes);
}

static void with(const struct traffic *t, struct pending *p, bool received, uint32_t rank)
{
	const uint32_t n = received ? p->m.receives : p->m.sends;

	if (n && is_listed(t, p->comm, rank))
		share_add(&p->share, received, n, received ? p->m.bytes_received : p->m.bytes);
}

static void reduce_scatter(const struct traffic *t, struct pending *p)
{
	const struct comm *c = p->comm;
	const struct message *m = &p->m;
	uint64_t total;

	if (c->rank) {
		with(t, p, false, 0);
		if (m->receives && sums_is_listed(t, comm_peer(c, c->remote_size)))
			share_add(&p->share, true, m->receives, m->bytes_received);
	} else if (!c->remote_size && m->sends + 1 == c->size) { /* in place */
		with_all(t, p, false, m->sends, m->bytes);
		with_all(t, p, true, m->receives, m->bytes_received);
	} else if (m->sends && m->receives) {
		const uint32_t others = m->receives - 1;

		total = m->bytes / 2;
		if (is_listed(t, c, 0))
			share_add(&p->share, false, 1, total);
		with_some(t, p, false, c->remote_size ? WHOM_GROUP : WHOM_ALL, m->sends - 1, total);
		with_all(t, p, true, others, total * others);
		share_add(&p->share, true, 1, m->bytes_received - total * others);
	}
}

void share_collective(struct traffic *t, struct pending *p)
{
	const struct message *m = &p->m;
	struct shares *s = p->comm ? p->comm->shares : NULL;

	p->share = (struct share){0};
	if (!t->listed || !p->comm)
		return;
	switch (collective_shape(m->field)->kind) {
	case COLLECTIVE_BETWEEN_ALL:
		with_all(t, p, false, m->sends, m->bytes);
		with_all(t, p, true, m->receives, m->bytes_received);
		break;
	case COLLECTIVE_FROM_ROOT:
		with_all(t, p, false, m->sends, m->bytes);
		with(t, p, true, m->peer);
		break;
	case COLLECTIVE_TO_ROOT:
		with(t, p, false, m->peer);
		with_all(t, p, true, m->receives, m->bytes_received);
		break;
	case COLLECTIVE_CHAIN:
		with(t, p, false, p->comm->rank + 1);
		with(t, p, true, p->comm->rank - 1);
		break;
	case COLLECTIVE_REDUCE_SCATTER:
		reduce_scatter(t, p);
		break;
	case COLLECTIVE_NEIGHBOURS:
		neighbours_share(t, p, &p->share);
		break;
	default:
		break;
	}
	for (int received = 0; received < 2; received++) {
		const struct lengths *k = find_lengths(s, m->ticket, received);

		if (k && !k->key.persistent)
			drop_lengths(t, s, (size_t)(k - s->of));
	}
}
