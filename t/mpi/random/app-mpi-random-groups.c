/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of a stream: of all kinds, and who is where in them. */
#include "app-mpi-random.h"

#include <stdlib.h>
#include <string.h>

/* "dup", or "dup.1" of thread 1. */
static const char *name_of(const char *word)
{
	static char name[40];

	if (stream->thread)
		snprintf(name, sizeof(name), "%s.%d", word, stream->thread);
	else
		snprintf(name, sizeof(name), "%s", word);
	return name;
}

int rank_in(const struct group *g, int world, int *side)
{
	for (int s = 0; s < 2; s++)
		for (int i = 0; i < g->n[s]; i++)
			if (g->world[s][i] == world) {
				if (side)
					*side = s;
				return i;
			}
	return -1;
}

static struct group *new_group(const char *word, MPI_Comm comm)
{
	struct group *g = &stream->groups[stream->n_groups++];

	g->comm = comm;
	g->window = MPI_WIN_NULL;
	snprintf(g->name, sizeof(g->name), "%s", word);
	return g;
}

static void find_self(struct group *g)
{
	int rank;

	g->rank = rank_in(g, world_rank, &g->side);
	if (g->rank < 0) {
		g->comm = MPI_COMM_NULL;
		return;
	}
	DO(MPI_Comm_rank, g->comm, &rank);
	if (rank != g->rank)
		wrong("rank %d in %s, not %d", rank, g->name, g->rank);
}

/* n members: first, first + step, first + 2 step ... */
static struct group *add(const char *word, MPI_Comm comm, int first, int step, int n)
{
	struct group *g = new_group(name_of(word), comm);

	for (int i = 0; i < n; i++)
		g->world[0][i] = first + i * step;
	g->n[0] = n;
	find_self(g);
	if (g->rank >= 0)
		DO(MPI_Comm_set_name, g->comm, g->name);
	return g;
}

static void add_low_and_high(MPI_Comm comm)
{
	const int half = world_size / 2;
	const bool high = world_rank >= half;
	MPI_Comm mine, inter, merged;
	struct group *g;

	DO(MPI_Comm_split, comm, high, world_rank, &mine);
	add("low", mine, 0, 1, half);
	add("high", mine, half, 1, world_size - half);

	DO(MPI_Intercomm_create, mine, 0, comm, high ? 0 : half, 99, &inter);
	g = new_group(name_of("inter"), inter);
	for (int w = 0; w < world_size; w++)
		g->world[w >= half][g->n[w >= half]++] = w;
	find_self(g);
	DO(MPI_Comm_set_name, g->comm, g->name);

	DO(MPI_Intercomm_merge, inter, !high, &merged);
	g = new_group(name_of("merged"), merged);
	for (int i = 0; i < world_size; i++)
		g->world[0][g->n[0]++] = (half + i) % world_size;
	find_self(g);
	DO(MPI_Comm_set_name, g->comm, g->name);
}

static void add_part(MPI_Comm comm)
{
	MPI_Group all, some;
	MPI_Comm part;
	int ranks[RANKS_MAX], n = 0;

	for (int w = world_size - 1; w >= 0; w -= 2)
		ranks[n++] = w;
	DO(MPI_Comm_group, comm, &all);
	DO(MPI_Group_incl, all, n, ranks, &some);
	DO(MPI_Comm_create, comm, some, &part);
	add("part", part, world_size - 1, -2, n);
	DO(MPI_Group_free, &some);
	DO(MPI_Group_free, &all);
}

static void add_topologies(MPI_Comm comm)
{
	int dims[2] = {0, 0}, periods[2] = {1, 0}, to[3], n = 0;
	int weights[RANKS_MAX] = {0};
	MPI_Comm cart, graph;
	struct group *g;

	DO(MPI_Dims_create, world_size, 2, dims);
	DO(MPI_Cart_create, comm, 2, dims, periods, 0, &cart);
	g = add("cart", cart, 0, 1, world_size);
	for (int d = 0; d < 2; d++) {
		DO(MPI_Cart_shift, cart, d, 1, &g->in[2 * d], &g->in[2 * d + 1]);
		memcpy(&g->out[2 * d], &g->in[2 * d], 2 * sizeof(int));
	}
	g->n_in = g->n_out = 4;

	/* each rank to itself, the next, and rank 0 */
	for (int i = 0; i < 2; i++)
		to[n++] = (world_rank + i) % world_size;
	if (world_rank > 1)
		to[n++] = 0;
	DO(MPI_Dist_graph_create, comm, 1, &world_rank, &n, to, weights, MPI_INFO_NULL, 0, &graph);
	g = add("graph", graph, 0, 1, world_size);
	DO(MPI_Dist_graph_neighbors_count, graph, &g->n_in, &g->n_out, &(int){0});
	DO(MPI_Dist_graph_neighbors, graph, g->n_in, g->in, weights, g->n_out, g->out, weights);
}

/* By the thread that is alone: streams of several threads are made one after another. */
void groups_make(void)
{
	MPI_Comm comm = MPI_COMM_WORLD, other;
	MPI_Request request;
	struct group *g;

	if (stream->thread) {
		DO(MPI_Comm_dup, MPI_COMM_WORLD, &comm);
		add("world", comm, 0, 1, world_size);
	} else {
		g = new_group("MPI_COMM_WORLD", comm);
		for (int w = 0; w < world_size; w++)
			g->world[0][g->n[0]++] = w;
		find_self(g);
	}
	DO(MPI_Comm_dup, comm, &other);
	g = add("dup", other, 0, 1, world_size);
	if (!stream->thread) {
		void *memory;

		DO(MPI_Win_allocate, 4096, 1, MPI_INFO_NULL, other, &memory, &g->window);
	}
	DO(MPI_Comm_idup, comm, &other, &request);
	DO(MPI_Wait, &request, MPI_STATUS_IGNORE);
	add("idup", other, 0, 1, world_size);
	DO(MPI_Comm_split, comm, 0, -world_rank, &other);
	add("reversed", other, world_size - 1, -1, world_size);
	DO(MPI_Comm_split, comm, world_rank % 2, world_rank, &other);
	add("even", other, 0, 2, (world_size + 1) / 2);
	add("odd", other, 1, 2, world_size / 2);
	add_low_and_high(comm);
	add_part(comm);
	add_topologies(comm);
}

void groups_free(void)
{
	for (int i = 0; i < stream->n_groups; i++) {
		struct group *g = &stream->groups[i];

		if (g->window != MPI_WIN_NULL)
			DO(MPI_Win_free, &g->window);
		if (g->comm != MPI_COMM_NULL && g->comm != MPI_COMM_WORLD)
			DO(MPI_Comm_free, &g->comm);
	}
}
