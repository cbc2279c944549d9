/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When everything must be written. A batch system that ends a job sends SIGTERM and, some
 * time later, SIGKILL: 30 s with Slurm's default KillWait. From SIGTERM on, each wait of this
 * process is shorter than its own limit where that would be too late: all of them together
 * have ENDING_ALL_S, and of these the exchange with other agents has ENDING_EXCHANGE_S.
 *
 * COMMAND may live on after SIGTERM. If it still runs when SIGKILL should have come, nobody
 * is in a hurry, and the limits are the usual ones again.
 *
 * For one thread; each process has its own. Times are seconds of peer_now().
 */
#ifndef VFTR_NODEAGENT_ENDING_H
#define VFTR_NODEAGENT_ENDING_H

#include <stdbool.h>

#define ENDING_ALL_S	  25.0
#define ENDING_EXCHANGE_S 5.0

/* SIGTERM has come, now. Once more changes nothing. */
void ending_begin(void);

/* Files are written next: the limits stay, however long that takes. */
void ending_writes(void);

/* Whether SIGTERM has come, and SIGKILL may follow. */
bool ending_is(void);

/*
 * A wait that may take own_s: so many seconds it may take now, of which `reserve_s` are left
 * for what comes after it. It has a little, even if there is no time.
 */
double ending_left(double own_s, double reserve_s);

/* The same for a point in time. */
double ending_until(double own);

/* The same for a part of the exchange with other agents. The first call starts its time. */
double ending_exchange(double own_s);

/* hear() is called now and then during long waits, so that SIGTERM is known. NULL: nobody. */
void ending_listen(void (*hear)(void *ctx), void *ctx);
void ending_hear(void);

#endif
