/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table from 32-bit keys (not 0) to 32-bit values whose entries can go
 * again; its room grows, never shrinks. The keys come from processes: where
 * they fall depends on an address of ours, so none can make them collide.
 */
#ifndef VFTR_NODEAGENT_MAP32_H
#define VFTR_NODEAGENT_MAP32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "nodeagent/util.h"

struct map32 {
	struct map32_slot {
		uint32_t key, value;
	} * slots;
	size_t mask, n;
	uint64_t seed;
};

/* Keys are numbers given in a row: eight of those, a cache line, are neighbours. */
#define MAP32_ROW 3

static inline size_t map32_home(const struct map32 *m, uint32_t key)
{
	const uint32_t row = key >> MAP32_ROW, place = key & ((1u << MAP32_ROW) - 1);
	uint64_t h = (row + m->seed) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return (size_t)((h ^ h >> 32) << MAP32_ROW | place) & m->mask;
}

static inline size_t map32_slot(const struct map32 *m, uint32_t key)
{
	size_t i = map32_home(m, key);

	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return i;
}

static inline uint32_t *map32_find(const struct map32 *m, uint32_t key)
{
	size_t i;

	if (!m->n)
		return NULL;
	i = map32_slot(m, key);
	return m->slots[i].key ? &m->slots[i].value : NULL;
}

static inline void map32_add(struct map32 *m, uint32_t key, uint32_t value)
{
	size_t i;

	if (!m->slots || m->n * 2 > m->mask) {
		struct map32 big = {.mask = m->slots ? m->mask * 2 + 1 : 63, .n = m->n};

		big.slots = xcalloc(big.mask + 1, sizeof(*big.slots));
		big.seed = m->seed ? m->seed : (uint64_t)(uintptr_t)big.slots >> 4;
		for (size_t k = 0; m->slots && k <= m->mask; k++)
			if (m->slots[k].key)
				big.slots[map32_slot(&big, m->slots[k].key)] = m->slots[k];
		free(m->slots);
		*m = big;
	}
	i = map32_slot(m, key);
	m->n += !m->slots[i].key;
	m->slots[i] = (struct map32_slot){key, value};
}

static inline void map32_remove(struct map32 *m, uint32_t key)
{
	size_t hole, i;

	if (!map32_find(m, key))
		return;
	m->n--;
	hole = i = map32_slot(m, key);
	/* those behind it that a search would now miss move up */
	while (i = (i + 1) & m->mask, m->slots[i].key) {
		size_t way = (i - map32_home(m, m->slots[i].key)) & m->mask;

		if (way < ((i - hole) & m->mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->slots[hole].key = 0;
}

static inline void map32_free(struct map32 *m)
{
	free(m->slots);
	*m = (struct map32){0};
}

#endif
