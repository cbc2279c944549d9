/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table from two 64-bit words to a pointer (not NULL) whose entries can
 * go again, and pools of structures of one size. Room grows and is given back
 * when the table or pool is freed. Keys come from other processes: where they
 * fall depends on an address of ours, so none can make them collide.
 */
#ifndef VFTR_NODEAGENT_MATCH_TABLE_H
#define VFTR_NODEAGENT_MATCH_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/util.h"

struct match_table {
	struct match_slot {
		uint64_t a, b;
		void *value; /* NULL: free */
	} * slots;
	size_t mask, n;
	uint64_t seed;
};

/* Most second words are numbers given in a row: eight of those are neighbours. */
#define MATCH_TABLE_ROW 3

static inline size_t match_table_home(const struct match_table *t, uint64_t a, uint64_t b)
{
	const uint64_t row = b >> MATCH_TABLE_ROW, place = b & ((1u << MATCH_TABLE_ROW) - 1);
	uint64_t h = (a + t->seed) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32 ^ row) * 0xd6e8feb86659fd93u;
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	return (size_t)((h ^ h >> 29) << MATCH_TABLE_ROW | place) & t->mask;
}

static inline struct match_slot *match_table_slot(
	const struct match_table *t, uint64_t a, uint64_t b)
{
	size_t i = match_table_home(t, a, b);

	while (t->slots[i].value && (t->slots[i].a != a || t->slots[i].b != b))
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

static inline void *match_table_find(const struct match_table *t, uint64_t a, uint64_t b)
{
	return t->n ? match_table_slot(t, a, b)->value : NULL;
}

static inline void match_table_add(struct match_table *t, uint64_t a, uint64_t b, void *value)
{
	struct match_slot *s;

	if (!t->slots || t->n * 2 > t->mask) {
		struct match_table big = {.mask = t->slots ? t->mask * 2 + 1 : 63, .n = t->n};

		big.slots = xcalloc(big.mask + 1, sizeof(*big.slots));
		big.seed = t->seed ? t->seed : (uint64_t)(uintptr_t)big.slots >> 4;
		for (size_t k = 0; t->slots && k <= t->mask; k++)
			if (t->slots[k].value)
				*match_table_slot(&big, t->slots[k].a, t->slots[k].b) = t->slots[k];
		free(t->slots);
		*t = big;
	}
	s = match_table_slot(t, a, b);
	t->n += !s->value;
	*s = (struct match_slot){a, b, value};
}

static inline void match_table_remove(struct match_table *t, uint64_t a, uint64_t b)
{
	struct match_slot *s = t->n ? match_table_slot(t, a, b) : NULL;
	size_t hole, i;

	if (!s || !s->value)
		return;
	t->n--;
	hole = i = (size_t)(s - t->slots);
	/* those behind it that a search would now miss move up */
	while (i = (i + 1) & t->mask, t->slots[i].value) {
		size_t way = (i - match_table_home(t, t->slots[i].a, t->slots[i].b)) & t->mask;

		if (way < ((i - hole) & t->mask))
			continue;
		t->slots[hole] = t->slots[i];
		hole = i;
	}
	t->slots[hole].value = NULL;
}

static inline void match_table_free(struct match_table *t)
{
	free(t->slots);
	*t = (struct match_table){0};
}

#define MATCH_POOL_CHUNK 256

struct match_pool {
	size_t bytes; /* of one */
	void *vacant; /* the first word of each points to the next */
	void **chunks;
	size_t n_chunks, cap_chunks;
	size_t used;
};

/* Zeroed. */
static inline void *match_pool_take(struct match_pool *p)
{
	void *one;

	if (!p->vacant) {
		char *chunk = xcalloc(MATCH_POOL_CHUNK, p->bytes);

		p->chunks = grow(p->chunks, p->n_chunks, &p->cap_chunks, sizeof(*p->chunks));
		p->chunks[p->n_chunks++] = chunk;
		for (size_t i = MATCH_POOL_CHUNK; i-- > 0;) {
			memcpy(chunk + i * p->bytes, &p->vacant, sizeof(void *));
			p->vacant = chunk + i * p->bytes;
		}
	}
	one = p->vacant;
	memcpy(&p->vacant, one, sizeof(void *));
	memset(one, 0, p->bytes);
	p->used++;
	return one;
}

static inline void match_pool_give(struct match_pool *p, void *one)
{
	memcpy(one, &p->vacant, sizeof(void *));
	p->vacant = one;
	p->used--;
}

static inline void match_pool_free(struct match_pool *p)
{
	for (size_t i = 0; i < p->n_chunks; i++)
		free(p->chunks[i]);
	free(p->chunks);
	*p = (struct match_pool){0};
}

#endif
