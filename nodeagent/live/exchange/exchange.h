/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Views of the whole job for viewers of this agent and of others (vftr-top(1)). A viewer connects
 * to the agent's socket and asks with WIRE_LIVE for a view each so many ms; it has to ask again
 * before its lease is over. Then the agent is the root of a tree with a fan-out of 16, in which
 * each agent asks those below it, and sends the one above it a view of its subtree each period.
 * Each level has a lease of its own, so that all ends when nobody asks any more.
 *
 * Without a viewer nothing is sent, nothing is looked at, and nobody is woken: over MPI, where
 * nothing tells of a message, the proxy looks for one when it compares clocks. An agent that does
 * not answer in time is left out, named, and asked on; those below it are asked directly meanwhile.
 * Nothing waits.
 *
 * A look never takes more than a hundredth of the time: what takes longer is done less often.
 */
#ifndef VFTR_NODEAGENT_LIVE_EXCHANGE_EXCHANGE_H
#define VFTR_NODEAGENT_LIVE_EXCHANGE_EXCHANGE_H

#include "nodeagent/process/observer.h"

struct agent;

/* Takes the requests of viewers. */
extern const struct process_observer live_observer;

/* To be called repeatedly, also when a->news. Seconds until the next call. */
double live_tick(struct agent *a);
/* There will be no more views. */
void live_end(struct agent *a);

#endif
