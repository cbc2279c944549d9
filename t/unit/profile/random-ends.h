/* SPDX-License-Identifier: BSD-3-Clause */
/* For random-profile.h: what a random profile has left open, and who ended badly. */
#ifndef VFTR_T_RANDOM_ENDS_H
#define VFTR_T_RANDOM_ENDS_H

#include "nodeagent/profile/profile.h"
#include "t/lib/dice.h"

/* Runs of calls at some stacks. */
static inline void throw_iterations(struct profile *p, uint32_t rank)
{
	struct dice own = {.state = 7 * rank + p->n_stacks + 1}, *d = &own;

	for (uint32_t i = 0; i < p->n_stacks; i += 8)
		for (uint32_t run = 0; run < 4; run++) {
			struct profile_iteration *q;

			if (throw_dice(d, 3))
				continue;
			q = ADD_ELEMENT(p, iterations);
			*q = (struct profile_iteration){.stack = i,
				.log2 = i % 3,
				.run = run,
				.ranks = 1 + throw_dice(d, 4),
				.calls = 1 + throw_dice(d, 9),
				.least_ns = throw_dice(d, 1u << 20),
				.most_at = throw_dice(d, 30),
				.most_rank = rank + throw_dice(d, 4),
				.busy_rank = rank + throw_dice(d, 4)};
			q->most_ns = q->least_ns + throw_dice(d, 1u << 20);
			q->ns = q->most_ns + throw_dice(d, 1u << 20);
			q->mpi_ns = throw_dice(d, (uint32_t)q->ns + 1);
			q->busy_ns = q->ns - q->mpi_ns;
			q->wait_ns = q->mpi_ns / 3;
			q->off_ns = q->busy_ns / 4;
			q->busy_off_ns = q->busy_ns / 5;
			q->busy_queued_ns = q->busy_off_ns / 3;
			q->busy_asleep_ns = q->busy_off_ns / 2;
			q->busy_stack = run % 2 ? i + 1 : 0;
			q->others = run % 2 ? q->ranks / 2 : 0;
		}
}

static inline void throw_slices(struct profile *p, uint32_t rank)
{
	struct dice own = {.state = 5 * rank + p->n_stacks + 1}, *d = &own;

	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t number = 0; number < 6; number++) {
			struct profile_slice *q;

			if (throw_dice(d, 4) == 0)
				continue;
			q = ADD_ELEMENT(p, slices);
			*q = (struct profile_slice){.rank = rank + i,
				.log2 = 24 + i / 2,
				.number = number,
				.ranks = 1,
				.ns = 1 + throw_dice(d, 1u << 24)};
			q->mpi_ns = throw_dice(d, (uint32_t)q->ns + 1);
			q->wait_ns = throw_dice(d, (uint32_t)q->mpi_ns + 1);
			q->bytes_read = throw_dice(d, 1u << 30);
			q->bytes_written = i ? (uint64_t)throw_dice(d, 1u << 30) << 10 : 0;
		}
}

/* Of ranks, and of processes that are none; some have the same window. Dice of its own: what
 * others throw stays the same. */
static inline void throw_rank_times(struct profile *p, uint32_t rank)
{
	struct dice own = {.state = rank + p->n_stacks + 1}, *d = &own;

	for (uint32_t i = 0; i < 4 + p->unranked; i++) {
		struct profile_rank_time *t;

		if (throw_dice(d, 3) == 0)
			continue;
		t = ADD_ELEMENT(p, rank_times);
		*t = (struct profile_rank_time){.rank = i < 4 ? rank + i : PROFILE_UNRANKED + i - 4,
			.flags = throw_dice(d, RANK_FLAGS + 1),
			.threads = 4,
			.team_threads = 1 + throw_dice(d, 4),
			.begin_ns = throw_dice(d, 3),
			.error_ns = throw_dice(d, 2) ? throw_dice(d, 3) : UINT64_MAX};
		for (uint64_t *ns = &t->useful_ns; ns <= &t->unknown_ns; ns++) {
			*ns = (uint64_t)throw_dice(d, 3) << 28;
			t->end_ns += (int64_t)*ns;
		}
		for (uint64_t *ns = &t->off_cpu_ns; ns <= &t->team_most_ns; ns++)
			*ns = throw_dice(d, 1u << 30);
		t->lock_wait_ns = (uint64_t)throw_dice(d, 3) << 28;
		t->all_lock_wait_ns = t->lock_wait_ns + throw_dice(d, 1u << 30);
		t->end_ns += (int64_t)t->lock_wait_ns;
		t->end_ns += t->begin_ns;
		t->team_most_ns += t->useful_ns;
		t->team_useful_ns += t->team_most_ns;
	}
}

static inline void throw_open(struct dice *d, struct profile *p, uint32_t rank)
{
	for (uint32_t i = 0; i < PROFILE_OPEN_KINDS * p->n_stacks; i++)
		if (!throw_dice(d, 5))
			*ADD_ELEMENT(p, open) = (struct profile_open){i / PROFILE_OPEN_KINDS,
				i % PROFILE_OPEN_KINDS, 1 + throw_dice(d, 3), rank,
				p->unranked ? PROFILE_UNRANKED : rank, 1 + throw_dice(d, 10)};
	for (uint32_t i = 0; i < throw_dice(d, 4); i++)
		*ADD_ELEMENT(p, ends) = (struct profile_bad_end){rank + i, 9, PROCESS_KILLED, 15,
			throw_dice(d, 100), throw_dice(d, 100), throw_dice(d, 3)};
	/* of two functions on all nodes; on some nodes the second one has another file */
	*ADD_ELEMENT(p, sources) =
		(struct profile_source){xstrdup("foo"), xstrdup("/src/foo.c"), 7};
	*ADD_ELEMENT(p, sources) = (struct profile_source){
		xstrdup("main"), xasprintf("/src/main%u.c", rank / 4 % 5 / 4), 9};
	p->begin_known = throw_dice(d, 2);
	p->begin_ns = p->begin_known ? throw_dice(d, 100) : 0;
}

#endif
