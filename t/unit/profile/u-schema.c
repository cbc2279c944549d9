/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the fields of a profile's records: they leave nothing out, and mean what they say. */
#include "nodeagent/profile/schema.h"

#include <check.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/profile.h"
#include "t/lib/suite.h"
#include "t/unit/profile/random-profile.h"
#include "t/unit/profile/same-profile.h"

#define SEEDS 20

static const struct {
	size_t bytes, align;
} sizes[] = {
	[U64] = {sizeof(uint64_t), alignof(uint64_t)},
	[U128] = {sizeof(unsigned __int128), alignof(unsigned __int128)},
	[U32] = {sizeof(uint32_t), alignof(uint32_t)},
	[COUNT] = {sizeof(uint32_t), alignof(uint32_t)},
	[I32] = {sizeof(int32_t), alignof(int32_t)},
	[I64] = {sizeof(int64_t), alignof(int64_t)},
	[REAL] = {sizeof(double), alignof(double)},
	[FLAG] = {sizeof(bool), alignof(bool)},
	[END] = {sizeof(enum process_end), alignof(enum process_end)},
	[TEXT] = {sizeof(char *), alignof(char *)},
	[TEXT_OR_NULL] = {sizeof(char *), alignof(char *)},
};

/* Bytes of a struct that have a member with a row: each once. */
static void cover(unsigned char *covered, size_t offset, size_t bytes)
{
	for (size_t i = offset; i < offset + bytes; i++)
		ck_assert_uint_eq(covered[i]++, 0);
}

/* What is left may only be there so that the next member is aligned. */
static void assert_covered(const unsigned char *covered, size_t bytes, const char *what)
{
	for (size_t i = 0, gap = 0; i < bytes; i++) {
		gap = covered[i] ? 0 : gap + 1;
		ck_assert_msg(gap < 16, "%.8s: a member at byte %zu has no row", what, i + 1 - gap);
	}
}

static void cover_fields(const struct profile_schema *s, unsigned char *covered)
{
	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++) {
		ck_assert_uint_eq(f->offset % sizes[f->kind].align, 0);
		cover(covered, f->offset, sizes[f->kind].bytes);
	}
}

START_TEST(each_member_of_a_record_has_a_row)
{
	const struct profile_schema *s = &profile_schema[_i];
	unsigned char covered[256] = {0};

	if (!s->bytes)
		return;
	ck_assert_uint_le(s->bytes, sizeof(covered));
	cover_fields(s, covered);
	assert_covered(covered, s->bytes, s->tag);
}
END_TEST

START_TEST(each_member_of_a_profile_has_a_row_or_a_list)
{
	unsigned char covered[sizeof(struct profile)] = {0};

	cover(covered, offsetof(struct profile, run), sizeof(uint64_t)); /* in the file's header */
	for (const struct profile_schema *s = profile_schema; s < profile_schema + PROFILE_LISTS;
		s++) {
		if (!s->bytes) {
			cover_fields(s, covered);
			continue;
		}
		cover(covered, s->count, sizeof(size_t));
		cover(covered, s->array, sizeof(void *));
	}
	assert_covered(covered, sizeof(covered), "profile");
}
END_TEST

START_TEST(roles_fit_their_types)
{
	const struct profile_schema *s = &profile_schema[_i];
	bool has_key = false;

	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++) {
		has_key |= f->role == KEY;
		if (f->role == SUM)
			ck_assert(f->kind == U64 || f->kind == U128);
		if (f->role == SPAN)
			ck_assert(f->kind == U64);
		if (f->role == JOIN)
			ck_assert(profile_is_text(f));
		if (f->role == KEY && profile_is_text(f))
			ck_assert(f->kind == TEXT && s->wrong);
		if (f->ref != PLAIN)
			ck_assert(f->kind == U32);
		if (f->ref == STACK)
			ck_assert(f->role == KEY && s->wrong);
	}
	ck_assert(has_key == (s->rest != OWN));
}
END_TEST

/* What is added to a record and taken off again leaves its sums as they were. */
static void add_and_subtract(const struct profile_schema *s, const char *a, const char *b)
{
	char *sum = xcalloc(1, s->bytes), *other = xcalloc(1, s->bytes);

	memcpy(sum, a, s->bytes);
	memcpy(other, b, s->bytes);
	profile_record_own_texts(s, sum);
	profile_record_own_texts(s, other);
	profile_record_add(s, sum, other);
	profile_record_subtract(s, sum, b);
	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++)
		if (f->role == SUM)
			ck_assert_mem_eq(sum + f->offset, a + f->offset, sizes[f->kind].bytes);
	ck_assert(!profile_record_subtract(s, sum, sum));
	profile_record_drop(s, sum);
	free(sum);
	free(other);
}

START_TEST(subtracting_undoes_adding)
{
	struct dice d = {.state = 1 + _i};
	struct profile *p = random_profile_with_waits(&d, 0, 40, UINT64_MAX);

	for (const struct profile_schema *s = profile_schema; s < profile_schema + PROFILE_LISTS;
		s++) {
		size_t n;
		const char *at = profile_records(p, s, &n);

		for (size_t i = 1; s->rest != OWN && i < n; i++)
			add_and_subtract(s, at + (i - 1) * s->bytes, at + i * s->bytes);
	}
	profile_free(p);
}
END_TEST

START_TEST(a_copy_added_to_itself_has_each_record_once)
{
	struct dice d = {.state = 100 + _i};
	struct profile *p = random_profile_with_waits(&d, 0, 40, UINT64_MAX), *c = profile_copy(p),
		       *again = profile_copy(p);
	uint32_t *same = xcalloc(p->n_stacks + 1, sizeof(*same));

	for (uint32_t i = 0; i < p->n_stacks; i++)
		same[i] = i;
	profile_lists_merge(c, again, same, same);
	ck_assert_uint_eq(c->n_messages, p->n_messages);
	ck_assert_uint_eq(c->n_pairs, p->n_pairs);
	for (size_t i = 0; i < p->n_pairs; i++)
		ck_assert_uint_eq(c->pairs[i].sends, 2 * p->pairs[i].sends);
	ck_assert_uint_eq(c->n_gpu, p->n_gpu);
	for (size_t i = 0; i < p->n_gpu; i++) {
		ck_assert_str_eq(c->gpu[i].name, p->gpu[i].name);
		ck_assert_uint_eq(c->gpu[i].ns, 2 * p->gpu[i].ns);
		ck_assert_uint_eq(c->gpu[i].max_ns, p->gpu[i].max_ns);
	}
	assert_valid(c);
	profile_free(again);
	profile_free(c);
	profile_free(p);
	free(same);
}
END_TEST

/* Every other stack goes, and the others move up. */
START_TEST(records_go_with_their_stacks)
{
	struct dice d = {.state = 200 + _i};
	struct profile *p = random_profile_with_waits(&d, 0, 40, UINT64_MAX), *c = profile_copy(p);
	uint32_t *to = xcalloc(p->n_stacks + 1, sizeof(*to));
	size_t kept = 0;

	for (uint32_t i = 0; i < p->n_stacks; i++)
		to[i] = i % 2 ? PROFILE_NONE : i / 2;
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++)
		profile_renumber_stacks(c, i, to);
	for (size_t i = 0; i < p->n_gpu; i++) {
		if (p->gpu[i].stack % 2)
			continue;
		ck_assert_uint_lt(kept, c->n_gpu);
		ck_assert_uint_eq(c->gpu[kept].stack, p->gpu[i].stack / 2);
		ck_assert_str_eq(c->gpu[kept++].name, p->gpu[i].name);
	}
	ck_assert_uint_eq(kept, c->n_gpu);
	ck_assert_uint_eq(c->n_pairs, p->n_pairs);
	profile_free(c);
	profile_free(p);
	free(to);
}
END_TEST

START_TEST(records_are_combined_in_any_order)
{
	struct profile *p = profile_new();

	for (uint32_t i = 0; i < 12; i++)
		*ADD_ELEMENT(p, counters) = (struct profile_counter){.number = (7 * i) % 4,
			.source = i % 3,
			.running_ns = 1,
			.name = xstrdup(i < 4	? "B"
					: i < 8 ? "A"
						: "C")};
	profile_combine_from(p, PROFILE_COUNTERS, 8);
	ck_assert_uint_eq(p->n_counters, 12);
	profile_combine(p, PROFILE_COUNTERS);
	ck_assert_uint_eq(p->n_counters, 4);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(p->counters[i].number, i);
		ck_assert_uint_eq(p->counters[i].running_ns, 3);
		ck_assert_uint_eq(p->counters[i].source, 2);
		ck_assert_str_eq(p->counters[i].name, "A");
	}
	assert_valid(p);
	profile_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("schema");
	TCase *t = tcase_create("schema");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, each_member_of_a_record_has_a_row, 0, PROFILE_LISTS);
	tcase_add_test(t, each_member_of_a_profile_has_a_row_or_a_list);
	tcase_add_loop_test(t, roles_fit_their_types, 0, PROFILE_LISTS);
	tcase_add_loop_test(t, subtracting_undoes_adding, 0, SEEDS);
	tcase_add_loop_test(t, a_copy_added_to_itself_has_each_record_once, 0, SEEDS);
	tcase_add_loop_test(t, records_go_with_their_stacks, 0, SEEDS);
	tcase_add_test(t, records_are_combined_in_any_order);
	suite_add_tcase(s, t);
	return run_suite(s);
}
