/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/openmp/lock-uses.h"

#include <stdlib.h>
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"

struct lock_uses {
	struct map32 at; /* number -> all[] */
	struct lock_use *all;
	size_t n_all, cap_all;
};

/* The locks beyond those that are told apart: all[0 .. LOCK_KINDS_END). */
struct lock_uses *lock_uses_new(void)
{
	struct lock_uses *u = xcalloc(1, sizeof(*u));

	for (uint32_t kind = 0; kind < LOCK_KINDS_END; kind++) {
		map32_add(&u->at, lock_others(kind), kind);
		*LIST_ADD(u, all) = (struct lock_use){.number = lock_others(kind), .kind = kind};
	}
	return u;
}

void lock_uses_free(struct lock_uses *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->n_all; i++)
		free(u->all[i].holders);
	free(u->all);
	map32_free(&u->at);
	free(u);
}

static struct lock_use *find_use(const struct lock_uses *u, uint32_t number)
{
	const uint32_t *at = u ? map32_find(&u->at, number) : NULL;

	return at ? &u->all[*at] : NULL;
}

bool lock_uses_define(struct lock_uses *u, const struct wire_lock *m)
{
	struct lock_use *known = find_use(u, m->number);

	if (m->kind >= LOCK_KINDS_END || m->number <= LOCK_KINDS_END || m->number > OPENMP_LOCKS)
		return false;
	if (known) {
		if (!known->nth)
			known->nth = m->nth;
		return true;
	}
	if (u->n_all >= LOCKS_NAMED_MOST + LOCK_KINDS_END)
		return false;
	map32_add(&u->at, m->number, (uint32_t)u->n_all);
	*LIST_ADD(u, all) = (struct lock_use){
		.number = m->number, .kind = m->kind, .nth = m->nth, .address = m->address};
	return true;
}

void lock_uses_waited(struct lock_uses *u, uint32_t number, uint32_t path, uint64_t ticks)
{
	struct lock_use *use = find_use(u, number);

	if (!use)
		return;
	if (!use->calls)
		use->first = path;
	use->calls++;
	use->ticks += ticks;
	if (ticks > use->longest)
		use->longest = ticks;
}

/* The last one stands for all that have no other place. */
static struct lock_holder *holder_at(struct lock_use *use, uint32_t path)
{
	struct lock_holder *h;

	for (size_t i = 0; i < use->n_holders; i++)
		if (use->holders[i].path == path)
			return &use->holders[i];
	if (use->n_holders == LOCK_HOLDERS) {
		use->holders[LOCK_HOLDERS - 1].path = 0;
		return &use->holders[LOCK_HOLDERS - 1];
	}
	h = LIST_ADD(use, holders);
	*h = (struct lock_holder){.path = path};
	return h;
}

void lock_uses_held(
	struct lock_uses *u, uint32_t number, uint32_t path, uint64_t calls, uint64_t ticks)
{
	struct lock_use *use = find_use(u, number);
	struct lock_holder *h = use ? holder_at(use, path) : NULL;

	if (!h)
		return;
	h->calls += calls;
	h->ticks += ticks;
}

enum lock_kind lock_uses_kind(const struct lock_uses *u, uint32_t number)
{
	const struct lock_use *use = find_use(u, number);

	return use ? (enum lock_kind)use->kind : LOCK_KINDS_END;
}

const char *lock_kind_name(enum lock_kind kind)
{
	static const char *const names[] = {
#define KIND(kind, name) name,
		LOCK_KINDS(KIND)
#undef KIND
	};

	return names[kind];
}

const struct lock_use *lock_uses_all(const struct lock_uses *u, size_t *n)
{
	*n = u ? u->n_all : 0;
	return u ? u->all : NULL;
}
