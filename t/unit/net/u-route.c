/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages along the tree of agents, over a transport in this process: with the living, and with
 * agents that die at random, of which the others learn at random times.
 */
#include "nodeagent/net/route.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nodeagent/base/util.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/net/tree.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define AGENTS_MOST 300
#define WORDS	    3	/* of each agent to agent 0 */
#define TAG	    500 /* of the first one, and so on */
#define TAG_CAST    (TAG + WORDS)
#define TAG_ONE	    (TAG_CAST + 1)

struct letter {
	struct letter *next;
	int from, tag;
	size_t bytes;
	char content[];
};

struct agent {
	struct transport transport; /* first: the two are converted by a cast */
	struct letter *inbox, **inbox_end;
	bool dead;
	bool noticed[AGENTS_MOST]; /* that these are dead */
	unsigned came, sent, casts, ones;
	bool has[WORDS];
};

static struct agent *agents;
static int size;
static bool told_of_deaths;
static unsigned asked; /* whether an agent is dead */
static struct dice dice;

static int post_letter(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	struct agent *a = &agents[to];
	struct letter *l;

	(void)until;
	ck_assert_int_ne(to, p->rank);
	transport_count_sent(p, bytes);
	if (a->dead)
		return 0;
	l = xmalloc(sizeof(*l) + bytes);
	*l = (struct letter){.from = p->rank, .tag = tag, .bytes = bytes};
	memcpy(l->content, buf, bytes);
	*a->inbox_end = l;
	a->inbox_end = &l->next;
	return 0;
}

static int take_letter(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	struct agent *a = (struct agent *)p;

	(void)until;
	for (struct letter **at = &a->inbox, *l; (l = *at); at = &l->next) {
		if (l->tag != tag || (from != TRANSPORT_ANY && from != l->from))
			continue;
		*at = l->next;
		if (!l->next)
			a->inbox_end = at;
		*buf = xmalloc(l->bytes + 1);
		memcpy(*buf, l->content, l->bytes);
		*bytes = l->bytes;
		*who = l->from;
		free(l);
		transport_count_received(p, *bytes);
		return 0;
	}
	return -ETIMEDOUT;
}

/* What it has sent is there when its death is noticed. */
static bool is_known_dead(struct transport *p, int rank)
{
	struct agent *a = (struct agent *)p;

	asked++;
	for (const struct letter *l = a->inbox; l; l = l->next)
		if (l->from == rank)
			return false;
	a->noticed[rank] |= agents[rank].dead && throw_dice(&dice, 3) == 0;
	return a->noticed[rank];
}

static void finish_nothing(struct transport *p, int together, int status, double until)
{
	(void)p, (void)together, (void)status, (void)until;
}

static void pump_nothing(struct transport *p, double until)
{
	(void)p, (void)until;
}

static void begin_agents(int n, bool deaths)
{
	size = n;
	told_of_deaths = deaths;
	agents = xcalloc((size_t)n, sizeof(*agents));
	for (int i = 0; i < n; i++) {
		struct transport *p = &agents[i].transport;

		*p = (struct transport){.rank = i,
			.size = n,
			.send = post_letter,
			.receive = take_letter,
			.gone = deaths ? is_known_dead : NULL,
			.finish = finish_nothing};
		agents[i].inbox_end = &agents[i].inbox;
		route_open(p);
	}
}

static void forget_letters(struct agent *a)
{
	while (a->inbox) {
		struct letter *l = a->inbox;

		a->inbox = l->next;
		free(l);
	}
	a->inbox_end = &a->inbox;
}

static void end_agents(void)
{
	for (int i = 0; i < size; i++) {
		struct transport *p = &agents[i].transport;

		p->finish(p, 0, 0, 0);
		forget_letters(&agents[i]);
	}
	for (int i = 0; i < size; i++)
		forget_letters(&agents[i]);
	free(agents);
}

/* Of what is under way from it some may never come: the last ones, for each receiver. */
static void die_now(int rank)
{
	agents[rank].dead = true;
	forget_letters(&agents[rank]);
	for (int i = 0; i < size; i++) {
		struct agent *a = &agents[i];
		bool lost = false;

		for (struct letter **at = &a->inbox, *l; (l = *at);) {
			lost |= l->from == rank && throw_dice(&dice, 2) == 0;
			if (!lost || l->from != rank) {
				at = &l->next;
				continue;
			}
			*at = l->next;
			free(l);
		}
		a->inbox_end = &a->inbox;
		while (*a->inbox_end)
			a->inbox_end = &(*a->inbox_end)->next;
	}
}

static void take_words_of(struct transport *p, int tag)
{
	size_t bytes;
	void *buf;
	int who;

	while (!p->receive(p, TRANSPORT_ANY, tag, &buf, &bytes, &who, 0)) {
		unsigned word;

		ck_assert_uint_eq(bytes, sizeof(word));
		memcpy(&word, buf, sizeof(word));
		ck_assert_int_eq((int)word, tag - TAG);
		ck_assert(!agents[who].has[word]);
		agents[who].has[word] = true;
		agents[who].came++;
		free(buf);
	}
}

/* Each comes once. */
static void take_words(struct agent *a)
{
	struct transport *p = &a->transport;
	size_t bytes;
	void *buf;
	int who;

	for (int tag = TAG; !p->rank && tag < TAG + WORDS; tag++)
		take_words_of(p, tag);
	while (p->rank && !p->receive(p, 0, TAG_CAST, &buf, &bytes, &who, 0)) {
		ck_assert_str_eq(buf, "to all");
		a->casts++;
		free(buf);
	}
	while (p->rank && !p->receive(p, 0, TAG_ONE, &buf, &bytes, &who, 0)) {
		int rank;

		memcpy(&rank, buf, sizeof(rank));
		ck_assert_int_eq(rank, p->rank);
		a->ones++;
		free(buf);
	}
}

static void say_word(int rank, double hold_s)
{
	struct agent *a = &agents[rank];
	struct transport *p = &a->transport;
	const unsigned word = a->sent++;

	ck_assert_int_eq(
		transport_to_root(p, TAG + (int)word, &word, sizeof(word), true, hold_s, 0), 0);
}

static void attend_all(int times)
{
	while (times--)
		for (int i = 0; i < size; i++)
			if (!agents[i].dead)
				take_words(&agents[i]);
}

static int log2_up(int n)
{
	int k = 0;

	while ((1 << k) < n)
		k++;
	return k;
}

/* Over MPI: one to each child. */
static unsigned answers_of(int rank)
{
	int n = 0;

	while (tree_child(size, rank, n) > 0)
		n++;
	return (unsigned)n;
}

/* There is no time in which they could become due. */
START_TEST(agent_0_has_a_message_of_each_child)
{
	for (int n = 2; n <= AGENTS_MOST; n += n < 20 ? 1 : 37) {
		begin_agents(n, false);
		for (int i = 1; i < n; i++)
			agents[i].sent = WORDS - 1, agents[i].came = WORDS - 1;
		for (int i = 1; i < n; i++)
			say_word(i, 1e6);
		attend_all(log2_up(n) + 1);
		for (int i = 1; i < n; i++)
			ck_assert_uint_eq(agents[i].came, WORDS);
		ck_assert_uint_eq(agents[0].transport.counts.received, (unsigned)log2_up(n));
		for (int i = 1; i < n; i++)
			ck_assert_uint_le(agents[i].transport.counts.sent, 1 + answers_of(i));
		end_agents();
	}
}
END_TEST

/* Half of those that live below an agent have said something, and wait there for the others. */
START_TEST(each_agent_is_asked_for_once)
{
	const int top = 128, n = 2 * top;

	begin_agents(n, true);
	for (int i = top + 2; i < n; i += 2) {
		agents[i].dead = true;
		for (int k = top; k < n; k++)
			agents[k].noticed[i] = true;
	}
	for (int i = top + 1; i < n; i += 4)
		say_word(i, 1e6);
	route_attend(&agents[top].transport);
	asked = 0;
	route_attend(&agents[top].transport);
	ck_assert_uint_gt(asked, (unsigned)top / 2);
	ck_assert_uint_le(asked, (unsigned)n);
	end_agents();
}
END_TEST

START_TEST(one_agent_has_nobody_to_tell)
{
	begin_agents(1, false);
	ck_assert_int_eq(transport_to_all(&agents[0].transport, TAG_CAST, "to all", 7, 0), 0);
	end_agents();
}
END_TEST

static void attend_past(int stopped)
{
	for (int i = 0; i < size; i++)
		if (i != stopped)
			take_words(&agents[i]);
}

/* Over MPI, which does not tell. When it goes on, it passes on again, and more than the others know
 * to have come. */
START_TEST(a_stopped_agent_is_in_nobodys_way)
{
	const unsigned n = 3000;
	uint64_t bytes;

	begin_agents(8, false);
	for (int i = 5; i < 8; i++)
		say_word(i, 0);
	while (!agents[5].came || !agents[6].came || !agents[7].came)
		attend_past(4);
	transport_to_all(&agents[0].transport, TAG_CAST, "to all", 7, 0);
	while (!agents[5].casts || !agents[6].casts || !agents[7].casts)
		attend_past(4);
	for (unsigned i = 1; i < n; i++) {
		transport_to_all(&agents[0].transport, TAG_CAST, "to all", 7, 0);
		attend_past(4);
	}
	attend_all(10);
	for (int i = 1; i < 8; i++)
		ck_assert_uint_eq(agents[i].casts, n);
	bytes = agents[4].transport.counts.sent_bytes;
	say_word(5, 0);
	attend_all(3);
	ck_assert_uint_eq(agents[5].came, 2);
	ck_assert_uint_gt(agents[4].transport.counts.sent_bytes, bytes);
	end_agents();
}
END_TEST

/* A job may run for weeks: what each keeps, and sends again where another one dies, is little. */
START_TEST(the_last_word_is_kept)
{
	uint64_t before;
	size_t bytes;
	void *buf;
	int who;

	begin_agents(4, true);
	for (unsigned i = 0; i <= 1000; i++) {
		transport_to_root(&agents[3].transport, TAG, &i, sizeof(i), false, 0, 0);
		route_attend(&agents[2].transport);
	}
	die_now(2);
	before = agents[3].transport.counts.sent_bytes;
	while (agents[3].transport.counts.sent_bytes == before)
		route_attend(&agents[3].transport);
	ck_assert_uint_lt(agents[3].transport.counts.sent_bytes - before, 100);
	for (unsigned word = 0; word != 1000; free(buf)) {
		ck_assert_int_eq(agents[0].transport.receive(
					 &agents[0].transport, 3, TAG, &buf, &bytes, &who, 0),
			0);
		memcpy(&word, buf, sizeof(word));
	}
	end_agents();
}
END_TEST

/* Deaths are news of the transport: nobody is woken to look for them. */
START_TEST(nothing_to_do_is_no_reason_to_wake)
{
	begin_agents(4, true);
	agents[3].transport.pump = pump_nothing;
	transport_to_root(&agents[3].transport, TAG, "", 1, true, 0, 0);
	ck_assert_uint_eq(agents[3].transport.counts.sent, 1);
	ck_assert_double_gt(route_next(&agents[3].transport), 1e9);
	end_agents();
}
END_TEST

static void route_attend_all(int times)
{
	while (times--)
		for (int i = 0; i < size; i++)
			route_attend(&agents[i].transport);
}

static void attend_the_living(void)
{
	for (int i = 0; i < size; i++)
		if (!agents[i].dead)
			route_attend(&agents[i].transport);
}

enum { TAG_STATE = TAG_ONE + 1, BUSY = 0, DONE };

/* At agent 0; done: whether the last word of an agent was that. */
static bool take_state(unsigned *word, bool *done)
{
	struct transport *p = &agents[0].transport;
	size_t bytes;
	void *buf;
	int who;

	if (p->receive(p, TRANSPORT_ANY, TAG_STATE, &buf, &bytes, &who, 0))
		return false;
	memcpy(word, buf, sizeof(*word));
	free(buf);
	if (done)
		done[who] = *word == DONE;
	return true;
}

/* All have something to tell that is not their last word, in any sequence; then their last one. */
static void open_and_close(int n)
{
	int done = 0, *order = xcalloc((size_t)n, sizeof(*order));

	for (int i = 0; i < n; i++)
		order[i] = i;
	for (unsigned word = BUSY; word <= DONE; word++) {
		for (int i = n - 1; i > 0; i--) {
			const int k = 1 + (int)throw_dice(&dice, (uint32_t)i), at = order[i];

			order[i] = order[k];
			order[k] = at;
		}
		for (int i = 1; i < n; i++) {
			transport_to_root(&agents[order[i]].transport, TAG_STATE, &word,
				sizeof(word), word == DONE, 1e-5, 0);
			attend_all(1);
		}
	}
	for (double until = transport_now() + 20; done < n - 1 && transport_now() < until;) {
		route_attend_all(1);
		for (unsigned word; take_state(&word, NULL);)
			done += word == DONE;
	}
	ck_assert_int_eq(done, n - 1);
	free(order);
}

/* However long that takes: agent 0 waits for one of them, and need not hear of each other one. */
START_TEST(words_that_change_nothing_wait)
{
	for (int n = 2; n <= AGENTS_MOST; n += n < 20 ? 1 : 93) {
		begin_agents(n, true);
		open_and_close(n);
		ck_assert_uint_le(agents[0].transport.counts.received, 16u * (unsigned)log2_up(n));
		end_agents();
	}
}
END_TEST

static void say_state(int rank, unsigned word)
{
	transport_to_root(&agents[rank].transport, TAG_STATE, &word, sizeof(word), word == DONE,
		throw_dice(&dice, 2) ? 1e-5 : 1e-3, 0);
}

/* Takes what has come; the number of living agents whose last word is not known to be the last. */
static int not_done(bool *done)
{
	int n = 0;

	for (unsigned word; take_state(&word, done);)
		;
	for (int i = 1; i < size; i++)
		n += !agents[i].dead && !done[i];
	return n;
}

/* Those that have died with a word that was not their last one are in nobody's way. */
START_TEST(deaths_between_two_words)
{
	for (int run = 0; run < (getenv("VFTR_LONG") ? 3000 : 100); run++) {
		const int n = 2 + (int)throw_dice(&dice, 60);
		bool *done = xcalloc((size_t)n, sizeof(*done));

		begin_agents(n, true);
		for (int i = 1; i < n; i++)
			say_state(i, BUSY);
		for (int i = 0; i < 5 * n; i++) {
			const int k = 1 + (int)throw_dice(&dice, (uint32_t)n - 1);

			if (!agents[k].dead && throw_dice(&dice, 10) == 0)
				die_now(k);
			else if (!agents[k].dead)
				say_state(k, throw_dice(&dice, 2) ? BUSY : DONE);
			attend_the_living();
		}
		for (int i = 1; i < n; i++)
			if (!agents[i].dead)
				say_state(i, DONE);
		for (double until = transport_now() + 20;
			not_done(done) && transport_now() < until;)
			attend_the_living();
		ck_assert_int_eq(not_done(done), 0);
		end_agents();
		free(done);
	}
}
END_TEST

/* Agents that have said their last word, and then another one: the others may do that, too. */
START_TEST(second_thoughts_go_together)
{
	begin_agents(64, true);
	for (unsigned word = 0; word < 2; word++) {
		for (int i = 1; i < 64; i++) {
			transport_to_root(
				&agents[i].transport, TAG, &word, sizeof(word), true, 1e6, 0);
			route_attend_all(1);
		}
		route_attend_all(20);
		ck_assert_uint_eq(agents[0].transport.counts.received, 6);
	}
	end_agents();
}
END_TEST

START_TEST(a_message_to_all_comes_once)
{
	for (int n = 2; n <= AGENTS_MOST; n += n < 20 ? 1 : 37) {
		begin_agents(n, false);
		transport_to_all(&agents[0].transport, TAG_CAST, "to all", 7, 0);
		attend_all(log2_up(n) + 1);
		for (int i = 1; i < n; i++)
			ck_assert_uint_eq(agents[i].casts, 1);
		ck_assert_uint_eq(agents[0].transport.counts.sent, (unsigned)log2_up(n));
		end_agents();
	}
}
END_TEST

static double cpu_of_casts(unsigned n)
{
	const clock_t since = clock();

	while (n--) {
		transport_to_all(&agents[0].transport, TAG_CAST, "to all", 7, 0);
		attend_all(1);
	}
	return (double)(clock() - since);
}

static unsigned casts_again(int dead)
{
	const unsigned before = agents[3].casts;

	die_now(dead);
	for (int i = 0; i < size; i++)
		agents[i].noticed[dead] = true;
	attend_all(4);
	return agents[3].casts - before;
}

/* They are not kept for ever, and none comes again to those below one that has died. */
START_TEST(messages_without_end)
{
	const unsigned n = 2000;
	double first, last;

	begin_agents(4, true);
	first = cpu_of_casts(n);
	cpu_of_casts(20 * n);
	last = cpu_of_casts(n);
	for (int i = 1; i < size; i++)
		ck_assert_uint_eq(agents[i].casts, 22 * n);
	ck_assert_double_le(last, 4 * (first + 1));
	ck_assert_uint_eq(casts_again(tree_parent(3)), 0);
	end_agents();
}
END_TEST

START_TEST(messages_to_each_go_together)
{
	const int n = AGENTS_MOST;

	begin_agents(n, false);
	for (int i = 1; i < n; i++)
		transport_to_one(&agents[0].transport, i, TAG_ONE, &i, sizeof(i), 0);
	for (int left = n - 1; left;) { /* agent 0 waits for a moment */
		attend_all(1);
		left = n - 1;
		for (int i = 1; i < n; i++)
			left -= agents[i].ones == 1;
	}
	attend_all(10);
	for (int i = 1; i < n; i++)
		ck_assert_uint_eq(agents[i].ones, 1);
	end_agents();
}
END_TEST

/* The first of them was to pass through an agent that has died with it, and many came later. */
START_TEST(a_message_to_each_may_be_sent_again)
{
	const int others = 512 + 3;

	begin_agents(4, true);
	for (int i = 0, to = 3; i <= others; i++, to = 1)
		transport_to_one(&agents[0].transport, to, TAG_ONE, &to, sizeof(to), 0);
	die_now(2);
	for (double until = transport_now() + 20; !agents[3].ones && transport_now() < until;) {
		take_words(&agents[0]);
		take_words(&agents[1]);
		take_words(&agents[3]);
	}
	ck_assert_uint_eq(agents[3].ones, 1);
	ck_assert_uint_eq(agents[1].ones, (unsigned)others);
	end_agents();
}
END_TEST

static void one_step(int *casts)
{
	const int i = (int)throw_dice(&dice, (uint32_t)size);

	if (agents[i].dead)
		return;
	if (i && agents[i].sent < WORDS && throw_dice(&dice, 4) == 0)
		say_word(i, throw_dice(&dice, 2) ? 0 : 1e6);
	if (!i && *casts < 2) {
		int one = 1 + (int)throw_dice(&dice, (uint32_t)size - 1);

		transport_to_all(&agents[0].transport, TAG_CAST, "to all", 7, 0);
		(*casts)++;
		transport_to_one(&agents[0].transport, one, TAG_ONE, &one, sizeof(one), 0);
	}
	take_words(&agents[i]);
}

static void say_the_rest(void)
{
	for (int i = 1; i < size; i++)
		while (!agents[i].dead && agents[i].sent < WORDS)
			say_word(i, 1e6);
}

static bool all_is_there(int casts)
{
	for (int i = 1; i < size; i++)
		if (!agents[i].dead &&
			(agents[i].came < WORDS || agents[i].casts < (unsigned)casts))
			return false;
	return true;
}

/* Nothing of the living is lost, nothing comes twice, nobody waits for the dead. */
START_TEST(random_deaths)
{
	const int runs = getenv("VFTR_LONG") ? 10000 : 300;

	for (int run = 0; run < runs; run++) {
		int casts = 0, steps;

		dice.state = (uint64_t)run;
		begin_agents(2 + (int)throw_dice(&dice, 60), true);
		steps = size * (1 + (int)throw_dice(&dice, 20));
		for (int i = 0; i < steps; i++) {
			if (throw_dice(&dice, 30) == 0)
				die_now(1 + (int)throw_dice(&dice, (uint32_t)size - 1));
			one_step(&casts);
		}
		while (casts < 2)
			one_step(&casts);
		say_the_rest();
		for (int i = 0; i < 1000 && !all_is_there(casts); i++)
			attend_all(1);
		ck_assert_msg(all_is_there(casts), "run %d of %d agents", run, size);
		attend_all(20);
		for (int i = 1; i < size; i++)
			ck_assert_uint_le(agents[i].casts, (unsigned)casts);
		end_agents();
	}
}
END_TEST

/* A neighbour that sends nonsense. */
START_TEST(nonsense_is_dropped)
{
	begin_agents(8, false);
	for (uint32_t i = 0; i < 20000; i++) {
		const uint64_t version = 0x7666747274726531u;
		char text[200];
		uint64_t word;

		for (size_t k = 0; k + sizeof(word) <= sizeof(text); k += sizeof(word)) {
			word = throw_dice(&dice, 3) ? throw_dice(&dice, 9)
						    : (uint64_t)throw_dice(&dice, 1u << 31) << 32;
			memcpy(text + k, &word, sizeof(word));
		}
		memcpy(text, &version, throw_dice(&dice, 8) ? sizeof(version) : 0);
		post_letter(&agents[3].transport, (int)throw_dice(&dice, 2) * 4,
			10 + (int)throw_dice(&dice, 2), text, throw_dice(&dice, sizeof(text)), 0);
		route_attend(&agents[0].transport);
		route_attend(&agents[4].transport);
	}
	end_agents();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("route");
	TCase *c = tcase_create("route");

	tcase_set_timeout(c, 120);
	tcase_add_test(c, agent_0_has_a_message_of_each_child);
	tcase_add_test(c, each_agent_is_asked_for_once);
	tcase_add_test(c, one_agent_has_nobody_to_tell);
	tcase_add_test(c, a_stopped_agent_is_in_nobodys_way);
	tcase_add_test(c, the_last_word_is_kept);
	tcase_add_test(c, nothing_to_do_is_no_reason_to_wake);
	tcase_add_test(c, words_that_change_nothing_wait);
	tcase_add_test(c, deaths_between_two_words);
	tcase_add_test(c, second_thoughts_go_together);
	tcase_add_test(c, a_message_to_all_comes_once);
	tcase_add_test(c, messages_without_end);
	tcase_add_test(c, messages_to_each_go_together);
	tcase_add_test(c, a_message_to_each_may_be_sent_again);
	tcase_add_test(c, random_deaths);
	tcase_add_test(c, nonsense_is_dropped);
	suite_add_tcase(s, c);
	return run_suite(s);
}
