/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heart of the small MPI that t/model/m-match.c tests against: what there is in
 * it, and which receive gets which message. A network delivers late, but in order
 * on each channel; a message goes to the receive that was posted first, a
 * receive gets the message that arrived first.
 */
#ifndef VFTR_T_MATCH_MPI_H
#define VFTR_T_MATCH_MPI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/match/match.h"
#include "nodeagent/base/util.h"

#define PROCESSES 4
#define THREADS	  4 /* the last one only rescues */
#define COMMS	  4
#define TAGS	  3
#define CALLS	  2048 /* in a program, at most */

enum threading { ONE_THREAD, SERIALIZED, MULTIPLE };

struct plan {
	enum threading threading;
	unsigned processes, threads, comms, tags, actions;
	bool partitioned, unsure; /* Request_free, never completed */
	unsigned wildcards;	  /* percent */
};

enum call_kind {
	SEND,
	ISEND,
	RECV,
	IRECV,
	IMPROBE,
	FINISH,
	CANCEL,
	FREE,
	START_SEND,
	START_RECEIVE
};

/* A message, or a receive; of partitioned ones, each start is one. */
struct op {
	enum call_kind kind;
	unsigned comm, from, to; /* processes; from: PROCESSES is any */
	uint32_t tag, ticket, request, thread;
	uint64_t enter, leave;
	bool effective, arrived, failed, left; /* gone: cancelled in time */
	bool over, gone, freed, busy;
	struct op *partner; /* the message of a receive, and the other way round */
	struct line_end *end;
	uint32_t number; /* in the end */
	uint64_t order;	 /* of arrival, or of posting */
};

/* A partitioned request. */
struct line_end {
	bool send;
	unsigned comm, from, to, starts;
	uint32_t tag, ticket, position; /* among those of one tag */
	struct op *active;
};

struct doing {
	enum call_kind kind;
	unsigned step; /* 0: nothing */
	struct op *op;
	uint64_t enter;
};

struct record {
	enum { OF_SEND, OF_RECEIVE, OF_DONE, OF_LOSS } what;
	unsigned process;
	uint64_t ended;
	struct match_send send;
	struct match_receive receive;
	struct match_done done;
	uint32_t request;
};

struct ring {
	struct record *at;
	size_t n, cap, read;
};

struct world {
	struct plan plan;
	uint64_t now, order;
	struct op ops[CALLS];
	size_t n_ops;
	struct line_end ends[32];
	size_t n_ends;
	struct doing doing[PROCESSES][THREADS];
	struct ring rings[PROCESSES][THREADS];
	uint32_t sent[COMMS][PROCESSES][PROCESSES], posted[COMMS][PROCESSES];
	uint32_t sends_made[COMMS][PROCESSES][PROCESSES], receives_made[COMMS][PROCESSES];
	uint32_t of_tag[2][COMMS][PROCESSES][PROCESSES][TAGS];
	uint32_t requests[PROCESSES];
	bool member[COMMS][PROCESSES];
	uint64_t received; /* messages that were really received, but for partitioned ones */
};

static uint64_t random_state = 1;

static inline uint32_t any(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % n;
}

static inline bool chance(unsigned percent)
{
	return any(100) < percent;
}

static inline uint64_t proc_id_of(unsigned process)
{
	return process == PROCESSES ? MATCH_ANYWHERE : match_proc_id(1, process);
}

static inline bool is_receive(const struct op *o)
{
	return o->kind == RECV || o->kind == IRECV || o->kind == IMPROBE ||
	       o->kind == START_RECEIVE;
}

/* ---- what MPI does ----------------------------------------------------------------- */

static inline bool fits(const struct op *r, const struct op *s)
{
	return r->comm == s->comm && r->to == s->to &&
	       (r->from == PROCESSES || r->from == s->from) &&
	       (r->tag == MATCH_ANY_TAG || r->tag == s->tag);
}

static inline void join(struct op *r, struct op *s)
{
	r->partner = s;
	s->partner = r;
}

/* The earliest of the ops that wait there; kind of the other side is o's. */
static inline struct op *waiting_for(struct world *w, const struct op *o)
{
	struct op *best = NULL;

	for (size_t i = 0; i < w->n_ops; i++) {
		struct op *c = &w->ops[i];

		if (c->end || c->partner || c->gone || c->failed ||
			is_receive(c) == is_receive(o) || c->kind == IMPROBE ||
			!(is_receive(c) ? c->effective : c->arrived))
			continue;
		if (is_receive(o) ? !fits(o, c) : !fits(c, o))
			continue;
		if (!best || c->order < best->order)
			best = c;
	}
	return best;
}

static inline void post(struct world *w, struct op *r)
{
	struct op *s = waiting_for(w, r);

	r->order = ++w->order;
	r->effective = true;
	if (s)
		join(r, s);
}

/* The next message of a random channel arrives. */
static inline bool deliver(struct world *w)
{
	size_t start = w->n_ops ? any((uint32_t)w->n_ops) : 0;

	for (size_t k = 0; k < w->n_ops; k++) {
		struct op *s = &w->ops[(start + k) % w->n_ops], *first = s, *r;

		if (is_receive(s) || s->end || !s->effective || s->arrived || s->gone || s->failed)
			continue;
		for (size_t i = 0; i < w->n_ops; i++) {
			struct op *c = &w->ops[i];

			if (!is_receive(c) && !c->end && c->effective && !c->arrived &&
				!c->failed && c->comm == s->comm && c->from == s->from &&
				c->to == s->to && c->order < first->order && !c->gone)
				first = c;
		}
		first->arrived = true;
		r = waiting_for(w, first);
		first->order = ++w->order;
		if (r)
			join(r, first);
		return true;
	}
	return false;
}

#endif
