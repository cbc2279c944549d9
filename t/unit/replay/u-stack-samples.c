/* SPDX-License-Identifier: BSD-3-Clause */
/* Stack samples: below which frame their paths hang, and what time they get. */
#include "nodeagent/replay/stack-samples.h"
#include "nodeagent/replay/tree/activity.h"
#include "t/unit/replay/replay-by-hand.h"

#define WIDE(n)	 (KEY_WIDE | 0x5500000000u | (n))
#define P	 WIDE(0x40000)
#define Q	 WIDE(0x50000)
#define IN_A	 WIDE(A)
#define IN_MPI	 WIDE(0x70000)
#define BARRIER	 (RECORD_ID_MPI + 3)
#define A_REGION (RECORD_ID_REGION + 7)
#define S	 WIDE(0x60000)
#define SITE	 0x7f0000000000u
#define AT_SITE	 (KEY_SITE | SITE)

static struct calltree *paths;

static void setup_paths(void)
{
	setup();
	paths = calltree_new();
}

static void teardown_paths(void)
{
	teardown();
	calltree_free(paths);
}

/* A sample of `weight' ticks, now: outermost function first; below: those that OpenMP's runtime has
 * called. */
static void sampled(uint64_t weight, uint64_t below, size_t n, const uint64_t *keys)
{
	struct node *path = calltree_root(paths);
	struct stack_sample s = {.ticks = ticks, .weight = weight};

	for (size_t i = 0; i < n; i++)
		path = calltree_child(paths, path, NULL, keys[i]);
	path->calls = below;
	s.path = path;
	replay_add_stack_sample(r, &s);
}

#define SAMPLED(weight, ...)                                                                       \
	sampled(weight, UINT64_MAX, ARRAY_SIZE(((uint64_t[]){__VA_ARGS__})),                       \
		(uint64_t[]){__VA_ARGS__})

static void expect_sampled(const struct node *n, uint64_t all, uint64_t own, uint64_t time)
{
	ck_assert_ptr_nonnull(n);
	ck_assert_uint_eq(n->calls, 0);
	ck_assert_uint_eq(n->extra->stacks.all, all);
	ck_assert_uint_eq(n->extra->stacks.own, own);
	ck_assert_uint_eq(n->ticks, time);
}

/* A sample in a call of BARRIER from SITE, in a function of MPI: the outermost function first, the
 * last one has the site. */
static void sampled_at_site(size_t n, const uint64_t *keys)
{
	struct node *path = calltree_root(paths);
	struct stack_sample s = {.ticks = ticks, .weight = 10, .site = SITE};

	for (size_t i = 0; i < n; i++)
		path = calltree_child(paths, path, NULL, keys[i]);
	s.caller = path;
	path = calltree_child(paths, path, NULL, IN_MPI);
	path->calls = UINT64_MAX;
	s.path = path;
	replay_add_stack_sample(r, &s);
}

/* A call of 100 ticks from there, with so many samples on this path. */
static void call_at_site(unsigned samples, size_t n, const uint64_t *keys)
{
	control(RECORD_CALL_SITE, call_site_word(BARRIER - RECORD_ID_MPI, SITE + 1));
	ticks += 49;
	for (unsigned i = 0; i < samples; i++)
		sampled_at_site(n, keys);
	ticks += 50;
	out(BARRIER);
}

#define CALL_AT_SITE(samples, ...)                                                                 \
	call_at_site(samples, ARRAY_SIZE(((uint64_t[]){__VA_ARGS__})), (uint64_t[]){__VA_ARGS__})

static uint64_t exclusive(const struct node *n)
{
	const struct node *c = n->child;
	uint64_t below = 0;

	if (c == &calltree_none)
		return n->ticks;
	do {
		below += c->ticks;
		c = c->sibling;
	} while (c != n->child);
	return n->ticks - below;
}

/* Until the records up to then are there, they wait; then drain.c asks for each in turn. */
static void end_after_placing(void)
{
	unsigned from = 0;
	uint64_t next;

	while ((next = replay_next_stack_sample(r)) != UINT64_MAX) {
		const unsigned to = replay_split(r, block, from, next);

		ck_assert_ptr_null(replay_block(r, block, from, to, &no_epoch, NOW));
		replay_place_stack_samples(r, next);
		from = to;
	}
	ck_assert_ptr_null(replay_block(r, block, from, BLOCK_WORDS, &no_epoch, NOW));
	used = 0;
	end();
}

START_TEST(paths_hang_below_the_root)
{
	in(BARRIER);
	out(BARRIER);
	ticks += 100;
	SAMPLED(10, P, Q);
	SAMPLED(10, P, Q);
	SAMPLED(10, P);
	ticks += 100;
	in(BARRIER);
	out(BARRIER);
	end_after_placing();
	expect_sampled(AT(P), 3, 1, 30);
	expect_sampled(AT(P, Q), 2, 2, 20);
	ck_assert_uint_eq(AT(BARRIER)->calls, 2);
	ck_assert_uint_eq(replay_counts(r)->calls, 2);
}
END_TEST

/* What is known exactly gets nothing, and gives nothing. */
START_TEST(in_mpi_there_is_none)
{
	in(BARRIER);
	ticks += 100;
	SAMPLED(10, P, Q);
	ticks += 100;
	out(BARRIER);
	ticks += 100;
	SAMPLED(10, P);
	ticks++;
	in(BARRIER);
	out(BARRIER);
	end_after_placing();
	expect_sampled(AT(P), 1, 1, 10);
	ck_assert_ptr_null(AT(P, Q));
	ck_assert_ptr_null(AT(BARRIER, P));
	ck_assert_uint_eq(AT(BARRIER)->ticks, 201 + 1);
}
END_TEST

START_TEST(below_a_function_are_those_that_it_calls)
{
	in(A);
	ticks += 100;
	SAMPLED(10, P, IN_A, Q);
	SAMPLED(10, P, IN_A); /* itself: its own time is known */
	SAMPLED(10, P, Q);    /* it is about to be left */
	in(A_REGION);
	SAMPLED(10, P, IN_A, Q);
	ticks += 50;
	out(A_REGION);
	out(A);
	end_after_placing();
	expect_sampled(AT(A, Q), 1, 1, 10);
	expect_sampled(AT(A, A_REGION, Q), 1, 1, 10);
	ck_assert_ptr_null(AT(A, P));
	ck_assert_ptr_null(AT(P));
	ck_assert_uint_eq(AT(A)->ticks, 153);
}
END_TEST

/* A library between them calls it, and it is in its hook. */
START_TEST(what_is_exact_is_not_there_twice)
{
	in(A);
	in(B);
	out(B);
	ticks += 100;
	SAMPLED(10, P, IN_A, Q, WIDE(B));
	out(A);
	end_after_placing();
	expect_sampled(AT(A, Q), 1, 1, 10);
	ck_assert_ptr_null(AT(A, Q, WIDE(B)));
}
END_TEST

START_TEST(a_region_has_the_whole_path)
{
	in(A_REGION);
	ticks += 100;
	SAMPLED(10, P, Q);
	out(A_REGION);
	end_after_placing();
	expect_sampled(AT(A_REGION, P, Q), 1, 1, 10);
}
END_TEST

/* A period is longer than the frame that it ended in. */
START_TEST(there_is_no_more_time_than_the_frame_has)
{
	in(A_REGION);
	ticks += 30;
	SAMPLED(100, P);
	SAMPLED(100, P, Q);
	SAMPLED(100, P, Q);
	in(BARRIER);
	ticks += 8;
	out(BARRIER);
	out(A_REGION);
	end_after_placing();
	ck_assert_uint_eq(AT(A_REGION)->ticks, 41);
	expect_sampled(AT(A_REGION, P), 3, 1, 10 + 21);
	expect_sampled(AT(A_REGION, P, Q), 2, 2, 21);
}
END_TEST

/* Its calls and times are exact, those around it contain it, and the time without is what it was.
 */
START_TEST(a_call_site_is_placed_by_samples_in_its_calls)
{
	uint64_t took;

	CALL_AT_SITE(0, P, Q, S);
	CALL_AT_SITE(1, P, Q, S);
	ticks += 100;
	SAMPLED(10, P, Q);
	ticks += 100;
	CALL_AT_SITE(0, P, Q, S);
	took = ticks - START;
	end_after_placing();
	expect(AT(P, Q, S, AT_SITE), 3, 300);
	expect(AT(P, Q, S, AT_SITE, BARRIER), 3, 300);
	expect(AT(AT_SITE), 0, 0);
	expect_sampled(AT(P), 2, 0, 310);
	expect_sampled(AT(P, Q), 2, 1, 310);
	expect_sampled(AT(P, Q, S), 1, 0, 300);
	ck_assert_uint_eq(calltree_root(replay_tree(r))->ticks, took);
	ck_assert_uint_eq(exclusive(calltree_root(replay_tree(r))), took - 310);
	ck_assert_uint_eq(exclusive(AT(P)) + exclusive(AT(P, Q, S)), 0);
	ck_assert_uint_eq(exclusive(AT(P, Q)), 10);
}
END_TEST

/* An emptied node is none of the process. */
START_TEST(its_node_goes_with_it)
{
	struct calltree *sum = calltree_new();
	const struct node *root = calltree_root(sum);

	CALL_AT_SITE(1, P);
	end_after_placing();
	calltree_add(sum, replay_tree(r));
	ck_assert_ptr_null(calltree_find_child(root, AT_SITE));
	ck_assert_uint_eq(calltree_find_child(calltree_find_child(root, P), AT_SITE)->calls, 1);
	ck_assert_uint_eq(calltree_nodes(sum), 4);
	calltree_free(sum);
}
END_TEST

/* Others may still ask for whom they have waited. */
START_TEST(last_calls_go_with_it)
{
	struct calltree *t = calltree_new();
	struct activity *a = activity_new(1);
	struct node *root = calltree_root(t), *p = calltree_child(t, root, NULL, P);
	struct node *site = calltree_child(t, root, NULL, AT_SITE);
	struct node *call = calltree_child(t, site, NULL, BARRIER);

	site->calls = call->calls = 1;
	activity_add(a, call, 5, 9);
	activity_add(a, p, 9, 10);
	calltree_move_down(t, site, p);
	activity_moved(a, site);
	calltree_moved(site);
	ck_assert_ptr_eq(a->at[0].node->parent->parent, p);
	ck_assert_uint_eq(a->at[0].node->key, BARRIER);
	ck_assert_ptr_eq(a->at[1].node, p);
	ck_assert_ptr_eq(call->expected, call);
	ck_assert_uint_eq(p->ticks, 0);
	free(a);
	calltree_free(t);
}
END_TEST

/* Nine of ten samples are enough, less are not. */
START_TEST(a_call_site_of_several_paths)
{
	CALL_AT_SITE(8, P, S);
	CALL_AT_SITE(1, Q, S);
	end_after_placing();
	expect(AT(AT_SITE), 2, 200);
	ck_assert_ptr_null(AT(P));
	ck_assert_ptr_null(AT(Q));
	teardown_paths();
	setup_paths();
	CALL_AT_SITE(1, Q, S);
	CALL_AT_SITE(9, P, S);
	end_after_placing();
	expect(AT(P, S, AT_SITE), 2, 200);
	expect(AT(AT_SITE), 0, 0);
	ck_assert_ptr_null(AT(Q));
}
END_TEST

/* Where something was unloaded, keys of one place differ by the epoch of the code map. */
START_TEST(a_call_site_of_several_epochs)
{
	const struct replay_epoch later = {.epoch = 1, .low = 0, .bytes = UINT32_MAX};
	const uint64_t again = AT_SITE | (uint64_t)1 << KEY_WIDE_EPOCH_SHIFT;

	CALL_AT_SITE(0, P, Q);
	ck_assert_ptr_null(flush());
	CALL_AT_SITE(0, P, Q);
	ck_assert_ptr_null(replay_block(r, block, 0, BLOCK_WORDS, &later, NOW));
	memset(block, 0, sizeof(block));
	used = 0;
	expect(AT(AT_SITE), 1, 100);
	expect(AT(again), 1, 100);
	CALL_AT_SITE(1, P, Q);
	end_after_placing();
	expect(AT(P, Q, AT_SITE), 2, 200);
	expect(AT(P, Q, again), 1, 100);
	expect_sampled(AT(P, Q), 1, 0, 300);
}
END_TEST

/* Below what is known exactly: only the functions between. */
START_TEST(a_call_site_in_an_exact_frame)
{
	in(A);
	CALL_AT_SITE(1, P, IN_A, Q);
	out(A);
	in(B);
	CALL_AT_SITE(1, P, WIDE(B)); /* it calls itself */
	out(B);
	in(A_REGION);
	CALL_AT_SITE(1, P, Q);
	out(A_REGION);
	end_after_placing();
	expect(AT(A, Q, AT_SITE), 1, 100);
	expect(AT(A), 1, 102);
	ck_assert_uint_eq(exclusive(AT(A)), 2);
	expect(AT(B, AT_SITE), 1, 100);
	expect(AT(A_REGION, P, Q, AT_SITE), 1, 100);
	ck_assert_ptr_null(AT(P));
}
END_TEST

/* A stack that shows another place, as that of a function that was called by MPI, tells nothing. */
START_TEST(another_place_tells_nothing)
{
	control(RECORD_CALL_SITE, call_site_word(BARRIER - RECORD_ID_MPI, SITE + 9));
	ticks += 10;
	sampled_at_site(1, (uint64_t[]){P});
	ticks += 10;
	out(BARRIER);
	end_after_placing();
	ck_assert_ptr_null(AT(P));
	ck_assert_uint_eq(AT(KEY_SITE | (SITE + 8))->calls, 1);
}
END_TEST

/* A thread that records nothing: its samples do not wait for ever. */
START_TEST(few_wait)
{
	for (unsigned i = 0; i < 3 * STACK_SAMPLES_WAITING; i++) {
		ticks += 10;
		SAMPLED(10, P);
	}
	ck_assert_uint_gt(replay_next_stack_sample(r), START + 10 * STACK_SAMPLES_WAITING);
	end();
	expect_sampled(AT(P), 3 * STACK_SAMPLES_WAITING, 3 * STACK_SAMPLES_WAITING,
		30 * STACK_SAMPLES_WAITING);
}
END_TEST

START_TEST(trees_are_added)
{
	struct calltree *sum = calltree_new();

	ticks += 100;
	SAMPLED(10, P, Q);
	end();
	calltree_add(sum, replay_tree(r));
	ck_assert_uint_eq(calltree_find_child(calltree_root(sum), P)->extra->stacks.all, 1);
	calltree_free(sum);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {paths_hang_below_the_root, in_mpi_there_is_none,
		below_a_function_are_those_that_it_calls, what_is_exact_is_not_there_twice,
		a_region_has_the_whole_path, there_is_no_more_time_than_the_frame_has,
		a_call_site_is_placed_by_samples_in_its_calls, its_node_goes_with_it,
		last_calls_go_with_it, a_call_site_of_several_paths, a_call_site_of_several_epochs,
		a_call_site_in_an_exact_frame, another_place_tells_nothing, few_wait,
		trees_are_added};
	Suite *s = suite_create("stack-samples");
	TCase *c = tcase_create("stack-samples");

	tcase_add_checked_fixture(c, setup_paths, teardown_paths);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
