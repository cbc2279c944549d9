/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of communicators far larger than a test can have: random groups are
 * made into runs, sent in packets, and put together again. MPI's groups are stand-ins: that of Open
 * MPI searches from the start, and counts its steps; that of MPICH has a table of the world.
 */
#include "mpi/object/members.c"
#include "mpi/object/runs.c"

#include <stdio.h>
#include <stdlib.h>

#define MOST 100000

static int ranks[MOST], got[MOST];
static uint32_t n_got, n_packets, runs_so_far, failures;

bool vftr_mpi_multiple;

bool vftr_active(void)
{
	return true;
}

uint32_t vftr_messages_off;

bool vftr_world_open(struct world *w)
{
	(void)w;
	return false;
}

void vftr_world_close(struct world *w)
{
	(void)w;
}

void *vftr_memory_take(size_t bytes)
{
	return calloc(1, bytes);
}

void vftr_memory_give(void *piece, size_t bytes)
{
	(void)bytes;
	free(piece);
}

/* 0: the world; 1: the group of `ranks`; 2: the last one that was made */
#define HANDLE(i) ((MPI_Group)(intptr_t)(0x10000 + 16 * (i)))
static int made[MOST], n_ranks, n_made, n_groups, world_size;
static uint64_t steps;

static int rank_in(MPI_Group group, int i)
{
	return group == HANDLE(0) ? i : group == HANDLE(1) ? ranks[i] : made[i];
}

static int size_of(MPI_Group group)
{
	return group == HANDLE(0) ? world_size : group == HANDLE(1) ? n_ranks : n_made;
}

int PMPI_Group_size(MPI_Group group, int *size)
{
	*size = size_of(group);
	return MPI_SUCCESS;
}

int PMPI_Group_incl(MPI_Group group, int n, const int *rank, MPI_Group *new)
{
	for (int i = 0; i < n; i++)
		made[i] = rank_in(group, rank[i]);
	n_made = n;
	n_groups++;
	*new = HANDLE(2);
	return MPI_SUCCESS;
}

int PMPI_Group_free(MPI_Group *group)
{
	n_groups--;
	*group = MPI_GROUP_NULL;
	return MPI_SUCCESS;
}

int PMPI_Group_translate_ranks(MPI_Group group, int n, const int *rank, MPI_Group in, int *to)
{
	for (int i = 0; i < n; i++) {
		const int wanted = rank_in(group, rank[i]), size = size_of(in);

#ifndef OPEN_MPI
		if (in == HANDLE(0)) {
			to[i] = wanted < size ? wanted : MPI_UNDEFINED;
			continue;
		}
#endif
		for (to[i] = 0; to[i] < size && rank_in(in, to[i]) != wanted; to[i]++)
			steps++;
		if (to[i] == size)
			to[i] = MPI_UNDEFINED;
	}
	return MPI_SUCCESS;
}

static void expect(int holds, const char *what, int group)
{
	if (!holds) {
		printf("group %d: %s\n", group, what);
		failures++;
	}
}

void vftr_define(struct wire_head *message, size_t fixed, const void *data, size_t bytes)
{
	const struct wire_comm *m = (const struct wire_comm *)message;
	const struct wire_run *run = data;

	expect(fixed == sizeof(*m) && bytes == m->runs * sizeof(*run) && bytes <= WIRE_TEXT_MAX,
		"a packet of a wrong size", 0);
	expect(m->runs && m->runs_before == runs_so_far, "runs out of order", 0);
	for (uint32_t i = 0; i < m->runs; i++)
		for (int k = 0; k < run[i].count && n_got < MOST; k++)
			got[n_got++] = run[i].first + k * run[i].stride;
	runs_so_far += m->runs;
	n_packets++;
}

/* Stretches of ranks in steps, of random ranks, and of unknown ones. */
static int random_group(int most)
{
	int n = 0, wanted = rand() % most + 1;

	while (n < wanted) {
		const int kind = rand() % 4, first = rand() % 1000000, step = rand() % 5 - 2;

		for (int k = rand() % 50; k >= 0 && n < wanted; k--)
			ranks[n++] = kind == 0	 ? MPI_UNDEFINED
				     : kind == 1 ? rand() % 1000000
						 : first + 100 + k * (step ? step : 1);
	}
	return n;
}

static void round_trip(int group, int n)
{
	struct wire_run *run = calloc((size_t)n + 1, sizeof(*run));
	struct mpi_comm c = {.number = 3, .size = (uint32_t)n};
	uint32_t n_runs = 0;

	for (int i = 0; i < n; i++)
		n_runs = vftr_run_append(run, n_runs, ranks[i]);
	c.members = members_of_runs(run, n_runs);
	n_got = n_packets = runs_so_far = 0;
	vftr_members_define(&c);
	expect(n_got == (uint32_t)n, "some are missing", group);
	for (int i = 0; i < n; i++)
		if (got[i] != (ranks[i] == MPI_UNDEFINED ? WIRE_UNKNOWN : ranks[i])) {
			expect(0, "another member", group);
			break;
		}
	vftr_members_drop(c.members);
	free(run);
}

static void find_none(
	const void *others, MPI_Group group, int some, const int *from, int32_t *member)
{
	(void)others, (void)group, (void)some, (void)from, (void)member;
}

/* The runs are those of all ranks, one by one. */
static void ask(int group, int n, int most_of_world)
{
	struct wire_run *run = calloc((size_t)n + 1, sizeof(*run)),
			*wanted = calloc((size_t)n + 1, sizeof(*run));
	uint32_t n_runs, n_wanted = 0;

	n_ranks = n;
	world_size = most_of_world;
	for (int i = 0; i < n; i++)
		n_wanted = vftr_run_append(wanted, n_wanted, ranks[i]);
	steps = 0;
	n_runs = vftr_runs_of_group(HANDLE(1), (uint32_t)n, HANDLE(0), find_none, NULL, run);
	expect(n_runs == n_wanted && !memcmp(run, wanted, n_runs * sizeof(*run)), "other runs",
		group);
	expect(!n_groups, "a group is left", group);
	free(run);
	free(wanted);
}

/* Each rank once, in no order. */
static void shuffle(int n)
{
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	for (int i = n - 1; i > 0; i--) {
		const int k = rand() % (i + 1), other = ranks[k];

		ranks[k] = ranks[i];
		ranks[i] = other;
	}
}

/* Groups that programs make are found in far less than the square of the ranks. */
static void few_steps(const char *what)
{
	expect(steps < (uint64_t)100 * MOST, what, -2);
}

static void groups(void)
{
	for (int i = 0; i < MOST; i++)
		ranks[i] = i;
	ask(-2, MOST, MOST);
	few_steps("all");
	for (int i = 0; i < MOST; i++)
		ranks[i] = MOST - 1 - i;
	ask(-2, MOST, MOST);
	few_steps("all from the last");
	for (int i = 0; i < MOST; i++)
		ranks[i] = 7 * i + 3;
	ask(-2, MOST, 7 * MOST);
	few_steps("each seventh");
	for (int i = 0; i < MOST; i++)
		ranks[i] = 1000 * (i / 100) + i % 100;
	ask(-2, MOST, 10 * MOST);
	few_steps("100 of each 1000");
	for (int i = 0; i < MOST; i++)
		ranks[i] = 4 * (i / 2) + i % 2;
	ask(-2, MOST, 2 * MOST);
	few_steps("pairs");
	for (int n = 1; n < 200; n++) {
		shuffle(n);
		ask(n, n, n);
		for (int i = 0; i < n; i++)
			ranks[i] = rand() % 3 ? ranks[i] : MPI_UNDEFINED;
		ask(n, n, n);
	}
}

int main(void)
{
	uint32_t most_packets = 0;

	srand(1);
	for (int group = 0; group < 300; group++) {
		round_trip(group, random_group(group < 5 ? MOST : 3000));
		if (n_packets > most_packets)
			most_packets = n_packets;
	}
	for (int i = 0; i < MOST; i++)
		ranks[i] = 2 * i;
	round_trip(-1, MOST);
	expect(runs_so_far == 1, "equal steps are one run", -1);
	groups();
	printf("%u failures, %s\n", failures, most_packets > 2 ? "several packets" : "one packet");
	return failures != 0;
}
