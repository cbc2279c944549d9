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
#include "nodeagent/replay/shadow.h"

#define FRAMES_SHOWN 2 /* of who has it, innermost first */

void locks_note(struct locked_thread *to, const struct thread_ring *t, const struct unpublished *u)
{
	to->thread = t;
	to->held = u->held;
	to->left = u->left;
	if (u->has_waited)
		to->wanted = u->wanted;
	else
		to->wanted = u->left || u->entered ? 0 : replay_lock_wanted(t->replay);
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

/* NULL: it is not known. */
static const struct locked_thread *find_holder(const struct process *p, const struct lock_use *u,
	const struct locked_thread *all, size_t n, uint32_t number)
{
	if (u)
		return find_tid(all, n, owner_of(p->pid, u));
	return FIND(x, all, n,
		x->wanted != number && (x->held == number || replay_holds_lock(x->thread->replay,
								     number, x->left)));
}

/* It may have got the lock since we looked at it: then it has recorded that by now. */
static bool still_wants(const struct locked_thread *l)
{
	struct locked_thread now = *l;
	struct map32 called = {0};
	struct unpublished u;

	unpublished_read(&u, l->thread, &called);
	locks_note(&now, l->thread, &u);
	unpublished_free(&u);
	map32_free(&called);
	return now.wanted == l->wanted;
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

void locks_look(
	struct symcache *names, const struct process *p, const struct locked_thread *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct lock_use *u;
		const struct locked_thread *holder;

		if (!all[i].wanted)
			continue;
		u = find_use(p, all[i].wanted);
		if (u)
			write_lock(all[i].place->lock, names, p, u);
		else
			snprintf(all[i].place->lock, WHERE_LOCK_BYTES, "lock of OpenMP");
		holder = find_holder(p, u, all, n, all[i].wanted);
		if (holder && holder != &all[i])
			write_holder(all[i].place->holder, holder);
		else if (holder && still_wants(holder))
			snprintf(all[i].place->holder, WHERE_LOCK_BYTES, "the same thread");
	}
}
