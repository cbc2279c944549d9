/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many agents in one process, each a coroutine with a clock of its own, which transport_now()
 * gives. A clock goes on by the CPU time of what its agent computes, and by what messages
 * take. Always the agent runs whose clock is least behind, so that nothing comes from the past; of
 * equal ones that of the lower rank. Where computing takes no time (cpu = 0), two runs with the
 * same settings are the same.
 *
 * A message leaves after cost_s and its bytes / bytes_per_s, is on its way for latency_s, and has
 * come when the receiver's link, which takes one after the other, has taken it. Messages from one
 * agent to another stay in order.
 */
#ifndef VFTR_T_SCALE_SIM_WORLD_H
#define VFTR_T_SCALE_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "nodeagent/net/transport.h"
#include "t/scale/sim/memory.h"

#define WORLD_NEVER 1e18

struct profile;

enum death {
	DEATH_NONE,
	DEATH_OF_NODE,	/* nothing more comes from it; others are told some time later */
	DEATH_OF_AGENT, /* its proxy lives, and takes its place */
};

struct world_settings {
	int n; /* agents */
	double latency_s, bytes_per_s, cost_s;
	double cpu;	       /* seconds on a clock for each second that was computed */
	unsigned delayed;      /* messages of 1 000 that are delayed */
	double delayed_from_s; /* ... of those that are sent then or later */
	double delay_s;	       /* ... by at most so much */
	double notice_s;       /* until a death is known, at most */
	uint64_t seed;	       /* of delays, and of who is told when of a death */
};

struct letter {
	struct letter *next;
	struct content *content;
	int from, tag;
	double arrives, complete; /* complete: WORLD_NEVER until the link has begun with it */
};

struct sim_agent {
	struct transport transport; /* first: the two are converted by a cast */
	ucontext_t context;
	void *stack;
	double clock, wake;
	bool sleeps; /* a message may wake it */
	bool ended;
	enum death death, dead; /* that it is to die of, and has died of */
	double dies;		/* when */
	struct letter *inbox;	/* by `arrives` */
	double link_free;
	struct memory_account memory;

	/* for job.c */
	void (*sends)(struct sim_agent *a, int tag); /* called before each send; or NULL */
	struct profile *mine;
	long mine_bytes;
	void *plan; /* what the proxy would remember */
	size_t plan_bytes;
	char *host;
	bool collated, complete;
	uint32_t *gone; /* agents, when agent 0 said that the job is over */
	size_t n_gone;
	uint64_t numbers; /* a sum over the numbers of call paths that it was given; 0: none */
	double at_end, at_directory, at_collated, at_summary, at_bye;
	struct transport_counts at_end_counts;
};

/* Makes the agents, which run body; after the death of an agent whose proxy lives, successor. */
struct sim_agent *world_begin(const struct world_settings *s, void (*body)(struct sim_agent *a),
	void (*successor)(struct sim_agent *a));
/* Until all have ended: -1; or until the clocks of all others are later: one of these. */
int world_run(double latest);
void world_end(void);

/* What follows is for the agent that runs. It waits until `until`, serving the transport. */
void world_wait(struct sim_agent *a, double until);
/* From now on computing takes no time and memory is nobody's; and as before. */
void world_pause(void);
void world_resume(void);

/* For transport.c: lets the agents run that are behind; the agent's clock is right then. */
void world_catch_up(struct sim_agent *a);
/* Sleeps until then, at most; a message that has come since it has looked for some wakes it. */
void world_sleep(struct sim_agent *a, double until, double looked);
/* A message for a has been put into its inbox. */
void world_wake(struct sim_agent *a, double at);
struct sim_agent *world_agent(int rank);
const struct world_settings *world_settings(void);
/* A number of 0 ... sides - 1 that depends on a, b and the seed only. */
uint32_t world_dice(uint64_t a, uint64_t b, uint32_t sides);

/* transport.c */
void transport_sim_open(struct sim_agent *a, int rank, int size);
void transport_sim_forget(struct sim_agent *a); /* its inbox */

#endif
