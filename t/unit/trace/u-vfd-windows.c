/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a file, one behind the other: together they have the times of the whole. */
#include <check.h>
#include <unistd.h>

#include "t/lib/suite.h"
#include "t/unit/trace/vfd-by-hand.h"

#define STACKS 512u
#define PARTS  400

static char path[] = "/tmp/u-vfd-windows.XXXXXX";

/* Adds the time of each stack without what it calls, in [from, to). */
static void add_times(struct vfd_file *f, int64_t from, int64_t to, int64_t (*ns)[STACKS])
{
	const struct vfd_filter filter = {.track = VFD_NONE,
		.no_messages = true,
		.from_set = true,
		.from = from,
		.to_set = true,
		.to = to};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	static uint32_t open[HAND_TRACKS][STACKS];
	uint32_t n_open[HAND_TRACKS] = {0};
	int64_t last[HAND_TRACKS] = {0};
	struct vfd_event e;

	while (vfd_next(c, &e)) {
		uint32_t *n = &n_open[e.track];

		if (e.kind > VFD_EXIT)
			continue;
		ck_assert_int_ge(e.time, from);
		ck_assert_int_le(e.time, to);
		if (*n)
			ns[e.track][open[e.track][*n - 1]] += e.time - last[e.track];
		last[e.track] = e.time;
		if (e.kind == VFD_ENTER)
			open[e.track][(*n)++] = e.stack;
		else
			ck_assert_uint_eq(open[e.track][--*n], e.stack);
	}
	vfd_cursor_free(c);
}

/* _i: recorded are all calls, or some of them, and parts are much shorter than the time between */
START_TEST(parts_add_up)
{
	static int64_t whole[HAND_TRACKS][STACKS], parts[HAND_TRACKS][STACKS];
	const struct vfd_setup setup = {.path = path, .interval_ns = _i ? 20000 : 0};
	struct hand h = {.state = 7};
	struct vfd_file *f;
	char *error = NULL;
	int64_t end;

	hand_begin(&h, &setup);
	hand_run(&h, 3000, 400);
	ck_assert_int_eq(hand_end(&h), 0);
	f = vfd_open(path, &error);
	ck_assert_ptr_nonnull(f);
	end = vfd_facts(f)->end + 1;
	add_times(f, 0, end, whole);
	for (int64_t i = 0; i < PARTS; i++)
		add_times(f, end * i / PARTS, end * (i + 1) / PARTS, parts);
	for (uint32_t t = 0; t < HAND_TRACKS; t++)
		for (uint32_t k = 0; k < STACKS; k++)
			ck_assert_int_eq(parts[t][k], whole[t][k]);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("parts of a file");
	TCase *t = tcase_create("parts");
	const int fd = mkstemp(path);
	int failed;

	if (fd < 0)
		return 99;
	close(fd);
	tcase_add_loop_test(t, parts_add_up, 0, 2);
	suite_add_tcase(s, t);
	failed = run_suite(s);
	unlink(path);
	return failed;
}
