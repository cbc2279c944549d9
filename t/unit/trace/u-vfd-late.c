/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sampling files: senders that are told apart from their receives, members of other jobs, files of
 * nodes whose clocks nobody compared, and what a limit of the size leaves out first.
 */
#include <check.h>
#include <unistd.h>

#include "t/unit/trace/vfd-by-hand.h"
#include "t/lib/suite.h"

#define RECEIVES 3000u
#define SHORT_NS 300u

static char dir[] = "/tmp/u-vfd-late.XXXXXX";
static char path[64], other[64];

static struct vfd_file *reopen(const char *name)
{
	char *error;
	struct vfd_file *f = vfd_open(name, &error);

	ck_assert_msg(f, "%s", error);
	return f;
}

/* ---- senders ------------------------------------------------------------------- */

static void receive(struct hand *h, uint32_t track, uint64_t ticket, bool partitioned)
{
	const struct vfd_message m = {.kind = VFD_RECEIVE,
		.start = (int64_t)h->ticks[track]++,
		.end = (int64_t)h->ticks[track],
		.comm = h->comm,
		.peer = 1 - track / 2,
		.ticket = ticket,
		.flags = partitioned ? VFD_MESSAGE_PARTITIONED : VFD_MESSAGE_BLOCKING,
		.sender_thread = VFD_NONE};

	vfd_message(h->w, h->tracks[track], &m);
}

static void pair(struct hand *h, uint32_t track, uint64_t ticket, bool partitioned)
{
	/* tracks 0 and 1 are of process 0, 2 and 3 of process 1 */
	vfd_pair(h->w, &(struct vfd_pair){.process = track / 2,
			       .comm = h->comm,
			       .ticket = ticket,
			       .partitioned = partitioned,
			       .match = VFD_MATCH_EXACT + ticket % 5,
			       .sender_ticket = ticket * 7 + track / 2,
			       .sender_thread = ticket % 3 ? (uint32_t)ticket % 3 : VFD_NONE});
}

START_TEST(senders_are_known_whenever_they_are_told)
{
	struct vfd_setup s = {.path = path};
	const struct vfd_filter filter = {.track = VFD_NONE, .no_samples = true};
	struct hand h = {.state = 5};
	struct vfd_cursor *c;
	struct vfd_event e;
	struct vfd_file *f;
	uint64_t found = 0, none = 0;

	hand_begin(&h, &s);
	for (uint32_t i = 0; i < RECEIVES; i++) {
		const uint32_t track = i & 2;
		const bool partitioned = i % 16 > 12;

		/* before, after, much later, or never */
		if (i % 4 == 0)
			pair(&h, track, i, partitioned);
		receive(&h, track, i, partitioned);
		if (i % 4 == 1)
			pair(&h, track, i, partitioned);
	}
	for (uint32_t i = 2; i < RECEIVES; i += 4)
		pair(&h, i & 2, i, i % 16 > 12);
	/* of other processes, communicators, kinds and what is not there */
	pair(&h, 0, 3, true);
	pair(&h, 0, 7 + RECEIVES, false);
	ck_assert_int_eq(hand_end(&h), 0);
	f = reopen(path);
	ck_assert_uint_eq(vfd_facts(f)->matches, RECEIVES / 4 * 3 + 2);
	c = vfd_cursor_new(&f, 1, &filter);
	while (vfd_next(c, &e)) {
		const struct vfd_message *m = e.message;

		if (m->ticket % 4 == 3) {
			ck_assert_int_eq(m->match, VFD_MATCH_NONE);
			ck_assert_uint_eq(vfd_message_flow(f, m), 0);
			none++;
			continue;
		}
		ck_assert_int_eq(m->match, VFD_MATCH_EXACT + m->ticket % 5);
		ck_assert_uint_eq(m->sender_ticket, m->ticket * 7 + e.track / 2);
		ck_assert_uint_eq(
			m->sender_thread, m->ticket % 3 ? (uint32_t)m->ticket % 3 : VFD_NONE);
		ck_assert_uint_ne(vfd_message_flow(f, m), 0);
		found++;
	}
	ck_assert_uint_eq(found, RECEIVES / 4 * 3);
	ck_assert_uint_eq(none, RECEIVES / 4);
	vfd_cursor_free(c);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

/* ---- members of two jobs ---------------------------------------------------------- */

#define PARENTS	 10u /* numbers of jobs */
#define CHILDREN 20u
#define SPAWN_ID 100u

/* Of two parents, ranks 4 and 1 of their job, and three children. */
static uint32_t comm_between(struct hand *h, uint64_t id, enum wire_comm_kind kind, uint32_t size,
	uint32_t remote, const struct wire_run *runs, size_t n)
{
	return vfd_define_comm(h->w, &(struct vfd_comm){.id = id,
					     .kind = kind,
					     .size = size,
					     .remote_size = remote,
					     .runs = runs,
					     .n_runs = n});
}

static void link_to(
	struct hand *h, uint32_t number, uint64_t id, uint64_t job, uint64_t spawn, bool is_child)
{
	vfd_define_link(h->w, &(struct vfd_comm){.number = number,
				      .link = id,
				      .link_job = job,
				      .spawn = spawn,
				      .is_child = is_child});
}

static void check_other(
	const struct vfd_file *f, uint32_t comm, uint32_t rank, uint64_t is_job, uint32_t is_world)
{
	uint64_t job;
	uint32_t world;

	ck_assert(vfd_comm_other(f, vfd_comm(f, comm), rank, &job, &world));
	ck_assert_uint_eq(job, is_job);
	ck_assert_uint_eq(world, is_world);
}

static void check_unknown(const struct vfd_file *f, uint32_t comm, uint32_t rank)
{
	uint64_t job;
	uint32_t world;

	ck_assert(!vfd_comm_other(f, vfd_comm(f, comm), rank, &job, &world));
}

START_TEST(members_of_two_jobs_are_told_later)
{
	static const struct wire_run parents[] = {{4, -3, 2}, {-1, 0, 3}}, /* own, other */
		children[] = {{0, 1, 3}, {-1, 0, 2}}, merged[] = {{-1, 0, 2}, {0, 1, 3}},
				     half[] = {{-3, 1, 1}, {2, 1, 1}},
				     between[] = {{4, 1, 1}, {-4, 1, 2}};
	struct vfd_setup s = {.path = path};
	struct hand h = {.state = 5};
	struct vfd_message send = {.kind = VFD_SEND, .track = 0, .peer = VFD_NONE, .ticket = 5},
			   receive = {.kind = VFD_RECEIVE,
				   .track = 2,
				   .peer = VFD_NONE,
				   .match = VFD_MATCH_EXACT,
				   .sender_ticket = 5};
	uint32_t spawn, parent, of_parents, of_children, lost, of_half, of_both;
	struct vfd_file *f;

	hand_begin(&h, &s);
	vfd_define_rank(h.w, 0, 1, 5, PARENTS);
	vfd_define_rank(h.w, 1, 0, 3, CHILDREN);
	spawn = comm_between(&h, SPAWN_ID, WIRE_COMM_SPAWN, 2, 3, parents, 2);
	parent = comm_between(&h, 200, WIRE_COMM_PARENT, 3, 2, children, 2);
	of_parents = comm_between(&h, 300, WIRE_COMM_MERGE, 5, 0, parents, 2);
	of_children = comm_between(&h, 400, WIRE_COMM_MERGE, 5, 0, merged, 2);
	lost = comm_between(&h, 500, WIRE_COMM_PARENT, 3, 2, children, 2);
	of_half = comm_between(&h, 600, WIRE_COMM_SPLIT, 2, 0, half, 2);
	of_both = comm_between(&h, 700, WIRE_COMM_SPLIT, 1, 2, between, 2);
	hand_run(&h, 10, 10);
	link_to(&h, of_half, 79, PARENTS, SPAWN_ID, true);
	link_to(&h, of_both, 80, CHILDREN, SPAWN_ID, false);
	link_to(&h, spawn, SPAWN_ID, CHILDREN, SPAWN_ID, false);
	link_to(&h, parent, SPAWN_ID, PARENTS, SPAWN_ID, true);
	link_to(&h, of_parents, 77, CHILDREN, SPAWN_ID, false);
	link_to(&h, of_children, 77, PARENTS, SPAWN_ID, true);
	link_to(&h, lost, 78, PARENTS, 12345, true); /* its parents are not in the file */
	ck_assert_int_eq(hand_end(&h), 0);
	f = reopen(path);
	check_other(f, spawn, 2, CHILDREN, 2);
	check_unknown(f, spawn, 3);
	check_other(f, parent, 0, PARENTS, 4);
	check_other(f, parent, 1, PARENTS, 1);
	check_unknown(f, parent, 2);
	check_other(f, of_parents, 3, CHILDREN, 1);
	check_unknown(f, of_parents, 1); /* of the own job */
	check_other(f, of_children, 1, PARENTS, 1);
	check_unknown(f, of_children, 2);
	check_unknown(f, lost, 0);
	check_other(f, of_half, 0, PARENTS, 1);
	check_unknown(f, of_half, 1); /* of the own job */
	check_other(f, of_both, 0, CHILDREN, 2);
	check_other(f, of_both, 1, CHILDREN, 1);
	/* from rank 1 of the parents to rank 0 of the children */
	send.comm = spawn;
	send.sends = 1 + 0;
	receive.comm = parent;
	receive.sends = 1 + 1;
	ck_assert_uint_ne(vfd_message_flow(f, &send), 0);
	ck_assert_uint_eq(vfd_message_flow(f, &send), vfd_message_flow(f, &receive));
	receive.sends = 1 + 0;
	ck_assert_uint_ne(vfd_message_flow(f, &send), vfd_message_flow(f, &receive));
	receive.sends = 0;
	ck_assert_uint_eq(vfd_message_flow(f, &receive), 0);
	send.comm = of_parents;
	send.sends = 1 + 2;
	receive.comm = of_children;
	receive.sends = 1 + 1;
	ck_assert_uint_eq(vfd_message_flow(f, &send), vfd_message_flow(f, &receive));
	vfd_close(f);
	hand_free(&h);
}
END_TEST

/* ---- clocks that nobody compared ------------------------------------------------- */

static void make_at(const char *name, int64_t unix_ns, bool sync_points)
{
	struct vfd_setup s = {.path = name};
	struct hand h = {.state = 5};

	s.start_unix_ns = unix_ns;
	hand_begin(&h, &s);
	hand_run(&h, 500, 400);
	if (sync_points) {
		vfd_clock_sync_point(h.w, 5000000000, 0, 1);
		vfd_clock_zero(h.w, 5000000000);
	}
	ck_assert_int_eq(hand_end(&h), 0);
	hand_free(&h);
}

START_TEST(files_lie_as_their_unix_clocks_say)
{
	struct vfd_file *f[2];
	int64_t before[2], unix_ns;

	make_at(path, 0, false);
	f[0] = reopen(path);
	unix_ns = vfd_facts(f[0])->start_unix_ns;
	vfd_close(f[0]);
	for (int sync_points = 0; sync_points < 2; sync_points++) {
		const int64_t later = 2500000000;
		size_t n;

		make_at(path, unix_ns, false);
		make_at(other, unix_ns + later, sync_points);
		f[0] = reopen(path);
		f[1] = reopen(other);
		before[0] = vfd_facts(f[0])->start;
		before[1] = vfd_facts(f[1])->start;
		vfd_line_up(f, 2);
		vfd_line_up(f, 2); /* once more is nothing more */
		ck_assert_int_eq(vfd_facts(f[0])->start, before[0]);
		ck_assert_int_eq(vfd_facts(f[1])->start, before[1] + (sync_points ? 0 : later));
		ck_assert_int_ge(vfd_threads(f[1], &n)[0].start, vfd_facts(f[1])->start);
		vfd_close(f[0]);
		vfd_close(f[1]);
	}
}
END_TEST

/* ---- a limit ------------------------------------------------------------------------ */

#define LIMIT	   400000u
#define CHAIN	   70u /* the deepest frame */
#define KINDS	   4u
#define LONGEST_NS 2000000u

static const uint64_t lengths[KINDS] = {SHORT_NS, 5000, 100000, LONGEST_NS};
static const uint32_t functions[KINDS] = {1, 3, 4, 5}; /* none is precise */

static void call(struct hand *h, uint32_t function, uint64_t ns)
{
	hand_enter(h, 0, function, false);
	h->ticks[0] += ns * 2; /* of 0.5 ns */
	hand_exit(h, 0);
	h->ticks[0] += 20;
}

/* Frames down to CHAIN, each LONGEST_NS longer than the one below. */
static void chain(struct hand *h, uint32_t depth)
{
	hand_enter(h, 0, depth % 2 ? 6 : 11, false);
	h->ticks[0] += LONGEST_NS;
	if (depth < CHAIN && h->n_open[0] < 60)
		chain(h, depth + 1);
	h->ticks[0] += LONGEST_NS;
	hand_exit(h, 0);
}

START_TEST(short_and_deep_calls_are_left_out_first)
{
	struct vfd_setup s = {.path = path, .max_size = LIMIT, .block_bytes = 1024};
	const struct vfd_filter filter = {.track = 0, .raw = true, .no_messages = true};
	uint64_t given[KINDS] = {0}, kept[KINDS] = {0}, levels = 0, least = 0, too_short = 0,
		 since[64] = {0};
	uint32_t deepest = UINT32_MAX, n_open = 0, most[VFD_EVENT_KINDS + 1] = {0};
	struct hand h = {.state = 5};
	struct vfd_cursor *c;
	struct vfd_event e;
	struct vfd_file *f;
	size_t n;

	hand_begin(&h, &s);
	hand_enter(&h, 0, 0, false);
	for (unsigned round = 0; vfd_writer_written(h.w).bytes < LIMIT / 100 * 96; round++) {
		for (unsigned k = 0; k < KINDS; k++) {
			call(&h, functions[k], lengths[k]);
			given[k]++;
		}
		if (round % 64 == 0)
			chain(&h, 1);
	}
	ck_assert_int_eq(hand_end(&h), 0);
	f = reopen(path);
	c = vfd_cursor_new(&f, 1, &filter);
	while (vfd_next(c, &e)) {
		const uint32_t depth = vfd_stacks(f, 0, &n)[e.stack].depth;

		if (e.kind == VFD_THINNING) {
			ck_assert_int_gt((int64_t)e.count, (int64_t)least);
			ck_assert_uint_lt(e.depth, deepest);
			least = e.count;
			deepest = e.depth;
			levels++;
			n_open = 0; /* what is open now was entered under other rules */
		} else if (e.kind == VFD_ENTER) {
			ck_assert_uint_le(depth, deepest);
			most[levels] = depth > most[levels] ? depth : most[levels];
			ck_assert_uint_lt(n_open, 64);
			since[n_open++] = (uint64_t)e.time;
		} else if (e.kind == VFD_EXIT && n_open) {
			const uint64_t ns = (uint64_t)e.time - since[--n_open];

			too_short += ns + 1 < least;
			for (unsigned k = 0; k < KINDS; k++)
				kept[k] +=
					depth == 2 && ns + 1 >= lengths[k] && ns <= lengths[k] + 1;
		}
	}
	ck_assert_uint_eq(levels, 3);
	/* the one that was open when it became a rule */
	ck_assert_uint_le(too_short, levels);
	ck_assert_uint_gt(most[0], 50);
	ck_assert_uint_eq(most[2], 32);
	ck_assert_uint_eq(most[3], 16);
	/* each class goes before the next one, and the longest are all there */
	ck_assert_uint_lt(kept[0], kept[1]);
	ck_assert_uint_lt(kept[1], kept[2]);
	ck_assert_uint_lt(kept[2], kept[3]);
	ck_assert_uint_ge(kept[3] + 3, given[3]);
	ck_assert_uint_gt(vfd_facts(f)->thinned_calls, given[0] - kept[0]);
	vfd_cursor_free(c);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfd-late");
	TCase *t = tcase_create("all");
	int failed;

	if (!mkdtemp(dir))
		return 99;
	snprintf(path, sizeof(path), "%s/a.vfd", dir);
	snprintf(other, sizeof(other), "%s/b.vfd", dir);
	tcase_add_test(t, senders_are_known_whenever_they_are_told);
	tcase_add_test(t, members_of_two_jobs_are_told_later);
	tcase_add_test(t, files_lie_as_their_unix_clocks_say);
	tcase_add_test(t, short_and_deep_calls_are_left_out_first);
	suite_add_tcase(s, t);
	failed = run_suite(s);
	unlink(path);
	unlink(other);
	rmdir(dir);
	return failed;
}
