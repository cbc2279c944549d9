/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of events as in perf(1), and their arguments for perf_event_open(2). */
#ifndef VFTR_NODEAGENT_PROCESS_COUNTER_EVENTS_H
#define VFTR_NODEAGENT_PROCESS_COUNTER_EVENTS_H

#include <stdbool.h>
#include "shm/counters.h"

/*
 * Sets source, type, configs and flags of *to: "cycles", "L1-dcache-load-misses",
 * "r01c2", "cpu/event=0xc2,umask=1/", "page-faults", each with ":u", ":k" or ":uk"
 * behind it. Events of a PMU count user mode only unless told otherwise. 0, or -1
 * and *why (a few words, the caller frees).
 */
int counter_event(const char *name, struct counter_shm *to, char **why);

/* The same for "io:rchar" and the other lines of /proc/PID/io, and for "rusage:maxrss"
 * and others of getrusage(2). -1: it is none. */
int counter_io(const char *name, struct counter_shm *to);
int counter_rusage(const char *name, struct counter_shm *to);
/*
 * The same for "energy:package", "power/energy-pkg/" and the like. -1: it is none; 0 with *why:
 * this machine has no such counter.
 */
int counter_energy(const char *name, struct counter_shm *to, char **why);

/*
 * Tries to open the event here. 0 or -errno. *user_only: counting in the kernel is not
 * allowed, and the event was changed to count in user mode only; only for events that
 * happen there.
 */
int counter_event_allow(struct counter_shm *event, bool *user_only);
/* The reason of this error, in words. */
const char *counter_error(int error);

#endif
