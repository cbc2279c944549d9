/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of records made by hand, for the tests of replay_block(). */
#ifndef VFTR_T_REPLAY_BY_HAND_H
#define VFTR_T_REPLAY_BY_HAND_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/base/util.h"
#include "shm/record.h"
#include "t/lib/suite.h"

#define A    0x10000u
#define B    0x20000u
#define C    0x30000u
#define F(n) (0x100000u + (n))

#define START ((uint64_t)3 << RECORD_TIME_BITS)
#define NOW   (START + ((uint64_t)1 << 33))

static const struct replay_epoch no_epoch;
static struct openmp *teams;
static struct replay *r;
static uint64_t block[BLOCK_WORDS];
static unsigned used;
static uint64_t ticks, based;

static uint64_t site_key, site_address;

static int same(void *ctx, uint64_t key, uint64_t site)
{
	return key == site_key && site == site_address;
}

static void setup(void)
{
	memset(block, 0, sizeof(block));
	used = 0;
	ticks = based = START;
	r = replay_new(START, same, NULL);
	teams = openmp_new(NULL, NULL);
	replay_set_openmp(r, teams, 0);
}

static void teardown(void)
{
	replay_free(r);
	openmp_free(teams);
}

static const char *flush(void)
{
	const char *why = used ? replay_block(r, block, 0, BLOCK_WORDS, &no_epoch, NOW) : NULL;

	memset(block, 0, sizeof(block));
	used = 0;
	return why;
}

static void put(uint64_t exit_bit, uint32_t id, uint64_t payload)
{
	uint64_t word = record_word(ticks, exit_bit, id);

	if (used + 8 > BLOCK_WORDS)
		ck_assert_ptr_null(flush());
	if (!used || ticks >> RECORD_TIME_BITS != based >> RECORD_TIME_BITS)
		block[used++] = record_sync_word(ticks);
	based = ticks;
	block[used++] = word;
	for (unsigned n = record_words(word); n > 1; n--)
		block[used++] = payload;
}

/* Each takes a tick. */
static inline void in(uint32_t id)
{
	ticks++;
	put(0, id, 0);
}

static inline void out(uint32_t id)
{
	ticks++;
	put(RECORD_EXIT, id, 0);
}

static inline void control(uint32_t id, uint64_t payload)
{
	ticks++;
	put(0, id, payload);
}

static void end(void)
{
	ck_assert_ptr_null(flush());
	replay_end(r, ticks);
}

static inline void user_counter(uint32_t number, uint64_t value, uint64_t at)
{
	put(0, RECORD_USER_COUNTER, 0);
	block[used - 3] = (uint64_t)number << RECORD_TIME_SHIFT | RECORD_USER_COUNTER;
	block[used - 2] = value;
	block[used - 1] = at;
}

/* The node with these keys below the root, outermost first; NULL if none. */
static inline struct node *at(size_t n, const uint64_t *path)
{
	struct node *node = calltree_root(replay_tree(r));

	for (size_t i = 0; i < n && node; i++) {
		struct node *first = node->child, *child = first;

		node = NULL;
		if (first == &calltree_none)
			break;
		do {
			if (child->key == path[i])
				node = child;
			child = child->sibling;
		} while (!node && child != first);
	}
	return node;
}

#define AT(...) at(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

static inline void expect(const struct node *n, uint64_t calls, uint64_t inclusive)
{
	ck_assert_ptr_nonnull(n);
	ck_assert_uint_eq(n->calls, calls);
	ck_assert_uint_eq(n->ticks, inclusive);
}

#endif
