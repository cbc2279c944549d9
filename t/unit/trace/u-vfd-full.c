/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampling files that have reached sampling.max_size: nothing makes them grow any more. */
#include <check.h>
#include <unistd.h>

#include "t/lib/suite.h"
#include "t/unit/trace/vfd-by-hand.h"

#define LIMIT (1u << 20)

enum { PROCESSES = 3000, FUNCTIONS = 80, CHANGES = 2000 };

static char path[] = "/tmp/u-vfd-full.XXXXXX";

static uint32_t new_function(struct vfd_writer *w, uint32_t process, uint32_t i)
{
	char name[64];
	uint32_t number = vfd_define_function(
		w, &(struct vfd_function){.process = process, .kind = VFD_FUNCTION_OTHER});

	snprintf(name, sizeof(name), "function_%u_of_process_%u", i, process);
	vfd_define_name(w, number, name, false);
	return number;
}

/* A process that calls functions of its own, and ends. */
static void add_process(struct hand *h, uint32_t i)
{
	const uint64_t start = HAND_START + i * 100000u;
	const uint32_t process = vfd_define_process(
		h->w, &(struct vfd_process){.rank = -1, .pid = 1000 + (int)i, .parent = VFD_NONE});
	struct vfd_track *l =
		vfd_track_new(h->w, &(struct vfd_thread){.process = process, .name = "child"});

	vfd_define_rank(h->w, process, (int)i, PROCESSES, 7);
	for (uint32_t k = 0; k < FUNCTIONS; k++) {
		const uint32_t stack = vfd_stack_new(l, 0, new_function(h->w, process, k));

		vfd_enter(l, stack, start + 100 * k);
		vfd_exit(l, stack, start + 100 * k + 90);
	}
	vfd_track_end(l, start + 90000);
	vfd_define_process_end(h->w, process, start + 90000, 0, 0);
}

/* A thread that goes on meets functions that the file does not have, and changes its name. */
static void change_thread(struct hand *h, uint32_t i)
{
	const uint64_t at = HAND_START + PROCESSES * 100000u + i * 10000000u;
	const uint32_t stack = vfd_stack_new(h->tracks[0], 0, new_function(h->w, 0, i));
	char name[16];

	snprintf(name, sizeof(name), "name %u", i);
	vfd_track_name(h->tracks[0], name);
	vfd_track_openmp(h->tracks[0], 1, i);
	vfd_enter(h->tracks[0], stack, at);
	vfd_exit(h->tracks[0], stack, at + 9000000);
	vfd_lost(h->tracks[0], 1, at + 9000000);
}

static void check_tables(struct vfd_file *f)
{
	size_t n, n_processes, n_functions, n_stacks;
	const struct vfd_process *processes = vfd_processes(f, &n_processes);
	const struct vfd_function *functions = vfd_functions(f, &n_functions);
	const struct vfd_thread *threads = vfd_threads(f, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct vfd_stack *s = vfd_stacks(f, i, &n_stacks);

		if (threads[i].track == VFD_NONE) {
			ck_assert_uint_le(n_stacks, 2);
			continue;
		}
		ck_assert_uint_lt(threads[i].process, n_processes);
		ck_assert_uint_eq(processes[threads[i].process].number, threads[i].process);
		for (size_t k = 1; k + 1 < n_stacks; k++)
			if (s[k].function != VFD_NONE &&
				(s[k].function >= n_functions ||
					functions[s[k].function].number != s[k].function))
				ck_abort_msg("stack %zu of track %u has no function", k, i);
	}
}

static void check_events(struct vfd_file *f)
{
	const struct vfd_filter filter = {.track = VFD_NONE};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	struct vfd_event e;
	size_t n, calls = 0;

	while (vfd_next(c, &e)) {
		if (e.stack && vfd_stacks(f, e.track, &n)[e.stack].function == VFD_NONE)
			ck_abort_msg("track %u calls what is not defined", e.track);
		calls += e.kind == VFD_ENTER;
	}
	ck_assert_uint_gt(calls, 100);
	vfd_cursor_free(c);
}

START_TEST(what_is_new_is_not_defined)
{
	const struct vfd_setup s = {.path = path, .max_size = LIMIT, .interval_ns = _i ? 1000 : 0};
	struct hand h = {.state = 3};
	struct vfd_written before;
	struct vfd_file *f;
	size_t n;
	char *error;
	int fd = mkstemp(strcpy(path, "/tmp/u-vfd-full.XXXXXX"));

	close(fd);
	hand_begin(&h, &s);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		add_process(&h, i);
		if (i % 10 == 0)
			vfd_writer_flush(h.w);
	}
	vfd_writer_flush(h.w);
	before = vfd_writer_written(h.w);
	ck_assert_uint_ge(before.bytes, LIMIT / 100 * 95);
	ck_assert_uint_lt(before.bytes, LIMIT + (128 << 10));
	for (uint32_t i = 0; i < CHANGES; i++) {
		change_thread(&h, i);
		vfd_writer_flush(h.w);
	}
	ck_assert_uint_lt(vfd_writer_written(h.w).bytes, before.bytes + 2048);
	ck_assert_ptr_nonnull(strstr(vfd_writer_trouble(h.w), "as large as sampling.max_size"));
	ck_assert_int_eq(hand_end(&h), 0);
	f = vfd_open(path, &error);
	ck_assert_ptr_nonnull(f);
	ck_assert(vfd_facts(f)->closed);
	vfd_damage(f, &n);
	ck_assert_uint_eq(n, 0);
	check_tables(f);
	check_events(f);
	ck_assert_uint_lt(vfd_facts(f)->bytes, LIMIT + (192 << 10));
	vfd_close(f);
	hand_free(&h);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfd-full");
	TCase *c = tcase_create("full");

	tcase_add_loop_test(c, what_is_new_is_not_defined, 0, 2);
	suite_add_tcase(s, c);
	return run_suite(s);
}
