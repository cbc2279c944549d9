/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees of threads are keyed by addresses; here their frames get names, and
 * trees with the same names are laid over each other: first the threads of a
 * process, then the processes. The union tree's nodes are made parents first,
 * so one pass from the end sees every child before its parent.
 */
#include "nodeagent/gather/gather.h"

#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/gather/internal.h"
#include "nodeagent/gather/left-out.h"
#include "nodeagent/base/hash.h"
#include "nodeagent/base/machine.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/radix.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/process/pids.h"
#include "nodeagent/process/ended.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/profile/fold.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/process-tree.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/process/rings.h"
#include "nodeagent/process/names.h"
#include "nodeagent/replay/tree/estimate.h"
#include "nodeagent/replay/comm/sync.h"
#include "shm/atomic.h"
#include "shm/fnv.h"

struct union_node {
	uint32_t parent, name;
	struct profile_stack sum; /* over the processes so far */
	uint64_t first;		  /* ticks of the first call in any of them; 0: not known */
	/* of the process at hand; valid if stamp is its number */
	uint32_t stamp;
	bool estimated; /* its time, in part: calls were counted, or it is from stack samples */
	uint64_t calls, lost, ticks, ns, below_ns;
};

struct gathering {
	struct host *host;
	struct profile *out;
	struct union_node *nodes;
	size_t n, cap, cap_names;
	struct radix *touched; /* nodes of the process at hand, as they came */
	size_t n_touched, cap_touched;
	struct map64 children; /* (parent, name) -> node */
	struct map64 texts;    /* hash of a text -> first name with it */
	struct left_out *left_out;
	uint32_t *name_next; /* next name with the same hash */
	size_t cap_next;
	uint32_t stamp;
	uint64_t first_start, last_end, ring_bytes;
	struct gather_peers peers;
	size_t after[PROFILE_LISTS]; /* of profile_lists_make_room() */
};

/* Its number, or PROFILE_NONE; *first: the newest name with this hash. */
static uint32_t find_name(
	const struct gathering *g, const char *text, uint64_t hash, uint32_t **first)
{
	uint32_t id;

	*first = map64_find(&g->texts, hash);
	for (id = *first ? **first : PROFILE_NONE; id != PROFILE_NONE; id = g->name_next[id])
		if (!strcmp(g->out->names[id], text))
			break;
	return id;
}

static uint32_t intern_name(struct gathering *g, const char *text)
{
	uint64_t hash = fnv_text(FNV_BEGIN, text);
	uint32_t *first, id = find_name(g, text, hash, &first);
	struct profile *p = g->out;

	if (id != PROFILE_NONE)
		return id;
	id = (uint32_t)p->n_names;
	p->names = grow(p->names, p->n_names, &g->cap_names, sizeof(*p->names));
	g->name_next = grow(g->name_next, id, &g->cap_next, sizeof(*g->name_next));
	g->name_next[id] = first ? *first : PROFILE_NONE;
	p->names[p->n_names++] = xstrdup(text);
	map64_add(&g->texts, hash, id);
	return id;
}

static uint32_t node_of(struct gathering *g, uint32_t parent, uint32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | name;
	uint32_t *known = map64_find(&g->children, key), id;

	if (known)
		return *known;
	id = (uint32_t)g->n;
	*APPEND(g->nodes, g->n, g->cap) = (struct union_node){.parent = parent, .name = name};
	map64_add(&g->children, key, id);
	return id;
}

/* Of what is below this node, if it matters. */
static uint32_t depth_below(const struct gathering *g, uint32_t node)
{
	const uint32_t most = left_out_depth(g->left_out);
	uint32_t depth = 1;

	if (most != UINT32_MAX)
		for (; depth <= most && g->nodes[node].parent != PROFILE_NONE; depth++)
			node = g->nodes[node].parent;
	return depth;
}

/* The node of a frame below another one; that one itself if the frame is left out. */
static uint32_t frame_of(struct gathering *g, uint32_t parent, uint32_t name, bool may_be_left_out)
{
	if (g->left_out && may_be_left_out && parent != PROFILE_NONE &&
		left_out_has(g->left_out, g->out->names[name], name, depth_below(g, parent)))
		return parent;
	return node_of(g, parent, name);
}

static void note_first(struct union_node *u, uint64_t ticks)
{
	if (ticks && (!u->first || ticks < u->first))
		u->first = ticks;
}

static void stamp(struct gathering *g, struct union_node *u)
{
	if (u->stamp == g->stamp)
		return;
	u->stamp = g->stamp;
	*LIST_ADD(g, touched) = (struct radix){(uint64_t)(u - g->nodes), 0};
	u->estimated = false;
	u->calls = u->lost = u->ticks = u->ns = u->below_ns = 0;
}

/* The time of functions below KEY_DEEP is exclusive: their sum is its own. */
static void complete_deep(struct calltree *t)
{
	for (size_t i = 1; i < calltree_nodes(t); i++) {
		struct node *n = calltree_at(t, i);

		if (n->key == KEY_DEEP)
			n->ticks = 0;
		else if (n->parent->key == KEY_DEEP)
			n->parent->ticks += n->ticks;
	}
}

/* Names are numbered in the order in which these ask for them. */
static void (*const kinds[])(const struct gather_from *from) = {
	gather_mpi,
	gather_nodes,
	gather_openacc,
	gather_threads,
	gather_openmp,
	gather_gpu,
	gather_user_counters,
	gather_files,
	gather_memory,
	gather_locks,
	gather_ends,
	gather_waits,
	gather_rank_times,
	gather_iterations,
	gather_slices,
};

static void add_source(struct profile *p, const char *name, struct source_place place)
{
	struct profile_source *s = place.file ? profile_add(p, PROFILE_SOURCES) : NULL;

	if (s)
		*s = (struct profile_source){xstrdup(name), xstrdup(place.file), place.line};
}

/* The root has this name in all profiles. A function or region that is called so gets a number, as
 * all do that read alike; in Vftrace's layout they share it. */
static const char *name_beside_root(const struct host *host, const char *name, bool is_root)
{
	if (is_root || strcmp(name, "init") || result_layout(host->conf) == LAYOUT_VFTRACE)
		return name;
	return "init #2";
}

/* Number of the name of a frame's key. The place of a construct is in the names of all. */
static uint32_t name_of(struct gathering *g, const struct process *p, uint64_t key)
{
	const size_t n = g->out->n_names;
	const char *name =
		name_beside_root(g->host, symcache_name(g->host->symbols, p, key), key == KEY_INIT);
	const uint32_t id = intern_name(g, name);

	if (g->out->n_names > n)
		add_source(g->out, name,
			key_is_site(key) ? symcache_site(g->host->symbols, p, key)
					 : regions_source(g->host->symbols, p, key));
	return id;
}

static double hook_ns(const struct host *host, const struct process *p)
{
	return clocks_hook_ns(
		&host->clocks, p->control_app ? load_relaxed(&p->control_app->hook_ps) : 0);
}

#define COUNTED_HOOKS 0.35 /* a call that was counted and not timed costs so many hooks */

/* The calls that have no records are not free. */
static void price_counted(struct gathering *g, const struct process *p, uint64_t counted)
{
	g->out->hook_ns_total += (uint64_t)(COUNTED_HOOKS * (double)counted * hook_ns(g->host, p));
}

static void lay_over(struct gathering *g, const struct process *p, uint32_t rank, bool threads)
{
	struct calltree *t = p->ended_tree;
	size_t n = calltree_nodes(t);
	uint32_t *to = xmalloc(n * sizeof(*to));
	struct map64 place = {0}, names = {0};
	uint64_t counted = 0;
	const struct gather_from from = {
		g, g->host, p, rank, to, &place, &g->peers, threads, g->out};

	complete_deep(t);
	calltree_estimate(
		t, hook_ns(g->host, p) * 1e9 / (double)clocks_ns(&g->host->clocks, 1000000000));
	for (size_t i = 0; i < n; i++) {
		struct node *node = calltree_at(t, i);
		uint32_t *name = map64_find(&names, node->key);
		uint32_t id = name ? *name : name_of(g, p, node->key);
		struct union_node *u;
		uint32_t above;

		if (!name)
			map64_add(&names, node->key, id);
		above = i ? *map64_find(&place, (uintptr_t)node->parent) : PROFILE_NONE;
		to[i] = frame_of(g, above, id, left_out_may(node->key));
		map64_add(&place, (uintptr_t)node, to[i]);
		u = &g->nodes[to[i]];
		stamp(g, u);
		u->lost += node->extra ? node->extra->lost : 0;
		counted += node->extra ? node->extra->counted : 0;
		u->estimated |= (node->extra && node->extra->counted) || node_is_from_stacks(node);
		if (to[i] == above) /* left out: its time is in that of its caller already */
			continue;
		u->calls += node->calls;
		u->ticks += node->ticks;
		note_first(u, i ? calltree_first(node) : p->start_ticks);
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		kinds[i](&from);
	price_counted(g, p, counted);
	free(to);
	map64_free(&place);
	map64_free(&names);
}

uint32_t gather_node(const struct gather_from *from, uint32_t parent, uint64_t key)
{
	return frame_of(from->to, parent, name_of(from->to, from->p, key), left_out_may(key));
}

uint32_t gather_named(const struct gather_from *from, uint32_t parent, const char *name)
{
	/* as left_out_may() of its key, which is not known here */
	const bool may = strncmp(name, "MPI_", 4) != 0 &&
			 strncmp(name, SITE_PREFIX, strlen(SITE_PREFIX)) != 0;

	name = name_beside_root(from->host, name, parent == PROFILE_NONE);
	return frame_of(from->to, parent, intern_name(from->to, name), may);
}

uint32_t gather_path(
	const struct gather_from *from, const struct node *root, const struct node *path)
{
	const struct node *up[DEPTH_MAX + 2];
	uint32_t node = gather_node(from, PROFILE_NONE, KEY_INIT);
	unsigned n = 0;

	for (; path != root && n < ARRAY_SIZE(up); path = path->parent)
		up[n++] = path;
	while (n--)
		node = gather_node(from, node, up[n]->key);
	return node;
}

/* The numbers of the process at hand go into the sums, children before their parents. */
static void add_tree(struct gathering *g, uint32_t rank)
{
	radix_sort(g->touched, g->n_touched);
	for (size_t i = g->n_touched; i--;) {
		struct union_node *u = &g->nodes[g->touched[i].key];
		struct profile_stack *s = &u->sum;
		uint64_t excl;

		u->ns = clocks_ns(&g->host->clocks, u->ticks);
		if (u->ns < u->below_ns)
			u->ns = u->below_ns; /* rounding */
		excl = u->ns - u->below_ns;
		if (u->parent != PROFILE_NONE)
			g->nodes[u->parent].below_ns += u->ns;
		s->calls += u->calls;
		s->lost_calls += u->lost;
		s->estimated |= u->estimated;
		s->incl_ns += u->ns;
		s->excl_ns += excl;
		s->excl_sumsq_ns2 += (unsigned __int128)excl * excl;
		if (!s->ranks || excl < s->excl_min_ns ||
			(excl == s->excl_min_ns && rank < s->rank_min)) {
			s->excl_min_ns = excl;
			s->rank_min = rank;
		}
		if (!s->ranks || excl > s->excl_max_ns ||
			(excl == s->excl_max_ns && rank < s->rank_max)) {
			s->excl_max_ns = excl;
			s->rank_max = rank;
		}
		s->ranks++;
	}
	g->n_touched = 0;
}

static uint32_t shown_rank(const struct process *p)
{
	return (uint32_t)p->rank;
}

/* The parent may have ended, untraced, before the process attached. */
static int parent_of(const struct host *host, const struct process *p)
{
	if (p->parent_traced && pids_known(host, p->parent_pid))
		return p->parent_pid;
	return p->parent_traced ? p->parent_traced : p->parent_pid;
}

static void describe(struct host *host, const struct process *p, struct profile_process *d)
{
	struct replay_counts c = process_counts(p);
	const struct cpu_used cpu =
		cpu_used_since(p->ended ? p->cpu : cpu_used(p->pid), p->cpu_before);
	const uint64_t runtime_ns = clocks_ns(&host->clocks, p->end_ticks - p->start_ticks);

	*d = (struct profile_process){.rank = shown_rank(p),
		.pid = p->pid,
		.parent_pid = parent_of(host, p),
		.executable = xstrdup(p->executable),
		.end = p->end,
		.exit_status = p->exit_status,
		.threads = p->threads_ever,
		.started_s = 1e-9 * (double)clocks_ns(&host->clocks,
					    p->connected_ticks - host->first_start_ticks),
		.runtime_s = 1e-9 * (double)runtime_ns,
		.records = c.records,
		.calls = c.calls,
		.lost_calls =
			c.lost + (p->control_app ? load_relaxed(&p->control_app->lost_nested) : 0),
		.blocked_ns = p->ended_blocked_ns,
		.closed_frames = c.closed,
		.open_frames = c.open,
		.ring_bytes = p->ring_bytes_most,
		.cpu_ns = cpu.cpu,
		/* counted since it has connected, which may be long before it begins */
		.queued_ns = MIN(cpu.queued, runtime_ns),
		.quarantined = p->quarantined ? xstrdup(p->quarantined) : NULL};
}

static void count_cpu(struct profile *out, const struct profile_process *d)
{
	const uint64_t wall_ns = (uint64_t)(1e9 * d->runtime_s);
	struct profile one = {.cpu = {.ns = d->cpu_ns,
				      .queued_ns = d->queued_ns,
				      .wall_ns = wall_ns,
				      .least_rank = d->rank,
				      .least_ns = d->cpu_ns,
				      .least_wall_ns = wall_ns,
				      .queued_rank = d->rank,
				      .most_queued_ns = d->queued_ns,
				      .queued_wall_ns = wall_ns}};

	if (!d->cpu_ns || !wall_ns)
		return;
	fold_cpu(out, &one);
	out->cpu.ns += d->cpu_ns;
	out->cpu.queued_ns += d->queued_ns;
	out->cpu.wall_ns += wall_ns;
}

static void count_process(
	struct gathering *g, const struct process *p, const struct profile_process *d)
{
	struct profile *out = g->out;

	out->ranks++;
	out->unranked += d->rank >= PROFILE_UNRANKED;
	out->threads += d->threads;
	out->records += d->records;
	out->calls += d->calls;
	out->lost_calls += d->lost_calls;
	out->blocked_ns += d->blocked_ns;
	count_cpu(out, d);
	g->ring_bytes += d->ring_bytes;
	out->hook_ns_total += (uint64_t)((double)d->records * hook_ns(g->host, p));
	out->runtime_s = MAX(out->runtime_s, d->runtime_s);
	g->last_end = MAX(g->last_end, p->end_ticks);
	g->first_start = MIN(g->first_start, p->start_ticks);
	if (!out->start_s || p->start_s < out->start_s)
		out->start_s = p->start_s;
	out->end_s = MAX(out->end_s, p->end_s);
	if (d->rank < PROFILE_UNRANKED) {
		uint32_t size = (uint32_t)(p->size > 0	      ? p->size
					   : p->size_hint > 0 ? p->size_hint
							      : 0);

		size = MAX(size, d->rank + 1);
		out->world_size = MAX(out->world_size, size);
	}
	profile_add_executable(out, p->executable);
}

ORDER_POINTERS_BY(
	by_rank, struct process, ORDER(shown_rank(x), shown_rank(y)) ?: RISING(start_ticks))

static struct process **list_processes(struct host *host, const struct process *only, size_t *n)
{
	struct process **all = xmalloc((host->n_ever + 1) * sizeof(*all));

	*n = 0;
	for (struct process *p = host->processes; p; p = p->next)
		if (p->greeted && p->ended && (!only || p == only) && *n < host->n_ever)
			all[(*n)++] = p;
	qsort(all, *n, sizeof(*all), by_rank);
	return all;
}

static char *path_of(const struct gathering *g, uint32_t node)
{
	size_t bytes = 0;
	char *path, *at;

	for (uint32_t i = node; i != PROFILE_NONE; i = g->nodes[i].parent)
		bytes += strlen(g->out->names[g->nodes[i].name]) + 1;
	at = path = xmalloc(bytes + 1);
	for (uint32_t i = node; i != PROFILE_NONE; i = g->nodes[i].parent) {
		at = stpcpy(at, g->out->names[g->nodes[i].name]);
		*at++ = '<';
	}
	at[-1] = '\0';
	return path;
}

/* The stack_hash() of path_of(), without that text: a million of them may be long. */
static uint64_t hash_of(const struct gathering *g, uint32_t node)
{
	struct stack_hash h = STACK_HASH_BEGIN;

	for (uint32_t i = node, up; i != PROFILE_NONE; i = up) {
		const char *name = g->out->names[g->nodes[i].name];

		up = g->nodes[i].parent;
		stack_hash_add(&h, name, strlen(name));
		stack_hash_add(&h, up == PROFILE_NONE ? "" : "<", 1);
	}
	return stack_hash_end(&h);
}

struct texts {
	char *path;
	uint32_t node;
};

ORDER_BY(by_path, struct texts, ALPHABETIC(path))

/* Nodes of one hash, by their paths. */
static void sort_equal(const struct gathering *g, struct radix *items, size_t n)
{
	struct texts *texts = xmalloc(n * sizeof(*texts));

	for (size_t i = 0; i < n; i++)
		texts[i] = (struct texts){path_of(g, items[i].i), items[i].i};
	qsort(texts, n, sizeof(*texts), by_path);
	for (size_t i = 0; i < n; i++) {
		items[i].i = texts[i].node;
		free(texts[i].path);
	}
	free(texts);
}

/* All nodes by the hash of their paths. */
static struct radix *nodes_by_hash(const struct gathering *g)
{
	struct radix *items = xmalloc(g->n * sizeof(*items));

	for (uint32_t i = 0; i < g->n; i++)
		items[i] = (struct radix){hash_of(g, i), i};
	radix_sort(items, g->n);
	for (size_t i = 0, end; i < g->n; i = end) {
		for (end = i + 1; end < g->n && items[end].key == items[i].key;)
			end++;
		if (end > i + 1)
			sort_equal(g, items + i, end - i);
	}
	return items;
}

/* The union tree as the sorted array of P1. */
static void store(struct gathering *g)
{
	struct radix *s = nodes_by_hash(g);
	uint32_t *id = xmalloc(g->n * sizeof(*id));
	struct profile *p = g->out;

	for (size_t i = 0; i < g->n; i++)
		id[s[i].i] = (uint32_t)i;
	p->n_stacks = g->n;
	p->stacks = xcalloc(g->n, sizeof(*p->stacks));
	for (size_t i = 0; i < g->n; i++) {
		struct union_node *u = &g->nodes[s[i].i];

		p->stacks[i] = u->sum;
		p->stacks[i].hash = s[i].key;
		p->stacks[i].name = u->name;
		p->stacks[i].first_ns = u->first ? gather_global_ns(g->host, u->first) : 0;
		p->stacks[i].parent = u->parent == PROFILE_NONE ? PROFILE_NONE : id[u->parent];
	}
	gather_threads_store(p, id);
	profile_settle_lists(p, id);
	free(s);
	free(id);
}

/* Of the functions that are in the profile; profile_settle_lists() puts them in order. */
static void add_sources(struct gathering *g)
{
	struct source_place place;
	const char *name;
	uint32_t *first;

	symcache_read_sources(g->host->symbols);
	for (size_t i = 0; symcache_source(g->host->symbols, i, &name, &place); i++) {
		if (find_name(g, name, fnv_text(FNV_BEGIN, name), &first) != PROFILE_NONE)
			add_source(g->out, name, place);
	}
}

static void add_agent(struct host *host, struct profile *p)
{
	const struct machine *m = host->machine;
	struct rusage u;
	struct profile_agent *me = xcalloc(1, sizeof(*me));

	getrusage(RUSAGE_SELF, &u);
	me->host = xstrdup(host->name);
	me->cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		    1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	me->cpu_s += host->spent_s;
	me->wall_s = 1e-9 * (double)(clock_raw_ns() - host->start_raw_ns);
	me->wakeups = host->wakeups;
	me->drained_bytes = host->drained_bytes;
	me->records = p->records;
	me->affinity = xstrdup(host->affinity ? host->affinity : "any cpu");
	me->processes = p->ranks;
	me->threads = p->threads;
	me->by_process = host->by_process;
	if (m) {
		me->cpu_model = m->cpu_model ? xstrdup(m->cpu_model) : NULL;
		me->kernel = m->kernel ? xstrdup(m->kernel) : NULL;
		me->memory_bytes = m->memory_bytes;
		me->cpus = m->cpus;
	}
	p->agents = me;
	p->n_agents = 1;
}

/* Children of one call of MPI_Comm_spawn by their ranks, in the places that these have. */
static void order_spawned(struct process **all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; all[i]->spawned && k < i; k++) {
			struct process *before = all[k];

			if (!before->spawned || before->job != all[i]->job ||
				before->job_rank < all[i]->job_rank)
				continue;
			all[k] = all[i];
			all[i] = before;
		}
}

void gather_ranks(struct host *host)
{
	size_t n;
	struct process **all = list_processes(host, NULL, &n);
	struct map64 taken = {0};
	uint32_t unranked = 0;

	for (size_t i = 0; i < n; i++)
		if (all[i]->rank >= 0)
			map64_add(&taken, (uint64_t)all[i]->rank, 1);
	/* by_rank has left those without a rank in the order of their start */
	order_spawned(all, n);
	for (size_t i = 0; i < n; i++) {
		struct process *p = all[i];

		if (p->rank >= 0)
			continue;
		if (p->rank_hint >= 0 && !p->parent_traced &&
			!map64_find(&taken, (uint64_t)p->rank_hint)) {
			p->rank = p->rank_hint;
			map64_add(&taken, (uint64_t)p->rank, 1);
		} else {
			p->rank = (int)ended_process_number(host, unranked++);
		}
	}
	map64_free(&taken);
	free(all);
}

/*
 * Ranks of MPI run side by side; what a shell starts comes one after the other,
 * with the time of all together and the rings of those that lived at once.
 */
static void whole_job(struct gathering *g, bool only_one)
{
	struct profile *out = g->out;
	uint64_t peak = g->host->rings ? ring_store_peak(g->host->rings) : 0;

	out->ring_bytes = peak && !only_one ? peak : g->ring_bytes;
	if (!out->world_size && g->last_end > g->first_start)
		out->runtime_s =
			1e-9 * (double)clocks_ns(&g->host->clocks, g->last_end - g->first_start);
}

static struct gathering *begin_gathering(struct host *host)
{
	struct gathering *g = xcalloc(1, sizeof(*g));

	g->host = host;
	g->out = profile_new();
	g->left_out = left_out_new(host->conf);
	g->first_start = UINT64_MAX;
	node_of(g, PROFILE_NONE, intern_name(g, "init"));
	gather_counters(host, g->out);
	return g;
}

/* Other nodes name it so, which do not know its number here. */
static void name_for_others(
	struct profile *out, const struct process *p, const struct profile_process *d)
{
	if (p->spawned && p->host->transport && p->job_rank >= 0 && d->rank >= PROFILE_UNRANKED)
		*(struct profile_far_rank *)profile_add(out, PROFILE_FAR_RANKS) =
			(struct profile_far_rank){
				rank_far(rank_id(p->job, (uint32_t)p->job_rank)), d->rank};
}

static void add_process(struct gathering *g, const struct process *p, bool threads)
{
	struct profile *out = g->out;
	struct profile_process *d = profile_add(out, PROFILE_PROCESSES);

	describe(g->host, p, d);
	count_process(g, p, d);
	name_for_others(out, p, d);
	if (d->end == PROCESS_KILLED)
		describe(g->host, p, profile_add(out, PROFILE_DEAD));
	g->stamp++;
	lay_over(g, p, d->rank, threads);
	add_tree(g, d->rank);
}

static void let_go(struct process *p)
{
	struct host *host = p->host;

	if (!host->gathered)
		host->gathered = begin_gathering(host);
	add_process(host->gathered, p, false);
	gather_peers_free(&host->gathered->peers);
	profile_lists_make_room(host->gathered->out, host->gathered->after);
}

const struct process_observer gather_observer = {.let_go = let_go};

ORDER_BY(by_shown_rank, struct profile_process, RISING(rank))

/* Those that were let go came first, and are not first. */
static void put_in_order(struct gathering *g, const struct process *first)
{
	struct profile *out = g->out;

	qsort(out->processes, out->n_processes, sizeof(*out->processes), by_shown_rank);
	qsort(out->dead, out->n_dead, sizeof(*out->dead), by_shown_rank);
	free(out->executable);
	free(out->application);
	out->executable = out->application = NULL;
	profile_add_executable(out, first->executable);
	gather_counters(g->host, out); /* what they are is known, how long they ran is not */
}

struct profile *gather(struct host *host, const struct process *only)
{
	struct gathering *g = only || !host->gathered ? begin_gathering(host) : host->gathered;
	struct profile *out = g->out;
	bool some_let_go = g == host->gathered;
	size_t n;
	struct process **all = list_processes(host, only, &n);

	out->run = host->run;
	if (!only)
		observers_tell(host, gather, host, out);
	for (size_t i = 0; i < n; i++)
		add_process(g, all[i], only != NULL);
	process_tree_mark_outlived(out);
	whole_job(g, only != NULL);
	gather_gpu_devices(host, all, n, out);
	if (some_let_go) {
		host->gathered = NULL;
		put_in_order(g, all[0]);
	}
	out->lost_processes = only ? 0 : host->lost_processes;
	out->dropped_calls = !only && host->sync ? sync_dropped(host->sync) : 0;
	if (!only)
		gather_sampled(host, out);
	gather_ends_global(host, out);
	add_sources(g);
	store(g);
	/* of one process there are few, and what grows is never folded: agent/rounds.c */
	if (!only)
		profile_waits_limit(out);
	add_agent(host, out);
	for (size_t i = 0; i < host->n_warnings; i++)
		profile_warn(out, "%s", host->warnings[i]);
	profile_warn_programs(out);
	free(all);
	free(g->nodes);
	free(g->touched);
	free(g->name_next);
	map64_free(&g->children);
	map64_free(&g->texts);
	left_out_free(g->left_out);
	gather_peers_free(&g->peers);
	free(g);
	return out;
}
