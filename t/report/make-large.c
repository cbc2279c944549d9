/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make-large FILE.vfp: a node profile with PATHS call paths and RANKS ranks, to see how large its
 * report is, and how long it takes.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/ids.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp.h"
#include "t/lib/dice.h"
#include "t/unit/profile/random-profile.h"

#define PATHS 100000u
#define RANKS 4096u
#define NAMES 1000u

static void add_paths(struct dice *d, struct profile *p)
{
	p->stacks = xcalloc(PATHS, sizeof(*p->stacks));
	p->n_stacks = PATHS;
	p->names = xcalloc(NAMES, sizeof(*p->names));
	p->n_names = NAMES;
	for (uint32_t i = 0; i < NAMES; i++)
		p->names[i] = i ? xasprintf("solver_of_equations_%u", i) : xstrdup("init");
	for (uint32_t i = 0; i < PATHS; i++) {
		struct profile_stack *s = &p->stacks[i];
		const uint64_t ns = 1000 + throw_dice(d, 1000000) * throw_dice(d, 1000000) / 1000;

		s->parent = i ? (i - 1) / 3 : PROFILE_NONE;
		s->name = i ? 1 + i % (NAMES - 1) : 0;
		s->calls = RANKS;
		s->ranks = RANKS;
		s->excl_ns = s->incl_ns = ns;
	}
	for (uint32_t i = PATHS; --i;)
		p->stacks[p->stacks[i].parent].incl_ns += p->stacks[i].incl_ns;
	sort_random_stacks(p);
}

static void add_ranks(struct dice *d, struct profile *p)
{
	p->ranks = p->world_size = RANKS;
	p->rank_times = xcalloc(RANKS, sizeof(*p->rank_times));
	p->n_rank_times = RANKS;
	for (uint32_t i = 0; i < RANKS; i++) {
		const uint64_t useful_ns = 1000000000 + throw_dice(d, 100000000);

		p->rank_times[i] = (struct profile_rank_time){
			.rank = i,
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
	}
}

int main(int argc, char **argv)
{
	struct dice d = {.state = 1};
	struct profile *p = profile_new();
	int error;

	if (argc != 2)
		die(99, "usage: make-large FILE.vfp");
	profile_add_executable(p, "/opt/app");
	add_paths(&d, p);
	add_ranks(&d, p);
	error = vfp_write(p, argv[1]);
	if (error)
		die(99, "%s: %s", argv[1], strerror(-error));
	profile_free(p);
}
