/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From which path a call site of MPI is reached, where only stack samples know it: each sample in
 * such a call is told here, and in the end the site's node gets its place below that path.
 */
#include <stdlib.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/tree/activity.h"

#define SITE_PATHS 8u /* of one site, the first ones */

/* A site is placed if so many of its samples, of 10, have the same path. */
#define SAMPLES_OF_10 9u

struct site_path {
	const struct node *caller;
	unsigned functions;
	uint64_t samples;
};

/* It has a node for each epoch of the code map in which it was read (calltree.h). */
struct site {
	struct node *in;  /* what they are children of */
	uint64_t key;	  /* without the epoch */
	uint64_t samples; /* of all paths */
	struct site_path path[SITE_PATHS];
};

struct site_paths {
	struct map64 number; /* of a node: in at[] */
	struct site *at;
	size_t n, cap;
};

void replay_free_site_paths(struct replay *r)
{
	if (!r->site_paths)
		return;
	map64_free(&r->site_paths->number);
	free(r->site_paths->at);
	free(r->site_paths);
}

static bool is_site(const struct site *s, const struct node *node)
{
	return node->parent == s->in && (node->key & ~EPOCH_BITS) == s->key;
}

static struct site *site_of(struct site_paths *s, struct node *node)
{
	const uint32_t *known = map64_find(&s->number, (uintptr_t)node);
	size_t i = 0;

	if (known)
		return &s->at[*known];
	while (i < s->n && !is_site(&s->at[i], node))
		i++;
	map64_add(&s->number, (uintptr_t)node, (uint32_t)i);
	if (i == s->n) {
		*APPEND(s->at, s->n, s->cap) =
			(struct site){.in = node->parent, .key = node->key & ~EPOCH_BITS};
	}
	return &s->at[i];
}

static bool same_path(const struct site_path *p, const struct node *caller, unsigned functions)
{
	const struct node *n = p->caller;

	if (p->functions != functions)
		return false;
	for (; functions && n != caller; functions--, n = n->parent, caller = caller->parent)
		if ((n->key ^ caller->key) & ~EPOCH_BITS)
			return false;
	return true;
}

void replay_note_site_path(
	struct replay *r, struct node *node, const struct node *caller, unsigned functions)
{
	struct site *s;

	if (!r->site_paths)
		r->site_paths = xcalloc(1, sizeof(*r->site_paths));
	s = site_of(r->site_paths, node);
	s->samples++;
	for (size_t i = 0; i < SITE_PATHS; i++) {
		struct site_path *p = &s->path[i];

		if (!p->caller)
			*p = (struct site_path){.caller = caller, .functions = functions};
		if (same_path(p, caller, functions)) {
			p->samples++;
			return;
		}
	}
}

/* ---- in the end --------------------------------------------------------------- */

/* NULL: it is not clear. */
static const struct site_path *path_of(const struct site *s)
{
	return FIND(x, s->path, SITE_PATHS, 10 * x->samples >= SAMPLES_OF_10 * s->samples);
}

/* What hangs in an orphan subtree gets its place when that has one. */
static bool is_in_orphan(const struct node *n)
{
	while (n && !key_is_orphan(n->key))
		n = n->parent;
	return n;
}

/* A function of the path whose calls are known: the site would be below others of its calls. */
static bool meets_exact(struct replay *r, struct node *n, const uint64_t *keys, unsigned depth)
{
	while (depth && n) {
		const uint64_t key = keys[--depth];
		const struct node *exact = calltree_known(r->tree, n, (uint32_t)key);

		n = calltree_known(r->tree, n, key);
		if ((exact && exact->calls) || (n && n->calls))
			return true;
	}
	return false;
}

/* The node for the site to hang on, made if need be; NULL: there is no place. */
static struct node *place_of(struct replay *r, const struct site *s, const struct site_path *p)
{
	uint64_t keys[DEPTH_MAX]; /* innermost first */
	struct node *n = s->in;
	const struct node *f = p->caller;
	unsigned depth = p->functions;

	if (calltree_depth(n) + depth + 2 > DEPTH_MAX || is_in_orphan(n))
		return NULL;
	for (unsigned i = 0; i < depth; i++, f = f->parent)
		keys[i] = f->key;
	if (meets_exact(r, n, keys, depth))
		return NULL;
	while (depth && n->key != KEY_OVERFLOW) {
		n = calltree_child(r->tree, n, NULL, keys[--depth]);
		calltree_extra(n)->stacks.all += p->samples;
	}
	return n->key == KEY_OVERFLOW ? NULL : n;
}

static void move_node(struct replay *r, struct node *from, struct node *to)
{
	for (struct node *n = to; n != from->parent; n = n->parent)
		calltree_called(n, calltree_first(from));
	calltree_move_down(r->tree, from, to);
	if (r->activity)
		activity_moved(r->activity, from);
	if (r->track)
		traffic_track_moved(r->track, from);
	calltree_moved(from);
}

static void place_site(struct replay *r, const struct site *s)
{
	const struct site_path *p = path_of(s);
	struct node *to = p ? place_of(r, s, p) : NULL, *n = s->in->child;

	if (!to)
		return;
	do {
		if (is_site(s, n) && n->calls)
			move_node(r, n, to);
		n = n->sibling;
	} while (n != s->in->child);
}

void replay_place_sites(struct replay *r)
{
	replay_watch_paths(r, false);
	for (size_t i = 0; r->site_paths && i < r->site_paths->n; i++)
		place_site(r, &r->site_paths->at[i]);
	replay_watch_paths(r, true);
}
