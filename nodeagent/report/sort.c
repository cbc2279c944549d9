/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Orders of the tables, and the functions of one name gathered. A configured
 * column is a row of a table; "none" and unknown columns mean by id.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/radix.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/report.h"

#define AHEAD 16u /* stacks that are asked for before they are needed */

#define OF_STACK(name, value)                                                                      \
	static uint64_t stack_##name(const struct report *r, uint32_t i)                           \
	{                                                                                          \
		const struct profile_stack *s = &r->p->stacks[i];                                  \
                                                                                                   \
		return value;                                                                      \
	}

OF_STACK(excl, s->excl_ns)
OF_STACK(incl, s->incl_ns)
OF_STACK(calls, s->calls)
OF_STACK(max, s->excl_max_ns)
OF_STACK(lost, s->lost_calls)

static uint64_t stack_id(const struct report *r, uint32_t i)
{
	return r->id[i];
}

static const struct stack_column {
	const char *name;
	uint64_t (*value)(const struct report *r, uint32_t i);
} stack_columns[] = {
	{"time_excl", stack_excl},
	{"time_incl", stack_incl},
	{"calls", stack_calls},
	{"overhead", stack_calls}, /* a cost per call */
	{"stack_id", stack_id},
	/* of other tables; not values of the option */
	{"time_max", stack_max},
	{"lost", stack_lost},
};

/* Sorts by `i`, `id` and `key`, one after the other: equal ones stay in the order of before. */
uint32_t *sort_by_key(struct sort_key *keys, size_t n, bool ascending)
{
	struct radix *items = xcalloc(n, sizeof(*items));
	uint32_t *order = xcalloc(n, sizeof(*order));

	for (uint32_t k = 0; k < n; k++)
		items[k] = (struct radix){keys[k].i, k};
	radix_sort(items, n);
	for (size_t k = 0; k < n; k++)
		items[k].key = keys[items[k].i].id;
	radix_sort(items, n);
	for (size_t k = 0; k < n; k++) {
		const uint64_t key = keys[items[k].i].key;

		items[k].key = ascending ? key : ~key;
	}
	radix_sort(items, n);
	for (size_t k = 0; k < n; k++)
		order[k] = keys[items[k].i].i;
	free(items);
	free(keys);
	return order;
}

/* Where each has another one of the first n numbers, as in all of a job, or NULL. */
static uint32_t *dense_ids(const struct report *r)
{
	const size_t n = r->p->n_stacks;
	uint32_t *order = xmalloc(n * sizeof(*order) + 1);

	memset(order, 0xff, n * sizeof(*order));
	for (uint32_t i = 0; i < n; i++) {
		if (r->id[i] >= n || order[r->id[i]] != PROFILE_NONE) {
			free(order);
			return NULL;
		}
		order[r->id[i]] = i;
	}
	return order;
}

uint32_t *report_sort_ids(const struct report *r)
{
	const size_t n = r->p->n_stacks;
	uint32_t *order = dense_ids(r);
	struct sort_key *keys;

	if (order)
		return order;
	keys = xcalloc(n, sizeof(*keys));
	for (uint32_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){0, r->id[i], i};
	return sort_by_key(keys, n, true);
}

static const struct stack_column *stack_column_of(const char *name)
{
	return name ? FIND(x, stack_columns, ARRAY_SIZE(stack_columns), !strcmp(name, x->name))
		    : NULL;
}

uint32_t *sort_stacks(const struct report *r, const char *column, bool ascending)
{
	const size_t n = r->p->n_stacks;
	const struct stack_column *by = stack_column_of(column);
	uint32_t *order = xmalloc(n * sizeof(*order) + 1);
	struct radix *items;

	memcpy(order, r->by_id, n * sizeof(*order));
	if (!by || (by->value == stack_id && ascending))
		return order;
	items = xmalloc(n * sizeof(*items) + 1);
	for (size_t i = 0; i < n; i++) {
		const uint64_t key = by->value(r, order[i]);

		if (i + AHEAD < n) /* by their hashes, they are anywhere */
			__builtin_prefetch(&r->p->stacks[order[i + AHEAD]].excl_ns);
		items[i] = (struct radix){ascending ? key : ~key, order[i]};
	}
	radix_sort(items, n);
	for (size_t i = 0; i < n; i++)
		order[i] = items[i].i;
	free(items);
	return order;
}

static uint64_t real_key(double value)
{
	uint64_t key;

	/* the bits of doubles that are not negative are ordered as the doubles */
	memcpy(&key, &value, sizeof(key));
	return key;
}

#define OF_MESSAGES(name, value)                                                                   \
	static uint64_t messages_##name(const struct report *r, const struct profile_messages *m)  \
	{                                                                                          \
		return value;                                                                      \
	}

OF_MESSAGES(number, m->sends + m->receives)
OF_MESSAGES(send_size, real_key(report_mean(m->bytes_sent, m->sends)))
OF_MESSAGES(recv_size, real_key(report_mean(m->bytes_received, m->receives)))
OF_MESSAGES(send_bw, real_key(report_mean(m->send_bandwidth, m->sends)))
OF_MESSAGES(recv_bw, real_key(report_mean(m->receive_bandwidth, m->receives)))
OF_MESSAGES(time, real_key(report_mean(m->send_ns + m->receive_ns, m->sends + m->receives)))
OF_MESSAGES(stack_id, r->id[m->stack])

static const struct {
	const char *name;
	uint64_t (*value)(const struct report *r, const struct profile_messages *m);
} messages_columns[] = {
	{"messages", messages_number},
	{"send_size", messages_send_size},
	{"recv_size", messages_recv_size},
	{"send_bw", messages_send_bw},
	{"recv_bw", messages_recv_bw},
	{"comm_time", messages_time},
	{"stack_id", messages_stack_id},
};

uint32_t *sort_messages(const struct report *r, const char *column, bool ascending)
{
	size_t n = r->p->n_messages;
	struct sort_key *keys = xcalloc(n, sizeof(*keys));
	uint64_t (*value)(const struct report *r, const struct profile_messages *m) = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(messages_columns); i++)
		if (column && !strcmp(column, messages_columns[i].name))
			value = messages_columns[i].value;
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_messages *m = &r->p->messages[i];

		keys[i] = (struct sort_key){value ? value(r, m) : 0, r->id[m->stack], i};
	}
	return sort_by_key(keys, n, ascending);
}

uint32_t *sort_falling(
	const struct profile *p, size_t n, uint64_t (*key)(const struct profile *p, uint32_t i))
{
	struct sort_key *keys = xcalloc(n, sizeof(*keys));

	for (uint32_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){.key = key(p, i), .i = i};
	return sort_by_key(keys, n, false);
}

static void add_member(struct report *r, struct report_group *to, uint32_t stack)
{
	const struct profile_stack *s = &r->p->stacks[stack];

	to->name = s->name;
	to->calls += s->calls;
	to->excl_ns += s->excl_ns;
	to->estimated_ns += s->estimated ? s->excl_ns : 0;
	if (r->outermost[stack])
		to->incl_ns += s->incl_ns;
	r->members[to->first + to->n++] = stack;
}

static void add_samples(
	const struct report *r, struct report_group *g, const struct profile_stack_samples *s)
{
	const struct profile_stack *at = &r->p->stacks[s->stack];
	struct report_group *to = &g[r->group[at->name]];

	if (at->estimated)
		to->samples += s->own;
}

void report_prepare_groups(struct report *r)
{
	const struct profile *p = r->p;
	struct report_group *g = xcalloc(r->n_groups, sizeof(*g));
	size_t n = 0, first = 0;

	r->members = xcalloc(p->n_stacks, sizeof(*r->members));
	for (size_t i = 0; i < p->n_stacks; i++)
		g[r->group[p->stacks[i].name]].n++;
	for (size_t i = 0; i < r->n_groups; i++) {
		g[i].first = first;
		first += g[i].n;
		g[i].n = 0;
	}
	for (size_t i = 0; i < p->n_stacks; i++) {
		if (i + AHEAD < p->n_stacks)
			__builtin_prefetch(&p->stacks[r->by_id[i + AHEAD]].name);
		add_member(r, &g[r->group[p->stacks[r->by_id[i]].name]], r->by_id[i]);
	}
	for (size_t i = 0; i < p->n_stack_samples; i++)
		add_samples(r, g, &p->stack_samples[i]);
	/* names without stacks have no line */
	for (size_t i = 0; i < r->n_groups; i++)
		if (g[i].n)
			g[n++] = g[i];
	r->groups = g;
	r->n_groups_used = n;
}

size_t report_groups(const struct report *r, struct report_group **groups, const uint32_t **members)
{
	const size_t n = r->n_groups_used;

	*groups = xcalloc(n, sizeof(**groups));
	memcpy(*groups, r->groups, n * sizeof(**groups));
	*members = r->members;
	return n;
}

static uint64_t group_value(const struct report_group *g, const char *column)
{
	if (!strcmp(column, "time_excl"))
		return g->excl_ns;
	if (!strcmp(column, "time_incl"))
		return g->incl_ns;
	if (!strcmp(column, "calls"))
		return g->calls;
	return 0;
}

void sort_groups(struct report_group *groups, size_t n, const struct report *r,
	const uint32_t *members, const char *column, bool ascending)
{
	struct sort_key *keys = xcalloc(n, sizeof(*keys));
	struct report_group *sorted = xcalloc(n, sizeof(*sorted));
	uint32_t *order;

	for (uint32_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){
			.key = column ? group_value(&groups[i], column) : 0,
			.id = r->id[members[groups[i].first]],
			.i = i,
		};
	order = sort_by_key(keys, n, ascending);
	for (size_t i = 0; i < n; i++)
		sorted[i] = groups[order[i]];
	memcpy(groups, sorted, n * sizeof(*groups));
	free(order);
	free(sorted);
}
