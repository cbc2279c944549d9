/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processes of this node hang in, as a sentence for who has to end them. */
#ifndef VFTR_NODEAGENT_LIVE_SAMPLE_STANDSTILL_H
#define VFTR_NODEAGENT_LIVE_SAMPLE_STANDSTILL_H

#include <stdbool.h>

struct host;

/*
 * "there was a deadlock on node1: rank 0 waits for rank 1, which waits for rank 0; ranks 0-1
 * for 3.9 s in MPI_Recv < ex < main", or "nobody on node1 went on; ranks 0-3 for ..." where all
 * threads are in calls of MPI for WHERE_HANGS_LEAST or more and no cycle is known. NULL: neither.
 * To be called before the processes are ended, when what they have published has been read.
 * *deadlock: which it is. The caller frees.
 */
char *standstill_text(struct host *host, bool *deadlock);

#endif
