/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between a job and one that it has spawned, before it is known which one that is. */
#define TRAFFIC_HELD_MAX (8192u * 80)
#include "nodeagent/replay/comm/spawned.c"
#include "t/unit/replay/traffic-by-hand.h"

enum { PARENT = 1, CHILD = 9, BETWEEN = 5, LINKED = 6, EARLY = 5000 };

static const struct spawn_name parent_name = {1, 0}, child_name = {2, 0};
static struct person child;
static struct sync *both;
static struct match_node *node;
static struct match_process *match[2];
static unsigned exact, others;

static void count_pair(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_label label)
{
	(void)arg;
	++*(label == MATCH_EXACT && s->ticket == r->ticket ? &exact : &others);
}

static void count_unmatched(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_reason reason)
{
	(void)arg;
	(void)s;
	(void)r;
	(void)reason;
	others++;
}

/* One process in each job, and what MPI_Comm_spawn and MPI_Comm_get_parent have made. */
static void define_between(struct person *p, enum wire_comm_kind kind, uint64_t id)
{
	const struct wire_run runs[] = {{WIRE_UNKNOWN, 0, 1}, {0, 1, 1}};
	struct comm_packet c = {.m = {.number = BETWEEN,
					.id = id,
					.kind = kind,
					.size = 1,
					.remote_size = 1,
					.runs = ARRAY_SIZE(runs)}};

	memcpy(c.runs, runs, sizeof(runs));
	ck_assert_ptr_null(traffic_define_comm(p->traffic, &c.m, sizeof(runs)));
}

static void be_born_in(struct person *p, uint64_t job, const struct spawn_name *name)
{
	be_born(p, both, 0);
	traffic_rank(p->traffic, 0, job);
	traffic_spawn_name(p->traffic, name);
	match[p == &child] = match_process_new(node, match_proc_id(job, 0), false);
	traffic_match(p->traffic, match[p == &child], job);
}

static void jobs_up(void)
{
	const struct match_node_options options = {
		.match = {.pair = count_pair, .unmatched = count_unmatched}};

	ticks = START;
	conf = conf_default();
	exact = others = 0;
	both = sync_of_ranks(1);
	node = match_node_new(&options);
	be_born_in(&me, PARENT, &parent_name);
	be_born_in(&child, CHILD, &child_name);
	define_between(&me, WIRE_COMM_SPAWN, 500);
	define_between(&child, WIRE_COMM_PARENT, 600);
}

static void jobs_down(void)
{
	die_out(&me);
	die_out(&child);
	sync_free(both);
	match_node_free(node);
	conf_free(conf);
}

/* No more messages come. */
static void jobs_end(void)
{
	traffic_spawned_end(me.traffic);
	traffic_spawned_end(child.traffic);
	traffic_match(me.traffic, NULL, PARENT);
	traffic_match(child.traffic, NULL, CHILD);
	for (int i = 0; i < 2; i++)
		match_process_end(match[i]);
	match_node_end(node);
}

static struct comm *between(struct person *p)
{
	struct comm *c;

	ck_assert_ptr_null(find_comm(p->traffic, BETWEEN, &c));
	return c;
}

/* The parent sends number n to the child. */
static void send_and_receive(uint32_t n)
{
	const struct message sent = {.kind = RECORD_SEND, .field = 7, .ticket = n, .bytes = n},
			     got = {.kind = RECORD_RECV, .field = 7, .ticket = n, .bytes = n};
	const struct match_message send = {.m = &sent, .since = 10 * n + 1, .until = 10 * n + 2},
				   receive = {.m = &got, .since = 10 * n + 3, .until = 10 * n + 4};

	ck_assert(spawned_match(me.traffic, between(&me), 0, NULL, &send));
	ck_assert(spawned_match(child.traffic, between(&child), 0, NULL, &receive));
}

static void other_job_is_known(void)
{
	uint32_t parents[] = {0};

	spawns_hear_link(sync_spawns(both), &(struct spawn_link){.comm = 500,
						    .parent_job = PARENT,
						    .child_job = CHILD,
						    .parents = parents,
						    .n_parents = 1,
						    .n_children = 1});
}

START_TEST(many_messages_wait_for_the_other_job)
{
	for (uint32_t n = 0; n < EARLY; n++)
		send_and_receive(n);
	ck_assert_uint_eq(exact + others, 0);
	ck_assert_uint_eq(
		me.traffic->held_bytes, between(&me)->spawned->cap_held * sizeof(struct held));
	other_job_is_known();
	send_and_receive(EARLY);
	jobs_end();
	ck_assert_uint_eq(exact, EARLY + 1);
	ck_assert_uint_eq(others, 0);
	ck_assert_uint_eq(me.traffic->held_bytes + child.traffic->held_bytes, 0);
	ck_assert_uint_eq(traffic_unlinked(me.traffic) + traffic_unlinked(child.traffic), 0);
}
END_TEST

/* Of more messages than are kept none has a partner, none a wrong one, and they are counted; the
 * job is found all the same. */
START_TEST(more_messages_than_are_kept)
{
	const uint32_t n = TRAFFIC_HELD_MAX / sizeof(struct held) + 10;

	for (uint32_t i = 0; i < n; i++)
		send_and_receive(i);
	ck_assert_ptr_null(spawned_link(me.traffic, between(&me), 0));
	other_job_is_known();
	ck_assert_ptr_nonnull(spawned_link(me.traffic, between(&me), 0));
	ck_assert_uint_eq(spawned_identity(between(&me)), 500);
	ck_assert_ptr_nonnull(spawned_link(child.traffic, between(&child), 0));
	ck_assert_uint_eq(spawned_identity(between(&child)), 500);
	ck_assert_uint_eq(spawned_told(between(&child)), 600); /* as the messages before */
	send_and_receive(n);
	jobs_end();
	ck_assert_uint_eq(exact, 0);
	ck_assert_uint_eq(traffic_unlinked(me.traffic), n + 1);
	ck_assert_uint_eq(traffic_unlinked(child.traffic), n + 1);
}
END_TEST

/* ---- by MPI_Intercomm_create ---- */

/* Both name the other one by its place in that one; is_unknown: they do not. */
static struct comm *make_linked(
	struct person *p, uint64_t id, uint64_t port, bool is_unknown, uint32_t n)
{
	const struct wire_run runs[] = {{wire_other(0), 1, 1}, {0, 1, 1}};
	struct comm_packet c = {.m = {.number = n,
					.parent = BETWEEN,
					.id = id,
					.port = port,
					.kind = WIRE_COMM_INTER,
					.size = 1,
					.remote_size = 1,
					.runs = ARRAY_SIZE(runs)}};
	struct comm *made;

	memcpy(c.runs, runs, sizeof(runs));
	if (is_unknown)
		c.runs[0] = (struct wire_run){WIRE_UNKNOWN, 0, 1};
	ck_assert_ptr_null(traffic_define_comm(p->traffic, &c.m, sizeof(runs)));
	ck_assert_ptr_null(find_comm(p->traffic, n, &made));
	return made;
}

START_TEST(made_between_the_jobs)
{
	struct comm *mine = make_linked(&me, 700, 3, false, LINKED),
		    *its = make_linked(&child, 800, 3, false, LINKED),
		    *second = make_linked(&me, 701, 4, false, LINKED + 1),
		    *unknown = make_linked(&me, 702, 5, true, LINKED + 2);

	other_job_is_known();
	ck_assert_ptr_nonnull(spawned_link(me.traffic, mine, 0));
	ck_assert_ptr_nonnull(spawned_link(child.traffic, its, 0));
	ck_assert_ptr_nonnull(spawned_link(me.traffic, second, 0));
	ck_assert_ptr_null(spawned_link(me.traffic, unknown, 0));
	ck_assert_uint_eq(spawned_identity(mine), spawned_identity(its));
	ck_assert_uint_ne(spawned_identity(mine), spawned_identity(second));
	ck_assert_uint_ne(spawned_identity(mine), spawned_identity(between(&me)));
	ck_assert_uint_ne(spawned_side(mine), spawned_side(its));
	ck_assert(!spawned_is_mixed(mine));
	jobs_end();
}
END_TEST

/* Two parents; of the two groups that are made of all, one has the first parent and the child. */
static struct comm *make_mixed(uint32_t wide)
{
	const struct wire_run between_runs[] = {{WIRE_UNKNOWN, 0, 1}, {0, 1, 2}},
			      runs[] = {{1, 1, 1}, {0, 1, 1}, {wire_other(0), 1, 1}};
	struct comm_packet c = {.m = {.number = wide,
					.id = 510,
					.kind = WIRE_COMM_SPAWN,
					.size = 2,
					.remote_size = 1,
					.runs = ARRAY_SIZE(between_runs)}};
	uint32_t parents[] = {0, 1};
	struct comm *made;

	memcpy(c.runs, between_runs, sizeof(between_runs));
	ck_assert_ptr_null(traffic_define_comm(me.traffic, &c.m, sizeof(between_runs)));
	spawns_hear_link(sync_spawns(both), &(struct spawn_link){.comm = 510,
						    .parent_job = PARENT,
						    .child_job = CHILD,
						    .parents = parents,
						    .n_parents = 2,
						    .n_children = 1});
	c.m = (struct wire_comm){.number = wide + 1,
		.parent = wide,
		.id = 700,
		.port = 3,
		.kind = WIRE_COMM_INTER,
		.size = 2,
		.remote_size = 1,
		.runs = ARRAY_SIZE(runs)};
	memcpy(c.runs, runs, sizeof(runs));
	ck_assert_ptr_null(traffic_define_comm(me.traffic, &c.m, sizeof(runs)));
	ck_assert_ptr_null(find_comm(me.traffic, wide + 1, &made));
	return made;
}

/* Agents tell groups by their jobs. */
START_TEST(groups_of_both_jobs_are_not_compared_by_agents)
{
	struct comm *mixed = make_mixed(LINKED), *wide;

	ck_assert_ptr_null(find_comm(me.traffic, LINKED, &wide));
	ck_assert_ptr_nonnull(spawned_link(me.traffic, mixed, 0));
	ck_assert(spawned_is_mixed(mixed));
	ck_assert(!has_members_elsewhere(mixed));
	ck_assert(!spawned_is_mixed(wide));
	ck_assert(has_members_elsewhere(wide));
	jobs_end();
}
END_TEST

/* ---- by a port ---- */

enum { AT_PORT = 20 };

/* What MPI_Comm_accept or MPI_Comm_connect has made of so many ranks and those of the other side.
 * port: 0: p is not the root. */
static void meet_at_port(
	struct person *p, uint64_t id, uint64_t port, uint32_t ranks, uint32_t remote_ranks)
{
	const struct wire_run runs[] = {{WIRE_UNKNOWN, 0, remote_ranks}, {0, 1, ranks}};
	struct comm_packet c = {.m = {.number = AT_PORT,
					.id = id,
					.port = port,
					.kind = WIRE_COMM_ACCEPT,
					.size = ranks,
					.remote_size = remote_ranks,
					.runs = ARRAY_SIZE(runs)}};

	memcpy(c.runs, runs, sizeof(runs));
	ck_assert_ptr_null(traffic_define_comm(p->traffic, &c.m, sizeof(runs)));
}

static const struct spawn_link *link_at_port(struct person *p)
{
	struct comm *c;

	ck_assert_ptr_null(find_comm(p->traffic, AT_PORT, &c));
	return spawned_link(p->traffic, c, 0);
}

static void be_beside_me(struct person *p, int rank)
{
	be_born(p, both, rank);
	traffic_rank(p->traffic, rank, PARENT);
}

START_TEST(a_member_that_ends_leaves_the_side_of_the_root)
{
	struct person beside = {0};

	be_beside_me(&beside, 1);
	meet_at_port(&me, 900, 77, 2, 1);
	meet_at_port(&beside, 900, 0, 2, 1);
	die_out(&beside);
	meet_at_port(&child, 901, 77, 1, 2);
	ck_assert_ptr_nonnull(link_at_port(&me));
	ck_assert_ptr_eq(link_at_port(&me), link_at_port(&child));
	jobs_end();
}
END_TEST

START_TEST(the_root_ends_its_side)
{
	meet_at_port(&me, 900, 77, 2, 1);
	traffic_spawned_end(me.traffic);
	meet_at_port(&child, 901, 77, 1, 2);
	ck_assert_ptr_null(link_at_port(&me));
	ck_assert_ptr_null(link_at_port(&child));
	jobs_end();
}
END_TEST

/* Their root is on another node. */
START_TEST(each_member_awaits_what_is_told_of_the_root)
{
	struct person beside = {0};

	be_beside_me(&beside, 1);
	meet_at_port(&me, 900, 0, 3, 1);
	meet_at_port(&beside, 900, 0, 3, 1);
	ck_assert_uint_eq(spawns_open(sync_spawns(both)), 1);
	traffic_spawned_end(beside.traffic);
	die_out(&beside); /* which ends it once more */
	ck_assert_uint_eq(spawns_open(sync_spawns(both)), 1);
	jobs_end();
	ck_assert_uint_eq(spawns_open(sync_spawns(both)), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {many_messages_wait_for_the_other_job,
		more_messages_than_are_kept, made_between_the_jobs,
		groups_of_both_jobs_are_not_compared_by_agents,
		a_member_that_ends_leaves_the_side_of_the_root, the_root_ends_its_side,
		each_member_awaits_what_is_told_of_the_root};
	Suite *s = suite_create("spawned");
	TCase *c = tcase_create("spawned");

	tcase_add_checked_fixture(c, jobs_up, jobs_down);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
