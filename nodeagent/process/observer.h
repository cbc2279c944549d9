/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Observers of processes: rooms that process/ does not know. host.observers lists them, in
 * the order in which they are called (agent/observers.c). An observer's data about a process
 * are a member of struct process, of a type of the observer. Functions that it does not need
 * are NULL.
 */
#ifndef VFTR_NODEAGENT_PROCESS_OBSERVER_H
#define VFTR_NODEAGENT_PROCESS_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

struct function_switch;
struct host;
struct process;
struct profile;
struct thread_ring;
struct wire_live;
struct wire_rank;
struct wire_session;

/* A part of a thread's wait for another one of its process, in ticks; numbers of threads. */
struct thread_wait {
	uint32_t kind; /* enum wait_kind */
	uint32_t waiter, holder;
	uint64_t from, to;
	bool goes_on; /* of the wait that the part before it is of */
};

struct process_observer {
	/* The process has said HELLO and has its control page; p->greeted: it is to be traced. */
	void (*begin)(struct process *p);
	/* It has sent its rank and job, which p has already. */
	void (*rank)(struct process *p, const struct wire_rank *m);
	/* It has a rank in a session, too, and p->session_match if there is a matcher. */
	void (*session_rank)(struct process *p);

	/* A thread's replay was made; its name was set or changed; all its records were read. */
	void (*thread_begin)(struct thread_ring *t);
	void (*thread_name)(struct thread_ring *t);
	/* It has ended, and its records are about to be read to the end. */
	void (*thread_last)(struct thread_ring *t);
	void (*thread_end)(struct thread_ring *t);
	/* Known when all threads were read up to then; both may have ended. Only if p->sampled. */
	void (*thread_waited)(struct process *p, const struct thread_wait *w);

	/* Takes a request of the process to its session, with `data' behind it, and answers. */
	void (*session_request)(struct process *p, const struct wire_session *m, const void *data);
	/* A caller wants to see the job, not to be traced: takes its socket (callers_take()). */
	void (*viewer)(struct process *p, const struct wire_live *m);
	/* The user wants a function off, or on again, on this node (host.h). */
	void (*switch_function)(struct host *host, const struct function_switch *order);
	/* The process is about to end; it waits for an answer if host.last_words_ms is not 0. */
	void (*bye)(struct process *p);

	/* A thread is in MPI_Abort, was read up to there, and waits for our answer; p->aborts, if
	 * set: for that of the observer. */
	void (*abort)(struct process *p);

	/* Its threads have ended, and its end is known. */
	void (*end)(struct process *p);
	/*
	 * It has ended, its data are added to the sums of the node, and it is about to be freed:
	 * ended.h.
	 */
	void (*let_go)(struct process *p);
	void (*free)(struct process *p);

	/* Adds the observer's data to the profile of the node. */
	void (*gather)(const struct host *host, struct profile *out);
};

/* observers_tell(host, end, p): calls `end' of all observers that have one. */
#define observers_tell(host, what, ...)                                                            \
	for (const struct process_observer *const *at_ = (host)->observers; at_ && *at_; at_++)    \
		if ((*at_)->what)                                                                  \
	(*at_)->what(__VA_ARGS__)

#endif
