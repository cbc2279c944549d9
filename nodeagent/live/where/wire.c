/* SPDX-License-Identifier: BSD-3-Clause */
/* As bytes: varints (trace/varint.h), and texts with their length. */
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/coder.h"
#include "nodeagent/live/where/where.h"

#define WHERE_VERSION 4u

static void code_ranks(struct coder *c, struct where_ranks *r)
{
	uint32_t cut = r->cut;
	size_t n = r->n;

	code_u32(c, &cut);
	code_count(c, &n, WHERE_RUNS_MAX);
	r->cut = cut;
	r->n = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		code_u32(c, &r->run[i].first);
		code_u32(c, &r->run[i].last);
		if (r->run[i].last < r->run[i].first ||
			(i && r->run[i].first <= (uint64_t)r->run[i - 1].last + 1))
			c->from.bad = true;
	}
}

static void code_place(struct coder *c, struct where_place *p)
{
	code_u64(c, &p->hash);
	code_u32(c, &p->threads);
	code_u32(c, &p->processes);
	code_u32(c, &p->pid);
	code_u32(c, &p->state);
	code_u32(c, &p->alone);
	code_u32(c, &p->in_mpi);
	code_u64(c, &p->since_least);
	code_u64(c, &p->since_most);
	code_u64(c, &p->comm);
	code_u32(c, &p->call);
	code_u32(c, &p->kind);
	code_u32(c, &p->root);
	code_ranks(c, &p->ranks);
	code_text_keeping(c, p->path, sizeof(p->path), WHERE_FRAME_BEGINS);
	code_text(c, p->lock, sizeof(p->lock));
	code_text(c, p->holder, sizeof(p->holder));
	code_u32(c, &p->had);
	if (p->state >= WHERE_STATES)
		c->from.bad = true;
}

static void code_wait(struct coder *c, struct where_wait *s)
{
	code_u32(c, &s->rank);
	code_u32(c, &s->kind);
	code_u32(c, &s->peer);
	code_u32(c, &s->tag);
	code_u32(c, &s->n);
	code_u32(c, &s->of);
	code_u32(c, &s->alone);
	code_u64(c, &s->since);
	code_u64(c, &s->comm_id);
	code_text(c, s->comm, sizeof(s->comm));
	if (s->kind >= WHERE_AWAITED)
		c->from.bad = true;
}

static void code_comm(struct coder *c, struct where_comm *m)
{
	code_u64(c, &m->id);
	code_u32(c, &m->call);
	code_u32(c, &m->size);
	code_ranks(c, &m->members);
	code_ranks(c, &m->ranks);
	code_text(c, m->name, sizeof(m->name));
}

static void code_locked(struct coder *c, struct where_locked *l)
{
	code_u32(c, &l->rank);
	code_u32(c, &l->pid);
	code_u32(c, &l->thread);
	code_u32(c, &l->of);
	code_u64(c, &l->since);
	code_text(c, l->lock, sizeof(l->lock));
}

#define TEXT_MOST(room) (VARINT_MAX + (room))
#define RANKS_MOST	((2 + 2 * WHERE_RUNS_MAX) * VARINT_MAX)
#define PLACE_MOST                                                                                 \
	(14 * VARINT_MAX + RANKS_MOST + TEXT_MOST(WHERE_PATH_BYTES) +                              \
		2 * TEXT_MOST(WHERE_LOCK_BYTES))
#define WAIT_MOST     (9 * VARINT_MAX + TEXT_MOST(WHERE_NAME_BYTES))
#define COMM_MOST     (3 * VARINT_MAX + 2 * RANKS_MOST + TEXT_MOST(WHERE_NAME_BYTES))
#define LOCKED_MOST   (5 * VARINT_MAX + TEXT_MOST(WHERE_LOCK_BYTES))
#define HEAD_MOST     (14 * VARINT_MAX + RANKS_MOST)
#define PART_OF_COMMS (WHERE_PACKED_MOST / 2)
#define PART_OF_WAITS (WHERE_PACKED_MOST / 4)
#define PART_OF_LOCKS (WHERE_PACKED_MOST / 8)
_Static_assert(
	HEAD_MOST + PART_OF_WAITS + PART_OF_COMMS + PART_OF_LOCKS + PLACE_MOST < WHERE_PACKED_MOST,
	"some place has always room");
_Static_assert(WAIT_MOST <= PLACE_MOST && COMM_MOST <= PLACE_MOST && LOCKED_MOST <= PLACE_MOST,
	"of any row");

/* Room that rows of one kind may take, and that of all. */
struct room {
	size_t part, *all;
};

/* Takes room for a row, of which this is the end when it is packed; false: there is none. */
static bool take_room(struct room *r, const unsigned char *row, const unsigned char *end)
{
	const size_t bytes = (size_t)(end - row);

	if (bytes > r->part || bytes > *r->all)
		return false;
	r->part -= bytes;
	*r->all -= bytes;
	return true;
}

/* How many of the first rows fit, found by packing them. */
#define ROWS_THAT_FIT(w, rows, code_row, room)                                                     \
	({                                                                                         \
		unsigned char row[PLACE_MOST];                                                     \
		size_t fit = 0;                                                                    \
                                                                                                   \
		for (; fit < (w)->n_##rows; fit++) {                                               \
			struct coder c = {.to = row};                                              \
                                                                                                   \
			code_row(&c, &(w)->rows[fit]);                                             \
			if (!take_room(room, row, c.to))                                           \
				break;                                                             \
		}                                                                                  \
		fit;                                                                               \
	})

/* How many of the first n rows are cycles that end among them. */
static size_t whole_cycles(const struct where *w, size_t n)
{
	size_t i = 0;

	while (i < n && w->locked[i].of && w->locked[i].of <= n - i)
		i += w->locked[i].of;
	return i;
}

/* What does not fit is counted instead. */
static void fit_rows(struct where *w)
{
	size_t all = WHERE_PACKED_MOST - HEAD_MOST, fit;
	struct room waits = {PART_OF_WAITS, &all}, comms = {PART_OF_COMMS, &all},
		    locks = {PART_OF_LOCKS, &all}, places;

	fit = ROWS_THAT_FIT(w, waits, code_wait, &waits);
	w->waits_cut += (uint32_t)(w->n_waits - fit);
	w->n_waits = fit;
	fit = ROWS_THAT_FIT(w, comms, code_comm, &comms);
	w->comms_cut += (uint32_t)(w->n_comms - fit);
	w->n_comms = fit;
	fit = whole_cycles(w, ROWS_THAT_FIT(w, locked, code_locked, &locks));
	w->locked_cut += (uint32_t)(w->n_locked - fit);
	w->n_locked = fit;
	places = (struct room){all, &all};
	fit = ROWS_THAT_FIT(w, places, code_place, &places);
	w->places_cut += (uint32_t)(w->n_places - fit);
	for (size_t i = fit; i < w->n_places; i++)
		w->threads_cut += w->places[i].threads;
	w->n_places = fit;
}

static void code_head(struct coder *c, struct where *w)
{
	code_u32(c, &w->nodes);
	code_u32(c, &w->threads);
	code_u32(c, &w->processes);
	code_u32(c, &w->places_cut);
	code_u32(c, &w->threads_cut);
	code_u32(c, &w->waits_cut);
	code_u32(c, &w->comms_cut);
	code_u32(c, &w->locked_cut);
	code_ranks(c, &w->ranks);
	code_count(c, &w->n_waits, WHERE_WAITS_MAX);
	code_count(c, &w->n_comms, WHERE_COMMS_MAX);
	code_count(c, &w->n_locked, WHERE_LOCKED_MAX);
	code_count(c, &w->n_places, WHERE_PLACES_MAX);
}

static void code_rows(struct coder *c, struct where *w)
{
	for (size_t i = 0; i < w->n_waits; i++)
		code_wait(c, &w->waits[i]);
	for (size_t i = 0; i < w->n_comms; i++)
		code_comm(c, &w->comms[i]);
	for (size_t i = 0; i < w->n_locked; i++)
		code_locked(c, &w->locked[i]);
	for (size_t i = 0; i < w->n_places; i++)
		code_place(c, &w->places[i]);
}

size_t where_pack(const struct where *w, unsigned char *to)
{
	struct coder c = {.to = to};
	struct where *v = xmalloc(sizeof(*v));

	*v = *w;
	where_sort(v);
	fit_rows(v);
	c.to = varint_put(c.to, WHERE_VERSION);
	code_head(&c, v);
	code_rows(&c, v);
	free(v);
	return (size_t)(c.to - to);
}

const char *where_unpack(struct where *w, const void *packed, size_t bytes)
{
	struct coder c = {.from = {packed, (const unsigned char *)packed + bytes, false}};
	const char *why = NULL;

	memset(w, 0, sizeof(*w));
	if (bytes > WHERE_PACKED_MOST)
		return "it is longer than any";
	if (varint_get(&c.from) != WHERE_VERSION)
		return "it is of another version";
	code_head(&c, w);
	code_rows(&c, w);
	if (c.from.bad || whole_cycles(w, w->n_locked) != w->n_locked)
		why = "its lengths do not fit";
	else if (c.from.at != c.from.end)
		why = "there is more than it says";
	if (why)
		memset(w, 0, sizeof(*w));
	return why;
}
