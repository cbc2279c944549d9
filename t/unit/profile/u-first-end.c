/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank ended badly first: within the errors of the clocks, and no further. */
#include "nodeagent/profile/first-end.h"

#include <check.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/process-tree.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"
#include "t/unit/profile/random-profile.h"
#include "t/lib/suite.h"

#define MS INT64_C(1000000)

static struct profile *p;

/* Four nodes a to d with two ranks each; the job began at 1 s. */
static void begin(void)
{
	p = profile_new();
	p->world_size = p->ranks = 8;
	p->begin_known = true;
	p->begin_ns = 1000 * MS;
	for (uint32_t i = 0; i < 4; i++) {
		char host[] = {(char)('a' + i), '\0'};

		ADD_ELEMENT(p, agents)->host = xstrdup(host);
		*ADD_ELEMENT(p, rank_ranges) =
			(struct profile_rank_range){2 * i, 2 * i + 1, xstrdup(host)};
	}
}

static void end(void)
{
	profile_free(p);
}

/* In the order of ranks; status < 0: a signal. */
static void ended(uint32_t rank, int status, int64_t ms, uint64_t error_ms)
{
	*ADD_ELEMENT(p, ends) = (struct profile_bad_end){.rank = rank,
		.pid = 100 + (int32_t)rank,
		.end = status < 0 ? PROCESS_KILLED : PROCESS_EXITED,
		.exit_status = abs(status),
		.since_ns = (uint64_t)(ms * MS / 2),
		.end_ns = (1000 + ms) * MS,
		.error_ns = error_ms == UINT64_MAX ? error_ms : error_ms * (uint64_t)MS};
}

static void says(const char *wanted)
{
	char *text = first_end_sentence(p);

	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(text, wanted);
	free(text);
}

START_TEST(nothing)
{
	ck_assert_ptr_null(first_end_sentence(p));
	ck_assert_ptr_null(first_end(p));
	ended(3, -9, 10, 0); /* the logs name it anyhow */
	ck_assert_ptr_null(first_end_sentence(p));
	ck_assert_ptr_eq(first_end(p), &p->ends[0]);
}
END_TEST

START_TEST(one)
{
	ended(3, 5, 2300, 1);
	says("Rank 3 on b exited with status 5 at t=2.30 s");
}
END_TEST

START_TEST(victims)
{
	for (uint32_t rank = 0; rank < 8; rank++)
		ended(rank, rank == 5 ? 5 : -15, rank == 5 ? 2300 : 2310 + rank, 1);
	says("Rank 5 on c exited with status 5 at t=2.30 s; ranks 0-4,6-7 were then ended by "
	     "signal 15 (Terminated)");
	ck_assert_uint_eq(first_end(p)->rank, 5);
}
END_TEST

START_TEST(several_of_one_fate)
{
	ended(0, -15, 2400, 1);
	ended(1, 1, 2308, 1);
	ended(2, 1, 2300, 1);
	ended(3, 1, 2309, 1);
	says("Ranks 1-3 exited with status 1, first rank 2 on b at t=2.30 s; rank 0 was then "
	     "ended by signal 15 (Terminated)");
}
END_TEST

/* On one node the order is what its agent has seen. */
START_TEST(one_node_needs_no_clock)
{
	ended(4, -9, 2301, UINT64_MAX);
	ended(5, -11, 2300, UINT64_MAX);
	says("Rank 5 on c was ended by signal 11 (Segmentation fault) at t=1.15 s; rank 4 was "
	     "then ended by signal 9 (Killed)");
}
END_TEST

/* 2300 + 3 and 2306 - 3: it may be either. With 2 it may not. */
START_TEST(within_the_error)
{
	ended(0, -15, 2306, 3);
	ended(1, -15, 2320, 3);
	ended(2, 7, 2300, 3);
	says("One of these ended badly first: rank 2 on b (it exited with status 7 at t=2.300 s), "
	     "rank 0 on a (it was ended by signal 15 (Terminated) at t=2.306 s); these times are "
	     "known to 3.0 ms; ranks 0-1 were ended by signal 15 (Terminated); rank 2 exited with "
	     "status 7");
	ck_assert_ptr_null(first_end(p));
	for (size_t i = 0; i < p->n_ends; i++)
		p->ends[i].error_ns = 2 * MS;
	says("Rank 2 on b exited with status 7 at t=2.30 s; ranks 0-1 were then ended by signal "
	     "15 (Terminated)");
}
END_TEST

/* A node whose clock is not known may always have been first; others not for that. */
START_TEST(clock_not_known)
{
	ended(0, -15, 2306, 1);
	ended(2, 7, 2300, 1);
	ended(4, 3, 9999, UINT64_MAX);
	says("One of these ended badly first: rank 2 on b (it exited with status 7 at t=2.300 s), "
	     "rank 4 on c (it exited with status 3 at t=5.000 s); their nodes have not compared "
	     "their clocks; rank 0 was ended by signal 15 (Terminated); rank 2 exited with status "
	     "7; rank 4 exited with status 3");
}
END_TEST

/* 100000 ranks that end at once: as long as for a few. */
START_TEST(many)
{
	char *text;

	for (uint32_t i = 0; i < 100000; i++)
		ended(i, i % 2 ? 1 : -15, 10, UINT64_MAX);
	p->world_size = p->ranks = 100000;
	for (uint32_t i = 4; i < 1000; i++)
		*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){
			100 * i, 100 * i + 99, xasprintf("n%" PRIu32, i)};
	text = first_end_sentence(p);
	ck_assert_uint_lt(strlen(text), 1000);
	ck_assert_ptr_nonnull(strstr(text, ", or others; "));
	ck_assert_ptr_nonnull(strstr(text, "36,38,..."));
	free(text);
}
END_TEST

/* A process that began at 0 and lasted so long, in processes[] and, if killed, in dead[]. */
static struct profile_process *process(
	int pid, int parent, enum process_end how, int status, double s)
{
	struct profile_process q = {.rank = PROFILE_UNRANKED + (uint32_t)p->n_processes,
		.pid = pid,
		.parent_pid = parent,
		.end = how,
		.exit_status = status,
		.started_s = 0.001 * pid,
		.runtime_s = s};

	if (how == PROCESS_KILLED)
		*ADD_ELEMENT(p, dead) = q;
	return memcpy(ADD_ELEMENT(p, processes), &q, sizeof(q));
}

static void deaths(size_t wanted)
{
	size_t n;

	process_tree_mark_outlived(p);
	ck_assert_int_eq(first_death(p, &n) != NULL, wanted > 0);
	ck_assert_uint_eq(n, wanted);
}

/* What a pool does with its workers when it is not needed any more. */
START_TEST(workers_let_go)
{
	p->world_size = 0;
	process(1, 0, PROCESS_EXECED, -1, 0.5); /* a shell that has become this program */
	process(1, 0, PROCESS_EXITED, 0, 2.0);
	process(2, 1, PROCESS_KILLED, SIGTERM, 1.0);
	process(3, 2, PROCESS_KILLED, SIGTERM, 1.0); /* started by a worker */
	deaths(0);
	ck_assert(p->dead[0].outlived && p->dead[1].outlived);
	process(4, 1, PROCESS_KILLED, SIGSEGV, 1.0); /* nobody wants that */
	deaths(1);
	ck_assert(p->dead[2].outlived);
	process(5, 1, PROCESS_KILLED, SIGKILL, 1.0); /* may be for want of memory */
	deaths(2);
	p->world_size = 8; /* beside ranks of MPI the same */
	deaths(2);
	p->dead[0].rank = p->processes[2].rank = 3;
	deaths(3);
}
END_TEST

START_TEST(workers_of_who_failed)
{
	struct profile_process *first;

	p->world_size = 0;
	process(1, 0, PROCESS_EXITED, 1, 2.0);
	process(2, 1, PROCESS_KILLED, SIGTERM, 1.0);
	deaths(1);
	first = &p->processes[0];
	first->exit_status = 0;
	deaths(0);
	first->runtime_s = 0.5; /* it did not live to see that */
	deaths(1);
	first->end = PROCESS_RUNNING;
	deaths(0);
	p->processes[1].parent_pid = 77; /* a shell that is not traced: who knows */
	deaths(1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("first-end");
	TCase *c = tcase_create("first-end");

	tcase_add_checked_fixture(c, begin, end);
	tcase_add_test(c, nothing);
	tcase_add_test(c, one);
	tcase_add_test(c, victims);
	tcase_add_test(c, several_of_one_fate);
	tcase_add_test(c, one_node_needs_no_clock);
	tcase_add_test(c, within_the_error);
	tcase_add_test(c, clock_not_known);
	tcase_add_test(c, many);
	tcase_add_test(c, workers_let_go);
	tcase_add_test(c, workers_of_who_failed);
	suite_add_tcase(s, c);
	return run_suite(s);
}
