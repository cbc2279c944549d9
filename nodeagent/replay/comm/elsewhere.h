/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls with members on other nodes: what this node's members did, kept until the
 * job is over, when agents compare their times (internode/collectives.h).
 *
 * Memory is bounded: when there is no more room, only every second instance of the communicators
 * with the most of them is kept, then every fourth, and so on. Which ones follows from a hash of
 * the communicator and the ticket, so that all agents keep the same ones, and a program that
 * repeats the same calls has a fair share of each kept.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_ELSEWHERE_H
#define VFTR_NODEAGENT_REPLAY_COMM_ELSEWHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct traffic;

#ifndef ELSEWHERE_BYTES_MAX
#define ELSEWHERE_BYTES_MAX ((size_t)32 << 20) /* in use; as much again may be reserve */
#define ELSEWHERE_COMMS_MAX (1u << 16)
#endif
#define ELSEWHERE_LOG2_MAX 31u /* of one in 2^n instances that is kept */
#define ELSEWHERE_CHILD	   (1u << 31)

/* What one member did. */
struct elsewhere_call {
	uint64_t start; /* when it came to the call; ticks of this agent, as all times here */
	uint64_t enter, leave; /* of the call that waited: if the collective call did not block, the
				  one that completed it */
	uint32_t rank;	       /* in the communicator, or in its group of an intercommunicator */
	/* rank in its job, and ELSEWHERE_CHILD if that is child_job; UINT32_MAX: in another one */
	uint32_t world;
	uint32_t process; /* elsewhere_process() */
	uint32_t path;	  /* of the call: traffic_wait() */
};

/*
 * One collective call of a communicator. Members that came late may be in a second instance with
 * the same ticket.
 */
struct elsewhere_instance {
	uint32_t ticket;
	uint32_t root; /* a rank in the communicator; not of all kinds */
	uint32_t n;    /* of its calls */
	uint8_t kind;  /* enum collective_kind */
	uint8_t wait;  /* enum wait_kind */
	bool blocks;   /* else the calls that complete it wait, which may complete others, too */
	/* of an intercommunicator, whose groups are communicators here: its calls wait for the
	 * group, and are not of it; they are of it, and do not wait for it */
	bool asks, tells;
};

struct elsewhere_comm {
	uint64_t id, job;   /* job: whose ranks its members are */
	uint64_t child_job; /* or of this one, which that has spawned or met; 0: of none */
	uint32_t size;
	uint32_t log2; /* one in 2^log2 instances is kept */
	uint64_t ever; /* calls that were given to elsewhere_add() and before it, kept or not */
	struct elsewhere_instance *instances;
	size_t n_instances, cap_instances;
	struct elsewhere_call *calls; /* those of the first instance, and so on; by rank in each */
	size_t n_calls, cap_calls;
};

struct elsewhere;

/* bytes_max: ELSEWHERE_BYTES_MAX, or less in tests. */
struct elsewhere *elsewhere_new(size_t bytes_max);
void elsewhere_free(struct elsewhere *e);

/*
 * The hash by which instances are chosen: if one in 2^n is kept, those are kept whose hash has its
 * lowest n bits 0.
 */
uint64_t elsewhere_hash(uint64_t id, uint64_t job, uint32_t ticket);

/* Returns the number by which elsewhere_call.process names the process, from 1. */
uint32_t elsewhere_process(struct elsewhere *e, struct traffic *t);
/* The process's trees are to be freed: its times stay, its waits are not counted. */
void elsewhere_forget(struct elsewhere *e, uint32_t process);

/*
 * Adds an instance of a communicator: the calls of its members on this node, by rank. like: id, job
 * and size of the communicator; log2: one in 2^log2 of its instances, or fewer, are given; ever:
 * number of calls since the instance before that were not given.
 */
void elsewhere_add(struct elsewhere *e, const struct elsewhere_comm *like,
	const struct elsewhere_instance *i, const struct elsewhere_call *calls);

/* Communicators in the order in which they came. */
const struct elsewhere_comm *elsewhere_comms(const struct elsewhere *e, size_t *n);
/* Calls that were given and not kept, as there are too many communicators, or one that is known by
 * the same id has another size. */
uint64_t elsewhere_refused(const struct elsewhere *e);

/* The process that has made the call; NULL: it was forgotten. */
struct traffic *elsewhere_whose(const struct elsewhere *e, const struct elsewhere_call *call);

#endif
