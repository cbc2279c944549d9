/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trace events of Chrome as JSON, one on a line: calls as B and E, communications
 * as instants, messages also as s and f, between which viewers draw an arrow; as do calls
 * and what they have started on a GPU.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/export/internal.h"
#include "nodeagent/base/util.h"

struct chrome {
	struct exporter *x;
	char **names, **comms, **counters; /* as JSON strings */
	uint32_t *pids;			   /* by process */
	char **sources;			   /* of functions: "heat.c:42", or NULL */
	bool filled;
};

static const char *const categories[] = {"code", "mpi", "region", "openmp", "other"};

static void separate(struct chrome *f)
{
	fputs(f->filled ? ",\n" : "\n", f->x->out);
	f->filled = true;
}

static void put_name(
	struct chrome *f, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	char *quoted = export_quoted(name);

	separate(f);
	fprintf(f->x->out,
		"{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":%s}}", what,
		pid, tid, quoted);
	free(quoted);
}

static void put_order(
	struct chrome *f, const char *what, uint32_t pid, uint32_t tid, uint32_t order)
{
	separate(f);
	fprintf(f->x->out,
		"{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"sort_index\":%u}}",
		what, pid, tid, order);
}

/*
 * The rank, and numbers behind the ranks for processes without one. Where two have the same rank,
 * as one that has become another program, the place in the order of the processes.
 */
static uint32_t *pids_of(const struct exporter *x)
{
	uint32_t *pids = xcalloc(x->n_processes, sizeof(*pids)), next = 1; /* 0: of rank 0 alone */
	struct map64 seen = {0};
	bool unique = true;

	EACH(const struct export_process, p, x->processes, x->n_processes) {
		if (p->shown < 0)
			continue;
		unique &= !map64_find(&seen, (uint64_t)p->shown);
		map64_add(&seen, (uint64_t)p->shown, 0);
	}
	map64_free(&seen);
	for (size_t i = 0; unique && i < x->n_processes; i++)
		next = MAX(next, (uint32_t)x->processes[i].shown + 1);
	for (size_t i = 0; i < x->n_processes; i++)
		pids[i] = unique && x->processes[i].shown >= 0 ? (uint32_t)x->processes[i].shown
							       : next++;
	return pids;
}

static void put_region(struct chrome *f, size_t i)
{
	const struct export_region *r = &f->x->regions[i];
	/* the names of constructs have it */
	const bool is_code = r->kind == VFD_FUNCTION_CODE;
	char *source = r->file && is_code ? xasprintf("%s:%u", r->file, r->line) : NULL;

	f->names[i] = export_quoted(r->name);
	f->sources[i] = source ? export_quoted(source) : NULL;
	free(source);
}

void *chrome_begin(struct exporter *x)
{
	struct chrome *f = xcalloc(1, sizeof(*f));

	f->x = x;
	f->pids = pids_of(x);
	f->names = xcalloc(x->n_regions, sizeof(char *));
	f->sources = xcalloc(x->n_regions, sizeof(char *));
	f->comms = xcalloc(x->n_comms, sizeof(char *));
	f->counters = xcalloc(x->n_counters, sizeof(char *));
	for (size_t i = 0; i < x->n_counters; i++)
		f->counters[i] = export_quoted(x->counters[i].name);
	for (size_t i = 0; i < x->n_regions; i++)
		put_region(f, i);
	for (size_t i = 0; i < x->n_comms; i++)
		f->comms[i] = export_quoted(x->comms[i].name);
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", x->out);
	for (size_t i = 0; i < x->n_processes; i++) {
		const struct export_process *p = &x->processes[i];

		put_name(f, "process_name", f->pids[i], p->id, p->name);
		put_order(f, "process_sort_index", f->pids[i], p->id, f->pids[i]);
		for (uint32_t k = 0; k < p->threads; k++) {
			const struct export_thread *t = &x->threads[p->first_thread + k];

			put_name(f, "thread_name", f->pids[i], t->id, t->name);
			put_order(f, "thread_sort_index", f->pids[i], t->id, t->id);
		}
	}
	return f;
}

/* The beginning of an event, without its closing brace. Times are in us there. */
static void put_event(struct chrome *f, const char *kind, const struct export_event *e)
{
	separate(f);
	fprintf(f->x->out, "{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ".%03u", kind,
		f->pids[e->thread->process], e->thread->id, e->time / 1000,
		(unsigned)(e->time % 1000));
}

static void put_details(struct chrome *f, const struct export_message *m)
{
	FILE *out = f->x->out;

	fprintf(out, ",\"args\":{\"bytes\":%" PRIu64, m->m.bytes);
	if (m->m.peer != VFD_NONE)
		fprintf(out, ",\"peer\":%u", m->m.peer);
	if (m->m.kind == VFD_SEND || m->m.kind == VFD_RECEIVE)
		fprintf(out, ",\"tag\":%d", m->m.tag);
	if (m->m.kind == VFD_COLLECTIVE || m->m.kind == VFD_RMA)
		fprintf(out, ",\"bytes received\":%" PRIu64, m->m.bytes_received);
	if (m->m.kind == VFD_FILE)
		fprintf(out, ",\"offset\":%" PRIu64, m->m.offset);
	if (m->comm != EXPORT_NONE)
		fprintf(out, ",\"communicator\":%s", f->comms[m->comm]);
	if (export_match_name(m))
		fprintf(out, ",\"matching\":\"%s\"", export_match_name(m));
	putc('}', out);
}

static void put_message(struct chrome *f, const struct export_event *e)
{
	const struct export_message *m = e->message;
	const bool send = m->m.kind == VFD_SEND;

	put_event(f, "i", e);
	fprintf(f->x->out, ",\"s\":\"t\",\"cat\":\"message\",\"name\":\"%s\"",
		export_message_name(m));
	put_details(f, m);
	putc('}', f->x->out);
	if (!m->flow)
		return;
	put_event(f, send ? "s" : "f", e);
	/* a text: readers of JSON keep 53 bits of a number */
	fprintf(f->x->out, ",\"cat\":\"message\",\"name\":\"message\",\"id\":\"0x%" PRIx64 "\"%s}",
		m->flow, send ? "" : ",\"bp\":\"e\"");
}

static void put_flows(struct chrome *f, const struct export_event *e)
{
	for (size_t i = 0; i < e->n_flows; i++) {
		put_event(f, e->flows[i].out ? "s" : "f", e);
		fprintf(f->x->out,
			",\"cat\":\"launch\",\"name\":\"launch\",\"id\":\"0x%" PRIx64 "\"%s}",
			e->flows[i].flow, e->flows[i].out ? "" : ",\"bp\":\"e\"");
	}
}

static void put_mark(struct chrome *f, const struct export_event *e)
{
	put_event(f, "i", e);
	fprintf(f->x->out, ",\"s\":\"t\",\"name\":\"%s\",\"args\":{\"calls\":%" PRIu64 "}}",
		export_mark_name(e->kind), e->count);
}

/* Viewers have them per process: the id tells threads apart. */
static void put_counts(struct chrome *f, const struct export_event *e)
{
	for (uint32_t i = 0; i < e->counts->n; i++) {
		const uint32_t counter = e->counts->counters[i];
		const uint64_t value = e->counts->values[i];

		put_event(f, "C", e);
		fprintf(f->x->out, ",\"id\":\"%u\",\"name\":%s,\"args\":{\"value\":", e->thread->id,
			f->counters[counter]);
		if (f->x->counters[counter].kind == VFD_COUNTER_REAL)
			fprintf(f->x->out, "%.17g}}", export_real(value));
		else
			fprintf(f->x->out, "%" PRId64 "}}", (int64_t)value);
	}
}

static void put_call(struct chrome *f, const struct export_event *e)
{
	const char *source = f->sources[e->region];

	fprintf(f->x->out, ",\"cat\":\"%s\",\"name\":%s", categories[f->x->regions[e->region].kind],
		f->names[e->region]);
	if (e->sampled || source)
		fprintf(f->x->out, ",\"args\":{%s%s%s%s}", e->sampled ? "\"sampled\":true" : "",
			e->sampled && source ? "," : "", source ? "\"source\":" : "",
			source ? source : "");
	putc('}', f->x->out);
}

void chrome_event(void *state, const struct export_event *e)
{
	struct chrome *f = state;

	switch (e->kind) {
	case EXPORT_ENTER:
		put_event(f, "B", e);
		put_call(f, e);
		put_flows(f, e);
		break;
	case EXPORT_EXIT:
		/* the name is needed by readers that find the call by it */
		put_event(f, "E", e);
		fprintf(f->x->out, ",\"name\":%s}", f->names[e->region]);
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
		put_counts(f, e);
		break;
	case EXPORT_FLOW: /* not given to us */
		break;
	}
}

void chrome_end(void *state, bool good)
{
	struct chrome *f = state;

	fputs("\n]}\n", f->x->out);
	for (size_t i = 0; i < f->x->n_regions; i++) {
		free(f->names[i]);
		free(f->sources[i]);
	}
	for (size_t i = 0; i < f->x->n_comms; i++)
		free(f->comms[i]);
	for (size_t i = 0; i < f->x->n_counters; i++)
		free(f->counters[i]);
	free(f->counters);
	free(f->pids);
	free(f->names);
	free(f->sources);
	free(f->comms);
	free(f);
}
