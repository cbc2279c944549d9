/* SPDX-License-Identifier: BSD-3-Clause */
/* All observers of processes in an agent, for host.observers. */
#ifndef VFTR_NODEAGENT_AGENT_OBSERVERS_H
#define VFTR_NODEAGENT_AGENT_OBSERVERS_H

#include "nodeagent/process/observer.h"

extern const struct process_observer *const agent_observers[];

#endif
