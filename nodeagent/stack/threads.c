/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of one process: those that have rings, and those that /proc alone knows. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/threads.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/replay/stack-samples.h"
#include "nodeagent/replay/tree/stack-time.h"
#include "nodeagent/stack/events.h"
#include "nodeagent/stack/functions.h"
#include "nodeagent/stack/internal.h"
#include "nodeagent/stack/timers.h"
#include "nodeagent/stack/unwind.h"
#include "shm/clock.h"

#define PATH_NODES_MAX	   (1u << 18)		/* of one process */
#define READ_AT_ONCE	   16			/* samples of a thread */
#define REFRESH_NS	   UINT64_C(100000000)	/* between two looks for new files, at least ... */
#define REFRESH_MOST	   UINT64_C(6400000000) /* ... and as long as they find nothing, this */
#define COMPARE_NS	   UINT64_C(1000000000) /* between two looks for others in their place */
#define TIMED_THREADS_MOST 65536		/* of a process that says so */
#define THREADS_TRIED	   8			/* for a look at the files of their process */
#define CUT_MOST	   3			/* samples without the first frames of a thread */

struct sampled_thread {
	int tid;
	struct stack_events *events; /* NULL: not opened yet, or it cannot be */
	bool failed;
	enum stack_depth depth;
	bool asked_deep;       /* once */
	unsigned cut;	       /* samples that lack frames, as the stack is larger */
	struct replay *replay; /* its ring's; or its own, if it has samples */
	bool own;
	uint64_t last_ticks; /* of samples by a timer */
	uint64_t cpu_ns;     /* it had while its events were open that are closed now */
	bool seen;	     /* in /proc, at the last look */
};

struct stack_process {
	struct stacks *all;
	struct process *p;
	struct unwinder *unwinder; /* NULL: not yet, or it cannot be */
	struct stack_functions *functions;
	struct calltree *paths;
	uint64_t refreshed_ns, refresh_ns; /* the last look for files, and until the next one */
	uint32_t epochs;		   /* of the code map, then */
	uint64_t compared_ns, mapped_code; /* the last look for others in their place; what was */
	struct sampled_thread *threads;
	size_t n_threads, cap_threads;
	struct sampled_thread *reading;
	struct stack_timers *timers; /* NULL: the kernel takes the samples */
	bool is_new;		     /* a thread has come since the last look */
};

struct stack_process *stack_process_new(struct stacks *s, struct process *p)
{
	struct stack_process *f = xcalloc(1, sizeof(*f));

	f->all = s;
	f->p = p;
	f->paths = calltree_new();
	f->is_new = p->outside;
	f->timers = s->by_timers && !p->outside ? stacks_new_timers(s, p) : NULL;
	return f;
}

static size_t rings_of(enum stack_depth depth)
{
	return stack_events_bytes(depth) / stack_events_bytes(STACK_USUAL);
}

static void close_events(struct stack_process *f, struct sampled_thread *t)
{
	if (!t->events)
		return;
	f->all->lost += stack_events_lost(t->events);
	t->cpu_ns += stack_events_cpu_ns(t->events);
	f->all->rings -= rings_of(t->depth);
	stack_events_close(t->events);
	t->events = NULL;
}

static void forget_files(struct stack_process *f)
{
	stack_functions_free(f->functions);
	unwinder_free(f->unwinder);
	f->functions = NULL;
	f->unwinder = NULL;
}

static void close_timers(struct stack_process *f)
{
	stacks_free_timers(f->all, f->p, f->timers);
	f->timers = NULL;
}

void stack_process_free(struct stack_process *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n_threads; i++) {
		close_events(f, &f->threads[i]);
		if (f->threads[i].own)
			replay_free(f->threads[i].replay);
	}
	free(f->threads);
	forget_files(f);
	close_timers(f);
	calltree_free(f->paths);
	free(f);
}

/* ---- samples ---------------------------------------------------------------- */

/* tid: a thread of it; the maps of a first thread that has ended are empty. */
static bool has_unwinder(struct stack_process *f, int tid)
{
	if (f->unwinder)
		return true;
	f->unwinder = unwinder_new(f->p->pid);
	if (!f->unwinder && tid != f->p->pid)
		f->unwinder = unwinder_new(tid);
	if (!f->unwinder)
		return false;
	f->refreshed_ns = clock_raw_ns();
	f->refresh_ns = REFRESH_NS;
	f->epochs = codemap_epochs(f->p->code);
	f->functions = stack_functions_new(f->p, f->unwinder);
	return true;
}

/* One that is not ours does not say that it unloads a file; another one, or a newer one of the same
 * name, may have come into its place. */
static void compare_files(struct stack_process *f)
{
	const uint64_t now = clock_raw_ns(), before = f->mapped_code;

	if (!f->p->outside || !f->unwinder || now - f->compared_ns < COMPARE_NS)
		return;
	f->compared_ns = now;
	f->mapped_code = procfs_mapped_code(f->p->pid);
	if (!f->mapped_code) /* it ends: what was known still holds */
		f->mapped_code = before;
	else if (before && before != f->mapped_code)
		forget_files(f);
}

static void refresh_files(struct stack_process *f)
{
	unwinder_refresh(f->unwinder);
	stack_functions_forget(f->functions);
	f->refreshed_ns = clock_raw_ns();
	f->epochs = codemap_epochs(f->p->code);
}

/* Of a place in no file that is known: was something loaded since? Code that the program has made
 * itself is in none. */
static bool finds_file(struct stack_process *f, uint64_t pc)
{
	if (unwinder_knows(f->unwinder, pc) || clock_raw_ns() - f->refreshed_ns < f->refresh_ns)
		return false;
	refresh_files(f);
	if (unwinder_knows(f->unwinder, pc)) {
		f->refresh_ns = REFRESH_NS;
		return true;
	}
	if (f->refresh_ns < REFRESH_MOST)
		f->refresh_ns *= 2;
	return false;
}

/* As often as it leads on to another frame: callers may be in other new files. */
static size_t frames_of(
	struct stack_process *f, const struct stack_raw *raw, uint64_t *pcs, bool *whole)
{
	size_t n;

	if (f->epochs != codemap_epochs(f->p->code)) /* something was unloaded */
		refresh_files(f);
	do
		n = unwinder_frames(f->unwinder, raw, pcs, whole);
	while (!*whole && n && finds_file(f, pcs[n - 1]));
	return n;
}

static void take_sample(void *ctx, const struct stack_raw *raw)
{
	struct stack_process *f = ctx;
	uint64_t pcs[UNWIND_FRAMES_MAX];
	struct stack_sample s;
	bool whole;
	size_t n;

	if (calltree_nodes(f->paths) >= PATH_NODES_MAX) {
		f->all->lost++;
		return;
	}
	n = frames_of(f, raw, pcs, &whole);
	s = (struct stack_sample){
		.ticks = raw->ticks ? raw->ticks : stacks_ticks(f->all, raw->raw_ns),
		.weight = stacks_weight(f->all, raw->period_ns)};
	stack_functions_path(f->functions, f->paths, pcs, n, whole, &s);
	f->all->samples++;
	f->reading->cut += !whole && raw->is_cut;
	if (s.path->parent)
		replay_add_stack_sample(f->reading->replay, &s);
}

static struct sampled_thread *find_thread(const struct stack_process *f, int tid)
{
	return FIND(x, f->threads, f->n_threads, x->tid == tid);
}

/* Of a thread that records nothing, or is not known yet, the tree is its own. */
static struct sampled_thread *timed_thread(struct stack_process *f, int tid)
{
	struct sampled_thread *t = find_thread(f, tid);

	if (!t && f->n_threads < TIMED_THREADS_MOST) {
		t = LIST_ADD(f, threads);
		*t = (struct sampled_thread){.tid = tid, .own = true};
	}
	if (t && !t->replay && t->own)
		t->replay = replay_new(host_ticks(f->p->host), NULL, NULL);
	return t && t->replay ? t : NULL;
}

static void take_timed(void *ctx, int tid, const struct stack_raw *raw)
{
	struct stack_process *f = ctx;
	struct stack_raw s = *raw;

	f->reading = timed_thread(f, tid);
	if (!f->reading) {
		f->all->lost++;
		return;
	}
	s.ticks = MIN(s.ticks, host_ticks(f->p->host));
	s.ticks = MAX(s.ticks, f->reading->last_ticks);
	f->reading->last_ticks = s.ticks;
	take_sample(f, &s);
}

/* By its first thread, or by one that came later. */
static bool has_any_unwinder(struct stack_process *f)
{
	bool has = has_unwinder(f, f->p->pid);

	for (size_t i = 0; !has && i < MIN(f->n_threads, THREADS_TRIED); i++)
		has = has_unwinder(f, f->threads[f->n_threads - 1 - i].tid);
	return has;
}

static void read_timers(struct stack_process *f, size_t most)
{
	if (f->timers && has_any_unwinder(f))
		stack_timers_read(f->timers, most, take_timed, f);
}

/* If there is no room, it stays as it is. */
static void store_more(struct stack_process *f, struct sampled_thread *t)
{
	const size_t rings = rings_of(STACK_DEEP);
	struct stack_events *events = NULL;
	int error;

	t->asked_deep = true;
	if (f->all->rings + rings <= f->all->rings_most)
		events = stack_events_open(t->tid, f->all->period_ns, STACK_DEEP, &error);
	if (events) {
		close_events(f, t);
		t->events = events;
		t->depth = STACK_DEEP;
		f->all->rings += rings;
	}
}

static void read_thread(struct stack_process *f, struct sampled_thread *t, size_t most)
{
	if (!t->events || !has_unwinder(f, t->tid))
		return;
	f->reading = t;
	if (!stack_events_read(t->events, most, take_sample, f)) {
		close_events(f, t);
		t->failed = true; /* another program runs there */
		f->p->other_program = true;
	} else if (t->cut >= CUT_MOST && !t->asked_deep) {
		store_more(f, t);
	}
}

void stack_process_set_period(struct stack_process *f)
{
	if (f->timers)
		stack_timers_set_period(f->timers, f->all->period_ns);
	for (size_t i = 0; i < f->n_threads; i++)
		if (f->threads[i].events)
			stack_events_set_period(f->threads[i].events, f->all->period_ns);
}

/* ---- threads that come and go ------------------------------------------------- */

static void forget_thread(struct stack_process *f, struct sampled_thread *t)
{
	close_events(f, t);
	*t = f->threads[--f->n_threads];
}

/* Its own tree becomes part of that of the process. Frees its replay. */
static void close_own(struct stack_process *f, struct sampled_thread *t, uint64_t ticks)
{
	struct calltree *tree;

	t->own = false;
	if (!t->replay)
		return;
	replay_end(t->replay, ticks);
	tree = replay_take_tree(t->replay);
	calltree_keep_cpu(tree, 0); /* many are there to wait */
	calltree_add(f->p->ended_tree, tree);
	calltree_free(tree);
	replay_free(t->replay);
}

void stack_process_thread(struct stack_process *f, struct thread_ring *ring)
{
	struct sampled_thread *t = find_thread(f, ring->tid);

	if (!t) {
		*LIST_ADD(f, threads) = (struct sampled_thread){.tid = ring->tid};
		t = &f->threads[f->n_threads - 1];
	}
	if (t->own) { /* it ran before it recorded anything */
		read_timers(f, SIZE_MAX);
		t = find_thread(f, ring->tid);
		read_thread(f, t, SIZE_MAX);
		close_own(f, t, ring->start_ticks);
	}
	t->replay = ring->replay;
	t->seen = f->p->outside; /* in the look that goes on */
	f->is_new = true;
}

void stack_process_thread_ends(struct stack_process *f, struct thread_ring *ring)
{
	struct sampled_thread *t;

	read_timers(f, SIZE_MAX);
	t = find_thread(f, ring->tid);
	if (!t || t->own || t->replay != ring->replay)
		return;
	read_thread(f, t, SIZE_MAX);
	close_events(f, t);
	ring->cpu_ticks = stacks_weight(f->all, t->cpu_ns);
	forget_thread(f, t);
}

static void open_thread(struct stack_process *f, struct sampled_thread *t)
{
	int error = 0;

	if (t->events || t->failed || f->timers || f->all->by_timers || f->all->refused)
		return;
	error = stacks_room(f->all);
	if (!error)
		t->events = stack_events_open(t->tid, f->all->period_ns, STACK_USUAL, &error);
	if (t->events)
		f->all->rings++;
	else if (error != ESRCH) /* it has ended */
		stacks_refused(f->all, f->p, error);
	t->failed = !t->events;
	if (t->events && t->own)
		t->replay = replay_new(host_ticks(f->p->host), NULL, NULL);
}

/* stack_process_thread() takes it; the process does not tell. */
static void begin_outside(struct stack_process *f, int tid)
{
	char name[16];

	if (procfs_thread_name(f->p->pid, tid, name))
		threads_begin_outside(f->p, tid, name);
}

/* A thread that has no ring is of this process alone, as no record was told of it. */
static void note_thread(struct stack_process *f, const struct map64 *by_tid, int tid)
{
	const uint32_t *at = map64_find(by_tid, (uint64_t)tid);

	if (at)
		f->threads[*at].seen = true;
	else if (f->p->outside)
		begin_outside(f, tid);
	else
		*LIST_ADD(f, threads) =
			(struct sampled_thread){.tid = tid, .own = true, .seen = true};
}

static bool look_in_proc(struct stack_process *f)
{
	struct map64 by_tid = {0}; /* there may be very many */
	char path[32];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", f->p->pid);
	d = opendir(path);
	if (!d)
		return false;
	for (size_t i = 0; i < f->n_threads; i++) {
		f->threads[i].seen = false;
		map64_add(&by_tid, (uint64_t)f->threads[i].tid, (uint32_t)i);
	}
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			note_thread(f, &by_tid, atoi(e->d_name));
	closedir(d);
	map64_free(&by_tid);
	return true;
}

void stack_process_look(struct stack_process *f)
{
	f->is_new = false;
	if (f->all->refused || !look_in_proc(f))
		return;
	read_timers(f, SIZE_MAX); /* before those that have ended are forgotten */
	for (size_t i = f->n_threads; i-- > 0;) {
		struct sampled_thread *t = &f->threads[i];

		if (t->own && !t->seen) {
			read_thread(f, t, SIZE_MAX);
			close_own(f, t, host_ticks(f->p->host));
			forget_thread(f, t);
		} else if (f->p->outside && !t->seen) {
			threads_end_outside(f->p, t->tid);
		} else if (t->seen) { /* what a ring says of its thread may be wrong */
			open_thread(f, t);
		}
	}
	compare_files(f);
	has_unwinder(f, f->p->pid); /* the process may be gone when its first samples are read */
}

void stack_process_end(struct stack_process *f, uint64_t ticks)
{
	read_timers(f, SIZE_MAX);
	if (getpid() == f->all->owner)
		close_timers(f);
	for (size_t i = f->n_threads; i-- > 0;) {
		struct sampled_thread *t = &f->threads[i];

		if (t->own) {
			if (getpid() == f->all->owner)
				read_thread(f, t, SIZE_MAX);
			close_own(f, t, ticks);
		}
		forget_thread(f, t);
	}
	forget_files(f);
}

void stack_process_open(struct stack_process *f)
{
	if (f->is_new)
		stack_process_look(f);
}

void stack_process_read(struct stack_process *f)
{
	read_timers(f, READ_AT_ONCE * (f->n_threads + 1));
	for (size_t i = 0; i < f->n_threads; i++)
		read_thread(f, &f->threads[i], READ_AT_ONCE);
}
