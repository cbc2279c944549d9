/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for the reader of vftr-vfd(5), for clang -fsanitize=fuzzer. All
 * that is in a file is asked for; enters and exits must be balanced. Checksums
 * are made right first, as the dice would never throw them. Corpus: .vfd files.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/dump/text.h"
#include "nodeagent/trace/read/collectives.h"
#include "nodeagent/trace/read/file.h"
#include "t/fuzz/sign-vfd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* A few of its messages: a hostile file may have any number. */
static void expand(struct vfd_file *f, const struct vfd_message *m)
{
	struct vfd_expansion x;

	vfd_expand(&x, f, m);
	for (int i = 0; i < 300 && vfd_expand_next(&x); i++)
		;
}

static void walk(struct vfd_file *f, struct vfd_filter filter)
{
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	int64_t last = INT64_MIN, balance = 0;
	struct vfd_event e;
	size_t n;

	while (vfd_next(c, &e)) {
		const struct vfd_stack *s = vfd_stacks(f, e.track, &n);

		if (!s || e.stack >= n || e.time < last)
			abort();
		last = e.time;
		vfd_stack_name(f, e.track, e.stack);
		if (e.message) {
			vfd_message_flow(f, e.message);
			expand(f, e.message);
		}
		if (e.launch)
			vfd_launch_flow(f, e.launch);
		balance += (e.kind == VFD_ENTER) - (e.kind == VFD_EXIT);
	}
	if (!filter.raw && balance)
		abort();
	vfd_cursor_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static FILE *null;
	uint8_t *copy = malloc(bytes + 1);
	struct vfd_file *f;
	char *error;

	if (!null)
		null = fopen("/dev/null", "w");
	if (!copy || !null)
		abort();
	memcpy(copy, data, bytes);
	sign_vfd(copy, bytes);
	f = vfd_open_bytes(copy, bytes, "x", &error);
	if (!f == !error)
		abort();
	if (f) {
		walk(f, (struct vfd_filter){.track = VFD_NONE});
		walk(f, (struct vfd_filter){.track = VFD_NONE, .raw = true});
		walk(f, (struct vfd_filter){.track = VFD_NONE,
				.from_set = true,
				.to_set = true,
				.from = vfd_facts(f)->end / 3,
				.to = vfd_facts(f)->end / 3 * 2});
		vfd_dump_text(f, &(struct vfd_dump){0}, null);
		vfd_dump_json(f, &(struct vfd_dump){0}, null);
	}
	vfd_close(f);
	free(error);
	free(copy);
	return 0;
}
