/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What members of collective calls on several nodes waited for each other: agents in one
 * process, each with a clock of its own, against the definitions.
 */
#include <check.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/base/rank.h"
#include "nodeagent/internode/asking.h"
#include "nodeagent/internode/home.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/trace/collective.h"

#include "t/lib/suite.h"

enum { AGENTS = 3, RANKS = 8, CALLS = 400, NOBODY = RANKS };

#define COMM 77u
#define JOB  5u
#define MANY ((size_t)1 << 20)

static const uint8_t kinds[] = {COLLECTIVE_BETWEEN_ALL, COLLECTIVE_FROM_ROOT, COLLECTIVE_TO_ROOT,
	COLLECTIVE_CHAIN, COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_NEIGHBOURS};

static struct conf conf = {.mpi_waits = true, .mpi_only_for_ranks = "all"};

static struct rank {
	struct traffic *traffic;
	struct traffic_track *track;
	struct calltree *tree;
	uint32_t path, process;
	int agent;
} ranks[RANKS];

static struct agent {
	struct elsewhere *e;
	struct longest *longest;
	struct asking_clock clock;
	struct home *home;
	struct words answers[AGENTS];
	struct asking_sums sums[ELSEWHERE_LOG2_MAX + 1];
	uint64_t ahead; /* of its clock, ticks of half a ns */
	bool dead;
} agents[AGENTS];

/* Of all, in global ns. */
static struct call {
	uint8_t kind;
	uint32_t root;
	bool blocks;
	uint64_t start[RANKS], enter[RANKS], leave[RANKS]; /* start: enter, if it blocks */
} calls[CALLS];

static uint64_t waited[RANKS]
		      [RANKS]; /* ticks that one waited for another one, by the definitions */

/* ---- the agents ------------------------------------------------------------------------ */

static uint64_t global(const void *arg, uint64_t ticks)
{
	return (ticks - ((const struct agent *)arg)->ahead) / 2;
}

static uint64_t ticks_of(const void *arg, uint64_t time)
{
	return 2 * time + ((const struct agent *)arg)->ahead;
}

static void up(bool in_turn, size_t bytes_of_last)
{
	memset(waited, 0, sizeof(waited));
	for (int i = 0; i < AGENTS; i++) {
		struct agent *a = &agents[i];

		*a = (struct agent){.e = elsewhere_new(i == AGENTS - 1 ? bytes_of_last : MANY),
			.longest = longest_new(traffic_count_longest),
			.home = home_new(AGENTS),
			.ahead = UINT64_C(0x1000000000) * (uint64_t)(7 - 3 * i)};
		a->clock = (struct asking_clock){.global = global, .ticks = ticks_of, .arg = a};
	}
	for (int r = 0; r < RANKS; r++) {
		struct rank *k = &ranks[r];

		k->traffic = traffic_new(&conf, NULL);
		k->tree = calltree_new();
		k->track = traffic_track_new(k->traffic, k->tree);
		k->path = path_number(
			k->track, calltree_child(k->tree, calltree_root(k->tree), NULL, 7));
		k->agent = in_turn ? r % AGENTS : r * AGENTS / RANKS;
		k->process = elsewhere_process(agents[k->agent].e, k->traffic);
	}
}

static void down(void)
{
	for (int i = 0; i < AGENTS; i++) {
		elsewhere_free(agents[i].e);
		longest_free(agents[i].longest);
		home_free(agents[i].home);
		for (int k = 0; k < AGENTS; k++)
			words_free(&agents[i].answers[k]);
	}
	for (int r = 0; r < RANKS; r++) {
		traffic_track_end(ranks[r].track, ranks[r].tree);
		traffic_free(ranks[r].traffic);
		calltree_free(ranks[r].tree);
	}
}

static void hand_over(int agent, uint32_t ticket)
{
	struct agent *a = &agents[agent];
	const struct call *c = &calls[ticket];
	struct elsewhere_call mine[RANKS];
	struct elsewhere_instance i = {.ticket = ticket,
		.root = c->root,
		.kind = c->kind,
		.wait = WAIT_NXN,
		.blocks = c->blocks};

	for (uint32_t r = 0; r < RANKS; r++) {
		if (ranks[r].agent != agent)
			continue;
		mine[i.n++] = (struct elsewhere_call){.start = ticks_of(a, c->start[r]),
			.enter = ticks_of(a, c->enter[r]),
			.leave = ticks_of(a, c->leave[r]),
			.rank = r,
			.world = r,
			.process = ranks[r].process,
			.path = ranks[r].path};
	}
	elsewhere_add(
		a->e, &(struct elsewhere_comm){.id = COMM, .job = JOB, .size = RANKS}, &i, mine);
}

static void make_calls(unsigned seed)
{
	srand(seed);
	for (uint32_t t = 0; t < CALLS; t++) {
		struct call *c = &calls[t];

		c->kind = kinds[(size_t)rand() % ARRAY_SIZE(kinds)];
		c->root = (uint32_t)rand() % RANKS;
		c->blocks = rand() % 2;
		for (int r = 0; r < RANKS; r++) {
			c->start[r] = UINT64_C(1000000) + 1000 * t + (uint64_t)rand() % 900;
			c->enter[r] = c->start[r] + (c->blocks ? 0 : (uint64_t)rand() % 300);
			c->leave[r] = c->enter[r] + 1 + (uint64_t)rand() % 900;
		}
		for (int i = 0; i < AGENTS; i++)
			hand_over(i, t);
	}
}

static int reporter;
static bool reported;

static void report(void *arg, struct words *w)
{
	struct home *h = arg;

	reported = true;
	ck_assert_ptr_null(home_take(h, reporter, w->at, w->n));
}

static void talk(size_t most)
{
	for (int home = 0; home < AGENTS; home++)
		for (reporter = 0; reporter < AGENTS; reporter++) {
			bool homes[AGENTS] = {false};

			if (agents[reporter].dead || agents[home].dead)
				continue;
			reported = false;
			asking_report(agents[reporter].e, &agents[reporter].clock, home, AGENTS,
				most, report, agents[home].home);
			asking_homes(agents[reporter].e, AGENTS, homes);
			ck_assert_int_eq(homes[home], reported); /* the directory tells the home */
		}
	for (int home = 0; home < AGENTS; home++)
		for (int to = 0; to < AGENTS; to++) {
			struct words w = {0};

			while (!agents[home].dead && home_give(agents[home].home, to, most, &w)) {
				ck_assert_uint_le(w.n, most + 2);
				for (size_t i = 2; i < w.n; i++)
					words_put(&agents[to].answers[home], w.at[i]);
				words_free(&w);
				w = (struct words){0};
			}
		}
	for (int i = 0; i < AGENTS; i++)
		asking_count(agents[i].e, agents[i].longest, &agents[i].clock, agents[i].answers,
			AGENTS, agents[i].sums);
}

/* ---- the definitions ----------------------------------------------------------------------- */

static bool waits_for(const struct call *c, uint32_t r, uint32_t other)
{
	switch (c->kind) {
	case COLLECTIVE_FROM_ROOT:
		return r != c->root && other == c->root;
	case COLLECTIVE_TO_ROOT:
		return r == c->root;
	case COLLECTIVE_CHAIN:
		return other < r;
	default:
		return true;
	}
}

/* times: how often it counts. of: only of members of this agent, or -1. Returns the wait. */
static uint64_t define_of(const struct call *c, uint32_t r, uint64_t times, int of)
{
	uint64_t until = c->enter[r];
	uint32_t late = NOBODY;

	for (uint32_t other = 0; other < RANKS; other++)
		if ((of < 0 || ranks[other].agent == of) && waits_for(c, r, other) &&
			c->start[other] > until) {
			until = c->start[other];
			late = other;
		}
	if (until > c->leave[r])
		until = c->leave[r];
	if (late == NOBODY)
		return 0;
	waited[r][late] += times * 2 * (until - c->enter[r]);
	return times * 2 * (until - c->enter[r]);
}

static void define_for(const struct call *c, uint32_t r, uint64_t times)
{
	define_of(c, r, times, -1);
}

static void define(const struct call *c, uint64_t times)
{
	for (uint32_t r = 0; r < RANKS; r++)
		define_for(c, r, times);
}

static uint64_t found(uint32_t r, uint32_t late)
{
	const struct node *n = ranks[r].traffic->paths.at[ranks[r].path - 1].node;

	for (size_t i = 0; n->extra && i < n->extra->waits.n; i++)
		if (n->extra->waits.at[i].late == late)
			return n->extra->waits.at[i].ticks;
	return 0;
}

static void compare(void)
{
	for (uint32_t r = 0; r < RANKS; r++)
		for (uint32_t late = 0; late < RANKS; late++)
			ck_assert_msg(found(r, late) == waited[r][late],
				"rank %u waited for %u: %llu, not %llu", r, late,
				(unsigned long long)waited[r][late],
				(unsigned long long)found(r, late));
}

/* ---- tests ------------------------------------------------------------------------------ */

START_TEST(all_kinds)
{
	uint64_t made = 0;

	up(_i % 2, MANY);
	make_calls(100 + (unsigned)_i);
	for (uint32_t t = 0; t < CALLS; t++)
		define(&calls[t], 1);
	talk(_i < 2 ? 1 << 17 : 20); /* in one message, or in many */
	compare();
	for (int i = 0; i < AGENTS; i++) {
		made += agents[i].sums[0].kept;
		ck_assert_uint_eq(agents[i].sums[0].kept, agents[i].sums[0].calls);
		ck_assert_uint_eq(agents[i].sums[0].unknown, 0);
		ck_assert_uint_gt(agents[i].sums[0].waited, 0);
	}
	ck_assert_uint_eq(made, CALLS * RANKS);
	down();
}
END_TEST

/* One agent has too little memory: all count those instances that it has kept. */
START_TEST(thinned)
{
	const struct elsewhere_comm *c;
	size_t n;
	uint64_t each, kept = 0;

	up(_i % 2, 4096);
	make_calls(200 + (unsigned)_i);
	c = elsewhere_comms(agents[AGENTS - 1].e, &n);
	ck_assert_uint_ge(c->log2, 1);
	ck_assert_uint_eq(elsewhere_comms(agents[0].e, &n)->log2, 0);
	each = (uint64_t)1 << c->log2;
	for (uint32_t t = 0; t < CALLS; t++)
		if (!(elsewhere_hash(COMM, JOB, t) & (each - 1))) {
			define(&calls[t], each);
			kept++;
		}
	ck_assert_uint_gt(kept, CALLS / each / 2);
	talk(1 << 17);
	compare();
	for (int i = 0; i < AGENTS; i++) {
		ck_assert_uint_eq(agents[i].sums[0].calls, 0);
		ck_assert_uint_eq(agents[i].sums[c->log2].unknown, 0);
		ck_assert_uint_lt(agents[i].sums[c->log2].kept, agents[i].sums[c->log2].calls);
	}
	down();
}
END_TEST

/* Of rank r not all is known in a call, while agent 1 is dead; agent 1 hears of nobody. */
static bool is_unknown(uint32_t ticket, uint32_t r)
{
	const struct call *c = &calls[ticket];
	const bool no_home =
		ranks[r].agent == 1 || home_of(elsewhere_hash(COMM, JOB, ticket), AGENTS) == 1;

	switch (c->kind) {
	case COLLECTIVE_FROM_ROOT:
		return r != c->root && ranks[r].agent != ranks[c->root].agent &&
		       (no_home || ranks[c->root].agent == 1);
	case COLLECTIVE_TO_ROOT:
		return r == c->root;
	case COLLECTIVE_CHAIN: /* the ranks of agent 0 come before those that are missing */
		return ranks[r].agent != 0;
	default:
		return true;
	}
}

/* What needs the members of a dead agent, or the home that it was, counts as unknown: but what is
 * known of the own node counts, and is told. */
START_TEST(an_agent_is_dead)
{
	uint64_t unknown[AGENTS] = {0}, partly[AGENTS] = {0}, ticks[AGENTS] = {0};

	up(false, MANY);
	agents[1].dead = true;
	make_calls(300);
	for (uint32_t t = 0; t < CALLS; t++)
		for (uint32_t r = 0; r < RANKS; r++) {
			const int of = ranks[r].agent;
			uint64_t least;

			if (!is_unknown(t, r)) {
				define_for(&calls[t], r, 1);
				continue;
			}
			unknown[of]++;
			least = define_of(&calls[t], r, 1, of);
			partly[of] += least > 0;
			ticks[of] += least;
		}
	talk(1 << 17);
	compare();
	for (int i = 0; i < AGENTS; i++) {
		ck_assert_uint_eq(agents[i].sums[0].unknown, unknown[i]);
		ck_assert_uint_eq(agents[i].sums[0].partly, partly[i]);
		ck_assert_uint_eq(agents[i].sums[0].partly_ticks, ticks[i]);
		ck_assert_uint_gt(agents[i].sums[0].partly, CALLS / 4);
		ck_assert_uint_gt(agents[i].sums[0].waited, 0);
	}
	down();
}
END_TEST

START_TEST(clocks)
{
	const uint64_t least = 300; /* ticks */
	uint64_t sum = 0;

	up(false, MANY);
	make_calls(400);
	for (uint32_t t = 0; t < CALLS; t++)
		define(&calls[t], 1);
	for (uint32_t r = 0; r < RANKS; r++)
		for (uint32_t late = 0; late < RANKS; late++)
			sum += waited[r][late];
	agents[2].clock.error_ticks = UINT64_MAX;
	agents[1].clock.error_ticks = agents[0].clock.error_ticks = least;
	talk(1 << 17);
	/* of a clock that is not known only the waits for a root on the same node are, and those
	 * of the first ranks in a scan */
	ck_assert_uint_gt(agents[2].sums[0].unknown, CALLS);
	ck_assert_uint_gt(agents[2].sums[0].partly, 0);
	ck_assert_uint_eq(agents[2].sums[0].error_ticks, 0);
	ck_assert_uint_gt(agents[0].sums[0].below, 0);
	ck_assert_uint_le(agents[0].sums[0].below_ticks, least * agents[0].sums[0].below);
	ck_assert_uint_le(agents[0].sums[0].error_ticks, least * agents[0].sums[0].waited);
	ck_assert_uint_gt(agents[0].sums[0].error_ticks, 0);
	ck_assert_uint_lt(agents[0].sums[0].waited_ticks + agents[1].sums[0].waited_ticks, sum);
	down();
}
END_TEST

START_TEST(a_process_is_forgotten)
{
	up(false, MANY);
	make_calls(500);
	for (uint32_t t = 0; t < CALLS; t++)
		define(&calls[t], 1);
	elsewhere_forget(agents[0].e, ranks[0].process);
	memset(waited[0], 0, sizeof(waited[0])); /* others have waited for it all the same */
	talk(1 << 17);
	compare();
	down();
}
END_TEST

#define CALLS_ROOM 4096 /* bytes for calls, beside those of the communicators */

/* More than there may be, for which there is memory; or fewer, for which alone there is too little:
 * then each call that is kept costs a look at all. */
START_TEST(many_communicators)
{
	static const struct {
		uint32_t comms, refused;
		size_t bytes;
	} rows[] = {{ELSEWHERE_COMMS_MAX + 10, 10,
			    ELSEWHERE_COMMS_MAX * sizeof(struct elsewhere_comm) + CALLS_ROOM},
		{2000, 0, CALLS_ROOM}};
	struct elsewhere *e = elsewhere_new(rows[_i].bytes);
	const struct elsewhere_call call = {.start = 1, .enter = 1, .leave = 2};
	size_t n, kept = 0;
	const struct elsewhere_comm *c;

	for (uint32_t i = 0; i < 100000; i++)
		elsewhere_add(e, &(struct elsewhere_comm){.id = 1 + i % rows[_i].comms, .size = 2},
			&(struct elsewhere_instance){.ticket = i, .n = 1, .kind = 1}, &call);
	c = elsewhere_comms(e, &n);
	ck_assert_uint_eq(n, rows[_i].comms - rows[_i].refused);
	ck_assert_uint_eq(elsewhere_refused(e), rows[_i].refused);
	for (size_t i = 0; i < n; i++)
		kept += c[i].n_calls;
	ck_assert_uint_lt(kept, 100);
	elsewhere_free(e);
}
END_TEST

/* ---- what others may send ---------------------------------------------------------------- */

static struct words sample;

static void take_sample(void *arg, struct words *w)
{
	(void)arg;
	for (size_t i = 0; i < w->n; i++)
		words_put(&sample, w->at[i]);
}

static void give_all(struct home *h, int to)
{
	struct words w = {0};

	while (home_give(h, to, 64, &w)) {
		words_free(&w);
		w = (struct words){0};
	}
}

START_TEST(damaged_reports)
{
	up(false, MANY);
	make_calls(600);
	sample = (struct words){0};
	asking_report(agents[0].e, &agents[0].clock, 0, AGENTS, MANY, take_sample, NULL);
	ck_assert_uint_gt(sample.n, 100);
	srand(7);
	for (int turn = 0; turn < 3000; turn++) {
		struct home *h = home_new(AGENTS);
		const size_t at = (size_t)rand() % sample.n, n = (size_t)rand() % (sample.n + 1);
		const uint64_t before = sample.at[at];

		((uint8_t *)&sample.at[at])[rand() % 8] ^= (uint8_t)(1 << rand() % 8);
		home_take(h, 0, sample.at, n);
		home_take(h, 1, sample.at, sample.n);
		give_all(h, 0);
		give_all(h, 1);
		sample.at[at] = before;
		home_free(h);
	}
	words_free(&sample);
	down();
}
END_TEST

#define PACK(ticket, kind, runs) ((uint64_t)(ticket) << 32 | (uint64_t)(kind) << 24 | (runs))
#define SIZE(size, n)		 ((uint64_t)(size) << 32 | (n))

static const char *take(struct home *h, int agent, const uint64_t *w, size_t n)
{
	return home_take(h, agent, w, n);
}

#define TAKE(h, agent, ...)                                                                        \
	take(h, agent, (const uint64_t[]){__VA_ARGS__},                                            \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static struct home_answer first_answer(struct home *h, int agent)
{
	struct words w = {0};
	struct words_in in;
	struct home_answer a;

	ck_assert(home_give(h, agent, 64, &w));
	in = (struct words_in){w.at + 2, w.n - 2, false};
	home_read_answer(&in, &a);
	ck_assert(!in.bad);
	words_free(&w);
	return a;
}

START_TEST(refused)
{
	struct home *h = home_new(2);

	ck_assert_str_eq(TAKE(h, 2, HOME_VERSION, 0), "reports of no agent");
	ck_assert_str_eq(TAKE(h, 0, HOME_VERSION + 1, 0), "reports of another version");
	ck_assert_str_eq(TAKE(h, 0, HOME_VERSION), "reports that end too early");
	ck_assert_ptr_null(TAKE(h, 0, HOME_VERSION, 0));
	ck_assert_str_eq(TAKE(h, 0, HOME_VERSION, 0, 1), "reports that end too early");
	ck_assert_str_eq(
		TAKE(h, 0, HOME_VERSION, 0, 1, 1, SIZE(0, 1), 0), "a communicator that cannot be");
	ck_assert_str_eq(
		TAKE(h, 0, HOME_VERSION, 0, 1, 1, SIZE(4, 1), 32), "a communicator that cannot be");
	ck_assert_str_eq(TAKE(h, 0, HOME_VERSION, 0, 1, 1, SIZE(4, 1), 0, PACK(0, 77, 0)),
		"a collective call of no kind");
	ck_assert_str_eq(TAKE(h, 0, HOME_VERSION, 0, 1, 1, SIZE(4, 1), 0,
				 PACK(0, COLLECTIVE_CHAIN, 2), 1, 0, 0),
		"more runs of ranks than there can be");
	ck_assert_str_eq(TAKE(h, 0, HOME_VERSION, 0, 1, 1, SIZE(4, 1), 0,
				 PACK(0, COLLECTIVE_CHAIN, 1), SIZE(3, 2), 0, 0),
		"ranks that a communicator lacks");
	home_free(h);
}
END_TEST

/* Reports that contradict each other: nothing is known, rather than something wrong. */
START_TEST(they_disagree)
{
#define OF(comm, size, ticket, kind, first, n)                                                     \
	HOME_VERSION, 0, comm, 1, SIZE(size, 1), 0, PACK(ticket, kind, 1), SIZE(first, n), 9, 100
	const struct {
		uint64_t words[2][10];
		enum home_status status;
	} rows[] = {
		{{{OF(1, 4, 0, COLLECTIVE_BETWEEN_ALL, 0, 2)},
			 {OF(1, 4, 0, COLLECTIVE_BETWEEN_ALL, 2, 2)}},
			HOME_KNOWN},
		/* one is missing; one too many; another size; another kind */
		{{{OF(1, 4, 0, COLLECTIVE_BETWEEN_ALL, 0, 2)},
			 {OF(1, 4, 0, COLLECTIVE_BETWEEN_ALL, 2, 1)}},
			HOME_UNKNOWN},
		{{{OF(1, 4, 0, COLLECTIVE_BETWEEN_ALL, 0, 2)},
			 {OF(1, 4, 0, COLLECTIVE_BETWEEN_ALL, 2, 3)}},
			HOME_UNKNOWN},
		{{{OF(1, 4, 0, COLLECTIVE_BETWEEN_ALL, 0, 2)},
			 {OF(1, 3, 0, COLLECTIVE_BETWEEN_ALL, 2, 2)}},
			HOME_UNKNOWN},
		{{{OF(1, 4, 0, COLLECTIVE_BETWEEN_ALL, 0, 2)},
			 {OF(1, 4, 0, COLLECTIVE_TO_ROOT, 2, 2)}},
			HOME_UNKNOWN},
		/* two roots */
		{{{OF(1, 4, 0, COLLECTIVE_FROM_ROOT, 0, 1)},
			 {OF(1, 4, 0, COLLECTIVE_FROM_ROOT, 2, 1)}},
			HOME_UNKNOWN},
		/* a scan: a rank twice; the first of all waits for nobody */
		{{{OF(1, 4, 0, COLLECTIVE_CHAIN, 2, 2)}, {OF(1, 4, 0, COLLECTIVE_CHAIN, 0, 2)}},
			HOME_KNOWN},
		{{{OF(1, 4, 0, COLLECTIVE_CHAIN, 2, 2)}, {OF(1, 4, 0, COLLECTIVE_CHAIN, 1, 2)}},
			HOME_UNKNOWN},
		{{{OF(1, 4, 0, COLLECTIVE_CHAIN, 2, 2)}, {OF(1, 4, 0, COLLECTIVE_CHAIN, 0, 1)}},
			HOME_UNKNOWN},
		{{{OF(1, 4, 0, COLLECTIVE_CHAIN, 0, 2)}, {OF(1, 4, 0, COLLECTIVE_CHAIN, 3, 1)}},
			HOME_NOBODY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct home *h = home_new(2);

		for (int agent = 0; agent < 2; agent++)
			ck_assert_ptr_null(home_take(h, agent, rows[i].words[agent], 10));
		ck_assert_msg(first_answer(h, 0).status == rows[i].status, "row %zu", i);
		home_free(h);
	}
}
END_TEST

START_TEST(damaged_answers)
{
	static const uint64_t heads[] = {(uint64_t)HOME_STATUS_KINDS << 40,
		(uint64_t)HOME_KNOWN << 40 | (uint64_t)32 << 32, UINT64_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		struct words_in in = {(const uint64_t[]){heads[i], 5}, 2, false};
		struct home_answer a;

		home_read_answer(&in, &a);
		ck_assert(in.bad);
		ck_assert_uint_eq(a.status, HOME_UNKNOWN);
	}
	up(false, MANY);
	make_calls(700);
	for (int i = 0; i < AGENTS; i++) /* fewer than were asked for, and some that are none */
		for (int k = 0; k < 21; k++)
			words_put(&agents[0].answers[i], k == 19 ? UINT64_MAX : 0);
	asking_count(agents[0].e, agents[0].longest, &agents[0].clock, agents[0].answers, AGENTS,
		agents[0].sums);
	ck_assert_uint_gt(agents[0].sums[0].unknown, 0);
	for (uint32_t t = 0; t < CALLS; t++) /* what is left is known without answers */
		for (uint32_t r = 0; r < RANKS && !ranks[r].agent; r++)
			define_of(&calls[t], r, 1, 0);
	compare();
	down();
}
END_TEST

/* What a home says of one instance is multiplied, and stays a wait: it does not wrap around to one
 * that is taken back. */
START_TEST(waits_without_measure)
{
	const uint32_t log2 = 5;
	const struct node_waits *w;
	uint64_t kept = 0;

	up(false, MANY);
	for (uint32_t t = 0; t < CALLS; t++) {
		const uint64_t hash = elsewhere_hash(COMM, JOB, t);
		struct words *from = &agents[0].answers[home_of(hash, AGENTS)];

		calls[t] = (struct call){.kind = COLLECTIVE_BETWEEN_ALL};
		for (int r = 0; r < RANKS; r++)
			calls[t].leave[r] = UINT64_C(1) << 60;
		hand_over(0, t);
		kept += !(hash & ((1u << log2) - 1));
		words_put(from, (uint64_t)HOME_KNOWN << 40 | (uint64_t)log2 << 32 | (RANKS - 1));
		words_put(from, UINT64_C(1) << 57);
	}
	agents[0].clock.error_ticks = 1;
	asking_count(agents[0].e, agents[0].longest, &agents[0].clock, agents[0].answers, AGENTS,
		agents[0].sums);
	ck_assert_uint_gt(kept, 4);
	ck_assert_uint_gt(agents[0].sums[log2].waited, kept);
	ck_assert_uint_eq(agents[0].sums[log2].waited_ticks, UINT64_C(1) << 62);
	w = &calltree_at(ranks[0].tree, 1)->extra->waits;
	ck_assert_uint_eq(w->n, 1);
	ck_assert_uint_eq(w->at[0].calls, kept << log2);
	ck_assert_uint_eq(w->at[0].error, kept << log2); /* 1 each */
	down();
}
END_TEST

/* Greater numbers mean other things where waits are counted (traffic_late_far()). */
START_TEST(ranks_that_cannot_be)
{
	static const uint32_t none[] = {
		PROFILE_UNRANKED, ELSEWHERE_CHILD, ELSEWHERE_CHILD | 1, PROFILE_ELSEWHERE};

	up(false, MANY);
	for (uint32_t t = 0; t < ARRAY_SIZE(none); t++) {
		struct words *from =
			&agents[0].answers[home_of(elsewhere_hash(COMM, JOB, t), AGENTS)];

		calls[t] = (struct call){.kind = COLLECTIVE_BETWEEN_ALL, .blocks = true};
		for (int r = 0; r < RANKS; r++)
			calls[t].leave[r] = 1000;
		hand_over(0, t);
		words_put(from, (uint64_t)HOME_KNOWN << 40 | none[t]);
		words_put(from, 100);
	}
	asking_count(agents[0].e, agents[0].longest, &agents[0].clock, agents[0].answers, AGENTS,
		agents[0].sums);
	ck_assert_uint_eq(found(0, UINT32_MAX), ARRAY_SIZE(none) * 2 * 100);
	down();
}
END_TEST

START_TEST(homes_of_all)
{
	for (int n = 1; n < 300; n++) {
		int count = 0;

		for (int i = 0; i < n; i++)
			count += home_is(i, n);
		ck_assert_int_eq(count, homes(n));
		ck_assert_int_le(count, HOMES_MAX);
		for (uint32_t t = 0; t < 100; t++)
			ck_assert(home_is(home_of(elsewhere_hash(1, 2, t), n), n));
	}
}
END_TEST

int main(void)
{
	const struct {
		const TTest *test;
		int times;
	} rows[] = {{all_kinds, 4}, {thinned, 4}, {an_agent_is_dead, 1}, {clocks, 1},
		{a_process_is_forgotten, 1}, {many_communicators, 2}, {damaged_reports, 1},
		{refused, 1}, {they_disagree, 1}, {damaged_answers, 1}, {waits_without_measure, 1},
		{ranks_that_cannot_be, 1}, {homes_of_all, 1}};
	Suite *s = suite_create("asking");
	TCase *c = tcase_create("asking");

	tcase_set_timeout(c, 60);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tcase_add_loop_test(c, rows[i].test, 0, rows[i].times);
	suite_add_tcase(s, c);
	return run_suite(s);
}
