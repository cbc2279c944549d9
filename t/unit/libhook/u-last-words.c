/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for an agent that does not answer sleeps meanwhile. */
#include "libhook/agent/last-words.c"

#include <check.h>

#include "t/lib/suite.h"

#define WAIT_MS 600

struct process vftr_process = {.state = PROCESS_ON, .socket = -1};
struct own_pages vftr_own;
_Thread_local struct thread vftr_thread;

static bool is_to_end;

bool vftr_process_is_to_end(void)
{
	return is_to_end;
}

bool vftr_socket_is(int fd)
{
	return fd >= 0;
}

bool vftr_patience_over(void)
{
	return false;
}

void vftr_say_late(uint32_t ms)
{
}

bool vftr_thread_is_vfork_child(const struct thread *t)
{
	return false;
}

void vftr_thread_publish(struct thread *t)
{
}

void vftr_process_lock(void)
{
}

void vftr_process_unlock(void)
{
}

void vftr_process_switch_off(void)
{
}

int vftr_message_send(struct wire_head *head, size_t fixed, const struct wire_text *text)
{
	return 0;
}

int vftr_message_receive(void *buffer, size_t bytes, int *fd, size_t *got)
{
	return 0;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

START_TEST(waits_asleep)
{
	const uint64_t began = clock_raw_ns(), cpu = cpu_ns();
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	vftr_process.socket = pair[0];
	vftr_process.last_words_ms = WAIT_MS;
	vftr_last_words_wait();
	ck_assert_uint_ge(clock_raw_ns() - began, UINT64_C(1000000) * WAIT_MS);
	ck_assert_uint_lt(cpu_ns() - cpu, UINT64_C(1000000) * WAIT_MS / 20);
}
END_TEST

START_TEST(a_signal_ends_the_wait)
{
	const uint64_t began = clock_raw_ns();
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	vftr_process.socket = pair[0];
	is_to_end = true;
	ck_assert(!answer_comes());
	ck_assert_uint_lt(clock_raw_ns() - began, UINT64_C(1000000) * ABORT_MS / 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("last-words");
	TCase *t = tcase_create("last-words");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, waits_asleep);
	tcase_add_test(t, a_signal_ends_the_wait);
	suite_add_tcase(s, t);
	return run_suite(s);
}
