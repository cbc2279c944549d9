/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OTF2, by its own library. A thread is a location. Calls are Enter and Leave;
 * a blocking message is MpiSend where it began and MpiRecv where it ended, any
 * other also has its request and completion; collective operations likewise.
 * Threads of OpenMP fork and join, others are created.
 * One-sided operations and files are left out, and counted.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/export/internal.h"
#include "nodeagent/export/otf2.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/collective.h"

#define EVENT_CHUNKS 2u
#define CHUNKS_MOST  32u

static const char *const libraries[] = {"libopen-trace-format2.so.10", "libotf2.so.10",
	"libotf2.so.11", "libopen-trace-format2.so.11"};

/* By their place is OTF2's number. */
static const uint32_t operations[] = {VFTR_MPI_BARRIER, VFTR_MPI_BCAST, VFTR_MPI_GATHER,
	VFTR_MPI_GATHERV, VFTR_MPI_SCATTER, VFTR_MPI_SCATTERV, VFTR_MPI_ALLGATHER,
	VFTR_MPI_ALLGATHERV, VFTR_MPI_ALLTOALL, VFTR_MPI_ALLTOALLV, VFTR_MPI_ALLTOALLW,
	VFTR_MPI_ALLREDUCE, VFTR_MPI_REDUCE, VFTR_MPI_REDUCE_SCATTER, VFTR_MPI_SCAN,
	VFTR_MPI_EXSCAN, VFTR_MPI_REDUCE_SCATTER_BLOCK};

/* ---- the library ---------------------------------------------------------------------- */

static bool load_library(struct otf2 *f)
{
	static const struct {
		const char *name;
		size_t at;
	} symbols[] = {
#define OTF2_SYMBOL(result, name, symbol, parameters) {#symbol, offsetof(struct otf2_api, name)},
		OTF2_API(OTF2_SYMBOL)
#undef OTF2_SYMBOL
	};

	for (size_t i = 0; !f->library && i < ARRAY_SIZE(libraries); i++)
		f->library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	if (!f->library) {
		export_fail(f->x,
			"OTF2's library (%s or %s) can't be loaded; in Debian it is in "
			"libopen-trace-format2-10",
			libraries[0], libraries[1]);
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *found = dlsym(f->library, symbols[i].name);

		if (!found) {
			export_fail(f->x, "OTF2's library has no function %s: version 3 is needed",
				symbols[i].name);
			return false;
		}
		memcpy((char *)&f->api + symbols[i].at, &found, sizeof(found));
	}
	return true;
}

static int on_error(void *ctx, const char *file, uint64_t line, const char *in, int code,
	const char *fmt, va_list args)
{
	struct otf2 *f = ctx;
	char *text;

	if (code > 0 && !f->x->error) {
		if (vasprintf(&text, fmt, args) < 0)
			text = NULL;
		export_fail(f->x, "OTF2 can't write the archive: %s%s%s", f->api.error_text(code),
			text && *text ? ": " : "", text ? text : "");
		free(text);
	}
	return code;
}

void otf2_check(struct otf2 *f, int code)
{
	if (code)
		export_fail(f->x, "OTF2 can't write the archive: %s", f->api.error_text(code));
}

static uint8_t before_flush(void *ctx, uint8_t file, uint64_t location, void *caller, bool final)
{
	return OUR_DO_FLUSH;
}

/*
 * A thread's events go to its file when so many chunks are full; by itself the library
 * would keep 128 MiB of each. Definitions are kept, as they are written last.
 */
struct chunks {
	unsigned n;
	void *chunk[CHUNKS_MOST];
};

static void *allocate(void *ctx, uint8_t file, uint64_t location, void **buffer, uint64_t bytes)
{
	struct chunks *c = *buffer = *buffer ? *buffer : calloc(1, sizeof(*c));

	if (!c || c->n == (file == OUR_EVENTS ? EVENT_CHUNKS : CHUNKS_MOST))
		return NULL;
	c->chunk[c->n] = malloc(bytes);
	return c->chunk[c->n] ? c->chunk[c->n++] : NULL;
}

static void free_all(void *ctx, uint8_t file, uint64_t location, void **buffer, bool final)
{
	struct chunks *c = *buffer;

	while (c && c->n)
		free(c->chunk[--c->n]);
	if (final) {
		free(c);
		*buffer = NULL;
	}
}

/* Readers want a file of each location, with events or without. */
static void open_writers(struct otf2 *f)
{
	for (uint64_t i = 0; i < f->n_locations && export_goes_on(f->x); i++) {
		struct OTF2_EvtWriter_struct *w = f->api.event_writer(f->archive, i);

		if (!w)
			export_fail(f->x, "OTF2 can't write the events of one more thread");
		else if (i < f->x->n_threads)
			f->writers[i] = w;
		else
			OTF2_CALL(f, close_event_writer, f->archive, w);
	}
}

void *otf2_begin(struct exporter *x)
{
	static const struct otf2_flush flush = {before_flush, NULL};
	static const struct otf2_memory memory = {allocate, free_all};
	struct otf2 *f = xcalloc(1, sizeof(*f));

	f->x = x;
	f->writers = xcalloc(x->n_threads, sizeof(*f->writers));
	f->events = xcalloc(x->n_threads, sizeof(*f->events));
	if (!load_library(f))
		return f;
	otf2_find_ranks(f);
	otf2_teams_find(f);
	otf2_plain_find(f);
	f->first_team = (uint32_t)x->n_comms;
	f->first_plain = f->first_team + f->n_teams;
	raise_file_limit(); /* a file of each thread is open */
	f->api.on_error(on_error, f);
	f->archive = f->api.open(x->path, "traces", OUR_WRITE, OUR_CHUNK_EVENTS,
		OUR_CHUNK_DEFINITIONS, OUR_POSIX, OUR_PLAIN);
	if (!f->archive) {
		export_fail(x, "%s: OTF2 can't make an archive there", x->path);
		return f;
	}
	OTF2_CALL(f, set_flush, f->archive, (const struct OTF2_FlushCallbacks *)&flush, NULL);
	OTF2_CALL(f, set_memory, f->archive, (const struct OTF2_MemoryCallbacks *)&memory, NULL);
	OTF2_CALL(f, set_serial, f->archive);
	OTF2_CALL(f, set_creator, f->archive, "vftr " VFTR_VERSION);
	OTF2_CALL(f, open_events, f->archive);
	open_writers(f);
	return f;
}

/* ---- events --------------------------------------------------------------------------- */

static struct OTF2_EvtWriter_struct *writer_of(struct otf2 *f, const struct export_thread *t)
{
	const size_t i = (size_t)(t - f->x->threads);

	f->events[i]++;
	return f->writers[i];
}

/* 0 to 22, or -1: OTF2 does not have it. */
static int operation(const struct export_message *m)
{
	const uint32_t blocking = collective_blocking(m->m.function);
	const char *name = export_message_name(m);

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (blocking == operations[i])
			return (int)i;
	if (strncmp(name, "MPI_", 4))
		return -1;
	name += 4;
	if (strstr(name, "_free") || strstr(name, "_disconnect") || strstr(name, "_close"))
		return OUR_DESTROYS;
	if (!strncmp(name, "Comm_", 5) || !strncmp(name, "Win_", 4) || strstr(name, "_open") ||
		strstr(name, "_create") || strstr(name, "_merge"))
		return OUR_CREATES;
	return -1;
}

/* Of a send all is said where it begins, of a receive where it ends. */
static void put_send_or_receive(struct otf2 *f, const struct export_event *e)
{
	const struct export_message *m = e->message;
	const struct otf2_api *a = &f->api;
	const uint32_t flags = m->m.flags, tag = (uint32_t)m->m.tag;
	const bool begin = e->kind == EXPORT_BEGIN, send = m->m.kind == VFD_SEND;

	if (flags & VFD_MESSAGE_BLOCKING) {
		if (begin == send)
			otf2_check(f, (send ? a->send : a->recv)(writer_of(f, e->thread), NULL,
					      e->time, m->peer, m->comm, tag, m->m.bytes));
	} else if (!begin && flags & VFD_MESSAGE_CANCELLED) {
		OTF2_CALL(f, cancelled, writer_of(f, e->thread), NULL, e->time, m->number);
	} else if (!begin && flags & VFD_MESSAGE_UNKNOWN) {
		return;
	} else if (begin == send) {
		otf2_check(f, (send ? a->isend : a->irecv)(writer_of(f, e->thread), NULL, e->time,
				      m->peer, m->comm, tag, m->m.bytes, m->number));
	} else {
		otf2_check(f, (send ? a->isend_complete : a->irecv_request)(
				      writer_of(f, e->thread), NULL, e->time, m->number));
	}
}

static void put_collective(struct otf2 *f, const struct export_event *e, int op)
{
	const struct export_message *m = e->message;
	const uint32_t root = m->peer == VFD_NONE ? (uint32_t)OUR_NONE : m->peer;
	const bool begin = e->kind == EXPORT_BEGIN;

	if (m->m.flags & VFD_MESSAGE_BLOCKING) {
		if (begin)
			OTF2_CALL(f, collective_begin, writer_of(f, e->thread), NULL, e->time);
		else
			OTF2_CALL(f, collective_end, writer_of(f, e->thread), NULL, e->time,
				(uint8_t)op, m->comm, root, m->m.bytes, m->m.bytes_received);
	} else if (begin) {
		OTF2_CALL(f, collective_request, writer_of(f, e->thread), NULL, e->time, m->number);
	} else if (!(m->m.flags & VFD_MESSAGE_UNKNOWN)) {
		OTF2_CALL(f, collective_complete, writer_of(f, e->thread), NULL, e->time,
			(uint8_t)op, m->comm, root, m->m.bytes, m->m.bytes_received, m->number);
	}
}

static void put_message(struct otf2 *f, const struct export_event *e)
{
	const struct export_message *m = e->message;
	const enum vfd_message_kind kind = m->m.kind;
	int op = kind == VFD_COLLECTIVE ? operation(m) : 0;

	/* a receive that never got anything has no sender */
	const bool sender =
		m->peer != VFD_NONE || m->m.flags & (VFD_MESSAGE_CANCELLED | VFD_MESSAGE_UNKNOWN);

	if (m->comm == EXPORT_NONE || op < 0 || kind == VFD_RMA || kind == VFD_FILE ||
		(kind == VFD_SEND && m->peer == VFD_NONE) || (kind == VFD_RECEIVE && !sender))
		f->left_out += e->kind == EXPORT_BEGIN;
	else if (kind == VFD_SEND || kind == VFD_RECEIVE)
		put_send_or_receive(f, e);
	else
		put_collective(f, e, op);
}

void otf2_event(void *state, const struct export_event *e)
{
	struct otf2 *f = state;
	struct OTF2_EvtWriter_struct *to;

	f->last = e->time;
	otf2_plain_until(f, e->time);
	switch (e->kind) {
	case EXPORT_ENTER:
		to = writer_of(f, e->thread);
		otf2_team_begin(f, e, to);
		OTF2_CALL(f, enter, to, NULL, e->time, e->region);
		otf2_copy_begin(f, e, to);
		break;
	case EXPORT_EXIT:
		to = writer_of(f, e->thread);
		otf2_copy_end(f, e, to);
		OTF2_CALL(f, leave, to, NULL, e->time, e->region);
		otf2_team_end(f, e, to);
		break;
	case EXPORT_BEGIN:
	case EXPORT_END:
		put_message(f, e);
		break;
	case EXPORT_COUNTERS:
		otf2_counts(f, e, writer_of(f, e->thread));
		break;
	default:
		break;
	}
}

static void close_archive(struct otf2 *f, bool good)
{
	if (good && !f->x->error)
		otf2_plain_until(f, UINT64_MAX);
	for (size_t i = 0; i < f->x->n_threads; i++)
		if (f->writers[i])
			OTF2_CALL(f, close_event_writer, f->archive, f->writers[i]);
	OTF2_CALL(f, close_events, f->archive);
	if (good && !f->x->error)
		otf2_definitions(f);
	OTF2_CALL(f, close, f->archive);
}

void otf2_end(void *state, bool good)
{
	struct otf2 *f = state;

	if (f->archive)
		close_archive(f, good);
	if (good && !f->x->error && f->left_out)
		complain("OTF2 has no place for %llu of the communications (one-sided ones, files, "
			 "neighbours, unknown partners): they are left out",
			(unsigned long long)f->left_out);
	if (f->library && f->api.on_error)
		f->api.on_error(NULL, NULL);
	otf2_copies_free(f);
	otf2_teams_free(f);
	otf2_plain_free(f);
	free(f->classes);
	free(f->writers);
	free(f->events);
	free(f->location_of);
	free(f->first_rank);
	free(f);
}
