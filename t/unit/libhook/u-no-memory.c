/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the program for which the system has no memory: they fail, return, and keep errno. The
 * agent, which answers at once, is played here.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static size_t most_bytes = SIZE_MAX; /* that can be had at once */

static void *malloc_within(size_t bytes)
{
	if (bytes <= most_bytes)
		return malloc(bytes);
	errno = ENOMEM;
	return NULL;
}

static void *mmap_within(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (bytes <= most_bytes)
		return mmap(at, bytes, protection, flags, fd, offset);
	errno = ENOMEM;
	return MAP_FAILED;
}

#define malloc malloc_within
#define mmap   mmap_within
#include "libhook/api/calls.c"
#include "libhook/session/ask.c"
#include "libhook/session/communicator.c"
#include "libhook/session/session.c"
#undef malloc
#undef mmap

#include <check.h>

#include "t/lib/suite.h"

struct process vftr_process = {.state = PROCESS_ON};
__thread struct thread vftr_thread;
struct own_pages vftr_own = {.here = 1};

static uint32_t size = 2; /* of the next communicator */

int vftr_message_send_data(struct wire_head *head, size_t fixed, const void *data, size_t bytes)
{
	(void)head, (void)fixed, (void)data, (void)bytes;
	return 0;
}

int vftr_message_send(struct wire_head *head, size_t fixed, const struct wire_text *text)
{
	(void)head, (void)fixed, (void)text;
	return -EBADF;
}

int vftr_message_receive(void *buffer, size_t bytes, int *fd, size_t *got)
{
	struct wire_session_answer *answer = buffer;

	ck_assert_uint_ge(bytes, sizeof(*answer) + 1);
	*answer = (struct wire_session_answer){.head.kind = WIRE_SESSION_ANSWER,
		.epoch = 1,
		.comm = {SESSION_COMM_FIRST, 0, size},
		.self = {SESSION_COMM_FIRST + 1, 0, 1}};
	*fd = -1;
	*got = sizeof(*answer);
	return 0;
}

void vftr_process_lock(void)
{
}

void vftr_process_unlock(void)
{
}

void vftr_agent_failed(int error)
{
}

void vftr_thread_publish(struct thread *t)
{
	(void)t;
}

void vftr_slow(uint64_t ticks, uint64_t exit_bit, uint64_t key, const void *site)
{
	(void)ticks, (void)exit_bit, (void)key, (void)site;
}

void vftr_find_agent_of(const char *contact)
{
	(void)contact;
}

const char *vftr_error_text(int error)
{
	return strerror(error);
}

bool vftr_agent_alive(void)
{
	return true;
}

bool vftr_thread_is_vfork_child(const struct thread *t)
{
	(void)t;
	return false;
}

/* The thread has had no error before: what the sentence needs is made now. */
START_TEST(start_of_a_large_session)
{
	int ranks;

	ck_assert_int_eq(vftrace_join(-1, "large", NULL), VFTRACE_OK);
	most_bytes = 1 << 16;
	size = SESSION_MEMBERS_MAX;
	ck_assert_int_eq(vftrace_start(1), VFTRACE_ERROR_LIMIT);
	ck_assert_str_eq(vftrace_last_error(), "no memory for a communicator");
	ck_assert_int_eq(vftrace_comm_size(VFTRACE_COMM_WORLD, &ranks), VFTRACE_ERROR_ARGUMENT);
}
END_TEST

START_TEST(large_communicator)
{
	int new_comm, one[] = {0}, ranks;

	ck_assert_int_eq(vftrace_join(-1, "large", NULL), VFTRACE_OK);
	ck_assert_int_eq(vftrace_start(1), VFTRACE_OK);
	most_bytes = 1 << 16;
	size = SESSION_MEMBERS_MAX;
	ck_assert_int_eq(
		vftrace_comm_create(VFTRACE_COMM_WORLD, 1, one, 1, &new_comm), VFTRACE_ERROR_LIMIT);
	ck_assert_int_eq(new_comm, VFTRACE_COMM_INVALID);
	ck_assert_str_eq(vftrace_last_error(), "no memory for a communicator");
	size = 1;
	ck_assert_int_eq(vftrace_comm_create(VFTRACE_COMM_WORLD, 1, one, 1, &new_comm), VFTRACE_OK);
	ck_assert_int_eq(vftrace_comm_size(new_comm, &ranks), VFTRACE_OK);
	ck_assert_int_eq(ranks, 1);
}
END_TEST

START_TEST(call_path)
{
	errno = EDOM;
	most_bytes = 0;
	ck_assert_ptr_null(vftrace_get_stack());
	ck_assert_int_eq(vftrace_get_stack_string_length(), 0);
	ck_assert_int_eq(errno, EDOM);
	most_bytes = SIZE_MAX;
	ck_assert_int_eq(vftrace_get_stack_string_length(), strlen("init"));
	ck_assert_int_eq(errno, EDOM);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("no-memory");
	TCase *t = tcase_create("no-memory");

	tcase_set_timeout(t, 1);
	tcase_add_test(t, start_of_a_large_session);
	tcase_add_test(t, large_communicator);
	tcase_add_test(t, call_path);
	suite_add_tcase(s, t);
	return run_suite(s);
}
