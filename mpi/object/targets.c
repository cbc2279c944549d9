/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/targets.h"
#include "mpi/memory.h"
#include "shm/atomic.h"

static size_t bytes_of(int n)
{
	return sizeof(struct targets) + (size_t)n * sizeof(int);
}

static void drop(struct targets *t)
{
	if (!t)
		return;
	PMPI_Group_free(&t->group);
	vftr_memory_give(t, bytes_of(t->n));
}

/* Several threads may be in calls on one window, though MPI allows none to be in two of one kind.
 */
static struct targets *take(uint64_t *kept)
{
	const uint64_t t = load_relaxed(kept); /* the claim says whether it is still there */

	/* pairs with vftr_targets_keep() */
	return t && claim_u64(kept, t, 0) ? (struct targets *)(uintptr_t)t : NULL;
}

static bool have_ranks_of(const struct targets *t, MPI_Group group)
{
	int result = MPI_UNEQUAL;

	return PMPI_Group_compare(t->group, group, &result) == MPI_SUCCESS && result == MPI_IDENT;
}

static bool translate(struct targets *t, MPI_Group group, MPI_Win window)
{
	int *from = vftr_memory_take((size_t)t->n * sizeof(*from));
	MPI_Group all;
	bool known = false;

	for (int i = 0; from && i < t->n; i++)
		from[i] = i;
	if (from && PMPI_Win_get_group(window, &all) == MPI_SUCCESS) {
		known = PMPI_Group_translate_ranks(group, t->n, from, all, t->target) ==
			MPI_SUCCESS;
		PMPI_Group_free(&all);
	}
	vftr_memory_give(from, (size_t)t->n * sizeof(*from));
	return known;
}

static struct targets *new_targets(MPI_Group group, MPI_Win window)
{
	struct targets *t;
	int n = 0;

	if (PMPI_Group_size(group, &n) != MPI_SUCCESS || n <= 0)
		return NULL;
	t = vftr_memory_take(bytes_of(n));
	if (!t)
		return NULL;
	t->n = n;
	if (translate(t, group, window) &&
		PMPI_Group_union(group, MPI_GROUP_EMPTY, &t->group) == MPI_SUCCESS)
		return t;
	vftr_memory_give(t, bytes_of(n));
	return NULL;
}

struct targets *vftr_targets_of(uint64_t *kept, MPI_Group group, MPI_Win window)
{
	struct targets *t = take(kept);

	if (t && have_ranks_of(t, group))
		return t;
	drop(t);
	return new_targets(group, window);
}

void vftr_targets_keep(uint64_t *kept, struct targets *t)
{
	if (t && !claim_u64(kept, 0, (uintptr_t)t)) /* pairs with take() */
		drop(t);
}

void vftr_targets_drop(uint64_t *kept)
{
	drop(take(kept));
}
