/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The matcher in the agent: which processes it knows, what it found, in sums and
 * from thread to thread, and the sends to other nodes, which wait in an outbox
 * (match-outbox.h) until the job is over.
 */
#ifndef VFTR_NODEAGENT_MATCHING_H
#define VFTR_NODEAGENT_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct match_process;
struct match_receive;
struct match_send;
struct matching;
struct process;
struct profile;

#ifndef MATCHING_THREAD_PAIRS_MAX
#define MATCHING_THREAD_PAIRS_MAX (1u << 18) /* further ones are one */
#endif

/* A process has told its rank and job; nothing without mpi.match. */
void matching_join(struct process *p, bool concurrent);
/* The same for the rank in a session of one that has joined for MPI already. */
void matching_join_session(struct process *p, uint32_t rank, uint64_t job);
/* Its last record was given. */
void matching_leave(struct process *p);
/* Members of a communicator, and that one of them has forgotten it. */
void matching_comm_gone(struct matching *m, uint64_t comm, uint64_t members);

/* All processes have ended: the sends of other nodes come, and the rest is settled. */
void matching_end(struct agent *a);
/* What was found; after the processes have their ranks. */
void matching_store(const struct agent *a, struct profile *p);

/*
 * Of a session with several rounds (rounds.h). The first one is over: it has what was found.
 * Then what belongs to one of them, as far as it is known; rank() is that of a process in p,
 * or PROFILE_ELSEWHERE. False if that is what it was when it was stored last.
 */
void matching_round_over(struct agent *a, unsigned round);
bool matching_store_round(const struct agent *a, unsigned round, struct profile *p,
	uint32_t (*rank)(void *arg, const struct process *p), void *arg);

/* Each pair, too, is told to this; label: enum match_label. Set before the first. */
struct matching_tap {
	void (*pair)(void *arg, const struct match_send *s, const struct match_receive *r,
		unsigned label);
	void *arg;
};
void matching_set_tap(struct agent *a, const struct matching_tap *tap);

#endif
