/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sampling file as text. A process with several threads has one list of call
 * paths; lines of threads other than the first end in "thread=N".
 */
#include "nodeagent/trace/dump/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/table.h"
#include "nodeagent/trace/read/collectives.h"
#include "nodeagent/trace/read/latest.h"
#include "nodeagent/trace/read/paths.h"

const char *const vfd_event_names[VFD_EVENT_KINDS] = {"call", "exit", "message", "gap", "thinning",
	"thinned", "lost", "counters", "launch", "started", "sampled"};
const char *const vfd_match_names[VFD_MATCHES] = {
	"none", "exact", "ambiguous", "assumed", "broken", "guess"};
const char *const vfd_launch_names[VFD_LAUNCH_KINDS] = {
	"kernel", "copy to device", "copy to host", "copy", "set"};
const char *const vfd_counter_kinds[VFD_COUNTER_KINDS] = {"sum", "integer", "real"};
const char *const vfd_message_names[VFD_MESSAGE_KINDS] = {
	"send", "recv", "collective", "rma", "file", "epoch"};

bool vfd_dump_wants(const struct vfd_dump *d, const struct vfd_process *p)
{
	if (p->number == VFD_NONE)
		return false;
	return !d->ranks || (p->rank >= 0 && rank_list_has(d->ranks, (unsigned)p->rank));
}

/* Names come from programs, and may have anything in them. */
static void put_plain(const char *text, FILE *out)
{
	char *plain = text_plain(text);

	fputs(plain, out);
	free(plain);
}

static void put_line(const char *label, const char *text, FILE *out)
{
	fprintf(out, "%-17s", label);
	put_plain(text ? text : "?", out);
	putc('\n', out);
}

/* Those of its threads that are defined. */
static size_t threads_of(const struct vfd_file *f, const struct vfd_process *p)
{
	size_t n, mine = 0;
	const struct vfd_thread *t = vfd_threads(f, &n);

	for (size_t i = 0; i < n; i++)
		mine += t[i].track != VFD_NONE && t[i].process == p->number;
	return mine;
}

static void date(FILE *out, const char *label, int64_t unix_ns)
{
	time_t t = (time_t)(unix_ns / 1000000000);
	char text[64] = "?";
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm);
	fprintf(out, "%-17s%s\n", label, text);
}

static size_t count_counters(const struct vfd_file *f, bool sums)
{
	size_t n, found = 0;
	const struct vfd_counter *c = vfd_counters(f, &n);

	for (size_t i = 0; i < n; i++)
		found += c[i].number && (c[i].kind == VFD_COUNTER_SUM) == sums;
	return found;
}

static void header_counters(const struct vfd_file *f, FILE *out)
{
	size_t n, observables = 0;
	const struct vfd_observable *o = vfd_observables(f, &n);

	for (size_t i = 0; i < n; i++)
		observables += o[i].number > 0;
	fprintf(out, "%-17s%zu\n%-17s%zu\n", "HW counters:", count_counters(f, true),
		"HW observables:", observables);
	if (count_counters(f, false))
		fprintf(out, "%-17s%zu\n", "User counters:", count_counters(f, false));
}

/* Of the whole file, as many as would be printed. */
static uint64_t count_messages(struct vfd_file *f, bool peers)
{
	struct vfd_filter filter = {.track = VFD_NONE, .raw = true, .no_samples = true};
	struct vfd_expansion x;
	struct vfd_cursor *c;
	struct vfd_event e;
	uint64_t n = 0;

	if (!peers)
		return vfd_facts(f)->messages;
	c = vfd_cursor_new(&f, 1, &filter);
	while (vfd_next(c, &e)) {
		if (e.kind != VFD_MESSAGE)
			continue;
		vfd_expand(&x, f, e.message);
		n += vfd_expand_count(&x);
	}
	vfd_cursor_free(c);
	return n;
}

static void header_rounds(const struct vfd_file *f, FILE *out)
{
	size_t n;
	struct vfd_round *r = vfd_rounds(f, &n);

	for (size_t i = 0; i < n; i++)
		fprintf(out, "%-17s%" PRIu64 " from %.6f seconds on\n", "Round:", r[i].number,
			(double)r[i].begin / 1e9);
	free(r);
}

/* Processes, ranks of those of all MPI jobs, and threads. */
static void header_processes(struct vfd_file *f, FILE *out)
{
	size_t n, defined = 0, threads = 0, ranks = 0;
	const struct vfd_process *p = vfd_processes(f, &n);
	struct map64 jobs = {.n = 0};
	uint64_t size = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i].number == VFD_NONE)
			continue;
		defined++;
		ranks += p[i].rank >= 0;
		if (p[i].rank >= 0 && !map64_find(&jobs, p[i].job)) {
			map64_add(&jobs, p[i].job, 0);
			size += p[i].size;
		}
		threads += threads_of(f, &p[i]);
	}
	map64_free(&jobs);
	fprintf(out, "%-17s%zu", "Processes:", defined);
	if (size)
		fprintf(out, ", ranks: %zu of %" PRIu64, ranks, size);
	fprintf(out, "\n%-17s%zu\n", "Threads:", threads);
}

static void header(struct vfd_file *f, bool peers, FILE *out)
{
	const struct vfd_facts *facts = vfd_facts(f);
	const uint64_t messages = count_messages(f, peers);
	size_t damaged;

	vfd_damage(f, &damaged);
	put_line("Version ID:", facts->writer, out);
	put_line("Application:", facts->application, out);
	put_line("Host:", facts->host, out);
	date(out, "Start Date:", facts->start_unix_ns);
	/* the file may hold any numbers */
	date(out, "End Date:",
		(int64_t)((uint64_t)facts->start_unix_ns + (uint64_t)facts->end -
			  (uint64_t)facts->start));
	header_processes(f, out);
	fprintf(out, "%-17s%e seconds\n", "Sample interval:", (double)facts->interval_ns / 1e9);
	fprintf(out, "%-17s%.3f seconds\n", "Job runtime:", (double)facts->end / 1e9);
	fprintf(out, "%-17s%" PRIu64 "\n", "Samples:", facts->samples + messages);
	fprintf(out, "%-17s%" PRIu64 "\n", "   Function:", facts->samples);
	fprintf(out, "%-17s%" PRIu64 "\n", "   Messages:", messages);
	header_counters(f, out);
	header_rounds(f, out);
	if (facts->launches)
		fprintf(out, "%-17s%" PRIu64 "\n", "GPU launches:", facts->launches);
	fprintf(out, "%-17s%" PRIu64 " bytes in %" PRIu64 " blocks\n", "Size:", facts->bytes,
		facts->blocks);
	if (facts->synchronised)
		fprintf(out, "%-17sone for all nodes, within %.3f us\n",
			"Clock:", (double)facts->clock_error_ns / 1e3);
	else
		fprintf(out, "%-17sof this node\n", "Clock:");
	if (facts->lost_calls)
		fprintf(out, "%-17s%" PRIu64 "\n", "Lost calls:", facts->lost_calls);
	if (facts->thinned && facts->max_size)
		fprintf(out, "%-17s%" PRIu64 " calls left out to stay below %" PRIu64 " bytes\n",
			"Thinned:", facts->thinned_calls, facts->max_size);
	else if (facts->thinned)
		fprintf(out, "%-17s%" PRIu64 " calls left out, as they were short\n",
			"Thinned:", facts->thinned_calls);
	if (facts->unknown_blocks)
		fprintf(out, "%-17s%" PRIu64 " blocks of kinds that this vftr does not know\n",
			"Left out:", facts->unknown_blocks);
	fprintf(out, "%-17s%s\n", "Complete:",
		!facts->closed ? "no, it has no end"
		: damaged      ? "no, it is damaged"
			       : "yes");
}

static void damage(struct vfd_file *f, FILE *out)
{
	size_t n;
	const struct vfd_damage *d = vfd_damage(f, &n);

	for (size_t i = 0; i < n; i++)
		fprintf(out, "Damage:          bytes %" PRIu64 " to %" PRIu64 ": %s\n", d[i].from,
			d[i].to, d[i].why);
}

static void tree(struct vfd_file *f, const struct vfd_process *p, FILE *out)
{
	size_t n;
	const struct vfd_thread *t = vfd_threads(f, &n);

	fprintf(out, "\nThreadtree:\n");
	for (size_t i = 0; i < n; i++) {
		if (t[i].track == VFD_NONE || t[i].process != p->number)
			continue;
		if (t[i].creator != VFD_NONE)
			fprintf(out, "%u<", t[i].creator);
		fprintf(out, "%u", t[i].number);
		if (t[i].name) {
			putc(' ', out);
			put_plain(t[i].name, out);
		}
		if (t[i].openmp)
			fprintf(out, " (OpenMP level %u, thread %u)", t[i].openmp_level,
				t[i].openmp_number);
		putc('\n', out);
	}
}

static void calls(const struct vfd_latest *latest, const struct vfd_event *e,
	struct vfd_paths *paths, uint32_t thread, FILE *out)
{
	size_t n = 0;

	fprintf(out, "%16.6f", (double)e->time / 1e9);
	if (e->kind <= VFD_EXIT)
		vfd_latest_counters(latest, &n);
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %" PRIu64, vfd_latest_values(latest, e->track)[i]);
	fprintf(out, " %s %s", vfd_event_names[e->kind],
		vfd_paths_text(paths, vfd_paths_find(paths, e->track, e->stack)));
	if (e->kind == VFD_THINNING)
		fprintf(out, " below=%.6fs depth=%u", (double)e->count / 1e9, e->depth);
	else if (e->kind == VFD_THINNED || e->kind == VFD_LOST)
		fprintf(out, " calls=%" PRIu64, e->count);
	if (thread)
		fprintf(out, " thread=%u", thread);
	putc('\n', out);
}

/* Sums stand in the lines of calls. */
static void print_counters(
	struct vfd_file *f, const struct vfd_event *e, uint32_t thread, FILE *out)
{
	size_t n;
	const struct vfd_counter *all = vfd_counters(f, &n);
	char buf[32];

	for (uint32_t i = 0; i < e->counts->n; i++) {
		const struct vfd_counter *c = &all[e->counts->counters[i]];

		if (c->kind == VFD_COUNTER_SUM)
			continue;
		fprintf(out, "%16.6f counter %s ", (double)e->time / 1e9,
			vfd_value_text(c->kind, e->counts->values[i], buf));
		put_plain(c->name ? c->name : "?", out);
		if (thread)
			fprintf(out, " thread=%u", thread);
		putc('\n', out);
	}
}

/* of: the operation that it is of, or NULL. */
static void details(
	struct vfd_file *f, const struct vfd_message *m, const struct vfd_message *of, FILE *out)
{
	const struct vfd_mpitype *type = vfd_mpitype(m->type);
	const double seconds = (double)(m->end - m->start) / 1e9;
	const struct vfd_comm *comm = of && of->kind == VFD_RMA ? NULL : vfd_comm(f, m->comm);

	fprintf(out, "%16s count=%" PRIu64 " type=%s(%uBytes) rate= %8.4f MiB/s peer=%d tag=%d", "",
		m->bytes / type->bytes, type->name, type->bytes,
		seconds > 0 ? (double)m->bytes / seconds / 1048576 : 0.0, (int)m->peer, m->tag);
	if (comm && comm->name) {
		fputs(" comm=", out);
		put_plain(comm->name, out);
	}
	if (!of)
		fprintf(out, " ticket=%" PRIu64, m->ticket);
	else if (of->kind == VFD_COLLECTIVE)
		fprintf(out, " instance=%" PRIu64, of->ticket);
	if (m->kind == VFD_RECEIVE && !of) {
		fprintf(out, " match=%s", vfd_match_names[m->match]);
		if (m->match != VFD_MATCH_NONE)
			fprintf(out, " sent=%" PRIu64, m->sender_ticket);
		if (m->sender_thread != VFD_NONE)
			fprintf(out, " sender=%u", m->sender_thread);
	}
	if (m->flags & VFD_MESSAGE_CANCELLED)
		fputs(" cancelled", out);
	putc('\n', out);
}

static void other_details(struct vfd_file *f, const struct vfd_message *m, FILE *out)
{
	const struct vfd_object *file = NULL;

	fprintf(out, "%16s %s", "",
		m->kind != VFD_FILE && m->function < vftr_mpi_n ? vftr_mpi_names[m->function]
		: m->flags & VFD_MESSAGE_WRITE			? "write"
								: "read");
	if (m->kind == VFD_FILE)
		file = vfd_object(f, WIRE_OBJECT_FILE, m->comm);
	if (m->kind != VFD_FILE && m->peer != VFD_NONE)
		fprintf(out, " %s=%u", m->kind == VFD_COLLECTIVE ? "root" : "peer", m->peer);
	if (m->kind == VFD_EPOCH)
		fprintf(out, " epoch=%" PRIu64, m->ticket);
	else
		fprintf(out, " sent=%" PRIu64 " received=%" PRIu64, m->bytes, m->bytes_received);
	if (m->kind == VFD_COLLECTIVE)
		fprintf(out, " instance=%" PRIu64, m->ticket);
	if (file && file->name) {
		fputs(" file=", out);
		put_plain(file->name, out);
	}
	putc('\n', out);
}

static void print_message(struct vfd_file *f, const struct vfd_message *m,
	const struct vfd_message *of, struct vfd_paths *paths, uint32_t thread, FILE *out)
{
	const char *word = vfd_message_names[m->kind];

	fprintf(out, "%16.6f %s in stackID %u from threadID %u\n", (double)m->start / 1e9, word,
		vfd_paths_find(paths, m->track, m->stack), thread);
	if (m->kind == VFD_SEND || m->kind == VFD_RECEIVE)
		details(f, m, of, out);
	else
		other_details(f, m, out);
	fprintf(out, "%16.6f %s end\n", (double)m->end / 1e9, word);
}

static void messages(struct vfd_file *f, const struct vfd_message *m, bool peers,
	struct vfd_paths *paths, uint32_t thread, FILE *out)
{
	const struct vfd_message *of = m;
	struct vfd_expansion x;

	if (!peers || !vfd_expands(m)) {
		print_message(f, m, NULL, paths, thread, out);
		return;
	}
	vfd_expand(&x, f, of);
	while (!ferror(out) && (m = vfd_expand_next(&x)))
		print_message(f, m, of, paths, thread, out);
}

static void print_launch(
	const struct vfd_event *e, struct vfd_paths *paths, uint32_t thread, FILE *out)
{
	fprintf(out, "%16.6f %s %" PRIu64 " in stackID %u from threadID %u %s",
		(double)e->time / 1e9, vfd_event_names[e->kind], e->launch->id,
		vfd_paths_find(paths, e->track, e->stack), thread,
		vfd_launch_names[e->launch->kind]);
	if (e->launch->bytes)
		fprintf(out, " bytes=%" PRIu64, e->launch->bytes);
	putc('\n', out);
}

static void samples(struct vfd_file *f, const struct vfd_dump *d, const struct vfd_process *p,
	struct vfd_paths *paths, FILE *out)
{
	struct vfd_filter filter = {.track = VFD_NONE,
		.raw = true,
		.process_set = true,
		.process = p->number,
		.from_set = d->span.from_set,
		.to_set = d->span.to_set,
		.from = d->span.from,
		.to = d->span.to};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	struct vfd_latest *latest = vfd_latest_new(f);
	struct vfd_event e;
	size_t n;
	const struct vfd_thread *threads = vfd_threads(f, &n);

	fprintf(out, "\nStack and message samples:\n");
	while (vfd_next(c, &e) && !ferror(out)) {
		const uint32_t thread = threads[e.track].number;

		if (e.kind == VFD_COUNTERS)
			vfd_latest_note(latest, &e);
		if (e.kind == VFD_LAUNCH || e.kind == VFD_STARTED)
			print_launch(&e, paths, thread, out);
		else if (e.kind == VFD_COUNTERS)
			print_counters(f, &e, thread, out);
		else if (e.kind == VFD_MESSAGE)
			messages(f, e.message, d->peers, paths, thread, out);
		else
			calls(latest, &e, paths, thread, out);
	}
	vfd_latest_free(latest);
	vfd_cursor_free(c);
}

static void process(
	struct vfd_file *f, const struct vfd_dump *d, const struct vfd_process *p, FILE *out)
{
	struct vfd_paths *paths = vfd_paths_new(f, p->number);

	if (p->rank >= 0)
		fprintf(out, "\nProcess:         rank %d of %u, pid %d", p->rank, p->size, p->pid);
	else
		fprintf(out, "\nProcess:         pid %d", p->pid);
	fputs(p->executable ? ", " : "", out);
	put_plain(p->executable ? p->executable : "", out);
	putc('\n', out);
	fprintf(out, "Threads:         %zu\n", threads_of(f, p));
	fprintf(out, "Unique stacks:   %zu\n", vfd_paths_count(paths));
	tree(f, p, out);
	fprintf(out, "\nStacks list:\n");
	for (uint32_t i = 0; i < vfd_paths_count(paths); i++)
		fprintf(out, "   %u: %s\n", i, vfd_paths_text(paths, i));
	if (!d->brief)
		samples(f, d, p, paths, out);
	vfd_paths_free(paths);
}

static bool has_unit(const char *unit)
{
	return unit && *unit;
}

static void print_unit(const char *unit, FILE *out)
{
	if (has_unit(unit))
		fprintf(out, " [%s]", unit);
}

static void print_counter_name(const struct vfd_counter *c, FILE *out)
{
	fputs("   ", out);
	put_plain(c->name ? c->name : "?", out);
	if (c->symbol)
		fprintf(out, " -> %s", c->symbol);
	print_unit(c->unit, out);
	fprintf(out, "%s\n", c->source || c->kind != VFD_COUNTER_SUM ? "" : " (not counted)");
}

static void print_observable(const struct vfd_observable *o, FILE *out)
{
	fprintf(out, "   %s: %s", o->name ? o->name : "?", o->formula ? o->formula : "?");
	print_unit(o->unit, out);
	fprintf(out, "\n");
}

static void print_names(struct vfd_file *f, FILE *out)
{
	size_t n, n_observables;
	const struct vfd_counter *c = vfd_counters(f, &n);
	const struct vfd_observable *o = vfd_observables(f, &n_observables);

	if (n)
		fprintf(out, "\nCounters:\n");
	for (size_t i = 0; i < n; i++)
		if (c[i].number)
			print_counter_name(&c[i], out);
	if (n_observables)
		fprintf(out, "\nObservables:\n");
	for (size_t i = 0; i < n_observables; i++)
		if (o[i].number)
			print_observable(&o[i], out);
}

void vfd_dump_text(struct vfd_file *f, const struct vfd_dump *d, FILE *out)
{
	size_t n;
	const struct vfd_process *p = vfd_processes(f, &n);

	header(f, d->peers, out);
	damage(f, out);
	for (size_t i = 0; i < n; i++)
		if (vfd_dump_wants(d, &p[i]))
			process(f, d, &p[i], out);
	print_names(f, out);
}
