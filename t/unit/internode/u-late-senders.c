/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls have waited for late senders, of pairs that come in any order. */
#include <check.h>
#include <stdlib.h>

#define LONGEST_MAX  4
#define FAR_LATE_MAX 4
#include "nodeagent/internode/late-senders.c"
#include "nodeagent/replay/comm/longest.c"
#include "nodeagent/replay/comm/internal.h"

#include "t/lib/suite.h"

#define HERE  match_proc_id(1, 0)
#define THERE match_proc_id(1, 9) /* on another node */

static struct matching m;
static struct conf conf = {.mpi_waits = true};
static struct host host = {.conf = &conf};
static struct process receiver = {.host = &host};
static const struct process *const owners[] = {&receiver};
static struct calltree *tree;
static struct traffic_track *track;
static uint32_t path; /* of the call that waits */

static void setup(void)
{
	m = (struct matching){.host = &host,
		.owners = (const struct process **)owners,
		.thread_pairs.of.bytes = sizeof(struct thread_pair),
		.clock_bound = 50};
	for (uint32_t rank = 0; rank < 4; rank++)
		map64_add(&m.here, match_proc_id(1, rank), 0);
	conf.mpi_only_for_ranks = "all";
	receiver.proc_id = HERE;
	receiver.traffic = traffic_new(&conf, NULL);
	tree = calltree_new();
	track = traffic_track_new(receiver.traffic, tree);
	path = path_number(track, calltree_child(tree, calltree_root(tree), NULL, 7));
}

static void teardown(void)
{
	matching_late_free(&m);
	match_table_free(&m.thread_pairs.at);
	match_pool_free(&m.thread_pairs.of);
	map64_free(&m.index);
	map64_free(&m.here);
	if (track)
		traffic_track_end(track, tree);
	traffic_free(receiver.traffic);
	calltree_free(tree);
}

static uint32_t tag, posted_as;

/* A message sent at `sent`, whose receive was posted at `posted` and ended in [enter, leave]. */
static void pair(uint64_t source, uint64_t sent, uint64_t posted, uint64_t enter, uint64_t leave)
{
	const struct match_send s = {
		.source = source, .destination = HERE, .enter = sent, .tag = tag};
	const struct match_receive r = {.source = source,
		.destination = HERE,
		.enter = posted,
		.flags = posted_as,
		.done = {.source = source, .enter = enter, .leave = leave, .path = path}};

	matching_late_sender(&m, &s, &r);
}

static uint64_t late(uint64_t source)
{
	const struct thread_pair like = {.from = source, .to = HERE};

	return matching_pair_of(&m, &m.thread_pairs, &like, 100)->late_ticks;
}

static uint64_t rank(uint32_t r)
{
	return match_proc_id(1, r);
}

/* The waits at this number's path. */
static const struct node_waits *waits(uint32_t number)
{
	return &receiver.traffic->paths.at[number - 1].node->extra->waits;
}

START_TEST(call_paths)
{
	struct calltree *past = calltree_new();

	pair(rank(1), 130, 100, 100, 200);
	pair(rank(2), 150, 100, 100, 200);
	/* two receives of one Waitall: the later sender has all of it */
	pair(rank(1), 1130, 1000, 1100, 1200);
	pair(rank(2), 1150, 1000, 1100, 1200);
	ck_assert_uint_eq(waits(path)->n, 2);
	ck_assert_uint_eq(waits(path)->at[0].late, 1);
	ck_assert_uint_eq(waits(path)->at[0].calls, 1);
	ck_assert_uint_eq(waits(path)->at[0].ticks, 30);
	ck_assert_uint_eq(waits(path)->at[1].late, 2);
	ck_assert_uint_eq(waits(path)->at[1].calls, 2);
	ck_assert_uint_eq(waits(path)->at[1].ticks, 100);
	ck_assert_uint_eq(waits(path)->at[1].kind, WAIT_LATE_SENDER);
	/* the thread ends; what is found later counts where its counts are */
	calltree_add(past, tree);
	traffic_track_end(track, past);
	track = NULL;
	pair(rank(3), 2140, 2100, 2100, 2200);
	ck_assert_ptr_ne(waits(path), &calltree_at(tree, 1)->extra->waits);
	ck_assert_ptr_eq(waits(path), &calltree_at(past, 1)->extra->waits);
	ck_assert_uint_eq(waits(path)->n, 3);
	ck_assert_uint_eq(waits(path)->at[2].ticks, 40);
	/* a rank of another job is none of this one */
	pair(match_proc_id(2, 3), 3160, 3100, 3100, 3200);
	ck_assert_uint_eq(waits(path)->at[3].late, UINT32_MAX);
	calltree_free(past);
}
END_TEST

/* The frames of a region whose path is known later: again and again the same two nodes. */
START_TEST(paths_that_move)
{
	struct node *root = calltree_root(tree), *orphan, *there;
	uint32_t last = 0;

	for (uint64_t turn = 0; turn < 5; turn++) {
		struct node *call;

		orphan = calltree_child(tree, root, NULL, KEY_ORPHAN | 1);
		call = calltree_child(tree, orphan, NULL, 9);
		call->calls++;
		path = path_number(track, call);
		ck_assert_uint_ne(path, last);
		last = path;
		calltree_move(tree, orphan, root, NULL, NULL);
		traffic_track_moved(track, orphan);
		calltree_moved(orphan);
		pair(rank(1), 1000 * turn + 130, 1000 * turn + 100, 1000 * turn + 100,
			1000 * turn + 200);
	}
	there = calltree_child(tree, root, NULL, 9);
	ck_assert_uint_eq(there->extra->waits.n, 1);
	ck_assert_uint_eq(there->extra->waits.at[0].calls, 5);
	ck_assert_uint_eq(there->extra->waits.at[0].ticks, 150);
	/* one number for each node is followed: of the first call of setup(), and this one */
	ck_assert_uint_eq(track->last_path, 2);
	ck_assert_uint_eq(receiver.traffic->paths.at[1].before, 1);
	ck_assert_uint_eq(receiver.traffic->paths.n, 6);
}
END_TEST

/* Another agent may say any id: what is kept of them is bounded. */
START_TEST(ids_of_no_rank)
{
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_uint_eq(
			matching_late_job(&m, match_proc_id(2, i), receiver.traffic), UINT32_MAX);
	ck_assert_ptr_nonnull(map64_find(&m.far_late, match_proc_id(2, FAR_LATE_MAX - 1)));
	ck_assert_ptr_null(map64_find(&m.far_late, match_proc_id(2, FAR_LATE_MAX)));
	map64_free(&m.far_late);
}
END_TEST

START_TEST(more_late_ranks_than_are_told_apart)
{
	struct node *n = calltree_child(tree, calltree_root(tree), NULL, 8);

	for (uint32_t late = 0; late < 100; late++)
		calltree_wait(
			n, &(struct node_wait){
				   .kind = WAIT_BARRIER, .late = late, .calls = 1, .ticks = 10});
	calltree_wait(
		n, &(struct node_wait){.kind = WAIT_NXN, .late = 99, .calls = 1, .ticks = 10});
	ck_assert_uint_eq(n->extra->waits.n, NODE_LATE_MAX + 2);
	ck_assert_uint_eq(n->extra->waits.at[NODE_LATE_MAX].late, UINT32_MAX);
	ck_assert_uint_eq(n->extra->waits.at[NODE_LATE_MAX].calls, 100 - NODE_LATE_MAX);
	ck_assert_uint_eq(n->extra->waits.at[NODE_LATE_MAX].ticks, 10 * (100 - NODE_LATE_MAX));
	ck_assert_uint_eq(n->extra->waits.at[NODE_LATE_MAX + 1].late, 99);
}
END_TEST

/* In the tree of a thread this rank was one of many; in that of its process it is told apart. */
START_TEST(what_is_taken_back_was_among_the_others)
{
	struct calltree *past = calltree_new();
	struct node *n = calltree_child(tree, calltree_root(tree), NULL, 8);
	struct node *to = calltree_child(past, calltree_root(past), NULL, 8);
	const struct node_waits *w;

	for (uint32_t late = 0; late <= NODE_LATE_MAX; late++)
		calltree_wait(n,
			&(struct node_wait){
				.kind = WAIT_LATE_SENDER, .late = late, .calls = 1, .ticks = 10});
	calltree_wait(to,
		&(struct node_wait){
			.kind = WAIT_LATE_SENDER, .late = NODE_LATE_MAX, .calls = 1, .ticks = 5});
	calltree_add(past, tree);
	w = &to->extra->waits;
	ck_assert_uint_eq(w->n, NODE_LATE_MAX + 1);
	ck_assert_uint_eq(w->at[0].late, NODE_LATE_MAX);
	ck_assert_uint_eq(w->at[NODE_LATE_MAX].ticks, 20);
	calltree_wait(to, &(struct node_wait){.kind = WAIT_LATE_SENDER,
				  .late = NODE_LATE_MAX,
				  .calls = -1ull,
				  .ticks = -10ull});
	ck_assert_uint_eq(w->at[0].calls, 1);
	ck_assert_uint_eq(w->at[0].ticks, 5);
	ck_assert_uint_eq(w->at[NODE_LATE_MAX].calls, 1);
	ck_assert_uint_eq(w->at[NODE_LATE_MAX].ticks, 10);
	calltree_free(past);
}
END_TEST

START_TEST(blocking_receives)
{
	pair(rank(1), 130, 100, 100, 200);
	ck_assert_uint_eq(late(rank(1)), 30);
	pair(rank(1), 290, 300, 300, 310); /* it was there before */
	ck_assert_uint_eq(late(rank(1)), 30);
	pair(rank(1), 450, 400, 400, 420); /* a clock goes wrong: no longer than the call */
	ck_assert_uint_eq(late(rank(1)), 50);
	/* threads may be in calls at the same time */
	pair(rank(2), 110, 100, 100, 200);
	ck_assert_uint_eq(late(rank(2)), 10);
}
END_TEST

START_TEST(the_last_sender_of_a_call)
{
	static const uint64_t sent[] = {110, 140, 120};

	/* in each order of coming the one that was sent last has it all */
	for (uint64_t turn = 0; turn < 3; turn++) {
		uint64_t t = 1000 * turn;

		for (uint64_t i = 0; i < 3; i++) {
			uint32_t k = (uint32_t)((i + turn) % 3);

			pair(rank(1 + k), t + sent[k], t + 50, t + 100, t + 200);
		}
		ck_assert_uint_eq(late(rank(1)), 0);
		ck_assert_uint_eq(late(rank(2)), 40 * (turn + 1));
		ck_assert_uint_eq(late(rank(3)), 0);
	}
}
END_TEST

START_TEST(calls_that_are_forgotten)
{
	for (uint64_t i = 0; i < 10; i++)
		pair(rank(1), 1000 * i + 110, 1000 * i + 50, 1000 * i + 100, 1000 * i + 200);
	ck_assert_uint_eq(late(rank(1)), 100);
	ck_assert_uint_eq(m.own_longest->by_call.n, LONGEST_MAX);
	/* one of the last is known */
	pair(rank(2), 9150, 9050, 9100, 9200);
	ck_assert_uint_eq(late(rank(1)), 90);
	ck_assert_uint_eq(late(rank(2)), 50);
	/* an old one counts once more */
	pair(rank(2), 150, 50, 100, 200);
	ck_assert_uint_eq(late(rank(1)), 90);
	ck_assert_uint_eq(late(rank(2)), 100);
}
END_TEST

START_TEST(between_nodes)
{
	pair(THERE, 150, 100, 100, 200); /* not more than the clocks may differ */
	ck_assert_uint_eq(late(THERE), 0);
	pair(THERE, 1051, 1000, 1000, 1200);
	ck_assert_uint_eq(late(THERE), 51);
	/* long before this node began, which is far in the past, not in the future */
	pair(THERE, 1100 - (UINT64_C(1) << 61), 1100, 1100, 1300);
	ck_assert_uint_eq(late(THERE), 51);
	m.clock_bound = UINT64_MAX;
	pair(THERE, 2100, 2000, 2000, 2200);
	ck_assert_uint_eq(late(THERE), 51);
}
END_TEST

START_TEST(what_is_not_known)
{
	const struct match_send s = {.source = rank(1), .destination = HERE, .enter = 150};
	struct match_receive r = {.source = rank(1),
		.destination = HERE,
		.enter = 100,
		.done = {.enter = 100, .leave = 200, .unknown = true}};

	matching_late_sender(&m, &s, &r);
	r.done.unknown = false;
	r.done.cancelled = true;
	matching_late_sender(&m, &s, &r);
	ck_assert_uint_eq(late(rank(1)), 0);
}
END_TEST

/* Of a wait for another node, each time; one that is taken back takes its error along. */
START_TEST(error_of_clocks)
{
	const uint64_t far = match_proc_id(1, 9);

	pair(rank(1), 180, 100, 100, 200);
	pair(far, 1180, 1100, 1100, 1200);
	pair(far, 2180, 2100, 2100, 2200);
	ck_assert_uint_eq(waits(path)->at[0].error, 0);
	ck_assert_uint_eq(waits(path)->at[1].late, 9);
	ck_assert_uint_eq(waits(path)->at[1].calls, 2);
	ck_assert_uint_eq(waits(path)->at[1].error, 2 * m.clock_bound);
	pair(far, 3180, 3000, 3100, 3200);
	ck_assert_uint_eq(waits(path)->at[1].error, 3 * m.clock_bound);
	pair(rank(1), 3190, 3000, 3100, 3200);
	ck_assert_uint_eq(waits(path)->at[1].error, 2 * m.clock_bound);
	ck_assert_uint_eq(waits(path)->at[0].calls, 2);
	ck_assert_uint_eq(waits(path)->at[0].error, 0);
}
END_TEST

/* An earlier message lies there: the wait is of another kind, with its error and causes. */
START_TEST(wrong_order)
{
	const uint64_t far = match_proc_id(1, 9);

	pair(far, 180, 100, 100, 200);
	pair(rank(1), 50, 300, 300, 310);
	ck_assert_uint_eq(waits(path)->at[0].kind, WAIT_LATE_SENDER);
	ck_assert_uint_eq(waits(path)->at[0].calls, 0);
	ck_assert_uint_eq(waits(path)->at[0].ticks, 0);
	ck_assert_uint_eq(waits(path)->at[0].error, 0);
	ck_assert_uint_eq(waits(path)->at[1].kind, WAIT_WRONG_ORDER);
	ck_assert_uint_eq(waits(path)->at[1].late, 9);
	ck_assert_uint_eq(waits(path)->at[1].calls, 1);
	ck_assert_uint_eq(waits(path)->at[1].ticks, 80);
	ck_assert_uint_eq(waits(path)->at[1].error, m.clock_bound);
	ck_assert_uint_eq(waits(path)->at[1].path, path);
	ck_assert_uint_eq(late(far), 80); /* of the pair of threads it is all the same */
	/* a call that has received another one that was later: it is that which it waited for */
	pair(rank(2), 1130, 1000, 1100, 1200);
	pair(rank(1), 1120, 1300, 1300, 1310);
	ck_assert_uint_eq(waits(path)->at[2].late, 2);
	ck_assert_uint_eq(waits(path)->at[2].kind, WAIT_LATE_SENDER);
	ck_assert_uint_eq(waits(path)->at[2].calls, 0);
	ck_assert_uint_eq(waits(path)->at[3].kind, WAIT_WRONG_ORDER);
	ck_assert_uint_eq(waits(path)->at[3].ticks, 30);
	pair(rank(3), 1190, 1000, 1100, 1200);
	ck_assert_uint_eq(waits(path)->at[3].calls, 0);
	ck_assert_uint_eq(waits(path)->at[3].ticks, 0);
	ck_assert_uint_eq(late(rank(2)), 0);
	ck_assert_uint_eq(waits(path)->at[waits(path)->n - 1].kind, WAIT_WRONG_ORDER);
	ck_assert_uint_eq(waits(path)->at[waits(path)->n - 1].late, 3);
	ck_assert_uint_eq(waits(path)->at[waits(path)->n - 1].ticks, 90);
}
END_TEST

/* What comes first is MPI's choice, but for a message of another tag. */
START_TEST(from_any_source)
{
	static const struct {
		uint32_t any, tag;
		enum wait_kind kind;
	} cases[] = {{0, 0, WAIT_WRONG_ORDER}, {MATCH_TAG_ANY, 0, WAIT_WRONG_ORDER},
		{MATCH_FROM_ANY, 0, WAIT_LATE_SENDER}, {MATCH_FROM_ANY, 1, WAIT_WRONG_ORDER},
		{MATCH_FROM_ANY | MATCH_TAG_ANY, 1, WAIT_LATE_SENDER}};

	const struct node_waits *w;

	posted_as = cases[_i].any;
	pair(rank(1), 180, 100, 160, 200);
	posted_as = 0;
	tag = cases[_i].tag;
	pair(rank(2), 150, 300, 300, 310);
	tag = 0;
	w = waits(path);
	ck_assert(ANY(i, w->n, w->at[i].kind == cases[_i].kind && w->at[i].ticks == 20));
	ck_assert(!ANY(i, w->n, w->at[i].kind != cases[_i].kind && w->at[i].ticks));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {call_paths, paths_that_move, ids_of_no_rank,
		more_late_ranks_than_are_told_apart, what_is_taken_back_was_among_the_others,
		blocking_receives, the_last_sender_of_a_call, calls_that_are_forgotten,
		between_nodes, what_is_not_known, error_of_clocks, wrong_order};
	Suite *s = suite_create("late-senders");
	TCase *c = tcase_create("late-senders");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, from_any_source, 0, 5);
	suite_add_tcase(s, c);
	return run_suite(s);
}
