/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/causal/run.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/causal/read.h"
#include "nodeagent/replay/window/exposure.h"

#define TELL_EVERY 8192 /* events */

ORDER_BY(by_rank, struct causal_rank,
	RISING(job) ?: RISING(rank) ?: RISING(file) ?: RISING(process))

int64_t reader_clock_error(const struct vfd_file *f)
{
	const int64_t ns = vfd_facts(f)->clock_error_ns;

	if (ns < 0)
		return 0;
	return ns < CAUSAL_TIME_MOST / 8 ? ns : CAUSAL_TIME_MOST / 8;
}

uint32_t reader_line_of(const struct reader *r, uint32_t file, uint32_t track)
{
	size_t n_threads, n_processes;
	const struct vfd_thread *t = vfd_threads(r->files[file], &n_threads);

	vfd_processes(r->files[file], &n_processes);
	if (track >= n_threads || t[track].process >= n_processes)
		return CAUSAL_NONE;
	return r->line_of[file][t[track].process];
}

uint32_t reader_line_of_rank(const struct reader *r, uint32_t beside, uint32_t rank)
{
	return reader_line_in_job(r, r->run->ranks[beside].job, rank);
}

uint32_t reader_line_in_job(const struct reader *r, uint64_t job, uint32_t rank)
{
	const struct causal_rank *x = r->run->ranks;
	const uint32_t at = (uint32_t)LOWER_BOUND(
		i, 0, r->run->n, x[i].job < job || (x[i].job == job && (uint32_t)x[i].rank < rank));

	return at < r->run->n && x[at].job == job && (uint32_t)x[at].rank == rank ? at
										  : CAUSAL_NONE;
}

/* ---- the ranks ---------------------------------------------------------------------------------
 */

static size_t add_processes(struct causal_run *run, struct vfd_file *const *files, size_t n)
{
	size_t n_ranks = 0, cap = 0;

	for (size_t i = 0; i < n; i++) {
		size_t n_processes;
		const struct vfd_process *p = vfd_processes(files[i], &n_processes);

		for (size_t k = 0; k < n_processes; k++) {
			struct causal_rank x = {.rank = p[k].rank,
				.job = p[k].job,
				.file = (uint32_t)i,
				.process = (uint32_t)k,
				.host = vfd_facts(files[i])->host};

			if (run->without_mpi) {
				x.rank = (int)n_ranks;
				x.job = 0;
			}
			if (p[k].number != VFD_NONE && x.rank >= 0)
				*APPEND(run->ranks, n_ranks, cap) = x;
		}
	}
	return n_ranks;
}

/* Those in jobs; if there are none, all processes. */
static void find_ranks(struct causal_run *run, struct vfd_file *const *files, size_t n)
{
	size_t n_ranks = add_processes(run, files, n), kept = 0;

	if (!n_ranks) {
		run->without_mpi = true;
		n_ranks = add_processes(run, files, n);
	}
	if (n_ranks)
		qsort(run->ranks, n_ranks, sizeof(*run->ranks), by_rank);
	for (size_t i = 0; i < n_ranks; i++) /* of one that has become another program: the first */
		if (!kept || run->ranks[kept - 1].job != run->ranks[i].job ||
			run->ranks[kept - 1].rank != run->ranks[i].rank)
			run->ranks[kept++] = run->ranks[i];
	run->n = (uint32_t)kept;
}

/* ---- their numbers -----------------------------------------------------------------------------
 */

static void number_ranks(struct causal_run *run, struct vfd_file *const *files, size_t n)
{
	struct map64 spawned = {.n = 0};

	vfd_number_ranks(files, n);
	vfd_spawned_jobs(files, n, &spawned);
	for (uint32_t i = 0; i < run->n; i++) {
		struct causal_rank *x = &run->ranks[i];

		x->number =
			run->without_mpi ? x->rank : vfd_rank_number(files[x->file], x->process);
		if (!i || x[-1].job != x->job)
			run->n_spawned += map64_find(&spawned, x->job) != NULL;
	}
	map64_free(&spawned);
}

static struct causal *new_causal(const struct causal_run *run, struct vfd_file *const *files,
	const char *folder, char **error)
{
	struct causal_line *lines = xcalloc(run->n, sizeof(*lines));
	struct causal *c;

	for (uint32_t i = 0; i < run->n; i++)
		lines[i] = (struct causal_line){
			run->ranks[i].file, reader_clock_error(files[run->ranks[i].file])};
	c = causal_new(lines, run->n, folder, error);
	free(lines);
	return c;
}

/* ---- reading ------------------------------------------------------------------------------------
 */

static void begin_reading(struct reader *r)
{
	r->locks = reader_locks_new();
	r->probes = reader_probes_new(r->run->n);
	r->lines = xcalloc(r->run->n, sizeof(*r->lines));
	r->line_of = xcalloc(r->n_files, sizeof(*r->line_of));
	r->path_of = xcalloc(r->n_files, sizeof(*r->path_of));
	for (size_t i = 0; i < r->n_files; i++) {
		size_t n_processes, n_threads;

		vfd_processes(r->files[i], &n_processes);
		vfd_threads(r->files[i], &n_threads);
		r->line_of[i] = xmalloc((n_processes + 1) * sizeof(**r->line_of));
		memset(r->line_of[i], 0xff, (n_processes + 1) * sizeof(**r->line_of));
		r->path_of[i] = xcalloc(n_threads + 1, sizeof(**r->path_of));
	}
	for (uint32_t i = 0; i < r->run->n; i++) {
		r->lines[i].track = VFD_NONE;
		r->line_of[r->run->ranks[i].file][r->run->ranks[i].process] = i;
	}
	reader_find_windows(r);
	r->holders = reader_holders_new(r);
}

static void end_reading(struct reader *r)
{
	for (size_t i = 0; i < r->n_files; i++) {
		size_t n_threads;

		vfd_threads(r->files[i], &n_threads);
		for (size_t k = 0; k < n_threads; k++)
			free(r->path_of[i][k]);
		free(r->path_of[i]);
		free(r->line_of[i]);
	}
	for (uint32_t i = 0; i < r->run->n; i++) {
		free(r->lines[i].frames);
		free(r->lines[i].parts);
		exposures_free(r->lines[i].exposures);
		reader_team_free(r->lines[i].team);
	}
	free(r->path_of);
	free(r->line_of);
	free(r->lines);
	map64_free(&r->comm_of);
	map64_free(&r->pairs);
	match_table_free(&r->starts);
	reader_locks_free(r->locks);
	reader_holders_free(r->holders);
	reader_probes_free(r->probes);
}

void reader_tell(struct reader *r, const struct vfd_cursor *cursor, double before, double at_end)
{
	if (r->progress && ++r->seen % TELL_EVERY == 0)
		r->progress->tell(
			r->progress->to, before + (at_end - before) * vfd_cursor_progress(cursor));
}

static void read_events(struct reader *r)
{
	const struct vfd_filter filter = {.track = VFD_NONE};
	struct vfd_cursor *cursor = vfd_cursor_new(r->files, r->n_files, &filter);
	struct vfd_event e;

	while (vfd_next(cursor, &e)) {
		const uint32_t line = reader_line_of(r, e.file, e.track);

		reader_tell(r, cursor, LOOKED_AHEAD, ALL_READ);
		if (line == CAUSAL_NONE || e.time > CAUSAL_TIME_MOST || e.time < -CAUSAL_TIME_MOST)
			continue;
		reader_holders_until(r, e.time);
		if (e.kind == VFD_MESSAGE)
			reader_message(r, line, &e);
		else if (e.kind == VFD_ENTER || e.kind == VFD_EXIT || e.kind == VFD_GAP)
			reader_call(r, line, &e);
	}
	vfd_cursor_free(cursor);
	reader_holders_until(r, INT64_MAX);
}

/* Without MPI, and in sessions of MPI, windows end as processes do. */
static void end_processes(struct reader *r)
{
	for (uint32_t i = 0; i < r->run->n; i++) {
		const struct causal_rank *x = &r->run->ranks[i];
		size_t n;
		const int64_t end = vfd_processes(r->files[x->file], &n)[x->process].end;

		if (!r->lines[i].whole_life || r->lines[i].ended)
			continue;
		if (r->lines[i].begun)
			causal_end(
				r->run->c, i, end < CAUSAL_TIME_MOST ? end : CAUSAL_TIME_MOST, 0);
		r->lines[i].ended = true;
	}
}

static void doubt_files(const struct reader *r)
{
	struct causal *c = r->run->c;

	for (size_t i = 0; i < r->n_files; i++) {
		const struct vfd_facts *f = vfd_facts(r->files[i]);
		size_t damaged;

		vfd_damage(r->files[i], &damaged);
		causal_add_doubt(c, CAUSAL_DAMAGED, damaged || !f->closed);
		causal_add_doubt(c, CAUSAL_SAMPLED, f->interval_ns > 0);
		causal_add_doubt(c, CAUSAL_LOST, f->lost_calls + f->thinned_calls);
		causal_add_doubt(c, CAUSAL_CLOCKS, r->n_files > 1 && !f->synchronised);
	}
}

static void doubt_ranks(const struct reader *r)
{
	struct causal *c = r->run->c;
	uint32_t of_job = 0, jobs = 0;

	for (uint32_t i = 0; i < r->run->n; i++) {
		const struct causal_rank *x = &r->run->ranks[i];
		size_t n;
		const struct vfd_process *p = &vfd_processes(r->files[x->file], &n)[x->process];
		const bool last = i + 1 == r->run->n || x[1].job != x->job;

		of_job++;
		causal_add_doubt(c, CAUSAL_KILLED, p->ended && p->how == 1);
		causal_add_doubt(c, CAUSAL_WINDOW,
			!r->lines[i].whole_life && !(p->ended && p->how == 1) &&
				(!r->lines[i].left_init || !r->lines[i].ended));
		if (!last)
			continue;
		causal_add_doubt(c, CAUSAL_RANKS, p->size > of_job ? p->size - of_job : 0);
		of_job = 0;
		jobs++;
	}
	if (jobs > 1 + r->run->n_spawned)
		causal_add_doubt(c, CAUSAL_JOBS, jobs - 1 - r->run->n_spawned);
}

struct causal_run *causal_run(struct vfd_file *const *files, size_t n, const char *folder,
	const struct causal_progress *progress, char **error)
{
	struct causal_run *run = xcalloc(1, sizeof(*run));
	struct reader r = {.run = run, .files = files, .n_files = n, .progress = progress};
	bool good = false;

	run->paths = paths_new();
	find_ranks(run, files, n);
	number_ranks(run, files, n);
	if (!run->n)
		*error = xstrdup("there are no processes in the sampling files");
	else
		run->c = new_causal(run, files, folder, error);
	if (run->c) {
		begin_reading(&r);
		reader_look_ahead(&r);
		read_events(&r);
		end_processes(&r);
		doubt_files(&r);
		doubt_ranks(&r);
		end_reading(&r);
		good = causal_finish(run->c, error);
	}
	if (good && !causal_totals(run->c)->lines) {
		*error = xstrdup("no rank in the sampling files has called MPI");
		good = false;
	}
	if (good)
		return run;
	causal_run_free(run);
	return NULL;
}

void causal_run_free(struct causal_run *r)
{
	causal_free(r->c);
	paths_free(r->paths);
	free(r->ranks);
	free(r);
}
