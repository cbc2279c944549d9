/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From processes to the communication of a profile: by stack, function, pair of
 * ranks, communicator, file and place; jobs that were spawned; one process alone.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/process/host.h"
#include "nodeagent/gather/gather.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/process/names.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/base/util.h"
#include "shm/message.h"
#include "t/lib/suite.h"
#include "t/unit/profile/profile-path.h"

#define START ((uint64_t)3 << RECORD_TIME_BITS)
#define FN(f) (RECORD_ID_MPI + VFTR_MPI_##f)
#define WORLD 1u
#define ROOM  200

static const struct replay_epoch no_epoch;
static struct host a;
static struct profile *profile;

/* ---- making processes ---------------------------------------------------------- */

static struct process *start(int rank, int size, uint64_t job, bool spawned)
{
	struct process *p = process_new(&a, -1, 0);
	struct wire_rank m = {.rank = rank, .size = size, .job = job, .spawned = spawned};
	struct {
		struct wire_comm m;
		struct wire_run run;
	} world = {{.number = WORLD, .id = 100 + job, .size = (uint32_t)size, .runs = 1},
		{0, 1, size}};

	p->greeted = true;
	p->executable = xstrdup("/bin/program");
	p->start_ticks = START + a.n_ever++;
	p->end_ticks = START + 1000000;
	process_enlist(p);
	if (rank >= 0) {
		process_set_rank(p, &m);
		world.m.head = (struct wire_head){WIRE_COMM, sizeof(world.run), START};
		ck_assert_ptr_null(traffic_define_comm(p->traffic, &world.m, sizeof(world.run)));
	}
	return p;
}

static uint64_t words[ROOM];
static unsigned used;
static uint64_t ticks;

static void in(uint32_t id)
{
	words[used++] = record_word(++ticks, 0, id);
}

static void out(uint32_t id)
{
	words[used++] = record_word(++ticks, RECORD_EXIT, id);
}

static void more(size_t n, const uint64_t *w)
{
	memcpy(words + used, w, n * sizeof(*w));
	used += (unsigned)n;
}

#define PUT(...) more(sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static void message(enum record_id kind, uint32_t peer, uint64_t bytes)
{
	PUT(message_head(kind, 7), message_pair(0, peer), message_subject(WORLD, 0, 0),
		message_last(0, bytes));
}

static void begin(void)
{
	memset(words, 0, sizeof(words));
	words[0] = record_sync_word(START);
	used = 1;
	ticks = START;
}

/* The words so far were a thread of p. */
static void thread_of(struct process *p)
{
	static uint64_t block[BLOCK_WORDS];
	struct replay *r = replay_new(START, NULL, NULL);
	struct traffic_track *l = traffic_track_new(p->traffic, replay_tree(r));
	struct calltree *tree;

	memcpy(block, words, sizeof(words));
	replay_set_track(r, l);
	ck_assert_ptr_null(
		replay_block(r, block, 0, BLOCK_WORDS, &no_epoch, START + ((uint64_t)1 << 33)));
	replay_end(r, ticks);
	tree = replay_take_tree(r);
	calltree_add(p->ended_tree, tree);
	traffic_track_end(l, p->ended_tree);
	calltree_free(tree);
	replay_free(r);
	begin();
}

static void gather_all(void)
{
	for (struct process *p = a.processes; p; p = p->next)
		p->ended = true;
	gather_ranks(&a);
	profile = gather(&a, NULL);
	ck_assert_ptr_null(profile_valid(profile));
}

static void setup(void)
{
	static char host[] = "node7";

	a = (struct host){.conf = conf_default(), .name = host};
	a.clocks.ns_per_tick = 2;
	a.symbols = symcache_new(&a);
	begin();
}

static void teardown(void)
{
	profile_free(profile);
	profile = NULL;
	while (a.processes)
		process_free(a.processes);
	a.live = NULL;
	symcache_free(a.symbols);
	conf_free(a.conf);
}

static void pair(size_t i, uint32_t from, uint32_t to, uint64_t sends, uint64_t sent,
	uint64_t receives, uint64_t received)
{
	const struct profile_pair *q = &profile->pairs[i];

	ck_assert_uint_lt(i, profile->n_pairs);
	ck_assert_uint_eq(q->from, from);
	ck_assert_uint_eq(q->to, to);
	ck_assert_uint_eq(q->sends, sends);
	ck_assert_uint_eq(q->bytes_sent, sent);
	ck_assert_uint_eq(q->receives, receives);
	ck_assert_uint_eq(q->bytes_received, received);
}

/* ---- tests ------------------------------------------------------------------------- */

START_TEST(two_ranks)
{
	struct process *p = start(0, 4, 1, false), *q = start(1, 4, 1, false);
	const struct profile_messages *m;
	const struct profile_function *f;
	char *path;

	for (int i = 0; i < 3; i++) {
		in(FN(SEND));
		message(RECORD_SEND, 1, 1000);
		ticks += 99;
		out(FN(SEND));
	}
	thread_of(p);
	in(FN(RECV));
	message(RECORD_RECV, 0, 1000);
	ticks += 9;
	out(FN(RECV));
	in(FN(SEND));
	message(RECORD_SEND, 0, 5);
	out(FN(SEND));
	in(FN(SEND));
	message(RECORD_SEND, 3, 5);
	out(FN(SEND));
	thread_of(q);
	q->ended_lost_messages = 12;
	gather_all();

	ck_assert_uint_eq(profile->n_messages, 2);
	for (size_t i = 0; i < 2; i++) {
		m = &profile->messages[i];
		path = profile_path(profile, m->stack);
		if (m->receives)
			ck_assert_str_eq(path, "MPI_Recv<init");
		else
			ck_assert_str_eq(path, "MPI_Send<init");
		free(path);
		if (m->receives) {
			ck_assert_uint_eq(m->receives, 1);
			ck_assert_uint_eq(m->receive_ns, 20);
			ck_assert_uint_eq((uint64_t)m->receive_bandwidth, 50000000000ull);
			continue;
		}
		ck_assert_uint_eq(m->sends, 5);
		ck_assert_uint_eq(m->bytes_sent, 3010);
		ck_assert_uint_eq(m->send_ns, 3 * 200 + 2 * 2);
	}

	ck_assert_uint_eq(profile->n_functions, 2);
	f = &profile->functions[0];
	ck_assert_uint_eq(f->id, VFTR_MPI_SEND);
	ck_assert_uint_eq(f->ranks, 2);
	ck_assert_uint_eq(f->calls, 5);
	ck_assert_uint_eq(f->ns, 604);
	ck_assert_uint_eq(f->min_ns, 4);
	ck_assert_uint_eq(f->max_ns, 600);
	ck_assert_uint_eq(f->rank_min, 1);
	ck_assert_uint_eq(f->rank_max, 0);
	ck_assert_uint_eq((uint64_t)f->sumsq_ns2, 360016);
	ck_assert_uint_eq(f->sends, 5);
	ck_assert_uint_eq(profile->functions[1].receives, 1);

	ck_assert_uint_eq(profile->n_pairs, 3);
	pair(0, 0, 1, 3, 3000, 1, 1000);
	pair(1, 1, 0, 1, 5, 0, 0);
	pair(2, 1, 3, 1, 5, 0, 0);
	ck_assert_uint_eq(profile->n_sizes, 2);
	ck_assert_uint_eq(profile->sizes[0].log2, 3);
	ck_assert_uint_eq(profile->sizes[1].sends, 3);
	ck_assert_uint_eq(profile->n_comms, 1);
	ck_assert_uint_eq(profile->comms[0].ranks, 2);
	ck_assert_uint_eq(profile->comms[0].sends, 5);
	ck_assert_uint_eq(profile->n_rank_ranges, 1);
	ck_assert_uint_eq(profile->rank_ranges[0].first, 0);
	ck_assert_uint_eq(profile->rank_ranges[0].last, 1);
	ck_assert_str_eq(profile->rank_ranges[0].host, "node7");
	ck_assert_uint_eq(profile->lost_messages, 12);
	ck_assert_uint_eq(profile->open_requests, 0);
	profile_free(profile);

	profile = gather(&a, q);
	ck_assert_uint_eq(profile->n_pairs, 3);
	pair(0, 0, 1, 0, 0, 1, 1000);
	ck_assert_uint_eq(profile->n_rank_ranges, 1);
	ck_assert_uint_eq(profile->rank_ranges[0].first, 1);
	ck_assert_uint_eq(profile->functions[0].calls, 2);
}
END_TEST

/* Through a callback a function is open in itself: its time counts once. */
START_TEST(nested_functions)
{
	struct process *p = start(0, 1, 1, false);

	in(FN(ALLREDUCE));
	in(0x10000);
	in(FN(SEND));
	in(0x20000);
	in(FN(ALLREDUCE));
	out(FN(ALLREDUCE));
	out(0x20000);
	out(FN(SEND));
	out(0x10000);
	out(FN(ALLREDUCE));
	thread_of(p);
	gather_all();
	ck_assert_uint_eq(profile->n_functions, 2);
	ck_assert_uint_eq(profile->functions[0].id, VFTR_MPI_SEND);
	ck_assert_uint_eq(profile->functions[0].ns, 10);
	ck_assert_uint_eq(profile->functions[1].calls, 2);
	ck_assert_uint_eq(profile->functions[1].ns, 18);
}
END_TEST

/* A spawned job has ranks of its own: they are not those of the main job. */
START_TEST(spawned_jobs)
{
	struct process *child0 = start(0, 3, 2, true), *child1 = start(1, 3, 2, true);
	struct process *main0 = start(0, 2, 1, false), *alone = start(-1, 0, 0, false);

	child0->rank_hint = 0;
	in(FN(SEND));
	message(RECORD_SEND, 1, 8);
	message(RECORD_SEND, 2, 8); /* on another node */
	out(FN(SEND));
	thread_of(child0);
	in(FN(RECV));
	message(RECORD_RECV, 0, 8);
	out(FN(RECV));
	thread_of(child1);
	in(FN(SEND));
	message(RECORD_SEND, 1, 8);
	out(FN(SEND));
	thread_of(main0);
	in(FN(SEND)); /* on no communicator at all */
	PUT(message_head(RECORD_SEND, 7), 0, 0, message_last(0, 8));
	out(FN(SEND));
	thread_of(alone);
	ck_assert_int_eq(child0->rank, WIRE_UNKNOWN);
	child0->rank_hint = WIRE_UNKNOWN; /* as process_set_rank() leaves it */
	gather_all();
	ck_assert_uint_eq(profile->world_size, 2);
	ck_assert_uint_eq(profile->unranked, 3);
	ck_assert_int_eq(child1->rank, child0->rank + 1);
	ck_assert_uint_eq(profile->n_pairs, 4);
	pair(0, 0, 1, 1, 8, 0, 0);
	pair(1, (uint32_t)child0->rank, (uint32_t)child1->rank, 1, 8, 1, 8);
	pair(2, (uint32_t)child0->rank, PROFILE_ELSEWHERE, 1, 8, 0, 0);
	pair(3, (uint32_t)alone->rank, PROFILE_ELSEWHERE, 1, 8, 0, 0);
	ck_assert_uint_eq(profile->n_rank_ranges, 1);
}
END_TEST

START_TEST(files_and_places)
{
	struct process *p[4] = {start(0, 9, 1, false), start(1, 9, 1, false), start(3, 9, 1, false),
		start(4, 9, 1, false)};
	static const char *const names[] = {"b", "a", "b", "c"};

	for (int i = 0; i < 4; i++) {
		struct wire_object f = {.head = {WIRE_FILE, 2, START}, .number = 1, .comm = WORLD};

		ck_assert_ptr_null(traffic_define_object(p[i]->traffic, WIRE_FILE, &f, names[i]));
		in(FN(FILE_WRITE));
		PUT(message_head(RECORD_FILE, VFTR_MPI_FILE_WRITE), message_pair(1, 0), 0,
			message_last(MESSAGE_WRITE, 10));
		out(FN(FILE_WRITE));
		thread_of(p[i]);
	}
	gather_all();
	ck_assert_uint_eq(profile->n_files, 3);
	ck_assert_str_eq(profile->files[0].name, "a");
	ck_assert_str_eq(profile->files[1].name, "b");
	ck_assert_uint_eq(profile->files[1].ranks, 2);
	ck_assert_uint_eq(profile->files[1].opens, 2);
	ck_assert_uint_eq(profile->files[1].bytes_written, 20);
	ck_assert_uint_eq(profile->files[1].write_ns, 4);
	ck_assert_uint_eq(profile->n_rank_ranges, 2);
	ck_assert_uint_eq(profile->rank_ranges[1].first, 3);
	ck_assert_uint_eq(profile->rank_ranges[1].last, 4);
}
END_TEST

START_TEST(without_mpi)
{
	struct process *p = start(-1, 0, 0, false);

	in(0x10000);
	out(0x10000);
	thread_of(p);
	gather_all();
	ck_assert_uint_eq(profile->n_messages + profile->n_functions + profile->n_pairs +
				  profile->n_comms + profile->n_rank_ranges,
		0);
}
END_TEST

/* It has waited for a CPU for 3 ms since it connected, and has begun 2 ms before its end. */
START_TEST(queued_before_it_began)
{
	struct process *p = start(0, 1, 1, false);

	p->cpu_before = (struct cpu_used){.cpu = 1000, .queued = 500};
	p->cpu = (struct cpu_used){.cpu = 101000, .queued = 3000500};
	gather_all();
	ck_assert_uint_eq(profile->processes[0].queued_ns, 2000000);
	ck_assert_uint_eq(profile->cpu.queued_ns, 2000000);
	ck_assert_uint_eq(profile->cpu.most_queued_ns, 2000000);
	ck_assert_uint_le(profile->cpu.queued_wall_ns, 2000000);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {queued_before_it_began, two_ranks, nested_functions,
		spawned_jobs, files_and_places, without_mpi};
	Suite *s = suite_create("gather");
	TCase *c = tcase_create("gather");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
