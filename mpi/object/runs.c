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

/* ---- of a group ---- */

/*
 * Open MPI looks for each rank from the start of the second group: for all of 480 000 ranks it
 * would take ten minutes. So a few members are guessed from those before, and looked for in a group
 * of these ranks only; members for which that fails are looked for in the world. MPICH has a table
 * of the world.
 */
#ifdef OPEN_MPI
#define GUESSES	  64
#define SEARCHED  2 /* they begin a run, which shows its stride */
#define FEW	  8
#define MAY_GUESS true
#else
#define GUESSES	  1
#define SEARCHED  RUNS_AT_ONCE
#define FEW	  1
#define MAY_GUESS false
#endif

struct walk {
	MPI_Group group, world;
	uint32_t size, at; /* members, and how many are in the runs */
	int world_size;
	runs_find *find;
	const void *others;
	struct wire_run *run;
	uint32_t n;
	int guesses; /* next time */
};

static void append(struct walk *w, int32_t member)
{
	w->n = append_member(w->run, w->n, member);
	w->at++;
}

/* Appends the next members as long as they are these ranks of the world; false: none is. */
static bool guess(struct walk *w, int64_t first, int64_t stride)
{
	int from[GUESSES], rank[GUESSES], found[GUESSES], n = 0, right = 0;
	const uint32_t left = w->size - w->at;
	MPI_Group guessed;

	for (int64_t r = first; r >= 0 && r < w->world_size; r += stride) {
		if (n == w->guesses || (uint32_t)n == left)
			break;
		from[n] = (int)w->at + n;
		rank[n++] = (int)r;
	}
	if (!n || PMPI_Group_incl(w->world, n, rank, &guessed) != MPI_SUCCESS)
		return false;
	if (PMPI_Group_translate_ranks(w->group, n, from, guessed, found) == MPI_SUCCESS)
		while (right < n && found[right] == right)
			right++;
	PMPI_Group_free(&guessed);
	for (int i = 0; i < right; i++)
		append(w, rank[i]);
	w->guesses = right < n ? FEW : n < GUESSES / 2 ? 2 * n : GUESSES;
	return right > 0;
}

/* The last run goes on, or the next one is as far from it as it is from the one before. */
static bool guess_next(struct walk *w)
{
	const struct wire_run *last = &w->run[w->n - 1], *before = last - 1;
	int64_t first, stride;

	if (!MAY_GUESS || !w->n || last->first < 0)
		return false;
	first = last->first;
	stride = last->stride;
	if (guess(w, first + stride * last->count, stride))
		return true;
	return w->n > 1 && before->first >= 0 && before->count == last->count &&
	       guess(w, 2 * first - before->first, stride);
}

static void search(struct walk *w)
{
	int from[SEARCHED] = {0}, to[SEARCHED];
	const uint32_t left = w->size - w->at;
	const int some = (int)(left < SEARCHED ? left : SEARCHED);

	for (int i = 0; i < some; i++)
		from[i] = (int)w->at + i;
	if (PMPI_Group_translate_ranks(w->group, some, from, w->world, to) != MPI_SUCCESS)
		memset(to, 0xff, sizeof(to));
	for (int i = 0; i < some; i++)
		to[i] = to[i] == MPI_UNDEFINED || to[i] < 0 ? WIRE_UNKNOWN : to[i];
	w->find(w->others, w->group, some, from, to);
	for (int i = 0; i < some; i++)
		append(w, to[i]);
}

uint32_t vftr_runs_of_group(MPI_Group group, uint32_t size, MPI_Group world, runs_find *find,
	const void *others, struct wire_run *run)
{
	struct walk w = {.group = group,
		.world = world,
		.size = size,
		.find = find,
		.others = others,
		.run = run,
		.guesses = FEW};

	if (PMPI_Group_size(world, &w.world_size) != MPI_SUCCESS)
		w.world_size = 0;
	while (w.at < size)
		if (!guess_next(&w))
			search(&w);
	return w.n;
}
