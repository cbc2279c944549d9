/* SPDX-License-Identifier: BSD-3-Clause */
/* agent.metrics_file: where, and when, live/metrics writes. */
#ifndef VFTR_NODEAGENT_AGENT_METRICS_FILE_H
#define VFTR_NODEAGENT_AGENT_METRICS_FILE_H

struct agent;

/* With agent.metrics_file; a path that cannot be is a warning. */
void metrics_file_begin(struct agent *a);
/* Seconds until the next call. */
double metrics_file_tick(struct agent *a);
/* Removes the file. */
void metrics_file_end(struct agent *a);

#endif
