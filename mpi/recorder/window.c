/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication: an RMA record for each operation, an EPOCH record
 * for each synchronisation, both before the call, or behind it where it makes the window.
 *
 * Epochs are numbered per window and process, from 1, by what begins them:
 *
 *	MPI_Win_fence			the fence: equal on all ranks
 *	MPI_Win_create, ...		0
 *	MPI_Win_free			as if it was a fence
 *	MPI_Win_start, complete		the start
 *	MPI_Win_post, wait, test	the post
 *	MPI_Win_lock, lock_all, ...	the lock, of any target: its ticket
 *
 * An operation has the number of the innermost epoch it can be in: of the lock
 * of its target, of lock_all, of start, or of the fence.
 */
#include <sys/mman.h>
#include "libhook/emit.h"
#include "mpi/object/comm.h"
#include "mpi/handle.h"
#include "mpi/object/object.h"
#include "mpi/object/targets.h"
#include "mpi/recorder/record.h"
#include "mpi/recorder/recorders.h"
#include "mpi/recorder/request.h"
#include "shm/message.h"

static struct mpi_objects windows = {.kind = WIRE_OBJECT_WINDOW};

static void emit_epoch(const struct mpi_call *k, const struct mpi_object *w, uint32_t target)
{
	if (!vftr_mpi_recording())
		return;
	vftr_emit((const uint64_t[EMIT_WORDS]){
		message_head(RECORD_EPOCH, k->id),
		message_pair(w->number, target),
		message_last(0, k->ticket),
	});
}

static void emit_lock(const struct mpi_call *k, const struct mpi_object *w, uint32_t target)
{
	if (!vftr_mpi_recording())
		return;
	vftr_emit((const uint64_t[EMIT_WORDS]){
		message_head(RECORD_EPOCH, k->id),
		message_pair(w->number, target),
		message_last(k->n == MPI_LOCK_EXCLUSIVE ? MESSAGE_EXCLUSIVE : 0, k->ticket),
	});
}

static uint32_t next(uint32_t *counter)
{
	return take_ticket(counter) + 1;
}

/* A fence, or the end of the window. */
static void fence_failed(const struct mpi_call *k, struct mpi_object *w)
{
	vftr_meeting_failed(&w->fences, k->ticket - 1, k->rc);
}

static uint64_t key_at(const struct mpi_call *k, const void *at)
{
	if (!at)
		return HANDLE_KEY(MPI_WIN_NULL);
	return k->language == LANGUAGE_C ? HANDLE_KEY(*(const MPI_Win *)at)
					 : HANDLE_KEY(PMPI_Win_f2c(*(const MPI_Fint *)at));
}

void vftr_begin_win_new(struct mpi_call *k)
{
	(void)k;
}

void vftr_end_win_new(struct mpi_call *k)
{
	const uint64_t key = key_at(k, k->wins);
	const struct mpi_object *w;

	if (k->rc != MPI_SUCCESS)
		return;
	vftr_object_made(&windows, key, k->comm, NULL, 0);
	w = vftr_object_find(&windows, key);
	k->ticket = 0;
	if (w)
		emit_epoch(k, w, MESSAGE_NO_RANK);
}

void vftr_begin_win_free(struct mpi_call *k)
{
	struct mpi_object *w = vftr_object_take(&windows, key_at(k, k->wins));

	k->own = w;
	if (!w)
		return;
	k->ticket = next(&w->fences);
	emit_epoch(k, w, MESSAGE_NO_RANK);
}

void vftr_end_win_free(struct mpi_call *k)
{
	if (!k->own)
		return;
	if (k->rc == MPI_SUCCESS)
		vftr_object_gone(&windows, k->own);
	else {
		fence_failed(k, k->own);
		vftr_object_back(&windows, k->own);
	}
}

void vftr_begin_win_name(struct mpi_call *k)
{
	(void)k;
}

void vftr_end_win_name(struct mpi_call *k)
{
	struct mpi_object *w;
	struct wire_about said = {.head.kind = WIRE_NAME, .object = WIRE_OBJECT_WINDOW};
	char name[MPI_MAX_OBJECT_NAME];
	size_t bytes;

	if (k->rc != MPI_SUCCESS)
		return;
	w = vftr_object_find(&windows, HANDLE_KEY(k->win));
	bytes = vftr_call_text(k, name, sizeof(name));
	if (!w || !bytes)
		return;
	said.number = w->number;
	vftr_define(&said.head, sizeof(said), name, bytes);
}

/* ---- operations ---- */

struct moved {
	uint64_t out, in; /* bytes to the target, from it */
	uint32_t type;
	bool request;
};

static uint64_t bytes_of(MPI_Count count, MPI_Datatype type, uint32_t *index)
{
	uint64_t size = vftr_type_size(type, index);

	return count > 0 ? (uint64_t)count * size : 0;
}

/* With MPI_NO_OP nothing is sent, and the origin's arguments may have any value. */
static struct moved moved_by(const struct mpi_call *k)
{
	struct moved m = {0};

	switch (k->id & ~1u) {
	case VFTR_MPI_RPUT:
	case VFTR_MPI_RACCUMULATE:
		m.request = true;
		/* fall through */
	case VFTR_MPI_PUT:
	case VFTR_MPI_ACCUMULATE:
		m.out = bytes_of(k->count, k->type, &m.type);
		break;
	case VFTR_MPI_RGET:
		m.request = true;
		/* fall through */
	case VFTR_MPI_GET:
		m.in = bytes_of(k->count, k->type, &m.type);
		break;
	case VFTR_MPI_RGET_ACCUMULATE:
		m.request = true;
		/* fall through */
	case VFTR_MPI_GET_ACCUMULATE:
		m.in = bytes_of(k->rcount, k->rtype, &m.type);
		if (k->op != MPI_NO_OP)
			m.out = bytes_of(k->count, k->type, &m.type);
		break;
	case VFTR_MPI_FETCH_AND_OP:
		m.in = bytes_of(1, k->type, &m.type);
		m.out = k->op == MPI_NO_OP ? 0 : m.in;
		break;
	case VFTR_MPI_COMPARE_AND_SWAP:
		m.in = m.out = bytes_of(1, k->type, &m.type);
		break;
	}
	return m;
}

static uint32_t epoch_of(const struct mpi_object *w, uint32_t target)
{
	if (w->locked && w->locked[target])
		return w->locked[target];
	if (w->locked_all)
		return w->locked_all;
	return w->started ? w->started : w->fences;
}

void vftr_begin_rma(struct mpi_call *k)
{
	struct mpi_object *w;
	struct moved m;

	k->own = NULL;
	if (!vftr_mpi_recording() || k->peer < 0) /* as MPI_PROC_NULL is */
		return;
	w = vftr_object_find(&windows, HANDLE_KEY(k->win));
	if (!w || (uint32_t)k->peer >= w->ranks)
		return;
	m = moved_by(k);
	k->own = w;
	k->request_number = m.request ? vftr_request_number() : 0;
	vftr_emit((const uint64_t[EMIT_WORDS]){
		message_head(RECORD_RMA, k->id),
		message_pair(w->number, (uint32_t)k->peer),
		message_subject(epoch_of(w, (uint32_t)k->peer), m.type, k->request_number),
		m.out,
		MESSAGE_MARK | m.in,
	});
}

void vftr_end_rma(struct mpi_call *k)
{
	struct request r = {.number = k->request_number, .kind = REQUEST_RMA};

	if (!k->own)
		return;
	if (k->rc != MPI_SUCCESS)
		record_failed(k->rc);
	else if (k->request_number) {
		r.peer = (uint32_t)k->peer;
		vftr_request_put(call_request(k, k->request, 0), &r);
	}
}

/* ---- synchronisation ---- */

static bool has_target(uint32_t function)
{
	return function == VFTR_MPI_WIN_LOCK || function == VFTR_MPI_WIN_UNLOCK ||
	       function == VFTR_MPI_WIN_FLUSH || function == VFTR_MPI_WIN_FLUSH_LOCAL;
}

static uint32_t epoch_number(const struct mpi_call *k, struct mpi_object *w, uint32_t target)
{
	switch (k->id & ~1u) {
	case VFTR_MPI_WIN_FENCE:
		return next(&w->fences);
	case VFTR_MPI_WIN_START:
		return next(&w->starts);
	case VFTR_MPI_WIN_COMPLETE:
		return w->starts;
	case VFTR_MPI_WIN_POST:
		return next(&w->posts);
	case VFTR_MPI_WIN_WAIT:
	case VFTR_MPI_WIN_TEST:
		return w->posts;
	case VFTR_MPI_WIN_LOCK:
	case VFTR_MPI_WIN_LOCK_ALL:
		return next(&w->locks);
	case VFTR_MPI_WIN_UNLOCK:
	case VFTR_MPI_WIN_FLUSH:
	case VFTR_MPI_WIN_FLUSH_LOCAL:
		if (w->locked && target < w->ranks && w->locked[target])
			return w->locked[target];
		break;
	}
	return w->locked_all ? w->locked_all : w->locks;
}

/* One for each rank of the group, so that it is known who waits for whom. */
static void emit_group(const struct mpi_call *k, struct mpi_object *w)
{
	uint64_t *kept = (k->id & ~1u) == VFTR_MPI_WIN_START ? &w->started_for : &w->posted_for;
	struct targets *t = NULL;

	/* MPI is not asked about a group that it is about to refuse */
	if (k->group != MPI_GROUP_NULL)
		t = vftr_targets_of(kept, k->group, k->win);
	if (!t)
		emit_epoch(k, w, MESSAGE_NO_RANK);
	for (int i = 0; t && i < t->n; i++) {
		const int to = t->target[i];

		emit_epoch(
			k, w, to >= 0 && (uint32_t)to < w->ranks ? (uint32_t)to : MESSAGE_NO_RANK);
	}
	vftr_targets_keep(kept, t);
}

static bool has_group(uint32_t function)
{
	return function == VFTR_MPI_WIN_START || function == VFTR_MPI_WIN_POST;
}

void vftr_begin_epoch(struct mpi_call *k)
{
	struct mpi_object *w = vftr_object_find(&windows, HANDLE_KEY(k->win));
	uint32_t target = MESSAGE_NO_RANK;

	k->own = w;
	if (!w)
		return;
	if (has_target(k->id & ~1u) && k->peer >= 0 && (uint32_t)k->peer < w->ranks)
		target = (uint32_t)k->peer;
	k->number = target;
	k->ticket = epoch_number(k, w, target);
	if (has_group(k->id & ~1u) && vftr_mpi_recording())
		emit_group(k, w);
	else if ((k->id & ~1u) == VFTR_MPI_WIN_LOCK)
		emit_lock(k, w, target);
	else if ((k->id & ~1u) != VFTR_MPI_WIN_TEST)
		emit_epoch(k, w, target);
}

static void set_locked(struct mpi_object *w, uint32_t target, uint32_t ticket)
{
	uint32_t *locked = load_acquire(&w->locked);

	if (target >= w->ranks)
		return;
	if (!locked && ticket) {
		locked = mmap(NULL, w->ranks * sizeof(*locked), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (locked == MAP_FAILED)
			return;
		if (!claim_null(&w->locked, locked)) {
			munmap(locked, w->ranks * sizeof(*locked));
			locked = load_acquire(&w->locked);
		}
	}
	if (locked)
		store_relaxed(&locked[target], ticket);
}

void vftr_end_epoch(struct mpi_call *k)
{
	struct mpi_object *w = k->own;
	uint32_t target = (uint32_t)k->number;

	if (!w)
		return;
	if (k->rc != MPI_SUCCESS) {
		if ((k->id & ~1u) == VFTR_MPI_WIN_FENCE)
			fence_failed(k, w);
		else if (vftr_mpi_recording())
			record_failed(k->rc);
		return;
	}
	switch (k->id & ~1u) {
	case VFTR_MPI_WIN_START:
		w->started = k->ticket;
		break;
	case VFTR_MPI_WIN_COMPLETE:
		w->started = 0;
		break;
	case VFTR_MPI_WIN_TEST:
		if (call_int(k->flag))
			emit_epoch(k, w, target);
		break;
	case VFTR_MPI_WIN_LOCK:
	case VFTR_MPI_WIN_UNLOCK:
		set_locked(w, target, (k->id & ~1u) == VFTR_MPI_WIN_LOCK ? k->ticket : 0);
		break;
	case VFTR_MPI_WIN_LOCK_ALL:
		w->locked_all = k->ticket;
		break;
	case VFTR_MPI_WIN_UNLOCK_ALL:
		w->locked_all = 0;
		break;
	}
}
