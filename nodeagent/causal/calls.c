/* SPDX-License-Identifier: BSD-3-Clause */
/* What the thread of a rank calls. */
#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "nodeagent/causal/read.h"

const struct vfd_function *reader_function(
	const struct reader *r, uint32_t file, uint32_t track, uint32_t stack)
{
	size_t n_stacks, n_functions;
	const struct vfd_stack *stacks = vfd_stacks(r->files[file], track, &n_stacks);
	const struct vfd_function *functions = vfd_functions(r->files[file], &n_functions);

	if (stack >= n_stacks || stacks[stack].function >= n_functions ||
		functions[stacks[stack].function].number == VFD_NONE)
		return NULL;
	return &functions[stacks[stack].function];
}

/* Callers have lower numbers or are defined before: those that are not known are added first. */
uint32_t reader_path(struct reader *r, uint32_t file, uint32_t track, uint32_t stack)
{
	struct vfd_file *f = r->files[file];
	size_t n;
	const struct vfd_stack *stacks = vfd_stacks(f, track, &n);
	uint32_t *known, caller;

	if (!stack || stack >= n || stacks[stack].caller == VFD_NONE)
		return 0;
	if (!r->path_of[file][track])
		r->path_of[file][track] = xcalloc(n, sizeof(**r->path_of[file]));
	known = &r->path_of[file][track][stack];
	if (!*known) {
		caller = reader_path(r, file, track, stacks[stack].caller);
		*known = paths_add(r->run->paths, caller, vfd_stack_name(f, track, stack)) + 1;
	}
	return *known - 1;
}

static uint32_t path_now(const struct reader_line *l)
{
	return l->n_frames ? l->frames[l->n_frames - 1].path : 0;
}

static enum causal_work work_now(const struct reader_line *l)
{
	return l->n_frames ? l->frames[l->n_frames - 1].work : CAUSAL_USEFUL;
}

static bool is_init(const struct vfd_function *f)
{
	return f && f->kind == VFD_FUNCTION_MPI &&
	       (f->index == VFTR_MPI_INIT || f->index == VFTR_MPI_INIT_THREAD);
}

static bool is_session_init(const struct vfd_function *f)
{
	return f && f->kind == VFD_FUNCTION_MPI && f->index == VFTR_MPI_SESSION_INIT;
}

static bool is_finalize(const struct vfd_function *f)
{
	return f && f->kind == VFD_FUNCTION_MPI && f->index == VFTR_MPI_FINALIZE;
}

static bool is_lock_wait(const struct vfd_function *f)
{
	return f && f->kind == VFD_FUNCTION_REGION && f->index == VFD_REGION_LOCK_WAIT;
}

static enum causal_work work_of(const struct vfd_function *f)
{
	if (f && f->kind == VFD_FUNCTION_MPI)
		return CAUSAL_IN_MPI;
	return is_lock_wait(f) ? CAUSAL_LOCK_WAIT : CAUSAL_USEFUL;
}

/* Where MPI and OpenMP wait for locks is theirs. */
static bool is_of_caller(const struct reader_line *l, const struct vfd_function *f)
{
	const struct frame *top = l->n_frames ? &l->frames[l->n_frames - 1] : NULL;

	return top && is_lock_wait(f) && (top->work == CAUSAL_IN_MPI || top->waits != NO_TEAM_WAIT);
}

/* What vftr has made, as the wait in a call of MPI, is of the function that it stands in. */
static struct frame frame_of(
	const struct reader_line *l, const struct vfd_function *f, uint32_t path)
{
	const bool in_call = l->call;

	if (is_of_caller(l, f) ||
		(in_call && f &&
			(f->kind == VFD_FUNCTION_OTHER || f->kind == VFD_FUNCTION_OPENMP))) {
		struct frame frame = l->frames[l->n_frames - 1];

		frame.called = path;
		return frame;
	}
	return (struct frame){
		path, path, work_of(f), in_call ? NO_TEAM_WAIT : reader_team_wait_of(f)};
}

static void enter_function(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	struct reader_line *l = &r->lines[line];
	const struct vfd_function *f = reader_function(r, e->file, e->track, e->stack);
	const struct frame frame = frame_of(l, f, reader_path(r, e->file, e->track, e->stack));

	*LIST_ADD(l, frames) = frame;
	if (l->call) {
		causal_path(r->run->c, line, e->time, frame.path, frame.work);
		return;
	}
	if (is_finalize(f)) {
		causal_end(r->run->c, line, e->time, frame.path);
		l->ended = true;
	}
	if (frame.work != CAUSAL_IN_MPI) {
		causal_path(r->run->c, line, e->time, frame.path, frame.work);
		return;
	}
	l->call = l->n_frames;
	causal_enter(r->run->c, line, e->time, frame.path);
	reader_probe(r, line, f, e->time);
	reader_file_call(r, line, f, e->time);
}

static void leave_function(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	struct reader_line *l = &r->lines[line];
	const uint32_t left = path_now(l);

	if (!l->n_frames)
		return;
	l->n_frames--;
	if (is_init(reader_function(r, e->file, e->track, e->stack)) && !l->begun) {
		l->begun = l->left_init = true;
		causal_begin(r->run->c, line, e->time, left, path_now(l));
	}
	if (!l->call) {
		causal_path(r->run->c, line, e->time, path_now(l), work_now(l));
	} else if (l->n_frames < l->call) {
		l->call = 0;
		causal_leave(r->run->c, line, e->time, path_now(l));
	} else {
		causal_path(r->run->c, line, e->time, path_now(l), work_now(l));
	}
}

static void find_starts(struct reader *r, uint32_t file, uint32_t track)
{
	const uint32_t line = reader_line_of(r, file, track);
	size_t n;

	if (line == CAUSAL_NONE)
		return;
	vfd_stacks(r->files[file], track, &n);
	for (uint32_t i = 1; i < n; i++) {
		const struct vfd_function *f = reader_function(r, file, track, i);

		r->lines[line].has_init |= is_init(f);
		r->lines[line].has_session |= is_session_init(f);
	}
}

void reader_find_windows(struct reader *r)
{
	for (uint32_t i = 0; i < r->n_files; i++) {
		size_t n;

		vfd_threads(r->files[i], &n);
		for (uint32_t k = 0; k < n; k++)
			find_starts(r, i, k);
	}
	for (uint32_t i = 0; i < r->run->n; i++)
		r->lines[i].whole_life =
			r->run->without_mpi || (r->lines[i].has_session && !r->lines[i].has_init);
}

void reader_begin_process(struct reader *r, uint32_t line, int64_t t)
{
	const struct causal_rank *x = &r->run->ranks[line];
	size_t n;
	int64_t start = vfd_processes(r->files[x->file], &n)[x->process].start;

	start = MAX(start, -CAUSAL_TIME_MOST);
	causal_begin(r->run->c, line, start < t ? start : t, 0, 0);
	r->lines[line].begun = true;
}

/* The thread of a rank is the one that calls MPI_Init; without MPI, that of a process is its first
 * one. */
void reader_call(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	struct reader_line *l = &r->lines[line];
	const struct frame *top;
	size_t n;
	const struct vfd_thread *threads = vfd_threads(r->files[e->file], &n);

	if (l->track != e->track) {
		if (l->begun || e->kind != VFD_ENTER ||
			!is_init(reader_function(r, e->file, e->track, e->stack))) {
			if (l->track != VFD_NONE || threads[e->track].number) {
				reader_team_call(r, line, e);
				return;
			}
		} else {
			l->n_frames = 0;
		}
		l->track = e->track;
	}
	if (l->whole_life && !l->begun)
		reader_begin_process(r, line, e->time);
	reader_team_over(r, line, e->time);
	if (e->kind == VFD_ENTER)
		enter_function(r, line, e);
	else if (e->kind == VFD_EXIT)
		leave_function(r, line, e);
	else if (e->kind == VFD_GAP && l->begun && !l->ended)
		causal_add_doubt(r->run->c, CAUSAL_PAUSED, 1);
	reader_parts(r, line, e->time);
	top = l->n_frames ? &l->frames[l->n_frames - 1] : NULL;
	if (top && top->waits)
		reader_team_wait(r, line, e->time, top->waits, top->path);
}
