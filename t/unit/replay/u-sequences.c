/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two replays of the same words, one with sequences and one without: after each block they have the
 * same frames and counts, and whenever sequences are settled the same trees. The words are those of
 * random programs, which repeat themselves, and of random faults in them.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/sequences.h"
#include "mpi_id.h"
#include "nodeagent/replay/tree/iterations.h"
#include "nodeagent/replay/tree/period.h"
#include "nodeagent/trace/read/file.h"
#include "shm/record.h"
#include "t/lib/suite.h"

#define F(n)  (0x100000u + (n))
#define START ((uint64_t)3 << RECORD_TIME_BITS)
#define NOW   (START + ((uint64_t)1 << 33))

#define FUNCTIONS 24
#define CALLS	  5

static const struct replay_epoch no_epoch;
static uint64_t block[BLOCK_WORDS];
static unsigned used;
static uint64_t ticks, last, based; /* last: of the word before */

static int same(void *ctx, uint64_t key, uint64_t site)
{
	(void)ctx;
	return key == site;
}

static uint64_t state;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % n);
}

/* ---- a program: what each function calls -------------------------------------------------- */

static struct function {
	uint32_t id;
	struct {
		uint32_t callee, times, one_in; /* it is called once in so many times */
	} call[CALLS];
} functions[FUNCTIONS];

static bool mpi; /* some functions are of MPI */

static void make_program(bool regular)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		functions[i].id = below(8)	     ? F(i * 16)
				  : below(3) || !mpi ? RECORD_ID_REGION + i
						     : RECORD_ID_MPI + VFTR_MPI_BARRIER;
		for (uint32_t k = 0; k < CALLS; k++) {
			/* mostly deeper ones, as no program calls itself for ever */
			const uint32_t deeper = i + 1 + below(FUNCTIONS - i);

			functions[i].call[k].callee = below(12) ? deeper : i;
			functions[i].call[k].times = below(3);
			functions[i].call[k].one_in = regular || below(4) ? 1 : 1 + below(6);
		}
	}
}

/* ---- two replays -------------------------------------------------------------------------- */

static struct replay *known, *two[2];
static uint64_t bytes_of_calls[2]; /* in the files */
static uint64_t jitter;		   /* one word in so many is earlier than the one before; 0: none */

/* ---- their sampling files ----------------------------------------------------------------- */

static bool in_files; /* all calls go to sampling files */
static unsigned block_bytes;
static char paths[2][64];
static struct sampled_track samples[2];

static struct {
	uint64_t keys[256];
	uint32_t n;
} known_keys; /* the function of keys[i] is i in both files */

static uint32_t function_of(void *ctx, uint64_t key)
{
	const uint64_t *at = FIND(k, known_keys.keys, known_keys.n, *k == key);

	(void)ctx;
	if (at)
		return (uint32_t)(at - known_keys.keys);
	ck_assert_uint_lt(known_keys.n, ARRAY_SIZE(known_keys.keys));
	known_keys.keys[known_keys.n] = key;
	for (int i = 0; i < 2; i++)
		vfd_define_function(
			samples[i].ctx, &(struct vfd_function){.process = VFD_NONE, .name = "f"});
	return known_keys.n++;
}

static bool none_is_precise(void *ctx, uint64_t key)
{
	(void)ctx;
	(void)key;
	return false;
}

static void begin_file(int i)
{
	static const struct sampled_numbers numbers = {
		.function = function_of, .is_precise = none_is_precise};
	const struct vfd_setup setup = {.path = paths[i],
		.ns_per_tick = 0.4,
		.start_ticks = START,
		.block_bytes = block_bytes,
		.buffer_bytes = 16 << 20};
	char *error;

	snprintf(paths[i], sizeof(paths[i]), "/tmp/u-sequences-%d-%d.vfd", i, (int)getpid());
	samples[i] = (struct sampled_track){.numbers = &numbers};
	samples[i].ctx = vfd_writer_new(&setup, &error);
	ck_assert_msg(samples[i].ctx, "%s", error);
	vfd_define_process(samples[i].ctx, &(struct vfd_process){.executable = "/bin/app"});
	samples[i].track = vfd_track_new(samples[i].ctx, &(struct vfd_thread){.creator = VFD_NONE});
	replay_set_sampled(two[i], &samples[i]);
}

static struct vfd_file *end_file(int i)
{
	struct vfd_file *f;
	char *error;
	size_t n;

	vfd_track_end(samples[i].track, ticks + 2000);
	ck_assert_int_eq(vfd_writer_close(samples[i].ctx, ticks + 2000, 60), 0);
	map64_free(&samples[i].stacks);
	f = vfd_open(paths[i], &error);
	ck_assert_msg(f, "%s", error);
	vfd_damage(f, &n);
	ck_assert_uint_eq(n, 0);
	unlink(paths[i]);
	return f;
}

static uint32_t function_in(const struct vfd_file *f, const struct vfd_event *e)
{
	size_t n;

	return vfd_stacks(f, e->track, &n)[e->stack].function;
}

/* The files have the same events at the same times. */
static void same_files(void)
{
	const struct vfd_filter filter = {.track = VFD_NONE, .raw = true};
	struct vfd_file *f[2] = {end_file(0), end_file(1)};
	struct vfd_cursor *c[2] = {
		vfd_cursor_new(&f[0], 1, &filter), vfd_cursor_new(&f[1], 1, &filter)};
	struct vfd_event a, b;

	ck_assert_uint_eq(vfd_facts(f[0])->samples, vfd_facts(f[1])->samples);
	while (vfd_next(c[0], &a)) {
		ck_assert(vfd_next(c[1], &b));
		if (a.kind == b.kind && a.time == b.time &&
			function_in(f[0], &a) == function_in(f[1], &b))
			continue;
		ck_abort_msg("kind %d %d, time %ld %ld, function %u %u", a.kind, b.kind, a.time,
			b.time, function_in(f[0], &a), function_in(f[1], &b));
	}
	ck_assert(!vfd_next(c[1], &b));
	for (int i = 0; i < 2; i++) {
		bytes_of_calls[i] += vfd_facts(f[i])->block_bytes[VFD_BLOCK_SAMPLES];
		vfd_cursor_free(c[i]);
		vfd_close(f[i]);
	}
}

static void begin_two(const struct sequence_code *code, bool kept)
{
	known_keys.n = 0;
	for (int i = 0; i < 2; i++) {
		two[i] = replay_new(START, same, NULL);
		two[i]->sequences_from = i ? 0 : UINT64_MAX;
		if (kept)
			two[i]->activity = activity_new(START);
	}
	known = two[1];
	known->sequences = sequences_new();
	sequences_use(known->sequences, code);
	for (int i = 0; i < 2 && in_files; i++)
		begin_file(i);
}

static void end_two(void)
{
	for (int i = 0; i < 2; i++) {
		free(two[i]->activity);
		replay_free(two[i]);
	}
}

static void same_frames(void)
{
	const struct replay *a = two[0], *b = two[1];

	ck_assert_int_eq(a->top - a->base, b->top - b->base);
	for (long i = 0; i <= a->top - a->base; i++) {
		const struct frame *f = a->base + i, *g = b->base + i;

		ck_assert_int_eq(!f->node, !g->node);
		ck_assert(!f->node || f->node->key == g->node->key);
		ck_assert_uint_eq(f->depth, g->depth);
		ck_assert_msg(f->since == g->since, "frame %ld: %lu %lu", i, f->since, g->since);
	}
	ck_assert_mem_eq(&a->counts, &b->counts, sizeof(a->counts));
	if (!jitter) /* or the last one is not the latest */
		ck_assert_uint_eq(a->now, b->now);
	ck_assert_uint_eq(a->slow, b->slow);
}

/* Made in the same order, as sequences make none. */
static void same_trees(void)
{
	struct calltree *a = replay_tree(two[0]), *b = replay_tree(two[1]);

	ck_assert_uint_eq(calltree_nodes(a), calltree_nodes(b));
	for (size_t i = 0; i < calltree_nodes(a); i++) {
		const struct node *x = calltree_at(a, i), *y = calltree_at(b, i);

		ck_assert_uint_eq(x->key, y->key);
		ck_assert_msg(x->calls == y->calls && x->ticks == y->ticks,
			"node %zu: %lu %lu calls, %lu %lu ticks", i, x->calls, y->calls, x->ticks,
			y->ticks);
		ck_assert_uint_eq(calltree_first(x), calltree_first(y));
	}
}

static void same_activity(void)
{
	const struct activity *a = two[0]->activity, *b = two[1]->activity;

	if (!a)
		return;
	ck_assert_uint_eq(a->n, b->n);
	for (uint64_t i = 0; i < a->n && i < ACTIVITY_CALLS; i++) {
		const struct activity_call *x = &a->at[i], *y = &b->at[i];

		ck_assert_uint_eq(x->node->key, y->node->key);
		ck_assert_uint_eq(x->node->parent->key, y->node->parent->key);
		ck_assert_uint_eq(x->since, y->since);
		ck_assert_uint_eq(x->until, y->until);
	}
}

/* Where a record begins. */
static unsigned some_record(void)
{
	const unsigned most = 1 + below(BLOCK_WORDS - 1);
	unsigned i = 0, words = 1;

	for (; i < most && i + words <= BLOCK_WORDS; i += words)
		words = block[i] ? record_words(block[i]) : 1;
	return i;
}

/* Sometimes in two parts, as an agent does that comes while a block is written. */
static void replay_both(void)
{
	const unsigned middle = below(4) ? BLOCK_WORDS : some_record();

	for (int i = 0; i < 2 && used; i++) {
		const char *why = replay_block(two[i], block, 0, middle, &no_epoch, NOW);

		if (!why && middle < BLOCK_WORDS)
			why = replay_block(two[i], block, middle, BLOCK_WORDS, &no_epoch, NOW);
		ck_assert_msg(!why, "%s", why);
	}
	memset(block, 0, sizeof(block));
	used = 0;
	same_frames();
	if (!below(8))
		same_trees();
}

static uint64_t budget; /* words that the program may still write */

static void write_word(uint64_t exit_bit, uint32_t id, uint64_t payload)
{
	const uint64_t t = ticks, word = record_word(ticks, exit_bit, id);

	if (used + 8 > BLOCK_WORDS)
		replay_both();
	if (!used || t >> RECORD_TIME_BITS != based >> RECORD_TIME_BITS)
		block[used++] = record_sync_word(t);
	based = t;
	block[used++] = word;
	for (unsigned n = record_words(word); n > 1; n--)
		block[used++] = payload;
	budget -= budget > 0;
	last = ticks;
	ticks += below(100);
	if (jitter && !below((uint32_t)jitter))
		ticks -= below(300);
}

static unsigned faults; /* one word in so many; 0: none */

static void put_fault(void)
{
	switch (below(6)) {
	case 0:
		write_word(RECORD_EXIT, functions[below(FUNCTIONS)].id, 0);
		break;
	case 1:
		write_word(0, functions[below(FUNCTIONS)].id, 0);
		break;
	case 2:
		write_word(0, RECORD_WIDE, 0x7f0000000000u + below(64));
		break;
	case 3:
		write_word(0, RECORD_CLOSE, 1 + below(3));
		break;
	case 4:
		write_word(0, RECORD_PAUSE, 1);
		break;
	default:
		write_word(0, RECORD_RESUME, 1 + below(3));
		break;
	}
}

static void maybe_fault(void)
{
	const uint64_t now = ticks;

	if (!faults || below(faults))
		return;
	if (below(2)) /* at the same time as the word before */
		ticks = last;
	put_fault();
	if (ticks < now)
		ticks = now;
}

static void run_function(uint32_t i, unsigned depth)
{
	const struct function *f = &functions[i];

	write_word(0, f->id, 0);
	for (unsigned k = 0; k < CALLS && depth < 40 && budget; k++)
		for (unsigned n = 0; n < f->call[k].times; n++)
			if (f->call[k].callee < FUNCTIONS && !below(f->call[k].one_in))
				run_function(f->call[k].callee, depth + 1);
	maybe_fault();
	write_word(RECORD_EXIT, f->id, 0);
}

/* Returns the part of the words that sequences took. */
static double run_program(const struct sequence_code *code, uint64_t words, bool regular, bool kept)
{
	uint64_t records, taken;

	make_program(regular);
	used = 0;
	ticks = last = based = START;
	begin_two(code, kept);
	for (budget = words; budget;)
		run_function(0, 0);
	replay_both();
	same_trees();
	same_activity();
	taken = sequences_taken(known->sequences);
	records = known->counts.records;
	for (int i = 0; i < 2; i++)
		replay_end(two[i], ticks + 1000);
	same_trees();
	same_frames();
	if (in_files)
		same_files();
	end_two();
	return (double)taken / (double)records;
}

static void run_programs(unsigned n, bool regular, bool kept)
{
	const struct sequence_code *code;
	double most = 0;

	for (unsigned i = 0; (code = sequence_code(i)); i++)
		for (state = 1; state <= n; state++) {
			const uint64_t seed = state;
			const double part = run_program(code, 20000, regular, kept);

			most = part > most ? part : most;
			state = seed;
		}
	ck_assert_double_gt(most, 0.5);
}

START_TEST(regular_programs)
{
	run_programs(60, true, false);
}
END_TEST

START_TEST(irregular_programs)
{
	run_programs(60, false, false);
}
END_TEST

START_TEST(calls_are_kept)
{
	run_programs(30, true, true);
	run_programs(30, false, true);
}
END_TEST

/* With sequences, most events are those of runs, which take a few bytes; blocks are short, so that
 * runs go on in the next one. */
START_TEST(calls_are_in_files)
{
	static const unsigned blocks[] = {0, 1024, 4096};

	in_files = true;
	EACH(const unsigned, bytes, blocks, ARRAY_SIZE(blocks)) {
		block_bytes = *bytes;
		run_programs(8, true, true);
		/* random times are most of it; short blocks have much beside calls */
		ck_assert_uint_lt(bytes_of_calls[1] * 10, bytes_of_calls[0] * 9);
		run_programs(8, false, false);
		faults = 60;
		run_programs(8, true, false);
		faults = 0;
		jitter = 50;
		run_programs(8, false, false);
		jitter = 0;
	}
	in_files = false;
}
END_TEST

START_TEST(faults_between)
{
	faults = 200;
	run_programs(60, true, false);
	faults = 40;
	run_programs(60, false, true);
	faults = 0;
}
END_TEST

/* Time that goes backwards is no time: such words are none of a sequence. */
START_TEST(time_goes_backwards)
{
	jitter = 50;
	run_programs(60, true, true);
	jitter = 0;
}
END_TEST

/* Each way to compare words stops at the same one, and adds the same. */
START_TEST(ways_to_compare)
{
	const struct sequence_code *code, *plain = NULL;

	for (unsigned i = 0; (code = sequence_code(i)); i++)
		plain = code;
	for (state = 1; state < 20000; state++) {
		uint64_t word[80], like[80], sum[80], sum_of[80], now = START + below(1000);
		const unsigned n = below(65), at = below(16);
		uint32_t times[80], wanted_times[80];

		for (unsigned i = 0; i < 80; i++) {
			ticks = i ? ticks + below(3) - !below(200) : now + below(2);
			word[i] = record_word(ticks, below(2) ? RECORD_EXIT : 0, F(below(4)));
			like[i] = word[i] & (RECORD_EXIT | UINT32_MAX);
			like[i] ^= !below(100);
			sum[i] = sum_of[i] = below(1000);
		}
		for (unsigned i = 0; (code = sequence_code(i)); i++) {
			memcpy(sum, sum_of, sizeof(sum));
			const unsigned m =
				code->compare(word + at % 4, like + at % 4, sum, n, START, now);
			uint64_t wanted[80];

			memcpy(wanted, sum_of, sizeof(wanted));
			ck_assert_uint_eq(m, plain->compare(word + at % 4, like + at % 4, wanted, n,
						     START, now));
			ck_assert_mem_eq(sum, wanted, sizeof(sum));
			ck_assert_uint_eq(code->shape(word + at), plain->shape(word + at));
			code->times(times, word + at % 4, n, START, now);
			plain->times(wanted_times, word + at % 4, n, START, now);
			ck_assert_mem_eq(times, wanted_times, n * sizeof(*times));
		}
	}
}
END_TEST

/* ---- what is known of main loops ---------------------------------------------------------- */

#define SLOW 15000

static void same_iterations(struct iterations *a, struct iterations *b)
{
	unsigned shift, other;

	ck_assert_int_eq(!a, !b);
	if (!a)
		return;
	ck_assert_uint_eq(iterations_count(a, &shift), iterations_count(b, &other));
	ck_assert_uint_eq(iterations_runs(a), iterations_runs(b));
	for (size_t i = 0; i < iterations_runs(a); i++) {
		const struct iteration_run *x = iterations_run(a, i), *y = iterations_run(b, i);

		ck_assert_uint_eq(x->ticks, y->ticks);
		ck_assert_uint_eq(x->mpi_ticks, y->mpi_ticks);
		ck_assert_uint_eq(x->since, y->since);
		ck_assert_uint_eq(x->most_at, y->most_at);
		if (!mpi && x->ticks > SLOW) /* others may be left out */
			ck_assert_uint_eq(x->most_key, y->most_key);
	}
}

static void same_periods(const struct period *a, const struct period *b)
{
	struct period_loop x, y;
	bool more;

	ck_assert_int_eq(!a, !b);
	for (size_t i = 0; a; i++) {
		more = period_loop(a, i, &x);
		ck_assert_int_eq(more, period_loop(b, i, &y));
		if (!more)
			return;
		ck_assert_uint_eq(x.key, y.key);
		ck_assert_int_eq(x.is_first, y.is_first);
		ck_assert_uint_eq(x.first, y.first);
		same_iterations(x.iterations, y.iterations);
	}
}

/* Frames with an extra that is watched are entered and left one by one. */
static void run_watched(const struct sequence_code *code, uint64_t words)
{
	make_program(below(2));
	begin_two(code, below(2));
	for (int i = 0; i < 2; i++)
		replay_watch_iterations(two[i], 200);
	used = 0;
	ticks = last = based = START;
	for (budget = words; budget;)
		run_function(0, 0);
	replay_both();
	same_trees();
	for (size_t i = 0; i < calltree_nodes(two[0]->tree); i++) {
		const struct node_extra *x = calltree_at(two[0]->tree, i)->extra,
					*y = calltree_at(two[1]->tree, i)->extra;

		ck_assert_int_eq(!x, !y);
		if (!x)
			continue;
		ck_assert_int_eq(x->watched, y->watched);
		same_iterations(x->iterations, y->iterations);
		same_periods(x->period, y->period);
	}
	end_two();
}

static void call(uint32_t id, unsigned times)
{
	while (times--) {
		write_word(0, id, 0);
		write_word(RECORD_EXIT, id, 0);
	}
}

/* A loop in main without a function, after something else; now and then one call is slow. */
static void run_loop(unsigned tail)
{
	begin_two(sequence_code(0), false);
	for (int i = 0; i < 2; i++)
		replay_watch_iterations(two[i], 200);
	used = 0;
	ticks = last = based = START;
	write_word(0, F(0), 0);
	call(F(1), 40);
	for (unsigned i = 0; i < 300; i++) {
		call(F(2), 20);
		write_word(0, F(3), 0);
		ticks += i % 50 == 20 ? 2 * SLOW : 0;
		write_word(RECORD_EXIT, F(3), 0);
		call(RECORD_ID_MPI + VFTR_MPI_BARRIER, 1);
		call(F(4), tail);
	}
	write_word(RECORD_EXIT, F(0), 0);
	replay_both();
	for (int i = 0; i < 2; i++)
		replay_end(two[i], ticks);
	ck_assert_uint_eq(calltree_nodes(two[0]->tree), calltree_nodes(two[1]->tree));
	ck_assert_ptr_nonnull(calltree_at(two[0]->tree, 1)->extra->period);
	same_periods(calltree_at(two[0]->tree, 1)->extra->period,
		calltree_at(two[1]->tree, 1)->extra->period);
	end_two();
}

START_TEST(loops_without_a_function)
{
	for (state = 1; state < 20; state++)
		run_loop(state % 3 == 2 ? 40 : state % 3);
}
END_TEST

START_TEST(main_loops)
{
	mpi = true;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		state = seed;
		run_watched(sequence_code(0), 20000);
	}
	mpi = false;
}
END_TEST

/* ---- what a review has found -------------------------------------------------------------- */

static void both_take(unsigned from, unsigned to)
{
	for (int i = 0; i < 2; i++)
		ck_assert_ptr_null(replay_block(two[i], block, from, to, &no_epoch, NOW));
	same_frames();
}

/* The words before a CLOSE were those of a sequence that goes on behind it, at one time. */
START_TEST(a_record_of_the_same_time_ends_it)
{
	for (unsigned at = 20; at < 56; at++) {
		begin_two(sequence_code(0), true);
		for (unsigned n = 0; n < 6; n++) {
			memset(block, 0, sizeof(block));
			block[0] = record_sync_word(START);
			for (unsigned i = 1; i + 3 < BLOCK_WORDS; i += 4) {
				block[i] = record_word(START, 0, F(0));
				block[i + 1] = record_word(START, 0, F(0));
				block[i + 2] = record_word(START, RECORD_EXIT, F(0));
				block[i + 3] = record_word(START, RECORD_EXIT, F(0));
			}
			if (n < 5) { /* it is learnt */
				both_take(0, BLOCK_WORDS);
				continue;
			}
			both_take(0, 5 + at);
			memmove(&block[7 + at], &block[5 + at],
				(BLOCK_WORDS - 7 - at) * sizeof(*block));
			block[5 + at] = record_word(START, 0, RECORD_CLOSE);
			block[6 + at] = 1;
			both_take(5 + at, BLOCK_WORDS);
		}
		same_trees();
		same_activity();
		end_two();
	}
}
END_TEST

/* A region that has a lock ends by a word of its own. */
START_TEST(a_region_holds_a_lock)
{
	begin_two(sequence_code(0), false);
	for (unsigned n = 0; n < 40; n++) {
		memset(block, 0, sizeof(block));
		block[0] = record_sync_word(START);
		for (unsigned i = 1; i + 3 < BLOCK_WORDS; i += 4) {
			block[i] = record_word(START + n, 0, RECORD_ID_REGION + 1);
			block[i + 1] = record_word(START + n, 0, F(1));
			block[i + 2] = record_word(START + n, RECORD_EXIT, F(1));
			block[i + 3] = record_word(START + n, RECORD_EXIT, RECORD_ID_REGION + 1);
		}
		both_take(0, 2);
		if (n > 30)
			for (int i = 0; i < 2; i++)
				two[i]->fast_from = RECORD_ID_FUNCTION;
		both_take(2, BLOCK_WORDS);
		for (int i = 0; i < 2; i++)
			two[i]->fast_from = RECORD_ID_MPI;
	}
	same_trees();
	ck_assert_uint_gt(sequences_taken(known->sequences), 10000);
	ck_assert_uint_lt(sequences_taken(known->sequences), 31 * BLOCK_WORDS);
	end_two();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {ways_to_compare, regular_programs, irregular_programs,
		calls_are_kept, calls_are_in_files, faults_between, time_goes_backwards, main_loops,
		loops_without_a_function, a_record_of_the_same_time_ends_it, a_region_holds_a_lock};
	Suite *s = suite_create("sequences");
	TCase *c = tcase_create("sequences");

	tcase_set_timeout(c, 120);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
