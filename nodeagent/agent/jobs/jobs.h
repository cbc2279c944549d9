/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that others have spawned on other nodes: tells the other agents what this one knows of
 * them, and takes what they know (internode/spawn-news.h).
 */
#ifndef VFTR_NODEAGENT_AGENT_JOBS_JOBS_H
#define VFTR_NODEAGENT_AGENT_JOBS_JOBS_H

struct agent;

/* To be called repeatedly, and when processes have ended. Returns the seconds until the next call.
 */
double jobs_tick(struct agent *a);
/* The same without delay, when nobody is to call it again. */
void jobs_end(struct agent *a);

#endif
