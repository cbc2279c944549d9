/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/net/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/net/records.h"
#include "nodeagent/net/told.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/net/tree.h"

enum { TAG_UP_TREE = 10, TAG_DOWN_TREE, TAG_TREE_TAKEN };

#define VERSION	    0x7666747274726531u /* first word of a message */
#define SEND_S	    1.0			/* MPI: what has not left by then may leave later */
#define TOGETHER_S  0.02 /* so long agent 0 may take for the next one of those to each agent */
#define ONES_MOST_S 1.0	 /* ... and for all of them */
#define LATE_S	    30.0 /* what changes nothing above waits so long */
#define LOOK_S	    0.02 /* MPI: nothing wakes us for a message */
#define LOOK_IDLE_S 0.2	 /* ... when nothing has come for CALM_S */
#define CALM_S	    10.0
#define DEATHS_S    0.2
#define SLOW_S	    3.0 /* MPI: who has not taken what we sent by then is passed by, until it does */
#define LAST_S	    1.0 /* ... and before the end we wait so long for that */
#define KEPT_LEAST  512 /* kept_most() */
#define SOON_S	    0.001 /* so long after a look for news what is here, or on its way, comes first */
#define NEVER	    1e18

struct route {
	int (*send)(
		struct transport *p, int to, int tag, const void *buf, size_t bytes, double until);
	int (*receive)(struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who,
		double until);
	void (*finish)(struct transport *p, int together, int status, double until);
	struct records up, down;	      /* to go on */
	struct records up_kept, down_kept;    /* have gone on */
	struct match_table up_at, up_kept_at; /* (tag, agent): its record there, which is one */
	struct records here;		      /* for receive() */
	uint64_t number;		      /* of our last one up; at agent 0: down */
	uint64_t *last;			      /* agent 0: numbers that came, by origin */
	uint64_t *seen;	    /* others: the last seen_most() numbers that came down */
	size_t n_seen;	    /* that ever came */
	uint64_t forgotten; /* the greatest number that is in seen[] no more */
	size_t n_down_kept;
	struct told_tags told;
	double one_at; /* agent 0: the last one to a single agent */
	double due_all, due_one; /* the earliest `due' in `down', of those to all and to one */
	bool *left;    /* agents that take no messages any more */
	struct untaken {
		unsigned n;
		double since;
	} * untaken; /* MPI: of what we sent, by agent */
	int above;   /* to whom we have sent up; -1: nobody yet */
	bool *dead;  /* below us, as we have seen it */
	bool attending;
	uint64_t news, changes; /* of the transport, seen; of `here', `up' and `down' */
	uint64_t anew;		/* of the transport, seen */
	double looked, active;
};

/* For receive(), from e->agent. Takes e. */
static void put_here(struct transport *p, struct record *e)
{
	records_add(&p->route->here, e);
	p->route->changes++;
	p->news++;
}

/* A copy of e, from agent `from`. */
static void deliver_here(struct transport *p, const struct record *e, int from)
{
	put_here(p, record_new(from, 0, e->tag, e->content, e->bytes));
}

/* Sends those of the list whose hop is `hop` to `to`. 0 or -errno. */
static int send_list(struct transport *p, const struct records *list, int hop, int to, int tag)
{
	const uint64_t version = VERSION;
	const double now = transport_now();
	size_t bytes = sizeof(version);
	char *buf, *at;
	int error;

	for (const struct record *e = list->first; e; e = e->next)
		bytes += e->hop == hop ? record_bytes(e) : 0;
	if (bytes == sizeof(version))
		return 0;
	at = buf = xmalloc(bytes);
	memcpy(at, &version, sizeof(version));
	at += sizeof(version);
	for (const struct record *e = list->first; e; e = e->next)
		at += e->hop == hop ? record_put(at, e, now) : 0;
	error = p->route->send(p, to, tag, buf, bytes, now + SEND_S);
	if (error != -ETIMEDOUT)
		free(buf); /* else it may be read yet */
	if (!p->gone && !p->route->untaken[to].n++)
		p->route->untaken[to].since = now;
	p->route->active = now;
	return error == -ETIMEDOUT ? 0 : error;
}

/* ---- up ----------------------------------------------------------------------------------- */

static bool is_gone(struct transport *p, int rank)
{
	const struct route *r = p->route;
	const struct untaken *u = &r->untaken[rank];

	return r->left[rank] || (u->n && transport_now() - u->since > SLOW_S) ||
	       (p->gone && p->gone(p, rank)) || (p->slow && p->slow(p, rank));
}

static bool is_gone_below(void *transport, int i)
{
	struct transport *p = transport;

	return i && is_gone(p, p->rank + i);
}

static struct told *told_of(struct transport *p, int tag)
{
	return told_tag(&p->route->told, tag, tree_end(p->size, p->rank) - p->rank);
}

/* The next living agent towards agent 0. */
static int agent_above(struct transport *p)
{
	int to = tree_parent(p->rank);

	while (to && is_gone(p, to))
		to = tree_parent(to);
	return to;
}

/* The last word of an agent with a tag is enough, or this would grow as long as the job runs. */
static void keep_up(struct route *r, struct record *e)
{
	const uint64_t tag = (uint64_t)e->tag, agent = (uint64_t)e->agent;
	struct record *before = match_table_find(&r->up_kept_at, tag, agent);

	if (before)
		records_take_out(&r->up_kept, before);
	free(before);
	records_add(&r->up_kept, e);
	match_table_add(&r->up_kept_at, tag, agent, e);
}

/* Who is not above us takes all that was sent to the one before. */
static void send_up(struct transport *p)
{
	struct route *r = p->route;
	const int to = agent_above(p);

	if (r->above >= 0 && to != r->above)
		send_list(p, &r->up_kept, 0, to, TAG_UP_TREE);
	r->above = to;
	if (r->up.first && send_list(p, &r->up, 0, to, TAG_UP_TREE) == -ECONNRESET && to) {
		r->left[to] = true;
		send_up(p);
		return;
	}
	for (struct record *e; (e = records_take(&r->up));) {
		match_table_remove(&r->up_at, (uint64_t)e->tag, (uint64_t)e->agent);
		told_went(told_of(p, e->tag), e->agent - p->rank, e->final);
		e->due = 0;
		keep_up(r, e);
	}
}

/* Of what waits the last word of an agent with a tag is enough. */
static void add_waiting(struct route *r, struct record *e)
{
	const uint64_t tag = (uint64_t)e->tag, agent = (uint64_t)e->agent;
	struct record *before = match_table_find(&r->up_at, tag, agent);

	if (before) {
		records_take_out(&r->up, before);
		e->urgent |= before->urgent;
		e->late |= before->late;
		e->due = MIN(e->due, before->due);
		free(before);
	}
	records_add(&r->up, e);
	match_table_add(&r->up_at, tag, agent, e);
}

static void wait_to_go_up(struct transport *p, struct record *e)
{
	const enum told_word word =
		told_came(told_of(p, e->tag), e->agent - p->rank, e->number, e->final);

	if (word == TOLD_OLD) { /* it came over two ways */
		free(e);
		return;
	}
	e->again = word == TOLD_AGAIN;
	add_waiting(p->route, e);
	p->route->changes++;
}

/* What is known of a tag, by asking for each agent once: many records have the same one. */
struct judged {
	const struct told *of;
	bool by_all, has_by_all, of_open, has_of_open;
};

struct judged_tags {
	struct judged at[TOLD_TAGS_MOST + 1]; /* the last is of none */
	size_t n;
};

static struct judged *judged_tag(struct judged_tags *tags, const struct told *t)
{
	for (size_t i = 0; i < tags->n; i++)
		if (tags->at[i].of == t)
			return &tags->at[i];
	tags->at[tags->n].of = t;
	return &tags->at[tags->n++];
}

static bool is_told_by_all(struct transport *p, struct judged *j)
{
	if (!j->has_by_all)
		j->by_all = told_by_all(j->of, is_gone_below, p);
	j->has_by_all = true;
	return j->by_all;
}

static bool is_told_of_open(struct transport *p, struct judged *j)
{
	if (!j->has_of_open)
		j->of_open = told_of_open(j->of, is_gone_below, p);
	j->has_of_open = true;
	return j->of_open;
}

/*
 * Whether e should go on. What changes nothing for those above, as they wait for another agent
 * here all the same, waits for LATE_S once.
 */
static bool is_ready_to_go_up(
	struct transport *p, struct record *e, double now, struct judged_tags *tags)
{
	struct judged *j = judged_tag(tags, told_of(p, e->tag));

	if (e->urgent || (e->final && !e->again && is_told_by_all(p, j)))
		return true;
	if (e->due > now && !e->late)
		return false;
	if (!is_told_of_open(p, j))
		return true;
	e->urgent = e->late && e->due <= now;
	if (!e->late)
		e->due = now + LATE_S;
	e->late = true;
	return e->urgent;
}

static bool is_due_up(struct transport *p, double now)
{
	struct judged_tags tags = {.n = 0};

	for (struct record *e = p->route->up.first; e; e = e->next)
		if (is_ready_to_go_up(p, e, now, &tags))
			return true;
	return false;
}

static void take_up(struct transport *p, const char *at, size_t bytes)
{
	const char *end = at + bytes;
	const double now = transport_now();
	struct route *r = p->route;
	uint64_t version = 0;

	if (bytes >= sizeof(version))
		memcpy(&version, at, sizeof(version));
	at += sizeof(version);
	for (struct record *e; version == VERSION && (e = record_get(&at, end, p->size, now));) {
		if (p->rank && e->agent > p->rank && e->agent < tree_end(p->size, p->rank)) {
			wait_to_go_up(p, e);
			continue;
		}
		if (!p->rank && e->number > r->last[e->agent]) {
			r->last[e->agent] = e->number;
			put_here(p, e);
			continue;
		}
		free(e);
	}
}

/* ---- down --------------------------------------------------------------------------------- */

static void put_down(struct transport *p, const struct record *e, int hop, double due)
{
	struct record *c = record_copy(e);
	double *earliest;

	c->hop = hop;
	c->due = due;
	if (c->all)
		c->agent = hop;
	earliest = e->all ? &p->route->due_all : &p->route->due_one;
	*earliest = MIN(*earliest, due);
	records_add(&p->route->down, c);
	p->route->changes++;
}

/* To top and all below it. A dead agent may come back, and gets it, too. */
static void put_down_to_all(struct transport *p, const struct record *e, int top)
{
	put_down(p, e, top, 0);
	for (int k = 0, child; is_gone(p, top) && (child = tree_child(p->size, top, k)) > 0; k++)
		put_down_to_all(p, e, child);
}

static void put_down_to_one(struct transport *p, const struct record *e, double due)
{
	int hop = tree_towards(p->rank, e->agent);

	while (hop != e->agent && is_gone(p, hop))
		hop = tree_towards(hop, e->agent);
	put_down(p, e, hop, due);
}

/* The last messages down, or this would grow as long as the job runs; among them may be one to each
 * agent. */
static size_t kept_most(const struct transport *p)
{
	return KEPT_LEAST + (size_t)p->size;
}

/* What is sent again, as an agent has died, is less than what the others know again. */
static size_t seen_most(const struct transport *p)
{
	return 2 * kept_most(p);
}

static void keep_down(struct transport *p, struct record *e)
{
	struct route *r = p->route;

	records_add(&r->down_kept, e);
	if (r->n_down_kept == kept_most(p))
		free(records_take(&r->down_kept));
	else
		r->n_down_kept++;
}

/* Passes e on, to others below us. */
static void pass_down(struct transport *p, struct record *e, double due)
{
	if (e->all)
		for (int k = 0, child; (child = tree_child(p->size, p->rank, k)) > 0; k++)
			put_down_to_all(p, e, child);
	else
		put_down_to_one(p, e, due);
	keep_down(p, e);
}

static void send_down(struct transport *p)
{
	struct route *r = p->route;

	while (r->down.first) {
		const int hop = r->down.first->hop;
		struct records others = {0};

		if (send_list(p, &r->down, hop, hop, TAG_DOWN_TREE) == -ECONNRESET)
			r->left[hop] = true;
		for (struct record *e; (e = records_take(&r->down));) {
			if (e->hop == hop)
				free(e);
			else
				records_add(&others, e);
		}
		records_move(&r->down, &others);
	}
	r->due_all = r->due_one = NEVER;
}

/* When something has to go down. Those to each agent wait for the next one of them. */
static double due_down(const struct route *r)
{
	const double together = r->one_at + TOGETHER_S, most = r->due_one + ONES_MOST_S;
	const double one = MAX(r->due_one, MIN(together, most));

	return MIN(r->due_all, one);
}

/* Agent 0 counts up: what is older than all that is known of came long ago, and is sent again by an
 * agent that was stopped meanwhile. */
static bool came_before(struct transport *p, uint64_t number)
{
	struct route *r = p->route;
	const size_t most = seen_most(p), n = r->n_seen < most ? r->n_seen : most;
	uint64_t *oldest = &r->seen[r->n_seen % most];

	if (number <= r->forgotten)
		return true;
	for (size_t i = 0; i < n; i++)
		if (r->seen[i] == number)
			return true;
	if (*oldest > r->forgotten) /* 0: there was none */
		r->forgotten = *oldest;
	*oldest = number;
	r->n_seen++;
	return false;
}

static void take_down(struct transport *p, const char *at, size_t bytes)
{
	const char *end = at + bytes;
	const double now = transport_now();
	uint64_t version = 0;

	if (bytes >= sizeof(version))
		memcpy(&version, at, sizeof(version));
	at += sizeof(version);
	for (struct record *e;
		p->rank && version == VERSION && (e = record_get(&at, end, p->size, now));) {
		const bool mine = e->agent == p->rank;

		if (mine && !came_before(p, e->number)) {
			deliver_here(p, e, 0);
			if (e->all) {
				pass_down(p, e, 0);
				continue;
			}
		} else if (!mine && !e->all && e->agent > p->rank &&
			   e->agent < tree_end(p->size, p->rank)) {
			pass_down(p, e, 0);
			continue;
		}
		free(e);
	}
}

/* ---- deaths ------------------------------------------------------------------------------- */

static void put_down_again(struct transport *p, int dead)
{
	for (const struct record *e = p->route->down_kept.first; e; e = e->next) {
		if (e->all)
			put_down_to_all(p, e, dead);
		else if (e->agent > dead && e->agent < tree_end(p->size, dead))
			put_down_to_one(p, e, 0);
	}
}

/*
 * Those below one that has died get from us what they may not have got from it: below our children,
 * and where those are dead, below theirs.
 */
static void look_below(struct transport *p, int top)
{
	struct route *r = p->route;

	for (int k = 0, child; (child = tree_child(p->size, top, k)) > 0; k++) {
		const bool gone = is_gone(p, child), news = gone && !r->dead[child];

		r->dead[child] = gone;
		if (news)
			put_down_again(p, child);
		if (gone)
			look_below(p, child);
	}
}

/* ---- the operations ----------------------------------------------------------------------- */

static void note_taken(struct transport *p, int who)
{
	struct untaken *u = &p->route->untaken[who];

	u->n -= u->n > 0;
	u->since = transport_now();
}

static bool take_message(struct transport *p, int tag, char **buf, size_t *bytes)
{
	struct route *r = p->route;
	void *content;
	int who;

	if (p->waits && !p->waits(p, tag))
		return false;
	if (r->receive(p, TRANSPORT_ANY, tag, &content, bytes, &who, 0))
		return false;
	if (tag == TAG_TREE_TAKEN)
		note_taken(p, who);
	else if (!p->gone) /* MPI does not tell the sender whether we are alive */
		r->send(p, who, TAG_TREE_TAKEN, "", 0, transport_now() + SEND_S);
	*buf = content;
	return true;
}

static bool all_is_taken(struct transport *p)
{
	return !ANY(i, p->size, p->route->untaken[i].n && !is_gone(p, i));
}

/* Some MPI libraries complain of messages that nobody has received. */
static void await_taken(struct transport *p, double until)
{
	size_t bytes;
	void *buf;
	int who;

	while (!all_is_taken(p) &&
		!p->route->receive(p, TRANSPORT_ANY, TAG_TREE_TAKEN, &buf, &bytes, &who, until)) {
		note_taken(p, who);
		free(buf);
	}
}

/* Memory that depends on the number of agents. */
static bool is_ready(struct transport *p)
{
	struct route *r = p->route;

	if (!r || p->size < 2)
		return false;
	if (!r->left) {
		r->left = xcalloc((size_t)p->size, sizeof(*r->left));
		r->dead = xcalloc((size_t)p->size, sizeof(*r->dead));
		r->untaken = xcalloc((size_t)p->size, sizeof(*r->untaken));
		r->last = p->rank ? NULL : xcalloc((size_t)p->size, sizeof(*r->last));
		r->seen = p->rank ? xcalloc(seen_most(p), sizeof(*r->seen)) : NULL;
	}
	return true;
}

static void look_for_news(struct transport *p, double now)
{
	struct route *r = p->route;
	size_t bytes;
	char *buf;

	r->news = p->news;
	r->looked = now;
	while (take_message(p, TAG_UP_TREE, &buf, &bytes)) {
		take_up(p, buf, bytes);
		free(buf);
		r->active = now;
	}
	while (take_message(p, TAG_DOWN_TREE, &buf, &bytes)) {
		take_down(p, buf, bytes);
		free(buf);
		r->active = now;
	}
	while (!p->gone && take_message(p, TAG_TREE_TAKEN, &buf, &bytes))
		free(buf);
	look_below(p, p->rank);
}

/* True if there is more for receive(), or it has to wake earlier than before. */
static bool attend_tree(struct transport *p)
{
	struct route *r = p->route;
	const double now = transport_now();
	uint64_t before;

	if (!is_ready(p) || r->attending)
		return false;
	r->attending = true;
	before = r->changes;
	if (!p->pump || r->news != p->news || now - r->looked > DEATHS_S)
		look_for_news(p, now);
	if (r->anew != p->anew && r->above >= 0)
		r->above = p->rank; /* nobody has what we sent up */
	r->anew = p->anew;
	if (p->rank && (is_due_up(p, now) || (r->up_kept.first && agent_above(p) != r->above)))
		send_up(p);
	if (due_down(r) <= now)
		send_down(p);
	r->attending = false;
	return r->changes != before;
}

void route_attend(struct transport *p)
{
	attend_tree(p);
}

/* Seconds until something has to go on. */
static double due_s(const struct route *r)
{
	double due = due_down(r);

	for (const struct record *e = r->up.first; e; e = e->next)
		due = e->due < due ? e->due : due;
	due -= transport_now();
	return due > 0 ? due : 0;
}

double route_next(const struct transport *p)
{
	const struct route *r = p->route;
	double s, look_s;

	if (!r || p->size < 2)
		return NEVER;
	s = due_s(r);
	if (p->pump)
		return s;
	look_s = transport_now() - r->active < CALM_S ? LOOK_S : LOOK_IDLE_S;
	return s < look_s ? s : look_s;
}

static int route_to_root(
	struct transport *p, int tag, const void *buf, size_t bytes, bool final, double hold_s)
{
	struct record *e;

	if (!is_ready(p))
		return -ENOTCONN;
	e = record_new(p->rank, ++p->route->number, tag, buf, bytes);
	e->final = final;
	e->urgent = hold_s <= 0;
	e->due = transport_now() + hold_s;
	if (p->rank) {
		wait_to_go_up(p, e);
	} else {
		deliver_here(p, e, 0);
		free(e);
	}
	attend_tree(p);
	return 0;
}

/* Of many to one agent each, not every one is worth a look for what has come. */
static int send_as_root(struct transport *p, struct record *e, double due)
{
	struct route *r = p->route;
	const double now = transport_now();

	e->number = ++r->number;
	pass_down(p, e, due);
	if (now - r->looked > SOON_S || due_down(r) <= now)
		attend_tree(p);
	return 0;
}

static int route_to_all(struct transport *p, int tag, const void *buf, size_t bytes)
{
	struct record *e;

	if (p->size == 1)
		return 0;
	if (!is_ready(p) || p->rank)
		return -ENOTCONN;
	e = record_new(0, 0, tag, buf, bytes);
	e->all = true;
	return send_as_root(p, e, 0);
}

static int route_to_one(struct transport *p, int to, int tag, const void *buf, size_t bytes)
{
	if (!is_ready(p) || p->rank)
		return -ENOTCONN;
	if (to <= 0 || to >= p->size)
		return -EINVAL;
	p->route->one_at = transport_now();
	return send_as_root(p, record_new(to, 0, tag, buf, bytes), p->route->one_at);
}

static bool take_here(struct route *r, int from, int tag, void **buf, size_t *bytes, int *who)
{
	struct record **at = &r->here.first, *e;

	while (*at && ((*at)->tag != tag || (from != TRANSPORT_ANY && (*at)->agent != from)))
		at = &(*at)->next;
	if (!*at)
		return false;
	e = records_take_at(&r->here, at);
	*buf = xmalloc(e->bytes + 1);
	memcpy(*buf, e->content, e->bytes + 1);
	*bytes = e->bytes;
	*who = e->agent;
	free(e);
	return true;
}

static int route_receive(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	struct route *r = p->route;

	if (transport_now() - r->looked < SOON_S && take_here(r, from, tag, buf, bytes, who))
		return 0;
	for (;;) {
		double due;
		int error;

		attend_tree(p);
		if (take_here(r, from, tag, buf, bytes, who))
			return 0;
		due = transport_now() + due_s(r);
		error = r->receive(p, from, tag, buf, bytes, who, due < until ? due : until);
		if (error != -ETIMEDOUT && error != -EINTR)
			return error;
		if (transport_now() >= until)
			return take_here(r, from, tag, buf, bytes, who) ? 0 : -ETIMEDOUT;
	}
}

static void route_finish(struct transport *p, int together, int status, double until)
{
	struct route *r = p->route;

	p->attend = NULL;
	if (is_ready(p)) {
		const double last = transport_now() + LAST_S;

		attend_tree(p);
		if (p->rank && r->up.first)
			send_up(p);
		send_down(p);
		if (together > 0 && !p->gone)
			await_taken(p, last < until ? last : until);
	}
	p->route = NULL;
	r->finish(p, together, status, until);
	records_clear(&r->up);
	records_clear(&r->down);
	records_clear(&r->up_kept);
	records_clear(&r->down_kept);
	records_clear(&r->here);
	match_table_free(&r->up_at);
	match_table_free(&r->up_kept_at);
	told_clear(&r->told);
	free(r->left);
	free(r->dead);
	free(r->untaken);
	free(r->last);
	free(r->seen);
	free(r);
}

void route_open(struct transport *p)
{
	struct route *r = xcalloc(1, sizeof(*r));

	r->send = p->send;
	r->receive = p->receive;
	r->finish = p->finish;
	r->above = -1;
	r->due_all = r->due_one = NEVER;
	p->route = r;
	p->receive = route_receive;
	p->finish = route_finish;
	p->to_root = route_to_root;
	p->to_one = route_to_one;
	p->to_all = route_to_all;
	p->attend = attend_tree;
}
