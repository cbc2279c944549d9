/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of the C library that threads of a process have waited for, on their way into a profile. */
#include "nodeagent/gather/internal.h"

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/openmp/lock-uses.h"

/* 1 + the number of its stack, or 0. */
static uint32_t stack_of(const struct gather_from *from, uint32_t path)
{
	const struct node *n = path ? traffic_path_node(from->p->traffic, path) : NULL;
	const uint32_t *at = n ? map64_find(from->node_at, (uintptr_t)n) : NULL;

	return at ? *at + 1 : 0;
}

static void add_holders(const struct gather_from *from, const struct lock_use *u, const char *name)
{
	EACH(const struct lock_holder, h, u->holders, u->n_holders) {
		const uint32_t stack = stack_of(from, h->path);

		if (stack && h->ticks)
			*(struct profile_lock *)profile_add(from->out, PROFILE_LOCKS) =
				(struct profile_lock){.kind = u->kind,
					.holder = stack,
					.ranks = 1,
					.calls = h->calls,
					.ns = gather_ns(from, h->ticks),
					.name = xstrdup(name)};
	}
}

void gather_locks(const struct gather_from *from)
{
	size_t n;
	const struct lock_use *u = lock_uses_all(from->p->lock_uses, &n);

	for (size_t i = 0; i < n; i++) {
		char *name;

		if (!u[i].calls)
			continue;
		name = symcache_lock_name(from->host->symbols, from->p, &u[i]);
		add_holders(from, &u[i], name);
		*(struct profile_lock *)profile_add(from->out, PROFILE_LOCKS) =
			(struct profile_lock){.kind = u[i].kind,
				.ranks = 1,
				.calls = u[i].calls,
				.ns = gather_ns(from, u[i].ticks),
				.longest_ns = gather_ns(from, u[i].longest),
				.first = stack_of(from, u[i].first),
				.name = name};
	}
}
