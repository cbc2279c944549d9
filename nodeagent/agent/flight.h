/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of the flight recorder (recorder/recorder.h), between this agent and the others: what
 * happens on one node is written by all.
 */
#ifndef VFTR_NODEAGENT_AGENT_FLIGHT_H
#define VFTR_NODEAGENT_AGENT_FLIGHT_H

struct agent;

/* Tells the others of events here, and the recorder of theirs and of what viewers wish. */
void flight_exchange(struct agent *a);

#endif
