/* SPDX-License-Identifier: BSD-3-Clause */
/* Agents that ask each other for views, in one process; and messages that none of ours sends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/exchange/exchange.h"
#include "nodeagent/live/exchange/internal.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/process/observer.h"
#include "shm/wire.h"
#include "t/lib/suite.h"

#define AGENTS_MAX 300

struct letter {
	struct letter *next;
	int from, to;
	size_t bytes;
	char content[];
};

/* A transport for each agent; the first member is that of the interface. */
struct post {
	struct transport p;
	struct letter *inbox, **end;
	bool dead;	/* takes messages and says nothing */
	bool deaf;	/* takes none */
	bool mute;	/* none of its messages leaves */
	unsigned tries; /* messages for it */
};

static struct agent agents[AGENTS_MAX];
static struct post posts[AGENTS_MAX];
static int n_agents;
static uint64_t sent, asked; /* messages; calls of receive() */

static double now_s = 1;

/* In place of that of the agent: seconds pass at once, and a busy machine is as fast as any. */
double transport_now(void)
{
	return now_s;
}

static void wait_a_little(void)
{
	now_s += 0.005;
}

static int send_one(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	struct post *post = &posts[to];
	struct letter *l;

	ck_assert_int_eq(tag, TAG_LIVE);
	ck_assert(to >= 0 && to < n_agents && to != p->rank);
	post->tries++;
	if (post->deaf || posts[p->rank].mute)
		return -EPIPE;
	l = xmalloc(sizeof(*l) + bytes);
	*l = (struct letter){.from = p->rank, .to = to, .bytes = bytes};
	memcpy(l->content, buf, bytes);
	*post->end = l;
	post->end = &l->next;
	sent++;
	return 0;
}

static int receive_one(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	struct post *post = (struct post *)(void *)p;
	struct letter *l = post->inbox;

	asked++;
	if (!l)
		return -ETIMEDOUT;
	post->inbox = l->next;
	if (!l->next)
		post->end = &post->inbox;
	*buf = memcpy(xmalloc(l->bytes + 1), l->content, l->bytes);
	*bytes = l->bytes;
	*who = l->from;
	free(l);
	return 0;
}

/* As over MPI: rings, but not at once. */
static bool listen_for(struct transport *p, int tag)
{
	ck_assert_int_eq(tag, TAG_LIVE);
	return false;
}

static void begin(int n)
{
	n_agents = n;
	sent = 0;
	for (int i = 0; i < n; i++) {
		struct agent *a = &agents[i];

		*a = (struct agent){0};
		posts[i] = (struct post){.p = {.rank = i,
						 .size = n,
						 .send = send_one,
						 .receive = receive_one,
						 .listen = listen_for}};
		posts[i].end = &posts[i].inbox;
		a->host.conf = conf_default();
		a->host.name = xasprintf("node%d", i);
		a->host.transport = &posts[i].p;
		a->news = true;
		clocks_init(&a->host.clocks, "raw");
		live_tick(a);
	}
}

static void end(void)
{
	for (int i = 0; i < n_agents; i++) {
		struct agent *a = &agents[i];

		live_end(a);
		for (struct letter *l = posts[i].inbox, *next; l; l = next) {
			next = l->next;
			free(l);
		}
		host_warnings_free(&a->host);
		conf_free(a->host.conf);
		free(a->host.name);
	}
}

/* All agents that live do what is due, for so many seconds. */
static void pass(double s)
{
	const double until = transport_now() + s;

	while (transport_now() < until) {
		for (int i = 0; i < n_agents; i++)
			if (!posts[i].dead) {
				live_tick(&agents[i]);
				agents[i].news = false;
			}
		wait_a_little();
	}
}

static void order(int root, uint64_t number, double period)
{
	const struct live_message m = {.magic = LIVE_MAGIC,
		.kind = LIVE_ASK,
		.root = (uint32_t)root,
		.period_ms = (uint32_t)(1e3 * period),
		.number = number};

	live_tree_ask(&agents[root], &m, -1, transport_now());
}

static uint32_t nodes_of(int root, uint32_t *absent)
{
	const struct live_tree *t = live_tree_of(agents[root].live, root);
	uint32_t n = 1;

	*absent = 0;
	ck_assert_ptr_nonnull(t);
	for (size_t i = 0; i < t->n_branches; i++) {
		if (!t->branches[i]->heard)
			continue;
		n += t->branches[i]->view->n_all;
		*absent += t->branches[i]->view->n_absent;
	}
	return n;
}

static void hear_views(int root)
{
	struct live_message m;
	void *buf;
	size_t bytes;
	int who;

	while (!receive_one(&posts[root].p, TRANSPORT_ANY, TAG_LIVE, &buf, &bytes, &who, 0)) {
		memcpy(&m, buf, sizeof(m));
		if (m.kind == LIVE_VIEW)
			live_tree_take(&agents[root], who, &m, (char *)buf + sizeof(m),
				bytes - sizeof(m), transport_now());
		free(buf);
	}
}

/* Keeps the tree of a root that has no viewer here, as a viewer would. */
static void watch(int root, uint64_t number, double s)
{
	for (double until = transport_now() + s; transport_now() < until;) {
		order(root, number, 0.25);
		for (int i = 0; i < n_agents; i++)
			if (!posts[i].dead && i != root) {
				agents[i].news = true;
				live_tick(&agents[i]);
			}
		hear_views(root);
		live_tree_tick(
			&agents[root], live_tree_of(agents[root].live, root), transport_now());
		wait_a_little();
	}
}

START_TEST(without_a_viewer_nothing_is_sent_and_nobody_is_asked)
{
	double again = NEVER_S;

	begin(20);
	pass(0.1); /* each looks once when it hears of the others */
	asked = 0;
	pass(1.5);
	ck_assert_uint_eq(sent, 0);
	ck_assert_uint_eq(asked, 0);
	for (int i = 0; i < n_agents; i++)
		again = again < live_tick(&agents[i]) ? again : live_tick(&agents[i]);
	ck_assert_double_gt(again, NEVER_S - 10);
	for (int i = 0; i < n_agents; i++)
		ck_assert_ptr_null(agents[i].live->sampler);
	end();
}
END_TEST

START_TEST(a_tree_has_all_agents_and_ends_by_itself)
{
	const int root = _i ? 7 : 0;
	uint32_t absent, n = 0;

	begin(AGENTS_MAX);
	for (int tries = 0; tries < 40 && n != AGENTS_MAX; tries++) {
		watch(root, 5, 0.25);
		n = nodes_of(root, &absent);
	}
	ck_assert_uint_eq(n, AGENTS_MAX);
	ck_assert_uint_le(live_tree_of(agents[root].live, root)->n_branches, LIVE_FAN_OUT);
	/* nobody asks any more */
	pass(LIVE_LEASE_LEAST * 2 + 2);
	sent = 0;
	pass(1);
	ck_assert_uint_eq(sent, 0);
	for (int i = 0; i < n_agents; i++)
		ck_assert_uint_eq(agents[i].live->n_trees, 0);
	end();
}
END_TEST

/* Place 1 of the tree has the places 17 to 32 below it. */
START_TEST(news_get_to_all_agents_once)
{
	size_t bytes;
	char *news;

	begin(300);
	live_news_tell(&agents[7], "something", 10);
	for (int level = 0; level < 3; level++) {
		for (int i = 0; i < n_agents; i++)
			agents[i].news = true;
		pass(0.01);
	}
	for (int i = 0; i < n_agents; i++) {
		ck_assert_int_eq(live_news_waiting(&agents[i]), i != 7);
		news = live_news_next(&agents[i], &bytes);
		ck_assert_int_eq(!!news, i != 7);
		if (news)
			ck_assert(bytes == 10 && !memcmp(news, "something", 10));
		free(news);
		ck_assert_ptr_null(live_news_next(&agents[i], &bytes));
	}
	ck_assert_uint_eq(sent, 299);
	end();
}
END_TEST

START_TEST(news_that_did_not_leave_are_sent_again)
{
	size_t bytes;

	begin(3);
	posts[1].deaf = true;
	live_news_tell(&agents[0], "something", 10);
	ck_assert_double_le(live_tick(&agents[0]), 1);
	pass(1.5);
	ck_assert_uint_eq(agents[0].live->n_unsent, 1);
	posts[1].deaf = false;
	pass(2);
	agents[1].news = true;
	live_tick(&agents[1]);
	for (int i = 1; i < 3; i++) {
		agents[i].news = true;
		live_tick(&agents[i]);
		ck_assert_uint_eq(live_news_waiting(&agents[i]), 1);
		free(live_news_next(&agents[i], &bytes));
	}
	ck_assert_uint_eq(agents[0].live->n_unsent, 0);
	posts[1].deaf = true; /* for ever */
	live_news_tell(&agents[0], "something", 10);
	pass(100);
	ck_assert_uint_eq(agents[0].live->n_unsent, 0);
	ck_assert_double_ge(live_tick(&agents[0]), 3000);
	for (int i = 0; i < 100; i++)
		live_news_tell(&agents[0], "something", 10);
	ck_assert_uint_eq(agents[0].live->n_unsent, LIVE_UNSENT_MAX);
	live_end(&agents[0]); /* one had been tried for a minute */
	ck_assert_uint_eq(agents[0].host.n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(agents[0].host.warnings[0],
		"37 pieces of news of spawned jobs were lost between agents"));
	end();
}
END_TEST

START_TEST(news_that_nobody_takes_are_counted)
{
	begin(2);
	for (int i = 0; i < LIVE_NEWS_MAX + 1; i++)
		live_news_put_back(&agents[1], "something", 10);
	ck_assert_uint_eq(live_news_waiting(&agents[1]), LIVE_NEWS_MAX);
	live_end(&agents[1]);
	ck_assert_uint_eq(agents[1].host.n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(agents[1].host.warnings[0], "1 piece of news"));
	live_free(&agents[1]);
	end();
}
END_TEST

static void rings(int agent)
{
	agents[agent].news = true;
	live_tick(&agents[agent]);
}

static void hears_news(int agent, const char *news)
{
	size_t bytes;
	char *one;

	rings(agent);
	one = live_news_next(&agents[agent], &bytes);
	ck_assert_ptr_nonnull(one);
	ck_assert(bytes == strlen(news) + 1);
	ck_assert_str_eq(one, news);
	free(one);
}

/* i: one more comes when that agent takes messages again. */
START_TEST(news_overtake_none_for_the_same_agent)
{
	begin(3);
	posts[1].deaf = true;
	live_news_tell(&agents[0], "first", 6);
	live_news_tell(&agents[0], "second", 7);
	pass(1.5);
	live_news_tell(&agents[0], "third", 6);
	pass(0.5);
	hears_news(2, "first");
	hears_news(2, "second");
	hears_news(2, "third");
	posts[1].deaf = false;
	if (_i) { /* the first ones are not due yet */
		live_news_tell(&agents[0], "fourth", 7);
		hears_news(2, "fourth");
	} else {
		pass(0.8);
		rings(1);
		ck_assert_uint_eq(live_news_waiting(&agents[1]), 0);
		pass(3);
	}
	hears_news(1, "first");
	hears_news(1, "second");
	hears_news(1, "third");
	if (_i)
		hears_news(1, "fourth");
	ck_assert_uint_eq(agents[0].live->n_unsent + live_news_waiting(&agents[1]), 0);
	end();
}
END_TEST

/* However many wait behind others, they are given up as long after they came as any. */
START_TEST(news_for_a_dead_agent_are_given_up_in_time)
{
	begin(3);
	posts[1].deaf = true;
	for (int i = 0; i < LIVE_UNSENT_MAX / 2; i++) {
		live_news_tell(&agents[0], "something", 10);
		pass(0.2);
	}
	ck_assert_uint_eq(agents[0].live->n_unsent, LIVE_UNSENT_MAX / 2);
	pass(75);
	ck_assert_uint_eq(agents[0].live->n_unsent, 0);
	end();
}
END_TEST

START_TEST(who_awaits_news_looks_for_them)
{
	begin(2);
	ck_assert_double_ge(live_tick(&agents[0]), 3000);
	ck_assert(live_news_await(&agents[0], 1));
	ck_assert(!live_news_await(&agents[0], 1));
	ck_assert_double_le(live_tick(&agents[0]), 0.01);
	now_s += 50;
	ck_assert_double_le(live_tick(&agents[0]), 0.5); /* the longer it takes, the more seldom */
	ck_assert_double_ge(live_tick(&agents[0]), 0.4);
	now_s += 11; /* it may never be known */
	live_tick(&agents[0]);
	ck_assert_double_ge(live_tick(&agents[0]), 3000);
	ck_assert(live_news_await(&agents[0], 2));
	ck_assert_double_le(live_tick(&agents[0]), 0.01);
	ck_assert(!live_news_await(&agents[0], 0));
	now_s += 1;
	live_tick(&agents[0]);
	ck_assert_double_ge(live_tick(&agents[0]), 3000);
	end();
}
END_TEST

START_TEST(those_below_a_dead_agent_are_asked_directly)
{
	uint32_t absent, n = 0;

	begin(40);
	posts[1].dead = true;
	for (int tries = 0; tries < 60 && n != 39; tries++) {
		watch(0, 5, 0.25);
		n = nodes_of(0, &absent);
	}
	ck_assert_uint_eq(n, 39);
	/* it answers again: its own are its own again */
	posts[1].dead = false;
	for (int tries = 0; tries < 60 && n != 40; tries++) {
		watch(0, 5, 0.25);
		n = nodes_of(0, &absent);
		if (live_tree_of(agents[0].live, 0)->n_branches > LIVE_FAN_OUT)
			n = 0;
	}
	ck_assert_uint_eq(n, 40);
	end();
}
END_TEST

/* ---- what none of ours sends ----------------------------------------------------------------- */

static void throw_at(int to, int from, const void *buf, size_t bytes)
{
	struct agent *a = &agents[to];

	send_one(&posts[from].p, to, TAG_LIVE, buf, bytes, 0);
	a->news = true;
	live_tick(a);
}

START_TEST(hostile_messages_are_refused_with_a_line)
{
	const struct live_message right = {
		.magic = LIVE_MAGIC, .kind = LIVE_ASK, .period_ms = 1000, .number = 5};
	struct live_message m[6];
	char garbage[sizeof(m[0]) + 100];

	begin(40);
	for (size_t i = 0; i < ARRAY_SIZE(m); i++)
		m[i] = right;
	m[0].magic++;
	m[1].kind = LIVE_KINDS_END;
	m[2].root = 40;
	m[3].root = 3;	    /* its own tree is its own */
	m[4].period_ms = 1; /* too often */
	m[5].number = 0;
	for (size_t i = 0; i < ARRAY_SIZE(m); i++) {
		throw_at(3, 0, &m[i], sizeof(m[i]));
		ck_assert_uint_eq(agents[3].live->refused, i + 1);
	}
	throw_at(3, 20, &right, sizeof(right)); /* below it, not above */
	ck_assert_uint_eq(agents[3].live->refused, 7);
	throw_at(3, 0, &right, 3);
	ck_assert_uint_eq(agents[3].live->refused, 8);
	ck_assert_uint_eq(agents[3].live->n_trees, 0);
	ck_assert_uint_gt(agents[3].host.n_warnings, 0);
	memset(garbage, 0xa5, sizeof(garbage));
	throw_at(3, 0, garbage, sizeof(garbage));
	ck_assert_uint_eq(agents[3].live->refused, 9);
	/* a right one is taken */
	throw_at(3, 0, &right, sizeof(right));
	ck_assert_uint_eq(agents[3].live->n_trees, 1);
	end();
}
END_TEST

START_TEST(views_that_nobody_wanted_or_make_no_sense_change_nothing)
{
	struct {
		struct live_message m;
		unsigned char packed[104];
	} v = {{.magic = LIVE_MAGIC, .kind = LIVE_VIEW, .number = 5, .all = 104}, {0xff}};

	begin(4);
	throw_at(0, 1, &v, sizeof(v)); /* there is no tree */
	ck_assert_uint_eq(agents[0].live->n_trees, 0);
	ck_assert_uint_eq(agents[0].host.n_warnings, 0);
	order(0, 5, 1);
	live_tree_take(&agents[0], 1, &v.m, v.packed, sizeof(v.packed), transport_now());
	ck_assert_uint_eq(agents[0].host.n_warnings, 1);
	ck_assert(!live_tree_of(agents[0].live, 0)->branches[0]->heard);
	end();
}
END_TEST

/* ---- parts of views --------------------------------------------------------------------- */

static unsigned char packed[LIVE_PACKED_MOST];

/* Throws a part of what is in `packed` at agent 0, from agent 1. */
static void throw_part(uint32_t at, uint32_t bytes, uint32_t all)
{
	struct {
		struct live_message m;
		unsigned char part[LIVE_PART_MOST + 1];
	} v = {.m = {.magic = LIVE_MAGIC, .kind = LIVE_VIEW, .number = 5, .at = at, .all = all}};

	if (at < sizeof(packed))
		memcpy(v.part, packed + at, bytes);
	throw_at(0, 1, &v, sizeof(v.m) + bytes);
}

/* A view of n nodes, packed; its bytes. */
static uint32_t pack_view(uint32_t n)
{
	static struct live_view v;

	v = (struct live_view){.n_all = n, .interval = 1};
	for (uint32_t i = 0; i < LIVE_PATHS_MAX; i++) {
		struct live_path *p = &v.paths[v.n_paths++];

		*p = (struct live_path){.hash = i + 1, .calls = 1, .processes = 1};
		memset(p->text, 'f', LIVE_PATH_BYTES - 1);
	}
	return (uint32_t)live_pack(&v, NULL, packed);
}

/* The other end of its connection to agent 0. */
static int add_viewer(double lease)
{
	struct live *l = agents[0].live;
	int pair[2];

	ck_assert(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	l->viewers[l->n_viewers++] = (struct live_viewer){
		.fd = pair[0], .period = 0.25, .until = transport_now() + lease};
	agents[0].news = true;
	return pair[1];
}

/* A viewer keeps the tree of agent 0. */
static int keep_tree_of_0(void)
{
	agents[0].live->number = 5;
	order(0, 5, 1);
	return add_viewer(60);
}

static const struct live_branch *first_branch(void)
{
	return live_tree_of(agents[0].live, 0)->branches[0];
}

START_TEST(a_view_comes_in_parts_that_are_in_order)
{
	uint32_t all;

	begin(40);
	order(0, 5, 3600);
	all = pack_view(3);
	ck_assert_uint_gt(all, 3 * LIVE_PART_MOST);
	for (uint32_t gap = 0; gap < 2; gap++) {
		struct live_message m = {.magic = LIVE_MAGIC, .kind = LIVE_VIEW, .number = 5};

		m.all = all;
		for (uint32_t at = 0; at < all; at += LIVE_PART_MOST) {
			m.at = at;
			if (gap && at == LIVE_PART_MOST)
				continue;
			live_tree_take(&agents[0], 1, &m, packed + at,
				all - at < LIVE_PART_MOST ? all - at : LIVE_PART_MOST,
				transport_now());
			if (!gap)
				ck_assert(first_branch()->heard == (at + LIVE_PART_MOST >= all));
		}
		/* of the one with a gap nothing is taken, and all texts are asked for */
		ck_assert_uint_eq(first_branch()->view->n_all, 3);
		ck_assert((gap != 0) == !first_branch()->known);
	}
	ck_assert_uint_eq(agents[0].host.n_warnings, 0);
	end();
}
END_TEST

START_TEST(parts_that_cannot_be_are_refused)
{
	static const uint32_t wrong[][3] = {{0, 10, LIVE_PACKED_MOST + 1}, {0, 10, 9},
		{UINT32_MAX - 5, 10, 4}, {UINT32_MAX - 5, 10, UINT32_MAX}, {5, 0, 5},
		{0, LIVE_PART_MOST + 1, LIVE_PACKED_MOST}};

	int viewer;

	begin(40);
	viewer = keep_tree_of_0();
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		throw_part(wrong[i][0], wrong[i][1], wrong[i][2]);
		ck_assert_uint_eq(agents[0].live->refused, i + 1);
	}
	ck_assert(!first_branch()->heard);
	close(viewer);
	end();
}
END_TEST

/* Agent 1 of 40 has 16 agents below it, agent 16 none. */
START_TEST(an_agent_speaks_for_those_below_it_only)
{
	struct live_message m = {.magic = LIVE_MAGIC, .kind = LIVE_VIEW, .number = 5};

	begin(40);
	order(0, 5, 3600);
	for (uint32_t n = 17; n <= 18; n++) {
		m.all = pack_view(n);
		for (m.at = 0; m.at < m.all; m.at += LIVE_PART_MOST)
			live_tree_take(&agents[0], 1, &m, packed + m.at,
				m.all - m.at < LIVE_PART_MOST ? m.all - m.at : LIVE_PART_MOST,
				transport_now());
		ck_assert_uint_eq(agents[0].live->refused, n - 17);
	}
	ck_assert_uint_eq(first_branch()->view->n_all, 0);
	end();
}
END_TEST

/* ---- those who are slow, deaf or too many ------------------------------------------------- */

START_TEST(what_takes_no_messages_is_asked_less_and_less)
{
	begin(3);
	posts[1].deaf = true;
	watch(0, 5, 7.5); /* at 0, 1, 3 and 7 s, as leases ask each second */
	ck_assert_uint_ge(posts[1].tries, 2);
	ck_assert_uint_le(posts[1].tries, 5);
	ck_assert_uint_ge(posts[2].tries, 6);
	posts[1].deaf = false;
	end();
}
END_TEST

/* Agent 1 loses the rest of a view after its first part: the next one has all texts again. */
START_TEST(texts_that_were_lost_come_again)
{
	struct live_path p = {.hash = 9, .calls = 1, .ns = 1, .processes = 1, .text = "f<main"};
	struct live_tree *t;
	struct live_view v = {.n_all = 1, .interval = 1};

	begin(2);
	v.paths[v.n_paths++] = p;
	watch(0, 5, 0.1);
	t = live_tree_of(agents[1].live, 0);
	ck_assert_ptr_nonnull(t);
	posts[1].mute = true;
	watch(0, 5, 0.6);
	ck_assert_uint_gt(t->stuck, 0);
	ck_assert(live_pack(&v, t->told, packed) > live_pack(&v, t->told, packed));
	posts[1].mute = false;
	watch(0, 5, 0.6);
	ck_assert(first_branch()->heard);
	end();
}
END_TEST

START_TEST(own_viewers_have_a_tree_however_many_others_have)
{
	begin(40);
	for (uint32_t root = 1; root <= 8; root++) {
		const struct live_message m = {.magic = LIVE_MAGIC,
			.kind = LIVE_ASK,
			.root = root,
			.period_ms = 3600000,
			.number = 7};

		throw_at(0, (int)root, &m, sizeof(m));
	}
	ck_assert_uint_eq(agents[0].live->n_trees, LIVE_TREES_MAX);
	ck_assert_uint_eq(agents[0].live->refused, 1);
	ck_assert(agents[0].live->full);
	order(0, 5, 1);
	ck_assert_ptr_nonnull(live_tree_of(agents[0].live, 0));
	end();
}
END_TEST

START_TEST(a_flood_is_heard_in_pieces)
{
	const struct live_message m = {.magic = LIVE_MAGIC};
	double again;

	begin(2);
	for (int i = 0; i < 5000; i++)
		send_one(&posts[1].p, 0, TAG_LIVE, &m, sizeof(m), 0);
	asked = 0;
	agents[0].news = true;
	again = live_tick(&agents[0]);
	ck_assert_uint_le(asked, 1024);
	ck_assert_double_le(again, 0);
	ck_assert_uint_gt(agents[0].host.n_warnings, 0);
	ck_assert_uint_le(agents[0].host.n_warnings, 8);
	end();
}
END_TEST

START_TEST(news_are_bounded)
{
	struct {
		struct live_message m;
		char content[8];
	} news = {.m = {.magic = LIVE_MAGIC, .kind = LIVE_NEWS, .root = 1, .number = 1}};
	size_t bytes, n = 0;
	void *one;

	begin(2);
	throw_at(0, 1, &news, sizeof(news.m));
	ck_assert_uint_eq(agents[0].live->refused, 1);
	for (int i = 0; i < 500; i++)
		send_one(&posts[1].p, 0, TAG_LIVE, &news, sizeof(news), 0);
	agents[0].news = true;
	while (live_tick(&agents[0]) <= 0) { /* there are more than nobody has taken */
		ck_assert_uint_le(live_news_waiting(&agents[0]), LIVE_NEWS_MAX);
		while ((one = live_news_next(&agents[0], &bytes))) {
			ck_assert_uint_eq(bytes, sizeof(news.content));
			free(one);
			n++;
		}
	}
	while ((one = live_news_next(&agents[0], &bytes))) {
		free(one);
		n++;
	}
	ck_assert_uint_eq(n, 500);
	for (int i = 0; i < 500; i++) /* nobody takes them */
		throw_at(0, 1, &news, sizeof(news));
	for (n = 0; (one = live_news_next(&agents[0], &bytes)); n++)
		free(one);
	ck_assert_uint_eq(n, LIVE_NEWS_MAX);
	throw_at(0, 1, &news, sizeof(news));
	free(live_news_next(&agents[0], &bytes));
	end();
}
END_TEST

START_TEST(orders_that_change_make_no_more_looks)
{
	struct live_message m = {
		.magic = LIVE_MAGIC, .kind = LIVE_ASK, .root = 1, .period_ms = 250, .number = 5};
	double looked;

	begin(2);
	throw_at(0, 1, &m, sizeof(m));
	looked = agents[0].live->looked;
	ck_assert_double_gt(looked, 0);
	agents[0].live->look_again = transport_now() + 3600; /* as if it had taken 36 s */
	for (m.number = 6; m.number < 20; m.number++) {
		throw_at(0, 1, &m, sizeof(m));
		ck_assert_uint_eq(live_tree_of(agents[0].live, 1)->number, m.number);
		ck_assert_double_eq(agents[0].live->looked, looked);
	}
	end();
}
END_TEST

/* Agent 1 has 16 others below it. */
START_TEST(an_order_that_comes_at_the_end_begins_nothing)
{
	const struct live_message m = {
		.magic = LIVE_MAGIC, .kind = LIVE_ASK, .period_ms = 250, .number = 5};

	begin(40);
	send_one(&posts[0].p, 1, TAG_LIVE, &m, sizeof(m), 0);
	sent = 0;
	live_end(&agents[1]);
	ck_assert_uint_eq(sent, 0);
	ck_assert_ptr_null(posts[1].inbox);
	ck_assert_ptr_null(agents[1].live);
	end();
}
END_TEST

/* The same agent: those below it hear of news that it hears at its end. */
START_TEST(news_that_come_at_the_end_are_passed_on)
{
	size_t bytes;

	begin(40);
	live_news_tell(&agents[0], "something", 10);
	sent = 0;
	live_end(&agents[1]);
	ck_assert_uint_eq(sent, 16);
	ck_assert_uint_eq(live_news_waiting(&agents[1]), 1);
	free(live_news_next(&agents[1], &bytes));
	live_free(&agents[1]);
	end();
}
END_TEST

/* All 16 below the root are silent, and so are the 256 below them: the others are not asked. */
START_TEST(what_a_root_asks_is_bounded)
{
	const struct live_tree *t;
	uint32_t left_out = 0;

	begin(AGENTS_MAX);
	agents[0].host.conf->clock_sync_interval_s = 0.25;
	for (int i = 1; i < n_agents; i++)
		posts[i].dead = true;
	order(0, 5, 0.25);
	t = live_tree_of(agents[0].live, 0);
	for (int s = 0; s < 20 && !left_out; s++) {
		watch(0, 5, 1);
		for (size_t i = 0; i < t->n_branches; i++)
			left_out += t->branches[i]->left_out;
	}
	ck_assert_uint_eq(t->n_branches, LIVE_BRANCHES_MAX);
	ck_assert_uint_eq(left_out, AGENTS_MAX - 1 - LIVE_BRANCHES_MAX);
	end();
}
END_TEST

/* ---- functions that are switched --------------------------------------------------------- */

static uint32_t orders_taken;
static struct function_switch last_order;

static void take_order(struct host *host, const struct function_switch *order)
{
	orders_taken++;
	last_order = *order;
}

static const struct process_observer taker = {.switch_function = take_order};
static const struct process_observer *const takers[] = {&taker, NULL};

static void begin_takers(int n)
{
	begin(n);
	for (int i = 0; i < n; i++)
		agents[i].host.observers = takers;
	orders_taken = 0;
}

static const struct function_switch leaf_off = {.name = "leaf", .off = 1, .stamp = 7};

START_TEST(an_order_for_a_function_gets_to_all_agents)
{
	const struct live_message m = {.root = 5};

	begin_takers(300);
	order(5, 9, 1);
	watch(5, 9, 0.5);
	live_tree_switch(&agents[5], &m, -1, &leaf_off);
	watch(5, 9, 0.5);
	ck_assert_uint_eq(orders_taken, 300);
	ck_assert_mem_eq(&last_order, &leaf_off, sizeof(leaf_off));
	end();
}
END_TEST

START_TEST(orders_for_functions_that_nobody_above_gives_change_nothing)
{
	struct {
		struct live_message m;
		struct function_switch order;
	} x = {{.magic = LIVE_MAGIC, .kind = LIVE_SWITCH, .root = 0, .number = 9}, leaf_off};

	begin_takers(20);
	throw_at(3, 0, &x, sizeof(x)); /* there is no tree */
	order(0, 9, 1);
	watch(0, 9, 0.2);
	throw_at(3, 19, &x, sizeof(x)); /* not above it */
	throw_at(3, 2, &x, sizeof(x));
	x.m.number = 8; /* another tree */
	throw_at(3, 0, &x, sizeof(x));
	x.m.number = 9;
	strcpy(x.order.name, "leaf\033[2J");
	throw_at(3, 0, &x, sizeof(x));
	ck_assert_uint_eq(orders_taken, 0);
	memset(x.order.name, 0, sizeof(x.order.name)); /* all recording pauses */
	throw_at(3, 0, &x, sizeof(x));
	ck_assert_uint_eq(orders_taken, 1);
	ck_assert_str_eq(last_order.name, "");
	ck_assert_uint_eq(agents[3].live->refused, 0);
	throw_at(3, 0, &x, sizeof(x) - 1);
	ck_assert_uint_eq(agents[3].live->refused, 1);
	memset(x.order.name, 'n', sizeof(x.order.name)); /* without an end */
	throw_at(3, 0, &x, sizeof(x));
	ck_assert_uint_eq(orders_taken, 2);
	ck_assert_uint_eq(strlen(last_order.name), FUNCTION_NAME_BYTES - 1);
	end();
}
END_TEST

/* ---- viewers ------------------------------------------------------------------------------ */

START_TEST(viewers_that_do_not_read_or_hang_up_hold_nobody_up)
{
	const struct wire_live ask = {
		.head = {.kind = WIRE_LIVE}, .version = WIRE_LIVE_VERSION, .period_ms = 250};
	struct live_view *v = xcalloc(1, sizeof(*v));
	struct live *l;
	int reads, sleeps, gone, wrong, talks;

	begin(1);
	l = agents[0].live = agents[0].live ?: xcalloc(1, sizeof(*l));
	sleeps = add_viewer(60);
	gone = add_viewer(60);
	wrong = add_viewer(60);
	talks = add_viewer(60);
	reads = add_viewer(0.01); /* it asks again */
	close(gone);
	ck_assert_int_eq(send(wrong, "x", 1, 0), 1);
	ck_assert_int_eq(send(reads, &ask, sizeof(ask), 0), sizeof(ask));
	while (send(talks, &ask, sizeof(ask), MSG_DONTWAIT) > 0)
		;
	live_tick(&agents[0]);
	ck_assert_uint_eq(l->n_viewers, 3);
	for (int i = 0; i < 5000; i++)
		live_viewers_show(&agents[0], v, NULL);
	ck_assert_uint_eq(l->n_viewers, 3);
	ck_assert_int_gt(recv(reads, packed, sizeof(packed), MSG_DONTWAIT), 0);
	/* without a word all are dropped when their leases are over */
	for (size_t i = 0; i < l->n_viewers; i++)
		l->viewers[i].until = transport_now();
	for (int i = 0; i < 100 && l->n_viewers; i++) {
		agents[0].news = true;
		live_tick(&agents[0]);
		for (size_t k = 0; k < l->n_viewers; k++)
			l->viewers[k].until = transport_now();
	}
	ck_assert_uint_eq(l->n_viewers, 0);
	ck_assert_uint_eq(l->n_trees, 0);
	ck_assert_ptr_null(l->sampler);
	close(sleeps);
	close(wrong);
	close(talks);
	close(reads);
	free(v);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("live exchange");
	TCase *c = tcase_create("trees"), *h = tcase_create("hostile"), *v = tcase_create("slow");

	program_name = "u-live-exchange";
	tcase_set_timeout(c, 60);
	tcase_add_test(c, without_a_viewer_nothing_is_sent_and_nobody_is_asked);
	tcase_add_loop_test(c, a_tree_has_all_agents_and_ends_by_itself, 0, 2);
	tcase_add_test(c, an_order_for_a_function_gets_to_all_agents);
	tcase_add_test(c, news_get_to_all_agents_once);
	tcase_add_test(c, news_that_did_not_leave_are_sent_again);
	tcase_add_test(c, news_that_nobody_takes_are_counted);
	tcase_add_loop_test(c, news_overtake_none_for_the_same_agent, 0, 2);
	tcase_add_test(c, news_for_a_dead_agent_are_given_up_in_time);
	tcase_add_test(c, who_awaits_news_looks_for_them);
	tcase_add_test(c, those_below_a_dead_agent_are_asked_directly);
	suite_add_tcase(suite, c);
	tcase_add_test(h, hostile_messages_are_refused_with_a_line);
	tcase_add_test(h, views_that_nobody_wanted_or_make_no_sense_change_nothing);
	tcase_add_test(h, orders_for_functions_that_nobody_above_gives_change_nothing);
	tcase_add_test(h, a_view_comes_in_parts_that_are_in_order);
	tcase_add_test(h, parts_that_cannot_be_are_refused);
	tcase_add_test(h, an_agent_speaks_for_those_below_it_only);
	tcase_add_test(h, own_viewers_have_a_tree_however_many_others_have);
	tcase_add_test(h, a_flood_is_heard_in_pieces);
	tcase_add_test(h, news_are_bounded);
	tcase_add_test(h, orders_that_change_make_no_more_looks);
	tcase_add_test(h, an_order_that_comes_at_the_end_begins_nothing);
	tcase_add_test(h, news_that_come_at_the_end_are_passed_on);
	suite_add_tcase(suite, h);
	tcase_set_timeout(v, 60);
	tcase_add_test(v, what_takes_no_messages_is_asked_less_and_less);
	tcase_add_test(v, texts_that_were_lost_come_again);
	tcase_add_test(v, what_a_root_asks_is_bounded);
	tcase_add_test(v, viewers_that_do_not_read_or_hang_up_hold_nobody_up);
	suite_add_tcase(suite, v);
	return run_suite(suite);
}
