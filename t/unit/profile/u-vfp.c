/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile comes back from its bytes as it was; bad bytes give a sentence. */
#include "nodeagent/profile/vfp.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/profile/places.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/agent/salvage.h"
#include "nodeagent/profile/vfp-format.h"
#include "shm/fnv.h"
#include "t/unit/profile/random-profile.h"
#include "t/lib/suite.h"

static unsigned char *encoded(uint32_t stacks, size_t *bytes)
{
	struct dice d = {.state = 7};
	struct profile *p = random_profile_with_waits(&d, 3, stacks, UINT64_MAX);
	unsigned char *buf;

	ck_assert_int_eq(vfp_encode(p, &buf, bytes), 0);
	profile_free(p);
	return buf;
}

/* As an attacker would: the checksum is right whatever the content. */
static void sign(unsigned char *buf, size_t bytes)
{
	uint64_t sum = vfp_checksum(buf, bytes);

	memcpy(buf + offsetof(struct vfp_header, checksum), &sum, sizeof(sum));
}

static void expect_error(const unsigned char *buf, size_t bytes, const char *part)
{
	char *error;
	struct profile *p = vfp_decode(buf, bytes, &error);

	ck_assert_ptr_null(p);
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error, part), "\"%s\" without \"%s\"", error, part);
	free(error);
}

/* A profile or a sentence, never both, never neither. */
static void expect_no_harm(const unsigned char *buf, size_t bytes)
{
	char *error;
	struct profile *p = vfp_decode(buf, bytes, &error);

	ck_assert(!p != !error);
	profile_free(p);
	free(error);
}

START_TEST(round_trip)
{
	size_t m, n;
	unsigned char *x = encoded(_i * 20, &m), *y;
	char *error;
	struct profile *p = vfp_decode(x, m, &error);

	ck_assert_msg(!error, "%s", error);
	ck_assert_int_eq(vfp_encode(p, &y, &n), 0);
	ck_assert_uint_eq(m, n);
	ck_assert_mem_eq(x, y, n);
	profile_free(p);
	free(x);
	free(y);
}
END_TEST

START_TEST(round_trip_of_an_empty_profile)
{
	struct profile *p = profile_new();
	unsigned char *buf;
	size_t bytes;
	char *error;

	ck_assert_int_eq(vfp_encode(p, &buf, &bytes), 0);
	profile_free(p);
	p = vfp_decode(buf, bytes, &error);
	ck_assert_ptr_nonnull(p);
	ck_assert_ptr_null(p->application);
	profile_free(p);
	free(buf);
}
END_TEST

START_TEST(only_what_is_filled_has_a_section)
{
	struct profile *p = profile_new();
	unsigned char *buf;
	size_t bytes;

	ck_assert_int_eq(vfp_encode(p, &buf, &bytes), 0);
	profile_free(p);
	for (const struct profile_schema *s = profile_schema; s < profile_schema + PROFILE_LISTS;
		s++)
		ck_assert(!memmem(buf, bytes, s->tag, sizeof(s->tag)) == (s->presence == FILLED));
	free(buf);
}
END_TEST

START_TEST(cut_at_every_length)
{
	size_t bytes;
	unsigned char *buf = encoded(6, &bytes);

	for (size_t n = 0; n < bytes; n++) {
		/* a copy of just that size, so that reading beyond it is found */
		unsigned char *part = malloc(n + !n);

		memcpy(part, buf, n);
		expect_error(part, n, "cut short");
		if (n >= sizeof(struct vfp_header)) {
			uint64_t said = n;

			memcpy(part + offsetof(struct vfp_header, bytes), &said, 8);
			expect_error(part, n, "checksum");
			sign(part, n);
			expect_error(part, n, "damaged");
		}
		free(part);
	}
	free(buf);
}
END_TEST

START_TEST(every_flipped_bit_is_noticed)
{
	size_t bytes;
	unsigned char *buf = encoded(4, &bytes);

	for (size_t bit = 0; bit < 8 * bytes; bit++) {
		buf[bit / 8] ^= 1 << bit % 8;
		expect_error(buf, bytes, "");
		buf[bit / 8] ^= 1 << bit % 8;
	}
	free(buf);
}
END_TEST

START_TEST(flipped_bits_with_a_right_checksum_do_no_harm)
{
	/* every bit of a word is met in one of them */
	const size_t step = getenv("VFTR_LONG") ? 1 : 5;
	size_t bytes;
	unsigned char *buf = encoded(6, &bytes);

	for (size_t bit = 0; bit < 8 * bytes; bit += step) {
		buf[bit / 8] ^= 1 << bit % 8;
		sign(buf, bytes);
		expect_no_harm(buf, bytes);
		buf[bit / 8] ^= 1 << bit % 8;
	}
	free(buf);
}
END_TEST

START_TEST(absurd_words_with_a_right_checksum_do_no_harm)
{
	static const uint64_t absurd[] = {0, 1, 7, 8, UINT32_MAX, UINT32_MAX + 1ull, INT64_MAX,
		UINT64_MAX, UINT64_MAX - 7, 1ull << 61};
	size_t bytes;
	unsigned char *buf = encoded(6, &bytes);

	for (size_t at = 8; at < bytes; at += 8) {
		uint64_t saved;

		memcpy(&saved, buf + at, 8);
		for (size_t i = 0; i < ARRAY_SIZE(absurd); i++) {
			memcpy(buf + at, &absurd[i], 8);
			sign(buf, bytes);
			expect_no_harm(buf, bytes);
		}
		memcpy(buf + at, &saved, 8);
	}
	free(buf);
}
END_TEST

START_TEST(stacks_that_call_each_other_are_refused)
{
	struct profile *p = profile_new();
	uint32_t root = add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	uint32_t a = add_stack(p, root, "a", UINT64_MAX), b = add_stack(p, a, "b", UINT64_MAX);
	unsigned char *buf;
	size_t bytes;

	p->stacks[a].parent = b;
	ck_assert_int_eq(vfp_encode(p, &buf, &bytes), 0);
	expect_error(buf, bytes, "damaged: a stack is its own caller");
	free(buf);
	profile_free(p);
}
END_TEST

static void wrong_stack(struct profile *p)
{
	ADD_ELEMENT(p, messages)->stack = 1;
}

static void stack_twice(struct profile *p)
{
	ADD_ELEMENT(p, messages);
	ADD_ELEMENT(p, messages);
}

static void unsorted_pairs(struct profile *p)
{
	ADD_ELEMENT(p, pairs)->to = 1;
	ADD_ELEMENT(p, pairs);
}

static void rank_of_nobody(struct profile *p)
{
	ADD_ELEMENT(p, pairs)->to = PROFILE_UNRANKED;
}

static void overlapping_places(struct profile *p)
{
	ADD_ELEMENT(p, rank_ranges)->host = xstrdup("a");
	p->rank_ranges[0].last = 5;
	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){5, 6, xstrdup("b")};
}

/* Two runs: of a: 0, 3, 6, 9; of b: ranks that the row tells. */
static void two_steps(struct profile *p, uint32_t first, uint32_t last, uint32_t step)
{
	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){0, 9, xstrdup("a"), 3};
	ck_assert_ptr_null(profile_valid(p));
	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){first, last, xstrdup("b"), step};
}

#define STEPS(name, ...)                                                                           \
	static void name(struct profile *p)                                                        \
	{                                                                                          \
		two_steps(p, __VA_ARGS__);                                                         \
	}
STEPS(step_of_one, 10, 12, 1)
STEPS(step_of_one_rank, 10, 10, 2)
STEPS(step_that_leads_elsewhere, 10, 15, 4)
STEPS(step_beyond_its_last_rank, 10, 11, UINT32_MAX)
STEPS(step_to_many_ranks, 10, (1u << 24) + 10, 1u << 24)
STEPS(step_of_the_unranked, PROFILE_UNRANKED, PROFILE_UNRANKED + 2, 2)
STEPS(steps_that_meet, 4, 9, 5)
STEPS(steps_that_meet_in_the_middle, 2, 10, 4)
STEPS(step_into_a_block, 5, 6, 0)
STEPS(steps_out_of_order, 0, 1, 0)

static void place_of_all(struct profile *p)
{
	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){0, UINT32_MAX, xstrdup("a")};
}

static void endless_size(struct profile *p)
{
	ADD_ELEMENT(p, sizes)->log2 = 65;
}

static void file_without_name(struct profile *p)
{
	ADD_ELEMENT(p, files);
}

static void program_with_a_path(struct profile *p)
{
	p->application = xstrdup("../escaped");
}

static struct profile_start *started(struct profile *p)
{
	struct profile_start *s = ADD_ELEMENT(p, starts);

	s->time_s = 1700000000;
	return s;
}

static void started_twice(struct profile *p)
{
	started(p);
	started(p);
}

static void started_after_all_years(struct profile *p)
{
	started(p)->time_s = INT64_C(1) << 40;
}

static void started_in_no_zone(struct profile *p)
{
	started(p)->zone_s = 86401;
}

static void started_by_nobody(struct profile *p)
{
	started(p)->whose = PROFILE_START_KINDS;
}

static void tag_without_value(struct profile *p)
{
	started(p)->tags = xstrdup("a\n");
}

static void tag_without_key(struct profile *p)
{
	started(p)->tags = xstrdup("=\n");
}

static void tag_twice(struct profile *p)
{
	started(p)->tags = xstrdup("a=1\na=2\n");
}

static void configuration_without_value(struct profile *p)
{
	started(p)->changes = xstrdup("report=true\nreport\n");
}

static void waits_of_nobody(struct profile *p)
{
	ADD_ELEMENT(p, wait_pairs)->rank = PROFILE_UNRANKED;
}

static void waits_of_all_ranks(struct profile *p)
{
	ADD_ELEMENT(p, wait_pairs)->log2 = 32;
}

static void build_of_nothing(struct profile *p)
{
	ADD_ELEMENT(p, builds)->path = xstrdup("/a");
}

static struct profile_rank_time *rank_time(struct profile *p)
{
	struct profile_rank_time *t = ADD_ELEMENT(p, rank_times);

	t->threads = t->team_threads = 1;
	t->end_ns = 1;
	t->mpi_ns = 1;
	ck_assert_ptr_null(profile_valid(p));
	return t;
}

/* Sums of these would not fit into 64 bits. */
static void endless_class(struct profile *p)
{
	struct profile_rank_time *t = rank_time(p);

	t->mpi_ns = t->io_ns = INT64_MAX / 4;
}

static void endless_thread(struct profile *p)
{
	rank_time(p)->all_mpi_ns = INT64_MAX / 4 + 1;
}

static void window_that_ends_first(struct profile *p)
{
	rank_time(p)->begin_ns = 2;
}

static void window_that_is_longer(struct profile *p)
{
	rank_time(p)->end_ns = 2000000;
}

static void window_of_ages(struct profile *p)
{
	rank_time(p)->begin_ns = INT64_MIN;
}

static void more_workers_than_threads(struct profile *p)
{
	rank_time(p)->team_threads = 2;
}

static void rank_without_threads(struct profile *p)
{
	rank_time(p)->team_threads = 0;
}

static void more_useful_than_a_team(struct profile *p)
{
	rank_time(p)->useful_ns = 5;
}

static void unknown_flag(struct profile *p)
{
	rank_time(p)->flags = RANK_FLAGS + 1;
}

static void times_of_nobody(struct profile *p)
{
	rank_time(p)->rank = PROFILE_UNRANKED;
}

static void times_twice(struct profile *p)
{
	const struct profile_rank_time first = *rank_time(p);

	*ADD_ELEMENT(p, rank_times) = first;
}

static const struct {
	void (*spoil)(struct profile *p);
	const char *error;
} spoilers[] = {
	{wrong_stack, "a stack that is not in the profile"},
	{stack_twice, "is not sorted"},
	{unsorted_pairs, "is not sorted"},
	{rank_of_nobody, "a message's rank is not in the profile"},
	{overlapping_places, "the places overlap"},
	{place_of_all, "a place is no range of ranks"},
	{step_of_one, "the step of a place does not lead to its last rank"},
	{step_of_one_rank, "the step of a place does not lead to its last rank"},
	{step_that_leads_elsewhere, "the step of a place does not lead to its last rank"},
	{step_beyond_its_last_rank, "the step of a place does not lead to its last rank"},
	{step_to_many_ranks, "the step of a place does not lead to its last rank"},
	{step_of_the_unranked, "a place is no range of ranks"}, /* nobody is unranked */
	{steps_that_meet, "the places overlap"},
	{steps_that_meet_in_the_middle, "the places overlap"},
	{step_into_a_block, "the places overlap"},
	{steps_out_of_order, "the places overlap or are not sorted"},
	{endless_size, "larger than 2^64"},
	{file_without_name, "a text is missing"},
	{program_with_a_path, "the application's name is a path"},
	{started_twice, "a start of the run that cannot be"},
	{started_after_all_years, "a start of the run that cannot be"},
	{started_in_no_zone, "a start of the run that cannot be"},
	{started_by_nobody, "a start of the run that cannot be"},
	{tag_without_value, "tags of the run that cannot be"},
	{tag_without_key, "tags of the run that cannot be"},
	{tag_twice, "tags of the run that cannot be"},
	{configuration_without_value, "a configuration that cannot be"},
	{waits_of_nobody, "the ranks of a wait are not in the profile"},
	{waits_of_all_ranks, "a wait of too many ranks"},
	{build_of_nothing, "a text is missing"},
	{endless_class, "the times of a rank that cannot be"},
	{endless_thread, "the times of a rank's threads that cannot be"},
	{window_that_ends_first, "the times of a rank that cannot be"},
	{window_that_is_longer, "the times of a rank that cannot be"},
	{window_of_ages, "the times of a rank that cannot be"},
	{more_workers_than_threads, "the times of a rank's threads that cannot be"},
	{rank_without_threads, "the times of a rank's threads that cannot be"},
	{more_useful_than_a_team, "the times of a rank's threads that cannot be"},
	{unknown_flag, "the times of a rank that cannot be"},
	{times_of_nobody, "the times of a rank that cannot be"},
	{times_twice, "is not sorted"},
};

START_TEST(communication_that_contradicts_itself_is_refused)
{
	struct profile *p = profile_new();
	unsigned char *buf;
	size_t bytes;

	add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	spoilers[_i].spoil(p);
	ck_assert_ptr_nonnull(profile_valid(p));
	ck_assert_int_eq(vfp_encode(p, &buf, &bytes), 0);
	expect_error(buf, bytes, spoilers[_i].error);
	free(buf);
	profile_free(p);
}
END_TEST

static const struct {
	size_t at;
	uint64_t value;
	const char *error;
} headers[] = {
	{offsetof(struct vfp_header, magic), 0, "not a node profile"},
	{offsetof(struct vfp_header, version), 99, "format version 99"},
	{offsetof(struct vfp_header, version), VFP_VERSION + 1, "reads versions 7 to 8"},
	{offsetof(struct vfp_header, version), VFP_VERSION_LEAST - 1, "format version 6"},
	{offsetof(struct vfp_header, byte_order), 0x0807060504030201, "another byte order"},
	{offsetof(struct vfp_header, bytes), 100, "too long"},
	{offsetof(struct vfp_header, bytes), 1ull << 60, "cut short"},
	{offsetof(struct vfp_header, n_sections), UINT64_MAX, "a section is missing"},
	{offsetof(struct vfp_header, n_sections), 0, "no section job"},
};

START_TEST(bad_headers_are_named)
{
	size_t bytes;
	unsigned char *buf = encoded(3, &bytes);

	memcpy(buf + headers[_i].at, &headers[_i].value, 8);
	sign(buf, bytes);
	expect_error(buf, bytes, headers[_i].error);
	free(buf);
}
END_TEST

START_TEST(a_clock_gone_wrong_is_still_readable)
{
	struct profile *p = profile_new();
	unsigned char *buf;
	size_t bytes;
	char *error;

	p->runtime_s = -1.0 / 0.0;
	ck_assert_int_eq(vfp_encode(p, &buf, &bytes), 0);
	profile_free(p);
	p = vfp_decode(buf, bytes, &error);
	ck_assert_ptr_nonnull(p);
	ck_assert(p->runtime_s == 0);
	profile_free(p);
	free(buf);
}
END_TEST

/* The section with this tag, or the end. */
static size_t section_at(const unsigned char *buf, size_t bytes, const char *tag)
{
	size_t at = sizeof(struct vfp_header);
	struct vfp_section_header h;

	for (; at < bytes; at += sizeof(h) + vfp_padded(h.count * h.record_bytes)) {
		memcpy(&h, buf + at, sizeof(h));
		if (!memcmp(h.tag, tag, sizeof(h.tag)))
			break;
	}
	return at;
}

/* Takes the last fields of the only record of a section away; returns what is left. */
static size_t shorten(unsigned char *buf, size_t bytes, const char *tag, size_t fields)
{
	const size_t at = section_at(buf, bytes, tag);
	struct vfp_section_header h;
	size_t end;

	ck_assert_uint_lt(at, bytes);
	memcpy(&h, buf + at, sizeof(h));
	ck_assert_uint_eq(h.count, 1);
	end = at + sizeof(h) + h.record_bytes;
	h.record_bytes -= 8 * fields;
	memcpy(buf + at, &h, sizeof(h));
	memmove(buf + end - 8 * fields, buf + end, bytes - end);
	bytes -= 8 * fields;
	memcpy(buf + offsetof(struct vfp_header, bytes), &(uint64_t){bytes}, 8);
	sign(buf, bytes);
	return bytes;
}

/* Fields that were added at the end of a record are 0 in files without them. */
START_TEST(files_of_earlier_programs)
{
	static const struct {
		const char *tag;
		size_t added;
	} rows[] = {{"job     ", 3}, {"compared", 2}, {"waits   ", 3}, {"places  ", 1}};
	const uint64_t version = VFP_VERSION_LEAST;
	struct profile *p = profile_new();
	unsigned char *buf;
	size_t bytes;
	char *error;

	p->lost_processes = 5;
	p->dropped_calls = 7;
	p->dead_more = p->ends_more = 8;
	*ADD_ELEMENT(p, compared) = (struct profile_compared){
		.calls = 9, .unknown = 4, .below_ns = 6, .partly = 2, .partly_ns = 100};
	*ADD_ELEMENT(p, waits) =
		(struct profile_wait){.stack = add_stack(p, PROFILE_NONE, "init", 1),
			.late = 0,
			.calls = 3,
			.ns = 8,
			.late_thread = 1,
			.error_ns = 9};
	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){2, 5, xstrdup("a")};
	p->ranks = 1;
	ck_assert_int_eq(vfp_encode(p, &buf, &bytes), 0);
	profile_free(p);
	memcpy(buf + offsetof(struct vfp_header, version), &version, sizeof(version));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		bytes = shorten(buf, bytes, rows[i].tag, rows[i].added);
	p = vfp_decode(buf, bytes, &error);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->lost_processes, 5);
	ck_assert_uint_eq(p->dropped_calls, 0);
	ck_assert_uint_eq(p->dead_more + p->ends_more, 0);
	ck_assert_uint_eq(p->compared[0].below_ns, 6);
	ck_assert_uint_eq(p->compared[0].partly + p->compared[0].partly_ns, 0);
	ck_assert_uint_eq(p->waits[0].ns, 8);
	ck_assert_uint_eq(p->waits[0].late_thread + p->waits[0].error_ns, 0);
	ck_assert_uint_eq(p->rank_ranges[0].step, 0);
	ck_assert_str_eq(places_host(p, 4), "a");
	profile_free(p);
	expect_error(buf, shorten(buf, bytes, "job     ", 1), "section job");
	free(buf);
}
END_TEST

static const struct {
	const char *name, *base;
} bases[] = {
	{"a.out", "a.out"},
	{"two words", "two words"},
	{"", "unknown"},
	{"..", "_."},
	{".hidden", "_hidden"},
	{"../escaped", "_._escaped"},
	{"/etc/passwd", "_etc_passwd"},
	{"red\033[31m\n\177", "red_[31m__"},
	{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
};

START_TEST(names_of_files)
{
	char *base = file_base(bases[_i].name), longer[5000];

	ck_assert_str_eq(base, bases[_i].base);
	free(base);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	base = file_base(longer);
	ck_assert_uint_lt(strlen(base), 255);
	free(base);
}
END_TEST

START_TEST(files)
{
	char dir[] = "/tmp/vftr-u-vfp-XXXXXX", *path, *error;
	struct dice d = {.state = 1};
	struct profile *p = random_profile_with_waits(&d, 0, 30, UINT64_MAX), *q;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/app_node0.vfp", dir);
	ck_assert_int_eq(vfp_write(p, path), 0);
	q = vfp_read(path, &error);
	ck_assert_ptr_nonnull(q);
	ck_assert_uint_eq(q->n_stacks, p->n_stacks);
	profile_free(q);
	ck_assert_int_eq(truncate(path, 300), 0);
	ck_assert_ptr_null(vfp_read(path, &error));
	ck_assert_int_eq(strncmp(error, path, strlen(path)), 0);
	ck_assert_ptr_nonnull(strstr(error, "cut short"));
	free(error);
	unlink(path);
	ck_assert_ptr_null(vfp_read(path, &error));
	ck_assert_ptr_nonnull(strstr(error, "No such file"));
	free(error);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_ptr_null(vfp_read(path, &error));
	ck_assert_ptr_nonnull(strstr(error, "not a regular file"));
	free(error);
	alarm(10); /* who waits for a writer is ended */
	ck_assert_uint_eq(vfp_run(path), 0);
	alarm(0);
	unlink(path);
	rmdir(dir);
	ck_assert_int_lt(vfp_write(p, path), 0);
	profile_free(p);
	free(path);
}
END_TEST

/* In the place of a summary somebody has put what is none: a new one is made. */
static void add_large_stack(struct profile *p, uint32_t i, uint64_t ns)
{
	p->names = xrealloc(p->names, (i + 1) * sizeof(*p->names));
	p->names[p->n_names++] = i ? xasprintf("function_%u", i) : xstrdup("init");
	p->stacks[i] = (struct profile_stack){.hash = i,
		.parent = i ? (i - 1) / 2 : PROFILE_NONE,
		.name = i,
		.calls = i,
		.incl_ns = 2 * ns,
		.excl_ns = ns,
		.excl_max_ns = ns};
}

static void put_version(unsigned char *buf, uint64_t version)
{
	memcpy(buf + offsetof(struct vfp_header, version), &version, sizeof(version));
}

/* Of words that are 0, small and large, and of any number of bytes. */
START_TEST(checksum_of_version_7_is_by_bytes)
{
	struct dice d = {.state = 3};
	unsigned char buf[1000];

	for (int i = 0; i < 2000; i++) {
		const size_t head = sizeof(struct vfp_header), at = head - 8;
		const size_t n = head + throw_dice(&d, sizeof(buf) - head);

		for (size_t k = 0; k + 8 <= sizeof(buf); k += 8) {
			const uint64_t word = (uint64_t)throw_dice(&d, UINT32_MAX) << 32 |
					      throw_dice(&d, UINT32_MAX);
			const uint64_t small = throw_dice(&d, 4) ? word >> throw_dice(&d, 64) : 0;

			memcpy(buf + k, &small, 8);
		}
		put_version(buf, 7);
		ck_assert_uint_eq(vfp_checksum(buf, n),
			fnv_bytes(fnv_bytes(FNV_BEGIN, buf, at), buf + head, n - head));
	}
}
END_TEST

/* As vftr-vfp(5) has it. */
START_TEST(checksum_of_version_8_is_by_words)
{
	size_t bytes;
	unsigned char *buf = encoded(30, &bytes);
	uint64_t h = 0xcbf29ce484222325, wanted, word;

	for (size_t at = 0; at < bytes; at += 8) {
		memcpy(&word, buf + at, 8);
		if (at == offsetof(struct vfp_header, checksum)) {
			wanted = word;
			continue;
		}
		h = (h ^ word) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	ck_assert_uint_eq(h, wanted);
	free(buf);
}
END_TEST

START_TEST(checksum_tells_each_changed_byte)
{
	size_t bytes;
	unsigned char *buf = encoded(3, &bytes);
	struct dice d = {.state = 5};

	bytes -= (size_t)_i; /* maybe no whole number of words */
	for (size_t at = sizeof(struct vfp_header); at < bytes; at++) {
		const uint64_t sum = vfp_checksum(buf, bytes);

		buf[at] ^= (unsigned char)(1 + throw_dice(&d, 255));
		ck_assert_uint_ne(vfp_checksum(buf, bytes), sum);
	}
	free(buf);
}
END_TEST

/* What has been read of a large file is given back while the rest is read. */
START_TEST(a_large_file)
{
	struct profile *p = profile_new(), *q;
	char path[] = "/tmp/vftr-u-vfp-XXXXXX", *error;
	struct dice d = {.state = 7};
	unsigned char *wanted, *read;
	size_t n_wanted, n_read;

	ck_assert_int_ge(mkstemp(path), 0);
	p->n_stacks = 50000;
	p->stacks = xcalloc(p->n_stacks, sizeof(*p->stacks));
	for (uint32_t i = 0; i < p->n_stacks; i++)
		add_large_stack(p, i, throw_dice(&d, 1000000));
	ck_assert_int_eq(vfp_write(p, path), 0);
	q = vfp_read(path, &error);
	ck_assert_msg(q, "%s", error);
	ck_assert_int_eq(vfp_encode(p, &wanted, &n_wanted), 0);
	ck_assert_int_eq(vfp_encode(q, &read, &n_read), 0);
	ck_assert_uint_gt(n_wanted, 4u << 20);
	ck_assert_uint_eq(n_wanted, n_read);
	ck_assert(!memcmp(wanted, read, n_read));
	unlink(path);
	free(wanted);
	free(read);
	profile_free(p);
	profile_free(q);
}
END_TEST

START_TEST(planted_summary)
{
	char dir[] = "/tmp/vftr-u-vfp-XXXXXX", *path, *summary;
	struct dice d = {.state = 1};
	struct profile *p = random_profile_with_waits(&d, 0, 30, UINT64_MAX);
	struct conf *c = conf_default();
	struct agent a = {.host = {.conf = c, .output_directory = dir, .run = 7}, .quiet = true};
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/app_node0.vfp", dir);
	summary = xasprintf("%s/app_all.json", dir);
	p->run = 7;
	ck_assert_int_eq(vfp_write(p, path), 0);
	ck_assert_int_eq(mkfifo(summary, 0600), 0);
	alarm(10);
	salvage_summary(&a, "", false);
	alarm(0);
	ck_assert_int_eq(lstat(summary, &st), 0);
	ck_assert(S_ISREG(st.st_mode) && st.st_size > 0);
	unlink(summary);
	unlink(path);
	free(path);
	path = xasprintf("%s/app_all.log", dir);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
	conf_free(c);
	profile_free(p);
	free(path);
	free(summary);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfp");
	TCase *t = tcase_create("vfp");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, round_trip, 0, 5);
	tcase_add_test(t, round_trip_of_an_empty_profile);
	tcase_add_test(t, only_what_is_filled_has_a_section);
	tcase_add_test(t, cut_at_every_length);
	tcase_add_test(t, every_flipped_bit_is_noticed);
	tcase_add_test(t, flipped_bits_with_a_right_checksum_do_no_harm);
	tcase_add_test(t, absurd_words_with_a_right_checksum_do_no_harm);
	tcase_add_test(t, stacks_that_call_each_other_are_refused);
	tcase_add_loop_test(
		t, communication_that_contradicts_itself_is_refused, 0, ARRAY_SIZE(spoilers));
	tcase_add_loop_test(t, names_of_files, 0, ARRAY_SIZE(bases));
	tcase_add_loop_test(t, bad_headers_are_named, 0, ARRAY_SIZE(headers));
	tcase_add_test(t, a_clock_gone_wrong_is_still_readable);
	tcase_add_test(t, files_of_earlier_programs);
	tcase_add_test(t, files);
	tcase_add_test(t, checksum_of_version_7_is_by_bytes);
	tcase_add_test(t, checksum_of_version_8_is_by_words);
	tcase_add_loop_test(t, checksum_tells_each_changed_byte, 0, 8);
	tcase_add_test(t, a_large_file);
	tcase_add_test(t, planted_summary);
	suite_add_tcase(s, t);
	return run_suite(s);
}
