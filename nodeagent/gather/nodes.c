/* SPDX-License-Identifier: BSD-3-Clause */
/* What the nodes of a call tree have counted (struct node_extra), on its way into a profile. */
#include "nodeagent/gather/internal.h"

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/tree/calltree.h"

/* From bytes per tick times 2^32 to bytes per second. */
static unsigned __int128 bandwidth(const struct gather_from *g, unsigned __int128 sum)
{
	double ns_per_tick = g->host->clocks.ns_per_tick;

	if (!(ns_per_tick > 0))
		return 0;
	return (unsigned __int128)((double)sum / 4294967296.0 / (ns_per_tick * 1e-9) + 0.5);
}

static void add_messages(
	const struct gather_from *g, const struct node_extra *extra, uint32_t stack_at)
{
	const struct node_messages *n = &extra->messages;
	struct profile_messages *m;

	if (!n->sends && !n->receives)
		return;
	m = profile_add(g->out, PROFILE_MESSAGES);
	m->stack = stack_at;
	m->sends = n->sends;
	m->receives = n->receives;
	m->bytes_sent = n->bytes_sent;
	m->bytes_received = n->bytes_received;
	m->send_ns = gather_ns(g, n->send_ticks);
	m->receive_ns = gather_ns(g, n->receive_ticks);
	m->send_bandwidth = bandwidth(g, n->send_bandwidth);
	m->receive_bandwidth = bandwidth(g, n->receive_bandwidth);
}

/* Of hardware counters. */
static void add_counts(
	const struct gather_from *g, const struct node_extra *extra, uint32_t stack_at)
{
	const struct node_counters *c = g->out->n_counters ? extra->counters : NULL;

	for (uint32_t k = 0; c && k < c->n; k++) {
		struct profile_count *to = c->of[k] ? profile_add(g->out, PROFILE_COUNTS) : NULL;

		if (to)
			*to = (struct profile_count){
				.stack = stack_at, .counter = k, .value = c->of[k]};
	}
}

static void add_io(const struct gather_from *g, const struct node_extra *extra, uint32_t stack_at)
{
	for (uint32_t kind = 0; kind < RECORD_IO_KINDS; kind++) {
		const struct node_io *io = &extra->io[kind];
		struct profile_io *to = io->operations ? profile_add(g->out, PROFILE_IO) : NULL;

		if (to)
			*to = (struct profile_io){.stack = stack_at,
				.kind = kind,
				.operations = io->operations,
				.failed = io->failed,
				.bytes = io->bytes,
				.ns = gather_ns(g, io->ticks),
				.min_ns = gather_ns(g, io->least),
				.max_ns = gather_ns(g, io->most)};
	}
}

/* Of a frame that is left out the samples are its caller's, which has them among `all' already. */
static void add_stack_samples(const struct gather_from *g, const struct node *n, uint32_t stack_at)
{
	struct profile_stack_samples *to;
	bool left_out;

	if (!n->extra->stacks.all)
		return;
	left_out = n->parent && *map64_find(g->node_at, (uintptr_t)n->parent) == stack_at;
	to = profile_add(g->out, PROFILE_STACK_SAMPLES);
	*to = (struct profile_stack_samples){.stack = stack_at,
		.own = n->extra->stacks.own,
		.all = left_out ? 0 : n->extra->stacks.all};
}

/* Those of one process, from `first` on: one rank at each stack, however many nodes it has. */
static void join_io(struct profile *out, size_t first)
{
	if (out->n_io > first)
		profile_combine_from(out, PROFILE_IO, first);
	for (size_t i = first; i < out->n_io; i++)
		out->io[i].ranks = 1;
}

static void (*const kinds[])(
	const struct gather_from *g, const struct node_extra *extra, uint32_t stack_at) = {
	add_messages,
	add_counts,
	add_io,
};

void gather_nodes(const struct gather_from *from)
{
	struct calltree *tree = from->p->ended_tree;
	size_t first_io = from->out->n_io, first_samples = from->out->n_stack_samples;

	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		for (size_t k = 0; n->extra && k < ARRAY_SIZE(kinds); k++)
			kinds[k](from, n->extra, from->node[i]);
		if (n->extra)
			add_stack_samples(from, n, from->node[i]);
	}
	join_io(from->out, first_io);
	if (from->out->n_stack_samples > first_samples)
		profile_combine_from(from->out, PROFILE_STACK_SAMPLES, first_samples);
}
