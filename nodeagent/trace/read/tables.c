/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the definitions of a sampling file into tables. Each definition is checked by
 * itself; numbers that would make a table larger than the file could fill are
 * refused, as is a text that is not there.
 */
#include <stdlib.h>

#include "nodeagent/symbols/symtab.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/definitions.h"
#include "nodeagent/trace/read/internal.h"

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
	.track = VFD_NONE, .process = VFD_NONE, .creator = VFD_NONE};
static const struct vfd_function no_function = {.number = VFD_NONE, .process = VFD_NONE};
static const struct vfd_comm no_comm = {.number = VFD_NONE};
static const struct vfd_counter no_counter;
static const struct vfd_observable no_observable;
static const struct read_track no_track;
static char *const no_text;

#define ELEMENT(f, array, number, empty)                                                           \
	element(f, (void **)&(f)->array, &(f)->n_##array, number, sizeof(*(f)->array), &(empty))

static struct vfd_thread *thread_at(struct vfd_file *f, uint64_t track)
{
	size_t tracks = f->n_threads;

	/* two arrays of the same length */
	if (!element(f, (void **)&f->tracks, &tracks, track, sizeof(*f->tracks), &no_track))
		return NULL;
	return ELEMENT(f, threads, track, no_thread);
}

struct read_track *reader_track(struct vfd_file *f, uint32_t track)
{
	return thread_at(f, track) ? &f->tracks[track] : NULL;
}

/* The text with a number from a record; NULL: none, or it was lost. */
static const char *text_at(const struct vfd_file *f, uint64_t number)
{
	return number && number <= f->n_texts ? f->texts[number - 1] : NULL;
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

static unsigned digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') & 15 : (unsigned)(c - 'a' + 10) & 15;
}

static void set_build_id(struct vfd_function *fn, const char *id)
{
	fn->build_id_bytes = 0;
	for (; id && id[0] && id[1] && fn->build_id_bytes < WIRE_BUILD_ID; id += 2)
		fn->build_id[fn->build_id_bytes++] = (uint8_t)(digit(id[0]) << 4 | digit(id[1]));
}

/* A record with the same number adds runs; each takes 3 bytes at least. */
static void get_runs(struct vfd_comm *c, struct varint_reader *r)
{
	struct wire_run *runs = (struct wire_run *)c->runs;

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
}

/* What a record with this number is about; NULL: nonsense. Those of tables that are only
 * appended to are behind the last one. */
static void *element_of(struct vfd_file *f, uint64_t kind, uint64_t number)
{
	switch (kind) {
	case VFD_DEFINE_PROCESS:
	case VFD_DEFINE_PROCESS_END:
	case VFD_DEFINE_RANK:
		return ELEMENT(f, processes, number, no_process);
	case VFD_DEFINE_THREAD:
	case VFD_DEFINE_THREAD_NAME:
	case VFD_DEFINE_THREAD_END:
	case VFD_DEFINE_OPENMP:
		return thread_at(f, number);
	case VFD_DEFINE_FUNCTION:
	case VFD_DEFINE_NAME:
	case VFD_DEFINE_SOURCE:
		return ELEMENT(f, functions, number, no_function);
	case VFD_DEFINE_COMM:
	case VFD_DEFINE_LINK:
		return ELEMENT(f, comms, number, no_comm);
	case VFD_DEFINE_COUNTER:
		return number ? ELEMENT(f, counters, number, no_counter) : NULL;
	case VFD_DEFINE_OBSERVABLE:
		return number ? ELEMENT(f, observables, number, no_observable) : NULL;
	case VFD_DEFINE_OBJECT:
		if (number >= VFD_NONE)
			return NULL;
		f->objects = grow(f->objects, f->n_objects, &f->cap_objects, sizeof(*f->objects));
		f->objects[f->n_objects] = (struct vfd_object){.number = (uint32_t)number};
		return &f->objects[f->n_objects];
	case VFD_DEFINE_ROUND:
		if (!number || !reader_possible(f, f->n_rounds))
			return NULL;
		f->rounds = grow(f->rounds, f->n_rounds, &f->cap_rounds, sizeof(*f->rounds));
		f->rounds[f->n_rounds] = (struct vfd_round){.number = number};
		return &f->rounds[f->n_rounds];
	}
	return NULL;
}

/* False: nonsense. */
static bool set_field(
	const struct vfd_file *f, const struct vfd_field *x, void *element, uint64_t value)
{
	void *at = (char *)element + x->offset;
	const char *text;

	switch (x->how) {
	case FIELD_U64:
	case FIELD_TIME:
		*(uint64_t *)at = value;
		return true;
	case FIELD_PLUS_ONE:
		*(uint32_t *)at = (uint32_t)(value - 1);
		return true;
	case FIELD_TRUE:
	case FIELD_BIT:
		*(bool *)at = value & 1;
		return true;
	case FIELD_KIND:
		*(uint32_t *)at = value < x->kinds ? (uint32_t)value : x->otherwise;
		return value < x->kinds || x->otherwise != VFD_REFUSED;
	case FIELD_TEXT:
	case FIELD_NEW_TEXT:
		text = text_at(f, value);
		if (text || x->how == FIELD_TEXT)
			*(const char **)at = text;
		return true;
	case FIELD_BUILD_ID:
		set_build_id(element, text_at(f, value));
		return true;
	default:
		*(uint32_t *)at = (uint32_t)value;
		return true;
	}
}

/* Trailing fields may be missing; then they are 0. */
static bool get_fields(
	struct vfd_file *f, uint64_t kind, struct varint_reader *r, uint64_t number, void *element)
{
	const struct vfd_definition_row *row = &vfd_definitions[kind];
	unsigned n = 0;

	for (const struct vfd_field *x = row->fields; x->how; x++) {
		uint64_t value = x->how == FIELD_TRUE ? 1 : number;

		if (x->how > FIELD_TRUE)
			value = n++ < row->required || r->at < r->end ? varint_get(r) : 0;
		if (x->how == FIELD_STRICT && value > UINT32_MAX) {
			r->bad = true;
			value = 0;
		}
		if (!set_field(f, x, element, value))
			return false;
	}
	return true;
}

/* The agent writes ranks in the order in which it hears of them. */
static void note_told(struct vfd_file *f, struct vfd_process *p)
{
	if (p->job && !p->told)
		p->told = ++f->n_told;
}

static bool definition(struct vfd_file *f, uint64_t kind, struct varint_reader *r)
{
	uint64_t number;
	void *element;

	if (!kind || kind >= VFD_DEFINITIONS)
		return true; /* of a later version */
	if (kind == VFD_DEFINE_STRING)
		return get_string(f, r);
	if (kind == VFD_DEFINE_NEIGHBOURS)
		return reader_get_neighbours(f, r);
	number = varint_get(r);
	element = element_of(f, kind, number);
	if (!element || !get_fields(f, kind, r, number, element))
		return false;
	if (kind == VFD_DEFINE_COMM)
		get_runs(element, r);
	if (kind == VFD_DEFINE_RANK)
		note_told(f, element);
	f->n_objects += kind == VFD_DEFINE_OBJECT;
	f->n_rounds += kind == VFD_DEFINE_ROUND;
	return true;
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
	struct vfd_file *f, uint32_t track, uint32_t number, uint32_t caller, uint32_t function)
{
	struct read_track *l = reader_track(f, track);

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

static void finish_track(struct vfd_file *f, struct read_track *l)
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

/* Communicators of one side, which the other one may ask for. */
static void find_spawns(struct vfd_file *f)
{
	for (size_t i = 0; i < f->n_comms; i++)
		if (f->comms[i].number && (f->comms[i].kind == WIRE_COMM_SPAWN ||
						  f->comms[i].kind == WIRE_COMM_ACCEPT))
			map64_at(&f->spawns, f->comms[i].id, (uint32_t)i);
}

void reader_finish_tables(struct vfd_file *f)
{
	for (size_t i = 0; i < f->n_threads; i++) {
		struct vfd_thread *t = &f->threads[i];

		if (t->process >= f->n_processes)
			t->process = VFD_NONE;
		t->start = reader_time(f, (uint64_t)t->start);
		t->end = t->end ? reader_time(f, (uint64_t)t->end) : f->facts.end;
		finish_track(f, &f->tracks[i]);
	}
	EACH(struct vfd_process, p, f->processes, f->n_processes) {
		if (p->parent >= f->n_processes)
			p->parent = VFD_NONE;
		p->start = reader_time(f, (uint64_t)p->start);
		p->end = p->ended ? reader_time(f, (uint64_t)p->end) : f->facts.end;
	}
	find_spawns(f);
	f->names = xcalloc(f->n_functions, sizeof(*f->names));
}

void reader_free_tables(struct vfd_file *f)
{
	for (size_t i = 0; i < f->n_texts; i++)
		free(f->texts[i]);
	for (size_t i = 0; i < f->n_threads; i++) {
		free(f->tracks[i].stacks);
		free(f->tracks[i].blocks);
		free(f->tracks[i].value_blocks);
		free(f->tracks[i].runs);
		free(f->tracks[i].run_events);
		free(f->tracks[i].waits);
	}
	map64_free(&f->spawns);
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
	free(f->tracks);
	free(f->functions);
	free(f->comms);
	free(f->objects);
	free(f->counters);
	free(f->observables);
	free(f->rounds);
	free(f->sync_points);
	reader_free_lengths(f);
}

/* ---- header and clock ------------------------------------------------------------- */

bool reader_header(struct vfd_file *f, struct varint_reader *r)
{
	/* all of 64 bits; others are not needed */
	void *const numbers[VFD_HEADER_FIELDS] = {
		[VFD_FIELD_START_UNIX] = &f->facts.start_unix_ns,
		[VFD_FIELD_START_UNITS] = &f->start_units,
		[VFD_FIELD_START_RAW] = &f->start_raw,
		[VFD_FIELD_JOB_UNIX] = &f->facts.job_unix_ns,
		[VFD_FIELD_RATE] = &f->facts.ns_per_unit,
		[VFD_FIELD_INTERVAL] = &f->facts.interval_ns,
		[VFD_FIELD_MAX_SIZE] = &f->facts.max_size,
		[VFD_FIELD_RUN] = &f->facts.run,
	};
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
		if (field < VFD_HEADER_FIELDS && numbers[field])
			memcpy(numbers[field], &value, sizeof(value));
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
		} else if (kind == VFD_CLOCK_SYNC_POINT) {
			struct clock_sync_point k = {.raw = (int64_t)a};

			k.offset = unzigzag(varint_get(r));
			k.half_width = (int64_t)varint_get(r);
			*LIST_ADD(f, sync_points) = k;
		} else {
			return false;
		}
	}
	return !r->bad;
}
