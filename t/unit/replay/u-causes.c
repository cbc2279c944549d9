/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread did in an interval, and what late ranks did while others waited for them. */
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/tree/activity.h"
#include "nodeagent/replay/window.h"
#include "t/lib/dice.h"
#include "t/unit/replay/traffic-by-hand.h"

/* ---- activity_walk(), against a list of who ran at each tick ----------------------------------
 */

enum { TICKS = 9000, NODES = 12, BEGIN = 1000 };

static struct node nodes[NODES];
static struct node *ran[TICKS];
static uint64_t found[NODES];

static void count_ticks(void *arg, struct node *n, uint64_t spent)
{
	(void)arg;
	found[n - nodes] += spent;
}

/* Calls begin and end at random; all that are left are open. */
static size_t make_calls(struct dice *d, struct activity *a, struct activity_open *open)
{
	size_t n = 1;

	open[0] = (struct activity_open){&nodes[0], BEGIN};
	for (uint64_t t = 0; t < TICKS; t++) {
		for (uint32_t events = throw_dice(d, 4); events--;) {
			if (n > 1 && throw_dice(d, 20) < 9 + n / 4) {
				n--;
				activity_add(a, open[n].node, open[n].since, BEGIN + t);
			} else if (n < 40) {
				open[n++] = (struct activity_open){
					&nodes[1 + throw_dice(d, NODES - 1)], BEGIN + t};
			}
		}
		ran[t] = open[n - 1].node;
	}
	return n;
}

static size_t looks_at(struct activity *a, const struct activity_open *open, size_t n_open,
	uint32_t from, uint32_t to, uint32_t known)
{
	uint64_t wanted[NODES] = {0};
	size_t looks;

	for (uint32_t t = from > known ? from : known; t < to; t++)
		wanted[ran[t] - nodes]++;
	memset(found, 0, sizeof(found));
	looks = activity_walk(
		a, open, n_open, BEGIN + TICKS, BEGIN + from, BEGIN + to, count_ticks, NULL);
	for (unsigned i = 0; i < NODES; i++)
		ck_assert_msg(found[i] == wanted[i], "node %u ran %u of [%u, %u], found %u", i,
			(unsigned)wanted[i], from, to, (unsigned)found[i]);
	return looks;
}

START_TEST(each_interval)
{
	struct dice d = {.state = (uint64_t)_i};
	struct activity *a = activity_new(BEGIN);
	struct activity_open open[64];
	const size_t n = make_calls(&d, a, open);
	/* of more calls than are kept, what is before the last of the others is not told */
	const uint32_t known =
		a->n > ACTIVITY_CALLS ? (uint32_t)(a->at[a->n % ACTIVITY_CALLS].until - BEGIN) : 0;

	for (int k = 0; k < 200; k++) {
		const uint32_t from = throw_dice(&d, TICKS);

		looks_at(a, open, n, from, from + throw_dice(&d, TICKS - from), known);
	}
	looks_at(a, open, n, 0, TICKS, known);
	free(a);
}
END_TEST

/* Of intervals of 10 ticks, some 13 calls, of which the last ones are looked at, and those of the
 * groups in which a call was open that had begun before. */
START_TEST(short_intervals_long_ago)
{
	struct dice d = {.state = (uint64_t)_i};
	struct activity *a = activity_new(BEGIN);
	struct activity_open open[64];
	const size_t n = make_calls(&d, a, open);
	const uint32_t known =
		a->n > ACTIVITY_CALLS ? (uint32_t)(a->at[a->n % ACTIVITY_CALLS].until - BEGIN) : 0;
	size_t looks = 0;

	for (uint32_t k = 0; k < 100; k++)
		looks += looks_at(a, open, n, TICKS / 2 + k, TICKS / 2 + k + 10, known);
	ck_assert_uint_gt(a->n, ACTIVITY_CALLS);
	ck_assert_uint_le(looks, 100 * a->n / 6); /* one by one they are half of all */
	free(a);
}
END_TEST

START_TEST(what_is_left_at_the_end)
{
	struct node there[2] = {{.key = 1}, {.key = 2}};
	struct activity *a = activity_new(BEGIN);
	struct activity_open root = {&there[1], 0};

	nodes[1].counterpart = &there[0];
	nodes[2].counterpart = NULL;
	for (uint64_t i = 0; i < 3 * ACTIVITY_CALLS; i++)
		activity_add(a, &nodes[1 + i % 2], BEGIN + 10 * i, BEGIN + 10 * i + 10);
	a = activity_end(a, &there[1]);
	ck_assert_uint_lt(a->n, ACTIVITY_CALLS);
	ck_assert_uint_eq(a->at[a->n - 1].until, BEGIN + 30 * ACTIVITY_CALLS);
	ck_assert_ptr_eq(a->at[a->n - 2].node, &there[0]);
	ck_assert_ptr_eq(a->at[a->n - 1].node, &there[1]);
	ck_assert_uint_eq(a->begun, a->at[0].until);
	ck_assert_uint_eq(activity_walk(a, &root, 1, 0, 0, 0, count_ticks, NULL), 0);
	free(a);
}
END_TEST

/* ---- causes ---------------------------------------------------------------------------------- */

enum { RANKS = 2, K = 100000, STEP = 0x10000, CHEM, WORK, SMALL };

static struct person ranks[RANKS];
static struct sync *sync_of_all;

static void node_up(void)
{
	sync_of_all = sync_of_ranks(RANKS);
	for (int i = 0; i < RANKS; i++)
		be_born(&ranks[i], sync_of_all, i);
}

static void go_to(uint64_t t)
{
	ticks = START + t - 1;
}

static void pass_barrier(struct thread *t, uint32_t ticket, uint64_t enter, uint64_t leave)
{
	go_to(enter);
	in(t, FN(BARRIER));
	PUT(t, message_head(RECORD_COLLECTIVE, VFTR_MPI_BARRIER),
		message_pair(ticket, MESSAGE_NO_RANK), message_subject(WORLD, 0, 0),
		message_pair(1, 1), 8, MESSAGE_MARK | 8);
	go_to(leave);
	out(t, FN(BARRIER));
}

static void pass_function(struct thread *t, uint32_t id, uint64_t enter, uint64_t leave)
{
	go_to(enter);
	in(t, id);
	go_to(leave);
	out(t, id);
}

/* The ticks of a cause of rank 0's waits, of the late rank's node with this key. */
static uint64_t cause_of(uint64_t key)
{
	struct traffic_cause_row row;
	uint64_t sum = 0;

	for (size_t i = 0; traffic_cause_row(ranks[0].traffic, i, &row); i++) {
		ck_assert_int_eq(row.kind, WAIT_BARRIER);
		ck_assert_ptr_eq(row.late, ranks[1].traffic);
		ck_assert_uint_eq(row.node->key, FN(BARRIER));
		sum += row.late_node->key == key ? row.ticks : 0;
	}
	return sum;
}

/* Rank 1 goes through two barriers, and is late at the second. */
static void be_late(struct thread *t)
{
	pass_barrier(t, 0, 100, 200);
	go_to(K);
	in(t, STEP);
	pass_function(t, CHEM, 2 * K, 4 * K);
	go_to(4 * K);
	in(t, WORK);
	go_to(7 * K);
	out(t, WORK);
	go_to(8 * K);
	out(t, STEP);
	pass_barrier(t, 1, 9 * K, 10 * K);
	/* and is ahead of what rank 0 has told */
	pass_function(t, SMALL, 11 * K, 20 * K);
	flush(t);
}

START_TEST(who_is_late)
{
	struct thread *early = &ranks[0].thread[0], *late = &ranks[1].thread[0];

	node_up();
	if (_i == 0)
		be_late(late);
	pass_barrier(early, 0, 100, 200);
	pass_barrier(early, 1, 3 * K, 10 * K);
	flush(early);
	if (_i == 1)
		be_late(late);
	if (_i == 2) { /* each is read when the other one has ended */
		end_thread(&ranks[0], 0);
		be_late(late);
		end_thread(&ranks[1], 0);
	}
	for (int i = 0; i < RANKS; i++)
		for (int k = 0; k < THREADS; k++)
			end_thread(&ranks[i], k);
	ck_assert_uint_eq(cause_of(CHEM), K);
	ck_assert_uint_eq(cause_of(WORK), 3 * K);
	ck_assert_uint_eq(cause_of(STEP), K);
	ck_assert_uint_eq(cause_of(KEY_INIT), K);
	ck_assert_uint_eq(cause_of(SMALL), 0);
	for (int i = 0; i < RANKS; i++)
		die_out(&ranks[i]);
	sync_free(sync_of_all);
}
END_TEST

/* What a rank did between MPI_Init and its first message is known, too. */
START_TEST(late_at_the_first_call)
{
	struct thread *early = &ranks[0].thread[0], *late = &ranks[1].thread[0];
	struct time_window window = {0};

	node_up();
	replay_set_window(late->r, &window, NULL);
	pass_function(late, CHEM, 50, 100);
	go_to(K);
	in(late, FN(INIT));
	go_to(2 * K);
	out(late, FN(INIT));
	pass_function(late, WORK, 2 * K, 6 * K);
	pass_barrier(late, 0, 7 * K, 8 * K);
	flush(late);
	pass_barrier(early, 0, _i ? 3 * K : K, 8 * K);
	flush(early);
	ck_assert_uint_eq(cause_of(WORK), _i ? 3 * K : 4 * K);
	ck_assert_uint_eq(cause_of(KEY_INIT), K);
	ck_assert_uint_eq(cause_of(CHEM), 0);
	for (int i = 0; i < RANKS; i++)
		die_out(&ranks[i]);
	sync_free(sync_of_all);
}
END_TEST

START_TEST(small_parts_count_for_their_callers)
{
	struct thread *early = &ranks[0].thread[0], *late = &ranks[1].thread[0];
	const struct traffic *gone = NULL;
	struct traffic_cause_row row;
	uint64_t sum = 0;
	size_t n;

	node_up();
	pass_barrier(late, 0, 100, 200);
	go_to(K);
	in(late, STEP);
	pass_function(late, CHEM, K, 40 * K);
	pass_function(late, WORK, 40 * K, 70 * K);
	for (uint32_t i = 0; i < 100; i++)
		pass_function(late, SMALL + i, (70 + i) * K, (71 + i) * K);
	go_to(170 * K);
	out(late, STEP);
	pass_barrier(late, 1, 171 * K, 180 * K);
	flush(late);
	pass_barrier(early, 0, 100, 200);
	pass_barrier(early, 1, K, 180 * K);
	flush(early);
	ck_assert_uint_eq(cause_of(CHEM), 39 * K);
	ck_assert_uint_eq(cause_of(WORK), 30 * K);
	ck_assert_uint_ge(cause_of(STEP), 99 * K);
	for (n = 0; traffic_cause_row(ranks[0].traffic, n, &row); n++)
		sum += row.ticks;
	ck_assert_uint_le(n, CAUSE_PARTS);
	ck_assert_uint_eq(sum, 170 * K);
	die_out(&ranks[1]);
	ck_assert(traffic_cause_row(ranks[0].traffic, 0, &row));
	ck_assert_ptr_eq(row.late, gone);
	ck_assert_ptr_null(row.late_node);
	die_out(&ranks[0]);
	sync_free(sync_of_all);
}
END_TEST

/* A hot function far down stays, though there are hundreds of other paths as deep. */
START_TEST(deep_paths)
{
	enum { DEEP = 500, LEAVES = 300 };
	struct thread *early = &ranks[0].thread[0], *late = &ranks[1].thread[0];
	struct traffic_cause_row row;
	uint64_t sum = 0, t = K;
	size_t n;

	node_up();
	pass_barrier(late, 0, 100, 200);
	go_to(t);
	for (uint32_t i = 0; i < DEEP; i++) {
		ticks--;
		in(late, STEP + i);
	}
	for (uint32_t i = 0; i < LEAVES; i++, t += K)
		pass_function(late, STEP + DEEP + i, t, t + K / 2);
	pass_function(late, CHEM + DEEP + LEAVES, t, t + LEAVES * K);
	t += LEAVES * K;
	go_to(t + 1);
	for (uint32_t i = DEEP; i--;) {
		ticks--;
		out(late, STEP + i);
	}
	pass_barrier(late, 1, t + K, t + 2 * K);
	flush(late);
	ck_assert_ptr_null(late->why);
	pass_barrier(early, 0, 100, 200);
	pass_barrier(early, 1, K, t + 2 * K);
	flush(early);
	for (n = 0; traffic_cause_row(ranks[0].traffic, n, &row); n++)
		sum += row.ticks;
	ck_assert_uint_le(n, CAUSE_PARTS);
	ck_assert_uint_eq(sum, t);
	ck_assert_uint_eq(cause_of(CHEM + DEEP + LEAVES), LEAVES * K);
	ck_assert_uint_ge(cause_of(STEP + DEEP - 1), LEAVES * K / 2);
	for (int i = 0; i < RANKS; i++)
		die_out(&ranks[i]);
	sync_free(sync_of_all);
}
END_TEST

/* A program that makes and ends threads for ever does not make the agent grow. */
START_TEST(threads_end_for_ever)
{
	node_up();
	for (int i = 0; i < 1000; i++) {
		struct thread *t = &ranks[1].thread[1];

		in(t, FN(SEND));
		send_to(t, WORLD, 0, 0, 8);
		out(t, FN(SEND));
		end_thread(&ranks[1], 1);
		ck_assert_ptr_null(t->why);
		start_thread(&ranks[1], 1);
	}
	ck_assert_uint_gt(ranks[1].traffic->n_activities_ended, 8);
	ck_assert_uint_le(ranks[1].traffic->n_activities_ended, 64);
	for (int i = 0; i < RANKS; i++)
		die_out(&ranks[i]);
	sync_free(sync_of_all);
}
END_TEST

/* What was counted for a sender is taken back when another one was later. */
START_TEST(taken_back)
{
	struct thread *early = &ranks[0].thread[0], *late = &ranks[1].thread[0];
	struct cause_parts counted;
	uint32_t path;

	node_up();
	be_late(late);
	pass_barrier(early, 0, 100, 200);
	flush(early);
	path = path_number(ranks[0].thread[0].track, calltree_at(replay_tree(early->r), 1));
	traffic_cause(ranks[0].traffic, path, WAIT_BARRIER, ranks[1].traffic, 0, START + 2 * K,
		START + 4 * K, &counted);
	ck_assert_uint_eq(counted.n, 1);
	ck_assert_uint_eq(cause_of(CHEM), 2 * K);
	traffic_cause_back(ranks[0].traffic, &counted);
	ck_assert_uint_eq(cause_of(CHEM), 0);
	/* a thread that has sent nothing, and a wait that is too short */
	traffic_cause(ranks[0].traffic, path, WAIT_BARRIER, ranks[1].traffic, 1, START + 2 * K,
		START + 4 * K, &counted);
	ck_assert_uint_eq(counted.n, 0);
	traffic_cause(ranks[0].traffic, path, WAIT_BARRIER, ranks[1].traffic, 0, START + 2 * K,
		START + 2 * K + CAUSE_TICKS_LEAST - 1, &counted);
	ck_assert_uint_eq(counted.n, 0);
	for (int i = 0; i < RANKS; i++)
		die_out(&ranks[i]);
	sync_free(sync_of_all);
}
END_TEST

/* Waits that come too fast are not all looked at, and the steps are made good by time. */
START_TEST(steps_are_limited)
{
	struct thread *early = &ranks[0].thread[0];
	struct cause_parts counted;
	uint32_t path, looked = 0;

	node_up();
	be_late(&ranks[1].thread[0]);
	pass_barrier(early, 0, 100, 200);
	flush(early);
	path = path_number(ranks[0].thread[0].track, calltree_at(replay_tree(early->r), 1));
	for (int i = 0; i < 1000000; i++) {
		traffic_cause(ranks[0].traffic, path, WAIT_BARRIER, ranks[1].traffic, 0,
			START + 2 * K, START + 4 * K, &counted);
		looked += counted.n > 0;
	}
	ck_assert_uint_gt(looked, 1000);
	ck_assert_uint_lt(looked, 100000);
	traffic_cause(ranks[0].traffic, path, WAIT_BARRIER, ranks[1].traffic, 0, START + 2 * K,
		START + 19 * K, &counted);
	ck_assert_uint_gt(counted.n, 0);
	for (int i = 0; i < RANKS; i++)
		die_out(&ranks[i]);
	sync_free(sync_of_all);
}
END_TEST

int main(void)
{
	const struct row rows[] = {{each_interval, 50}, {short_intervals_long_ago, 5},
		{what_is_left_at_the_end, 1}, {who_is_late, 3}, {late_at_the_first_call, 2},
		{small_parts_count_for_their_callers, 1}, {deep_paths, 1},
		{threads_end_for_ever, 1}, {taken_back, 1}, {steps_are_limited, 1}};

	return run_tests("causes", rows, ARRAY_SIZE(rows));
}
