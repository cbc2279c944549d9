/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two replays of the same words, one with sequences and one without: after each block they have the
 * same frames and counts, and whenever sequences are settled the same trees. The words are those of
 * random programs, which repeat themselves, and of random faults in them.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/sequences.h"
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
static uint64_t ticks, based;

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

static void make_program(bool regular)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		functions[i].id = below(8) ? F(i * 16) : RECORD_ID_REGION + i;
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
static uint64_t jitter; /* one word in so many is earlier than the one before; 0: none */

static void begin_two(const struct sequence_code *code, bool kept)
{
	for (int i = 0; i < 2; i++) {
		two[i] = replay_new(START, same, NULL);
		two[i]->sequences_from = i ? 0 : UINT64_MAX;
		if (kept)
			two[i]->activity = activity_new(START);
	}
	known = two[1];
	known->sequences = sequences_new();
	sequences_use(known->sequences, code);
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
	ticks += below(100);
	if (jitter && !below((uint32_t)jitter))
		ticks -= below(300);
}

static unsigned faults; /* one word in so many; 0: none */

static void maybe_fault(void)
{
	if (!faults || below(faults))
		return;
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
	ticks = based = START;
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
		}
	}
}
END_TEST

/* Frames with an extra that is watched are left one by one. */
START_TEST(watched_frames)
{
	const struct sequence_code *code = sequence_code(0);

	make_program(true);
	begin_two(code, false);
	for (int i = 0; i < 2; i++) {
		replay_watch_iterations(two[i], 10);
	}
	used = 0;
	ticks = based = START;
	for (budget = 50000; budget;)
		run_function(0, 0);
	replay_both();
	same_trees();
	for (size_t i = 0; i < calltree_nodes(two[0]->tree); i++) {
		const struct node_extra *x = calltree_at(two[0]->tree, i)->extra,
					*y = calltree_at(two[1]->tree, i)->extra;

		ck_assert_int_eq(!x, !y);
		ck_assert(!x || x->watched == y->watched);
		ck_assert(!x || !x->iterations == !y->iterations);
	}
	end_two();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {ways_to_compare, regular_programs, irregular_programs,
		calls_are_kept, faults_between, time_goes_backwards, watched_frames};
	Suite *s = suite_create("sequences");
	TCase *c = tcase_create("sequences");

	tcase_set_timeout(c, 120);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
