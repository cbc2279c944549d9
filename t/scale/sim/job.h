/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a job with many simulated agents: the code of the agents from their start over their
 * words that the job is over (states.h) and the question who has whose messages
 * (nodeagent/internode/directory.h), unless nobody has any, to the summary.
 */
#ifndef VFTR_T_SCALE_SIM_JOB_H
#define VFTR_T_SCALE_SIM_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "t/scale/sim/node-profile.h"
#include "t/scale/sim/world.h"

struct job {
	struct job_shape shape;
	struct world_settings world;
	double deadline_s; /* agent.deadline_s */
	double skew_s;	   /* the nodes end within it */
	int deaths;	   /* so many agents die, half of them with their proxies */
	bool rootless;	   /* agent 0 dies, too: nobody waits for it */
	bool check;	   /* the summary must be that of all node profiles in one process */
	int prune;	   /* of jobs with more call paths; -1: never */
	bool wrong;	   /* with check: they have one call more, so that this must fail */
	const char *write; /* the folder for the summary's files; NULL: none are written */
};

/* Times are seconds from the end of the last process. */
struct job_result {
	int n, missing, died;
	double start_s; /* from the start of the agents until all have the plan */
	double directory_s, collated_s, summary_s, end_s, last_end_s;
	uint64_t messages, bytes; /* of agent 0, from the end on */
	/* the most memory of agent 0, of another agent, and what half of all do not exceed */
	double root_mb, most_mb, half_mb;
	double stacks, places; /* of the summary */
	uint64_t sum;  /* of the summary as bytes: the same for the same profile */
};

/* False with a sentence on stderr: the result is not what it must be. */
bool job_run(const struct job *j, struct job_result *r);

#endif
