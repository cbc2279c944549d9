/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perfetto: a row of TracePackets, each with one track descriptor or one track
 * event. All are of one sequence, so that each name is written once and then
 * stands as a number. A call is a slice; a communication is an instant inside it,
 * with its details, and the instants of both ends of a message have one flow id:
 * the viewer draws an arrow. A send stands where it began, a receive where it ended.
 * Slices have such ids, too: a call, and what it started on a GPU.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/export/internal.h"
#include "nodeagent/export/protobuf.h"
#include "nodeagent/base/util.h"

/* Numbers of fields, from Perfetto's public schema. */
enum trace { TRACE_PACKET = 1 };
enum packet {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
};
enum track {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
};
enum track_counter { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6 };
enum track_process { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum track_thread { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum track_event {
	EVENT_CATEGORY = 3, /* interned */
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10, /* interned */
	EVENT_TRACK = 11,
	EVENT_NAME_TEXT = 23,
	EVENT_COUNT = 30,
	EVENT_SOURCE = 34, /* interned */
	EVENT_COUNT_REAL = 44,
	EVENT_FLOW = 47,
};
enum annotation {
	ANNOTATION_NAME = 1, /* interned */
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_TEXT = 6,
};
enum interned {
	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_ANNOTATION = 3,
	INTERNED_SOURCE = 4,
};
enum source { SOURCE_NUMBER = 1, SOURCE_FILE = 2, SOURCE_FUNCTION = 3, SOURCE_LINE = 4 };
enum interned_entry { ENTRY_NUMBER = 1, ENTRY_TEXT = 2 };

enum slice_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum unit { UNIT_TIME_NS = 1, UNIT_COUNT = 2, UNIT_BYTES = 3 };
enum sequence_flag { SEQUENCE_CLEARED = 1, SEQUENCE_NEEDS_INTERNED = 2 };

#define SEQUENCE	1
#define FIRST_THREAD_ID (UINT64_C(1) << 32) /* tracks of processes are below, */
#define FIRST_COUNTER	2		    /* ... of counters above: in the upper half */

static const char *const categories[] = {"code", "mpi", "region", "openmp", "other", "message"};
enum { CATEGORY_MESSAGE = 5 };

static const char *const details[] = {"peer", "tag", "bytes", "communicator", "matching",
	"bytes received", "offset", "calls", "sampled"};
enum detail { PEER, TAG, BYTES, COMMUNICATOR, MATCHING, BYTES_RECEIVED, OFFSET, CALLS, SAMPLED };

struct perfetto {
	struct exporter *x;
	struct protobuf p;
	bool *named;	       /* by region: it was written */
	struct map64 counters; /* tracks that were */
};

static void packet_end(struct perfetto *f)
{
	protobuf_close(&f->p);
	fwrite(f->p.bytes, 1, f->p.n, f->x->out);
	protobuf_clear(&f->p);
}

static void packet_begin(struct perfetto *f)
{
	protobuf_open(&f->p, TRACE_PACKET);
	protobuf_uint(&f->p, PACKET_SEQUENCE, SEQUENCE);
}

static void intern_text(struct perfetto *f, uint32_t field, uint64_t number, const char *text)
{
	protobuf_open(&f->p, field);
	protobuf_uint(&f->p, ENTRY_NUMBER, number);
	protobuf_text(&f->p, ENTRY_TEXT, text);
	protobuf_close(&f->p);
}

/* The first packet: what it interns is never forgotten. */
static void put_words(struct perfetto *f)
{
	packet_begin(f);
	protobuf_uint(&f->p, PACKET_FLAGS, SEQUENCE_CLEARED);
	protobuf_open(&f->p, PACKET_INTERNED);
	for (size_t i = 0; i < ARRAY_SIZE(categories); i++)
		intern_text(f, INTERNED_CATEGORY, i + 1, categories[i]);
	for (size_t i = 0; i < ARRAY_SIZE(details); i++)
		intern_text(f, INTERNED_ANNOTATION, i + 1, details[i]);
	protobuf_close(&f->p);
	packet_end(f);
}

static uint64_t track_of(const struct export_thread *t)
{
	return FIRST_THREAD_ID + t->id;
}

static void put_process(struct perfetto *f, const struct export_process *q)
{
	struct protobuf *p = &f->p;

	packet_begin(f);
	protobuf_open(p, PACKET_TRACK);
	protobuf_uint(p, TRACK_UUID, q->id);
	protobuf_open(p, TRACK_PROCESS);
	protobuf_uint(p, PROCESS_PID, q->id);
	protobuf_text(p, PROCESS_NAME, q->name);
	protobuf_close(p);
	protobuf_close(p);
	packet_end(f);
}

static void put_thread(struct perfetto *f, const struct export_thread *t)
{
	const struct export_process *q = &f->x->processes[t->process];
	struct protobuf *p = &f->p;

	packet_begin(f);
	protobuf_open(p, PACKET_TRACK);
	protobuf_uint(p, TRACK_UUID, track_of(t));
	protobuf_uint(p, TRACK_PARENT, q->id);
	protobuf_open(p, TRACK_THREAD);
	protobuf_uint(p, THREAD_PID, q->id);
	protobuf_uint(p, THREAD_TID, t->id);
	protobuf_text(p, THREAD_NAME, t->name);
	protobuf_close(p);
	protobuf_close(p);
	packet_end(f);
}

static void put_unit(struct protobuf *p, const struct export_counter *c)
{
	static const struct {
		const char *text;
		enum unit unit;
	} units[] = {{"ns", UNIT_TIME_NS}, {"bytes", UNIT_BYTES}, {"", UNIT_COUNT}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(units[i].text, c->unit)) {
			protobuf_uint(p, COUNTER_UNIT, units[i].unit);
			return;
		}
	protobuf_text(p, COUNTER_UNIT_NAME, c->unit);
}

/* Each counter of a thread has a track below it, from its first value on. */
static uint64_t counter_track(struct perfetto *f, const struct export_thread *t, uint32_t counter)
{
	const uint64_t track = ((uint64_t)counter + FIRST_COUNTER) << 32 | t->id;
	const struct export_counter *c = &f->x->counters[counter];
	struct protobuf *p = &f->p;

	if (map64_find(&f->counters, track))
		return track;
	map64_add(&f->counters, track, 1);
	packet_begin(f);
	protobuf_open(p, PACKET_TRACK);
	protobuf_uint(p, TRACK_UUID, track);
	protobuf_text(p, TRACK_NAME, c->name);
	protobuf_uint(p, TRACK_PARENT, track_of(t));
	protobuf_open(p, TRACK_COUNTER);
	put_unit(p, c);
	protobuf_close(p);
	protobuf_close(p);
	packet_end(f);
	return track;
}

void *perfetto_begin(struct exporter *x)
{
	struct perfetto *f = xcalloc(1, sizeof(*f));

	f->x = x;
	f->named = xcalloc(x->n_regions, sizeof(*f->named));
	put_words(f);
	for (size_t i = 0; i < x->n_processes; i++)
		put_process(f, &x->processes[i]);
	for (size_t i = 0; i < x->n_threads; i++)
		put_thread(f, &x->threads[i]);
	return f;
}

/* The name of a region, and where it is in the source. */
static void intern_region(struct perfetto *f, uint32_t region)
{
	const struct export_region *r = &f->x->regions[region];
	struct protobuf *p = &f->p;

	intern_text(f, INTERNED_NAME, (uint64_t)region + 1, r->name);
	if (!r->file)
		return;
	protobuf_open(p, INTERNED_SOURCE);
	protobuf_uint(p, SOURCE_NUMBER, (uint64_t)region + 1);
	protobuf_text(p, SOURCE_FILE, r->file);
	protobuf_text(p, SOURCE_FUNCTION, r->name);
	protobuf_uint(p, SOURCE_LINE, r->line);
	protobuf_close(p);
}

/* A packet with an event, left open for more fields of the event. */
static void event_begin(struct perfetto *f, const struct export_event *e, enum slice_type type)
{
	struct protobuf *p = &f->p;

	packet_begin(f);
	protobuf_uint(p, PACKET_TIMESTAMP, e->time);
	protobuf_uint(p, PACKET_FLAGS, SEQUENCE_NEEDS_INTERNED);
	if (type == SLICE_BEGIN && !f->named[e->region]) {
		f->named[e->region] = true;
		protobuf_open(p, PACKET_INTERNED);
		intern_region(f, e->region);
		protobuf_close(p);
	}
	protobuf_open(p, PACKET_EVENT);
	protobuf_uint(p, EVENT_TYPE, type);
	protobuf_uint(p, EVENT_TRACK, track_of(e->thread));
}

static void event_end(struct perfetto *f)
{
	protobuf_close(&f->p);
	packet_end(f);
}

static void detail_begin(struct perfetto *f, enum detail d)
{
	protobuf_open(&f->p, EVENT_ANNOTATION);
	protobuf_uint(&f->p, ANNOTATION_NAME, d + 1);
}

static void put_number(struct perfetto *f, enum detail d, uint64_t value)
{
	detail_begin(f, d);
	protobuf_uint(&f->p, ANNOTATION_UINT, value);
	protobuf_close(&f->p);
}

static void put_text(struct perfetto *f, enum detail d, const char *text)
{
	detail_begin(f, d);
	protobuf_text(&f->p, ANNOTATION_TEXT, text);
	protobuf_close(&f->p);
}

static void put_call(struct perfetto *f, const struct export_event *e)
{
	event_begin(f, e, SLICE_BEGIN);
	protobuf_uint(&f->p, EVENT_NAME, (uint64_t)e->region + 1);
	protobuf_uint(&f->p, EVENT_CATEGORY, f->x->regions[e->region].kind + 1);
	if (f->x->regions[e->region].file)
		protobuf_uint(&f->p, EVENT_SOURCE, (uint64_t)e->region + 1);
	for (size_t i = 0; i < e->n_flows; i++)
		protobuf_fixed64(&f->p, EVENT_FLOW, e->flows[i].flow);
	if (e->sampled)
		put_number(f, SAMPLED, 1);
	event_end(f);
}

static void put_message(struct perfetto *f, const struct export_event *e)
{
	const struct export_message *m = e->message;
	const bool pair = m->m.kind == VFD_SEND || m->m.kind == VFD_RECEIVE;

	event_begin(f, e, INSTANT);
	protobuf_text(&f->p, EVENT_NAME_TEXT, export_message_name(m));
	protobuf_uint(&f->p, EVENT_CATEGORY, CATEGORY_MESSAGE + 1);
	if (m->m.peer != VFD_NONE)
		put_number(f, PEER, m->m.peer);
	if (pair) {
		detail_begin(f, TAG);
		protobuf_int(&f->p, ANNOTATION_INT, m->m.tag);
		protobuf_close(&f->p);
	}
	put_number(f, BYTES, m->m.bytes);
	if (m->m.kind == VFD_COLLECTIVE || m->m.kind == VFD_RMA)
		put_number(f, BYTES_RECEIVED, m->m.bytes_received);
	if (m->m.kind == VFD_FILE)
		put_number(f, OFFSET, m->m.offset);
	if (m->comm != EXPORT_NONE)
		put_text(f, COMMUNICATOR, f->x->comms[m->comm].name);
	if (export_match_name(m))
		put_text(f, MATCHING, export_match_name(m));
	if (m->flow)
		protobuf_fixed64(&f->p, EVENT_FLOW, m->flow);
	event_end(f);
}

static void put_mark(struct perfetto *f, const struct export_event *e)
{
	event_begin(f, e, INSTANT);
	protobuf_text(&f->p, EVENT_NAME_TEXT, export_mark_name(e->kind));
	if (e->count)
		put_number(f, CALLS, e->count);
	event_end(f);
}

static void put_count(struct perfetto *f, const struct export_event *e, uint32_t i)
{
	const uint32_t counter = e->counts->counters[i];
	const uint64_t track = counter_track(f, e->thread, counter);
	uint64_t value = e->counts->values[i];
	struct protobuf *p = &f->p;
	double real;

	packet_begin(f);
	protobuf_uint(p, PACKET_TIMESTAMP, e->time);
	protobuf_open(p, PACKET_EVENT);
	protobuf_uint(p, EVENT_TYPE, COUNTER);
	protobuf_uint(p, EVENT_TRACK, track);
	if (f->x->counters[counter].kind == VFD_COUNTER_REAL) {
		real = export_real(value);
		memcpy(&value, &real, sizeof(value));
		protobuf_fixed64(p, EVENT_COUNT_REAL, value);
	} else {
		protobuf_int(p, EVENT_COUNT, (int64_t)value);
	}
	event_end(f);
}

void perfetto_event(void *state, const struct export_event *e)
{
	struct perfetto *f = state;

	switch (e->kind) {
	case EXPORT_ENTER:
		put_call(f, e);
		break;
	case EXPORT_EXIT:
		event_begin(f, e, SLICE_END);
		event_end(f);
		break;
	case EXPORT_BEGIN:
	case EXPORT_END:
		if (export_shows_message(e))
			put_message(f, e);
		break;
	case EXPORT_GAP:
	case EXPORT_THINNED:
	case EXPORT_LOST:
		put_mark(f, e);
		break;
	case EXPORT_COUNTERS:
		for (uint32_t i = 0; i < e->counts->n; i++)
			put_count(f, e, i);
		break;
	case EXPORT_FLOW: /* not given to us */
		break;
	}
}

void perfetto_end(void *state, bool good)
{
	struct perfetto *f = state;

	protobuf_free(&f->p);
	map64_free(&f->counters);
	free(f->named);
	free(f);
}
