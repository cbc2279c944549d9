/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agents beside a job are often started at the same moment as the job. A process
 * that is faster finds no agent and starts one of its own; that agent then has the
 * node's processes, and this one would wait for ever. So an agent that no process
 * has joined looks for agents that processes started on its node since (or just
 * before) it began, waits for them, and takes the node profile that they wrote for
 * its own. It leaves those of agents beside other jobs.
 *
 * The runtime directory, which is this node's, is looked at each time. The output
 * directory may be shared by thousands of agents and be on another machine: it is
 * listed when such an agent was seen, or when the directory has changed, which is
 * checked less and less often, every 5 s in the end.
 */
#ifndef VFTR_NODEAGENT_AGENT_LATE_PROFILES_H
#define VFTR_NODEAGENT_AGENT_LATE_PROFILES_H

struct agent;

enum adoption {
	ADOPT_NOBODY, /* no such agent was seen */
	ADOPT_WAITS,  /* such an agent serves its processes, or writes its files */
	ADOPT_OVER,   /* all such agents have ended; a->late_profile is their profile, or NULL */
};

/* To be called now and then while no process has come. */
enum adoption late_profiles_look(struct agent *a);

#endif
