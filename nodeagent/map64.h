/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table from 64-bit keys to 32-bit values; grows, never shrinks. */
#ifndef VFTR_NODEAGENT_MAP64_H
#define VFTR_NODEAGENT_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "nodeagent/util.h"

struct map64 {
	struct map64_slot {
		uint64_t key;
		uint32_t value;
		bool used;
	} * slots;
	size_t mask, n;
};

static inline size_t map64_slot(const struct map64 *m, uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h ^ h >> 32) & m->mask;

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return i;
}

static inline uint32_t *map64_find(const struct map64 *m, uint64_t key)
{
	size_t i;

	if (!m->slots)
		return NULL;
	i = map64_slot(m, key);
	return m->slots[i].used ? &m->slots[i].value : NULL;
}

static inline void map64_add(struct map64 *m, uint64_t key, uint32_t value)
{
	size_t i;

	if (!m->slots || m->n * 2 > m->mask) {
		struct map64 big = {.mask = m->slots ? m->mask * 2 + 1 : 63};

		big.slots = xcalloc(big.mask + 1, sizeof(*big.slots));
		for (size_t k = 0; m->slots && k <= m->mask; k++)
			if (m->slots[k].used)
				big.slots[map64_slot(&big, m->slots[k].key)] = m->slots[k];
		big.n = m->n;
		free(m->slots);
		*m = big;
	}
	i = map64_slot(m, key);
	m->n += !m->slots[i].used;
	m->slots[i] = (struct map64_slot){key, value, true};
}

static inline void map64_free(struct map64 *m)
{
	free(m->slots);
	*m = (struct map64){0};
}

#endif
