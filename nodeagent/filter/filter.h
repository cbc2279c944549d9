/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * filter.only, filter.not and filter.depth: each thread's replay gets the rules, and asks for each
 * function and region once per process whether a pattern fits it.
 */
#ifndef VFTR_NODEAGENT_FILTER_FILTER_H
#define VFTR_NODEAGENT_FILTER_FILTER_H

struct host;
struct process_observer;

extern const struct process_observer filter_observer;

/* At the end: a warning for each pattern that has fitted nothing. */
void filter_warn(struct host *host);

#endif
