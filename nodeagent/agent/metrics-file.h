/* SPDX-License-Identifier: BSD-3-Clause */
/* agent.metrics_file: when live/metrics writes its file, and where. */
#ifndef VFTR_NODEAGENT_AGENT_METRICS_FILE_H
#define VFTR_NODEAGENT_AGENT_METRICS_FILE_H

struct agent;

/* Does nothing without agent.metrics_file. Warns of a path that cannot be written. */
void metrics_file_begin(struct agent *a);
/* Writes the file if it is time to. Returns the seconds until the next call. */
double metrics_file_tick(struct agent *a);
/* Removes the file. */
void metrics_file_end(struct agent *a);

#endif
