/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make-large FILE.vfp [PATHS [RANKS [FIRST]]]: a node profile with so many call paths and ranks,
 * else 100 000 and 4 096, from rank FIRST on, to see how large its report is, and how long it
 * takes. With FIRST each rank has a second thread, of OpenMP, and rows in further lists.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/user-value.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/ids.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp.h"
#include "shm/gpu.h"
#include "shm/wire.h"
#include "t/lib/dice.h"
#include "t/unit/profile/random-profile.h"

#define NAMES 1000u

static uint32_t paths = 100000, ranks = 4096, first;
static bool with_openmp;

static void add_paths(struct dice *d, struct profile *p)
{
	p->stacks = xcalloc(paths, sizeof(*p->stacks));
	p->n_stacks = paths;
	p->names = xcalloc(NAMES, sizeof(*p->names));
	p->n_names = NAMES;
	for (uint32_t i = 0; i < NAMES; i++)
		p->names[i] = i ? xasprintf("solver_of_equations_%u", i) : xstrdup("init");
	for (uint32_t i = 0; i < paths; i++) {
		struct profile_stack *s = &p->stacks[i];
		const uint64_t ns = 1000 + throw_dice(d, 1000000) * throw_dice(d, 1000000) / 1000;

		s->parent = i ? (i - 1) / 3 : PROFILE_NONE;
		s->name = i ? 1 + i % (NAMES - 1) : 0;
		s->calls = ranks;
		s->ranks = ranks;
		s->excl_ns = s->incl_ns = ns;
		s->excl_min_ns = ns / ranks / 2;
		s->excl_max_ns = ns / ranks * 3 / 2;
		s->rank_min = first + i % ranks;
		s->rank_max = first + (i + 1) % ranks;
		s->excl_sumsq_ns2 = (unsigned __int128)ns * ns / ranks * 5 / 4;
		s->first_ns = (int64_t)i * 100 + 1;
		s->hash = (i + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
	}
	for (uint32_t i = paths; --i;)
		p->stacks[p->stacks[i].parent].incl_ns += p->stacks[i].incl_ns;
	sort_random_stacks(p);
}

static void add_worker(struct profile_rank_time *t, uint64_t wait_ns)
{
	t->flags |= RANK_HAS_OPENMP;
	t->threads = t->team_threads = 2;
	t->all_useful_ns = t->team_useful_ns = 2 * t->useful_ns;
	t->all_openmp_wait_ns = wait_ns;
	t->all_openmp_idle_ns = t->mpi_ns;
}

/* All workers were in teams of one region. */
static void add_region(struct profile *p)
{
	*ADD_ELEMENT(p, openmp) = (struct profile_openmp){.stack = paths / 2,
		.ranks = ranks,
		.calls = ranks,
		.size_min = 2,
		.size_max = 2,
		.threads = 2 * ranks,
		.wall_ns = ranks * UINT64_C(1000000000),
		.busy_ns = ranks * UINT64_C(1900000000),
		.average_ns = ranks * UINT64_C(950000000),
		.most_ns = ranks * UINT64_C(1000000000),
		.barrier_ns = ranks * UINT64_C(50000000),
		.wait_ns = ranks * UINT64_C(50000000)};
}

static void add_ranks(struct dice *d, struct profile *p)
{
	p->ranks = ranks;
	p->world_size = first + ranks;
	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){
		.first = first, .last = first + ranks - 1, .host = xasprintf("node%u", first)};
	p->rank_times = xcalloc(ranks, sizeof(*p->rank_times));
	p->n_rank_times = ranks;
	for (uint32_t i = 0; i < ranks; i++) {
		const uint64_t useful_ns = 1000000000 + throw_dice(d, 100000000);

		p->rank_times[i] = (struct profile_rank_time){
			.rank = first + i,
			.flags = RANK_HAS_MPI | RANK_LEFT_INIT | RANK_ENTERED_FINALIZE,
			.threads = 1,
			.team_threads = 1,
			.end_ns = 2000000000,
			.useful_ns = useful_ns,
			.all_useful_ns = useful_ns,
			.team_useful_ns = useful_ns,
			.team_most_ns = useful_ns,
			.mpi_ns = 2000000000 - useful_ns,
			.all_mpi_ns = 2000000000 - useful_ns,
		};
		if (with_openmp)
			add_worker(&p->rank_times[i], throw_dice(d, 100000000));
	}
	if (with_openmp)
		add_region(p);
}

/* 0: it is none. */
static void add_by_rank(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < ranks; i++) {
		struct profile_memory_rank *m = profile_add(p, PROFILE_MEMORY_RANKS);

		m->rank = first + i;
		m->processes = 1;
		m->peak_bytes = 1 + throw_dice(d, 1u << 30);
		m->live_bytes = m->peak_bytes / 10;
		m->bytes = 2 * m->peak_bytes;
	}
}

static void add_gpus(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < ranks; i++) {
		struct profile_gpu_device *g = profile_add(p, PROFILE_GPU_DEVICES);

		*g = (struct profile_gpu_device){
			.uuid = {i + 1, first + 1}, .rank = first + i, .processes = 1};
		g->busy_ns = 1 + throw_dice(d, 1u << 30);
		g->kernel_ns = g->busy_ns / 2;
		for (uint32_t k = 0; k < 2; k++) {
			struct profile_gpu_stream *s = profile_add(p, PROFILE_GPU_STREAMS);

			*s = (struct profile_gpu_stream){.rank = first + i,
				.context = k - 1,
				.stream = k - 1,
				.calls = 1 + throw_dice(d, 9)};
		}
	}
	profile_combine(p, PROFILE_GPU_STREAMS);
}

/* MPI_COMM_SELF of each rank, and half of a communicator of two. */
static void add_comms(struct profile *p)
{
	for (uint32_t i = 0; i < ranks; i++)
		for (uint32_t k = 0; k < 2; k++) {
			struct profile_comm *c = profile_add(p, PROFILE_COMMS);

			*c = (struct profile_comm){
				.id = k ? first + i + 1 : 1000000 + (first + i) / 2,
				.kind = k ? WIRE_COMM_PREDEFINED : WIRE_COMM_SPLIT,
				.size = k ? 1 : 2,
				.ranks = 1,
				.collectives = 3,
				.collective_ns = 1000000};
		}
	profile_combine(p, PROFILE_COMMS);
}

static void add_links(struct profile *p)
{
	for (uint32_t i = 0; i < ranks; i++) {
		struct profile_gpu_link *l = profile_add(p, PROFILE_GPU_LINKS);

		*l = (struct profile_gpu_link){.to = {i + 1, first + 1},
			.kind = GPU_COPY,
			.detail = GPU_COPY_TO_DEVICE,
			.calls = 2,
			.bytes = first + i,
			.ns = 1000};
	}
}

static void add_counters(struct profile *p)
{
	for (uint32_t i = 0; i < ranks; i++) {
		struct profile_user_counter *c = profile_add(p, PROFILE_USER_COUNTERS);

		*c = (struct profile_user_counter){.rank = first + i,
			.values = 2,
			.min = first + i,
			.max = first + i + 1,
			.last = first + i,
			.sum = user_value_bits(2 * (first + i) + 1),
			.name = xstrdup("cells\n1")};
	}
}

static uint32_t number_of(const char *text)
{
	char *end;
	const unsigned long long n = strtoull(text, &end, 10);

	return *end || n >= PROFILE_NONE ? 0 : (uint32_t)n;
}

int main(int argc, char **argv)
{
	struct dice d = {.state = 1};
	struct profile *p = profile_new();
	int error;

	if (argc > 2)
		paths = number_of(argv[2]);
	if (argc > 3)
		ranks = number_of(argv[3]);
	if (argc > 4) {
		first = number_of(argv[4]);
		with_openmp = true;
	}
	if (argc < 2 || argc > 5 || !paths || !ranks)
		die(99, "usage: make-large FILE.vfp [PATHS [RANKS [FIRST]]]");
	profile_add_executable(p, "/opt/app");
	add_paths(&d, p);
	add_ranks(&d, p);
	if (with_openmp) {
		add_by_rank(&d, p);
		add_gpus(&d, p);
		add_links(p);
		add_comms(p);
		add_counters(p);
	}
	error = vfp_write(p, argv[1]);
	if (error)
		die(99, "%s: %s", argv[1], strerror(-error));
	profile_free(p);
}
