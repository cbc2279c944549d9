/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams from the first that is heard of them until they are forgotten. */
#include "nodeagent/replay/openmp/internal.h"

#include <stdlib.h>
#include "nodeagent/base/util.h"

#define CHAIN_MAX   256	 /* teams in teams; more is hostile */
#define WAITING_MAX 8192 /* teams whose place hangs on that of another one */

/* Below the root of the tree of paths. */
#define KEY_ABSOLUTE (KEY_INIT | 8)
#define KEY_RELATIVE (KEY_INIT | 9)

struct openmp *openmp_new(openmp_barrier *is_barrier, const void *ctx)
{
	struct openmp *o = xcalloc(1, sizeof(*o));
	struct node *root;

	o->is_barrier = is_barrier;
	o->ctx = ctx;
	o->tree = calltree_new();
	root = calltree_root(o->tree);
	o->root = calltree_child(o->tree, root, NULL, KEY_ABSOLUTE);
	o->relative = calltree_child(o->tree, root, NULL, KEY_RELATIVE);
	return o;
}

static void team_free(struct openmp *o, struct team *t)
{
	o->n_parts -= t->n_parts;
	free(t->parts);
	free(t);
}

void openmp_free(struct openmp *o)
{
	if (!o)
		return;
	for (int k = 0; k < 2; k++)
		for (struct team *t = o->lists[k].first, *next; t; t = next) {
			next = t->next;
			team_free(o, t);
		}
	map32_free(&o->team_at);
	free(o->slots);
	free(o->waiting);
	openmp_sums_free(o);
	calltree_free(o->tree);
	free(o);
}

uint64_t openmp_region_key(uint32_t region)
{
	return region < RECORD_REGIONS_SHORT ? RECORD_ID_REGION + region
					     : RECORD_REGION_KEY(region);
}

bool openmp_is_barrier(const struct openmp *o, uint32_t region)
{
	return o->is_barrier && o->is_barrier(o->ctx, region);
}

/* ---- paths ------------------------------------------------------------------ */

struct node *openmp_root(struct openmp *o)
{
	return o->root;
}

struct node *openmp_relative(struct openmp *o)
{
	return o->relative;
}

const struct node *openmp_below(struct openmp *o, const struct node *path, uint64_t key)
{
	struct node *n = (struct node *)path; /* all of them are ours */

	if (calltree_nodes(o->tree) < OPENMP_PATHS_MAX)
		return calltree_child(o->tree, n, NULL, key);
	o->limits |= 1u << LIMIT_PATHS;
	return calltree_child(o->tree, n, NULL, KEY_OVERFLOW);
}

const struct node *openmp_append(
	struct openmp *o, const struct node *path, const struct node *const *up, unsigned n)
{
	unsigned depth = 0;

	for (const struct node *p = path; p != o->root && p != o->relative; p = p->parent)
		depth++;
	while (n--)
		if (depth < OPENMP_PATH_MAX - 1 || (!n && depth < OPENMP_PATH_MAX)) {
			path = openmp_below(o, path, up[n]->key);
			depth++;
		}
	return path;
}

/* path, and behind it what `more` is below openmp_relative(). */
static const struct node *joined(struct openmp *o, const struct node *path, const struct node *more)
{
	const struct node *up[OPENMP_PATH_MAX];
	unsigned n = 0;

	for (; more != o->relative && n < OPENMP_PATH_MAX; more = more->parent)
		up[n++] = more;
	return openmp_append(o, path, up, n);
}

/* ---- the table ---------------------------------------------------------------- */

static struct team *find_team(const struct openmp *o, uint32_t number)
{
	const uint32_t *slot = number ? map32_find(&o->team_at, number) : NULL;

	return slot ? o->slots[*slot] : NULL;
}

struct team *openmp_parent(const struct openmp *o, const struct team *t)
{
	return find_team(o, t->parent);
}

static void unlink_team(struct openmp *o, struct team *t)
{
	struct team_list *l = &o->lists[t->over];

	*(t->before ? &t->before->next : &l->first) = t->next;
	*(t->next ? &t->next->before : &l->last) = t->before;
	l->n--;
}

static void link_team(struct openmp *o, struct team *t, bool over)
{
	struct team_list *l = &o->lists[over];

	t->over = over;
	t->next = NULL;
	t->before = l->last;
	*(l->last ? &l->last->next : &l->first) = t;
	l->last = t;
	l->n++;
}

static const struct node *path_of(struct openmp *o, struct team *t, unsigned depth);

/* Gives a team a path if none will become known. */
static const struct node *give_path(struct openmp *o, struct team *t)
{
	const struct node *more = t->relative;

	if (t->path)
		return t->path;
	if (more)
		t->path = joined(o, o->root, more);
	else if (t->region != OPENMP_NONE)
		t->path = openmp_below(o, o->root, openmp_region_key(t->region));
	else
		t->path = o->root;
	return t->path;
}

static bool is_placed(struct openmp *o, struct team *t)
{
	openmp_place(o, t, 0);
	return path_of(o, t, 0) && t->place != OPENMP_NONE;
}

/* Those that wait for this team, which is about to go, or for any if it is NULL,
 * and know their place now, or are gone, wait no more. */
static void stop_waiting(struct openmp *o, const struct team *for_this)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_waiting; i++) {
		struct waiting w = o->waiting[i];
		struct team *t;

		if (for_this && w.base != for_this->number && w.parent != for_this->number) {
			o->waiting[n++] = w;
			continue;
		}
		t = find_team(o, w.team);
		if (t && !is_placed(o, t))
			o->waiting[n++] = w;
	}
	o->n_waiting = n;
}

static void wait_for_others(struct openmp *o, struct team *t)
{
	if (o->n_waiting >= WAITING_MAX)
		stop_waiting(o, NULL);
	if (o->n_waiting >= WAITING_MAX) {
		o->limits |= 1u << LIMIT_TEAMS;
		return;
	}
	*LIST_ADD(o, waiting) = (struct waiting){t->number, t->base, t->parent};
}

static void forget_team(struct openmp *o, struct team *t)
{
	uint32_t *slot = map32_find(&o->team_at, t->number);

	path_of(o, t, 0);
	give_path(o, t);
	openmp_place(o, t, 0);
	stop_waiting(o, t);
	openmp_sum_up(o, t);
	unlink_team(o, t);
	o->slots[*slot] = NULL;
	o->free_slots[o->n_free++] = *slot;
	map32_remove(&o->team_at, t->number);
	team_free(o, t);
}

static struct team *team_at(struct openmp *o, uint32_t number, uint32_t region)
{
	struct team *t = find_team(o, number);
	uint32_t slot;

	if (t || !number) {
		if (t && t->region == OPENMP_NONE)
			t->region = region;
		return t;
	}
	if (o->lists[0].n + o->lists[1].n >= OPENMP_TEAMS_MAX) {
		o->limits |= 1u << LIMIT_TEAMS;
		forget_team(o, o->lists[1].n ? o->lists[1].first : o->lists[0].first);
	}
	if (!o->slots) {
		o->slots = xcalloc(OPENMP_TEAMS_MAX, 2 * sizeof(*o->slots));
		o->free_slots = (uint32_t *)(void *)(o->slots + OPENMP_TEAMS_MAX);
		while (o->n_free < OPENMP_TEAMS_MAX) {
			o->free_slots[o->n_free] = OPENMP_TEAMS_MAX - 1 - (uint32_t)o->n_free;
			o->n_free++;
		}
	}
	t = xcalloc(1, sizeof(*t));
	t->number = number;
	t->region = region;
	t->place = OPENMP_NONE;
	slot = o->free_slots[--o->n_free];
	o->slots[slot] = t;
	map32_add(&o->team_at, number, slot);
	link_team(o, t, false);
	return t;
}

/* ---- where a team belongs --------------------------------------------------------- */

static const struct node *path_of(struct openmp *o, struct team *t, unsigned depth)
{
	struct team *base;
	const struct node *path;

	if (t->path || !t->relative)
		return t->path;
	base = depth < CHAIN_MAX ? find_team(o, t->base) : NULL;
	path = base ? path_of(o, base, depth + 1) : o->root;
	if (path) {
		t->path = joined(o, path, t->relative);
		t->hidden |= base && base->hidden;
	}
	return t->path;
}

bool openmp_is_hidden(const struct openmp *o, uint32_t team)
{
	const struct team *t = find_team(o, team);

	return t && t->path && t->hidden;
}

const struct node *openmp_path(struct openmp *o, uint32_t team, uint32_t region)
{
	struct team *t = find_team(o, team);

	if (t)
		return path_of(o, t, 0);
	if (!o->no_more)
		return NULL;
	return region == OPENMP_NONE ? o->root
				     : openmp_below(o, o->root, openmp_region_key(region));
}

void openmp_no_more(struct openmp *o)
{
	o->no_more = true;
	for (int k = 0; k < 2; k++)
		for (struct team *t = o->lists[k].first; t; t = t->next)
			if (!t->relative)
				give_path(o, t);
	for (int k = 0; k < 2; k++)
		for (struct team *t = o->lists[k].first; t; t = t->next)
			if (!path_of(o, t, 0))
				give_path(o, t);
}

/* ---- what its threads tell ---------------------------------------------------------- */

/* Puts a team that is over into the other list, where it stays a while: tasks may still come. */
static void look_if_over(struct openmp *o, struct team *t)
{
	size_t grace = o->n_orphans ? OPENMP_TEAMS_MAX / 2 : OPENMP_GRACE;

	if (t->over || !t->joined || !t->size || t->left < t->size)
		return;
	unlink_team(o, t);
	link_team(o, t, true);
	while ((t = o->lists[1].first) && o->lists[1].n > grace && path_of(o, t, 0))
		forget_team(o, t);
}

void openmp_fork(struct openmp *o, const struct openmp_fork *f)
{
	struct team *t = team_at(o, f->team, f->region);

	if (!t || t->forked)
		return;
	t->forked = true;
	t->region = f->region;
	t->asked = f->size;
	t->fork_ticks = f->ticks;
	t->parent = f->parent;
	t->parent_number = f->parent_number;
	t->hidden = f->hidden;
	if (f->base) {
		t->base = f->base;
		t->relative = f->path;
	} else {
		t->path = f->path;
	}
	if (!is_placed(o, t))
		wait_for_others(o, t);
	else if (!t->parent)
		openmp_root_thread(o, f->thread);
}

void openmp_join(struct openmp *o, uint32_t team, uint32_t size, uint64_t ticks)
{
	struct team *t = find_team(o, team);

	if (!t || !t->forked || t->joined)
		return;
	t->joined = true;
	t->join_ticks = ticks;
	t->size = size;
	look_if_over(o, t);
}

static struct part *part_of(struct openmp *o, struct team *t, uint32_t number)
{
	size_t cap = t->n_parts;

	if (number < cap)
		return &t->parts[number];
	if (number >= OPENMP_PARTS_MAX || o->n_parts + number >= OPENMP_PARTS_MAX) {
		o->limits |= 1u << LIMIT_PARTS;
		return NULL;
	}
	while (cap <= number)
		cap = cap ? cap * 2 : 4;
	t->parts = xrealloc(t->parts, cap * sizeof(*t->parts));
	for (size_t i = t->n_parts; i < cap; i++)
		t->parts[i] = (struct part){.thread = OPENMP_NONE};
	o->n_parts += cap - t->n_parts;
	t->n_parts = cap;
	return &t->parts[number];
}

void openmp_enter(struct openmp *o, const struct openmp_part *p)
{
	struct team *t = team_at(o, p->team, p->region);
	struct part *part = t ? part_of(o, t, p->number) : NULL;

	if (!t)
		return;
	t->level = p->level;
	t->entered++;
	t->enter_sum += p->ticks;
	if (part)
		part->thread = p->thread;
}

void openmp_leave(struct openmp *o, const struct openmp_part *p)
{
	struct team *t = find_team(o, p->team);
	struct part *part = t ? part_of(o, t, p->number) : NULL;

	if (!t)
		return;
	t->left++;
	t->leave_sum += p->ticks;
	t->barrier += p->barrier;
	t->wait += p->wait;
	if (part) {
		part->parts++;
		part->ticks += p->duration;
		part->busy += p->busy;
	}
	look_if_over(o, t);
}

void openmp_task(struct openmp *o, const struct openmp_task *task)
{
	struct team *t = find_team(o, task->team);

	if (!t)
		return;
	t->tasks += !task->resumed;
	t->task_ticks += task->ticks;
	if (!task->in_join)
		return;
	t->join_tasks += task->ticks;
	if (task->number < t->n_parts && t->parts[task->number].thread == task->thread)
		t->parts[task->number].busy += task->busy;
}

void openmp_end(struct openmp *o)
{
	openmp_no_more(o);
	for (int k = 1; k >= 0; k--)
		while (o->lists[k].first)
			forget_team(o, o->lists[k].first);
}

/* ---- limits, orphan subtrees ----------------------------------------------------------------- */

size_t *openmp_orphans(struct openmp *o)
{
	return &o->n_orphans;
}

void openmp_orphans_full(struct openmp *o)
{
	o->limits |= 1u << LIMIT_ORPHANS;
}

_Static_assert(OPENMP_TEAMS_MAX == 65536 && WAITING_MAX == 8192 && OPENMP_PARTS_MAX == 1048576 &&
		       OPENMP_PATHS_MAX == 65536 && OPENMP_NODES_MAX == 65536,
	"the texts below");

const char *openmp_limit_reached(const struct openmp *o, unsigned i)
{
	static const char *const texts[LIMITS] = {
		[LIMIT_TEAMS] = "it has more OpenMP teams at a time than are kept (65536, or 8192 "
				"whose place hangs on that of others): some are counted in part, "
				"at the top of the call tree",
		[LIMIT_PARTS] = "its OpenMP teams have more threads than are kept (1048576): the "
				"load balance is not exact",
		[LIMIT_PATHS] = "it has more paths to OpenMP parallel regions than are kept "
				"(65536): some call paths of worker threads are cut",
		[LIMIT_NODES] = "its tree of OpenMP threads has more places than are kept (65536)",
		[LIMIT_ORPHANS] =
			"worker threads are read long before those that made their OpenMP "
			"teams: some of their frames are at the top of the call tree",
	};

	for (unsigned k = 0; k < LIMITS; k++)
		if (o->limits & 1u << k && !i--)
			return texts[k];
	return NULL;
}
