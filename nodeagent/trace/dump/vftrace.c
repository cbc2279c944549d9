/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout is that of a C program which writes its variables one by one, in
 * host byte order and without gaps. Counts stand before what they count, so the
 * header is written twice. What the format can't hold (threads of calls, gaps,
 * more than 2^31 of anything) is left out or cut.
 */
#include "nodeagent/trace/dump/vftrace.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/collectives.h"
#include "nodeagent/trace/read/latest.h"
#include "nodeagent/trace/read/paths.h"

#define CLASSIC_PACKAGE "Vftrace 2.0.0"

enum classic_kind { CLASSIC_ENTRY, CLASSIC_EXIT, CLASSIC_MESSAGE };

struct header {
	char dates[2][26];
#define INTEGER(name) int64_t name;
#define DOUBLE(name)  double name;
	CLASSIC_NUMBERS(INTEGER, INTEGER, INTEGER, DOUBLE)
};

struct out {
	FILE *f;
	struct vfd_file *file;
	const struct vfd_process *process;
	struct vfd_paths *paths;
	struct vfd_latest *latest;
	struct header h;
};

static void put_int(FILE *f, int64_t value)
{
	int x = value > INT32_MAX ? INT32_MAX : (int)value;

	fwrite(&x, sizeof(x), 1, f);
}

static void put_long(FILE *f, int64_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put_text(FILE *f, const char *text)
{
	put_int(f, (int64_t)strlen(text) + 1);
	fwrite(text, strlen(text) + 1, 1, f);
}

static void put_header(FILE *f, const struct header *h)
{
	put_int(f, CLASSIC_VERSION);
	put_text(f, CLASSIC_PACKAGE);
	put_int(f, (int64_t)strlen(h->dates[0]) + 1);
	fwrite(h->dates[0], strlen(h->dates[0]) + 1, 1, f);
	fwrite(h->dates[1], strlen(h->dates[0]) + 1, 1, f);
#define PUT_LONG(name)	 put_long(f, h->name);
#define PUT_INT(name)	 put_int(f, h->name);
#define PUT_DOUBLE(name) fwrite(&h->name, sizeof(h->name), 1, f);
	CLASSIC_NUMBERS(PUT_LONG, PUT_INT, PUT_INT, PUT_DOUBLE)
}

static void set_date(char *to, int64_t unix_ns)
{
	time_t t = (time_t)(unix_ns / 1000000000);
	struct tm tm;

	/* as ctime(), without its newline; years have 4 digits in a sane file */
	if (!localtime_r(&t, &tm) || tm.tm_year < -900 || tm.tm_year > 8099)
		memset(&tm, 0, sizeof(tm)), tm.tm_mday = 1;
	strftime(to, 26, "%a %b %e %H:%M:%S %Y", &tm);
}

static int64_t since_zero(int64_t time)
{
	return time < 0 ? 0 : time;
}

static void put_call(
	struct out *o, enum classic_kind kind, uint32_t path, int64_t time, const uint64_t *values)
{
	put_int(o->f, kind);
	put_int(o->f, path);
	put_long(o->f, since_zero(time));
	for (int64_t i = 0; i < o->h.counters; i++)
		put_long(o->f, (int64_t)values[i]);
	o->h.functions++;
}

static void put_message(struct out *o, const struct vfd_message *m)
{
	const struct vfd_mpitype *type = vfd_mpitype(m->type);
	size_t n;

	put_int(o->f, CLASSIC_MESSAGE);
	put_int(o->f, m->kind == VFD_SEND ? 0 : 1);
	put_int(o->f, (int32_t)m->peer);
	put_int(o->f, type->classic);
	put_int(o->f,
		(int64_t)(m->bytes / type->bytes > INT32_MAX ? INT32_MAX : m->bytes / type->bytes));
	put_int(o->f, type->bytes);
	put_int(o->f, m->tag);
	put_long(o->f, since_zero(m->start));
	put_long(o->f, since_zero(m->end));
	put_int(o->f, vfd_paths_find(o->paths, m->track, m->stack));
	put_int(o->f, vfd_threads(o->file, &n)[m->track].number);
	o->h.messages++;
}

/* Those without another end are not there. Nothing has a number above 32 bits. */
static void put_messages(struct out *o, const struct vfd_message *m)
{
	struct vfd_expansion x;

	if (m->kind == VFD_FILE || m->kind == VFD_EPOCH || m->flags & VFD_MESSAGE_CANCELLED ||
		(m->kind != VFD_COLLECTIVE && m->peer == VFD_NONE))
		return;
	vfd_expand(&x, o->file, m);
	while (o->h.messages < UINT32_MAX && (m = vfd_expand_next(&x)))
		put_message(o, m);
}

static void put_event(struct out *o, const struct vfd_event *e)
{
	switch (e->kind) {
	case VFD_ENTER:
	case VFD_EXIT:
		if (e->stack)
			put_call(o, e->kind == VFD_ENTER ? CLASSIC_ENTRY : CLASSIC_EXIT,
				vfd_paths_find(o->paths, e->track, e->stack), e->time,
				vfd_latest_values(o->latest, e->track));
		break;
	case VFD_COUNTERS:
		vfd_latest_note(o->latest, e);
		break;
	case VFD_MESSAGE:
		put_messages(o, e->message);
		break;
	default:
		break;
	}
}

/* Its calls end when init does. */
static uint32_t first_track(const struct out *o)
{
	size_t n;
	const struct vfd_thread *t = vfd_threads(o->file, &n);
	uint32_t track = 0;

	for (size_t i = 0; i < n; i++)
		if (t[i].track != VFD_NONE && t[i].process == o->process->number && !t[i].number)
			track = (uint32_t)i;
	return track;
}

static void put_samples(struct out *o)
{
	struct vfd_filter filter = {
		.track = VFD_NONE, .raw = true, .process_set = true, .process = o->process->number};
	struct vfd_cursor *c = vfd_cursor_new(&o->file, 1, &filter);
	struct vfd_event e;
	size_t n;

	while (vfd_next(c, &e))
		if (vfd_threads(o->file, &n)[e.track].number < VFD_THREAD_STREAM)
			put_event(o, &e);
	vfd_cursor_free(c);
	put_call(o, CLASSIC_EXIT, 0, o->process->end, vfd_latest_values(o->latest, first_track(o)));
}

static void put_stacks(struct out *o)
{
	const size_t n = vfd_paths_count(o->paths);

	o->h.stacks = (uint32_t)n;
	for (uint32_t i = 0; i < n; i++) {
		put_int(o->f, i ? (int64_t)vfd_paths_caller(o->paths, i) : -1);
		put_text(o->f, vfd_paths_name(o->paths, i));
	}
}

ORDER_POINTERS_BY(by_number, struct vfd_thread, RISING(number))

/* Threads are numbered anew where numbers are missing; creators go along. */
static void put_threads(struct out *o)
{
	size_t n, mine = 0;
	const struct vfd_thread *all = vfd_threads(o->file, &n);
	const struct vfd_thread **threads = xcalloc(n + 1, sizeof(*threads));

	for (size_t i = 0; i < n; i++)
		if (all[i].track != VFD_NONE && all[i].process == o->process->number &&
			all[i].number < VFD_THREAD_STREAM)
			threads[mine++] = &all[i];
	qsort(threads, mine, sizeof(*threads), by_number);
	for (size_t i = 0; i < mine; i++) {
		struct vfd_thread creator = {.number = threads[i]->creator};
		const struct vfd_thread *key = &creator;
		const struct vfd_thread **found =
			bsearch(&key, threads, i, sizeof(*threads), by_number);

		put_int(o->f, found ? found - threads : i ? 0 : -1);
	}
	o->h.threads = (int64_t)mine;
	free(threads);
}

static void put_counters(struct out *o)
{
	size_t n, n_all, n_observables;
	const uint32_t *sums = vfd_latest_counters(o->latest, &n);
	const struct vfd_counter *all = vfd_counters(o->file, &n_all);
	const struct vfd_observable *observables = vfd_observables(o->file, &n_observables);

	for (size_t i = 0; i < n; i++) {
		put_text(o->f, all[sums[i]].name ? all[sums[i]].name : "");
		put_text(o->f, all[sums[i]].symbol ? all[sums[i]].symbol : "");
	}
	EACH(const struct vfd_observable, b, observables, n_observables) {
		if (!b->number)
			continue;
		put_text(o->f, b->name ? b->name : "");
		put_text(o->f, b->formula ? b->formula : "");
		if (b->unit && *b->unit)
			put_text(o->f, b->unit);
		else
			put_int(o->f, 0);
	}
}

static void count_counters(struct out *o)
{
	size_t n, n_sums;
	const struct vfd_observable *observables = vfd_observables(o->file, &n);

	for (size_t i = 0; i < n; i++)
		o->h.observables += observables[i].number > 0;
	vfd_latest_counters(o->latest, &n_sums);
	o->h.counters = (int64_t)n_sums;
}

static void put_all(struct out *o)
{
	const struct vfd_facts *facts = vfd_facts(o->file);

	set_date(o->h.dates[0], facts->job_unix_ns);
	set_date(o->h.dates[1], facts->job_unix_ns + since_zero(o->process->end));
	o->h.interval_ns = facts->interval_ns;
	o->h.processes = o->process->size ? (int)o->process->size : 1;
	o->h.rank = o->process->rank < 0 ? 0 : o->process->rank;
	o->h.runtime = (double)since_zero(o->process->end) / 1e9;
	count_counters(o);
	put_header(o->f, &o->h);
	o->h.samples_at = ftell(o->f);
	put_samples(o);
	o->h.stacks_at = ftell(o->f);
	put_stacks(o);
	o->h.threads_at = ftell(o->f);
	put_threads(o);
	o->h.hardware_at = ftell(o->f);
	put_counters(o);
	rewind(o->f);
	put_header(o->f, &o->h);
}

bool vfd_classic_write(struct vfd_file *f, uint32_t process, const char *path, char **error)
{
	struct out o = {.file = f};
	size_t n;
	struct writing *tmp;
	int rc;

	*error = NULL;
	o.process = vfd_processes(f, &n) + process;
	if (process >= n || o.process->number == VFD_NONE) {
		*error = xasprintf("%s: it has no process %u", vfd_facts(f)->path, process);
		return false;
	}
	rc = write_begin(&o.f, &tmp, path);
	if (!rc) {
		o.paths = vfd_paths_new(f, process);
		o.latest = vfd_latest_new(f);
		put_all(&o);
		vfd_latest_free(o.latest);
		vfd_paths_free(o.paths);
		rc = write_end(o.f, tmp);
	}
	if (rc)
		*error = xasprintf("%s: %s", path, strerror(-rc));
	return !rc;
}

char *vfd_classic_path(const char *dir, const char *base, int rank, uint32_t ranks)
{
	int digits = 1;

	for (uint32_t n = ranks; n >= 10; n /= 10)
		digits++;
	return xasprintf("%s/%s_%0*d.vfd", dir, base, digits, rank < 0 ? 0 : rank);
}
