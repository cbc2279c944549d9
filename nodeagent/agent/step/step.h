/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment that a launcher gives to each process that it starts, a task: its number, and
 * the number of tasks, on this node and in all. One table has the variables of all launchers.
 */
#ifndef VFTR_NODEAGENT_AGENT_STEP_STEP_H
#define VFTR_NODEAGENT_AGENT_STEP_STEP_H

#include <stdbool.h>

#define STEP_UNKNOWN (-1)

struct step {
	const char *launcher;	    /* for texts; NULL: the environment names none */
	int rank, size;		    /* among all tasks, or STEP_UNKNOWN */
	int local_rank, local_size; /* among those on this node, or STEP_UNKNOWN */
	char id[128];	  /* the same in all tasks, another one for each launch; empty: not known */
	char hosts[4096]; /* nodes as the launcher lists them, "a[1-3],b"; or empty */
	/* the launcher ends a job when a task ends before MPI_Finalize, also with status 0 */
	bool watches;
};

/* Reads the environment of this process, which should be a task. */
void step_read(struct step *s);

/* True if this process is one of several tasks. */
bool step_has_others(void);

/*
 * True for Slurm with proctrack/cgroup: a signal to a step reaches its tasks, not their
 * children, and the rest of a step is killed when its tasks have ended.
 */
bool step_has_group(void);

/* Writes the n-th host of "a[1-3],b" to out; false: there are fewer, or the list makes no sense. */
bool step_host(const char *hosts, unsigned n, char *out, unsigned bytes);

#endif
