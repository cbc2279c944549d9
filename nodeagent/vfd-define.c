/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions in a sampling file: they go out before the next block of anything else. */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/util.h"
#include "nodeagent/vfd-internal.h"

#define TEXT_MOST     (64u << 10)
#define FIELDS_MOST   16
#define RUNS_A_RECORD 10000u

static uint64_t text_hash(const char *text, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	return h;
}

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

#define RECORD(w, kind, ...)                                                                       \
	record(w, kind, (const uint64_t[]){__VA_ARGS__},                                           \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), NULL, 0)

/* Number of a text, defined if it is new; 0: none. */
static uint64_t text_number(struct vfd_writer *w, const char *text)
{
	const size_t n = text ? strnlen(text, TEXT_MOST) : 0;
	unsigned char *buf, *at;
	uint64_t hash, number;
	uint32_t *known;

	if (!n)
		return 0;
	hash = text_hash(text, n);
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

static uint64_t plus_one(uint32_t number)
{
	return (uint32_t)(number + 1);
}

uint32_t vfd_define_process(struct vfd_writer *w, const struct vfd_process *p)
{
	const uint32_t number = w->n_processes++;
	const uint64_t executable = text_number(w, p->executable);

	RECORD(w, VFD_DEFINE_PROCESS, number, plus_one((uint32_t)p->rank), (uint32_t)p->pid,
		plus_one(p->parent), executable, p->size, p->job, (uint64_t)p->start >> w->shift);
	return number;
}

void vfd_define_rank(
	struct vfd_writer *w, uint32_t process, int32_t rank, uint32_t size, uint64_t job)
{
	RECORD(w, VFD_DEFINE_RANK, process, plus_one((uint32_t)rank), size, job);
}

void vfd_define_process_end(
	struct vfd_writer *w, uint32_t process, uint64_t ticks, uint32_t how, int32_t exit_status)
{
	RECORD(w, VFD_DEFINE_PROCESS_END, process, ticks >> w->shift, how,
		plus_one((uint32_t)exit_status));
}

void vfd_define_round(struct vfd_writer *w, uint32_t number, uint64_t ticks)
{
	RECORD(w, VFD_DEFINE_ROUND, number, ticks >> w->shift);
}

void vfd_define_thread(struct vfd_writer *w, const struct vfd_thread *t)
{
	const uint64_t name = text_number(w, t->name);

	RECORD(w, VFD_DEFINE_THREAD, t->lane, t->process, t->number, plus_one(t->creator),
		(uint32_t)t->tid, name, (uint64_t)t->start >> w->shift);
	if (t->openmp)
		vfd_define_openmp(w, t->lane, t->openmp_level, t->openmp_number);
}

void vfd_define_thread_name(struct vfd_writer *w, uint32_t lane, const char *name)
{
	const uint64_t number = text_number(w, name);

	RECORD(w, VFD_DEFINE_THREAD_NAME, lane, number);
}

void vfd_define_thread_end(struct vfd_writer *w, uint32_t lane, uint64_t ticks)
{
	RECORD(w, VFD_DEFINE_THREAD_END, lane, ticks >> w->shift);
}

void vfd_define_openmp(struct vfd_writer *w, uint32_t lane, uint32_t level, uint32_t number)
{
	RECORD(w, VFD_DEFINE_OPENMP, lane, level, number);
}

uint32_t vfd_define_function(struct vfd_writer *w, const struct vfd_function *f)
{
	const uint32_t number = w->n_functions++;
	const uint64_t name = text_number(w, f->name), module = text_number(w, f->module);
	char build_id[2 * WIRE_BUILD_ID + 1] = "";
	uint64_t id;

	for (uint32_t i = 0; i < f->build_id_bytes && i < WIRE_BUILD_ID; i++)
		snprintf(build_id + 2 * i, 3, "%02x", f->build_id[i]);
	id = text_number(w, build_id);
	w->precise = grow(w->precise, number, &w->cap_precise, sizeof(*w->precise));
	w->precise[number] = f->precise;
	RECORD(w, VFD_DEFINE_FUNCTION, number, plus_one(f->process), f->kind, f->precise, name,
		module, id, f->address, f->index);
	return number;
}

void vfd_define_name(struct vfd_writer *w, uint32_t function, const char *name, bool precise)
{
	const uint64_t text = text_number(w, name);

	if (function >= w->n_functions)
		return;
	w->precise[function] = precise;
	RECORD(w, VFD_DEFINE_NAME, function, text, precise);
}

/* Many in several records, as the first with more behind it. */
static void record_runs(struct vfd_writer *w, enum vfd_definition kind, const uint64_t *fields,
	size_t n_fields, const struct wire_run *runs, size_t n_runs)
{
	size_t n = 0;

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

uint32_t vfd_define_comm(struct vfd_writer *w, const struct vfd_comm *c)
{
	const uint32_t number = w->n_comms++;
	const uint64_t name = text_number(w, c->name);
	const uint64_t fields[] = {number, c->id, c->kind, name, c->size, c->remote_size};

	record_runs(w, VFD_DEFINE_COMM, fields, ARRAY_SIZE(fields), c->runs, c->n_runs);
	return number;
}

void vfd_define_neighbours(struct vfd_writer *w, const struct vfd_neighbours *n)
{
	const uint64_t fields[] = {n->process, n->comm, n->received};

	record_runs(w, VFD_DEFINE_NEIGHBOURS, fields, ARRAY_SIZE(fields), n->runs, n->n_runs);
}

uint32_t vfd_define_object(struct vfd_writer *w, const struct vfd_object *o)
{
	const uint32_t number = w->n_objects[o->kind == WIRE_OBJECT_FILE]++;
	const uint64_t name = text_number(w, o->name);

	RECORD(w, VFD_DEFINE_OBJECT, number, o->kind, name, o->comm);
	return number;
}

uint32_t vfd_define_counter(struct vfd_writer *w, const struct vfd_counter *c)
{
	const uint32_t number = w->n_counters++;
	const uint64_t name = text_number(w, c->name), symbol = text_number(w, c->symbol);
	const uint64_t unit = text_number(w, c->unit), source = text_number(w, c->source);

	RECORD(w, VFD_DEFINE_COUNTER, number, plus_one(c->process), c->kind, name, symbol, unit,
		source);
	return number;
}

uint32_t vfd_define_observable(struct vfd_writer *w, const struct vfd_observable *o)
{
	const uint32_t number = w->n_observables++;
	const uint64_t name = text_number(w, o->name), formula = text_number(w, o->formula);
	const uint64_t unit = text_number(w, o->unit);

	RECORD(w, VFD_DEFINE_OBSERVABLE, number, name, formula, unit);
	return number;
}
