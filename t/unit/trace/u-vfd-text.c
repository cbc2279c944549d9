/* SPDX-License-Identifier: BSD-3-Clause */
/* vftr dump prints a line for each thing, whatever is in the names of programs and threads. */
#include <check.h>
#include <unistd.h>

#include "nodeagent/trace/dump/text.h"
#include "t/lib/suite.h"
#include "t/unit/trace/vfd-by-hand.h"

START_TEST(names_do_not_break_lines)
{
	char path[] = "/tmp/u-vfd-text.XXXXXX", *text, *error;
	const struct vfd_setup s = {.path = path};
	struct hand h = {.state = 3};
	const char *line;
	struct vfd_file *f;
	uint32_t process;
	size_t bytes;
	FILE *to;

	close(mkstemp(path));
	hand_begin(&h, &s);
	process = vfd_define_process(h.w, &(struct vfd_process){.rank = -1,
						  .parent = VFD_NONE,
						  .pid = 7,
						  .executable = "/bin/a\nProcess: b"});
	vfd_track_new(h.w, &(struct vfd_thread){.process = process, .name = "x\nThreads: 9"});
	ck_assert_int_eq(hand_end(&h), 0);
	f = vfd_open(path, &error);
	ck_assert_ptr_nonnull(f);
	to = memory_begin(&text, &bytes);
	vfd_dump_text(f, &(struct vfd_dump){.brief = true}, to);
	memory_end(to);
	ck_assert_ptr_nonnull(strstr(text, "Process:         pid 7, /bin/a"));
	for (line = text; (line = strchr(line, '\n')); line++) {
		ck_assert_int_ne(strncmp(line + 1, "Process: b", 10), 0);
		ck_assert_int_ne(strncmp(line + 1, "Threads: 9", 10), 0);
	}
	free(text);
	vfd_close(f);
	hand_free(&h);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfd-text");
	TCase *c = tcase_create("text");

	tcase_add_test(c, names_do_not_break_lines);
	suite_add_tcase(s, c);
	return run_suite(s);
}
