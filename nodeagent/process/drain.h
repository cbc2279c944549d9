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

/* Reads all published blocks of a ring. Returns their bytes, as the three functions below do. */
uint64_t drain_thread(struct thread_ring *t);
/* Reads the blocks up to this position, if it is published. */
uint64_t drain_thread_to(struct thread_ring *t, uint64_t position);
/* All threads of a process; nothing while host.is_behind. */
uint64_t drain_process(struct process *p);
/*
 * The same also while host.is_behind: for what has been published until now and must be read before
 * something else.
 */
uint64_t drain_process_now(struct process *p);

/*
 * All live processes of the host; nothing while host.is_behind. Processes wait for each other, so
 * they are read side by side: what a late one did is then still known when the record of the wait
 * is read (replay/tree/activity.h).
 */
uint64_t drain_host(struct host *host);

/*
 * The same, and then what threads have stored and not published: at most a block of each, whose
 * rest is read when it is published. For what must have all up to now.
 */
void drain_host_stored(struct host *host);

/*
 * For several reading threads (readers/readers.h). After drain_begin() of each process come rounds
 * of: drain_may_go_on() of each process; drain_own() of its rings, each by any thread, while
 * nothing else runs; drain_common() of the same rings by the agent's thread; drain_round_over() of
 * each process.
 */

/* Notes how far each ring is published: drain_own() reads no further. */
void drain_begin(struct process *p);
/* Receives definitions. Returns false if nothing of the process may be read in this round. */
bool drain_may_go_on(struct process *p);
/*
 * True if the ring has more to read in this round; to be called before drain_own(). A thread has no
 * turn if it was read beyond `until', or if it is ahead of the others so far that its last calls
 * would be forgotten before the others ask for them. least, until: ticks, of the two functions
 * below.
 */
bool drain_has_turn(struct thread_ring *t, uint64_t least, uint64_t until);
/* Ticks up to which all rings of all live processes were read. */
uint64_t drain_least(const struct host *host);
/* Ticks up to which a ring may be read now; UINT64_MAX: the rings may be read in any order. */
uint64_t drain_until(const struct host *host, uint64_t least);
/*
 * Reads words up to the first that concerns more than this thread; may be called from any thread of
 * the agent. *damage: what is wrong with the ring, a static text, or NULL.
 */
uint64_t drain_own(struct thread_ring *t, uint64_t until, const char **damage);
/*
 * Reads the word at which drain_own() has stopped, and the rest of its block or more; only from the
 * agent's thread. index: of the ring in its process. damage: as drain_own() has set it; not NULL:
 * the process is quarantined.
 */
uint64_t drain_common(struct thread_ring *t, size_t index, const char *damage);
/* Ends the round of a process. */
void drain_round_over(struct process *p);

/*
 * To be called after the end of the process, before drain_last() of its threads: reads what they
 * have published side by side, where their order matters.
 */
void drain_ended(struct process *p);

/*
 * To be called after the thread's end: reads all, also the words that were stored and not
 * published.
 */
void drain_last(struct thread_ring *t);

/* True if a ring is so full that its producer will ring the doorbell soon. */
bool drain_is_urgent(const struct process *p);

/*
 * In a copy of the agent (agent/snapshot.h), which must not write to the ring: replays the
 * words that the thread has stored and not published, if all blocks before were read, up to
 * the first that makes no sense: it may speak of what the agent has not been told yet. The last
 * reading of this ring.
 */
void drain_copy(struct thread_ring *t);

/*
 * Replays the same words, of a thread that runs, in a shadow of its replay (replay/shadow.h); they
 * will be read again when they are published. False: they make no sense, and what the shadow has
 * counted is of no use.
 */
bool drain_shadow(const struct thread_ring *t, struct replay *shadow);

/*
 * Tells the replay of the first thread of each process how long that thread had no CPU, if it is
 * time to. To be called before rings are read, as the kernel tells the present sum only. Returns
 * the seconds until the next call. Takes at most half a percent of a CPU.
 */
double drain_off_cpu_tick(struct host *host);

#endif
