/* SPDX-License-Identifier: BSD-3-Clause */
/* The causal analysis of the sampling files of a run. */
#ifndef VFTR_NODEAGENT_CAUSAL_RUN_H
#define VFTR_NODEAGENT_CAUSAL_RUN_H

#include "nodeagent/causal/causal.h"
#include "nodeagent/causal/paths.h"

struct vfd_file;

struct causal_rank {
	int rank;   /* in its MPI_COMM_WORLD */
	int number; /* by which it is shown: of spawned ones, after those of the others */
	uint64_t job;
	uint32_t file, process; /* number of the file, and of the process in it */
	const char *host;
};

struct causal_run {
	struct causal *c;
	struct paths *paths;
	struct causal_rank *ranks; /* by line: in the order of jobs and ranks */
	uint32_t n;
	uint32_t n_spawned; /* jobs of which it is known who has spawned them */
	bool without_mpi;   /* ranks are all processes, each in its life */
};

/*
 * files: all of one run, which stay open. folder: for the temporary file. NULL and *error, a
 * sentence that the caller frees: there are no processes in them, or the temporary file failed.
 */
struct causal_run *causal_run(
	struct vfd_file *const *files, size_t n, const char *folder, char **error);
void causal_run_free(struct causal_run *r);

#endif
