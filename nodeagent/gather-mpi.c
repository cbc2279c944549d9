/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each process contributes is appended to the profile's arrays as if it
 * were alone; in the end they are sorted, and what has the same key is added up.
 */
#include "nodeagent/gather-mpi.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent.h"
#include "nodeagent/compare.h"
#include "nodeagent/process.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/traffic.h"
#include "nodeagent/util.h"

#define FUNCTIONS (RECORD_ID_REGION - RECORD_ID_MPI)
#define CALLERS	  64 /* MPI functions looked at, of those that are open below one */

extern const unsigned vftr_mpi_n; /* generated from mpi/mpi.tab */

struct function {
	uint64_t calls, ticks;
	uint64_t sends, receives, bytes_sent, bytes_received;
};

struct gather_mpi {
	struct agent *agent;
	struct profile sum; /* the arrays of communication only */
	size_t cap_messages, cap_functions, cap_sizes, cap_pairs, cap_comms, cap_files, cap_places;
	size_t cap_open;
	struct function functions[FUNCTIONS]; /* of the process at hand */
};

/* Room for one more element of an array of g->sum, zeroed. */
#define APPEND(g, array)                                                                           \
	((g)->sum.array = grow(                                                                    \
		 (g)->sum.array, (g)->sum.n_##array, &(g)->cap_##array, sizeof(*(g)->sum.array)),  \
		memset(&(g)->sum.array[(g)->sum.n_##array], 0, sizeof(*(g)->sum.array)),           \
		&(g)->sum.array[(g)->sum.n_##array++])

struct gather_mpi *gather_mpi_new(struct agent *a)
{
	struct gather_mpi *g = xcalloc(1, sizeof(*g));

	g->agent = a;
	return g;
}

static uint64_t ns(const struct gather_mpi *g, uint64_t ticks)
{
	return clocks_ns(&g->agent->clocks, ticks);
}

/* ---- from the call tree ---------------------------------------------------------- */

/* From bytes per tick times 2^32 to bytes per second. */
static unsigned __int128 bandwidth(const struct gather_mpi *g, unsigned __int128 sum)
{
	double ns_per_tick = g->agent->clocks.ns_per_tick;

	if (!(ns_per_tick > 0))
		return 0;
	return (unsigned __int128)((double)sum / 4294967296.0 / (ns_per_tick * 1e-9) + 0.5);
}

static void add_messages(struct gather_mpi *g, const struct node_messages *n, uint32_t place)
{
	struct profile_messages *m;

	if (!n->sends && !n->receives)
		return;
	m = APPEND(g, messages);
	m->stack = place;
	m->sends = n->sends;
	m->receives = n->receives;
	m->bytes_sent = n->bytes_sent;
	m->bytes_received = n->bytes_received;
	m->send_ns = ns(g, n->send_ticks);
	m->receive_ns = ns(g, n->receive_ticks);
	m->send_bandwidth = bandwidth(g, n->send_bandwidth);
	m->receive_bandwidth = bandwidth(g, n->receive_bandwidth);
}

/* Inclusive time counts once where a function is open in itself, as through a
 * callback. `next` of a node that comes before leads to its nearest MPI function. */
static void add_call(struct gather_mpi *g, const struct node *n)
{
	struct function *f = &g->functions[key_mpi(n->key)];
	const struct node *caller = n->parent ? n->parent->next : NULL;
	const struct node_messages *m = n->extra ? &n->extra->messages : NULL;

	f->calls += n->calls;
	for (int i = 0; i < CALLERS && caller && caller->key != n->key; i++)
		caller = caller->parent ? caller->parent->next : NULL;
	if (!caller || caller->key != n->key)
		f->ticks += n->ticks;
	if (!m)
		return;
	f->sends += m->sends;
	f->receives += m->receives;
	f->bytes_sent += m->bytes_sent;
	f->bytes_received += m->bytes_received;
}

/* What the tree's nodes have left open; a stack may get several elements of one kind. */
struct open_at {
	struct traffic_open *at; /* by node */
	size_t n;
	uint32_t rank;
};

static void add_open(
	struct gather_mpi *g, const struct open_at *open, const struct node *n, uint32_t place)
{
	size_t from = 0, to = open->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if ((uintptr_t)open->at[middle].node < (uintptr_t)n)
			from = middle + 1;
		else
			to = middle;
	}
	for (uint32_t kind = 0; kind < OPEN_KINDS; kind++) {
		uint64_t requests = n->extra ? n->extra->open[kind] : 0;
		struct profile_open *o;

		if (from < open->n && open->at[from].node == n && open->at[from].kind == kind)
			requests += open->at[from++].requests;
		if (!requests)
			continue;
		o = APPEND(g, open);
		*o = (struct profile_open){place, kind, 1, open->rank, open->rank, requests};
	}
}

static int open_order(const void *x, const void *y)
{
	const struct profile_open *a = x, *b = y;

	COMPARE(a->stack, b->stack);
	COMPARE(a->kind, b->kind);
	return 0;
}

/* The elements from first on are of one process, which is one rank for each stack. */
static void join_open(struct profile *p, size_t first)
{
	size_t kept = first;

	if (p->n_open == first)
		return;
	qsort(p->open + first, p->n_open - first, sizeof(*p->open), open_order);
	for (size_t i = first + 1; i < p->n_open; i++)
		if (open_order(&p->open[kept], &p->open[i]))
			p->open[++kept] = p->open[i];
		else
			p->open[kept].requests += p->open[i].requests;
	p->n_open = kept + 1;
}

static void add_tree(struct gather_mpi *g, struct calltree *tree, const uint32_t *place,
	const struct open_at *open)
{
	size_t first = g->sum.n_open;

	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		struct node *n = calltree_at(tree, i);
		bool is_mpi = key_mpi(n->key) < vftr_mpi_n && key_mpi(n->key) < FUNCTIONS;

		if (n->extra)
			add_messages(g, &n->extra->messages, place[i]);
		if (n->extra || open->n)
			add_open(g, open, n, place[i]);
		if (is_mpi)
			add_call(g, n);
		/* the tree does not grow any more: next is free */
		n->next = is_mpi ? n : n->parent ? n->parent->next : NULL;
	}
	join_open(&g->sum, first);
}

static void add_functions(struct gather_mpi *g, uint32_t rank)
{
	for (uint32_t id = 0; id < FUNCTIONS; id++) {
		const struct function *f = &g->functions[id];
		struct profile_function *to;

		if (!f->calls)
			continue;
		to = APPEND(g, functions);
		to->id = id;
		to->ranks = 1;
		to->rank_min = to->rank_max = rank;
		to->calls = f->calls;
		to->ns = to->min_ns = to->max_ns = ns(g, f->ticks);
		to->sumsq_ns2 = (unsigned __int128)to->ns * to->ns;
		to->sends = f->sends;
		to->receives = f->receives;
		to->bytes_sent = f->bytes_sent;
		to->bytes_received = f->bytes_received;
	}
	memset(g->functions, 0, sizeof(g->functions));
}

/* ---- from the sums of a process ------------------------------------------------------ */

/* A peer's rank in the outputs: peers have ranks in the process's own job. */
static uint32_t shown_peer(const struct agent *a, const struct process *p, uint32_t peer)
{
	int size = p->size > 0 ? p->size : p->size_hint;

	if (peer == PROFILE_ELSEWHERE)
		return peer;
	if (p->main_job || p->job_rank == WIRE_UNKNOWN)
		return size > 0 && peer < (uint32_t)size ? peer : PROFILE_ELSEWHERE;
	for (const struct process *q = a->processes; q; q = q->next)
		if (q->greeted && q->ended && q->job_rank == (int)peer && q->job == p->job &&
			!q->main_job)
			return (uint32_t)q->rank;
	return PROFILE_ELSEWHERE;
}

static void add_pairs(
	struct gather_mpi *g, const struct process *p, uint32_t rank, const struct traffic_sums *s)
{
	for (size_t i = 0; i < s->n_peers; i++) {
		const struct traffic_peer *from = &s->peers[i];
		uint32_t peer = shown_peer(g->agent, p, from->peer);
		struct profile_pair *to;

		if (from->sends) {
			to = APPEND(g, pairs);
			to->from = rank;
			to->to = peer;
			to->sends = from->sends;
			to->bytes_sent = from->bytes_sent;
		}
		if (from->receives) {
			to = APPEND(g, pairs);
			to->from = peer;
			to->to = rank;
			to->receives = from->receives;
			to->bytes_received = from->bytes_received;
		}
	}
}

static void add_sizes(struct gather_mpi *g, const struct traffic_sums *s)
{
	for (uint32_t i = 0; i < TRAFFIC_SIZES; i++) {
		const struct traffic_size *from = &s->sizes[i];
		struct profile_size *to;

		if (!from->sends && !from->receives)
			continue;
		to = APPEND(g, sizes);
		to->log2 = i;
		to->sends = from->sends;
		to->receives = from->receives;
		to->bytes_sent = from->bytes_sent;
		to->bytes_received = from->bytes_received;
	}
}

static void add_comms(struct gather_mpi *g, const struct traffic_sums *s)
{
	for (size_t i = 0; i < s->n_comms; i++) {
		const struct traffic_comm *from = &s->comms[i];
		struct profile_comm *to = APPEND(g, comms);

		to->id = from->id;
		to->name = from->name ? xstrdup(from->name) : NULL;
		to->kind = from->kind;
		to->size = from->size;
		to->remote_size = from->remote_size;
		to->ranks = 1;
		to->sends = from->sends;
		to->receives = from->receives;
		to->bytes_sent = from->bytes_sent;
		to->bytes_received = from->bytes_received;
		to->collectives = from->collectives;
		to->collective_bytes_sent = from->collective_bytes_sent;
		to->collective_bytes_received = from->collective_bytes_received;
		to->collective_ns = ns(g, from->collective_ticks);
		to->ambiguous_sends = from->ambiguous_sends;
		to->ambiguous_receives = from->ambiguous_receives;
	}
}

static void add_files(struct gather_mpi *g, const struct traffic_sums *s)
{
	for (size_t i = 0; i < s->n_files; i++) {
		const struct traffic_file *from = &s->files[i];
		struct profile_file *to = APPEND(g, files);

		to->name = xstrdup(from->name);
		to->ranks = 1;
		to->opens = from->opens;
		to->reads = from->reads;
		to->writes = from->writes;
		to->bytes_read = from->bytes_read;
		to->bytes_written = from->bytes_written;
		to->read_ns = ns(g, from->read_ticks);
		to->write_ns = ns(g, from->write_ticks);
	}
}

void gather_mpi_add(struct gather_mpi *g, const struct process *p, uint32_t rank,
	struct calltree *tree, const uint32_t *place)
{
	const struct traffic_sums *s = traffic_sums(p->traffic);
	struct open_at open = {.rank = rank};

	open.at = traffic_open(p->traffic, &open.n);
	add_tree(g, tree, place, &open);
	free(open.at);
	add_functions(g, rank);
	add_pairs(g, p, rank, s);
	add_sizes(g, s);
	add_comms(g, s);
	add_files(g, s);
	g->sum.lost_messages += p->past_lost_messages;
	g->sum.ambiguous_sends += s->ambiguous_sends;
	g->sum.ambiguous_receives += s->ambiguous_receives;
	g->sum.open_requests += traffic_open_requests(p->traffic);
	if (rank < PROFILE_UNRANKED) {
		struct profile_place *to = APPEND(g, places);

		to->first = to->last = rank;
		to->host = xstrdup(g->agent->host);
	}
}

/* ---- the whole ------------------------------------------------------------------------- */

static char **text_of(void *element, const struct profile_list *l)
{
	return l->text == SIZE_MAX ? NULL : (char **)((char *)element + l->text);
}

/* One text for both: the first in the alphabet. `from` loses its own. */
static void join_texts(char **to, char **from)
{
	if (!*to || (*from && strcmp(*from, *to) < 0)) {
		char *other = *to;

		*to = *from;
		*from = other;
	}
	free(*from);
}

void gather_combine(struct profile *p, const struct profile_list *l)
{
	size_t *n = (size_t *)((char *)p + l->count), kept = 0;
	char *array = *(char **)((char *)p + l->array);

	if (*n)
		qsort(array, *n, l->element_bytes, l->cmp);
	for (size_t i = 1; i < *n; i++) {
		char *last = array + kept * l->element_bytes, *at = array + i * l->element_bytes;

		if (l->cmp(last, at)) {
			kept++;
			if (kept != i)
				memcpy(last + l->element_bytes, at, l->element_bytes);
			continue;
		}
		if (l->add)
			l->add(last, at);
		if (text_of(at, l))
			join_texts(text_of(last, l), text_of(at, l));
	}
	if (*n)
		*n = kept + 1;
}

/* Ranks that follow each other are one range. */
static void join_places(struct profile *p)
{
	size_t kept = 0;

	for (size_t i = 1; i < p->n_places; i++) {
		if (p->places[i].first == p->places[kept].last + 1) {
			p->places[kept].last = p->places[i].last;
			free(p->places[i].host);
		} else {
			p->places[++kept] = p->places[i];
		}
	}
	if (p->n_places)
		p->n_places = kept + 1;
}

void gather_mpi_store(struct gather_mpi *g, struct profile *out, const uint32_t *stack)
{
	struct profile *s = &g->sum;

	for (size_t i = 0; i < s->n_messages; i++)
		s->messages[i].stack = stack[s->messages[i].stack];
	for (size_t i = 0; i < s->n_open; i++)
		s->open[i].stack = stack[s->open[i].stack];
	for (size_t i = 0; i < PROFILE_MPI_LISTS; i++) {
		const struct profile_list *l = &profile_lists[i];

		gather_combine(s, l);
		*(size_t *)((char *)out + l->count) = *(size_t *)((char *)s + l->count);
		*(void **)((char *)out + l->array) = *(void **)((char *)s + l->array);
	}
	join_places(out);
	profile_pairs_limit(out, PROFILE_PAIRS_MAX);
	out->lost_messages = s->lost_messages;
	out->open_requests = s->open_requests;
	out->ambiguous_sends = s->ambiguous_sends;
	out->ambiguous_receives = s->ambiguous_receives;
	free(g);
}
