/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are let go, however many: their paths and functions are summed on the way. */
#include <check.h>
#include <string.h>

#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/gather/gather.c"
#include "t/lib/suite.h"

#define PROCESSES   4000u
#define AT_ONE_TIME 1100u /* records of a list, where each key is that of all */

static struct host a;

static struct process *end_process(void)
{
	struct process *p = process_new(&a, -1, 0);
	struct calltree *t = p->ended_tree;
	struct node *n = calltree_child(t, calltree_root(t), NULL, RECORD_ID_MPI + VFTR_MPI_INIT);

	n->calls = 1;
	n->ticks = 10 + a.n_ever;
	calltree_wait(n, &(struct node_wait){
				 .kind = WAIT_LOCK, .late = 0, .calls = 1, .ticks = 1 + a.n_ever});
	p->greeted = p->ended = true;
	p->end = PROCESS_EXITED;
	p->executable = xstrdup("/bin/program");
	p->start_ticks = 1000 + a.n_ever++;
	p->end_ticks = p->start_ticks + 1000;
	p->rank = (int)(PROFILE_UNRANKED + a.n_ever - 1);
	return p;
}

START_TEST(lists_stay_small)
{
	static char name[] = "node7";
	struct process *first;
	struct profile *out;
	uint64_t calls = 0, ns = 0;

	a = (struct host){.conf = conf_default(), .name = name};
	a.clocks.ns_per_tick = 1;
	a.symbols = symcache_new(&a);
	first = end_process();
	process_enlist(first);
	while (a.n_ever < PROCESSES) {
		struct process *p = end_process();

		let_go(p);
		process_free(p);
		ck_assert_uint_le(a.gathered->out->n_functions, AT_ONE_TIME);
		ck_assert_uint_le(a.gathered->out->n_waits, AT_ONE_TIME + PROFILE_LATE_MAX);
	}
	out = gather(&a, NULL);
	ck_assert_ptr_null(profile_valid(out));
	ck_assert_uint_eq(out->n_processes, PROCESSES);
	ck_assert_uint_eq(out->n_functions, 1);
	ck_assert_uint_eq(out->functions[0].calls, PROCESSES);
	ck_assert_uint_eq(out->functions[0].ranks, PROCESSES);
	ck_assert_uint_eq(out->functions[0].max_ns, 10 + PROCESSES - 1);
	ck_assert_uint_eq(out->functions[0].rank_max, PROFILE_UNRANKED + PROCESSES - 1);
	/* those with the most time, and all others */
	ck_assert_uint_eq(out->n_waits, PROFILE_LATE_MAX + 1);
	EACH(const struct profile_wait, w, out->waits, out->n_waits) {
		calls += w->calls;
		ns += w->ns;
		ck_assert(w->late == PROFILE_ELSEWHERE ||
			  w->late >= PROFILE_UNRANKED + PROCESSES - PROFILE_LATE_MAX);
	}
	ck_assert_uint_eq(calls, PROCESSES);
	ck_assert_uint_eq(ns, (uint64_t)PROCESSES * (PROCESSES + 1) / 2);
	profile_free(out);
	process_free(first);
	symcache_free(a.symbols);
	conf_free(a.conf);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("let-go");
	TCase *c = tcase_create("let-go");

	tcase_add_test(c, lists_stay_small);
	suite_add_tcase(s, c);
	return run_suite(s);
}
