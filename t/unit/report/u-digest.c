/* SPDX-License-Identifier: BSD-3-Clause */
/* The digest of profiles made in memory: its lines, their width, and the numbers in the JSON. */
#include "t/unit/report/output-files.h"

#include <signal.h>
#include <math.h>

#include "nodeagent/base/table.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/prune.h"
#include "nodeagent/report/digest.h"
#include "t/lib/suite.h"

#define LONG "a_very_long_name_of_a_function_that_only_a_template_can_have"

static char *text; /* of the digest */

static uint32_t add(uint32_t parent, const char *name, uint64_t min_ms, uint32_t rank_min,
	uint64_t max_ms, uint32_t rank_max, uint64_t sum_ms, uint32_t ranks)
{
	uint32_t i = add_stack(p, parent, name, UINT64_MAX);

	p->stacks[i].calls = 10;
	p->stacks[i].ranks = ranks;
	p->stacks[i].excl_ns = sum_ms * MS;
	p->stacks[i].excl_min_ns = min_ms * MS;
	p->stacks[i].excl_max_ns = max_ms * MS;
	p->stacks[i].rank_min = rank_min;
	p->stacks[i].rank_max = rank_max;
	p->calls += 10;
	for (uint32_t at = i; at != PROFILE_NONE; at = p->stacks[at].parent)
		p->stacks[at].incl_ns += sum_ms * MS;
	return i;
}

static void setup(void)
{
	setup_files();
	free(conf->output_layout);
	conf->output_layout = xstrdup("run");
	p->runtime_s = 1.5;
	p->ranks = p->threads = 1;
	p->hook_ns_total = 12 * MS;
	p->n_agents = 1;
	p->agents = xcalloc(1, sizeof(*p->agents));
	p->agents[0].host = xstrdup("n1");
	text = NULL;
}

static void end(void)
{
	free(text);
	teardown();
}

static void mpi(uint32_t ranks)
{
	p->world_size = p->ranks = p->threads = ranks;
}

/* rank 3 of 4 works most, as much as rank 0, 1 and 2 together */
static void ring(void)
{
	mpi(4);
	uint32_t init = add(PROFILE_NONE, "init", 0, 0, 0, 0, 0, 4);
	uint32_t main_ = add(init, "main", 5, 0, 10, 3, 20, 4);

	add(main_, "compute", 200, 0, 840, 3, 1600, 4);
	add(main_, "MPI_Init", 200, 0, 300, 1, 1000, 4);
	add(main_, "MPI_Barrier", 0, 3, 800, 0, 1380, 4);
	sort_random_stacks(p);
}

static void make(void)
{
	size_t lines = 0, bytes;
	FILE *f;

	free(text);
	f = open_memstream(&text, &bytes);
	ck_assert_ptr_null(profile_valid(p));
	output_digest(f, p, conf, "/tmp/out");
	fclose(f);
	for (char *at = text, *line_end; *at; at = line_end + 1) {
		line_end = strchr(at, '\n');
		ck_assert_ptr_nonnull(line_end);
		*line_end = '\0';
		ck_assert_uint_le(text_columns(at), DIGEST_COLUMNS);
		*line_end = '\n';
		lines++;
	}
	ck_assert_uint_le(lines, DIGEST_LINES);
}

START_TEST(of_ranks)
{
	ring();
	make();
	in_order(text,
		(const char *const[]){"app: 4 ranks, 1.50 s\n  40.5 % in the program, 34.5 % MPI, "
				      "25.0 % MPI_Init/Finalize\n",
			"   40.0 %    1.60 s  compute < main\n",
			"   34.5 %    1.38 s  MPI_Barrier < main\n",
			"    0.5 %   20.0 ms  main < init\n",
			"  imbalance: compute: rank 3 works 2.1 x the mean (840 ms; least "
			"200 ms on "
			"rank 0)\n",
			"  tracing: 0.2 % of the run (3.00 ms in hooks, estimated)\n",
			"  files in /tmp/out\n", NULL});
	has_not(text, "lost");
	has_not(text, "killed");
	has_not(text, "warning");
}
END_TEST

/* The same of two jobs of 2 ranks, one after the other, and a helper that has called no MPI. */
START_TEST(of_two_jobs)
{
	cJSON *json;
	char *log;

	ring();
	p->world_size = 2;
	p->unranked = 3;
	p->ranks = p->threads = 5;
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack *s = &p->stacks[i];

		s->rank_min = s->rank_min < 2 ? s->rank_min : PROFILE_UNRANKED + s->rank_min - 2;
		s->rank_max = s->rank_max < 2 ? s->rank_max : PROFILE_UNRANKED + s->rank_max - 2;
	}
	for (uint32_t i = 0; i < 3; i++)
		*ADD_ELEMENT(p, rank_times) = (struct profile_rank_time){.threads = 1,
			.team_threads = 1,
			.rank = PROFILE_UNRANKED + i,
			.flags = i < 2 ? RANK_HAS_MPI : 0};
	make();
	has(text, "app: 4 ranks, 1.50 s\n");
	has(text, "  imbalance: compute: rank 3 works 2.1 x the mean (840 ms; least 200 ms on rank "
		  "0)");
	log = summary();
	has(log, "\nNr. of MPI ranks:            2\n   in other MPI jobs:        2\n"
		 "Nr. of other processes:      1\n");
	has(log, "\nFunctions (sum over 4 ranks)\n");
	free(log);
	json = parsed();
	ck_assert_double_eq(number(json, "ranks"), 2);
	ck_assert_double_eq(number(json, "other_ranks"), 2);
	cJSON_Delete(json);
}
END_TEST

START_TEST(of_one_process)
{
	uint32_t init = add(PROFILE_NONE, "init", 100, 0, 100, 0, 100, 1);

	add(add(init, "main", 300, 0, 300, 0, 300, 1), "work", 600, 0, 600, 0, 600, 1);
	sort_random_stacks(p);
	make();
	in_order(text, (const char *const[]){"app: 1 process, 1.50 s\n",
			       "  90.0 % in the program, 10.0 % outside of traced functions\n",
			       "   60.0 %    600 ms  work < main\n",
			       "   30.0 %    300 ms  main < init\n", "  tracing: ", NULL});
	has_not(text, "imbalance");
	has_not(text, "MPI");
	has_not(text, "< ----");
}
END_TEST

START_TEST(of_nothing)
{
	make();
	has(text, "app: 1 process, 1.50 s\n  nothing was traced: nothing is instrumented");
	has_not(text, "%");
}
END_TEST

/* as where no ring could be made: what the program has is not known */
START_TEST(of_nothing_with_a_warning)
{
	profile_warn(p, "process 7: cannot make a ring");
	make();
	has(text, "  nothing was traced; the warnings in the summary may say why");
	has_not(text, "instrumented");
}
END_TEST

START_TEST(of_stack_samples)
{
	uint32_t init = add(PROFILE_NONE, "init", 100, 0, 100, 0, 100, 1), work;

	work = add(init, "work", 900, 0, 900, 0, 900, 1);
	p->calls = 0;
	p->stacks[work].estimated = true;
	sort_random_stacks(p);
	for (work = 0; !p->stacks[work].estimated;)
		work++;
	*(struct profile_stack_samples *)profile_add(p, PROFILE_STACK_SAMPLES) =
		(struct profile_stack_samples){.stack = work, .own = 18, .all = 18};
	make();
	in_order(text, (const char *const[]){"  90.0 % in the program",
			       "   90.0 %   ~900 ms  work < init\n",
			       "  no function is instrumented: times are estimated from 18 stack "
			       "samples\n",
			       NULL});
	has_not(text, "nothing was traced");
}
END_TEST

/* All that were counted, and the one that was called most. */
START_TEST(of_counted_functions)
{
	const uint32_t work = add(
		add(PROFILE_NONE, "init", 100, 0, 100, 0, 100, 1), "work", 500, 0, 500, 0, 500, 1);
	const uint32_t tiny = add(work, "tiny", 300, 0, 300, 0, 300, 1);
	const uint32_t other = add(work, "other", 100, 0, 100, 0, 100, 1);

	p->stacks[tiny].estimated = p->stacks[other].estimated = true;
	p->stacks[tiny].calls = 1000;
	p->calls += 990;
	sort_random_stacks(p);
	make();
	in_order(text, (const char *const[]){"   30.0 %   ~300 ms  tiny < work\n",
			       "  counted, times ~: tiny and 1 more; time all: -k "
			       "overhead.count_tiny=null\n",
			       NULL});
	conf->overhead_count_tiny = NAN; /* by vftr top */
	make();
	has(text, "  counted, times ~: tiny and 1 more\n");
	/* that is what they have left of its time */
	has(text, "   50.0 %   ~500 ms  work < init\n");
	has_not(text, "leave them out");
	p->hook_ns_total = 300 * MS;
	make();
	has(text, "  to leave them out: compile with the option that `vftr flags --exclude "
		  "FOLDER' prints\n");
}
END_TEST

START_TEST(of_a_rank_that_alone_works)
{
	mpi(4);
	uint32_t init = add(PROFILE_NONE, "init", 0, 0, 0, 0, 0, 4);

	add(add(init, "main", 100, 0, 100, 0, 400, 4), "output", 500, 2, 500, 2, 500, 1);
	sort_random_stacks(p);
	make();
	has(text, "imbalance: output: rank 2 works 4.0 x the mean (500 ms; not at all: 3 ranks)");
}
END_TEST

/* Rank 3 of 4 has 200 of 400 ms of a function, known from so many stack samples. */
static void half_on_one_rank(uint64_t samples)
{
	uint32_t init, work;

	mpi(4);
	init = add(PROFILE_NONE, "init", 400, 0, 400, 0, 1600, 4);
	work = add(init, "work", 50, 0, 200, 3, 400, 4);
	p->stacks[work].estimated = true;
	p->stacks[work].calls = 0;
	p->calls = 0;
	sort_random_stacks(p);
	for (work = 0; !p->stacks[work].estimated;)
		work++;
	*(struct profile_stack_samples *)profile_add(p, PROFILE_STACK_SAMPLES) =
		(struct profile_stack_samples){.stack = work, .own = samples, .all = samples};
	make();
}

/* 4 samples of 8 on one rank come by chance, 400 of 800 do not */
START_TEST(of_few_samples)
{
	half_on_one_rank(8);
	has(text, "   20.0 %   ~400 ms  work < init\n");
	has_not(text, "imbalance");
}
END_TEST

START_TEST(of_many_samples)
{
	half_on_one_rank(800);
	has(text, "imbalance: work: rank 3 works 2.0 x the mean (200 ms; least 50.0 ms on rank 0)");
}
END_TEST

/* what it takes from its caller differs between ranks as the guess does */
START_TEST(of_a_guess_for_each_rank)
{
	uint32_t compute, tiny;

	mpi(4);
	compute =
		add(add(PROFILE_NONE, "init", 0, 0, 0, 0, 0, 4), "compute", 0, 1, 800, 2, 1000, 4);
	tiny = add(compute, "tiny", 100, 2, 900, 1, 3000, 4);
	p->stacks[tiny].estimated = true;
	sort_random_stacks(p);
	make();
	in_order(text, (const char *const[]){
			       "~3.00 s  tiny < compute\n", "~1.00 s  compute < init\n", NULL});
	has_not(text, "imbalance");
}
END_TEST

/* of each path only the least and the most is known: rank 1 has 300 + 250 ms for certain */
START_TEST(of_several_paths)
{
	mpi(2);
	uint32_t init = add(PROFILE_NONE, "init", 0, 0, 0, 0, 0, 2);
	uint32_t main_ = add(init, "main", 0, 0, 0, 0, 0, 2);

	add(main_, "work", 100, 0, 300, 1, 400, 2);
	add(add(main_, "other", 0, 0, 0, 0, 0, 2), "work", 100, 0, 150, 1, 250, 2);
	add(add(main_, "third", 0, 0, 0, 0, 0, 2), "work", 100, 1, 110, 0, 210, 2);
	sort_random_stacks(p);
	make();
	has(text, "imbalance: work: rank 1 works at least 1.3 x the mean (550 ms)\n");
	has(text, "860 ms  work < main and 2 more callers\n");
}
END_TEST

/* A caller counts with all paths below which it stands; the function itself is none. */
START_TEST(of_a_recursive_caller)
{
	uint32_t main_ = add(add(PROFILE_NONE, "init", 0, 0, 0, 0, 0, 1), "main", 0, 0, 0, 0, 0, 1);
	uint32_t at = add(add(main_, "leaf", 0, 0, 0, 0, 0, 1), "spin", 50, 0, 50, 0, 50, 1);

	add(at, "spin", 5, 0, 5, 0, 5, 1);
	at = main_;
	for (int i = 0; i < 3; i++) {
		at = add(at, "rec", 0, 0, 0, 0, 0, 1);
		add(at, "spin", 20, 0, 20, 0, 20, 1);
	}
	sort_random_stacks(p);
	make();
	has(text, "  115 ms  spin < rec and 1 more caller\n");
}
END_TEST

START_TEST(of_an_even_job)
{
	mpi(2);
	uint32_t init = add(PROFILE_NONE, "init", 0, 0, 0, 0, 0, 2);

	add(init, "main", 490, 0, 510, 1, 1000, 2);
	sort_random_stacks(p);
	make();
	has_not(text, "imbalance");
}
END_TEST

START_TEST(of_deaths_and_losses)
{
	ring();
	p->lost_calls = 12;
	p->lost_messages = 1;
	p->n_dead = 1;
	p->dead = xcalloc(1, sizeof(*p->dead));
	p->dead[0] = (struct profile_process){
		.rank = 2, .pid = 5, .end = PROCESS_KILLED, .exit_status = 9, .runtime_s = 0.5};
	p->world_size = 6;
	profile_warn(p, "something");
	make();
	in_order(text, (const char *const[]){"  lost: 12 calls, 1 message, 2 ranks\n",
			       "  rank 2 was killed by signal 9 (Killed)\n",
			       "  1 warning; files in /tmp/out\n", NULL});
	p->dead = xrealloc(p->dead, 2 * sizeof(*p->dead));
	p->dead[1] = p->dead[0];
	p->dead[1].rank = 3;
	p->n_dead = 2;
	make();
	has(text, "  rank 2 was killed by signal 9 (Killed); 2 ranks in all ended badly\n");
	p->dead[0].rank = PROFILE_UNRANKED;
	p->dead[0].outlived = true;
	p->dead[0].exit_status = SIGTERM;
	make();
	has(text, "  rank 3 was killed by signal 9 (Killed)\n");
}
END_TEST

START_TEST(of_threads_and_gpus)
{
	p->threads = 2;
	uint32_t init = add(PROFILE_NONE, "init", 100, 0, 100, 0, 100, 1);
	uint32_t region = add(init, "omp_parallel@heat.c:33", 600, 0, 600, 0, 600, 1);

	add(region, "omp_barrier@heat.c:40", 300, 0, 300, 0, 300, 1);
	sort_random_stacks(p);
	p->n_openmp = 1;
	p->openmp = xcalloc(1, sizeof(*p->openmp));
	p->openmp[0] =
		(struct profile_openmp){.stack = find_stack(p, "omp_parallel@heat.c:33<init"),
			.ranks = 1,
			.calls = 1,
			.size_min = 2,
			.size_max = 2,
			.threads = 2,
			.average_ns = 300 * MS,
			.most_ns = 400 * MS,
			.wait_ns = 300 * MS};
	p->n_gpu_devices = 2;
	p->gpu_devices = xcalloc(2, sizeof(*p->gpu_devices));
	p->gpu_devices[0] = (struct profile_gpu_device){.uuid = {1, 1}, .busy_ns = 750 * MS};
	p->gpu_devices[1] = (struct profile_gpu_device){.uuid = {2, 2}, .busy_ns = 150 * MS};
	make();
	in_order(text,
		(const char *const[]){"app: 1 process x 2 threads, 1.50 s\n",
			"60.0 % in the program, 30.0 % waiting in OpenMP, 10.0 % outside",
			"  OpenMP: omp_parallel@heat.c:33: balance 75.0 %, 300 ms idle in it\n",
			"  GPU: 2 devices, busy in 30.0 % of the run\n", NULL});
}
END_TEST

/* Of the ring: rank 1 is waited for most, by several threads; what nobody knows is in the sum. */
START_TEST(of_late_senders)
{
	static const struct profile_thread_pair late[] = {{.from = 0, .to = 1, .late_ns = 150 * MS},
		{.from = 1, .to = 2, .late_ns = 100 * MS},
		{.from = 1, .from_thread = 1, .to = 3, .late_ns = 120 * MS}, {.from = 2, .to = 3},
		{.from = PROFILE_ELSEWHERE, .to = PROFILE_ELSEWHERE, .late_ns = 30 * MS}};

	ring();
	make();
	has_not(text, "late senders");
	p->n_thread_pairs = ARRAY_SIZE(late);
	p->thread_pairs = xcalloc(ARRAY_SIZE(late), sizeof(*late));
	memcpy(p->thread_pairs, late, sizeof(late));
	make();
	has(text, "\n  late senders: receives waited 400 ms for them, 55 % of it for rank 1\n");
	p->pair_ranks = 2; /* only groups are known */
	make();
	has(text, "\n  late senders: receives waited 400 ms for them\n");
	for (size_t i = 0; i < ARRAY_SIZE(late); i++)
		p->thread_pairs[i].late_ns /= 20; /* 20 ms of 4 s */
	make();
	has_not(text, "late senders");
}
END_TEST

/* All parts of the time need two lines; idle workers are no function to look at. */
START_TEST(parts_on_two_lines)
{
	uint32_t init = add(PROFILE_NONE, "init", 100, 0, 100, 0, 100, 1);

	add(init, "(idle)", 500, 0, 500, 0, 500, 1);
	add(init, "omp_join", 300, 0, 300, 0, 300, 1);
	add(init, "MPI_Init", 50, 0, 50, 0, 50, 1);
	add(init, "MPI_Recv", 50, 0, 50, 0, 50, 1);
	sort_random_stacks(p);
	make();
	has(text, "  0.0 % in the program, 5.0 % MPI, 5.0 % MPI_Init/Finalize, 30.0 % waiting in "
		  "OpenMP\n"
		  "  50.0 % idle OpenMP workers, 10.0 % outside of traced functions\n");
	has(text, "omp_join");
	has_not(text, "(idle)");
}
END_TEST

static void has_lock(void)
{
	p->n_locks = 1;
	p->locks = xcalloc(1, sizeof(*p->locks));
	p->locks[0].name = xstrdup("thread 1");
	p->locks[0].ranks = 1;
}

/* Waits for locks are told where locks are; those within MPI are MPI's. */
START_TEST(of_locks)
{
	mpi(1);
	uint32_t init = add(PROFILE_NONE, "init", 100, 0, 100, 0, 100, 1);
	uint32_t send = add(init, "MPI_Send", 50, 0, 50, 0, 50, 1);

	add(send, "pthread_mutex_lock", 50, 0, 50, 0, 50, 1);
	add(init, "compute", 500, 0, 500, 0, 500, 1);
	add(init, "pthread_join", 300, 0, 300, 0, 300, 1);
	sort_random_stacks(p);
	if (_i)
		has_lock();
	free(summary());

	cJSON *json = parsed();
	const cJSON *s = cJSON_GetObjectItem(json, "summary");

	make();
	if (_i) {
		has(text, "50.0 % in the program, 10.0 % MPI, 30.0 % waiting for locks and "
			  "threads\n");
		ck_assert_double_eq_tol(number(s, "lock_wait_s"), 0.3, 1e-9);
		ck_assert_double_eq_tol(number(s, "mpi_s"), 0.1, 1e-9);
	} else {
		has(text, "85.0 % in the program, 5.0 % MPI, 10.0 % outside");
		ck_assert_ptr_null(cJSON_GetObjectItem(s, "lock_wait_s"));
	}
	cJSON_Delete(json);
}
END_TEST

/* The libraries of MPI and OpenMP wait for locks, too. */
START_TEST(of_locks_that_libraries_wait_for)
{
	mpi(1);
	uint32_t init = add(PROFILE_NONE, "init", 0, 0, 0, 0, 0, 1);
	uint32_t start = add(init, "MPI_Init", 50, 0, 50, 0, 50, 1);
	uint32_t idle = add(init, "(idle)", 60, 0, 60, 0, 60, 1);
	uint32_t wait = add(init, "omp_barrier@a.c:1", 70, 0, 70, 0, 70, 1);

	add(start, "pthread_cond_wait", 100, 0, 100, 0, 100, 1);
	add(idle, "pthread_cond_wait", 200, 0, 200, 0, 200, 1);
	add(wait, "pthread_cond_wait", 300, 0, 300, 0, 300, 1);
	has_lock();
	for (uint32_t deep = add(init, "thrd_join", 1, 0, 1, 0, 1, 1), n = 0; n < 3; n++)
		deep = add(deep, "pthread_join", 1, 0, 1, 0, 1, 1);
	sort_random_stacks(p);
	free(summary());

	cJSON *json = parsed();
	const cJSON *s = cJSON_GetObjectItem(json, "summary");

	ck_assert_double_eq_tol(number(s, "mpi_start_end_s"), 0.15, 1e-9);
	ck_assert_double_eq_tol(number(s, "openmp_idle_s"), 0.26, 1e-9);
	ck_assert_double_eq_tol(number(s, "openmp_wait_s"), 0.37, 1e-9);
	ck_assert_double_eq_tol(number(s, "lock_wait_s"), 0.004, 1e-9);
	ck_assert_double_eq_tol(number(s, "mpi_s"), 0.0, 1e-9);
	cJSON_Delete(json);
}
END_TEST

START_TEST(of_python)
{
	static const struct {
		const char *command, *begin;
	} cases[] = {{NULL, "python3.11: "}, {"./run.sh\n", "python3.11: "},
		{"mpirun\n-np\n4\n/usr/bin/python3\n-u\n../a/train.py\nx.py\n", "train.py: "},
		{"python3\n-m\nmpi4py\ntrain.py\n", "train.py: "},
		{"python3\n-W\nall\n-m\ntimeit\n-n\n1\n", "timeit: "},
		{"python3\n-c\nprint(1)\na.py\n", "python3.11: "}};

	ring();
	free(p->application);
	p->application = xstrdup("python3.11");
	*ADD_ELEMENT(p, starts) = (struct profile_start){
		.command = cases[_i].command ? xstrdup(cases[_i].command) : NULL};
	make();
	ck_assert_msg(!strncmp(text, cases[_i].begin, strlen(cases[_i].begin)), "%s", text);
}
END_TEST

/* A worker that waits for the rest of its team is not without work. */
START_TEST(of_workers_that_wait_for_their_team)
{
	uint32_t init = add(PROFILE_NONE, "init", 100, 0, 100, 0, 100, 1);
	uint32_t region = add(init, "omp_parallel@a.c:6", 300, 0, 300, 0, 300, 1);

	add(region, "omp_join", 200, 0, 200, 0, 200, 1);
	add(init, "(idle)", 400, 0, 400, 0, 400, 1);
	p->stacks[p->n_stacks - 2].incl_ns = 200 * MS;
	*ADD_ELEMENT(p, openmp) = (struct profile_openmp){.stack = region, .join_ns = 500 * MS};
	sort_random_stacks(p);
	make();
	has(text, "30.0 % in the program, 50.0 % waiting in OpenMP, 10.0 % idle OpenMP workers");
}
END_TEST

/* Of the ring: 4 ranks of 1 s, rank 2 has half of a CPU and waits for it a quarter of its time. */
START_TEST(of_the_cpus)
{
	ring();
	make();
	has_not(text, "CPU:");
	p->cpu = (struct profile_cpu){.ns = 3400 * MS,
		.wall_ns = 4000 * MS,
		.least_rank = 2,
		.least_ns = 500 * MS,
		.least_wall_ns = 1000 * MS};
	make();
	has(text, "\n  CPU: 85 % of the time; least 50 % on rank 2\n");
	/* it may have slept; the queue knows */
	p->cpu.queued_rank = 3;
	p->cpu.most_queued_ns = 250 * MS;
	p->cpu.queued_wall_ns = 1000 * MS;
	make();
	has(text, "\n  CPU: 85 % of the time; rank 3 waited for one for 25 %: the node is "
		  "oversubscribed\n");
	p->threads = 8;
	make();
	has(text, "\n  CPU: 0.85 CPUs per rank; rank 3 waited for one for 25 %: the node is "
		  "oversubscribed\n");
	p->cpu.most_queued_ns = 90 * MS;
	make();
	has_not(text, "oversubscribed");
}
END_TEST

/* One process that mostly sleeps; where other parts may have the CPU time, nothing is known. */
START_TEST(of_a_program_that_sleeps)
{
	uint32_t init = add(PROFILE_NONE, "init", 20, 0, 20, 0, 20, 1);

	add(init, "nap", 980, 0, 980, 0, 980, 1);
	sort_random_stacks(p);
	p->cpu = (struct profile_cpu){.ns = 90 * MS, .wall_ns = 1000 * MS};
	make();
	has(text, "  98.0 % in the program (on a CPU for 9 %), 2.0 % outside");
	p->cpu.ns = 900 * MS;
	make();
	has(text, "  98.0 % in the program, 2.0 % outside");
	p->cpu = (struct profile_cpu){.ns = 90 * MS, .wall_ns = 100 * MS}; /* not of all */
	make();
	has(text, "  98.0 % in the program, 2.0 % outside");
}
END_TEST

START_TEST(of_a_program_that_sleeps_in_mpi)
{
	ring();
	p->cpu = (struct profile_cpu){.ns = 810 * MS, .wall_ns = 4000 * MS};
	make();
	has(text, "  40.5 % in the program, 34.5 % MPI, ");
}
END_TEST

START_TEST(of_pauses)
{
	uint32_t init = add(PROFILE_NONE, "init", 0, 0, 0, 0, 0, 1);
	cJSON *json;

	add(add(init, "work", 300, 0, 300, 0, 300, 1), "vftrace_pause", 700, 0, 700, 0, 700, 1);
	sort_random_stacks(p);
	make();
	has(text, "  30.0 % in the program, 70.0 % paused\n");
	free(summary());
	json = parsed();
	ck_assert_double_eq_tol(
		number(cJSON_GetObjectItem(json, "summary"), "paused_s"), 0.7, 1e-9);
	cJSON_Delete(json);
}
END_TEST

/* Everything at once, with long names, keeps the limits that make() checks. */
START_TEST(of_everything)
{
	free(p->application);
	p->application = xstrdup(LONG LONG);
	ring();
	uint32_t main_ = find_stack(p, "main<init");

	for (int i = 0; i < 8; i++) {
		char *name = xasprintf(LONG LONG "%d\n\x1b[31m", i);

		add(main_, name, 100, 0, 700, 3, 1000, 4);
		free(name);
	}
	sort_random_stacks(p);
	p->lost_calls = p->lost_messages = p->lost_processes = UINT64_MAX;
	p->blocked_ns = UINT64_MAX / 2;
	p->cpu = (struct profile_cpu){.ns = UINT64_MAX,
		.wall_ns = 1,
		.queued_rank = PROFILE_UNRANKED - 1,
		.most_queued_ns = UINT64_MAX,
		.queued_wall_ns = 1};
	make();
	has(text, "waiting for the agent");
}
END_TEST

/* Ranks whose work is what ring() has, in windows of 1 s. */
static void ring_windows(void)
{
	static const uint64_t useful_ms[] = {300, 250, 230, 840};

	for (uint32_t i = 0; i < 4; i++)
		*ADD_ELEMENT(p, rank_times) = (struct profile_rank_time){.rank = i,
			.flags = RANK_HAS_MPI | RANK_LEFT_INIT | RANK_ENTERED_FINALIZE,
			.threads = 1,
			.team_threads = 1,
			.end_ns = 1000 * MS,
			.useful_ns = useful_ms[i] * MS,
			.all_useful_ns = useful_ms[i] * MS,
			.team_useful_ns = useful_ms[i] * MS,
			.team_most_ns = useful_ms[i] * MS,
			.mpi_ns = (1000 - useful_ms[i]) * MS,
			.all_mpi_ns = (1000 - useful_ms[i]) * MS};
}

/* `more' functions, and all lines that there may be: the efficiency and a whole sentence stay. */
static void make_full(uint32_t more)
{
	uint32_t main_;

	ring();
	ring_windows();
	main_ = find_stack(p, "main<init");
	for (uint32_t i = 0; i < more; i++) {
		char *name = xasprintf("function_%u_with_a_long_name_that_takes_some_room", i);

		add(main_, name, 1, 0, 2, 3, 5, 4);
		free(name);
	}
	sort_random_stacks(p);
	*ADD_ELEMENT(p, thread_pairs) =
		(struct profile_thread_pair){.from = 3, .to = 0, .late_ns = 300 * MS};
	*ADD_ELEMENT(p, gpu_devices) = (struct profile_gpu_device){.uuid = {1, 1}, .busy_ns = 5};
	p->cpu = (struct profile_cpu){.ns = 3900 * MS, .wall_ns = 4000 * MS};
	p->lost_calls = 1;
	*ADD_ELEMENT(p, dead) = (struct profile_process){
		.rank = 2, .pid = 5, .end = PROCESS_KILLED, .exit_status = 9};
	profile_warn(p, "something");
	make();
}

START_TEST(room_for_efficiency_and_finding)
{
	const char *first, *second;

	make_full((uint32_t)_i);
	in_order(text, (const char *const[]){"\n  efficiency: ", "\n  1. ", "compute < main",
			       "  imbalance: ", "  late senders: ", "  GPU: ", "  CPU: ",
			       "  tracing: ", "  lost: ", "  rank 2 was killed",
			       "  1 warning; files in /tmp/out\n", NULL});
	/* a sentence that is cut has a mark */
	first = strstr(text, "\n  1. ") + 1;
	second = strchr(first, '\n') + 1;
	if (!strncmp(second, "     ", 5) && second[5] != ' ')
		first = second;
	second = strchr(first, '\n');
	ck_assert_msg(
		second[-1] == '.' || memmem(first, (size_t)(second - first), "...", 3), "%s", text);
}
END_TEST

/* With one line left for it: clauses that fit, and no part of one. */
START_TEST(a_finding_ends_with_a_clause)
{
	make_full(8);
	*ADD_ELEMENT(p, openmp) =
		(struct profile_openmp){.stack = find_stack(p, "compute<main<init"),
			.ranks = 1,
			.average_ns = 300 * MS,
			.most_ns = 400 * MS};
	p->stacks[find_stack(p, "function_0_with_a_long_name_that_takes_some_room<main<init")]
		.estimated = true;
	make();
	has(text, "\n  1. Rank 3 has more work than the others, which costs 1.74 s (43 %) ...\n");
}
END_TEST

/* profile/prune.h: their names are no functions', but the time is for the same. */
START_TEST(parts_of_what_is_added_up)
{
	ck_assert_int_eq(digest_part_of(true, PRUNED_NAME), DIGEST_COMPUTING);
	ck_assert_int_eq(digest_part_of(true, "MPI_* " PRUNED_NAME), DIGEST_MPI);
	ck_assert_int_eq(digest_part_of(true, "omp_* waits " PRUNED_NAME), DIGEST_OPENMP_WAIT);
	ck_assert_int_eq(digest_part_of(true, "(idle) " PRUNED_NAME), DIGEST_OPENMP_IDLE);
	ck_assert_int_eq(digest_part_of(true, "lock waits " PRUNED_NAME), DIGEST_LOCK_WAIT);
	ck_assert_int_eq(digest_part_of(false, "lock waits " PRUNED_NAME), DIGEST_COMPUTING);
}
END_TEST

START_TEST(json_has_the_numbers)
{
	ring();
	free(summary());

	cJSON *json = parsed();
	const cJSON *s = cJSON_GetObjectItem(json, "summary");
	const cJSON *top = cJSON_GetArrayItem(cJSON_GetObjectItem(s, "top"), 0);
	const cJSON *im = cJSON_GetObjectItem(s, "imbalance");
	const cJSON *digest = cJSON_GetObjectItem(json, "digest");

	ck_assert_double_eq_tol(number(s, "t_s"), 4.0, 1e-9);
	ck_assert_double_eq_tol(number(s, "computing_s"), 1.62, 1e-9);
	ck_assert_double_eq_tol(number(s, "mpi_s"), 1.38, 1e-9);
	ck_assert_double_eq_tol(number(s, "mpi_start_end_s"), 1.0, 1e-9);
	ck_assert_double_eq_tol(number(s, "hooks_s"), 0.003, 1e-9);
	ck_assert_str_eq(string(top, "function"), "compute");
	ck_assert_str_eq(string(top, "caller"), "main");
	ck_assert_double_eq_tol(number(top, "t_excl_s"), 1.6, 1e-9);
	ck_assert_double_eq(number(im, "rank"), 3);
	ck_assert_double_eq_tol(number(im, "t_max_s"), 0.84, 1e-9);
	ck_assert_double_eq_tol(number(im, "t_mean_s"), 0.4, 1e-9);
	ck_assert_double_eq_tol(number(im, "t_min_s"), 0.2, 1e-9);
	make();
	ck_assert_int_eq(cJSON_GetArraySize(digest), 10);
	for (int i = 0; i < 9; i++) /* the last one names the folder */
		has(text, cJSON_GetArrayItem(digest, i)->valuestring);
	cJSON_Delete(json);
}
END_TEST

START_TEST(layout_vftrace_has_none)
{
	free(conf->output_layout);
	conf->output_layout = xstrdup("vftrace");
	ring();
	char *log = summary();
	cJSON *json = parsed();

	has_not(log, "imbalance:");
	ck_assert_ptr_null(cJSON_GetObjectItem(json, "digest"));
	ck_assert_ptr_null(cJSON_GetObjectItem(json, "summary"));
	cJSON_Delete(json);
	free(log);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {of_ranks, of_two_jobs, of_one_process, of_nothing,
		of_nothing_with_a_warning, of_stack_samples, of_counted_functions,
		of_a_rank_that_alone_works, of_few_samples, of_many_samples,
		of_a_guess_for_each_rank, of_several_paths, of_a_recursive_caller, of_an_even_job,
		of_deaths_and_losses, of_threads_and_gpus, parts_on_two_lines,
		of_workers_that_wait_for_their_team, of_late_senders, of_the_cpus,
		of_a_program_that_sleeps, of_a_program_that_sleeps_in_mpi, of_pauses, of_everything,
		a_finding_ends_with_a_clause, parts_of_what_is_added_up, json_has_the_numbers,
		layout_vftrace_has_none};
	Suite *s = suite_create("digest");
	TCase *c = tcase_create("digest");

	tcase_add_checked_fixture(c, setup, end);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, of_locks, 0, 2);
	tcase_add_loop_test(c, room_for_efficiency_and_finding, 0, 8);
	tcase_add_loop_test(c, of_python, 0, 6);
	tcase_add_test(c, of_locks_that_libraries_wait_for);
	suite_add_tcase(s, c);
	return run_suite(s);
}
