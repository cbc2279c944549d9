/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings of all processes: their memory, size and number. Control segments beside them.
 *
 * Making and freeing a ring of megabytes costs more than a short process, so some
 * rings of ended processes are kept for the next ones. A control segment is small, but the
 * nine system calls and the page faults of a new one cost as much as all that is said of a
 * short child, so some of them are kept, too.
 *
 * A ring has 64 KiB of memory at first, and more as its thread writes: most threads of most
 * programs write little. Where the kernel promises no more than it has, it has all at once.
 *
 * All rings together have at most half of the memory (of the control group, if
 * that has less), and a new one at most half of the free memory less a reserve.
 * While there is much memory they have the size that is wanted; then new ones get
 * smaller, down to the smallest, so that thousands of threads find room.
 */
#ifndef VFTR_NODEAGENT_PROCESS_RINGS_H
#define VFTR_NODEAGENT_PROCESS_RINGS_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/segment.h"

struct memory_left;
struct ring_store;

struct stored_ring {
	struct ring ring; /* base NULL: none; its size may be less than was wanted */
	int fd;		  /* to be sent; the store's; -1: closed */
	uint64_t touched; /* bytes of it that are in memory, as far as is known */
};

/* A control segment, mapped by the agent. */
struct stored_control {
	struct control_agent_shm *agent; /* NULL: none */
	struct control_app_shm *app;
	int fd; /* -1: closed */
};

/*
 * ring_size: bytes that a ring is to have. left: returns the memory that is left; memory_left(),
 * except in tests.
 */
struct ring_store *ring_store_new(uint64_t ring_size, struct memory_left (*left)(void));

/* The memory of the machine and the control groups. */
struct memory_left ring_store_memory(void);

/* An empty ring with all words zero but those of its data. 0 or -errno; -ENOMEM: there is no memory
 * for one more. The caller leaves it. */
int ring_store_take(struct ring_store *s, struct stored_ring *out);

/* One that stays empty, for all threads that write nothing. 0 or -errno; the store's. */
int ring_store_empty(struct ring_store *s, struct ring *out);

/* To be called when the descriptor was sent: closes it, unless the ring may be used again. */
void ring_store_sent(struct ring_store *s, struct stored_ring *r);

/* The agent has read the ring up to this position, in bytes from the begin of its present use:
 * the memory below it is in use. A position that is less than before changes nothing. */
void ring_store_read(struct ring_store *s, struct stored_ring *r, uint64_t position);

/*
 * Gives a ring back. again: the process has ended well, so nothing writes to the
 * ring any more. r->ring.base is NULL afterwards.
 */
void ring_store_leave(struct ring_store *s, struct stored_ring *r, bool again);

/* A control segment whose words are those of a new one; 0 or -errno. The caller leaves it. */
int ring_store_take_control(struct ring_store *s, struct stored_control *out);
/*
 * To be called when the process has its descriptor: closes ours if enough segments are kept for
 * later.
 */
void ring_store_sent_control(struct ring_store *s, struct stored_control *c);
/* again: nobody writes to it any more, so that it may be kept for the next process. */
void ring_store_leave_control(struct ring_store *s, struct stored_control *c, bool again);

/* The most bytes of rings that processes had at one time. */
uint64_t ring_store_peak(const struct ring_store *s);

#endif
