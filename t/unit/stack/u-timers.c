/* SPDX-License-Identifier: BSD-3-Clause */
/* What the agent takes of the samples that a process stores of itself, whatever it stores. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/stack/events.h"
#include "nodeagent/stack/timers.h"
#include "shm/atomic.h"
#include "shm/stack-samples.h"
#include "t/lib/suite.h"

#define BYTES ((size_t)32 << 10)

static struct stack_timers *timers;
static struct ring app; /* as the process has it mapped */

static struct {
	unsigned n;
	int tid;
	uint64_t ticks, period_ns;
	size_t stack_bytes;
	unsigned char last_byte;
} got;

static void begin(void)
{
	int fd, error;

	memset(&got, 0, sizeof(got));
	timers = stack_timers_new(BYTES, 1000, &fd, &error);
	ck_assert_ptr_nonnull(timers);
	ck_assert_int_eq(vftr_segment_map_ring(fd, BYTES, &app), 0);
}

static void end(void)
{
	vftr_segment_unmap_ring(&app);
	stack_timers_free(timers);
}

static void take(void *ctx, int tid, const struct stack_raw *s)
{
	got.n++;
	got.tid = tid;
	got.ticks = s->ticks;
	got.period_ns = s->period_ns;
	got.stack_bytes = s->stack_bytes;
	got.last_byte = s->stack_bytes ? s->stack[s->stack_bytes - 1] : 0;
}

/* As the handler stores one; the caller may make it worse before it reads. */
static struct stack_sample_shm *store(uint32_t stack_bytes)
{
	struct stack_samples_app_shm *a = stack_samples_app(&app);
	const uint64_t at = a->head;
	struct stack_sample_shm *s = stack_sample_at(&app, at);

	*s = (struct stack_sample_shm){.bytes = stack_sample_bytes(stack_bytes),
		.tid = 7,
		.ticks = at + 5,
		.periods = 3,
		.stack_bytes = stack_bytes};
	memset(s + 1, 0x5a, stack_bytes);
	a->head = at + s->bytes;
	store_release(&s->ready, at | 1);
	return s;
}

static unsigned read_all(void)
{
	got.n = 0;
	stack_timers_read(timers, SIZE_MAX, take, NULL);
	return got.n;
}

START_TEST(samples_come_in_order_and_make_room)
{
	begin();
	for (uint64_t round = 0; round < 100; round++) {
		struct stack_samples_app_shm *a = stack_samples_app(&app);
		const uint64_t left = BYTES - a->head % BYTES;

		if (left < stack_sample_bytes(4000)) { /* it does not wrap */
			struct stack_sample_shm *gap = stack_sample_at(&app, a->head);

			gap->bytes = (uint32_t)left;
			gap->tid = 0;
			gap->ready = a->head | 1;
			a->head += left;
		}
		store(4000);
		ck_assert_uint_eq(read_all(), 1);
		ck_assert_int_eq(got.tid, 7);
		ck_assert_uint_eq(got.period_ns, 3000);
		ck_assert_uint_eq(got.stack_bytes, 4000);
		ck_assert_int_eq(got.last_byte, 0x5a);
		ck_assert_uint_eq(stack_samples_agent(&app)->tail, a->head);
	}
	end();
}
END_TEST

START_TEST(one_that_is_not_ready_is_waited_for)
{
	struct stack_sample_shm *first;
	uint64_t ready;

	begin();
	first = store(100);
	ready = first->ready;
	first->ready = 0;
	store(200);
	ck_assert_uint_eq(read_all(), 0);
	first->ready = ready;
	ck_assert_uint_eq(read_all(), 2);
	ck_assert_uint_eq(got.stack_bytes, 200);
	end();
}
END_TEST

/* Each in a ring of its own: nothing of it is taken, and nothing behind it. */
static const struct {
	uint32_t bytes, tid, periods, stack_bytes;
	uint64_t head;
} wrong[] = {
	{0, 7, 1, 0, 4096},
	{0, 0, 1, 0, 4096},
	{100, 7, 1, 0, 4096},
	{64, 7, 1, 0, 4096},
	{8192, 7, 1, 0, 4096},
	{4096, 7, 1, 4096, 4096},
	{4096, 7, 1, UINT32_MAX, 4096},
	{4096, 7, 0, 8, 4096},
	{UINT32_MAX - 63, 7, 1, 8, 4096},
	{4096, 7, 1, 8, UINT64_MAX},
	{4096, 7, 1, 8, BYTES + 64},
};

START_TEST(what_no_handler_stores_is_not_taken)
{
	struct stack_sample_shm *s;

	begin();
	s = store(8);
	s->bytes = wrong[_i].bytes;
	s->tid = wrong[_i].tid;
	s->periods = wrong[_i].periods;
	s->stack_bytes = wrong[_i].stack_bytes;
	stack_samples_app(&app)->head = wrong[_i].head;
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(stack_samples_agent(&app)->tail, 0);
	end();
}
END_TEST

START_TEST(a_longer_period_skips_samples)
{
	begin();
	stack_timers_set_period(timers, 4000);
	ck_assert_uint_eq(stack_samples_agent(&app)->skip, 3);
	stack_timers_set_period(timers, 1000);
	ck_assert_uint_eq(stack_samples_agent(&app)->skip, 0);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("timers");
	TCase *c = tcase_create("timers");

	tcase_add_test(c, samples_come_in_order_and_make_room);
	tcase_add_test(c, one_that_is_not_ready_is_waited_for);
	tcase_add_loop_test(
		c, what_no_handler_stores_is_not_taken, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(c, a_longer_period_skips_samples);
	suite_add_tcase(s, c);
	return run_suite(s);
}
