/* SPDX-License-Identifier: BSD-3-Clause */
/* The causal analysis of the sampling files of a run. */
#ifndef VFTR_NODEAGENT_CAUSAL_RUN_H
#define VFTR_NODEAGENT_CAUSAL_RUN_H

#include "nodeagent/causal/causal.h"
#include "nodeagent/causal/paths.h"

struct vfd_file;

struct causal_rank {
	int rank;   /* in its MPI_COMM_WORLD */
	int number; /* by which logs show it: vfd_rank_number() */
	uint64_t job;
	uint32_t file, process; /* number of the file, and of the process in it */
	const char *host;	/* owned by the file */
};

struct causal_run {
	struct causal *c;
	struct paths *paths;
	struct causal_rank *ranks; /* by line: in the order of jobs and ranks */
	uint32_t n;
	uint32_t n_spawned; /* jobs of which it is known who has spawned them */
	bool without_mpi; /* no process is a rank: all processes are lines, each for its whole life
			   */
};

/* Is told now and then how much has been done, 0 to 1. */
struct causal_progress {
	void (*tell)(void *to, double part);
	void *to;
};

/*
 * files: all of one run, which stay open until causal_run_free(). folder: for the temporary file.
 * NULL: the files have no processes, no rank in them has called MPI, or the temporary file failed;
 * *error says which in a sentence, and the caller frees it. progress: or NULL.
 */
struct causal_run *causal_run(struct vfd_file *const *files, size_t n, const char *folder,
	const struct causal_progress *progress, char **error);
/* r: not NULL. */
void causal_run_free(struct causal_run *r);

#endif
