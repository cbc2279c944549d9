/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the results of another run that have the names which this run is going to use: all files of
 * that run become NAME.old, NAME.old2 and so on, with the same number. Node profiles, sampling
 * files and JSON carry the number of their run. A log belongs to the run of such a file beside it;
 * if there is none, its age decides.
 */
#ifndef VFTR_NODEAGENT_AGENT_OLDER_RESULTS_H
#define VFTR_NODEAGENT_AGENT_OLDER_RESULTS_H

#include "nodeagent/base/result-files.h"

struct agent;
struct host;

/*
 * To be called before results are written, with the beginning of their names (result_base()): moves
 * files of another run away, and moves files of this run back that another run has moved away.
 * Takes a lock, and returns its descriptor for older_results_end(): until then no other agent of
 * this host writes to the same folder, nor an agent of another host if the file system has locks.
 * Waits some seconds for it at most. A file that cannot be moved is replaced, after a message.
 */
int older_results_begin(struct agent *a, const char *base);
void older_results_end(struct host *host, int *lock);

/*
 * older_results_begin() for a sampling file that is about to be made: a file in its place is always
 * of another run. For host->keep_older.
 */
int older_results_of_samples(struct host *host, const char *base);

/*
 * To be called before call stacks are written: moves the call stacks of this host that are older
 * than the agent. Their names have no program in them, so they get the next free number of such
 * files.
 */
void older_results_of_stacks(struct host *host);

#endif
