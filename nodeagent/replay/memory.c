/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/memory.h"

#include <stdlib.h>
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/replay/tree/memory.h"

struct block {
	struct node_memory *of; /* NULL: it was freed before it was seen, or the place is free */
	double bytes, count;	/* that it stands for */
	double variance;
	uint64_t before; /* the largest of its path before it */
	uint64_t ticks;	 /* of its allocation, or its end */
	uint32_t thread;
	uint32_t stretch; /* of its allocation, or its end */
	uint32_t next;	  /* free place: 1 + the next one */
	bool mapped;
};

struct memory {
	uint64_t large, mean;
	struct memory_totals totals;
	struct map32 place; /* by number of a block: in blocks[] */
	struct block *blocks;
	size_t n, cap;
	uint32_t unused; /* 1 + a free place, or 0 */
	struct node_memory *all;
};

struct memory *memory_new(uint64_t large, uint64_t mean)
{
	struct memory *m = xcalloc(1, sizeof(*m));

	m->large = large;
	m->mean = mean;
	return m;
}

void memory_free(struct memory *m)
{
	struct node_memory *next;

	if (!m)
		return;
	for (struct node_memory *n = m->all; n; n = next) {
		next = n->next;
		free(n);
	}
	map32_free(&m->place);
	free(m->blocks);
	free(m);
}

static struct node_memory *memory_at(struct memory *m, struct node_memory **at)
{
	if (!*at) {
		*at = xcalloc(1, sizeof(**at));
		(*at)->next = m->all;
		m->all = *at;
	}
	return *at = node_memory_now(*at);
}

/* NULL: there are too many, or it has no number. */
static struct block *add_block(struct memory *m, uint32_t number)
{
	uint32_t at = m->unused;

	if (!number || m->place.n >= MEMORY_BLOCKS_MOST) {
		m->totals.not_followed++;
		return NULL;
	}
	if (at)
		m->unused = m->blocks[--at].next;
	else
		at = (uint32_t)(APPEND(m->blocks, m->n, m->cap) - m->blocks);
	map32_add(&m->place, number, at);
	m->blocks[at] = (struct block){0};
	return &m->blocks[at];
}

static struct block *find_block(struct memory *m, uint32_t number)
{
	const uint32_t *at = number ? map32_find(&m->place, number) : NULL;

	return at ? &m->blocks[*at] : NULL;
}

static void remove_block(struct memory *m, uint32_t number, struct block *b)
{
	map32_remove(&m->place, number);
	b->of = NULL;
	b->next = m->unused;
	m->unused = (uint32_t)(b - m->blocks) + 1;
}

static void end_block(
	const struct block *b, uint64_t begin, uint64_t end, uint32_t stretch, bool other_thread)
{
	struct node_memory *of = node_memory_now(b->of);

	node_memory_live(of, -b->bytes, -b->count, stretch);
	of->live_variance -= b->variance;
	of->frees += b->count;
	if (other_thread)
		of->other_thread += b->count;
	if (end > begin)
		of->lifetime += b->count * (double)(end - begin);
}

static void note_stretch(struct memory *m, const struct memory_record *r)
{
	const uint32_t stretch = r->stretch + (r->peak && r->stretch < UINT32_MAX);

	if (stretch <= m->totals.stretch)
		return;
	m->totals.stretch = stretch;
	m->totals.peak_ticks = r->ticks;
}

void memory_allocated(struct memory *m, struct node_memory **at, const struct memory_record *r)
{
	struct node_memory *to = memory_at(m, at);
	const double bytes = r->mapped ? (double)r->bytes
				       : memory_weight(r->bytes, m->large, m->mean),
		     count = r->bytes ? bytes / (double)r->bytes : 1,
		     variance = bytes * (bytes - (double)r->bytes);
	struct block *b = find_block(m, r->block);
	struct block now = {.of = to,
		.bytes = bytes,
		.count = count,
		.variance = variance,
		.before = to->largest,
		.ticks = r->ticks,
		.thread = r->thread,
		.stretch = r->stretch,
		.mapped = r->mapped};

	note_stretch(m, r);
	to->records++;
	to->allocations += count;
	to->bytes += bytes;
	to->variance += variance;
	if (r->mapped)
		to->mapped += r->bytes;
	if (r->bytes > to->largest)
		to->largest = r->bytes;
	if (b && b->of)
		return; /* no number comes twice */
	node_memory_live(to, bytes, count, r->stretch);
	to->live_variance += variance;
	if (b) {
		end_block(&now, r->ticks, b->ticks, b->stretch, b->thread != r->thread);
		remove_block(m, r->block, b);
		return;
	}
	b = add_block(m, r->block);
	if (b)
		*b = now;
	else /* it would be live for good */
		end_block(&now, 0, 0, r->stretch, false);
}

void memory_freed(struct memory *m, const struct memory_record *r)
{
	struct block *b = find_block(m, r->block);

	note_stretch(m, r);
	if (b && b->of) {
		end_block(b, b->ticks, r->ticks, r->stretch, b->thread != r->thread);
		remove_block(m, r->block, b);
		return;
	}
	if (!b)
		b = add_block(m, r->block);
	if (b)
		*b = (struct block){.ticks = r->ticks, .thread = r->thread, .stretch = r->stretch};
}

/* Adds the allocation of a live block to a path; sign -1: takes it off. */
static void count_block(struct node_memory *to, struct block *b, int sign)
{
	const uint64_t size = (uint64_t)(b->bytes / b->count + 0.5);

	node_memory_live(to, sign * b->bytes, sign * b->count, b->stretch);
	to->live_variance += sign * b->variance;
	to->records += (uint64_t)sign;
	to->allocations += sign * b->count;
	to->bytes += sign * b->bytes;
	to->variance += sign * b->variance;
	if (b->mapped)
		to->mapped += (uint64_t)sign * size;
	if (sign > 0) {
		b->before = to->largest;
		to->largest = MAX(to->largest, size);
	} else if (to->largest == size) { /* none after it was larger */
		to->largest = MIN(size, b->before);
	}
}

void memory_belongs(struct memory *m, struct node_memory **at, uint32_t block)
{
	struct block *b = find_block(m, block);

	if (!b || !b->of)
		return;
	count_block(node_memory_now(b->of), b, -1);
	b->of = memory_at(m, at);
	count_block(b->of, b, 1);
}

void memory_counted(struct memory *m, uint64_t allocations, uint64_t bytes, uint64_t frees)
{
	m->totals.allocations += allocations;
	m->totals.bytes += bytes;
	m->totals.frees += frees;
}

void memory_note_ages(struct memory *m, uint64_t now)
{
	if (!m)
		return;
	for (struct node_memory *n = m->all; n; n = n->next)
		n->age = 0;
	EACH(const struct block, b, m->blocks, m->n)
		if (b->of && now > b->ticks)
			node_memory_now(b->of)->age += b->count * (double)(now - b->ticks);
}

struct memory_totals memory_totals(const struct memory *m)
{
	return m ? m->totals : (struct memory_totals){0};
}
