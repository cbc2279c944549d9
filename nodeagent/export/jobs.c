/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI jobs in the files. Ranks of a communicator are those of a job, which the communicator
 * does not say: it is that of the processes that use it. Where the files have one job, as most
 * do, no message is read for that.
 */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/export/internal.h"

#define CHECK_EVERY 4096u /* messages */

ORDER_BY(by_number, struct export_job, RISING(number))

/* The job of a number, or EXPORT_NONE. */
static uint32_t job_of(const struct exporter *x, uint64_t number)
{
	const struct export_job key = {.number = number};
	const struct export_job *found =
		x->n_jobs ? bsearch(&key, x->jobs, x->n_jobs, sizeof(key), by_number) : NULL;

	return found ? (uint32_t)(found - x->jobs) : EXPORT_NONE;
}

static void add_jobs(struct exporter *x)
{
	size_t cap = 0, n;

	for (size_t i = 0; i < x->n_files; i++) {
		const struct vfd_process *all = vfd_processes(x->files[i], &n);

		EACH(const struct vfd_process, p, all, n)
			if (p->number != VFD_NONE && p->rank >= 0)
				*APPEND(x->jobs, x->n_jobs, cap) =
					(struct export_job){p->job, p->size};
	}
}

/* Each once. Processes that have their rank from a launcher only are in no job, if others are. */
static void join_jobs(struct exporter *x)
{
	struct export_job *last = NULL;
	size_t n = 0;

	if (x->n_jobs)
		qsort(x->jobs, x->n_jobs, sizeof(*x->jobs), by_number);
	EACH(const struct export_job, j, x->jobs, x->n_jobs) {
		const bool same = last && last->number == j->number;

		if (same) {
			last->size = MAX(last->size, j->size);
			continue;
		}
		if (!last || last->number)
			last = &x->jobs[n++];
		*last = *j;
	}
	x->n_jobs = n;
}

/* Of a message's process; EXPORT_NONE: its communicator has ranks of something else. */
static uint32_t job_of_message(const struct exporter *x, uint32_t file, const struct vfd_message *m)
{
	size_t n, n_threads;
	const struct vfd_process *all = vfd_processes(x->files[file], &n);
	const struct vfd_thread *threads = vfd_threads(x->files[file], &n_threads);
	const uint32_t process = m->track < n_threads ? threads[m->track].process : VFD_NONE;

	if (m->kind == VFD_EPOCH || m->self || process >= n || all[process].number == VFD_NONE ||
		all[process].rank < 0)
		return EXPORT_NONE;
	return job_of(x, all[process].job);
}

static void find_jobs_of_comms(struct exporter *x)
{
	const struct vfd_filter filter = {.track = VFD_NONE, .raw = true, .no_samples = true};
	struct vfd_cursor *c = vfd_cursor_new(x->files, x->n_files, &filter);
	size_t left = x->n_comms;
	struct vfd_event e;

	for (size_t i = 0; i < x->n_comms; i++)
		x->comms[i].job = EXPORT_NONE;
	for (size_t n = 1; left && vfd_next(c, &e) && (n % CHECK_EVERY || export_goes_on(x)); n++) {
		const uint32_t comm = e.kind == VFD_MESSAGE
					      ? export_comm_number(x, e.file, e.message)
					      : EXPORT_NONE;
		const uint32_t job = comm == EXPORT_NONE || x->comms[comm].job != EXPORT_NONE
					     ? EXPORT_NONE
					     : job_of_message(x, e.file, e.message);

		if (job == EXPORT_NONE)
			continue;
		x->comms[comm].job = job;
		left--;
	}
	vfd_cursor_free(c);
	/* nothing happened in these */
	for (size_t i = 0; i < x->n_comms; i++)
		if (x->comms[i].job == EXPORT_NONE)
			x->comms[i].job = 0;
}

void export_find_jobs(struct exporter *x)
{
	add_jobs(x);
	join_jobs(x);
	if (x->n_jobs > 1)
		find_jobs_of_comms(x);
}

/* True if the process comes before a rank of a job, in the order of processes[]. */
static bool comes_before(const struct export_process *p, uint64_t job, int64_t rank)
{
	return p->rank >= 0 && (p->job != job ? p->job < job : p->rank < rank);
}

uint32_t export_process_of(const struct exporter *x, uint32_t job, int64_t rank)
{
	const uint64_t number = job < x->n_jobs ? x->jobs[job].number : 0;
	size_t low = 0, high = x->n_processes;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (comes_before(&x->processes[middle], number, rank))
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->n_processes && rank >= 0 && x->processes[low].rank == rank &&
			       x->processes[low].job == number
		       ? (uint32_t)low
		       : EXPORT_NONE;
}
