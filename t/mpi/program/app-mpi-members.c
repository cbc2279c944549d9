/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of communicators far larger than a test can have: random groups are
 * made into runs, sent in packets, and put together again.
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
	printf("%u failures, %s\n", failures, most_packets > 2 ? "several packets" : "one packet");
	return failures != 0;
}
