/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on windows: those in which all ranks meet are collective calls; in those for which two
 * ranks wait for each other, one needs the other one. Locks: locks.c.
 */
#include "mpi_id.h"
#include "nodeagent/causal/read.h"
#include "nodeagent/replay/window/exposure.h"
#include "nodeagent/replay/window/lock-epoch.h"

#define LARGE_COUNT 1u

/* Tickets of calls on windows, among those of communicators. */
static uint64_t ticket_on(uint64_t window, uint64_t ticket)
{
	return (window ^ ticket * 0x9e3779b97f4a7c15u) | (uint64_t)1 << 63;
}

/* ---- all ranks ------------------------------------------------------------------------------- */

static const struct {
	uint32_t function;
	enum wait_kind kind;
} meetings[] = {
	{VFTR_MPI_WIN_ALLOCATE, WAIT_NXN},
	{VFTR_MPI_WIN_ALLOCATE_SHARED, WAIT_NXN},
	{VFTR_MPI_WIN_CREATE, WAIT_NXN},
	{VFTR_MPI_WIN_CREATE_DYNAMIC, WAIT_NXN},
	{VFTR_MPI_WIN_FENCE, WAIT_RMA_FENCE},
	{VFTR_MPI_WIN_FREE, WAIT_BARRIER},
};

static bool meet_all(struct reader *r, uint32_t line, const struct vfd_event *e, uint32_t function)
{
	const struct vfd_message *m = e->message;
	struct causal_collective to = {.ticket = ticket_on(m->offset, m->ticket),
		.comm = reader_window_comm(r, line, e),
		.root = CAUSAL_NONE,
		.enter = m->start,
		.leave = m->end};

	for (size_t i = 0; i < ARRAY_SIZE(meetings); i++) {
		if (meetings[i].function != function)
			continue;
		to.kind = meetings[i].kind;
		if (to.comm == CAUSAL_NONE)
			causal_add_doubt(r->run->c, CAUSAL_MEMBERS, 1);
		else
			causal_collective(r->run->c, line, &to);
		return true;
	}
	return false;
}

/* ---- pairs -------------------------------------------------------------------------------------
 */

struct pair_call {
	struct reader *r;
	uint32_t line;
	const struct vfd_message *m;
};

uint32_t reader_pair_comm(struct reader *r, uint32_t a, uint32_t b)
{
	const uint64_t key = (uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a);
	uint32_t *known = map64_at(&r->pairs, key, CAUSAL_NONE);

	if (*known == CAUSAL_NONE)
		*known = causal_comm(r->run->c, (uint32_t[]){a < b ? a : b, a < b ? b : a}, 2);
	return *known;
}

static void meet_one(void *arg, const struct exposure_pair *pair)
{
	const struct pair_call *c = arg;
	const uint32_t rank = (uint32_t)c->r->run->ranks[c->line].rank;
	const bool waits = pair->waiting == rank;
	const uint32_t other =
		reader_line_of_rank(c->r, c->line, waits ? pair->awaited : pair->waiting);
	const uint64_t which = (uint64_t)pair->origin << 32 | pair->target;

	if (other == CAUSAL_NONE || other == c->line)
		return;
	causal_collective(c->r->run->c, c->line,
		&(struct causal_collective){.comm = reader_pair_comm(c->r, c->line, other),
			.ticket =
				ticket_on(c->m->offset ^ which * 0xd6e8feb86659fd93u, pair->ticket),
			.kind = pair->wait,
			.root = CAUSAL_NONE,
			.needed = &other,
			.n_needed = waits,
			.enter = c->m->start,
			.leave = c->m->end});
}

bool reader_has_call(const struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;

	return m->end >= m->start && m->end <= CAUSAL_TIME_MOST && m->start >= -CAUSAL_TIME_MOST &&
	       (!m->self || (int)m->self - 1 == r->run->ranks[line].rank);
}

void reader_epoch(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	const uint32_t function = m->function & ~LARGE_COUNT;
	struct reader_line *l = &r->lines[line];
	struct pair_call c = {r, line, m};

	if (!reader_has_call(r, line, e))
		return;
	if (lock_part_of(function) != LOCK_PARTS)
		reader_lock_meets(r, line, m);
	else if (!meet_all(r, line, e, function))
		exposure_pairs(&l->exposures,
			&(struct exposure_call){.window = m->comm,
				.function = function,
				.epoch = (uint32_t)m->ticket,
				.self = (uint32_t)r->run->ranks[line].rank,
				.other = m->peer,
				.ranks = INT32_MAX},
			meet_one, &c);
	if (function == VFTR_MPI_WIN_FREE)
		exposure_gone(l->exposures, m->comm);
}
