/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two sides of an intercommunicator that MPI_Comm_spawn has made do not know each other's
 * job. But a launcher may tell a spawned process the name of the one that was the root of the call.
 * So a communicator belongs to a spawned job if its root is a process that has it, it has as many
 * children, and it was used first after the job was there; and if no other job, and no other
 * communicator, could be meant: nothing is guessed. For one thread.
 *
 * On several nodes that is found by the agent that has the root: it hears of jobs from the agents
 * of their ranks 0, and tells all others which communicator leads to which job. Who does so:
 * internode/spawn-news.h.
 *
 * Jobs that have met by MPI_Comm_accept and MPI_Comm_connect belong together if they have done so
 * on the same port, and each side has as many ranks as the other one says, if no other side could
 * be meant. The agent that has the root of a side tells all others of it, and with which other side
 * it has met; two sides on different nodes have met if the agents of both say so.
 */
#ifndef VFTR_NODEAGENT_REPLAY_JOBS_SPAWNS_H
#define VFTR_NODEAGENT_REPLAY_JOBS_SPAWNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Smaller in tests. */
#ifndef SPAWNS_MAX
#define SPAWNS_MAX	 4096u	    /* jobs, communicators; further ones are not looked at */
#define SPAWNS_RANKS_MAX (1u << 20) /* parents on all communicators, of each source: n_ranks */
#endif

/* A process as its launcher calls it; space 0: not known. */
struct spawn_name {
	uint64_t space;
	uint32_t rank;
};

/* Of jobs that have met by a port, the parents are those of the job with the lower number. */
struct spawn_link {
	uint64_t comm; /* its identity at the parents */
	uint64_t parent_job, child_job;
	uint32_t *parents; /* by rank in the group: rank in parent_job */
	uint32_t n_parents, n_children;
	bool parents_spawned; /* they are known to be children of others */
	bool parents_other; /* else: of a job that is not the one whose ranks are in the outputs */
	/* where they have met by a port; else 0, and NULL: they have their ranks in child_job */
	uint64_t child_comm;
	uint32_t *children;
};

/* A spawned job, as agents tell each other. */
struct spawn_job {
	uint64_t job, since; /* since: ticks of this agent */
	uint32_t size;
	struct spawn_name root;
};

/* What other agents are to know of a side that has met another one by a port. */
enum spawn_port_what {
	SPAWN_PORT_SIDE, /* it is there */
	SPAWN_PORT_MET,	 /* this is the only other side that it can have met */
	SPAWN_PORT_END,	 /* it has ended, and has met nobody */
};

struct spawn_port {
	enum spawn_port_what what;
	uint64_t port;
	const struct spawn_link *side;	/* of its own side only; valid until the next call */
	uint64_t other_job, other_comm; /* SPAWN_PORT_MET */
};

static inline uint32_t spawn_child(const struct spawn_link *l, uint32_t i)
{
	return l->children ? l->children[i] : i;
}

struct spawns;

struct spawns *spawns_new(void);
void spawns_free(struct spawns *s);

/*
 * A process of a spawned job was first seen at `since', ticks. Further processes of that job change
 * nothing.
 */
void spawns_add_job(struct spawns *s, uint64_t job, uint32_t size, uint64_t since,
	const struct spawn_name *root);
/* From now on this is the job whose ranks are in the outputs. */
void spawns_set_main(struct spawns *s, uint64_t job);
/* A process of this job is here whose agent is the one to tell others of it. */
void spawns_tell_job(struct spawns *s, uint64_t job);
/*
 * The next job to be told to other agents, the next link that was found here, which is of
 * MPI_Comm_spawn, or what is next to be told of a port; each once. False, NULL: there is none.
 */
bool spawns_have_news(const struct spawns *s);
bool spawns_next_job(struct spawns *s, struct spawn_job *j);
const struct spawn_link *spawns_next_link(struct spawns *s);
bool spawns_next_port(struct spawns *s, struct spawn_port *p);
/* Another agent has found that; l is copied. One that contradicts what is known changes nothing. */
void spawns_hear_link(struct spawns *s, const struct spawn_link *l);
/* The same of spawn_port; like: of its own side, copied. What is of no known side changes nothing.
 */
void spawns_hear_port(struct spawns *s, uint64_t port, const struct spawn_link *like);
void spawns_hear_met(
	struct spawns *s, uint64_t job, uint64_t comm, uint64_t other_job, uint64_t other_comm);
void spawns_hear_port_end(struct spawns *s, uint64_t job, uint64_t comm);
/* Jobs and communicators that are known, whose other side is not. */
size_t spawns_open(const struct spawns *s);
/*
 * Process `maker` uses a communicator that MPI_Comm_spawn has made, at these ticks. like: without
 * child_job; parents is copied.
 */
void spawns_add_comm(struct spawns *s, const struct spawn_link *like, uint64_t used,
	const struct spawn_name *maker);

/* The root of this communicator has called MPI_Comm_accept or MPI_Comm_connect on this port. like:
 * of its own side only, as above. */
void spawns_add_port(struct spawns *s, uint64_t port, const struct spawn_link *like);
/* Another member of such a communicator is here: the agent of the root will tell of it. */
void spawns_await_port(struct spawns *s, uint64_t job, uint64_t comm);
/* One member for which that was called has ended; others may await it still. */
void spawns_unawait_port(struct spawns *s, uint64_t job, uint64_t comm);

/* NULL: it is not known. Valid until spawns_free(). */
const struct spawn_link *spawns_of_comm(const struct spawns *s, uint64_t job, uint64_t comm);
const struct spawn_link *spawns_of_job(const struct spawns *s, uint64_t child_job);
/* How profiles of other nodes name this rank (base/rank.h: rank_id()) of a job that is linked with
 * one here; PROFILE_ELSEWHERE: it is of none. */
uint32_t spawns_name(const struct spawns *s, uint64_t rank_id);
/* Whether these have met by a port. */
bool spawns_have_met(const struct spawns *s, uint64_t a, uint64_t b);
/* Returns the link of a communicator of either side that was made by a port, if just one other side
 * can have met it; else NULL. */
const struct spawn_link *spawns_of_port(struct spawns *s, uint64_t job, uint64_t comm);
/* The root has ended that communicator: nobody will meet it who has not. */
void spawns_end_port(struct spawns *s, uint64_t job, uint64_t comm);

#endif
