/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rule of nodeagent/report/findings/rules.c on profiles made in memory: one that has what it
 * looks for, and one that is just below its threshold.
 */
#include "t/unit/report/output-files.h"

#include <math.h>
#include <signal.h>

#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/report/findings.h"
#include "nodeagent/report/report.h"
#include "nodeagent/report/short.h"
#include "t/lib/suite.h"

#define BOTH   (RANK_LEFT_INIT | RANK_ENTERED_FINALIZE | RANK_HAS_MPI)
#define ALL_MS 10000 /* ms of all ranks together: 5 % are 500 ms */

extern const char *const vftr_mpi_names[];
extern const unsigned vftr_mpi_n;

static struct report r;
static struct findings all;
static bool is_made;
static uint32_t init_, main_;

static uint32_t add(
	uint32_t parent, const char *name, uint64_t sum_ms, uint64_t max_ms, uint32_t rank_max)
{
	uint32_t i = add_stack(p, parent, name, UINT64_MAX);
	struct profile_stack *s = &p->stacks[i];

	s->calls = 10;
	s->ranks = 4;
	s->excl_ns = s->incl_ns = sum_ms * MS;
	s->excl_max_ns = max_ms * MS;
	s->excl_min_ns = max_ms * 4 == sum_ms ? max_ms * MS : 0;
	s->rank_max = rank_max;
	p->calls += 10;
	return i;
}

/* 4 ranks; main() has what is left of ALL_MS. */
static void setup(void)
{
	setup_files();
	is_made = false;
	p->world_size = p->ranks = p->threads = 4;
	p->runtime_s = 2.5;
	init_ = add(PROFILE_NONE, "init", 0, 0, 0);
	main_ = add(init_, "main", 0, 0, 0);
}

static void forget(void)
{
	if (!is_made)
		return;
	findings_free(&all);
	report_done(&r);
	is_made = false;
}

static void end(void)
{
	forget();
	teardown();
}

static void make(void)
{
	uint64_t others = 0;

	forget();
	p->stacks[main_].excl_ns = 0;
	for (size_t i = 0; i < p->n_stacks; i++)
		others += p->stacks[i].excl_ns;
	p->stacks[main_].excl_ns = ALL_MS * MS - others;
	p->stacks[main_].excl_min_ns = p->stacks[main_].excl_max_ns = p->stacks[main_].excl_ns / 4;
	report_init(&r, p, conf, NULL, 0);
	all = findings_of(&r);
	is_made = true;
}

static const struct finding *finding(const char *rule)
{
	for (size_t i = 0; i < all.n; i++)
		if (!strcmp(all.at[i].rule, rule))
			return &all.at[i];
	return NULL;
}

/* It is found with so many ms; UINT64_MAX: without. */
static const struct finding *found(const char *rule, uint64_t ms)
{
	const struct finding *f;

	make();
	f = finding(rule);
	ck_assert_msg(f != NULL, "%s is not found", rule);
	if (ms == UINT64_MAX)
		ck_assert_msg(isnan(f->seconds), "%s: %.9f s", rule, f->seconds);
	else
		ck_assert_msg(fabs(f->seconds - 1e-3 * (double)ms) < 1e-6, "%s: %.9f s", rule,
			f->seconds);
	ck_assert_uint_gt(f->n_evidence, 0);
	ck_assert_uint_lt(f->n_evidence, FINDING_EVIDENCE); /* nothing was dropped */
	ck_assert_int_gt((int)strlen(f->advice), 0);
	return f;
}

static void not_found(const char *rule)
{
	make();
	ck_assert_msg(!finding(rule), "%s: %s", rule, finding(rule)->text);
}

static void nothing(void)
{
	make();
	ck_assert_msg(!all.n, "%s", all.at[0].text);
}

static const struct evidence *evidence(const struct finding *f, const char *key)
{
	for (size_t i = 0; i < f->n_evidence; i++)
		if (!strcmp(f->evidence[i].key, key))
			return &f->evidence[i];
	ck_abort_msg("%s: no %s", f->rule, key);
}

/* Useful times of the ranks in ms; the rest of a window of 3 s is in MPI. */
static void work(const uint64_t useful[4])
{
	for (uint32_t i = 0; i < 4; i++) {
		struct profile_rank_time *t =
			i < p->n_rank_times ? &p->rank_times[i] : ADD_ELEMENT(p, rank_times);

		*t = (struct profile_rank_time){.rank = i,
			.flags = BOTH,
			.threads = 1,
			.team_threads = 1,
			.end_ns = 3000 * MS,
			.useful_ns = useful[i] * MS,
			.mpi_ns = (3000 - useful[i]) * MS};
	}
}

#define WORK(...) work((const uint64_t[4]){__VA_ARGS__})

static struct profile_function *call(const char *name, uint64_t ms)
{
	struct profile_function *f = ADD_ELEMENT(p, functions);

	while (strcmp(vftr_mpi_names[f->id], name)) {
		f->id++;
		ck_assert_uint_lt(f->id, vftr_mpi_n);
	}
	f->ns = ms * MS;
	f->calls = 100;
	f->ranks = 4;
	return f;
}

/* ---- balance ------------------------------------------------------------------------------- */

START_TEST(one_rank_has_more_work)
{
	WORK(2000, 2000, 2167, 2000);
	add(add(main_, "step", 0, 0, 0), "chem", 1000, 417, 2);
	ck_assert_str_eq(found("load_balance", 501)->text,
		"Rank 2 has more work than the others, which costs 501 ms (5.0 %): it spends "
		"1.7 times the mean in chem<step<main.");
	ck_assert_uint_eq(evidence(finding("load_balance"), "rank")->count, 2);
	ck_assert_str_eq(evidence(finding("load_balance"), "path")->text, "chem<step<main<init");
	WORK(2000, 2000, 2166, 2000);
	not_found("load_balance");
}
END_TEST

/* Of few stack samples chance makes such a difference. */
START_TEST(few_samples_name_no_call_path)
{
	uint32_t chem = add(add(main_, "step", 0, 0, 0), "chem", 1000, 417, 2);

	WORK(2000, 2000, 2167, 2000);
	p->stacks[chem].estimated = true;
	*ADD_ELEMENT(p, stack_samples) =
		(struct profile_stack_samples){.stack = chem, .own = 20, .all = 20};
	ck_assert_str_eq(found("load_balance", 501)->text,
		"Rank 2 has more work than the others, which costs 501 ms (5.0 %): it works 1.06 x "
		"the mean.");
	p->stack_samples[0].own = p->stack_samples[0].all = 2000;
	has(found("load_balance", 501)->text, "it spends 1.7 times the mean in chem<step<main");
}
END_TEST

START_TEST(no_function_stands_out)
{
	WORK(2000, 2000, 2400, 2000);
	add(main_, "chem", 1000, 255, 2);
	ck_assert_str_eq(found("load_balance", 1200)->text,
		"Rank 2 has more work than the others, which costs 1.20 s (12 %): it works 1.14 x "
		"the "
		"mean.");
	/* that rank 1 is longest in something says nothing of rank 2 */
	add(main_, "other", 1000, 900, 1);
	ck_assert_str_eq(found("load_balance", 1200)->text,
		"Rank 2 has more work than the others, which costs 1.20 s (12 %): it works 1.14 x "
		"the "
		"mean.");
}
END_TEST

START_TEST(several_ranks_or_all_but_one)
{
	WORK(1000, 2000, 2000, 1000);
	has(found("load_balance", 2000)->text,
		"Rank 1 and 1 more have more work than the others, which costs 2.00 s");
	WORK(100, 2000, 2000, 2000);
	ck_assert_str_eq(found("load_balance", 1900)->text,
		"Rank 0 has next to no work, 6.6 % of the mean, as one that hands it out to the "
		"others; this costs 1.90 s (19 %).");
	ck_assert_uint_eq(evidence(finding("load_balance"), "rank_least")->count, 0);
	WORK(1000, 2000, 2000, 2000);
	ck_assert_str_eq(found("load_balance", 1000)->text,
		"Rank 0 has less work than the others, 0.57 x "
		"the mean, which costs 1.00 s (10 %).");
}
END_TEST

static void two_nodes(void)
{
	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){0, 1, xstrdup("n1")};
	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){2, 3, xstrdup("n2")};
}

START_TEST(one_node_has_more_work)
{
	two_nodes();
	WORK(2000, 2000, 2250, 2250);
	ck_assert_str_eq(found("node_balance", 500)->text,
		"Node n2 has more work than the others, which costs 500 ms (5.0 %): its 2 ranks "
		"work "
		"1.06 x the mean of all ranks.");
	ck_assert_ptr_null(finding("load_balance"));
	WORK(2000, 2000, 2249, 2249);
	not_found("node_balance");
	/* both: 4 * (2700 - 2400) between the ranks of n2, 4 * (2400 - 2200) between nodes */
	WORK(2000, 2000, 2100, 2700);
	found("load_balance", 1200);
	found("node_balance", 800);
}
END_TEST

START_TEST(a_rank_that_was_killed)
{
	add(main_, "MPI_Recv", 1000, 250, 0);
	WORK(1500, 2000, 1500, 1500);
	p->rank_times[3].flags = RANK_LEFT_INIT | RANK_HAS_MPI;
	make();
	ck_assert_str_eq(evidence(finding("load_balance"), "estimated")->text, "window");
	ck_assert_str_eq(evidence(finding("communication"), "estimated")->text, "window");
	p->rank_times[3].flags |= RANK_KILLED;
	nothing();
}
END_TEST

START_TEST(old_profiles_have_the_function_only)
{
	add(main_, "chem", 1000, 375, 2);
	ck_assert_str_eq(found("load_balance", 500)->text,
		"Rank 2 has more work than the others, which costs 500 ms (5.0 %): it spends 1.5 "
		"times the mean in chem.");
	p->stacks[p->n_stacks - 1].excl_max_ns -= MS;
	not_found("load_balance");
}
END_TEST

/* ---- waits --------------------------------------------------------------------------------- */

static void wait_for(uint32_t late, uint32_t stack, enum wait_kind kind, uint64_t ms)
{
	*ADD_ELEMENT(p, waits) = (struct profile_wait){
		.stack = stack, .kind = kind, .late = late, .calls = 10, .ns = ms * MS};
}

START_TEST(one_rank_is_late)
{
	uint32_t step = add(main_, "step", 0, 0, 0);
	uint32_t reduce = add(step, "MPI_Allreduce", 600, 200, 0);

	add(step, "chem", 1000, 400, 2);
	WORK(2900, 2900, 2900, 2900);
	wait_for(0, reduce, WAIT_NXN, 100);
	wait_for(2, reduce, WAIT_NXN, 460);
	wait_for(2, add(main_, "MPI_Recv", 40, 10, 0), WAIT_LATE_SENDER, 40);
	wait_for(PROFILE_ELSEWHERE, reduce, WAIT_NXN, 600);
	ck_assert_str_eq(found("late_rank", 500)->text,
		"Rank 2 makes the others wait 500 ms (5.0 %) in MPI_Allreduce<step<main: it "
		"spends 1.6 times the mean in chem<step<main.");
	ck_assert_str_eq(
		evidence(finding("late_rank"), "wait_path")->text, "MPI_Allreduce<step<main<init");
	ck_assert_str_eq(evidence(finding("late_rank"), "wait_kind")->text, "nxn");
	ck_assert_str_eq(evidence(finding("late_rank"), "path")->text, "chem<step<main<init");
	p->waits[1].ns -= MS;
	not_found("late_rank");
	not_found("waits"); /* one stands out; it is not worth a sentence */
}
END_TEST

START_TEST(late_without_more_work)
{
	uint32_t receive = add(main_, "MPI_Recv", 400, 200, 0);

	wait_for(1, receive, WAIT_LATE_SENDER, 400);
	wait_for(1, add(main_, "MPI_Bcast", 200, 100, 0), WAIT_LATE_ROOT, 200);
	*ADD_ELEMENT(p, thread_pairs) =
		(struct profile_thread_pair){.from = 1, .to = 2, .late_ns = 600 * MS};
	ck_assert_str_eq(found("late_rank", 600)->text,
		"Rank 1 makes the others wait 600 ms (6.0 %), mostly in MPI_Recv<main.");
	ck_assert_ptr_null(finding("late_sender")); /* the same, counted from the other side */
}
END_TEST

/* Ranks 1 to 3 wait each for the one before, which waits itself, but for rank 0. */
static void chain_of_waits(void)
{
	const uint32_t receive = add(main_, "MPI_Recv", 600, 200, 3),
		       work = add(main_, "work", 400, 100, 0);

	for (uint32_t i = 0; i < 3; i++) {
		wait_for(i, receive, WAIT_LATE_SENDER, 200);
		*ADD_ELEMENT(p, wait_pairs) =
			(struct profile_wait_pair){.rank = i + 1, .late = i, .ns = 200 * MS};
		*ADD_ELEMENT(p, causes) = (struct profile_cause){.stack = receive,
			.kind = WAIT_LATE_SENDER,
			.late = i,
			.activity = i ? receive : work,
			.ns = 200 * MS};
	}
}

START_TEST(a_chain_of_ranks_goes_back_to_one)
{
	chain_of_waits();
	ck_assert_str_eq(found("late_rank", 600)->text,
		"Rank 0 makes the others wait 600 ms (6.0 %), 200 ms for it in MPI_Recv<main, and "
		"the rest for ranks that wait for it.");
	ck_assert_str_eq(evidence(finding("late_rank"), "wait_path")->text, "MPI_Recv<main<init");
}
END_TEST

START_TEST(now_one_now_another)
{
	uint32_t reduce = add(main_, "MPI_Allreduce", 600, 200, 0);

	for (uint32_t i = 0; i < 4; i++)
		wait_for(i, reduce, WAIT_NXN, i == 3 ? 140 : 120);
	ck_assert_str_eq(found("waits", 500)->text,
		"Ranks wait 500 ms (5.0 %) for each other in MPI_Allreduce<main, for "
		"changing ranks; 28 % of all waits are for rank 3.");
	ck_assert_ptr_null(finding("late_rank"));
	p->waits[0].ns -= MS;
	not_found("waits");
	/* 1.5 times the mean: it stands out */
	p->waits[3].ns = 300 * MS;
	p->waits[0].ns = 160 * MS;
	not_found("waits");
	p->waits[3].ns = 600 * MS;
	found("late_rank", 600);
}
END_TEST

/* Most goes back to rank 0, for which rank 1 waits: the sentence names the one waited for. */
START_TEST(now_one_now_another_with_a_chain)
{
	const uint32_t receive = add(main_, "MPI_Recv", 160, 120, 0),
		       reduce = add(main_, "MPI_Allreduce", 340, 100, 0);

	wait_for(0, receive, WAIT_LATE_SENDER, 120);
	wait_for(1, receive, WAIT_LATE_SENDER, 40);
	wait_for(2, reduce, WAIT_NXN, 150);
	wait_for(PROFILE_ELSEWHERE, reduce, WAIT_NXN, 190);
	*ADD_ELEMENT(p, wait_pairs) =
		(struct profile_wait_pair){.rank = 1, .late = 0, .ns = 120 * MS};
	*ADD_ELEMENT(p, causes) = (struct profile_cause){.stack = receive,
		.kind = WAIT_LATE_SENDER,
		.late = 1,
		.activity = receive,
		.ns = 40 * MS};
	ck_assert_str_eq(found("waits", 500)->text,
		"Ranks wait 500 ms (5.0 %) for each other, mostly in MPI_Allreduce<main, for "
		"changing ranks; 30 % of all waits are for rank 2.");
	ck_assert_uint_eq(evidence(finding("waits"), "rank")->count, 2);
}
END_TEST

START_TEST(the_rank_with_more_work_is_told_once)
{
	uint32_t step = add(main_, "step", 0, 0, 0);
	uint32_t reduce = add(step, "MPI_Allreduce", 600, 200, 0);

	add(step, "chem", 1000, 417, 2);
	WORK(2700, 2700, 2900, 2700);
	wait_for(2, reduce, WAIT_NXN, 590);
	ck_assert_str_eq(found("load_balance", 600)->text,
		"Rank 2 has more work than the others, which costs 600 ms (6.0 %): it spends "
		"1.7 times the mean in chem<step<main; others wait 590 ms for rank 2 in "
		"MPI_Allreduce<step<main.");
	ck_assert_uint_eq(all.n, 1);
	/* less than half of it: waits do not explain it */
	p->waits[0].ns = 299 * MS;
	has(found("load_balance", 600)->text, "(6.0 %): it spends 1.7 times");
}
END_TEST

/* The waits for it alone, 200 ms, do not explain what it costs. */
START_TEST(the_rank_with_more_work_begins_a_chain)
{
	WORK(2900, 2700, 2700, 2700);
	chain_of_waits();
	ck_assert_str_eq(found("load_balance", 600)->text,
		"Rank 0 has more work than the others, which costs 600 ms (6.0 %): it works 1.05 x "
		"the mean; others wait 600 ms because of rank 0, 200 ms for it in MPI_Recv<main, "
		"and the rest for ranks that wait for it.");
	ck_assert(fabs(evidence(finding("load_balance"), "cost_s")->real - 0.6) < 1e-9);
	ck_assert_ptr_null(finding("late_rank"));
}
END_TEST

/* Iterations of 10 ms on 4 ranks; in one of them they wait for rank 2, which worked longer. */
static void iterate(uint32_t stack, uint64_t i, uint64_t ms)
{
	*ADD_ELEMENT(p, iterations) = (struct profile_iteration){.stack = stack,
		.run = i,
		.ranks = 4,
		.calls = 4,
		.ns = 4 * ms * MS,
		.mpi_ns = 3 * (ms - 10) * MS,
		.least_ns = ms * MS,
		.most_ns = ms * MS,
		.most_at = i,
		.busy_ns = ms * MS,
		.busy_rank = 2};
}

START_TEST(slow_iterations)
{
	const uint32_t step = add(main_, "step", 2000, 500, 0);

	WORK(2500, 2500, 2500, 2500);
	for (uint64_t i = 0; i < 19; i++)
		iterate(step, i, 10);
	iterate(step, 19, 260);
	ck_assert_str_eq(found("slow_iterations", 1000)->text,
		"1 of 20 iterations of step<main is far longer than others of their kind, by "
		"1.00 s (10 %); the longest, number 19, took 260 ms in place of 10.0 ms: rank 2 "
		"worked 250 ms longer.");
	ck_assert_uint_eq(evidence(finding("slow_iterations"), "slow")->count, 1);
	p->n_iterations--;
	iterate(step, 19, 130);
	not_found("slow_iterations"); /* 480 ms of 10 s */
}
END_TEST

START_TEST(messages_in_the_wrong_order)
{
	const uint32_t collect = add(main_, "collect", 100, 25, 0);
	const uint32_t receive = add(collect, "MPI_Recv", 400, 100, 0);
	const uint32_t wait = add(collect, "MPI_Wait", 100, 25, 0);

	WORK(2375, 2375, 2375, 2375);
	for (uint32_t rank = 0; rank < 4; rank++)
		wait_for(rank, receive, WAIT_WRONG_ORDER, 110);
	wait_for(1, wait, WAIT_WRONG_ORDER, 60);
	wait_for(1, wait, WAIT_LATE_SENDER, 300);
	p->waits[2].late_stack = wait + 1;
	ck_assert_str_eq(found("wrong_order", 500)->text,
		"Ranks wait 500 ms (5.0 %) for messages while earlier ones lie there, mostly "
		"in MPI_Recv<collect<main: receive those of MPI_Wait<collect<main before.");
	ck_assert_str_eq(evidence(finding("wrong_order"), "wait_kind")->text, "wrong_order");
	p->waits[2].late_stack = 0;
	p->waits[4].kind = WAIT_LATE_SENDER;
	for (size_t i = 0; i < 4; i++)
		p->waits[i].ns = 125 * MS;
	ck_assert_str_eq(found("wrong_order", 500)->text,
		"Ranks wait 500 ms (5.0 %) for messages while earlier ones lie there in "
		"MPI_Recv<collect<main.");
	p->waits[0].ns -= MS;
	not_found("wrong_order");
}
END_TEST

/* ---- communication ------------------------------------------------------------------------- */

START_TEST(late_senders)
{
	WORK(2900, 2900, 2900, 2900);
	*ADD_ELEMENT(p, thread_pairs) =
		(struct profile_thread_pair){.from = 1, .to = 2, .late_ns = 400 * MS};
	*ADD_ELEMENT(p, thread_pairs) =
		(struct profile_thread_pair){.from = 3, .to = 2, .late_ns = 100 * MS};
	ck_assert_str_eq(found("late_sender", 500)->text,
		"Receives wait 500 ms (5.0 %) for messages that are not sent yet, 80 % of it for "
		"rank 1.");
	p->thread_pairs[1].late_ns -= MS;
	not_found("late_sender");
	/* the same rank has most work: one sentence is enough */
	p->thread_pairs[1].late_ns += MS;
	WORK(2000, 2500, 2000, 2000);
	found("load_balance", 1500);
	ck_assert_ptr_null(finding("late_sender"));
}
END_TEST

START_TEST(small_messages)
{
	struct profile_function *f = call("MPI_Send", 500);
	struct profile_size *s = ADD_ELEMENT(p, sizes);

	*s = (struct profile_size){.log2 = 4, .sends = 10000, .bytes_sent = 80000};
	ck_assert_str_eq(found("small_messages", 500)->text,
		"Sending and receiving take 500 ms (5.0 %) for 10.0 k messages of 8 B on average.");
	f->ns -= MS;
	not_found("small_messages");
	f->ns += MS;
	s->bytes_sent = 10000 * 4097;
	not_found("small_messages");
	s->bytes_sent = 80000;
	s->sends = 4999; /* more than 100 us each: they wait for something */
	not_found("small_messages");
	s->sends = 10000;
	f->id = 0;
	call("MPI_Allreduce", 500);
	while (strcmp(vftr_mpi_names[p->functions[0].id], "MPI_Barrier"))
		p->functions[0].id++;
	not_found("small_messages");
}
END_TEST

START_TEST(communication)
{
	uint32_t at = add(main_, "MPI_Alltoall", 1000, 250, 0);

	WORK(2750, 2750, 2750, 2750);
	ck_assert_str_eq(found("communication", 1000)->text,
		"Also rank 0, which works most, is in MPI for 250 ms: of all ranks 1.00 s (10 %), "
		"the largest part in MPI_Alltoall<main.");
	ck_assert_str_eq(
		evidence(finding("communication"), "path")->text, "MPI_Alltoall<main<init");
	WORK(2751, 2751, 2751, 2751);
	not_found("communication");
	/* what others explain is not told again */
	WORK(2750, 2750, 2750, 2750);
	*ADD_ELEMENT(p, thread_pairs) =
		(struct profile_thread_pair){.from = 1, .to = 2, .late_ns = 500 * MS};
	not_found("communication");
	ck_assert_ptr_nonnull(finding("late_sender"));
	p->n_thread_pairs = 0;
	found("communication", 1000);
	p->cpu = (struct profile_cpu){.queued_ns = MS, .most_queued_ns = 11, .queued_wall_ns = 100};
	not_found("communication"); /* CPUs were too few */
	p->cpu.most_queued_ns = 10;
	found("communication", 1000);
	ck_assert_str_eq(p->names[p->stacks[at].name], "MPI_Alltoall");
}
END_TEST

START_TEST(start_and_end_of_mpi)
{
	add(main_, "MPI_Init", 3000, 750, 0);
	add(main_, "MPI_Finalize", 1000, 250, 0);
	ck_assert_str_eq(found("start_end", 4000)->text,
		"MPI_Init and MPI_Finalize take 4.00 s (40 %), 1.00 s of it at the end.");
	ck_assert_double_eq_tol(evidence(finding("start_end"), "mpi_end_s")->real, 1.0, 1e-9);
	p->stacks[p->n_stacks - 1].excl_ns -= MS; /* less than 1 s of a rank */
	not_found("start_end");
	p->stacks[p->n_stacks - 1].excl_ns = 0;
	add(main_, "MPI_Init_thread", 2000, 500, 0);
	ck_assert_str_eq(
		found("start_end", 5000)->text, "MPI_Init and MPI_Finalize take 5.00 s (50 %).");
}
END_TEST

/* ---- files --------------------------------------------------------------------------------- */

START_TEST(files_of_mpi)
{
	struct profile_function *f = call("MPI_File_write_all", 1000);

	ck_assert_str_eq(found("mpi_io", 1000)->text,
		"Input and output by MPI take 1.00 s (10 %) in MPI_File_write_all: 100 "
		"calls of 10.0 ms on average.");
	f->ns -= MS;
	not_found("mpi_io");
}
END_TEST

START_TEST(input_and_output)
{
	struct profile_io *io = ADD_ELEMENT(p, io);

	*io = (struct profile_io){.stack = add(main_, "output", 0, 0, 0),
		.operations = 512,
		.bytes = 1 << 20,
		.ns = 1000 * MS};
	ck_assert_str_eq(found("io", 1000)->text,
		"Input and output take 1.00 s (10 %) in output<main: 1.00 MiB in 512 "
		"operations.");
	*ADD_ELEMENT(p, io) = (struct profile_io){.stack = add(main_, "restart", 0, 0, 0),
		.operations = 1,
		.bytes = 1 << 20,
		.ns = 600 * MS};
	ck_assert_str_eq(found("io", 1600)->text,
		"Input and output take 1.60 s (16 %), mostly in output<main: 1.00 MiB in 512 "
		"operations.");
	p->io[1].ns = 1000 * MS;
	ck_assert_str_eq(found("io", 2000)->text,
		"Input and output take 2.00 s (20 %), 50 % of it in output<main: 1.00 MiB in 512 "
		"operations.");
	p->n_io = 1;
	p->io[0].ns -= MS;
	not_found("io");
}
END_TEST

START_TEST(input_and_output_of_mpi_is_not_counted_again)
{
	uint32_t call = add(add(main_, "MPI_File_read", 0, 0, 0), "pread", 0, 0, 0);

	*ADD_ELEMENT(p, io) = (struct profile_io){
		.stack = call, .operations = 512, .bytes = 1 << 20, .ns = 2000 * MS};
	not_found("io");
}
END_TEST

/* ---- memory -------------------------------------------------------------------------------- */

#define MIB ((uint64_t)1 << 20)

static void needs(uint32_t rank, uint64_t peak)
{
	*ADD_ELEMENT(p, memory_ranks) =
		(struct profile_memory_rank){.rank = rank, .processes = 1, .peak_bytes = peak};
}

static struct profile_memory *keeps(uint32_t stack, uint64_t blocks, uint64_t bytes)
{
	struct profile_memory *m = ADD_ELEMENT(p, memory);

	*m = (struct profile_memory){.stack = stack,
		.ranks = 4,
		.allocations = 2 * blocks,
		.frees = blocks,
		.live_blocks = blocks,
		.live_bytes = bytes,
		.live_age_ns = (unsigned __int128)1000 * MS * blocks};
	return m;
}

START_TEST(memory_that_stays_live)
{
	struct profile_memory *m = keeps(add(main_, "step", 0, 0, 0), 400, 10 * MIB);

	for (uint32_t i = 0; i < 4; i++)
		needs(i, 25 * MIB);
	ck_assert_str_eq(found("memory_leak", UINT64_MAX)->text,
		"10.0 MiB in 400 blocks of step<main are live at the end, 10 % of what was live at "
		"most; they were allocated 1.00 s before the end on average.");
	ck_assert_uint_eq(evidence(finding("memory_leak"), "peak_bytes")->count, 100 * MIB);
	/* of less than 100 blocks in each rank, less than a tenth, for sure, or nearly from the
	 * begin of a run of 2.5 s */
	m->live_blocks--;
	not_found("memory_leak");
	m->live_blocks++;
	m->live_bytes--;
	not_found("memory_leak");
	m->live_bytes += MIB;
	m->live_variance = (unsigned __int128)MIB * MIB;
	not_found("memory_leak");
	m->live_variance /= 4;
	found("memory_leak", UINT64_MAX);
	m->live_age_ns = (unsigned __int128)1875 * MS * 400;
	found("memory_leak", UINT64_MAX);
	m->live_age_ns += 400;
	not_found("memory_leak");
	m->live_age_ns = 0; /* of an earlier version */
	not_found("memory_leak");
	m->live_age_ns = (unsigned __int128)1000 * MS * 400;
	found("memory_leak", UINT64_MAX);
	m->ranks = 0; /* call paths that were added up */
	not_found("memory_leak");
}
END_TEST

START_TEST(memory_of_who_was_killed)
{
	keeps(add(main_, "step", 0, 0, 0), 400, 10 * MIB);
	needs(0, 20 * MIB);
	found("memory_leak", UINT64_MAX);
	*ADD_ELEMENT(p, dead) = (struct profile_process){
		.rank = 0, .pid = 1, .end = PROCESS_KILLED, .runtime_s = 1};
	not_found("memory_leak");
}
END_TEST

START_TEST(one_rank_needs_more_memory)
{
	two_nodes();
	for (uint32_t i = 0; i < 3; i++)
		needs(i, 100 * MIB);
	needs(3, 180 * MIB); /* of a mean of 120 */
	not_found("memory_balance");
	p->memory_ranks[3].peak_bytes += 20 * MIB; /* 200 of 125 */
	ck_assert_str_eq(found("memory_balance", UINT64_MAX)->text,
		"Rank 3 needs 200 MiB of memory at its peak, 1.6 x the mean of 4 ranks.");
	ck_assert_str_eq(evidence(finding("memory_balance"), "node")->text, "n2");
	p->memory_ranks[3].peak_bytes = 180 * MIB;
	for (uint32_t i = 0; i < 3; i++)
		p->memory_ranks[i].peak_bytes = 90 * MIB; /* 180 of 112.5: 1.6 x */
	found("memory_balance", UINT64_MAX);
	for (uint32_t i = 0; i < 4; i++)
		p->memory_ranks[i].peak_bytes = i < 3 ? 10 * MIB : 95 * MIB; /* 31 + 64 - 0.2 */
	not_found("memory_balance");
	p->memory_ranks[3].peak_bytes += MIB;
	found("memory_balance", UINT64_MAX);
	p->world_size = 0; /* what a shell starts */
	not_found("memory_balance");
}
END_TEST

/* ---- threads ------------------------------------------------------------------------------- */

START_TEST(threads_that_wait)
{
	struct profile_openmp *o = ADD_ELEMENT(p, openmp);

	*o = (struct profile_openmp){.stack = add(main_, "omp_parallel@a.c:3", 0, 0, 0),
		.ranks = 4,
		.calls = 1,
		.size_min = 2,
		.size_max = 2,
		.threads = 2,
		.average_ns = 300 * MS,
		.most_ns = 400 * MS,
		.barrier_ns = 400 * MS,
		.join_ns = 100 * MS};
	ck_assert_str_eq(found("openmp_wait", 500)->text,
		"Threads of omp_parallel@a.c:3<main wait 500 ms (5.0 %) for each other: on average "
		"they work 75 % of the time of the one with most.");
	o->join_ns -= MS;
	not_found("openmp_wait");
}
END_TEST

/* Four ranks of two threads, whose waits of 500 ms are 125 ms in each. */
START_TEST(the_thread_that_others_wait_for)
{
	const uint32_t region = add(main_, "omp_parallel@a.c:3", 0, 0, 0);
	const uint32_t slow = add(region, "boundary", 100, 0, 0);
	struct profile_openmp *o = ADD_ELEMENT(p, openmp);

	*o = (struct profile_openmp){.stack = region,
		.ranks = 4,
		.calls = 1,
		.size_min = 2,
		.size_max = 2,
		.threads = 8,
		.average_ns = 300 * MS,
		.most_ns = 400 * MS,
		.join_ns = 500 * MS,
		.slowest_ns = 90 * MS,
		.beyond_ns = 32 * MS,
		.slowest_rank = 3,
		.slowest_thread = 1,
		.slowest_stack = slow + 1};
	ck_assert_str_eq(found("openmp_wait", 500)->text,
		"Threads of omp_parallel@a.c:3 wait 500 ms (5.0 %) for each other, mostly for "
		"thread 3.1, which works 32.0 ms longer than the mean in "
		"boundary<omp_parallel@a.c:3<main.");
	/* less than half */
	o->beyond_ns = 31 * MS;
	ck_assert_ptr_nonnull(strstr(found("openmp_wait", 500)->text, "on average they work"));
}
END_TEST

START_TEST(locks)
{
	uint32_t region = add(main_, "omp_parallel@a.c:3", 0, 0, 0);
	uint32_t wait = add(region, "omp_critical_wait@a.c:7", 300, 75, 0);

	add(region, "omp_lock_wait@a.c:9", 200, 50, 0);
	add(region, "omp_barrier@a.c:9", 900, 50, 0);
	ck_assert_str_eq(found("openmp_lock", 500)->text,
		"Threads wait 500 ms (5.0 %) for locks and critical regions, mostly in "
		"omp_critical_wait@a.c:7<omp_parallel@a.c:3<main.");
	p->stacks[wait].excl_ns -= MS;
	not_found("openmp_lock");
}
END_TEST

static void wait_for_thread(uint32_t stack, uint32_t thread, uint32_t holder, uint64_t ms)
{
	*ADD_ELEMENT(p, waits) = (struct profile_wait){.stack = stack,
		.kind = WAIT_LOCK,
		.calls = 10,
		.ns = ms * MS,
		.late_thread = thread + 1,
		.late_stack = holder + 1};
}

START_TEST(a_thread_that_has_a_lock)
{
	uint32_t region = add(main_, "omp_parallel@a.c:3", 0, 0, 0);
	uint32_t fill = add(region, "fill", 0, 0, 0);
	uint32_t holder = add(fill, "omp_critical@a.c:7", 0, 0, 0);
	uint32_t wait = add(region, "omp_critical_wait@a.c:7", 500, 50, 0);

	wait_for_thread(wait, 3, holder, 250);
	wait_for_thread(wait, 1, holder, 200);
	ck_assert_str_eq(found("openmp_lock", 500)->text,
		"Threads wait 500 ms (5.0 %) for locks and critical regions, 50 % of it while "
		"thread 0.3 holds one in fill.");
	ck_assert_uint_eq(evidence(finding("openmp_lock"), "thread")->count, 3);
	ck_assert_str_eq(evidence(finding("openmp_lock"), "holder_path")->text,
		"omp_critical@a.c:7<fill<omp_parallel@a.c:3<main<init");
	ck_assert_ptr_null(finding("late_rank")); /* no other rank is waited for */
	ck_assert_ptr_null(finding("waits"));
	p->waits[0].ns -= MS; /* no single one */
	has(found("openmp_lock", 500)->text, " in omp_critical_wait@a.c:7");
	p->waits[0].ns += MS;
	p->stacks[wait].excl_ns -= MS;
	not_found("openmp_lock");
}
END_TEST

START_TEST(idle_workers)
{
	uint32_t idle = add(init_, "(idle)", 1000, 250, 0);

	has(found("openmp_idle", 1000)->text,
		"Workers of OpenMP have nothing to do for 1.00 s (10 %)");
	p->stacks[idle].excl_ns -= MS;
	not_found("openmp_idle");
	/* not shown as a function: then it is beyond the time of all functions */
	p->stacks[idle].excl_ns = 0;
	WORK(3000, 3000, 3000, 3000);
	p->rank_times[1].all_openmp_idle_ns = 1112 * MS;
	found("openmp_idle", 1112);
	ck_assert(fabs(all.all_s - 11.112) < 1e-9);
	p->rank_times[1].all_openmp_idle_ns = 1111 * MS;
	not_found("openmp_idle");
}
END_TEST

/* Until the last thread of a team has ended, workers of it are between regions, too. */
START_TEST(workers_that_wait_for_their_team)
{
	const uint32_t region = add(main_, "omp_parallel@a.c:6", 1000, 250, 0);
	const uint32_t idle = add(init_, "(idle)", 3000, 750, 0);
	uint32_t join = add(region, "omp_join", 2000, 500, 0);

	*ADD_ELEMENT(p, openmp) = (struct profile_openmp){.stack = region,
		.threads = 8,
		.ranks = 4,
		.join_ns = 4000 * MS,
		.average_ns = 250 * MS,
		.most_ns = 1250 * MS};
	WORK(3000, 3000, 3000, 3000);
	p->rank_times[1].all_openmp_idle_ns = 3500 * MS; /* with their starts */
	found("openmp_wait", 4000);
	found("openmp_idle", 1000);
	p->stacks[idle].excl_ns -= MS;
	not_found("openmp_idle");
	/* neither is shown as a function */
	p->stacks[idle].excl_ns = p->stacks[join].excl_ns = p->stacks[join].incl_ns = 0;
	p->rank_times[0].all_openmp_wait_ns = 2000 * MS;
	found("openmp_idle", 1500);
}
END_TEST

START_TEST(waits_for_gpus)
{
	struct profile_gpu_wait *w = ADD_ELEMENT(p, gpu_waits);

	*w = (struct profile_gpu_wait){.stack = add(main_, "cudaDeviceSynchronize", 0, 0, 0),
		.ranks = 1,
		.calls = 3,
		.ns = 1000 * MS,
		.name = xstrdup("stencil")};
	ck_assert_str_eq(found("gpu_wait", 1000)->text,
		"The host waits 1.00 s (10 %) for GPUs in cudaDeviceSynchronize<main "
		"for "
		"stencil.");
	w->ns -= MS;
	not_found("gpu_wait");
}
END_TEST

/* ---- tracing ------------------------------------------------------------------------------- */

/* In the summary of layout run. */
static void is_warned(bool warned)
{
	char *error, *log;

	ck_assert_int_eq(conf_set(conf, "output.layout", "run", &error), 0);
	make();
	log = summary();
	if (warned)
		has(log, "Warning: ");
	else
		has_not(log, "Warning: ");
	has(log, "-finstrument-functions-exclude-function-list=tiny\n");
	free(log);
}

START_TEST(short_functions_)
{
	uint32_t tiny = add(main_, "tiny", 100, 25, 0);

	p->stacks[tiny].calls = 1000000;
	p->calls += 1000000 - 10;
	/* a call costs 1 us, and takes 0.1 us itself */
	p->hook_ns_total = p->calls * 1000;
	has(found("short_functions", 1000)->text, "Tracing costs 1.00 s (10 %) in short functions, "
						  "which make 100 % of all calls: tiny.");
	has(finding("short_functions")->advice,
		"-finstrument-functions-exclude-function-list=tiny");
	p->hook_ns_total = p->calls * 999;
	not_found("short_functions");
	/* it is said once; below the threshold it is a warning, with the same advice */
	is_warned(true);
	p->hook_ns_total = p->calls * 1000;
	is_warned(false);
}
END_TEST

/* Ten times as long, as the process had a tenth of a CPU: its hooks would take as long, too. */
START_TEST(short_functions_of_a_starved_run)
{
	uint32_t tiny = add(main_, "tiny", 5000, 1250, 0);

	p->stacks[tiny].calls = 1000000;
	p->calls += 1000000 - 10;
	p->hook_ns_total = p->calls * 1000;
	not_found("short_functions");
	p->threads = p->ranks;
	p->cpu = (struct profile_cpu){
		.ns = 1000 * MS, .queued_ns = 9000 * MS, .wall_ns = 10000 * MS};
	found("short_functions", 1000);
	p->cpu.queued_ns = 500 * MS;
	not_found("short_functions");
}
END_TEST

START_TEST(share_of_a_cpu)
{
	struct profile_cpu c = {.ns = 0};

	ck_assert_double_eq(short_running_share(&c, false), 1);
	c = (struct profile_cpu){.ns = 100, .queued_ns = 300, .wall_ns = 10000};
	ck_assert_double_eq(short_running_share(&c, false), 0.25); /* it slept otherwise */
	ck_assert_double_eq(short_running_share(&c, true), 0.97);
	c.queued_ns = UINT64_MAX;
	ck_assert_double_eq(short_running_share(&c, false), 0.01);
	ck_assert_double_eq(short_running_share(&c, true), 0.01);
}
END_TEST

/* That a function is short is known, whatever its estimate is against the mean cost of a call. */
START_TEST(counted_functions)
{
	uint32_t tiny = add(main_, "tiny", 5000, 1250, 0);

	p->stacks[tiny].calls = 1000000;
	p->stacks[tiny].estimated = true;
	p->calls += 1000000 - 10;
	p->hook_ns_total = p->calls * 2000;
	conf->overhead_count_tiny = 10;
	has(found("short_functions", 2000)->advice,
		"Compile with -finstrument-functions-exclude-function-list=tiny");
	p->stacks[tiny].excl_ns = 11000 * MS;
	p->stacks[tiny].estimated = false;
	not_found("short_functions");
}
END_TEST

START_TEST(agent_that_is_behind)
{
	p->blocked_ns = 500 * MS;
	found("agent_behind", 500);
	p->blocked_ns -= MS;
	not_found("agent_behind");
}
END_TEST

START_TEST(too_few_cpus)
{
	uint32_t mpi = add(main_, "MPI_Recv", 600, 150, 0);

	p->cpu = (struct profile_cpu){.ns = 8000 * MS,
		.queued_ns = 1000 * MS,
		.wall_ns = 10000 * MS,
		.least_wall_ns = 2500 * MS,
		.queued_rank = 3,
		.most_queued_ns = 251 * MS,
		.queued_wall_ns = 2500 * MS};
	ck_assert_str_eq(found("oversubscribed", 400)->text,
		"Ranks were ready to run but had no CPU for 1.00 s (10 %), of which 400 ms (4.0 "
		"%) "
		"are to be won; rank 3 for 10 % of its time.");
	/* it may all have been in waits */
	p->stacks[mpi].excl_ns = 1000 * MS;
	ck_assert_str_eq(found("oversubscribed", UINT64_MAX)->text,
		"Ranks were ready to run but had no CPU for 1.00 s (10 %); rank 3 for 10 % of its "
		"time.");
	has(finding("oversubscribed")->advice, "times of other findings are rough");
	p->runtime_s = 0.0999; /* a turn of somebody else */
	not_found("oversubscribed");
	p->runtime_s = 0.1;
	found("oversubscribed", UINT64_MAX);
	p->cpu.most_queued_ns -= MS;
	not_found("oversubscribed");
}
END_TEST

/* ---- doubts -------------------------------------------------------------------------------- */

static void has_source(const char *name, const char *file)
{
	*ADD_ELEMENT(p, sources) = (struct profile_source){xstrdup(name), xstrdup(file), 7};
}

static void forget_sources(void)
{
	forget();
	while (p->n_sources) {
		free(p->sources[--p->n_sources].name);
		free(p->sources[p->n_sources].file);
	}
}

/* Where nothing but main() is seen of C++. */
START_TEST(headers_that_are_not_traced)
{
	uint32_t step = add(main_, "_Z4stepv", 990, 250, 2);

	nothing(); /* known of its file */
	has_source("main", "/src/a.c");
	nothing();
	forget_sources();
	has_source("main", "/src/a.cpp");
	ck_assert_str_eq(found("headers", UINT64_MAX)->text,
		"main has 90 % of what is computed; by g++ the work in functions of headers, and "
		"in templates that take a lambda, counts for their callers.");
	has(finding("headers")->advice, "vftr-flags(1), C++, has what shows templates");
	ck_assert_str_eq(evidence(finding("headers"), "function")->text, "main");
	p->stacks[step].excl_ns += 20 * MS;
	not_found("headers");
	p->stacks[step].excl_ns = 0;
	has(found("headers", UINT64_MAX)->text, "main has 100 % of");
	forget_sources();
	has_source("_Z4stepv", "/src/step.cu"); /* nvcc leaves no headers out */
	not_found("headers");
	forget_sources();
	has_source("_Z4stepv", "/src/step.hpp");
	has_source("main", "/src/a.cpp");
	not_found("headers");
	forget_sources();
	has_source("main", "/src/a.cpp");
	add(main_, "MPI_Recv", 4800, 1200, 0);
	found("headers", UINT64_MAX);
	add(main_, "MPI_Send", 300, 75, 0);
	not_found("headers");
}
END_TEST

START_TEST(incomplete_data)
{
	nothing();
	p->lost_calls = p->calls;
	has(found("lost", UINT64_MAX)->text, "50.0 % of the calls and 0.0 % of the messages");
	p->calls = 100000;
	p->lost_calls = 100;
	not_found("lost");
	p->lost_calls = 101;
	found("lost", UINT64_MAX);
	p->lost_calls = 0;
	p->lost_processes = 1;
	has(found("missing", UINT64_MAX)->text, "1 process gave up waiting");
	p->lost_processes = 0;
	p->world_size = 6;
	ck_assert_str_eq(
		found("missing", UINT64_MAX)->text, "The data of 2 of 6 ranks are missing.");
	p->world_size = 4;
	*ADD_ELEMENT(p, dead) = (struct profile_process){
		.rank = 2, .pid = 5, .end = PROCESS_KILLED, .exit_status = 9, .runtime_s = 0.5};
	ck_assert_str_eq(found("bad_end", UINT64_MAX)->text,
		"Rank 2 was killed by signal 9 (Killed); its data end there.");
	p->dead[0].rank = PROFILE_UNRANKED; /* a worker that is not needed any more */
	p->dead[0].outlived = true;
	p->dead[0].exit_status = SIGTERM;
	not_found("bad_end");
	p->n_dead = 0;
	nothing();
	p->calls = 0;
	has(found("nothing_traced", UINT64_MAX)->text, "Nothing was traced");
}
END_TEST

START_TEST(clocks)
{
	two_nodes();
	for (int i = 0; i < 2; i++) {
		struct profile_agent *a = ADD_ELEMENT(p, agents);

		*a = (struct profile_agent){.host = xstrdup(i ? "n2" : "n1")};
		a->clock.state = i ? PROFILE_CLOCK_COMPARED : PROFILE_CLOCK_REFERENCE;
		a->clock.error_ns = i ? 5000 : 0;
	}
	*ADD_ELEMENT(p, thread_pairs) =
		(struct profile_thread_pair){.from = 1, .to = 2, .messages = 10, .late_ns = 100000};
	ck_assert_str_eq(found("clock", UINT64_MAX)->text,
		"The clock of node n2 is known to 5.00 us only; a message between nodes waits 10.0 "
		"us on average.");
	p->thread_pairs[0].late_ns += 10;
	not_found("clock");
	p->agents[1].clock.state = PROFILE_CLOCK_UNKNOWN;
	has(found("clock", UINT64_MAX)->text, "The clock of node n2 was not compared");
	p->thread_pairs[0].from = 3; /* on the same node */
	not_found("clock");
}
END_TEST

/* ---- all of them --------------------------------------------------------------------------- */

static void many(void)
{
	add(init_, "(idle)", 1100, 275, 0);
	call("MPI_File_read", 1200);
	*ADD_ELEMENT(p, io) = (struct profile_io){.stack = main_, .operations = 1, .ns = 1300 * MS};
	WORK(2000, 2500, 2000, 2000);
	p->blocked_ns = 1400 * MS;
	add(add(main_, "omp_parallel@a.c:3", 0, 0, 0), "omp_lock_wait@a.c:9", 1600, 400, 0);
	add(main_, "MPI_Init", 5000, 1250, 0);
}

START_TEST(five_at_most_by_seconds)
{
	static const char *const rules[] = {
		"start_end", "openmp_lock", "load_balance", "agent_behind", "io"};

	many();
	make();
	ck_assert_uint_eq(all.n, 5);
	ck_assert_uint_eq(all.left, 2);
	for (size_t i = 0; i < 5; i++)
		ck_assert_str_eq(all.at[i].rule, rules[i]);
}
END_TEST

START_TEST(two_doubts_keep_their_place)
{
	static const char *const rules[] = {
		"start_end", "openmp_lock", "load_balance", "missing", "lost"};

	many();
	p->lost_calls = 1000;
	p->world_size = 5;
	make();
	ck_assert_uint_eq(all.n, 5);
	ck_assert_uint_eq(all.left, 4);
	for (size_t i = 0; i < 5; i++)
		ck_assert_str_eq(all.at[i].rule, rules[i]);
	/* where there is room, all of them */
	p->n_functions = p->n_io = p->n_rank_times = 0;
	p->blocked_ns = 0;
	p->stacks[p->n_stacks - 1].excl_ns = 0;
	p->stacks[p->n_stacks - 2].excl_ns = 0;
	p->lost_calls = p->calls;
	*ADD_ELEMENT(p, dead) = (struct profile_process){
		.rank = 2, .pid = 5, .end = PROCESS_KILLED, .exit_status = 9};
	make();
	ck_assert_uint_eq(all.n, 4);
	ck_assert_uint_eq(all.left, 0);
}
END_TEST

static char *printed(void)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	findings_print(f, &all);
	fclose(f);
	return text;
}

START_TEST(an_even_job_has_none_and_that_is_said)
{
	char *text;

	WORK(2900, 2900, 2900, 2900);
	nothing();
	text = printed();
	has(text, "Nothing to mend found: ");
	free(text);
	forget();
	profile_free(p);
	p = profile_new();
	report_init(&r, p, conf, NULL, 0);
	all = findings_of(&r);
	is_made = true;
	ck_assert_uint_eq(all.n, 0);
}
END_TEST

START_TEST(text_and_json_have_the_evidence)
{
	char *text;
	cJSON *json, *first;

	WORK(2000, 2000, 2500, 2000);
	add(add(main_, "step", 0, 0, 0), "chem", 1000, 700, 2);
	make();
	text = printed();
	in_order(text, (const char *const[]){"percent of 10.0 s",
			       " 1. Rank 2 has more work than the others, which costs "
			       "1.50 s (15 %): it spends",
			       "    proof: rank=2 ", "path=chem<step<main<init", "    try: ",
			       "    see: vftr-analysis(7), Load balance of ranks\n", NULL});
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		ck_assert_uint_le(strcspn(line, "\n"), 100);
	free(text);
	sort_random_stacks(p);
	main_ = find_stack(p, "main<init");
	free(summary());
	json = parsed();
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(json, "findings")), 1);
	first = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "findings"), 0);
	ck_assert_str_eq(string(first, "rule"), "load_balance");
	ck_assert_double_eq_tol(number(first, "seconds"), 1.5, 1e-9);
	ck_assert_double_eq_tol(number(first, "percent"), 15.0, 1e-6);
	ck_assert_str_eq(
		string(cJSON_GetObjectItem(first, "evidence"), "path"), "chem<step<main<init");
	ck_assert_str_eq(string(first, "manual"), "Load balance of ranks");
	cJSON_Delete(json);
}
END_TEST

/* Random profiles have all that a profile can have, and nothing that makes sense. */
START_TEST(any_profile)
{
	for (uint32_t i = 1; i <= 100; i++) {
		struct dice d = {.state = i};
		char *text;

		profile_free(p);
		p = random_profile(&d, 1 + i % 2, 60, UINT64_MAX);
		report_init(&r, p, conf, NULL, 0);
		all = findings_of(&r);
		is_made = true;
		ck_assert_uint_le(all.n, FINDINGS_MOST);
		for (size_t k = 0; k < all.n; k++) {
			ck_assert_uint_gt(all.at[k].n_evidence, 0);
			ck_assert(k == 0 || isnan(all.at[k].seconds) ||
				  all.at[k].seconds <= all.at[k - 1].seconds);
		}
		text = printed();
		has_not(text, "nan");
		free(text);
		forget();
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {one_rank_has_more_work, few_samples_name_no_call_path,
		no_function_stands_out, several_ranks_or_all_but_one, one_node_has_more_work,
		a_rank_that_was_killed, one_rank_is_late, late_without_more_work,
		a_chain_of_ranks_goes_back_to_one, now_one_now_another,
		now_one_now_another_with_a_chain, the_rank_with_more_work_is_told_once,
		the_rank_with_more_work_begins_a_chain, old_profiles_have_the_function_only,
		slow_iterations, messages_in_the_wrong_order, late_senders, small_messages,
		communication, start_and_end_of_mpi, files_of_mpi, input_and_output,
		input_and_output_of_mpi_is_not_counted_again, memory_that_stays_live,
		memory_of_who_was_killed, one_rank_needs_more_memory, threads_that_wait,
		the_thread_that_others_wait_for, locks, a_thread_that_has_a_lock, idle_workers,
		workers_that_wait_for_their_team, waits_for_gpus, short_functions_,
		short_functions_of_a_starved_run, share_of_a_cpu, counted_functions,
		agent_that_is_behind, too_few_cpus, headers_that_are_not_traced, incomplete_data,
		clocks, five_at_most_by_seconds, two_doubts_keep_their_place,
		an_even_job_has_none_and_that_is_said, text_and_json_have_the_evidence,
		any_profile};
	Suite *s = suite_create("findings");
	TCase *c = tcase_create("findings");

	tcase_add_checked_fixture(c, setup, end);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
