/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/memory.h"

struct node_memory *node_memory_now(struct node_memory *m)
{
	while (m->joined) {
		if (m->joined->joined)
			m->joined = m->joined->joined;
		m = m->joined;
	}
	return m;
}

/* The stretch goes up to `last`: until then nothing has changed. */
static void go_to(struct node_memory *m, uint32_t last)
{
	m->held = node_memory_held(m, last);
	if (last > m->stretch)
		m->stretch = last;
}

void node_memory_live(struct node_memory *m, double bytes, double blocks, uint32_t stretch)
{
	go_to(m, stretch);
	if (stretch < m->stretch)
		m->held += bytes;
	m->live += bytes;
	m->live_blocks += blocks;
}

double node_memory_held(const struct node_memory *m, uint32_t last)
{
	return last > m->stretch ? m->live : m->held;
}

struct node_memory *node_memory_join(struct node_memory *to, struct node_memory *from)
{
	if (from)
		from = node_memory_now(from);
	if (to)
		to = node_memory_now(to);
	if (!to || !from || to == from)
		return to ? to : from;
	go_to(to, from->stretch);
	go_to(from, to->stretch);
	to->held += from->held;
	to->records += from->records;
	to->allocations += from->allocations;
	to->bytes += from->bytes;
	to->variance += from->variance;
	if (from->largest > to->largest)
		to->largest = from->largest;
	to->mapped += from->mapped;
	to->frees += from->frees;
	to->other_thread += from->other_thread;
	to->lifetime += from->lifetime;
	to->live_blocks += from->live_blocks;
	to->live += from->live;
	to->live_variance += from->live_variance;
	from->joined = to;
	return to;
}

void node_memory_forget(struct node_memory *m)
{
	if (!m)
		return;
	m = node_memory_now(m);
	m->records = m->largest = m->mapped = 0;
	m->allocations = m->bytes = m->variance = 0;
	m->frees = m->other_thread = m->lifetime = 0;
}
