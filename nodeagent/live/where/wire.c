/* SPDX-License-Identifier: BSD-3-Clause */
/* As bytes: varints (trace/varint.h), and texts with their length. */
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/trace/varint.h"

#define WHERE_VERSION 1u

struct coder {
	unsigned char *to; /* NULL: unpack */
	struct varint_reader from;
};

static void code_u64(struct coder *c, uint64_t *x)
{
	if (c->to)
		c->to = varint_put(c->to, *x);
	else
		*x = varint_get(&c->from);
}

static void code_u32(struct coder *c, uint32_t *x)
{
	if (c->to)
		c->to = varint_put(c->to, *x);
	else
		*x = varint_get32(&c->from);
}

static void code_count(struct coder *c, size_t *n, size_t most)
{
	uint64_t x = *n;

	code_u64(c, &x);
	if (x > most)
		c->from.bad = true;
	*n = c->from.bad ? 0 : x;
}

/* Of others' texts, only what can be printed. */
static void code_text(struct coder *c, char *text, size_t room)
{
	size_t n = strnlen(text, room - 1);
	const char *from;

	if (c->to) {
		c->to = varint_put(c->to, n);
		c->to = mempcpy(c->to, text, n);
		return;
	}
	from = varint_get_text(&c->from, &n);
	if (n >= room)
		c->from.bad = true;
	if (!from || c->from.bad)
		n = 0;
	memset(text, 0, room);
	for (size_t i = 0; i < n; i++)
		text[i] = ((unsigned char)from[i] < ' ' && from[i] != WHERE_FRAME_BEGINS) ||
					  from[i] == 0x7f
				  ? '?'
				  : from[i];
}

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
	code_ranks(c, &p->ranks);
	code_text(c, p->path, sizeof(p->path));
	if (p->state >= WHERE_STATES)
		c->from.bad = true;
}

static void code_send(struct coder *c, struct where_send *s)
{
	code_u32(c, &s->from);
	code_u32(c, &s->to);
	code_u32(c, &s->tag);
	code_u32(c, &s->alone);
	code_u64(c, &s->since);
	code_text(c, s->comm, sizeof(s->comm));
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

#define TEXT_MOST(room) (VARINT_MAX + (room))
#define RANKS_MOST	((2 + 2 * WHERE_RUNS_MAX) * VARINT_MAX)
#define PLACE_MOST	(11 * VARINT_MAX + RANKS_MOST + TEXT_MOST(WHERE_PATH_BYTES))
#define SEND_MOST	(5 * VARINT_MAX + TEXT_MOST(WHERE_NAME_BYTES))
#define COMM_MOST	(3 * VARINT_MAX + 2 * RANKS_MOST + TEXT_MOST(WHERE_NAME_BYTES))
#define HEAD_MOST	(12 * VARINT_MAX + RANKS_MOST)
#define PART_OF_COMMS	(WHERE_PACKED_MOST / 2)
_Static_assert(
	HEAD_MOST + WHERE_SENDS_MAX * SEND_MOST + PART_OF_COMMS + PLACE_MOST < WHERE_PACKED_MOST,
	"some place has always room");

/* Room for rows in bytes is found by packing them: what does not fit is counted instead. */
struct fit {
	size_t n_places, n_comms;
	uint32_t threads_cut;
};

static struct fit fit_rows(const struct where *w)
{
	unsigned char row[PLACE_MOST > COMM_MOST ? PLACE_MOST : COMM_MOST];
	size_t left = WHERE_PACKED_MOST - HEAD_MOST - w->n_sends * SEND_MOST, comms = PART_OF_COMMS;
	struct fit f = {0};

	for (; f.n_comms < w->n_comms; f.n_comms++) {
		struct coder c = {.to = row};

		code_comm(&c, (struct where_comm *)&w->comms[f.n_comms]);
		if ((size_t)(c.to - row) > comms)
			break;
		comms -= (size_t)(c.to - row);
		left -= (size_t)(c.to - row);
	}
	for (; f.n_places < w->n_places; f.n_places++) {
		struct coder c = {.to = row};

		code_place(&c, (struct where_place *)&w->places[f.n_places]);
		if ((size_t)(c.to - row) > left)
			break;
		left -= (size_t)(c.to - row);
	}
	for (size_t i = f.n_places; i < w->n_places; i++)
		f.threads_cut += w->places[i].threads;
	return f;
}

static void code_head(struct coder *c, struct where *w)
{
	code_u32(c, &w->nodes);
	code_u32(c, &w->threads);
	code_u32(c, &w->processes);
	code_u32(c, &w->places_cut);
	code_u32(c, &w->threads_cut);
	code_u32(c, &w->sends_cut);
	code_u32(c, &w->comms_cut);
	code_ranks(c, &w->ranks);
	code_count(c, &w->n_sends, WHERE_SENDS_MAX);
	code_count(c, &w->n_comms, WHERE_COMMS_MAX);
	code_count(c, &w->n_places, WHERE_PLACES_MAX);
}

static void code_rows(struct coder *c, struct where *w)
{
	for (size_t i = 0; i < w->n_sends; i++)
		code_send(c, &w->sends[i]);
	for (size_t i = 0; i < w->n_comms; i++)
		code_comm(c, &w->comms[i]);
	for (size_t i = 0; i < w->n_places; i++)
		code_place(c, &w->places[i]);
}

size_t where_pack(const struct where *w, unsigned char *to)
{
	struct coder c = {.to = to};
	struct where *v = xmalloc(sizeof(*v));
	struct fit f;

	*v = *w;
	where_sort(v);
	f = fit_rows(v);
	v->places_cut += (uint32_t)(v->n_places - f.n_places);
	v->threads_cut += f.threads_cut;
	v->comms_cut += (uint32_t)(v->n_comms - f.n_comms);
	v->n_places = f.n_places;
	v->n_comms = f.n_comms;
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
	if (c.from.bad)
		why = "its lengths do not fit";
	else if (c.from.at != c.from.end)
		why = "there is more than it says";
	if (why)
		memset(w, 0, sizeof(*w));
	return why;
}
