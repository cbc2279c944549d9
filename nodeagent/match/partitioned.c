/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned messages: Psend_init and Precv_init of one channel and tag pair in
 * the order of these calls, and the k-th starts of a pair belong together.
 * What is started here has the number of its init as ticket; an init that was
 * never started leaves no record. So an init has its turn when all before it
 * were seen, or at the end (then it is assumed that those not seen are others).
 *
 * Starts of one init never overlap: they are in the order of their times. Which
 * rings are read first does not matter, as they wait for match_progress(). They have
 * numbers: one whose number the other side lacks, as it was not recorded there, has no partner, nor
 * has one whose number is not known.
 * What a process does is broken after its first loss all the same.
 */
#include <stdlib.h>
#include "nodeagent/match/internal.h"

/* What each table keeps begins so: the communicator that it is on, and its key. */
struct entry {
	uint64_t comm;
	struct match_key key;
};

/* Receiving process of a communicator: key.b. */
struct gate {
	struct entry entry;
	uint32_t next; /* ticket of a Precv_init */
};

/* A sender to it: key.b. */
struct line {
	struct entry entry;
	struct gate *gate;
	uint32_t next; /* ticket of a Psend_init */
};

/* key.b: its ticket */
struct init {
	struct entry entry;
	struct line *line;
	struct party *party;
	struct init *next_of_party, **link_of_party; /* and what points to it */
	struct init *next;			     /* in its berth */
	struct init *partner;			     /* NULL: it has none yet */
	struct call_list starts;
	uint32_t tag;
	bool of_sends, placed, assumed;
};

/* Inits of one line and tag that have no partner: all of one side. */
struct berth {
	struct entry entry;
	struct init *first, *last;
};

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* What t has for this key, made with so many bytes if need be. */
static void *entry_of(struct match_table *t, uint64_t comm, uint64_t a, uint64_t b, size_t bytes)
{
	struct entry *e = match_table_find(t, a, b);

	if (e)
		return e;
	e = xcalloc(1, bytes);
	*e = (struct entry){comm, {a, b}};
	match_table_add(t, a, b, e);
	return e;
}

static void entry_free(struct match_table *t, struct entry *e)
{
	match_table_remove(t, e->key.a, e->key.b);
	free(e);
}

/* What t has of this communicator, or (all) of any, as an array to be freed. */
static void **entries_on(const struct match_table *t, uint64_t comm, bool all, size_t *n)
{
	void **found = xmalloc((t->n + 1) * sizeof(*found));

	*n = 0;
	for (size_t i = 0; t->slots && i <= t->mask; i++) {
		struct entry *e = t->slots[i].value;

		if (e && (all || e->comm == comm))
			found[(*n)++] = e;
	}
	return found;
}

/* ---- starts ------------------------------------------------------------------ */

static uint32_t start_of(const struct call *c)
{
	return (uint32_t)(c->position >> 32);
}

/* Nothing that came before it is still to be read. At the end: it took place. */
static bool is_known(const struct init *i, bool end)
{
	const struct call *c = i->starts.first;
	const struct receive *r = (const struct receive *)c;

	if (!c || (!end && (!i->party->progress || is_later(c->enter, i->party->progress))))
		return false;
	return !end || i->of_sends || !i->assumed || r->complete;
}

/* The message is sent with its last part: until here its enter was that of its start. */
static void has_all_parts(struct send *s)
{
	if (s->mode == MATCH_SEND_IN_PARTS && (int64_t)(s->done_enter - s->call.enter) > 0)
		s->call.enter = s->done_enter;
	if (s->mode == MATCH_SEND_IN_PARTS)
		s->mode = MATCH_SEND_OTHER;
}

/* The first start of i that is left has no partner. */
static void leave_start(struct match *m, struct init *i)
{
	struct call *c = i->starts.first;

	call_unlink(&i->starts, c);
	if (i->of_sends)
		unmatched_send(m, (struct send *)c, MATCH_NOT_RECEIVED);
	else
		unmatched_receive(m, (struct receive *)c, MATCH_NO_SEND);
}

static void pair_starts(struct match *m, struct init *a, bool end)
{
	struct init *b = a->partner, *s = a->of_sends ? a : b, *r = a->of_sends ? b : a;
	enum match_label label = MATCH_EXACT;

	if (!b)
		return;
	while (is_known(s, end) && is_known(r, end)) {
		struct call *send = s->starts.first, *receive = r->starts.first;
		const int32_t ahead = (int32_t)(start_of(send) - start_of(receive));

		if (ahead || !start_of(send)) {
			leave_start(m, ahead > 0 ? r : s);
			continue;
		}
		if (s->party->damaged || r->party->damaged)
			label = MATCH_BROKEN;
		else if (s->assumed || r->assumed)
			label = MATCH_ASSUMED;
		call_unlink(&s->starts, send);
		call_unlink(&r->starts, receive);
		has_all_parts((struct send *)send);
		match_pair(m, (struct send *)send, (struct receive *)receive, label);
	}
}

static bool is_after(const struct call *a, const struct call *b)
{
	const int32_t ahead = (int32_t)(start_of(a) - start_of(b));

	return ahead ? ahead > 0 : is_later(a->enter, b->enter);
}

static void add_start(struct init *i, struct call *c, uint32_t number)
{
	struct call *at = i->starts.last;

	c->position |= (uint64_t)number << 32;
	while (at && is_after(at, c))
		at = at->before;
	if (!at) {
		c->before = NULL;
		c->after = i->starts.first;
		*(c->after ? &c->after->before : &i->starts.last) = c;
		i->starts.first = c;
	} else {
		c->before = at;
		c->after = at->after;
		*(c->after ? &c->after->before : &i->starts.last) = c;
		at->after = c;
	}
	i->starts.n++;
}

/* ---- inits --------------------------------------------------------------------- */

static struct line *line_of(struct match *m, uint64_t comm, uint64_t source, uint64_t destination)
{
	struct gate *g = entry_of(&m->gate_at, comm, comm, destination, sizeof(*g));
	struct line *l = entry_of(&m->line_at, comm, address(g), source, sizeof(*l));

	l->gate = g;
	return l;
}

/* Its turn has come. */
static void proc_id(struct match *m, struct init *i)
{
	struct berth *b =
		entry_of(&m->berth_at, i->entry.comm, address(i->line), i->tag, sizeof(*b));
	struct init *other = b->first;

	i->placed = true;
	if (other && other->of_sends != i->of_sends) {
		b->first = other->next;
		i->partner = other;
		other->partner = i;
		pair_starts(m, i, false);
		return;
	}
	i->next = NULL;
	*(b->first ? &b->last->next : &b->first) = i;
	b->last = i;
}

static uint64_t side(const struct line *l, bool of_sends)
{
	return of_sends ? address(l) : address(l->gate);
}

static void proc_id_next(struct match *m, struct line *l, bool of_sends)
{
	uint32_t *next = of_sends ? &l->next : &l->gate->next;
	struct init *i;

	while ((i = match_table_find(&m->init_at, side(l, of_sends), *next))) {
		++*next;
		if (!i->placed)
			proc_id(m, i);
	}
}

/* NULL: too many, or one that contradicts what it said before. */
static struct init *init_of(
	struct match *m, struct line *l, bool of_sends, uint32_t ticket, uint32_t tag)
{
	struct init *i = match_table_find(&m->init_at, side(l, of_sends), ticket);

	if (i)
		return i->line == l && i->tag == tag ? i : NULL;
	if (m->init_at.n >= MATCH_INITS_MAX)
		return NULL;
	i = entry_of(&m->init_at, l->entry.comm, side(l, of_sends), ticket, sizeof(*i));
	i->line = l;
	i->party = match_party(m, of_sends ? l->entry.key.b : l->gate->entry.key.b);
	i->next_of_party = i->party->inits;
	i->link_of_party = &i->party->inits;
	if (i->next_of_party)
		i->next_of_party->link_of_party = &i->next_of_party;
	i->party->inits = i;
	i->tag = tag;
	i->of_sends = of_sends;
	proc_id_next(m, l, of_sends);
	return i;
}

/* ---- what comes --------------------------------------------------------------------- */

static struct init *init_for(struct match *m, uint64_t comm, uint64_t source, uint64_t destination,
	bool of_sends, uint32_t ticket, uint32_t tag)
{
	struct init *i = NULL;

	if (m->init_at.n < MATCH_INITS_MAX || match_table_find(&m->gate_at, comm, destination))
		i = init_of(m, line_of(m, comm, source, destination), of_sends, ticket, tag);
	if (!i)
		m->counts.overflow++;
	return i;
}

void partitioned_send(struct match *m, const struct match_send *s)
{
	struct init *i;
	struct send *mine;

	if (s->flags & MATCH_VOID)
		return;
	i = init_for(m, s->comm, s->source, s->destination, true, s->ticket, s->tag);
	mine = i ? send_make(m, s) : NULL;
	if (!mine)
		return;
	add_start(i, &mine->call, s->start);
	pair_starts(m, i, false);
}

void partitioned_receive(struct match *m, const struct match_receive *r)
{
	struct init *i;
	struct receive *mine;

	if (r->flags & MATCH_VOID)
		return;
	i = init_for(m, r->comm, r->source, r->destination, false, r->ticket, r->tag);
	mine = i ? receive_make(m, r) : NULL;
	if (!mine)
		return;
	mine->init = i;
	receive_register(m, mine);
	add_start(i, &mine->call, r->start);
	pair_starts(m, i, false);
}

void partitioned_progress(struct match *m, struct party *p)
{
	for (struct init *i = p->inits; i; i = i->next_of_party)
		pair_starts(m, i, false);
}

/* ---- the end --------------------------------------------------------------------------- */

ORDER_POINTERS_BY(by_ticket, struct init, RISING(entry.key.b))

static void init_free(struct match *m, struct init *i)
{
	*i->link_of_party = i->next_of_party;
	if (i->next_of_party)
		i->next_of_party->link_of_party = i->link_of_party;
	entry_free(&m->init_at, &i->entry);
}

static void finish_inits(struct match *m, uint64_t comm, bool all)
{
	size_t n;
	struct init **found = (struct init **)entries_on(&m->init_at, comm, all, &n);

	qsort(found, n, sizeof(*found), by_ticket);
	for (size_t i = 0; i < n; i++) {
		found[i]->assumed = !found[i]->placed;
		if (!found[i]->placed)
			proc_id(m, found[i]);
	}
	for (size_t i = 0; i < n; i++)
		pair_starts(m, found[i], true);
	for (size_t i = 0; i < n; i++)
		while (found[i]->starts.first)
			leave_start(m, found[i]);
	for (size_t i = 0; i < n; i++)
		init_free(m, found[i]);
	free(found);
}

void partitioned_finish(struct match *m, uint64_t comm, bool all)
{
	struct match_table *tables[] = {&m->berth_at, &m->line_at, &m->gate_at};

	if (!m->gate_at.n)
		return;
	finish_inits(m, comm, all);
	for (size_t k = 0; k < ARRAY_SIZE(tables); k++) {
		size_t n;
		void **found = entries_on(tables[k], comm, all, &n);

		for (size_t i = 0; i < n; i++)
			entry_free(tables[k], found[i]);
		free(found);
	}
}

void partitioned_free(struct match *m)
{
	struct match_table *tables[] = {&m->init_at, &m->berth_at, &m->line_at, &m->gate_at};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		for (size_t k = 0; tables[i]->slots && k <= tables[i]->mask; k++)
			free(tables[i]->slots[k].value);
		match_table_free(tables[i]);
	}
}
