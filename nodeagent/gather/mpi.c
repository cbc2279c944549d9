/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication of processes on its way into a profile. */
#include "nodeagent/gather/internal.h"

#include <stdlib.h>
#include "nodeagent/process/process.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/base/util.h"

#define FUNCTIONS (RECORD_ID_REGION - RECORD_ID_MPI)
#define CALLERS	  64 /* MPI functions looked at, of those that are open below one */

extern const unsigned vftr_mpi_n; /* generated from mpi/generate/mpi.tab */

struct function {
	uint64_t calls, ticks;
	uint64_t sends, receives, bytes_sent, bytes_received;
};

/* ---- from the call tree ---------------------------------------------------------- */

/* Inclusive time counts once where a function is open in itself, as through a
 * callback. Nodes that come before have their mpi_frame. */
static void add_call(struct function *functions, const struct node *n)
{
	struct function *f = &functions[key_mpi(n->key)];
	const struct node *caller = n->parent ? n->parent->mpi_frame : NULL;
	const struct node_messages *m = n->extra ? &n->extra->messages : NULL;

	f->calls += n->calls;
	for (int i = 0; i < CALLERS && caller && caller->key != n->key; i++)
		caller = caller->parent ? caller->parent->mpi_frame : NULL;
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
};

_Static_assert((int)PROFILE_OPEN_SEND == OPEN_SEND && (int)PROFILE_OPEN_RECEIVE == OPEN_RECEIVE &&
		       (int)PROFILE_OPEN_KINDS == OPEN_KINDS,
	"as in enum node_open");

static void add_open(const struct gather_from *g, const struct open_at *open, const struct node *n,
	uint32_t stack_at)
{
	size_t from = LOWER_BOUND(i, 0, open->n, (uintptr_t)open->at[i].node < (uintptr_t)n);

	for (uint32_t kind = 0; kind < OPEN_KINDS; kind++) {
		uint64_t requests = n->extra ? n->extra->open[kind] : 0;
		struct profile_open *o;

		if (from < open->n && open->at[from].node == n && open->at[from].kind == kind)
			requests += open->at[from++].requests;
		if (!requests)
			continue;
		o = profile_add(g->out, PROFILE_OPEN);
		*o = (struct profile_open){stack_at, kind, 1, g->rank, g->rank, requests};
	}
}

ORDER_BY(open_order, struct profile_open, RISING(stack) ?: RISING(kind))

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

/* *functions: of FUNCTIONS, or NULL as long as the process has called none. */
static void add_tree(
	const struct gather_from *g, struct function **functions, const struct open_at *open)
{
	struct calltree *tree = g->p->ended_tree;
	size_t first = g->out->n_open;

	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		struct node *n = calltree_at(tree, i);
		bool is_mpi = key_mpi(n->key) < vftr_mpi_n && key_mpi(n->key) < FUNCTIONS;

		if (n->extra || open->n)
			add_open(g, open, n, g->node[i]);
		if (is_mpi && !*functions)
			*functions = xcalloc(FUNCTIONS, sizeof(**functions));
		if (is_mpi)
			add_call(*functions, n);
		/* the tree does not grow any more: nothing is expected in it */
		n->mpi_frame = is_mpi ? n : n->parent ? n->parent->mpi_frame : NULL;
	}
	join_open(g->out, first);
}

static void add_functions(const struct gather_from *g, const struct function *functions)
{
	for (uint32_t id = 0; id < FUNCTIONS; id++) {
		const struct function *f = &functions[id];
		struct profile_function *to;

		if (!f->calls)
			continue;
		to = profile_add(g->out, PROFILE_FUNCTIONS);
		to->id = id;
		to->ranks = 1;
		to->rank_min = to->rank_max = g->rank;
		to->calls = f->calls;
		to->ns = to->min_ns = to->max_ns = gather_ns(g, f->ticks);
		to->sumsq_ns2 = (unsigned __int128)to->ns * to->ns;
		to->sends = f->sends;
		to->receives = f->receives;
		to->bytes_sent = f->bytes_sent;
		to->bytes_received = f->bytes_received;
	}
}

/* ---- from the sums of a process ------------------------------------------------------ */

uint32_t gather_peer(const struct gather_from *from, uint32_t peer)
{
	const struct process *p = from->p, *q;
	int size = p->size > 0 ? p->size : p->size_hint;

	if (peer == PROFILE_ELSEWHERE)
		return peer;
	if (p->main_job || p->job_rank == WIRE_UNKNOWN)
		return size > 0 && peer < (uint32_t)size ? peer : PROFILE_ELSEWHERE;
	q = gather_process_of_job(from, p->job, peer);
	if (q)
		return (uint32_t)q->rank;
	if (p->spawned && from->host->transport && peer < (uint32_t)p->job_size)
		return rank_far(rank_id(p->job, peer));
	return PROFILE_ELSEWHERE;
}

/* All sends first: neighbouring peers' are easier to add up where they follow each other. */
static void add_pairs(const struct gather_from *g, const struct traffic_sums *s)
{
	EACH(const struct traffic_peer, from, s->peers, s->n_peers) {
		struct profile_pair *to;

		if (!from->sends)
			continue;
		to = profile_add(g->out, PROFILE_PAIRS);
		to->from = g->rank;
		to->to = gather_peer(g, from->peer);
		to->sends = from->sends;
		to->bytes_sent = from->bytes_sent;
	}
	EACH(const struct traffic_peer, from, s->peers, s->n_peers) {
		struct profile_pair *to;

		if (!from->receives)
			continue;
		to = profile_add(g->out, PROFILE_PAIRS);
		to->from = gather_peer(g, from->peer);
		to->to = g->rank;
		to->receives = from->receives;
		to->bytes_received = from->bytes_received;
	}
	profile_pairs_make_room(g->out);
}

static void add_sizes(const struct gather_from *g, const struct traffic_sums *s)
{
	for (uint32_t i = 0; i < TRAFFIC_SIZES; i++) {
		const struct traffic_size *from = &s->sizes[i];
		struct profile_size *to;

		if (!from->sends && !from->receives)
			continue;
		to = profile_add(g->out, PROFILE_SIZES);
		to->log2 = i;
		to->sends = from->sends;
		to->receives = from->receives;
		to->bytes_sent = from->bytes_sent;
		to->bytes_received = from->bytes_received;
	}
}

static void add_comms(const struct gather_from *g, const struct traffic_sums *s)
{
	EACH(const struct traffic_comm, from, s->comms, s->n_comms) {
		struct profile_comm *to = profile_add(g->out, PROFILE_COMMS);

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
		to->collective_ns = gather_ns(g, from->collective_ticks);
		to->ambiguous_sends = from->ambiguous_sends;
		to->ambiguous_receives = from->ambiguous_receives;
	}
}

static void add_files(const struct gather_from *g, const struct traffic_sums *s)
{
	EACH(const struct traffic_file, from, s->files, s->n_files) {
		struct profile_file *to = profile_add(g->out, PROFILE_FILES);

		to->name = xstrdup(from->name);
		to->ranks = 1;
		to->opens = from->opens;
		to->reads = from->reads;
		to->writes = from->writes;
		to->bytes_read = from->bytes_read;
		to->bytes_written = from->bytes_written;
		to->read_ns = gather_ns(g, from->read_ticks);
		to->write_ns = gather_ns(g, from->write_ticks);
	}
}

void gather_mpi(const struct gather_from *g)
{
	const struct process *p = g->p;
	const struct traffic_sums *s = traffic_sums(p->traffic);
	struct function *functions = NULL;
	struct open_at open;

	open.at = traffic_open(p->traffic, &open.n);
	add_tree(g, &functions, &open);
	free(open.at);
	if (functions)
		add_functions(g, functions);
	free(functions);
	add_pairs(g, s);
	add_sizes(g, s);
	add_comms(g, s);
	add_files(g, s);
	g->out->lost_messages += p->ended_lost_messages;
	g->out->ambiguous_sends += s->ambiguous_sends;
	g->out->ambiguous_receives += s->ambiguous_receives;
	g->out->open_requests += traffic_open_requests(p->traffic);
	if (g->rank < PROFILE_UNRANKED) {
		struct profile_rank_range *to = profile_add(g->out, PROFILE_RANK_RANGES);

		to->first = to->last = g->rank;
		to->host = xstrdup(g->host->name);
	}
}
