/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For the unit tests of communication: a process with three threads whose
 * records are made by hand, and a look at the sums they become.
 */
#ifndef VFTR_T_TRAFFIC_BY_HAND_H
#define VFTR_T_TRAFFIC_BY_HAND_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#define START	((uint64_t)3 << RECORD_TIME_BITS)
#define FN(f)	(RECORD_ID_MPI + VFTR_MPI_##f)
#define CALLER	0x10000u
#define THREADS 3
#define WORLD	1u /* number of the communicator with world ranks 0 to 7 */
#define INT	6u

static const struct replay_epoch no_epoch;
static struct conf *conf;
static uint64_t ticks;

/* A process with three threads. */
struct person {
	struct traffic *traffic;
	struct calltree *past;
	struct thread {
		struct replay *r;
		struct traffic_track *track;
		uint64_t block[BLOCK_WORDS];
		unsigned used;
		const char *why;
	} thread[THREADS];
};

static struct person me;
static struct thread *const T0 = &me.thread[0], *const T1 = &me.thread[1],
			    *const T2 = &me.thread[2];

/* ---- making records ------------------------------------------------------------ */

static inline void flush(struct thread *t)
{
	if (t->used && !t->why)
		t->why = replay_block(
			t->r, t->block, 0, BLOCK_WORDS, &no_epoch, START + ((uint64_t)1 << 33));
	memset(t->block, 0, sizeof(t->block));
	t->used = 0;
}

static inline void room(struct thread *t)
{
	if (t->used + 8 > BLOCK_WORDS)
		flush(t);
	if (!t->used)
		t->block[t->used++] = record_sync_word(ticks);
}

static inline void put(struct thread *t, size_t n, const uint64_t *words)
{
	room(t);
	for (size_t i = 0; i < n; i++)
		t->block[t->used++] = words[i];
}

#define PUT(t, ...) put(t, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static inline void in(struct thread *t, uint32_t id)
{
	PUT(t, record_word(++ticks, 0, id));
}

static inline void out(struct thread *t, uint32_t id)
{
	PUT(t, record_word(++ticks, RECORD_EXIT, id));
}

static inline void wait_ticks(uint64_t n)
{
	ticks += n;
}

static inline void send_to(
	struct thread *t, uint32_t comm, uint32_t dest, uint32_t request, uint64_t bytes)
{
	PUT(t, message_head(RECORD_SEND, 7), message_pair(0, dest),
		message_subject(comm, INT, request), message_last(0, bytes));
}

static inline void received(struct thread *t, uint32_t comm, uint32_t source, uint32_t request,
	uint32_t flags, uint64_t bytes)
{
	PUT(t, message_head(RECORD_RECV, 7), message_pair(0, source),
		message_subject(comm, INT, request), message_last(flags, bytes));
}

static inline void post(
	struct thread *t, uint32_t comm, uint32_t source, uint32_t request, uint32_t flags)
{
	PUT(t, message_head(RECORD_POST, 0), message_pair(0, source),
		message_subject(comm, INT, request), message_last(flags, 9999));
}

static inline void done(
	struct thread *t, uint32_t request, uint32_t source, uint32_t flags, uint64_t bytes)
{
	PUT(t, message_head(RECORD_DONE, 7), message_pair(request, source),
		message_last(flags, bytes));
}

static inline void failed(struct thread *t)
{
	PUT(t, message_head(RECORD_FAILED, 15), MESSAGE_MARK);
}

static inline void collective(struct thread *t, uint32_t comm, uint32_t ticket, uint32_t request,
	uint32_t sends, uint32_t receives, uint64_t sent, uint64_t got)
{
	PUT(t, message_head(RECORD_COLLECTIVE, 0), message_pair(ticket, MESSAGE_NO_RANK),
		message_subject(comm, 0, request), message_pair(sends, receives), sent,
		MESSAGE_MARK | got);
}

/* ---- definitions ------------------------------------------------------------------ */

struct comm_packet {
	struct wire_comm m;
	struct wire_run runs[4];
};

static const char *define(struct person *p, uint32_t number, uint64_t id, uint32_t size,
	uint32_t remote, uint32_t before, size_t n, const struct wire_run *runs)
{
	struct comm_packet c = {
		.m = {.number = number,
			.id = id,
			.kind = number == WORLD ? WIRE_COMM_PREDEFINED : WIRE_COMM_SPLIT,
			.rank = number == WORLD && p->traffic->rank > 0 ? (uint32_t)p->traffic->rank
									: 0,
			.size = size,
			.remote_size = remote,
			.runs_before = before,
			.runs = (uint32_t)n}};

	memcpy(c.runs, runs, n * sizeof(*runs));
	return traffic_define_comm(p->traffic, &c.m, n * sizeof(*runs));
}

#define RUNS(...)                                                                                  \
	sizeof((struct wire_run[]){__VA_ARGS__}) / sizeof(struct wire_run), (struct wire_run[])    \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static inline const char *gone(uint32_t object, uint32_t number)
{
	struct wire_about m = {.head = {.ticks = ticks}, .number = number, .object = object};

	return traffic_gone(me.traffic, &m);
}

/* Of a node on which ranks 0 to n - 1 of job 1 live. */
static inline struct sync *sync_of_ranks(uint32_t n)
{
	struct sync_member *here = xmalloc(n * sizeof(*here));
	struct sync *s = sync_new();

	for (uint32_t i = 0; i < n; i++)
		here[i] = (struct sync_member){1, true, i};
	sync_set_members(s, here, n);
	free(here);
	return s;
}

static inline void start_thread(struct person *p, int i)
{
	struct thread *t = &p->thread[i];

	memset(t, 0, sizeof(*t));
	t->r = replay_new(START, NULL, NULL);
	t->track = traffic_track_new(p->traffic, replay_tree(t->r));
	replay_set_track(t->r, t->track);
}

static inline void end_thread(struct person *p, int i)
{
	struct thread *t = &p->thread[i];
	struct calltree *tree;

	if (!t->r)
		return;
	flush(t);
	replay_end(t->r, ticks);
	tree = replay_take_tree(t->r);
	calltree_add(p->past, tree);
	traffic_track_end(t->track, p->past);
	calltree_free(tree);
	replay_free(t->r);
	t->r = NULL;
}

static inline void be_born(struct person *p, struct sync *sync, int rank)
{
	p->traffic = traffic_new(conf, sync);
	p->past = calltree_new();
	traffic_rank(p->traffic, rank, 1);
	ck_assert_ptr_null(define(p, WORLD, 100, 8, 0, 0, RUNS({0, 1, 8})));
	for (int i = 0; i < THREADS; i++)
		start_thread(p, i);
}

static inline void die_out(struct person *p)
{
	for (int i = 0; i < THREADS; i++)
		end_thread(p, i);
	traffic_free(p->traffic);
	calltree_free(p->past);
	memset(p, 0, sizeof(*p));
}

static inline void setup(void)
{
	ticks = START;
	conf = conf_default();
	conf->mpi_show_sync_time = true;
	be_born(&me, NULL, 2);
}

static inline void teardown(void)
{
	die_out(&me);
	conf_free(conf);
}

/* ---- looking ------------------------------------------------------------------------- */

/* All threads end; none was refused. */
static inline void end(void)
{
	for (int i = 0; i < THREADS; i++) {
		end_thread(&me, i);
		ck_assert_ptr_null(me.thread[i].why);
	}
}

static inline void refused(struct thread *t, const char *why)
{
	flush(t);
	ck_assert_ptr_nonnull(t->why);
	ck_assert_str_eq(t->why, why);
}

/* Sums of all nodes of a function. */
static inline struct node_messages of(uint64_t id)
{
	struct node_messages sum = {0};

	for (size_t i = 0; i < calltree_nodes(me.past); i++) {
		const struct node *n = calltree_at(me.past, i);

		if (n->key != id || !n->extra)
			continue;
		sum.sends += n->extra->messages.sends;
		sum.receives += n->extra->messages.receives;
		sum.bytes_sent += n->extra->messages.bytes_sent;
		sum.bytes_received += n->extra->messages.bytes_received;
		sum.send_ticks += n->extra->messages.send_ticks;
		sum.receive_ticks += n->extra->messages.receive_ticks;
		sum.send_bandwidth += n->extra->messages.send_bandwidth;
		sum.receive_bandwidth += n->extra->messages.receive_bandwidth;
	}
	return sum;
}

static inline void sent_by(uint64_t id, uint64_t sends, uint64_t bytes, uint64_t spent)
{
	struct node_messages m = of(id);

	ck_assert_uint_eq(m.sends, sends);
	ck_assert_uint_eq(m.bytes_sent, bytes);
	ck_assert_uint_eq(m.send_ticks, spent);
}

static inline void received_by(uint64_t id, uint64_t receives, uint64_t bytes, uint64_t spent)
{
	struct node_messages m = of(id);

	ck_assert_uint_eq(m.receives, receives);
	ck_assert_uint_eq(m.bytes_received, bytes);
	ck_assert_uint_eq(m.receive_ticks, spent);
}

static inline struct traffic_peer peer(uint32_t rank)
{
	const struct traffic_sums *s = traffic_sums(me.traffic);

	for (size_t i = 0; i < s->n_peers; i++)
		if (s->peers[i].peer == rank)
			return s->peers[i];
	return (struct traffic_peer){.peer = rank};
}

static inline struct traffic_comm comm(uint64_t id)
{
	const struct traffic_sums *s = traffic_sums(me.traffic);

	for (size_t i = 0; i < s->n_comms; i++)
		if (s->comms[i].id == id)
			return s->comms[i];
	return (struct traffic_comm){.id = id};
}

/* Requests of a kind, open now or given up, that a function's calls have posted. */
static inline uint64_t open_at(uint64_t id, uint32_t kind)
{
	uint64_t requests = 0;
	size_t n;
	struct traffic_open *open = traffic_open(me.traffic, &n);

	for (size_t i = 0; i < n; i++)
		if (open[i].kind == kind && open[i].node->key == id)
			requests += open[i].requests;
	free(open);
	for (size_t i = 0; i < calltree_nodes(me.past); i++) {
		const struct node *node = calltree_at(me.past, i);

		if (node->extra && node->key == id)
			requests += node->extra->open[kind];
	}
	return requests;
}

static inline void nothing_is_open(void)
{
	ck_assert_uint_eq(traffic_open_requests(me.traffic), 0);
}

/* A test, and how often it runs, with _i = 0, 1, ... */
struct row {
	const TTest *test;
	int times;
};

static inline int run_tests(const char *name, const struct row *rows, size_t n)
{
	Suite *s = suite_create(name);
	TCase *c = tcase_create(name);

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	for (size_t i = 0; i < n; i++)
		tcase_add_loop_test(c, rows[i].test, 0, rows[i].times);
	suite_add_tcase(s, c);
	return run_suite(s);
}

#endif
