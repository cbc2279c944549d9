/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of Vftrace's version 3, read back by a reader that knows only that
 * format's description: every field at its place, every byte accounted for.
 */
#include <check.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/vfd-classic.h"
#include "nodeagent/vfd-mpitype.h"
#include "t/vfd-by-hand.h"

static char dir[] = "/tmp/u-vfd-classic.XXXXXX";
static char path[64], classic[64];

struct bytes {
	unsigned char *buf;
	size_t n, at;
};

static void get(struct bytes *b, void *to, size_t n)
{
	if (n > b->n - b->at)
		ck_abort_msg("the file ends at %zu, %zu more are needed", b->at, n);
	memcpy(to, b->buf + b->at, n);
	b->at += n;
}

static int get_int(struct bytes *b)
{
	int x;

	get(b, &x, 4);
	return x;
}

static long long get_long(struct bytes *b)
{
	long long x;

	get(b, &x, 8);
	return x;
}

static const char *get_text(struct bytes *b)
{
	int n = get_int(b);
	const char *text = (const char *)b->buf + b->at;

	ck_assert_int_gt(n, 0);
	ck_assert_uint_le((size_t)n, b->n - b->at);
	ck_assert_uint_eq(strlen(text) + 1, (size_t)n);
	b->at += (size_t)n;
	return text;
}

static struct vfd_file *make(struct hand *h, int process, struct bytes *b)
{
	struct vfd_setup s = {.path = path};
	struct vfd_file *f;
	struct stat st;
	char *error;
	FILE *in;

	*h = (struct hand){.state = 5};
	hand_begin(h, &s);
	hand_run(h, 20000, 400);
	ck_assert_int_eq(hand_end(h), 0);
	f = vfd_open(path, &error);
	ck_assert_ptr_nonnull(f);
	ck_assert_msg(vfd_classic_write(f, (uint32_t)process, classic, &error), "%s", error);
	ck_assert_int_eq(stat(classic, &st), 0);
	*b = (struct bytes){.buf = malloc((size_t)st.st_size), .n = (size_t)st.st_size};
	in = fopen(classic, "r");
	ck_assert_uint_eq(fread(b->buf, 1, b->n, in), b->n);
	fclose(in);
	return f;
}

START_TEST(every_field_is_at_its_place)
{
	int kinds[3] = {0}, parents, functions, messages, n_stacks, rank = _i, open[2] = {0};
	long long at[4], last[3] = {0}, end;
	const char *names[4096];
	struct vfd_file *f;
	struct bytes b;
	struct hand h;
	double runtime;
	char date[25];

	setenv("TZ", "UTC0", 1);
	f = make(&h, rank, &b);
	end = (long long)(hand_last(&h) - HAND_START) / 2;
	ck_assert_int_eq(get_int(&b), 3);
	ck_assert_str_eq(get_text(&b), "Vftrace 2.0.0");
	ck_assert_int_eq(get_int(&b), 25);
	get(&b, date, 25);
	ck_assert_str_eq(date, "Tue Nov 14 22:13:20 2023");
	get(&b, date, 25);
	ck_assert_str_eq(date, "Tue Nov 14 22:13:20 2023");
	ck_assert_int_eq(get_long(&b), 0); /* interval */
	ck_assert_int_eq(get_int(&b), 2);
	ck_assert_int_eq(get_int(&b), rank);
	ck_assert_int_eq(get_int(&b), 2); /* threads */
	get(&b, &runtime, 8);
	ck_assert_int_eq((long long)(runtime * 1e9 + 0.5), end);
	functions = get_int(&b);
	messages = get_int(&b);
	n_stacks = get_int(&b);
	ck_assert_int_eq(get_int(&b), 0);
	ck_assert_int_eq(get_int(&b), 0);
	for (int i = 0; i < 4; i++)
		at[i] = get_long(&b);
	ck_assert_uint_eq(b.at, 156);
	ck_assert_int_eq(at[0], 156);

	for (int i = 0; i < functions + messages; i++) {
		int kind = get_int(&b), stack;
		long long time;

		if (kind < 0 || kind > 2)
			ck_abort_msg("kind %d of record %d", kind, i);
		kinds[kind]++;
		if (kind < 2) {
			stack = get_int(&b);
			time = get_long(&b);
			open[kind]++;
			if (i + 1 == functions + messages) {
				ck_assert_int_eq(kind, 1);
				ck_assert_int_eq(stack, 0);
				ck_assert_int_eq(time, end);
			}
			if (time < last[0])
				ck_abort_msg("time goes backwards");
			last[0] = time;
		} else {
			int way = get_int(&b), peer = get_int(&b), type = get_int(&b);
			int count = get_int(&b), size = get_int(&b), tag = get_int(&b);
			long long from = get_long(&b), to = get_long(&b);

			stack = get_int(&b);
			if ((way != 0 && way != 1) || peer != 1 - rank || type != 13 || size != 8 ||
				count < 0 || count >= 10000 || tag < 0 || tag >= 100 || from > to ||
				to - from >= 2500 || get_int(&b) > 1)
				ck_abort_msg("message %d is wrong", i);
		}
		if (stack < 0 || stack >= n_stacks)
			ck_abort_msg("stack %d of record %d", stack, i);
	}
	ck_assert_int_eq(kinds[0] + kinds[1], functions);
	ck_assert_int_eq(kinds[2], messages);
	ck_assert_int_gt(messages, 20);
	ck_assert_int_eq(open[0] + 1, open[1]); /* no call of init */
	ck_assert_uint_eq(b.at, (size_t)at[1]);

	for (int i = 0; i < n_stacks; i++) {
		int caller = get_int(&b);

		ck_assert(i ? caller >= 0 && caller < i : caller == -1);
		names[i] = get_text(&b);
	}
	ck_assert_str_eq(names[0], "init");
	for (int i = 1; i < n_stacks; i++) {
		bool precise = !strncmp(names[i], "MPI_", 4) || !strncmp(names[i], "halo", 4) ||
			       !strncmp(names[i], "phase one", 9);

		ck_assert_int_eq(names[i][strlen(names[i]) - 1] == '*', precise);
	}
	ck_assert_uint_eq(b.at, (size_t)at[2]);
	parents = get_int(&b);
	ck_assert_int_eq(parents, -1);
	ck_assert_int_eq(get_int(&b), 0);
	ck_assert_uint_eq(b.at, (size_t)at[3]);
	ck_assert_uint_eq(b.at, b.n);
	free(b.buf);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(calls_are_those_of_both_threads)
{
	uint64_t given = 0;
	struct vfd_file *f;
	struct bytes b;
	struct hand h;

	f = make(&h, 1, &b);
	for (uint32_t lane = 2; lane < 4; lane++)
		for (size_t i = 0; i < h.n_given[lane]; i++)
			given += h.given[lane][i].kind <= VFD_EXIT;
	b.at = 4 + 4 + 14 + 4 + 50 + 8 + 12 + 8;
	ck_assert_uint_eq((unsigned)get_int(&b), given + 1);
	free(b.buf);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(a_process_that_is_not_there_is_refused)
{
	struct vfd_file *f;
	struct bytes b;
	struct hand h;
	char *error;

	f = make(&h, 0, &b);
	ck_assert(!vfd_classic_write(f, 3000, classic, &error));
	ck_assert_ptr_nonnull(strstr(error, "it has no process 3000"));
	free(error);
	ck_assert(!vfd_classic_write(f, 0, "/tmp/none/such/x.vfd", &error));
	ck_assert_str_eq(error, "/tmp/none/such/x.vfd: No such file or directory");
	free(error);
	free(b.buf);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(names_have_as_many_digits_as_ranks)
{
	static const struct {
		int rank;
		uint32_t ranks;
		const char *path;
	} rows[] = {
		{0, 1, "d/x_0.vfd"},
		{3, 9, "d/x_3.vfd"},
		{3, 10, "d/x_03.vfd"},
		{11, 111, "d/x_011.vfd"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *p = vfd_classic_path("d", "x", rows[i].rank, rows[i].ranks);

		ck_assert_str_eq(p, rows[i].path);
		free(p);
	}
}
END_TEST

START_TEST(types_have_the_numbers_of_vftrace)
{
	ck_assert_str_eq(vfd_mpitype(0)->name, "MPI_DERIVED");
	ck_assert_int_eq(vfd_mpitype(0)->classic, -1);
	ck_assert_str_eq(vfd_mpitype(8)->name, "MPI_INT");
	ck_assert_int_eq(vfd_mpitype(8)->classic, 2);
	ck_assert_int_eq(vfd_mpitype(16)->classic, 13);
	ck_assert_int_eq(vfd_mpitype(4)->classic, 35);
	ck_assert_int_eq(vfd_mpitype(100000)->classic, -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfd-classic");
	TCase *t = tcase_create("all");
	SRunner *sr;
	int failed;

	program_name = "u-vfd-classic";
	if (!mkdtemp(dir))
		return 99;
	snprintf(path, sizeof(path), "%s/a.vfd", dir);
	snprintf(classic, sizeof(classic), "%s/a_0.vfd", dir);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, every_field_is_at_its_place, 0, 2);
	tcase_add_test(t, calls_are_those_of_both_threads);
	tcase_add_test(t, a_process_that_is_not_there_is_refused);
	tcase_add_test(t, names_have_as_many_digits_as_ranks);
	tcase_add_test(t, types_have_the_numbers_of_vftrace);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_set_tap(sr, "-");
	srunner_run_all(sr, CK_SILENT);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	unlink(path);
	unlink(classic);
	rmdir(dir);
	return failed != 0;
}
