/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of another run under the names that this run is going to use. They are kept: all
 * that this other run has left becomes NAME.old, NAME.old2 ... with the same number. Who
 * they are of is told by the number of the run, in node profiles, sampling files and JSON; a log is
 * of the run of the file beside it, and by its age where there is none.
 */
#ifndef VFTR_NODEAGENT_AGENT_OLDER_RESULTS_H
#define VFTR_NODEAGENT_AGENT_OLDER_RESULTS_H

#include "nodeagent/base/result-files.h"

struct agent;
struct host;

/*
 * To be called before results are written, with the names' beginning (result_base()): moves what
 * is in their place and of another run, and puts files of this run back that another one has moved
 * away. Until the end, which gets what this returns, agents of this host write one after the other
 * where they share a folder, and those of all hosts where its file system has locks. Waits some
 * seconds at most. What cannot be moved is said, and replaced.
 */
int older_results_begin(struct agent *a, const char *base);
void older_results_end(struct host *host, int *lock);

/* The same where a sampling file is going to be: what is there is of another run. For
 * host->keep_older. */
int older_results_of_samples(struct host *host, const char *base);

/*
 * To be called before call stacks are written: moves those of this host that were there before the
 * agent began. They have no program's name, so the number is the next one of such files.
 */
void older_results_of_stacks(struct host *host);

#endif
