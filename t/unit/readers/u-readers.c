/* SPDX-License-Identifier: BSD-3-Clause */
/* However many threads read the rings, call trees are the same in each word. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/readers/readers.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/tree/calltree.h"
#include "t/lib/traced.h"
#include "t/lib/suite.h"

#define APPS	   6u
#define RING_BYTES (1u << 20)
#define PHASES	   4u
#define BLOCKS	   90u /* of each ring and phase */

enum shape { THREADS, RANKS };

static struct app apps[APPS];
static uint64_t begin_ticks; /* the same in all runs of a test */

/* What an app does: calls that are known and new ones, and with ranks messages and collectives. */
static void some_calls(struct app *p, struct dice *d, unsigned phase, unsigned i)
{
	struct dice same = {.state = 5 + i};
	const uint32_t mine = CODE + 0x8000 + 64 * (throw_dice(d, 8 * (phase + 1)) + 100 * i);

	functions(p, &same, 0);
	functions(p, &same, 2);
	if (throw_dice(d, 32))
		return;
	room(p);
	frame(p, 0, mine);
	frame(p, 0, mine);
	functions(p, d, 4);
	room(p);
	frame(p, RECORD_EXIT, mine);
	frame(p, RECORD_EXIT, mine);
}

static void write_phase(enum shape shape, unsigned phase)
{
	for (unsigned i = 0; i < APPS; i++) {
		struct dice d = {.state = 11 * phase + i};
		struct app *p = &apps[i];
		const uint64_t until = p->ring.producer->head + BLOCKS * BLOCK_BYTES;

		while (p->ring.producer->head < until)
			some_calls(p, &d, phase, i);
		for (unsigned k = 0; shape == RANKS && k < 50; k++) {
			const uint64_t t = (begin_ticks & ~0xffffull) +
					   ((uint64_t)phase + 1) * 80000000 + k * 500000;

			if (i < 2)
				blocking(p, i == 0, t + 1000 * i, t + 3000);
			functions(p, &d, 5);
			together(p, t + 200000 + 7000 * i, t + 300000);
			functions(p, &d, 5);
		}
		publish(p);
	}
}

static void begin(enum shape shape, const char *readers)
{
	prepare("/tmp", RING_BYTES);
	if (!begin_ticks)
		begin_ticks = first_ticks();
	set("agent.readers", readers);
	set("include_cxx_prelude", "true");
	for (unsigned i = 0; i < APPS; i++)
		if (i && shape == THREADS)
			attach_thread(&apps[i], &apps[0]);
		else
			attach(&apps[i], begin_ticks, shape == RANKS ? (int)i : -1, APPS);
}

static void finish(enum shape shape)
{
	for (unsigned i = APPS; i-- > 0;)
		if (i && shape == THREADS)
			vftr_segment_unmap_ring(&apps[i].ring);
		else
			detach(&apps[i]);
}

/* All that is counted, as text. */
static void tell_tree(FILE *f, struct thread_ring *t)
{
	struct calltree *tree = replay_tree(t->replay);
	const struct replay_counts *c = replay_counts(t->replay);

	fprintf(f, "thread %u: %llu records %llu calls %llu stray%s\n", t->number,
		(unsigned long long)c->records, (unsigned long long)c->calls,
		(unsigned long long)c->stray, t->error ? " damaged" : "");
	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		fprintf(f, "%llx below %llx: %llu %llu %llu", (unsigned long long)n->key,
			n->parent ? (unsigned long long)n->parent->key : 0,
			(unsigned long long)n->calls, (unsigned long long)n->ticks,
			(unsigned long long)calltree_first(n));
		if (n->extra)
			fprintf(f, " %llu %llu", (unsigned long long)n->extra->messages.sends,
				(unsigned long long)n->extra->messages.bytes_received);
		for (size_t k = 0; n->extra && k < n->extra->waits.n; k++)
			fprintf(f, " waits %u for %u: %llu %llu", n->extra->waits.at[k].kind,
				n->extra->waits.at[k].late,
				(unsigned long long)n->extra->waits.at[k].calls,
				(unsigned long long)n->extra->waits.at[k].ticks);
		fputc('\n', f);
	}
}

/* What there is after all phases; the caller frees. damaged: the app whose ring goes bad. */
static char *trees_of(enum shape shape, unsigned n, unsigned damaged)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	uint64_t least;
	char number[16];
	struct readers *r;

	snprintf(number, sizeof(number), "%u", n);
	begin(shape, number);
	r = readers_new(host, NULL);
	for (unsigned phase = 0; phase < PHASES; phase++) {
		uint64_t read;

		write_phase(shape, phase);
		if (phase == 2 && damaged < APPS) {
			const struct ring *ring = &apps[damaged].ring;
			const uint64_t at = ring->producer->head - 40 * (uint64_t)BLOCK_BYTES;

			/* in the middle of what was published: a block without its time */
			ring->data[(at & (ring->size - 1)) / 8] = CODE;
		}
		read = readers_drain(r);
		/* of a process that is quarantined no more is read from the next look on */
		ck_assert(shape == THREADS && phase > 2 && damaged < APPS ? !read : read > 0);
		ck_assert_uint_eq(readers_drain(r), 0);
		fprintf(f, "%llu bytes\n", (unsigned long long)read);
	}
	for (unsigned i = 0; i < APPS; i++)
		tell_tree(f, apps[i].process->threads[shape == THREADS ? i : 0]);
	fprintf(f, "%s\n", apps[0].process->quarantined ? apps[0].process->quarantined : "well");
	fclose(f);
	ck_assert_uint_eq(readers_number(r), n);
	/* most of it */
	least = n > 1 ? APPS * BLOCKS * (uint64_t)BLOCK_BYTES : 0;
	ck_assert_uint_ge(readers_together(r), least);
	readers_free(r);
	finish(shape);
	return text;
}

static void same_by_all(enum shape shape, unsigned damaged)
{
	char *one = trees_of(shape, 1, damaged);

	ck_assert_uint_gt(strlen(one), 10000);
	for (unsigned n = 2; n <= 8; n *= 2) {
		char *more = trees_of(shape, n, damaged);

		ck_assert_str_eq(one, more);
		free(more);
	}
	free(one);
}

START_TEST(of_one_process)
{
	same_by_all(THREADS, APPS);
}
END_TEST

START_TEST(of_ranks_that_talk)
{
	char *one = trees_of(RANKS, 1, APPS);

	ck_assert_ptr_nonnull(strstr(one, "waits"));
	free(one);
	same_by_all(RANKS, APPS);
}
END_TEST

START_TEST(with_a_ring_that_is_damaged)
{
	char *one = trees_of(RANKS, 1, 3);

	ck_assert_ptr_nonnull(strstr(one, "damaged"));
	free(one);
	same_by_all(RANKS, 3);
	same_by_all(THREADS, 3);
}
END_TEST

/* Rank 1 waits for rank 0, which is in functions until it sends; then both make far more calls than
 * are kept (replay/tree/activity.h), in less time than one may be read ahead of the other. */
static void some_call(struct app *p)
{
	struct dice same = {.state = 3};

	functions(p, &same, 0);
}

static void write_busy(unsigned i)
{
	struct app *p = &apps[i];
	const uint64_t sent = (begin_ticks & ~0xffffull) + 80000000;
	struct dice all = {.state = 9};

	blocking(p, i == 0, sent - 800000, sent - 799000); /* calls are kept from now on */
	p->ticks = sent - 400000;
	while (p->ticks < sent - 200000) /* of rank 1 all are new: it is read slowly */
		if (i == 0)
			some_call(p);
		else
			functions(p, &all, 0);
	if (i == 0)
		some_call(p);
	blocking(p, i == 0, i == 0 ? sent : sent - 100000, sent + 2000);
	while (p->ticks < sent + 3000000)
		some_call(p);
	publish(p);
}

/* What rank 0 did while rank 1 waited, as read by n threads. */
static uint64_t causes_found(const char *n)
{
	struct traffic_cause_row row;
	struct readers *r;
	uint64_t ticks = 0;

	begin(RANKS, n);
	r = readers_new(host, NULL);
	for (unsigned i = 0; i < APPS; i++)
		if (i < 2)
			write_busy(i);
	readers_drain(r);
	for (size_t i = 0; traffic_cause_row(apps[1].process->traffic, i, &row); i++)
		ticks += row.ticks;
	readers_free(r);
	finish(RANKS);
	return ticks;
}

START_TEST(what_a_late_rank_did)
{
	const uint64_t by_one = causes_found("1");

	ck_assert_uint_gt(by_one, 0);
	ck_assert_uint_eq(causes_found("2"), by_one);
	ck_assert_uint_eq(causes_found("4"), by_one);
}
END_TEST

static char stat_path[] = "/tmp/u-readers.XXXXXX";

/* All CPUs had so much to do, and so much time without. */
static void write_stat(unsigned busy, unsigned idle)
{
	FILE *f = fopen(stat_path, "w");

	for (unsigned i = 0; i < 1024; i++)
		fprintf(f, "cpu%u %u 0 0 %u 0 0 0 0 0 0\n", i, busy, idle);
	fclose(f);
}

/* Rings are three quarters full. For so many looks at the CPUs; or until there are more readers. */
static void read_full(struct readers *r, unsigned *busy, unsigned *idle, bool is_idle, uint64_t ns)
{
	const uint64_t begin = clock_raw_ns();
	const unsigned before = readers_number(r);

	while (readers_number(r) == before && clock_raw_ns() - begin < ns) {
		for (unsigned i = 0; i < APPS; i++)
			for (unsigned k = 0; k < 192; k++)
				publish(&apps[i]);
		*(is_idle ? idle : busy) += 100;
		write_stat(*busy, *idle);
		ck_assert_uint_gt(readers_drain(r), 0);
	}
}

START_TEST(more_while_cpus_are_idle)
{
	const int fd = mkstemp(stat_path);
	unsigned busy = 1, idle = 1;
	struct readers *r;

	ck_assert_int_ge(fd, 0);
	close(fd);
	begin(THREADS, "auto");
	r = readers_new(host, stat_path);
	ck_assert_uint_eq(readers_number(r), 1);
	read_full(r, &busy, &idle, false, 300000000); /* all are busy: three looks */
	ck_assert_uint_eq(readers_number(r), 1);
	read_full(r, &busy, &idle, true, UINT64_MAX);
	ck_assert_uint_eq(readers_number(r), 2);
	read_full(r, &busy, &idle, false, 300000000);
	ck_assert_uint_eq(readers_number(r), 2);
	while (readers_number(r) > 1) /* nothing comes */
		readers_drain(r);
	readers_free(r);
	finish(THREADS);
	unlink(stat_path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("readers");
	TCase *c = tcase_create("readers");
	const TTest *const tests[] = {of_one_process, of_ranks_that_talk, what_a_late_rank_did,
		with_a_ring_that_is_damaged, more_while_cpus_are_idle};

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
