/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables with open addressing and removal; memory grows, and is freed with the table.
 * A table begins as zeros. Keys come from other processes: their slots depend on an address
 * of ours, so that no process can make them collide. The pointer that find() or at() returns is
 * valid until the next add(), at() or remove().
 *
 *	map32		a number that is not 0 -> a number; successive keys are neighbours
 *	map64		any number -> a number
 *	match_table	two numbers -> a pointer that is not NULL; see map32 for the second one
 */
#ifndef VFTR_NODEAGENT_BASE_MAP_H
#define VFTR_NODEAGENT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "nodeagent/base/util.h"

#define MAP_SLOTS_FIRST 64
#define MAP_ROW		3 /* log2 of the number of neighbours: those in one cache line */

/*
 * Defines the functions of struct M, whose slots have a member `key` of type KEY and a member
 * USED, which is 0 in a free slot. Needs M_home(m, key), of which the lower bits are used, and
 * M_same(key, key). M_slot() is the slot of a key, or the free one for it; not for an empty table.
 */
#define MAP_FUNCTIONS(M, KEY, USED)                                                                \
	static inline struct M##_slot *M##_slot(const struct M *m, KEY key)                        \
	{                                                                                          \
		size_t i = M##_home(m, key) & m->mask;                                             \
                                                                                                   \
		while (m->slots[i].USED && !M##_same(m->slots[i].key, key))                        \
			i = (i + 1) & m->mask;                                                     \
		return &m->slots[i];                                                               \
	}                                                                                          \
                                                                                                   \
	static inline void M##_make_room(struct M *m)                                              \
	{                                                                                          \
		struct M big = {                                                                   \
			.mask = m->slots ? m->mask * 2 + 1 : MAP_SLOTS_FIRST - 1, .n = m->n};      \
                                                                                                   \
		if (m->slots && m->n * 2 <= m->mask)                                               \
			return;                                                                    \
		big.slots = xcalloc(big.mask + 1, sizeof(*big.slots));                             \
		big.seed = m->seed ? m->seed : (uint64_t)(uintptr_t)big.slots >> 4;                \
		for (size_t k = 0; m->slots && k <= m->mask; k++)                                  \
			if (m->slots[k].USED)                                                      \
				*M##_slot(&big, m->slots[k].key) = m->slots[k];                    \
		free(m->slots);                                                                    \
		*m = big;                                                                          \
	}                                                                                          \
                                                                                                   \
	static inline void M##_put(struct M *m, struct M##_slot entry)                             \
	{                                                                                          \
		struct M##_slot *s;                                                                \
                                                                                                   \
		M##_make_room(m);                                                                  \
		s = M##_slot(m, entry.key);                                                        \
		m->n += !s->USED;                                                                  \
		*s = entry;                                                                        \
	}                                                                                          \
                                                                                                   \
	static inline void M##_take_out(struct M *m, KEY key)                                      \
	{                                                                                          \
		struct M##_slot *s = m->n ? M##_slot(m, key) : NULL;                               \
		size_t hole, i;                                                                    \
                                                                                                   \
		if (!s || !s->USED)                                                                \
			return;                                                                    \
		m->n--;                                                                            \
		hole = i = (size_t)(s - m->slots);                                                 \
		/* those behind it that a search would now miss move up */                         \
		while (i = (i + 1) & m->mask, m->slots[i].USED) {                                  \
			size_t way = (i - M##_home(m, m->slots[i].key)) & m->mask;                 \
                                                                                                   \
			if (way < ((i - hole) & m->mask))                                          \
				continue;                                                          \
			m->slots[hole] = m->slots[i];                                              \
			hole = i;                                                                  \
		}                                                                                  \
		m->slots[hole].USED = 0;                                                           \
	}                                                                                          \
                                                                                                   \
	static inline void M##_free(struct M *m)                                                   \
	{                                                                                          \
		free(m->slots);                                                                    \
		*m = (struct M){0};                                                                \
	}

#define MAP_STRUCT(M)                                                                              \
	struct M {                                                                                 \
		struct M##_slot *slots;                                                            \
		size_t mask, n;                                                                    \
		uint64_t seed;                                                                     \
	}

/* ---- numbers of 32 bits ----------------------------------------------------------- */

struct map32_slot {
	uint32_t key, value;
};

MAP_STRUCT(map32);

static inline size_t map32_home(const struct map32 *m, uint32_t key)
{
	const uint32_t row = key >> MAP_ROW, place = key & ((1u << MAP_ROW) - 1);
	uint64_t h = (row + m->seed) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return (size_t)((h ^ h >> 32) << MAP_ROW | place);
}

static inline bool map32_same(uint32_t a, uint32_t b)
{
	return a == b;
}

MAP_FUNCTIONS(map32, uint32_t, key)

static inline uint32_t *map32_find(const struct map32 *m, uint32_t key)
{
	struct map32_slot *s = m->n ? map32_slot(m, key) : NULL;

	return s && s->key ? &s->value : NULL;
}

static inline void map32_add(struct map32 *m, uint32_t key, uint32_t value)
{
	map32_put(m, (struct map32_slot){key, value});
}

static inline void map32_remove(struct map32 *m, uint32_t key)
{
	map32_take_out(m, key);
}

/* ---- numbers of 64 bits ----------------------------------------------------------- */

struct map64_slot {
	uint64_t key;
	uint32_t value;
	bool used;
};

MAP_STRUCT(map64);

static inline size_t map64_home(const struct map64 *m, uint64_t key)
{
	uint64_t h = (key + m->seed) * 0x9e3779b97f4a7c15u;

	return (size_t)(h ^ h >> 32);
}

static inline bool map64_same(uint64_t a, uint64_t b)
{
	return a == b;
}

MAP_FUNCTIONS(map64, uint64_t, used)

static inline uint32_t *map64_find(const struct map64 *m, uint64_t key)
{
	struct map64_slot *s = m->n ? map64_slot(m, key) : NULL;

	return s && s->used ? &s->value : NULL;
}

static inline void map64_add(struct map64 *m, uint64_t key, uint32_t value)
{
	map64_put(m, (struct map64_slot){key, value, true});
}

/* The value of a key, which is `first` if the key is new. */
static inline uint32_t *map64_at(struct map64 *m, uint64_t key, uint32_t first)
{
	uint32_t *known = map64_find(m, key);

	if (known)
		return known;
	map64_add(m, key, first);
	return map64_find(m, key);
}

/* ---- two numbers ------------------------------------------------------------------ */

struct match_key {
	uint64_t a, b;
};

struct match_table_slot {
	struct match_key key;
	void *value;
};

MAP_STRUCT(match_table);

static inline size_t match_table_home(const struct match_table *t, struct match_key k)
{
	const uint64_t row = k.b >> MAP_ROW, place = k.b & ((1u << MAP_ROW) - 1);
	uint64_t h = (k.a + t->seed) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32 ^ row) * 0xd6e8feb86659fd93u;
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	return (size_t)((h ^ h >> 29) << MAP_ROW | place);
}

static inline bool match_table_same(struct match_key x, struct match_key y)
{
	return x.a == y.a && x.b == y.b;
}

MAP_FUNCTIONS(match_table, struct match_key, value)

static inline void *match_table_find(const struct match_table *t, uint64_t a, uint64_t b)
{
	return t->n ? match_table_slot(t, (struct match_key){a, b})->value : NULL;
}

static inline void match_table_add(struct match_table *t, uint64_t a, uint64_t b, void *value)
{
	match_table_put(t, (struct match_table_slot){{a, b}, value});
}

static inline void match_table_remove(struct match_table *t, uint64_t a, uint64_t b)
{
	match_table_take_out(t, (struct match_key){a, b});
}

#endif
