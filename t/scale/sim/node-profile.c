/* SPDX-License-Identifier: BSD-3-Clause */
#include "t/scale/sim/node-profile.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/user-value.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/places.h"
#include "nodeagent/profile/profile.h"
#include "shm/gpu.h"
#include "t/lib/dice.h"
#include "t/unit/profile/random-profile.h"

#define FUNCTIONS   1500u  /* with these names are the paths that all nodes have */
#define CHILDREN    4u	   /* of each such path */
#define SIDES	    6	   /* of a rank's part of the grid */
#define HOST_FACTOR 40503u /* odd: the hosts of up to 65 536 nodes differ */

/* The length of a row of ranks, and of a plane: about a cube. */
static uint32_t row_of(uint32_t world)
{
	uint32_t row = 1;

	while (row * row * row < world)
		row *= 2;
	return row;
}

/* Whose grid is closed in itself. */
static uint32_t neighbour(uint32_t world, uint32_t rank, int side)
{
	const uint32_t row = row_of(world);
	const uint32_t step = side < 2 ? 1 : side < 4 ? row : row * row;

	return (side % 2 ? rank + step : rank + world - step % world) % world;
}

char *node_host(int node)
{
	return xasprintf("node%05u", (uint32_t)node * HOST_FACTOR % 65536);
}

/* ---- call paths --------------------------------------------------------------------- */

struct made {
	uint64_t hash;
	uint32_t number; /* in the order of making: callers come before what they call */
};

ORDER_BY(made_cmp, struct made, RISING(hash))

static uint64_t mixed(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15u ^ b;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Who calls it, and the number of its name: of FUNCTIONS, or beyond them. */
static void place_of(
	const struct job_shape *s, int node, uint32_t k, uint32_t *parent, uint32_t *name)
{
	const uint32_t common = s->stacks - s->own;
	const uint64_t own = (uint64_t)node * s->own + (k - common);

	if (k < common) {
		*parent = (k - 1) / CHILDREN;
		*name = k % FUNCTIONS;
		return;
	}
	*parent = (uint32_t)(own % common);
	*name = FUNCTIONS + (uint32_t)(own / common);
}

static void fill_stack(struct profile_stack *t, struct dice *d, const struct job_shape *s, int node)
{
	t->calls = 1 + throw_dice(d, 1000000);
	t->excl_ns = (uint64_t)throw_dice(d, 1u << 31) * 4;
	t->incl_ns = t->excl_ns + throw_dice(d, 1u << 30);
	t->ranks = s->ranks;
	t->rank_min = node_rank(s, node, throw_dice(d, s->ranks));
	t->rank_max = node_rank(s, node, throw_dice(d, s->ranks));
	t->excl_min_ns = t->excl_ns / s->ranks / 2;
	t->excl_max_ns = t->excl_ns / s->ranks * 2;
	t->excl_sumsq_ns2 = (unsigned __int128)t->excl_ns * t->excl_ns / s->ranks;
}

static void add_name(struct profile *p, uint32_t *place, uint32_t name)
{
	if (*place)
		return;
	p->names[p->n_names++] = name < FUNCTIONS ? xasprintf("module_function_%u", name)
						  : xasprintf("case_of_this_node_%u", name);
	*place = (uint32_t)p->n_names;
}

static void make_stacks(struct profile *p, const struct job_shape *s, int node, struct dice *d)
{
	const uint32_t n = s->stacks;
	const uint32_t last =
		FUNCTIONS + (uint32_t)((uint64_t)(node + 1) * s->own / (s->stacks - s->own)) + 2;
	uint32_t *names = xcalloc(last, sizeof(*names)), *place = xcalloc(n, sizeof(*place));
	struct made *made = xcalloc(n, sizeof(*made));

	p->stacks = xcalloc(n, sizeof(*p->stacks));
	p->names = xcalloc(n + 1, sizeof(*p->names));
	p->n_stacks = n;
	p->names[p->n_names++] = xstrdup("init");
	made[0].hash = 1;
	for (uint32_t k = 1, parent, name; k < n; k++) {
		place_of(s, node, k, &parent, &name);
		made[k] = (struct made){mixed(made[parent].hash, name), k};
	}
	qsort(made, n, sizeof(*made), made_cmp);
	for (uint32_t i = 0; i < n; i++)
		place[made[i].number] = i;
	for (uint32_t i = 0, parent, name; i < n; i++) {
		struct profile_stack *t = &p->stacks[i];
		const uint32_t k = made[i].number;

		fill_stack(t, d, s, node);
		t->hash = made[i].hash;
		t->parent = PROFILE_NONE;
		t->first_ns = 1 + (int64_t)k * 1000 + node % 7;
		if (!k)
			continue;
		place_of(s, node, k, &parent, &name);
		add_name(p, &names[name], name);
		t->name = names[name] - 1;
		t->parent = place[parent];
	}
	free(names);
	free(place);
	free(made);
}

/* ---- what comes with them ------------------------------------------------------------- */

static void make_messages(struct profile *p, struct dice *d)
{
	for (uint32_t i = 0; i < p->n_stacks; i += 20) {
		struct profile_messages *m = ADD_ELEMENT(p, messages);

		m->stack = i;
		THROW_MESSAGES(d, m);
		m->send_ns = throw_dice(d, 1u << 30);
	}
	for (uint32_t i = 0; i < 24; i++) {
		struct profile_size *z = ADD_ELEMENT(p, sizes);

		z->log2 = i;
		THROW_MESSAGES(d, z);
	}
	for (uint32_t i = 0; i < 8; i++) {
		struct profile_comm *c = ADD_ELEMENT(p, comms);

		c->id = (uint64_t)(i + 1) << 56;
		c->ranks = p->ranks;
		c->collectives = throw_dice(d, 1000);
		c->collective_ns = throw_dice(d, 1u << 30);
	}
}

static void add_pair(struct profile *p, uint32_t from, uint32_t to, bool sends)
{
	struct profile_pair *q = profile_add(p, PROFILE_PAIRS);

	*q = (struct profile_pair){.from = from, .to = to};
	q->sends = sends ? 1000 : 0;
	q->bytes_sent = sends ? 8000000 : 0;
	q->receives = sends ? 0 : 1000;
	q->bytes_received = sends ? 0 : 8000000;
}

/* As both sides have counted them: those within the node are there twice, and become one. */
static void make_pairs(struct profile *p, const struct job_shape *s, int node)
{
	const uint32_t world = p->world_size, n = s->traffic == SHAPE_ALL ? world : SIDES;

	for (uint32_t i = 0; i < s->ranks; i++) {
		const uint32_t r = node_rank(s, node, i);

		for (uint32_t k = 0; k < 2 * n; k++) {
			const uint32_t peer =
				s->traffic == SHAPE_ALL ? k % n : neighbour(world, r, (int)(k % n));

			if (k < n)
				add_pair(p, r, peer, true);
			else
				add_pair(p, peer, r, false);
		}
		profile_pairs_make_room(p);
	}
	profile_pairs_settle(p);
}

static void make_ranks(struct profile *p, const struct job_shape *s, int node, struct dice *d)
{
	for (uint32_t i = 0; i < s->ranks; i++) {
		struct profile_rank_time *t = ADD_ELEMENT(p, rank_times);
		const uint32_t r = node_rank(s, node, i);

		*(struct profile_rank_range *)profile_add(p, PROFILE_RANK_RANGES) =
			(struct profile_rank_range){r, r, node_host(node)};
		*t = (struct profile_rank_time){.rank = r,
			.flags = RANK_LEFT_INIT | RANK_ENTERED_FINALIZE | RANK_HAS_MPI,
			.threads = 1,
			.team_threads = 1,
			.useful_ns = throw_dice(d, 1u << 30),
			.mpi_ns = throw_dice(d, 1u << 30)};
		t->end_ns = (int64_t)(t->useful_ns + t->mpi_ns);
		t->all_useful_ns = t->team_useful_ns = t->team_most_ns = t->useful_ns;
		t->all_mpi_ns = t->mpi_ns;
	}
	places_join(p);
	*ADD_ELEMENT(p, agents) = (struct profile_agent){.host = node_host(node),
		.wall_s = 100,
		.cpu_s = throw_dice(d, 1000) / 1000.0,
		.processes = s->ranks};
}

static void make_gpu(struct profile *p, struct dice *d, uint32_t rank)
{
	struct profile_gpu_device *g = profile_add(p, PROFILE_GPU_DEVICES);

	*g = (struct profile_gpu_device){.uuid = {mixed(rank, 0), rank},
		.rank = rank,
		.processes = 1,
		.calls = throw_dice(d, 1000),
		.busy_ns = throw_dice(d, 1u << 30),
		.name = xstrdup("a GPU")};
	g->kernel_ns = g->sum_ns = g->busy_ns / 2;
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_gpu_stream *s = profile_add(p, PROFILE_GPU_STREAMS);

		*s = (struct profile_gpu_stream){.rank = rank,
			.context = i ? 1 : PROFILE_NONE,
			.stream = i ? 6 + i : PROFILE_NONE,
			.calls = throw_dice(d, 1000),
			.busy_ns = throw_dice(d, 1u << 30),
			.bytes = throw_dice(d, 1u << 30),
			.span_ns = 1u << 30};
		s->kernel_ns = s->busy_ns / 2;
	}
}

/* To and from the host. */
static void make_links(struct profile *p, struct dice *d, uint32_t rank)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct profile_gpu_link *l = profile_add(p, PROFILE_GPU_LINKS);
		uint64_t *uuid = i ? l->from : l->to;

		uuid[0] = mixed(rank, 0);
		uuid[1] = rank;
		l->kind = GPU_COPY;
		l->detail = i ? GPU_COPY_TO_HOST : GPU_COPY_TO_DEVICE;
		l->calls = throw_dice(d, 1000);
		l->bytes = throw_dice(d, 1u << 30);
		l->ns = throw_dice(d, 1u << 30);
	}
}

static void make_counters(struct profile *p, struct dice *d, uint32_t rank)
{
	struct profile_user_counter *c;

	for (uint32_t i = 0; i < 2; i++) {
		const double real = 1e-9 * throw_dice(d, 1u << 30);
		const uint64_t whole = throw_dice(d, 1u << 30);

		c = profile_add(p, PROFILE_USER_COUNTERS);
		*c = (struct profile_user_counter){.rank = rank,
			.real = i,
			.values = 1,
			.last_ns = whole,
			.sum = user_value_bits(i ? real : (double)whole),
			.name = xstrdup(i ? "residual\n" : "cells\n1")};
		c->min = c->max = c->last = i ? user_value_bits(real) : whole;
	}
}

static void make_by_rank(struct profile *p, const struct job_shape *s, int node, struct dice *d)
{
	for (uint32_t i = 0; i < s->ranks; i++) {
		const uint32_t rank = node_rank(s, node, i);
		struct profile_memory_rank *m = profile_add(p, PROFILE_MEMORY_RANKS);
		struct profile_comm *c = profile_add(p, PROFILE_COMMS);

		*m = (struct profile_memory_rank){.rank = rank, .processes = 1};
		m->peak_bytes = throw_dice(d, 1u << 30);
		m->live_bytes = m->peak_bytes / 100;
		m->bytes = 2 * m->peak_bytes;
		*c = (struct profile_comm){.id = mixed(rank, 1), .size = 1, .ranks = 1};
		c->collectives = throw_dice(d, 1000);
		c->collective_ns = throw_dice(d, 1u << 30);
		make_gpu(p, d, rank);
		make_links(p, d, rank);
		make_counters(p, d, rank);
	}
	profile_combine(p, PROFILE_COMMS);
	profile_combine(p, PROFILE_GPU_DEVICES);
	profile_combine(p, PROFILE_GPU_STREAMS);
	profile_combine(p, PROFILE_GPU_LINKS);
	profile_combine(p, PROFILE_USER_COUNTERS);
}

/* Half of the call paths have next to no time, the same ones on all nodes: profile/prune.h. */
static void make_short(struct profile *p)
{
	EACH(struct profile_stack, t, p->stacks, p->n_stacks) {
		if (!(t->hash % 2))
			continue;
		t->excl_ns >>= 24;
		t->incl_ns >>= 24;
	}
	EACH(struct profile_gpu, g, p->gpu, p->n_gpu)
		g->ns >>= 24;
}

struct profile *node_profile(const struct job_shape *s, int node)
{
	struct dice dice = {.state = (uint64_t)node + 1};
	struct profile *p;

	if (s->traffic == SHAPE_DICE) {
		p = random_profile_with_waits(&dice, (uint32_t)node, 40, UINT64_MAX);
		free(p->agents[0].host);
		p->agents[0].host = node_host(node);
		make_short(p);
		return p;
	}
	p = profile_new();
	p->ranks = s->ranks;
	p->threads = s->ranks;
	p->world_size = s->ranks * (uint32_t)s->n;
	p->runtime_s = 100;
	profile_add_executable(p, "/opt/bin/application");
	make_stacks(p, s, node, &dice);
	make_messages(p, &dice);
	make_ranks(p, s, node, &dice);
	if (s->by_rank)
		make_by_rank(p, s, node, &dice);
	if (s->traffic != SHAPE_NONE)
		make_pairs(p, s, node);
	return p;
}

ORDER_BY(rank_cmp, uint64_t, ORDER(*x, *y))

static uint64_t *halo_partners(const struct job_shape *s, int node, size_t *n)
{
	const uint32_t world = s->ranks * (uint32_t)s->n;
	uint64_t *at = xcalloc((size_t)s->ranks * SIDES + 1, sizeof(*at));
	size_t all = 0;

	for (uint32_t i = 0; i < s->ranks; i++)
		for (int side = 0; side < SIDES; side++) {
			const uint32_t to = neighbour(world, node_rank(s, node, i), side);

			if (!node_has(s, node, to))
				at[all++] = to;
		}
	qsort(at, all, sizeof(*at), rank_cmp);
	*n = 0;
	for (size_t i = 0; i < all; i++)
		if (!*n || at[*n - 1] != at[i])
			at[(*n)++] = at[i];
	return at;
}

uint64_t *node_partners(const struct job_shape *s, int node, size_t *n)
{
	const uint32_t world = s->ranks * (uint32_t)s->n;
	uint64_t *at;

	if (s->traffic == SHAPE_HALO)
		return halo_partners(s, node, n);
	*n = 0;
	at = xcalloc((s->traffic == SHAPE_ALL ? world : 0) + 1, sizeof(*at));
	for (uint32_t r = 0; s->traffic == SHAPE_ALL && r < world; r++)
		if (!node_has(s, node, r))
			at[(*n)++] = r;
	return at;
}
