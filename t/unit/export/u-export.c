/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the exporters: bytes of protobuf, source lines, names of Paraver, pairs of messages. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/export/export.h"
#include "nodeagent/export/internal.h"
#include "nodeagent/export/pairs.h"
#include "nodeagent/export/protobuf.h"
#include "t/lib/suite.h"

static void same(const struct protobuf *p, const char *bytes, size_t n)
{
	ck_assert_uint_eq(p->n, n);
	ck_assert_mem_eq(p->bytes, bytes, n);
}

#define SAME(p, text) same(p, text, sizeof(text) - 1)

START_TEST(test_numbers)
{
	struct protobuf p = {0};

	protobuf_uint(&p, 1, 150); /* the example of protobuf's documentation */
	SAME(&p, "\x08\x96\x01");
	protobuf_clear(&p);
	protobuf_uint(&p, 16, 0);
	protobuf_uint(&p, 2047, 127);
	SAME(&p, "\x80\x01\x00\xf8\x7f\x7f");
	protobuf_clear(&p);
	protobuf_uint(&p, 1, UINT64_MAX);
	SAME(&p, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	protobuf_clear(&p);
	protobuf_int(&p, 1, -2);
	SAME(&p, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	protobuf_clear(&p);
	protobuf_fixed64(&p, 2, 0x0102030405060708);
	SAME(&p, "\x11\x08\x07\x06\x05\x04\x03\x02\x01");
	protobuf_free(&p);
}
END_TEST

START_TEST(test_texts)
{
	struct protobuf p = {0};

	protobuf_text(&p, 2, "testing");
	SAME(&p, "\x12\x07testing");
	protobuf_clear(&p);
	protobuf_text(&p, 2,
		"\xc3\xa9\xff"
		"a\xc3");
	SAME(&p, "\x12\x05\xc3\xa9?a?");
	protobuf_clear(&p);
	protobuf_text(&p, 1, "");
	SAME(&p, "\x0a\x00");
	protobuf_free(&p);
}
END_TEST

START_TEST(test_messages_in_messages)
{
	struct protobuf p = {0};

	protobuf_open(&p, 3);
	protobuf_open(&p, 1);
	protobuf_close(&p);
	protobuf_uint(&p, 1, 150);
	protobuf_close(&p);
	SAME(&p, "\x1a\x05\x0a\x00\x08\x96\x01");
	protobuf_free(&p);
}
END_TEST

/* Lengths of two bytes and more: what was written moves on, in all levels. */
START_TEST(test_long_messages)
{
	static const size_t lengths[] = {0, 1, 125, 126, 127, 128, 16380, 16384, 70000};
	const size_t n = lengths[_i];
	char *text = malloc(n + 1);
	struct protobuf p = {0};
	size_t at = 0, value[3];

	memset(text, 'x', n);
	text[n] = '\0';
	protobuf_open(&p, 1);
	protobuf_open(&p, 2);
	protobuf_text(&p, 3, text);
	protobuf_close(&p);
	protobuf_close(&p);
	for (int level = 0; level < 3; level++) {
		ck_assert_uint_eq(p.bytes[at++], (level + 1) << 3 | 2);
		value[level] = 0;
		for (unsigned shift = 0;; shift += 7) {
			value[level] |= (size_t)(p.bytes[at] & 0x7f) << shift;
			if (!(p.bytes[at++] & 0x80))
				break;
		}
		ck_assert_uint_eq(value[level], p.n - at);
	}
	ck_assert_uint_eq(value[2], n);
	ck_assert_mem_eq(p.bytes + at, text, n);
	protobuf_free(&p);
	free(text);
}
END_TEST

/* Messages in random order of their ends, in memory and through the file. */
START_TEST(test_pairs)
{
	static const uint32_t rows[] = {0, 1, 7, 64, 4096};
	const char *folder = getenv("TMPDIR");
	char near[4096];
	struct pairs *p;
	enum { MESSAGES = 5000, SINGLE = 100 };
	uint64_t last = 0, sum = 0;
	size_t n = 0;

	snprintf(near, sizeof(near), "%s/u-export", folder ? folder : "/tmp");
	p = pairs_new(near, rows[_i]);
	for (uint64_t i = 0; i < 2 * MESSAGES; i++) {
		/* a step without a common divisor: every end once, in no order */
		const uint64_t k = i * 7919 % (2 * MESSAGES), m = k / 2 + 1;
		struct pair_end end = {.thread = (uint32_t)(m % 10), .end = 5000000};

		end.start = m * 0x9e3779b97f4a7c15u >> 44;
		pairs_add(p, m, k % 2, &end, k % 2 ? 0 : m, k % 2 ? -1 : (int32_t)m);
	}
	for (uint64_t i = 0; i < SINGLE; i++)
		pairs_add(p, MESSAGES + 1 + i, true, &(struct pair_end){0}, 0, 0);
	pairs_sort(p);
	for (const struct pair *one; (one = pairs_first(p)); pairs_take(p), n++) {
		ck_assert_uint_ge(one->send.start, last);
		ck_assert_uint_eq(one->bytes, (uint64_t)one->tag);
		ck_assert_uint_eq(one->send.start, one->bytes * 0x9e3779b97f4a7c15u >> 44);
		ck_assert_uint_eq(one->send.thread, one->bytes % 10);
		last = one->send.start;
		sum += one->bytes;
	}
	ck_assert_uint_eq(n, MESSAGES);
	ck_assert_uint_eq(sum, (uint64_t)MESSAGES * (MESSAGES + 1) / 2);
	ck_assert_int_eq(pairs_error(p), 0);
	pairs_free(p);
}
END_TEST

START_TEST(test_pairs_without_a_disk)
{
	struct pairs *p = pairs_new("/nowhere/at/all", 2);

	for (uint64_t m = 1; m < 100; m++) {
		pairs_add(p, m, true, &(struct pair_end){0}, 0, 0);
		pairs_add(p, m, false, &(struct pair_end){0}, 0, 0);
	}
	pairs_sort(p);
	while (pairs_first(p))
		pairs_take(p);
	ck_assert_int_ne(pairs_error(p), 0);
	pairs_free(p);
}
END_TEST

static void check_source(const char *name, const char *file, uint32_t line)
{
	const struct vfd_function construct = {.kind = VFD_FUNCTION_OPENMP};
	struct export_region r = {.name = name};

	export_find_source(&r, &construct);
	ck_assert_uint_eq(r.line, line);
	if (file)
		ck_assert_str_eq(r.file, file);
	else
		ck_assert_ptr_null(r.file);
	free(r.file);
}

START_TEST(test_sources_of_constructs)
{
	check_source("omp_for@heat.c:42", "heat.c", 42);
	check_source("omp_critical(a@b)@heat.c:42 #2", "heat.c", 42);
	check_source("omp_for@a:b.c:7", "a:b.c", 7);
	check_source("omp_for@main+0x12", NULL, 0);
	check_source("omp_for@main:0", NULL, 0);
	check_source("omp_for@heat.c:42x", NULL, 0);
	check_source("omp_for@heat.c:99999999999999999999999", NULL, 0);
	check_source("omp_for@:", NULL, 0);
	check_source("omp_for", NULL, 0);
	check_source("", NULL, 0);
}
END_TEST

START_TEST(test_sources_of_functions)
{
	struct vfd_function fn = {.kind = VFD_FUNCTION_CODE, .file = "a\xff.c", .line = 3};
	struct export_region r = {.name = "f@heat.c:42"};

	export_find_source(&r, &(struct vfd_function){.kind = VFD_FUNCTION_CODE});
	ck_assert_ptr_null(r.file);
	export_find_source(&r, &fn);
	ck_assert_str_eq(r.file, "a\xef\xbf\xbd.c");
	ck_assert_uint_eq(r.line, 3);
	fn.file = "other.c"; /* of another file: the first one stays */
	export_find_source(&r, &fn);
	ck_assert_str_eq(r.file, "a\xef\xbf\xbd.c");
	free(r.file);
}
END_TEST

static size_t lines_of(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = 0;

	ck_assert_ptr_nonnull(f);
	for (int c; (c = getc(f)) != EOF;)
		n += c == '\n';
	fclose(f);
	return n;
}

static bool has_text(const char *path, const char *text)
{
	static char all[4096];
	FILE *f = fopen(path, "r");

	ck_assert_ptr_nonnull(f);
	all[fread(all, 1, sizeof(all) - 1, f)] = '\0';
	fclose(f);
	return strstr(all, text);
}

/* In OUT.row a line is an entry, whatever is in the names of nodes, programs and threads. */
START_TEST(test_names_of_rows)
{
	const char *hosts[] = {"n\n1"};
	struct export_process process = {.name = (char *)"rank 0 (n\n1) a\r\nb"};
	struct export_thread threads[] = {
		{.name = (char *)"thread 0 \xff"}, {.name = (char *)"w\nx"}};
	struct exporter x = {.hosts = hosts,
		.processes = &process,
		.threads = threads,
		.n_hosts = 1,
		.n_processes = 1,
		.n_threads = 2};
	char dir[] = "/tmp/u-export.XXXXXX";
	char *stem, *path;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	stem = xasprintf("%s/out", dir);
	paraver_names(&x, stem);
	ck_assert_ptr_null(x.error);
	path = xasprintf("%s.row", stem);
	ck_assert_uint_eq(lines_of(path), 3 + 2 + 4); /* levels, empty lines, entries */
	ck_assert(has_text(path, "\nthread 0 \xef\xbf\xbd of rank 0 (n 1) a  b\n"));
	remove(path);
	free(path);
	path = xasprintf("%s.pcf", stem);
	remove(path);
	free(path);
	free(stem);
	rmdir(dir);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("export");
	TCase *c = tcase_create("protobuf");

	tcase_add_test(c, test_numbers);
	tcase_add_test(c, test_texts);
	tcase_add_test(c, test_messages_in_messages);
	tcase_add_loop_test(c, test_long_messages, 0, 9);
	suite_add_tcase(s, c);
	c = tcase_create("sources");
	tcase_add_test(c, test_sources_of_constructs);
	tcase_add_test(c, test_sources_of_functions);
	suite_add_tcase(s, c);
	c = tcase_create("paraver");
	tcase_add_test(c, test_names_of_rows);
	suite_add_tcase(s, c);
	c = tcase_create("pairs");
	tcase_add_loop_test(c, test_pairs, 0, 5);
	tcase_add_test(c, test_pairs_without_a_disk);
	suite_add_tcase(s, c);
	return run_suite(s);
}
