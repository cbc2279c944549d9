/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls, from the first member that is read to the last one that has left. */
#include <stdlib.h>

#include "nodeagent/base/hash.h"
#include "nodeagent/causal/internal.h"

static void new_group(struct causal *c, const uint32_t *lines, uint32_t n)
{
	struct group *to = LIST_ADD(c, groups);

	*to = (struct group){0};
	for (uint32_t i = 0; i < n; i++) {
		if (lines[i] >= c->n || map32_find(&to->rank_of, lines[i] + 1))
			continue;
		to->recorded++;
		map32_add(&to->rank_of, lines[i] + 1, i);
	}
}

static bool has_lines(
	const struct causal *c, const struct group *g, const uint32_t *lines, uint32_t n)
{
	uint32_t recorded = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *rank =
			lines[i] < c->n ? map32_find(&g->rank_of, lines[i] + 1) : NULL;

		if (lines[i] < c->n && (!rank || *rank > i))
			return false;
		recorded += rank && *rank == i;
	}
	return recorded == g->recorded;
}

/* Programs make many communicators of the same lines: they differ only by their number. */
uint32_t causal_comm(struct causal *c, const uint32_t *lines, uint32_t n)
{
	uint64_t hash = stack_hash(lines, n * sizeof(*lines));
	uint32_t at;

	do
		at = *map64_at(&c->group_at, hash++, (uint32_t)c->n_groups);
	while (at < c->n_groups && !has_lines(c, &c->groups[at], lines, n));
	if (at == c->n_groups)
		new_group(c, lines, n);
	*LIST_ADD(c, comms) = at;
	return (uint32_t)c->n_comms - 1;
}

static struct instance *instance_of(struct causal *c, const struct causal_collective *m)
{
	struct instance *i = match_table_find(&c->instances, m->comm, m->ticket);

	if (i)
		return i;
	i = xcalloc(1, sizeof(*i));
	i->comm = m->comm;
	i->ticket = m->ticket;
	i->kind = m->kind;
	i->expected = group_of(c, m->comm)->recorded;
	i->last = i->at_root = CAUSAL_NONE;
	i->root = m->root;
	i->k_most = INT64_MIN;
	match_table_add(&c->instances, m->comm, m->ticket, i);
	return i;
}

static void free_instance(struct instance *i)
{
	for (size_t k = 0; k < i->n; k++)
		free(i->arrivals[k].needed);
	map32_free(&i->arrival_of);
	free(i->arrivals);
	free(i);
}

static void drop_instance(struct causal *c, struct instance *i)
{
	match_table_remove(&c->instances, i->comm, i->ticket);
	free_instance(i);
}

/* Those that came before it are found, too. */
static void set_needed(struct instance *i, const struct causal_collective *m)
{
	struct arrival *a = &i->arrivals[i->n - 1];

	if (m->needed) {
		a->n_needed = m->n_needed;
		a->needed = xmalloc((m->n_needed + (size_t)1) * sizeof(*a->needed));
		memcpy(a->needed, m->needed, m->n_needed * sizeof(*a->needed));
	}
	for (size_t k = i->arrival_of.n; k < i->n && (m->needed || k); k++)
		map32_add(&i->arrival_of, i->arrivals[k].moment.line + 1, (uint32_t)k);
}

void causal_collective(struct causal *c, uint32_t line, const struct causal_collective *m)
{
	const uint32_t *rank = map32_find(&group_of(c, m->comm)->rank_of, line + 1);
	struct item item = {.t = m->enter, .kind = ITEM_ARRIVE, .path = CAUSAL_NONE};
	struct instance *i;

	if (!rank)
		return;
	lines_advance(c, m->enter);
	i = instance_of(c, m);
	if (i->n == i->expected) /* somebody comes twice */
		return;
	item.instance = i;
	item.other = (uint32_t)i->n;
	*APPEND(i->arrivals, i->n, i->cap) = (struct arrival){
		.moment = {.progress = READ, .line = line, .t = m->enter}, .rank = *rank};
	set_needed(i, m);
	if (m->leave == INT64_MAX)
		i->left++;
	else if (m->leave == CAUSAL_WITH_CALL)
		item.with_call = true;
	else
		line_open(c, line,
			&(struct operation){.end = m->leave, .instance = i, .arrival = item.other});
	line_read(c, line, &item);
}

void instance_reached(struct causal *c, struct instance *i, uint32_t arrival)
{
	struct moment *m = &i->arrivals[arrival].moment;

	moment_set(c, m, m->line);
	i->reached++;
	i->k_most = m->k > i->k_most ? m->k : i->k_most;
	if (i->last == CAUSAL_NONE || m->t > i->arrivals[i->last].moment.t)
		i->last = arrival;
	if (m->line == i->root)
		i->at_root = arrival;
	if (i->left == i->expected && i->reached == i->expected)
		drop_instance(c, i);
}

bool instance_is_known(const struct instance *i, int64_t until)
{
	for (size_t k = 0; i->reached < i->n && k < i->n; k++)
		if (i->arrivals[k].moment.progress == READ && i->arrivals[k].moment.t <= until)
			return false;
	return true;
}

/* ---- whom a member waits for ----------------------------------------------------------------- */

struct latest {
	const struct moment *m; /* NULL: none */
	int64_t k;
};

static void take_moment(struct latest *l, const struct moment *m, int64_t until)
{
	if (m->progress != REACHED || m->t > until)
		return;
	l->k = m->k > l->k ? m->k : l->k;
	if (!l->m || m->t > l->m->t)
		l->m = m;
}

static struct latest last_of_all(const struct instance *i, int64_t until)
{
	struct latest l = {NULL, INT64_MIN};

	if (i->last != CAUSAL_NONE && i->arrivals[i->last].moment.t <= until)
		return (struct latest){&i->arrivals[i->last].moment, i->k_most};
	for (size_t k = 0; k < i->n; k++)
		take_moment(&l, &i->arrivals[k].moment, until);
	return l;
}

static struct latest last_below(const struct instance *i, uint32_t rank, int64_t until)
{
	struct latest l = {NULL, INT64_MIN};

	for (size_t k = 0; k < i->n; k++)
		if (i->arrivals[k].rank < rank)
			take_moment(&l, &i->arrivals[k].moment, until);
	return l;
}

static struct latest last_needed(const struct instance *i, const struct arrival *own, int64_t until)
{
	struct latest l = {NULL, INT64_MIN};

	for (uint32_t k = 0; k < own->n_needed; k++) {
		const uint32_t *at = map32_find(&i->arrival_of, own->needed[k] + 1);

		if (at)
			take_moment(&l, &i->arrivals[*at].moment, until);
	}
	return l;
}

static struct latest awaited_by(const struct instance *i, uint32_t arrival, int64_t until)
{
	const struct arrival *own = &i->arrivals[arrival];
	struct latest l = {NULL, INT64_MIN};

	if (own->needed)
		return last_needed(i, own, until);
	if (i->kind == WAIT_SCAN)
		return last_below(i, own->rank, until);
	if (i->kind == WAIT_LATE_ROOT) {
		if (i->at_root != CAUSAL_NONE)
			take_moment(&l, &i->arrivals[i->at_root].moment, until);
		return l;
	}
	if (i->kind == WAIT_EARLY_ROOT && own->moment.line != i->root)
		return l;
	return last_of_all(i, until);
}

void instance_look(struct causal *c, const struct instance *i, uint32_t arrival, int64_t until,
	struct found *best)
{
	const uint32_t own = i->arrivals[arrival].moment.line;
	const struct latest l = awaited_by(i, arrival, until);

	if (!l.m)
		return;
	best->k = l.k > best->k ? l.k : best->k;
	if (l.m->t <= best->t || l.m->line == own)
		return;
	best->t = l.m->t;
	best->line = l.m->line;
	best->stretches = l.m->stretches;
	best->kind = i->kind;
	best->common = common_of(c, l.m->line, own, l.m->t + 1);
}

/* ---- after the call -------------------------------------------------------------------------- */

/* What is known of one member, if own has got it. */
static void note_one(struct causal *c, const struct arrival *own, const struct arrival *other,
	int64_t until, int64_t when)
{
	const struct moment *m = &other->moment;

	if (m->progress == REACHED && m->t <= until && m->line != own->moment.line)
		common_add(c, own->moment.line, m->line, m->t, when);
}

static void note_common(
	struct causal *c, const struct instance *i, uint32_t arrival, int64_t until, int64_t when)
{
	const struct arrival *own = &i->arrivals[arrival];

	for (uint32_t k = 0; k < own->n_needed; k++) {
		const uint32_t *at = map32_find(&i->arrival_of, own->needed[k] + 1);

		if (at)
			note_one(c, own, &i->arrivals[*at], until, when);
	}
	if (own->needed)
		return;
	if (i->kind == WAIT_BARRIER || i->kind == WAIT_NXN || i->kind == WAIT_RMA_FENCE) {
		const struct latest l = last_of_all(i, until);

		if (l.m)
			common_add_all(c, own->moment.line, c->comms[i->comm], l.m->t);
		return;
	}
	if (i->kind == WAIT_LATE_ROOT) {
		if (i->at_root != CAUSAL_NONE)
			note_one(c, own, &i->arrivals[i->at_root], until, when);
		return;
	}
	if (i->kind == WAIT_EARLY_ROOT && own->moment.line != i->root)
		return;
	for (size_t k = 0; k < i->n; k++)
		if (i->kind == WAIT_EARLY_ROOT || i->arrivals[k].rank < own->rank)
			note_one(c, own, &i->arrivals[k], until, when);
}

void instance_over(
	struct causal *c, struct instance *i, uint32_t arrival, int64_t until, int64_t at)
{
	note_common(c, i, arrival, until, at);
	if (++i->left == i->expected && i->reached == i->expected)
		drop_instance(c, i);
}

void instances_free(struct causal *c)
{
	for (size_t k = 0; c->instances.slots && k <= c->instances.mask; k++) {
		struct instance *i = c->instances.slots[k].value;

		if (i)
			free_instance(i);
	}
	match_table_free(&c->instances);
	for (size_t i = 0; i < c->n_groups; i++)
		map32_free(&c->groups[i].rank_of);
	map64_free(&c->group_at);
	free(c->groups);
	free(c->comms);
}
