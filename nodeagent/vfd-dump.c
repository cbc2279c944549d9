/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sampling file as text. A process with several threads has one list of call
 * paths; lines of threads other than the first end in "thread=N".
 */
#include "nodeagent/vfd-dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/vfd-mpitype.h"
#include "nodeagent/vfd-paths.h"

#define THREADS_DEEP 64 /* indentation of the tree */

const char *const vfd_event_names[VFD_EVENT_KINDS] = {
	"call", "exit", "message", "gap", "thinning", "thinned", "lost"};
const char *const vfd_match_names[VFD_MATCHES] = {
	"none", "exact", "ambiguous", "assumed", "broken", "guess"};
const char *const vfd_message_names[VFD_FILE + 1] = {"send", "recv", "collective", "rma", "file"};

bool vfd_dump_wants(const struct vfd_dump *d, const struct vfd_process *p)
{
	if (p->number == VFD_NONE)
		return false;
	return !d->ranks || (p->rank >= 0 && rank_list_has(d->ranks, (unsigned)p->rank));
}

size_t vfd_dump_threads(const struct vfd_file *f, const struct vfd_process *p)
{
	size_t n, mine = 0;
	const struct vfd_thread *t = vfd_threads(f, &n);

	for (size_t i = 0; i < n; i++)
		mine += t[i].lane != VFD_NONE && t[i].process == p->number;
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

static void header(struct vfd_file *f, FILE *out)
{
	const struct vfd_facts *facts = vfd_facts(f);
	size_t n, damaged, defined = 0, threads = 0, ranks = 0;
	const struct vfd_process *p = vfd_processes(f, &n);
	uint32_t size = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i].number == VFD_NONE)
			continue;
		defined++;
		ranks += p[i].rank >= 0;
		if (p[i].rank >= 0 && p[i].size > size)
			size = p[i].size;
		threads += vfd_dump_threads(f, &p[i]);
	}
	vfd_damage(f, &damaged);
	fprintf(out, "%-17s%s\n", "Version ID:", facts->writer ? facts->writer : "?");
	fprintf(out, "%-17s%s\n", "Application:", facts->application ? facts->application : "?");
	fprintf(out, "%-17s%s\n", "Host:", facts->host ? facts->host : "?");
	date(out, "Start Date:", facts->start_unix_ns);
	date(out, "End Date:", facts->start_unix_ns + facts->end - facts->start);
	fprintf(out, "%-17s%zu", "Processes:", defined);
	if (size)
		fprintf(out, ", ranks: %zu of %u", ranks, size);
	fprintf(out, "\n%-17s%zu\n", "Threads:", threads);
	fprintf(out, "%-17s%e seconds\n", "Sample interval:", (double)facts->interval_ns / 1e9);
	fprintf(out, "%-17s%.3f seconds\n", "Job runtime:", (double)facts->end / 1e9);
	fprintf(out, "%-17s%" PRIu64 "\n", "Samples:", facts->samples + facts->messages);
	fprintf(out, "%-17s%" PRIu64 "\n", "   Function:", facts->samples);
	fprintf(out, "%-17s%" PRIu64 "\n", "   Messages:", facts->messages);
	fprintf(out, "%-17s%" PRIu64 " bytes in %" PRIu64 " blocks\n", "Size:", facts->bytes,
		facts->blocks);
	if (facts->synchronised)
		fprintf(out, "%-17sone for all nodes, within %.3f us\n",
			"Clock:", (double)facts->clock_error_ns / 1e3);
	else
		fprintf(out, "%-17sof this node\n", "Clock:");
	if (facts->lost_calls)
		fprintf(out, "%-17s%" PRIu64 "\n", "Lost calls:", facts->lost_calls);
	if (facts->thinned)
		fprintf(out, "%-17s%" PRIu64 " calls left out to stay below %" PRIu64 " bytes\n",
			"Thinned:", facts->thinned_calls, facts->max_size);
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
		if (t[i].lane == VFD_NONE || t[i].process != p->number)
			continue;
		if (t[i].creator != VFD_NONE)
			fprintf(out, "%u<", t[i].creator);
		fprintf(out, "%u", t[i].number);
		if (t[i].name)
			fprintf(out, " %s", t[i].name);
		if (t[i].openmp)
			fprintf(out, " (OpenMP level %u, thread %u)", t[i].openmp_level,
				t[i].openmp_number);
		putc('\n', out);
	}
}

static void calls(struct vfd_file *f, const struct vfd_event *e, struct vfd_paths *paths,
	uint32_t thread, FILE *out)
{
	fprintf(out, "%16.6f %s %s", (double)e->time / 1e9, vfd_event_names[e->kind],
		vfd_paths_text(paths, vfd_paths_find(paths, e->lane, e->stack)));
	if (e->kind == VFD_THINNING)
		fprintf(out, " below=%.6fs depth=%u", (double)e->count / 1e9, e->depth);
	else if (e->kind == VFD_THINNED || e->kind == VFD_LOST)
		fprintf(out, " calls=%" PRIu64, e->count);
	if (thread)
		fprintf(out, " thread=%u", thread);
	putc('\n', out);
}

static void details(struct vfd_file *f, const struct vfd_message *m, FILE *out)
{
	const struct vfd_mpitype *type = vfd_mpitype(m->type);
	const double seconds = (double)(m->end - m->start) / 1e9;
	const struct vfd_comm *comm = vfd_comm(f, m->comm);

	fprintf(out, "%16s count=%" PRIu64 " type=%s(%uBytes) rate= %8.4f MiB/s peer=%d tag=%d", "",
		m->bytes / type->bytes, type->name, type->bytes,
		seconds > 0 ? (double)m->bytes / seconds / 1048576 : 0.0, (int)m->peer, m->tag);
	if (comm && comm->name)
		fprintf(out, " comm=%s", comm->name);
	fprintf(out, " ticket=%" PRIu64, m->ticket);
	if (m->kind == VFD_RECEIVE) {
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
		fprintf(out, " %s=%u", m->kind == VFD_RMA ? "peer" : "root", m->peer);
	fprintf(out, " sent=%" PRIu64 " received=%" PRIu64, m->bytes, m->bytes_received);
	if (m->kind == VFD_COLLECTIVE)
		fprintf(out, " instance=%" PRIu64, m->ticket);
	if (file && file->name)
		fprintf(out, " file=%s", file->name);
	putc('\n', out);
}

static void message(struct vfd_file *f, const struct vfd_event *e, struct vfd_paths *paths,
	uint32_t thread, FILE *out)
{
	const struct vfd_message *m = e->message;
	const char *word = vfd_message_names[m->kind];

	fprintf(out, "%16.6f %s in stackID %u from threadID %u\n", (double)m->start / 1e9, word,
		vfd_paths_find(paths, m->lane, m->stack), thread);
	if (m->kind == VFD_SEND || m->kind == VFD_RECEIVE)
		details(f, m, out);
	else
		other_details(f, m, out);
	fprintf(out, "%16.6f %s end\n", (double)m->end / 1e9, word);
}

static void samples(struct vfd_file *f, const struct vfd_dump *d, const struct vfd_process *p,
	struct vfd_paths *paths, FILE *out)
{
	struct vfd_filter filter = {.lane = VFD_NONE,
		.raw = true,
		.process_set = true,
		.process = p->number,
		.from_set = d->from_set,
		.to_set = d->to_set,
		.from = d->from,
		.to = d->to};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	struct vfd_event e;
	size_t n;
	const struct vfd_thread *threads = vfd_threads(f, &n);

	fprintf(out, "\nStack and message samples:\n");
	while (vfd_next(c, &e) && !ferror(out)) {
		if (e.kind == VFD_MESSAGE)
			message(f, &e, paths, threads[e.lane].number, out);
		else
			calls(f, &e, paths, threads[e.lane].number, out);
	}
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
	fprintf(out, "%s%s\n", p->executable ? ", " : "", p->executable ? p->executable : "");
	fprintf(out, "Threads:         %zu\n", vfd_dump_threads(f, p));
	fprintf(out, "Unique stacks:   %zu\n", vfd_paths_count(paths));
	tree(f, p, out);
	fprintf(out, "\nStacks list:\n");
	for (uint32_t i = 0; i < vfd_paths_count(paths); i++)
		fprintf(out, "   %u: %s\n", i, vfd_paths_text(paths, i));
	if (!d->brief)
		samples(f, d, p, paths, out);
	vfd_paths_free(paths);
}

void vfd_dump_text(struct vfd_file *f, const struct vfd_dump *d, FILE *out)
{
	size_t n;
	const struct vfd_process *p = vfd_processes(f, &n);

	header(f, out);
	damage(f, out);
	for (size_t i = 0; i < n; i++)
		if (vfd_dump_wants(d, &p[i]))
			process(f, d, &p[i], out);
}
