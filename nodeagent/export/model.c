/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who and what stands in the files, under numbers that hold for all of them:
 * processes, threads, regions and communicators.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/export/export.h"
#include "nodeagent/base/hash.h"
#include "conf/utf8.h"
#include "nodeagent/base/util.h"

/* ---- processes and threads -------------------------------------------------------- */

static bool is_wanted(const struct exporter *x, int32_t shown)
{
	const char *ranks = x->options->ranks;

	return !ranks || (shown >= 0 && rank_list_has(ranks, (unsigned)shown));
}

static uint32_t host_number(struct exporter *x, const char *host)
{
	for (size_t i = 0; i < x->n_hosts; i++)
		if (!strcmp(x->hosts[i], host))
			return (uint32_t)i;
	x->hosts = grow(x->hosts, x->n_hosts, &x->cap_hosts, sizeof(*x->hosts));
	x->hosts[x->n_hosts] = host;
	return (uint32_t)x->n_hosts++;
}

static char *process_name(const struct vfd_process *p, int32_t shown, const char *host)
{
	const char *program = p->executable ? basename(p->executable) : "";
	const char *blank = *program ? " " : "";

	if (shown >= 0)
		return xasprintf("rank %d (%s, pid %d)%s%s", shown, host, p->pid, blank, program);
	return xasprintf("pid %d (%s)%s%s", p->pid, host, blank, program);
}

static struct export_process *add_process(struct exporter *x, uint32_t file, const char *host)
{
	struct export_process *p;

	p = LIST_ADD(x, processes);
	*p = (struct export_process){.file = file,
		.number = VFD_NONE,
		.rank = -1,
		.shown = -1,
		.host = host,
		.node = host_number(x, host)};
	return p;
}

/* Its process, or it, was defined in what is damaged. */
static bool is_lost(
	const struct exporter *x, uint32_t file, const struct vfd_thread *t, size_t track)
{
	size_t n;
	const struct vfd_process *all = vfd_processes(x->files[file], &n);
	const struct vfd_stack *stacks;

	if (t->track != VFD_NONE)
		return t->process >= n || all[t->process].number == VFD_NONE;
	/* not every number is that of a thread */
	stacks = vfd_stacks(x->files[file], (uint32_t)track, &n);
	for (size_t i = 1; i < n; i++)
		if (stacks[i].function != VFD_NONE)
			return true;
	return false;
}

static void add_processes(struct exporter *x, uint32_t file)
{
	const char *host = vfd_facts(x->files[file])->host;
	size_t n, n_threads;
	const struct vfd_process *all = vfd_processes(x->files[file], &n);
	const struct vfd_thread *threads = vfd_threads(x->files[file], &n_threads);

	if (!host)
		host = "?";
	for (size_t i = 0; i < n; i++) {
		const int32_t shown = vfd_rank_number(x->files[file], (uint32_t)i);
		struct export_process *p;

		if (all[i].number == VFD_NONE || !is_wanted(x, shown))
			continue;
		p = add_process(x, file, host);
		p->number = (uint32_t)i;
		p->rank = all[i].rank;
		p->job = all[i].job;
		p->shown = shown;
		p->name = process_name(&all[i], shown, host);
	}
	for (size_t i = 0; i < n_threads && is_wanted(x, -1); i++) {
		if (is_lost(x, file, &threads[i], i)) {
			add_process(x, file, host)->name = xasprintf("(lost) (%s)", host);
			break;
		}
	}
}

ORDER_BY(by_rank, struct export_process,
	ORDER(x->rank < 0, y->rank < 0) ?: (x->rank < 0 ? 0 : RISING(job)) ?: RISING(rank) ?: RISING(file) ?:
	RISING(number))

static char *thread_name(const struct vfd_thread *t)
{
	if (t->track == VFD_NONE)
		return xstrdup("(lost)");
	if (t->number >= VFD_THREAD_STREAM && t->name)
		return xstrdup(t->name);
	if (t->name && *t->name)
		return xasprintf("thread %u %s", t->number, t->name);
	if (t->openmp && t->number)
		return xasprintf("thread %u OpenMP %u", t->number, t->openmp_number);
	return xasprintf("thread %u", t->number);
}

static bool belongs(const struct exporter *x, const struct export_process *p,
	const struct vfd_thread *t, size_t track)
{
	if (p->number == VFD_NONE)
		return is_lost(x, p->file, t, track);
	return t->track != VFD_NONE && t->process == p->number;
}

ORDER_BY(by_number, struct export_thread, RISING(process) ?: RISING(number) ?: RISING(track))

static void add_threads(struct exporter *x, uint32_t file, size_t *cap)
{
	const int64_t end = vfd_facts(x->files[file])->end;
	size_t n;
	const struct vfd_thread *all = vfd_threads(x->files[file], &n);

	for (size_t k = 0; k < x->n_processes; k++) {
		if (x->processes[k].file != file)
			continue;
		for (size_t i = 0; i < n; i++) {
			struct export_thread *t;

			if (!belongs(x, &x->processes[k], &all[i], i))
				continue;
			t = APPEND(x->threads, x->n_threads, *cap);
			*t = (struct export_thread){.file = file,
				.track = (uint32_t)i,
				.process = (uint32_t)k,
				.number = all[i].track == VFD_NONE ? (uint32_t)i : all[i].number,
				.name = thread_name(&all[i])};
			t->start = export_time(x, all[i].track == VFD_NONE ? 0 : all[i].start);
			t->end = export_time(x, all[i].end > all[i].start ? all[i].end : end);
		}
	}
}

/* A process without a thread did nothing that is here. */
static void drop_empty_processes(struct exporter *x)
{
	size_t n = 0, t = 0;

	for (size_t k = 0; k < x->n_processes; k++) {
		const size_t first = t;

		for (; t < x->n_threads && x->threads[t].process == k; t++)
			x->threads[t].process = (uint32_t)n;
		if (t == first)
			free(x->processes[k].name);
		else
			x->processes[n++] = x->processes[k];
	}
	x->n_processes = n;
}

static void number_threads(struct exporter *x)
{
	uint32_t id = 1;
	size_t t = 0;

	if (x->n_threads)
		qsort(x->threads, x->n_threads, sizeof(*x->threads), by_number);
	drop_empty_processes(x);
	for (size_t k = 0; k < x->n_processes; k++) {
		struct export_process *p = &x->processes[k];

		p->first_thread = (uint32_t)t;
		p->id = id++;
		for (; t < x->n_threads && x->threads[t].process == k; t++) {
			x->threads[t].id = p->threads++ ? id++ : p->id;
			x->thread_of[x->threads[t].file][x->threads[t].track] = (uint32_t)t;
		}
	}
}

/* ---- regions ---------------------------------------------------------------------- */

char *export_cleaned(const char *name)
{
	char *to = xmalloc(strlen(name) * 3 + 1), *end = to;
	bool bad = false;

	while (*name) {
		uint32_t code;
		const size_t n = utf8_length(name, &code);

		end = mempcpy(end, n ? name : "\xef\xbf\xbd", n ? n : 3);
		name += n ? n : 1;
		bad |= !n;
	}
	*end = '\0';
	if (bad)
		return to;
	free(to);
	return NULL;
}

static uint32_t region_number(
	struct exporter *x, const char *name, const char *module, enum vfd_function_kind kind)
{
	char *text = xasprintf("%d%c%s%c%s", (int)kind, 1, module ? module : "", 1, name);
	uint64_t hash = stack_hash(text, strlen(text) + 1);
	const uint32_t *found = map64_find(&x->region_hash, hash);
	char *clean;

	free(text);
	if (found)
		return *found;
	map64_add(&x->region_hash, hash, (uint32_t)x->n_regions);
	x->regions = grow(x->regions, x->n_regions, &x->cap_regions, sizeof(*x->regions));
	clean = export_cleaned(name);
	x->regions[x->n_regions] = (struct export_region){
		.name = clean ? clean : name, .module = module, .cleaned = clean, .kind = kind};
	return (uint32_t)x->n_regions++;
}

/* Something may refer to a function or call path that is not in this file. */
static bool loses_in(struct vfd_file *f)
{
	size_t n, n_threads, n_functions, n_stacks;
	const struct vfd_function *functions = vfd_functions(f, &n_functions);

	vfd_damage(f, &n);
	vfd_threads(f, &n_threads);
	for (uint32_t t = 0; !n && t < n_threads; t++) {
		const struct vfd_stack *s = vfd_stacks(f, t, &n_stacks);

		/* the last one stands for those that are not there */
		for (size_t i = 1; i + 1 < n_stacks; i++)
			if (s[i].function >= n_functions ||
				functions[s[i].function].number == VFD_NONE)
				return true;
	}
	return n;
}

static bool loses(const struct exporter *x)
{
	return ANY(i, x->n_files, loses_in(x->files[i]));
}

static void add_regions(struct exporter *x, uint32_t file)
{
	struct vfd_file *f = x->files[file];
	size_t n;
	const struct vfd_function *all = vfd_functions(f, &n);

	x->region_of[file] = xcalloc(n, sizeof(uint32_t));
	for (size_t i = 0; i < n; i++) {
		const uint32_t index = all[i].index;
		uint32_t number = x->region_lost;

		if (all[i].number != VFD_NONE)
			number = region_number(
				x, vfd_function_name(f, (uint32_t)i), all[i].module, all[i].kind);
		x->region_of[file][i] = number;
		if (all[i].number != VFD_NONE)
			export_find_source(&x->regions[number], &all[i]);
		if (all[i].kind == VFD_FUNCTION_OPENMP && index < CONSTRUCT_KINDS)
			x->regions[number].construct = index;
		if (x->regions[number].kind != VFD_FUNCTION_MPI || index >= vftr_mpi_n)
			continue;
		x->regions[number].mpi = index;
		x->regions[number].family = vftr_mpi_families[index];
	}
}

uint32_t export_region_of(const struct exporter *x, uint32_t file, uint32_t track, uint32_t stack)
{
	size_t n, n_functions;
	const struct vfd_stack *stacks = vfd_stacks(x->files[file], track, &n);

	if (!stack)
		return x->region_init;
	vfd_functions(x->files[file], &n_functions);
	if (stack >= n || stacks[stack].function >= n_functions)
		return x->region_lost;
	return x->region_of[file][stacks[stack].function];
}

uint32_t export_caller(
	const struct exporter *x, const struct export_thread *t, uint32_t stack, uint32_t *region)
{
	size_t n;
	const struct vfd_stack *stacks = vfd_stacks(x->files[t->file], t->track, &n);

	if (!stack || stack >= n || !stacks[stack].caller || stacks[stack].caller >= n)
		return VFD_NONE;
	*region = export_region_of(x, t->file, t->track, stacks[stack].caller);
	return stacks[stack].caller;
}

/* ---- communicators and messages ---------------------------------------------------- */

/* MPI has names for two that nobody named. */
static const char *comm_name(const struct exporter *x, const struct export_comm *e)
{
	const struct vfd_comm *c = e->comm;

	if (e->name)
		return e->name;
	if (c->kind != WIRE_COMM_PREDEFINED || c->remote_size)
		return "communicator";
	if (c->size == (e->job < x->n_jobs ? x->jobs[e->job].size : 0))
		return "MPI_COMM_WORLD";
	return c->size == 1 ? "MPI_COMM_SELF" : "communicator";
}

static void name_comms(struct exporter *x)
{
	EACH(struct export_comm, c, x->comms, x->n_comms)
		c->name = comm_name(x, c);
}

static void add_comms(struct exporter *x, uint32_t file)
{
	size_t n;
	const struct vfd_comm *all = vfd_comms(x->files[file], &n);

	for (size_t i = 0; i < n; i++) {
		const uint32_t *known = map64_find(&x->comm_of, all[i].id);
		const char *name = all[i].name && *all[i].name ? all[i].name : NULL;

		if (all[i].number == VFD_NONE)
			continue;
		if (known) {
			if (name)
				x->comms[*known].name = name;
			continue;
		}
		map64_add(&x->comm_of, all[i].id, (uint32_t)x->n_comms);
		*LIST_ADD(x, comms) = (struct export_comm){.comm = &all[i], .name = name};
	}
}

uint32_t export_comm_number(const struct exporter *x, uint32_t file, const struct vfd_message *m)
{
	const enum wire_object_kind kind =
		m->kind == VFD_RMA ? WIRE_OBJECT_WINDOW : WIRE_OBJECT_FILE;
	const struct vfd_object *object;
	const struct vfd_comm *c;
	uint32_t number = m->comm;
	const uint32_t *found;

	if (m->kind == VFD_RMA || m->kind == VFD_FILE) {
		object = vfd_object(x->files[file], kind, m->comm);
		number = object ? object->comm : 0;
	}
	c = number ? vfd_comm(x->files[file], number) : NULL;
	found = c ? map64_find(&x->comm_of, c->id) : NULL;
	return found ? *found : EXPORT_NONE;
}

/* The place of a world rank in its group. The two groups of an intercommunicator have
 * no rank in common, and each side calls the other one's remote. */
static uint32_t rank_in(const struct vfd_comm *c, uint32_t world)
{
	const uint64_t most = (uint64_t)c->size + c->remote_size;
	uint64_t at = 0;

	for (size_t i = 0; i < c->n_runs && at < most; i++) {
		const struct wire_run *r = &c->runs[i];
		const int64_t far = (int64_t)world - r->first;
		const int64_t step = r->stride ? far / r->stride : 0;

		if (r->first >= 0 && step >= 0 && step < r->count && step * r->stride == far &&
			at + (uint64_t)step < most) {
			at += (uint64_t)step;
			return (uint32_t)(at < c->size ? at : at - c->size);
		}
		at += r->count > 0 ? (uint64_t)r->count : 0;
	}
	return VFD_NONE;
}

void export_message_of(const struct exporter *x, uint32_t file, const struct vfd_message *m,
	struct export_message *to)
{
	*to = (struct export_message){.m = *m, .peer = VFD_NONE};
	to->start = export_time(x, m->start);
	to->end = export_time(x, m->end > m->start ? m->end : m->start);
	to->comm = export_comm_number(x, file, m);
	to->region = export_region_of(x, file, m->track, m->stack);
	if (m->kind == VFD_SEND || m->kind == VFD_RECEIVE)
		to->flow = vfd_message_flow(x->files[file], m);
	if (m->peer != VFD_NONE && to->comm != EXPORT_NONE) {
		to->peer = rank_in(x->comms[to->comm].comm, m->peer);
	}
}

/* ---- all -------------------------------------------------------------------------- */

uint64_t export_time(const struct exporter *x, int64_t ns)
{
	return ns > x->origin ? (uint64_t)ns - (uint64_t)x->origin : 0;
}

const struct export_thread *export_thread_of(
	const struct exporter *x, uint32_t file, uint32_t track)
{
	size_t n;

	vfd_threads(x->files[file], &n);
	if (track >= n || x->thread_of[file][track] == EXPORT_NONE)
		return NULL;
	return &x->threads[x->thread_of[file][track]];
}

/* Of what is in the file; its agent may have waited before. */
static int64_t first_start(struct vfd_file *f)
{
	size_t n, n_threads, defined = 0;
	const struct vfd_process *p = vfd_processes(f, &n);
	const struct vfd_thread *t = vfd_threads(f, &n_threads);
	int64_t first = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i].number != VFD_NONE && p[i].start < first)
			first = p[i].start;
		defined += p[i].number != VFD_NONE;
	}
	for (size_t i = 0; i < n_threads; i++)
		if (t[i].track != VFD_NONE && t[i].start < first)
			first = t[i].start;
	return defined ? first : vfd_facts(f)->start;
}

static void find_span(struct exporter *x)
{
	int64_t end = 0;

	for (size_t i = 0; i < x->n_files; i++) {
		const struct vfd_facts *f = vfd_facts(x->files[i]);

		if (!x->start_unix_ns)
			x->start_unix_ns = f->job_unix_ns;
		/* time 0 is the job's start, unless something is even earlier */
		x->origin = MIN(x->origin, first_start(x->files[i]));
		end = MAX(end, f->end);
	}
	x->duration = export_time(x, end);
}

static void find_streams(struct exporter *x)
{
	for (size_t i = 0; i < x->n_threads; i++) {
		struct export_thread *t = &x->threads[i];
		size_t n;

		t->stream = t->number >= VFD_THREAD_STREAM;
		if (!t->stream)
			continue;
		t->region = region_number(x, t->name, NULL, VFD_FUNCTION_OTHER);
		vfd_stacks(x->files[t->file], t->track, &n);
		for (uint32_t k = 1; k + 1 < n; k++)
			x->regions[export_region_of(x, t->file, t->track, k)].on_gpu = true;
	}
}

void export_model_new(struct exporter *x)
{
	size_t cap = 0;

	find_span(x);
	vfd_number_ranks(x->files, x->n_files);
	x->thread_of = xcalloc(x->n_files, sizeof(*x->thread_of));
	x->region_of = xcalloc(x->n_files, sizeof(*x->region_of));
	x->counter_of = xcalloc(x->n_files, sizeof(*x->counter_of));
	x->region_init = region_number(x, "init", NULL, VFD_FUNCTION_OTHER);
	x->region_lost = loses(x) ? region_number(x, "(lost)", NULL, VFD_FUNCTION_OTHER)
				  : x->region_init; /* which nothing refers to */
	for (uint32_t i = 0; i < x->n_files; i++) {
		size_t n;

		vfd_threads(x->files[i], &n);
		x->thread_of[i] = xmalloc(n * sizeof(uint32_t));
		memset(x->thread_of[i], 0xff, n * sizeof(uint32_t));
		add_processes(x, i);
		add_regions(x, i);
		add_comms(x, i);
		export_add_counters(x, i);
	}
	export_find_jobs(x);
	name_comms(x);
	if (x->n_processes)
		qsort(x->processes, x->n_processes, sizeof(*x->processes), by_rank);
	for (uint32_t i = 0; i < x->n_files; i++)
		add_threads(x, i, &cap);
	number_threads(x);
	find_streams(x);
}

void export_model_free(struct exporter *x)
{
	for (size_t i = 0; i < x->n_files; i++) {
		free(x->thread_of[i]);
		free(x->region_of[i]);
		free(x->counter_of[i]);
	}
	for (size_t i = 0; i < x->n_processes; i++)
		free(x->processes[i].name);
	for (size_t i = 0; i < x->n_threads; i++)
		free(x->threads[i].name);
	for (size_t i = 0; i < x->n_regions; i++) {
		free(x->regions[i].cleaned);
		free(x->regions[i].file);
	}
	free(x->thread_of);
	free(x->region_of);
	free(x->counter_of);
	free(x->counters);
	free(x->processes);
	free(x->threads);
	free(x->regions);
	free(x->comms);
	free(x->jobs);
	free(x->hosts);
	map64_free(&x->comm_of);
	map64_free(&x->region_hash);
}
