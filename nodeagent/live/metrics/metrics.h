/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counts of this node as a text file for Prometheus (exposition format 0.0.4), which node
 * exporters collect: written anew each period and renamed, removed at the end, as nobody counts
 * any more. For one thread.
 */
#ifndef VFTR_NODEAGENT_LIVE_METRICS_METRICS_H
#define VFTR_NODEAGENT_LIVE_METRICS_METRICS_H

struct host;
struct metrics;

/* path: of the file; job: the batch job, or "": labels of all series. Counts begin now. */
struct metrics *metrics_new(struct host *host, const char *path, const char *job, double every_s);
/*
 * Writes the file if it is due. Returns the seconds until the next call. The first error is a
 * warning.
 */
double metrics_tick(struct metrics *m);
/* Removes the file, and frees m. NULL: nothing. */
void metrics_end(struct metrics *m);

#endif
