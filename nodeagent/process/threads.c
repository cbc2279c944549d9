/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/replay/openmp/lock-uses.h"
#include "nodeagent/replay/openmp/locks.h"
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/replay/tree/stack-time.h"
#include "nodeagent/process/forks.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/process/rings.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/threads-ended.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/base/util.h"
#include "shm/ring.h"

#define THREADS_LIMIT (1u << 20) /* rings one process may have at a time */
#define UNSETTLED_MAX 4096u	 /* ended threads that wait for their place */

/* The ring at an index, with or without a thread. */
struct ring_slot {
	struct stored_ring stored;
	uint32_t uses; /* of the ring, by threads of this process before */
	uint32_t next_free;
};

static int same_function(void *ctx, uint64_t key, uint64_t site)
{
	const struct process *p = ctx;
	struct code_location frame, here;
	uint64_t start;

	if (RECORD_IS_REGION(key) || !codemap_find_key(p->code, key, &frame) ||
		!codemap_find_address(p->code, site, &here) || strcmp(frame.path, here.path))
		return 0;
	/* the call site is the return address: one past the call */
	return symcache_find(p->host->symbols, &here, here.address - 1, &start) &&
	       start == frame.address;
}

/* By Vftrace's rule: Fortran's MAIN__ is called by a main() of its own. */
static int is_main(void *ctx, uint64_t key)
{
	const struct process *p = ctx;

	return !strcasecmp(symcache_name(p->host->symbols, p, key), "main");
}

/* An openmp_barrier. */
static bool is_barrier(const void *ctx, uint32_t region)
{
	enum construct kind = regions_kind(ctx, region);

	return kind == CONSTRUCT_BARRIER || kind == CONSTRUCT_BARRIER_IMPLICIT;
}

/* A wait_kind of each lock_kind, and of locks of OpenMP. */
static const uint32_t kinds_of_waits[] = {
	[LOCK_MUTEX] = WAIT_MUTEX,
	[LOCK_CONDITION] = WAIT_CONDITION,
	[LOCK_RWLOCK] = WAIT_RWLOCK,
	[LOCK_SPIN] = WAIT_SPIN,
	[LOCK_BARRIER] = WAIT_THREAD_BARRIER,
	[LOCK_SEMAPHORE] = WAIT_SEMAPHORE,
	[LOCK_THREAD] = WAIT_THREAD_END,
	[LOCK_KINDS_END] = WAIT_LOCK,
};

/*
 * A locks_found. Where the holder was is known of the moment when it gave the lock back: at its end
 * a thread is in none of the functions that were waited for.
 */
static void waited_for_lock(void *ctx, const struct lock_blame *b)
{
	const struct process *p = ctx;
	struct node *n = traffic_path_node(p->traffic, b->waiter.path);
	const uint32_t kind = kinds_of_waits[lock_uses_kind(p->lock_uses, b->number)];
	const uint32_t path = kind == WAIT_THREAD_END ? 0 : b->holder.path;

	lock_uses_held(p->lock_uses, b->number, path, b->calls, b->ticks);
	if (n)
		calltree_wait(n, &(struct node_wait){.kind = kind,
					 .calls = b->calls,
					 .ticks = b->ticks,
					 .thread = b->holder.thread + 1,
					 .path = traffic_path_now(p->traffic, path)});
}

/* A locks_lay. */
static void lay_behind_lock(void *ctx, const struct lock_part *part)
{
	struct process *p = ctx;
	const struct thread_wait w = {
		.kind = kinds_of_waits[lock_uses_kind(p->lock_uses, part->number)],
		.waiter = part->waiter.thread,
		.holder = part->holder.thread,
		.from = part->from,
		.to = part->to,
		.goes_on = part->goes_on};

	observers_tell(p->host, thread_waited, p, &w);
}

static enum time_class class_of_region(const void *ctx, uint64_t key)
{
	if (regions_is_wait(ctx, key))
		return TIME_OPENMP_WAIT;
	return regions_is_lock_wait(ctx, key) ? TIME_LOCK_WAIT : TIME_USEFUL;
}

/* The first thread of a child starts inside the functions its parent was in. */
static void inherit_frames(const struct process *p, struct replay *r)
{
	const uint64_t *keys;
	size_t n = forks_inherited(p, &keys);

	if (n)
		replay_inherit(r, keys, n, p->start_ticks);
}

static uint32_t free_index(struct process *p)
{
	uint32_t index;

	if (p->free_slot) {
		index = p->free_slot - 1;
		p->free_slot = p->slots[index].next_free;
		return index;
	}
	p->threads = grow(p->threads, p->n_threads, &p->cap_threads, sizeof(*p->threads));
	p->slots = grow(p->slots, p->n_threads, &p->cap_slots, sizeof(*p->slots));
	p->threads[p->n_threads] = NULL;
	p->slots[p->n_threads] = (struct ring_slot){0};
	return (uint32_t)p->n_threads++;
}

static void give_up_index(struct process *p, uint32_t index)
{
	p->slots[index] = (struct ring_slot){.next_free = p->free_slot};
	p->free_slot = index + 1;
}

/* The ring that the process offers, if it is one that it may offer. */
static bool spare_ring(struct process *p, uint32_t spare, struct wire_ring *reply)
{
	struct ring_slot *s;

	if (!spare || spare > p->n_threads || p->threads[spare - 1])
		return false;
	s = &p->slots[spare - 1];
	if (!s->stored.ring.base)
		return false;
	reply->index = spare - 1;
	reply->ring_size = s->stored.ring.size;
	reply->uses = ++s->uses;
	if (!s->uses) /* 0 is for fresh ones */
		reply->uses = ++s->uses;
	ring_use_again(&s->stored.ring, s->uses);
	return true;
}

static int fresh_ring(struct process *p, struct wire_ring *reply)
{
	struct stored_ring stored;
	int error = ring_store_take(p->host->rings, &stored);

	if (error)
		return error;
	reply->index = free_index(p);
	reply->ring_size = stored.ring.size;
	p->slots[reply->index].stored = stored;
	if (stored.ring.size < p->host->conf->shm_ring_size)
		host_warn(p->host, false,
			"memory is short: some threads have rings smaller than shm.ring_size "
			"(%llu bytes), and wait for the agent more often",
			(unsigned long long)p->host->conf->shm_ring_size);
	p->ring_bytes += stored.ring.bytes;
	p->ring_bytes_most = MAX(p->ring_bytes_most, p->ring_bytes);
	return 0;
}

void threads_ring_read(struct process *p, size_t index)
{
	ring_store_read(p->host->rings, &p->slots[index].stored, p->threads[index]->tail);
}

static void free_ring(struct process *p, struct ring_slot *slot, bool again)
{
	if (!slot->stored.ring.base)
		return;
	p->ring_bytes -= slot->stored.ring.bytes;
	ring_store_leave(p->host->rings, &slot->stored, again);
}

/* Ticks, 10 to 40 us: calls that are shorter on average are none of a main loop. */
#define ITERATION_LEAST 40000

static void set_name(struct thread_ring *t, const char *name)
{
	snprintf(t->name, sizeof(t->name), "%s", name);
}

static struct thread_ring *thread_new(
	struct process *p, const struct wire_thread *m, const char *name)
{
	struct thread_ring *t = xcalloc(1, sizeof(*t));
	bool first = !p->threads_ever;

	t->process = p;
	t->tid = m->tid;
	set_name(t, name);
	t->parent = m->parent && m->parent <= p->threads_ever ? m->parent - 1 : PROFILE_NONE;
	t->number = p->threads_ever++;
	t->start_ticks = first ? p->start_ticks : m->head.ticks;
	t->replay = replay_new(t->start_ticks, same_function, p);
	replay_set_mismatch(t->replay, regions_mismatched);
	t->track = traffic_track_new(p->traffic, replay_tree(t->replay));
	replay_set_track(t->replay, t->track);
	if (!p->openmp) {
		p->openmp = openmp_new(is_barrier, p);
		p->locks = locks_new(waited_for_lock, p);
		if (p->sampled)
			locks_tell_parts(p->locks, lay_behind_lock);
	}
	replay_set_openmp(t->replay, p->openmp, t->number);
	replay_set_locks(t->replay, p->locks);
	replay_set_lock_uses(t->replay, p->lock_uses);
	if (p->host->conf->openmp_show_idle_time)
		replay_show_idle(t->replay);
	replay_set_window(t->replay, &p->window, class_of_region);
	if (first && p->host->conf->iterations_active)
		replay_watch_iterations(t->replay, ITERATION_LEAST);
	replay_set_gpu(t->replay, p->gpu);
	replay_set_user_counters(t->replay, &p->user_counters);
	replay_set_files(t->replay, p->files);
	replay_set_memory(t->replay, p->memory);
	replay_set_counters(t->replay, p->host->counters->wanted.n);
	observers_tell(p->host, thread_begin, t);
	if (m->was_recorded)
		replay_inherit(t->replay, (const uint64_t[]){KEY_CUT}, 1, t->start_ticks);
	else if (first)
		inherit_frames(p, t->replay);
	if (first && !m->was_recorded && !p->host->conf->include_cxx_prelude)
		replay_drop_prelude(t->replay, is_main);
	t->epoch = codemap_epochs(p->code) - 1;
	return t;
}

/* Said of the first, and of how many in the logs. */
static void no_ring(struct process *p, int tid, int error)
{
	if (p->untraced_threads++)
		return;
	host_warn(p->host, true,
		"%s: cannot make a ring (%s): thread %d is not traced, nor are others until "
		"one can be made",
		process_name(p), strerror(-error), tid);
}

void threads_begin(struct process *p, const struct wire_thread *m, const char *name)
{
	struct wire_ring reply = {.head = {.kind = WIRE_RING}};
	struct ring_slot *fresh = NULL;
	struct thread_ring *t;

	if (p->n_threads >= THREADS_LIMIT && !p->free_slot && !m->spare) {
		process_quarantine(p, "it asked for more than %u rings", THREADS_LIMIT);
		return;
	}
	if (!spare_ring(p, m->spare, &reply)) {
		reply.error = fresh_ring(p, &reply);
		fresh = reply.error ? NULL : &p->slots[reply.index];
	}
	if (reply.error) {
		no_ring(p, m->tid, reply.error);
	} else {
		t = thread_new(p, m, name);
		t->ring = p->slots[reply.index].stored.ring;
		p->threads[reply.index] = t;
		reply.number = t->number;
	}
	process_answer(p, &reply.head, sizeof(reply), NULL, fresh ? fresh->stored.fd : -1);
	if (fresh)
		ring_store_sent(p->host->rings, &fresh->stored);
}

void threads_begin_outside(struct process *p, int tid, const char *name)
{
	const struct wire_thread m = {.head.ticks = host_ticks(p->host), .tid = tid};
	struct ring empty;
	const int error = ring_store_empty(p->host->rings, &empty);
	uint32_t index;

	if (error || (p->n_threads >= THREADS_LIMIT && !p->free_slot)) {
		no_ring(p, tid, error ? error : -EMFILE);
		return;
	}
	index = free_index(p);
	p->slots[index] = (struct ring_slot){0};
	p->threads[index] = thread_new(p, &m, name);
	p->threads[index]->ring = empty;
}

void threads_end_outside(struct process *p, int tid)
{
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i] && p->threads[i]->tid == tid) {
			threads_end(p, i, host_ticks(p->host), "");
			return;
		}
}

void threads_name(struct process *p, uint64_t index, const char *name)
{
	if (index >= p->n_threads || !p->threads[index] || p->threads[index]->named)
		return;
	set_name(p->threads[index], name);
	observers_tell(p->host, thread_name, p->threads[index]);
}

void threads_name_tid(struct process *p, uint32_t tid, const char *name)
{
	for (size_t i = 0; i < p->n_threads; i++) {
		struct thread_ring *t = p->threads[i];

		if (!t || (uint32_t)t->tid != tid)
			continue;
		set_name(t, name);
		t->named = true;
		observers_tell(p->host, thread_name, t);
	}
}

static void count(struct process *p, struct thread_ring *t)
{
	const struct replay_counts *c = replay_counts(t->replay);
	struct ring_producer_shm *shm = t->ring.producer;

	counters_note(p->host->counters, shm);
	p->ended_counts.records += c->records;
	p->ended_counts.calls += c->calls;
	p->ended_counts.lost += c->lost;
	p->ended_counts.closed += c->closed;
	p->ended_counts.stray += c->stray;
	p->ended_counts.open += c->open;
	t->blocked_ns = load_relaxed(&shm->blocked_ns);
	p->ended_lost += load_relaxed(&shm->lost);
	p->ended_blocked_ns += t->blocked_ns;
	p->ended_lost_messages += load_relaxed(&shm->lost_messages);
}

/* Takes what is left. The ring stays, and is no longer needed. */
static void finish(struct process *p, struct thread_ring *t, uint64_t ticks)
{
	observers_tell(p->host, thread_last, t);
	drain_last(t);
	if (p->control && !t->error)
		replay_counted_rest(t->replay, ring_switched(t->ring.producer),
			control_switches(p->control), load_relaxed(&p->control->counted), ticks);
	replay_end(t->replay, ticks);
	observers_tell(p->host, thread_end, t);
	count(p, t);
}

/* A finished thread is added to the past. Frees t. */
static void close_books(struct process *p, struct thread_ring *t)
{
	struct calltree *tree;

	replay_window_close(t->replay);
	tree = replay_take_tree(t->replay);
	threads_ended_add(p, t, tree);
	if (p->outside) /* what it waits is not known by call path */
		calltree_keep_cpu(tree, t->cpu_ticks);
	calltree_add(p->ended_tree, tree);
	threads_ended_range(p, t, tree);
	traffic_track_end(t->track, p->ended_tree);
	calltree_free(tree);
	replay_free(t->replay);
	free(t);
}

/* The same, unless something of it has no place yet: then that is waited for. */
static void close_books_in_time(struct process *p, struct thread_ring *t)
{
	struct thread_ring **last = &p->unsettled, *oldest = p->unsettled;

	if (replay_settle(t->replay)) {
		close_books(p, t);
		return;
	}
	replay_shrink(t->replay);
	while (*last)
		last = &(*last)->next;
	*last = t;
	if (++p->n_unsettled <= UNSETTLED_MAX)
		return;
	p->unsettled = oldest->next;
	p->n_unsettled--;
	replay_give_up(oldest->replay);
	close_books(p, oldest);
}

void threads_settle(struct process *p)
{
	struct thread_ring **at = &p->unsettled;

	if (!p->openmp || !*openmp_orphans(p->openmp))
		return;
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i])
			replay_settle(p->threads[i]->replay);
	while (*at) {
		struct thread_ring *t = *at;

		if (!replay_settle(t->replay)) {
			at = &t->next;
			continue;
		}
		*at = t->next;
		p->n_unsettled--;
		close_books(p, t);
	}
}

void threads_end(struct process *p, uint64_t index, uint64_t ticks, const char *name)
{
	bool keep = index & WIRE_RING_KEPT;
	struct thread_ring *t;

	index &= ~WIRE_RING_KEPT;
	if (index >= p->n_threads || !p->threads[index])
		return;
	t = p->threads[index];
	if (name[0] && !t->named) {
		set_name(t, name);
		observers_tell(p->host, thread_name, t);
	}
	keep = keep && !t->error;
	finish(p, t, ticks);
	p->threads[index] = NULL;
	close_books_in_time(p, t);
	if (!keep) {
		free_ring(p, &p->slots[index], false);
		give_up_index(p, (uint32_t)index);
	}
}

static void warn_limits(const struct process *p)
{
	const char *text;

	for (unsigned i = 0; (text = openmp_limit_reached(p->openmp, i)); i++)
		host_warn(p->host, false, "%s: %s", process_name(p), text);
	if (locks_cut(p->locks))
		host_warn(p->host, false,
			"%s: it has more waits for locks at a time than are kept: of some it is "
			"not known who had the lock",
			process_name(p));
}

void threads_all_end(struct process *p, uint64_t ticks)
{
	/* of a process that was killed, a child of vfork() may still run, and write */
	bool well = p->end == PROCESS_EXITED && !p->quarantined;

	drain_ended(p);
	/* all are read before anything is given a place that may be wrong */
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i])
			finish(p, p->threads[i], ticks);
	if (p->openmp)
		openmp_no_more(p->openmp);
	for (size_t i = 0; i < p->n_threads; i++) {
		bool again = well;

		if (p->threads[i]) {
			again = again && !p->threads[i]->error;
			replay_settle(p->threads[i]->replay);
			close_books(p, p->threads[i]);
			p->threads[i] = NULL;
		}
		free_ring(p, &p->slots[i], again);
	}
	threads_settle(p);
	if (p->openmp) {
		locks_settle(p->locks, UINT64_MAX);
		openmp_end(p->openmp);
		warn_limits(p);
	}
	if (p->untraced_threads)
		host_warn(p->host, false, "%s: %u %s not traced", process_name(p),
			p->untraced_threads,
			one_or_many(p->untraced_threads,
				"thread had no memory for its events and was",
				"threads had no memory for their events and were"));
}

void threads_free(struct process *p)
{
	for (size_t i = 0; i < p->n_ended_threads; i++)
		threads_ended_done(&p->ended_threads[i]);
	free(p->ended_threads);
	threads_ended_free(p);
	free(p->threads);
	free(p->slots);
}
