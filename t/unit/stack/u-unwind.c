/* SPDX-License-Identifier: BSD-3-Clause */
/* Stack samples of a child process, and the frames of its stack. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/process/procfs.h"
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

/* The rules that are kept give what libdw gives. */
static void same_by_libdw(const struct stack_raw *s, const uint64_t *pcs, size_t n, bool whole)
{
	uint64_t others[UNWIND_FRAMES_MAX];
	bool other_whole;
	const size_t m = unwinder_frames_by_libdw(unwinder, s, others, &other_whole);

	ck_assert_uint_eq(n, m);
	ck_assert_mem_eq(pcs, others, n * sizeof(*pcs));
	ck_assert_int_eq(whole, other_whole);
}

static void look(void *ctx, const struct stack_raw *s)
{
	uint64_t pcs[UNWIND_FRAMES_MAX];
	bool whole;
	const size_t n = unwinder_frames(unwinder, s, pcs, &whole);

	same_by_libdw(s, pcs, n, whole);
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

/* ---- programs of others ---------------------------------------------------- */

static double rules_s, libdw_s;
static unsigned deepest;

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Callers may be in files that came after the last look: in the C library, where a program has only
 * just begun. */
static void learn_files(const struct stack_raw *s)
{
	uint64_t pcs[UNWIND_FRAMES_MAX];
	bool whole;
	const size_t n = unwinder_frames(unwinder, s, pcs, &whole);

	if (whole || !n || unwinder_knows(unwinder, pcs[n - 1]))
		return;
	unwinder_refresh(unwinder);
	unwinder_frames(unwinder, s, pcs, &whole); /* the rules were forgotten */
}

static void compare(void *ctx, const struct stack_raw *s)
{
	uint64_t pcs[UNWIND_FRAMES_MAX], others[UNWIND_FRAMES_MAX];
	bool whole, other_whole;
	size_t n, m;
	double from;

	learn_files(s);
	if (seen == 200) /* by then most rules are known */
		rules_s = libdw_s = 0;
	from = cpu_s();
	n = unwinder_frames(unwinder, s, pcs, &whole);
	rules_s += cpu_s() - from;
	from = cpu_s();
	m = unwinder_frames_by_libdw(unwinder, s, others, &other_whole);
	libdw_s += cpu_s() - from;
	ck_assert_uint_eq(n, m);
	ck_assert_mem_eq(pcs, others, n * sizeof(*pcs));
	ck_assert_int_eq(whole, other_whole);
	deepest = n > deepest ? (unsigned)n : deepest;
	seen++;
}

/* They end when they are killed; one that is not installed has no samples. */
static char *const programs[][8] = {
	{"awk", "BEGIN { for (;;) s = length(s) substr(s, 1, 10) sprintf(\"%d %g\", 1, 2.5) }"},
	{"python3", "-c",
		"import json\n"
		"while True: json.loads(json.dumps([{str(i): [i] * 9} for i in range(50)]))"},
	{"gzip", "-9", "-c", "/dev/urandom"},
	{"sort", "-u", "/dev/urandom"},
	{"gdb", "-q", "-nx", "-batch", "-ex", "python while True: gdb.parse_and_eval(\"1 + 1\")"},
};

static void run_program(char *const *words)
{
	const int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	alarm(100);
	execvp(words[0], words);
	_exit(127);
}

/* True when the child runs another program, false when it has ended. */
static bool has_begun(void)
{
	const uint64_t ours = procfs_program(getpid());

	while (procfs_program(child) == ours)
		if (waitpid(child, NULL, WNOHANG))
			return false;
	return true;
}

/* False: the kernel's mark of the beginning came when the event was there already. */
static bool compare_some(void)
{
	int error = 0;
	struct stack_events *e;
	bool same = true;

	unwinder = unwinder_new(child);
	e = unwinder ? stack_events_open(child, PERIOD_NS, STACK_USUAL, &error) : NULL;
	if (!e)
		same = stack_events_refused() != 0; /* or it has only just begun */
	while (e && same && seen < 400 && !waitpid(child, NULL, WNOHANG)) {
		same = stack_events_read(e, 10, compare, NULL);
		usleep(2000);
	}
	stack_events_close(e);
	unwinder_free(unwinder);
	if (!same)
		seen = 0;
	return same;
}

START_TEST(rules_that_are_kept_are_those_of_libdw)
{
	unsigned timed;

	rules_s = libdw_s = 0;
	deepest = seen = 0;
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child)
		run_program(programs[_i]);
	while (has_begun() && !compare_some())
		;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	timed = seen > 200 ? seen - 200 : 1;
	printf("# %s: %u samples, %u frames at most; %.1f us each, by libdw alone %.1f\n",
		programs[_i][0], seen, deepest, 1e6 * rules_s / timed, 1e6 * libdw_s / timed);
	if (seen > 300) /* by far, so that a busy machine makes no difference */
		ck_assert_double_lt(rules_s, libdw_s);
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
	tcase_add_loop_test(
		c, rules_that_are_kept_are_those_of_libdw, 0, (int)ARRAY_SIZE(programs));
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
