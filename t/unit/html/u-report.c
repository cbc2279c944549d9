/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages of profiles made by dice, with names that try to break out of them: all stays text, every
 * element is closed, nothing is asked of anybody, and the file is bounded.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/json-read.h"
#include "nodeagent/html/json-tree.h"
#include "nodeagent/html/page/page.h"
#include "nodeagent/report/output.h"
#include "nodeagent/report/report.h"
#include "t/lib/suite.h"
#include "t/unit/profile/random-profile.h"

#define BYTES_MAX 5000000u

/* The values of a profile, and what has to be there as long as they are. */
struct values {
	struct conf *c;
	struct report report;
	struct json_tree *all;
};

static void values_of(const struct profile *p, struct values *v)
{
	char *error;

	v->c = conf_default();
	report_init(&v->report, p, v->c, NULL, 0);
	v->report.log = REPORT_SUMMARY;
	v->all = json_tree_of(output_json_of, &v->report, &error);
	ck_assert_msg(v->all, "%s", error);
}

static void free_values(struct values *v)
{
	json_tree_free(v->all);
	report_done(&v->report);
	conf_free(v->c);
}

/* ---- what is handed over is what a reader of the text gets ------------------------------- */

static void same_value(struct json_in *in, const struct json_tree *all, const struct value *v);

static void same_members(struct json_in *in, const struct json_tree *all, const struct value *v)
{
	const struct value *m = value_first(all, v);
	const char *key;
	size_t n = 0;

	json_in_object(in);
	for (; (key = json_in_member(in)); n++, m = value_next(all, m)) {
		ck_assert_uint_lt(n, value_count(v));
		ck_assert_str_eq(key, value_key(all, m));
		same_value(in, all, m);
	}
	ck_assert_uint_eq(n, value_count(v));
}

static void same_elements(struct json_in *in, const struct json_tree *all, const struct value *v)
{
	const struct value *m = value_first(all, v);
	size_t n = 0;

	json_in_array(in);
	for (; json_in_element(in); n++, m = value_next(all, m)) {
		ck_assert_uint_lt(n, value_count(v));
		same_value(in, all, m);
	}
	ck_assert_uint_eq(n, value_count(v));
}

static void same_plain(struct json_in *in, const struct json_tree *all, const struct value *v)
{
	static const enum value_kind kinds[] = {
		[JSON_IN_NULL] = VALUE_NONE,
		[JSON_IN_BOOL] = VALUE_BOOL,
		[JSON_IN_INTEGER] = VALUE_INTEGER,
		[JSON_IN_REAL] = VALUE_REAL,
		[JSON_IN_TEXT] = VALUE_TEXT,
	};
	struct text_store texts = {0};
	const struct json_in_value is = json_in_value(in, &texts);
	char exact[VALUE_DIGITS];

	ck_assert_int_eq(value_kind(v), kinds[is.kind]);
	if (is.kind == JSON_IN_TEXT)
		ck_assert_str_eq(value_text(all, v), texts.bytes + is.text);
	else if (is.kind == JSON_IN_BOOL)
		ck_assert_int_eq(value_is_true(v), is.integer);
	else if (is.kind == JSON_IN_INTEGER)
		ck_assert_int_eq(strtoll(value_exact(v, exact), NULL, 10), is.integer);
	else if (is.kind == JSON_IN_REAL)
		ck_assert(value_real(v) == is.real && !signbit(value_real(v)) == !signbit(is.real));
	free(texts.bytes);
}

static void same_value(struct json_in *in, const struct json_tree *all, const struct value *v)
{
	const int next = json_in_next(in);

	if (next == '{') {
		ck_assert_int_eq(value_kind(v), VALUE_OBJECT);
		same_members(in, all, v);
	} else if (next == '[') {
		ck_assert_int_eq(value_kind(v), VALUE_ARRAY);
		same_elements(in, all, v);
	} else {
		same_plain(in, all, v);
	}
}

static void same_as_text(const struct profile *p)
{
	struct conf *c = conf_default();
	struct values values;
	struct json_in in;
	char *text, *error;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	values_of(p, &values);
	output_json(p, c, f);
	fclose(f);
	f = fmemopen(text, bytes, "r");
	json_in_begin(&in, f);
	same_value(&in, values.all, json_tree_root(values.all));
	error = json_in_end(&in);
	ck_assert_msg(!error, "%s", error);
	fclose(f);
	free(text);
	conf_free(c);
	free_values(&values);
}

/* Of an object that is not read yet, and of the same one when it is. */
static void same_late(const struct values *late, const struct value *v, const struct values *read,
	const struct value *w)
{
	for (const struct value *m = value_first(read->all, w); m; m = value_next(read->all, m)) {
		const char *key = value_key(read->all, m);
		const double real = value_real_of(late->all, v, key), is = value_real(m);
		char text[VALUE_DIGITS];

		ck_assert_msg(!memcmp(&real, &is, sizeof(is)) || (isnan(real) && isnan(is)),
			"%s: %g, but is %g", key, real, is);
		if (value_kind(m) == VALUE_TEXT && strlen(value_text(read->all, m)) < VALUE_DIGITS)
			ck_assert_str_eq(value_short_text(late->all, v, key, text),
				value_text(read->all, m));
	}
	ck_assert(isnan(value_real_of(late->all, v, "no such key")));
}

static void same_when_late(const struct profile *p)
{
	struct values late, read;
	const struct value *v, *w;

	values_of(p, &late);
	values_of(p, &read);
	v = value_member(late.all, json_tree_root(late.all), "stacks");
	w = value_member(read.all, json_tree_root(read.all), "stacks");
	ck_assert_uint_eq(value_count(v), p->n_stacks);
	v = value_first(late.all, v);
	for (w = value_first(read.all, w); w; w = value_next(read.all, w)) {
		same_late(&late, v, &read, w);
		v = value_next(late.all, v);
	}
	ck_assert_ptr_null(v);
	free_values(&late);
	free_values(&read);
}

static char *page_of(struct profile *p)
{
	struct values values;
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	values_of(p, &values);
	pages_write(f, &(struct page_run){"a run", values.all}, 1);
	fclose(f);
	free_values(&values);
	ck_assert_uint_lt(bytes, BYTES_MAX);
	return text;
}

static size_t times_in(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *s = text; (s = strstr(s, part)); s += strlen(part))
		n++;
	return n;
}

static void check_harmless(const char *text)
{
	static const char *const closed[] = {"table", "tr", "td", "th", "section", "svg", "g",
		"rect", "text", "title", "details", "div", "data", "main", "script", "style", "p"};
	static const char *const never[] = {
		"http:", "https:", " src=", "url(", "@import", "<img", "<b>", "onload"};

	for (size_t i = 0; i < ARRAY_SIZE(closed); i++) {
		char *begin = xasprintf("<%s>", closed[i]), *with = xasprintf("<%s ", closed[i]);
		char *end = xasprintf("</%s>", closed[i]);

		ck_assert_msg(times_in(text, begin) + times_in(text, with) == times_in(text, end),
			"%s: %zu and %zu begin, %zu end", closed[i], times_in(text, begin),
			times_in(text, with), times_in(text, end));
		free(begin);
		free(with);
		free(end);
	}
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		ck_assert_msg(!strstr(text, never[i]), "%s is in it", never[i]);
	ck_assert_uint_eq(times_in(text, "<script"), 2);
	for (const char *s = text; *s; s++)
		ck_assert_msg((unsigned char)*s >= 32 || *s == '\n' || *s == '\t', "byte %d", *s);
}

START_TEST(thrown_profiles)
{
	struct dice d = {.state = 1 + _i};
	struct profile *p = random_profile_with_waits(&d, _i % 3, 1 + _i, UINT64_MAX);
	char *text = page_of(p);

	check_harmless(text);
	same_as_text(p);
	same_when_late(p);
	ck_assert_ptr_nonnull(strstr(text, "id=\"flame\""));
	free(text);
	profile_free(p);
}
END_TEST

static const char *const hostile[] = {"</script><script>alert(1)</script>", "<b>bold</b>",
	"\"' onclick='x", "a\xff\xfe\x80z", "\x1b[31mred\x01\x7f", "<!--", "]]>", "&lt;&amp;&", ""};

START_TEST(hostile_names)
{
	struct dice d = {.state = 7};
	struct profile *p = random_profile_with_waits(&d, 0, 40, UINT64_MAX);
	char *text;

	for (size_t i = 0; i < p->n_names; i++) {
		if (!strcmp(p->names[i], "init"))
			continue;
		free(p->names[i]);
		p->names[i] = xstrdup(hostile[i % ARRAY_SIZE(hostile)]);
	}
	free(p->application);
	p->application = xstrdup(hostile[0]);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		profile_warn(p, "%s", hostile[i]);
	text = page_of(p);
	check_harmless(text);
	same_as_text(p);
	same_when_late(p);
	ck_assert_ptr_nonnull(strstr(text, "&lt;/script&gt;&lt;script&gt;alert(1)"));
	free(text);
	profile_free(p);
}
END_TEST

START_TEST(long_names)
{
	struct dice d = {.state = 9};
	struct profile *p = random_profile_with_waits(&d, 0, 60, UINT64_MAX);
	char *text;

	for (size_t i = 0; i < p->n_names; i++) {
		free(p->names[i]);
		p->names[i] = xmalloc(10241);
		memset(p->names[i], 'a' + (int)i % 26, 10240);
		p->names[i][10240] = '\0';
	}
	text = page_of(p);
	check_harmless(text);
	free(text);
	profile_free(p);
}
END_TEST

/* A chain deeper than the picture has levels, and as many call paths beside it as large codes
 * have. */
START_TEST(many_paths)
{
	struct profile *p = profile_new();
	char *text;

	profile_add_executable(p, "/opt/app");
	p->ranks = p->world_size = 4096;
	p->stacks = xcalloc(100000, sizeof(*p->stacks));
	p->names = xcalloc(1000, sizeof(*p->names));
	p->n_names = 1000;
	p->n_stacks = 100000;
	for (uint32_t i = 0; i < 1000; i++)
		p->names[i] = i ? xasprintf("function_%u", i) : xstrdup("init");
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack *s = &p->stacks[i];

		s->parent = !i ? PROFILE_NONE : i < 300 ? i - 1 : i / 300;
		s->name = i ? 1 + i % 999 : 0;
		s->hash = i;
		s->calls = i;
		s->ranks = 4096;
		s->excl_ns = s->incl_ns = 1000 + i;
	}
	for (uint32_t i = (uint32_t)p->n_stacks; --i;)
		p->stacks[p->stacks[i].parent].incl_ns += p->stacks[i].incl_ns;
	text = page_of(p);
	check_harmless(text);
	ck_assert_ptr_nonnull(strstr(text, "rest: "));
	free(text);
	profile_free(p);
}
END_TEST

/* More than the picture has: it shows those that matter, and says so. */
START_TEST(many_ranks)
{
	struct dice d = {.state = 5};
	struct profile *p = profile_new();
	char *text;

	profile_add_executable(p, "/opt/app");
	p->ranks = p->world_size = 4096;
	p->rank_times = xcalloc(4096, sizeof(*p->rank_times));
	p->n_rank_times = 4096;
	for (uint32_t i = 0; i < 4096; i++)
		p->rank_times[i] = (struct profile_rank_time){
			.rank = i,
			.flags = RANK_HAS_MPI | RANK_LEFT_INIT | RANK_ENTERED_FINALIZE,
			.threads = 1,
			.useful_ns = i == 4000 ? 2000000000 : 1000000000 + throw_dice(&d, 100000),
			.mpi_ns = i == 4000 ? 1 : 1000000000,
		};
	text = page_of(p);
	check_harmless(text);
	ck_assert_ptr_nonnull(strstr(text, "so that others may wait: rank 4000 on"));
	ck_assert_ptr_nonnull(strstr(text, "128 ranks with the most and the 128 with the least"));
	free(text);
	profile_free(p);
}
END_TEST

/* Of one node nothing is told of the balance between nodes; of two it is. */
START_TEST(efficiency_of_nodes)
{
	struct profile *p = profile_new();
	char *text;

	profile_add_executable(p, "/opt/app");
	p->ranks = p->world_size = p->threads = 2;
	for (uint32_t i = 0; i < 2; i++) {
		ADD_ELEMENT(p, agents)->host = xasprintf("n%u", i);
		*ADD_ELEMENT(p, rank_ranges) =
			(struct profile_rank_range){i, i, xasprintf("n%u", _i ? i : 0)};
		*ADD_ELEMENT(p, rank_times) = (struct profile_rank_time){.rank = i,
			.flags = RANK_HAS_MPI | RANK_LEFT_INIT | RANK_ENTERED_FINALIZE,
			.threads = 1,
			.team_threads = 1,
			.end_ns = 2000000000,
			.useful_ns = 1000000000,
			.mpi_ns = 1000000000,
			.all_useful_ns = 1000000000,
			.team_useful_ns = 1000000000,
			.team_most_ns = 1000000000,
			.all_mpi_ns = 1000000000};
	}
	p->n_agents = _i ? 2 : 1;
	text = page_of(p);
	ck_assert_ptr_nonnull(strstr(text, "Load balance"));
	ck_assert(!strstr(text, "between nodes") == !_i);
	free(text);
	p->n_agents = 2;
	profile_free(p);
}
END_TEST

/* Of a single process there is no balance of ranks, and no MPI. */
START_TEST(efficiency_of_one_process)
{
	struct profile *p = profile_new();
	char *text;

	profile_add_executable(p, "/opt/app");
	p->ranks = p->threads = 1;
	ADD_ELEMENT(p, agents)->host = xstrdup("n0");
	*ADD_ELEMENT(p, rank_times) = (struct profile_rank_time){.rank = 0,
		.threads = 1,
		.team_threads = 1,
		.end_ns = 2000000000,
		.useful_ns = 1000000000,
		.all_useful_ns = 1000000000,
		.team_useful_ns = 1000000000,
		.team_most_ns = 1000000000};
	text = page_of(p);
	ck_assert_ptr_nonnull(strstr(text, ">Parallel<"));
	ck_assert_ptr_null(strstr(text, "Load balance"));
	ck_assert_ptr_null(strstr(text, ">Communication<"));
	free(text);
	profile_free(p);
}
END_TEST

/* One function that is too small for the table and the picture. */
START_TEST(one_more)
{
	static const uint64_t excl_ns[] = {200000, 799200, 800};
	struct profile *p = profile_new();
	char *text;

	profile_add_executable(p, "/opt/app");
	p->names = xcalloc(3, sizeof(*p->names));
	p->stacks = xcalloc(3, sizeof(*p->stacks));
	p->n_names = p->n_stacks = 3;
	for (uint32_t i = 0; i < 3; i++) {
		p->names[i] = i ? xasprintf("f%u", i) : xstrdup("init");
		p->stacks[i] = (struct profile_stack){.parent = i ? 0 : PROFILE_NONE,
			.name = i,
			.hash = i,
			.calls = 1,
			.ranks = 1,
			.incl_ns = i ? excl_ns[i] : 1000000,
			.excl_ns = excl_ns[i]};
	}
	text = page_of(p);
	ck_assert_ptr_nonnull(strstr(text, "rest: 1 call path and what it calls, "));
	ck_assert_ptr_nonnull(strstr(text, "1 more function, below 0.1 % or beyond the first "));
	free(text);
	profile_free(p);
}
END_TEST

static double number_behind(const char *at, const char *text)
{
	const char *found = strstr(at, text);

	ck_assert_ptr_nonnull(found);
	return strtod(found + strlen(text), NULL);
}

/* What is called takes more time than its caller has, as by other threads: no box leaves the
 * picture, or its caller's box. */
START_TEST(callees_have_more)
{
	static const uint64_t incl_ns[] = {1000, 3000, 2000, 5000};
	struct profile *p = profile_new();
	const char *at;
	char *text;

	profile_add_executable(p, "/opt/app");
	p->names = xcalloc(4, sizeof(*p->names));
	p->stacks = xcalloc(4, sizeof(*p->stacks));
	p->n_names = p->n_stacks = 4;
	for (uint32_t i = 0; i < 4; i++) {
		p->names[i] = i ? xasprintf("f%u", i) : xstrdup("init");
		p->stacks[i] = (struct profile_stack){.parent = i == 3 ? 1
								: i    ? 0
								       : PROFILE_NONE,
			.name = i,
			.hash = i,
			.calls = 1,
			.ranks = 1,
			.incl_ns = incl_ns[i],
			.excl_ns = 1};
	}
	text = page_of(p);
	at = strstr(text, "<svg id=\"flame\"");
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_nonnull(strstr(at, " s own, 1 call, imbalance"));
	for (int i = 0; i < 4; i++) {
		at = strstr(at, "class=\"f\"") + 1;
		ck_assert_double_le(
			number_behind(at, "x=\"") + number_behind(at, "width=\""), 1000.1);
	}
	free(text);
	profile_free(p);
}
END_TEST

/* Of two runs, whatever is in them. */
START_TEST(two_runs)
{
	struct dice d = {.state = 100 + _i};
	struct profile *p[2];
	struct values values[2];
	char *text;
	size_t bytes;
	FILE *f;

	for (int k = 0; k < 2; k++) {
		p[k] = random_profile_with_waits(&d, _i % 3, 1 + 3 * _i, UINT64_MAX);
		for (size_t i = 1; i < p[k]->n_names; i += 3) {
			free(p[k]->names[i]);
			p[k]->names[i] = xstrdup(hostile[i % ARRAY_SIZE(hostile)]);
		}
		values_of(p[k], &values[k]);
	}
	f = open_memstream(&text, &bytes);
	pages_write(f,
		(struct page_run[]){{"new", values[0].all},
			{"</script><script>alert(1)</script>", values[1].all}},
		2);
	fclose(f);
	check_harmless(text);
	ck_assert_ptr_nonnull(strstr(text, "id=\"by-difference\""));
	free(text);
	for (int k = 0; k < 2; k++) {
		free_values(&values[k]);
		profile_free(p[k]);
	}
}
END_TEST

START_TEST(nothing_at_all)
{
	struct profile *p = profile_new();
	char *text = page_of(p);

	check_harmless(text);
	ck_assert_ptr_null(strstr(text, "id=\"waits\""));
	ck_assert_ptr_null(strstr(text, "id=\"communication\""));
	free(text);
	profile_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report");
	TCase *c = tcase_create("report");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, thrown_profiles, 0, 60);
	tcase_add_test(c, hostile_names);
	tcase_add_test(c, long_names);
	tcase_add_test(c, many_paths);
	tcase_add_test(c, many_ranks);
	tcase_add_loop_test(c, efficiency_of_nodes, 0, 2);
	tcase_add_test(c, efficiency_of_one_process);
	tcase_add_test(c, one_more);
	tcase_add_test(c, callees_have_more);
	tcase_add_loop_test(c, two_runs, 0, 20);
	tcase_add_test(c, nothing_at_all);
	suite_add_tcase(s, c);
	return run_suite(s);
}
