/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of memory, in any order of the rings, and those that no sane program stores. */
#include "nodeagent/replay/memory.h"
#include "nodeagent/replay/tree/memory.h"
#include "t/unit/replay/replay-by-hand.h"

#define MARK  MEMORY_MARK
#define LARGE 1000u
#define MEAN  10000u

static struct memory *memory;

static void setup_memory(void)
{
	setup();
	memory = memory_new(LARGE, MEAN);
	replay_set_memory(r, memory);
}

static void teardown_memory(void)
{
	teardown();
	memory_free(memory);
}

static void store(uint64_t head, uint64_t a, uint64_t b, uint64_t last)
{
	put(0, RECORD_MEMORY, 0);
	block[used - 4] = head;
	block[used - 3] = a;
	block[used - 2] = b;
	block[used - 1] = last;
}

static void allocate(uint32_t number, uint64_t bytes, uint32_t stretch, bool peak)
{
	store(memory_word(MEMORY_ALLOCATED, peak ? MEMORY_PEAK : 0), bytes,
		memory_block_word(stretch, number), MARK | 10);
}

static void release(uint32_t number, uint32_t stretch)
{
	store(memory_word(MEMORY_FREED, 0), 0, memory_block_word(stretch, number), MARK | 30);
}

static struct node_memory *of(uint32_t id)
{
	return node_memory_now(AT(id)->extra->memory);
}

static double held(uint32_t id)
{
	return node_memory_held(of(id), memory_totals(memory).stretch);
}

START_TEST(blocks_of_two_paths)
{
	in(A);
	allocate(1, 5000, 0, true);
	allocate(2, 7000, 1, true);
	in(B);
	allocate(3, 2000, 2, true); /* the peak: A has 12000, B 2000 */
	release(2, 3);
	allocate(4, 3000, 3, false);
	out(B);
	release(4, 3);
	out(A);
	end();
	ck_assert_double_eq(of(A)->allocations, 2);
	ck_assert_double_eq(of(A)->bytes, 12000);
	ck_assert_double_eq(of(A)->live, 5000);
	ck_assert_double_eq(of(A)->frees, 1);
	ck_assert_double_eq(of(A)->variance, 0);
	ck_assert_uint_eq(of(A)->largest, 7000);
	ck_assert_uint_eq(memory_totals(memory).stretch, 3);
	ck_assert_double_eq(held(A), 12000);
}
END_TEST

/* Another thread's ring, with the frees and the later stretches, is read first. */
START_TEST(freed_before_it_was_allocated)
{
	in(A);
	release(1, 2);
	release(2, 1);
	allocate(3, 4000, 2, false);
	allocate(1, 5000, 0, true);
	allocate(2, 6000, 0, false);
	allocate(4, 20000, 1, true); /* stretch 2 begins with 1 and 4, 2 is gone */
	out(A);
	end();
	ck_assert_double_eq(of(A)->live, 24000);
	ck_assert_double_eq(of(A)->frees, 2);
	ck_assert_double_eq(of(A)->lifetime, 40);
	ck_assert_double_eq(held(A), 25000);
}
END_TEST

static void belongs(uint32_t number)
{
	store(memory_word(MEMORY_BELONGS, 0), 0, memory_block_word(0, number), MARK);
}

/* In B below A, after the peak of 1 has begun a stretch; 9 is not known, 2 is gone. */
START_TEST(a_block_belongs_to_another_path)
{
	const struct node_memory *b;

	in(A);
	allocate(1, 5000, 0, true);
	allocate(2, 6000, 1, true);
	release(2, 2);
	allocate(3, 100, 2, false);
	in(B);
	belongs(1);
	belongs(2);
	belongs(3);
	belongs(9);
	belongs(0);
	release(3, 2);
	out(B);
	out(A);
	end();
	b = node_memory_now(AT(A, B)->extra->memory);
	ck_assert_double_eq(b->live, 5000);
	ck_assert_double_eq(node_memory_held(b, 2), 5000);
	ck_assert_double_eq_tol(b->bytes, 15050.08, 0.01);
	ck_assert_double_eq_tol(b->allocations, 101.5008, 0.0001);
	ck_assert_double_eq_tol(b->frees, 100.5008, 0.0001);
	ck_assert_double_eq_tol(b->live_variance, 0, 0.01);
	ck_assert_uint_eq(b->records, 2);
	ck_assert_uint_eq(b->largest, 5000);
	ck_assert_double_eq(of(A)->live, 0);
	ck_assert_double_eq(held(A), 6000);
	ck_assert_double_eq(of(A)->bytes, 6000);
	ck_assert_uint_eq(of(A)->records, 1);
}
END_TEST

START_TEST(the_largest_goes_with_its_path)
{
	in(A);
	allocate(1, 5000, 0, true);
	allocate(2, 9000, 0, true);
	in(B);
	belongs(2);
	out(B);
	out(A);
	end();
	ck_assert_uint_eq(of(A)->largest, 5000);
	ck_assert_uint_eq(node_memory_now(AT(A, B)->extra->memory)->largest, 9000);
}
END_TEST

START_TEST(what_the_kernel_gave_belongs_to_another_path)
{
	in(A);
	store(memory_word(MEMORY_ALLOCATED, MEMORY_PEAK | MEMORY_MAPPED), LARGE / 2,
		memory_block_word(0, 1), MARK | 10);
	in(B);
	belongs(1);
	out(B);
	out(A);
	end();
	ck_assert_uint_eq(of(A)->mapped, 0);
	ck_assert_uint_eq(node_memory_now(AT(A, B)->extra->memory)->mapped, LARGE / 2);
}
END_TEST

/* Blocks 1 and 3 at time 10, of which 2 and the place of 4 are gone, and a sample. */
START_TEST(ages_of_what_is_live)
{
	in(A);
	allocate(1, 5000, 0, true);
	allocate(2, 5000, 0, true);
	release(2, 0);
	release(4, 0);
	out(A);
	in(B);
	allocate(3, 100, 0, true);
	out(B);
	end();
	memory_note_ages(memory, 60);
	ck_assert_double_eq(of(A)->age, 50);
	ck_assert_double_eq_tol(of(B)->age, 50 * 100.5008, 0.01);
	memory_note_ages(memory, 30); /* not added to what it was */
	ck_assert_double_eq(of(A)->age, 20);
	memory_note_ages(memory, 5);
	ck_assert_double_eq(of(A)->age, 0);
}
END_TEST

START_TEST(samples_stand_for_others)
{
	in(A);
	allocate(1, 100, 0, true);
	out(A);
	end();
	/* 1 - exp(-0.01) = 0.00995017 */
	ck_assert_double_eq_tol(of(A)->bytes, 10050.08, 0.01);
	ck_assert_double_eq_tol(of(A)->allocations, 100.5008, 0.0001);
	ck_assert_double_eq_tol(of(A)->variance, 99999167, 1000);
}
END_TEST

/* Each of these is recorded, however small. */
START_TEST(what_the_kernel_gave)
{
	in(A);
	store(memory_word(MEMORY_ALLOCATED, MEMORY_PEAK | MEMORY_MAPPED), LARGE / 2,
		memory_block_word(0, 1), MARK | 10);
	allocate(2, 5000, 1, true);
	out(A);
	end();
	ck_assert_double_eq(of(A)->bytes, LARGE / 2 + 5000);
	ck_assert_uint_eq(of(A)->mapped, LARGE / 2);
	ck_assert_double_eq(of(A)->variance, 0);
}
END_TEST

START_TEST(chances)
{
	ck_assert_double_eq_tol(memory_chance(1e-9), 1e-9, 1e-18);
	ck_assert_double_eq_tol(memory_chance(0.125), 0.1175030974154046, 1e-12);
	ck_assert_double_eq_tol(memory_chance(1), 0.6321205588285577, 1e-12);
	ck_assert_double_eq_tol(memory_chance(20), 0.9999999979388464, 1e-12);
	ck_assert_double_eq(memory_chance(1e6), 1);
}
END_TEST

START_TEST(blocks_without_a_number)
{
	in(A);
	allocate(0, 5000, 0, false);
	release(0, 0);
	out(A);
	end();
	ck_assert_double_eq(of(A)->bytes, 5000);
	ck_assert_double_eq(of(A)->live, 0);
	ck_assert_uint_eq(memory_totals(memory).not_followed, 2);
}
END_TEST

/* No number comes twice, whatever the records say. */
START_TEST(a_number_twice)
{
	in(A);
	allocate(1, 5000, 0, true);
	allocate(1, 6000, 1, true);
	release(1, 2);
	release(1, 2);
	release(1, 2);
	out(A);
	end();
	ck_assert_double_eq(of(A)->live, 0);
	ck_assert_double_eq(of(A)->frees, 1);
}
END_TEST

START_TEST(totals_of_threads)
{
	in(A);
	store(memory_word(MEMORY_TOTALS, 0), 7, 700, MARK | 5);
	store(memory_word(MEMORY_TOTALS, 0), 1, 100, MARK);
	out(A);
	end();
	ck_assert_uint_eq(memory_totals(memory).allocations, 8);
	ck_assert_uint_eq(memory_totals(memory).bytes, 800);
	ck_assert_uint_eq(memory_totals(memory).frees, 5);
}
END_TEST

static const uint64_t wrong[] = {MEMORY_KINDS, 0xff, 0x7f | MEMORY_PEAK};

START_TEST(records_that_cannot_be)
{
	in(A);
	store(wrong[_i] << RECORD_TIME_SHIFT | RECORD_MEMORY, 1, 1, MARK);
	ck_assert_str_eq(flush(), "a block of memory that cannot be");
}
END_TEST

START_TEST(absurd_sizes)
{
	in(A);
	allocate(1, UINT64_MAX, 0, true);
	ck_assert_str_eq(flush(), "a block of memory that cannot be");
}
END_TEST

START_TEST(joined_paths)
{
	struct node_memory a = {0}, b = {0};

	node_memory_live(&a, 100, 1, 0);
	node_memory_live(&a, 50, 1, 4);
	node_memory_live(&b, 10, 1, 2);
	ck_assert_ptr_eq(node_memory_join(&a, &b), &a);
	ck_assert_ptr_eq(node_memory_join(&a, &b), &a);
	ck_assert_ptr_eq(node_memory_join(NULL, &b), &a);
	ck_assert_double_eq(a.live, 160);
	ck_assert_double_eq(node_memory_held(&a, 4), 110);
	node_memory_live(node_memory_now(&b), -10, -1, 3);
	ck_assert_double_eq(node_memory_held(&a, 4), 100);
	ck_assert_double_eq(node_memory_held(&a, 5), 150);
}
END_TEST

/* A process for which it was not wanted stores them all the same. */
START_TEST(without_memory)
{
	replay_set_memory(r, NULL);
	in(A);
	allocate(1, 5000, 0, true);
	out(A);
	end();
	expect(AT(A), 1, 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {blocks_of_two_paths, freed_before_it_was_allocated,
		a_block_belongs_to_another_path, the_largest_goes_with_its_path,
		what_the_kernel_gave_belongs_to_another_path, ages_of_what_is_live,
		samples_stand_for_others, what_the_kernel_gave, chances, blocks_without_a_number,
		a_number_twice, totals_of_threads, absurd_sizes, joined_paths, without_memory};
	Suite *s = suite_create("replay-memory");
	TCase *c = tcase_create("replay-memory");

	tcase_add_checked_fixture(c, setup_memory, teardown_memory);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, records_that_cannot_be, 0, ARRAY_SIZE(wrong));
	suite_add_tcase(s, c);
	return run_suite(s);
}
