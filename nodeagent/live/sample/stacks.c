/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/live/sample/stacks.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/hash.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/sample/locks.h"
#include "nodeagent/live/sample/unpublished.h"
#include "nodeagent/live/sample/waits.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/replay/comm/waiting.h"
#include "nodeagent/replay/shadow.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/symbols/demangle.h"

#define FRAMES_SEEN  512u
#define INNER_FRAMES 4u /* that stay where a path is too long */

struct stacks {
	struct host *host;
	struct where *where;
	const struct process *p;
	struct name_style style;
	uint32_t rank; /* or WHERE_NO_RANK */
	uint32_t threads;
	bool stopped;
	struct map32 called; /* number of a communicator -> as in struct traffic_group */
};

/* ---- one thread --------------------------------------------------------------------------- */

static uint64_t ns_between(const struct host *host, uint64_t from, uint64_t to)
{
	return to > from ? clocks_ns(&host->clocks, to - from) : 0;
}

/*
 * The path's text, outermost frame first; frames in the middle give way to a word about them. open:
 * n of all frames, as replay_open_nodes() has them.
 */
static void write_path(
	struct stacks *s, const struct node *const *open, size_t n, size_t all, char *path)
{
	char **names = xmalloc((n + 1) * sizeof(*names));
	size_t bytes = 0, used = 0, inner = n < INNER_FRAMES ? 0 : n - INNER_FRAMES;
	const size_t outer = all > n ? n / 2 : n;

	for (size_t i = 0; i < n; i++) {
		names[i] =
			name_shown(symcache_name(s->host->symbols, s->p, open[i]->key), &s->style);
		bytes += strlen(names[i]) + 1;
	}
	while (inner && (bytes + 32 > WHERE_PATH_BYTES || inner > outer))
		bytes -= strlen(names[--inner]) + 1;
	for (size_t i = 0; i < n && used + 1 < WHERE_PATH_BYTES; i++) {
		if (i == inner && n >= INNER_FRAMES && inner != n - INNER_FRAMES) {
			used += (size_t)snprintf(path + used, WHERE_PATH_BYTES - used,
				"%s(%zu left out)", used ? "\n" : "", all - INNER_FRAMES - inner);
			i = n - INNER_FRAMES;
		}
		if (used + 1 < WHERE_PATH_BYTES)
			used += (size_t)snprintf(path + used, WHERE_PATH_BYTES - used, "%s%s",
				used ? "\n" : "", names[i]);
	}
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static void settle_place(const struct stacks *s, struct where_place *place)
{
	uint64_t key[] = {stack_hash(place->path, strlen(place->path) + 1), place->comm,
		place->call, place->state, stack_hash(place->lock, strlen(place->lock) + 1),
		stack_hash(place->holder, strlen(place->holder) + 1)};

	place->hash = stack_hash(key, sizeof(key));
	place->pid = (uint32_t)s->p->pid;
	place->processes = 1;
	if (s->rank != WHERE_NO_RANK)
		where_add_ranks(&place->ranks, s->rank, s->rank);
}

static void look_at_thread(struct stacks *s, const struct thread_ring *t, uint64_t now,
	struct where_place *place, struct locked_thread *locked)
{
	const struct node **open = xmalloc(FRAMES_SEEN * sizeof(*open));
	struct replay *shadow = replay_shadow(t->replay);
	const struct replay *r = t->replay;
	struct unpublished words;
	struct waiting_thread who = {.thread = t,
		.words = &words,
		.rank = s->rank,
		.alone = s->threads == 1 && !s->stopped};
	size_t all, n;

	unpublished_read(&words, t, &s->called);
	if (shadow && drain_shadow(t, shadow) && replay_counts(shadow)->records)
		r = shadow;
	all = replay_open_nodes(r, open, FRAMES_SEEN);
	n = all < FRAMES_SEEN ? all : FRAMES_SEEN;
	*place = (struct where_place){
		.threads = 1, .state = s->stopped ? WHERE_STOPPED : WHERE_RUNS};
	place->since_least = place->since_most = ns_between(s->host, replay_last_ticks(r), now);
	write_path(s, open, n, all, place->path);
	who.function = n ? key_mpi(open[n - 1]->key) : KEY_NO_MPI;
	place->in_mpi = who.function != KEY_NO_MPI;
	if (place->in_mpi)
		waits_look(&who, s->where, place);
	locked->place = place;
	locks_note(locked, t, &words);
	unpublished_free(&words);
	replay_free(shadow);
	free(open);
}

/* ---- a process ----------------------------------------------------------------------------- */

static void add_members(void *ctx, uint32_t first, int32_t stride, uint32_t n)
{
	struct where_ranks *to = ctx;

	if (stride == 1 || n == 1) {
		where_add_ranks(to, first, first + n - 1);
		return;
	}
	for (uint32_t i = 0; i < n && !to->cut; i++) {
		const uint32_t rank = (uint32_t)(first + (int64_t)i * stride);

		where_add_ranks(to, rank, rank);
	}
}

/* Any member may end a wait of this process's; members are known by rows of their communicator. */
static bool awaits_anyone(const struct stacks *s, uint64_t comm_id)
{
	EACH(const struct where_wait, wait, s->where->waits, s->where->n_waits)
		if (wait->rank == s->rank && wait->peer == WHERE_ANY && wait->comm_id == comm_id)
			return true;
	return false;
}

static void add_group(void *ctx, const struct traffic_group *g)
{
	struct stacks *s = ctx;
	const uint32_t *later = map32_find(&s->called, g->number);
	const uint32_t called =
		later && (!g->called || where_is_later(*later, g->called)) ? *later : g->called;
	struct where_comm c = {.id = g->id, .call = called - 1, .size = g->size};

	if (s->rank == WHERE_NO_RANK || (!called && !awaits_anyone(s, g->id)))
		return;
	snprintf(c.name, sizeof(c.name), "%s", g->name ? g->name : "");
	where_add_ranks(&c.ranks, s->rank, s->rank);
	traffic_members(s->p->traffic, g->number, add_members, &c.members);
	where_add_comm(s->where, &c);
}

/* Threads of one process at one place are that process once. */
static void look_at_threads(struct stacks *s)
{
	struct where_place *places = xmalloc((s->p->n_threads + 1) * sizeof(*places));
	struct locked_thread *locked = xcalloc(s->p->n_threads + 1, sizeof(*locked));
	const uint64_t now = host_ticks(s->host);
	size_t n = 0;

	for (size_t i = 0; i < s->p->n_threads; i++)
		s->threads += s->p->threads[i] != NULL;
	for (size_t i = 0; i < s->p->n_threads; i++)
		if (s->p->threads[i]) {
			look_at_thread(s, s->p->threads[i], now, &places[n], &locked[n]);
			n++;
		}
	locks_look(s->host->symbols, s->p, s->rank, locked, n, s->where);
	for (size_t i = 0; i < n; i++) {
		places[i].alone = n == 1;
		settle_place(s, &places[i]);
		for (size_t k = 0; k < i && places[i].processes; k++)
			places[i].processes = places[k].hash != places[i].hash;
		where_add_place(s->where, &places[i]);
	}
	s->where->threads += (uint32_t)n;
	locks_forget(locked, n);
	free(places);
}

/* One that has ended by no call of its own. */
static void add_dead(struct stacks *s)
{
	struct where_place place = {.threads = 1, .state = WHERE_ENDED, .alone = 1};
	const uint64_t ended = s->p->end_ticks;

	if (s->p->end != PROCESS_KILLED)
		return;
	if (s->p->exit_status > 0)
		snprintf(place.path, sizeof(place.path), "(ended by signal %d)", s->p->exit_status);
	else
		snprintf(place.path, sizeof(place.path), "(ended without a word)");
	place.since_least = place.since_most = ns_between(s->host, ended, host_ticks(s->host));
	settle_place(s, &place);
	where_add_place(s->where, &place);
}

static void look_at_process(struct stacks *s, const struct process *p)
{
	const int rank = p->rank != WIRE_UNKNOWN ? p->rank : p->rank_hint;

	s->p = p;
	s->rank = rank == WIRE_UNKNOWN ? WHERE_NO_RANK : (uint32_t)rank;
	s->threads = 0;
	s->called = (struct map32){0};
	s->stopped = !p->ended && procfs_is_stopped(p->pid);
	if (s->rank != WHERE_NO_RANK)
		where_add_ranks(&s->where->ranks, s->rank, s->rank);
	if (p->ended) {
		add_dead(s);
	} else {
		s->where->processes++;
		look_at_threads(s);
	}
	if (p->traffic)
		traffic_groups(p->traffic, add_group, s);
	map32_free(&s->called);
}

void stacks_look(struct host *host, struct where *w)
{
	struct stacks s = {.host = host, .where = w, .style = name_style_of(host->conf)};

	memset(w, 0, sizeof(*w));
	w->nodes = 1;
	symcache_may_read(host->symbols, false);
	for (const struct process *p = host->processes; p; p = p->next)
		if (p->greeted)
			look_at_process(&s, p);
	symcache_may_read(host->symbols, true);
}
