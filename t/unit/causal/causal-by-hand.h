/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of ranks by hand, with a virtual clock of ns, for the units of causal/. They are given
 * in any order, except that a rank's events of one time are in theirs, and sorted by time.
 */
#ifndef VFTR_T_CAUSAL_BY_HAND_H
#define VFTR_T_CAUSAL_BY_HAND_H

#include <check.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/causal/causal.h"

enum { PATH_INIT = 1, PATH_FINALIZE, PATH_MAIN, PATH_WORK, PATH_OTHER, PATH_CALL = 100 };
enum hand_what {
	HAND_BEGIN,
	HAND_END,
	HAND_PATH,
	HAND_ENTER,
	HAND_LEAVE,
	HAND_P2P,
	HAND_PROBE,
	HAND_ALL
};

struct hand_event {
	int64_t t;
	size_t seq;
	enum hand_what what;
	uint32_t line, path;
	bool send;
	enum causal_work work;
	struct causal_message m;
	struct causal_collective all;
};

struct hand {
	struct hand_event *events;
	size_t n, cap;
	struct causal_line lines[64];
	uint32_t n_lines;
	int64_t eager;
};

static struct hand hand;

/* Forgets all events. error: of each clock, of which two lines share one; 0: all share one. */
static inline void by_hand(uint32_t n, int64_t error)
{
	free(hand.events);
	hand = (struct hand){.n_lines = n, .eager = -1};
	for (uint32_t i = 0; i < n; i++)
		hand.lines[i] = (struct causal_line){error ? i / 2 : 0, error};
}

static inline struct hand_event *hand_add(enum hand_what what, uint32_t line, int64_t t)
{
	struct hand_event *e = APPEND(hand.events, hand.n, hand.cap);

	*e = (struct hand_event){.t = t, .seq = hand.n, .what = what, .line = line};
	return e;
}

static inline void begins(uint32_t line, int64_t t)
{
	hand_add(HAND_BEGIN, line, t)->path = PATH_MAIN;
}

static inline void ends(uint32_t line, int64_t t)
{
	hand_add(HAND_END, line, t)->path = PATH_FINALIZE;
}

static inline void works(uint32_t line, int64_t t, uint32_t path)
{
	struct hand_event *e = hand_add(HAND_PATH, line, t);

	e->path = path;
	e->work = CAUSAL_USEFUL;
}

/* A call of MPI; behind it the rank is in PATH_MAIN. */
static inline void calls(uint32_t line, uint32_t path, int64_t enter, int64_t leave)
{
	hand_add(HAND_ENTER, line, enter)->path = path;
	hand_add(HAND_LEAVE, line, leave)->path = PATH_MAIN;
}

/* A message of a call that is there; leave: of the call that completes it. */
static inline void message(uint32_t line, bool send, uint32_t peer, uint64_t flow, uint64_t bytes,
	int64_t enter, int64_t leave)
{
	struct hand_event *e = hand_add(HAND_P2P, line, enter);

	e->send = send;
	e->m = (struct causal_message){
		.flow = flow, .enter = enter, .leave = leave, .peer = peer, .bytes = bytes};
}

static inline void sends(uint32_t line, uint32_t to, uint64_t flow, int64_t enter, int64_t leave)
{
	calls(line, PATH_CALL, enter, leave);
	message(line, true, to, flow, 8, enter, leave);
}

static inline void receives(
	uint32_t line, uint32_t from, uint64_t flow, int64_t enter, int64_t leave)
{
	calls(line, PATH_CALL + 1, enter, leave);
	message(line, false, from, flow, 8, enter, leave);
}

/* A call that waits for a message, which is received later. */
static inline void probes(uint32_t line, uint32_t from, uint64_t flow, int64_t enter, int64_t leave)
{
	calls(line, PATH_CALL + 3, enter, leave);
	hand_add(HAND_PROBE, line, enter)->m = (struct causal_message){
		.flow = flow, .enter = enter, .leave = INT64_MAX, .peer = from};
}

/* Part of a collective call of all lines. */
static inline void member(uint32_t line, enum wait_kind kind, uint64_t ticket, uint32_t root,
	int64_t enter, int64_t leave)
{
	hand_add(HAND_ALL, line, enter)->all = (struct causal_collective){
		.ticket = ticket, .kind = kind, .root = root, .enter = enter, .leave = leave};
}

static inline void joins(uint32_t line, enum wait_kind kind, uint64_t ticket, uint32_t root,
	int64_t enter, int64_t leave)
{
	calls(line, PATH_CALL + 2, enter, leave);
	member(line, kind, ticket, root, enter, leave);
}

static int by_hand_time(const void *a_, const void *b_)
{
	const struct hand_event *a = a_, *b = b_;

	return ORDER(a->t, b->t) ?: ORDER(a->seq, b->seq);
}

static inline void hand_feed(struct causal *c, const struct hand_event *e)
{
	switch (e->what) {
	case HAND_BEGIN:
		causal_begin(c, e->line, e->t, PATH_INIT, e->path);
		break;
	case HAND_END:
		causal_end(c, e->line, e->t, e->path);
		break;
	case HAND_PATH:
		causal_path(c, e->line, e->t, e->path, e->work);
		break;
	case HAND_ENTER:
		causal_enter(c, e->line, e->t, e->path);
		break;
	case HAND_LEAVE:
		causal_leave(c, e->line, e->t, e->path);
		break;
	case HAND_P2P:
		(e->send ? causal_send : causal_receive)(c, e->line, &e->m);
		break;
	case HAND_PROBE:
		causal_probe(c, e->line, &e->m);
		break;
	case HAND_ALL:
		causal_collective(c, e->line, &e->all);
		break;
	}
}

static inline struct causal *analysed(void)
{
	uint32_t all[64];
	char *error = NULL;
	struct causal *c = causal_new(hand.lines, hand.n_lines, "/tmp", &error);

	ck_assert_msg(c != NULL, "%s", error);
	for (uint32_t i = 0; i < hand.n_lines; i++)
		all[i] = i;
	causal_comm(c, all, hand.n_lines);
	causal_set_eager(c, hand.eager, hand.eager);
	qsort(hand.events, hand.n, sizeof(*hand.events), by_hand_time);
	for (size_t i = 0; i < hand.n; i++)
		hand_feed(c, &hand.events[i]);
	ck_assert_msg(causal_finish(c, &error), "%s", error);
	return c;
}

#define ANY_NUMBER UINT32_MAX

/* ns of all rows with these numbers. */
static inline double ns_of(
	const struct causal *c, enum causal_rows which, uint32_t kind, uint32_t path, uint32_t line)
{
	size_t n;
	const struct causal_row *rows = causal_rows(c, which, &n);
	double ns = 0;

	for (size_t i = 0; i < n; i++)
		if ((kind == ANY_NUMBER || rows[i].kind == kind) &&
			(path == ANY_NUMBER || rows[i].path == path) &&
			(line == ANY_NUMBER || rows[i].line == line))
			ns += rows[i].ns;
	return ns;
}

/* What holds for all runs without doubts. */
static inline void check_sums(const struct causal *c)
{
	const struct causal_totals *t = causal_totals(c);
	const double window = (double)(t->end - t->begin);

	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++)
		ck_assert_uint_eq(t->doubts[i], 0);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER), window);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER), t->waits);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER), t->waits);
	ck_assert_double_eq_tol(
		ns_of(c, CAUSAL_COSTS, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER), t->waits, 1e-3);
	ck_assert_double_eq_tol(
		ns_of(c, CAUSAL_CAUSES, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER), t->waits, 1e-3);
	ck_assert_double_eq(ns_of(c, CAUSAL_TIMES, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER),
		t->useful + t->lock_wait + t->mpi - t->waits);
	ck_assert_int_le(t->useful_max, t->ideal);
	ck_assert_int_le(t->ideal, t->end - t->begin);
}

#endif
