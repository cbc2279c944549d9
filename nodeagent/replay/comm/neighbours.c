/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/collective.h"
#include "nodeagent/replay/comm/internal.h"

/* The neighbours in one direction: 0: it sends to them, 1: it receives from them. */
struct side {
	struct wire_run *runs; /* ranks in the communicator */
	size_t n_runs, cap_runs;
	uint32_t ranks, all;	/* so far; there will be */
	bool defined, given_up; /* given up: they are too many */
};

/* Lengths of the messages of one call in one direction. */
struct kept {
	struct lengths_key key;
	uint32_t known, n;
	uint64_t *bytes;
};

struct topology {
	struct side side[2];
	struct kept *kept; /* oldest first */
	size_t n, cap;
	bool told;
};

/* ---- who the neighbours are ----------------------------------------------------------- */

static const char *check_run(const struct comm *c, const struct wire_run *r)
{
	const int64_t last = r->first + (int64_t)r->stride * ((int64_t)r->count - 1);

	if (r->count < 1)
		return "neighbours that are none";
	if (r->first == WIRE_UNKNOWN)
		return r->stride ? "neighbours that are unknown in a wrong way" : NULL;
	if (r->first < 0 || r->first >= (int64_t)comm_ranks(c) || last < 0 ||
		last >= (int64_t)comm_ranks(c))
		return "neighbours that their communicator lacks";
	return NULL;
}

const char *traffic_define_neighbours(
	struct traffic *t, const struct wire_neighbours *m, size_t bytes)
{
	const struct wire_run *runs = (const struct wire_run *)(m + 1);
	struct comm *c = NULL;
	const char *why = find_comm(t, m->comm, &c);
	struct side *s;

	if (!why &&
		(m->received > 1 || m->runs > WIRE_RUNS_MAX || bytes != m->runs * sizeof(*runs)))
		why = "neighbours in a message of a wrong length";
	if (why || !c)
		return why;
	if (!c->topology)
		c->topology = xcalloc(1, sizeof(*c->topology));
	s = &c->topology->side[m->received];
	if (t->n_runs + m->runs > TRAFFIC_RUNS_MAX || m->n > NEIGHBOURS_MAX) {
		t->limits |= 1u << LIMIT_NEIGHBOURS;
		s->given_up = true;
	}
	if (s->given_up)
		return NULL;
	if (m->runs_before != s->n_runs || (s->defined && (m->n != s->all || !s->n_runs)))
		return "neighbours that contradict what was said before";
	s->defined = true;
	s->all = m->n;
	for (uint32_t i = 0; i < m->runs; i++) {
		why = check_run(c, &runs[i]);
		if (!why && (uint32_t)runs[i].count > s->all - s->ranks)
			why = "more neighbours than there are";
		if (why)
			return why;
		*LIST_ADD(s, runs) = runs[i];
		s->ranks += (uint32_t)runs[i].count;
		t->n_runs++;
	}
	return NULL;
}

static bool is_complete(const struct side *s)
{
	return s->defined && s->ranks == s->all && !s->given_up;
}

static void drop_kept(struct traffic *t, struct topology *y, size_t i)
{
	t->n_lengths -= y->kept[i].n;
	free(y->kept[i].bytes);
	memmove(&y->kept[i], &y->kept[i + 1], (--y->n - i) * sizeof(*y->kept));
}

void topology_free(struct traffic *t, struct topology *y)
{
	if (!y)
		return;
	while (y->n)
		drop_kept(t, y, y->n - 1);
	for (int i = 0; i < 2; i++) {
		t->n_runs -= y->side[i].n_runs;
		free(y->side[i].runs);
	}
	free(y->kept);
	free(y);
}

/* ---- lengths ------------------------------------------------------------------------- */

static const struct lengths_key *key_at(const void *list, size_t size, size_t i)
{
	return (const void *)((const char *)list + i * size);
}

size_t lengths_find(const void *list, size_t n, size_t size, uint32_t ticket, bool received)
{
	for (size_t i = n; i-- > 0;) {
		const struct lengths_key *k = key_at(list, size, i);

		if (k->ticket == ticket && k->received == received)
			return i;
	}
	return n;
}

size_t lengths_in_the_way(
	struct traffic *t, const void *list, size_t n, size_t size, bool persistent)
{
	size_t of_kind = 0, oldest = 0;

	for (size_t i = n; i-- > 0;)
		if (key_at(list, size, i)->persistent == persistent) {
			oldest = i;
			of_kind++;
		}
	if (of_kind < (persistent ? PERSISTENT_MOST : KEPT_MOST))
		return n;
	t->limits |= persistent ? 1u << LIMIT_PERSISTENT : 0;
	return oldest;
}

bool lengths_take(struct traffic *t, size_t n)
{
	if (t->n_lengths + n > TRAFFIC_LENGTHS_MAX) {
		t->limits |= 1u << LIMIT_LENGTHS;
		return false;
	}
	t->n_lengths += n;
	return true;
}

static struct kept *find_kept(const struct topology *y, uint32_t ticket, bool received)
{
	const size_t i = lengths_find(y->kept, y->n, sizeof(*y->kept), ticket, received);

	return i < y->n ? &y->kept[i] : NULL;
}

static struct kept *make_kept(
	struct traffic *t, struct topology *y, const struct message_lengths *l, bool received)
{
	const uint32_t n = y->side[received].ranks;
	const bool persistent = l->flags & LENGTHS_PERSISTENT;
	const size_t old = lengths_in_the_way(t, y->kept, y->n, sizeof(*y->kept), persistent);

	if (old < y->n)
		drop_kept(t, y, old);
	if (!lengths_take(t, n))
		return NULL;
	y->kept = grow(y->kept, y->n, &y->cap, sizeof(*y->kept));
	y->kept[y->n] = (struct kept){.key = {l->ticket, received, persistent},
		.n = n,
		.bytes = xcalloc(n, sizeof(uint64_t))};
	return &y->kept[y->n++];
}

/* Keeps lengths, which come in order. */
static void keep_lengths(struct traffic *t, struct topology *y, const struct message_lengths *l)
{
	const bool received = l->flags & LENGTHS_RECEIVED;
	struct kept *k = find_kept(y, l->ticket, received);

	if (!k && !l->first)
		k = make_kept(t, y, l, received);
	if (!k || l->first != k->known || l->n > k->n - k->known)
		return;
	for (uint32_t i = 0; i < l->n; i++)
		k->bytes[k->known++] = l->bytes[l->flags & LENGTHS_SAME ? 0 : i];
}

const char *traffic_lengths(struct traffic *t, const uint64_t *words)
{
	struct message_lengths l;
	struct comm *c = NULL;
	const char *why;

	if (!message_lengths_read(words, &l))
		return "a record of communication that contradicts its format";
	why = find_comm(t, l.comm, &c);
	if (why || !c || !t->listed)
		return why;
	if (t->listener.lengths)
		t->listener.lengths(
			t->listener.ctx, &(struct vfd_lengths){.comm = listener_comm(t, c),
						 .received = l.flags & LENGTHS_RECEIVED,
						 .same = l.flags & LENGTHS_SAME,
						 .ticket = l.ticket,
						 .first = l.first,
						 .n = l.n,
						 .bytes = l.bytes});
	if (!(l.flags & LENGTHS_NEIGHBOURS))
		share_lengths(t, c, &l);
	else if (c->topology)
		keep_lengths(t, c->topology, &l);
	return NULL;
}

/* ---- the matrix ---------------------------------------------------------------------- */

static uint64_t sum_of(const struct kept *k, uint32_t first, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = first; i < first + n; i++)
		sum += k->bytes[i];
	return sum;
}

static bool makes_up(const struct kept *k, uint64_t bytes)
{
	return k->known == k->n && sum_of(k, 0, k->n) == bytes;
}

/* Called for all messages of a call; for n with one peer at once, if they are of one run. */
typedef void each_message(struct traffic *t, struct share *s, uint32_t peer, bool received,
	uint32_t n, uint64_t bytes);

static void in_matrix(struct traffic *t, struct share *s, uint32_t peer, bool received, uint32_t n,
	uint64_t bytes)
{
	(void)s;
	sums_neighbour(t, peer, received, n, bytes);
}

static void in_share(struct traffic *t, struct share *s, uint32_t peer, bool received, uint32_t n,
	uint64_t bytes)
{
	if (sums_is_listed(t, peer))
		share_add(s, received, n, bytes);
}

static uint32_t run_peer(const struct comm *c, const struct wire_run *r, uint32_t j)
{
	return r->first == WIRE_UNKNOWN
		       ? PROFILE_ELSEWHERE
		       : comm_peer(c, (uint32_t)(r->first + (int32_t)j * r->stride));
}

/* Reports each message, if its length is known. */
static void tell_each(struct traffic *t, const struct pending *p, bool received, bool is_even,
	each_message *tell, struct share *to)
{
	const uint32_t n = received ? p->m.receives : p->m.sends;
	const uint64_t bytes = received ? p->m.bytes_received : p->m.bytes;
	const struct side *s = &p->comm->topology->side[received];
	const struct kept *k = is_even ? NULL : find_kept(p->comm->topology, p->m.ticket, received);
	uint32_t at = 0;

	if (!n || s->ranks != n || !is_complete(s) ||
		(is_even ? bytes % n != 0 : !k || k->n != n || !makes_up(k, bytes)))
		return;
	EACH(const struct wire_run, r, s->runs, s->n_runs) {
		const uint32_t count = (uint32_t)r->count, step = r->stride ? 1 : count;

		for (uint32_t j = 0; j < count; j += step, at += step)
			tell(t, to, run_peer(p->comm, r, j), received, step,
				k ? sum_of(k, at, step) : bytes / n * step);
	}
}

void neighbours_count(struct traffic *t, const struct pending *p)
{
	struct topology *y = p->comm ? p->comm->topology : NULL;
	const struct collective_shape *shape;

	if (!y)
		return;
	shape = collective_shape(p->m.field);
	if (shape->kind != COLLECTIVE_NEIGHBOURS)
		return;
	for (int received = 0; received < 2; received++) {
		const bool even = received ? shape->received_even : shape->sent_even;
		const struct kept *k;

		if (t->listed)
			tell_each(t, p, received, even, in_matrix, NULL);
		k = find_kept(y, p->m.ticket, received);
		if (k && !k->key.persistent)
			drop_kept(t, y, (size_t)(k - y->kept));
	}
}

void neighbours_share(struct traffic *t, const struct pending *p, struct share *s)
{
	const struct collective_shape *shape = collective_shape(p->m.field);

	if (!p->comm->topology)
		return;
	tell_each(t, p, false, shape->sent_even, in_share, s);
	tell_each(t, p, true, shape->received_even, in_share, s);
}

/* ---- the listener ------------------------------------------------------------------------- */

/* World ranks, as runs with one rank each at worst. */
static void tell_side(struct traffic *t, const struct comm *c, uint32_t told, bool received)
{
	const struct side *s = &c->topology->side[received];
	struct vfd_neighbours n = {.comm = told, .received = received};
	struct wire_run *runs = xcalloc((size_t)s->ranks + 1, sizeof(*runs));

	for (size_t i = 0; i < s->n_runs; i++)
		for (int32_t j = 0; j < s->runs[i].count; j++) {
			const struct wire_run *r = &s->runs[i];
			const uint32_t world =
				r->first == WIRE_UNKNOWN
					? PROFILE_ELSEWHERE
					: comm_world(c, (uint32_t)(r->first + j * r->stride));

			runs[n.n_runs++] = (struct wire_run){
				world == PROFILE_ELSEWHERE ? WIRE_UNKNOWN : (int32_t)world, 0, 1};
		}
	n.runs = runs;
	t->listener.neighbours(t->listener.ctx, &n);
	free(runs);
}

void neighbours_notify(struct traffic *t, struct comm *c, uint32_t told)
{
	struct topology *y = c->topology;

	if (!y || y->told || !t->listener.neighbours || !is_complete(&y->side[0]) ||
		!is_complete(&y->side[1]))
		return;
	y->told = true;
	for (int received = 0; received < 2; received++)
		tell_side(t, c, told, received);
}
