/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of a process, from THREAD to THREAD_END. A ring's index is used
 * again: the ring that a thread leaves waits, empty, for the next one.
 *
 * With profile_table.threads, the profile of each thread is kept beside the sum; the
 * threads beyond THREADS_KEPT (or ENDED_NODES_MAX call paths) share one entry.
 */
#ifndef VFTR_NODEAGENT_PROCESS_THREADS_H
#define VFTR_NODEAGENT_PROCESS_THREADS_H

#include <stddef.h>
#include <stdint.h>

struct process;
struct wire_thread;

/* Smaller in tests. */
#ifndef THREADS_KEPT
#define THREADS_KEPT	4096u	   /* of one process */
#define ENDED_NODES_MAX (1u << 20) /* in all threads of one process */
#endif

/* One node of a call tree; parents first. */
struct ended_node {
	uint64_t key, calls, lost, ticks; /* inclusive */
	uint32_t parent;		  /* index of the caller's, PROFILE_NONE for the root */
};

struct ended_thread {
	uint32_t number, parent; /* PROFILE_NONE: the others; no known creator */
	uint32_t threads;	 /* in this entry: 1, or more in the shared one */
	int tid;
	char name[16];
	uint64_t start_ticks, alive_ticks, function_ticks;
	uint64_t calls, records, lost, blocked_ns;
	uint64_t sends, receives, bytes_sent, bytes_received;
	/* in OpenMP teams: struct replay_team_times */
	uint64_t team_ticks, team_parts, team_wait, team_join;
	struct ended_node *nodes;	 /* only with "all" */
	size_t n_nodes;
	uint32_t n_counters;   /* of hardware */
	uint64_t *counts;      /* their values */
	uint64_t *node_counts; /* values of nodes[i], from i * n_counters on; or NULL */
};

/* Messages of the process; index and texts are checked. */
void threads_begin(struct process *p, const struct wire_thread *m, const char *name);
/* A thread of a process that is seen from outside, which writes no records. */
void threads_begin_outside(struct process *p, int tid, const char *name);
void threads_end_outside(struct process *p, int tid);
void threads_end(struct process *p, uint64_t index, uint64_t ticks, const char *name);
void threads_name(struct process *p, uint64_t index, const char *name);
/* The user's name for a living thread, which replaces the system's. */
void threads_name_tid(struct process *p, uint32_t tid, const char *name);

/* ring_store_read() for the living thread with this index, after its ring was read. */
void threads_ring_read(struct process *p, size_t index);

/* Moves orphan subtrees of OpenMP teams to their places, as far as these are known now. */
void threads_settle(struct process *p);

/* The process has ended, and so have all its threads and rings. */
void threads_all_end(struct process *p, uint64_t ticks);
void threads_free(struct process *p);

#endif
