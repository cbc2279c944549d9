/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections from accept() to HELLO. A process says HELLO at once; a child of fork()
 * says it when it first calls a function, however late. Whoever else says nothing for
 * ten seconds is closed, and sooner where one process has many or descriptors are
 * short: idle connections keep nobody out. Where there is no descriptor to be had, who
 * comes is told so and refused; the listener is never polled in vain.
 */
#ifndef VFTR_NODEAGENT_CALLERS_H
#define VFTR_NODEAGENT_CALLERS_H

#include <stdbool.h>

struct agent;
struct process;

/* The listener is readable. */
void callers_accept(struct agent *a);
/* Closes those whose time is over. Seconds until it wants to be called again. */
double callers_tick(struct agent *a);
/* It has said HELLO, and is no caller any more. */
void callers_leave(struct process *p);
/* Takes what they have said, before the end. */
void callers_hear(struct agent *a);
/* Frees those that have ended. */
void callers_sweep(struct agent *a);
/* Whether a process may say HELLO yet. */
bool callers_any(const struct agent *a);

#endif
