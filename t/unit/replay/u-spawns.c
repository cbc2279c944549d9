/* SPDX-License-Identifier: BSD-3-Clause */
/* Which intercommunicator leads to which spawned job, and when that is not known. */
#include <check.h>

#define SPAWNS_MAX	 4u
#define SPAWNS_RANKS_MAX 8u
#include "nodeagent/replay/jobs/spawns.c"
#include "t/lib/suite.h"

enum { PARENT = 7, CHILD = 8, OTHER = 9, COMM = 100 };

static struct spawns *s;
static const struct spawn_name root = {5, 1}, beside = {5, 0}, nobody;

static void setup(void)
{
	s = spawns_new();
}

static void teardown(void)
{
	spawns_free(s);
}

static void uses(const struct spawn_name *maker, uint64_t comm, uint32_t children, uint64_t at)
{
	uint32_t parents[] = {2, 3};

	spawns_add_comm(s,
		&(struct spawn_link){.comm = comm,
			.parent_job = PARENT,
			.parents = parents,
			.n_parents = 2,
			.n_children = children},
		at, maker);
}

static void leads_to(uint64_t comm, uint64_t job)
{
	const struct spawn_link *l = spawns_of_comm(s, PARENT, comm);

	ck_assert_uint_eq(l ? l->child_job : 0, job);
	if (job)
		ck_assert_ptr_eq(l, spawns_of_job(s, job));
}

START_TEST(in_either_order)
{
	spawns_add_job(s, CHILD, 3, 10, &root);
	leads_to(COMM, 0);
	uses(&beside, COMM, 3, 20);
	leads_to(COMM, 0); /* that was not the root */
	uses(&root, COMM, 3, 21);
	leads_to(COMM, CHILD);
	ck_assert_uint_eq(spawns_of_job(s, CHILD)->parents[1], 3);
	uses(&root, COMM + 1, 2, 31);
	spawns_add_job(s, OTHER, 2, 30, &root);
	leads_to(COMM + 1, OTHER);
}
END_TEST

START_TEST(another_one)
{
	spawns_add_job(s, CHILD, 3, 10, &root);
	uses(&root, COMM, 2, 20);    /* of other size */
	uses(&root, COMM + 1, 3, 9); /* it was used before */
	uses(&nobody, COMM + 2, 3, 20);
	leads_to(COMM, 0);
	leads_to(COMM + 1, 0);
	leads_to(COMM + 2, 0);
	ck_assert_ptr_null(spawns_of_job(s, CHILD));
	ck_assert_ptr_null(spawns_of_comm(s, PARENT + 1, COMM));
}
END_TEST

START_TEST(two_that_may_be_meant)
{
	spawns_add_job(s, CHILD, 3, 10, &root);
	spawns_add_job(s, OTHER, 3, 11, &root);
	uses(&root, COMM, 3, 20);
	leads_to(COMM, 0);
	uses(&root, COMM + 1, 3, 20);
	leads_to(COMM + 1, 0);
}
END_TEST

START_TEST(many)
{
	for (uint64_t i = 0; i < 10; i++) {
		spawns_add_job(s, CHILD + i, 3, 10 * i, &root);
		uses(&root, COMM + i, 3, 10 * i + 5);
		leads_to(COMM + i, i < 4 ? CHILD + i : 0);
	}
}
END_TEST

/* ---- other nodes ---- */

static void hears(uint64_t comm, uint64_t job, uint32_t first, uint32_t children)
{
	uint32_t parents[] = {first, 3};

	spawns_hear_link(s, &(struct spawn_link){.comm = comm,
				    .parent_job = PARENT,
				    .child_job = job,
				    .parents = parents,
				    .n_parents = 2,
				    .n_children = children});
}

START_TEST(each_is_told_once)
{
	struct spawn_job j;

	spawns_add_job(s, CHILD, 3, 10, &root);
	ck_assert(!spawns_have_news(s)); /* another agent has its rank 0 */
	spawns_tell_job(s, OTHER);
	spawns_tell_job(s, CHILD);
	ck_assert(spawns_have_news(s) && spawns_open(s) == 1);
	ck_assert(spawns_next_job(s, &j));
	ck_assert(j.job == CHILD && j.size == 3 && j.since == 10 && j.root.rank == root.rank);
	ck_assert(!spawns_next_job(s, &j) && !spawns_next_link(s) && !spawns_have_news(s));
	uses(&root, COMM, 3, 20);
	ck_assert(spawns_have_news(s) && !spawns_open(s));
	ck_assert_ptr_eq(spawns_next_link(s), spawns_of_comm(s, PARENT, COMM));
	ck_assert(!spawns_next_link(s) && !spawns_have_news(s));
}
END_TEST

START_TEST(found_by_another_agent)
{
	uses(&beside, COMM, 3, 20); /* a node without the root */
	hears(COMM, CHILD, 2, 3);
	leads_to(COMM, CHILD);
	ck_assert(!spawns_have_news(s) && !spawns_open(s));
	spawns_add_job(s, OTHER, 2, 30, &root); /* one with children only */
	ck_assert_uint_eq(spawns_open(s), 1);
	hears(COMM + 1, OTHER, 2, 2);
	leads_to(COMM + 1, OTHER);
	ck_assert(!spawns_have_news(s));
}
END_TEST

/* The link was told before a process of the job was here. */
START_TEST(told_before_it_is_here)
{
	struct spawn_job j;

	hears(COMM, CHILD, 2, 3);
	spawns_tell_job(s, CHILD);
	ck_assert(!spawns_have_news(s)); /* its root is not known */
	spawns_add_job(s, CHILD, 3, 10, &root);
	spawns_tell_job(s, CHILD);
	ck_assert(spawns_next_job(s, &j));
	ck_assert(j.job == CHILD && j.size == 3 && j.since == 10);
	ck_assert(j.root.space == root.space && j.root.rank == root.rank);
	leads_to(COMM, CHILD);
}
END_TEST

START_TEST(what_contradicts_what_is_known)
{
	uses(&beside, COMM, 3, 20);
	spawns_add_job(s, CHILD, 3, 10, &root);
	hears(COMM, CHILD, 2, 4); /* as many children */
	hears(COMM, CHILD, 1, 3); /* other parents */
	hears(COMM, PARENT, 2, 3);
	hears(COMM, 0, 2, 3);
	leads_to(COMM, 0);
	hears(COMM, CHILD, 2, 3);
	hears(COMM, OTHER, 2, 3);     /* it leads to another job */
	hears(COMM + 1, CHILD, 2, 3); /* another one leads there */
	leads_to(COMM, CHILD);
	leads_to(COMM + 1, 0);
}
END_TEST

START_TEST(no_more_than_there_is_room_for)
{
	for (uint64_t i = 0; i < 10; i++)
		hears(COMM + i, CHILD + i, 2, 3);
	for (uint64_t i = 0; i < 10; i++)
		leads_to(COMM + i, i < 4 ? CHILD + i : 0);
}
END_TEST

START_TEST(what_others_tell_takes_no_room_of_what_is_seen)
{
	uint32_t parents[SPAWNS_RANKS_MAX] = {0};

	spawns_hear_link(s, &(struct spawn_link){.comm = COMM,
				    .parent_job = PARENT,
				    .child_job = CHILD,
				    .parents = parents,
				    .n_parents = SPAWNS_RANKS_MAX,
				    .n_children = 3});
	leads_to(COMM, CHILD);
	hears(COMM + 1, OTHER, 2, 3); /* there is no room for more */
	leads_to(COMM + 1, 0);
	spawns_add_job(s, OTHER, 3, 10, &root);
	uses(&root, COMM + 2, 3, 20);
	leads_to(COMM + 2, OTHER);
}
END_TEST

START_TEST(names_of_ranks_elsewhere)
{
	spawns_add_job(s, CHILD, 3, 10, &root);
	hears(COMM, CHILD, 2, 3);
	ck_assert_uint_eq(spawns_name(s, rank_id(PARENT, 3)), 3); /* of the main job */
	ck_assert(rank_is_far(spawns_name(s, rank_id(CHILD, 2))));
	spawns_hear_link(s, &(struct spawn_link){.comm = COMM + 1,
				    .parent_job = OTHER,
				    .child_job = OTHER + 1,
				    .parents = (uint32_t[]){4},
				    .n_parents = 1,
				    .n_children = 1,
				    .parents_other = true});
	ck_assert_uint_eq(spawns_name(s, rank_id(OTHER, 4)), PROFILE_ELSEWHERE);
	ck_assert_uint_eq(spawns_name(s, rank_id(CHILD, 3)), PROFILE_ELSEWHERE);
	ck_assert_uint_eq(spawns_name(s, rank_id(OTHER + 2, 0)), PROFILE_ELSEWHERE);
}
END_TEST

static void at_port(uint64_t port, uint64_t job, uint32_t ranks, uint32_t others)
{
	uint32_t own[] = {4, 2, 7};

	spawns_add_port(s, port,
		&(struct spawn_link){.comm = COMM + job,
			.parent_job = job,
			.parents = own,
			.n_parents = ranks,
			.n_children = others});
}

static void meets(uint64_t job, uint64_t other)
{
	const struct spawn_link *l = spawns_of_port(s, job, COMM + job);

	ck_assert_uint_eq(!!l, !!other);
	for (uint64_t of = PARENT; of <= OTHER; of++)
		ck_assert_int_eq(spawns_have_met(s, job, of), of == other);
	if (l)
		ck_assert_uint_eq(l->parent_job == job ? l->child_job : l->parent_job, other);
}

START_TEST(on_a_port)
{
	const struct spawn_link *l;

	at_port(77, PARENT, 2, 1);
	meets(PARENT, 0);
	at_port(78, OTHER, 1, 2); /* another port */
	at_port(77, OTHER, 2, 2);
	at_port(0, CHILD, 1, 2);
	meets(PARENT, 0);
	at_port(77, CHILD, 1, 2);
	meets(PARENT, CHILD);
	meets(CHILD, PARENT);
	meets(OTHER, 0);
	l = spawns_of_port(s, CHILD, COMM + CHILD);
	ck_assert_ptr_eq(l, spawns_of_port(s, PARENT, COMM + PARENT));
	ck_assert_uint_eq(l->parents[1], 2);
	ck_assert_uint_eq(spawn_child(l, 0), 4);
	ck_assert_ptr_null(spawns_of_port(s, CHILD, COMM + OTHER));
}
END_TEST

/* The first client of a server is on another node; the second one is here. */
START_TEST(after_a_side_that_has_ended)
{
	uint32_t own[] = {4};
	const struct spawn_link second = {.comm = COMM,
					.parent_job = PARENT,
					.parents = own,
					.n_parents = 1,
					.n_children = 1},
				*l;

	at_port(77, PARENT, 1, 1);
	meets(PARENT, 0);
	spawns_end_port(s, PARENT, COMM + PARENT);
	at_port(77, CHILD, 1, 1);
	meets(CHILD, 0);
	spawns_add_port(s, 77, &second);
	meets(CHILD, PARENT);
	l = spawns_of_port(s, PARENT, COMM);
	ck_assert_ptr_eq(l, spawns_of_port(s, CHILD, COMM + CHILD));
	ck_assert_ptr_null(spawns_of_port(s, PARENT, COMM + PARENT));
}
END_TEST

START_TEST(two_on_a_port)
{
	at_port(77, PARENT, 1, 1);
	at_port(77, PARENT, 1, 1); /* of one job */
	meets(PARENT, 0);
	spawns_free(s);
	s = spawns_new();
	at_port(77, PARENT, 1, 2);
	at_port(77, CHILD, 1, 2);
	at_port(77, OTHER, 2, 1);
	meets(PARENT, 0);
	meets(CHILD, 0);
	meets(OTHER, 0);
}
END_TEST

START_TEST(many_ranks_on_ports)
{
	for (uint64_t i = 0; i < 3; i++)
		at_port(80 + i, PARENT, 3, 3);
	at_port(81, CHILD, 2, 3);
	at_port(81, OTHER, 3, 3); /* there was no room for more ranks */
	meets(OTHER, 0);
}
END_TEST

/* ---- sides on other nodes ---- */

static void far_port(uint64_t port, uint64_t job, uint32_t ranks, uint32_t others)
{
	uint32_t own[] = {4, 2, 7};

	spawns_hear_port(s, port,
		&(struct spawn_link){.comm = COMM + job,
			.parent_job = job,
			.parents = own,
			.n_parents = ranks,
			.n_children = others});
}

static void tells(enum spawn_port_what what, uint64_t job, uint64_t other)
{
	struct spawn_port p;

	ck_assert(spawns_have_news(s) && spawns_next_port(s, &p));
	ck_assert_int_eq(p.what, what);
	ck_assert(p.side->parent_job == job && p.side->comm == COMM + job && p.port == 77);
	ck_assert_uint_eq(p.other_job, what == SPAWN_PORT_MET ? other : 0);
	ck_assert_uint_eq(p.other_comm, what == SPAWN_PORT_MET ? COMM + other : 0);
}

static void far_met(uint64_t job, uint64_t other)
{
	spawns_hear_met(s, job, COMM + job, other, COMM + other);
}

START_TEST(a_side_on_another_node)
{
	const struct spawn_link *l;

	at_port(77, CHILD, 1, 2);
	ck_assert_uint_eq(spawns_open(s), 1);
	tells(SPAWN_PORT_SIDE, CHILD, 0);
	ck_assert(!spawns_have_news(s));
	far_port(77, PARENT, 2, 1);
	meets(CHILD, 0); /* its agent has not said so */
	tells(SPAWN_PORT_MET, CHILD, PARENT);
	far_met(PARENT, CHILD);
	meets(CHILD, PARENT);
	ck_assert(!spawns_have_news(s) && !spawns_open(s));
	l = spawns_of_port(s, CHILD, COMM + CHILD);
	ck_assert_ptr_eq(l, spawns_of_port(s, PARENT, COMM + PARENT));
	ck_assert(l->parent_job == PARENT && l->parents[1] == 2 && spawn_child(l, 0) == 4);
}
END_TEST

/* An agent without the root of either; i: what it hears first. */
START_TEST(both_sides_on_other_nodes)
{
	spawns_await_port(s, CHILD, COMM + CHILD);
	spawns_await_port(s, CHILD, COMM + CHILD);
	ck_assert_uint_eq(spawns_open(s), 1);
	far_port(77, _i ? PARENT : CHILD, _i ? 2 : 1, _i ? 1 : 2);
	far_met(_i ? PARENT : CHILD, _i ? CHILD : PARENT);
	far_port(77, _i ? CHILD : PARENT, _i ? 1 : 2, _i ? 2 : 1);
	meets(PARENT, 0);
	far_met(_i ? CHILD : PARENT, _i ? PARENT : CHILD);
	meets(PARENT, CHILD);
	ck_assert(!spawns_have_news(s) && !spawns_open(s));
	spawns_await_port(s, CHILD, COMM + CHILD);
	ck_assert_uint_eq(spawns_open(s), 0);
}
END_TEST

START_TEST(other_agents_disagree)
{
	at_port(77, CHILD, 1, 2);
	far_port(77, PARENT, 2, 1);
	far_met(PARENT, OTHER);
	meets(CHILD, 0);
	far_met(PARENT, CHILD); /* it has said another one */
	meets(CHILD, 0);
	far_met(CHILD, PARENT); /* that one is here */
	far_met(OTHER, PARENT);
	meets(CHILD, 0);
}
END_TEST

/* Two of as many ranks, one of which has ended without having met anybody. */
START_TEST(a_far_side_that_has_ended)
{
	far_port(77, PARENT, 2, 1);
	far_port(77, OTHER, 2, 1);
	at_port(77, CHILD, 1, 2);
	tells(SPAWN_PORT_SIDE, CHILD, 0);
	ck_assert(!spawns_have_news(s));
	spawns_hear_port_end(s, CHILD, COMM + CHILD); /* which is here */
	spawns_hear_port_end(s, OTHER, COMM + OTHER);
	tells(SPAWN_PORT_MET, CHILD, PARENT);
	far_met(PARENT, CHILD);
	meets(CHILD, PARENT);
}
END_TEST

START_TEST(a_side_that_ends_alone)
{
	at_port(77, PARENT, 2, 1);
	tells(SPAWN_PORT_SIDE, PARENT, 0);
	spawns_end_port(s, PARENT, COMM + PARENT);
	tells(SPAWN_PORT_END, PARENT, 0);
	far_port(77, CHILD, 1, 2);
	far_met(CHILD, PARENT);
	meets(CHILD, 0);
	ck_assert(!spawns_have_news(s) && !spawns_open(s));
}
END_TEST

/* Members of both on third nodes are told, too. */
START_TEST(both_sides_are_here)
{
	at_port(77, PARENT, 2, 1);
	at_port(77, CHILD, 1, 2);
	tells(SPAWN_PORT_SIDE, PARENT, 0);
	tells(SPAWN_PORT_SIDE, CHILD, 0);
	ck_assert(!spawns_have_news(s)); /* others may come until they are asked for */
	meets(CHILD, PARENT);
	tells(SPAWN_PORT_MET, CHILD, PARENT);
	tells(SPAWN_PORT_MET, PARENT, CHILD);
	ck_assert(!spawns_have_news(s));
}
END_TEST

/* Here is the second client of a server, of as many ranks as the first one; i: what is heard before
 * the first two are known to have met: nothing, the second side of the server, or that one alone.
 */
START_TEST(the_second_client_of_a_server)
{
	uint32_t own[] = {4};
	const struct spawn_link second = {.comm = COMM,
		.parent_job = PARENT,
		.parents = own,
		.n_parents = 1,
		.n_children = 1};
	struct spawn_port p;

	if (_i == 2) {
		at_port(77, OTHER, 1, 1);
		tells(SPAWN_PORT_SIDE, OTHER, 0);
		spawns_hear_port(s, 77, &second);
	}
	far_port(77, PARENT, 1, 1);
	far_met(PARENT, CHILD);
	far_port(77, CHILD, 1, 1);
	if (_i != 1)
		far_met(CHILD, PARENT);
	if (_i != 2) {
		at_port(77, OTHER, 1, 1);
		tells(SPAWN_PORT_SIDE, OTHER, 0);
		spawns_hear_port(s, 77, &second);
	}
	if (_i == 1) {
		ck_assert(!spawns_have_news(s));
		far_met(CHILD, PARENT);
	}
	ck_assert(spawns_next_port(s, &p));
	ck_assert(p.what == SPAWN_PORT_MET && p.side->parent_job == OTHER);
	ck_assert(p.other_job == PARENT && p.other_comm == COMM);
	spawns_hear_met(s, PARENT, COMM, OTHER, COMM + OTHER);
	ck_assert(!spawns_have_news(s) && !spawns_open(s));
	meets(OTHER, PARENT);
	meets(CHILD, PARENT);
	ck_assert_ptr_eq(spawns_of_port(s, PARENT, COMM), spawns_of_port(s, OTHER, COMM + OTHER));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {in_either_order, another_one, two_that_may_be_meant, many,
		each_is_told_once, found_by_another_agent, told_before_it_is_here,
		what_contradicts_what_is_known, no_more_than_there_is_room_for,
		what_others_tell_takes_no_room_of_what_is_seen, names_of_ranks_elsewhere, on_a_port,
		after_a_side_that_has_ended, two_on_a_port, many_ranks_on_ports,
		a_side_on_another_node, other_agents_disagree, a_far_side_that_has_ended,
		a_side_that_ends_alone, both_sides_are_here};
	Suite *suite = suite_create("spawns");
	TCase *c = tcase_create("spawns");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, both_sides_on_other_nodes, 0, 2);
	tcase_add_loop_test(c, the_second_client_of_a_server, 0, 3);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
