/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of epochs on a window of 3 ranks, made anew each time: MPI is asked for their ranks in the
 * window only where they are others than the last time, and nothing is left in the end.
 */
#include <mpi.h>

static int asked;

static int ask(MPI_Group group, int n, const int *rank, MPI_Group in, int *to)
{
	asked++;
	return MPI_Group_translate_ranks(group, n, rank, in, to);
}

#define PMPI_Group_translate_ranks ask
#include "mpi/object/targets.c"

#include <stdio.h>
#include <stdlib.h>

static size_t taken;

void *vftr_memory_take(size_t bytes)
{
	taken += bytes;
	return calloc(1, bytes);
}

void vftr_memory_give(void *piece, size_t bytes)
{
	if (piece)
		taken -= bytes;
	free(piece);
}

static uint64_t kept;
static int failures;

/* An epoch with these ranks; asked so often by then. */
static void epoch(MPI_Win window, int n, const int *rank, int wanted)
{
	MPI_Group all, group;
	struct targets *t;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, n, rank, &group);
	t = vftr_targets_of(&kept, group, window);
	if ((t ? t->n : 0) != n || asked != wanted) {
		printf("%d of %d ranks, asked %d times, not %d\n", t ? t->n : 0, n, asked, wanted);
		failures++;
	}
	for (int i = 0; t && i < n; i++)
		failures += t->target[i] != rank[i];
	vftr_targets_keep(&kept, t);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
	const int both[] = {1, 2}, turned[] = {2, 1}, first[] = {0};
	int rank, memory[4];
	struct targets *second;
	MPI_Win window;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	for (int i = 0; i < 10; i++)
		epoch(window, 2, both, 1);
	for (int i = 0; i < 10; i++)
		epoch(window, 2, turned, 2);
	epoch(window, 1, first, 3);
	epoch(window, 0, NULL, 3);
	epoch(window, 1, first, 4);
	second = take(&kept); /* as another thread may have it */
	epoch(window, 1, first, 5);
	vftr_targets_keep(&kept, second);
	vftr_targets_drop(&kept);
	MPI_Win_free(&window);
	if (!rank)
		printf("%d failures, %zu bytes left\n", failures, taken);
	MPI_Finalize();
	return failures != 0;
}
