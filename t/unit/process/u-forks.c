/* SPDX-License-Identifier: BSD-3-Clause */
/* A child begins in the functions in which it was forked, however late it calls something. */
#define FORKS_MAX   4096u
#define FORKS_BYTES ((size_t)4 << 20)
#include "nodeagent/process/forks.c"

#include <check.h>
#include <sys/socket.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/process/names.h"
#include "shm/ring.h"
#include "t/lib/suite.h"

#define FRAMES 100

static struct host a;
static struct process *p;
static uint64_t frames[STACK_FRAMES];
static size_t warnings; /* of the process itself */

static void say(int to, const void *fixed, size_t bytes, const char *text, size_t n)
{
	char packet[512];

	memcpy(packet, fixed, bytes);
	((struct wire_head *)(void *)packet)->text_bytes = (uint32_t)n;
	memcpy(packet + bytes, text, n);
	ck_assert_int_eq(send(to, packet, bytes + n, MSG_NOSIGNAL), (int)(bytes + n));
	ck_assert(process_receive(p));
}

/* A process with a thread that is in FRAMES functions. */
static void setup(void)
{
	static char host[] = "host", session[] = "u-forks";
	const struct wire_hello hello = {.head.kind = WIRE_HELLO, .version = WIRE_VERSION};
	const struct wire_thread thread = {.head.kind = WIRE_THREAD, .tid = 1};
	int pair[2];

	a = (struct host){.name = host, .session = session, .epoll = -1};
	a.conf = conf_default();
	a.counters = counters_new(a.conf);
	a.rings = ring_store_new(RING_SIZE_MIN, ring_store_memory);
	clocks_init(&a.clocks, "raw");
	a.symbols = symcache_new(&a);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	p = process_new(&a, pair[1], getpid());
	say(pair[0], &hello, sizeof(hello), "a\0b\0c", 6);
	say(pair[0], &thread, sizeof(thread), "t", 2);
	ck_assert_uint_eq(p->n_threads, 1);
	for (uint64_t i = 0; i < STACK_FRAMES; i++)
		frames[i] = i + 1;
	replay_inherit(p->threads[0]->replay, frames, FRAMES, host_ticks(&a));
	warnings = a.n_warnings;
}

static void fork_all(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++)
		forks_add(p, &(struct wire_fork){.number = i});
}

/* Frames in which the child of a fork begins. */
static size_t frames_of(uint32_t number)
{
	const struct process child = {
		.host = &a, .pid = 1, .parent_traced = p->pid, .parent_fork = number};
	const uint64_t *keys;
	const size_t n = forks_inherited(&child, &keys);

	if (n)
		ck_assert_mem_eq(keys, frames, n * sizeof(*keys));
	return n;
}

START_TEST(children_that_call_late_have_their_place)
{
	fork_all(1, FORKS_MAX - 1);
	for (uint32_t i = 1; i < FORKS_MAX; i++)
		ck_assert_uint_eq(frames_of(i), FRAMES);
	ck_assert_uint_eq(frames_of(FORKS_MAX), 0);
	ck_assert_uint_eq(a.n_warnings, warnings);
}
END_TEST

/* Those of many others, which have called, make room. */
START_TEST(who_hangs_back_keeps_it)
{
	fork_all(1, 1);
	for (uint32_t i = 2; i < 10 * FORKS_MAX; i++) {
		fork_all(i, i);
		ck_assert_uint_eq(frames_of(i), FRAMES);
	}
	ck_assert_uint_lt(p->forks->n_frames, FORKS_MAX + 1);
	ck_assert_uint_eq(frames_of(1), FRAMES);
	ck_assert_uint_eq(frames_of(1), FRAMES); /* its own child, which takes it, too */
}
END_TEST

START_TEST(who_comes_too_late_is_named)
{
	fork_all(1, 2 * FORKS_MAX);
	ck_assert_uint_lt(p->forks->n_frames, FORKS_MAX + 1);
	ck_assert_uint_eq(frames_of(2 * FORKS_MAX), FRAMES);
	ck_assert_uint_eq(a.n_warnings, warnings);
	ck_assert_uint_eq(frames_of(1), 0);
	ck_assert_uint_eq(a.n_warnings, warnings + 1);
}
END_TEST

START_TEST(different_frames_are_bounded_by_their_bytes)
{
	for (uint32_t i = 1; i < 2000; i++) {
		replay_inherit(p->threads[0]->replay, frames, 1, host_ticks(&a));
		fork_all(i, i);
		ck_assert_uint_le(
			p->forks->bytes, FORKS_BYTES + STACK_FRAMES * sizeof(frames[0]) + 64);
	}
	ck_assert_ptr_nonnull(find_frames(p->forks, 1999));
}
END_TEST

START_TEST(they_outlive_a_parent_that_is_let_go)
{
	fork_all(1, 530);
	pids_let_go(p);
	ck_assert_ptr_null(p->forks);
	for (uint32_t i = 1; i <= 530; i++)
		ck_assert_uint_eq(frames_of(i), FRAMES);
}
END_TEST

START_TEST(the_parent_is_known_until_it_is_let_go)
{
	const struct process child = {
		.host = &a, .pid = 1, .parent_traced = p->pid, .parent_fork = 2};
	const struct process alone = {.host = &a, .pid = 1};

	ck_assert_ptr_null(forks_parent(&child));
	fork_all(1, 2);
	ck_assert_ptr_eq(forks_parent(&child), p);
	ck_assert_ptr_null(forks_parent(&alone));
	pids_let_go(p);
	ck_assert_ptr_null(forks_parent(&child));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("forks");
	TCase *c = tcase_create("forks");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, children_that_call_late_have_their_place);
	tcase_add_test(c, who_hangs_back_keeps_it);
	tcase_add_test(c, who_comes_too_late_is_named);
	tcase_add_test(c, different_frames_are_bounded_by_their_bytes);
	tcase_add_test(c, they_outlive_a_parent_that_is_let_go);
	tcase_add_test(c, the_parent_is_known_until_it_is_let_go);
	suite_add_tcase(s, c);
	return run_suite(s);
}
