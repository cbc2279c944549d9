/* SPDX-License-Identifier: BSD-3-Clause */
/* Stack samples of a child process, and the frames of its stack. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/stack/events.h"
#include "nodeagent/stack/unwind.h"
#include "shm/clock.h"
#include "t/lib/suite.h"

#define PERIOD_NS 1000000u
#define APART	  __attribute__((noinline, noclone))

static volatile unsigned long sum;
static pid_t child;
static struct unwinder *unwinder;
static unsigned seen, whole_ones, right_ones;
static uint64_t last_ns;

APART static void spin(void)
{
	for (unsigned i = 0; i < 1000000; i++)
		sum = sum + i;
	sum = sum + 1;
}

/* With more on the stack than a sample has, if `large'. */
APART static void call_spin(bool large)
{
	char more[1 + 16384 * large];

	memset(more, 1, sizeof(more));
	for (;;) {
		spin();
		sum = sum + (unsigned char)more[sum % sizeof(more)];
	}
}

static void begin_child(bool large)
{
	int ready[2];
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		alarm(120); /* whatever becomes of the test */
		ck_assert_int_eq(write(ready[1], "", 1), 1);
		call_spin(large);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	unwinder = unwinder_new(child);
	ck_assert_ptr_nonnull(unwinder);
	seen = whole_ones = right_ones = 0;
	last_ns = 0;
}

static void end_child(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unwinder_free(unwinder);
}

static void look(void *ctx, const struct stack_raw *s)
{
	uint64_t pcs[UNWIND_FRAMES_MAX];
	bool whole;
	const size_t n = unwinder_frames(unwinder, s, pcs, &whole);

	seen++;
	ck_assert_uint_ge(n, 1);
	ck_assert_uint_eq(s->period_ns, PERIOD_NS);
	ck_assert_uint_gt(s->raw_ns, last_ns);
	ck_assert_uint_le(s->raw_ns, clock_raw_ns());
	last_ns = s->raw_ns;
	ck_assert(unwinder_knows(unwinder, stack_raw_pc(s)));
	whole_ones += whole;
	right_ones += n > 2 && unwinder_function(unwinder, pcs[0]) == (uintptr_t)spin &&
		      unwinder_function(unwinder, pcs[1]) == (uintptr_t)call_spin;
}

/* A number of samples, from an event of the child, or of a refusal that has a reason. */
static bool take_samples(unsigned most)
{
	int error = 0;
	struct stack_events *e = stack_events_open(child, PERIOD_NS, STACK_USUAL, &error);

	if (!e) {
		char *why = stack_events_why(error);

		ck_assert_ptr_nonnull(why);
		ck_assert_int_eq(stack_events_refused(), error);
		printf("# not looked at, as the kernel refuses: %s\n", why);
		free(why);
		return false;
	}
	while (seen < most) {
		usleep(2000);
		ck_assert(stack_events_read(e, 3, look, NULL));
	}
	stack_events_close(e);
	return true;
}

START_TEST(a_stack_has_all_its_functions)
{
	struct unwind_module m;

	begin_child(false);
	if (take_samples(50)) {
		/* a sample may be at the first instructions of a function, too */
		ck_assert_uint_ge(right_ones, seen - seen / 5);
		ck_assert_uint_eq(whole_ones, seen);
		ck_assert(unwinder_module(unwinder, (uintptr_t)spin, &m));
		ck_assert_uint_ge((uintptr_t)spin, m.low);
		ck_assert_uint_lt((uintptr_t)spin, m.high);
		ck_assert_ptr_nonnull(strstr(m.path, "u-unwind"));
	}
	end_child();
}
END_TEST

START_TEST(a_larger_stack_is_not_whole)
{
	begin_child(true);
	if (take_samples(20))
		ck_assert_uint_eq(whole_ones, 0);
	end_child();
}
END_TEST

START_TEST(what_is_no_code_has_no_function)
{
	struct unwind_module m;

	begin_child(false);
	ck_assert(!unwinder_knows(unwinder, 8));
	ck_assert_uint_eq(unwinder_function(unwinder, 8), 0);
	ck_assert(!unwinder_module(unwinder, 8, &m));
	unwinder_refresh(unwinder);
	ck_assert(unwinder_knows(unwinder, (uintptr_t)spin));
	end_child();
	unwinder = unwinder_new(child); /* it is gone */
	ck_assert_ptr_null(unwinder);
}
END_TEST

static unsigned descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

START_TEST(files_of_a_process_take_no_descriptors)
{
	struct unwind_module m;
	unsigned before;

	begin_child(false);
	unwinder_free(unwinder);
	before = descriptors();
	unwinder = unwinder_new(child);
	ck_assert(unwinder_module(unwinder, (uintptr_t)spin, &m));
	ck_assert(unwinder_module(unwinder, (uintptr_t)memcpy, &m));
	ck_assert_uint_eq(unwinder_function(unwinder, (uintptr_t)spin + 1), (uintptr_t)spin);
	ck_assert_uint_eq(descriptors(), before);
	end_child();
}
END_TEST

START_TEST(threads_that_are_not_there)
{
	int error = 0;

	if (stack_events_refused())
		return;
	ck_assert_ptr_null(stack_events_open(0x7ffffff0, PERIOD_NS, STACK_USUAL, &error));
	ck_assert_int_eq(error, ESRCH);
	ck_assert_ptr_null(stack_events_why(ESRCH));
	ck_assert_ptr_null(stack_events_why(ENOMEM));
}
END_TEST

/* As a snapshot does, in which other memory may be where the agent has its ring. */
START_TEST(a_copy_of_the_agent_closes_none_of_its_own_memory)
{
	const size_t bytes = stack_events_bytes(STACK_USUAL);
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
	struct stack_events *e;
	int error = 0, status;
	pid_t copy;

	if (stack_events_refused())
		return;
	ck_assert_ptr_ne(place, MAP_FAILED);
	munmap(place, bytes);
	e = stack_events_open(getpid(), 1000000000, STACK_USUAL, &error);
	ck_assert_ptr_nonnull(e);
	ck_assert_ptr_eq(mmap(place, bytes, PROT_READ, flags | MAP_FIXED_NOREPLACE, -1, 0),
		MAP_FAILED); /* the ring is there */
	copy = fork();
	if (!copy) {
		char *own = mmap(
			place, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);

		if (own != place)
			_exit(2);
		*own = 3;
		stack_events_close(e);
		_exit(*own);
	}
	ck_assert_int_eq(waitpid(copy, &status, 0), copy);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 3);
	stack_events_close(e);
	ck_assert_ptr_eq(mmap(place, bytes, PROT_READ, flags | MAP_FIXED_NOREPLACE, -1, 0), place);
	munmap(place, bytes);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {a_stack_has_all_its_functions, a_larger_stack_is_not_whole,
		what_is_no_code_has_no_function, threads_that_are_not_there,
		files_of_a_process_take_no_descriptors,
		a_copy_of_the_agent_closes_none_of_its_own_memory};
	Suite *s = suite_create("unwind");
	TCase *c = tcase_create("unwind");

	tcase_set_timeout(c, 100);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
