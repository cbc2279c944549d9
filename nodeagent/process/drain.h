/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads threads' rings into their replays. The only user of the ring's consumer half. */
#ifndef VFTR_NODEAGENT_PROCESS_DRAIN_H
#define VFTR_NODEAGENT_PROCESS_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host;
struct process;
struct replay;
struct thread_ring;

/* Reads all published blocks. Returns their bytes. */
uint64_t drain_thread(struct thread_ring *t);
/* The same up to a position, if that is published. */
uint64_t drain_thread_to(struct thread_ring *t, uint64_t position);
/* All threads of a process; nothing while host.is_behind. */
uint64_t drain_process(struct process *p);
/* The same without regard to that: what has been published until now must not come later. */
uint64_t drain_process_now(struct process *p);

/*
 * All live processes of the host, which wait for each other: so they are read side by side, and
 * what a late one did is still known when the record of the wait is read (replay/tree/activity.h).
 * Nothing while host.is_behind.
 */
uint64_t drain_host(struct host *host);

/*
 * For several reading threads (readers/readers.h). Each round: drain_may_go_on() of each process,
 * drain_own() of rings, each by any thread, while nobody else does anything; then drain_common() of
 * the same rings, by the agent's thread, and drain_round_over().
 */

/* Notes how far each ring is published: drain_own() reads no further. */
void drain_begin(struct process *p);
/* Receives definitions. False: nothing of the process may be read in this round. */
bool drain_may_go_on(struct process *p);
/*
 * True if the ring has more to read in this round; to be called before drain_own(). A thread waits
 * for its turn if it was read beyond `until', or if its last calls, for which others ask, would be
 * forgotten before the others have come to them. least, until: ticks, of the two functions below.
 */
bool drain_has_turn(struct thread_ring *t, uint64_t least, uint64_t until);
/* Ticks up to which the rings of all live processes were read, at least. */
uint64_t drain_least(const struct host *host);
/* Ticks up to which a ring may be read now; UINT64_MAX: no thread depends on another one. */
uint64_t drain_until(const struct host *host, uint64_t least);
/* Reads words until one concerns more than this thread, from any thread of the agent. Returns the
 * bytes. *damage: what is wrong with the ring, a constant, or NULL. */
uint64_t drain_own(struct thread_ring *t, uint64_t until, const char **damage);
/* Reads the word that drain_own() has stopped at, and the rest of its block or more; only by the
 * agent's thread. index: of the ring in its process. damage: if not NULL, the ring is given up.
 * Returns the bytes. */
uint64_t drain_common(struct thread_ring *t, size_t index, const char *damage);
/* Ends the round of a process. */
void drain_round_over(struct process *p);

/* After the end of the process, before drain_last() of its threads: where the order matters in
 * which they are read, reads what they have published. */
void drain_ended(struct process *p);

/* After the thread's end: also reads the words that were stored and not published. */
void drain_last(struct thread_ring *t);

/* True if a ring is so full that its producer will ring the doorbell soon. */
bool drain_is_urgent(const struct process *p);

/*
 * In a copy of the agent (agent/snapshot.h), which must not write to the ring: replays the
 * words that the thread has stored and not published, if all blocks before were read. The
 * last reading of this ring.
 */
void drain_copy(struct thread_ring *t);

/*
 * Replays the same words, of a thread that runs, in a shadow of its replay (replay/shadow.h); they
 * will be read again when they are published. False: they make no sense, and what the shadow has
 * counted is of no use.
 */
bool drain_shadow(const struct thread_ring *t, struct replay *shadow);

/*
 * How long the first thread of each process had no CPU is told to its replay, if that is due: to be
 * called before rings are read, as nobody knows it afterwards. Returns the seconds until it is the
 * next time. Takes at most half a percent of a CPU.
 */
double drain_off_cpu_tick(struct host *host);

#endif
