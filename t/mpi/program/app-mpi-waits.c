/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls whose members come at different times, for mpi.show_sync_time; 4 ranks.
 * Each scene is a function of its own with one call, below functions named after the
 * communicator and the rank:
 *  - on_world: MPI_COMM_WORLD with root 0
 *  - on_some: ranks 3, 2, 1 with root 2, that is rank 1 of the world
 *  - between: an intercommunicator of ranks 0, 1 and 3, 2
 * The program takes the times before and after each call itself. In the end rank 0 prints
 *	SCENE COMMUNICATOR INSTANCE RANK ROOT WORLD_RANK BEFORE_NS AFTER_NS
 * for all; of an intercommunicator RANK and ROOT are ranks of the world, too.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 4, TIMES = 5, LATE_MS = 40, STAMPS_MOST = 200 };

/* A member comes LATE_MS * late[p] / 2 after the first one; p: ranks above the root, or its
 * rank where there is none. */
struct scene {
	const char *name;
	void (*call)(int root);
	int rooted;
	int late[RANKS];
};

struct stamp {
	int64_t before, after;
	int32_t scene, on, instance, rank, root, world;
};

static struct stamp stamps[STAMPS_MOST];
static int n_stamps, world_rank;
static MPI_Comm comm, some, inter;
static int x[RANKS], y[RANKS];
static const int ones[RANKS] = {1, 1, 1, 1}, places[RANKS] = {0, 1, 2, 3};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- scenes ---------------------------------------------------------------- */

static void bcast_late_root(int root)
{
	MPI_Bcast(x, 1, MPI_INT, root, comm);
}

static void bcast_late_other(int root)
{
	MPI_Bcast(x, 1, MPI_INT, root, comm);
}

static void scatter(int root)
{
	MPI_Scatter(x, 1, MPI_INT, y, 1, MPI_INT, root, comm);
}

static void reduce_early_root(int root)
{
	MPI_Reduce(x, y, 1, MPI_INT, MPI_SUM, root, comm);
}

static void reduce_late_other(int root)
{
	MPI_Reduce(x, y, 1, MPI_INT, MPI_SUM, root, comm);
}

static void gatherv(int root)
{
	MPI_Gatherv(x, 1, MPI_INT, y, ones, places, MPI_INT, root, comm);
}

static void scan(int root)
{
	(void)root;
	MPI_Scan(x, y, 1, MPI_INT, MPI_SUM, comm);
}

static void scan_late_last(int root)
{
	(void)root;
	MPI_Scan(x, y, 1, MPI_INT, MPI_SUM, comm);
}

static void allreduce(int root)
{
	(void)root;
	MPI_Allreduce(x, y, 1, MPI_INT, MPI_SUM, comm);
}

static void barrier(int root)
{
	(void)root;
	MPI_Barrier(comm);
}

static const struct scene scenes[] = {{"bcast_late_root", bcast_late_root, 1, {2, 0, 1, 0}},
	{"bcast_late_other", bcast_late_other, 1, {0, 0, 2, 0}},
	{"scatter", scatter, 1, {1, 0, 2, 0}},
	{"reduce_early_root", reduce_early_root, 1, {0, 1, 2, 1}},
	{"reduce_late_other", reduce_late_other, 1, {1, 0, 2, 0}},
	{"gatherv", gatherv, 1, {0, 2, 0, 1}}, {"scan", scan, 0, {2, 0, 1, 0}},
	{"scan_late_last", scan_late_last, 0, {0, 0, 2, 2}},
	{"allreduce", allreduce, 0, {0, 2, 1, 0}}, {"barrier", barrier, 0, {1, 0, 0, 2}}};

/* root: of world_rank in the call, or of the scene */
static void play(int s, int on, int instance, int rank, int late, int argument, int root)
{
	struct stamp *at = &stamps[n_stamps++];

	*at = (struct stamp){.scene = s,
		.on = on,
		.instance = instance,
		.rank = rank,
		.root = root,
		.world = world_rank};
	if (late)
		usleep((useconds_t)late * LATE_MS * 1000 / 2);
	at->before = now();
	scenes[s].call(argument);
	at->after = now();
}

static void play_all(MPI_Comm on, int which, int root)
{
	int rank, size;

	comm = on;
	MPI_Comm_rank(on, &rank);
	MPI_Comm_size(on, &size);
	for (int s = 0; s < (int)(sizeof(scenes) / sizeof(scenes[0])); s++)
		for (int i = 0; i < TIMES; i++) {
			const int p = scenes[s].rooted ? (rank - root + size) % size : rank;

			MPI_Barrier(on);
			play(s, which, i, rank, scenes[s].late[p], root, root);
		}
}

/* ---- where ------------------------------------------------------------------- */

static void on_world(void)
{
	play_all(MPI_COMM_WORLD, 0, 0);
}

static void on_some(void)
{
	play_all(some, 1, 2);
}

/* Root is rank 1 of the world, which is 1 in its group. */
static void between(void)
{
	const int late[][RANKS] = {{0, 1, 0, 2}, {1, 0, 2, 0}, {2, 0, 0, 1}}, of[] = {0, 3, 8};
	const int first = world_rank < 2, there = world_rank == 1 ? MPI_ROOT : MPI_PROC_NULL;

	comm = inter;
	for (int s = 0; s < 3; s++)
		for (int i = 0; i < TIMES; i++) {
			MPI_Barrier(MPI_COMM_WORLD);
			play(of[s], 2, i, world_rank, late[s][world_rank], first ? there : 1, 1);
		}
}

static void everywhere(void)
{
	on_world();
	if (some != MPI_COMM_NULL)
		on_some();
	between();
}

static void rank_0(void)
{
	everywhere();
}

static void rank_1(void)
{
	everywhere();
}

static void rank_2(void)
{
	everywhere();
}

static void rank_3(void)
{
	everywhere();
}

static void report(void)
{
	static const char *const where[] = {"on_world", "on_some", "between"};
	struct stamp *all = calloc(RANKS, sizeof(stamps));

	MPI_Gather(
		stamps, sizeof(stamps), MPI_BYTE, all, sizeof(stamps), MPI_BYTE, 0, MPI_COMM_WORLD);
	for (int i = 0; i < RANKS * STAMPS_MOST && !world_rank; i++)
		if (all[i].before)
			printf("%s %s %d %d %d %d %lld %lld\n", scenes[all[i].scene].name,
				where[all[i].on], all[i].instance, all[i].rank, all[i].root,
				all[i].world, (long long)all[i].before, (long long)all[i].after);
	free(all);
}

int main(int argc, char **argv)
{
	static void (*const as[RANKS])(void) = {rank_0, rank_1, rank_2, rank_3};
	MPI_Comm half;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	MPI_Comm_split(MPI_COMM_WORLD, world_rank ? 1 : MPI_UNDEFINED, -world_rank, &some);
	MPI_Comm_split(
		MPI_COMM_WORLD, world_rank < 2, world_rank < 2 ? world_rank : -world_rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_rank < 2 ? 3 : 0, 1, &inter);
	as[world_rank]();
	report();
	MPI_Finalize();
	return 0;
}
