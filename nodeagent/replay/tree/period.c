/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/period.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/iterations.h"
#include "nodeagent/replay/tree/off-cpu.h"

#define COMPARED_FROM 64u /* calls; then whenever there are twice as many */

struct path {
	struct period_loop loop; /* iterations NULL: it is none */
	uint64_t mpi;		 /* of the function, when the last call ended ... */
	struct off_time off;	 /* ... of it without a CPU */
	uint64_t mpi_before;	 /* of the function, when the first call began */
	uint64_t last_end;
	uint64_t tail; /* is_first: when the last call ended that is as frequent */
};

struct period {
	uint64_t mpi;	     /* of the function, in MPI ... */
	struct off_time off; /* ... without a CPU */
	unsigned n, next;    /* the path that is expected next */
	bool judges;
	unsigned n_first; /* that are is_first, with iterations */
	unsigned n_kept;  /* with iterations */
	struct path at[PERIOD_PATHS];
};

struct period *period_new(bool judges)
{
	struct period *p = xcalloc(1, sizeof(*p));

	p->judges = judges;
	return p;
}

void period_free(struct period *p)
{
	for (unsigned i = 0; p && i < p->n; i++)
		iterations_free(p->at[i].loop.iterations);
	free(p);
}

void period_add_mpi(struct period *p, uint64_t ticks, struct off_time off)
{
	p->mpi += ticks;
	off_time_add(&p->off, off);
}

struct path *period_path(struct period *p, uint64_t key)
{
	for (unsigned left = p->n, i = p->next; left; left--, i++) {
		i = i < p->n ? i : 0;
		if (p->at[i].loop.key == key) {
			p->next = i + 1;
			return &p->at[i];
		}
	}
	return NULL;
}

struct path *period_add(struct period *p, const struct period_call *c, bool collective)
{
	struct path *to = &p->at[p->n];
	const uint64_t took = c->until - c->since;

	if (p->n == PERIOD_PATHS)
		return NULL;
	p->n++;
	p->n_kept++;
	*to = (struct path){.loop = {.key = c->node->key,
				    .iterations = iterations_new(),
				    .collective = collective,
				    .first = c->since},
		.mpi_before = p->mpi > took ? p->mpi - took : 0,
		.last_end = c->since};
	to->mpi = to->mpi_before;
	to->off = p->off;
	return to;
}

/* ---- which path is the first one -------------------------------------------------------- */

/* c has one or more calls in each of n iterations, of which the last one may have none yet. */
static bool is_in_each(const struct node *c, uint64_t n)
{
	return c->calls >= n - 1 && (c->calls % n == 0 || c->calls % (n - 1) == 0);
}

/* When the first call began of those that are in each of n iterations. */
static uint64_t first_of_all(const struct node *parent, uint64_t n, uint64_t first)
{
	const struct node *c = parent->child;

	do {
		const uint64_t began = c->calls ? calltree_first(c) : 0;

		if (began && (int64_t)(began - first) < 0 && is_in_each(c, n))
			first = began;
		c = c->sibling;
	} while (c != parent->child);
	return first;
}

/* Of the paths here, MPI's time when the first one began that is not before `since`. */
static uint64_t mpi_at(const struct period *p, const struct path *of, uint64_t since)
{
	uint64_t least = of->mpi_before;

	for (unsigned i = 0; i < p->n; i++)
		if ((int64_t)(p->at[i].loop.first - since) >= 0 && p->at[i].mpi_before < least)
			least = p->at[i].mpi_before;
	return least;
}

static void find_begin(struct period *p, struct path *at, const struct period_call *c)
{
	const uint64_t n = c->node->calls, first = first_of_all(c->node->parent, n, at->loop.first);

	if (first == at->loop.first) {
		at->loop.is_first = true;
		p->n_first++;
		at->tail = c->until;
		iterations_drop_first(at->loop.iterations);
		return;
	}
	iterations_begin_at(at->loop.iterations, first, at->mpi_before - mpi_at(p, at, first));
}

/* ---- calls ------------------------------------------------------------------------------- */

static bool is_as_frequent(const struct path *a, const struct path *b)
{
	const uint64_t n = iterations_count(a->loop.iterations, NULL),
		       m = iterations_count(b->loop.iterations, NULL);

	return (n > m ? n - m : m - n) <= 1;
}

/* An earlier path of the same kind says the same. */
static bool is_spare(const struct period *p, const struct path *at)
{
	const uint64_t n = iterations_count(at->loop.iterations, NULL);

	if (n < COMPARED_FROM || n & (n - 1))
		return false;
	for (const struct path *q = p->at; q < at; q++)
		if (q->loop.iterations && q->loop.collective == at->loop.collective &&
			is_as_frequent(q, at))
			return true;
	return false;
}

bool period_is_kept(const struct path *at)
{
	return at->loop.iterations;
}

static bool is_compared(const struct path *at, const struct period_call *c)
{
	const uint64_t took = c->until - at->last_end;

	return took >= c->least && iterations_compare(at->loop.iterations, took, c->unsettled);
}

static bool is_judged(const struct path *at, uint64_t calls)
{
	return !at->loop.is_first && calls == PERIOD_JUDGED;
}

bool period_reads_tree(const struct path *at, const struct period_call *c)
{
	return is_compared(at, c) || is_judged(at, iterations_count(at->loop.iterations, NULL) + 1);
}

uint64_t period_call(struct period *p, struct path *at, const struct period_call *c)
{
	struct iterations *all = at->loop.iterations;
	const uint64_t took = c->until - at->last_end;
	const bool is_long = took >= c->least;
	bool is_kept;

	iterations_add_mpi(all, p->mpi - at->mpi);
	if (is_compared(at, c))
		iterations_add_callees(all, c->node->parent);
	if (is_long && c->off)
		iterations_add_off(
			all, off_time_less(off_cpu_between(c->off, at->last_end, c->until),
				     off_time_less(p->off, at->off)));
	is_kept = iterations_add(all, at->last_end, c->until, c->least);
	at->mpi = p->mpi;
	at->off = p->off;
	at->last_end = c->until;
	if (!p->judges)
		return took;
	if (is_kept && !is_spare(p, at)) {
		if (is_judged(at, iterations_count(all, NULL)))
			find_begin(p, at, c);
		return took;
	}
	iterations_free(all);
	at->loop.iterations = NULL;
	p->n_kept--;
	p->n_first -= at->loop.is_first;
	return took;
}

/* Calls after the last one of the first path are of its last iteration, if others were. */
bool period_has_first(const struct period *p)
{
	return p->n_first;
}

void period_left(struct period *p, const struct node *n, uint64_t until)
{
	EACH(struct path, at, p->at, p->n)
		if (at->loop.is_first && at->loop.iterations &&
			n->calls >= iterations_count(at->loop.iterations, NULL))
			at->tail = until;
}

/* ---- what is known of them --------------------------------------------------------------- */

struct iterations *period_iterations(const struct path *at)
{
	return at->loop.iterations;
}

bool period_loop(const struct period *p, size_t i, struct period_loop *l)
{
	for (unsigned k = 0; k < p->n; k++) {
		*l = p->at[k].loop;
		if (l->iterations && !i--)
			return true;
	}
	return false;
}

void period_end(struct period *p)
{
	EACH(struct path, at, p->at, p->n) {
		if (!at->loop.is_first || !at->loop.iterations ||
			(int64_t)(at->tail - at->last_end) <= 0)
			continue;
		iterations_add_mpi(at->loop.iterations, p->mpi - at->mpi);
		iterations_add(at->loop.iterations, at->last_end, at->tail, 0);
		at->last_end = at->tail;
	}
}

void period_add_wait(struct period *p, uint64_t at, uint64_t ticks)
{
	for (unsigned i = 0; p->n_kept && i < p->n; i++)
		if (p->at[i].loop.iterations)
			iterations_add_wait(p->at[i].loop.iterations, at, ticks);
}

void period_add_waits(struct period *p, const struct waited *w, size_t n)
{
	for (unsigned i = 0; p->n_kept && i < p->n; i++)
		if (p->at[i].loop.iterations)
			iterations_add_waits(p->at[i].loop.iterations, w, n);
}
