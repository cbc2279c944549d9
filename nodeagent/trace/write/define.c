/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions in a sampling file: they go out before the next block of anything else. */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/definitions.h"
#include "nodeagent/trace/write/internal.h"
#include "shm/fnv.h"

#define TEXT_MOST     (64u << 10)
#define FIELDS_MOST   16
#define RUNS_A_RECORD 10000u
#define LATE_MOST     8u /* names and places in teams of a thread, once the file is full */

/* kind, length of the fields, fields, bytes behind them */
static void record(struct vfd_writer *w, enum vfd_definition kind, const uint64_t *fields, size_t n,
	const void *bytes, size_t n_bytes)
{
	struct vfd_page *p = &w->definitions;
	unsigned char buf[FIELDS_MOST * VARINT_MAX], *end = buf, *at;

	if (w->mute)
		return;
	for (size_t i = 0; i < n; i++)
		end = varint_put(end, fields[i]);
	at = vfd_page_room(p, (size_t)(end - buf) + n_bytes + 3 * VARINT_MAX);
	at = varint_put(varint_put(at, kind), (size_t)(end - buf) + n_bytes);
	memcpy(at, buf, (size_t)(end - buf));
	at += end - buf;
	if (n_bytes)
		memcpy(at, bytes, n_bytes);
	vfd_page_done(p, at + n_bytes);
	p->records++;
	if (p->used >= SHARED_BLOCK_BYTES)
		vfd_write_definitions(w);
}

/* Number of a text, defined if it is new; 0: none. */
static uint64_t text_number(struct vfd_writer *w, const char *text)
{
	const size_t n = text ? strnlen(text, TEXT_MOST) : 0;
	unsigned char *buf, *at;
	uint64_t hash, number;
	uint32_t *known;

	if (!n)
		return 0;
	hash = fnv_bytes(FNV_BEGIN, text, n);
	known = map64_find(&w->text_numbers, hash);
	if (known && strlen(w->texts[*known]) == n && !memcmp(w->texts[*known], text, n))
		return *known + 1;
	w->texts = grow(w->texts, w->n_texts, &w->cap_texts, sizeof(*w->texts));
	w->texts[w->n_texts] = xasprintf("%.*s", (int)n, text);
	if (!known)
		map64_add(&w->text_numbers, hash, (uint32_t)w->n_texts);
	number = ++w->n_texts;
	buf = xmalloc(n + VARINT_MAX);
	at = varint_put(buf, n);
	memcpy(at, text, n);
	record(w, VFD_DEFINE_STRING, &number, 1, buf, (size_t)(at - buf) + n);
	free(buf);
	return number;
}

static uint64_t build_id_number(struct vfd_writer *w, const struct vfd_function *f)
{
	char text[2 * WIRE_BUILD_ID + 1] = "";

	for (uint32_t i = 0; i < f->build_id_bytes && i < WIRE_BUILD_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", f->build_id[i]);
	return text_number(w, text);
}

static uint64_t field_value(struct vfd_writer *w, const void *from, const struct vfd_field *x)
{
	const void *at = (const char *)from + x->offset;

	switch (x->how) {
	case FIELD_U64:
	case FIELD_TIME:
		return *(const uint64_t *)at;
	case FIELD_PLUS_ONE:
		return (uint32_t)(*(const uint32_t *)at + 1);
	case FIELD_BIT:
		return *(const bool *)at;
	case FIELD_TEXT:
	case FIELD_NEW_TEXT:
		return text_number(w, *(const char *const *)at);
	case FIELD_BUILD_ID:
		return build_id_number(w, from);
	default:
		return *(const uint32_t *)at;
	}
}

/*
 * False: the file is full, and no event in it can refer to this. What is said later of what it
 * has is written, once or a few times for each.
 */
static bool is_wanted(const struct vfd_writer *w, enum vfd_definition kind, uint32_t number)
{
#define OF(what) offsetof(struct vfd_told, what) + 1
	static const size_t of[VFD_DEFINITIONS] = {
		[VFD_DEFINE_PROCESS_END] = OF(processes),
		[VFD_DEFINE_RANK] = OF(processes),
		[VFD_DEFINE_THREAD_NAME] = OF(tracks),
		[VFD_DEFINE_THREAD_END] = OF(tracks),
		[VFD_DEFINE_OPENMP] = OF(tracks),
		[VFD_DEFINE_NAME] = OF(functions),
		[VFD_DEFINE_SOURCE] = OF(functions),
		[VFD_DEFINE_LINK] = OF(comms),
	};
#undef OF
	uint32_t n = 0;

	if (!w->full || kind == VFD_DEFINE_ROUND)
		return true;
	if (of[kind])
		memcpy(&n, (const char *)&w->told + of[kind] - 1, sizeof(n));
	return number < n;
}

/* Many runs are in several records, as the first with more behind it. */
static void define_with_runs(struct vfd_writer *w, enum vfd_definition kind, uint32_t number,
	const void *from, const struct wire_run *runs, size_t n_runs)
{
	uint64_t fields[FIELDS_MOST] = {number};
	size_t n_fields = 1, n = 0;

	if (!is_wanted(w, kind, number))
		return;
	for (const struct vfd_field *x = vfd_definitions[kind].fields; x->how; x++)
		if (x->how > FIELD_TRUE)
			fields[n_fields++] = field_value(w, from, x);
	do {
		const size_t part = n_runs - n < RUNS_A_RECORD ? n_runs - n : RUNS_A_RECORD;
		unsigned char *buf = xmalloc(3 * VARINT_MAX * (part + 1)), *at = buf;

		for (size_t i = n; i < n + part; i++) {
			at = varint_put(at, zigzag(runs[i].first));
			at = varint_put(at, zigzag(runs[i].stride));
			at = varint_put(at, zigzag(runs[i].count));
		}
		record(w, kind, fields, n_fields, buf, (size_t)(at - buf));
		free(buf);
		n += part;
	} while (n < n_runs);
}

static void write_definition(
	struct vfd_writer *w, enum vfd_definition kind, uint32_t number, const void *from)
{
	define_with_runs(w, kind, number, from, NULL, 0);
}

uint32_t vfd_define_process(struct vfd_writer *w, const struct vfd_process *p)
{
	write_definition(w, VFD_DEFINE_PROCESS, w->n_processes, p);
	return w->n_processes++;
}

void vfd_define_rank(
	struct vfd_writer *w, uint32_t process, int32_t rank, uint32_t size, uint64_t job)
{
	const struct vfd_process p = {.rank = rank, .size = size, .job = job};

	write_definition(w, VFD_DEFINE_RANK, process, &p);
}

void vfd_define_process_end(
	struct vfd_writer *w, uint32_t process, uint64_t ticks, uint32_t how, int32_t exit_status)
{
	const struct vfd_process p = {
		.end = (int64_t)ticks, .how = how, .exit_status = exit_status};

	write_definition(w, VFD_DEFINE_PROCESS_END, process, &p);
}

void vfd_define_round(struct vfd_writer *w, uint32_t number, uint64_t ticks)
{
	write_definition(w, VFD_DEFINE_ROUND, number, &(struct vfd_round){.begin = (int64_t)ticks});
}

void vfd_define_thread(struct vfd_writer *w, const struct vfd_thread *t)
{
	write_definition(w, VFD_DEFINE_THREAD, t->track, t);
	if (t->openmp)
		write_definition(w, VFD_DEFINE_OPENMP, t->track, t);
}

/* A thread may change both without end. */
static bool may_change(struct track *l)
{
	return !l->writer->full || l->late_places++ < LATE_MOST;
}

void vfd_track_name(struct vfd_track *l, const char *name)
{
	if (!may_change(track_of(l)))
		return;
	write_definition(track_of(l)->writer, VFD_DEFINE_THREAD_NAME, track_of(l)->number,
		&(struct vfd_thread){.name = name});
}

void vfd_track_openmp(struct vfd_track *l, uint32_t level, uint32_t number)
{
	if (!may_change(track_of(l)))
		return;
	write_definition(track_of(l)->writer, VFD_DEFINE_OPENMP, track_of(l)->number,
		&(struct vfd_thread){.openmp_level = level, .openmp_number = number});
}

void vfd_define_thread_end(struct vfd_writer *w, uint32_t track, uint64_t ticks)
{
	write_definition(
		w, VFD_DEFINE_THREAD_END, track, &(struct vfd_thread){.end = (int64_t)ticks});
}

uint32_t vfd_define_function(struct vfd_writer *w, const struct vfd_function *f)
{
	w->precise = grow(w->precise, w->n_functions, &w->cap_precise, sizeof(*w->precise));
	w->precise[w->n_functions] = f->precise;
	write_definition(w, VFD_DEFINE_FUNCTION, w->n_functions, f);
	return w->n_functions++;
}

void vfd_define_source(struct vfd_writer *w, uint32_t function, const char *file, uint32_t line)
{
	if (function < w->n_functions)
		write_definition(w, VFD_DEFINE_SOURCE, function,
			&(struct vfd_function){.file = file, .line = line});
}

void vfd_define_name(struct vfd_writer *w, uint32_t function, const char *name, bool precise)
{
	if (function >= w->n_functions)
		return;
	w->precise[function] = precise;
	write_definition(w, VFD_DEFINE_NAME, function,
		&(struct vfd_function){.name = name, .precise = precise});
}

uint32_t vfd_define_comm(struct vfd_writer *w, const struct vfd_comm *c)
{
	define_with_runs(w, VFD_DEFINE_COMM, w->n_comms, c, c->runs, c->n_runs);
	return w->n_comms++;
}

void vfd_define_link(struct vfd_writer *w, const struct vfd_comm *c)
{
	write_definition(w, VFD_DEFINE_LINK, c->number, c);
}

void vfd_define_neighbours(struct vfd_writer *w, const struct vfd_neighbours *n)
{
	define_with_runs(w, VFD_DEFINE_NEIGHBOURS, n->process, n, n->runs, n->n_runs);
}

uint32_t vfd_define_object(struct vfd_writer *w, const struct vfd_object *o)
{
	uint32_t *n = &w->n_objects[o->kind == WIRE_OBJECT_FILE];

	write_definition(w, VFD_DEFINE_OBJECT, *n, o);
	return (*n)++;
}

uint32_t vfd_define_counter(struct vfd_writer *w, const struct vfd_counter *c)
{
	write_definition(w, VFD_DEFINE_COUNTER, w->n_counters, c);
	return w->n_counters++;
}

uint32_t vfd_define_observable(struct vfd_writer *w, const struct vfd_observable *o)
{
	write_definition(w, VFD_DEFINE_OBSERVABLE, w->n_observables, o);
	return w->n_observables++;
}
