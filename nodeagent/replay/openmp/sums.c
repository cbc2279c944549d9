/* SPDX-License-Identifier: BSD-3-Clause */
/* What teams come to: sums by parallel region, and the tree of threads. */
#include <stdlib.h>
#include <string.h>
#include "nodeagent/replay/openmp/internal.h"
#include "nodeagent/base/util.h"

#define CHAIN_MAX 256

static uint64_t positive(uint64_t ticks)
{
	return (int64_t)ticks > 0 ? ticks : 0;
}

static void add_thread(struct openmp_threads *s, uint32_t number)
{
	uint32_t low;

	if (number == OPENMP_NONE)
		return;
	low = LOWER_BOUND(i, 0, s->n, s->numbers[i] < number);
	if (low < s->n && s->numbers[low] == number)
		return;
	if (s->n >= OPENMP_THREADS_LISTED) {
		s->more = true;
		return;
	}
	if (s->n >= s->cap) {
		s->cap = s->cap ? s->cap * 2 : 4;
		s->numbers = xrealloc(s->numbers, s->cap * sizeof(*s->numbers));
	}
	memmove(s->numbers + low + 1, s->numbers + low, (s->n - low) * sizeof(*s->numbers));
	s->numbers[low] = number;
	s->n++;
}

/* ---- the tree of threads -------------------------------------------------------- */

static uint32_t node_of(struct openmp *o, uint32_t parent, uint32_t level, uint32_t number)
{
	uint64_t key = (uint64_t)parent << 32 | level << 24 | number;
	uint32_t *known = map64_find(&o->node_at, key);

	if (known)
		return *known;
	if (o->n_nodes >= OPENMP_NODES_MAX) {
		o->limits |= 1u << LIMIT_NODES;
		return OPENMP_NONE;
	}
	map64_add(&o->node_at, key, (uint32_t)o->n_nodes);
	*LIST_ADD(o, nodes) =
		(struct openmp_node){.parent = parent, .level = level, .number = number};
	return (uint32_t)o->n_nodes - 1;
}

/* The levels between, of regions that nobody told of, have a team of one each. */
static uint32_t node_below(struct openmp *o, uint32_t parent, uint32_t level, uint32_t number)
{
	uint32_t at = parent;

	while (at != OPENMP_NONE && o->nodes[at].level + 1 < level)
		at = node_of(o, at, o->nodes[at].level + 1, 0);
	return at == OPENMP_NONE ? OPENMP_NONE : node_of(o, at, level, number);
}

/* Place of the team's thread `number`. */
static uint32_t place_of(struct openmp *o, struct team *t, uint32_t number, unsigned depth)
{
	uint32_t at = openmp_place(o, t, depth);

	return at == OPENMP_NONE ? OPENMP_NONE : node_below(o, at, t->level, number);
}

uint32_t openmp_place(struct openmp *o, struct team *t, unsigned depth)
{
	struct team *parent;

	if (t->place != OPENMP_NONE || !t->forked)
		return t->place;
	if (!o->n_nodes) /* the root */
		node_of(o, OPENMP_NONE, 0, 0);
	parent = t->parent ? openmp_parent(o, t) : NULL;
	if (depth < CHAIN_MAX && parent)
		t->place = place_of(o, parent, t->parent_number, depth + 1);
	else
		t->place = 0;
	return t->place;
}

void openmp_root_thread(struct openmp *o, uint32_t thread)
{
	add_thread(&o->nodes[0].threads, thread);
}

static void add_node(struct openmp *o, uint32_t at, const struct part *p)
{
	if (at == OPENMP_NONE)
		return;
	o->nodes[at].parts += p->parts;
	o->nodes[at].ticks += p->ticks;
	add_thread(&o->nodes[at].threads, p->thread);
}

/* ---- regions --------------------------------------------------------------------- */

static struct openmp_region *region_of(struct openmp *o, const struct node *path)
{
	const uint32_t at = *map64_at(&o->region_at, (uintptr_t)path, (uint32_t)o->n_regions);

	if (at == o->n_regions)
		*LIST_ADD(o, regions) =
			(struct openmp_region){.path = path, .size_min = UINT32_MAX};
	return &o->regions[at];
}

/* Sums of times of clocks that may differ a little are never below zero. */
void openmp_sum_up(struct openmp *o, struct team *t)
{
	struct openmp_region *r = region_of(o, t->path);
	uint32_t size = t->size ? t->size : t->entered, seen = 0;
	uint64_t busy = 0, most = 0;

	for (size_t i = 0; i < t->n_parts; i++) {
		const struct part *p = &t->parts[i];

		if (p->thread == OPENMP_NONE)
			continue;
		add_node(o, place_of(o, t, (uint32_t)i, 0), p);
		add_thread(&r->threads, p->thread);
		busy += p->busy;
		most = p->busy > most ? p->busy : most;
		seen++;
	}
	r->busy += busy;
	r->busy_average += seen ? busy / seen : 0;
	r->busy_most += most;
	r->barrier += t->barrier;
	r->wait += t->wait;
	r->tasks += t->tasks;
	r->task_ticks += t->task_ticks;
	if (!t->forked)
		return;
	r->calls++;
	if (size < r->size_min)
		r->size_min = size;
	if (size > r->size_max)
		r->size_max = size;
	r->start += positive(t->enter_sum - t->entered * t->fork_ticks);
	if (!t->joined)
		return;
	r->wall += positive(t->join_ticks - t->fork_ticks);
	r->join += positive(t->left * t->join_ticks - t->leave_sum - t->join_tasks);
}

/* ---- reading ----------------------------------------------------------------------- */

LIST_GETTER(openmp_regions, struct openmp, struct openmp_region, regions)
LIST_GETTER(openmp_nodes, struct openmp, struct openmp_node, nodes)

void openmp_sums_free(struct openmp *o)
{
	for (size_t i = 0; i < o->n_regions; i++)
		free(o->regions[i].threads.numbers);
	for (size_t i = 0; i < o->n_nodes; i++)
		free(o->nodes[i].threads.numbers);
	free(o->regions);
	free(o->nodes);
	map64_free(&o->region_at);
	map64_free(&o->node_at);
}
