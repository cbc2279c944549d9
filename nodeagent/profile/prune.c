/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/prune.h"

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/hash.h"
#include "nodeagent/base/radix.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/ids.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/schema.h"
#include "shm/construct.h"
#include "shm/locks.h"

#define MANY_PATHS 1000000 /* profile.prune: auto */

/* Stacks, callers first. */
static uint32_t *callers_first(const struct profile *p)
{
	struct radix *items = xmalloc(p->n_stacks * sizeof(*items) + 1);
	uint32_t *depth = profile_depths(p), *order = xcalloc(p->n_stacks + 1, sizeof(*order));

	for (uint32_t i = 0; i < p->n_stacks; i++)
		items[i] = (struct radix){depth[i], i};
	radix_sort(items, p->n_stacks);
	for (size_t i = 0; i < p->n_stacks; i++)
		order[i] = items[i].i;
	free(items);
	free(depth);
	return order;
}

/* ---- kinds of rows ---------------------------------------------------------------------- */

static const char *const row_names[] = {
#define ROW_NAME(kind, name) name,
	PRUNED_KINDS(ROW_NAME)
#undef ROW_NAME
};

static const char *const openmp_waits[] = {
#define WAIT(kind, name, waits) (waits) ? (name) : NULL,
	CONSTRUCTS(WAIT)
#undef WAIT
};

bool is_pruned_name(const char *name)
{
	return ANY(i, PRUNED_KINDS_END, !strcmp(name, row_names[i]));
}

enum pruned_kind pruned_kind(const char *name)
{
	const size_t bytes = strcspn(name, "@");

	for (size_t i = 0; i < PRUNED_KINDS_END; i++)
		if (!strcmp(name, row_names[i]))
			return (enum pruned_kind)i;
	if (!strncmp(name, "MPI_", 4))
		return PRUNED_MPI;
	if (!strcmp(name, "(idle)"))
		return PRUNED_IDLE;
	if (lock_waits_in(name))
		return PRUNED_LOCK_WAIT;
	return ANY(i, ARRAY_SIZE(openmp_waits),
		       openmp_waits[i] && strlen(openmp_waits[i]) == bytes &&
			       !strncmp(name, openmp_waits[i], bytes))
		       ? PRUNED_OPENMP_WAIT
		       : PRUNED_FUNCTION;
}

/* Waits for locks in the libraries of MPI and OpenMP are those of their callers. */
static enum pruned_kind kind_of(const struct profile *p, uint32_t stack)
{
	const struct profile_stack *s = &p->stacks[stack];
	const enum pruned_kind kind = pruned_kind(p->names[s->name]);
	enum pruned_kind caller;

	if (kind != PRUNED_LOCK_WAIT || s->parent == PROFILE_NONE)
		return kind;
	caller = pruned_kind(p->names[p->stacks[s->parent].name]);
	return caller == PRUNED_FUNCTION ? kind : caller;
}

/* ---- weights ---------------------------------------------------------------------------- */

/* What others name by its stack is a row, so that its name is not lost. */
static void weigh_named(const struct profile *p, uint64_t *weight)
{
	EACH(const struct profile_lock, l, p->locks, p->n_locks) {
		if (l->holder)
			weight[l->holder - 1] = PRUNE_ALWAYS;
		if (l->first)
			weight[l->first - 1] = PRUNE_ALWAYS;
	}
	EACH(const struct profile_openmp, r, p->openmp, p->n_openmp)
		weight[r->stack] = PRUNE_ALWAYS;
	EACH(const struct profile_iteration, r, p->iterations, p->n_iterations)
		weight[r->stack] = PRUNE_ALWAYS;
}

uint64_t *prune_weights(const struct profile *p)
{
	uint64_t *weight = xcalloc(p->n_stacks + 1, sizeof(*weight));
	uint32_t *order = callers_first(p);

	for (size_t i = 0; i < p->n_stacks; i++)
		weight[i] = p->stacks[i].excl_ns;
	EACH(const struct profile_gpu, g, p->gpu, p->n_gpu)
		weight[g->stack] = prune_add(weight[g->stack], g->ns);
	weigh_named(p, weight);
	for (size_t k = p->n_stacks; k-- > 0;) {
		const uint32_t parent = p->stacks[order[k]].parent;

		if (parent != PROFILE_NONE)
			weight[parent] = prune_add(weight[parent], weight[order[k]]);
	}
	free(order);
	return weight;
}

uint64_t prune_total_ns(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		sum = prune_add(sum, p->stacks[i].excl_ns);
	return sum;
}

/* ---- the rows --------------------------------------------------------------------------- */

struct pruning {
	struct profile *p;
	uint32_t *order;  /* callers first */
	uint32_t *top;	  /* by stack: itself if it is kept, else the next caller that is */
	uint32_t *row;	  /* by stack: its row */
	uint32_t *others; /* by kept stack and kind: the row of those below; PROFILE_NONE: none */
	struct profile_stack *out; /* rows */
	uint32_t n_out;
	uint32_t others_name[PRUNED_KINDS_END]; /* in names[] */
	bool any;
};

/* Rows that are sums already stay none of their own; callers of what is kept are kept. */
static void settle_kept(struct pruning *x, bool *keep)
{
	const struct profile *p = x->p;

	for (uint32_t i = 0; i < p->n_stacks; i++)
		if (p->stacks[i].parent != PROFILE_NONE)
			keep[i] &= !is_pruned_name(p->names[p->stacks[i].name]);
		else
			keep[i] = true;
	for (size_t k = p->n_stacks; k-- > 0;) {
		const uint32_t i = x->order[k], parent = p->stacks[i].parent;

		if (parent != PROFILE_NONE)
			keep[parent] |= keep[i];
	}
	for (size_t k = 0; k < p->n_stacks; k++) {
		const uint32_t i = x->order[k];

		x->top[i] = keep[i] ? i : x->top[p->stacks[i].parent];
		x->any |= !keep[i];
	}
}

/* The hash of the others of a kind below stack i. */
static uint64_t others_hash(const struct profile *p, uint32_t i, enum pruned_kind kind)
{
	struct stack_hash h = STACK_HASH_BEGIN;

	stack_hash_add(&h, row_names[kind], strlen(row_names[kind]));
	for (; i != PROFILE_NONE; i = p->stacks[i].parent) {
		const char *name = p->names[p->stacks[i].name];

		stack_hash_add(&h, "<", 1);
		stack_hash_add(&h, name, strlen(name));
	}
	stack_hash_add(&h, "", 1);
	return stack_hash_end(&h);
}

/* Adds stack i to the others below stack `to`. */
static void add_to_others(struct pruning *x, uint32_t i, uint32_t to)
{
	const struct profile_schema *s = &profile_schema[PROFILE_STACKS];
	const enum pruned_kind kind = kind_of(x->p, i);
	uint32_t *at = &x->others[(size_t)to * PRUNED_KINDS_END + kind];
	struct profile_stack one = x->p->stacks[i], *row;

	one.ranks = one.rank_min = one.rank_max = 0;
	one.excl_min_ns = one.excl_max_ns = 0;
	one.excl_sumsq_ns2 = 0;
	one.incl_ns = one.excl_ns;
	if (*at == PROFILE_NONE) {
		*at = x->n_out;
		row = &x->out[x->n_out++];
		*row = one;
		row->hash = others_hash(x->p, to, kind);
		row->parent = x->row[to];
		row->name = x->others_name[kind];
	} else {
		profile_record_add(s, &x->out[*at], &one);
	}
	x->row[i] = *at;
}

static void make_rows(struct pruning *x)
{
	struct profile *p = x->p;

	for (size_t k = 0; k < p->n_stacks; k++) {
		const uint32_t i = x->order[k];

		if (x->top[i] != i) {
			add_to_others(x, i, x->top[i]);
			continue;
		}
		x->row[i] = x->n_out;
		x->out[x->n_out] = p->stacks[i];
		if (p->stacks[i].parent != PROFILE_NONE)
			x->out[x->n_out].parent = x->row[p->stacks[i].parent];
		x->n_out++;
	}
	free(p->stacks);
	p->stacks = x->out;
	p->n_stacks = x->n_out;
}

/* Puts rows of one hash in order; as a rule there are none. */
static void settle_equal_hashes(const struct profile *p, struct radix *items, size_t n)
{
	for (size_t k = 1; k < n; k++)
		for (size_t i = k; i && items[i - 1].key == items[i].key; i--) {
			const struct radix later = items[i];

			if (profile_stack_cmp(p, items[i - 1].i, p, later.i) < 0)
				break;
			items[i] = items[i - 1];
			items[i - 1] = later;
		}
}

/* The places of the rows in the order of a profile. */
static uint32_t *places_of(const struct profile *p, struct radix *items)
{
	uint32_t *place = xcalloc(p->n_stacks, sizeof(*place));

	for (uint32_t i = 0; i < p->n_stacks; i++)
		items[i] = (struct radix){p->stacks[i].hash, i};
	radix_sort(items, p->n_stacks);
	settle_equal_hashes(p, items, p->n_stacks);
	for (uint32_t i = 0; i < p->n_stacks; i++)
		place[items[i].i] = i;
	return place;
}

/* row: by stack that was; becomes its place. */
static void sort_rows(struct profile *p, uint32_t *row, size_t n_row)
{
	struct radix *items = xcalloc(p->n_stacks, sizeof(*items));
	uint32_t *place = places_of(p, items);
	struct profile_stack *out = xcalloc(p->n_stacks, sizeof(*out));

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		out[i] = p->stacks[items[i].i];
		if (out[i].parent != PROFILE_NONE)
			out[i].parent = place[out[i].parent];
	}
	for (size_t i = 0; i < n_row; i++)
		row[i] = place[row[i]];
	free(p->stacks);
	p->stacks = out;
	free(place);
	free(items);
}

/* ---- what belongs to them ---------------------------------------------------------------- */

/* Who was late for what is added up is told no more: so there is one entry of each kind. */
static void forget_late(struct pruning *x)
{
	struct profile *p = x->p;

	EACH(struct profile_wait, w, p->waits, p->n_waits)
		if (x->top[w->stack] != w->stack) {
			w->late = PROFILE_ELSEWHERE;
			w->late_thread = w->late_stack = 0;
		}
	EACH(struct profile_cause, c, p->causes, p->n_causes)
		if (x->top[c->stack] != c->stack)
			c->late = PROFILE_ELSEWHERE;
}

static bool has_stacks(const struct profile_schema *s)
{
	return s->rest != OWN &&
	       ANY(i, s->n_fields, s->fields[i].ref == STACK || s->fields[i].ref == NEXT_STACK);
}

/* A rank of several paths would count several times. */
static void forget_ranks(const struct pruning *x, const struct profile_schema *s)
{
	size_t n;
	char *at = profile_records(x->p, s, &n);
	const struct profile_field *end = s->fields + s->n_fields,
				   *stack = FIND(f, s->fields, s->n_fields, f->ref == STACK);

	for (const struct profile_field *f = s->fields; stack && f < end; f++)
		for (size_t i = 0; f->role == SIZE && i < n; i++) {
			char *record = at + i * s->bytes;
			uint32_t of;

			memcpy(&of, record + stack->offset, sizeof(of));
			if (x->top[of] != of)
				memset(record + f->offset, 0, sizeof(uint32_t));
		}
}

/* A thread of several paths would count several times, and no sum tells its time at all of them. */
static void forget_ranges(const struct pruning *x, size_t n)
{
	uint32_t *own = xcalloc(n + 1, sizeof(*own));

	for (size_t i = 0; i < n; i++)
		own[i] = x->top[i] == i ? x->row[i] : PROFILE_NONE;
	profile_renumber_stacks(x->p, PROFILE_THREAD_RANGES, own);
	profile_combine(x->p, PROFILE_THREAD_RANGES);
	free(own);
}

static void settle_names(struct profile *p)
{
	uint32_t *number = xmalloc(p->n_names * sizeof(*number) + 1), n = 0;
	char **names = xcalloc(p->n_names + 1, sizeof(*names));

	memset(number, 0xff, p->n_names * sizeof(*number));
	for (size_t i = 0; i < p->n_stacks; i++) {
		uint32_t *to = &number[p->stacks[i].name];

		if (*to == UINT32_MAX) {
			*to = n;
			names[n++] = p->names[p->stacks[i].name];
		}
		p->stacks[i].name = *to;
	}
	for (size_t i = 0; i < p->n_names; i++)
		if (number[i] == UINT32_MAX)
			free(p->names[i]);
	free(number);
	free(p->names);
	p->names = names;
	p->n_names = n;
}

/* The last of names[], unless it is there. */
static uint32_t add_others_name(struct profile *p, const char *row)
{
	char **is = FIND(name, p->names, p->n_names, !strcmp(*name, row));

	if (is)
		return (uint32_t)(is - p->names);
	p->names = xrealloc(p->names, (p->n_names + 1) * sizeof(*p->names));
	p->names[p->n_names] = xstrdup(row);
	return (uint32_t)p->n_names++;
}

static void note_pruned(struct profile *p, uint64_t below_ns, uint64_t paths)
{
	struct profile_pruned *r = p->n_pruned ? p->pruned : profile_add(p, PROFILE_PRUNED);

	r->below_ns = MAX(r->below_ns, below_ns);
	r->paths = MAX(r->paths, paths);
}

static void add_up(struct pruning *x)
{
	struct profile *p = x->p;
	const size_t n = p->n_stacks;

	for (size_t i = 0; i < PRUNED_KINDS_END; i++)
		x->others_name[i] = add_others_name(p, row_names[i]);
	x->out = xcalloc(n, sizeof(*x->out));
	forget_late(x);
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++)
		if (has_stacks(&profile_schema[i]) && profile_schema[i].rest == PROCESS)
			forget_ranks(x, &profile_schema[i]);
	make_rows(x);
	sort_rows(p, x->row, n);
	forget_ranges(x, n);
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++)
		if (has_stacks(&profile_schema[i]) && i != PROFILE_THREAD_RANGES) {
			profile_renumber_stacks(p, i, x->row);
			profile_combine(p, i);
		}
	settle_names(p);
}

void prune_others(struct profile *p, bool *keep, uint64_t below_ns, uint64_t paths)
{
	const size_t n = p->n_stacks;
	struct pruning x = {.p = p,
		.order = callers_first(p),
		.top = xcalloc(n + 1, sizeof(*x.top)),
		.row = xcalloc(n + 1, sizeof(*x.row)),
		.others = xmalloc(n * sizeof(*x.others) * PRUNED_KINDS_END + 1)};

	memset(x.others, 0xff, n * sizeof(*x.others) * PRUNED_KINDS_END);
	settle_kept(&x, keep);
	if (x.any) {
		profile_drop_processes(p);
		add_up(&x);
		note_pruned(p, below_ns, paths);
	}
	free(x.order);
	free(x.top);
	free(x.row);
	free(x.others);
}

struct pruned_rows pruned_rows(const struct profile *p)
{
	struct pruned_rows sum = {0};

	for (size_t i = 0; p->n_pruned && i < p->n_stacks; i++)
		if (is_pruned_name(p->names[p->stacks[i].name])) {
			sum.n++;
			sum.excl_ns += p->stacks[i].excl_ns;
		}
	return sum;
}

uint64_t prune_from(const struct conf *c)
{
	if (c->profile_prune == CONF_AUTO)
		return MANY_PATHS;
	return c->profile_prune ? 0 : PRUNE_NEVER;
}

void prune_job(struct profile *p, uint64_t from)
{
	const uint64_t before = p->n_pruned ? p->pruned->below_ns : 0;
	uint64_t *weight, below_ns;
	bool *keep;

	if (!p->n_pruned && p->n_stacks <= from)
		return;
	below_ns = MAX(prune_total_ns(p) / PRUNE_PART, before);
	weight = prune_weights(p);
	keep = xcalloc(p->n_stacks + 1, sizeof(*keep));
	for (size_t i = 0; i < p->n_stacks; i++)
		keep[i] = weight[i] >= below_ns;
	prune_others(p, keep, below_ns, p->n_pruned ? 0 : p->n_stacks);
	free(keep);
	free(weight);
}
