/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random MPI programs, run by the small MPI of match-world.h, which knows the
 * truth; their records, read in random order, and the pairs they are made into.
 * VFTR_LONG: more of them. MATCH_SEED=n runs one program of each kind.
 */
#include <check.h>
#include <time.h>
#include "t/unit/match/match-world.h"
#include "nodeagent/match/wire.h"
#include "t/lib/suite.h"

static struct world world;
static struct match *match;
static bool lossy;
static uint64_t seed, told, wrong, wrong_by_label[MATCH_LABELS], by_label[MATCH_LABELS];

/* ---- what the matcher says, and the truth --------------------------------------------- */

/* Enter times are unique. */
static const struct op *receive_at(uint64_t enter)
{
	for (size_t i = 0; i < world.n_ops; i++)
		if (is_receive(&world.ops[i]) && world.ops[i].enter == enter)
			return &world.ops[i];
	return NULL;
}

static void on_pair(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_label label)
{
	const struct op *o = receive_at(r->enter);

	ck_assert_ptr_nonnull(o);
	told += !o->end;
	by_label[label]++;
	if (o->partner && (uint64_t)(o->partner - world.ops) == s->bytes)
		return;
	wrong_by_label[label]++;
	wrong++;
	if (label == MATCH_EXACT ||
		(!lossy && label != MATCH_AMBIGUOUS &&
			!((world.plan.unsure || world.plan.threading == MULTIPLE || o->end) &&
				label == MATCH_ASSUMED)))
		ck_abort_msg(
			"seed %lu: receive of call %zd by %lu is paired with %lu, not %zd (%s)",
			seed, o - world.ops, r->destination & 0xffffffff, s->bytes,
			o->partner ? o->partner - world.ops : -1, match_label_names[label]);
}

/* ---- processes of another node: their sends come at the end ------------------------------ */

static bool two_nodes;
static struct far {
	struct match_send *sends;
	size_t n, cap;
	struct match_receive *deferred; /* from there */
	size_t n_deferred, cap_deferred;
} fars[PROCESSES];

static bool is_far(void *arg, uint64_t proc_id)
{
	return two_nodes && proc_id % 2;
}

static void back_from_batch(void *arg, const struct match_receive *r)
{
	*(struct match_receive *)arg = *r;
}

static bool defer(void *arg, const struct match_receive *r)
{
	struct far *f = &fars[(uint32_t)r->done.source];
	struct match_batch b = {0};

	if (chance(3))
		return false;
	f->deferred = grow(f->deferred, f->n_deferred, &f->cap_deferred, sizeof(*f->deferred));
	match_batch_receive(&b, r);
	ck_assert(
		match_batch_receives(b.bytes, b.n, back_from_batch, &f->deferred[f->n_deferred++]));
	match_batch_free(&b);
	return true;
}

static void keep_send(const struct match_send *s)
{
	struct far *f = &fars[(uint32_t)s->source];

	f->sends = grow(f->sends, f->n, &f->cap, sizeof(*f->sends));
	f->sends[f->n++] = *s;
}

/* In any mixture, but receives in their order. */
static void meet(struct far *f)
{
	size_t sent = 0, back = 0;

	while (sent < f->n || back < f->n_deferred) {
		if (back == f->n_deferred || (sent < f->n && chance(50)))
			match_send(match, &f->sends[sent++]);
		else
			match_deferred(match, &f->deferred[back++]);
	}
	free(f->sends);
	free(f->deferred);
	*f = (struct far){0};
}

static void meet_all(void)
{
	match_defer_no_more(match);
	for (unsigned p = 0; p < PROCESSES; p++)
		meet(&fars[p]);
}

static void give(const struct record *r)
{
	switch (r->what) {
	case OF_SEND:
		if (is_far(NULL, r->send.source))
			keep_send(&r->send);
		else
			match_send(match, &r->send);
		break;
	case OF_RECEIVE:
		match_receive(match, &r->receive);
		break;
	case OF_DONE:
		match_done(match, proc_id_of(r->process), r->request, &r->done);
		break;
	case OF_LOSS:
		match_lost(match, proc_id_of(r->process));
		break;
	}
}

/* All calls of p that ended before this have been read. */
static uint64_t read_to(unsigned p)
{
	uint64_t until = UINT64_MAX;

	for (unsigned t = 0; t < THREADS; t++) {
		const struct ring *r = &world.rings[p][t];

		if (r->read < r->n && r->at[r->read].ended < until)
			until = r->at[r->read].ended;
	}
	return until;
}

static void lose_some(void)
{
	for (unsigned p = 0; p < world.plan.processes; p++)
		for (unsigned t = 0; t < THREADS; t++) {
			struct ring *r = &world.rings[p][t];
			size_t from, n;

			if (!r->n || !chance(30))
				continue;
			from = any((uint32_t)r->n);
			n = 1 + any(6);
			r->at[from].what = OF_LOSS;
			if (n > r->n - from)
				n = r->n - from;
			memmove(r->at + from + 1, r->at + from + n,
				(r->n - from - n) * sizeof(*r->at));
			r->n -= n - 1;
		}
}

static void read_rings(void)
{
	size_t left = 0;

	for (unsigned p = 0; p < PROCESSES; p++)
		for (unsigned t = 0; t < THREADS; t++)
			left += world.rings[p][t].n;
	while (left) {
		unsigned p = any(PROCESSES);
		struct ring *r = &world.rings[p][any(THREADS)];
		size_t n = r->n - r->read;

		if (n && chance(70))
			n = 1 + any((uint32_t)n);
		left -= n;
		while (n--)
			give(&r->at[r->read++]);
		if (chance(30) && !is_far(NULL, p))
			match_progress(match, proc_id_of(p), read_to(p));
	}
}

static void run_one(const struct plan *plan)
{
	const struct match_options o = {
		.latency = 1, .pair = on_pair, .is_far = is_far, .defer = defer};
	const struct match_counts *c;

	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	world_run(&world, plan);
	two_nodes = chance(50);
	match = match_new(&o);
	told = wrong = 0;
	if (lossy)
		lose_some();
	read_rings();
	meet_all();
	match_end(match);
	c = match_counts(match);
	ck_assert_uint_eq(match_in_flight(match), 0);
	ck_assert_uint_eq(c->overflow, 0);
	if (!lossy && !plan->unsure) {
		ck_assert_msg(told == world.received, "seed %lu: %lu pairs of %lu", seed, told,
			world.received);
		ck_assert_uint_eq(c->late + c->lost_sends + c->lost_receives, 0);
		ck_assert(wrong || !c->violations);
	}
	match_free(match);
}

static void run(enum threading threading, bool partitioned, bool unsure, bool loss)
{
	const char *one = getenv("MATCH_SEED");
	uint64_t n = getenv("VFTR_LONG") ? 30000 : 1500;

	lossy = loss;
	memset(by_label, 0, sizeof(by_label));
	memset(wrong_by_label, 0, sizeof(wrong_by_label));
	for (uint64_t i = 1; i <= n; i++) {
		struct plan plan = {
			.threading = threading, .partitioned = partitioned, .unsure = unsure};

		seed = one ? strtoull(one, NULL, 0) : i;
		random_state = seed * 0xd6e8feb86659fd93u + 7;
		plan.processes = 2 + any(PROCESSES - 1);
		plan.threads = threading == ONE_THREAD ? 1 : 2 + any(THREADS - 2);
		plan.comms = 1 + any(COMMS);
		plan.tags = 1 + any(TAGS);
		plan.wildcards = any(3) * 25;
		plan.actions = 20 + any(200);
		run_one(&plan);
		if (one)
			break;
	}
	printf("#");
	for (int i = 0; i < MATCH_LABELS; i++)
		printf(" %s %lu (%lu wrong)", match_label_names[i], by_label[i], wrong_by_label[i]);
	printf("\n");
	fflush(stdout);
}

START_TEST(one_thread)
{
	run(ONE_THREAD, true, false, false);
	ck_assert_uint_eq(by_label[MATCH_AMBIGUOUS], 0);
}
END_TEST

START_TEST(serialized)
{
	run(SERIALIZED, true, false, false);
	ck_assert_uint_eq(by_label[MATCH_AMBIGUOUS], 0);
}
END_TEST

START_TEST(multiple)
{
	run(MULTIPLE, true, false, false);
	ck_assert_uint_gt(wrong_by_label[MATCH_AMBIGUOUS], 0);
	ck_assert_uint_lt(by_label[MATCH_AMBIGUOUS], by_label[MATCH_EXACT]);
}
END_TEST

START_TEST(never_completed)
{
	run(SERIALIZED, true, true, false);
}
END_TEST

START_TEST(lossy_one_thread)
{
	run(ONE_THREAD, true, true, true);
}
END_TEST

START_TEST(lossy_multiple)
{
	run(MULTIPLE, true, true, true);
}
END_TEST

/* ---- speed ------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A halo exchange of 16 processes: to 8 neighbours each, 4 tags. */
static double exchange(bool requests, uint32_t rounds)
{
	const struct match_options o = {0};
	struct match *m = match_new(&o);
	uint64_t before = now_ns(), n = 0, t = 0;

	for (uint32_t i = 0; i < rounds; i++)
		for (uint32_t k = 0; k < 16 * 8 * 2; k++) {
			uint32_t to = k / 2 % 16, from = (to + 1 + k / 32) % 16;
			bool post = k & 1;
			struct match_send s = {.comm = 1,
				.source = from,
				.destination = to,
				.enter = t,
				.leave = t,
				.bytes = 8,
				.tag = k / 32 % 4,
				.ticket = i};
			struct match_receive r = {.comm = 1,
				.source = from,
				.destination = to,
				.enter = t,
				.leave = t,
				.tag = k / 32 % 4,
				.ticket = i * 8 + k / 32,
				.flags = requests ? 0 : MATCH_DONE,
				.request = i * 8 + k / 32 + 1,
				.done = {.source = from, .tag = s.tag, .leave = t, .bytes = 8}};

			t++;
			if (!post) {
				match_send(m, &s);
				continue;
			}
			match_receive(m, &r);
			if (requests)
				match_done(m, to, r.request, &r.done);
			n++;
		}
	ck_assert_uint_eq(match_counts(m)->pairs[MATCH_EXACT], n);
	match_free(m);
	return (double)(now_ns() - before) / (double)n;
}

static double fastest(bool requests)
{
	double best = 1e9;

	for (int i = 0; i < 5; i++) {
		double one = exchange(requests, 1000);

		best = one < best ? one : best;
	}
	return best;
}

START_TEST(speed)
{
	double blocking = fastest(false), requests = fastest(true);

	printf("# ns per message: blocking %.0f, with requests %.0f\n", blocking, requests);
	fflush(stdout);
	ck_assert(blocking < 2000);
}
END_TEST

/* Each is a case of its own: CK_RUN_CASE=serialized MATCH_SEED=7 runs one program. */
int main(void)
{
	const TTest *const tests[] = {one_thread, serialized, multiple, never_completed,
		lossy_one_thread, lossy_multiple, speed};
	Suite *s = suite_create("match");

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		TCase *c = tcase_create(tests[i]->name);

		tcase_set_timeout(c, 3600);
		tcase_add_test(c, tests[i]);
		suite_add_tcase(s, c);
	}
	return run_suite(s);
}
