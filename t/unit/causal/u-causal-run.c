/* SPDX-License-Identifier: BSD-3-Clause */
/* The causal analysis of sampling files that are written by hand. */
#include <check.h>
#include <unistd.h>

#include "nodeagent/causal/run.h"
#include "t/lib/suite.h"
#include "t/unit/trace/vfd-by-hand.h"

enum { SEND = 7, RECV = 8 }; /* of hand_names */

static char path[] = "/tmp/u-causal-run.XXXXXX";

/* A call of the first thread of a rank, in ticks of 0.5 ns. */
static uint32_t call(struct hand *h, int rank, uint32_t function, uint64_t from, uint64_t to)
{
	const uint32_t track = 2 * (uint32_t)rank;
	uint32_t stack;

	h->ticks[track] = HAND_START + from;
	hand_enter(h, track, function, false);
	stack = hand_top(h, track);
	h->ticks[track] = HAND_START + to;
	hand_exit(h, track);
	return stack;
}

/* A start of the only message in partitions, which is completed at `to`; ready: its last part. */
static void start(struct hand *h, int rank, uint64_t from, uint64_t ready, uint64_t to)
{
	struct vfd_message m = {.kind = rank ? VFD_RECEIVE : VFD_SEND,
		.stack = call(h, rank, rank ? RECV : SEND, from, from + 1),
		.start = (int64_t)(HAND_START + from),
		.end = (int64_t)(HAND_START + to),
		.comm = h->comm,
		.peer = 1 - (uint32_t)rank,
		.bytes = 8,
		.flags = VFD_MESSAGE_PARTITIONED,
		.match = rank ? VFD_MATCH_EXACT : VFD_MATCH_NONE,
		.offset = ready ? ready - from : 0,
		.sender_thread = VFD_NONE};

	vfd_message(h->w, h->tracks[2 * rank], &m);
}

static double late_sender(const struct causal *c)
{
	size_t n;
	const struct causal_row *rows = causal_rows(c, CAUSAL_WAITS, &n);
	double ns = 0;

	for (size_t i = 0; i < n; i++)
		ns += rows[i].kind == WAIT_LATE_SENDER ? rows[i].ns : 0;
	return ns;
}

/* The sender is a start ahead of the receiver; the third one makes the receiver wait. */
START_TEST(starts_ahead)
{
	struct hand h = {0};
	struct vfd_setup setup = {.path = path};
	char *error = NULL;
	struct vfd_file *f;
	struct causal_run *run;

	close(mkstemp(path));
	hand_begin(&h, &setup);
	start(&h, 0, 100, 110, 121);
	call(&h, 0, SEND, 120, 121);
	start(&h, 0, 200, 210, 221);
	call(&h, 0, SEND, 220, 221);
	start(&h, 0, 1000, 1010, 1021);
	call(&h, 0, SEND, 1020, 1021);
	start(&h, 1, 150, 0, 310);
	call(&h, 1, RECV, 300, 310);
	start(&h, 1, 320, 0, 340);
	call(&h, 1, RECV, 330, 340);
	start(&h, 1, 350, 0, 1100);
	call(&h, 1, RECV, 900, 1100);
	ck_assert_int_eq(vfd_writer_close(h.w, HAND_START + 2000, 10), 0);
	f = vfd_open(path, &error);
	ck_assert_msg(f != NULL, "%s", error);
	run = causal_run(&f, 1, "/tmp", &error);
	ck_assert_msg(run != NULL, "%s", error);
	ck_assert_uint_eq(causal_totals(run->c)->doubts[CAUSAL_NO_SEND], 0);
	ck_assert_double_eq_tol(late_sender(run->c), (1010 - 900) * 0.5, 1);
	causal_run_free(run);
	vfd_close(f);
	hand_free(&h);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("causal-run");
	TCase *tc = tcase_create("run");

	tcase_add_test(tc, starts_ahead);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
