/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives the records of this node's processes (shm/message.h), which replay/comm has
 * put in order, to the matcher: receives are matched here, sends at the agent of their
 * receiver, which may be on another node.
 *
 * A send with a request is kept until its completion says that it was not
 * cancelled.
 */
#ifndef VFTR_NODEAGENT_MATCH_PROCESS_H
#define VFTR_NODEAGENT_MATCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/match/match.h"
#include "shm/message.h"

struct match_node;
struct match_process;

#ifndef MATCH_HELD_MAX
#define MATCH_HELD_MAX (1u << 16) /* sends of a process; the oldest then counts as sent */
#endif

struct match_node_options {
	struct match_options match;
	/* True if the process with this id is matched here. NULL: all are. */
	bool (*is_here)(void *arg, uint64_t proc_id);
	/* A send to a process of another node, in the order of coming; for match_batch_send(). */
	void (*ship)(void *arg, const struct match_send *s);
	/* Records of a process here were lost: all other agents should know. May be NULL. */
	void (*ship_loss)(void *arg, uint64_t proc_id);
	void *arg;
};

/* Never NULL. The options are copied. */
struct match_node *match_node_new(const struct match_node_options *o);
void match_node_free(struct match_node *n);
/* All processes have ended, and all batches have come. */
void match_node_end(struct match_node *n);
/* For match_batch_give(), match_gone() and match_counts(). */
struct match *match_node_matcher(struct match_node *n);

/* A process whose rank is known. concurrent: it may have MPI_THREAD_MULTIPLE. */
struct match_process *match_process_new(struct match_node *n, uint64_t proc_id, bool concurrent);
/* True if messages of this process to process proc_id are matched here. */
bool match_process_meets(const struct match_process *p, uint64_t proc_id);
/* A call that began at `enter' has made a part of the partitioned send with this request ready. */
void match_process_part(struct match_process *p, uint32_t request, uint64_t enter);
/* To be called after the last record of p. Frees p. */
void match_process_end(struct match_process *p);

/* The record of a call whose frame has ended; ids of processes in place of ranks. */
struct match_message {
	const struct message *m; /* SEND, RECV or POST */
	uint64_t comm;		 /* its identity, the same on all members */
	uint64_t peer;	       /* id of a process, or MATCH_ELSEWHERE; ignored in a wildcard POST */
	uint64_t since, until; /* the frame, in the common clock */
	uint32_t thread;
	/* of a send, a receive, a probe that waits, or DONE: the caller's number of its call path,
	 * or 0 */
	uint32_t path;
	uint32_t probes;  /* of a receive or DONE: match_done.probes */
	uint32_t mode;	  /* of a send: enum match_send_mode */
	uint32_t history; /* of a send: match_send.history */
	bool probe;	  /* POST: by Mprobe or Improbe, not by Imrecv */
	bool failed;	  /* a FAILED came after it */
	bool overtaking;
};
void match_process_message(struct match_process *p, const struct match_message *c);

/* A request has ended; `posted` is its record, m of this the DONE. */
void match_process_done(
	struct match_process *p, const struct message *posted, const struct match_message *c);

/* The process has freed a communicator of so many members: match_member_gone(). */
void match_process_comm_gone(struct match_process *p, uint64_t comm, uint64_t members);

/* Records of its threads were lost at about this point. */
void match_process_lost(struct match_process *p);
/* All its calls that ended before `until` have been given. */
void match_process_progress(struct match_process *p, uint64_t until);

#endif
