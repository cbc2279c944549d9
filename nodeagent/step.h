/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a launcher tells each of the processes it starts, its tasks: which one it is, of how
 * many, here and in all. One table has the variables of all launchers that we know.
 */
#ifndef VFTR_NODEAGENT_STEP_H
#define VFTR_NODEAGENT_STEP_H

#include <stdbool.h>

#define STEP_UNKNOWN (-1)

struct step {
	const char *launcher;	    /* for texts; NULL: the environment names none */
	int rank, size;		    /* of all tasks, or STEP_UNKNOWN */
	int local_rank, local_size; /* of those on this node, or STEP_UNKNOWN */
	char id[128];	  /* the same in all tasks, another one for each launch; empty: not known */
	char hosts[4096]; /* nodes as the launcher lists them, "a[1-3],b"; or empty */
	/* It ends a job when a task ends before MPI_Finalize, also with status 0. */
	bool watches;
};

/* Reads the environment of this process, which should be a task. */
void step_read(struct step *s);

/*
 * Slurm with proctrack/cgroup: a signal to a step reaches its tasks and nobody below them,
 * and what is left of a step is killed when its tasks have ended.
 */
bool step_has_group(void);

/* The n-th of "a[1-3],b" into out; false: there are not so many, or it makes no sense. */
bool step_host(const char *hosts, unsigned n, char *out, unsigned bytes);

#endif
