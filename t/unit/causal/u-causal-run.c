/* SPDX-License-Identifier: BSD-3-Clause */
/* The causal analysis of sampling files that are written by hand. */
#include <check.h>
#include <string.h>
#include <unistd.h>

#include "mpi_id.h"
#include "nodeagent/causal/run.h"
#include "t/lib/suite.h"
#include "t/unit/trace/vfd-by-hand.h"

enum { SOLVE = 1, HALO, WORK, A, B, SEND = 7, RECV }; /* of hand_names */
enum { FINALIZE = SEND, INIT = 9, MUTEX };	      /* of call_functions() */

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
static void start(
	struct hand *h, int rank, uint64_t number, uint64_t from, uint64_t ready, uint64_t to)
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
		.ticket = number << 32 | 3,
		.sender_ticket = rank ? number << 32 | 3 : 0,
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

static struct causal_run *run_of(void (*record)(struct hand *h), struct vfd_file **f)
{
	struct hand h = {0};
	struct vfd_setup setup = {.path = path};
	char *error = NULL;
	struct causal_run *run;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	close(mkstemp(path));
	hand_begin(&h, &setup);
	record(&h);
	ck_assert_int_eq(vfd_writer_close(h.w, HAND_START + 2000, 10), 0);
	*f = vfd_open(path, &error);
	ck_assert_msg(*f != NULL, "%s", error);
	run = causal_run(f, 1, "/tmp", NULL, &error);
	ck_assert_msg(run != NULL, "%s", error);
	hand_free(&h);
	unlink(path);
	return run;
}

/* The sender is a start ahead of the receiver; the third one makes the receiver wait. */
static void record_starts(struct hand *h)
{
	start(h, 0, 1, 100, 110, 121);
	call(h, 0, SEND, 120, 121);
	start(h, 0, 2, 200, 210, 221);
	call(h, 0, SEND, 220, 221);
	start(h, 0, 3, 1000, 1010, 1021);
	call(h, 0, SEND, 1020, 1021);
	start(h, 1, 1, 150, 0, 310);
	call(h, 1, RECV, 300, 310);
	start(h, 1, 2, 320, 0, 340);
	call(h, 1, RECV, 330, 340);
	start(h, 1, 3, 350, 0, 1100);
	call(h, 1, RECV, 900, 1100);
}

START_TEST(starts_ahead)
{
	struct vfd_file *f;
	struct causal_run *run = run_of(record_starts, &f);

	ck_assert_uint_eq(causal_totals(run->c)->doubts[CAUSAL_NO_SEND], 0);
	ck_assert_double_eq_tol(late_sender(run->c), (1010 - 900) * 0.5, 1);
	causal_run_free(run);
	vfd_close(f);
}
END_TEST

/* Start `number` of a persistent barrier, which is completed by a call from `waits` on. */
static void meet(
	struct hand *h, int rank, uint64_t number, uint64_t from, uint64_t waits, uint64_t to)
{
	const struct vfd_message m = {.kind = VFD_COLLECTIVE,
		.stack = call(h, rank, SEND, from, from + 1),
		.start = (int64_t)(HAND_START + from),
		.end = (int64_t)(HAND_START + to),
		.comm = h->comm,
		.peer = VFD_NONE,
		.function = VFTR_MPI_BARRIER_INIT,
		.ticket = number << 32 | 5,
		.sender_thread = VFD_NONE};

	vfd_message(h->w, h->tracks[2 * rank], &m);
	call(h, rank, RECV, waits, to);
}

/* The first start of rank 0 was not recorded; rank 1 is late for the second one. */
static void record_meetings(struct hand *h)
{
	meet(h, 0, 2, 400, 410, 620);
	meet(h, 0, 3, 700, 710, 720);
	meet(h, 1, 1, 100, 110, 120);
	meet(h, 1, 2, 600, 610, 620);
	meet(h, 1, 3, 700, 710, 720);
}

static double waits_at_barriers(const struct causal *c)
{
	size_t n;
	const struct causal_row *rows = causal_rows(c, CAUSAL_WAITS, &n);
	double ns = 0;

	for (size_t i = 0; i < n; i++)
		ns += rows[i].kind == WAIT_BARRIER ? rows[i].ns : 0;
	return ns;
}

START_TEST(start_not_recorded)
{
	struct vfd_file *f;
	struct causal_run *run = run_of(record_meetings, &f);

	ck_assert_double_eq_tol(waits_at_barriers(run->c), (600 - 410) * 0.5, 1);
	causal_run_free(run);
	vfd_close(f);
}
END_TEST

/* The second start of rank 1 lacks its number, and its first one was not recorded. */
static void record_unknown_start(struct hand *h)
{
	meet(h, 0, 1, 100, 110, 320);
	meet(h, 0, 2, 400, 410, 620);
	meet(h, 1, 0, 300, 310, 620);
	meet(h, 1, 3, 700, 710, 720);
}

START_TEST(start_not_known)
{
	struct vfd_file *f;
	struct causal_run *run = run_of(record_unknown_start, &f);

	ck_assert_double_eq_tol(waits_at_barriers(run->c), 0, 1e-9);
	ck_assert_uint_eq(causal_totals(run->c)->doubts[CAUSAL_MEMBERS], 1);
	causal_run_free(run);
	vfd_close(f);
}
END_TEST

/* Older files have no numbers: each start counts. */
static void record_old_meetings(struct hand *h)
{
	meet(h, 0, 0, 100, 110, 120);
	meet(h, 0, 0, 400, 410, 620);
	meet(h, 1, 0, 100, 110, 120);
	meet(h, 1, 0, 600, 610, 620);
}

START_TEST(starts_without_numbers)
{
	struct vfd_file *f;
	struct causal_run *run = run_of(record_old_meetings, &f);

	ck_assert_double_eq_tol(waits_at_barriers(run->c), (600 - 410) * 0.5, 1);
	ck_assert_uint_eq(causal_totals(run->c)->doubts[CAUSAL_MEMBERS], 0);
	causal_run_free(run);
	vfd_close(f);
}
END_TEST

/* ---- without MPI_Init ------------------------------------------------------------------------ */

/* Rank 1 receives from tick 100 to 500, what rank 0 sends from 480 to 490. */
static void record_late_message(struct hand *h)
{
	struct vfd_message m = {.kind = VFD_SEND,
		.stack = call(h, 0, SEND, 480, 490),
		.start = HAND_START + 480,
		.end = HAND_START + 490,
		.comm = h->comm,
		.peer = 1,
		.bytes = 8,
		.ticket = 1,
		.flags = VFD_MESSAGE_BLOCKING,
		.sender_thread = VFD_NONE};

	vfd_message(h->w, h->tracks[0], &m);
	m.kind = VFD_RECEIVE;
	m.stack = call(h, 1, RECV, 100, 500);
	m.start = HAND_START + 100;
	m.end = HAND_START + 500;
	m.peer = 0;
	m.match = VFD_MATCH_EXACT;
	m.sender_ticket = 1;
	vfd_message(h->w, h->tracks[2], &m);
}

START_TEST(begins_in_a_call)
{
	struct vfd_file *f;
	struct causal_run *run = run_of(record_late_message, &f);
	const struct causal_totals *t = causal_totals(run->c);

	ck_assert_uint_eq(t->doubts[CAUSAL_STRAY], 0);
	ck_assert_double_eq_tol(late_sender(run->c), (480 - 100) * 0.5, 1);
	ck_assert_double_eq(t->useful, 0);
	ck_assert_double_eq(t->mpi, (500 - 100 + 490 - 480) * 0.5);
	causal_run_free(run);
	vfd_close(f);
}
END_TEST

static void record_session(struct hand *h)
{
	const struct vfd_function init = {.process = VFD_NONE,
		.kind = VFD_FUNCTION_MPI,
		.index = VFTR_MPI_SESSION_INIT,
		.precise = true};

	h->functions[INIT] = vfd_define_function(h->w, &init);
	call(h, 0, A, 20, 30);
	call(h, 0, INIT, 40, 50);
	call(h, 1, INIT, 40, 80);
	record_late_message(h);
}

/* The process of rank 0 began at tick 0, that of rank 1 at 10; both end with the file, at 2000. */
START_TEST(life_in_a_session)
{
	struct vfd_file *f;
	struct causal_run *run = run_of(record_session, &f);
	const struct causal_totals *t = causal_totals(run->c);
	struct causal_line_times one;

	ck_assert(causal_line_times(run->c, 1, &one));
	ck_assert_int_eq(one.end - one.begin, (2000 - 10) / 2);
	ck_assert_int_eq(one.useful, (2000 - 10 - (80 - 40) - (500 - 100)) / 2);
	ck_assert_int_eq(t->end - t->begin, 2000 / 2);
	ck_assert_uint_eq(t->doubts[CAUSAL_STRAY], 0);
	ck_assert_uint_eq(t->doubts[CAUSAL_WINDOW], 0);
	ck_assert_double_eq_tol(late_sender(run->c), (480 - 100) * 0.5, 1);
	causal_run_free(run);
	vfd_close(f);
}
END_TEST

/* ---- locks ----------------------------------------------------------------------------------- */

static void call_functions(struct hand *h)
{
	const struct vfd_function f[] = {
		{.kind = VFD_FUNCTION_MPI, .index = VFTR_MPI_INIT},
		{.kind = VFD_FUNCTION_MPI, .index = VFTR_MPI_FINALIZE},
		{.kind = VFD_FUNCTION_REGION,
			.index = VFD_REGION_LOCK_WAIT,
			.name = "pthread_mutex_lock"},
	};
	const uint32_t at[] = {INIT, FINALIZE, MUTEX};

	for (unsigned i = 0; i < ARRAY_SIZE(f); i++) {
		struct vfd_function own = f[i];

		own.process = VFD_NONE;
		own.precise = true;
		h->functions[at[i]] = vfd_define_function(h->w, &own);
	}
}

static void enters(struct hand *h, uint32_t track, uint32_t function, uint64_t at)
{
	h->ticks[track] = HAND_START + at;
	hand_enter(h, track, function, false);
}

static void leaves(struct hand *h, uint32_t track, uint64_t at)
{
	h->ticks[track] = HAND_START + at;
	hand_exit(h, track);
}

static void waits_for(
	struct hand *h, uint32_t track, uint32_t holder, uint64_t from, uint64_t to, bool goes_on)
{
	vfd_lock_wait(h->w, &(struct vfd_lock_wait){.track = track,
				    .holder = holder,
				    .kind = WAIT_MUTEX,
				    .start = (int64_t)(HAND_START + from),
				    .end = (int64_t)(HAND_START + to),
				    .goes_on = goes_on});
}

/* A third thread of rank 0 takes the place of track 4, and is track 5 of the file. */
static void third_thread(struct hand *h)
{
	h->tracks[4] = vfd_track_new(
		h->w, &(struct vfd_thread){
			      .number = 2, .creator = 0, .tid = 999, .start = HAND_START + 10});
	ck_assert_uint_eq(vfd_track_number(h->tracks[4]), 5);
}

/*
 * ticks     100     200      400    600 610      880 900 950 1000     1200
 * thread 0  Init| a |mutex...........................    ....|  b  |   |Finalize
 * thread 1  | work           | solve |mutex..........|  solve
 * thread 2  | halo
 *                   has the lock:  1 from 210 to 950; what 1 wants: 2 from 610 to 880
 */
static void record_locks(struct hand *h)
{
	call_functions(h);
	third_thread(h);
	enters(h, 0, INIT, 0);
	leaves(h, 0, 100);
	enters(h, 0, A, 100);
	leaves(h, 0, 200);
	enters(h, 0, MUTEX, 200);
	leaves(h, 0, 1000);
	enters(h, 0, B, 1000);
	leaves(h, 0, 1100);
	enters(h, 0, FINALIZE, 1200);
	leaves(h, 0, 1210);
	enters(h, 1, WORK, 50);
	enters(h, 1, SOLVE, 400);
	enters(h, 1, MUTEX, 600);
	leaves(h, 1, 900);
	leaves(h, 1, 1300);
	leaves(h, 1, 1310);
	enters(h, 4, HALO, 60);
	leaves(h, 4, 2000);
	/* written long after, one thread after the other */
	waits_for(h, 1, 5, 610, 880, false);
	waits_for(h, 0, 1, 210, 300, false);
	waits_for(h, 0, 1, 300, 950, true);
}

/* ns of the rows of a path, which are of rank 0. */
static double ns_of_path(const struct causal_run *run, enum causal_rows which, const char *name)
{
	size_t n;
	const struct causal_row *rows = causal_rows(run->c, which, &n);
	double ns = 0;

	for (size_t i = 0; i < n; i++) {
		char *text = paths_text(run->paths, rows[i].path);

		ck_assert_uint_eq(rows[i].line, 0);
		ns += strcmp(text, name) ? 0 : rows[i].ns;
		free(text);
	}
	return ns;
}

START_TEST(path_of_holder)
{
	static const struct {
		const char *path;
		double ns;
	} on_path[] = {{"a<init", 50}, {"pthread_mutex_lock<init", (10 + 50) / 2.0},
		{"work<init", 95}, {"solve<work<init", 100 + 25},
		{"pthread_mutex_lock<solve<work<init", 5 + 10}, {"halo<init", 135}, {"b<init", 50},
		{"init", 50}};
	struct vfd_file *f;
	struct causal_run *run = run_of(record_locks, &f);
	const struct causal_totals *t = causal_totals(run->c);
	double sum = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(on_path); i++) {
		ck_assert_double_eq(ns_of_path(run, CAUSAL_PATH, on_path[i].path), on_path[i].ns);
		sum += on_path[i].ns;
	}
	ck_assert_double_eq(sum, (double)(t->end - t->begin));
	/* the thread has waited, whatever the path is */
	ck_assert_double_eq(t->lock_wait, 400);
	ck_assert_double_eq(t->useful, 150);
	causal_run_free(run);
	vfd_close(f);
}
END_TEST

START_TEST(rows_of_locks)
{
	struct vfd_file *f;
	struct causal_run *run = run_of(record_locks, &f);
	size_t n;
	const struct causal_row *rows = causal_rows(run->c, CAUSAL_THREAD_WAITS, &n);

	ck_assert_uint_eq(n, 2);
	ck_assert_double_eq(causal_totals(run->c)->thread_waits, 370 + 135);
	ck_assert_double_eq(ns_of_path(run, CAUSAL_THREAD_WAITS, "pthread_mutex_lock<init"), 370);
	ck_assert_double_eq(
		ns_of_path(run, CAUSAL_THREAD_WAITS, "pthread_mutex_lock<solve<work<init"), 135);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(rows[i].kind, WAIT_MUTEX);
		ck_assert_uint_eq(rows[i].calls, 1);
		ck_assert_int_eq(rows[i].longest, i ? 135 : 370);
	}
	rows = causal_rows(run->c, CAUSAL_THREAD_LATE, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(rows[0].other, 1);
	ck_assert_uint_eq(rows[1].other, 2);
	rows = causal_rows(run->c, CAUSAL_THREAD_CAUSES, &n);
	ck_assert_uint_eq(n, 3); /* the first part ended while thread 1 was in work */
	for (unsigned i = 0; i < 3; i++) {
		static const char *const there[] = {"solve", "halo", "work"};
		static const double ns[] = {325, 135, 45};

		ck_assert_str_eq(paths_function(run->paths, rows[i].other), there[i]);
		ck_assert_double_eq(rows[i].ns, ns[i]);
	}
	causal_run_free(run);
	vfd_close(f);
}
END_TEST

/* Two that wait for each other, and one that waits for a thread of another process. */
static void record_circle(struct hand *h)
{
	record_locks(h);
	waits_for(h, 5, 1, 620, 870, false);
	waits_for(h, 3, 1, 620, 870, false);
}

START_TEST(circle_of_holders)
{
	struct vfd_file *f;
	struct causal_run *run = run_of(record_circle, &f);

	ck_assert_double_eq(ns_of_path(run, CAUSAL_PATH, "halo<init"), 5 + 5);
	ck_assert_double_eq(ns_of_path(run, CAUSAL_PATH, "pthread_mutex_lock<init"), 30 + 125);
	ck_assert_double_eq(causal_totals(run->c)->thread_waits, 370 + 135 + 125);
	causal_run_free(run);
	vfd_close(f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("causal-run");
	TCase *tc = tcase_create("run");

	tcase_add_test(tc, starts_ahead);
	tcase_add_test(tc, start_not_recorded);
	tcase_add_test(tc, start_not_known);
	tcase_add_test(tc, starts_without_numbers);
	tcase_add_test(tc, begins_in_a_call);
	tcase_add_test(tc, life_in_a_session);
	tcase_add_test(tc, path_of_holder);
	tcase_add_test(tc, rows_of_locks);
	tcase_add_test(tc, circle_of_holders);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
