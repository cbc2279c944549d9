/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callers: connections from accept() to HELLO. A process says HELLO at once; a child of
 * fork() when it first calls a function, however late. Any other caller that says nothing
 * for ten seconds is closed, and sooner if one process has many or descriptors are short:
 * idle connections keep no process out. Without a free descriptor a newcomer is refused with
 * that reason, so that the listener does not stay readable.
 */
#ifndef VFTR_NODEAGENT_PROCESS_CALLERS_H
#define VFTR_NODEAGENT_PROCESS_CALLERS_H

#include <stdbool.h>

struct host;
struct process;

/* To be called when the listener is readable. */
void callers_accept(struct host *host);
/* Closes callers that have said nothing for too long. Returns the seconds until the next call. */
double callers_tick(struct host *host);
/* The process has said HELLO, and is no caller any more. */
void callers_leave(struct process *p);
/*
 * Ends a caller that is no process to be traced, and returns its socket, which is the caller's of
 * this function.
 */
int callers_take(struct process *p);
/* Reads the messages of all callers; to be called before the agent ends. */
void callers_hear(struct host *host);
/* Frees callers that have ended. */
void callers_sweep(struct host *host);
/* True if a caller may still say HELLO. */
bool callers_any(const struct host *host);

#endif
