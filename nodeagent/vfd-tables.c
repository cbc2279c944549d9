/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a sampling file defines: read into tables. Each definition is checked by
 * itself; numbers that would make a table larger than the file could fill are
 * refused, as is a text that is not there.
 */
#include <stdlib.h>

#include "nodeagent/sym.h"
#include "nodeagent/util.h"
#include "nodeagent/vfd-reader.h"

/* The element with this number; new ones are as `empty`. NULL: impossible. */
static void *element(struct vfd_file *f, void **array, size_t *n, uint64_t number, size_t bytes,
	const void *empty)
{
	if (!reader_possible(f, number))
		return NULL;
	if (number >= *n) {
		size_t more = number + 1 > 2 * *n ? number + 1 : 2 * *n;

		if (!reader_possible(f, more))
			more = number + 1;
		*array = xrealloc(*array, more * bytes);
		for (size_t i = *n; i < more; i++)
			memcpy((char *)*array + i * bytes, empty, bytes);
		*n = more;
	}
	return (char *)*array + number * bytes;
}

static const struct vfd_process no_process = {
	.number = VFD_NONE, .rank = -1, .parent = VFD_NONE, .exit_status = -1};
static const struct vfd_thread no_thread = {
	.lane = VFD_NONE, .process = VFD_NONE, .creator = VFD_NONE};
static const struct vfd_function no_function = {.number = VFD_NONE, .process = VFD_NONE};
static const struct vfd_comm no_comm = {.number = VFD_NONE};
static const struct vfd_counter no_counter;
static const struct vfd_observable no_observable;
static const struct read_lane no_lane;
static char *const no_text;

#define ELEMENT(f, array, number, empty)                                                           \
	element(f, (void **)&(f)->array, &(f)->n_##array, number, sizeof(*(f)->array), &(empty))

static struct vfd_thread *thread_at(struct vfd_file *f, uint64_t lane)
{
	size_t lanes = f->n_threads;

	/* two arrays of the same length */
	if (!element(f, (void **)&f->lanes, &lanes, lane, sizeof(*f->lanes), &no_lane))
		return NULL;
	return ELEMENT(f, threads, lane, no_thread);
}

struct read_lane *reader_lane(struct vfd_file *f, uint32_t lane)
{
	return thread_at(f, lane) ? &f->lanes[lane] : NULL;
}

/* The text with a number from a record; NULL: none, or it was lost. */
static const char *text_at(const struct vfd_file *f, uint64_t number)
{
	return number && number <= f->n_texts ? f->texts[number - 1] : NULL;
}

static uint64_t time_word(struct varint_reader *r)
{
	return varint_get(r);
}

/* Trailing fields may be missing; then they are 0. */
static uint64_t optional(struct varint_reader *r)
{
	return r->at < r->end ? varint_get(r) : 0;
}

static uint32_t minus_one(uint64_t x)
{
	return (uint32_t)(x - 1);
}

static bool get_string(struct vfd_file *f, struct varint_reader *r)
{
	const uint64_t number = varint_get(r);
	size_t n;
	const char *text = varint_get_text(r, &n);
	char **at = text && number ? ELEMENT(f, texts, number - 1, no_text) : NULL;

	if (!at)
		return false;
	if (*at && (strlen(*at) != n || memcmp(*at, text, n)))
		return false;
	if (!*at)
		*at = xasprintf("%.*s", (int)n, text);
	return true;
}

static bool get_process(struct vfd_file *f, struct varint_reader *r)
{
	const uint64_t number = varint_get(r);
	struct vfd_process *p = ELEMENT(f, processes, number, no_process);

	if (!p)
		return false;
	p->number = (uint32_t)number;
	p->rank = (int32_t)minus_one(varint_get(r));
	p->pid = (int32_t)varint_get(r);
	p->parent = minus_one(varint_get(r));
	p->executable = text_at(f, optional(r));
	p->size = (uint32_t)optional(r);
	p->job = optional(r);
	p->start = (int64_t)optional(r);
	return true;
}

static bool get_process_end(struct vfd_file *f, struct varint_reader *r)
{
	struct vfd_process *p = ELEMENT(f, processes, varint_get(r), no_process);

	if (!p)
		return false;
	p->end = (int64_t)time_word(r);
	p->how = (uint32_t)varint_get(r);
	p->exit_status = (int32_t)minus_one(optional(r));
	p->ended = true;
	return true;
}

static bool get_rank(struct vfd_file *f, struct varint_reader *r)
{
	struct vfd_process *p = ELEMENT(f, processes, varint_get(r), no_process);

	if (!p)
		return false;
	p->rank = (int32_t)minus_one(varint_get(r));
	p->size = (uint32_t)varint_get(r);
	p->job = optional(r);
	return true;
}

static bool get_thread(struct vfd_file *f, struct varint_reader *r)
{
	const uint64_t lane = varint_get(r);
	struct vfd_thread *t = thread_at(f, lane);

	if (!t)
		return false;
	t->lane = (uint32_t)lane;
	t->process = varint_get32(r);
	t->number = varint_get32(r);
	t->creator = minus_one(optional(r));
	t->tid = (int32_t)optional(r);
	t->name = text_at(f, optional(r));
	t->start = (int64_t)optional(r);
	return true;
}

static bool get_thread_news(struct vfd_file *f, struct varint_reader *r, uint64_t kind)
{
	struct vfd_thread *t = thread_at(f, varint_get(r));
	uint64_t value = varint_get(r);

	if (!t)
		return false;
	if (kind == VFD_DEFINE_THREAD_NAME) {
		t->name = text_at(f, value);
	} else if (kind == VFD_DEFINE_THREAD_END) {
		t->end = (int64_t)value;
	} else {
		t->openmp = true;
		t->openmp_level = (uint32_t)value;
		t->openmp_number = (uint32_t)optional(r);
	}
	return true;
}

static unsigned digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') & 15 : (unsigned)(c - 'a' + 10) & 15;
}

static bool get_function(struct vfd_file *f, struct varint_reader *r)
{
	const uint64_t number = varint_get(r);
	struct vfd_function *fn = ELEMENT(f, functions, number, no_function);
	uint64_t kind;
	const char *id;

	if (!fn)
		return false;
	fn->number = (uint32_t)number;
	fn->process = minus_one(varint_get(r));
	kind = varint_get(r);
	fn->kind = kind < VFD_FUNCTION_OTHER ? (enum vfd_function_kind)kind : VFD_FUNCTION_OTHER;
	fn->precise = optional(r) & 1;
	fn->name = text_at(f, optional(r));
	fn->module = text_at(f, optional(r));
	id = text_at(f, optional(r));
	fn->build_id_bytes = 0;
	for (; id && id[0] && id[1] && fn->build_id_bytes < WIRE_BUILD_ID; id += 2)
		fn->build_id[fn->build_id_bytes++] = (uint8_t)(digit(id[0]) << 4 | digit(id[1]));
	fn->address = optional(r);
	fn->index = (uint32_t)optional(r);
	return true;
}

static bool get_name(struct vfd_file *f, struct varint_reader *r)
{
	struct vfd_function *fn = ELEMENT(f, functions, varint_get(r), no_function);
	const char *name = text_at(f, varint_get(r));

	if (!fn)
		return false;
	if (name)
		fn->name = name;
	fn->precise = optional(r) & 1;
	return true;
}

static bool get_comm(struct vfd_file *f, struct varint_reader *r)
{
	const uint64_t number = varint_get(r);
	struct vfd_comm *c = ELEMENT(f, comms, number, no_comm);
	struct wire_run *runs;
	uint64_t kind;

	if (!c)
		return false;
	c->number = (uint32_t)number;
	c->id = varint_get(r);
	kind = varint_get(r);
	c->kind = kind < WIRE_COMM_KINDS ? (enum wire_comm_kind)kind : WIRE_COMM_UNKNOWN;
	c->name = text_at(f, varint_get(r));
	c->size = varint_get32(r);
	c->remote_size = varint_get32(r);
	/* a record with the same number adds runs; each takes 3 bytes at least */
	runs = (struct wire_run *)c->runs;
	if (r->at < r->end)
		runs = xrealloc(
			runs, (c->n_runs + (size_t)(r->end - r->at) / 3 + 1) * sizeof(*runs));
	while (r->at < r->end && !r->bad) {
		struct wire_run *run = &runs[c->n_runs++];

		run->first = (int32_t)unzigzag(varint_get(r));
		run->stride = (int32_t)unzigzag(varint_get(r));
		run->count = (int32_t)unzigzag(varint_get(r));
	}
	c->runs = runs;
	return true;
}

static bool get_object(struct vfd_file *f, struct varint_reader *r)
{
	const uint64_t number = varint_get(r), kind = varint_get(r);
	struct vfd_object *o;

	if (number >= VFD_NONE || kind > WIRE_OBJECT_FILE)
		return false;
	f->objects = grow(f->objects, f->n_objects, &f->cap_objects, sizeof(*f->objects));
	o = &f->objects[f->n_objects++];
	*o = (struct vfd_object){.number = (uint32_t)number, .kind = (enum wire_object_kind)kind};
	o->name = text_at(f, optional(r));
	o->comm = (uint32_t)optional(r);
	return true;
}

static bool get_counter(struct vfd_file *f, struct varint_reader *r)
{
	const uint64_t number = varint_get(r);
	struct vfd_counter *c = number ? ELEMENT(f, counters, number, no_counter) : NULL;
	uint64_t kind;

	if (!c)
		return false;
	c->number = (uint32_t)number;
	c->process = minus_one(varint_get(r));
	kind = varint_get(r);
	c->kind = kind < VFD_COUNTER_KINDS ? (enum vfd_counter_kind)kind : VFD_COUNTER_INTEGER;
	c->name = text_at(f, optional(r));
	c->symbol = text_at(f, optional(r));
	c->unit = text_at(f, optional(r));
	c->source = text_at(f, optional(r));
	return true;
}

static bool get_observable(struct vfd_file *f, struct varint_reader *r)
{
	const uint64_t number = varint_get(r);
	struct vfd_observable *o = number ? ELEMENT(f, observables, number, no_observable) : NULL;

	if (!o)
		return false;
	o->number = (uint32_t)number;
	o->name = text_at(f, varint_get(r));
	o->formula = text_at(f, varint_get(r));
	o->unit = text_at(f, optional(r));
	return true;
}

static bool definition(struct vfd_file *f, uint64_t kind, struct varint_reader *r)
{
	switch (kind) {
	case VFD_DEFINE_STRING:
		return get_string(f, r);
	case VFD_DEFINE_PROCESS:
		return get_process(f, r);
	case VFD_DEFINE_PROCESS_END:
		return get_process_end(f, r);
	case VFD_DEFINE_RANK:
		return get_rank(f, r);
	case VFD_DEFINE_THREAD:
		return get_thread(f, r);
	case VFD_DEFINE_THREAD_NAME:
	case VFD_DEFINE_THREAD_END:
	case VFD_DEFINE_OPENMP:
		return get_thread_news(f, r, kind);
	case VFD_DEFINE_FUNCTION:
		return get_function(f, r);
	case VFD_DEFINE_NAME:
		return get_name(f, r);
	case VFD_DEFINE_COMM:
		return get_comm(f, r);
	case VFD_DEFINE_OBJECT:
		return get_object(f, r);
	case VFD_DEFINE_NEIGHBOURS:
		return reader_get_neighbours(f, r);
	case VFD_DEFINE_COUNTER:
		return get_counter(f, r);
	case VFD_DEFINE_OBSERVABLE:
		return get_observable(f, r);
	case VFD_DEFINE_ROUND:
		return reader_get_round(f, r);
	}
	return true; /* of a later version */
}

bool reader_definitions(struct vfd_file *f, struct varint_reader *r, uint32_t records)
{
	bool ok = true;

	for (; records && r->at < r->end; records--) {
		uint64_t kind = varint_get(r);
		size_t n;
		const char *at = varint_get_text(r, &n);
		struct varint_reader fields = {.at = (const unsigned char *)at};

		if (!at || r->bad)
			return false;
		fields.end = fields.at + n;
		if (!definition(f, kind, &fields) || fields.bad)
			ok = false;
	}
	return ok && !records;
}

bool reader_stack(
	struct vfd_file *f, uint32_t lane, uint32_t number, uint32_t caller, uint32_t function)
{
	struct read_lane *l = reader_lane(f, lane);

	/* callers have smaller numbers: no stack is its own */
	if (!l || !number || caller >= number || !reader_possible(f, number))
		return false;
	if (number >= l->n_stacks) {
		const size_t more = number + 1 - l->n_stacks;

		if (!reader_possible(f, f->all_stacks + more))
			return false;
		f->all_stacks += more;
		if (number + 2 > l->cap_stacks) {
			l->cap_stacks = 2 * ((size_t)number + 2);
			l->stacks = xrealloc(l->stacks, l->cap_stacks * sizeof(*l->stacks));
		}
		for (size_t i = l->n_stacks; i <= number; i++)
			l->stacks[i] = (struct vfd_stack){i ? 0 : VFD_NONE, VFD_NONE, 0};
		l->n_stacks = number + 1;
	}
	if (l->stacks[number].function == VFD_NONE)
		l->stacks[number] = (struct vfd_stack){caller, function, 0};
	return true;
}

static void finish_lane(struct vfd_file *f, struct read_lane *l)
{
	if (!l->stacks) {
		l->cap_stacks = 2;
		l->stacks = xmalloc(2 * sizeof(*l->stacks));
	}
	if (!l->n_stacks)
		l->n_stacks = 1;
	l->stacks[0] = (struct vfd_stack){VFD_NONE, VFD_NONE, 0};
	for (size_t i = 1; i < l->n_stacks; i++) {
		struct vfd_stack *s = &l->stacks[i];

		if (s->function >= f->n_functions)
			s->function = VFD_NONE;
		if (l->stacks[s->caller].depth >= READER_DEPTH_MOST)
			s->caller = 0;
		s->depth = l->stacks[s->caller].depth + 1;
	}
	/* for all that is not in the table */
	l->stacks[l->n_stacks] = (struct vfd_stack){0, VFD_NONE, 1};
}

void reader_finish_tables(struct vfd_file *f)
{
	for (size_t i = 0; i < f->n_threads; i++) {
		struct vfd_thread *t = &f->threads[i];

		if (t->process >= f->n_processes)
			t->process = VFD_NONE;
		t->start = reader_time(f, (uint64_t)t->start);
		t->end = t->end ? reader_time(f, (uint64_t)t->end) : f->facts.end;
		finish_lane(f, &f->lanes[i]);
	}
	for (size_t i = 0; i < f->n_processes; i++) {
		struct vfd_process *p = &f->processes[i];

		if (p->parent >= f->n_processes)
			p->parent = VFD_NONE;
		p->start = reader_time(f, (uint64_t)p->start);
		p->end = p->ended ? reader_time(f, (uint64_t)p->end) : f->facts.end;
	}
	f->names = xcalloc(f->n_functions, sizeof(*f->names));
}

void reader_free_tables(struct vfd_file *f)
{
	for (size_t i = 0; i < f->n_texts; i++)
		free(f->texts[i]);
	for (size_t i = 0; i < f->n_threads; i++) {
		free(f->lanes[i].stacks);
		free(f->lanes[i].blocks);
		free(f->lanes[i].value_blocks);
		free(f->lanes[i].waits);
	}
	for (size_t i = 0; i < f->n_comms; i++)
		free((void *)f->comms[i].runs);
	for (size_t i = 0; f->names && i < f->n_functions; i++)
		free(f->names[i]);
	for (size_t i = 0; i < f->n_symbols; i++)
		symtab_close(f->symbols[i].table);
	free(f->symbols);
	free(f->names);
	free(f->texts);
	free(f->processes);
	free(f->threads);
	free(f->lanes);
	free(f->functions);
	free(f->comms);
	free(f->objects);
	free(f->counters);
	free(f->observables);
	free(f->rounds);
	free(f->knots);
	reader_free_lengths(f);
}

/* ---- header and clock ------------------------------------------------------------- */

bool reader_header(struct vfd_file *f, struct varint_reader *r)
{
	uint64_t value, field;

	while ((field = varint_get(r)) != VFD_FIELD_END) {
		if (field <= VFD_FIELD_WRITER) {
			size_t n;
			const char *text = varint_get_text(r, &n);
			char **to[] = {&f->host, &f->application, &f->writer};

			if (!text)
				return false;
			if (n && !*to[field - VFD_FIELD_HOST])
				*to[field - VFD_FIELD_HOST] = xasprintf("%.*s", (int)n, text);
			continue;
		}
		value = varint_get(r);
		if (field == VFD_FIELD_START_UNIX)
			f->facts.start_unix_ns = (int64_t)value;
		else if (field == VFD_FIELD_START_UNITS)
			f->start_units = value;
		else if (field == VFD_FIELD_START_RAW)
			f->start_raw = (int64_t)value;
		else if (field == VFD_FIELD_JOB_UNIX)
			f->facts.job_unix_ns = (int64_t)value;
		else if (field == VFD_FIELD_RATE)
			memcpy(&f->facts.ns_per_unit, &value, sizeof(value));
		else if (field == VFD_FIELD_INTERVAL)
			f->facts.interval_ns = (int64_t)value;
		else if (field == VFD_FIELD_MAX_SIZE)
			f->facts.max_size = value;
	}
	return !r->bad;
}

bool reader_clock(struct vfd_file *f, struct varint_reader *r, uint32_t records)
{
	for (; records && !r->bad; records--) {
		const uint64_t kind = varint_get(r), a = varint_get(r);

		if (kind == VFD_CLOCK_PAIR) {
			f->last_pair_units = a;
			f->last_pair_raw = (int64_t)varint_get(r);
			f->pair_seen = true;
		} else if (kind == VFD_CLOCK_ZERO) {
			f->zero = (int64_t)a;
			f->zero_seen = true;
		} else if (kind == VFD_CLOCK_KNOT) {
			struct clock_knot k = {.raw = (int64_t)a};

			k.offset = unzigzag(varint_get(r));
			k.half_width = (int64_t)varint_get(r);
			f->knots = grow(f->knots, f->n_knots, &f->cap_knots, sizeof(*f->knots));
			f->knots[f->n_knots++] = k;
		} else {
			return false;
		}
	}
	return !r->bad;
}
