/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paraver: OUT.prv with the records in the order of time, OUT.pcf with what the
 * numbers mean, OUT.row with the names of the rows. One application, a task is a
 * process, and each thread has a CPU of its own. A function is an event whose
 * value is taken back at its end: to its caller's, as 0 would also end the caller.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nodeagent/export/internal.h"
#include "nodeagent/export/pairs.h"
#include "nodeagent/base/util.h"

#define CHECK_EVERY 4096u /* members of communicators */

struct open_calls {
	uint32_t *regions;
	size_t n, cap;
};

struct paraver {
	struct exporter *x;
	struct pairs *pairs;
	struct open_calls *open; /* by thread */
	char **places;		 /* by thread: "cpu:1:task:thread" */
	uint32_t *by_start;	 /* threads */
	uint64_t **sums;	 /* by thread: as they were last, by counter; or NULL */
	size_t started;
	char *stem; /* of the output, without .prv */
};

/* ---- the header ----------------------------------------------------------------------- */

static void put_nodes(struct paraver *f)
{
	const struct exporter *x = f->x;

	fprintf(x->out, "%zu(", x->n_hosts);
	for (size_t i = 0; i < x->n_hosts; i++) {
		uint32_t threads = 0;

		for (size_t k = 0; k < x->n_processes; k++)
			if (x->processes[k].node == i)
				threads += x->processes[k].threads;
		fprintf(x->out, "%s%u", i ? "," : "", threads ? threads : 1);
	}
	fputc(')', x->out);
}

/* Tasks of a communicator as ":1:2", and how many; those in the trace. A damaged run may be as long
 * as it likes. */
static size_t tasks_of(struct exporter *x, const struct export_comm *e, FILE *to)
{
	const size_t most = (size_t)e->comm->size + e->comm->remote_size;
	size_t n = 0, members = 0;

	EACH(const struct wire_run, r, e->comm->runs, e->comm->n_runs) {
		for (int32_t k = 0; k < r->count && members < most; k++, members++) {
			const int64_t rank = r->first + (int64_t)k * r->stride;
			const uint32_t process = export_process_of(x, e->job, rank);

			if (members % CHECK_EVERY == 0 && !export_goes_on(x))
				return n;
			if (process == EXPORT_NONE)
				continue;
			n++;
			fprintf(to, ":%u", process + 1);
		}
	}
	return n;
}

static void put_comms(struct paraver *f)
{
	struct exporter *x = f->x;

	for (size_t i = 0; i < x->n_comms && export_goes_on(x); i++) {
		size_t bytes, n;
		char *text;
		FILE *to = memory_begin(&text, &bytes);

		n = tasks_of(x, &x->comms[i], to);
		memory_end(to);
		fprintf(x->out, "c:1:%zu:%zu%s\n", i + 1, n, text);
		free(text);
	}
}

static void put_header(struct paraver *f)
{
	const struct exporter *x = f->x;
	const time_t start = (time_t)(x->start_unix_ns / 1000000000);
	const char *comma = "";
	char date[64];
	struct tm tm;

	if (!gmtime_r(&start, &tm) || !strftime(date, sizeof(date), "%d/%m/%Y at %H:%M", &tm))
		strcpy(date, "01/01/1970 at 00:00");
	fprintf(x->out, "#Paraver (%s):%" PRIu64 "_ns:", date, x->duration);
	put_nodes(f);
	fprintf(x->out, ":1:%zu(", x->n_processes);
	for (size_t i = 0; i < x->n_processes; i++, comma = ",")
		fprintf(x->out, "%s%u:%u", comma,
			x->processes[i].threads ? x->processes[i].threads : 1,
			x->processes[i].node + 1);
	fprintf(x->out, "),%zu\n", x->n_comms);
	put_comms(f);
}

/* ---- before the first record ------------------------------------------------------------ */

static void name_places(struct paraver *f)
{
	const struct exporter *x = f->x;
	uint32_t cpu = 1;

	f->places = xcalloc(x->n_threads, sizeof(char *));
	for (size_t node = 0; node < x->n_hosts; node++) {
		uint32_t before = cpu;

		for (size_t i = 0; i < x->n_threads; i++) {
			const struct export_process *p = &x->processes[x->threads[i].process];

			if (p->node == node)
				f->places[i] = xasprintf("%u:1:%u:%zu", cpu++,
					x->threads[i].process + 1, i - p->first_thread + 1);
		}
		cpu += cpu == before;
	}
}

static void note_message(void *ctx, const struct export_event *e)
{
	struct paraver *f = ctx;
	const struct export_message *m = e->message;
	const struct export_flow *a = e->flows;
	bool send;
	struct pair_end end;

	if (e->kind == EXPORT_FLOW) {
		end = (struct pair_end){e->time, e->time, (uint32_t)(e->thread - f->x->threads)};
		pairs_add(f->pairs, a->flow, a->out, &end, a->bytes, 0);
		return;
	}
	send = m->m.kind == VFD_SEND;
	end = (struct pair_end){m->start, m->end, m->m.track};

	if (m->flow && e->kind == EXPORT_END)
		pairs_add(f->pairs, m->flow, send, &end, m->m.bytes, m->m.tag);
}

static const struct export_thread *sorted;

ORDER_BY(by_start, uint32_t,
	ORDER(sorted[*x].start, sorted[*y].start) ?: ORDER(sorted[*x].id, sorted[*y].id))

static void sort_threads(struct paraver *f)
{
	f->by_start = xcalloc(f->x->n_threads, sizeof(uint32_t));
	for (size_t i = 0; i < f->x->n_threads; i++)
		f->by_start[i] = (uint32_t)i;
	sorted = f->x->threads;
	qsort(f->by_start, f->x->n_threads, sizeof(uint32_t), by_start);
}

static char *stem_of(const char *path)
{
	const size_t n = strlen(path);

	return xasprintf("%.*s", (int)(n > 4 && !strcmp(path + n - 4, ".prv") ? n - 4 : n), path);
}

void *paraver_begin(struct exporter *x)
{
	struct paraver *f = xcalloc(1, sizeof(*f));

	f->x = x;
	f->stem = stem_of(x->options->output);
	f->pairs = pairs_new(x->options->output, 0);
	f->open = xcalloc(x->n_threads, sizeof(*f->open));
	f->sums = xcalloc(x->n_threads, sizeof(*f->sums));
	name_places(f);
	sort_threads(f);
	if (!strcmp(x->options->output, "-"))
		export_fail(x, "Paraver wants three files: name one with -o");
	else
		export_walk(x, &(struct export_walk){.no_calls = true}, note_message, f);
	pairs_sort(f->pairs);
	if (!x->error)
		put_header(f);
	return f;
}

/* ---- records ------------------------------------------------------------------------------ */

static uint64_t at_most(const struct paraver *f, uint64_t time)
{
	return time < f->x->duration ? time : f->x->duration;
}

static void put_state(struct paraver *f, uint32_t thread)
{
	const struct export_thread *t = &f->x->threads[thread];

	fprintf(f->x->out, "1:%s:%" PRIu64 ":%" PRIu64 ":%d\n", f->places[thread],
		at_most(f, t->start), at_most(f, t->end), PARAVER_RUNNING);
}

static void put_pair(struct paraver *f, const struct pair *p)
{
	fprintf(f->x->out, "3:%s:%" PRIu64 ":%" PRIu64, f->places[p->send.thread],
		at_most(f, p->send.start), at_most(f, p->send.start));
	fprintf(f->x->out, ":%s:%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%d\n",
		f->places[p->receive.thread], at_most(f, p->receive.start),
		at_most(f, p->receive.end), p->bytes, p->tag < 0 ? 0 : p->tag);
}

/* Writes all records that come before an event of that time. */
static void put_until(struct paraver *f, uint64_t time)
{
	for (;;) {
		const struct pair *p = pairs_first(f->pairs);
		const uint64_t sent = p ? at_most(f, p->send.start) : UINT64_MAX;
		uint64_t start = UINT64_MAX;

		if (f->started < f->x->n_threads)
			start = at_most(f, f->x->threads[f->by_start[f->started]].start);
		if (start <= sent && start <= time && start != UINT64_MAX) {
			put_state(f, f->by_start[f->started++]);
		} else if (p && sent <= time) {
			put_pair(f, p);
			pairs_take(f->pairs);
		} else {
			return;
		}
	}
}

static void put_call(struct paraver *f, const struct export_event *e, uint32_t value)
{
	const struct export_region *r = &f->x->regions[e->region];
	const size_t thread = (size_t)(e->thread - f->x->threads);

	fprintf(f->x->out, "2:%s:%" PRIu64 ":%d:%u", f->places[thread], at_most(f, e->time),
		PARAVER_FUNCTION, value);
	if (r->kind == VFD_FUNCTION_MPI)
		fprintf(f->x->out, ":%d:%u", paraver_mpi_type(r),
			e->kind == EXPORT_ENTER ? value : 0);
	fputc('\n', f->x->out);
}

static void put_event(struct paraver *f, const struct export_event *e, int type, uint64_t value)
{
	const size_t thread = (size_t)(e->thread - f->x->threads);

	fprintf(f->x->out, "2:%s:%" PRIu64 ":%d:%" PRIu64 "\n", f->places[thread],
		at_most(f, e->time), type, value);
}

/* Paraver adds up: of sums it gets what they have grown by. Its values have no sign and
 * no fraction. */
static uint64_t value_of(struct paraver *f, size_t thread, uint32_t counter, uint64_t value)
{
	const enum vfd_counter_kind kind = f->x->counters[counter].kind;
	double real;
	uint64_t *last;

	if (kind == VFD_COUNTER_REAL) {
		real = export_real(value);
		return real < 0.5 ? 0 : real < 0x1p63 ? (uint64_t)(real + 0.5) : INT64_MAX;
	}
	if (kind == VFD_COUNTER_INTEGER)
		return (int64_t)value > 0 ? value : 0;
	last = &f->sums[thread][counter];
	if (*last < value) {
		const uint64_t before = *last;

		*last = value;
		return value - before;
	}
	*last = value;
	return 0;
}

static void put_counts(struct paraver *f, const struct export_event *e)
{
	const size_t thread = (size_t)(e->thread - f->x->threads);

	if (!f->sums[thread]) {
		f->sums[thread] = xcalloc(f->x->n_counters, sizeof(**f->sums));
		/* what was before --from is not what happened here */
		for (uint32_t i = 0; f->x->options->span.from_set && i < e->counts->n; i++)
			f->sums[thread][e->counts->counters[i]] = e->counts->values[i];
	}
	fprintf(f->x->out, "2:%s:%" PRIu64, f->places[thread], at_most(f, e->time));
	for (uint32_t i = 0; i < e->counts->n; i++) {
		const uint32_t counter = e->counts->counters[i];

		fprintf(f->x->out, ":%" PRIu64 ":%" PRIu64, (uint64_t)PARAVER_COUNTER + counter,
			value_of(f, thread, counter, e->counts->values[i]));
	}
	fputc('\n', f->x->out);
}

void paraver_event(void *state, const struct export_event *e)
{
	struct paraver *f = state;
	struct open_calls *open = &f->open[e->thread - f->x->threads];

	put_until(f, at_most(f, e->time));
	switch (e->kind) {
	case EXPORT_ENTER:
		*APPEND(open->regions, open->n, open->cap) = e->region;
		put_call(f, e, e->region + 1);
		break;
	case EXPORT_EXIT:
		open->n -= open->n > 0;
		put_call(f, e, open->n ? open->regions[open->n - 1] + 1 : 0);
		break;
	case EXPORT_GAP:
		put_event(f, e, PARAVER_GAP, 1);
		break;
	case EXPORT_THINNED:
		put_event(f, e, PARAVER_LEFT_OUT, e->count);
		break;
	case EXPORT_LOST:
		put_event(f, e, PARAVER_LOST, e->count);
		break;
	case EXPORT_COUNTERS:
		put_counts(f, e);
		break;
	default:
		break;
	}
}

void paraver_end(void *state, bool good)
{
	struct paraver *f = state;

	if (good) {
		put_until(f, UINT64_MAX);
		if (pairs_error(f->pairs))
			export_fail(f->x, "%s: messages can't be sorted beside it: %s",
				f->x->options->output, strerror(pairs_error(f->pairs)));
		else
			paraver_names(f->x, f->stem);
	}
	for (size_t i = 0; i < f->x->n_threads; i++) {
		free(f->open[i].regions);
		free(f->places[i]);
		free(f->sums[i]);
	}
	pairs_free(f->pairs);
	free(f->open);
	free(f->places);
	free(f->sums);
	free(f->by_start);
	free(f->stem);
	free(f);
}
