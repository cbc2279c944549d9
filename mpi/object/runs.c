/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/runs.h"
#include <string.h>

/* Ranks of the world, of another job's, and unknown ones are in runs of their own. */
static int kind_of_member(int32_t member)
{
	return member == WIRE_UNKNOWN ? 0 : member < 0 ? -1 : 1;
}

/* member: as in a run. */
static uint32_t append_member(struct wire_run *run, uint32_t n, int32_t member)
{
	struct wire_run *last = n ? &run[n - 1] : run;

	if (n && member == WIRE_UNKNOWN && last->first == WIRE_UNKNOWN) {
		last->count++;
		return n;
	}
	if (n && member != WIRE_UNKNOWN && kind_of_member(last->first) == kind_of_member(member)) {
		if (last->count == 1)
			last->stride = member - last->first;
		if (member == last->first + last->stride * last->count) {
			last->count++;
			return n;
		}
	}
	run[n] = (struct wire_run){member, member != WIRE_UNKNOWN, 1};
	return n + 1;
}

uint32_t vftr_run_append(struct wire_run *run, uint32_t n, int rank)
{
	return append_member(run, n, rank == MPI_UNDEFINED || rank < 0 ? WIRE_UNKNOWN : rank);
}

uint32_t vftr_runs_of_group(MPI_Group group, uint32_t size, MPI_Group world, runs_find *find,
	const void *others, struct wire_run *run)
{
	int from[RUNS_AT_ONCE], to[RUNS_AT_ONCE];
	uint32_t n = 0;

	for (uint32_t at = 0; at < size; at += RUNS_AT_ONCE) {
		const int some = (int)(size - at < RUNS_AT_ONCE ? size - at : RUNS_AT_ONCE);

		for (int i = 0; i < some; i++)
			from[i] = (int)at + i;
		if (PMPI_Group_translate_ranks(group, some, from, world, to) != MPI_SUCCESS)
			memset(to, 0xff, sizeof(to));
		for (int i = 0; i < some; i++)
			to[i] = to[i] == MPI_UNDEFINED || to[i] < 0 ? WIRE_UNKNOWN : to[i];
		find(others, group, some, from, to);
		for (int i = 0; i < some; i++)
			n = append_member(run, n, to[i]);
	}
	return n;
}
