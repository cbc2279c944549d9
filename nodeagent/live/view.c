/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums and lists of views. */
#include "nodeagent/live/view.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"

const char *live_class_name(unsigned kind)
{
	static const char *const names[] = {
#define LIVE_CLASS(kind, name) name,
		LIVE_CLASSES(LIVE_CLASS)
#undef LIVE_CLASS
	};

	return names[kind];
}

/* Numbers of others may be anything. */
static void add_clipped(uint64_t *to, uint64_t n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = UINT64_MAX;
}

static void add32(uint32_t *to, uint32_t n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = UINT32_MAX;
}

static uint64_t sum_clipped(uint64_t a, uint64_t b)
{
	add_clipped(&a, b);
	return a;
}

/* ---- rows of nodes, ranks and those that are missing ----------------------------------- */

static uint64_t per_process(const struct live_node *n)
{
	return n->processes ? n->classes[LIVE_USEFUL] / n->processes : 0;
}

ORDER_BY(node_order, struct live_node, ORDER(per_process(y), per_process(x)) ?: RISING(agent))
ORDER_BY(rank_order, struct live_rank,
	FALLING(first_useful) ?: RISING(rank) ?: RISING(agent) ?: RISING(pid))
ORDER_BY(missing_order, struct live_missing, RISING(why) ?: RISING(agent))

/*
 * Puts a row into a sorted list of *n rows that has room for `most`: the last one gives way, or
 * the new one if it comes after it.
 */
static void put_row(void *list, size_t *n, size_t most, size_t bytes, const void *row,
	int (*order)(const void *, const void *))
{
	char *at = list;
	size_t i = *n;

	while (i && order(row, at + (i - 1) * bytes) < 0)
		i--;
	if (i == most)
		return;
	if (*n < most)
		++*n;
	memmove(at + (i + 1) * bytes, at + i * bytes, (*n - i - 1) * bytes);
	memcpy(at + i * bytes, row, bytes);
}

void live_add_node(struct live_view *v, const struct live_node *n)
{
	put_row(v->nodes, &v->n_nodes, LIVE_NODES_MAX, sizeof(*n), n, node_order);
}

void live_add_rank(struct live_view *v, const struct live_rank *r)
{
	put_row(v->ranks, &v->n_ranks, LIVE_RANKS_MAX, sizeof(*r), r, rank_order);
}

void live_add_missing(struct live_view *v, const struct live_missing *m)
{
	add32(&v->n_absent, 1);
	put_row(v->missing, &v->n_missing, LIVE_MISSING_MAX, sizeof(*m), m, missing_order);
}

/* ---- paths ----------------------------------------------------------------------------- */

ORDER_BY(path_order, struct live_path, FALLING(ns_now) ?: FALLING(ns) ?: RISING(hash))

int live_path_order(const void *x, const void *y)
{
	return path_order(x, y);
}

/* A path of both views, or of one of them, and what the other one may have of it. */
struct both {
	struct live_path p;
	uint64_t maybe, maybe_now;
};

static void add_path(struct live_path *to, const struct live_path *from)
{
	if (from->processes && (!to->processes || from->most_now > to->most_now)) {
		to->most_now = from->most_now;
		to->most_rank = from->most_rank;
	}
	if (from->processes && (!to->processes || from->least_now < to->least_now))
		to->least_now = from->least_now;
	add_clipped(&to->calls, from->calls);
	add_clipped(&to->calls_now, from->calls_now);
	add_clipped(&to->ns, from->ns);
	add_clipped(&to->ns_now, from->ns_now);
	add32(&to->processes, from->processes);
	add32(&to->without, from->without);
	if (!to->text[0])
		memcpy(to->text, from->text, sizeof(to->text));
}

ORDER_BY(both_by_hash, struct both, ORDER(x->p.hash, y->p.hash))
ORDER_BY(both_by_size, struct both, path_order(&x->p, &y->p))

/* The paths of `from`, which are not in `other` as far as is known yet. */
static void take_paths(struct both *to, const struct live_view *from, const struct live_view *other)
{
	for (size_t i = 0; i < from->n_paths; i++) {
		to[i] = (struct both){from->paths[i], other->cut_ns, other->cut_now};
		add32(&to[i].p.without, other->n_cut);
	}
}

/* Paths of one hash become one, of which all is known that each view knows. */
static size_t join_paths(
	struct both *all, size_t n, const struct live_view *a, const struct live_view *b)
{
	size_t k = 0;

	qsort(all, n, sizeof(*all), both_by_hash);
	for (size_t i = 0; i < n; i++) {
		if (!k || all[k - 1].p.hash != all[i].p.hash) {
			all[k++] = all[i];
			continue;
		}
		add_path(&all[k - 1].p, &all[i].p);
		all[k - 1].p.without -= MIN(all[k - 1].p.without, a->n_cut + b->n_cut);
		all[k - 1].maybe = all[k - 1].maybe_now = 0;
	}
	return k;
}

static void merge_paths(struct live_view *to, const struct live_view *from)
{
	const size_t had = to->n_paths + from->n_paths;
	struct both *all = xmalloc((had + 1) * sizeof(*all));
	uint64_t cut = sum_clipped(to->cut_ns, from->cut_ns),
		 cut_now = sum_clipped(to->cut_now, from->cut_now);
	size_t n;

	take_paths(all, to, from);
	take_paths(all + to->n_paths, from, to);
	n = join_paths(all, had, to, from);
	qsort(all, n, sizeof(*all), both_by_size);
	to->n_paths = n < LIVE_PATHS_MAX ? n : LIVE_PATHS_MAX;
	for (size_t i = 0; i < to->n_paths; i++)
		to->paths[i] = all[i].p;
	for (size_t i = to->n_paths; i < n; i++) {
		const uint64_t ns = sum_clipped(all[i].p.ns, all[i].maybe);
		const uint64_t now = sum_clipped(all[i].p.ns_now, all[i].maybe_now);

		cut = ns > cut ? ns : cut;
		cut_now = now > cut_now ? now : cut_now;
	}
	add32(&to->n_cut, from->n_cut);
	if (n > to->n_paths)
		to->n_cut = to->n_all; /* any of them may have had such a path */
	to->cut_ns = cut;
	to->cut_now = cut_now;
	free(all);
}

/* ---- sums ------------------------------------------------------------------------------- */

static void merge_sums(struct live_view *to, const struct live_view *from)
{
	if (!to->n_all || (from->n_all && (!from->interval || !to->interval)))
		to->interval = to->n_all ? 0 : from->interval;
	else
		MOST(to, from, interval);
	MOST(to, from, age);
	MOST(to, from, elapsed);
	MOST(to, from, share_most);
	add_clipped(&to->share, from->share);
	add32(&to->n_all, from->n_all);
	add32(&to->processes, from->processes);
	add32(&to->threads, from->threads);
	add32(&to->ranked, from->ranked);
	add32(&to->ended, from->ended);
	add_clipped(&to->records, from->records);
	add_clipped(&to->calls_now, from->calls_now);
	add_clipped(&to->calls, from->calls);
	add_clipped(&to->lost_calls, from->lost_calls);
	add_clipped(&to->hooks, from->hooks);
	add_clipped(&to->messages, from->messages);
	add_clipped(&to->messages_now, from->messages_now);
	add_clipped(&to->bytes, from->bytes);
	add_clipped(&to->bytes_now, from->bytes_now);
	for (int i = 0; i < LIVE_CLASSES_END; i++)
		add_clipped(&to->classes[i], from->classes[i]);
	for (int i = 0; i < WAIT_KINDS_END; i++) {
		add_clipped(&to->waits[i].calls, from->waits[i].calls);
		add_clipped(&to->waits[i].ns, from->waits[i].ns);
		add_clipped(&to->waits[i].calls_now, from->waits[i].calls_now);
		add_clipped(&to->waits[i].ns_now, from->waits[i].ns_now);
	}
}

ORDER_BY(loop_order, struct live_loop, RISING(rank) ?: RISING(agent))

static void merge_names(struct live_view *to, const struct live_view *from)
{
	if (!to->program[0])
		memcpy(to->program, from->program, sizeof(to->program));
	if (!to->job[0])
		memcpy(to->job, from->job, sizeof(to->job));
	if (from->loop.n && (!to->loop.n || loop_order(&from->loop, &to->loop) < 0))
		to->loop = from->loop;
}

void live_add_off(struct live_view *v, const struct live_off *o)
{
	EACH(struct live_off, to, v->off, v->n_off) {
		if (strcmp(to->name, o->name))
			continue;
		add32(&to->nodes, o->nodes);
		add32(&to->functions, o->functions);
		to->stamp = o->stamp < to->stamp ? o->stamp : to->stamp;
		return;
	}
	if (v->n_off < LIVE_OFF_MAX)
		v->off[v->n_off++] = *o;
}

/* The later one counts. */
static void merge_request(struct live_request *to, const struct live_request *from)
{
	if (from->stamp > to->stamp)
		*to = *from;
	else if (from->stamp == to->stamp) {
		for (int i = 0; i < REQUEST_STATES_END; i++)
			add32(&to->nodes[i], from->nodes[i]);
		if (!to->file[0])
			memcpy(to->file, from->file, sizeof(to->file));
	}
}

void live_merge(struct live_view *to, const struct live_view *from)
{
	uint32_t absent = to->n_absent;

	merge_names(to, from);
	merge_request(&to->request, &from->request);
	for (size_t i = 0; i < from->n_off; i++)
		live_add_off(to, &from->off[i]);
	merge_sums(to, from);
	for (size_t i = 0; i < from->n_nodes; i++)
		live_add_node(to, &from->nodes[i]);
	for (size_t i = 0; i < from->n_ranks; i++)
		live_add_rank(to, &from->ranks[i]);
	for (size_t i = 0; i < from->n_missing; i++)
		live_add_missing(to, &from->missing[i]);
	add32(&absent, from->n_absent);
	to->n_absent = absent;
	merge_paths(to, from);
}
