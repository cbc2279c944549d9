/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments: they exist in full, cannot change their size, are refused when they
 * are not what they should be, and neither side can write the other's page.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeagent/base/util.h"
#include "shm/segment.h"
#include "t/lib/suite.h"

static int fd = -1;
static struct ring agent_ring, app_ring;
static struct control_agent_shm *agent, *agent_seen;
static struct control_app_shm *app, *app_own;

static void make_ring(void)
{
	ck_assert_int_eq(
		vftr_segment_create_ring(RING_SIZE_MIN, RING_SIZE_MIN, &fd, &agent_ring), 0);
	ck_assert_int_eq(vftr_segment_map_ring(fd, RING_SIZE_MIN, &app_ring), 0);
}

static void make_control(void)
{
	ck_assert_int_eq(vftr_segment_create_control(&fd, &agent, &app), 0);
	ck_assert_int_eq(vftr_segment_map_control(fd, &agent_seen, &app_own), 0);
}

START_TEST(size_is_sealed)
{
	struct stat st;

	make_ring();
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(st.st_size, (off_t)RING_SEGMENT_BYTES(RING_SIZE_MIN));
	ck_assert_int_ge(st.st_blocks * 512, st.st_size);
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(ftruncate(fd, st.st_size * 2), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_ne(fallocate(fd, 0, st.st_size, 4096), 0);
	close(fd);
	make_control();
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	ck_assert_int_eq(errno, EPERM);
}
END_TEST

START_TEST(wrong_sizes)
{
	static const uint64_t wrong[] = {0, 1, RING_SIZE_MIN / 2, RING_SIZE_MIN + 4096,
		3 * RING_SIZE_MIN, 2 * (uint64_t)RING_SIZE_MAX, UINT64_MAX};
	struct ring r;
	int other;

	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++)
		ck_assert_int_eq(vftr_segment_create_ring(wrong[i], wrong[i], &other, &r), -EINVAL);
	make_ring();
	ck_assert_int_eq(vftr_segment_map_ring(fd, 2 * RING_SIZE_MIN, &r), -EPROTO);
	ck_assert_int_eq(vftr_segment_map_ring(fd, RING_SIZE_MIN / 2, &r), -EPROTO);
	ck_assert_int_eq(vftr_segment_map_control(fd, &agent_seen, &app_own), -EPROTO);
	ck_assert_int_eq(vftr_segment_map_ring(-1, RING_SIZE_MIN, &r), -EBADF);
}
END_TEST

START_TEST(wrong_control)
{
	make_control();
	agent->magic++;
	ck_assert_int_eq(vftr_segment_map_control(fd, &agent_seen, &app_own), -EPROTO);
	agent->magic--;
	agent->record_format++;
	ck_assert_int_eq(vftr_segment_map_control(fd, &agent_seen, &app_own), -EPROTO);
	agent->record_format--;
	ck_assert_int_eq(vftr_segment_map_control(fd, &agent_seen, &app_own), 0);
}
END_TEST

START_TEST(both_see_the_same)
{
	make_ring();
	app_ring.producer->head = 4711;
	app_ring.stage[0][0] = 1;
	app_ring.stage[1][BLOCK_WORDS - 1] = 2;
	app_ring.data[RING_SIZE_MIN / 8 - 1] = 3;
	agent_ring.consumer->tail = 4;
	ck_assert_uint_eq(agent_ring.producer->head, 4711);
	ck_assert_uint_eq(agent_ring.stage[0][0], 1);
	ck_assert_uint_eq(agent_ring.stage[1][BLOCK_WORDS - 1], 2);
	ck_assert_uint_eq(agent_ring.data[RING_SIZE_MIN / 8 - 1], 3);
	ck_assert_uint_eq(app_ring.consumer->tail, 4);
	/* the end of one staging block is not the start of the other */
	ck_assert_ptr_ne(app_ring.stage[0] + BLOCK_WORDS, app_ring.stage[1]);
	close(fd);
	make_control();
	agent->sleeping = 5;
	app_own->definitions = 6;
	ck_assert_uint_eq(agent_seen->sleeping, 5);
	ck_assert_uint_eq(app->definitions, 6);
}
END_TEST

START_TEST(unmapped_twice)
{
	make_ring();
	vftr_segment_unmap_ring(&app_ring);
	vftr_segment_unmap_ring(&app_ring);
	ck_assert_ptr_null(app_ring.base);
	vftr_segment_unmap_control(NULL);
}
END_TEST

/* Want of memory is an error here, not a SIGBUS later. */
START_TEST(no_memory)
{
	struct rlimit limit = {1 << 20, 1 << 20};
	struct ring r;
	int other;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_lt(vftr_segment_create_ring(16u << 20, 16u << 20, &other, &r), 0);
}
END_TEST

/* Each ends with SIGSEGV. */
START_TEST(app_writes_tail)
{
	make_ring();
	app_ring.consumer->tail = 1;
}
END_TEST

START_TEST(app_writes_control)
{
	make_control();
	agent_seen->orders = ORDER_LEAVE;
}
END_TEST

START_TEST(agent_writes_head)
{
	make_ring();
	agent_ring.producer->head = 1;
}
END_TEST

START_TEST(agent_writes_stage)
{
	make_ring();
	agent_ring.stage[0][1] = 1;
}
END_TEST

START_TEST(agent_writes_data)
{
	make_ring();
	agent_ring.data[0] = 1;
}
END_TEST

START_TEST(agent_writes_app_control)
{
	make_control();
	((struct control_app_shm *)app)->definitions = 1;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("segment");
	TCase *c = tcase_create("segment");
	const TTest *const tests[] = {size_is_sealed, wrong_sizes, wrong_control, both_see_the_same,
		unmapped_twice, no_memory};
	const TTest *const faults[] = {app_writes_tail, app_writes_control, agent_writes_head,
		agent_writes_stage, agent_writes_data, agent_writes_app_control};
	struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		tcase_add_test_raise_signal(c, faults[i], SIGSEGV);
	suite_add_tcase(s, c);
	return run_suite(s);
}
