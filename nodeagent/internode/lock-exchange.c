/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/lock-exchange.h"

#include <stddef.h>
#include "nodeagent/base/map.h"
#include "nodeagent/internode/far-causes.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/window/far-locks.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/comm/sync.h"

#define EXCLUSIVE 1u

static struct far_locks *locks_of(const struct host *host)
{
	return host->sync ? sync_far_locks(host->sync) : NULL;
}

static void want_member(void *arg, uint64_t job, uint32_t world)
{
	map64_at(arg, match_proc_id(job, world), 1);
}

void lock_exchange_want(const struct host *host, struct map64 *wanted)
{
	const struct far_locks *f = locks_of(host);

	if (f)
		far_locks_members(f, want_member, wanted);
}

/* ---- telling ------------------------------------------------------------------------------ */

static bool has_any(const struct far_locks *f, uint32_t group, const struct rank_set *proc_ids)
{
	const uint64_t job = far_locks_job(f, group);

	for (size_t i = 0; i < proc_ids->n; i++) {
		const uint64_t id = proc_ids->at[i];

		if (match_proc_id(job, (uint32_t)id) == id &&
			far_locks_has(f, group, job, (uint32_t)id))
			return true;
	}
	return false;
}

static void put_lock(const struct matching *m, const struct far_locks *f, const struct far_lock *l,
	struct far_telling *causes, struct words *to)
{
	const struct process *p =
		matching_process(m, match_proc_id(far_locks_job(f, l->group), l->world));
	const uint32_t history = p && l->history ? far_tell(causes, m->host, p, l->history) : 0;

	words_put(to, l->is.window);
	words_put(to, (uint64_t)l->is.target << 32 | l->world);
	words_put(to, (uint64_t)history << 32 | (l->is.exclusive ? EXCLUSIVE : 0));
	words_put(to, internode_global(m->host, l->is.began));
	words_put(to, internode_global(m->host, l->is.had_at));
	words_put(to, internode_global(m->host, l->is.last.enter));
	words_put(to, internode_global(m->host, l->is.last.leave));
}

void lock_exchange_put(const struct matching *m, const struct rank_set *proc_ids,
	struct far_telling *causes, struct words *to)
{
	const struct far_locks *f = locks_of(m->host);
	const struct far_lock *locks;
	struct map32 known = {0}; /* group + 1 -> whether they are told of it */
	size_t n = 0;

	locks = f ? far_locks_all(f, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		const uint32_t *told = map32_find(&known, locks[i].group + 1);
		const bool tell = told ? *told : has_any(f, locks[i].group, proc_ids);

		if (!told)
			map32_add(&known, locks[i].group + 1, tell);
		if (tell && locks[i].whose)
			put_lock(m, f, &locks[i], causes, to);
	}
	map32_free(&known);
}

/* ---- hearing ------------------------------------------------------------------------------- */

struct heard {
	struct matching *m;
	uint32_t world, history;
};

static void count_lock(void *arg, const struct lock_epoch *of, const struct lock_call *call,
	const struct lock_epoch *other)
{
	const struct heard *h = arg;
	struct matching *m = h->m;
	const struct far_lock *a =
		(const struct far_lock *)((const char *)of - offsetof(struct far_lock, is));
	const uint64_t ticks = other->last.enter - call->enter;
	struct longest_wait w = {.enter = call->enter,
		.path = call->path,
		.late = h->world,
		.kind = WAIT_RMA_LOCK,
		.ticks = ticks,
		.error = m->clock_bound,
		.about = {.history = h->history}};
	struct longest_wait *kept;

	if ((int64_t)ticks <= 0 || ticks <= m->clock_bound)
		return;
	kept = longest_add(matching_longest(m), a->whose, &w);
	if (kept)
		matching_causes(m, a->whose, kept);
}

const char *lock_exchange_take(struct matching *m, const uint64_t *words, size_t n)
{
	struct far_locks *f = locks_of(m->host);
	struct words_in in = {words, n, false};

	while (f && in.n && !in.bad) {
		struct lock_epoch e = {.process = UINT64_MAX, .window = words_get(&in)};
		const uint64_t where = words_get(&in), how = words_get(&in);
		struct heard h = {m, (uint32_t)where, far_number(&m->far, (uint32_t)(how >> 32))};

		e.target = (uint32_t)(where >> 32);
		e.exclusive = how & EXCLUSIVE;
		e.began = internode_ticks(m->host, words_get(&in));
		e.had_at = internode_ticks(m->host, words_get(&in));
		e.last.enter = internode_ticks(m->host, words_get(&in));
		e.last.leave = internode_ticks(m->host, words_get(&in));
		if (!in.bad)
			far_locks_compare(f, &e, m->clock_bound, count_lock, &h);
	}
	return in.bad ? "locks of windows that make no sense" : NULL;
}
