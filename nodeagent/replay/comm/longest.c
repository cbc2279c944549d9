/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/longest.h"

#include <stdlib.h>
#include "nodeagent/base/map.h"

struct known {
	uint64_t caller, enter; /* key: caller_of(), and when */
	struct longest_wait wait;
};

struct longest {
	struct known *at; /* LONGEST_MAX, or NULL as long as no call has waited */
	struct match_table by_call;
	size_t ever;
	longest_count *count;
	void (*taken_back)(void *arg, const struct longest_wait *w);
	void *arg;
};

struct longest *longest_new(longest_count *count)
{
	struct longest *l = xcalloc(1, sizeof(*l));

	l->count = count;
	return l;
}

void longest_free(struct longest *l)
{
	if (!l)
		return;
	match_table_free(&l->by_call);
	free(l->at);
	free(l);
}

void longest_listen(
	struct longest *l, void (*taken_back)(void *arg, const struct longest_wait *w), void *arg)
{
	l->taken_back = taken_back;
	l->arg = arg;
}

/* The oldest one's place. */
static struct known *new_known(struct longest *l)
{
	struct known *k;

	if (!l->at)
		l->at = xcalloc(LONGEST_MAX, sizeof(*l->at));
	k = &l->at[l->ever % LONGEST_MAX];
	if (l->ever++ >= LONGEST_MAX)
		match_table_remove(&l->by_call, k->caller, k->enter);
	return k;
}

/* Processes are far from each other in memory. */
static uint64_t caller_of(const struct traffic *t, uint32_t path)
{
	return (uint64_t)(uintptr_t)t >> 8 << 24 ^ path;
}

struct longest_wait *longest_add(struct longest *l, struct traffic *t, const struct longest_wait *w)
{
	const uint64_t caller = caller_of(t, w->path);
	struct known *k = match_table_find(&l->by_call, caller, w->enter);

	if (k && k->wait.ticks >= w->ticks)
		return NULL;
	if (k) {
		if (t)
			l->count(t, &k->wait, UINT64_MAX);
		if (l->taken_back)
			l->taken_back(l->arg, &k->wait);
	} else {
		k = new_known(l);
		match_table_add(&l->by_call, caller, w->enter, k);
	}
	k->caller = caller;
	k->enter = w->enter;
	longest_copy(&k->wait, w);
	k->wait.causes.n = 0;
	if (t)
		l->count(t, w, 1);
	return &k->wait;
}

struct longest_wait *longest_of_call(
	const struct longest *l, const struct traffic *t, uint32_t path, uint64_t enter)
{
	struct known *k = match_table_find(&l->by_call, caller_of(t, path), enter);

	return k ? &k->wait : NULL;
}
