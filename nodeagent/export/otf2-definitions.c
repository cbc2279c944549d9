/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions of an OTF2 archive: who there was, after all events are written.
 * Ranks of a job are members of the group of MPI's locations in their order, job by
 * job; so a rank that is not in the files (another node's, or left out by the user)
 * gets an empty location.
 */
#include <stdlib.h>

#include "nodeagent/export/otf2.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/collective.h"

#define RANKS_MOST 100000u /* with two files each; those above are one place */

struct definitions {
	struct otf2 *f;
	struct OTF2_GlobalDefWriter_struct *to;
	uint32_t strings, groups;
};

static uint32_t string(void *ctx, const char *text)
{
	struct definitions *d = ctx;
	char *clean = export_cleaned(text);

	OTF2_CALL(d->f, string, d->to, d->strings, clean ? clean : text);
	free(clean);
	return d->strings++;
}

/* ---- regions -------------------------------------------------------------------------- */

static uint8_t role_of_mpi(const struct export_region *r)
{
	static const uint8_t of_family[] = {
		[MPI_FAMILY_OTHER] = OUR_FUNCTION,
		[MPI_FAMILY_MESSAGE] = OUR_POINT_TO_POINT,
		[MPI_FAMILY_REQUEST] = OUR_FUNCTION,
		[MPI_FAMILY_ONE_SIDED] = OUR_ONE_SIDED,
		[MPI_FAMILY_FILE] = OUR_FILE_IO,
	};
	static const uint8_t of_shape[COLLECTIVE_KINDS] = {
		[COLLECTIVE_UNKNOWN] = OUR_ALL_TO_ONE, /* MPI_Reduce_local */
		[COLLECTIVE_BETWEEN_ALL] = OUR_ALL_TO_ALL,
		[COLLECTIVE_FROM_ROOT] = OUR_ONE_TO_ALL,
		[COLLECTIVE_TO_ROOT] = OUR_ALL_TO_ONE,
		[COLLECTIVE_CHAIN] = OUR_COLLECTIVE,
		[COLLECTIVE_REDUCE_SCATTER] = OUR_ALL_TO_ALL,
		[COLLECTIVE_NEIGHBOURS] = OUR_ALL_TO_ALL,
	};

	if (r->family != MPI_FAMILY_COLLECTIVE)
		return of_family[r->family];
	if (collective_blocking(r->mpi) == VFTR_MPI_BARRIER)
		return OUR_BARRIER;
	return of_shape[collective_shape(r->mpi)->kind];
}

static uint8_t role_of_construct(enum construct c)
{
	static const uint8_t roles[CONSTRUCT_KINDS] = {
		[CONSTRUCT_PARALLEL] = OUR_PARALLEL,
		[CONSTRUCT_TEAMS] = OUR_PARALLEL,
		[CONSTRUCT_LOOP] = OUR_LOOP,
		[CONSTRUCT_SECTIONS] = OUR_SECTIONS,
		[CONSTRUCT_SINGLE] = OUR_SINGLE,
		[CONSTRUCT_WORKSHARE] = OUR_WORKSHARE,
		[CONSTRUCT_DISTRIBUTE] = OUR_LOOP,
		[CONSTRUCT_MASKED] = OUR_MASKED,
		[CONSTRUCT_CRITICAL] = OUR_IN_CRITICAL,
		[CONSTRUCT_ORDERED] = OUR_IN_ORDERED,
		[CONSTRUCT_TASK] = OUR_TASK,
		[CONSTRUCT_TASK_CREATE] = OUR_TASK_CREATE,
		[CONSTRUCT_TASKLOOP] = OUR_LOOP,
		[CONSTRUCT_BARRIER] = OUR_BARRIER,
		[CONSTRUCT_BARRIER_IMPLICIT] = OUR_IMPLICIT_BARRIER,
		[CONSTRUCT_TASKWAIT] = OUR_TASK_WAIT,
		[CONSTRUCT_TASKGROUP_WAIT] = OUR_TASK_WAIT,
		[CONSTRUCT_TASKYIELD] = OUR_TASK_WAIT,
		[CONSTRUCT_CRITICAL_WAIT] = OUR_CRITICAL,
		[CONSTRUCT_ORDERED_WAIT] = OUR_ORDERED,
		[CONSTRUCT_ATOMIC_WAIT] = OUR_ATOMIC,
		[CONSTRUCT_JOIN] = OUR_IMPLICIT_BARRIER,
		[CONSTRUCT_IDLE] = OUR_ARTIFICIAL,
	};

	return roles[c] ? roles[c] : OUR_CODE;
}

static uint8_t role_of_region(const struct export_region *r)
{
	static const uint8_t roles[] = {
		[VFD_FUNCTION_CODE] = OUR_FUNCTION,
		[VFD_FUNCTION_REGION] = OUR_CODE,
		[VFD_FUNCTION_OTHER] = OUR_ARTIFICIAL,
	};

	if (r->on_gpu)
		return OUR_FUNCTION;
	if (r->kind == VFD_FUNCTION_MPI)
		return role_of_mpi(r);
	return r->kind == VFD_FUNCTION_OPENMP ? role_of_construct(r->construct) : roles[r->kind];
}

static void put_regions(struct definitions *d)
{
	static const uint8_t paradigms[] = {
		[VFD_FUNCTION_CODE] = OUR_BY_COMPILER,
		[VFD_FUNCTION_MPI] = OUR_BY_MPI,
		[VFD_FUNCTION_REGION] = OUR_BY_USER,
		[VFD_FUNCTION_OPENMP] = OUR_BY_OPENMP,
		[VFD_FUNCTION_OTHER] = OUR_BY_TRACER,
	};
	const struct exporter *x = d->f->x;

	for (size_t i = 0; i < x->n_regions; i++) {
		const struct export_region *r = &x->regions[i];
		const uint32_t name = string(d, r->name);
		const char *file = r->file ? r->file : r->module;
		const uint32_t source = file ? string(d, file) : 0;

		OTF2_CALL(d->f, region, d->to, (uint32_t)i, name, name, 0, role_of_region(r),
			r->on_gpu ? OUR_BY_CUDA : paradigms[r->kind], 0, source,
			r->file ? r->line : 0, 0);
	}
}

static void put_paradigms(struct definitions *d)
{
	const struct exporter *x = d->f->x;
	bool openmp = false, cuda = false;

	for (size_t i = 0; i < x->n_regions; i++)
		openmp |= x->regions[i].kind == VFD_FUNCTION_OPENMP;
	for (size_t i = 0; i < x->n_threads; i++)
		cuda |= x->threads[i].stream;
	if (d->f->n_ranks)
		OTF2_CALL(d->f, paradigm, d->to, OUR_BY_MPI, string(d, "MPI"), OUR_OF_PROCESSES);
	if (openmp)
		OTF2_CALL(
			d->f, paradigm, d->to, OUR_BY_OPENMP, string(d, "OpenMP"), OUR_OF_THREADS);
	if (d->f->n_plain)
		OTF2_CALL(d->f, paradigm, d->to, OUR_BY_PTHREAD, string(d, "POSIX threads"),
			OUR_OF_MADE_THREADS);
	if (cuda)
		OTF2_CALL(
			d->f, paradigm, d->to, OUR_BY_CUDA, string(d, "CUDA"), OUR_OF_ACCELERATORS);
}

/* ---- places --------------------------------------------------------------------------- */

static void put_machine(struct definitions *d)
{
	const struct exporter *x = d->f->x;
	const uint32_t machine = string(d, "machine"), node = string(d, "node");

	OTF2_CALL(d->f, tree_node, d->to, 0, machine, machine, OUR_NONE);
	OTF2_CALL(d->f, tree_domain, d->to, 0, OUR_DOMAIN_MACHINE);
	for (size_t i = 0; i < x->n_hosts; i++) {
		OTF2_CALL(d->f, tree_node, d->to, (uint32_t)i + 1, string(d, x->hosts[i]), node, 0);
		OTF2_CALL(d->f, tree_domain, d->to, (uint32_t)i + 1, OUR_DOMAIN_NODE);
	}
}

static void put_threads(struct definitions *d)
{
	const struct exporter *x = d->f->x;

	for (size_t i = 0; i < x->n_processes; i++)
		OTF2_CALL(d->f, location_group, d->to, (uint32_t)i, string(d, x->processes[i].name),
			OUR_PROCESS, x->processes[i].node + 1, OUR_NONE);
	for (size_t i = 0; i < x->n_threads; i++)
		OTF2_CALL(d->f, location, d->to, i, string(d, x->threads[i].name),
			x->threads[i].stream ? OUR_STREAM : OUR_THREAD, d->f->events[i],
			x->threads[i].process);
}

/* ---- ranks and communicators ------------------------------------------------------------ */

/* The place of a rank of a job in the group of MPI's locations; n_ranks: of a stranger. */
static uint64_t place_of(const struct otf2 *f, uint32_t job, int64_t rank)
{
	const int64_t first = f->first_rank[job], end = f->first_rank[job + 1];

	return rank >= 0 && rank < end - first ? (uint64_t)(first + rank) : f->n_ranks;
}

static size_t members(const struct otf2 *f, const struct export_comm *c, size_t most, uint64_t *to)
{
	size_t n = 0;

	EACH(const struct wire_run, r, c->comm->runs, c->comm->n_runs) {
		for (int32_t k = 0; k < r->count && n < most; k++)
			to[n++] = place_of(f, c->job, r->first + (int64_t)k * r->stride);
	}
	return n;
}

struct range {
	int64_t least, most;
};

static struct range range_of(const struct wire_run *r)
{
	const int64_t first = r->first, last = first + ((int64_t)r->count - 1) * r->stride;

	return (struct range){MIN(first, last), MAX(first, last)};
}

/* Most ranks that a communicator of a job may have: those of the job, if they are known. */
static uint32_t ranks_most(const struct exporter *x, uint32_t job)
{
	const uint32_t size = x->n_jobs ? x->jobs[job].size : 0;

	return size && size < RANKS_MOST ? size : RANKS_MOST;
}

/* Ranks of each job into n[]. */
static void count_ranks(const struct exporter *x, uint32_t *n)
{
	for (uint32_t i = 0, job = 0; i < x->n_processes; i++) {
		const struct export_process *p = &x->processes[i];

		/* both are in the order of jobs; a process of none is before them */
		while (job + 1 < x->n_jobs && x->jobs[job].number < p->job && p->rank >= 0)
			job++;
		if (p->rank >= (int64_t)n[job] && p->rank < (int32_t)RANKS_MOST && x->n_jobs &&
			p->job == x->jobs[job].number)
			n[job] = (uint32_t)p->rank + 1;
	}
	EACH(const struct export_comm, c, x->comms, x->n_comms) {
		const uint32_t ranks = ranks_most(x, c->job);

		EACH(const struct wire_run, r, c->comm->runs, c->comm->n_runs) {
			const int64_t most = range_of(r).most;

			if (most >= (int64_t)n[c->job])
				n[c->job] = (uint32_t)MIN(most + 1, (int64_t)ranks);
		}
	}
}

/* True if a communicator has a member that place_of() does not know. */
static bool has_strangers(const struct otf2 *f, const struct export_comm *c)
{
	const int64_t n = (int64_t)f->first_rank[c->job + 1] - f->first_rank[c->job];

	return ANY(i, c->comm->n_runs,
		range_of(&c->comm->runs[i]).least < 0 || range_of(&c->comm->runs[i]).most >= n);
}

static void number_ranks(struct otf2 *f)
{
	const struct exporter *x = f->x;
	const size_t jobs = MAX(x->n_jobs, (size_t)1);
	uint32_t *n = xcalloc(jobs, sizeof(*n));

	f->first_rank = xcalloc(jobs + 1, sizeof(*f->first_rank));
	count_ranks(x, n);
	for (size_t i = 0; i < jobs; i++)
		f->first_rank[i + 1] = MIN(f->first_rank[i] + n[i], RANKS_MOST);
	f->n_ranks = f->first_rank[jobs];
	f->strangers = ANY(i, x->n_comms, has_strangers(f, &x->comms[i]));
	free(n);
}

/* The job of a place in the group, from that of the place before. */
static uint32_t job_at(const struct otf2 *f, uint32_t place, uint32_t job)
{
	while (place >= f->first_rank[job + 1])
		job++;
	return job;
}

/* The last one, if it is needed, is of all ranks whose number is not known. */
void otf2_find_ranks(struct otf2 *f)
{
	const struct exporter *x = f->x;

	f->n_locations = x->n_threads;
	number_ranks(f);
	f->location_of = xmalloc((f->n_ranks + 1) * sizeof(*f->location_of));
	f->location_of[f->n_ranks] = UINT64_MAX;
	for (uint32_t r = 0, job = 0; r < f->n_ranks; r++) {
		uint32_t p;

		job = job_at(f, r, job);
		p = export_process_of(x, job, r - f->first_rank[job]);
		f->location_of[r] = p == EXPORT_NONE ? UINT64_MAX : x->processes[p].first_thread;
	}
	for (size_t r = 0; r < f->n_ranks + f->strangers; r++)
		if (f->location_of[r] == UINT64_MAX)
			f->location_of[r] = f->n_locations++;
}

static void put_ranks(struct definitions *d)
{
	const struct otf2 *f = d->f;
	const struct exporter *x = f->x;
	uint32_t group = (uint32_t)x->n_processes, job = 0;

	for (uint32_t r = 0; r < f->n_ranks + f->strangers && export_goes_on(d->f->x); r++) {
		char *name;

		job = r < f->n_ranks ? job_at(f, r, job) : job;
		if (f->location_of[r] < x->n_threads)
			continue;
		name = r < f->n_ranks
			       ? xasprintf("rank %u (not in this trace)", r - f->first_rank[job])
			       : xstrdup("ranks of other jobs");
		OTF2_CALL(d->f, location_group, d->to, group, string(d, name), OUR_PROCESS, 0,
			OUR_NONE);
		OTF2_CALL(d->f, location, d->to, f->location_of[r], string(d, "thread 0"),
			OUR_THREAD, 0, group++);
		free(name);
	}
	OTF2_CALL(d->f, group, d->to, d->groups++, string(d, "ranks"), OUR_COMM_LOCATIONS,
		OUR_BY_MPI, 0, f->n_ranks + f->strangers, f->location_of);
}

static uint32_t put_group(struct definitions *d, const uint64_t *ranks, size_t n)
{
	OTF2_CALL(d->f, group, d->to, d->groups, 0, OUR_COMM_GROUP, OUR_BY_MPI, 0, (uint32_t)n,
		ranks);
	return d->groups++;
}

static void put_comms(struct definitions *d)
{
	const struct exporter *x = d->f->x;

	for (size_t i = 0; i < x->n_comms; i++) {
		const struct export_comm *c = &x->comms[i];
		size_t most = (size_t)c->comm->size + c->comm->remote_size;
		const uint32_t name = string(d, c->name);
		uint32_t local, remote;
		uint64_t *ranks;
		size_t n;

		most = MIN(most, 2 * (size_t)RANKS_MOST);
		ranks = xmalloc(most * sizeof(*ranks));
		n = members(d->f, c, most, ranks);
		if (c->comm->remote_size && c->comm->size <= n) {
			local = put_group(d, ranks, c->comm->size);
			remote = put_group(d, ranks + c->comm->size, n - c->comm->size);
			OTF2_CALL(d->f, intercomm, d->to, (uint32_t)i, name, local, remote,
				OUR_NONE, 0);
		} else {
			local = put_group(d, ranks, n);
			OTF2_CALL(d->f, comm, d->to, (uint32_t)i, name, local, OUR_NONE, 0);
		}
		free(ranks);
	}
}

/* Readers look for a file of local definitions for each location. */
static void put_local(struct otf2 *f)
{
	OTF2_CALL(f, open_definitions, f->archive);
	for (size_t i = 0; i < f->n_locations && export_goes_on(f->x); i++) {
		struct OTF2_DefWriter_struct *w = f->api.definition_writer(f->archive, i);

		if (w)
			OTF2_CALL(f, close_definition_writer, f->archive, w);
		else
			export_fail(f->x, "OTF2 can't write the definitions of a thread");
	}
	OTF2_CALL(f, close_definitions, f->archive);
}

void otf2_definitions(struct otf2 *f)
{
	const struct exporter *x = f->x;
	const uint64_t length = (f->last > x->duration ? f->last : x->duration) + 1;
	struct definitions d = {.f = f};

	put_local(f);
	d.to = f->api.global_writer(f->archive);
	if (!d.to) {
		export_fail(f->x, "OTF2 can't write the definitions");
		return;
	}
	OTF2_CALL(f, clock, d.to, 1000000000, 0, length, (uint64_t)x->start_unix_ns);
	string(&d, "");
	put_paradigms(&d);
	put_regions(&d);
	put_machine(&d);
	put_threads(&d);
	otf2_metrics(f, d.to, string, &d);
	if (f->n_ranks + f->strangers) {
		put_ranks(&d);
		put_comms(&d);
	}
	d.groups = otf2_teams_define(f, d.to, d.groups, string, &d);
	d.groups = otf2_plain_define(f, d.to, d.groups, string, &d);
	otf2_copies_define(f, d.to, d.groups, string, &d);
}
