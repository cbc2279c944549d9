/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places a thread's part in a team in its call tree: at the path that the
 * team's FORK had, once that was read. Until then it is kept in an orphan subtree, a child
 * of the root, whose counts move to the right place as soon as it is known and
 * nothing in the orphan subtree is open. Orphan subtrees are used again.
 */
#include <stdlib.h>
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/sequences.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/base/util.h"

/* An index of an orphan is the low half of a key, and must not look like a record's id. */
#ifndef ORPHANS_MAX
#define ORPHANS_MAX 1000u
#endif

_Static_assert(ORPHANS_MAX <= RECORD_ID_MPI, "no key of a shell ends like an id");

/* ---- paths and nodes ------------------------------------------------------------ */

static void remember_path(struct replay *r, const struct node *path, struct node *node)
{
	map64_add(&r->node_of_path, (uintptr_t)path, (uint32_t)r->n_paths);
	map64_add(&r->path_of_node, (uintptr_t)node, (uint32_t)r->n_paths);
	*LIST_ADD(r, paths) = (struct known_path){path, node};
}

/* The node with this path, made if need be. */
static struct node *node_at(struct replay *r, const struct node *path)
{
	const uint32_t *known = map64_find(&r->node_of_path, (uintptr_t)path);
	const struct node *up[OPENMP_PATH_MAX + 1];
	struct node *n = calltree_root(r->tree);
	unsigned depth = 0;

	if (known)
		return r->paths[*known].node;
	for (const struct node *p = path; p != openmp_root(r->openmp); p = p->parent)
		up[depth++] = p;
	while (depth)
		n = calltree_child(r->tree, n, NULL, up[--depth]->key);
	remember_path(r, path, n);
	return n;
}

/* path, and behind it the frames from below `top` to n. */
static const struct node *path_along(
	struct replay *r, const struct node *path, struct node *n, const struct node *top)
{
	const struct node *up[2 * OPENMP_PATH_MAX + DEPTH_MAX];
	unsigned depth = 0;

	for (; n != top && depth < ARRAY_SIZE(up); n = n->parent)
		up[depth++] = n;
	return openmp_append(r->openmp, path, up, depth);
}

static struct orphan *orphan_of(struct replay *r, struct node *n)
{
	struct node *root = calltree_root(r->tree);

	if (!r->n_used || n == root)
		return NULL;
	while (n->parent != root)
		n = n->parent;
	return key_is_orphan(n->key) ? &r->orphans[(uint32_t)n->key] : NULL;
}

const struct node *orphan_path(struct replay *r, struct node *n, uint32_t *team)
{
	const uint32_t *known = map64_find(&r->path_of_node, (uintptr_t)n);
	const struct node *path;
	struct orphan *s;

	*team = 0;
	if (known)
		return r->paths[*known].path;
	s = orphan_of(r, n);
	if (!s) {
		path = path_along(r, openmp_root(r->openmp), n, calltree_root(r->tree));
		remember_path(r, path, n);
		return path;
	}
	path = openmp_path(r->openmp, s->team, s->region);
	if (path)
		return path_along(r, path, n, s->node);
	*team = s->team;
	return path_along(r, openmp_relative(r->openmp), n, s->node);
}

/* ---- orphan subtrees --------------------------------------------------------------- */

static struct orphan *orphan_for(struct replay *r, uint32_t team, uint32_t region)
{
	struct orphan *unused = NULL;

	for (size_t i = r->n_orphans; i-- > 0;) {
		struct orphan *s = &r->orphans[i];

		if (!s->used)
			unused = s;
		else if (s->team == team)
			return s;
	}
	if (!unused) {
		if (r->n_orphans >= ORPHANS_MAX) {
			openmp_orphans_full(r->openmp);
			return NULL;
		}
		r->orphans = grow(r->orphans, r->n_orphans, &r->cap_orphans, sizeof(*r->orphans));
		unused = &r->orphans[r->n_orphans];
		unused->node = calltree_child(
			r->tree, calltree_root(r->tree), NULL, KEY_ORPHAN | r->n_orphans);
		if (!key_is_orphan(unused->node->key)) /* too many paths */
			return NULL;
		r->n_orphans++;
	}
	*unused =
		(struct orphan){.node = unused->node, .team = team, .region = region, .used = true};
	r->n_used++;
	++*openmp_orphans(r->openmp);
	return unused;
}

static const struct node *below_root(struct replay *r, uint32_t region)
{
	const struct node *root = openmp_root(r->openmp);

	return region == OPENMP_NONE ? root
				     : openmp_below(r->openmp, root, openmp_region_key(region));
}

struct node *orphan_node(struct replay *r, uint32_t team, uint32_t region, uint32_t *orphan)
{
	const struct node *path = openmp_path(r->openmp, team, region);
	struct orphan *s;

	*orphan = 0;
	if (path)
		return node_at(r, path);
	s = orphan_for(r, team, region);
	if (!s)
		return node_at(r, below_root(r, region));
	if (s->region == OPENMP_NONE)
		s->region = region;
	s->open++;
	*orphan = (uint32_t)(s - r->orphans) + 1;
	return s->node;
}

/* A calltree_leaves_out, whose ctx is this. */
struct moving {
	const struct replay *r;
	bool functions; /* all are hidden */
};

static bool is_hidden_now(void *ctx, const struct node *n, const struct node *to)
{
	const struct moving *m = ctx;

	return m->functions ? key_is_function(n->key) : replay_hides_from(m->r, n->key, to);
}

static void empty_orphan(struct replay *r, struct orphan *s, bool give_up)
{
	const struct node *path = openmp_path(r->openmp, s->team, s->region);
	struct moving m = {.r = r};
	struct node *to;

	if (give_up && !path)
		path = below_root(r, s->region);
	if (s->open || !path)
		return;
	to = node_at(r, path);
	sequences_settle(r->sequences);
	m.functions = openmp_is_hidden(r->openmp, s->team);
	calltree_move(r->tree, s->node, to, r->filter ? is_hidden_now : NULL, &m);
	if (r->activity)
		activity_begin(r->activity, r->now); /* nodes in it may have moved */
	if (r->track)
		traffic_track_moved(r->track, s->node);
	calltree_moved(s->node);
	s->used = false;
	r->n_used--;
	--*openmp_orphans(r->openmp);
}

static void empty_all(struct replay *r, bool give_up)
{
	for (size_t i = 0; i < r->n_orphans && r->n_used; i++)
		if (r->orphans[i].used)
			empty_orphan(r, &r->orphans[i], give_up);
}

bool replay_settle(struct replay *r)
{
	empty_all(r, false);
	return !r->n_used;
}

void replay_give_up(struct replay *r)
{
	openmp_orphans_full(r->openmp);
	empty_all(r, true);
}

void orphans_free(struct replay *r)
{
	if (r->openmp)
		*openmp_orphans(r->openmp) -= r->n_used;
	free(r->orphans);
	free(r->paths);
	map64_free(&r->node_of_path);
	map64_free(&r->path_of_node);
}
