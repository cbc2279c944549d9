/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in the wrong order, by a virtual clock, learnt in any order. */
#include <check.h>
#include <stdlib.h>

#define WRONG_ORDER_MESSAGES 64u
#define WRONG_ORDER_WAITS    16u
#define WRONG_ORDER_KEPT     32u
#define WRONG_ORDER_ALL	     100u
#include "nodeagent/internode/wrong-order.c"

#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define RECEIVER 7
#define SCENES	 100

/* A message, received in a call that begins at `enter` and ends at `leave`. */
struct scene {
	uint64_t source, sent, enter, leave, error;
	bool waited;
	uint32_t queue, takes;
};

static struct wrong_order *order;
static bool is_wrong[SCENES]; /* by the call's begin */
static uint32_t path_of[SCENES];
static unsigned n_found;

static void found(void *arg, struct longest_wait *w, uint32_t path)
{
	ck_assert_ptr_null(arg);
	ck_assert_uint_lt(w->enter / 10, SCENES);
	ck_assert(!is_wrong[w->enter / 10]);
	is_wrong[w->enter / 10] = true;
	path_of[w->enter / 10] = path;
	n_found++;
}

static void setup(void)
{
	order = wrong_order_new(found, NULL);
	memset(is_wrong, 0, sizeof(is_wrong));
	n_found = 0;
}

static void teardown(void)
{
	wrong_order_free(order);
}

static uint64_t ticks_of(const struct scene *s)
{
	const uint64_t until = s->sent < s->leave ? s->sent : s->leave;

	return s->waited && until > s->enter ? until - s->enter : 0;
}

static void add_of(const struct scene *s, uint32_t thread)
{
	const struct longest_wait w = {.enter = s->enter, .ticks = ticks_of(s)};

	wrong_order_add(order,
		&(struct wrong_order_message){.source = s->source,
			.destination = RECEIVER,
			.enter = s->enter,
			.leave = s->leave,
			.sent = s->sent,
			.error = s->error,
			.thread = thread,
			.path = (uint32_t)s->enter,
			.queue = s->queue,
			.takes = s->takes},
		w.ticks ? &w : NULL);
}

static void add(uint64_t source, uint64_t sent, uint64_t enter, uint64_t leave, uint64_t error)
{
	add_of(&(struct scene){source, sent, enter, leave, error, true}, 0);
}

static void add_chosen(
	uint64_t sent, uint64_t enter, uint64_t leave, uint32_t queue, uint32_t takes)
{
	add_of(&(struct scene){1, sent, enter, leave, 0, true, queue, takes}, 0);
}

/* The program could have chosen a message of another queue, and no other one. */
START_TEST(from_any_source)
{
	const uint32_t queue = choice_queue(7, 5), other = choice_queue(7, 6);

	ck_assert_uint_ne(queue, other);
	ck_assert_uint_ne(choice_queue(8, 5), queue);
	for (uint32_t turn = 0, t = 100; turn < 2; turn++, t += 200) {
		/* what is learnt first, in turn */
		if (turn) {
			add_chosen(t - 10, t + 20, t + 25, queue, queue);
			add_chosen(t - 8, t + 30, t + 35, other, CHOICE_NAMED);
		}
		add_chosen(t + 5, t, t + 10, queue, queue);
		if (!turn) {
			add_chosen(t - 10, t + 20, t + 25, queue, queue);
			ck_assert_uint_eq(n_found, 0);
			add_chosen(t - 8, t + 30, t + 35, other, CHOICE_NAMED);
		}
		ck_assert_uint_eq(n_found, turn + 1);
		ck_assert_uint_eq(path_of[t / 10], t + 30);
	}
	add_chosen(505, 500, 510, queue, CHOICE_ALL);
	add_chosen(490, 520, 525, other, CHOICE_ALL);
	ck_assert_uint_eq(n_found, 2);
	add_chosen(605, 600, 610, queue, CHOICE_NAMED);
	add_chosen(590, 620, 625, queue, CHOICE_ALL);
	ck_assert_uint_eq(n_found, 3);
}
END_TEST

/* One of another queue, received later and sent earlier, could not have been chosen in its place:
 * in whatever order they are learnt. */
START_TEST(what_was_sent_earlier_is_of_the_own_queue)
{
	const uint32_t queue = choice_queue(7, 5), other = choice_queue(7, 6);

	add_chosen(50, 200, 205, other, CHOICE_NAMED);
	add_chosen(40, 300, 305, queue, CHOICE_NAMED);
	add_chosen(100, 60, 110, queue, queue);
	ck_assert_uint_eq(n_found, 1);
	ck_assert_uint_eq(path_of[6], 200);
	add_chosen(540, 800, 805, queue, CHOICE_NAMED);
	add_chosen(550, 700, 705, other, CHOICE_NAMED);
	add_chosen(600, 560, 610, queue, queue);
	ck_assert_uint_eq(n_found, 2);
	ck_assert_uint_eq(path_of[56], 700);
}
END_TEST

/*
 * sender 1  -------------[S at 105
 * sender 2  --[S at 90
 * receiver  -----[100 R~~~ 110][120 R]
 */
START_TEST(an_earlier_message_lies_there)
{
	add(1, 105, 100, 110, 0);
	ck_assert_uint_eq(n_found, 0);
	add(2, 90, 120, 125, 0);
	ck_assert_uint_eq(n_found, 1);
	ck_assert(is_wrong[10]);
	ck_assert_uint_eq(path_of[10], 120);
	/* the other way round in what is learnt */
	add(2, 290, 320, 325, 0);
	add(1, 305, 300, 310, 0);
	ck_assert_uint_eq(n_found, 2);
	ck_assert(is_wrong[30]);
	ck_assert_uint_eq(path_of[30], 320);
}
END_TEST

START_TEST(to_the_tick)
{
	add(1, 105, 100, 110, 0);
	add(2, 105, 120, 125, 0); /* sent at the same time */
	add(2, 104, 109, 125, 0); /* received before it was over: by another call of a lie */
	ck_assert_uint_eq(n_found, 0);
	add(2, 104, 110, 125, 0);
	ck_assert_uint_eq(n_found, 1);
}
END_TEST

START_TEST(the_wait_ends_with_its_call)
{
	add(1, 250, 200, 210, 0); /* a clock goes wrong: sent after it was received */
	add(2, 210, 220, 225, 0);
	ck_assert_uint_eq(n_found, 0);
	add(2, 209, 230, 235, 0);
	ck_assert_uint_eq(n_found, 1);
}
END_TEST

START_TEST(another_thread_may_receive_as_it_likes)
{
	add(1, 105, 100, 110, 0);
	add_of(&(struct scene){2, 90, 120, 125, 0, true}, 1);
	ck_assert_uint_eq(n_found, 0);
	add_of(&(struct scene){2, 90, 120, 125, 0, true}, 0);
	ck_assert_uint_eq(n_found, 1);
}
END_TEST

START_TEST(between_nodes)
{
	add(1, 140, 100, 150, 20); /* of another node */
	add(2, 120, 160, 165, 0);
	ck_assert_uint_eq(n_found, 0); /* within the error */
	add(2, 119, 160, 165, 0);
	ck_assert_uint_eq(n_found, 1);
	add(2, 240, 200, 250, 0);
	add(1, 220, 260, 265, 20);
	ck_assert_uint_eq(n_found, 1);
	add(1, 219, 260, 265, 20);
	ck_assert_uint_eq(n_found, 2);
	/* of one process: in the order of its own clock, also of one that is not known */
	add(1, 340, 300, 350, 20);
	add(1, 339, 360, 365, 20);
	ck_assert_uint_eq(n_found, 3);
	add(1, 440, 400, 450, UINT64_MAX);
	add(3, 401, 460, 465, UINT64_MAX);
	add(2, 401, 460, 465, 0);
	ck_assert_uint_eq(n_found, 3);
	add(1, 439, 470, 475, UINT64_MAX);
	ck_assert_uint_eq(n_found, 4);
}
END_TEST

START_TEST(taken_back)
{
	add(1, 105, 100, 110, 0);
	wrong_order_take_back(order, RECEIVER, 0, 99);
	wrong_order_take_back(order, RECEIVER, 1, 100);
	wrong_order_take_back(order, RECEIVER, 0, 100);
	wrong_order_take_back(order, RECEIVER, 0, 100);
	add(2, 90, 120, 125, 0);
	ck_assert_uint_eq(n_found, 0);
	add(1, 205, 200, 210, 5);
	wrong_order_take_back(order, RECEIVER, 0, 200);
	add(1, 204, 220, 225, 5);
	ck_assert_uint_eq(n_found, 0);
	ck_assert_uint_eq(order->kept.used, 0);
}
END_TEST

/* ---- all sequences ------------------------------------------------------------------------- */

static bool should_be_wrong(const struct scene *all, size_t n, const struct scene *s)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].enter >= s->leave && all[i].sent < s->enter + ticks_of(s) &&
			choice_is_free(s->takes, all[i].queue))
			return true;
	return false;
}

static uint32_t any_choice(struct dice *d, uint32_t queue)
{
	const uint32_t choices[] = {CHOICE_NAMED, queue, queue, CHOICE_ALL};

	return choices[throw_dice(d, 4)];
}

/* Calls one after the other, learnt in any order; sent earlier by up to `early` ticks. */
static size_t make_scenes(struct dice *d, struct scene *all, size_t n, uint32_t early)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t enter = 1000 + 10 * i, leave = enter + 1 + throw_dice(d, 9);
		const uint32_t queue = choice_queue(7, throw_dice(d, 3));

		all[i] = (struct scene){.source = 1 + throw_dice(d, 3),
			.sent = leave - throw_dice(d, throw_dice(d, 2) ? 8 : early),
			.enter = enter,
			.leave = leave,
			.waited = true,
			.queue = queue,
			.takes = any_choice(d, queue)};
	}
	return n;
}

static void mix(struct dice *d, struct scene *all, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		const size_t k = throw_dice(d, (uint32_t)i);
		const struct scene s = all[k];

		all[k] = all[i - 1];
		all[i - 1] = s;
	}
}

static unsigned n_wrong_of(const struct scene *all, size_t n, bool exactly)
{
	unsigned sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct scene *s = &all[i];
		const bool wrong = is_wrong[s->enter / 10 - 100],
			   should = ticks_of(s) && should_be_wrong(all, n, s);

		ck_assert(exactly ? wrong == should : wrong <= should);
		sum += wrong;
	}
	return sum;
}

static void found_in_scene(void *arg, struct longest_wait *w, uint32_t path)
{
	struct longest_wait moved = *w;

	moved.enter -= 1000;
	found(arg, &moved, path);
}

static unsigned n_wrong(struct dice *d, size_t n, uint32_t early, bool exactly)
{
	struct scene all[SCENES];

	teardown();
	setup();
	order->found = found_in_scene;
	mix(d, all, make_scenes(d, all, n, early));
	for (size_t i = 0; i < n; i++)
		add_of(&all[i], 0);
	return n_wrong_of(all, n, exactly);
}

START_TEST(any_sequence)
{
	struct dice d = {(uint64_t)_i};
	unsigned sum = 0;

	for (unsigned turn = 0; turn < 200; turn++)
		sum += n_wrong(&d, 1 + throw_dice(&d, 16), 60, true);
	ck_assert_uint_gt(sum, 100);
}
END_TEST

/* Never a wait in the right order; and not less than a part of those that are in the wrong one. */
START_TEST(more_than_there_is_room_for)
{
	struct dice d = {(uint64_t)_i};
	unsigned sum = 0;

	for (unsigned turn = 0; turn < 50; turn++)
		sum += n_wrong(&d, SCENES, 300, false);
	ck_assert_uint_gt(sum, 100);
	ck_assert_uint_le(order->n_lying, WRONG_ORDER_ALL);
	ck_assert_uint_le(order->kept.used, WRONG_ORDER_WAITS);
}
END_TEST

START_TEST(many_threads_that_receive)
{
	for (uint32_t thread = 0; thread < 200; thread++) {
		add_of(&(struct scene){1, 105, 100, 110, 0, true}, thread);
		add_of(&(struct scene){1, 105, 120, 130, 0, true}, thread);
	}
	ck_assert_uint_le(order->kept.used, WRONG_ORDER_KEPT);
	ck_assert_uint_le(order->n_lying, WRONG_ORDER_ALL);
	ck_assert_uint_eq(n_found, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {an_earlier_message_lies_there, from_any_source, to_the_tick,
		what_was_sent_earlier_is_of_the_own_queue, the_wait_ends_with_its_call,
		another_thread_may_receive_as_it_likes, between_nodes, taken_back,
		many_threads_that_receive};
	Suite *s = suite_create("wrong-order");
	TCase *c = tcase_create("wrong-order");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, any_sequence, 0, 20);
	tcase_add_loop_test(c, more_than_there_is_room_for, 0, 20);
	suite_add_tcase(s, c);
	return run_suite(s);
}
