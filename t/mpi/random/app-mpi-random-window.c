/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication: between fences, or with locks. */
#include "app-mpi-random.h"

#define SLOT 128 /* bytes of the window for each operation */

static bool has_window(const struct group *g)
{
	return g->window != MPI_WIN_NULL;
}

#define TARGET rank, slot *SLOT, n, MPI_INT, g->window

/* Those with a request can be used with locks only. */
static void operation(const struct group *g, int what, int rank, MPI_Aint slot, int n)
{
	const long long bytes = n * (long long)sizeof(int);
	const int to = g->world[0][rank];
	int *p = room(SLOT), *result = room(SLOT), *compare = room(SLOT);
	MPI_Request request;

	switch (what) {
	case 0:
		DO(MPI_Put, p, n, MPI_INT, TARGET);
		count_one_sided(g, to, bytes, 0);
		return;
	case 1:
		DO(MPI_Get, p, n, MPI_INT, TARGET);
		count_one_sided(g, to, 0, bytes);
		return;
	case 2:
		DO(MPI_Accumulate, p, n, MPI_INT, rank, slot * SLOT, n, MPI_INT, MPI_SUM,
			g->window);
		count_one_sided(g, to, bytes, 0);
		return;
	case 3:
		DO(MPI_Get_accumulate, p, n, MPI_INT, result, n, MPI_INT, rank, slot * SLOT, n,
			MPI_INT, MPI_SUM, g->window);
		count_one_sided(g, to, bytes, bytes);
		return;
	case 4:
		DO(MPI_Get_accumulate, NULL, 0, MPI_INT, result, n, MPI_INT, rank, slot * SLOT, n,
			MPI_INT, MPI_NO_OP, g->window);
		count_one_sided(g, to, 0, bytes);
		return;
	case 5:
		DO(MPI_Fetch_and_op, p, result, MPI_INT, rank, slot * SLOT, MPI_SUM, g->window);
		count_one_sided(g, to, sizeof(int), sizeof(int));
		return;
	case 6:
		DO(MPI_Compare_and_swap, p, compare, result, MPI_INT, rank, slot * SLOT, g->window);
		count_one_sided(g, to, sizeof(int), sizeof(int));
		return;
	case 7:
		DO(MPI_Rput, p, n, MPI_INT, TARGET, &request);
		count_one_sided(g, to, bytes, 0);
		break;
	default:
		DO(MPI_Rget, p, n, MPI_INT, TARGET, &request);
		count_one_sided(g, to, 0, bytes);
	}
	DO(MPI_Wait, &request, MPI_STATUS_IGNORE);
}

void one_sided(void)
{
	const struct group *g;
	const bool fences = pick(2), lock_all = pick(2);
	const int n = pick(8);

	if (stream->thread)
		return;
	g = pick_group(has_window);
	if (fences)
		DO(MPI_Win_fence, 0, g->window);
	else if (lock_all)
		DO(MPI_Win_lock_all, 0, g->window);
	for (int i = 0; i < n; i++) {
		const int from = pick(g->n[0]), to = pick(g->n[0]), count = pick(30);
		const int what = pick(fences ? 7 : 9);

		if (from != g->rank)
			continue;
		if (!fences && !lock_all)
			DO(MPI_Win_lock, MPI_LOCK_SHARED, to, 0, g->window);
		operation(g, what, to, i, count);
		if (!fences && !lock_all)
			DO(MPI_Win_unlock, to, g->window);
	}
	if (fences)
		DO(MPI_Win_fence, 0, g->window);
	else if (lock_all)
		DO(MPI_Win_unlock_all, g->window);
}
