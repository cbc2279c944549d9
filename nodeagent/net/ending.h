/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time until everything must be written. A batch system that ends a job sends SIGTERM and, some
 * time later, SIGKILL: 30 s with Slurm's default KillWait. From SIGTERM on, each wait of this
 * process is cut so that all of them together take at most ENDING_ALL_S, and of these the
 * exchange with other agents at most ENDING_EXCHANGE_S.
 *
 * COMMAND may live on after SIGTERM. If it still runs when SIGKILL should have come, the
 * waits have their usual limits again.
 *
 * For one thread; each process has its own. Times are seconds of transport_now().
 */
#ifndef VFTR_NODEAGENT_NET_ENDING_H
#define VFTR_NODEAGENT_NET_ENDING_H

#include <stdbool.h>

#define ENDING_ALL_S	  25.0
#define ENDING_EXCHANGE_S 8.0

/* To be called when SIGTERM comes; a second call changes nothing. */
void ending_begin(void);

/*
 * To be called before files are written: from now on the limits hold, even after the time of
 * SIGKILL.
 */
void ending_writes(void);

/* True if SIGTERM has come, and SIGKILL may follow. */
bool ending_is(void);

/*
 * Seconds that a wait of own_s may take now, if reserve_s are to be left for later work; more
 * than 0, even if no time is left.
 */
double ending_left(double own_s, double reserve_s);

/* The same for a point in time, without reserve. */
double ending_until(double own);

/* The same for a part of the exchange with other agents. The first call starts its time. */
double ending_exchange(double own_s);

/* Sets a function that long waits call now and then, so that SIGTERM is noticed; NULL: none. */
void ending_listen(void (*hear)(void *ctx), void *ctx);
void ending_hear(void);

#endif
