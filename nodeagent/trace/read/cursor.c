/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All events of several files in the order of time: a heap of streams, one per
 * track and one for the messages of each file. Messages stand in their blocks as
 * they ended, so their places are sorted by start first.
 */
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/records.h"
#include "nodeagent/trace/read/internal.h"

/* Where a message is, and what its decoding needs to know. */
struct place {
	int64_t time; /* ns */
	int64_t last; /* units: start of the record before */
	uint32_t block, offset;
};

#define CACHED 8u

struct messages {
	struct vfd_file *f;
	uint32_t file;
	struct place *places;
	size_t n, cap, next;
	struct cached {
		uint32_t block; /* + 1; 0: none */
		uint64_t used;
		unsigned char *payload;
		size_t room;
	} cache[CACHED];
	uint64_t uses;
	struct vfd_message message;
};

struct stream {
	struct walk *walk;	   /* either, and */
	struct values *values;	   /* ... of the same track, */
	struct messages *messages; /* or */
	struct launches *launches; /* or */
	struct vfd_event event;	   /* its next one */
	/* with values: the next of each */
	struct vfd_event call, value;
	bool has_call, has_value, begun;
	bool before_call; /* the last one given were sums, those of the next call */
};

struct vfd_cursor {
	struct vfd_filter filter;
	char *ranks;
	struct stream *streams;
	size_t n_streams, cap_streams;
	struct stream **heap;
	size_t n_heap;
	bool taken; /* the event of heap[0] was given */
	struct vfd_message message;
};

/* ---- messages --------------------------------------------------------------------- */

static const struct cached *payload_of(struct messages *m, uint32_t block)
{
	const struct read_block *b = &m->f->blocks[block];
	struct cached *oldest = &m->cache[0];

	EACH(struct cached, c, m->cache, CACHED) {
		if (c->block == block + 1) {
			c->used = ++m->uses;
			return c;
		}
		if (c->used < oldest->used)
			oldest = c;
	}
	oldest->block = reader_load_grown(m->f, b, &oldest->payload, &oldest->room) ? block + 1 : 0;
	oldest->used = ++m->uses;
	return oldest->block ? oldest : NULL;
}

static bool is_wanted_track(const void *ctx, const struct vfd_file *f, uint32_t track)
{
	const struct vfd_cursor *c = ctx;
	int rank;

	if (c->filter.track != VFD_NONE && track != c->filter.track)
		return false;
	if (c->filter.process_set && f->threads[track].process != c->filter.process)
		return false;
	if (!c->ranks)
		return true;
	rank = vfd_rank_number(f, f->threads[track].process);
	return rank >= 0 && rank_list_has(c->ranks, (unsigned)rank);
}

ORDER_BY(by_time, struct place, RISING(time) ?: RISING(block) ?: RISING(offset))

static void find_messages(const struct vfd_cursor *c, struct messages *m, uint32_t block)
{
	const struct read_block *b = &m->f->blocks[block];
	const struct cached *loaded = payload_of(m, block);
	struct varint_reader r;
	int64_t last = (int64_t)b->time;

	if (!loaded)
		return;
	r = (struct varint_reader){loaded->payload, loaded->payload + b->bytes, false};
	for (uint32_t i = 0; i < b->records && r.at < r.end; i++) {
		struct place p = {.block = block, .last = last};
		struct vfd_message message;

		p.offset = (uint32_t)(r.at - loaded->payload);
		if (!vfd_message_get(&r, &message, &last))
			return;
		p.time = reader_time(m->f, (uint64_t)message.start);
		if (message.track >= m->f->n_threads || !is_wanted_track(c, m->f, message.track) ||
			(c->filter.from_set && p.time < c->filter.from) ||
			(c->filter.to_set && p.time >= c->filter.to))
			continue;
		*APPEND(m->places, m->n, m->cap) = p;
	}
}

static void messages_free(struct messages *m)
{
	for (unsigned i = 0; i < CACHED; i++)
		free(m->cache[i].payload);
	free(m->places);
	free(m);
}

static struct messages *messages_new(const struct vfd_cursor *c, struct vfd_file *f, uint32_t file)
{
	struct messages *m = xcalloc(1, sizeof(*m));

	m->f = f;
	m->file = file;
	for (size_t i = 0; i < f->n_blocks; i++)
		if (f->blocks[i].kind == VFD_BLOCK_MESSAGES)
			find_messages(c, m, (uint32_t)i);
	if (!m->n) {
		messages_free(m);
		return NULL;
	}
	qsort(m->places, m->n, sizeof(*m->places), by_time);
	return m;
}

/* Sends and receives have a time there. */
static void set_offset(struct vfd_file *f, struct vfd_message *m)
{
	const uint64_t start = (uint64_t)m->start;

	if (!m->offset || (m->kind != VFD_SEND && m->kind != VFD_RECEIVE))
		return;
	if (m->offset > start || start + m->offset > INT64_MAX)
		m->offset = 0;
	else if (m->kind == VFD_SEND)
		m->offset = (uint64_t)(reader_time(f, start + m->offset) - reader_time(f, start));
	else
		m->offset = (uint64_t)(reader_time(f, start) - reader_time(f, start - m->offset));
}

static bool messages_next(struct messages *m, struct vfd_event *e)
{
	const struct read_track *l;

	while (m->next < m->n) {
		const struct place *p = &m->places[m->next++];
		const struct cached *loaded = payload_of(m, p->block);
		struct vfd_message *message = &m->message;
		struct varint_reader r;
		int64_t last = p->last;

		if (!loaded)
			continue;
		r = (struct varint_reader){loaded->payload + p->offset,
			loaded->payload + m->f->blocks[p->block].bytes, false};
		if (!vfd_message_get(&r, message, &last) || message->track >= m->f->n_threads)
			continue;
		l = &m->f->tracks[message->track];
		if (message->stack > l->n_stacks)
			message->stack = (uint32_t)l->n_stacks;
		set_offset(m->f, message);
		message->start = p->time;
		reader_match(m->f, message);
		message->end = reader_time(m->f, (uint64_t)message->end);
		*e = (struct vfd_event){.kind = VFD_MESSAGE,
			.file = m->file,
			.track = message->track,
			.stack = message->stack,
			.time = p->time,
			.message = message};
		return true;
	}
	return false;
}

/* ---- the heap --------------------------------------------------------------------- */

static bool before(const struct stream *a, const struct stream *b)
{
	if (a->event.time != b->event.time)
		return a->event.time < b->event.time;
	/* a call begins before its message, and behind what tells of it */
	if (!a->launches != !b->launches)
		return a->launches;
	if (!a->messages != !b->messages)
		return !a->messages;
	return a < b;
}

static void sink_stream(struct vfd_cursor *c, size_t i)
{
	for (;;) {
		size_t least = i;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < c->n_heap; k++)
			if (before(c->heap[k], c->heap[least]))
				least = k;
		if (least == i)
			return;
		struct stream *s = c->heap[i];

		c->heap[i] = c->heap[least];
		c->heap[least] = s;
		i = least;
	}
}

/* Sums stand before the call at which they were read: it has the same time. */
static bool track_next(struct stream *s)
{
	if (!s->begun) {
		s->has_call = s->walk && walk_next(s->walk, &s->call);
		s->has_value = values_next(s->values, &s->value);
		s->begun = true;
	} else if (s->event.kind == VFD_COUNTERS) {
		s->has_value = values_next(s->values, &s->value);
	} else {
		s->has_call = walk_next(s->walk, &s->call);
	}
	if (s->has_value && (!s->has_call || s->value.time < s->call.time ||
				    (s->value.time == s->call.time && !s->before_call))) {
		s->event = s->value;
		s->before_call = values_are_sums(s->values);
		return true;
	}
	s->event = s->call;
	s->before_call = false;
	return s->has_call;
}

static bool stream_next(struct stream *s)
{
	if (s->values)
		return track_next(s);
	if (s->launches)
		return launches_next(s->launches, &s->event);
	return s->walk ? walk_next(s->walk, &s->event) : messages_next(s->messages, &s->event);
}

static void add_stream(struct vfd_cursor *c, const struct stream *s)
{
	if (!s->walk && !s->values && !s->messages && !s->launches)
		return;
	*LIST_ADD(c, streams) = *s;
}

struct vfd_cursor *vfd_cursor_new(
	struct vfd_file *const *files, size_t n, const struct vfd_filter *filter)
{
	struct vfd_cursor *c = xcalloc(1, sizeof(*c));

	c->filter = filter ? *filter : (struct vfd_filter){.track = VFD_NONE};
	if (c->filter.ranks)
		c->ranks = xstrdup(c->filter.ranks);
	for (size_t i = 0; i < n; i++) {
		for (uint32_t k = 0; !c->filter.no_samples && k < files[i]->n_threads; k++)
			if (is_wanted_track(c, files[i], k))
				add_stream(c, &(struct stream){.walk = walk_new(files[i],
								       (uint32_t)i, k, &c->filter),
						      .values = values_new(files[i], (uint32_t)i, k,
							      &c->filter)});
		if (c->filter.no_messages)
			continue;
		add_stream(c, &(struct stream){.messages = messages_new(c, files[i], (uint32_t)i)});
		add_stream(c, &(struct stream){.launches = launches_new(files[i], (uint32_t)i,
						       &c->filter, is_wanted_track, c)});
	}
	c->heap = xcalloc(c->n_streams, sizeof(*c->heap));
	for (size_t i = 0; i < c->n_streams; i++)
		if (stream_next(&c->streams[i]))
			c->heap[c->n_heap++] = &c->streams[i];
	for (size_t i = c->n_heap; i-- > 0;)
		sink_stream(c, i);
	return c;
}

bool vfd_next(struct vfd_cursor *c, struct vfd_event *e)
{
	if (c->taken) {
		if (!stream_next(c->heap[0]))
			c->heap[0] = c->heap[--c->n_heap];
		sink_stream(c, 0);
	}
	c->taken = c->n_heap > 0;
	if (c->taken)
		*e = c->heap[0]->event;
	return c->taken;
}

double vfd_cursor_progress(const struct vfd_cursor *c)
{
	uint64_t done = 0, all = 0;

	for (size_t i = 0; i < c->n_streams; i++) {
		const struct messages *m = c->streams[i].messages;

		if (c->streams[i].walk)
			walk_progress(c->streams[i].walk, &done, &all);
		if (c->streams[i].values)
			values_progress(c->streams[i].values, &done, &all);
		if (c->streams[i].launches)
			launches_progress(c->streams[i].launches, &done, &all);
		if (m) {
			/* some hundred of them are a block */
			done += m->next / 512;
			all += m->n / 512;
		}
	}
	return all ? (double)done / (double)all : 1;
}

void vfd_cursor_free(struct vfd_cursor *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_streams; i++) {
		walk_free(c->streams[i].walk);
		values_free(c->streams[i].values);
		launches_free(c->streams[i].launches);
		if (c->streams[i].messages)
			messages_free(c->streams[i].messages);
	}
	free(c->streams);
	free(c->heap);
	free(c->ranks);
	free(c);
}
