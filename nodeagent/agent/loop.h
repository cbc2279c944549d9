/* SPDX-License-Identifier: BSD-3-Clause */
/* The one event loop of the agent: connections, packets, rings, deaths, signals, timers. */
#ifndef VFTR_NODEAGENT_AGENT_LOOP_H
#define VFTR_NODEAGENT_AGENT_LOOP_H

#include "nodeagent/process/host.h"

struct agent;

/* Serves until it is time to stop. */
void agent_serve(struct agent *a);
/* host_watch() for a descriptor that the agent needs; on failure it ends with a message. */
void agent_must_watch(struct agent *a, int fd, enum watch_kind kind);

#endif
