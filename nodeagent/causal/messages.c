/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and collective calls of ranks. */
#include <stdlib.h>

#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/causal/read.h"
#include "nodeagent/trace/collective.h"
#include "nodeagent/trace/read/collectives.h"

#define MEMBERS_MOST ((uint64_t)1 << 28) /* of all communicators; more are damage */
#define LINK_KEY     0xd6e8feb86659fd93u /* of communicators with another job */

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

/* Of a member of a communicator, of its remote group if it has one. */
static uint32_t line_of_member(const struct reader *r, uint32_t line, const struct vfd_file *f,
	const struct vfd_comm *comm, uint32_t rank)
{
	const uint32_t world = vfd_comm_rank(comm, rank, comm->remote_size);
	uint64_t job;
	uint32_t other;

	if (world != VFD_NONE)
		return reader_line_of_rank(r, line, world);
	return vfd_comm_other(f, comm, rank, &job, &other) ? reader_line_in_job(r, job, other)
							   : CAUSAL_NONE;
}

uint32_t reader_peer(const struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	const struct vfd_file *f = r->files[e->file];
	const struct vfd_comm *comm = vfd_comm(f, m->comm);
	const uint64_t rank = m->kind == VFD_COLLECTIVE ? m->offset : m->sends;

	if (m->peer != VFD_NONE || !comm || !rank || rank > UINT32_MAX)
		return reader_line_of_rank(r, line, m->peer);
	return line_of_member(r, line, f, comm, (uint32_t)rank - 1);
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

/* It is sent with its last part; whether its sender waits is up to MPI. */
static void add_parts(
	struct reader_line *l, const struct causal_message *m, const struct vfd_message *of)
{
	struct causal_message *to = LIST_ADD(l, parts);

	*to = *m;
	to->enter += (int64_t)of->offset;
	to->buffered = true;
	to->leave = MAX(to->leave, to->enter);
}

void reader_parts(struct reader *r, uint32_t line, int64_t t)
{
	struct reader_line *l = &r->lines[line];
	size_t stay = 0;

	for (size_t i = 0; i < l->n_parts; i++) {
		if (l->parts[i].enter <= t)
			causal_send(r->run->c, line, &l->parts[i]);
		else
			l->parts[stay++] = l->parts[i];
	}
	l->n_parts = stay;
}

/* Of one line, so that the file's number of a communicator will do. */
uint32_t reader_queue(const struct vfd_message *m)
{
	return choice_queue(m->comm, (uint32_t)m->tag);
}

uint32_t reader_takes(const struct vfd_message *m)
{
	return choice_of(
		m->flags & VFD_MESSAGE_ANY_SOURCE, m->flags & VFD_MESSAGE_ANY_TAG, reader_queue(m));
}

static void add_point_to_point(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	const enum send_mode mode = reader_send_mode(r, e->file, e->track, e->stack);
	struct causal_message to = {.enter = m->start,
		.leave = leave_of(m),
		.bytes = m->bytes,
		.synchronous = mode == SEND_SYNCHRONOUS,
		.buffered = mode == SEND_BUFFERED,
		.queue = reader_queue(m),
		.takes = reader_takes(m)};

	if (m->flags & VFD_MESSAGE_CANCELLED)
		return;
	if (m->flags & VFD_MESSAGE_PARTITIONED && m->kind == VFD_SEND && !m->offset) {
		causal_add_doubt(r->run->c, CAUSAL_PARTITIONED, 1);
		return;
	}
	if (m->kind == VFD_RECEIVE && !has_sender(r, m))
		return;
	to.flow = vfd_message_flow(r->files[e->file], m);
	to.peer = reader_peer(r, line, e);
	if (!to.flow)
		return;
	if (to.peer == CAUSAL_NONE) {
		causal_add_doubt(r->run->c, CAUSAL_NO_SEND, m->kind == VFD_RECEIVE);
		return;
	}
	if (m->kind == VFD_SEND && m->flags & VFD_MESSAGE_PARTITIONED)
		add_parts(&r->lines[line], &to, m);
	else if (m->kind == VFD_SEND)
		causal_send(r->run->c, line, &to);
	else
		causal_receive(r->run->c, line, &to);
}

/* ---- collective calls -------------------------------------------------------------------------
 */

/* The lines of all members of a communicator, the remote group behind the own one. */
static void set_lines(const struct reader *r, uint32_t line, const struct vfd_file *f,
	const struct vfd_comm *comm, uint32_t *lines)
{
	const uint64_t n = (uint64_t)comm->size + comm->remote_size;
	uint64_t before = 0, job;
	uint32_t others = 0, world;

	for (uint64_t i = 0; i < n; i++)
		lines[i] = CAUSAL_NONE;
	for (size_t i = 0; i < comm->n_runs && before < n; i++) {
		const struct wire_run *run = &comm->runs[i];

		for (int64_t k = 0; k < run->count && before < n; k++, before++) {
			const int64_t rank = run->first + k * run->stride;

			if (run->first >= 0 && rank >= 0 && rank <= INT32_MAX)
				lines[before] = reader_line_of_rank(r, line, (uint32_t)rank);
			else if (vfd_comm_other_at(f, comm, vfd_run_other(run, (uint64_t)k, others),
					 &job, &world))
				lines[before] = reader_line_in_job(r, job, world);
		}
		others += run->first == WIRE_UNKNOWN && run->count > 0 ? (uint32_t)run->count : 0;
	}
}

static uint64_t key_of(const struct reader *r, uint32_t line, const struct vfd_comm *comm)
{
	if (comm->link)
		return comm->link ^ LINK_KEY;
	return comm->id ^ r->run->ranks[line].job * 0x9e3779b97f4a7c15u;
}

/* CAUSAL_NONE: there are more members in the communicators than can be. */
static uint32_t comm_of(
	struct reader *r, uint32_t line, const struct vfd_file *f, const struct vfd_comm *comm)
{
	uint32_t *known = map64_at(&r->comm_of, key_of(r, line, comm), CAUSAL_NONE);
	const uint64_t n = (uint64_t)comm->size + comm->remote_size;
	uint32_t *lines;

	if (*known != CAUSAL_NONE || r->members + n > MEMBERS_MOST)
		return *known;
	r->members += n;
	lines = xmalloc((n + 1) * sizeof(*lines));
	set_lines(r, line, f, comm, lines);
	*known = causal_comm(r->run->c, lines, (uint32_t)n);
	free(lines);
	return *known;
}

/* WAIT_KINDS_END: no collective call. */
static enum wait_kind kind_of(uint32_t function)
{
	switch (collective_shape(function)->kind) {
	case COLLECTIVE_BETWEEN_ALL:
		return collective_blocking(function) == VFTR_MPI_BARRIER ? WAIT_BARRIER : WAIT_NXN;
	case COLLECTIVE_REDUCE_SCATTER:
		return WAIT_NXN;
	case COLLECTIVE_FROM_ROOT:
		return WAIT_LATE_ROOT;
	case COLLECTIVE_TO_ROOT:
		return WAIT_EARLY_ROOT;
	case COLLECTIVE_CHAIN:
		return WAIT_SCAN;
	case COLLECTIVE_NEIGHBOURS:
		return WAIT_NEIGHBOURS;
	default:
		return WAIT_KINDS_END;
	}
}

/* Whose messages it gets, among neighbours and from another group. False: that is not known. */
static bool find_senders(
	struct reader *r, uint32_t line, const struct vfd_event *e, struct causal_collective *to)
{
	const struct vfd_message *m;
	struct vfd_expansion x;
	uint32_t *lines = NULL;
	size_t n = 0, cap = 0;
	bool known = true;

	vfd_expand(&x, r->files[e->file], e->message);
	while (known && n < r->run->n && (m = vfd_expand_next(&x))) {
		if (m->kind != VFD_RECEIVE)
			continue;
		known = m->peer != VFD_NONE;
		*APPEND(lines, n, cap) = reader_line_of_rank(r, line, m->peer);
	}
	to->needed = lines ? lines : xmalloc(sizeof(*lines));
	to->n_needed = (uint32_t)n;
	return known;
}

/* In calls on two groups, the other one. */
static void find_other_group(struct reader *r, uint32_t line, const struct vfd_file *f,
	const struct vfd_comm *comm, struct causal_collective *to)
{
	const uint64_t n = (uint64_t)comm->size + comm->remote_size;
	uint32_t *lines = xmalloc((n + 1) * sizeof(*lines));

	set_lines(r, line, f, comm, lines);
	memmove(lines, lines + comm->size, comm->remote_size * sizeof(*lines));
	to->needed = lines;
	to->n_needed = comm->remote_size;
}

/* The same where the other group is of another job. */
static void find_other_job(struct reader *r, uint32_t line, const struct vfd_event *e,
	const struct vfd_comm *comm, struct causal_collective *to)
{
	find_other_group(r, line, r->files[e->file], comm, to);
	if (!e->message->receives)
		to->n_needed = 0;
	else if (to->kind == WAIT_LATE_ROOT) {
		((uint32_t *)(uintptr_t)to->needed)[0] = to->root;
		to->n_needed = 1;
	}
}

/* The starts of a persistent call are told apart by their numbers; older files have none: there
 * each start counts, as if all had been recorded. False: its number is not known. */
static bool find_ticket(
	struct reader *r, uint32_t line, const struct vfd_message *m, struct causal_collective *to)
{
	const uint64_t caller = (uint64_t)line << 32 | to->comm;
	uintptr_t n;

	to->ticket = m->ticket;
	if (!collective_is_persistent(m->function) || m->ticket >> 32)
		return true;
	if (r->has_starts)
		return false;
	n = (uintptr_t)match_table_find(&r->starts, caller, m->ticket) + 1;
	match_table_add(&r->starts, caller, m->ticket, (void *)n);
	to->ticket |= (uint64_t)n << 32;
	return true;
}

/* Whom it needs, if its kind does not say it. False: that is not known. */
static bool find_needed(struct reader *r, uint32_t line, const struct vfd_event *e,
	const struct vfd_comm *comm, struct causal_collective *to)
{
	if (collective_is_meeting(e->message->function) ||
		(!comm->remote_size && to->kind != WAIT_NEIGHBOURS))
		return true;
	if (comm->remote_size && to->kind == WAIT_BARRIER)
		find_other_group(r, line, r->files[e->file], comm, to);
	else if (comm->remote_size && comm->link)
		find_other_job(r, line, e, comm, to);
	else
		return find_senders(r, line, e, to);
	return true;
}

static void add_collective(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	const struct vfd_file *f = r->files[e->file];
	const struct vfd_comm *comm = vfd_comm(f, m->comm);
	struct causal_collective to = {.comm = comm ? comm_of(r, line, f, comm) : CAUSAL_NONE,
		.kind = kind_of(m->function),
		.root = reader_peer(r, line, e),
		.enter = m->start,
		.leave = leave_of(m)};
	bool known = to.comm != CAUSAL_NONE && to.kind != WAIT_KINDS_END;

	known = known && find_ticket(r, line, m, &to) && find_needed(r, line, e, comm, &to);
	if (known && (m->function & ~1u) == VFTR_MPI_FILE_OPEN)
		reader_file_opened(r, line, &to);
	if (known)
		causal_collective(r->run->c, line, &to);
	else
		causal_add_doubt(r->run->c, CAUSAL_MEMBERS, 1);
	free((void *)(uintptr_t)to.needed);
}

uint32_t reader_window_comm(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const struct vfd_object *window =
		vfd_object(r->files[e->file], WIRE_OBJECT_WINDOW, e->message->comm);
	const struct vfd_comm *comm = window ? vfd_comm(r->files[e->file], window->comm) : NULL;

	return comm ? comm_of(r, line, r->files[e->file], comm) : CAUSAL_NONE;
}

/* Of a line that was not seen to leave MPI_Init. The call that it is in was entered before. */
static void begin_line(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const uint32_t path = reader_path(r, e->file, e->track, e->stack);
	struct reader_line *l = &r->lines[line];

	if (l->whole_life) {
		reader_begin_process(r, line, e->time);
		return;
	}
	causal_begin(r->run->c, line, e->time, path, path);
	if (l->call && l->track == e->track)
		causal_enter(r->run->c, line, e->time, path);
	l->begun = true;
}

void reader_message(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	struct reader_line *l = &r->lines[line];

	r->has_epochs |= m->kind == VFD_EPOCH;
	if (m->kind == VFD_FILE)
		return;
	if (m->kind == VFD_RMA) {
		/* of an older file */
		causal_add_doubt(r->run->c, CAUSAL_ONE_SIDED, !r->has_epochs);
		return;
	}
	if (m->self && (r->run->without_mpi || (int)m->self - 1 != r->run->ranks[line].rank)) {
		causal_add_doubt(r->run->c, CAUSAL_OTHER_RANKS, 1);
		return;
	}
	if (l->track == VFD_NONE)
		l->track = e->track;
	if (l->track != e->track) {
		causal_add_doubt(r->run->c, CAUSAL_THREADS, 1);
		reader_team_again(r, line, e->time);
	}
	if (!l->begun)
		begin_line(r, line, e);
	if (m->kind == VFD_COLLECTIVE)
		add_collective(r, line, e);
	else if (m->kind == VFD_EPOCH)
		reader_epoch(r, line, e);
	else
		add_point_to_point(r, line, e);
}
