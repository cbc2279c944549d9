/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi.show_sync_time: from records made by hand, at times of a clock that the test sets, to
 * what members of collective calls wait for each other, to the tick.
 */
#include <inttypes.h>
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/jobs/spawns.h"
#include "nodeagent/trace/collective.h"
#include "shm/identity.h"
#include "t/unit/replay/traffic-by-hand.h"

enum { RANKS = 4, CROWD = 16 };

#define TURNED	2u /* a communicator with world ranks 3, 2, 1, 0 */
#define INTER	3u /* between world ranks 0, 1 and 3, 2 */
#define ABROAD	4u /* between world ranks 0 to 3 and two of another job */
#define CROWDED 5u /* of world ranks 0 to CROWD - 1 */
#define FAR	7u /* a rank of WORLD on another node */
#define HERE	MESSAGE_ROOT_HERE
#define NONE	MESSAGE_NO_RANK

static struct person others[CROWD];
static struct sync *sync_of_all;

/* ---- the ranks of a node ------------------------------------------------------------------- */

static void define_as(struct person *p, uint32_t number, uint32_t rank, uint32_t size,
	uint32_t remote, size_t n, const struct wire_run *runs)
{
	struct comm_packet c = {.m = {.number = number,
					.id = 100 + number,
					.kind = WIRE_COMM_SPLIT,
					.rank = rank,
					.size = size,
					.remote_size = remote,
					.runs = (uint32_t)n}};

	memcpy(c.runs, runs, n * sizeof(*runs));
	ck_assert_ptr_null(traffic_define_comm(p->traffic, &c.m, n * sizeof(*runs)));
}

static void node_up(void)
{
	sync_of_all = sync_of_ranks(RANKS);
	for (int i = 0; i < RANKS; i++) {
		struct person *p = &others[i];
		const bool second = i >= 2;

		be_born(p, sync_of_all, i);
		define_as(p, TURNED, 3 - (uint32_t)i, 4, 0, RUNS({3, -1, 4}));
		if (second)
			define_as(p, INTER, 3 - (uint32_t)i, 2, 2, RUNS({0, 1, 2}, {3, -1, 2}));
		else
			define_as(p, INTER, (uint32_t)i, 2, 2, RUNS({3, -1, 2}, {0, 1, 2}));
		define_as(p, ABROAD, (uint32_t)i, 4, 2, RUNS({WIRE_UNKNOWN, 0, 2}, {0, 1, 4}));
	}
}

static void node_down(void)
{
	for (int i = 0; i < RANKS; i++)
		die_out(&others[i]);
	sync_free(sync_of_all);
}

/* What a rank waited in a function; its threads end. */
/* The same for a late rank, as counted at the call itself. */
static uint64_t waited_for_somebody(const struct node *call, uint32_t id)
{
	uint64_t sum = 0;

	for (size_t i = 0; call->extra && i < call->extra->waits.n; i++) {
		const struct node_wait *w = &call->extra->waits.at[i];

		ck_assert_uint_gt(w->calls, 0);
		ck_assert_int_eq(w->kind == WAIT_BARRIER,
			id == RECORD_ID_MPI + VFTR_MPI_BARRIER || id == FN(WIN_FREE));
		sum += w->ticks;
	}
	return sum;
}

static uint64_t waited(struct person *p, uint32_t id, uint64_t *calls)
{
	uint64_t sum = 0;

	*calls = 0;
	for (int i = 0; i < THREADS; i++)
		end_thread(p, i);
	for (size_t i = 0; i < calltree_nodes(p->past); i++) {
		const struct node *n = calltree_at(p->past, i);

		if (n->key != (KEY_SYNC | id))
			continue;
		ck_assert_uint_eq(n->parent->key, id);
		ck_assert_uint_le(n->ticks, n->parent->ticks);
		ck_assert_uint_eq(n->ticks, waited_for_somebody(n->parent, id));
		sum += n->ticks;
		*calls += n->calls;
	}
	return sum;
}

/* One member of one call. */
struct member {
	uint32_t function, comm, ticket, root, request;
	uint64_t enter, leave;
};

static void call(struct person *p, const struct member *m)
{
	struct thread *t = &p->thread[0];
	const uint32_t fn = RECORD_ID_MPI + m->function;

	ticks = START + m->enter - 1;
	in(t, fn);
	PUT(t, message_head(RECORD_COLLECTIVE, m->function), message_pair(m->ticket, m->root),
		message_subject(m->comm, 0, m->request), message_pair(1, 1), 8, MESSAGE_MARK | 8);
	ticks = START + m->leave - 1;
	out(t, fn);
	flush(t);
	ck_assert_ptr_null(t->why);
}

static void enter_late(int i, uint64_t enter, uint64_t leave, uint32_t function, uint32_t ticket)
{
	call(&others[i], &(struct member){function, WORLD, ticket, NONE, 0, enter, leave});
}

static void they_waited(
	const char *what, uint32_t function, const uint64_t wanted[RANKS], uint64_t calls_wanted)
{
	for (int i = 0; i < RANKS; i++) {
		uint64_t calls, got = waited(&others[i], RECORD_ID_MPI + function, &calls);

		ck_assert_msg(got == wanted[i] && calls == calls_wanted,
			"%s: rank %d of the world waited %" PRIu64 " in %" PRIu64
			" calls, wanted %" PRIu64 " in %" PRIu64,
			what, i, got, calls, wanted[i], calls_wanted);
	}
}

/* ---- each kind of call --------------------------------------------------------------------- */

#define ROW(f) #f, VFTR_MPI_##f
#define ALL_OF(f)                                                                                  \
	{ROW(f), LAST, NONE, {10, 40, 25, 30}, {90, 90, 90, 90}, {30, 0, 15, 10}},                 \
	{                                                                                          \
		ROW(f), LAST, NONE, {10, 40, 25, 30}, {90, 90, 36, 31},                            \
		{                                                                                  \
			30, 0, 11, 1                                                               \
		}                                                                                  \
	}
#define FROM(f)                                                                                    \
	{ROW(f), ROOT, 2, {10, 60, 30, 20}, {90, 90, 90, 90}, {20, 0, 0, 10}},                     \
		{ROW(f), ROOT, 2, {10, 60, 30, 20}, {90, 90, 90, 24}, {20, 0, 0, 4}},              \
	{                                                                                          \
		ROW(f), ROOT, 0, {10, 60, 30, 20}, {90, 90, 90, 90},                               \
		{                                                                                  \
			0, 0, 0, 0                                                                 \
		}                                                                                  \
	}
#define TO(f)                                                                                      \
	{ROW(f), ROOT_FOR_LAST, 1, {30, 10, 50, 20}, {90, 90, 90, 90}, {0, 40, 0, 0}},             \
		{ROW(f), ROOT_FOR_LAST, 1, {30, 10, 50, 20}, {31, 45, 90, 21}, {0, 35, 0, 0}},     \
	{                                                                                          \
		ROW(f), ROOT_FOR_LAST, 2, {30, 10, 50, 20}, {90, 90, 90, 90},                      \
		{                                                                                  \
			0, 0, 0, 0                                                                 \
		}                                                                                  \
	}
#define CHAIN(f)                                                                                   \
	{ROW(f), LAST_BELOW, NONE, {30, 10, 50, 20}, {90, 90, 90, 90}, {0, 20, 0, 30}},            \
		{ROW(f), LAST_BELOW, NONE, {30, 10, 50, 20}, {35, 32, 90, 41}, {0, 20, 0, 21}},    \
	{                                                                                          \
		ROW(f), LAST_BELOW, NONE, {10, 20, 30, 80}, {90, 90, 90, 90},                      \
		{                                                                                  \
			0, 0, 0, 0                                                                 \
		}                                                                                  \
	}

/* By rank in the communicator. */
static const struct kind_row {
	const char *name;
	uint32_t function;
	enum whom { LAST, ROOT, ROOT_FOR_LAST, LAST_BELOW } whom;
	uint32_t root;
	uint64_t enter[RANKS], leave[RANKS], wanted[RANKS];
} kinds[] = {ALL_OF(BARRIER), ALL_OF(ALLGATHER), ALL_OF(ALLGATHERV), ALL_OF(ALLREDUCE),
	ALL_OF(ALLREDUCE_C), ALL_OF(ALLTOALL), ALL_OF(ALLTOALLV), ALL_OF(ALLTOALLW),
	ALL_OF(REDUCE_SCATTER), ALL_OF(REDUCE_SCATTER_BLOCK), ALL_OF(NEIGHBOR_ALLTOALL),
	FROM(BCAST), FROM(BCAST_C), FROM(SCATTER), FROM(SCATTERV), TO(REDUCE), TO(GATHER),
	TO(GATHERV), TO(GATHERV_C), CHAIN(SCAN), CHAIN(EXSCAN)};

/* In whatever order they are read, in a communicator with ranks in other places, too. */
START_TEST(each_kind)
{
	const struct kind_row *k = &kinds[_i];

	for (int turned = 0; turned < 2; turned++) {
		for (int first = 0; first < RANKS; first++) {
			uint64_t wanted[RANKS];

			node_up();
			for (int i = 0; i < RANKS; i++) {
				const int r = (first + i) % RANKS, world = turned ? 3 - r : r;

				call(&others[world],
					&(struct member){k->function, turned ? TURNED : WORLD, 0,
						k->root, 0, k->enter[r], k->leave[r]});
				wanted[world] = k->wanted[r];
			}
			they_waited(k->name, k->function, wanted, 1);
			node_down();
		}
	}
}
END_TEST

/* By world rank; the groups are 0, 1 and 3, 2. */
static const struct group_row {
	const char *name;
	uint32_t function, root[RANKS];
	uint64_t enter[RANKS], leave[RANKS], wanted[RANKS];
} between[] = {
	{ROW(BCAST), {NONE, HERE, 1, 1}, {10, 40, 15, 60}, {90, 90, 90, 90}, {0, 0, 25, 0}},
	{ROW(SCATTER), {0, 0, HERE, NONE}, {10, 40, 50, 60}, {90, 44, 90, 90}, {40, 4, 0, 0}},
	{ROW(REDUCE), {HERE, NONE, 0, 0}, {10, 80, 50, 40}, {90, 90, 90, 90}, {40, 0, 0, 0}},
	{ROW(GATHERV), {1, 1, NONE, HERE}, {30, 20, 85, 10}, {90, 90, 90, 28}, {0, 0, 0, 18}},
	{ROW(ALLREDUCE), {NONE, NONE, NONE, NONE}, {10, 40, 35, 20}, {90, 90, 90, 90},
		{25, 0, 5, 20}},
	{ROW(BARRIER), {NONE, NONE, NONE, NONE}, {10, 40, 35, 20}, {90, 90, 90, 90},
		{25, 0, 5, 20}},
	{ROW(REDUCE_SCATTER), {NONE, NONE, NONE, NONE}, {10, 40, 5, 20}, {90, 90, 90, 30},
		{10, 0, 35, 10}},
};

START_TEST(between_two_groups)
{
	const struct group_row *k = &between[_i];

	node_up();
	for (int i = 0; i < RANKS; i++)
		call(&others[i], &(struct member){k->function, INTER, 0, k->root[i], 0, k->enter[i],
					 k->leave[i]});
	they_waited(k->name, k->function, k->wanted, 1);
	node_down();
}
END_TEST

/* Nobody knows when the other group came: no wait is shown rather than a wrong one. */
START_TEST(the_other_group_is_abroad)
{
	static const uint64_t nothing[RANKS];
	static const uint32_t functions[] = {VFTR_MPI_BCAST, VFTR_MPI_REDUCE, VFTR_MPI_ALLREDUCE};

	node_up();
	for (uint32_t f = 0; f < ARRAY_SIZE(functions); f++)
		for (uint64_t i = 0; i < RANKS; i++)
			call(&others[i], &(struct member){functions[f], ABROAD, f, f ? NONE : 1, 0,
						 100 * f + 10 * i + 1, 100 * f + 90});
	for (uint32_t f = 0; f < ARRAY_SIZE(functions); f++)
		they_waited("abroad", functions[f], nothing, 0);
	node_down();
}
END_TEST

/* Communicators that say to be made from themselves, or from each other. */
START_TEST(made_in_a_circle)
{
	const struct spawn_name name = {1, 0};
	const struct wire_run runs[] = {{WIRE_UNKNOWN, 0, 1}, {0, 1, 1}};
	struct comm_packet c = {.m = {.size = 1, .remote_size = 1, .runs = ARRAY_SIZE(runs)}};
	const uint64_t id = 100;
	const struct wire_comm made[] = {
		{.number = 5, .parent = 5, .kind = WIRE_COMM_MERGE, .id = id},
		{.number = 7, .parent = 6, .kind = WIRE_COMM_MERGE, .id = id},
		{.number = 6,
			.parent = 7,
			.kind = WIRE_COMM_DUP,
			.id = identity_made(id, 0, WIRE_COMM_DUP, 0)}};
	uint64_t calls;

	node_up();
	traffic_spawn_name(others[0].traffic, &name);
	memcpy(c.runs, runs, sizeof(runs));
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		c.m.number = made[i].number;
		c.m.parent = made[i].parent;
		c.m.kind = made[i].kind;
		c.m.id = made[i].id;
		ck_assert_ptr_null(traffic_define_comm(others[0].traffic, &c.m, sizeof(runs)));
	}
	for (uint32_t of = 5; of <= 7; of++) {
		call(&others[0], &(struct member){VFTR_MPI_INTERCOMM_MERGE, of, 0, NONE, 0,
					 100 * (uint64_t)of, 100 * (uint64_t)of + 10});
		call(&others[0], &(struct member){VFTR_MPI_BARRIER, of, 1, NONE, 0,
					 100 * (uint64_t)of + 20, 100 * (uint64_t)of + 30});
	}
	ck_assert_uint_eq(waited(&others[0], FN(BARRIER), &calls), 0);
	ck_assert_uint_eq(calls, 0);
	node_down();
}
END_TEST

/* MPI has no scan between two groups, whatever a process says: agents ask nobody about it. */
START_TEST(a_scan_between_jobs)
{
	const struct spawn_name name = {1, 0};
	const struct wire_run runs[] = {{WIRE_UNKNOWN, 0, 1}, {0, 1, 1}};
	struct comm_packet c = {.m = {.number = 5,
					.id = 500,
					.kind = WIRE_COMM_SPAWN,
					.size = 1,
					.remote_size = 1,
					.runs = ARRAY_SIZE(runs)}};
	uint32_t parents[] = {0};
	const struct elsewhere_comm *kept;
	size_t n;

	node_up();
	sync_begin_elsewhere(sync_of_all, 1 << 20);
	traffic_spawn_name(others[0].traffic, &name);
	memcpy(c.runs, runs, sizeof(runs));
	ck_assert_ptr_null(traffic_define_comm(others[0].traffic, &c.m, sizeof(runs)));
	spawns_hear_link(sync_spawns(sync_of_all), &(struct spawn_link){.comm = 500,
							   .parent_job = 1,
							   .child_job = 9,
							   .parents = parents,
							   .n_parents = 1,
							   .n_children = 1});
	call(&others[0], &(struct member){VFTR_MPI_SCAN, 5, 0, NONE, 0, 10, 20});
	call(&others[0], &(struct member){VFTR_MPI_ALLREDUCE, 5, 1, NONE, 0, 30, 40});
	sync_settle(sync_of_all);
	kept = elsewhere_comms(sync_elsewhere(sync_of_all), &n);
	ck_assert_uint_eq(n, 2); /* both groups of the second call */
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < kept[i].n_instances; k++)
			ck_assert_uint_ne(kept[i].instances[k].kind, COLLECTIVE_CHAIN);
	node_down();
}
END_TEST

START_TEST(the_root_is_on_another_node)
{
	static const uint64_t nothing[RANKS];

	node_up();
	for (uint64_t i = 0; i < RANKS; i++) {
		call(&others[i],
			&(struct member){VFTR_MPI_BCAST, WORLD, 0, FAR, 0, 10 * i + 1, 90});
		call(&others[i],
			&(struct member){VFTR_MPI_REDUCE, WORLD, 1, FAR, 0, 10 * i + 101, 190});
		call(&others[i], /* MPI_PROC_NULL: an error that the program ignores */
			&(struct member){VFTR_MPI_GATHER, WORLD, 2, NONE, 0, 10 * i + 201, 290});
	}
	they_waited("root elsewhere", VFTR_MPI_BCAST, nothing, 1);
	they_waited("root elsewhere", VFTR_MPI_REDUCE, nothing, 1);
	they_waited("no root", VFTR_MPI_GATHER, nothing, 1);
	node_down();
}
END_TEST

START_TEST(what_does_not_block)
{
	static const uint64_t nothing[RANKS];

	node_up();
	for (uint64_t i = 0; i < RANKS; i++) {
		call(&others[i],
			&(struct member){VFTR_MPI_IBCAST, WORLD, 0, 0, 1, 10 * (4 - i), 90});
		call(&others[i],
			&(struct member){VFTR_MPI_START, WORLD, 1, 0, 2, 10 * (14 - i), 190});
	}
	they_waited("non-blocking", VFTR_MPI_IBCAST, nothing, 0);
	they_waited("persistent", VFTR_MPI_START, nothing, 0);
	node_down();
}
END_TEST

/* ---- many calls ------------------------------------------------------------------------------ */

/* Whether rank r waits for rank j. */
static bool waits(const struct kind_row *k, uint32_t r, uint32_t j)
{
	switch (k->whom) {
	case ROOT:
		return j == k->root;
	case ROOT_FOR_LAST:
		return r == k->root;
	case LAST_BELOW:
		return j < r;
	default:
		return true;
	}
}

static uint64_t formula(const struct kind_row *k, const struct member m[RANKS], uint32_t r)
{
	uint64_t until = m[r].enter;

	for (uint32_t j = 0; j < RANKS; j++)
		if (waits(k, r, j) && m[j].enter > until)
			until = m[j].enter;
	return (until < m[r].leave ? until : m[r].leave) - m[r].enter;
}

/* Times at random, all kinds mixed, and a rank is read as far as it likes. */
START_TEST(many_calls)
{
	enum { CALLS = 500 };
	static struct member calls[CALLS][RANKS];
	uint64_t wanted[ARRAY_SIZE(kinds)][RANKS] = {0}, times[ARRAY_SIZE(kinds)] = {0};
	uint32_t done[RANKS] = {0};

	srand(11 + (unsigned)_i);
	for (uint32_t c = 0; c < CALLS; c++) {
		const size_t n = (size_t)rand() % ARRAY_SIZE(kinds);

		for (uint32_t r = 0; r < RANKS; r++) {
			const uint64_t enter = 1000 * c + 1 + (uint64_t)rand() % 500;

			calls[c][r] = (struct member){kinds[n].function, WORLD, c, kinds[n].root, 0,
				enter, enter + 1 + (uint64_t)rand() % 499};
		}
		for (uint32_t r = 0; r < RANKS; r++)
			wanted[n][r] += formula(&kinds[n], calls[c], r);
		times[n]++;
	}
	node_up();
	for (uint32_t left = CALLS * RANKS; left;) {
		const uint32_t r = (uint32_t)rand() % RANKS;

		for (int k = rand() % 20; k && done[r] < CALLS; k--, left--)
			call(&others[r], &calls[done[r]++][r]);
	}
	for (size_t n = 0; n < ARRAY_SIZE(kinds); n++) {
		uint64_t sums[RANKS] = {0}, n_calls = 0;

		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			n_calls += kinds[k].function == kinds[n].function ? times[k] : 0;
			for (int r = 0; r < RANKS && kinds[k].function == kinds[n].function; r++)
				sums[r] += wanted[k][r];
		}
		they_waited(kinds[n].name, kinds[n].function, sums, n_calls);
	}
	node_down();
}
END_TEST

/* ---- who comes, and who does not ------------------------------------------------------------- */

START_TEST(not_all_are_here)
{
	struct sync *s = sync_new();
	/* rank 7 is on another node, rank 1 of another job here */
	struct sync_member here[] = {{1, true, 0}, {2, true, 1}, {0, false, 2}, {1, true, 4}};
	uint64_t calls;

	sync_set_members(s, here, 4);
	for (int i = 0; i < 3; i++)
		be_born(&others[i], s, i * 2);
	enter_late(0, 100, 200, VFTR_MPI_ALLREDUCE, 0);
	enter_late(1, 110, 200, VFTR_MPI_ALLREDUCE, 0);
	end_thread(&others[0], 0); /* it waits in the tree of the process now */
	start_thread(&others[0], 0);
	enter_late(2, 150, 200, VFTR_MPI_ALLREDUCE, 0);
	enter_late(2, 300, 310, VFTR_MPI_ALLGATHER, 1);
	enter_late(1, 400, 420, VFTR_MPI_ALLGATHER, 1); /* 2 has left before */
	enter_late(0, 410, 420, VFTR_MPI_ALLGATHER, 1);
	enter_late(0, 700, 800, VFTR_MPI_ALLTOALL, 3);
	enter_late(2, 750, 800, VFTR_MPI_ALLTOALL, 3);
	enter_late(2, 751, 800, VFTR_MPI_ALLTOALL, 3);			  /* twice */
	sync_set_members(s, (struct sync_member[]){here[0], here[3]}, 2); /* 1 has died */
	enter_late(2, 900, 950, VFTR_MPI_SCAN, 4);			  /* never complete */
	ck_assert_uint_eq(waited(&others[0], FN(ALLREDUCE), &calls), 50);
	ck_assert_uint_eq(calls, 1);
	ck_assert_uint_eq(waited(&others[1], FN(ALLREDUCE), &calls), 40);
	ck_assert_uint_eq(waited(&others[2], FN(ALLREDUCE), &calls), 0);
	ck_assert_uint_eq(calls, 1);
	ck_assert_uint_eq(waited(&others[2], FN(ALLGATHER), &calls), 10);
	ck_assert_uint_eq(waited(&others[1], FN(ALLGATHER), &calls), 10);
	ck_assert_uint_eq(waited(&others[0], FN(ALLTOALL), &calls), 50);
	ck_assert_uint_eq(calls, 1);
	ck_assert_uint_eq(waited(&others[2], FN(SCAN), &calls), 0);
	ck_assert_uint_eq(calls, 0);
	for (int i = 0; i < 3; i++)
		die_out(&others[i]);
	sync_free(s);
}
END_TEST

START_TEST(waiting_for_ever)
{
	struct sync *s = sync_new();
	uint64_t calls;

	sync_set_members(s, (struct sync_member[]){{1, true, 0}, {1, true, 1}}, 2);
	be_born(&others[0], s, 0);
	for (uint32_t i = 0; i < SYNC_OPEN_MAX + 1000; i++)
		enter_late(0, 10 * i + 10, 10 * i + 15, VFTR_MPI_ALLREDUCE, i);
	waited(&others[0], FN(ALLREDUCE), &calls);
	ck_assert_uint_eq(calls, 0);
	ck_assert_uint_eq(sync_dropped(s), 1000);
	sync_set_members(s, (struct sync_member[]){{1, true, 0}}, 1);
	waited(&others[0], FN(ALLREDUCE), &calls);
	ck_assert_uint_eq(calls, SYNC_OPEN_MAX);
	die_out(&others[0]);
	sync_free(s);
}
END_TEST

/* Its threads may be read in another order than they called: older tickets come, but not twice. */
START_TEST(older_tickets_come_later)
{
	struct sync *s = sync_new();
	uint64_t calls;

	sync_set_members(s, (struct sync_member[]){{1, true, 0}, {1, true, 1}, {1, true, 2}}, 3);
	for (int i = 0; i < 3; i++)
		be_born(&others[i], s, i);
	enter_late(0, 200, 250, VFTR_MPI_ALLREDUCE, 5);
	enter_late(0, 100, 150, VFTR_MPI_ALLREDUCE, 4);
	enter_late(0, 101, 150, VFTR_MPI_ALLREDUCE, 4); /* it lies */
	enter_late(0, 201, 250, VFTR_MPI_ALLREDUCE, 5);
	for (int i = 1; i < 3; i++) {
		enter_late(i, 100 + 10 * (uint64_t)i, 150, VFTR_MPI_ALLREDUCE, 4);
		enter_late(i, 200 + 10 * (uint64_t)i, 250, VFTR_MPI_ALLREDUCE, 5);
	}
	ck_assert_uint_eq(waited(&others[0], FN(ALLREDUCE), &calls), 40);
	ck_assert_uint_eq(calls, 2);
	ck_assert_uint_eq(waited(&others[1], FN(ALLREDUCE), &calls), 20);
	ck_assert_uint_eq(calls, 2);
	for (int i = 0; i < 3; i++)
		die_out(&others[i]);
	sync_free(s);
}
END_TEST

/* ---- windows --------------------------------------------------------------------------------- */

static void make_window(struct person *p, uint32_t number, uint32_t comm)
{
	const struct wire_object w = {.number = number, .comm = comm};

	ck_assert_ptr_null(traffic_define_object(p->traffic, WIRE_WINDOW, &w, ""));
}

static void synchronise(
	int i, uint32_t function, uint32_t window, uint32_t epoch, uint64_t enter, uint64_t leave)
{
	struct thread *t = &others[i].thread[0];

	ticks = START + enter - 1;
	in(t, RECORD_ID_MPI + function);
	PUT(t, message_head(RECORD_EPOCH, function), message_pair(window, NONE),
		MESSAGE_MARK | epoch);
	ticks = START + leave - 1;
	out(t, RECORD_ID_MPI + function);
	flush(t);
	ck_assert_ptr_null(t->why);
}

static const struct window_row {
	const char *name;
	uint32_t function;
	enum wait_kind kind;
} window_cases[] = {{ROW(WIN_FENCE), WAIT_RMA_FENCE}, {ROW(WIN_CREATE), WAIT_NXN},
	{ROW(WIN_CREATE_C), WAIT_NXN}, {ROW(WIN_CREATE_DYNAMIC), WAIT_NXN},
	{ROW(WIN_ALLOCATE), WAIT_NXN}, {ROW(WIN_ALLOCATE_SHARED_C), WAIT_NXN},
	{ROW(WIN_FREE), WAIT_BARRIER}};

static void late_ranks_are(int i, uint32_t function, enum wait_kind kind, uint32_t late)
{
	for (size_t k = 0; k < calltree_nodes(others[i].past); k++) {
		const struct node *n = calltree_at(others[i].past, k);

		for (size_t w = 0; n->extra && w < n->extra->waits.n; w++) {
			ck_assert_uint_eq(n->key, RECORD_ID_MPI + function);
			ck_assert_uint_eq(n->extra->waits.at[w].kind, kind);
			ck_assert_uint_eq(n->extra->waits.at[w].late, late);
		}
	}
}

/* Ranks have other numbers for a window, and made other ones on other communicators before. */
START_TEST(all_ranks_meet_at_a_window)
{
	const struct window_row *w = &window_cases[_i];
	static const uint64_t enter[RANKS] = {10, 40, 25, 30}, leave[RANKS] = {90, 90, 36, 31},
			      wanted[RANKS] = {30, 0, 11, 1};

	for (int first = 0; first < RANKS; first++) {
		node_up();
		for (int i = 0; i < RANKS; i++) {
			for (int k = 0; k < i; k++)
				make_window(&others[i], 1 + (uint32_t)k, TURNED);
			make_window(&others[i], 10, WORLD);
			make_window(&others[i], 11, WORLD);
		}
		for (int i = 0; i < RANKS; i++) {
			const int r = (first + i) % RANKS;

			synchronise(r, w->function, 11, 3, enter[r], leave[r]);
		}
		they_waited(w->name, w->function, wanted, 1);
		for (int i = 0; i < RANKS; i++)
			late_ranks_are(i, w->function, w->kind, 1);
		node_down();
	}
}
END_TEST

/* Epochs of another window or another kind are not those of this one, nor are its collectives. */
START_TEST(windows_are_apart)
{
	uint64_t calls;

	node_up();
	for (int i = 0; i < RANKS; i++) {
		make_window(&others[i], 1, WORLD);
		make_window(&others[i], 2, WORLD);
		make_window(&others[i], 3, TURNED);
	}
	for (int i = 0; i < RANKS - 1; i++) {
		synchronise(i, VFTR_MPI_WIN_FENCE, 1, 1, 10, 20);
		synchronise(i, VFTR_MPI_WIN_FENCE, 2, 1, 30, 40);
		synchronise(i, VFTR_MPI_WIN_FENCE, 3, 1, 50, 60);
	}
	synchronise(3, VFTR_MPI_WIN_LOCK, 1, 1, 11, 12);
	synchronise(3, VFTR_MPI_WIN_FENCE, 1, 2, 13, 14);
	enter_late(3, 15, 16, VFTR_MPI_BARRIER, 1);
	synchronise(3, VFTR_MPI_WIN_FENCE, 2, 1, 37, 40);
	for (int i = 0; i < RANKS; i++) {
		ck_assert_uint_eq(waited(&others[i], FN(WIN_FENCE), &calls), i == 3 ? 0 : 7);
		ck_assert_uint_eq(calls, 1);
	}
	node_down();
}
END_TEST

/* A fence that fails is none; a window whose communicator is not known has no other ranks. */
START_TEST(no_fence)
{
	uint64_t calls;
	struct thread *t = &others[3].thread[0];

	node_up();
	for (int i = 0; i < RANKS; i++) {
		make_window(&others[i], 1, WORLD);
		make_window(&others[i], 2, MESSAGE_COMM_NONE);
		synchronise(i, VFTR_MPI_WIN_FENCE, 2, 1, 5, 9);
	}
	for (int i = 0; i < RANKS - 1; i++)
		synchronise(i, VFTR_MPI_WIN_FENCE, 1, 1, 10, 20);
	ticks = START + 14;
	in(t, FN(WIN_FENCE));
	PUT(t, message_head(RECORD_EPOCH, VFTR_MPI_WIN_FENCE), message_pair(1, NONE),
		MESSAGE_MARK | 1);
	failed(t);
	out(t, FN(WIN_FENCE));
	for (int i = 0; i < RANKS; i++) {
		ck_assert_uint_eq(waited(&others[i], FN(WIN_FENCE), &calls), 0);
		ck_assert_uint_eq(calls, 0);
	}
	node_down();
}
END_TEST

/* As synchronise(), with a group or one rank. */
static void synchronise_with(int i, uint32_t function, uint32_t epoch, size_t n,
	const uint32_t *ranks, uint64_t enter, uint64_t leave)
{
	struct thread *t = &others[i].thread[0];

	ticks = START + enter - 1;
	in(t, RECORD_ID_MPI + function);
	for (size_t k = 0; k < n; k++)
		PUT(t, message_head(RECORD_EPOCH, function), message_pair(1, ranks[k]),
			MESSAGE_MARK | epoch);
	ticks = START + leave - 1;
	out(t, RECORD_ID_MPI + function);
	flush(t);
	ck_assert_ptr_null(t->why);
}

#define WITH(...)                                                                                  \
	sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[])                         \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static struct node_wait wait_in(int i, uint32_t function)
{
	struct node_wait found = {.late = UINT32_MAX};
	uint64_t calls;

	waited(&others[i], RECORD_ID_MPI + function, &calls); /* its threads end */
	for (size_t k = 0; k < calltree_nodes(others[i].past); k++) {
		const struct node *n = calltree_at(others[i].past, k);

		for (size_t w = 0; n->extra && w < n->extra->waits.n; w++)
			if (n->key == RECORD_ID_MPI + function) {
				ck_assert_uint_eq(found.calls, 0);
				found = n->extra->waits.at[w];
			}
	}
	return found;
}

static void waits_are(int i, uint32_t function, uint64_t calls, enum wait_kind kind, uint32_t late,
	uint64_t waited_ticks)
{
	const struct node_wait w = wait_in(i, function);

	ck_assert_uint_eq(w.calls, calls);
	if (!calls)
		return;
	ck_assert_uint_eq(w.kind, kind);
	ck_assert_uint_eq(w.late, late);
	ck_assert_uint_eq(w.ticks, waited_ticks);
}

/* Rank 0 puts to ranks 1 and 2, of which rank 2 is late; then it is itself late for both. */
static void one_epoch(const int *order)
{
	for (int k = 0; k < 3; k++)
		switch (order[k]) {
		case 0:
			synchronise_with(0, VFTR_MPI_WIN_START, 1, WITH(2, 1), 10, 30);
			synchronise_with(0, VFTR_MPI_WIN_COMPLETE, 1, WITH(NONE), 40, 90);
			break;
		case 1:
			synchronise_with(1, VFTR_MPI_WIN_POST, 1, WITH(0), 15, 16);
			synchronise_with(1, VFTR_MPI_WIN_WAIT, 1, WITH(NONE), 20, 95);
			break;
		case 2:
			synchronise_with(2, VFTR_MPI_WIN_POST, 1, WITH(0), 60, 62);
			synchronise_with(2, VFTR_MPI_WIN_TEST, 1, WITH(NONE), 96, 97);
			break;
		}
}

START_TEST(pairs_meet_at_a_window)
{
	static const int orders[][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	node_up();
	for (int i = 0; i < RANKS; i++)
		make_window(&others[i], 1, WORLD);
	one_epoch(orders[_i]);
	waits_are(0, VFTR_MPI_WIN_START, 1, WAIT_RMA_POST, 2, 20);
	waits_are(0, VFTR_MPI_WIN_COMPLETE, 1, WAIT_RMA_POST, 2, 20);
	waits_are(1, VFTR_MPI_WIN_WAIT, 1, WAIT_RMA_COMPLETE, 0, 20);
	waits_are(2, VFTR_MPI_WIN_TEST, 0, 0, 0, 0);
	waits_are(1, VFTR_MPI_WIN_POST, 0, 0, 0, 0);
	node_down();
}
END_TEST

/* The second epoch of rank 0 with rank 1 is the first one of rank 1 with it but one. */
START_TEST(pairs_are_counted_apart)
{
	node_up();
	for (int i = 0; i < RANKS; i++)
		make_window(&others[i], 1, WORLD);
	synchronise_with(0, VFTR_MPI_WIN_START, 1, WITH(2), 10, 12);
	synchronise_with(0, VFTR_MPI_WIN_COMPLETE, 1, WITH(NONE), 13, 14);
	synchronise_with(0, VFTR_MPI_WIN_START, 2, WITH(1), 20, 50);
	synchronise_with(0, VFTR_MPI_WIN_COMPLETE, 2, WITH(NONE), 51, 52);
	synchronise_with(1, VFTR_MPI_WIN_POST, 1, WITH(0), 45, 46);
	synchronise_with(1, VFTR_MPI_WIN_WAIT, 1, WITH(NONE), 47, 55);
	waits_are(0, VFTR_MPI_WIN_START, 1, WAIT_RMA_POST, 1, 25);
	waits_are(1, VFTR_MPI_WIN_WAIT, 1, WAIT_RMA_COMPLETE, 0, 4);
	node_down();
}
END_TEST

/* After a call that was not recorded nobody knows which epoch is which. */
START_TEST(an_epoch_is_missing)
{
	node_up();
	for (int i = 0; i < RANKS; i++)
		make_window(&others[i], 1, WORLD);
	synchronise_with(0, VFTR_MPI_WIN_START, 2, WITH(1), 20, 50);
	synchronise_with(0, VFTR_MPI_WIN_COMPLETE, 2, WITH(NONE), 51, 52);
	synchronise_with(1, VFTR_MPI_WIN_POST, 1, WITH(0, 0, 0, 77, NONE), 45, 46);
	synchronise_with(1, VFTR_MPI_WIN_WAIT, 1, WITH(NONE), 47, 55);
	waits_are(0, VFTR_MPI_WIN_START, 0, 0, 0, 0);
	waits_are(1, VFTR_MPI_WIN_WAIT, 0, 0, 0, 0);
	node_down();
}
END_TEST

/* What is kept has a limit for many members, too: the oldest are given up. */
START_TEST(a_crowd_waits_for_ever)
{
	struct sync *s = sync_new();
	struct sync_member here[CROWD];
	const uint32_t known = (SYNC_ARRIVALS_MAX - 1) / (CROWD - 1) + 1;
	uint64_t calls;

	ck_assert_uint_lt(known, SYNC_OPEN_MAX);
	for (uint32_t i = 0; i < CROWD; i++)
		here[i] = (struct sync_member){1, true, i};
	sync_set_members(s, here, CROWD);
	for (int i = 0; i < CROWD - 1; i++) {
		be_born(&others[i], s, 0); /* WORLD is smaller */
		traffic_rank(others[i].traffic, i, 1);
		define_as(&others[i], CROWDED, (uint32_t)i, CROWD, 0, RUNS({0, 1, CROWD}));
	}
	for (uint32_t ticket = 0; ticket < known + 1000; ticket++)
		for (int i = 0; i < CROWD - 1; i++)
			call(&others[i], &(struct member){VFTR_MPI_ALLREDUCE, CROWDED, ticket, NONE,
						 0, 100 * (uint64_t)ticket + (uint64_t)i,
						 100 * (uint64_t)ticket + 50});
	ck_assert_uint_eq(sync_dropped(s), (CROWD - 1) * 1000);
	sync_set_members(s, here, CROWD - 1);
	ck_assert_uint_eq(waited(&others[0], FN(ALLREDUCE), &calls), (CROWD - 2) * known);
	ck_assert_uint_eq(calls, known);
	for (int i = 0; i < CROWD - 1; i++)
		die_out(&others[i]);
	sync_free(s);
}
END_TEST

int main(void)
{
	const struct row rows[] = {{each_kind, ARRAY_SIZE(kinds)},
		{between_two_groups, ARRAY_SIZE(between)}, {the_other_group_is_abroad, 1},
		{made_in_a_circle, 1}, {a_scan_between_jobs, 1}, {the_root_is_on_another_node, 1},
		{what_does_not_block, 1}, {many_calls, 5}, {not_all_are_here, 1},
		{waiting_for_ever, 1}, {older_tickets_come_later, 1}, {a_crowd_waits_for_ever, 1},
		{all_ranks_meet_at_a_window, ARRAY_SIZE(window_cases)}, {windows_are_apart, 1},
		{no_fence, 1}, {pairs_meet_at_a_window, 4}, {pairs_are_counted_apart, 1},
		{an_epoch_is_missing, 1}};

	return run_tests("traffic-sync", rows, ARRAY_SIZE(rows));
}
