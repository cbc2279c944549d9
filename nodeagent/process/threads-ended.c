/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/threads-ended.h"

#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/base/map.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/process/threads.h"
#include "nodeagent/replay/openmp/teams.h"

/* Time below the root: that of the functions called there, but not of idleness. */
static uint64_t function_ticks(struct calltree *tree)
{
	const struct node *root = calltree_root(tree);
	uint64_t sum = 0;

	for (size_t i = 1; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		if (n->parent == root && n->key != KEY_IDLE)
			sum += n->ticks;
	}
	return sum;
}

static const struct node_counters *counters_of(const struct node *n)
{
	return n->extra ? n->extra->counters : NULL;
}

static void add_counts(uint64_t *to, uint32_t n_counters, const struct node *n)
{
	const struct node_counters *from = counters_of(n);

	for (uint32_t i = 0; from && i < from->n && i < n_counters; i++)
		to[i] += from->of[i];
}

/* The tree as an array. KEY_DEEP gets the sum of what is below it: calltree.h. */
static void keep_nodes(struct ended_thread *ended, struct calltree *tree)
{
	struct map64 index = {0};

	ended->nodes = xcalloc(calltree_nodes(tree), sizeof(*ended->nodes));
	if (ended->n_counters)
		ended->node_counts =
			xcalloc(calltree_nodes(tree) * ended->n_counters, sizeof(uint64_t));
	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);
		struct ended_node *to = &ended->nodes[ended->n_nodes];

		if (i && (key_is_orphan(n->key) || !map64_find(&index, (uintptr_t)n->parent)))
			continue; /* an empty orphan subtree */
		*to = (struct ended_node){.key = n->key,
			.calls = n->calls,
			.lost = n->extra ? n->extra->lost : 0,
			.ticks = n->key == KEY_DEEP ? 0 : n->ticks,
			.parent = i ? *map64_find(&index, (uintptr_t)n->parent) : PROFILE_NONE};
		if (i && n->parent->key == KEY_DEEP)
			ended->nodes[to->parent].ticks += n->ticks;
		if (ended->n_counters)
			add_counts(ended->node_counts + ended->n_nodes * ended->n_counters,
				ended->n_counters, n);
		map64_add(&index, (uintptr_t)n, (uint32_t)ended->n_nodes++);
	}
	map64_free(&index);
}

static struct ended_thread *new_entry(struct process *p)
{
	p->ended_threads = grow(p->ended_threads, p->n_ended_threads, &p->cap_ended_threads,
		sizeof(*p->ended_threads));
	return memset(&p->ended_threads[p->n_ended_threads++], 0, sizeof(*p->ended_threads));
}

static void add_messages(struct ended_thread *ended, struct calltree *tree)
{
	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		if (!n->extra)
			continue;
		ended->sends += n->extra->messages.sends;
		ended->receives += n->extra->messages.receives;
		ended->bytes_sent += n->extra->messages.bytes_sent;
		ended->bytes_received += n->extra->messages.bytes_received;
	}
}

/* The entry that all further threads share: the last one. */
static struct ended_thread *others(struct process *p)
{
	struct ended_thread *last =
		p->n_ended_threads ? &p->ended_threads[p->n_ended_threads - 1] : NULL;

	if (last && last->number == PROFILE_NONE)
		return last;
	last = new_entry(p);
	last->number = last->parent = PROFILE_NONE;
	strcpy(last->name, "other threads");
	return last;
}

void threads_ended_add(struct process *p, const struct thread_ring *t, struct calltree *tree)
{
	const char *wanted = p->host->conf->profile_table_threads;
	const struct replay_counts *c = replay_counts(t->replay);
	bool all = !strcmp(wanted, "all"), full;
	struct ended_thread *ended;

	if (!strcmp(wanted, "none") && !strcmp(p->host->conf->logfile_for_ranks, "none"))
		return;
	full = (p->n_ended_threads &&
		       p->ended_threads[p->n_ended_threads - 1].number == PROFILE_NONE) ||
	       p->n_ended_threads >= THREADS_KEPT ||
	       (all && p->each_nodes + calltree_nodes(tree) > ENDED_NODES_MAX);
	ended = full ? others(p) : new_entry(p);
	if (!ended->counts && p->host->counters->wanted.n) {
		ended->n_counters = p->host->counters->wanted.n;
		ended->counts = xcalloc(ended->n_counters, sizeof(*ended->counts));
	}
	if (!full) {
		ended->number = t->number;
		ended->parent = t->parent;
		ended->tid = t->tid;
		ended->start_ticks = t->start_ticks;
		memcpy(ended->name, t->name, sizeof(ended->name));
		if (all) {
			keep_nodes(ended, tree);
			p->each_nodes += ended->n_nodes;
		}
	}
	ended->threads++;
	ended->alive_ticks += calltree_root(tree)->ticks + replay_blocked_ticks(t->replay);
	ended->function_ticks += function_ticks(tree);
	ended->calls += c->calls;
	ended->records += c->records;
	ended->lost += c->lost;
	ended->blocked_ns += t->blocked_ns;
	ended->team_ticks += replay_team_times(t->replay)->ticks;
	ended->team_parts += replay_team_times(t->replay)->parts;
	ended->team_wait += replay_team_times(t->replay)->wait;
	ended->team_join += replay_team_times(t->replay)->outer_join;
	add_messages(ended, tree);
	for (size_t i = 0; ended->n_counters && i < calltree_nodes(tree); i++)
		add_counts(ended->counts, ended->n_counters, calltree_at(tree, i));
}

void threads_ended_done(struct ended_thread *ended)
{
	free(ended->nodes);
	free(ended->counts);
	free(ended->node_counts);
}

/* ---- exclusive times over threads ------------------------------------------------- */

struct thread_ranges {
	struct map64 at; /* node of process.ended_tree -> index */
	struct thread_range *of;
	size_t n, cap;
	struct map64 awaited_at; /* what threads_ended_awaited() has said: node -> index */
	const struct node **awaited;
	size_t n_awaited, cap_awaited;
};

static struct thread_range *range_of(struct thread_ranges *r, const struct node *n)
{
	const uint32_t *known = map64_find(&r->at, (uintptr_t)n);

	if (known)
		return &r->of[*known];
	map64_add(&r->at, (uintptr_t)n, (uint32_t)r->n);
	r->of = grow(r->of, r->n, &r->cap, sizeof(*r->of));
	r->of[r->n] = (struct thread_range){0};
	return &r->of[r->n++];
}

static void widen(struct thread_range *r, uint64_t ticks, uint32_t thread)
{
	if (!r->threads || ticks < r->min || (ticks == r->min && thread < r->thread_min)) {
		r->min = ticks;
		r->thread_min = thread;
	}
	if (!r->threads || ticks > r->max || (ticks == r->max && thread < r->thread_max)) {
		r->max = ticks;
		r->thread_max = thread;
	}
	r->threads++;
}

/* Of node i; of what is below KEY_DEEP it is what the node has, and KEY_DEEP has none. */
static uint64_t exclusive(struct calltree *tree, size_t i, const uint64_t *below)
{
	const struct node *n = calltree_at(tree, i);

	if (n->key == KEY_DEEP)
		return 0;
	return n->ticks > below[i] ? n->ticks - below[i] : 0;
}

void threads_ended_range(struct process *p, const struct thread_ring *t, struct calltree *tree)
{
	size_t n = calltree_nodes(tree);
	struct map64 index = {0};
	uint64_t *below;

	if (!strcmp(p->host->conf->profile_table_threads, "none") && !p->openmp)
		return;
	if (!p->ranges)
		p->ranges = xcalloc(1, sizeof(*p->ranges));
	below = xcalloc(n, sizeof(*below));
	for (size_t i = 0; i < n; i++)
		map64_add(&index, (uintptr_t)calltree_at(tree, i), (uint32_t)i);
	for (size_t i = n; i-- > 1;) {
		const struct node *at = calltree_at(tree, i);
		uint32_t above = *map64_find(&index, (uintptr_t)at->parent);

		below[above] += at->key == KEY_DEEP ? below[i] : at->ticks;
	}
	for (size_t i = 0; i < n; i++) {
		const struct node *at = calltree_at(tree, i);
		uint64_t ticks = exclusive(tree, i, below);

		/* an empty orphan subtree has no place, and above a worker's frames are those of
		 * others */
		if (at->counterpart && (at->calls || ticks || !i))
			widen(range_of(p->ranges, at->counterpart), ticks, t->number);
	}
	free(below);
	map64_free(&index);
}

const struct thread_range *threads_ended_range_of(const struct process *p, const struct node *n)
{
	const uint32_t *i = p->ranges ? map64_find(&p->ranges->at, (uintptr_t)n) : NULL;

	return i ? &p->ranges->of[*i] : NULL;
}

/* ---- the thread for which a team waits ------------------------------------------------------- */

/* Of what threads of a team wait for each other, and of what the first one does: half or more. */
#define MOSTLY(part, all) (2 * (part) >= (all))

static bool waits_for_team(const struct process *p, const struct node *n)
{
	switch (regions_kind_of_key(p, n->key)) {
	case CONSTRUCT_JOIN:
	case CONSTRUCT_BARRIER:
	case CONSTRUCT_BARRIER_IMPLICIT:
		return true;
	case CONSTRUCT_PARALLEL: /* else it has a frame of its own */
		return !p->host->conf->openmp_show_idle_time;
	default:
		return false;
	}
}

static const struct node *region_around(const struct process *p, const struct node *n)
{
	while (n && regions_kind_of_key(p, n->key) != CONSTRUCT_PARALLEL)
		n = n->parent;
	return n;
}

/* root: that of a; b is below the root of its tree. */
static bool same_path(const struct node *root, const struct node *a, const struct node *b)
{
	while (a != root && b->parent && a->key == b->key) {
		a = a->parent;
		b = b->parent;
	}
	return a == root && !b->parent;
}

static const struct openmp_region *team_sums(const struct process *p, const struct node *region)
{
	size_t n = 0;
	const struct openmp_region *r = p->openmp ? openmp_regions(p->openmp, &n) : NULL;

	return FIND(x, r, n, same_path(openmp_root(p->openmp), x->path, region));
}

static uint64_t exclusive_sum(const struct node *n)
{
	uint64_t ticks = n->ticks;
	const struct node *c = n->child;

	if (n->key == KEY_DEEP || c == &calltree_none)
		return 0;
	do {
		ticks -= c->ticks < ticks ? c->ticks : ticks;
		c = c->sibling;
	} while (c != n->child);
	return ticks;
}

/* How much longer than the mean of its team the slowest thread works in this frame. */
static uint64_t beyond_mean(
	const struct node *n, const struct thread_range *range, uint32_t threads)
{
	const uint64_t mean = exclusive_sum(n) / (threads ? threads : 1);

	return range->max > mean ? range->max - mean : 0;
}

/* Of a wait, which may count for the region around it. */
static const struct thread_range *own_range(
	const struct process *p, const struct node *n, const struct node *region)
{
	return threads_ended_range_of(p, n) ?: threads_ended_range_of(p, region);
}

static const struct node *find_awaited(const struct process *p, const struct node *n)
{
	const struct node *region = waits_for_team(p, n) ? region_around(p, n) : NULL;
	const struct openmp_region *sums = region ? team_sums(p, region) : NULL;
	const struct thread_range *own = region ? own_range(p, n, region) : NULL, *range;
	const struct node *found = n;
	uint64_t most = 0;

	for (size_t i = 0; sums && own && i < calltree_nodes(p->ended_tree); i++) {
		const struct node *at = calltree_at(p->ended_tree, i);
		uint64_t beyond;

		range = threads_ended_range_of(p, at);
		if (!range || waits_for_team(p, at) || regions_is_wait(p, at->key) ||
			range->thread_max == own->thread_max || region_around(p, at) != region)
			continue;
		beyond = beyond_mean(at, range, sums->threads.n);
		if (beyond <= most)
			continue;
		most = beyond;
		found = at;
	}
	return most && MOSTLY(most, own->max) &&
			       MOSTLY(most * sums->threads.n, sums->barrier + sums->join)
		       ? found
		       : n;
}

const struct node *threads_ended_awaited(const struct process *p, const struct node *n)
{
	struct thread_ranges *r = p->ranges;
	uint32_t *known;

	if (!r || !p->openmp)
		return n;
	known = map64_find(&r->awaited_at, (uintptr_t)n);
	if (known)
		return r->awaited[*known];
	map64_add(&r->awaited_at, (uintptr_t)n, (uint32_t)r->n_awaited);
	*APPEND(r->awaited, r->n_awaited, r->cap_awaited) = find_awaited(p, n);
	return r->awaited[r->n_awaited - 1];
}

void threads_ended_free(struct process *p)
{
	if (!p->ranges)
		return;
	map64_free(&p->ranges->at);
	free(p->ranges->of);
	map64_free(&p->ranges->awaited_at);
	free(p->ranges->awaited);
	free(p->ranges);
	p->ranges = NULL;
}
