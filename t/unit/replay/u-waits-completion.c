/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls wait that complete collective calls which do not block: from records made by hand, at
 * times of a clock that the test sets, to the tick.
 */
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "t/unit/replay/traffic-by-hand.h"

enum { RANKS = 4, ROOT = 1 };

#define NONE MESSAGE_NO_RANK

static struct person ranks[RANKS];
static struct sync *sync_of_all;

static void node_up(void)
{
	sync_of_all = sync_of_ranks(RANKS);
	for (int i = 0; i < RANKS; i++)
		be_born(&ranks[i], sync_of_all, i);
}

static void node_down(void)
{
	for (int i = 0; i < RANKS; i++)
		die_out(&ranks[i]);
	sync_free(sync_of_all);
}

/* A call of a rank from enter to leave; what it records stands in between. */
#define CALL(r, function, enter, leave, record)                                                    \
	do {                                                                                       \
		struct thread *const t_ = &ranks[r].thread[0];                                     \
		ticks = START + (enter)-1;                                                         \
		in(t_, RECORD_ID_MPI + (function));                                                \
		record;                                                                            \
		ticks = START + (leave)-1;                                                         \
		out(t_, RECORD_ID_MPI + (function));                                               \
		flush(t_);                                                                         \
		ck_assert_ptr_null(t_->why);                                                       \
	} while (0)

static void begun(int r, uint32_t function, uint32_t ticket, uint32_t request, uint32_t root)
{
	PUT(&ranks[r].thread[0], message_head(RECORD_COLLECTIVE, function),
		message_pair(ticket, root), message_subject(WORLD, 0, request), message_pair(1, 1),
		8, MESSAGE_MARK | 8);
}

/* Start `number` of a persistent barrier. */
static void started(int r, uint32_t number, uint32_t request)
{
	begun(r, VFTR_MPI_BARRIER_INIT, 5, request, NONE);
	PUT(&ranks[r].thread[0], message_head(RECORD_START, request), MESSAGE_MARK | number);
}

static void completed(int r, uint32_t request)
{
	PUT(&ranks[r].thread[0], message_head(RECORD_COMPLETE, request));
}

/* What rank r waited in MPI_Wait() and MPI_Waitall(), for whom; ends its threads. */
static struct node_wait waited(int r)
{
	struct node_wait sum = {.late = UINT32_MAX};

	for (int i = 0; i < THREADS; i++)
		end_thread(&ranks[r], i);
	for (size_t i = 0; i < calltree_nodes(ranks[r].past); i++) {
		const struct node *n = calltree_at(ranks[r].past, i);

		for (size_t k = 0; n->extra && k < n->extra->waits.n; k++) {
			const struct node_wait *w = &n->extra->waits.at[k];

			if (!w->ticks)
				continue;
			ck_assert(n->key == FN(WAIT) || n->key == FN(WAITALL));
			sum.kind = w->kind;
			sum.late = w->late;
			sum.calls += w->calls;
			sum.ticks += w->ticks;
		}
	}
	return sum;
}

static void has_waited(int r, uint32_t kind, uint32_t late, uint64_t calls, uint64_t wanted)
{
	const struct node_wait w = waited(r);

	ck_assert_msg(w.ticks == wanted && w.calls == calls && w.late == late &&
			      (!wanted || w.kind == kind),
		"rank %d: kind %u late %u calls %u ticks %u, wanted %u %u %u %u", r, w.kind, w.late,
		(unsigned)w.calls, (unsigned)w.ticks, kind, late, (unsigned)calls,
		(unsigned)wanted);
}

/* Each begins at 10, 20, 50, 30 and is in MPI_Wait() from 15, 40, 60, 32 to 90, 90, 90, 45. */
static const struct kind_row {
	uint32_t function, kind, root;
	uint32_t late[RANKS];
	uint64_t wanted[RANKS];
} kinds[] = {
	{VFTR_MPI_IBARRIER, WAIT_BARRIER, NONE, {2, 2, NONE, 2}, {35, 10, 0, 13}},
	{VFTR_MPI_IALLREDUCE, WAIT_NXN, NONE, {2, 2, NONE, 2}, {35, 10, 0, 13}},
	{VFTR_MPI_IALLTOALL_C, WAIT_NXN, NONE, {2, 2, NONE, 2}, {35, 10, 0, 13}},
	{VFTR_MPI_COMM_IDUP, WAIT_NXN, NONE, {2, 2, NONE, 2}, {35, 10, 0, 13}},
	{VFTR_MPI_IBCAST, WAIT_LATE_ROOT, 1, {1, NONE, NONE, NONE}, {5, 0, 0, 0}},
	{VFTR_MPI_IREDUCE, WAIT_EARLY_ROOT, 0, {2, NONE, NONE, NONE}, {35, 0, 0, 0}},
	{VFTR_MPI_ISCAN, WAIT_SCAN, NONE, {NONE, NONE, NONE, 2}, {0, 0, 0, 13}},
};

START_TEST(each_kind)
{
	static const uint64_t begin[RANKS] = {10, 20, 50, 30}, enter[RANKS] = {15, 40, 60, 32},
			      leave[RANKS] = {90, 90, 90, 45};
	const struct kind_row *k = &kinds[_i];

	for (int first = 0; first < RANKS; first++) {
		node_up();
		for (int i = 0; i < RANKS; i++) {
			const int r = (first + i) % RANKS;

			CALL(r, VFTR_MPI_IBARRIER, begin[r], begin[r] + 1,
				begun(r, k->function, 0, 7, k->root));
			CALL(r, VFTR_MPI_WAIT, enter[r], leave[r], completed(r, 7));
		}
		for (int r = 0; r < RANKS; r++)
			has_waited(r, k->kind, k->late[r], k->wanted[r] > 0, k->wanted[r]);
		node_down();
	}
}
END_TEST

/* Two that end together: the later one counts, in whatever order they were begun. */
START_TEST(completed_together)
{
	node_up();
	for (int r = 0; r < RANKS; r++) {
		CALL(r, VFTR_MPI_IBARRIER, 10 + (r == 2 ? 30 : 0), 45,
			begun(r, VFTR_MPI_IBARRIER, (uint32_t)_i, 1, NONE));
		CALL(r, VFTR_MPI_IALLREDUCE, 50 + (r == 3 ? 20 : 0), 75,
			begun(r, VFTR_MPI_IALLREDUCE, 1 - (uint32_t)_i, 2, NONE));
	}
	CALL(0, VFTR_MPI_WAITALL, 60, 100,
		(completed(0, 1 + (uint32_t)_i), completed(0, 2 - (uint32_t)_i)));
	for (int r = 1; r < RANKS; r++)
		CALL(r, VFTR_MPI_WAITALL, 100, 110, (completed(r, 1), completed(r, 2)));
	has_waited(0, WAIT_NXN, 3, 1, 10);
	has_waited(1, 0, NONE, 0, 0);
	node_down();
}
END_TEST

/* A persistent barrier: in start i rank i is late. Rank 0 completes the first one late. */
static void starts(int r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t at = 100 * (uint64_t)i + ((uint32_t)r == i ? 30 : 0);

		CALL(r, VFTR_MPI_START, at + 10, at + 11, started(r, i + 1, 10 + i));
		CALL(r, VFTR_MPI_WAIT, at + 12, at + 12 + 60, completed(r, 10 + i));
	}
}

START_TEST(persistent)
{
	node_up();
	for (int r = RANKS - 1; r >= 0; r--)
		starts(r, 3);
	/* late for all in start r, and has waited 28 in the others */
	ck_assert_uint_eq(waited(0).ticks, 2 * 28);
	ck_assert_uint_eq(waited(1).ticks, 2 * 28);
	ck_assert_uint_eq(waited(3).ticks, 3 * 28);
	ck_assert_uint_eq(waited(3).kind, WAIT_BARRIER);
	node_down();
	/* the first start of rank 2 was not recorded: in the other two ranks 1 and 3 are late */
	node_up();
	for (int r = 0; r < RANKS; r++)
		for (uint32_t i = r == 2 ? 1 : 0; i < 3; i++) {
			const uint64_t at = 100 * (uint64_t)i + (r == (int)(2 * i) - 1 ? 30 : 0);

			CALL(r, VFTR_MPI_START, at + 10, at + 11, started(r, i + 1, 10 + i));
			CALL(r, VFTR_MPI_WAIT, at + 12, at + 12 + 60, completed(r, 10 + i));
		}
	ck_assert_uint_eq(waited(0).ticks, 2 * 28);
	ck_assert_uint_eq(waited(1).ticks, 28);
	ck_assert_uint_eq(waited(2).ticks, 2 * 28);
	ck_assert_uint_eq(waited(3).ticks, 28);
	node_down();
	/* without a number nobody knows which one is which */
	node_up();
	for (int r = 0; r < RANKS; r++) {
		CALL(r, VFTR_MPI_START, r == 1 ? 40 : 10, 41,
			begun(r, VFTR_MPI_BARRIER_INIT, 5, 10, NONE));
		CALL(r, VFTR_MPI_WAIT, 42, 90, completed(r, 10));
	}
	ck_assert_uint_eq(waited(0).ticks, 0);
	node_down();
}
END_TEST

/* A thread that is read later has started before. */
START_TEST(started_by_threads)
{
	node_up();
	for (int r = 0; r < RANKS; r++) {
		const uint64_t at = r == 1 ? 230 : 200;

		CALL(r, VFTR_MPI_START, at, at + 1, started(r, 2, 11));
		CALL(r, VFTR_MPI_WAIT, at + 2, at + 60, completed(r, 11));
	}
	for (int r = 0; r < RANKS; r++) {
		struct thread *t = &ranks[r].thread[1];

		ticks = START + 10;
		in(t, RECORD_ID_MPI + VFTR_MPI_START);
		PUT(t, message_head(RECORD_COLLECTIVE, VFTR_MPI_BARRIER_INIT),
			message_pair(5, NONE), message_subject(WORLD, 0, 12), message_pair(1, 1), 8,
			MESSAGE_MARK | 8);
		PUT(t, message_head(RECORD_START, 12), MESSAGE_MARK | 1);
		out(t, RECORD_ID_MPI + VFTR_MPI_START);
		ticks = START + 30 + 10 * (uint64_t)r;
		in(t, FN(WAIT));
		PUT(t, message_head(RECORD_COMPLETE, 12));
		out(t, FN(WAIT));
		flush(t);
		ck_assert_ptr_null(t->why);
	}
	for (int r = 0; r < RANKS; r++)
		ck_assert_uint_eq(waited(r).ticks, r == 1 ? 0 : 28);
	node_down();
}
END_TEST

/* Begun and completed by a thread of its own, which ends then. */
static void pass_by_thread(int r, uint32_t ticket)
{
	struct thread *t = &ranks[r].thread[1];
	const uint64_t at = 1000 * (uint64_t)ticket;

	ticks = START + at;
	in(t, FN(IBARRIER));
	PUT(t, message_head(RECORD_COLLECTIVE, VFTR_MPI_IBARRIER), message_pair(ticket, NONE),
		message_subject(WORLD, 0, 12 + ticket), message_pair(1, 1), 8, MESSAGE_MARK | 8);
	out(t, FN(IBARRIER));
	ticks = START + at + 10;
	in(t, FN(WAIT));
	PUT(t, message_head(RECORD_COMPLETE, 12 + ticket));
	out(t, FN(WAIT));
	end_thread(&ranks[r], 1);
	ck_assert_ptr_null(t->why);
	start_thread(&ranks[r], 1);
}

/* Of a thread that has ended it is kept what it was in as long as others may have waited for it. */
START_TEST(threads_that_have_ended)
{
	enum { CALLS = 200 };

	node_up();
	for (uint32_t i = 0; i < CALLS; i++)
		pass_by_thread(1, i);
	ck_assert_uint_eq(ranks[1].traffic->n_activities_ended, CALLS);
	for (uint32_t i = 0; i < CALLS; i++)
		for (int r = 0; r < RANKS; r++)
			if (r != 1)
				pass_by_thread(r, i);
	ck_assert_uint_le(ranks[1].traffic->n_activities_ended, 65);
	node_down();
}
END_TEST

/* A persistent call is told apart from calls of its communicator that have such a ticket. */
START_TEST(persistent_with_members_elsewhere)
{
	const struct elsewhere_comm *c;
	size_t n;

	node_up();
	sync_begin_elsewhere(sync_of_all, ELSEWHERE_BYTES_MAX);
	sync_set_members(sync_of_all, (struct sync_member[]){{1, true, 0}}, 1);
	CALL(0, VFTR_MPI_START, 10, 11, started(0, 1, 10));
	CALL(0, VFTR_MPI_WAIT, 12, 72, completed(0, 10));
	CALL(0, VFTR_MPI_IBARRIER, 80, 81, begun(0, VFTR_MPI_IBARRIER, 1, 11, NONE));
	CALL(0, VFTR_MPI_WAIT, 82, 92, completed(0, 11));
	c = elsewhere_comms(sync_elsewhere(sync_of_all), &n);
	ck_assert_uint_eq(n, 2);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(c[i].n_instances, 1);
		ck_assert_uint_eq(c[i].instances[0].ticket, 1);
		ck_assert(!c[i].instances[0].blocks);
	}
	ck_assert_uint_ne(c[0].id, c[1].id);
	node_down();
}
END_TEST

int main(void)
{
	const struct row rows[] = {{each_kind, ARRAY_SIZE(kinds)}, {completed_together, 2},
		{persistent, 1}, {started_by_threads, 1}, {threads_that_have_ended, 1},
		{persistent_with_members_elsewhere, 1}};

	return run_tests("waits-completion", rows, ARRAY_SIZE(rows));
}
