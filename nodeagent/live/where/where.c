/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/live/where/where.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"

/* Numbers of others may be anything. */
static void add_clipped(uint32_t *to, uint32_t n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = UINT32_MAX;
}

/* ---- ranks ------------------------------------------------------------------------------ */

static void remove_runs(struct where_ranks *r, uint32_t at, uint32_t n)
{
	memmove(r->run + at, r->run + at + n, (r->n - at - n) * sizeof(*r->run));
	r->n -= n;
}

static void insert_run(struct where_ranks *r, uint32_t at, struct where_run run)
{
	r->cut |= r->n == WHERE_RUNS_MAX;
	if (at == WHERE_RUNS_MAX)
		return;
	r->n -= r->n == WHERE_RUNS_MAX;
	memmove(r->run + at + 1, r->run + at, (r->n - at) * sizeof(*r->run));
	r->run[at] = run;
	r->n++;
}

void where_add_ranks(struct where_ranks *to, uint32_t first, uint32_t last)
{
	struct where_run run = {first, last};
	uint32_t at = 0, n = 0;

	while (at < to->n && (uint64_t)to->run[at].last + 1 < first)
		at++;
	for (; at + n < to->n && to->run[at + n].first <= (uint64_t)last + 1; n++) {
		run.first = to->run[at + n].first < run.first ? to->run[at + n].first : run.first;
		run.last = to->run[at + n].last > run.last ? to->run[at + n].last : run.last;
	}
	remove_runs(to, at, n);
	insert_run(to, at, run);
}

void where_merge_ranks(struct where_ranks *to, const struct where_ranks *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		where_add_ranks(to, from->run[i].first, from->run[i].last);
	to->cut |= from->cut;
}

bool where_has_rank(const struct where_ranks *r, uint32_t rank)
{
	return ANY(i, r->n, rank >= r->run[i].first && rank <= r->run[i].last);
}

uint64_t where_count_ranks(const struct where_ranks *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		n += (uint64_t)r->run[i].last - r->run[i].first + 1;
	return n;
}

char *where_ranks_text(const struct where_ranks *r)
{
	char *text = xstrdup("");

	for (uint32_t i = 0; i < r->n; i++) {
		const struct where_run *run = &r->run[i];

		text = xappend(text, "%s%" PRIu32, i ? "," : "", run->first);
		if (run->first != run->last)
			text = xappend(text, "-%" PRIu32, run->last);
	}
	return xappend(text, "%s", r->cut ? ",..." : "");
}

char *where_ranks_words(const struct where_ranks *r)
{
	char *ranks = where_ranks_text(r);
	char *words =
		xasprintf("%s %s", where_count_ranks(r) == 1 && !r->cut ? "rank" : "ranks", ranks);

	free(ranks);
	return words;
}

void where_subtract_ranks(
	struct where_ranks *to, const struct where_ranks *of, const struct where_ranks *without)
{
	*to = (struct where_ranks){0};
	for (uint32_t i = 0; i < of->n; i++) {
		uint64_t from = of->run[i].first;

		EACH(const struct where_run, w, without->run, without->n) {
			if (w->last < from || w->first > of->run[i].last)
				continue;
			if (w->first > from)
				where_add_ranks(to, (uint32_t)from, w->first - 1);
			from = (uint64_t)w->last + 1;
		}
		if (from <= of->run[i].last)
			where_add_ranks(to, (uint32_t)from, of->run[i].last);
	}
}

/* ---- rows ------------------------------------------------------------------------------- */

ORDER_BY(place_order, struct where_place, FALLING(threads) ?: RISING(hash))

static void join_place(struct where_place *to, const struct where_place *p)
{
	add_clipped(&to->threads, p->threads);
	add_clipped(&to->processes, p->processes);
	LEAST(to, p, since_least);
	LEAST(to, p, alone);
	LEAST(to, p, in_mpi);
	MOST(to, p, since_most);
	MOST(to, p, had);
	where_merge_ranks(&to->ranks, &p->ranks);
}

static void count_left_out(struct where *w, const struct where_place *p)
{
	add_clipped(&w->places_cut, 1);
	add_clipped(&w->threads_cut, p->threads);
}

void where_add_place(struct where *w, const struct where_place *p)
{
	struct where_place *least = w->places;

	for (size_t i = 0; i < w->n_places; i++) {
		if (w->places[i].hash == p->hash) {
			join_place(&w->places[i], p);
			return;
		}
		if (place_order(least, &w->places[i]) < 0)
			least = &w->places[i];
	}
	if (w->n_places < WHERE_PLACES_MAX) {
		w->places[w->n_places++] = *p;
		return;
	}
	count_left_out(w, place_order(p, least) < 0 ? least : p);
	if (place_order(p, least) < 0)
		*least = *p;
}

void where_add_wait(struct where *w, const struct where_wait *s)
{
	if (w->n_waits < WHERE_WAITS_MAX)
		w->waits[w->n_waits++] = *s;
	else
		add_clipped(&w->waits_cut, 1);
}

void where_add_comm(struct where *w, const struct where_comm *c)
{
	EACH(struct where_comm, to, w->comms, w->n_comms) {
		if (to->id != c->id || to->call != c->call)
			continue;
		where_merge_ranks(&to->ranks, &c->ranks);
		if (!to->name[0])
			memcpy(to->name, c->name, sizeof(to->name));
		return;
	}
	if (w->n_comms < WHERE_COMMS_MAX)
		w->comms[w->n_comms++] = *c;
	else
		add_clipped(&w->comms_cut, 1);
}

void where_add_locked(struct where *w, const struct where_locked *l)
{
	if (l->of > WHERE_LOCKED_MAX - w->n_locked) {
		add_clipped(&w->locked_cut, l->of);
		return;
	}
	memcpy(w->locked + w->n_locked, l, l->of * sizeof(*l));
	w->n_locked += l->of;
}

void where_merge(struct where *to, const struct where *from)
{
	add_clipped(&to->nodes, from->nodes);
	add_clipped(&to->threads, from->threads);
	add_clipped(&to->processes, from->processes);
	add_clipped(&to->places_cut, from->places_cut);
	add_clipped(&to->threads_cut, from->threads_cut);
	add_clipped(&to->waits_cut, from->waits_cut);
	add_clipped(&to->comms_cut, from->comms_cut);
	add_clipped(&to->locked_cut, from->locked_cut);
	where_merge_ranks(&to->ranks, &from->ranks);
	for (size_t i = 0; i < from->n_places; i++)
		where_add_place(to, &from->places[i]);
	for (size_t i = 0; i < from->n_waits; i++)
		where_add_wait(to, &from->waits[i]);
	for (size_t i = 0; i < from->n_comms; i++)
		where_add_comm(to, &from->comms[i]);
	for (size_t i = 0; i < from->n_locked; i += from->locked[i].of)
		where_add_locked(to, &from->locked[i]);
}

void where_sort(struct where *w)
{
	qsort(w->places, w->n_places, sizeof(*w->places), place_order);
}

/* ---- who waits for whom --------------------------------------------------------------------- */

const struct where_comm *where_comm_of(const struct where *w, const struct where_place *p)
{
	return p->comm ? FIND(x, w->comms, w->n_comms, x->id == p->comm) : NULL;
}

bool where_missing(const struct where *w, const struct where_place *p, struct where_ranks *missing)
{
	const struct where_comm *c = where_comm_of(w, p);
	struct where_ranks come = {0};

	*missing = (struct where_ranks){0};
	if (!c || w->comms_cut || c->members.cut || p->state == WHERE_ENDED)
		return false;
	for (size_t i = 0; i < w->n_comms; i++)
		if (w->comms[i].id == p->comm && !where_is_later(p->call, w->comms[i].call))
			where_merge_ranks(&come, &w->comms[i].ranks);
	where_subtract_ranks(missing, &c->members, &come);
	return !come.cut && !missing->cut;
}

bool where_is_locked(const struct where_locked *l, uint64_t least)
{
	for (uint32_t i = 0; i < l->of; i++)
		if (l[i].since < least)
			return false;
	return true;
}

bool where_all_wait(const struct where *w, uint64_t least)
{
	return w->n_places && !w->places_cut &&
	       ALL(i, w->n_places,
		       w->places[i].state == WHERE_ENDED ||
			       (w->places[i].in_mpi && w->places[i].since_least >= least));
}
