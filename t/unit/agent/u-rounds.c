/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile of one round: its processes have numbers of their own, in all lists. When rounds
 * begin, and what one leaves for the next.
 */
#include "nodeagent/agent/rounds.c"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "conf/conf.h"
#include "t/lib/suite.h"

#define FIRST  PROFILE_UNRANKED	      /* a process that ended in the round before */
#define SECOND (PROFILE_UNRANKED + 1) /* the only one of this round */

static struct profile *round_of_second(void)
{
	struct profile *p = profile_new();

	p->names = xcalloc(1, sizeof(char *));
	p->names[0] = xstrdup("init");
	p->n_names = 1;
	p->stacks = xcalloc(1, sizeof(*p->stacks));
	p->stacks[0] = (struct profile_stack){.hash = 1,
		.parent = PROFILE_NONE,
		.ranks = 1,
		.rank_min = SECOND,
		.rank_max = SECOND};
	p->n_stacks = 1;
	p->processes = xcalloc(1, sizeof(*p->processes));
	p->processes[0].rank = SECOND;
	p->n_processes = 1;
	p->agents = xcalloc(1, sizeof(*p->agents));
	p->agents[0].host = xstrdup("node1");
	p->n_agents = 1;
	p->ranks = 1;
	return p;
}

static void add_device(struct profile *p, uint32_t rank, uint32_t number)
{
	p->gpu_devices = xrealloc(p->gpu_devices, (p->n_gpu_devices + 1) * sizeof(*p->gpu_devices));
	p->gpu_devices[p->n_gpu_devices++] = (struct profile_gpu_device){
		.uuid = {1, number}, .rank = rank, .number = number, .processes = 1, .calls = 1};
}

static void settle(struct profile *p)
{
	settle_ranks(p);
	settle_rank_ranges(p);
}

/* What is written of it can be read again. */
static void check_file(const struct profile *p)
{
	unsigned char *buf;
	char *error = NULL;
	struct profile *q;
	size_t bytes;

	ck_assert_ptr_null(profile_valid(p));
	ck_assert_int_eq(vfp_encode(p, &buf, &bytes), 0);
	q = vfp_decode(buf, bytes, &error);
	ck_assert_msg(q, "%s", error);
	ck_assert_uint_eq(q->n_gpu_devices, p->n_gpu_devices);
	profile_free(q);
	free(buf);
}

START_TEST(users_of_gpus_have_the_numbers_of_the_round)
{
	struct profile *p = round_of_second();

	add_device(p, SECOND, 0);
	settle(p);
	ck_assert_uint_eq(p->stacks[0].rank_min, PROFILE_UNRANKED);
	ck_assert_uint_eq(p->gpu_devices[0].rank, PROFILE_UNRANKED);
	check_file(p);
	profile_free(p);
}
END_TEST

/* Messages with ranks of spawned jobs on other nodes, and with unknown ones, are not lost. */
START_TEST(ranks_elsewhere_stay_what_they_are)
{
	static const uint32_t peers[] = {PROFILE_FAR, PROFILE_FAR | 77, PROFILE_ELSEWHERE, 5};
	struct profile *p = round_of_second();

	for (size_t i = 0; i < ARRAY_SIZE(peers); i++)
		*(struct profile_pair *)profile_add(p, PROFILE_PAIRS) =
			(struct profile_pair){.from = SECOND, .to = peers[i], .sends = i + 1};
	settle(p);
	ck_assert_uint_eq(p->n_pairs, ARRAY_SIZE(peers));
	for (size_t i = 0; i < p->n_pairs; i++) {
		ck_assert_uint_eq(p->pairs[i].from, PROFILE_UNRANKED);
		ck_assert_uint_eq(p->pairs[i].to, peers[p->pairs[i].sends - 1]);
	}
	profile_free(p);
}
END_TEST

START_TEST(a_gpu_whose_first_user_has_ended_is_another_ones)
{
	struct profile *p = round_of_second();

	add_device(p, FIRST, 0);
	settle(p);
	ck_assert_uint_eq(p->n_gpu_devices, 1);
	ck_assert_uint_eq(p->gpu_devices[0].rank, PROFILE_UNRANKED);
	check_file(p);
	profile_free(p);
}
END_TEST

/* ---- when they begin ------------------------------------------------------------ */

START_TEST(times_belong_to_rounds)
{
	struct round_times t = {.round = 3, .began = {0, 100, 200, 200}};
	struct host host = {.rounds = &t};

	ck_assert_uint_eq(rounds_at(&host, 50), 1); /* before the first one nothing else was */
	ck_assert_uint_eq(rounds_at(&host, 199), 1);
	ck_assert_uint_eq(rounds_at(&host, 200), 3); /* nobody here was in the second one */
	ck_assert_uint_eq(rounds_at(&host, UINT64_MAX), 3);
	t.round = ROUNDS_MAX + 7;
	for (unsigned i = 4; i <= ROUNDS_MAX; i++)
		t.began[i] = 200 + i;
	ck_assert_uint_eq(rounds_at(&host, UINT64_MAX), ROUNDS_MAX);
	host.rounds = NULL;
	ck_assert(!rounds_begun(&host));
	ck_assert_uint_eq(rounds_at(&host, 7), 0);
}
END_TEST

static struct agent made(void)
{
	struct agent a = {.host = {.conf = conf_default(), .epoll = -1, .listener = -1}};

	a.host.signals = -1;
	a.host.clocks.source = CLOCK_SOURCE_RAW;
	return a;
}

static void unmake(struct agent *a)
{
	host_warnings_free(&a->host);
	conf_free(a->host.conf);
	free(a->rounds);
}

/* Two agents: the rounds of one are not those of the other. */
START_TEST(a_round_begins_once_and_leaves_a_file)
{
	struct agent a = made(), b = made();
	uint64_t first, last;
	int left;

	rounds_begin(&a, 0); /* the answer of somebody who has not started */
	ck_assert(!rounds_begun(&a.host));
	rounds_begin(&a, 1);
	ck_assert(rounds_begun(&a.host));
	ck_assert(!rounds_begun(&b.host));
	first = a.rounds->times.began[1];
	rounds_begin(&a, 1); /* its second process */
	ck_assert_uint_eq(a.rounds->times.began[1], first);
	ck_assert_int_eq(a.rounds->before, -1);
	ck_assert_uint_eq(a.n_copies, 0);
	rounds_begin(&a, 3);
	snapshot_end(&a);
	left = a.rounds->before;
	ck_assert_int_ge(left, 0);
	last = a.rounds->times.began[3];
	ck_assert_uint_gt(last, first);
	ck_assert_uint_eq(a.rounds->times.began[2], last);
	ck_assert_uint_eq(rounds_at(&a.host, last - 1), 1);
	ck_assert_uint_eq(rounds_at(&a.host, last), 3);
	rounds_begin(&a, 2); /* too late */
	ck_assert_uint_eq(a.rounds->times.round, 3);
	ck_assert_int_eq(rounds_end(&b), 0);
	close(left);
	unmake(&a);
	unmake(&b);
}
END_TEST

/* It has not ended within a tenth of a second. */
static bool waits(pid_t child)
{
	struct pollfd f = {(int)syscall(SYS_pidfd_open, child, 0), POLLIN, 0};
	const int ended = poll(&f, 1, 100);

	close(f.fd);
	return !ended;
}

static pid_t somebody_who_writes_for_ever(void)
{
	const pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	return child;
}

/* A disk that hangs: the copies wait, and the agent does not. */
START_TEST(a_round_waits_for_the_one_before)
{
	struct agent a = made();
	const pid_t hangs = somebody_who_writes_for_ever();

	rounds_begin(&a, 1);
	a.copies[a.n_copies++] = hangs;
	rounds_begin(&a, 2);
	rounds_begin(&a, 3);
	ck_assert_uint_eq(a.n_copies, 3);
	ck_assert(waits(a.copies[1]) && waits(a.copies[2]));
	kill(hangs, SIGKILL);
	snapshot_end(&a);
	ck_assert_uint_eq(a.n_copies, 0);
	unmake(&a);
}
END_TEST

START_TEST(the_end_does_not_wait_for_ever)
{
	struct agent a = made();
	const pid_t hangs = somebody_who_writes_for_ever();
	const size_t warnings = a.host.n_warnings;
	int status;

	a.host.conf->agent_deadline_s = 0.2;
	rounds_begin(&a, 1);
	a.copies[a.n_copies++] = hangs;
	rounds_begin(&a, 2);
	snapshot_end(&a);
	ck_assert_uint_eq(a.host.n_warnings, warnings + 1);
	ck_assert_int_eq(waitpid(hangs, &status, 0), hangs);
	ck_assert(WIFSIGNALED(status));
	unmake(&a);
}
END_TEST

START_TEST(too_many_are_not_begun)
{
	struct agent a = made();
	pid_t hang[COPIES_MOST];
	int left;

	rounds_begin(&a, 1);
	rounds_begin(&a, 2);
	left = a.rounds->before;
	snapshot_end(&a);
	for (int i = 0; i < COPIES_MOST; i++)
		a.copies[a.n_copies++] = hang[i] = somebody_who_writes_for_ever();
	rounds_begin(&a, 3);
	ck_assert_uint_eq(a.n_copies, COPIES_MOST);
	ck_assert_int_eq(a.rounds->before, left);
	ck_assert_uint_eq(a.host.n_warnings, 1);
	for (int i = 0; i < COPIES_MOST; i++)
		kill(hang[i], SIGKILL);
	snapshot_end(&a);
	unmake(&a);
}
END_TEST

START_TEST(after_the_most_rounds_there_are_no_more_files)
{
	struct agent a = made();

	rounds_begin(&a, ROUNDS_MAX);
	ck_assert_uint_eq(a.host.n_warnings, 1);
	rounds_begin(&a, ROUNDS_MAX + 1);
	ck_assert_uint_eq(a.n_copies, 0);
	ck_assert_int_eq(a.rounds->before, -1);
	ck_assert_uint_eq(rounds_at(&a.host, UINT64_MAX), ROUNDS_MAX);
	unmake(&a);
}
END_TEST

/* ---- what one leaves for the next ------------------------------------------------ */

static const struct profile *decoded(const struct earlier *e)
{
	char *error = NULL;
	struct profile *p = vfp_decode((const unsigned char *)(e + 1), e->bytes, &error);

	ck_assert_msg(p, "%s", error);
	return p;
}

START_TEST(what_is_left_is_found)
{
	struct rounds r = {.before = -1, .after = memfd_create("u-rounds", MFD_CLOEXEC)};
	const struct process running = {.pid = 7, .start_ticks = 70, .end = PROCESS_RUNNING},
			     ended = {.pid = 7, .start_ticks = 71, .end = PROCESS_EXITED};
	struct profile *p = round_of_second();
	const struct earlier *e;
	const struct profile *q;
	const char *at;
	size_t bytes, found = 0;

	settle(p);
	p->records = 11;
	leave_profile(&r, &running, p);
	p->records = 22;
	leave_profile(&r, &ended, p);
	p->records = 33;
	leave_profile(&r, NULL, p);
	at = map_file(r.after, &bytes);
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(bytes % 8, 0);
	e = find_earlier(at, bytes, 7, 70);
	ck_assert(e && !e->ended);
	q = decoded(e);
	ck_assert_uint_eq(q->records, 11);
	profile_free((struct profile *)q);
	e = find_earlier(at, bytes, 7, 71);
	ck_assert(e && e->ended);
	e = find_earlier(at, bytes, 0, 0);
	q = decoded(e);
	ck_assert_uint_eq(q->records, 33);
	profile_free((struct profile *)q);
	ck_assert_ptr_null(find_earlier(at, bytes, 8, 70));
	ck_assert_ptr_null(find_earlier(at, bytes, 7, 72)); /* the pid is another one's now */
	/* of a file that is not whole, only what is */
	for (size_t cut = 0; cut < bytes; cut++)
		found += find_earlier(at, cut, 0, 0) != NULL;
	ck_assert_uint_lt(found, 8);
	munmap((void *)at, bytes);
	close(r.after);
	profile_free(p);
}
END_TEST

START_TEST(nothing_was_left)
{
	struct rounds r = {.before = -1, .after = -1};
	struct profile *p = round_of_second();
	size_t bytes;

	leave_profile(&r, NULL, p);
	ck_assert_ptr_null(map_file(-1, &bytes));
	ck_assert_uint_eq(bytes, 0);
	ck_assert_ptr_null(find_earlier(NULL, 0, 0, 0));
	r.after = open("/dev/full", O_WRONLY | O_CLOEXEC); /* and then no more is tried */
	leave_profile(&r, NULL, p);
	ck_assert_int_eq(r.after, -1);
	profile_free(p);
}
END_TEST

/* ---- threads ------------------------------------------------------------------- */

/* Threads of processes that are not in the round go, and those below them. */
START_TEST(threads_of_others_go)
{
	static const struct profile_openmp_thread threads[] = {
		{.rank = FIRST, .parent = PROFILE_NONE, .number = 0},
		{.rank = SECOND, .parent = PROFILE_NONE, .number = 1},
		{.rank = FIRST, .parent = 0, .number = 2},
		{.rank = SECOND, .parent = 1, .number = 3},
		{.rank = SECOND, .parent = 3, .number = 4},
	};
	struct profile *p = round_of_second();

	p->openmp_threads = xcalloc(1, sizeof(threads));
	memcpy(p->openmp_threads, threads, sizeof(threads));
	p->n_openmp_threads = ARRAY_SIZE(threads);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		p->openmp_threads[i].threads = xstrdup("1");
	settle(p);
	ck_assert_uint_eq(p->n_openmp_threads, 3);
	ck_assert_uint_eq(p->openmp_threads[0].number, 1);
	ck_assert_uint_eq(p->openmp_threads[0].rank, PROFILE_UNRANKED);
	ck_assert_uint_eq(p->openmp_threads[0].parent, PROFILE_NONE);
	ck_assert_uint_eq(p->openmp_threads[1].parent, 0);
	ck_assert_uint_eq(p->openmp_threads[2].parent, 1);
	check_file(p);
	profile_free(p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rounds");
	TCase *c = tcase_create("numbers");

	tcase_add_test(c, users_of_gpus_have_the_numbers_of_the_round);
	tcase_add_test(c, ranks_elsewhere_stay_what_they_are);
	tcase_add_test(c, a_gpu_whose_first_user_has_ended_is_another_ones);
	tcase_add_test(c, threads_of_others_go);
	tcase_add_test(c, times_belong_to_rounds);
	tcase_add_test(c, a_round_begins_once_and_leaves_a_file);
	tcase_add_test(c, a_round_waits_for_the_one_before);
	tcase_add_test(c, the_end_does_not_wait_for_ever);
	tcase_add_test(c, too_many_are_not_begun);
	tcase_add_test(c, after_the_most_rounds_there_are_no_more_files);
	tcase_add_test(c, what_is_left_is_found);
	tcase_add_test(c, nothing_was_left);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
