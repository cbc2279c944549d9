/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What agent 0 answers to each agent, compared with what a search of all entries says: blocks of
 * ranks, ranks that go round the agents, several jobs, agents that are dead, and processes that two
 * claim.
 */
#include <check.h>
#include <stdlib.h>

#include "nodeagent/internode/directory.c"

#include "nodeagent/base/rank.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

enum { AGENTS = 23, JOBS = 3 };

static struct dice dice;
static struct directory_entry entries[AGENTS];
static bool dead[AGENTS];
static int order[AGENTS], next; /* in which agents tell agent 0 theirs */
static struct directory answers[AGENTS];
static bool answered[AGENTS];

static int give_entry(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	struct words w;

	(void)p, (void)from, (void)until;
	ck_assert_int_eq(tag, TAG_ENTRY);
	ck_assert_int_lt(next, AGENTS - 1);
	*who = order[next++];
	if (dead[*who]) {
		*buf = xcalloc(1, 1);
		*bytes = 1;
		return 0;
	}
	w = pack_entry(&entries[*who]);
	*buf = w.at;
	*bytes = w.n * sizeof(*w.at);
	return 0;
}

static int take_answer(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	(void)until;
	ck_assert_int_eq(tag, TAG_ANSWER);
	ck_assert(!answered[to]);
	answered[to] = true;
	ck_assert_int_eq(unpack_answer(&answers[to], buf, bytes, p->size), 0);
	return 0;
}

static void add_id(uint64_t **at, size_t *n, uint64_t id)
{
	*at = xrealloc(*at, (*n + 1) * sizeof(**at));
	(*at)[(*n)++] = id;
}

/* Of `ranks' ranks of each job in blocks, or by turns; some are claimed twice, and some lost. */
static void throw_entries(uint32_t ranks, bool by_turns)
{
	for (int i = 0; i < AGENTS; i++) {
		entries[i] = (struct directory_entry){.clock_bound_ns = throw_dice(&dice, 1000)};
		dead[i] = i && !throw_dice(&dice, 8);
	}
	for (uint32_t k = 0; k < JOBS * ranks; k++) {
		const uint64_t id = rank_id(k / ranks, k % ranks);
		const uint32_t of = by_turns ? k % AGENTS : k % ranks * AGENTS / ranks;
		struct directory_entry *e = &entries[of];

		add_id(&e->here, &e->n_here, id);
		if (!throw_dice(&dice, 20))
			add_id(&e->lost, &e->n_lost, id);
		if (throw_dice(&dice, 40))
			continue;
		e = &entries[throw_dice(&dice, AGENTS)];
		add_id(&e->here, &e->n_here, id);
	}
	for (int i = 0; i < AGENTS; i++) {
		struct directory_entry *e = &entries[i];
		const uint32_t wanted = throw_dice(&dice, 60);

		for (uint32_t k = 0; k < wanted; k++)
			add_id(&e->wanted, &e->n_wanted,
				rank_id(throw_dice(&dice, JOBS), throw_dice(&dice, ranks + 3)));
		for (uint32_t k = throw_dice(&dice, 4); k; k--)
			add_id(&e->homes, &e->n_homes, throw_dice(&dice, AGENTS));
	}
}

static bool has(const uint64_t *at, size_t n, uint64_t id)
{
	return ANY(i, n, at[i] == id);
}

/* The one that claims it, whatever else it has sent. */
static int true_owner(uint64_t id)
{
	int owner = OWNERS_NOBODY, claims = 0;

	for (int i = 0; i < AGENTS; i++)
		if (!dead[i] && has(entries[i].here, entries[i].n_here, id)) {
			owner = i;
			claims++;
		}
	return claims == 1 ? owner : OWNERS_NOBODY;
}

static bool wants_of(int agent, int of)
{
	const struct directory_entry *e = &entries[agent];

	return agent != of && !dead[agent] && ANY(k, e->n_wanted, true_owner(e->wanted[k]) == of);
}

static void check_answer(int agent)
{
	const struct directory *d = &answers[agent];
	const struct directory_entry *e = &entries[agent];
	size_t targets = 0, senders = 0;

	for (int of = 0; of < AGENTS; of++) {
		if (wants_of(of, agent))
			ck_assert_int_eq(d->senders[senders++], of);
		ck_assert_int_eq(has(d->absent.at, d->absent.n, (uint64_t)of), dead[of]);
		if (!wants_of(agent, of))
			continue;
		ck_assert_int_eq(d->targets[targets].agent, of);
		for (size_t k = 0; k < e->n_wanted; k++)
			ck_assert_int_eq(has(d->targets[targets].proc_ids.at,
						 d->targets[targets].proc_ids.n, e->wanted[k]),
				true_owner(e->wanted[k]) == of);
		targets++;
	}
	ck_assert_uint_eq(d->n_targets, targets);
	ck_assert_uint_eq(d->n_senders, senders);
	for (size_t k = 0; k < e->n_lost && !dead[agent]; k++)
		ck_assert(has(d->lost.at, d->lost.n, e->lost[k]));
	for (size_t k = 0; k < d->reporters.n; k++) {
		const struct directory_entry *r = &entries[d->reporters.at[k]];

		ck_assert(has(r->homes, r->n_homes, (uint64_t)agent));
	}
}

/* Memory that comes next is not zero, as in an agent that has run for a while. */
static void dirty_the_heap(void)
{
	void *all[64];

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		all[i] = memset(xmalloc(i << 8), 0xff, i << 8);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		free(all[i]);
}

START_TEST(each_agent_learns_its_part)
{
	struct transport t = {
		.rank = 0, .size = AGENTS, .send = take_answer, .receive = give_entry};

	dice = (struct dice){.state = 1000 + (uint64_t)_i};
	throw_entries(1 + throw_dice(&dice, 300), _i % 2);
	dirty_the_heap();
	memset(answered, 0, sizeof(answered));
	next = 0;
	for (int i = 0; i < AGENTS - 1; i++) {
		const uint32_t k = throw_dice(&dice, (uint32_t)i + 1);

		order[i] = order[k];
		order[k] = i + 1;
	}
	ck_assert_int_eq(directory_ask(&t, &entries[0], 10, &answers[0]), 0);
	for (int i = 0; i < AGENTS; i++) {
		ck_assert(!i || answered[i]);
		check_answer(i);
	}
	for (int i = 0; i < AGENTS; i++) {
		directory_free(&answers[i]);
		free(entries[i].here);
		free(entries[i].wanted);
		free(entries[i].lost);
		free(entries[i].homes);
	}
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("directory");
	Suite *s = suite_create("directory");

	tcase_add_loop_test(t, each_agent_learns_its_part, 0, 200);
	suite_add_tcase(s, t);
	return run_suite(s);
}
