/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/live/sample/locks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/sample/unpublished.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/openmp/lock-uses.h"
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/replay/shadow.h"

#define FRAMES_SHOWN 2 /* of who has it, innermost first */

void locks_note(struct locked_thread *to, const struct thread_ring *t, struct unpublished *u)
{
	to->thread = t;
	to->held = u->held;
	to->left = u->left;
	to->got = u->got;
	to->n_got = u->n_got;
	u->got = NULL;
	u->n_got = u->cap_got = 0;
	if (u->has_waited) {
		to->wanted = u->wanted;
		to->region = u->region;
	} else if (!u->left && !u->entered) {
		to->wanted = replay_lock_wanted(t->replay, &to->region);
	}
}

void locks_forget(struct locked_thread *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(all[i].got);
	free(all);
}

/* ---- who has it -------------------------------------------------------------------------- */

/* The thread that has it exclusively, by the id that the C library has stored in it; 0: nobody, or
 * it does not say so. */
static int owner_of(int pid, const struct lock_use *u)
{
	const size_t offset = u->kind == LOCK_MUTEX
				      ? offsetof(pthread_mutex_t, __data.__owner)
				      : offsetof(pthread_rwlock_t, __data.__cur_writer);
	int tid = 0;
	const struct iovec here = {&tid, sizeof(tid)},
			   there = {(void *)(uintptr_t)(u->address + offset), sizeof(tid)};

	if (!u->address || (u->kind != LOCK_MUTEX && u->kind != LOCK_RWLOCK) ||
		process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(tid))
		return 0;
	return tid;
}

static const struct locked_thread *find_tid(const struct locked_thread *all, size_t n, int tid)
{
	return tid > 0 ? FIND(x, all, n, x->thread->tid == tid) : NULL;
}

static bool is_inside(const struct locked_thread *l, uint32_t number)
{
	return l->held == number || replay_holds_lock(l->thread->replay, number, l->left);
}

/* The thread in a critical or ordered region: one that waits for it only if nobody else is in. */
static const struct locked_thread *find_inside(
	const struct locked_thread *all, size_t n, uint32_t number)
{
	for (int waits = 0; waits < 2; waits++)
		for (size_t i = 0; i < n; i++)
			if ((all[i].wanted == number) == waits && is_inside(&all[i], number))
				return &all[i];
	return NULL;
}

/* NULL: it is not known. */
static const struct locked_thread *find_holder(const struct process *p, const struct lock_use *u,
	const struct locked_thread *all, size_t n, uint32_t number)
{
	return u ? find_tid(all, n, owner_of(p->pid, u)) : find_inside(all, n, number);
}

/* Who got the locks of OpenMP last: found once for all of them, as many threads may wait. */
struct last_takers {
	bool known;
	struct map32 of_number; /* -> index */
	struct last_taker {
		const struct locked_thread *thread; /* NULL: not known */
		const struct locked_thread *told;   /* the last one that was asked about it */
		uint64_t since;
	} * takers;
	size_t n_takers, cap_takers;
};

struct asked_thread {
	struct last_takers *of;
	const struct locked_thread *thread;
};

/* since 0: it has given it back. What is told first of a thread was last. */
static void note_taken(void *ctx, uint32_t number, uint64_t since)
{
	const struct asked_thread *a = ctx;
	const uint32_t *known = map32_find(&a->of->of_number, number);
	struct last_taker *l;

	if (!known) {
		map32_add(&a->of->of_number, number, (uint32_t)a->of->n_takers);
		l = LIST_ADD(a->of, takers);
		*l = (struct last_taker){0};
	} else {
		l = &a->of->takers[*known];
	}
	if (l->told == a->thread)
		return;
	l->told = a->thread;
	if (since > l->since) {
		l->since = since;
		l->thread = a->thread;
	}
}

/* NULL: not known. */
static const struct locked_thread *find_last(
	struct last_takers *of, const struct locked_thread *all, size_t n, uint32_t number)
{
	const uint32_t *known;

	for (size_t i = 0; i < n && !of->known; i++) {
		struct asked_thread a = {of, &all[i]};

		for (size_t k = all[i].n_got; k--;)
			note_taken(&a, all[i].got[k].number, all[i].got[k].since);
		replay_locks_got(all[i].thread->replay, note_taken, &a);
	}
	of->known = true;
	known = map32_find(&of->of_number, number);
	return known ? of->takers[*known].thread : NULL;
}

/* It may have got the lock since we looked at it: then it has recorded that by now. */
static bool still_wants(const struct locked_thread *l)
{
	struct locked_thread now = {0};
	struct map32 called = {0};
	struct unpublished u;

	unpublished_read(&u, l->thread, &called);
	locks_note(&now, l->thread, &u);
	free(now.got);
	unpublished_free(&u);
	map32_free(&called);
	return now.wanted == l->wanted;
}

/* Of the functions that wait for a mutex or a read-write lock. */
static bool has_no_limit(const char *function)
{
	static const char *const endless[] = {
		"pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "mtx_lock"};

	return ANY(i, ARRAY_SIZE(endless), !strcmp(function, endless[i]));
}

static const struct lock_use *find_use(const struct process *p, uint32_t number)
{
	size_t n;
	const struct lock_use *all = lock_uses_all(p->lock_uses, &n);

	return FIND(x, all, n, x->number == number);
}

/* ---- in words ---------------------------------------------------------------------------- */

/* "thread 3 in update < step": its innermost frames. */
static void write_holder(char *to, const struct locked_thread *holder)
{
	char *path = xstrdup(holder->place->path), *frame;
	size_t used = (size_t)snprintf(to, WHERE_LOCK_BYTES, "thread %u", holder->thread->number);

	for (int i = 0; i < FRAMES_SHOWN && *path && used < WHERE_LOCK_BYTES; i++) {
		frame = strrchr(path, WHERE_FRAME_BEGINS);
		used += (size_t)snprintf(to + used, WHERE_LOCK_BYTES - used, "%s%s",
			i ? " < " : " in ", frame ? frame + 1 : path);
		if (frame)
			*frame = '\0';
		else
			*path = '\0';
	}
	free(path);
}

/* "mutex heat:cells", "mutex 3" */
static void write_lock(
	char *to, struct symcache *names, const struct process *p, const struct lock_use *u)
{
	const char *kind = lock_kind_name(u->kind);
	char *name = symcache_lock_name(names, p, u);

	snprintf(to, WHERE_LOCK_BYTES, "%s%s%s", strncmp(name, kind, strlen(kind)) ? kind : "",
		strncmp(name, kind, strlen(kind)) ? " " : "", name);
	free(name);
}

static void write_wait(struct symcache *names, const struct process *p, struct locked_thread *l,
	const struct locked_thread *all, size_t n, struct last_takers *last)
{
	const struct lock_use *u = find_use(p, l->wanted);
	const struct locked_thread *holder = find_holder(p, u, all, n, l->wanted);

	l->for_ever = !u || has_no_limit(symcache_name(names, p, openmp_region_key(l->region)));
	if (u)
		write_lock(l->place->lock, names, p, u);
	else
		snprintf(l->place->lock, WHERE_LOCK_BYTES, "lock of OpenMP");
	if (holder == l && !still_wants(l))
		return;
	l->holder = holder;
	if (!holder && !u) {
		holder = find_last(last, all, n, l->wanted);
		l->place->had = holder != NULL;
	}
	if (holder == l)
		snprintf(l->place->holder, WHERE_LOCK_BYTES, "the same thread");
	else if (holder)
		write_holder(l->place->holder, holder);
}

/* ---- cycles ------------------------------------------------------------------------------ */

/* The number of threads in the cycle that l is the first one of; 0: there is none. */
static uint32_t cycle_from(const struct locked_thread *l)
{
	const struct locked_thread *at = l;
	uint32_t n = 0;

	do {
		if (!at->holder || at->holder < l || n == WHERE_LOCKED_MAX || !at->for_ever)
			return 0;
		at = at->holder;
		n++;
	} while (at != l);
	return n;
}

/* Who has not moved since all were looked at has waited all along. */
static bool all_still_want(const struct locked_thread *l, uint32_t n)
{
	for (; n; n--, l = l->holder)
		if (!still_wants(l))
			return false;
	return true;
}

static void add_cycle(
	struct where *w, const struct process *p, uint32_t rank, const struct locked_thread *l)
{
	struct where_locked *rows;
	const uint32_t n = cycle_from(l);

	if (!n || !all_still_want(l, n))
		return;
	rows = xcalloc(n, sizeof(*rows));
	for (uint32_t i = 0; i < n; i++, l = l->holder) {
		rows[i] = (struct where_locked){.rank = rank,
			.pid = (uint32_t)p->pid,
			.thread = l->thread->number,
			.of = n,
			.since = l->place->since_least};
		memcpy(rows[i].lock, l->place->lock, sizeof(rows[i].lock));
	}
	where_add_locked(w, rows);
	free(rows);
}

void locks_look(struct symcache *names, const struct process *p, uint32_t rank,
	struct locked_thread *all, size_t n, struct where *w)
{
	struct last_takers last = {0};

	for (size_t i = 0; i < n; i++)
		if (all[i].wanted)
			write_wait(names, p, &all[i], all, n, &last);
	map32_free(&last.of_number);
	free(last.takers);
	for (size_t i = 0; i < n; i++)
		if (all[i].holder)
			add_cycle(w, p, rank, &all[i]);
}
