/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and collective calls of ranks. */
#include <stdlib.h>

#include "mpi_id.h"
#include "nodeagent/causal/read.h"
#include "nodeagent/trace/collective.h"

#define MEMBERS_MOST ((uint64_t)1 << 28) /* of all communicators; more are damage */

enum send_mode reader_send_mode(
	const struct reader *r, uint32_t file, uint32_t track, uint32_t stack)
{
	const struct vfd_function *f = reader_function(r, file, track, stack);

	if (!f || f->kind != VFD_FUNCTION_MPI)
		return SEND_STANDARD;
	switch (f->index & ~1u) { /* with large counts: the next number */
	case VFTR_MPI_SSEND:
	case VFTR_MPI_ISSEND:
		return SEND_SYNCHRONOUS;
	case VFTR_MPI_BSEND:
	case VFTR_MPI_IBSEND:
		return SEND_BUFFERED;
	default:
		return SEND_STANDARD;
	}
}

/* Messages whose sender is known, but not for certain, count; that they do is said. */
static bool has_sender(struct reader *r, const struct vfd_message *m)
{
	if (m->match == VFD_MATCH_NONE) {
		causal_add_doubt(r->run->c, CAUSAL_NO_SEND, 1);
		return false;
	}
	if (m->match != VFD_MATCH_EXACT)
		causal_add_doubt(r->run->c, CAUSAL_NOT_SURE, 1);
	return true;
}

static int64_t leave_of(const struct vfd_message *m)
{
	if ((m->flags & VFD_MESSAGE_UNKNOWN) || m->end < m->start || m->end > CAUSAL_TIME_MOST)
		return INT64_MAX;
	return m->end;
}

static void add_point_to_point(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	const enum send_mode mode = reader_send_mode(r, e->file, e->track, e->stack);
	struct causal_message to = {.enter = m->start,
		.leave = leave_of(m),
		.bytes = m->bytes,
		.synchronous = mode == SEND_SYNCHRONOUS,
		.buffered = mode == SEND_BUFFERED};

	if (m->flags & VFD_MESSAGE_CANCELLED)
		return;
	if (m->flags & VFD_MESSAGE_PARTITIONED) {
		causal_add_doubt(r->run->c, CAUSAL_PARTITIONED, m->kind == VFD_RECEIVE);
		return;
	}
	if (m->kind == VFD_RECEIVE && !has_sender(r, m))
		return;
	to.flow = vfd_message_flow(r->files[e->file], m);
	to.peer = reader_line_of_rank(r, line, m->peer);
	if (!to.flow)
		return;
	if (to.peer == CAUSAL_NONE) {
		causal_add_doubt(r->run->c, CAUSAL_NO_SEND, m->kind == VFD_RECEIVE);
		return;
	}
	if (m->kind == VFD_SEND)
		causal_send(r->run->c, line, &to);
	else
		causal_receive(r->run->c, line, &to);
}

/* ---- collective calls -------------------------------------------------------------------------
 */

/* The lines of its members, by rank. *n: how many. */
static uint32_t *lines_of(
	const struct reader *r, uint32_t line, const struct vfd_comm *comm, uint32_t *n)
{
	uint32_t *lines = xmalloc((comm->size + (size_t)1) * sizeof(*lines));

	*n = 0;
	for (size_t i = 0; i < comm->n_runs; i++) {
		const struct wire_run *run = &comm->runs[i];

		for (int64_t k = 0; k < run->count && *n < comm->size; k++) {
			const int64_t rank = run->first + k * run->stride;

			lines[(*n)++] = rank < 0 || rank > INT32_MAX
						? CAUSAL_NONE
						: reader_line_of_rank(r, line, (uint32_t)rank);
		}
	}
	return lines;
}

/* CAUSAL_NONE: there are more members in the communicators than can be. */
static uint32_t comm_of(struct reader *r, uint32_t line, const struct vfd_comm *comm)
{
	const struct causal_rank *rank = &r->run->ranks[line];
	uint32_t *known =
		map64_at(&r->comm_of, comm->id ^ rank->job * 0x9e3779b97f4a7c15u, CAUSAL_NONE);
	uint32_t *lines, n;

	if (*known != CAUSAL_NONE || r->members + comm->size > MEMBERS_MOST)
		return *known;
	r->members += comm->size;
	lines = lines_of(r, line, comm, &n);
	*known = causal_comm(r->run->c, lines, n);
	free(lines);
	return *known;
}

/* CAUSAL_KINDS: it is not told which members wait for which. */
static enum causal_kind kind_of(uint32_t function)
{
	switch (collective_shape(function)->kind) {
	case COLLECTIVE_BETWEEN_ALL:
		return collective_blocking(function) == VFTR_MPI_BARRIER ? CAUSAL_BARRIER
									 : CAUSAL_NXN;
	case COLLECTIVE_REDUCE_SCATTER:
		return CAUSAL_NXN;
	case COLLECTIVE_FROM_ROOT:
		return CAUSAL_LATE_ROOT;
	case COLLECTIVE_TO_ROOT:
		return CAUSAL_EARLY_ROOT;
	case COLLECTIVE_CHAIN:
		return CAUSAL_SCAN;
	default:
		return CAUSAL_KINDS;
	}
}

static void add_collective(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	const struct vfd_comm *comm = vfd_comm(r->files[e->file], m->comm);
	struct causal_collective to = {.ticket = m->ticket,
		.kind = kind_of(m->function),
		.root = reader_line_of_rank(r, line, m->peer),
		.enter = m->start,
		.leave = leave_of(m)};

	if (!comm || comm->remote_size) {
		causal_add_doubt(r->run->c, CAUSAL_TWO_GROUPS, 1);
		return;
	}
	if (to.kind == CAUSAL_KINDS) {
		causal_add_doubt(r->run->c, CAUSAL_NEIGHBOURS,
			collective_shape(m->function)->kind == COLLECTIVE_NEIGHBOURS);
		return;
	}
	to.comm = comm_of(r, line, comm);
	if (to.comm == CAUSAL_NONE)
		causal_add_doubt(r->run->c, CAUSAL_MISSING, 1);
	else
		causal_collective(r->run->c, line, &to);
}

void reader_message(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	struct reader_line *l = &r->lines[line];

	if (m->kind == VFD_FILE)
		return;
	if (m->kind == VFD_RMA) {
		causal_add_doubt(r->run->c, CAUSAL_ONE_SIDED, 1);
		return;
	}
	if (m->self && (int)m->self - 1 != r->run->ranks[line].rank) {
		causal_add_doubt(r->run->c, CAUSAL_OTHER_RANKS, 1);
		return;
	}
	if (l->track == VFD_NONE)
		l->track = e->track;
	if (l->track != e->track)
		causal_add_doubt(r->run->c, CAUSAL_THREADS, 1);
	if (!l->begun) {
		const uint32_t path = reader_path(r, e->file, e->track, e->stack);

		causal_begin(r->run->c, line, e->time, path, path);
		l->begun = true;
	}
	if (m->kind == VFD_COLLECTIVE)
		add_collective(r, line, e);
	else
		add_point_to_point(r, line, e);
}
