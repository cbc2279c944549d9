/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls, blocking, non-blocking and persistent. What they count as:
 * a rooted one is a message between the root and each rank with itself (a
 * broadcast's root has sent it to itself, but not received it); one from all
 * to all is a message between all pairs; MPI_IN_PLACE saves those to oneself;
 * a scan is a chain; a reduction with scattering is both, through rank 0.
 */
#include "app-mpi-random.h"

#include <string.h>

enum { BLOCKING, NONBLOCKING, PERSISTENT };

struct call {
	const struct group *on;
	int how;
	bool in_place;
	int kind, bytes; /* of one element */
	MPI_Datatype type;
	int count, salt;
	int root_side, root; /* rank in its side */
	int me, peers;	     /* ranks that messages go to and come from */
	int to;		     /* the argument `root' */
	MPI_Request request;
	struct tally t;
};

#if MPI_VERSION >= 4
#define PERSIST(DOES, Name, ...) DOES(MPI_##Name##_init, __VA_ARGS__, MPI_INFO_NULL, &k->request)
#else
#define PERSIST(DOES, Name, ...) wrong("no persistent collective calls")
#endif
#define COLLECT(DOES, Name, name, ...)                                                             \
	do {                                                                                       \
		if (k->how == BLOCKING)                                                            \
			DOES(MPI_##Name, __VA_ARGS__);                                             \
		else if (k->how == NONBLOCKING)                                                    \
			DOES(MPI_I##name, __VA_ARGS__, &k->request);                               \
		else                                                                               \
			PERSIST(DOES, Name, __VA_ARGS__);                                          \
	} while (0)

/* ---- how much --------------------------------------------------------------------- */

/* Elements of a rank, of those from one rank to another. */
static int of_rank(const struct call *k, int side, int rank)
{
	return (k->salt + 5 * k->on->world[side][rank]) % 7 * k->count;
}

static int between(const struct call *k, int world, int other)
{
	return (k->salt + world * other + world + other) % 4 * k->count;
}

static bool is_root(const struct call *k)
{
	return k->on->rank == k->root && (!is_inter(k->on) || k->on->side == k->root_side);
}

/* In the group of the root of an intercommunicator, without being the root. */
static bool is_aside(const struct call *k)
{
	return is_inter(k->on) && k->on->side == k->root_side && !is_root(k);
}

static int far(const struct call *k)
{
	return far_side(k->on, k->on->side);
}

static void sends(struct call *k, int n, long long elements)
{
	k->t.sends += n;
	k->t.bytes_sent += elements * k->bytes;
}

static void receives(struct call *k, int n, long long elements)
{
	k->t.receives += n;
	k->t.bytes_received += elements * k->bytes;
}

/* In place: not those to oneself. */
static int partners(const struct call *k)
{
	return k->peers - (k->in_place ? 1 : 0);
}

static void *memory(const struct call *k, long long elements)
{
	(void)k;
	return room((elements + 1) * EXTENT_MAX);
}

static void *or_in_place(const struct call *k, bool this_one, void *p)
{
	return k->in_place && this_one ? MPI_IN_PLACE : p;
}

/* Everybody's numbers of elements and where they are. */
struct shares {
	int counts[RANKS_MAX], at[RANKS_MAX], total;
};

static void share(struct shares *s, int i, int n)
{
	s->at[i] = i ? s->at[i - 1] + s->counts[i - 1] : 0;
	s->counts[i] = n;
	s->total = s->at[i] + n;
}

static struct shares shares_of(const struct call *k, int side)
{
	struct shares s = {.total = 0};

	for (int i = 0; i < k->on->n[side]; i++)
		share(&s, i, of_rank(k, side, i));
	return s;
}

static struct shares shares_between(const struct call *k)
{
	struct shares s = {.total = 0};

	for (int i = 0; i < k->peers; i++)
		share(&s, i, between(k, world_rank, k->on->world[far(k)][i]));
	return s;
}

/* ---- the calls ------------------------------------------------------------------------ */

static void barrier(struct call *k)
{
	COLLECT(DO, Barrier, barrier, k->on->comm);
}

static void bcast(struct call *k)
{
	COLLECT(DO_LARGE, Bcast, bcast, memory(k, k->count), k->count, k->type, k->to, k->on->comm);
	if (is_root(k))
		sends(k, k->peers, (long long)k->peers * k->count);
	else if (!is_aside(k))
		receives(k, 1, k->count);
}

/* Each rank's part of a rooted call, and the root's. */
static void count_rooted(struct call *k, bool gathers, long long mine, long long all)
{
	void (*const leaf)(struct call *, int, long long) = gathers ? sends : receives;
	void (*const root)(struct call *, int, long long) = gathers ? receives : sends;

	if (is_aside(k))
		return;
	if (!is_root(k) || (!is_inter(k->on) && !k->in_place))
		leaf(k, 1, mine);
	if (is_root(k))
		root(k, partners(k), all - (k->in_place ? mine : 0));
}

static void gather(struct call *k)
{
	void *in = memory(k, k->count), *out = memory(k, (long long)k->peers * k->count);

	COLLECT(DO_LARGE, Gather, gather, or_in_place(k, is_root(k), in), k->count, k->type, out,
		k->count, k->type, k->to, k->on->comm);
	count_rooted(k, true, k->count, (long long)k->peers * k->count);
}

static void scatter(struct call *k)
{
	void *in = memory(k, (long long)k->peers * k->count), *out = memory(k, k->count);

	COLLECT(DO_LARGE, Scatter, scatter, in, k->count, k->type, or_in_place(k, is_root(k), out),
		k->count, k->type, k->to, k->on->comm);
	count_rooted(k, false, k->count, (long long)k->peers * k->count);
}

/* Arrays of non-blocking calls must live until the end: those of all calls do. */
static struct shares *keep(const struct shares *s)
{
	return memcpy(room(sizeof(*s)), s, sizeof(*s));
}

static void gatherv(struct call *k)
{
	const struct shares all = shares_of(k, far(k)), *s = keep(&all);
	const int mine = of_rank(k, k->on->side, k->on->rank);
	void *in = memory(k, mine), *out = memory(k, s->total);

	COLLECT(DO, Gatherv, gatherv, or_in_place(k, is_root(k), in), mine, k->type, out, s->counts,
		s->at, k->type, k->to, k->on->comm);
	count_rooted(k, true, mine, s->total);
}

static void scatterv(struct call *k)
{
	const struct shares all = shares_of(k, far(k)), *s = keep(&all);
	const int mine = of_rank(k, k->on->side, k->on->rank);
	void *in = memory(k, s->total), *out = memory(k, mine);

	COLLECT(DO, Scatterv, scatterv, in, s->counts, s->at, k->type,
		or_in_place(k, is_root(k), out), mine, k->type, k->to, k->on->comm);
	count_rooted(k, false, mine, s->total);
}

static void reduce(struct call *k)
{
	void *in = memory(k, k->count), *out = memory(k, k->count);

	COLLECT(DO_LARGE, Reduce, reduce, or_in_place(k, is_root(k), in), out, k->count, k->type,
		MPI_SUM, k->to, k->on->comm);
	count_rooted(k, true, k->count, (long long)k->peers * k->count);
}

static void count_all(struct call *k)
{
	sends(k, partners(k), (long long)partners(k) * k->count);
	receives(k, partners(k), (long long)partners(k) * k->count);
}

static void allreduce(struct call *k)
{
	void *in = memory(k, k->count), *out = memory(k, k->count);

	COLLECT(DO_LARGE, Allreduce, allreduce, or_in_place(k, true, in), out, k->count, k->type,
		MPI_SUM, k->on->comm);
	count_all(k);
}

static void allgather(struct call *k)
{
	void *in = memory(k, k->count), *out = memory(k, (long long)k->peers * k->count);

	COLLECT(DO_LARGE, Allgather, allgather, or_in_place(k, true, in), k->count, k->type, out,
		k->count, k->type, k->on->comm);
	count_all(k);
}

static void alltoall(struct call *k)
{
	void *in = memory(k, (long long)k->peers * k->count);
	void *out = memory(k, (long long)k->peers * k->count);

	COLLECT(DO_LARGE, Alltoall, alltoall, or_in_place(k, true, in), k->count, k->type, out,
		k->count, k->type, k->on->comm);
	count_all(k);
}

static void allgatherv(struct call *k)
{
	const struct shares all = shares_of(k, far(k)), *s = keep(&all);
	const int mine = of_rank(k, k->on->side, k->on->rank);
	void *in = memory(k, mine), *out = memory(k, s->total);

	COLLECT(DO, Allgatherv, allgatherv, or_in_place(k, true, in), mine, k->type, out, s->counts,
		s->at, k->type, k->on->comm);
	sends(k, partners(k), (long long)partners(k) * mine);
	receives(k, partners(k), s->total - (k->in_place ? mine : 0));
}

static void count_pairs(struct call *k, const struct shares *s)
{
	const int oneself = k->in_place ? s->counts[k->on->rank] : 0;

	sends(k, partners(k), s->total - oneself);
	receives(k, partners(k), s->total - oneself);
}

static void alltoallv(struct call *k)
{
	const struct shares all = shares_between(k), *s = keep(&all);
	void *in = memory(k, s->total), *out = memory(k, s->total);

	COLLECT(DO, Alltoallv, alltoallv, or_in_place(k, true, in), s->counts, s->at, k->type, out,
		s->counts, s->at, k->type, k->on->comm);
	count_pairs(k, s);
}

static MPI_Datatype *same_types(const struct call *k)
{
	MPI_Datatype *types = room(RANKS_MAX * sizeof(*types));

	for (int i = 0; i < RANKS_MAX; i++)
		types[i] = k->type;
	return types;
}

static void alltoallw(struct call *k)
{
	struct shares all = shares_between(k), *s = keep(&all);
	MPI_Datatype *types = same_types(k);
	void *in = memory(k, s->total), *out = memory(k, s->total);

	for (int i = 0; i < RANKS_MAX; i++)
		s->at[i] *= EXTENT_MAX;
	COLLECT(DO, Alltoallw, alltoallw, or_in_place(k, true, in), s->counts, s->at, types, out,
		s->counts, s->at, types, k->on->comm);
	count_pairs(k, s);
}

/* To rank 0 (of the other side) and from it to its own side. */
static void count_reduce_scatter(struct call *k, int mine, int total)
{
	const int here = k->on->n[k->on->side];

	if (k->on->rank || !k->in_place) {
		sends(k, 1, total);
		receives(k, 1, mine);
	}
	if (!k->on->rank) {
		receives(k, partners(k), (long long)partners(k) * total);
		sends(k, here - (k->in_place ? 1 : 0), total - (k->in_place ? mine : 0));
	}
}

static void reduce_scatter(struct call *k)
{
	const struct shares all = shares_of(k, k->on->side), *s = keep(&all);
	void *in = memory(k, s->total), *out = memory(k, s->total);

	COLLECT(DO, Reduce_scatter, reduce_scatter, or_in_place(k, true, in), out, s->counts,
		k->type, MPI_SUM, k->on->comm);
	count_reduce_scatter(k, s->counts[k->on->rank], s->total);
}

static void reduce_scatter_block(struct call *k)
{
	const int here = k->on->n[k->on->side];
	void *in = memory(k, (long long)here * k->count);
	void *out = memory(k, (long long)here * k->count);

	COLLECT(DO_LARGE, Reduce_scatter_block, reduce_scatter_block, or_in_place(k, true, in), out,
		k->count, k->type, MPI_SUM, k->on->comm);
	count_reduce_scatter(k, k->count, here * k->count);
}

static void count_chain(struct call *k)
{
	if (k->on->rank + 1 < k->on->n[0])
		sends(k, 1, k->count);
	if (k->on->rank > 0)
		receives(k, 1, k->count);
}

static void scan(struct call *k)
{
	COLLECT(DO_LARGE, Scan, scan, or_in_place(k, true, memory(k, k->count)),
		memory(k, k->count), k->count, k->type, MPI_SUM, k->on->comm);
	count_chain(k);
}

static void exscan(struct call *k)
{
	COLLECT(DO_LARGE, Exscan, exscan, or_in_place(k, true, memory(k, k->count)),
		memory(k, k->count), k->count, k->type, MPI_SUM, k->on->comm);
	count_chain(k);
}

/* ---- neighbours ----------------------------------------------------------------------- */

static struct shares shares_even(const int *ranks, int n, int elements)
{
	struct shares s = {.total = 0};

	for (int i = 0; i < n; i++)
		share(&s, i, ranks[i] < 0 ? 0 : elements);
	return s;
}

static struct shares shares_near(const struct call *k, const int *ranks, int n)
{
	struct shares s = {.total = 0};

	for (int i = 0; i < n; i++)
		share(&s, i, ranks[i] < 0 ? 0 : between(k, world_rank, k->on->world[0][ranks[i]]));
	return s;
}

static struct shares shares_from(const struct call *k, const int *ranks, int n)
{
	struct shares s = {.total = 0};

	for (int i = 0; i < n; i++)
		share(&s, i, ranks[i] < 0 ? 0 : of_rank(k, 0, ranks[i]));
	return s;
}

static void count_near(struct call *k, const struct shares *out, const struct shares *in)
{
	const struct group *g = k->on;

	for (int i = 0; i < g->n_out; i++) {
		const long long bytes = (long long)out->counts[i] * k->bytes;

		if (g->out[i] == MPI_PROC_NULL)
			continue;
		sends(k, 1, out->counts[i]);
		count_neighbour(
			g->world[0][g->out[i]], &(struct tally){.sends = 1, .bytes_sent = bytes});
	}
	for (int i = 0; i < g->n_in; i++) {
		const long long bytes = (long long)in->counts[i] * k->bytes;

		if (g->in[i] == MPI_PROC_NULL)
			continue;
		receives(k, 1, in->counts[i]);
		count_neighbour(g->world[0][g->in[i]],
			&(struct tally){.receives = 1, .bytes_received = bytes});
	}
}

static void count_near_even(struct call *k, int sent, const struct shares *in)
{
	const struct shares out = shares_even(k->on->out, k->on->n_out, sent);

	count_near(k, &out, in);
}

static void neighbor_allgather(struct call *k)
{
	const struct group *g = k->on;
	const struct shares from = shares_even(g->in, g->n_in, k->count);
	void *in = memory(k, k->count), *out = memory(k, (long long)g->n_in * k->count);

	COLLECT(DO_LARGE, Neighbor_allgather, neighbor_allgather, in, k->count, k->type, out,
		k->count, k->type, g->comm);
	count_near_even(k, k->count, &from);
}

static void neighbor_alltoall(struct call *k)
{
	const struct group *g = k->on;
	const struct shares from = shares_even(g->in, g->n_in, k->count);
	void *in = memory(k, (long long)g->n_out * k->count);
	void *out = memory(k, (long long)g->n_in * k->count);

	COLLECT(DO_LARGE, Neighbor_alltoall, neighbor_alltoall, in, k->count, k->type, out,
		k->count, k->type, g->comm);
	count_near_even(k, k->count, &from);
}

static void neighbor_allgatherv(struct call *k)
{
	const struct group *g = k->on;
	const struct shares from = shares_from(k, g->in, g->n_in), *s = keep(&from);
	const int mine = of_rank(k, 0, g->rank);

	COLLECT(DO, Neighbor_allgatherv, neighbor_allgatherv, memory(k, mine), mine, k->type,
		memory(k, s->total), s->counts, s->at, k->type, g->comm);
	count_near_even(k, mine, s);
}

static void neighbor_alltoallv(struct call *k)
{
	const struct group *g = k->on;
	const struct shares to = shares_near(k, g->out, g->n_out), *out = keep(&to);
	const struct shares from = shares_near(k, g->in, g->n_in), *in = keep(&from);

	COLLECT(DO, Neighbor_alltoallv, neighbor_alltoallv, memory(k, out->total), out->counts,
		out->at, k->type, memory(k, in->total), in->counts, in->at, k->type, g->comm);
	count_near(k, out, in);
}

static void neighbor_alltoallw(struct call *k)
{
	const struct group *g = k->on;
	const struct shares to = shares_near(k, g->out, g->n_out), *out = keep(&to);
	const struct shares from = shares_near(k, g->in, g->n_in), *in = keep(&from);
	MPI_Aint *at = room(2 * RANKS_MAX * sizeof(*at));
	MPI_Datatype *types = same_types(k);

	for (int i = 0; i < RANKS_MAX; i++) {
		at[i] = (MPI_Aint)out->at[i] * EXTENT_MAX;
		at[RANKS_MAX + i] = (MPI_Aint)in->at[i] * EXTENT_MAX;
	}
	COLLECT(DO, Neighbor_alltoallw, neighbor_alltoallw, memory(k, out->total), out->counts, at,
		types, memory(k, in->total), in->counts, at + RANKS_MAX, types, g->comm);
	count_near(k, out, in);
}

/* ---- drawing ---------------------------------------------------------------------------- */

enum { ANY_COMM = 1, INTRA = 2, NEAR = 4, SUMS = 8, PLACE = 16, GRID = 32 };

static const struct {
	void (*call)(struct call *);
	int what;
} calls[] = {{barrier, ANY_COMM}, {bcast, ANY_COMM}, {gather, ANY_COMM | PLACE},
	{scatter, ANY_COMM | PLACE}, {gatherv, ANY_COMM | PLACE}, {scatterv, ANY_COMM | PLACE},
	{reduce, ANY_COMM | PLACE | SUMS}, {allreduce, ANY_COMM | PLACE | SUMS},
	{allgather, ANY_COMM | PLACE}, {alltoall, ANY_COMM | PLACE}, {allgatherv, ANY_COMM | PLACE},
	{alltoallv, ANY_COMM | PLACE}, {alltoallw, ANY_COMM | PLACE},
	{reduce_scatter, INTRA | PLACE | SUMS}, {reduce_scatter_block, INTRA | PLACE | SUMS},
	{scan, INTRA | PLACE | SUMS}, {exscan, INTRA | PLACE | SUMS}, {neighbor_allgather, NEAR},
	{neighbor_alltoall, NEAR}, {neighbor_allgatherv, NEAR}, {neighbor_alltoallv, NEAR},
	{neighbor_alltoallw, GRID}};

static bool is_intra(const struct group *g)
{
	return !is_inter(g);
}

/* MPICH 4.0 stops in MPI_Neighbor_alltoallw where edges of a graph are double. */
static bool is_grid(const struct group *g)
{
	return g->n_in == 4 && g->n_out == 4 && g->name[0] == 'c';
}

/* All ranks know who has a topology: where this rank does, everybody does. */
static bool is_near(const struct group *g)
{
	return g->n_in > 0;
}

static void finish(struct call *k)
{
	if (k->how != PERSISTENT) {
		count_collective(k->on, &k->t);
		if (k->how == NONBLOCKING)
			open_request(k->request, NULL);
		return;
	}
	DO(MPI_Start, &k->request);
	count_collective(k->on, &k->t);
	DO(MPI_Wait, &k->request, MPI_STATUS_IGNORE);
	DO(MPI_Request_free, &k->request);
}

static void run(struct call *k, int which)
{
	k->salt = pick(1000);
	k->count = pick(8) ? pick(20) : pick(3) ? 0 : pick(2000);
	k->root_side = is_inter(k->on) ? pick(2) : 0;
	k->root = pick(k->on->n[k->root_side]);
	if (k->on->rank < 0)
		return;
	k->type = kinds[k->kind].type;
	k->bytes = kinds[k->kind].bytes;
	k->peers = k->on->n[far(k)];
	k->to = k->root;
	if (is_inter(k->on) && k->on->side == k->root_side)
		k->to = is_root(k) ? MPI_ROOT : MPI_PROC_NULL;
	calls[which].call(k);
	finish(k);
}

void collective(void)
{
	const int which = pick(sizeof(calls) / sizeof(calls[0])), what = calls[which].what;
	struct call k = {.on = pick_group(what & GRID	 ? is_grid
					  : what & NEAR	 ? is_near
					  : what & INTRA ? is_intra
							 : NULL)};

	k.how = pick(2) ? BLOCKING : NONBLOCKING;
	k.in_place = what & PLACE && !is_inter(k.on) && !pick(3);
	/* Open MPI 4.1 may stop there */
	if (k.how == NONBLOCKING &&
		(calls[which].call == alltoallv || calls[which].call == alltoallw))
		k.in_place = false;
	k.kind = what & SUMS ? 1 + pick(KIND_BASIC - 1) : pick(KINDS);
	run(&k, which);
}

/*
 * MPICH 4.0 may stop in persistent collective calls, and drops derived types of
 * them once too often: a few, on a communicator without any others.
 */
void persistent_collectives(const struct group *g)
{
	for (int which = 0; which < (int)(sizeof(calls) / sizeof(calls[0])); which++) {
		struct call k = {.on = g, .how = PERSISTENT, .kind = 2};

		if (calls[which].call == barrier || calls[which].call == bcast ||
			calls[which].call == gather || calls[which].call == allreduce)
			run(&k, which);
	}
	rooms_free();
}
